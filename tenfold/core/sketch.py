"""Sketches: statistics of fixed size that stand for many rows.

    Sample      distinct rows chosen by a hash of their content
    Quantiles   ranks and quantiles of every column within a stated error (KLL)
    Histogram   weight between fixed edges, column by column

They merge with `+` like every other statistic (see `core.stats`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.stats import Array, Stats


@dataclass(slots=True)
class Sample(Stats):
    """The k distinct rows with the smallest hashes of their content, each with all its weight in the table.

    So it depends on neither the order of the rows, nor the blocks, nor repetition: weight 2 is the row twice,
    exactly. Rows are sorted by hash. The hash sees each value as float32, so that a table and its float32
    copy give the same sample; rows that agree in float32 have one hash, and a second hash of all their bits
    sorts them. So where all columns vary by less than about 1e-6 of their size the choice is no longer even:
    subtract a centre first.
    """

    hash: Array  # (m,) uint64, m <= k
    rows: Array  # (m, p) float64
    weight: Array  # (m,)
    k: int
    total: float  # Σ w of all rows seen, sampled or not

    @classmethod
    def of(cls, X: Any, w: Array, k: int, seed: int = 0) -> Sample:
        hash = ops.hash_rows(X, seed)
        keep = _not_above_kth(hash, k)
        rows = np.array(ops.dense(X[keep]), dtype=np.float64, order="C") + 0.0  # -0 is 0, as for the hash
        rows[np.isnan(rows)] = np.nan  # one NaN, as for the hash
        return cls(*_smallest(hash[keep], rows, w[keep], k), k, float(w.sum()))

    def __add__(self, other: Sample) -> Sample:
        k = min(self.k, other.k)
        hash = np.concatenate([self.hash, other.hash])
        rows = np.concatenate([self.rows, other.rows])
        weight = np.concatenate([self.weight, other.weight])
        keep = _not_above_kth(hash, k)
        return Sample(*_smallest(hash[keep], rows[keep], weight[keep], k), k, self.total + other.total)


def _not_above_kth(hash: Array, k: int) -> Any:
    """Which rows have one of the k smallest distinct hashes: k distinct rows or more, where there are as many."""
    if len(hash) <= k:
        return slice(None)
    ordered = np.sort(hash)
    last_of_its_value = np.flatnonzero(ordered[1:] != ordered[:-1])
    if len(last_of_its_value) < k:
        return slice(None)
    return np.flatnonzero(hash <= ordered[last_of_its_value[k - 1]])


def _smallest(hash: Array, rows: Array, weight: Array, k: int) -> tuple[Array, Array, Array]:
    """Equal rows merged, their weights added; the k smallest by (hash, second hash, content)."""
    order = np.argsort(hash, kind="stable")
    same = hash[order[1:]] == hash[order[:-1]]
    if same.any():
        bits, tied = rows.view(np.uint64), same.sum()
        same &= (bits[order[1:]] == bits[order[:-1]]).all(axis=1)
        if same.sum() < tied:  # one hash, several rows
            keys = [_hash_bits(bits), hash]
            if len(np.unique(keys[0])) < len(hash):  # equal rows or a second collision
                keys = [*bits.T[::-1], *keys]
            order = np.lexsort(keys)
            same = (bits[order[1:]] == bits[order[:-1]]).all(axis=1)
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    chosen = order[first[:k]]
    return hash[chosen], rows[chosen], np.add.reduceat(weight[order], first)[:k]


def _hash_bits(bits: Array) -> Array:
    """A hash of all 64 bits of every value: in three parts of 22 bits, which float32 holds exactly."""
    parts = [(bits >> np.uint64(shift)) & np.uint64(0x3FFFFF) for shift in (0, 22, 44)]
    hash: Array = ops.hash_rows(np.concatenate(parts, axis=1).astype(np.float32), 0)
    return hash
