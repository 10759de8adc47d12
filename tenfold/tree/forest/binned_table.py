"""Rows as a forest keeps them while it grows: codes of bins, targets, weights, and a key for what is drawn by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tenfold import _grow
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
    y: Array
    w: Array
    classes: int  # 0: numbers
    drawn: bool  # whether trees have rows of their own


def code_block(block: Block, bins: Bins) -> Block:
    """Codes of bins instead of values."""
    y = block.y if block.y.ndim == 1 else block.y[:, 0]
    return Block(bins.code(block.X), np.asarray(y, dtype=np.float64), block.w)


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
    classes: int,
    factors: Array | None,
    rate: float,
    criterion: str,
) -> Any:
    """The table in the form from which trees grow. Whole weights are copies of rows, and each copy is drawn on its own."""
    n, p = len(y), len(bins.edges)
    whole = bool((w == np.round(w)).all()) and w.sum() < 2**40
    copies = w.astype(np.int64) if whole else np.ones(n, dtype=np.int64)
    factor = np.ones(n) if whole else w / w.max()
    if factors is not None:
        factor = factor * factors
    key = _keys(codes[:, :p], y, factor)
    known = np.zeros((p, 256), dtype=np.int64)
    for j, values in enumerate(bins.categories):
        if values is not None:
            known[j, : len(values)] = values
    return _grow.Forest(
        codes,
        bins.n_bins,
        bins.padded,
        bins.start,
        known,
        category.astype(np.uint8),
        y,
        classes,
        np.empty(0) if (factor == 1).all() else factor,
        key,
        copies,
        _copies_before(key, copies),
        rate,
        criterion,
    )


def _keys(codes: Array, y: Array, factor: Array) -> Array:
    """A hash of what the trees know of a row: rows in another order have the same keys."""
    largest = int(np.frexp(np.abs(y).max())[1])
    if abs(largest) > 100:  # beyond single precision
        y = np.ldexp(y, -largest)
    high = y.astype(np.float32)
    other = np.column_stack([high, (y - high).astype(np.float32), factor.astype(np.float32)])
    return np.asarray(ops.hash_rows(codes.astype(np.float32), 0) ^ ops.hash_rows(other, 1))


def _copies_before(key: Array, copies: Array) -> Array:
    """How many copies of rows with the same key come before a row."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.zeros(len(key), dtype=np.int64)
    again = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
    if len(again):
        before = np.concatenate([[0], np.cumsum(copies[order])[:-1]])
        start = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        base = np.repeat(before[start], np.diff(np.append(start, len(key))))
        first[order] = before - base
    return first
