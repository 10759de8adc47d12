"""Covariances of the parts of a Gaussian mixture that share volume, shape or orientation, from their scatters alone.

A covariance is λ D A Dᵀ: volume λ, shape A (diagonal, determinant 1), orientation D (orthonormal). Each of the three is
E(qual) in all parts, V(ariable), or, for shape and orientation, I (the identity): the fourteen models of Celeux and Govaert (1995) by the
names that R's mclust has made known. With nₖ the weight of part k, Wₖ its scatter Σ r w (x − mₖ)(x − mₖ)ᵀ, the maximum of
−½ Σₖ (nₖ log det Cₖ + trace(Wₖ Cₖ⁻¹)) is a formula, or the limit of a few steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tenfold.core.data import Array

NAMED = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}  # scikit-learn's names
STEPS, SETTLED = 200, 1e-12  # of a maximum without a formula
TINY = np.finfo(np.float64).tiny


def n_parameters(shape: str, k: int, p: int) -> int:
    """Free numbers in the covariances."""
    volume, form, turn = shape[0], shape[1], shape[2]
    return (k if volume == "V" else 1) + {"I": 0, "E": p - 1, "V": k * (p - 1)}[form] + {"I": 0, "E": 1, "V": k}[turn] * p * (p - 1) // 2


def is_diagonal(shape: str) -> bool:
    """Whether variances of columns are all that is needed."""
    return shape[2] == "I"


def covariances(shape: str, weight: Array, scatter: Array) -> Array:
    """The most likely covariances: (k, p, p) from scatters (k, p, p); variances (k, p) from sums of squares (k, p) if `is_diagonal`."""
    with np.errstate(over="ignore", invalid="ignore"):  # of scatters that are all but zero: who asks sees that they are no covariances
        return SHAPES[shape](np.maximum(weight, TINY), scatter)


# --- diagonal: W holds sums of squares (k, p) ---


def _eii(n: Array, W: Array) -> Array:
    return np.full(W.shape, W.sum() / (n.sum() * W.shape[1]))


def _vii(n: Array, W: Array) -> Array:
    return np.repeat((W.mean(axis=1) / n)[:, None], W.shape[1], axis=1)


def _eei(n: Array, W: Array) -> Array:
    return np.tile(W.sum(axis=0) / n.sum(), (len(n), 1))


def _vei(n: Array, W: Array) -> Array:
    volume, shape = _by_turns(n, W)
    return volume[:, None] * shape


def _evi(n: Array, W: Array) -> Array:
    size = _geometric(W)
    return np.asarray(W / size[:, None] * (size.sum() / n.sum()))


def _vvi(n: Array, W: Array) -> Array:
    return W / n[:, None]


# --- with orientations: W holds scatters (k, p, p) ---


def _eee(n: Array, W: Array) -> Array:
    return np.tile(W.sum(axis=0) / n.sum(), (len(n), 1, 1))


def _vvv(n: Array, W: Array) -> Array:
    return W / n[:, None, None]


def _evv(n: Array, W: Array) -> Array:
    size = _geometric(np.linalg.eigvalsh(W))
    return np.asarray(W / size[:, None, None] * (size.sum() / n.sum()))


def _vee(n: Array, W: Array) -> Array:
    """λₖ C: C ∝ Σ Wₖ / λₖ and λₖ = trace(Wₖ C⁻¹) / (p nₖ) by turns."""
    p, volume = W.shape[1], np.trace(W, axis1=1, axis2=2) / (W.shape[1] * n)
    for _ in range(STEPS):
        C = (W / np.maximum(volume, TINY)[:, None, None]).sum(axis=0)
        C /= max(float(_geometric(np.linalg.eigvalsh(C)[None])[0]), TINY)
        before, volume = volume, np.trace(np.linalg.solve(C[None], W), axis1=1, axis2=2) / (p * n)
        if np.all(np.abs(volume - before) <= SETTLED * volume):
            break
    return np.asarray(volume[:, None, None] * C)


def _eev(n: Array, W: Array) -> Array:
    values, vectors = _axes(W)
    shape = values.sum(axis=0)
    return _turned(vectors, np.tile(shape / n.sum(), (len(n), 1)))


def _vev(n: Array, W: Array) -> Array:
    values, vectors = _axes(W)
    volume, shape = _by_turns(n, values)
    return _turned(vectors, volume[:, None] * shape)


def _eve(n: Array, W: Array) -> Array:
    D, squares = _one_orientation(n, W, equal=True)
    return _turned(np.tile(D, (len(n), 1, 1)), _evi(n, squares))


def _vve(n: Array, W: Array) -> Array:
    D, squares = _one_orientation(n, W, equal=False)
    return _turned(np.tile(D, (len(n), 1, 1)), _vvi(n, squares))


SHAPES: dict[str, Callable[[Array, Array], Array]] = {
    "EII": _eii, "VII": _vii, "EEI": _eei, "VEI": _vei, "EVI": _evi, "VVI": _vvi, "EEE": _eee, "VEE": _vee, "EVE": _eve, "VVE": _vve,
    "EEV": _eev, "VEV": _vev, "EVV": _evv, "VVV": _vvv,
}  # fmt: skip


# --- what they share ---


def _geometric(values: Array) -> Array:
    """Geometric means of rows: the p-th root of a determinant, by its eigenvalues."""
    return np.asarray(np.exp(np.log(np.maximum(values, TINY)).mean(axis=1)))


def _by_turns(n: Array, W: Array) -> tuple[Array, Array]:
    """λₖ and a common A of determinant 1 for which Σ nₖ p log λₖ + Σⱼ Wₖⱼ / (λₖ Aⱼ) is least: each in its turn."""
    volume = W.mean(axis=1) / n
    for _ in range(STEPS):
        shape = (W / np.maximum(volume, TINY)[:, None]).sum(axis=0)
        shape = shape / max(float(_geometric(shape[None])[0]), TINY)
        before, volume = volume, (W / np.maximum(shape, TINY)).mean(axis=1) / n
        if np.all(np.abs(volume - before) <= SETTLED * volume):
            break
    return volume, shape


def _axes(W: Array) -> tuple[Array, Array]:
    """Eigenvalues of scatters, the largest first, and their axes as columns."""
    values, vectors = np.linalg.eigh(W)
    return np.maximum(values[:, ::-1], 0.0), vectors[:, :, ::-1]


def _turned(vectors: Array, values: Array) -> Array:
    """D diag(values) Dᵀ of each part."""
    return np.asarray(np.einsum("kij,kj,klj->kil", vectors, values, vectors))


def _one_orientation(n: Array, W: Array, equal: bool) -> tuple[Array, Array]:
    """D, the same in all parts, and the sums of squares along its axes; shapes and D by turns.

    D minimises Σ trace(Wₖ D Bₖ Dᵀ), Bₖ the inverse of λₖ Aₖ. With ωₖ the largest eigenvalue of Wₖ this is at most a linear function of D
    that touches it at the present D, whose minimum is a singular value decomposition (Browne & McNicholas 2014)."""
    largest = np.linalg.eigvalsh(W)[:, -1]
    D = np.linalg.eigh(W.sum(axis=0))[1][:, ::-1]
    cost = np.inf
    for _ in range(STEPS):
        squares = np.maximum(np.einsum("ij,kil,lj->kj", D, W, D), 0.0)
        C = (_evi if equal else _vvi)(n, np.maximum(squares, TINY))
        before, cost = cost, float(n @ np.log(C).sum(axis=1) + (squares / C).sum())
        if before - cost <= SETTLED * abs(cost):
            break
        B = 1.0 / C
        F = (B[:, :, None] * (D.T @ W - largest[:, None, None] * D.T)).sum(axis=0)
        left, _, right = np.linalg.svd(-F)
        D = right.T @ left.T
    return D, squares
