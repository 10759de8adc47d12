"""Kernels of rows with other rows, and how what depends on them changes with the parameters of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tenfold.kernels.combined import Exponentiation, Product, Sum, evaluated
from tenfold.kernels.constant import ConstantKernel, WhiteKernel
from tenfold.kernels.kernel import Array, Kernel
from tenfold.kernels.stationary import RBF, Matern, squared_distances

Pull = Callable[[Array], list[float]]  # of W: Σᵢⱼ Wᵢⱼ ∂Kᵢⱼ/∂θ, for each θ


class Between(NamedTuple):
    """The kernels of the rows of two tables, and their derivatives with respect to theta."""

    K: Array  # (n, m)
    pull: Pull


def between(kernel: Any, X: Array, Y: Array) -> Between:
    """k(x, y) of every row of X with every row of Y, which are never the same row: noise is zero."""
    found = _between(kernel, X, Y)
    whole = found.K if found.K.shape == (len(X), len(Y)) else np.broadcast_to(found.K, (len(X), len(Y))).copy()
    return Between(whole, found.pull)


def _between(kernel: Any, X: Array, Y: Array) -> Between:
    """Of kernels that do not look at the rows K is one number, as (1, 1)."""
    if isinstance(kernel, ConstantKernel):
        return _constant(kernel)
    if isinstance(kernel, WhiteKernel):
        return Between(np.zeros((1, 1)), lambda W: [0.0] * kernel.n_dims)
    if isinstance(kernel, (Sum, Product)):
        one, other = _between(kernel.k1, X, Y), _between(kernel.k2, X, Y)
        if isinstance(kernel, Sum):
            return Between(one.K + other.K, lambda W: one.pull(W) + other.pull(W))
        return Between(one.K * other.K, lambda W: one.pull(W * other.K) + other.pull(W * one.K))
    if isinstance(kernel, Exponentiation):
        inner, power = _between(kernel.kernel, X, Y), kernel.exponent
        return Between(inner.K**power, lambda W: inner.pull(W * (power * inner.K ** (power - 1))))
    if isinstance(kernel, (RBF, Matern)):
        return _by_distance(kernel, X, Y)
    return _stacked(kernel, X, Y)


def _constant(kernel: ConstantKernel) -> Between:
    value = float(kernel.constant_value)
    return Between(np.full((1, 1), value), lambda W: [value * float(W.sum())] if kernel.n_dims else [])


def _by_distance(kernel: RBF | Matern, X: Array, Y: Array) -> Between:
    """With M = W ∘ slope:  Σᵢⱼ Mᵢⱼ (xᵢ − yⱼ)² = Σᵢ xᵢ² Σⱼ Mᵢⱼ + Σⱼ yⱼ² Σᵢ Mᵢⱼ − 2 xᵀ M y, of rows in length scales."""
    middle = Y.mean(axis=0)
    X, Y = kernel._scaled(X - middle), kernel._scaled(Y - middle)
    unit = type(kernel)(1.0, "fixed", kernel.nu) if isinstance(kernel, Matern) else RBF(1.0, "fixed")
    K = unit.cross(X, Y)

    def pull(W: Array) -> list[float]:
        if not kernel.n_dims:
            return []
        M = W * _slope(kernel, X, Y, K)
        along = M.sum(axis=1) @ X**2 + M.sum(axis=0) @ Y**2 - 2.0 * np.einsum("ij,ij->j", X, M @ Y)
        return along.tolist() if kernel.n_dims > 1 else [float(along.sum())]

    return Between(K, pull)


def _slope(kernel: RBF | Matern, X: Array, Y: Array, K: Array) -> Array:
    """∂K/∂ log l of all scales at once, divided by the squared distance."""
    if isinstance(kernel, RBF) or kernel.nu == np.inf:
        return K
    return kernel.slope_at(squared_distances(X, Y), K)


def _stacked(kernel: Any, X: Array, Y: Array) -> Between:
    """Of any kernel, from the matrix of all rows with one another."""
    n = len(X)
    found = evaluated(kernel, np.vstack([X, Y]))

    def pull(W: Array) -> list[float]:
        padded = np.zeros(found.K.shape)
        padded[:n, n:] = W
        return list(found.pull(padded))

    return Between(np.ascontiguousarray(found.K[:n, n:]), pull)


def own_noise(kernel: Any, X: Array) -> Array:
    """The part of k(x, x) that two rows with the same values do not share: a WhiteKernel, alone or in sums, products and powers."""
    if isinstance(kernel, WhiteKernel):
        return np.asarray(kernel.diag(X))
    if isinstance(kernel, Sum):
        return own_noise(kernel.k1, X) + own_noise(kernel.k2, X)
    if isinstance(kernel, Product):
        (one, mine), (other, its) = ((np.asarray(part.diag(X)), own_noise(part, X)) for part in (kernel.k1, kernel.k2))
        return np.asarray(one * its + other * mine - mine * its)
    if isinstance(kernel, Exponentiation):
        whole, mine = np.asarray(kernel.kernel.diag(X)), own_noise(kernel.kernel, X)
        return np.asarray(whole**kernel.exponent - (whole - mine) ** kernel.exponent) if mine.any() else mine
    if isinstance(kernel, Kernel):
        return np.zeros(len(X))
    shared = [np.asarray(kernel(X[i : i + 1], X[i : i + 1].copy()))[0, 0] for i in range(len(X))]
    return np.asarray(np.maximum(np.asarray(kernel.diag(X)) - np.array(shared), 0.0))
