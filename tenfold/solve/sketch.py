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
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.stats import Stats


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
        keep = slice(None) if len(hash) <= k else np.flatnonzero(hash <= _kth(hash, k))
        rows = np.array(ops.dense(X[keep]), dtype=np.float64, order="C") + 0.0  # -0 is 0, as for the hash
        if not ops.all_finite(rows):
            rows[np.isnan(rows)] = np.nan  # one NaN, as for the hash
        return cls(*_smallest(hash[keep], rows, w[keep], k), k, float(w.sum()))

    def __add__(self, other: Sample) -> Sample:
        k = min(self.k, other.k)
        last = _kth(np.concatenate([self.hash, other.hash]), k)
        parts = [(one.hash[keep], one.rows[keep], one.weight[keep]) for one in (self, other) for keep in [one.hash <= last]]
        hash, rows, weight = (np.concatenate(both) for both in zip(*parts, strict=True))
        del parts  # most of the memory of a survey
        return Sample(*_smallest(hash, rows, weight, k), k, self.total + other.total)


def _kth(hash: Array, k: int) -> Any:
    """The k-th smallest distinct hash, or the largest where there are fewer: k distinct rows or more are not above it, if there are."""
    ordered = np.sort(hash)
    last_of_its_value = np.flatnonzero(ordered[1:] != ordered[:-1])
    return ordered[-1] if len(last_of_its_value) < k else ordered[last_of_its_value[k - 1]]


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


# The highest level may hold k items, each lower one this share of the one above it.
SHRINK = 2 / 3
SMALLEST_LEVEL = 8


@dataclass(slots=True)
class Quantiles(Stats):
    """Ranks and quantiles of every column, from about 3k items each (KLL: Karnin, Lang & Liberty 2016).

    An item stands for a weight; items of weight in [2^h, 2^(h+1)) are level h, so rows may have any weights.
    A level that is too full is halved: its items are sorted and paired, and of each pair (a, b) one stays,
    with the weight of both: a with probability w_a / (w_a + w_b). On average no rank is off by this. Few rows
    are kept as they are, and ranks are exact. The choices are keyed by the seed, the level and the items: the
    same tree of merges gives the same bits. Values must not be NaN.
    """

    k: int
    seed: int
    n: float  # Σ w
    low: Array  # (p,) the extremes are kept
    high: Array
    level: Array  # (m,) int64, ascending
    value: Array  # (p, m), ascending within a level
    weight: Array  # (p, m)
    doubt: Array  # (p,) Σ over halvings of the largest (w_a + w_b)²

    @classmethod
    def of(cls, X: Any, w: Array | None = None, k: int = 200, seed: int = 0) -> Quantiles:
        value = np.ascontiguousarray(ops.dense(X).T, dtype=np.float64)
        w = np.ones(value.shape[1]) if w is None else w
        level = np.frexp(w)[1].astype(np.int64) - 1  # 2^level <= w < 2^(level + 1)
        return cls(
            k,
            seed,
            float(w.sum()),
            value.min(axis=1),
            value.max(axis=1),
            level,
            value,
            np.broadcast_to(w, value.shape),
            np.zeros(len(value)),
        )._compressed()

    def __add__(self, other: Quantiles) -> Quantiles:
        return Quantiles(
            min(self.k, other.k),
            self.seed,
            self.n + other.n,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            np.concatenate([self.level, other.level]),
            np.concatenate([self.value, other.value], axis=1),
            np.concatenate([self.weight, other.weight], axis=1),
            self.doubt + other.doubt,
        )._compressed()

    @property
    def error(self) -> float:
        """A bound on |rank − true rank|, as a share of the weight, with probability 99 % at any one value.

        By Hoeffding's inequality: a value splits at most one pair of a halving, so the error is a sum of
        independent terms of mean zero, one for each halving, in an interval of length w_a + w_b.
        """
        return float(np.sqrt(np.log(2 / 0.01) / 2 * self.doubt.max()) / self.n)

    def rank(self, x: Any) -> Array:
        """The share of the weight that is at most x: (m, p) for x of shape (m,) or (m, p)."""
        x = np.asarray(x, dtype=np.float64)
        x = np.broadcast_to(x[:, None], (len(x), len(self.value))) if x.ndim == 1 else x
        ranks = np.empty(x.shape)
        for j, (value, reached) in enumerate(self._cumulative()):
            shares = np.concatenate([[0.0], reached / reached[-1]])
            ranks[:, j] = shares[np.searchsorted(value, x[:, j], side="right")]
        return np.where(x >= self.high, 1.0, np.where(x < self.low, 0.0, ranks))

    def quantile(self, q: Any) -> Array:
        """The smallest value whose rank is at least q: (m, p) for q of shape (m,) or (m, p)."""
        q = np.asarray(q, dtype=np.float64)
        q = np.broadcast_to(q[:, None], (len(q), len(self.value))) if q.ndim == 1 else q
        found = np.empty(q.shape)
        for j, (value, reached) in enumerate(self._cumulative()):
            place = np.searchsorted(reached, q[:, j] * reached[-1] * (1 - 1e-15))
            found[:, j] = value[np.minimum(place, len(value) - 1)]
        return np.where(q <= 0, self.low, np.where(q >= 1, self.high, found))

    def _cumulative(self) -> list[tuple[Array, Array]]:
        """Of each column: its items in order, and the weight up to each."""
        order = np.argsort(self.value, axis=1, kind="stable")
        value, weight = (np.take_along_axis(a, order, axis=1) for a in (self.value, self.weight))
        return list(zip(value, np.cumsum(weight, axis=1), strict=True))

    def _compressed(self) -> Quantiles:
        """Halve the lowest level that is too full, until the whole is small enough; each level sorted."""
        levels = {int(h): self.level == h for h in np.unique(self.level)}
        items = {h: _by_value(self.value[:, at], self.weight[:, at]) for h, at in levels.items()}
        while sum(len(v[0]) for v, _ in items.values()) > sum(self._capacity(h, items) for h in items):
            self._halve(min(h for h in items if len(items[h][0][0]) > self._capacity(h, items)), items)
        present = [(h, items[h]) for h in sorted(items)]
        self.level = np.concatenate([np.full(len(value[0]), h) for h, (value, _) in present])
        self.value = np.concatenate([value for _, (value, _) in present], axis=1)
        self.weight = np.concatenate([weight for _, (_, weight) in present], axis=1)
        return self

    def _capacity(self, h: int, items: dict[int, Any]) -> int:
        return max(SMALLEST_LEVEL, int(np.ceil(self.k * SHRINK ** (max(items) - h))))

    def _halve(self, h: int, items: dict[int, tuple[Array, Array]]) -> None:
        value, weight = items[h]
        even = len(value[0]) // 2 * 2  # an odd one, the largest, stays where it is
        a, b = value[:, :even:2], value[:, 1:even:2]
        wa, wb = weight[:, :even:2], weight[:, 1:even:2]
        key = ops.hash_rows(np.ascontiguousarray(value), (self.seed + 0x9E3779B97F4A7C15 * h) % 2**64)
        draw = (key >> np.uint64(11)).astype(np.float64) * 2.0**-53  # one for each column
        both = wa + wb
        stays = np.where(draw[:, None] * both < wa, a, b)
        self.doubt = self.doubt + np.max(both, axis=1) ** 2
        items[h] = value[:, even:], weight[:, even:]
        if h + 1 in items:
            above, heavy = items[h + 1]
            stays, both = np.concatenate([above, stays], axis=1), np.concatenate([heavy, both], axis=1)
            stays, both = _by_value(stays, both)
        items[h + 1] = stays, both


