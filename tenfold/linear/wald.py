"""What a fit by maximum likelihood knows about its own uncertainty.

Near its maximum a log-likelihood is a parabola, so that the estimates are nearly normal about the truth, with the inverse of the
curvature as their covariance (Wald 1943). Weights count rows: weight 2 is the row twice, and n is the sum of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.solve.linalg import cholesky, cholesky_solve, reciprocal_condition

SINGULAR = 1e-12  # a reciprocal condition of the scaled curvature below which its inverse has too few digits


def covariance_of(curvature: Array, shift: Array | None, fit_intercept: bool) -> Array | None:
    """The inverse of a curvature (m, q, m, q) of m rows [w b], as (m p', m p') with each b first (none without an intercept).

    `shift` was subtracted from the columns, so that b is larger by w·shift there. None where the curvature is singular.
    """
    m, q = curvature.shape[:2]
    p = q if fit_intercept else q - 1
    H = curvature[:, :p, :, :p].reshape(m * p, m * p)
    scale = np.sqrt(np.diagonal(H))
    if not (scale > 0).all():
        return None
    H = H / scale / scale[:, None]
    L = cholesky(H)
    if L is None or reciprocal_condition(H, L) < SINGULAR:
        return None
    inverse = (cholesky_solve(L, np.eye(m * p)) / scale / scale[:, None]).reshape(m, p, m, p)
    if fit_intercept:  # [w b'] ↦ [b w], b = b' − w·shift
        turn = np.roll(np.eye(p), 1, axis=0)
        if shift is not None:
            turn[0, :-1] = -shift
        inverse = np.tensordot(turn, np.tensordot(inverse, turn, (3, 1)), (1, 1)).swapaxes(0, 1)
    found = inverse.reshape(m * p, m * p)
    return np.asarray((found + found.T) / 2)


@dataclass(frozen=True)
class Wald:
    """Uncertainty of m rows of p' parameters each (the intercept first, where there is one), fitted together."""

    names: list[str]  # (p',)
    coef: Array  # (m, p')
    covariance: Array  # (m p', m p'), row after row
    log_likelihood: float
    null_log_likelihood: float  # of the intercept alone (with none: of coefficients that are all zero)
    n: float
    intercept: bool

    @property
    def standard_errors(self) -> Array:
        return np.asarray(np.sqrt(np.diagonal(self.covariance)).reshape(self.coef.shape))

    @property
    def z(self) -> Array:
        """Coefficients over their standard errors."""
        return np.asarray(self.coef / self.standard_errors)

    @property
    def p_values(self) -> Array:
        """Two-sided, of the hypothesis that a coefficient is zero."""
        return np.asarray(2 * ndtr(-np.abs(self.z)))

    def intervals(self, level: float = 0.95) -> Array:
        """(m, p', 2): lower and upper ends, from the normal distribution."""
        if not 0 < level < 1:
            raise BadParameter(f"intervals(level={level!r}): must be above 0 and below 1, as 0.95")
        half = ndtri(0.5 + level / 2) * self.standard_errors
        return np.stack([self.coef - half, self.coef + half], axis=-1)

    @property
    def n_slopes(self) -> int:
        return len(self.coef) * (len(self.names) - self.intercept)

    @property
    def likelihood_ratio(self) -> float:
        """2 (log-likelihood − that of the intercept alone): χ² with `n_slopes` degrees of freedom where no column tells anything."""
        return 2 * (self.log_likelihood - self.null_log_likelihood)

    @property
    def likelihood_ratio_p_value(self) -> float:
        return float(chdtrc(max(self.n_slopes, 1), max(self.likelihood_ratio, 0.0)))

    @property
    def pseudo_r2(self) -> float:
        """McFadden's: 1 − log-likelihood / that of the intercept alone."""
        return 1 - self.log_likelihood / self.null_log_likelihood if self.null_log_likelihood else 1.0

    @property
    def aic(self) -> float:
        return 2 * self.coef.size - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        return float(np.log(self.n) * self.coef.size - 2 * self.log_likelihood)
