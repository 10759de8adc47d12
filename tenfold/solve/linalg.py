"""Dense problems: what is solved from the merged statistics.

SciPy's LAPACK has the least overhead, but keeps all other threads waiting, also the one that handles Ctrl-C. Matrices for which that
would be felt (`is_long`) go to NumPy's, or to LAPACK itself, through `patiently`.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from scipy.linalg import lapack

from tenfold import _evaluate
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import Degenerate, warn
from tenfold.core.threads import is_long, patiently

EPS = float(np.finfo(float).eps)
UNEVEN = 1e4  # how much larger than another a column's square may be before their units are called different
SINGULAR = 1e-14  # 1 / condition of a matrix of products, columns scaled, from which no digit of its inverse can be had


def cholesky(A: Array) -> Array | None:
    """Lower triangular L with A = L Lᵀ, or None if A is not positive definite to working precision."""
    if is_long(A):
        try:
            L, fail = patiently(np.linalg.cholesky, A), 0
        except np.linalg.LinAlgError:
            return None
    else:
        L, fail = lapack.dpotrf(A, lower=1, clean=1)
    return None if fail or not np.isfinite(L).all() else L


def cholesky_solve(L: Array, b: Array) -> Array:
    """x with L Lᵀ x = b."""
    x, _ = lapack.dpotrs(L, b, lower=1)
    return np.asarray(x)


def reciprocal_condition(A: Array, L: Array) -> float:
    """An estimate of 1 / cond₁(A) from its Cholesky factor."""
    size = float(np.abs(A).sum(axis=0).max(initial=0.0))
    rcond, _ = lapack.dpocon(L, size, uplo="L")
    return float(rcond)


def solve_spd(A: Array, b: Array, what: str) -> Array:
    """x with A x = b for symmetric A ⪰ 0. Where A is singular: the least-norm solution, with a warning."""
    scale = lengths(A)
    scaled = A / scale[:, None] / scale
    L = cholesky(scaled)
    if L is not None and reciprocal_condition(scaled, L) > SINGULAR:
        return (cholesky_solve(L, (b.T / scale).T).T / scale).T
    message = f"{what}: the columns are linearly dependent; returned the solution of least norm"
    warn(message, Degenerate, stacklevel=2)
    return least_norm_spd(A, b)[0]


def least_norm_spd(A: Array, b: Array) -> tuple[Array, int]:
    """The x of least norm with A x = b, and the rank of A, for an A ⪰ 0 that is known to be singular to working precision.

    Rank is judged with every column scaled to length 1 (units must not look like dependence): D⁻¹ A D⁻¹ = V diag(e) Vᵀ.
    """
    x, used = np.zeros_like(b, dtype=np.float64), np.flatnonzero(np.diagonal(A) > 0)
    scale = lengths(A)[used]
    values, vectors = eigh(A[np.ix_(used, used)] / scale[:, None] / scale)
    keep = values > rounding(len(A)) * values.max(initial=0.0)
    keep[:1] &= len(used) < len(A)  # known to be singular: at least one direction is rounding
    V = vectors[:, keep]
    inside = ((V @ ((V.T @ (b[used].T / scale).T).T / values[keep]).T).T / scale).T
    null, _ = patiently(np.linalg.qr, vectors[:, ~keep] / scale[:, None])  # changes nothing: take its part out
    x[used] = inside - null @ (null.T @ inside)
    return x, int(keep.sum())


def lengths(A: Array) -> Array:
    """Lengths of the columns behind a matrix of their products, 1 for a column of zeros."""
    size = np.sqrt(np.maximum(np.diagonal(A), 0.0))
    return np.where(size > 0, size, 1.0)


def rounding(p: int) -> float:
    """What rounding may leave of a zero, relative to the lengths of the p columns, in a triangle or in products of them."""
    return 8 * max(p, 8) * EPS


def upper_triangle(A: Array) -> Array:
    """The upper triangular R of A = Q R."""
    return np.asarray(patiently(np.linalg.qr, A, mode="r"))


def singular_values(A: Array) -> Array:
    """The singular values of a matrix, largest first."""
    return np.asarray(patiently(np.linalg.svd, A, compute_uv=False))


def eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues (ascending) and eigenvectors of a symmetric matrix."""
    if not is_long(A):
        values, vectors, fail = lapack.dsyevd(A, compute_v=1, lower=1)
        if not fail:
            return values, vectors
    return patiently(np.linalg.eigh, A)


def eigh_graded(A: Array, lift: float = 0.0) -> tuple[Array, Array]:
    """As `eigh`, for a matrix of centred products: through the singular values of its Cholesky factor.

    Where columns have very different units, small eigenvalues and their vectors then keep their digits:
    the factor is as accurate in each column as the matrix, while `eigh` rounds all to the largest eigenvalue.
    Columns go in by size, the largest first: so the reflections of the decomposition do not mix them either.
    `lift`: a share of its diagonal that is added to it, so that a matrix of dependent columns has a factor too.
    """
    size = np.diagonal(A)
    order = np.argsort(-size, kind="stable")
    used, unused = np.split(order, [int((size > 0).sum())])
    L = cholesky(A[np.ix_(used, used)] + np.diag(lift * size[used])) if len(used) else None
    if L is None:
        return eigh(A)
    turned, singular, *_ = patiently(np.linalg.svd, L) if is_long(L) else lapack.dgesdd(L)
    if not np.isfinite(singular).all():
        return eigh(A)
    values, vectors = np.zeros(len(A)), np.zeros(A.shape)
    values[len(unused) :] = singular[::-1] ** 2
    vectors[unused, np.arange(len(unused))] = 1.0
    vectors[used, len(unused) :] = turned[:, ::-1]
    return values, vectors


