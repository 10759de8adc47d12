"""Ordinary least squares."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.errors import BadInput, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Stats
from tenfold.core.threads import patiently
from tenfold.linear.affine import centred
from tenfold.linear.leave_one_out import LinearSmoother
from tenfold.linear.operator import Operable
from tenfold.solve.few_rows import FewRows, are_few, least_norm, rows_or_moments
from tenfold.solve.least_squares import Triangle, conjugate_gradients, refine, solve_triangle, triangle_of
from tenfold.solve.linalg import (
    SINGULAR,
    cholesky,
    cholesky_solve,
    least_norm_spd,
    lengths,
    nonnegative,
    reciprocal_condition,
)

if TYPE_CHECKING:
    from tenfold.linear.inference import Inference

# Cross-products square the condition number; up to this condition ten digits are left after that.
EASY = 1e3
WIDE = 5000  # columns beyond which no p x p matrix is made


@estimator
class LinearRegression(Operable, LinearSmoother, OnePass):
    """LinearRegression: ordinary least squares.

    Model       y ≈ X w + b
    Objective   min over w, b of  Σᵢ sᵢ (yᵢ − xᵢ·w − b)²;  among many solutions the one of least ‖w‖  (w ≥ 0 with positive=True)
    Algorithm   cholesky: one pass of centred moments; qr: one pass of triangular factors (TSQR); svd: the same, solved by
                its singular values; lsqr: products with X and Xᵀ only, one pass an iteration. `auto` takes cholesky while the
                condition of the scaled columns is at most 1e3; beyond, qr with residuals in extended precision (2 to 12 further
                passes); the singular values of the rows where they are fewer than half of the columns; lsqr for more than 5,000
                columns, and where X is a LinearOperator or a pair of functions v ↦ X v and u ↦ Xᵀu. `solver_` records the choice.
    Cost        O(n p²) time, O(p²) memory, one pass (lsqr: O(n p) a pass, O(p) memory)
    Fails when  columns are dependent or there are fewer rows than columns: the least-norm solution, with a warning (Degenerate)
    Reference   Björck 1996, ch. 2; TSQR: Demmel et al. 2012; refinement: Björck 1987; lsqr: Paige & Saunders 1982

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [2.0, 3.0]])
    >>> model = tenfold.LinearRegression().fit(X, X @ [1.0, 2.0] + 3.0)
    >>> model.coef_.round(9), model.intercept_.round(9)
    (array([1., 2.]), np.float64(3.0))
    """

    rank_: int = learned("int", "rank of the centred X", optional=True)
    singular_: Array = learned("float(*)", "singular values of the centred X", optional=True)
    condition_: float = learned("float|inf", "condition number of its scaled columns", optional=True)
    solver_: str = learned("str", "the solver that was used")
    n_iter_: int = learned("int", "1, or the passes of lsqr")
    stats_: Any = learned("Moments(p+q)|FewRows(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ("solver", "positive", "fit_intercept")
    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    _by_lsqr: ClassVar[dict[str, Any]] = {"solver_": "lsqr"}

    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    copy_X: bool = param(default=True, doc="no effect: X is never changed")
    tol: float = param(default=1e-6, at_least=0, doc="lsqr: bound on the gradient, relative to its size at w = 0")
    n_jobs: int | None = param(default=None, doc="no effect: tenfold.threads(n) sets the number of threads")
    positive: bool = param(default=False, doc="require w >= 0")
    solver: str = param(
        default="auto",
        one_of=("auto", "cholesky", "qr", "svd", "lsqr"),
        doc="the algorithm; auto decides by conditioning",
    )
    max_iter: int = param(default=1000, at_least=1, doc="lsqr: passes over the data")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"fit_intercept": False}]

    def inference(self) -> Inference:
        """Standard errors, intervals, t, p, R², F, AIC, BIC: from the statistics kept, so also after a stream."""
        from tenfold.linear.inference import infer  # imports the special functions, which a fit does not need

        check.check_fitted(self)
        return infer(self)

    def summary(self, level: float = 0.95) -> str:
        """`inference()` as a table to read, with confidence intervals of the given level."""
        return self.inference().table(level)

    def leverage(self, X: Any, sample_weight: Any = None) -> Array:
        """How much the target of each row fitted decides its own prediction, from 0 to 1; they sum to the parameters."""
        found, rows = self.inference(), ops.dense(check.check_predict(self, X))
        return found.leverage(rows, check.as_weights(sample_weight, len(rows)))

    def cooks_distance(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """How far the predictions of all rows move when one of the rows fitted is left out (one target)."""
        if not self._flat:
            raise BadInput("cooks_distance is of one target: fit the targets one by one")
        h = self.leverage(X, sample_weight)
        truth = check.real_target(check.as_column(y), len(h))[:, 0]
        return self.inference().cook(h, truth - self.predict(X), check.as_weights(sample_weight, len(h)))

    def _summarize(self, block: Block) -> Stats:
        if self.solver in ("qr", "svd") and not self.positive:
            return triangle_of(block, self.fit_intercept)
        return rows_or_moments(block) if self.solver == "auto" and not self.positive else Moments.of_block(block)

    def _from_moments(self, moments: Moments) -> Moments | None:
        return moments if self.solver in ("auto", "cholesky") or self.positive else None

    def _normal_equations(self, stats: Stats) -> tuple[Array, Array, Array] | None:
        plain = isinstance(stats, Moments) and self.solver in ("auto", "cholesky") and not self.positive
        return centred(stats, self.n_features_in_, self.fit_intercept) if plain and isinstance(stats, Moments) else None

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if self.solver == "lsqr" or (self.solver == "auto" and self._needs_products(source)):
            return (yield from self._by_products(source))
        return (yield from super()._learn(source))

    def _needs_products(self, source: Source) -> bool:
        """Whether neither the rows nor the products of the columns are few."""
        dense = isinstance(source, Arrays) and not ops.is_sparse(source.X)
        few = dense and are_few(source.n_rows or 0, source.n_features)
        return source.n_features > WIDE and not self.positive and not few

    def _exact(self, stats: Stats) -> bool:
        if self.solver != "auto" or self.positive or not isinstance(stats, Moments):
            return True
        return self._condition(centred(stats, self.n_features_in_, self.fit_intercept)[1]) <= EASY

    def _solve(self, stats: Stats) -> dict[str, Any]:
        if isinstance(stats, Triangle):
            return self._from_triangle(stats)
        if isinstance(stats, FewRows):
            return self._from_rows(stats)
        assert isinstance(stats, Moments)
        mean, Sxx, Sxy = centred(stats, self.n_features_in_, self.fit_intercept)
        if self.positive:
            return dict(self._fitted(mean, nonnegative(Sxx, Sxy)), rank_=len(Sxx), solver_="active set")
        scale = lengths(Sxx)
        L = cholesky(Sxx / scale[:, None] / scale)
        rcond = 0.0 if L is None else reciprocal_condition(Sxx / scale[:, None] / scale, L)
        if L is None or rcond < SINGULAR:  # the squared condition is beyond double precision: solve by eigenvalues
            return self._deficient(mean, Sxx, Sxy)
        coef = cholesky_solve(L, Sxy / scale[:, None]) / scale[:, None]
        return dict(
            self._fitted(mean, coef),
            rank_=len(Sxx),
            singular_=_singular(Sxx),
            condition_=rcond**-0.5,
            solver_="cholesky",
        )

    def _from_rows(self, stats: FewRows) -> dict[str, Any]:
        """Fewer rows than columns: the solution of least norm."""
        mean, Z, t = stats.centred(self.fit_intercept)
        coef, rank, singular = least_norm(Z, t)
        self._warn(rank, Z.shape[1])
        return dict(self._fitted(mean, coef), rank_=rank, singular_=singular, condition_=np.inf, solver_="svd")

    def _deficient(self, mean: Array, Sxx: Array, Sxy: Array) -> dict[str, Any]:
        """Least norm from the cross-products alone."""
        coef, rank = least_norm_spd(Sxx, Sxy)
        self._warn(rank, len(Sxx))
        return dict(
            self._fitted(mean, coef), rank_=rank, singular_=_singular(Sxx), condition_=np.inf, solver_="cholesky"
        )

    def _refine(self, source: Source, stats: Stats) -> Learner[dict[str, Any]]:
        """The columns are nearly dependent: a triangle instead of cross-products, then residuals in extended precision."""
        triangle = yield partial(triangle_of, fit_intercept=self.fit_intercept)
        fitted = self._from_triangle(triangle)
        p = self.n_features_in_ + self.fit_intercept
        whole = solve_triangle(triangle.R, p, np.zeros(p))
        if whole.rank < p or fitted["rank_"] < self.n_features_in_:
            return fitted
        B = yield from refine(triangle.R, whole.coef, whole.condition, self.fit_intercept)
        if B is None:
            assert isinstance(stats, Moments)
            return self._deficient(*centred(stats, self.n_features_in_, self.fit_intercept))
        return dict(fitted, **self._from_augmented(B.astype(np.float64)), solver_="qr, refined")

    def _from_triangle(self, stats: Triangle) -> dict[str, Any]:
        """With [1 X y] = Q R, the rows of R below the first are the R of the centred columns."""
        first, p = int(self.fit_intercept), self.n_features_in_
        before = np.sqrt((stats.R[:, first : first + p] ** 2).sum(axis=0))
        found = solve_triangle(stats.R[first:, first:], p, before)
        if found.rank < p:
            self._warn(found.rank, p)
        top = stats.R[0] / stats.R[0, 0] if first else np.zeros(stats.R.shape[1])  # the means, to the accuracy of R
        return dict(
            self._fitted(top[first:], found.coef),
            rank_=found.rank,
            singular_=found.singular,
            condition_=found.condition,
            solver_="svd" if self.solver == "svd" or found.rank < p else "qr",
        )

    def _from_augmented(self, B: Array) -> dict[str, Any]:
        """Fitted attributes from the coefficients of [1 X]."""
        if not self.fit_intercept:
            return self._fitted(np.zeros(len(B) + B.shape[1]), B)
        fitted = self._fitted(np.zeros(len(B) - 1 + B.shape[1]), B[1:])
        fitted["intercept_"] = B[0, 0] if self._flat else B[0]
        return fitted

    def _by_products(self, source: Source) -> Learner[dict[str, Any]]:
        width, q = source.n_features, source.n_targets
        B, m, t, n_iter = yield from conjugate_gradients(width, q, self.fit_intercept, self.tol, self.max_iter)
        return dict(self._fitted(np.concatenate([m, t]), B), n_iter_=n_iter, solver_="lsqr")

    def _condition(self, Sxx: Array) -> float:
        scale = lengths(Sxx)
        scaled = Sxx / scale[:, None] / scale
        L = cholesky(scaled)
        rcond = 0.0 if L is None else reciprocal_condition(scaled, L)
        return float("inf") if rcond <= 0 else rcond**-0.5

    def _warn(self, rank: int, p: int) -> None:
        name = vars(self).get("_called", "LinearRegression")  # of the learner that asked for ordinary least squares
        warn(
            f"{name}: the {p} columns have rank {rank} only (constant, repeated or dependent columns, or too few rows); "
            "returned the coefficients of least norm: drop columns or use Ridge",
            Degenerate,
            stacklevel=2,
        )


def _singular(Sxx: Array) -> Array:
    return np.sqrt(np.maximum(patiently(np.linalg.eigvalsh, Sxx)[::-1], 0.0))
