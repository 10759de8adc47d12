"""Ridge regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.linear.affine import centred
from tenfold.linear.leave_one_out import LinearSmoother
from tenfold.linear.operator import Operable
from tenfold.linear.penalties import are_several, positive_numbers
from tenfold.solve.few_rows import FewRows, ridge_from_rows, rows_or_moments
from tenfold.solve.linalg import eigh_shifted, nonnegative, solve_spd


@estimator
class Ridge(Operable, LinearSmoother, OnePass):
    """Ridge: least squares with an L2 penalty.

    Model       y ≈ X w + b
    Objective   min over w, b of  Σᵢ sᵢ (yᵢ − xᵢ·w − b)² + alpha ‖w‖²      (b is free; w ≥ 0 with positive=True)
    Algorithm   one pass of centred moments of (X, y); Cholesky of Sxx + alpha I. With more than twice as many columns
                as rows: w = Xᵀ (X Xᵀ + alpha I)⁻¹ y of the centred rows. Where X is a LinearOperator or a pair
                of functions v ↦ X v and u ↦ Xᵀu: LSQR, from products alone
    Cost        O(n p²) time, O(p²) memory, one pass; few rows: O(n² p) and O(n p); all penalties from one eigendecomposition
    Fails when  p² does not fit in memory; alpha = 0 and columns are dependent
                (returns the least-norm solution and warns Degenerate)
    Reference   Hoerl & Kennard 1970; merge: Chan, Golub & LeVeque 1983

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = np.array([1.0, 3.0, 5.0, 7.0])
    >>> model = tenfold.Ridge(alpha=0.0).fit(X, y)
    >>> model.predict([[4.0]]).round(6)
    array([9.])
    """

    n_iter_: int = learned("int", "always 1, or the steps of LSQR")
    stats_: Any = learned("Moments(p+q)|FewRows(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ("positive",)
    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    flattens: ClassVar[bool] = True
    path: ClassVar[str | None] = "alpha"

    alpha: float | Sequence[float] | Array = param(default=1.0, at_least=0, doc="penalty strength, or one for each target")
    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    copy_X: bool = param(default=True, doc="no effect: X is never changed")
    max_iter: int | None = param(default=None, at_least=1, doc="no effect: the solution is direct")
    tol: float = param(default=1e-4, at_least=0, doc="no effect: the solution is direct")
    solver: str = param(
        default="auto",
        one_of=("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"),
        doc="no effect: one direct method serves every case",
    )
    positive: bool = param(default=False, doc="require w >= 0")
    random_state: int | RandomState | None = param(default=None, doc="no effect: nothing is drawn")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"alpha": 0.1, "fit_intercept": False}, {"positive": True}]

    @property
    def solver_(self) -> str:
        """The solver that was named, "cholesky" for "auto"."""
        check.check_fitted(self)
        return "cholesky" if self.solver == "auto" else str(self.solver)

    def _summarize(self, block: Block) -> FewRows | Moments:
        return Moments.of_block(block) if self.positive else rows_or_moments(block)

    def _from_moments(self, moments: Moments) -> Moments:
        return moments

    def _solve(self, stats: FewRows | Moments) -> dict[str, Any]:
        if are_several(self.alpha):
            return self._by_target(stats)
        alpha: Any = self.alpha
        if isinstance(stats, FewRows):
            return self._from_rows(stats, [alpha])[0]
        mean, Sxx, Sxy = centred(stats, self.n_features_in_, self.fit_intercept)
        penalised = Sxx + alpha * np.eye(len(Sxx))
        if self.positive:
            return self._fitted(mean, nonnegative(penalised, Sxy))
        return self._fitted(mean, solve_spd(penalised, Sxy, f"Ridge(alpha={alpha:g})"))

    def _normal_equations(self, stats: FewRows | Moments) -> tuple[Array, Array, Array] | None:
        if self.positive or are_several(self.alpha) or not isinstance(stats, Moments):
            return None
        mean, Sxx, Sxy = centred(stats, self.n_features_in_, self.fit_intercept)
        return mean, Sxx + float(self.alpha) * np.eye(len(Sxx)), Sxy  # type: ignore[arg-type]

    def _by_target(self, stats: FewRows | Moments) -> dict[str, Any]:
        """A penalty for each target."""
        penalties = positive_numbers("Ridge", "alpha", self.alpha, zero=True)
        targets = stats.y.shape[1] if isinstance(stats, FewRows) else len(stats.mean) - self.n_features_in_
        if len(penalties) != targets:
            raise BadParameter(
                f"Ridge(alpha=...): Number of targets and number of penalties do not correspond: {len(penalties)} != {targets}"
            )
        fits = [self._fitted_copy({"_flat": False}, alpha=float(one))._solve(stats) for one in penalties]
        coef = np.array([fit["coef_"][j] for j, fit in enumerate(fits)])
        intercept = np.array([fit["intercept_"][j] for j, fit in enumerate(fits)]) if self.fit_intercept else np.zeros(targets)
        if self._flat:
            return dict(coef_=coef[0], intercept_=intercept[0], n_iter_=1)
        return dict(coef_=coef, intercept_=intercept if self.fit_intercept else 0.0, n_iter_=1)

    def _from_rows(self, stats: FewRows, alphas: list[float]) -> list[dict[str, Any]]:
        mean, Z, t = stats.centred(self.fit_intercept)
        if min(alphas) == 0:
            message = "the columns are linearly dependent; returned the solution of least norm"
            warn(f"Ridge(alpha=0): {message}", Degenerate, stacklevel=2)
        return self._fitted_path(mean, ridge_from_rows(Z, t, np.asarray(alphas, dtype=np.float64)))

    def _solve_path(self, stats: FewRows | Moments, values: list[float]) -> list[dict[str, Any]]:
        """All penalties from one decomposition: with Sxx + least I = V diag(e) Vᵀ, w(alpha) = V (Vᵀ Sxy / (e + alpha − least))."""
        if isinstance(stats, FewRows):
            return self._from_rows(stats, values)
        if self.positive or min(values) <= 0:
            return OnePass._solve_path(self, stats, values)
        mean, Sxx, Sxy = centred(stats, self.n_features_in_, self.fit_intercept)
        least = float(min(values))
        e, V = eigh_shifted(Sxx, least)
        denominators = np.maximum(e, least) + (np.asarray(values) - least)[:, None]
        shrunk = (Sxy.T @ V) / denominators[:, None]  # (alphas, q, p)
        coefs = (shrunk.reshape(-1, len(e)) @ V.T).reshape(shrunk.shape)
        return self._fitted_path(mean, coefs)
