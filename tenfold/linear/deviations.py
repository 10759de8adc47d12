"""Least absolute deviations: a plane with half of the rows on either side of it."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Rows, Spread
from tenfold.linear.affine import AffineRegressor
from tenfold.linear.quantile import QuantileRegressor
from tenfold.linear.robust import through_all


@estimator
class LeastAbsoluteDeviations(AffineRegressor, Estimator):
    """LeastAbsoluteDeviations: the plane with the smallest sum of absolute residuals.

    Model       the median of y given x is x·w + b
    Objective   min over w, b of  Σᵢ sᵢ |yᵢ − xᵢ·w − b|;  among many solutions the one of least squares
    Algorithm   "exact": re-weighted least squares to come near, then a linear program over the rows of small
                residual, the rest as one slope, with more rows until none left out has crossed;
                "irls": re-weighted least squares alone
    Cost        O(n p²) a pass, ten passes and one or two small linear programs; O(p²) memory, and some rows
    Fails when  as many rows as parameters lie far out in X (leverage) with wrong targets: see MMRegressor
    Reference   Boscovich 1757; Koenker & Bassett 1978; few rows suffice: Portnoy & Koenker 1997

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + 1
    >>> y[3] = 1000.0
    >>> model = tenfold.LeastAbsoluteDeviations().fit(X, y)
    >>> model.coef_.round(9), model.intercept_.round(9)
    (array([2.]), np.float64(1.0))
    """

    mean_deviation_: float = learned("float", "Σ s |r| / Σ s")
    n_iter_: int = learned("int", "passes over the rows")

    sparse: ClassVar[bool] = True

    _: KW_ONLY
    method: str = param(
        default="exact", one_of=("exact", "irls"), doc="by linear program, or approximately and quicker"
    )
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if source.n_rows is not None and source.n_rows < source.n_features + self.fit_intercept:
            rows = (yield _rows).whole()
            exact = through_all(type(self).__name__, rows[:, :-2], rows[:, -2], rows[:, -1], self.fit_intercept)
            if exact is not None:
                return dict(coef_=exact[0], intercept_=exact[1], mean_deviation_=0.0, n_iter_=1)
        solver = "irls" if self.method == "irls" else "highs"
        median = QuantileRegressor(quantile=0.5, alpha=0.0, fit_intercept=self.fit_intercept, solver=solver)
        fitted = yield from median._learn(source)
        sums = yield partial(_deviations, coef=fitted["coef_"], intercept=fitted["intercept_"])
        return dict(fitted, mean_deviation_=float(sums.mean[0, 0]), n_iter_=fitted["n_iter_"] + 1)


def _rows(block: Block) -> Rows:
    return Rows.of(np.column_stack([ops.dense(block.X).astype(np.float64), block.y, block.w]))


def _deviations(block: Block, coef: Array, intercept: float) -> Spread:
    return Spread.of(np.abs(block.y - (block.X @ coef + intercept)[:, None]), block.w)
