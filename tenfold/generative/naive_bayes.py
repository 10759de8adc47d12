"""Naive Bayes with Gaussian columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Classifier, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Spread
from tenfold.generative.classes import class_priors, log_priors
from tenfold.solve.columns import SMALLEST_SQUARES, check_magnitude

LOG_2PI = float(np.log(2 * np.pi))


@estimator
class GaussianNB(Classifier, OnePass):
    """GaussianNB: classes with Gaussian columns that are independent within a class.

    Model       P(k | x) ∝ πₖ Πⱼ N(xⱼ; θₖⱼ, σ²ₖⱼ)
    Objective   maximum likelihood of πₖ, θₖⱼ and σ²ₖⱼ; var_smoothing times the largest column variance is
                added to every σ²
    Algorithm   one pass of means and centred sums of squares, class by class
    Cost        O(n p) time, O(K p) memory, one pass; merging O(K p)
    Fails when  columns are strongly dependent within a class: the probabilities are then too sure of
                themselves; a column that is constant within a class and var_smoothing = 0 (variance raised to
                rounding level, warns Degenerate)
    Reference   Hastie, Tibshirani & Friedman 2009, §6.6.3; merge: Chan, Golub & LeVeque 1983

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = tenfold.GaussianNB().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[-0.5], [3.0]]).tolist()
    ['low', 'high']
    """

    theta_: Array = learned("float(K,p)", "mean of each column in each class")
    var_: Array = learned("float(K,p)", "variance of each column in each class, smoothed")
    class_count_: Array = learned("float(K)", "weight of the rows of each class")
    class_prior_: Array = learned("float(K)", "probability of each class")
    epsilon_: float = learned("float", "what was added to the variances")
    stats_: Any = learned("Spread(K,p)", "the spreads: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    least_classes: ClassVar[int] = 1
    has_decisions: ClassVar[bool] = False

    _: KW_ONLY
    priors: Any = param(default=None, doc="prior probability of each class; None: its share of the rows")
    var_smoothing: float = param(
        default=1e-9, at_least=0, doc="share of the largest column variance added to all variances"
    )

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; equal to a fit on all rows so far. The first call names all `classes`."""
        found: Self = super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)
        return found

    def _left_out(self, source: Source) -> Callable[[Any], Array] | None:
        from tenfold.generative.leave_one_out import naive_bayes

        return naive_bayes(self) if "stats_" in vars(self) else None

    def _summarize(self, block: Block) -> Spread:
        return Spread.by_group(block.X, block.y, block.w, len(self.classes_))

    def _from_moments(self, moments: Moments) -> Spread:
        return moments.spread()

    def _solve(self, stats: Spread) -> dict[str, Any]:
        weight, mean, squares = stats.weight, stats.mean, stats.scatter
        check_magnitude(mean, squares, vars(self).get("feature_names_in_"))
        prior = class_priors(self, weight, renormalise=False)
        total = weight.sum()
        share = weight / total
        apart = mean - share @ mean  # an empty class has share zero
        pooled = squares.sum(axis=0) / total + share @ (apart * apart)
        epsilon = self.var_smoothing * float(pooled.max())
        var = squares / np.where(weight > 0, weight, 1.0)[:, None] + epsilon
        if not var.min() > SMALLEST_SQUARES:
            var = raised(self, var, mean, pooled, np.broadcast_to((weight > 0)[:, None], var.shape))
        return dict(theta_=mean, var_=var, class_count_=weight, class_prior_=prior, epsilon_=epsilon)

    def _scores(self, X: Any) -> Array:
        constant = log_priors(self.class_prior_, self.class_count_) - 0.5 * (LOG_2PI + np.log(self.var_)).sum(axis=1)
        return ops.spread_scores(X, self.theta_, 1 / self.var_, constant)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(k, x) of each row and class."""
        return map_rows(self._scores, check.check_predict(self, X))


def raised(model: Any, var: Array, mean: Array, pooled: Array, there: Array) -> Array:
    """Variances of zero (classes, columns), raised to what rounding of the values alone would give; `there`: which classes have values."""
    flat = (var <= SMALLEST_SQUARES) & there
    if flat.any():
        k, j = (int(i) for i in np.argwhere(flat)[0])
        column = column_name(vars(model).get("feature_names_in_"), j)
        warn(
            f"{type(model).__name__}: {column} of X is constant in class {model.classes_.tolist()[k]!r} and nothing smooths "
            "it; its variance was raised to rounding level: raise var_smoothing, or drop the column",
            Degenerate,
            stacklevel=3,
        )
    size = np.maximum(np.abs(mean).max(axis=0), np.sqrt(pooled))
    least = np.where(size > 0, np.finfo(float).eps * size, 1.0) ** 2
    return np.where(var > SMALLEST_SQUARES, var, np.where(least > SMALLEST_SQUARES, least, 1.0))
