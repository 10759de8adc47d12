"""Leave-one-out without refitting: what each row would be predicted by a fit on all the others.

Least squares and ridge: with the leverage hᵢ and the residual eᵢ of the full fit, row i is missed by eᵢ / (1
− hᵢ). Gaussian classes: taking one row out of the moments is a change of rank one (`leave_out_classes`). One
fit and one more pass do for all rows. A row whose removal would cost digits (1 − h near zero) is refitted, so
that every output equals that of refitting.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tenfold import _evaluate
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Arrays, Block
from tenfold.core.engine import Threads, current_engine, each
from tenfold.core.stats import Moments, Rows
from tenfold.core.threads import patiently, single_blas
from tenfold.evaluate.validate.leave_out_classes import naive_bayes, nearest_centroid, whitened_squares
from tenfold.evaluate.validate.leave_out_discriminant import linear_discriminant, quadratic_discriminant
from tenfold.linear.affine import centred
from tenfold.solve.few_rows import FewRows, inverse_root
from tenfold.solve.least_squares import Triangle, triangle_of
from tenfold.solve.linalg import cholesky, invert_triangle, reciprocal_condition

Array = np.ndarray[Any, Any]
Form = Callable[[Block], Array]

EPS = float(np.finfo(float).eps)
FORMS: dict[str, Callable[[Any], Form | None]] = {
    "GaussianNB": naive_bayes,
    "NearestCentroid": nearest_centroid,
    "LinearDiscriminantAnalysis": linear_discriminant,
    "QuadraticDiscriminantAnalysis": quadratic_discriminant,
}


def leave_one_out_outputs(full: Any, source: Arrays) -> Array | None:
    """Class scores or values of every row by the model of all other rows; None where no closed form is known.

    `full` is fitted on all rows of the source. Classifiers that choose by another rule than the largest score
    have the number of the chosen class in one more column.
    """
    form = _form_of(full, source)
    if form is None:
        return None
    with single_blas:
        out = Threads().run(lambda block: Rows.of(form(block)), source).whole()
        lost = np.unique(np.flatnonzero(np.isnan(out)) // out.shape[1])
        if len(lost):
            out[lost] = np.concatenate(each(lambda row: _refitted(full, source, row), lost.tolist()))
    return out


def _form_of(full: Any, source: Arrays) -> Form | None:
    if "stats_" not in vars(full):
        return None
    kind = type(full).__name__
    if kind in ("LinearRegression", "Ridge"):
        leverage = None if full.positive else Leverage(full, source)
        return None if leverage is None or not np.isfinite(leverage.condition) else leverage.outputs
    make = FORMS.get(kind)
    return None if make is None else make(full)


def others(n: int, row: int) -> Array:
    """All rows but one."""
    return np.delete(np.arange(n), row)


def _refitted(full: Any, source: Arrays, row: int) -> Array:
    """The output of one row, honestly."""
    n = source.n_rows or 0
    model = fresh(full)._fit(source.select(others(n, row)))
    return outputs_with_choice(model, source.select(np.array([row])).load(0).X)


def outputs_with_choice(model: Any, X: Any) -> Array:
    """Values, or class scores; with the number of the class in one more column where it is not that of the
    largest score.
    """
    if model.role != "classifier":
        values = model._predict(X)
        return values if values.ndim == 2 else values[:, None]
    scores = model._scores(X)
    inner, X = (model._last, model._through(X)) if hasattr(type(model), "_through") else (model, X)
    return np.column_stack([scores, inner._chosen(X)]) if hasattr(inner, "_chosen") else scores


class Leverage:
    """Leverages hᵢ = wᵢ (‖(xᵢ − x̄) F‖² + 1/Σw), with F Fᵀ = (Sxx + alpha I)⁻¹, of a fitted least squares or
    ridge.

    Without an intercept x̄ is zero, and so is the last term.
    """

    def __init__(self, full: Any, source: Arrays) -> None:
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
        return block.y - self.missed(block)

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


def leave_one_out_coefficients(full: Any, source: Arrays) -> Array | None:
    """The coefficients (n, p + 1) of a linear regression without each row, the intercept last; None for other
    learners.
    """
    known = type(full).__name__ in ("LinearRegression", "Ridge") and "stats_" in vars(full)
    if not known or full.positive or source.n_targets > 1:
        return None
    leverage = Leverage(full, source)
    if not np.isfinite(leverage.condition):
        return None
    with single_blas:
        out = Threads().run(lambda block: Rows.of(leverage.models(block)), source).whole()
        for row in np.flatnonzero(np.isnan(out).any(axis=1)):
            model = fresh(full)._fit(source.select(others(len(out), row)))
            out[row] = np.append(np.ravel(model.coef_), model.intercept_)
    return out


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
