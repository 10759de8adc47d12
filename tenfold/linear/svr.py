"""Support vector regression with a plane: residuals below a margin cost nothing."""

from __future__ import annotations

from typing import Any, ClassVar

from tenfold.base.estimator import Estimator
from tenfold.core.data import Source
from tenfold.core.errors import NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.linear.affine import AffineRegressor
from tenfold.linear.margin_rows import CURVED, Setting, in_memory, is_stored, products_plane, rows_plane
from tenfold.linear.margins import Cost, Plane, plane
from tenfold.solve.row_space import in_row_space, is_wide


@estimator
class LinearSVR(AffineRegressor, Estimator):
    """LinearSVR: the flattest plane within a margin of the rows, as far as C pays for it.

    Model       y ≈ X w + b
    Objective   min over w, b of  ½ ‖w‖² + ½ (b / intercept_scaling)² + C Σᵢ sᵢ max(0, |yᵢ − xᵢ·w − b| − epsilon),
                or the squares of these; as in LIBLINEAR the intercept is penalised too
    Algorithm   Newton steps, a pass each, the corner of the loss rounded; then the rows near the margin alone, with
                the corner narrower and narrower, and those on it solved for exactly; more rows until the gap closes. Of
                more than 1,024 columns by products alone: squares by Newton's method with conjugate gradients, first powers in
                the dual, a row at a time (the rows are kept, sparse ones as they are)
    Cost        O(n p²) a pass, about a dozen passes; O(p²) memory, and some rows; of few rows O(n² p) and O(n p), in the space
                that they span; by products O(stored values) a pass
    Fails when  columns of very different sizes: the penalty is not the same for all (scale them first)
    Reference   Vapnik 1995; Ho & Lin 2012; smoothing: Lee, Hsieh & Huang 2005

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + 1
    >>> y[3] = 100.0
    >>> tenfold.LinearSVR(C=10.0, epsilon=0.1).fit(X, y).coef_.round(2)
    array([2.])
    """

    dual_gap_: float = learned("float", "bound on how far the objective is above its minimum")
    n_iter_: int = learned("int", "passes over the rows")

    sparse: ClassVar[bool] = True

    _: KW_ONLY
    epsilon: float = param(default=0.0, at_least=0, doc="residuals up to this cost nothing")
    tol: float = param(default=0.0001, at_least=0, doc="bound on the duality gap over the objective")
    C: float = param(default=1.0, above=0, doc="what residuals beyond the margin cost")
    loss: str = param(
        default="epsilon_insensitive",
        one_of=("epsilon_insensitive", "squared_epsilon_insensitive"),
        doc="residuals beyond the margin, or their squares",
    )
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    intercept_scaling: float = param(default=1.0, above=0, doc="the larger, the less is the intercept penalised")
    dual: bool | str = param(default="auto", one_of=("auto", True, False), doc="no effect: there is one algorithm")
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")
    random_state: object = param(default=None, doc="no effect: nothing is random")
    max_iter: int = param(default=1000, at_least=1, doc="most passes over the rows")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12}, {"tol": 1e-12, "loss": "squared_epsilon_insensitive", "epsilon": 0.1}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if source.n_features > CURVED and (is_stored(source) or not is_wide(source)):
            return (yield from self._by_products(source))
        if not is_wide(source):
            return (yield from self._passes(source))
        space, fitted = yield from in_row_space(self, source, centre=False)  # the intercept has its own penalty
        return space.affine(fitted)

    def _passes(self, source: Source) -> Learner[dict[str, Any]]:
        found = yield from plane(
            source, self._cost(), intercept_scaling=float(self.intercept_scaling), fit_intercept=self.fit_intercept, tol=self.tol,
            max_iter=self.max_iter,
        )  # fmt: skip
        return self._attributes(found)

    def _by_products(self, source: Source) -> Learner[dict[str, Any]]:
        """Of very many columns."""
        scaling = float(self.intercept_scaling) if self.fit_intercept else 0.0
        setting = Setting(self._cost(), scaling, float(self.tol), self.max_iter)
        rows = yield from in_memory(source, setting.cost.squared)
        if rows is None:
            return self._attributes((yield from products_plane(source.n_features, setting)))
        X, y, w = rows
        return self._attributes(rows_plane(X, y[:, 0], w, setting))

    def _cost(self) -> Cost:
        return Cost(float(self.epsilon), min(max(float(self.C), 1e-100), 1e100), self.loss != "epsilon_insensitive")

    def _attributes(self, found: Plane) -> dict[str, Any]:
        if not found.closed:
            warn(
                f"LinearSVR: the duality gap is {found.gap:.2g} of the objective after {found.n_pass} passes, "
                f"above tol={self.tol:g}: scale the columns, or raise max_iter",
                NotConverged,
                stacklevel=2,
            )
        return dict(coef_=found.coef, intercept_=found.intercept, dual_gap_=found.gap, n_iter_=found.n_pass)
