"""Small dense problems: what is solved from the merged statistics."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import lapack

from tenfold.core.errors import Degenerate

Array = np.ndarray[Any, Any]


def cholesky(A: Array) -> Array | None:
    """Lower triangular L with A = L Lᵀ, or None if A is not positive definite to working precision."""
    L, fail = lapack.dpotrf(A, lower=1, clean=1)
    return None if fail or not np.isfinite(L).all() else L


def cholesky_solve(L: Array, b: Array) -> Array:
    """x with L Lᵀ x = b."""
    x, _ = lapack.dpotrs(L, b, lower=1)
    return x


def reciprocal_condition(A: Array, L: Array) -> float:
    """An estimate of 1 / cond₁(A) from its Cholesky factor."""
    size = float(np.abs(A).sum(axis=0).max(initial=0.0))
    rcond, _ = lapack.dpocon(L, size, uplo="L")
    return float(rcond)


def solve_spd(A: Array, b: Array, what: str) -> Array:
    """x with A x = b for symmetric A ⪰ 0. Where A is singular: the least-norm solution, told."""
    scale = np.sqrt(np.diagonal(A))
    scale = np.where(scale > 0, scale, 1.0)  # equilibrate: units of the columns must not look like dependence
    scaled = A / scale[:, None] / scale
    L = cholesky(scaled)
    if L is not None and reciprocal_condition(scaled, L) > 1e-14:
        return (cholesky_solve(L, (b.T / scale).T).T / scale).T
    told = f"{what}: the columns are linearly dependent; returned the solution of least norm"
    warnings.warn(told, Degenerate, stacklevel=2)
    values, vectors = eigh(A)
    keep = values > values.max(initial=0.0) * len(values) * np.finfo(float).eps
    return vectors[:, keep] @ ((vectors[:, keep].T @ b).T / values[keep]).T


def eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and eigenvectors of a symmetric matrix."""
    values, vectors, fail = lapack.dsyevd(A, compute_v=1, lower=1)
    if fail:
        values, vectors = np.linalg.eigh(A)
    return values, vectors


def eigh_graded(A: Array) -> tuple[Array, Array]:
    """As `eigh`, for a matrix of centred products: through the singular values of its Cholesky factor.

    Where columns have very different units, small eigenvalues and their vectors then keep their digits:
    the factor is as accurate in each column as the matrix, while `eigh` rounds all to the largest eigenvalue.
    """
    L = cholesky(A)
    if L is None:
        return eigh(A)
    vectors, singular, _, fail = lapack.dgesdd(L)
    return eigh(A) if fail else (singular[::-1] ** 2, vectors[:, ::-1])


def largest_eigh(A: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues (ascending) of a symmetric matrix, and their eigenvectors."""
    p = len(A)
    if k == 0:
        return np.empty(0), np.empty((p, 0))
    work, iwork, _ = lapack.dsyevr_lwork(p, lower=1)
    space = dict(lwork=int(work), liwork=int(iwork))
    values, vectors, found, _, fail = lapack.dsyevr(A, range="I", il=p - k + 1, iu=p, lower=1, **space)
    if fail or found < k:
        values, vectors = np.linalg.eigh(A)
        return values[p - k :], vectors[:, p - k :]
    return values[:k], vectors[:, :k]


def invert_triangle(L: Array) -> Array:
    """The inverse of a lower triangular matrix without zeros on its diagonal."""
    inverse, _ = lapack.dtrtri(L, lower=1)
    return inverse


def nonnegative(A: Array, B: Array) -> Array:
    """min over x ≥ 0 of ½ xᵀA x − bᵀx, for each column b of B; A must be positive definite.

    With A = L Lᵀ this is least squares in Lᵀ x ≈ L⁻¹ b under x ≥ 0, solved by an active-set method
    (Lawson & Hanson 1974).
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    L = cholesky(A)
    if L is None:
        tiny = np.finfo(float).eps * len(A) * max(float(np.trace(A)), 1e-300)
        L = np.linalg.cholesky(A + tiny * np.eye(len(A)))
    Z = solve_triangular(L, B, lower=True)
    return np.column_stack([nnls(L.T, z)[0] for z in Z.T])
