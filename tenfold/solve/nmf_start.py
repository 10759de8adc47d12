"""Where a non-negative factorisation X ≈ W H begins.

    random      entries of size √(mean of X / k), drawn
    nndsvd      the non-negative parts of singular vectors; zeros are filled ("nndsvda") or get small draws ("nndsvdar")
    kmeans      H are the centres of k-means, W says which is nearest
    acol        rows of H are means of a few drawn rows
    mass        H as for random; each row of W is level, with the mass of its row of X: what no order and no copies of rows change
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.random import generator
from tenfold.core.threads import patiently
from tenfold.solve.factors import Table
from tenfold.solve.lloyd import lloyd_in_memory, plus_plus
from tenfold.solve.sketch import Sample

EXACT = 400  # rows or columns, up to which singular vectors come from all products
BESIDE, TURNS = 10, 7  # vectors beyond those that are asked for, and products with XᵀX
LOST = 1e-6  # singular values below so much of the first are rounding errors of the products
SMALL = 1e-6  # of the largest entry: below, entries count as zero
DRAWN = 20  # rows to a mean
SAMPLED = 10_000  # rows for k-means


def start(table: Table, k: int, init: str, rng: Any, positive: bool) -> tuple[Array, Array]:
    """W (n, k) and H (k, p). `positive`: no entry of a start other than nndsvd is zero, as multiplicative steps leave zeros as they are."""
    mean = table.mean()
    size = np.sqrt(mean / k)  # of entries of W and H, whatever the unit of X
    if init in ("random", "mass"):
        H = np.abs(size * rng.standard_normal(size=(k, table.p)))
        return np.abs(size * rng.standard_normal(size=(table.n, k))) if init == "random" else level(table, H), H
    if init in ("kmeans", "acol"):
        W, H = by_centres(table, k, rng) if init == "kmeans" else by_means(table, k, rng)
        return W, np.maximum(H, mean / 100) if positive else H
    W, H = by_singular_vectors(table, k, rng)
    if init == "nndsvda":
        W[W == 0], H[H == 0] = size, size
    elif init == "nndsvdar":
        W[W == 0] = np.abs(size * rng.standard_normal(size=int((W == 0).sum())) / 100)
        H[H == 0] = np.abs(size * rng.standard_normal(size=int((H == 0).sum())) / 100)
    return W, H


def level(table: Table, H: Array) -> Array:
    """W of which each row has equal entries, so that W H has the sums of the rows of X."""
    return np.repeat((table.row_sums() / max(float(H.sum()), 1e-290))[:, None], len(H), axis=1)


def by_singular_vectors(table: Table, k: int, rng: Any) -> tuple[Array, Array]:
    """Of each pair of singular vectors the positive or the negative parts, whichever say more (Boutsidis & Gallopoulos 2008)."""
    U, S, V = singular(table, k, rng)
    W, H = np.zeros((table.n, k)), np.zeros((k, table.p))
    for j in range(k):
        if not S[j] > LOST * S[0]:
            break
        sides = [(np.maximum(sign * U[:, j], 0.0), np.maximum(sign * V[:, j], 0.0)) for sign in (1.0, -1.0)]
        sizes = [(float(np.sqrt(table.w @ (u * u))), float(np.sqrt(v @ v))) for u, v in sides]
        (u, v), (a, b) = max(zip(sides, sizes, strict=True), key=lambda one: one[1][0] * one[1][1])
        if j == 0:  # all of one sign, but for rounding errors
            u, v, a, b = np.abs(U[:, 0]), np.abs(V[:, 0]), 1.0, 1.0
        size = np.sqrt(S[j] * a * b)
        W[:, j], H[j] = size * u / a, size * v / b
    W[SMALL * W.max() > W] = 0.0
    H[SMALL * H.max() > H] = 0.0
    return W, H


def singular(table: Table, k: int, rng: Any) -> tuple[Array, Array, Array]:
    """U (n, k), S and V (p, k) of the largest singular values of X with weighted rows: Uᵀ diag(w) U = I and X ≈ U S Vᵀ."""
    if table.p <= EXACT:
        gram = table.turned_times(table.w[:, None] * table.times(np.eye(table.p)))
        V = patiently(np.linalg.eigh, (gram + gram.T) / 2)[1][:, ::-1][:, :k]
    elif table.n <= EXACT:
        rows = np.sqrt(table.w)[:, None] * table.dense(slice(0, table.n))
        U = patiently(np.linalg.eigh, rows @ rows.T)[1][:, ::-1][:, :k]
        V = np.linalg.qr(rows.T @ U)[0]
    else:
        V = _leading(table, min(k + BESIDE, table.n, table.p), rng)[:, :k]
    U = table.times(np.ascontiguousarray(V))
    S = np.sqrt(table.w @ (U * U))
    return np.divide(U, S, out=np.zeros_like(U), where=S > 0), S, V


def _leading(table: Table, width: int, rng: Any) -> Array:
    """The leading right singular vectors, by products with a block of drawn vectors (Halko, Martinsson & Tropp 2011)."""
    Q = rng.standard_normal(size=(table.p, width))
    for _ in range(TURNS):
        Q = np.linalg.qr(table.turned_times(table.w[:, None] * table.times(np.ascontiguousarray(Q))))[0]
    B = table.times(np.ascontiguousarray(Q))
    _, turns = np.linalg.eigh((B.T * table.w) @ B)
    return np.asarray(Q @ turns[:, ::-1])


def by_centres(table: Table, k: int, rng: Any) -> tuple[Array, Array]:
    """Centres of k-means on a sample of the rows; W is 1.2 for the nearest centre and 0.2 for the others (Ding, Li & Jordan 2010)."""
    draw = generator(rng)
    most = min(SAMPLED, max(10 * k, (1 << 26) // (8 * table.p)))
    sample = Sample.of(table.X, table.w, most, int(draw.integers(0, 2**63 - 1)))
    seeds = plus_plus(sample.rows, sample.weight, k, draw)
    H = lloyd_in_memory(sample.rows, sample.weight, [seeds], 0.0, 30, sample).centers
    nearest = ((H * H).sum(axis=1) - 2.0 * table.times(np.ascontiguousarray(H.T))).argmin(axis=1)
    return 0.2 + np.eye(k)[nearest], np.ascontiguousarray(H)


def by_means(table: Table, k: int, rng: Any) -> tuple[Array, Array]:
    """Means of a few rows each, drawn by weight: random Acol (Langville, Meyer, Albright, Cox & Duling 2014)."""
    many = min(DRAWN, max(1, table.n // k))
    drawn = rng.choice(table.n, size=(k, many), p=table.w / table.weight)
    H = np.stack([ops.dense(table.X[rows]).mean(axis=0, dtype=np.float64) for rows in drawn])
    return np.full((table.n, k), 1.0 / k), np.ascontiguousarray(np.asarray(H).reshape(k, table.p))
