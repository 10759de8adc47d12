"""Rows as a forest keeps them while it grows: codes of bins, targets, weights, and a key for what is drawn by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tenfold import _forest
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.tree.bins import Bins
from tenfold.tree.structure.arrays import Trees


@dataclass(frozen=True, slots=True)
class BinnedTable:
    """All rows of a fit, also in the form from which trees grow."""

    forest: Any  # native
    bins: Bins
    codes: Array
    y: Array  # (n,), or (n, q) of several targets
    w: Array
    widths: list[int]  # by target how many values it has at a leaf: its classes, 1 for numbers
    drawn: bool  # whether trees have rows of their own
    draws: Array  # (n, 2) by which rows are drawn: the key of a row, and how many with the same come before it


def code_block(block: Block, bins: Bins) -> Block:
    """Codes of bins instead of values."""
    y = block.y
    if y is not None:
        y = np.asarray(y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y, dtype=np.float64)
    return Block(bins.code(ops.dense(block.X)), y, block.w)


def values_of(codes: Array, bins: Bins) -> Array:
    """Values that fall into these bins: trees that split between bins do not distinguish them from the rows themselves."""
    values = bins.padded.copy()
    for start, n_bins, known in zip(bins.start.tolist(), bins.n_bins.tolist(), bins.categories, strict=True):
        if known is not None:
            values[start : start + len(known)] = known
        values[start + n_bins] = np.nan
    return np.asarray(values[bins.start + codes[:, : len(bins.edges)]])


def with_rare(tree: Trees, bins: Bins) -> Trees:
    """Categories without a bin go where missing values go, as they did while the tree grew."""
    if not len(tree.bits):
        return tree
    moved = (tree.subset >= 0) & (tree.missing_go_to_left > 0) & bins.rare()[np.maximum(tree.feature, 0)]
    if not moved.any():
        return tree
    subset, bits = tree.subset.copy(), [tree.bits]
    end = len(tree.bits)
    for i in np.flatnonzero(moved).tolist():
        column = int(tree.feature[i])
        known = bins.categories[column]
        assert known is not None  # there is a subset
        mask = bins.mask(column, np.isin(known, tree.categories_left(i)), True)
        subset[i], end = end, end + len(mask)
        bits.append(mask)
    return replace(tree, subset=subset, bits=np.concatenate(bits))


def native_forest(
    bins: Bins,
    category: Array,
    codes: Array,
    y: Array,
    w: Array,
    *,
    classes: list[int],
    factors: Array | None,
    rate: float,
    criterion: str,
    balanced: bool = False,
    draws: Array | None = None,
) -> Any:
    """The table in the form from which trees grow.

    `classes`: of each target, 0 for numbers. Weights are shares in sums and means; every row counts as one where rows are drawn and
    counted. `balanced`: in every tree the classes weigh what they weigh in all rows.
    """
    p = len(bins.edges)
    if draws is None:
        draws = row_draws(codes[:, :p], y, w)
    if factors is not None:
        w = w * factors
    known = np.zeros((p, 256), dtype=np.int64)
    for j, values in enumerate(bins.categories):
        if values is not None:
            known[j, : len(values)] = values
    return _forest.Forest(
        codes,
        bins.n_bins,
        bins.padded,
        bins.start,
        known,
        category.astype(np.uint8),
        np.ascontiguousarray(y.reshape(len(y), -1)),
        np.array(classes, dtype=np.int64),
        np.empty(0) if not balanced and (w == w[0]).all() else w,
        draws[:, 0].view(np.uint64).copy(),
        draws[:, 1].copy(),
        rate,
        criterion,
        balanced,
    )


def row_draws(codes: Array, y: Array, w: Array) -> Array:
    """(n, 2): what rows are drawn by."""
    key = _keys(codes, y)
    return np.column_stack([key.view(np.int64), _alike_before(key, w)])


def rows_of_tree(draws: Array, rate: float, seed: int) -> Array:
    """The rows that the tree of a seed has drawn, each as often as it was."""
    times = _forest.drawn_times(draws[:, 0].view(np.uint64).copy(), draws[:, 1].copy(), rate, seed)
    return np.repeat(np.arange(len(times), dtype=np.int32), times)


def _keys(codes: Array, y: Array) -> Array:
    """A hash of what the trees know of a row: rows in another order have the same keys, whatever they weigh."""
    largest = int(np.frexp(np.abs(y).max())[1])
    if abs(largest) > 100:  # beyond single precision
        y = np.ldexp(y, -largest)
    high = y.astype(np.float32)
    other = np.column_stack([high, (y - high).astype(np.float32), np.ones(len(y), dtype=np.float32)])  # the last: as ever
    return np.asarray(ops.hash_rows(codes.astype(np.float32), 0) ^ ops.hash_rows(other, 1))


def _alike_before(key: Array, w: Array) -> Array:
    """How many rows with the same key come before a row: heavier ones first."""
    order = np.argsort(key, kind="stable")
    again = key[order[1:]] == key[order[:-1]]
    before = np.zeros(len(key), dtype=np.int64)
    if again.any():
        order = np.lexsort((-w, key))
        place = np.arange(len(key))
        start = np.concatenate([[True], ~again])
        before[order] = place - np.maximum.accumulate(np.where(start, place, 0))
    return before