def _by_value(value: Array, weight: Array) -> tuple[Array, Array]:
    if (weight == weight[:, :1]).all():
        return np.sort(value, axis=1), weight
    order = np.lexsort((weight, value), axis=1)  # equal values by weight: a + b is b + a to the bit
    return np.take_along_axis(value, order, axis=1), np.take_along_axis(weight, order, axis=1)


@dataclass(slots=True)
class Histogram(Stats):
    """Weight between fixed edges, column by column: a bin holds its right edge, not its left one."""

    edges: Array  # (p, bins + 1), ascending
    weight: Array  # (p, bins + 2): up to the first edge, the bins, beyond the last edge

    @classmethod
    def of(cls, X: Any, w: Array, edges: Array) -> Histogram:
        X, (p, m) = ops.dense(X), edges.shape
        weight = np.empty((p, m + 1))
        for j in range(p):
            weight[j] = np.bincount(np.searchsorted(edges[j], X[:, j]), weights=w, minlength=m + 1)
        return cls(edges, weight)

    def __add__(self, other: Histogram) -> Histogram:
        if not np.array_equal(self.edges, other.edges):
            raise BadInput("histograms with different edges cannot be merged: use the same edges for both")
        return Histogram(self.edges, self.weight + other.weight)

    def cdf(self, x: Any) -> Array:
        """The share of the weight that is at most x, (m, p): exact at the edges, linear between them."""
        x = np.asarray(x, dtype=np.float64)
        reached = np.cumsum(self.weight, axis=1) / self.weight.sum(axis=1, keepdims=True)
        columns = [
            np.interp(x if x.ndim == 1 else x[:, j], edges, reached[j, :-1], left=0.0, right=1.0)
            for j, edges in enumerate(self.edges)
        ]
        return np.stack(columns, axis=1)