def eigh_shifted(A: Array, shift: float) -> tuple[Array, Array]:
    """Eigenvalues of A + shift I, for a matrix of centred products and a shift above zero, and the eigenvectors, which A has too: as
    accurate as its Cholesky factor, whatever the units of the columns."""
    A = A + shift * np.eye(len(A))
    if differ(np.diagonal(A)):
        return eigh_graded(A)
    return patiently(np.linalg.eigh, A)  # not SciPy's, which would keep the threads of other folds waiting


def differ(squares: Array) -> bool:
    """Whether columns of such squared lengths have very different units; those of zeros have none."""
    return bool(squares.max(initial=0.0) > UNEVEN * squares.min(initial=np.inf, where=squares > 0))


def largest_eigh(A: Array, k: int, own: bool = False) -> tuple[Array, Array]:
    """The k largest eigenvalues (ascending) of a symmetric matrix, and their eigenvectors. `own`: A may be used up."""
    p = len(A)
    if k == 0:
        return np.empty(0), np.empty((p, 0))
    diagonal = np.diagonal(A).copy()
    values, vectors = patiently(_dsyevr, A, k) if is_long(A) else _syevr(A, k, own)
    if vectors is None:
        if own:  # one triangle is left
            A = np.tril(A, -1)
            A += A.T + np.diag(diagonal)
        values, vectors = eigh(A)
        return values[p - k :], vectors[:, p - k :]
    return values, vectors


def _syevr(A: Array, k: int, own: bool) -> tuple[Array, Array | None]:
    p = len(A)  # LAPACK counts by columns: what it calls lower is the upper triangle of A
    work, iwork, _ = lapack.dsyevr_lwork(p, lower=1)
    space = dict(lwork=int(work), liwork=int(iwork))
    values, vectors, found, _, fail = lapack.dsyevr(
        A.T, range="I", il=p - k + 1, iu=p, lower=1, overwrite_a=own, **space
    )
    return values[:k], None if fail or found < k else vectors[:, :k]


def _dsyevr(A: Array, k: int) -> tuple[Array, Array | None]:
    """As `_syevr`, letting other threads run."""
    p = len(A)
    work, iwork, _ = lapack.dsyevr_lwork(p, lower=1)
    A, values, vectors = A.copy(), np.empty(p), np.empty((k, p))
    space, support, whole = np.empty(int(work)), np.empty(2 * p, dtype=np.intc), np.empty(int(iwork), dtype=np.intc)
    found, fail, none = np.zeros(1, dtype=np.intc), np.zeros(1, dtype=np.intc), 0.0
    _unlocked(
        "dsyevr", b"V", b"I", b"L", p, A, p, none, none, p - k + 1, p, none, found, values, vectors, p, support,
        space, len(space), whole, len(whole), fail,
    )  # fmt: skip
    return values[:k], None if fail[0] or found[0] < k else vectors.T


def _unlocked(name: str, *arguments: Any) -> None:
    """A LAPACK routine by name, without the lock of the interpreter. Its arguments are letters, numbers and arrays (not checked)."""
    from scipy.linalg import cython_lapack

    capsule, api = ctypes.py_object(cython_lapack.__pyx_capi__[name]), ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetPointer.restype = ctypes.c_char_p, ctypes.c_void_p
    routine = api.PyCapsule_GetPointer(capsule, ctypes.c_char_p(api.PyCapsule_GetName(capsule)))
    given = [
        ctypes.c_void_p(one.ctypes.data) if isinstance(one, np.ndarray)
        else one if isinstance(one, bytes)
        else ctypes.byref(ctypes.c_int(one) if isinstance(one, int) else ctypes.c_double(one))
        for one in arguments
    ]  # fmt: skip
    ctypes.CFUNCTYPE(None)(routine)(*given)


def invert_triangle(L: Array) -> Array:
    """The inverse of a lower triangular matrix without zeros on its diagonal; of a large one by halves."""
    if is_long(L):
        half = len(L) // 2
        inverse = np.zeros_like(L)
        inverse[:half, :half], inverse[half:, half:] = (
            invert_triangle(L[:half, :half]),
            invert_triangle(L[half:, half:]),
        )
        inverse[half:, :half] = -inverse[half:, half:] @ (L[half:, :half] @ inverse[:half, :half])
        return inverse
    found, _ = lapack.dtrtri(L, lower=1)
    return np.asarray(found)


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


def whitened_squares(X: Array, centers: Array, factors: Array) -> Array:
    """‖(x − center) F‖² of each row and center; factors that are upper triangular need half the work."""
    if any(np.tril(F, -1).any() for F in factors):
        return np.asarray(-2 * ops.quadratic_scores(X, centers, factors, np.zeros(len(centers))))
    return _evaluate.whitened_squares(X, centers, factors)
