"""Regression that gross errors of the target cannot move far."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.errors import Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.linear.warm import WarmStart
from tenfold.solve.irls import Frame, Piece, frame_of, newton, settled_scale, start_of
from tenfold.solve.row_space import in_row_space, is_wide

EXACT = 1e-12  # residuals this small, relative to the spread of y, are rounding


@estimator
class HuberRegressor(WarmStart, AffineRegressor, Estimator):
    """HuberRegressor: squared loss for small residuals, absolute loss for large ones, and the scale.

    Model       y ≈ X w + b + σ e, where some e are gross errors
    Objective   min over w, b, σ > 0 of  Σᵢ sᵢ (σ + σ H((yᵢ − xᵢ·w − b) / σ)) + alpha ‖w‖²,
                H(u) = u² for |u| ≤ epsilon, 2 epsilon |u| − epsilon² beyond
    Algorithm   least squares from one pass of moments, then Newton steps in (w, b, σ), where the objective
                is jointly convex; halved where it would rise; one pass each, until they change nothing
    Cost        O(n p²) a pass, about ten passes; O(p²) memory; of few rows O(n² p) and O(n p), in the space that they span
    Fails when  gross errors sit at far-away rows of X (leverage), which no convex loss resists;
                epsilon is near 1, where the scale tends to zero (warns NotConverged): see QuantileRegressor
    Reference   Huber 1981; the joint objective: Owen 2007

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + 1 + 0.1 * (-1) ** np.arange(10)
    >>> y[3] = 1000.0
    >>> model = tenfold.HuberRegressor().fit(X, y)
    >>> model.coef_.round(1), model.weights(X, y).argmin()
    (array([2.]), np.int64(3))
    """

    scale_: float = learned("float", "the scale σ of the noise")
    n_iter_: int = learned("int", "Newton steps tried, each a pass over the rows; 0 where the start was the solution")

    outliers_: Array = learned("bool(n)", "which training rows of a table in memory lie beyond epsilon scales", optional=True)

    sparse: ClassVar[bool] = True
    target: ClassVar[str] = "real"

    _: KW_ONLY
    epsilon: float = param(default=1.35, at_least=1, doc="residuals beyond this many scales count linearly")
    max_iter: int = param(default=100, at_least=1, doc="most Newton steps")
    alpha: float = param(default=0.0001, at_least=0, doc="penalty strength")
    warm_start: bool = param(default=False, doc="begin at the solution of the fit before; it ends at the same place")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    tol: float = param(default=1e-05, at_least=0, doc="bound on the gradient per row, of standardised columns")

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if not is_wide(source):
            return (yield from self._passes(source))
        space, fitted = yield from in_row_space(self, source, self.fit_intercept)
        return space.affine(fitted)

    def _passes(self, source: Source) -> Learner[dict[str, Any]]:
        stats = yield _moments
        centred(stats, source.n_features, self.fit_intercept)
        frame = frame_of(stats, self.fit_intercept)
        theta, scale = start_of(stats, frame, self.fit_intercept)
        scale = yield from settled_scale(theta, scale, frame)
        if scale <= EXACT:
            return self._attributes(frame, theta, scale, 0)
        if self._before and self._before["scale_"] > EXACT * frame.y_size:
            theta, scale = frame.inside(self._before["coef_"], self._before["intercept_"]), self._before["scale_"] / frame.y_size
        with np.errstate(over="ignore"):
            l2 = np.minimum(2 * self.alpha * frame.y_size / frame.size**2, 1e150)
        terms = partial(huber_terms, frame=frame, epsilon=self.epsilon, fit_intercept=self.fit_intercept)
        found = yield from newton(
            terms,
            np.append(theta, scale),
            np.concatenate([l2, np.zeros(2)]),
            tol=self.tol,
            max_iter=self.max_iter,
            scale=True,
        )
        if not found.converged:
            warn(
                f"HuberRegressor: max |gradient| / Σ s is {found.certificate:.2g} after {found.n_pass} "
                f"passes, above tol={self.tol:g}: raise max_iter",
                NotConverged,
                stacklevel=2,
            )
        steps = 0 if found.converged and found.n_pass == 1 else min(found.n_pass, self.max_iter)
        return self._attributes(frame, found.theta[:-1], float(found.theta[-1]), steps)

    def _attributes(self, frame: Frame, theta: Array, scale: float, n_iter: int) -> dict[str, Any]:
        coef, intercept = frame.coefficients(theta)
        return dict(
            coef_=coef,
            intercept_=intercept if self.fit_intercept else 0.0,
            scale_=scale * frame.y_size,
            n_iter_=n_iter,
        )

    def _finish(self, source: Source) -> None:
        if not isinstance(source, Arrays) or source.y is None:
            vars(self)["absent_"] = {"outliers_": "outliers_ is absent, as these rows are not kept: call outliers(X, y)"}
            return
        whole = source.load(0).X if source.n_parts == 1 and source.rows is None else source.whole()  # also rows of weight zero
        rest = source.y[:, 0] - (map_rows(self._predict, whole) if isinstance(whole, Arrays) else self._predict(whole))
        vars(self)["outliers_"] = np.abs(rest) > self.epsilon * self.scale_

    def weights(self, X: Any, y: Any) -> Array:
        """What each row counts: 1 within epsilon scales, as in least squares, less and less beyond."""
        size = np.abs(residuals(self, X, y))
        return np.minimum(1.0, self.epsilon * self.scale_ / np.maximum(size, np.finfo(float).tiny))

    def outliers(self, X: Any, y: Any) -> Array:
        """Which rows lie beyond epsilon scales."""
        return np.abs(residuals(self, X, y)) > self.epsilon * self.scale_


def residuals(model: Any, X: Any, y: Any) -> Array:
    """y − ŷ of new rows, which pass the gate."""
    predicted = model.predict(X)
    return np.asarray(check.real_target(check.as_column(y), len(predicted))[:, 0] - predicted)


def through_all(learner: str, X: Array, y: Array, w: Array, fit_intercept: bool) -> tuple[Array, float] | None:
    """Of few rows: w and b of least norm that fit them all, with a warning; None where nothing does, or rows are not few."""
    if len(X) >= X.shape[1] + fit_intercept:
        return None
    mean = w @ np.column_stack([X, y]) / w.sum() if fit_intercept else np.zeros(X.shape[1] + 1)
    root = np.sqrt(w)
    coef = np.linalg.lstsq(root[:, None] * (X - mean[:-1]), root * (y - mean[-1]), rcond=None)[0]
    intercept = mean[-1] - mean[:-1] @ coef
    if np.abs(y - X @ coef - intercept).max() > 1e-9 * np.abs(y).max():
        return None
    warn(
        f"{learner}: {len(X)} rows do not determine {X.shape[1] + fit_intercept} parameters, and the solution of least "
        "norm is taken: give more rows, or use a penalty (RidgeCV)",
        Degenerate,
        stacklevel=2,
    )
    return coef, intercept


def _moments(block: Block) -> Moments:
    return Moments.of(block.X, block.y, block.w)


def huber_terms(block: Block, theta: Array, frame: Frame, epsilon: float, fit_intercept: bool) -> Piece:
    """Objective, gradient and curvature in θ = [w b σ]."""
    X, y = frame.rows(block)
    w, sigma = block.w, theta[-1]
    r = y - X @ theta[:-2]
    r -= theta[-2]
    u = r / sigma
    size = np.abs(u)
    near = w * (size <= epsilon)
    far = w - near
    psi = np.clip(u, -epsilon, epsilon)
    weight, inside = float(w.sum()), float(near @ (u * u))
    loss = sigma * (weight + inside + epsilon * float(far @ (2 * size - epsilon)))
    q = len(theta)
    pull, bend = -2 * w * psi, (2 / sigma) * near
    gradient, H = np.empty(q), np.empty((q, q))
    gradient[:-2], gradient[-2] = pull @ X, pull.sum()
    gradient[-1] = weight - inside - epsilon**2 * float(far.sum())
    H[:-1, :-1] = ops.weighted_gram(X, bend)
    cross = bend * u
    H[:-2, -1], H[-2, -1], H[-1, -1] = cross @ X, cross.sum(), cross @ u
    H[-1] = H[:, -1]
    if not fit_intercept:
        gradient[-2] = 0.0
        H[-2] = H[:, -2] = 0.0
    return Piece(loss, gradient, H, weight)
