"""Scores of predicted numbers. All but the median come from a few sums over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import xlogy

from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter, UndefinedScore, warn
from tenfold.core.stats import merge
from tenfold.score.inputs import OfValues, Values, truth_and_values
from tenfold.score.means import Mean

ROWS_AT_ONCE = 2**15


@dataclass(slots=True)
class ValueSums(OfValues):
    """For each target, with r = y − ŷ: Σ w, the mean and Σ w (y − ȳ)² of y, Σ w r², and Σ w of r above and
    below zero.
    """

    rows: int
    weight: float
    mean: Array
    spread: Array
    squared: Array
    above: Array
    below: Array

    @classmethod
    def of_values(cls, given: Values) -> Self:
        cuts = range(0, len(given.truth), ROWS_AT_ONCE)  # parts that stay in the cache, on all threads
        parts = each(cls._of_part, [_part(given, cut) for cut in cuts])
        merged: Self = merge(parts)
        return merged

    @classmethod
    def _of_part(cls, given: Values) -> Self:
        y = np.ascontiguousarray(given.truth.T)  # sums along rows of memory
        r, w = y - given.value.T, given.w

        def total(values: Array) -> Array:
            return np.add.reduce(values, axis=1) if w is None else values @ w

        weight = float(len(y.T) if w is None else w.sum())
        middle = total(y) / weight
        gap = y - middle[:, None]
        shift = total(gap) / weight
        above = np.maximum(r, 0.0)
        spread = np.maximum(total(gap * gap) - weight * shift**2, 0.0)
        return cls(len(y.T), weight, middle + shift, spread, total(r * r), total(above), total(above - r))

    def __add__(self, other: Self) -> Self:
        weight = self.weight + other.weight
        share, gap = other.weight / weight, other.mean - self.mean
        return type(self)(
            self.rows + other.rows,
            weight,
            self.mean + gap * share,
            self.spread + other.spread + gap**2 * (self.weight * share),
            self.squared + other.squared,
            self.above + other.above,
            self.below + other.below,
        )

    def mse(self, multioutput: Any = "uniform_average") -> Any:
        return over_targets(self.squared / self.weight, multioutput)

    def rmse(self, multioutput: Any = "uniform_average") -> Any:
        return over_targets(np.sqrt(self.squared / self.weight), multioutput)

    def mae(self, multioutput: Any = "uniform_average") -> Any:
        return over_targets((self.above + self.below) / self.weight, multioutput)

    def pinball(self, alpha: float = 0.5, multioutput: Any = "uniform_average") -> Any:
        if not 0 <= alpha <= 1:
            raise BadParameter(f"alpha={alpha!r}: must lie between 0 and 1")
        return over_targets((alpha * self.above + (1 - alpha) * self.below) / self.weight, multioutput)

    def r2(self, multioutput: Any = "uniform_average", force_finite: bool = True) -> Any:
        if self.rows < 2:
            warn("R^2 score is not well-defined with less than two samples.", UndefinedScore, stacklevel=3)
            return float("nan")
        return self.explained(multioutput, force_finite)

    def explained(self, multioutput: Any = "uniform_average", force_finite: bool = True) -> Any:
        """R², also of one row."""
        return explained_share(self.squared, self.spread, multioutput, force_finite)


def explained_share(rest: Array, spread: Array, multioutput: Any, force_finite: bool) -> Any:
    """1 − rest / spread of each target, and what `multioutput` makes of them; see `r2_score`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = 1 - rest / spread
    if force_finite:
        scores = np.where(spread == 0, np.where(rest == 0, 1.0, 0.0), scores)
    if isinstance(multioutput, str) and multioutput == "variance_weighted":
        multioutput = spread if spread.any() else "uniform_average"
    return over_targets(scores, multioutput)


def _part(given: Values, start: int) -> Values:
    rows = slice(start, start + ROWS_AT_ONCE)
    return Values(given.truth[rows], given.value[rows], None if given.w is None else given.w[rows])


def over_targets(values: Array, multioutput: Any) -> Any:
    """The values of all targets as they are, their mean, or a weighted mean."""
    if isinstance(multioutput, str):
        if multioutput == "raw_values":
            return values
        if multioutput == "uniform_average":
            return float(np.add.reduce(values) / len(values))
        raise BadParameter(
            f"multioutput={multioutput!r}: must be 'raw_values', 'uniform_average' or a weight for each target"
        )
    weights = None if multioutput is None else np.asarray(multioutput, dtype=np.float64)
    if weights is not None and weights.shape != values.shape:
        raise BadParameter(f"multioutput has {weights.size} weights for {len(values)} targets: give one for each")
    return float(np.average(values, weights=weights))


