"""Scores of predicted numbers that are relative to their size: shares of the truth, logarithms, the deviance of gammas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.score.inputs import OfValues, Values, truth_and_values
from tenfold.score.means import Mean
from tenfold.score.regression import ValueSums, over_targets


def mean_absolute_percentage_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Σ w |y − ŷ| / max(|y|, ε) / Σ w, a share and not in per cent; a truth of zero makes it huge.

    multioutput: as for `mean_squared_error`.

    >>> from tenfold.evaluate import mean_absolute_percentage_error
    >>> mean_absolute_percentage_error([1.0, 2.0], [1.5, 2.0])
    0.25
    """
    return Shares.of(y_true, y_pred, sample_weight).value(multioutput)


@dataclass(slots=True)
class Shares(OfValues):
    """Σ w and Σ w |y − ŷ| / |y| of each target."""

    sums: Mean

    @classmethod
    def of_values(cls, given: Values) -> Self:
        least = np.finfo(np.float64).eps
        shares = np.abs(given.truth - given.value) / np.maximum(np.abs(given.truth), least)
        return cls(Mean.of(shares, given.w))

    def value(self, multioutput: Any = "uniform_average") -> Any:
        return over_targets(np.asarray(self.sums.sum / self.sums.weight), multioutput)


def mean_squared_log_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Σ w (log(1 + y) − log(1 + ŷ))² / Σ w, for numbers above −1. multioutput: as for `mean_squared_error`.

    >>> from tenfold.evaluate import mean_squared_log_error
    >>> mean_squared_log_error([0.0, 3.0], [0.0, 3.0])
    0.0
    """
    return log_sums(y_true, y_pred, sample_weight).mse(multioutput)


def root_mean_squared_log_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The root of `mean_squared_log_error`, of each target.

    >>> from tenfold.evaluate import root_mean_squared_log_error
    >>> root_mean_squared_log_error([0.0, 3.0], [0.0, 3.0])
    0.0
    """
    return log_sums(y_true, y_pred, sample_weight).rmse(multioutput)


def log_sums(y_true: Any, y_pred: Any, sample_weight: Any = None) -> ValueSums:
    """The statistic of logarithmic errors."""
    return log_sums_of(truth_and_values(y_true, y_pred, sample_weight))


def log_sums_of(given: Values) -> ValueSums:
    """The same of numbers that were checked."""
    _above(given.truth, -1, "y_true", "Mean Squared Logarithmic Error")
    _above(given.value, -1, "y_pred", "Mean Squared Logarithmic Error")
    return ValueSums.of_values(Values(np.log1p(given.truth), np.log1p(given.value), given.w))


def mean_gamma_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """2 Σ w (log(μ/y) + y/μ − 1) / Σ w, for numbers y and predicted means μ above zero.

    >>> from tenfold.evaluate import mean_gamma_deviance
    >>> mean_gamma_deviance([1.0, 2.0], [1.0, 2.0])
    0.0
    """
    return gamma_sums(y_true, y_pred, sample_weight).value()


def gamma_sums(y_true: Any, y_pred: Any, sample_weight: Any = None) -> Mean:
    """The statistic of the gamma deviance."""
    return gamma_sums_of(truth_and_values(y_true, y_pred, sample_weight))


def gamma_sums_of(given: Values) -> Mean:
    """The same of numbers that were checked."""
    y, mu, w = given
    if y.shape[1] > 1:
        raise BadInput(f"there are {y.shape[1]} targets: the gamma deviance is of one")
    _above(y, 0, "y_true", "the gamma deviance")
    _above(mu, 0, "y_pred", "the gamma deviance")
    return Mean.of(2 * (np.log(mu / y) + y / mu - 1)[:, 0], w)


def _above(values: Array, least: float, name: str, score: str) -> None:
    if values.min() <= least:
        row = int(np.argwhere(values <= least)[0][0])
        raise BadInput(
            f"{score} cannot be used when targets contain values less than or equal to {least}: "
            f"{name} is {float(values[row].min()):g} in row {row}"
        )
