"""Kernels by name, with parameters as scikit-learn calls them: what `kernel="rbf"` of a machine means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tenfold.core import ops
from tenfold.core.errors import BadParameter
from tenfold.kernels.kernel import Array, Kernel
from tenfold.kernels.stationary import BOUNDS, squared_distances

PARAMETERS = {  # of each name, those that it looks at
    "linear": (),
    "poly": ("gamma", "degree", "coef0"),
    "polynomial": ("gamma", "degree", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "laplacian": ("gamma",),
    "cosine": (),
    "chi2": ("gamma",),
    "additive_chi2": (),
}


def pairwise_kernels(X: Any, Y: Any = None, metric: str = "linear", **parameters: Any) -> Array:
    """k(x, y) of every row of X with every row of Y (X itself where there is none).

        linear x·y      poly (γ x·y + c)^d      rbf exp(−γ ‖x − y‖²)      sigmoid tanh(γ x·y + c)      laplacian exp(−γ ‖x − y‖₁)
        cosine x·y / (‖x‖ ‖y‖)      additive_chi2 −Σ (x − y)² / (x + y)      chi2 exp(γ of that)

    γ is 1 / the number of columns where it is not given (of chi2 it is 1); d is 3 and c is 1.
    """
    if metric not in PARAMETERS:
        raise BadParameter(f"pairwise_kernels(metric={metric!r}): must be one of {', '.join(map(repr, PARAMETERS))}")
    unknown = set(parameters) - set(PARAMETERS[metric])
    if unknown:
        raise BadParameter(f"pairwise_kernels(metric={metric!r}): does not look at {min(unknown)!r}")
    X = X if ops.is_sparse(X) else np.atleast_2d(np.asarray(X))
    Y = X if Y is None else Y if ops.is_sparse(Y) else np.atleast_2d(np.asarray(Y))
    return named_kernel(metric, X, Y, **parameters)


def named_kernel(name: str, X: Any, Y: Any, gamma: float | None = None, degree: float = 3, coef0: float = 1.0) -> Array:
    """The same for rows that were looked at; those of CSR stay sparse where only products are asked for."""
    if gamma is None:
        gamma = 1.0 if name == "chi2" else 1.0 / X.shape[1]
    if name == "rbf":
        return _gaussian(X, Y, gamma)
    if name in ("linear", "poly", "polynomial", "sigmoid"):
        K = _products(X, Y)
        if name == "linear":
            return K
        K *= gamma
        K += coef0
        with np.errstate(over="ignore"):  # whoever learns from them looks for infinities
            return np.tanh(K, out=K) if name == "sigmoid" else np.asarray(K**degree)
    return _OTHERS[name](ops.dense(X), ops.dense(Y), gamma)


def _products(X: Any, Y: Any) -> Array:
    return np.ascontiguousarray(ops.dense(X @ Y.T))


def _gaussian(X: Any, Y: Any, gamma: float) -> Array:
    if not ops.is_sparse(X) and not ops.is_sparse(Y):
        K = squared_distances(X, Y)
    else:
        K = _products(X, Y)
        K *= -2.0
        K += _squares(X)[:, None]
        K += _squares(Y)
        np.maximum(K, 0.0, out=K)
        if Y is X:
            np.fill_diagonal(K, 0.0)
    K *= -gamma
    return np.exp(K, out=K)


def _squares(X: Any) -> Array:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if ops.is_sparse(X) else np.einsum("ij,ij->i", X, X)


def _laplacian(X: Array, Y: Array, gamma: float) -> Array:
    found = np.zeros((len(X), len(Y)), dtype=np.result_type(X, Y))
    for one, other in zip(X.T, Y.T, strict=True):
        found -= np.abs(one[:, None] - other)
    return np.asarray(np.exp(gamma * found))


def _cosine(X: Array, Y: Array, gamma: float) -> Array:
    X, Y = (rows / np.maximum(np.sqrt(_squares(rows)), np.finfo(np.float64).tiny)[:, None] for rows in (X, Y))
    return np.asarray(X @ Y.T)


def _additive_chi2(X: Array, Y: Array, gamma: float = 1.0) -> Array:
    if (X < 0).any() or (Y < 0).any():
        raise BadParameter("the chi2 kernel takes values of at least 0: X contains negative values")
    found = np.zeros((len(X), len(Y)))
    for one, other in zip(X.T, Y.T, strict=True):
        total = one[:, None] + other
        found -= np.divide((one[:, None] - other) ** 2, total, out=np.zeros_like(found), where=total > 0)
    return found


def _chi2(X: Array, Y: Array, gamma: float) -> Array:
    return np.asarray(np.exp(gamma * _additive_chi2(X, Y)))


_OTHERS: dict[str, Callable[[Array, Array, float], Array]] = {
    "laplacian": _laplacian,
    "cosine": _cosine,
    "additive_chi2": _additive_chi2,
    "chi2": _chi2,
}


@dataclass(eq=False, repr=False)
class PairwiseKernel(Kernel):
    """A kernel by its name, with γ learnable."""

    learnable: ClassVar[tuple[str, ...]] = ("gamma",)

    gamma: float = 1.0
    gamma_bounds: Any = BOUNDS
    metric: Any = "linear"
    pairwise_kernels_kwargs: dict[str, Any] | None = None

    def cross(self, X: Array, Y: Array) -> Array:
        return self._at(self.gamma, X, Y)

    def _at(self, gamma: float, X: Array, Y: Array) -> Array:
        if callable(self.metric):
            return np.array([[float(self.metric(x, y)) for y in Y] for x in X]).reshape(len(X), len(Y))
        more = dict(self.pairwise_kernels_kwargs or {})
        return named_kernel(self.metric, X, Y, gamma=gamma, **more)

    def diag(self, X: Any) -> Array:
        return np.array([float(self.cross(one[None], one[None])[0, 0]) for one in X])

    def _derivatives(self, X: Array, K: Array) -> Iterator[Array]:
        """By central differences: the name may be of any function."""
        if self._is_free("gamma"):
            step = 1e-5
            yield (self._at(self.gamma * np.exp(step), X, X) - self._at(self.gamma * np.exp(-step), X, X)) / (2 * step)

    def objection(self) -> str | None:
        more = self.pairwise_kernels_kwargs or {}
        sound = self.metric in PARAMETERS and isinstance(more, dict) and set(more) <= set(PARAMETERS[self.metric]) - {"gamma"}
        return super().objection() if sound else f"there is no kernel {str(self.metric)[:40]!r} with these parameters"

    def is_stationary(self) -> bool:
        return self.metric in ("rbf", "laplacian")

    def __repr__(self) -> str:
        return f"PairwiseKernel(gamma={self.gamma}, metric={self.metric})"

    def formula(self) -> str:
        return f"{self.metric}(x, y; γ = {self.gamma:.3g})"
