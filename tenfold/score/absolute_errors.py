"""Scores of predicted numbers from the ordered absolute errors: the median and the largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tenfold.core.stats import Stats
from tenfold.score.inputs import OfValues, Values, truth_and_values
from tenfold.score.ranks import MOST_DISTINCT, Bounded, Distinct
from tenfold.score.regression import over_targets


def median_absolute_error(
    y_true: Any, y_pred: Any, *, multioutput: Any = "uniform_average", sample_weight: Any = None
) -> Any:
    """The median of |y − ŷ|, where half of the weight is below; between two rows, their mean.

    >>> from tenfold.evaluate import median_absolute_error
    >>> median_absolute_error([1.0, 2.0, 3.0, 10.0], [1.0, 2.0, 4.0, 0.0])
    0.5
    """
    given = truth_and_values(y_true, y_pred, sample_weight)
    if given.w is None:
        return over_targets(np.median(np.abs(given.truth - given.value), axis=0), multioutput)
    return AbsoluteErrors.of_values(given, most=2**62).median(multioutput).value


@dataclass(slots=True)
class AbsoluteErrors(Stats):
    """The distinct absolute errors of each target with their weights, rounded once there are too many."""

    targets: list[Distinct]

    @classmethod
    def of(cls, y_true: Any, y_pred: Any, sample_weight: Any = None, *, most: int = MOST_DISTINCT) -> Self:
        return cls.of_values(truth_and_values(y_true, y_pred, sample_weight), most)

    @classmethod
    def of_values(cls, given: Values, most: int) -> Self:
        one_group = np.zeros(len(given.truth), dtype=np.int64)
        errors = np.abs(given.truth - given.value).T
        return cls([Distinct.of(error, one_group, given.w, 1, most) for error in errors])

    def __add__(self, other: Self) -> Self:
        return type(self)([one + two for one, two in zip(self.targets, other.targets, strict=True)])

    def median(self, multioutput: Any = "uniform_average") -> Any:
        """The median, and how far rounding may have moved it."""
        lows, highs = (np.array([_middle(one, values) for one in self.targets]) for values in ("lows", "highs"))
        value, bound = (over_targets(part, multioutput) for part in ((lows + highs) / 2, (highs - lows) / 2))
        return Bounded(value, bound)


def _middle(errors: Distinct, values: str) -> float:
    reached = np.cumsum(errors.weight[:, 0])
    half, points = reached[-1] / 2, getattr(errors, values)
    first = int(np.searchsorted(reached, half * (1 - 1e-15)))
    is_between = abs(reached[first] - half) <= 1e-15 * half and first + 1 < len(points)
    return float((points[first] + points[first + 1]) / 2 if is_between else points[first])


def max_error(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """max |y − ŷ| over the rows (of weight above zero) and the targets.

    >>> from tenfold.evaluate import max_error
    >>> max_error([1.0, 2.0, 3.0], [1.0, 2.5, 3.0])
    0.5
    """
    return LargestError.of(y_true, y_pred, sample_weight).value()


@dataclass(slots=True)
class LargestError(OfValues):
    """max |y − ŷ|; `+` takes the larger one."""

    largest: float

    @classmethod
    def of_values(cls, given: Values) -> Self:
        return cls(float(np.abs(given.truth - given.value).max()))

    def __add__(self, other: Self) -> Self:
        return type(self)(max(self.largest, other.largest))

    def value(self) -> float:
        return self.largest
