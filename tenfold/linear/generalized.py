"""Least squares with noise that is correlated from row to row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import solve_triangular

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.linear.lasso import as_float64
from tenfold.linear.weighted import WithInference
from tenfold.solve.least_squares import Triangle, with_ones
from tenfold.solve.linalg import cholesky, reciprocal_condition

Whitening = Callable[[Array], Array]
SYMMETRIC = 1e-8  # differences of a covariance from its transpose, relative to its largest entry, that are rounding
SINGULAR = 1e-14


@estimator
class GeneralizedLeastSquares(WithInference, Estimator):
    """GeneralizedLeastSquares: least squares where the noise has a known covariance between rows.

    Model       y = X w + b + noise,  Cov(noise) = σ² C with known C (σ² = 1 with absolute=True)
    Objective   min over w, b of  rᵀ C⁻¹ r,  r = y − X w − b
    Algorithm   C = L Lᵀ; least squares by QR on L⁻¹[1 X y]. `fit(X, y, covariance=C)` takes C (n, n), the variances (n,), or a
                function that returns L⁻¹A for any A (n, k); `factor=L` saves the decomposition. Without either it is
                ordinary least squares, and sample_weight counts rows
    Cost        O(n³ + n² p) time, O(n²) memory; O(n p²) with variances or a function that is quick. Keeps rows
    Fails when  C is not positive definite (refused) or nearly singular (a warning); columns are dependent (Degenerate)
    Reference   Aitken 1935; Björck 1996, ch. 4

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X, y = np.arange(4.0)[:, None], np.array([1.0, 3.2, 5.3, 6.9])
    >>> C = 0.9 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    >>> model = tenfold.GeneralizedLeastSquares().fit(X, y, covariance=C)
    >>> model.coef_.round(2), model.inference().standard_errors.round(2)
    (array([1.97]), array([[0.7 , 0.17]]))
    """

    rank_: int = learned("int", "rank of the whitened X")
    singular_: Array = learned("float(*)", "its singular values")
    condition_: float = learned("float|inf", "condition number of its scaled columns")
    solver_: str = learned("str", "the solver that was used")
    n_iter_: int = learned("int", "always 1")
    triangle_: Array = learned("float(*,*)", "the R of L⁻¹[1 X y], for inference")
    n_rows_: float = learned("float", "number of rows")
    log_determinant_: float = learned("float", "of the covariance; 0 where it is a function")

    kind: ClassVar[str] = "keeps rows"
    multi_output: ClassVar[bool] = True

    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    absolute: bool = param(default=False, doc="the covariance is the true one, not only known up to a factor")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, covariance: Any = None, factor: Any = None) -> Self:
        """Learn from rows whose noise has this covariance (or this lower triangular factor of it)."""
        source = check.check_fit(self, X, y, sample_weight)
        if covariance is not None or factor is not None:
            if sample_weight is not None:
                raise BadInput("sample_weight counts rows, which a covariance between rows cannot: give one of the two")
            if covariance is not None and factor is not None:
                raise BadInput("covariance and factor mean the same: give one of the two")
        source.known = (covariance, factor)
        return self._fit(source)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        X, y, w = as_float64((yield Keep()))
        A = np.concatenate([with_ones(X, self.fit_intercept), y], axis=1)
        covariance, factor = source.known or (None, None)
        n, log_determinant = float(w.sum()), 0.0
        if covariance is not None or factor is not None:
            whiten, log_determinant = whitening(covariance, factor, len(A))
            A = whitened(whiten, A)
        else:
            A = A * np.sqrt(w)[:, None]
        triangle = Triangle(n, Triangle.of(A, np.ones(len(A))).R)
        fitted = self._ordinary(solver="qr")._from_triangle(triangle)
        return dict(fitted, triangle_=triangle.R, n_rows_=n, log_determinant_=log_determinant)


def whitening(covariance: Any, factor: Any, n: int) -> tuple[Whitening, float]:
    """The function A ↦ L⁻¹A, and log det C."""
    if callable(covariance):
        return covariance, 0.0
    L = square("factor", factor, n) if covariance is None else np.asarray(ops.dense(covariance))
    if L.ndim == 1:
        variance = check.real_target(check.as_column(L), n)[:, 0]
        if not (variance > 0).all():
            row = int(np.flatnonzero(~(variance > 0))[0])
            raise BadInput(f"covariance is {variance[row]:g} in row {row}: variances must be above zero")
        return lambda A: A / np.sqrt(variance)[:, None], float(np.log(variance).sum())
    if covariance is not None:
        L = decomposed(square("covariance", L, n))
    diagonal = np.diagonal(L)
    if np.triu(L, 1).any() or not (diagonal > 0).all():
        raise BadInput("factor must be lower triangular with a diagonal above zero, as numpy.linalg.cholesky gives it")
    return lambda A: solve_triangular(L, A, lower=True), 2 * float(np.log(diagonal).sum())


def square(what: str, given: Any, n: int) -> Array:
    """A finite (n, n) array of numbers."""
    M = np.asarray(given)
    if M.shape != (n, n) or M.dtype.kind not in "fiub":
        raise BadInput(f"{what} has shape {M.shape} ({M.dtype}), but there are {n} rows: it must be numbers ({n}, {n})")
    M = M.astype(np.float64)
    if not np.isfinite(M).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(M))[0])
        raise BadInput(f"{what} is {M[row, column]} in row {row}, column {column}: its entries must be finite")
    return M


def decomposed(C: Array) -> Array:
    """The Cholesky factor of a covariance."""
    gap = np.abs(C - C.T)
    if gap.max() > SYMMETRIC * np.abs(C).max():
        row, column = (int(i) for i in np.unravel_index(gap.argmax(), gap.shape))
        raise BadInput(
            f"covariance is not symmetric: {C[row, column]:g} in row {row}, column {column}, but {C[column, row]:g} "
            "the other way round"
        )
    L = cholesky(C)
    if L is None:
        raise BadInput(
            "covariance is not positive definite: some combination of rows would have noise of no or negative variance; "
            "add a small variance of its own to each row (the diagonal)"
        )
    if reciprocal_condition(C, L) < SINGULAR:
        warn(
            "GeneralizedLeastSquares: the covariance is nearly singular, so that rounding decides the coefficients: "
            "add a small variance of its own to each row (the diagonal)",
            Degenerate,
            stacklevel=2,
        )
    return L


def whitened(whiten: Whitening, A: Array) -> Array:
    """L⁻¹A; what a function of the user returns is looked at."""
    found = np.asarray(whiten(A.copy()))
    if found.shape != A.shape or found.dtype.kind != "f" or not np.isfinite(found).all():
        raise BadInput(
            f"the function given as covariance must return finite numbers of the shape it was given, {A.shape}: it returned "
            f"{found.dtype} of shape {found.shape}"
        )
    return found
