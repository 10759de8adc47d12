"""The leading eigenpairs of a symmetric matrix, by products with blocks of vectors."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from tenfold.core.data import Array
from tenfold.core.threads import patiently, stopping
from tenfold.solve.tiles import in_rows

BESIDE = 10  # vectors beyond those that are asked for
DEPTH = 30  # blocks of one space
LOOK = 4  # blocks after which it is looked at whether they suffice
SPACES = 30
DIGITS = 1e-13  # of a vector, below which it is rounding

Products = Generator[Array, Array, tuple[Array, Array, bool]]


def leading(A: Array, k: int, seed: int = 0, tol: float = 1e-12) -> tuple[Array, Array] | None:
    """The k eigenpairs of the largest eigenvalues of A ⪰ 0, the largest first; None where they do not settle."""
    spaces = krylov(len(A), k, seed, tol)
    try:
        Q = next(spaces)
        while True:
            Q = spaces.send(product(A, Q))
    except StopIteration as done:
        values, vectors, settled = done.value
        return (values, vectors) if settled else None


def krylov(
    n: int,
    k: int,
    seed: int,
    tol: float,
    *,
    beside: int = BESIDE,
    block: int | None = None,
    most: int | None = None,
    widest: int | None = None,
) -> Products:
    """As `leading`, of any A (n, n) whose products with blocks of vectors are known: yields Q, receives A Q; and whether they settled.

    Block Krylov spaces [Q, A Q, A² Q, ...] and Rayleigh-Ritz, begun again with the best vectors, until each residual ‖A v − λ v‖ is at
    most tol times the largest eigenvalue, or after `most` products. A space has at most `widest` vectors, by default of blocks of
    k + beside: narrower ones (`block`) need fewer products with a vector, and more passes.
    """
    kept = min(n, k + beside)
    room = min(n, DEPTH * kept if widest is None else min(DEPTH * kept, widest))
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, kept if block is None else min(n, block))))[0]
    R, products, ends = np.zeros((kept, kept)), 0, np.inf if most is None else most
    for _ in range(SPACES):
        width = Q.shape[1]
        depth = max(1, room // width)
        basis, H = np.empty((n, 0)), np.zeros((0, 0))  # A basis = basis H + what leads beyond the last block
        for j in range(depth):
            if stopping():
                raise KeyboardInterrupt
            beyond = yield Q
            basis, products = np.concatenate([basis, Q], axis=1), products + 1
            H = np.pad(H, (0, width))
            if j:
                H[-width:, -2 * width : -width] = R
            for _ in range(2):  # twice is enough
                part = product(basis.T, beyond)
                H[:, -width:] += part
                beyond = beyond - product(basis, part)
            Q, R = np.linalg.qr(beyond)
            new = np.abs(np.diagonal(R)) > DIGITS * np.abs(H).max()
            if not new.all() and j + 1 < depth:  # what A does not lead beyond is rounding, along what is there already
                Q = np.linalg.qr(Q - product(basis, product(basis.T, Q)))[0]
            if j + 1 < depth and (((j + 1) % LOOK and products < ends and new.any()) or len(H) < k):
                continue
            values, turns = np.linalg.eigh((H + H.T) / 2)
            values, turns = values[::-1][:kept], turns[:, ::-1][:, :kept]
            rest = R @ turns[-width:, :k]
            settled = np.sqrt(np.einsum("ij,ij->j", rest, rest)).max() <= tol * max(abs(values[0]), 1e-300)
            if settled or products >= ends:
                return values[:k], product(basis, turns[:, :k]), bool(settled)
        Q = product(basis, turns)
    return values[:k], Q[:, :k], False


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
