"""Sources: rows as blocks, wherever they are.

A source hands out `parts` in a fixed order and turns a part into a `Block` with `load`; engines call `load` from many threads or workers.
`Arrays` (here) holds tables in memory; `sources.tables` reads CSV and Parquet, `sources.stream` iterators of blocks.

Rows per block depend on the width of a row alone (`block_rows`; of sparse tables in memory on what they hold, `sparse_rows`), because
blocks are part of the bits of a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from tenfold.core import ops
from tenfold.core.numbers import check_finite
from tenfold.core.ops import Array as Array

BLOCK_BYTES, LONGEST_BYTES = 1 << 21, 1 << 23
SPARSE_BYTES = 1 << 26  # of a block of sparse rows that is made dense
FEW = 64  # rows that are copied as quickly by NumPy


@lru_cache(maxsize=1024)
def block_rows(width: int) -> int:
    """Rows in a block of a table with `width` columns: a power of two, from 64 to 65,536.

    About 2 MiB of float64, which stays in cache and makes what a block costs by itself small; for wide tables more, up to
    10 MiB, so that a block has about four times as many rows as columns and merging its p x p moments costs less than
    summing them.
    """
    width = max(1, width)
    rows = min(max(BLOCK_BYTES // (8 * width), 4 * width), LONGEST_BYTES // (8 * width))
    nearest = 1 << max((rows * 4 // 3).bit_length() - 1, 0)
    return int(min(max(nearest, 64), 65536))


def sparse_rows(X: Any, lean: bool = False) -> int:
    """Rows in a block of a sparse table: as many as its values fill a block with; unless it stays sparse (`lean`), as long as one that
    is made dense stays small."""
    n, width = X.shape
    most = SPARSE_BYTES // (8 * max(1, width))
    rows = block_rows(2 * X.nnz // max(1, n) + 1)
    return rows if lean else int(max(block_rows(width), min(rows, 1 << max(most.bit_length() - 1, 0))))


@dataclass(slots=True)
class Block:
    """Some rows. What is here has passed the gate: floats, finite (or allowed missing), weights above zero."""

    X: Any  # (n, p) float32 or float64, C-contiguous; or CSR
    y: Any  # real target: (n, q) float64; labels: (n,) int64 codes, (n, q) of several columns; else None
    w: Array  # (n,) float64, > 0
    key: Any = None  # which fold these rows belong to, where that matters
    unread: Unread | None = None  # where X comes from as soon as somebody asks for it

    def __post_init__(self) -> None:
        if self.X is not None:
            self.unread = None
        elif self.unread is not None:
            del self.X

    def __getattr__(self, name: str) -> Any:  # of X alone, and only before it is there
        if name != "X" or self.unread is None:
            raise AttributeError(name)
        self.X = self.unread.read()
        self.unread = None
        return self.X

    def __len__(self) -> int:
        return len(self.w)

    def take(self, rows: Array) -> Block:
        """Some of the rows, by their place in the block."""
        return Block(self.X[rows], None if self.y is None else self.y[rows], self.w[rows], self.key)

    def with_X(self, X: Any) -> Block:
        """The same rows in another form."""
        return Block(X, self.y, self.w, self.key)

    @property
    def width(self) -> int:
        return int(self.X.shape[1] if self.unread is None else self.unread.source.n_features)


@dataclass(slots=True)
class Unread:
    """Rows of a table in memory that nobody has looked at: they may yet hold NaN."""

    source: Arrays
    part: int
    index: Any  # a slice, or row numbers

    def read(self) -> Array:
        X: Array = rows_of(self.source.X, self.index)
        self.source.check(self.part, X, self.index)
        return X

    def moments(self, Y: Array, w: Array) -> Any:
        """`ops.moments` of the rows where they lie."""
        if isinstance(self.index, slice):
            return ops.moments(self.source.X[self.index], Y, w)
        return ops.moments_at(self.source.X, self.index, Y, w)

    def judge(self, weight: float, mean: Array, squares: Array) -> None:
        """The check of `read`, by centred sums of squares: no w x² is above Σ w x², which is never small where a value is not finite."""
        if self.source.seen[self.part]:
            return
        least = 1.0 if self.source.w is None else float(self.source.w[self.index].min())
        with np.errstate(all="ignore"):
            total = float(squares.sum() + weight * (mean @ mean))
        if total < least * ops.LARGEST[self.source.X.dtype] ** 2:
            self.source.seen[self.part] = True
        else:
            self.read()


@dataclass(slots=True)
class Target:
    """What the learner wants of y ("real", "label", "none") and what the gate found out about it."""

    kind: str
    classes: Any = None  # of labels: the classes; of several columns of them a list, one array for each
    flat: bool = True  # y was 1-D: coefficients and predictions are too
    width: int = 1  # number of columns
    column: bool = False  # y was (n, 1)

    def labels(self, codes: Array) -> Array:
        """Codes of classes as the labels that the user gave; of several columns each by its own classes."""
        if isinstance(self.classes, list):
            return np.column_stack([known[code] for known, code in zip(self.classes, codes.T, strict=True)])
        return np.asarray(self.classes[codes])


class Source:
    """Abstract: parts in a fixed order, each loaded into a Block."""

    n_features: int
    n_parts: int | None = None  # None: not known before reading
    n_rows: int | None = None
    known: Any = None  # what the fit of a learner was given beside the rows: labels of groups, a covariance between rows
    rereadable = True
    single = False  # whether the user gave float32: what is learned like X (`core.learned`) is then rounded to it
    numbered = False  # whether parts are numbers: any of them can be loaded at any time
    home: Any = None  # the engine where the rows live, if that is not this process; used unless another is chosen
    target: Target
    looked: Mapping[Any, Any] = MappingProxyType({})  # values of the user's functions for the table as it was given
    facts: dict[str, Any]  # fitted attributes the gate knows: n_features_in_, feature_names_in_, classes_

    @property
    def n_targets(self) -> int:
        return self.target.width

    def parts(self) -> Iterator[Any]:
        raise NotImplementedError

    def load(self, part: Any) -> Block:
        raise NotImplementedError

    def lazy(self, part: Any) -> Block:
        """As `load`; X may be left where it is until somebody asks for it."""
        return self.load(part)

    def whole(self) -> Source:
        """All rows, those of weight zero too, without target and weights."""
        raise NotImplementedError

    def lazily(self, function: Callable[[Any], Array]) -> Any:
        """function(X) of every block as a collection that is not yet computed; None where there is no such thing."""
        return None

    def on_cluster(self, engine: Any) -> list[Any] | None:
        """The blocks as futures of a cluster where they are already; None elsewhere."""
        return None

    def map(self, change: Callable[[Any], Any], n_features: int) -> Source:
        """The same rows with X replaced by change(X), block by block."""
        from tenfold.core.mapped import Mapped

        return Mapped(self, change, n_features)


class Arrays(Source):
    """A table in memory: an array or CSR matrix with its target and weights, cut into blocks of fixed size.

    Integers, booleans and column-major arrays are converted block by block, so that no second table is made.
    `rows` (numbers of rows, in order) restricts the source to those rows; `fold_parts` names folds of them. Sparse blocks that
    nobody makes dense (`lean`) may be long.
    """

    numbered = True

    def __init__(
        self,
        X: Any,
        y: Array | None,
        w: Array | None,
        target: Target,
        facts: dict[str, Any],
        *,
        rows: Array | None = None,
        missing: bool = False,
        double: bool = False,
        keys: list[tuple[Any, Array]] | None = None,
        trusted: bool = False,
        size: int | None = None,
        width: int | None = None,
        lean: bool = False,
    ) -> None:
        self.X, self.y, self.w, self.target, self.facts = X, y, w, target, facts
        self.rows, self.missing, self.double, self.keys = rows, missing, double, keys
        self.n_features = X.shape[1] if width is None else width
        self.lean = lean
        self.size = size or (sparse_rows(X, lean) if ops.is_sparse(X) else block_rows(self.n_features))
        self.n_rows: int = X.shape[0] if rows is None else len(rows)
        lengths = [(None, self.n_rows)] if keys is None else [(k, len(index)) for k, (_, index) in enumerate(keys)]
        self.cuts: list[tuple[Any, int, int]] = [
            (k, start, min(start + self.size, n)) for k, n in lengths for start in range(0, n, self.size)
        ]
        self.n_parts = len(self.cuts)
        self.seen = [trusted] * self.n_parts  # parts found finite: a second pass does not look again
        floats = type(X) is np.ndarray and X.dtype in (np.float32, np.float64)
        self.plain = floats and X.flags.c_contiguous and X.flags.aligned and not missing

    @property
    def plain_rows(self) -> bool:
        """Whether X can be handed to kernels as it is."""
        plain = type(self.X) is np.ndarray and self.X.dtype in (np.float32, np.float64)
        return bool(plain and self.X.flags.c_contiguous and self.X.flags.aligned and self.X.dtype.isnative)

    def parts(self) -> Iterator[int]:
        return iter(range(self.n_parts or 0))

    def load(self, part: int) -> Block:
        key, index = self.where(part)
        X = as_floats(rows_of(self.X, index))
        self.check(part, X, index)
        return Block(X, *self.beside(part, index), key)

    def lazy(self, part: int) -> Block:
        if not self.plain:
            return self.load(part)
        key, index = self.where(part)
        return Block(None, *self.beside(part, index), key, Unread(self, part, index))

    def where(self, part: int) -> tuple[Any, Any]:
        """The key of a part, and which rows it has."""
        key, start, stop = self.cuts[part]
        if key is not None and self.keys is not None:
            key, rows = self.keys[key]
            return key, rows[start:stop]
        return key, slice(start, stop) if self.rows is None else self.rows[start:stop]

    def beside(self, part: int, index: Any) -> tuple[Any, Array]:
        """Target and weights."""
        _, start, stop = self.cuts[part]
        w = np.ones(stop - start) if self.w is None else self.w[index]
        return None if self.y is None else self.y[index], w

    def check(self, part: int, X: Any, index: Any) -> None:
        """Refuse values that may not be there; a part is looked at once."""
        if not self.seen[part]:
            if not ops.all_usable(X):
                check_finite(X, index, self.facts.get("feature_names_in_"), self.missing, self.double)
            self.seen[part] = True

    def whole(self) -> Self:
        """All rows of the table, those of weight zero too."""
        return self._again(None, None, Target("none"), trusted=self.rows is None)

    def select(self, rows: Array) -> Self:
        """These rows only."""
        rows = rows if self.rows is None else self.rows[rows]
        return self._again(self.y, self.w, self.target, rows=rows)

    def finer(self, size: int) -> Self:
        """The same rows, which a pass has found usable, in blocks of at most `size` rows."""
        return self._again(self.y, self.w, self.target, rows=self.rows, trusted=True, size=min(size, self.size))

    def longer(self, size: int) -> Self:
        """The same rows in blocks of at least `size` rows, where rows are short though there are many columns."""
        made = self._again(self.y, self.w, self.target, rows=self.rows, size=max(size, self.size))
        made.single, made.known = self.single, self.known
        return made

    def by_key(self, groups: list[tuple[Any, Array]]) -> Self:
        """The same rows, with each block holding rows of one key: `groups` lists (key, row numbers)."""
        if self.rows is not None:
            groups = [(key, self.rows[rows]) for key, rows in groups]
        return self._again(self.y, self.w, self.target, keys=groups)

    def _again(self, y: Array | None, w: Array | None, target: Target, **more: Any) -> Self:
        """The same table, of which other rows take part."""
        more |= dict(missing=self.missing, double=self.double, width=self.n_features, lean=self.lean)
        made = type(self)(self.X, y, w, target, self.facts, **more)
        made.looked = self.looked
        return made


def rows_of(X: Any, index: Any) -> Any:
    """Some rows of a table."""
    if isinstance(index, slice) and index.step is None and ops.is_sparse(X) and X.format == "csr" and X.has_canonical_format:
        return _neighbours(X, *index.indices(X.shape[0])[:2])
    if isinstance(index, slice) or type(X) is not np.ndarray or X.dtype not in (np.float32, np.float64):
        return X[index]
    plain = X.flags.c_contiguous and X.flags.aligned and index.dtype == np.int64 and len(index) > FEW
    return ops.take_rows(X, index) if plain else X[index]


def _neighbours(X: Any, start: int, stop: int) -> Any:
    """CSR of rows that lie side by side, where they lie: SciPy would copy them. Nobody changes what is in canonical format in place."""
    begin, end = X.indptr[start], X.indptr[max(stop, start)]
    made = type(X)((max(stop - start, 0), X.shape[1]), dtype=X.dtype)  # given its arrays here, it would copy parts of larger ones
    made.data, made.indices, made.indptr = X.data[begin:end], X.indices[begin:end], X.indptr[start : max(stop, start) + 1] - begin
    made.has_canonical_format = True
    return made


def as_floats(X: Any) -> Any:
    """C-contiguous float32 or float64 (or CSR of those); integers and booleans become float64."""
    if ops.is_sparse(X):
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if X.dtype != np.float64 and X.dtype != np.float32:
        return np.ascontiguousarray(X, dtype=np.float64)
    X = np.ascontiguousarray(X)
    return X if X.flags.aligned else X.copy()  # numbers that start at any byte: kernels do not take them
