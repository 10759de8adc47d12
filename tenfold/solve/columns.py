"""Columns one at a time: their magnitude, their distinct values, medians and modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, CannotForget, Degenerate, warn
from tenfold.core.numbers import column_name
from tenfold.core.stats import Stats

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