def r2_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """R² = 1 − Σ w (y − ŷ)² / Σ w (y − ȳ)²: the share of the spread that is explained.

    multioutput: "raw_values" one for each target, "uniform_average" their mean, "variance_weighted" by
    spread, or weights. force_finite: a constant truth gives 1 if predicted exactly and 0 if not, instead of
    NaN and −∞. One row gives NaN and a warning.

    >>> from tenfold.evaluate import r2_score
    >>> r2_score([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    0.5
    """
    return ValueSums.of(y_true, y_pred, sample_weight).r2(multioutput, force_finite)


def mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Σ w (y − ŷ)² / Σ w. multioutput: "raw_values" one for each target, "uniform_average" their mean, or
    weights.

    >>> from tenfold.evaluate import mean_squared_error
    >>> mean_squared_error([1.0, 2.0], [1.0, 4.0])
    2.0
    """
    return ValueSums.of(y_true, y_pred, sample_weight).mse(multioutput)


def root_mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """√(Σ w (y − ŷ)² / Σ w) of each target; multioutput as for `mean_squared_error`.

    >>> from tenfold.evaluate import root_mean_squared_error
    >>> root_mean_squared_error([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 6.0])
    1.0
    """
    return ValueSums.of(y_true, y_pred, sample_weight).rmse(multioutput)


def mean_absolute_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Σ w |y − ŷ| / Σ w; multioutput as for `mean_squared_error`.

    >>> from tenfold.evaluate import mean_absolute_error
    >>> mean_absolute_error([1.0, 2.0], [1.0, 4.0])
    1.0
    """
    return ValueSums.of(y_true, y_pred, sample_weight).mae(multioutput)


def mean_pinball_loss(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, alpha: float = 0.5, multioutput: Any = "uniform_average"
) -> Any:
    """Σ w max(α r, (α − 1) r) / Σ w with r = y − ŷ: smallest for the α-quantile. multioutput as for
    `mean_squared_error`.

    >>> from tenfold.evaluate import mean_pinball_loss
    >>> mean_pinball_loss([1.0, 2.0, 3.0], [0.0, 2.0, 3.0], alpha=0.75)
    0.25
    """
    return ValueSums.of(y_true, y_pred, sample_weight).pinball(alpha, multioutput)


def mean_poisson_deviance(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """2 Σ w (y log(y/μ) − y + μ) / Σ w, for counts y ≥ 0 and predicted means μ > 0 (0 log 0 is 0).

    >>> from tenfold.evaluate import mean_poisson_deviance
    >>> round(mean_poisson_deviance([2, 0, 1, 4], [0.5, 0.5, 2.0, 2.0]), 4)
    1.426
    """
    return poisson_sums(y_true, y_pred, sample_weight).value()


def poisson_sums(y_true: Any, y_pred: Any, sample_weight: Any = None) -> Mean:
    """The statistic of the Poisson deviance."""
    return poisson_sums_of(truth_and_values(y_true, y_pred, sample_weight))


def poisson_sums_of(given: Values) -> Mean:
    """The same of numbers that were checked."""
    y, mu, w = given
    if y.shape[1] > 1:
        raise BadInput(f"there are {y.shape[1]} targets: the Poisson deviance is of one")
    for values, bad, rule in ((y, y < 0, "y_true must be at least 0"), (mu, mu <= 0, "y_pred must be above 0")):
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise BadInput(
                f"{rule}, but is {values[row, 0]:g} in row {row}: the Poisson deviance is of counts and means"
            )
    return Mean.of(2 * (xlogy(y, y / mu) - y + mu)[:, 0], w)


def explained_variance_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """1 − Var(y − ŷ) / Var(y): R² of predictions whose mean error is taken away. Parameters as for `r2_score`.

    >>> from tenfold.evaluate import explained_variance_score
    >>> explained_variance_score([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    1.0
    """
    return ResidualSpread.of(y_true, y_pred, sample_weight).explained(multioutput, force_finite)


@dataclass(slots=True)
class ResidualSpread(OfValues):
    """Sums of the targets, and of their residuals."""

    targets: ValueSums
    residuals: ValueSums

    @classmethod
    def of_values(cls, given: Values) -> Self:
        residuals = given._replace(truth=given.truth - given.value)
        return cls(ValueSums.of_values(given), ValueSums.of_values(residuals))

    def explained(self, multioutput: Any = "uniform_average", force_finite: bool = True) -> Any:
        return explained_share(self.residuals.spread, self.targets.spread, multioutput, force_finite)
