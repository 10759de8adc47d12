"""What rows say of their neighbourhoods: weights of neighbours, and matrices whose null space is the embedding.

Each method has a matrix M = Σᵢ Sᵢ Bᵢ Sᵢᵀ, where Bᵢ ⪰ 0 is of the neighbours of row i and Sᵢ puts them in their places; M 1 = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadInput
from tenfold.core.memory import check_memory

AT_ONCE = 1 << 19  # numbers of the neighbourhoods that are handled at a time

Local = Callable[[Array, slice], Array]  # offsets of neighbours (m, k, p) of some rows -> what there is of each row


def of_neighborhoods(work: Local, of: Array, X: Array, near: Array) -> Array:
    """work(offsets from the rows `of` to their neighbours in X), some rows at a time, on all threads."""
    step = max(1, AT_ONCE // (near.shape[1] * max(X.shape[1], near.shape[1])))

    def some(rows: slice) -> Array:
        return work(_scaled(X[near[rows]] - of[rows, None]), rows)

    return np.concatenate(each(some, [slice(start, start + step) for start in range(0, len(of), step)]))


def _scaled(offsets: Array) -> Array:
    """Each neighbourhood as large as one: nothing here depends on its size, and squares neither overflow nor vanish."""
    size = np.abs(offsets).max(axis=(1, 2), keepdims=True)
    return np.asarray(offsets / np.where(size > 0, size, 1.0))


def barycentric(of: Array, X: Array, near: Array, reg: float) -> Array:
    """(rows, k): weights that sum to one, by which the neighbours of a row come nearest to it, kept small by reg times their spread."""

    def weights(offsets: Array, _: slice) -> Array:
        G = offsets @ offsets.transpose(0, 2, 1)
        k = G.shape[1]
        spread = np.einsum("ijj->i", G)
        G[:, range(k), range(k)] += reg * np.where(spread > 0, spread, 1.0)[:, None]
        try:
            found = np.linalg.solve(G, np.ones((len(G), k, 1)))[..., 0]
            total = found.sum(axis=1, keepdims=True)
        except np.linalg.LinAlgError:
            total = np.zeros(1)
        if not (np.isfinite(total) & (total != 0)).all():
            raise BadInput(
                f"reg={reg:g}: the weights of neighbours are not determined, as some lie in a plane: increase reg, as to 0.001"
            )
        return np.asarray(found / total)

    return of_neighborhoods(weights, of, X, near)


def alignment(X: Array, near: Array, w: Array, method: str, d: int, reg: float, tol: float) -> Any:
    """M of rows with weights w, as CSC."""
    n, k = near.shape
    if method == "standard":
        check_memory(
            f"the weights of {k} neighbours of {n:,} rows", 24.0 * n * k * k, "decrease n_neighbors, or give fewer rows"
        )
        return residuals_squared(barycentric(X, X, near, reg), near, w)
    check_memory(
        f"the neighbourhoods of {n:,} rows", 32.0 * n * (k + 1) ** 2, "decrease n_neighbors, or give fewer rows"
    )
    if method == "modified":
        near = np.column_stack([near, np.arange(n)])  # a row has a part in its own neighbourhood
        blocks = _modified(X, near[:, :-1], d, tol)
    else:
        blocks = of_neighborhoods(_tangents(d) if method == "ltsa" else _hessians(d), X, X, near)
    blocks *= w[:, None, None]
    rows, columns = np.broadcast_arrays(near[:, :, None], near[:, None, :])
    return sparse.coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(n, n)).tocsc()


def residuals_squared(weights: Array, near: Array, w: Array) -> Any:
    """(I − W)ᵀ diag(w) (I − W)."""
    n, k = near.shape
    W = sparse.csr_array((weights.ravel(), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    A = sparse.diags_array(np.sqrt(w), format="csr") @ (sparse.eye_array(n, format="csr") - W)
    return (A.T @ A).tocsc()


def _leading(offsets: Array) -> tuple[Array, Array]:
    """Eigenpairs of the products of offsets, the largest first."""
    values, vectors = np.linalg.eigh(offsets @ offsets.transpose(0, 2, 1))
    return np.maximum(values[:, ::-1], 0.0), vectors[:, :, ::-1]


def _tangent(offsets: Array, d: int) -> Array:
    """(rows, k, d): orthogonal coordinates of the neighbours along the directions of most spread about their mean."""
    return _leading(offsets - offsets.mean(axis=1, keepdims=True))[1][:, :, :d]


def _with_ones(vectors: Array) -> Array:
    m, k, _ = vectors.shape
    return np.concatenate([np.full((m, k, 1), 1 / np.sqrt(k)), vectors], axis=2)


def _tangents(d: int) -> Local:
    """I − Q Qᵀ: what no plane through the neighbours explains; Q spans the functions that are linear on their tangent space."""

    def of(offsets: Array, _: slice) -> Array:
        Q = np.linalg.qr(_with_ones(_tangent(offsets, d)))[0]
        return np.asarray(np.eye(Q.shape[1]) - Q @ Q.transpose(0, 2, 1))

    return of


def _hessians(d: int) -> Local:
    """H Hᵀ: the second derivatives along the tangent space, by products of its coordinates, apart from what is linear."""

    def of(offsets: Array, _: slice) -> Array:
        tangent = _tangent(offsets, d)
        first, second = np.triu_indices(d)
        H = np.linalg.qr(np.concatenate([_with_ones(tangent), tangent[:, :, first] * tangent[:, :, second]], axis=2))[
            0
        ][:, :, d + 1 :]
        return np.asarray(H @ H.transpose(0, 2, 1))

    return of


def _modified(X: Array, near: Array, d: int, tol: float) -> Array:
    """Σ over several weight vectors of a neighbourhood, as many as it has directions with little spread."""
    (n, k), known = near.shape, min(X.shape[1], near.shape[1])

    def spectra(offsets: Array, _: slice) -> Array:
        values, vectors = _leading(offsets)
        return np.concatenate([values[:, None, :], vectors], axis=1)

    found = of_neighborhoods(spectra, X, X, near)
    values, vectors = found[:, 0, :].copy(), found[:, 1:, :]
    values[:, known:] = 0.0
    size = values.sum(axis=1, keepdims=True)
    soft = np.einsum("ijk,ik->ij", vectors, vectors.sum(axis=1) / (values + np.where(size > 0, 1e-3 * size, 1.0)))
    soft /= soft.sum(axis=1, keepdims=True)  # the weights of the standard method
    large = values[:, :d].sum(axis=1)
    usual = np.median(np.divide(values[:, d:].sum(axis=1), large, out=np.zeros(n), where=large > 0))
    until = np.cumsum(values[:, :known], axis=1)
    rest = np.divide(until[:, -1:], until[:, :-1], out=np.ones((n, known - 1)), where=until[:, :-1] > 0) - 1
    many = np.maximum((rest < usual).sum(axis=1) + k - known, 1)
    blocks = np.empty((n, k + 1, k + 1))
    for s in np.unique(many):
        rows = np.flatnonzero(many == s)
        flat = vectors[rows][:, :, k - s :]
        sums = flat.sum(axis=1)
        length = np.sqrt(np.einsum("ij,ij->i", sums, sums) / s)
        mirror = length[:, None] - sums  # Householder: each column then sums to `length`
        norm = np.sqrt(np.einsum("ij,ij->i", mirror, mirror))
        mirror /= np.where(norm < tol, np.inf, norm)[:, None]
        weights = (
            flat
            - 2 * (flat @ mirror[:, :, None]) * mirror[:, None, :]
            + ((1 - length)[:, None] * soft[rows])[:, :, None]
        )
        whole = np.concatenate([weights, np.full((len(rows), 1, int(s)), -1.0)], axis=1)
        blocks[rows] = whole @ whole.transpose(0, 2, 1)
    return blocks
