"""Leave-one-out of linear smoothers: with the leverage hᵢ and the residual eᵢ of the full fit, row i is missed by eᵢ / (1 − hᵢ).

A row whose removal would cost digits (1 − h near zero) gets NaN: it must be refitted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tenfold import _evaluate
from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import current_engine
from tenfold.core.stats import Moments
from tenfold.core.threads import patiently
from tenfold.linear.affine import centred
from tenfold.solve.few_rows import FewRows, inverse_root
from tenfold.solve.least_squares import Triangle, triangle_of
from tenfold.solve.linalg import cholesky, invert_triangle, reciprocal_condition, whitened_squares

EPS = float(np.finfo(float).eps)

if TYPE_CHECKING:  # Python need not know what a mixin stands beside
    _Beside = Estimator
else:
    _Beside = object


class LinearSmoother(_Beside):
    """Mixin: predictions for the training rows are H y, with a known H."""

    positive: bool

    def _left_out(self, source: Source) -> Callable[[Block], Array] | None:
        leverage = self._leverage(source)
        return None if leverage is None else leverage.outputs

    def _left_out_coefficients(self, source: Source) -> Callable[[Block], Array] | None:
        leverage = self._leverage(source) if source.n_targets == 1 else None
        return None if leverage is None else leverage.models

    def _leverage(self, source: Source) -> Leverage | None:
        if "stats_" not in vars(self) or self.positive or np.ndim(getattr(self, "alpha", 0.0)):
            return None
        leverage = Leverage(self, source)
        return leverage if np.isfinite(leverage.condition) else None


class Leverage:
    """Leverages hᵢ = wᵢ (‖(xᵢ − x̄) F‖² + 1/Σw), with F Fᵀ = (Sxx + alpha I)⁻¹, of a fitted least squares or
    ridge.

    Without an intercept x̄ is zero, and so is the last term.
    """

    def __init__(self, full: Any, source: Source) -> None:
        self.full, stats = full, full.stats_
        p, self.fit_intercept = full.n_features_in_, full.fit_intercept
        if isinstance(stats, Moments) and not full._exact(stats):  # cross-products are not exact enough, a triangle is
            stats = current_engine().run(partial(triangle_of, fit_intercept=self.fit_intercept), source)
        if isinstance(stats, FewRows):
            mean, Z, _ = stats.centred(self.fit_intercept)
            self.center = mean[:p] if self.fit_intercept else np.zeros(p)
            F, self.condition = inverse_root(Z, getattr(full, "alpha", 0.0))
        elif isinstance(stats, Triangle):
            first = int(self.fit_intercept)
            self.center = stats.R[0, 1 : p + 1] / stats.R[0, 0] if first else np.zeros(p)
            lengths = np.sqrt((stats.R[:, first : first + p] ** 2).sum(axis=0))
            F, self.condition = _inverse_triangle(stats.R[first:, first : first + p], lengths)
        else:
            mean, Sxx, _ = centred(stats, p, self.fit_intercept)
            self.center = mean[:p] if self.fit_intercept else np.zeros(p)
            F, self.condition = _inverse_root(Sxx + getattr(full, "alpha", 0.0) * np.eye(p))
        self.F, self.weight = np.ascontiguousarray(F), float(stats.weight)
        self.coef = np.ascontiguousarray(np.atleast_2d(full.coef_), dtype=np.float64)
        self.intercept = np.broadcast_to(np.asarray(full.intercept_, dtype=np.float64), len(self.coef)).copy()

    def missed(self, block: Block) -> Array:
        """Residuals divided by 1 − h; NaN where that would lose digits."""
        X = ops.dense(block.X)
        if self.F.shape[0] == self.F.shape[1]:
            squares = whitened_squares(X, self.center[None], self.F[None])[:, 0]
        else:
            squares = (((X - self.center) @ self.F) ** 2).sum(axis=1)
        share, digits = 1 / self.weight if self.fit_intercept else 0.0, 1e8 * EPS * self.condition
        return _evaluate.residuals_left(X, block.y, block.w, squares, self.coef, self.intercept, share, digits)

    def outputs(self, block: Block) -> Array:
        return np.asarray(block.y - self.missed(block))

    def models(self, block: Block) -> Array:
        """The coefficients (n, p + 1) of the fit without each row, the intercept last; for one target.

        w₍ᵢ₎ = w − A⁻¹(xᵢ − x̄) sᵢ with sᵢ = wᵢ eᵢ / (1 − hᵢ), and the value at x̄ falls by sᵢ / Σw.
        """
        missed = block.w * self.missed(block)[:, 0]
        moved = (np.asarray(ops.dense(block.X), dtype=np.float64) - self.center) @ self.F @ self.F.T
        coef = self.coef[0] - moved * missed[:, None]
        if not self.fit_intercept:
            return np.column_stack([coef, np.where(np.isnan(missed), np.nan, 0.0)])
        level = self.intercept[0] + self.center @ self.coef[0] - missed / self.weight
        return np.column_stack([coef, level - coef @ self.center])


def _inverse_root(A: Array) -> tuple[Array, float]:
    """F with F Fᵀ = A⁻¹, and the condition of A with its diagonal scaled to one; infinite: A is singular."""
    scale = np.sqrt(np.maximum(np.diagonal(A), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = A / scale[:, None] / scale
    L = cholesky(scaled)
    rcond = 0.0 if L is None else reciprocal_condition(scaled, L)
    if L is None or rcond <= 1e-14:
        return np.zeros_like(A), float("inf")
    return invert_triangle(L).T / scale[:, None], 1 / rcond


def _inverse_triangle(R: Array, lengths: Array) -> tuple[Array, float]:
    """F with F Fᵀ = (RᵀR)⁻¹ (on its range), and the condition of R with its columns scaled to length one.

    `lengths` are those of the columns before centring: what is left of a constant column is rounding.
    """
    p = len(lengths)
    Z = np.vstack([R, np.zeros((max(p - len(R), 0), p))])
    size = np.sqrt((Z * Z).sum(axis=0))
    Z[:, size <= 8 * max(p, 8) * EPS * lengths] = 0.0
    size = np.where(size > 0, size, 1.0)
    _, S, Vt = patiently(np.linalg.svd, Z / size)
    keep = S.max(initial=0.0) * EPS * max(Z.shape) < S
    root = np.where(keep, 1 / np.where(keep, S, 1.0), 0.0)
    return Vt[:p].T * root / size[:, None], float(S.max(initial=0.0) / S[keep].min(initial=np.inf))
