"""Columns one at a time: their magnitude, range and spread, their distinct values, medians, quantiles and modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, CannotForget, Degenerate, warn
from tenfold.core.numbers import column_name
from tenfold.core.stats import Spread, Stats

# Below these a sum of squares has lost digits, or vanished.
SMALLEST_SQUARES = 1e-290
SMALLEST_VALUE = 1e-145

EXACT, WIDEST = 2.0**52, 1 << 16  # whole numbers below the one, and no further apart than the other, are counted in a table


def check_magnitude(means: Array, squares: Array, names: Any) -> None:
    """Refuse columns whose squares overflow, and warn of those whose squares vanish.

    `means` and `squares` (centred sums of squares) have the columns as their last axis.
    """
    total = squares.sum()
    if not total < np.inf:  # too large, or NaN from ∞ − ∞
        finite = np.isfinite(squares) & np.isfinite(means)
        if not finite.all():
            column = int(np.flatnonzero(~finite.reshape(-1, finite.shape[-1]).all(axis=0))[0])
            raise BadInput(
                f"the values of {column_name(names, column)} of X are too large to be squared "
                "(beyond about 1e150): rescale it first"
            )
    if squares.min() < SMALLEST_SQUARES:
        size = np.abs(means).reshape(-1, means.shape[-1]).max(axis=0)
        most = squares.reshape(-1, squares.shape[-1]).max(axis=0)
        lost = np.flatnonzero((most < SMALLEST_SQUARES) & ((most > 0) | (size > 0)) & (size < SMALLEST_VALUE))
        if len(lost):
            warn(
                f"the values of {column_name(names, int(lost[0]))} of X are too small to be squared (below "
                "about 1e-150), so it counts as constant: rescale it first",
                Degenerate,
                stacklevel=2,
            )


@dataclass(slots=True)
class Ranges(Stats):
    """Of the values that are not missing: their spread, every column a group of its own, and the least and the largest."""

    spread: Spread
    low: Array
    high: Array

    @classmethod
    def of(cls, block: Block) -> Ranges:
        X, w = ops.dense(block.X), block.w
        missing = np.isnan(X)
        if not missing.any():
            whole = Spread.of(X, w)
            spread = Spread(np.full(X.shape[1], whole.weight[0]), whole.center.T, whole.offset.T, whole.scatter.T)
            return cls(spread, X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64))
        W = np.where(missing, 0.0, w[:, None])
        weight, values = W.sum(axis=0), np.where(missing, 0.0, X)
        share = W / np.where(weight > 0, weight, 1.0)
        center = (share * values).sum(axis=0)
        apart = np.where(missing, 0.0, values - center)
        offset = (share * apart).sum(axis=0)
        scatter = (W * (apart - offset) ** 2).sum(axis=0)
        low, high = np.where(missing, np.inf, X).min(axis=0), np.where(missing, -np.inf, X).max(axis=0)
        return cls(Spread(weight, center[:, None], offset[:, None], scatter[:, None]), low, high)

    def __add__(self, other: Ranges) -> Ranges:
        return Ranges(self.spread + other.spread, np.minimum(self.low, other.low), np.maximum(self.high, other.high))


@dataclass(slots=True)
class Distinct(Stats):
    """The distinct values of each column, sorted, with the weight of each: all that medians and modes need.

    Exact, and as large as the number of distinct values: a column of continuous numbers is kept whole.
    """

    values: list[Array]
    weights: list[Array]

    @classmethod
    def of(cls, X: Array, w: Array, present: Array | None = None) -> Distinct:
        """Of the columns of X, where `present` (n, p) is true."""
        columns = [
            (X[:, j], w) if present is None else (X[present[:, j], j], w[present[:, j]]) for j in range(X.shape[1])
        ]
        pairs = [tally(values.astype(np.float64), weights) for values, weights in columns]
        return cls([values for values, _ in pairs], [weights for _, weights in pairs])

    @classmethod
    def by_group(cls, X: Array, group: Array, w: Array, k: int) -> Distinct:
        """The columns of group 0, then those of group 1, and so on."""
        parts = [cls.of(X[group == g], w[group == g]) for g in range(k)]
        return cls([v for part in parts for v in part.values], [w for part in parts for w in part.weights])

    def objection(self) -> str | None:
        """Why these are not the values of columns, or None if they are: for statistics that come from a file."""
        if any(len(values) != len(weights) for values, weights in zip(self.values, self.weights, strict=True)):
            return "a column has not as many weights as values"
        rising = all((values[1:] > values[:-1]).all() for values in self.values)
        return None if rising else "the values of a column do not rise"

    def __add__(self, other: Distinct) -> Distinct:
        both = [tally(np.concatenate([a, b]), np.concatenate([wa, wb])) for a, wa, b, wb in self._with(other)]
        return Distinct([values for values, _ in both], [weights for _, weights in both])

    def __sub__(self, other: Distinct) -> Distinct:
        left = [_without(*columns) for columns in self._with(other)]
        return Distinct([values for values, _ in left], [weights for _, weights in left])

    def _with(self, other: Distinct) -> Any:
        return zip(self.values, self.weights, other.values, other.weights, strict=True)

    def totals(self) -> Array:
        """Weight of each column."""
        return np.array([weights.sum() for weights in self.weights])

    def medians(self) -> Array:
        """The weighted median of each column, NaN for an empty one."""
        return np.array([median(values, weights) for values, weights in zip(self.values, self.weights, strict=True)])

    def modes(self) -> Array:
        """The value of most weight of each column, the smallest where several tie, NaN for an empty one."""
        return np.array(
            [
                values[weights.argmax()] if len(values) else np.nan
                for values, weights in zip(self.values, self.weights, strict=True)
            ]
        )


def tally(values: Array, weights: Array) -> tuple[Array, Array]:
    """Distinct values in order, and the weight of each."""
    if (few := _whole(values)) is not None:
        first, place = few
        count = np.bincount(place)
        weight = count * weights[0] if (weights == weights[0]).all() else np.bincount(place, weights=weights)
        there = np.flatnonzero(count)
        return (there + first).astype(values.dtype), weight[there]
    if len(weights) and (weights == weights[0]).all():  # no need to know which is which
        distinct, count = np.unique(values, return_counts=True)
        return distinct, count * weights[0]
    distinct, place = np.unique(values, return_inverse=True)
    return distinct, np.bincount(place, weights=weights, minlength=len(distinct))


def _whole(values: Array) -> tuple[int, Array] | None:
    """The least of whole numbers that lie close together, and how far each is above it: they are counted, not sorted. None for others."""
    if not len(values) or values.dtype.kind != "f":
        return None
    low, high = float(values.min()), float(values.max())
    if not -EXACT < low <= high < EXACT or high - low >= min(WIDEST, 4 * len(values)):  # NaN is not below anything
        return None
    place = (values - low).astype(np.int64)
    return (int(low), place) if low == np.floor(low) and np.array_equal(place + low, values) else None


def _without(values: Array, weights: Array, gone: Array, lost: Array) -> tuple[Array, Array]:
    place = np.searchsorted(values, gone)
    known = place < len(values)
    known[known] = values[place[known]] == gone[known]
    left = weights.copy()
    left[place[known]] -= lost[known]
    if not known.all() or (left < -1e-9 * weights).any():
        raise CannotForget(
            "more rows would be forgotten than were learned: only rows that were fitted can be forgotten"
        )
    keep = left > 1e-9 * weights
    return values[keep], left[keep]


def median(values: Array, weights: Array) -> float:
    """The point with half of the weight on each side, the middle of them if many; `values` are sorted."""
    if len(values) == 0:
        return float("nan")
    reached = np.cumsum(weights)
    half = reached[-1] / 2
    low = int(np.searchsorted(reached, half * (1 - 1e-12)))
    high = int(np.searchsorted(reached, half * (1 + 1e-12)))  # beyond `low` where the weight up to `low` is just half
    return float(values[low] + (values[min(high, len(values) - 1)] - values[low]) / 2)


def quantiles(values: Array, weights: Array, shares: Array) -> Array:
    """Quantiles by linear interpolation, as of a table in which a row of weight k stands k times.

    A value holds the places [W₋, W − 1], with W₋ the weight before it and W that up to it. Where weights are
    below one, the least of them is the unit.
    """
    unit = min(1.0, float(weights.min()))
    reached = np.cumsum(weights / unit)
    begin = np.concatenate([[0.0], reached[:-1]])
    places = np.column_stack([begin, np.maximum(reached - 1, begin)]).reshape(-1)
    return np.asarray(np.interp(shares * places[-1], places, np.repeat(values, 2)))
