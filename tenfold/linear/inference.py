"""What a least-squares fit knows about its own uncertainty, from the statistics it kept.

`infer(model)` needs no rows: the moments (or the triangle) of one pass hold standard errors, tests, R² and
information criteria, so they are there after a fit on a stream, after `partial_fit`, `merge` and `forget`.
Leverage and Cook's distance are of single rows and are asked of rows.

Weights count rows (weight 2 is the row twice), so n is the sum of the weights. Known variances are another thing: they divide
the squares, and leave n as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import chdtrc, fdtrc, stdtr, stdtrit

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.stats import Moments
from tenfold.core.threads import patiently
from tenfold.linear.weighted import Weighed
from tenfold.solve.least_squares import Triangle

# Standard errors come from the inverse of the cross-products: beyond this condition too few digits are left.
HARD = 1e6


@dataclass(frozen=True)
class Inference:
    """Uncertainty of q fits of p' parameters each (the intercept first, where there is one)."""

    names: list[str]  # (p',)
    coef: Array  # (q, p')
    unscaled: Array  # (p', p'), the inverse of the cross-products: times σ² it is the covariance
    residual_squares: Array  # (q,), over the variances, where these are known
    spread: Array  # (q,), sum of squares of y about its mean (about zero without an intercept)
    n: float
    intercept: bool
    condition: float  # of the scaled columns
    log_determinant: float = 0.0  # of the covariance of the noise, as far as it is known
    absolute: bool = False  # that covariance is known, and not only up to a factor

    @property
    def freedom(self) -> float:
        """Degrees of freedom left for the residuals."""
        return self.n - len(self.names)

    @property
    def student(self) -> float:
        """Degrees of freedom of Student's distribution: without limit where the variance need not be estimated."""
        return np.inf if self.absolute else self.freedom

    @property
    def sigma2(self) -> Array:
        """(q,), the variance of the noise, or the common factor of its known variances."""
        return np.ones_like(self.residual_squares) if self.absolute else self.residual_squares / self.freedom

    @property
    def standard_errors(self) -> Array:
        return np.asarray(np.sqrt(self.sigma2[:, None] * np.diagonal(self.unscaled)))

    @property
    def t(self) -> Array:
        """Coefficients over their standard errors."""
        errors = self.standard_errors
        away = np.where(self.coef == 0, 0.0, np.sign(self.coef) * np.inf)
        return np.where(errors > 0, self.coef / np.where(errors > 0, errors, 1.0), away)

    @property
    def p_values(self) -> Array:
        """Two-sided, of the hypothesis that a coefficient is zero."""
        return np.asarray(2 * stdtr(self.student, -np.abs(self.t)))

    def intervals(self, level: float = 0.95) -> Array:
        """(q, p', 2): lower and upper ends, from Student's distribution."""
        if not 0 < level < 1:
            raise BadParameter(f"intervals(level={level!r}): must be above 0 and below 1, as 0.95")
        half = stdtrit(self.student, 0.5 + level / 2) * self.standard_errors
        return np.stack([self.coef - half, self.coef + half], axis=-1)

    @property
    def covariance(self) -> Array:
        """(q, p', p'), of the coefficients."""
        return self.sigma2[:, None, None] * self.unscaled

    @property
    def r2(self) -> Array:
        return 1 - self.residual_squares / np.where(self.spread > 0, self.spread, 1.0)

    @property
    def adjusted_r2(self) -> Array:
        return 1 - (1 - self.r2) * (self.n - self.intercept) / self.freedom

    @property
    def f(self) -> Array:
        """F statistic of the hypothesis that all coefficients but the intercept are zero."""
        explained = np.maximum(self.spread - self.residual_squares, 0.0) / max(self.n_slopes, 1)
        return np.where(self.sigma2 > 0, explained / np.where(self.sigma2 > 0, self.sigma2, 1.0), np.inf)

    @property
    def f_p_value(self) -> Array:
        slopes = max(self.n_slopes, 1)
        return np.asarray(chdtrc(slopes, slopes * self.f) if self.absolute else fdtrc(slopes, self.freedom, self.f))

    @property
    def n_slopes(self) -> int:
        return len(self.names) - self.intercept

    @property
    def log_likelihood(self) -> Array:
        """Of normal noise, at its maximum over σ² too where that is not known."""
        if self.absolute:
            return np.asarray(-0.5 * (self.n * np.log(2 * np.pi) + self.log_determinant + self.residual_squares))
        with np.errstate(divide="ignore"):
            return -0.5 * (self.n * (np.log(2 * np.pi * self.residual_squares / self.n) + 1) + self.log_determinant)

    @property
    def aic(self) -> Array:
        return 2 * len(self.names) - 2 * self.log_likelihood

    @property
    def bic(self) -> Array:
        return np.asarray(np.log(self.n) * len(self.names) - 2 * self.log_likelihood)

    def table(self, level: float = 0.95) -> str:
        """All of it, to be read: one table for each target."""
        ends, errors, t, p = self.intervals(level), self.standard_errors, self.t, self.p_values
        width = max(9, *(len(name) for name in self.names))
        low, high = f"{50 * (1 - level):g} %", f"{50 * (1 + level):g} %"
        lines = []
        for k in range(len(self.coef)):
            if len(self.coef) > 1:
                lines.append(f"target {k}")
            lines += [
                f"rows {self.n:g}   degrees of freedom {self.freedom:g}   condition {self.condition:.3g}",
                f"R² {self.r2[k]:.6g}   adjusted {self.adjusted_r2[k]:.6g}   "
                f"noise (standard deviation) {self.sigma2[k] ** 0.5:.6g}",
                f"F {self.f[k]:.6g} (p {self.f_p_value[k]:.3g})   log-likelihood "
                f"{self.log_likelihood[k]:.6g}   "
                f"AIC {self.aic[k]:.6g}   BIC {self.bic[k]:.6g}",
                "",
                f"{'':<{width}} {'coef':>12} {'std error':>12} {'t':>9} {'p':>9} {low:>12} {high:>12}",
            ]
            for j, name in enumerate(self.names):
                lines.append(
                    f"{name:<{width}} {self.coef[k, j]:>12.6g} {errors[k, j]:>12.4g} {t[k, j]:>9.3f} "
                    f"{p[k, j]:>9.3g} {ends[k, j, 0]:>12.6g} {ends[k, j, 1]:>12.6g}"
                )
            lines.append("")
        return "\n".join(lines).rstrip()

    __str__ = table

    def leverage(self, X: Array, w: Array | None) -> Array:
        """w zᵀ(ZᵀWZ)⁻¹z of each row z = [1 x]: how much its own target decides its prediction."""
        Z = np.column_stack([np.ones(len(X)), X]) if self.intercept else X
        h = ((Z @ self.unscaled) * Z).sum(axis=1)
        return np.asarray(h if w is None else w * h)

    def cook(self, h: Array, rest: Array, w: Array | None) -> Array:
        """Cook's distance of the first target, from leverages and residuals."""
        weighed = rest**2 if w is None else w * rest**2
        scale = len(self.names) * np.where(self.sigma2[0] > 0, self.sigma2[0], 1.0)
        return np.asarray(weighed * h / (scale * np.maximum(1 - h, np.finfo(float).eps) ** 2))


