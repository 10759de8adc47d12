"""Large symmetric matrices, tile by tile on all threads: factors and inverses with the same bits for any number of threads.

BLAS stays on one thread (`core.threads`); tiles are what threads share. The tiles do not depend on how many threads there are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack

from tenfold.core.data import Array
from tenfold.core.engine import each

TILE = 256


def in_rows(n: int, work: Callable[[slice], None], tile: int = TILE, start: int = 0) -> None:
    """work(rows) for all rows from `start` on, a tile at a time."""
    each(work, [slice(one, min(one + tile, n)) for one in range(start, n, tile)])


def cholesky_in_place(A: Array) -> bool:
    """The lower triangle of A becomes L with A = L Lᵀ; False where A is not positive definite to working precision.

    Columns of tiles from left to right: what the finished columns explain is taken from the next one, whose tile on the diagonal is
    then factored; the tiles below are multiplied by the inverse of that factor. Above the diagonal A keeps what it has.
    """
    n = len(A)
    for j in range(0, n, TILE):
        here = slice(j, min(j + TILE, n))

        def subtract(rows: slice, j: int = j, here: slice = here) -> None:
            A[rows, here] -= A[rows, :j] @ A[here, :j].T

        if j:
            in_rows(n, subtract, start=j)
        factor, fail = lapack.dpotrf(A[here, here], lower=1, clean=1)
        if fail or not np.isfinite(factor).all():
            return False
        A[here, here] = np.tril(factor) + np.triu(A[here, here], 1)
        if here.stop < n:
            inverse = _triangular_inverse(factor).T.copy()

            def divide(rows: slice, inverse: Array = inverse, here: slice = here) -> None:
                A[rows, here] = A[rows, here] @ inverse

            in_rows(n, divide, start=here.stop)
    return True


def solve_lower(L: Array, b: Array) -> Array:
    """x with L x = b, for the lower triangle of L and b (n, q)."""
    x, _ = lapack.dtrtrs(L.T, b, lower=0, trans=1)
    return np.asarray(x)


def solve_both(L: Array, b: Array) -> Array:
    """x with L Lᵀ x = b."""
    x, _ = lapack.dtrtrs(L.T, solve_lower(L, b), lower=0, trans=0)
    return np.asarray(x)


def inverse_of_lower(L: Array) -> Array:
    """L⁻¹, tile by tile: rows of tiles from the top, each from those above it. Above the diagonal it is zero."""
    n = len(L)
    made = np.zeros((n, n))
    for i in range(0, n, TILE):
        here = slice(i, min(i + TILE, n))
        diagonal = _triangular_inverse(np.tril(L[here, here]))
        left = np.ascontiguousarray(diagonal @ L[here, :i])

        def below(columns: slice, left: Array = left, here: slice = here, i: int = i) -> None:
            made[here, columns] = -(left[:, columns.start : i] @ made[columns.start : i, columns])  # zero above the diagonal

        in_rows(i, below)
        made[here, here] = diagonal
    return made


def inverse_from_lower(L: Array) -> Array:
    """(L Lᵀ)⁻¹ = L⁻ᵀ L⁻¹."""
    inverse, n = inverse_of_lower(L), len(L)
    made = np.empty((n, n))

    def rows_of(rows: slice) -> None:  # the rows of L⁻¹ from the diagonal on are all there is
        made[rows, : rows.stop] = inverse[rows.start :, rows].T @ inverse[rows.start :, : rows.stop]
        made[: rows.start, rows] = made[rows, : rows.start].T

    in_rows(n, rows_of)
    return made


def inverse_diagonal(L: Array) -> Array:
    """The diagonal of (L Lᵀ)⁻¹: the sums of squares of the columns of L⁻¹."""
    inverse = inverse_of_lower(L)
    return np.asarray(np.einsum("ij,ij->j", inverse, inverse))


def _triangular_inverse(L: Array) -> Array:
    found, fail = lapack.dtrtri(L, lower=1)
    assert not fail, "the factor has no zero on its diagonal"
    return np.asarray(found)
