"""The leading eigenpairs of a symmetric matrix, by products with blocks of vectors."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.core.threads import patiently, stopping
from tenfold.solve.tiles import in_rows

BESIDE = 10  # vectors beyond those that are asked for
DEPTH = 30  # blocks of one space
LOOK = 4  # blocks after which it is looked at whether they suffice
SPACES = 30


def leading(A: Array, k: int, seed: int = 0, tol: float = 1e-12) -> tuple[Array, Array] | None:
    """The k eigenpairs of the largest eigenvalues of A ⪰ 0, the largest first; None where they do not settle.

    Block Krylov spaces [Q, A Q, A² Q, ...] and Rayleigh-Ritz, begun again with the best vectors, until each residual ‖A v − λ v‖ is at
    most tol times the largest eigenvalue.
    """
    n = len(A)
    width = min(n, k + BESIDE)
    depth = max(1, min(DEPTH, n // width))
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, width)))[0]
    R = np.zeros((width, width))
    for _ in range(SPACES):
        basis, H = np.empty((n, 0)), np.zeros((0, 0))  # A basis = basis H + what leads beyond the last block
        for j in range(depth):
            if stopping():
                raise KeyboardInterrupt
            basis, beyond = np.concatenate([basis, Q], axis=1), product(A, Q)
            H = np.pad(H, (0, width))
            if j:
                H[-width:, -2 * width : -width] = R
            for _ in range(2):  # twice is enough
                part = product(basis.T, beyond)
                H[:, -width:] += part
                beyond -= product(basis, part)
            Q, R = np.linalg.qr(beyond)
            if (j + 1) % LOOK and j + 1 < depth:
                continue
            values, turns = np.linalg.eigh((H + H.T) / 2)
            values, turns = values[::-1][:width], turns[:, ::-1][:, :width]
            rest = R @ turns[-width:, :k]
            if np.sqrt(np.einsum("ij,ij->j", rest, rest)).max() <= tol * max(abs(values[0]), 1e-300):
                return values[:k], product(basis, turns[:, :k])
        Q = product(basis, turns)
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
