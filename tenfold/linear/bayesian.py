"""Bayesian linear regression: a posterior instead of a point estimate, with both variances from the evidence."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.solve.few_rows import FewRows, principal, rows_or_moments, target_squares
from tenfold.solve.linalg import differ, eigh, eigh_graded, rounding

SMALLEST = np.finfo(float).eps  # share of the variance of y below which the noise is rounding
SMALL, LARGE = 1e-100, 1e100  # bounds of the precisions, so that nothing overflows


@estimator
class BayesianRidge(AffineRegressor, OnePass):
    """BayesianRidge: ridge whose penalty is found by the evidence, and whose prediction is a distribution.

    Model       y = X w + b + noise,  noise ~ N(0, 1/alpha),  w ~ N(0, I/lambda),  alpha, lambda ~ Gamma
    Objective   max over alpha, lambda of  log p(y | alpha, lambda) + log p(alpha) + log p(lambda);
                then w | y ~ N(coef_, sigma_),  sigma_ = (alpha Sxx + lambda I)⁻¹,  coef_ = alpha sigma_ Sxy
    Algorithm   one pass of centred moments, one eigendecomposition; then MacKay's updates, O(p) each
    Cost        O(n p² + p³) time, O(p²) memory, one pass; of few rows O(n² p) and O(n p); further rows join the moments, so that learning
                part by part is learning all at once
    Fails when  the target is fitted without error, so that alpha has no bound (it is held finite);
                max_iter updates do not settle (warns NotConverged)
    Reference   MacKay 1992; Tipping 2001

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(10.0)[:, None]
    >>> model = tenfold.BayesianRidge().fit(X, 2 * X[:, 0] + 0.1 * (-1) ** np.arange(10))
    >>> mean, deviation = model.predict([[20.0]], return_std=True)
    >>> mean.round(1), deviation.round(1)
    (array([39.9]), array([0.2]))
    """

    alpha_: float = learned("float", "precision of the noise")
    lambda_: float = learned("float", "precision of the weights")
    sigma_: Array = learned("float(p,p)", "covariance of the weights; of few rows made when it is asked for", optional=True, like_x=True)
    axes_: Array = learned("float(p,r)", "few rows: the directions that they determine, orthonormal", optional=True)
    axis_variances_: Array = learned(
        "float(r)", "few rows: variance of the weights along the axes; in all other directions 1 / lambda_", optional=True
    )
    scores_: Array = learned("float(*)", "evidence before each update and at the end, with compute_score", optional=True)
    n_iter_: int = learned("int", "updates")
    X_offset_: Array = learned("float(p)", "mean of each column")
    X_scale_: Array = learned("float(p)", "ones: columns are not scaled")
    stats_: Any = learned("Moments(p+1)|FewRows(p+1)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    sparse: ClassVar[bool] = True

    _: KW_ONLY
    max_iter: int = param(default=300, at_least=1, doc="most updates of the two precisions")
    tol: float = param(default=0.001, at_least=0, doc="no effect: updates cost no pass, and go on until they settle")
    alpha_1: float = param(default=1e-06, at_least=0, doc="shape of the Gamma prior of alpha")
    alpha_2: float = param(default=1e-06, at_least=0, doc="rate of the Gamma prior of alpha")
    lambda_1: float = param(default=1e-06, at_least=0, doc="shape of the Gamma prior of lambda")
    lambda_2: float = param(default=1e-06, at_least=0, doc="rate of the Gamma prior of lambda")
    alpha_init: float | None = param(default=None, above=0, doc="alpha to begin with; None: 1 / variance of y")
    lambda_init: float | None = param(default=None, above=0, doc="lambda to begin with; None: 1")
    compute_score: bool = param(default=False, doc="keep the evidence before each update and at the end in scores_")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    copy_X: bool = param(default=True, doc="no effect: X is never changed")
    verbose: bool = param(default=False, doc="no effect: use tenfold.progress()")

    def _summarize(self, block: Block) -> FewRows | Moments:
        return rows_or_moments(block)

    def _turned(self, stats: FewRows | Moments) -> tuple[Array, Array, Array, Array]:
        """The mean of (X, y); variances along the axes of X, the axes (p, r), and the products of X with y along them."""
        if isinstance(stats, FewRows):
            mean, Z, t = stats.centred(self.fit_intercept)
            values, vectors = principal(Z)
            return mean, values, vectors, (Z @ vectors).T @ t[:, 0]
        mean, Sxx, Sxy = centred(stats, self.n_features_in_, self.fit_intercept)
        lost = rounding(len(Sxx))  # of each column
        values, vectors = eigh_graded(Sxx, lost) if differ(np.diagonal(Sxx)) else eigh(Sxx)
        seen = values > 2 * lost * (np.diagonal(Sxx) @ vectors**2)
        values = np.where(seen, values, 0.0)
        right = np.where(seen, vectors.T @ Sxy[:, 0], 0.0)  # of directions without spread nothing is known
        return mean, values, vectors, right

    def _solve(self, stats: FewRows | Moments) -> dict[str, Any]:
        p, n = self.n_features_in_, float(stats.weight)
        mean, values, vectors, right = self._turned(stats)
        squares = float(target_squares(stats, p)[0])
        Syy = squares + (0.0 if self.fit_intercept else n * float(mean[p]) ** 2)
        floor = max(SMALLEST * Syy, 1e-200)
        spread = squares / n
        alpha = float(self.alpha_init or 1 / (spread + SMALLEST))
        weight = float(self.lambda_init or 1.0)
        scores, before, settled = [], np.zeros(len(values)), False
        for n_iter in range(1, self.max_iter + 1):
            w = alpha * right / (weight + alpha * values)
            rest = max(Syy + float(w @ (values * w - 2 * right)), floor)
            if self.compute_score:
                scores.append(self._evidence(n, alpha, weight, values, w, rest))
            if n_iter > 1 and np.abs(w - before).max() <= 1e-12 * np.abs(w).max(initial=1e-300):
                settled = True
                break
            before = w
            gamma = float((alpha * values / (weight + alpha * values)).sum())
            weight = (gamma + 2 * float(self.lambda_1)) / max(float(w @ w) + 2 * float(self.lambda_2), SMALL)
            alpha = (max(n - gamma, 0.0) + 2 * float(self.alpha_1)) / (rest + 2 * float(self.alpha_2))
            weight, alpha = min(max(weight, SMALL), LARGE), min(max(alpha, SMALL), LARGE)
        w = alpha * right / (weight + alpha * values)
        if self.compute_score:
            rest = max(Syy + float(w @ (values * w - 2 * right)), floor)
            scores.append(self._evidence(n, alpha, weight, values, w, rest))
        if not settled:
            self._warn(w, before)
        along = 1 / (weight + alpha * values)
        if isinstance(stats, FewRows):  # p x p only if somebody asks
            posterior = {"axes_": vectors, "axis_variances_": along}
        else:
            posterior = {"sigma_": (vectors * along) @ vectors.T}
        fitted = self._fitted(mean, (vectors @ w)[:, None])
        more = {"scores_": np.array(scores)} if self.compute_score else {}
        return dict(
            fitted,
            alpha_=float(alpha),
            lambda_=float(weight),
            **posterior,
            n_iter_=n_iter,
            X_offset_=mean[:p] if self.fit_intercept else np.zeros(p),
            X_scale_=np.ones(p),
            **more,
        )

    def _evidence(self, n: float, alpha: float, weight: float, values: Array, w: Array, rest: float) -> float:
        """log p(y, alpha, lambda), without constants of the priors."""
        priors = float(self.lambda_1) * np.log(weight) - float(self.lambda_2) * weight
        priors += float(self.alpha_1) * np.log(alpha) - float(self.alpha_2) * alpha
        fit = len(values) * np.log(weight) + n * np.log(alpha) - alpha * rest - weight * float(w @ w)
        return float(priors + 0.5 * (fit - np.log(weight + alpha * values).sum() - n * np.log(2 * np.pi)))

    def _warn(self, w: Array, before: Array) -> None:
        change = float(np.abs(w - before).max() / max(np.abs(w).max(), 1e-300))
        if change > max(self.tol, 1e-9):
            warn(
                f"BayesianRidge: the last of {self.max_iter} updates changed the coefficients by "
                f"{change:.2g}: raise max_iter",
                NotConverged,
                stacklevel=2,
            )

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The predictive mean of each row and, if asked, its standard deviation (noise and doubt about w)."""
        rows = check.check_predict(self, X)
        mean = map_rows(self._predict, rows)
        return (mean, map_rows(self._deviation, rows)) if return_std else mean

    def _deviation(self, X: Any) -> Array:
        D: Array = ops.dense(X) - self.X_offset_
        if "axes_" in vars(self):
            along = D @ self.axes_
            D -= along @ self.axes_.T
            doubt = (D * D).sum(axis=1) / self.lambda_ + (along * along) @ self.axis_variances_
        else:
            doubt = ((D @ self.sigma_) * D).sum(axis=1)
        return np.asarray(np.sqrt(doubt + 1 / self.alpha_)).astype(X.dtype, copy=False)

    def _objection(self) -> str | None:
        if ("sigma_" in vars(self)) != ("axes_" in vars(self) and "axis_variances_" in vars(self)):
            return None
        return "there must be sigma_, or axes_ and axis_variances_"

    def __getattr__(self, name: str) -> Any:
        if name != "sigma_" or "axes_" not in vars(self):
            return super().__getattr__(name)
        inside = self.axis_variances_ - 1 / self.lambda_
        return np.eye(self.n_features_in_) / self.lambda_ + (self.axes_ * inside) @ self.axes_.T
