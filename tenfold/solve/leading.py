"""The leading eigenpairs of a symmetric matrix, by products with blocks of vectors."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.core.threads import patiently, stopping
from tenfold.solve.tiles import in_rows

BESIDE = 10  # vectors beyond those that are asked for
DEPTH = 8  # powers of the matrix in one space
SPACES = 100


def leading(A: Array, k: int, seed: int = 0, tol: float = 1e-12) -> tuple[Array, Array] | None:
    """The k eigenpairs of the largest eigenvalues of A ⪰ 0, the largest first; None where they do not settle.

    Block Krylov spaces [Q, A Q, A² Q, ...] and Rayleigh-Ritz, begun again with the best vectors, until each residual ‖A v − λ v‖ is at
    most tol times the largest eigenvalue.
    """
    n = len(A)
    width = min(n, k + BESIDE)
    depth = max(1, min(DEPTH, n // width))
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, width)))[0]
    for _ in range(SPACES):
        space, H = [Q], np.zeros((depth * width, depth * width))  # A basis = basis H + what leads beyond the last block
        for j in range(depth):
            if stopping():
                raise KeyboardInterrupt
            beyond, here = product(A, space[j]), slice(j * width, (j + 1) * width)
            for _ in range(2):  # twice is enough
                for i, one in enumerate(space):
                    part = one.T @ beyond
                    H[i * width : (i + 1) * width, here] += part
                    beyond -= one @ part
            Q, R = np.linalg.qr(beyond)
            if j + 1 < depth:
                space.append(Q)
                H[(j + 1) * width : (j + 2) * width, here] = R
        values, turns = np.linalg.eigh((H + H.T) / 2)
        values, turns = values[::-1][:width], turns[:, ::-1][:, :width]
        rest = R @ turns[-width:, :k]
        Q = np.concatenate(space, axis=1) @ turns
        if np.sqrt(np.einsum("ij,ij->j", rest, rest)).max() <= tol * max(abs(values[0]), 1e-300):
            return values[:k], Q[:, :k]
    return None


def eigenpairs(A: Array, k: int) -> tuple[Array, Array]:
    """The k leading eigenpairs of A ⪰ 0, by blocks where they are few, else by the whole decomposition."""
    if len(A) > 500 and k <= len(A) // 20:
        found = leading(A, k)
        if found is not None:
            return found
    values, vectors = patiently(np.linalg.eigh, A)
    return values[::-1][:k], vectors[:, ::-1][:, :k]


def product(A: Array, B: Array) -> Array:
    """A B, on all threads; the same bits on any number of them."""
    found = np.empty((len(A), B.shape[1]))

    def rows_of(rows: slice) -> None:
        found[rows] = A[rows] @ B

    in_rows(len(A), rows_of)
    return found
