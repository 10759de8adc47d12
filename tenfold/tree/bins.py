"""Bins: a table of numbers and categories as one byte a value, or two, for trees that split between bins.

    bins = Bins.of(X, w, max_bins=255)      edges from the rows (all, or 100,000 chosen by a hash of their content)
    codes = bins.code(X)                    (n, width) uint8, rows padded to `width` >= p; uint16 where a column has more than 255 bins
    bins.edges[j][b]                        the threshold between bins b and b + 1 of column j: left iff x <= threshold

A column of numbers has bins 0 .. n_bins[j] − 1 in ascending order; few different values have a bin each, with thresholds half way
between neighbours. A column of categories has a bin for each of its 255 most frequent ones. Bin n_bins[j] is that of missing values, and
of categories that are too rare for a bin of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tenfold import _boost
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import each
from tenfold.core.learning import Learner
from tenfold.core.pages import pages
from tenfold.core.stats import Rows
from tenfold.solve.sketch import Sample

SAMPLE_ROWS = 100_000
MOST_BINS = 255  # bins of values; with the missing bin 256, a byte
MOST_WIDE_BINS = 65_535  # with codes of two bytes


@dataclass(slots=True)
class Bins:
    """Where the columns of a table are cut."""

    edges: list[Array]  # of each column, ascending; empty for categories
    categories: list[Array | None]  # of a column of categories: those with a bin of their own, ascending
    n_bins: Array = field(init=False)  # (p,) int64, without the missing bin
    padded: Array = field(init=False)  # the edges, those of column j from start[j] on, filled up with infinity
    start: Array = field(init=False)  # (p,) int64: multiples of 256
    halvings: Array = field(init=False)  # (p,) int32
    n_categories: Array = field(init=False)  # (p,) int64: of a column of categories, with those that have no bin

    def __post_init__(self) -> None:
        self.n_bins = np.array(
            [len(e) + 1 if c is None else len(c) for e, c in zip(self.edges, self.categories, strict=True)],
            dtype=np.int64,
        )
        lengths = [max(256, 1 << (len(edges) + 1).bit_length()) for edges in self.edges]  # room for the missing bin too
        self.start = np.cumsum([0, *lengths], dtype=np.int64)[:-1]
        self.padded = np.full(sum(lengths), np.inf)
        for start, edges in zip(self.start.tolist(), self.edges, strict=True):
            self.padded[start : start + len(edges)] = edges
        self.n_categories = np.array([0 if c is None else int(c.max(initial=-1)) + 1 for c in self.categories])
        self.halvings = np.array([len(edges).bit_length() for edges in self.edges], dtype=np.int32)

    @classmethod
    def of(cls, X: Any, w: Array | None = None, max_bins: int = MOST_BINS, categorical: Array | None = None) -> Bins:
        """From rows: (n, p) floats or CSR where NaN is missing, their weights, and which columns hold numbers of categories."""
        rows = smallest_hashes(ops.hash_rows(X, 0)) if X.shape[0] > SAMPLE_ROWS else None
        return cls._of_rows(X, w, rows, max_bins, categorical)

    @classmethod
    def _of_rows(cls, X: Any, w: Array | None, rows: Array | None, most: int, categorical: Array | None) -> Bins:
        marked = np.zeros(X.shape[1], dtype=bool) if categorical is None else np.asarray(categorical, dtype=bool)
        w = w if w is None or rows is None else w[rows]
        by_column = (X if rows is None else X[rows]).tocsc() if ops.is_sparse(X) else None
        if by_column is not None:
            by_column.sum_duplicates()

        def column(j: int) -> Array:
            if by_column is None:
                return np.asarray(X[:, j] if rows is None else X[:, j].take(rows))
            dense, own = np.zeros(by_column.shape[0], by_column.dtype), slice(*by_column.indptr[j : j + 2])
            dense[by_column.indices[own]] = by_column.data[own]
            return dense

        def cut(j: int) -> tuple[Array, Array | None]:
            return _cut(column(j), w, most, bool(marked[j]))

        found = each(cut, list(range(X.shape[1])))
        return cls([edges for edges, _ in found], [categories for _, categories in found])

    @property
    def wide(self) -> bool:
        """Whether a code takes two bytes."""
        return bool((self.n_bins > MOST_BINS).any())

    @property
    def width(self) -> int:
        """Codes of a row, whole words of 8 bytes: a power of two where that wastes little, so that few rows cross a cache line."""
        word = 4 if self.wide else 8
        p = max(len(self.edges), word)
        whole = 1 << (p - 1).bit_length()
        return whole if whole <= 4 * p // 3 else -(-p // word) * word

    @property
    def row_bytes(self) -> int:
        """The memory of a row of codes."""
        return self.width * (2 if self.wide else 1)

    def thresholds(self, column: Array, bin: Array) -> Array:
        """The upper ends of bins of some columns: infinite for the last one."""
        return np.asarray(self.padded[self.start[column] + bin])

    def rare(self) -> Array:
        """Which columns have categories without a bin: they share the one of missing values."""
        known = np.array([0 if c is None else len(c) for c in self.categories])
        return np.asarray(self.n_categories > known)

    def mask(self, column: int, bins_left: Array, missing_left: bool) -> Array:
        """How packed trees write the categories that go left: those of the bins, and with missing values the rare ones."""
        known = self.categories[column]
        assert known is not None
        left = np.full(int(self.n_categories[column]), missing_left)
        left[known] = bins_left[: len(known)]
        words = np.packbits(np.pad(left, (0, -len(left) % 64)), bitorder="little").view("<u8").astype(np.uint64)
        return np.concatenate([np.array([len(words)], dtype=np.uint64), words])

    def code(self, X: Array) -> Array:
        """The bins of rows, (n, width); columns from p on are zero."""
        X = (
            np.ascontiguousarray(X)
            if X.dtype in (np.float32, np.float64)
            else np.ascontiguousarray(X, dtype=np.float64)
        )
        where = (self.padded, self.start, self.halvings, self.n_bins)
        codes: Array = _boost.code_rows(X, *where, self.width, self.wide)
        for j, known in enumerate(self.categories):
            if known is not None:
                codes[:, j] = _category_bins(X[:, j], known)
        return codes


def smallest_hashes(hash: Array, k: int = SAMPLE_ROWS) -> Array:
    """The rows that have one of the k smallest different hashes, in order."""
    ordered = np.sort(hash)
    last = np.flatnonzero(ordered[1:] != ordered[:-1])  # the last place of each hash but the largest
    return np.flatnonzero(hash <= ordered[last[k - 1]]) if len(last) >= k else np.arange(len(hash))


def learn_bins(source: Source, max_bins: int, categorical: Array | None, *, weighted: bool = True) -> Learner[Bins]:
    """The bins of all rows of a source, wherever they are: one pass, or none for a small table in memory.

    Not `weighted`: every row counts as one, and one of weight 0 not at all.
    """
    if not isinstance(source, Arrays):
        sample = yield partial(_sample, k=SAMPLE_ROWS, weighted=weighted)
        X, w, rows = sample.rows, sample.weight, None
    else:
        X, w, rows = source.X, source.w, source.rows
        if (X.shape[0] if rows is None else len(rows)) > SAMPLE_ROWS:
            chosen = smallest_hashes((yield _hashes).whole())
            rows = chosen if rows is None else rows[chosen]
    if w is not None and not weighted and isinstance(source, Arrays):
        w = np.asarray(w > 0, dtype=np.float64)
    w = None if w is None or (w == w[0]).all() else w
    bins = Bins._of_rows(X, w, rows, max_bins, categorical)
    for j, known in enumerate(source.facts.get("categories_") or []):
        bins.n_categories[j] = 0 if known is None else len(known)
    return bins


def _hashes(block: Block) -> Rows:
    return Rows.of(ops.hash_rows(block.X, 0))


def _sample(block: Block, k: int, weighted: bool) -> Sample:
    return Sample.of(block.X, block.w if weighted else np.asarray(block.w > 0, dtype=np.float64), k)


def _cut(x: Array, w: Array | None, most: int, categorical: bool) -> tuple[Array, Array | None]:
    """Edges of a column of numbers; or no edges, and the categories that get a bin."""
    x = np.asarray(x) if x.dtype in (np.float32, np.float64) else x.astype(np.float64)
    known = ~np.isnan(x)
    if not known.all():
        x, w = x[known], None if w is None else w[known]
    if categorical:
        most = min(most, MOST_BINS)  # splits name sets of 256 bins
        values, place = np.unique(x.astype(np.int64), return_inverse=True)
        if len(values) > most:  # the heaviest; of equally heavy ones those with the smaller code
            weight = np.bincount(place, weights=w)
            values = np.sort(values[np.argsort(-weight, kind="stable")[: most - 1]])
        return np.empty(0), values
    if w is None:
        x, w = np.sort(x), np.empty(0)
    else:
        order = np.lexsort((w, x))
        x, w = x[order], w[order]
    return _boost.bin_edges(np.ascontiguousarray(x, dtype=np.float64), w, most), None


def _category_bins(x: Array, known: Array) -> Array:
    """The bin of each category; that of missing values for those without one."""
    if not len(known):
        return np.zeros(len(x), dtype=np.uint8)
    x = np.where(np.isnan(x), -1.0, x)
    place = np.minimum(np.searchsorted(known, x), len(known) - 1)
    return np.where(known[place] == x, place, len(known)).astype(np.uint8)


def aligned(n: int, width: int, dtype: Any = np.uint8) -> Array:
    """A table of codes (n, width) that begins on a cache line, all zero."""
    size = n * width * np.dtype(dtype).itemsize
    memory = pages(size + 64)
    start = -memory.ctypes.data % 64
    return np.asarray(memory[start : start + size].view(dtype).reshape(n, width))