def infer(model: Any) -> Inference:
    """The uncertainty of a fitted LinearRegression; refused, with the reason, where theory gives none."""
    what = type(model).__name__
    if getattr(model, "alpha", 0):
        raise BadInput(
            f"{what}: a penalty biases the coefficients, so standard errors would mislead: use LinearRegression"
        )
    if getattr(model, "positive", False):
        raise BadInput(f"{what}(positive=True): coefficients at the bound have no standard errors: use positive=False")
    p = model.n_features_in_
    stats, n, log_determinant = _kept(model)
    if not isinstance(stats, (Moments, Triangle)):
        raise BadInput(
            f"{what}: this fit kept no statistics (solver='lsqr', or loaded from a file without them): fit again, "
            "with solver='qr' or 'auto'"
        )
    if model.rank_ < p:
        raise BadInput(
            f"{what}: the {p} columns have rank {model.rank_} only, so single coefficients are not "
            "determined: drop columns"
        )
    first = int(model.fit_intercept)
    if n - p - first <= 0:
        raise BadInput(f"{what}: {n:g} rows leave no degrees of freedom for {p + first} parameters: give more rows")
    coef = np.atleast_2d(model.coef_)
    gram, spread, rest = (
        _from_triangle(model, stats, coef.T) if isinstance(stats, Triangle) else _from_moments(model, stats, coef.T)
    )
    if first:
        coef = np.column_stack([np.broadcast_to(model.intercept_, len(coef)), coef])
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(p)])]
    return Inference(
        ["intercept"] * first + names,
        coef,
        gram,
        rest,
        spread,
        float(n),
        bool(first),
        float(model.condition_),
        log_determinant,
        bool(getattr(model, "absolute", False)),
    )


def _kept(model: Estimator) -> tuple[Any, float, float]:
    """The moments or the triangle that a fit left, its rows, and the log determinant of the covariance of its noise."""
    if "triangle_" in vars(model):
        return Triangle(model.n_rows_, model.triangle_), model.n_rows_, model.log_determinant_
    stats = vars(model).get("stats_")
    if isinstance(stats, Weighed):
        return stats.moments, stats.rows, float(stats.log_variance)
    return stats, float(getattr(stats, "weight", 0.0)), 0.0


def _from_moments(model: Estimator, stats: Moments, B: Array) -> tuple[Array, Array, Array]:
    """Inverse cross-products of [1 X], spread of y, residual squares Syy − 2 BᵀSxy + BᵀSxx B."""
    if model.condition_ > HARD:
        raise BadInput(
            f"{type(model).__name__}: the columns have condition {model.condition_:.2g}, too much for standard errors "
            "from cross-products: scale or drop columns, or use LinearRegression(solver='qr')"
        )
    p, mean, S = len(B), stats.mean, stats.scatter
    if not model.fit_intercept:
        S = S + stats.weight * np.outer(mean, mean)
    Sxx, Sxy, Syy = S[:p, :p], S[:p, p:], np.diagonal(S)[p:]
    scale = np.sqrt(np.diagonal(Sxx))
    inverse = patiently(np.linalg.inv, Sxx / scale[:, None] / scale) / scale[:, None] / scale
    inverse = (inverse + inverse.T) / 2
    rest = np.maximum(Syy + ((Sxx @ B - 2 * Sxy) * B).sum(axis=0), 0.0)
    if model.fit_intercept:
        side = -inverse @ mean[:p]
        corner = 1 / stats.weight - mean[:p] @ side
        inverse = np.block([[np.array([[corner]]), side[None]], [side[:, None], inverse]])
    return inverse, Syy, rest


def _from_triangle(model: Estimator, stats: Triangle, B: Array) -> tuple[Array, Array, Array]:
    """With [1 X y] = Q R: the inverse of the leading triangle, and columns of R for the sums of squares."""
    first = int(model.fit_intercept)
    p = len(B) + first
    inner = solve_triangular(stats.R[:p, :p], np.eye(p))
    below = stats.R[first:, p:]
    rest = stats.R[p:, p:]
    return inner @ inner.T, (below**2).sum(axis=0), (rest**2).sum(axis=0)
