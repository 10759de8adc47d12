"""What regressions of the form y ≈ X w + b have in common: their moments, their prediction, their error from moments."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Regressor
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.stats import Moments
from tenfold.solve.few_rows import FewRows, are_few

ROUNDING = 16 * float(np.finfo(float).eps)


class AffineRegressor(Regressor):
    """Mixin: predicts X w + b, with `coef_` of shape (p,) for a 1-D target and (q, p) for q targets, as scikit-learn."""

    coef_: Array = learned("float(q,p)", "coefficients; (p,) for one target", like_x=True)
    intercept_: Any = learned("float(q)|float", "constant, 0 with fit_intercept=False", like_x=True)

    lean: ClassVar[bool] = True

    def _predict(self, X: Any) -> Array:
        B = np.atleast_2d(self.coef_)
        b = np.full(len(B), self.intercept_, dtype=np.float64)
        scores = ops.linear_scores(X, np.ascontiguousarray(B, dtype=np.float64), b)
        if X.dtype == np.float32:
            scores = scores.astype(np.float32)
        return np.asarray(scores[:, 0] if self.coef_.ndim == 1 else scores)

    def _fitted(self, mean: Array, coef: Array) -> dict[str, Any]:
        """Fitted attributes from w (p, q) and the means of (X, y)."""
        p = len(coef)
        intercept = mean[p:] - mean[:p] @ coef if self.fit_intercept else np.zeros(coef.shape[1])
        if self._flat:
            coef, intercept = coef[:, 0], intercept[0]
        return dict(coef_=np.ascontiguousarray(coef.T), intercept_=intercept if self.fit_intercept else 0.0, n_iter_=1)

    def _fitted_path(self, mean: Array, coefs: Array) -> list[dict[str, Any]]:
        """`_fitted` for every w of coefs (m, q, p)."""
        p = coefs.shape[2]
        intercepts: list[Any] = [0.0] * len(coefs)
        if self.fit_intercept:
            found = mean[p:] - coefs @ mean[:p]  # (m, q)
            intercepts = list(found[:, 0] if self._flat else found)
        if self._flat:
            coefs = coefs[:, 0]
        return [dict(coef_=w, intercept_=b, n_iter_=1) for w, b in zip(coefs, intercepts, strict=True)]

    def _of_columns(self, stats: Any, columns: Array) -> Any:
        """The statistics with some of the columns of X."""
        if isinstance(stats, FewRows):
            few = FewRows(np.ascontiguousarray(stats.X[:, columns]), stats.y, stats.w)
            return few if are_few(len(few.w), len(columns)) else few.moments
        if not isinstance(stats, Moments):
            return None
        keep = np.concatenate([columns, np.arange(self.n_features_in_, len(stats.center))])
        return Moments(stats.weight, stats.center[keep], stats.offset[keep], stats.scatter[np.ix_(keep, keep)])

    @staticmethod
    def _squares_of_rows(stats: FewRows, fits: list[dict[str, Any]]) -> Array:
        found = []
        for fit in fits:
            rest = stats.y - stats.X @ np.atleast_2d(fit["coef_"]).T - fit["intercept_"]
            found.append(float(stats.w @ (rest * rest).sum(axis=1)))
        return np.array(found)

    def _held_out_squares(self, stats: FewRows | Moments, fits: list[dict[str, Any]]) -> tuple[Array, Array]:
        """Σ w (y − ŷ)² of each fit on rows known by their moments alone, and the share of Σ w y² that it is.

        With δ = ȳ − x̄·w − b:  Syy − 2 wᵀSxy + wᵀSxx w + n δ².  The share shows how many digits the cancellation cost.
        """
        if isinstance(stats, FewRows):
            return self._squares_of_rows(stats, fits), np.ones(len(fits))
        p = self.n_features_in_
        mean, S = stats.mean, stats.scatter
        q = S.shape[0] - p
        coefs = np.array([fit["coef_"] for fit in fits]).reshape(len(fits), q, p)
        intercepts = np.array([fit["intercept_"] for fit in fits]).reshape(len(fits), -1)
        intercepts = np.broadcast_to(intercepts, (len(fits), q))
        total, size = 0.0, 0.0
        for j in range(q):
            W = coefs[:, j]
            explained = np.einsum("ap,ap->a", W @ S[:p, :p], W) - 2 * (W @ S[:p, p + j])
            gap = mean[p + j] - W @ mean[:p] - intercepts[:, j]
            total = total + S[p + j, p + j] + explained + stats.weight * gap**2
            size = size + S[p + j, p + j] + np.abs(explained)
        return np.asarray(total), np.asarray(total) / np.where(np.asarray(size) > 0, size, 1.0)


def centred(stats: Moments, p: int, fit_intercept: bool) -> tuple[Array, Array, Array]:
    """Mean of (X, y), Sxx and Sxy; without an intercept the raw cross-products S + n m mᵀ."""
    mean, S = stats.mean, stats.scatter
    if not np.isfinite(S).all():
        column = int(np.flatnonzero(~np.isfinite(np.diagonal(S)))[0]) if not np.isfinite(np.diagonal(S)).all() else 0
        what = f"column {column} of X" if column < p else "the target y"
        raise BadInput(f"the values of {what} are too large to be squared (beyond about 1e150): rescale it first")
    spread, size = np.diagonal(S)[:p], np.abs(mean[:p])
    flat = np.flatnonzero(spread <= stats.weight * (ROUNDING * size) ** 2)
    if len(flat):  # what is left of a constant column after centring is rounding, and must not pass for a small spread
        S = S.copy()
        S[flat], S[:, flat] = 0.0, 0.0
    if not fit_intercept:
        S = S + stats.weight * np.outer(mean, mean)
    return mean, S[:p, :p], S[:p, p:]
