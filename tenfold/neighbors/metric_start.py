"""Where the learning of a metric begins: matrices A of rows to be compared as A x."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter

INITS = ("auto", "pca", "lda", "identity", "random")
SMALL = 1e-4  # share of the largest singular value below which a direction is none


def start_of(init: Any, n_components: int | None, X: Array, y: Array, w: Array, rng: np.random.RandomState) -> Array:
    """(components, columns)."""
    p, n = X.shape[1], n_components
    if n is not None and n > p:
        raise BadParameter(
            f"The preferred dimensionality of the projected space `n_components` ({n}) cannot be greater than the given data "
            f"dimensionality ({p})!"
        )
    if not isinstance(init, str):
        return _given(np.array(init, dtype=np.float64), n, p)
    n = p if n is None else n
    name = _chosen(n, X, y) if init == "auto" else init
    if name == "identity":
        return np.eye(n, p)
    if name == "random":
        return rng.standard_normal((n, p))
    return principal(X, w, n) if name == "pca" else discriminant(X, y, w, n)


def _given(A: Array, n: int | None, p: int) -> Array:
    if A.ndim != 2 or not np.isfinite(A).all():
        raise BadParameter(f"init: must be a matrix of finite numbers with {p} columns, as X has, or one of {', '.join(INITS)}")
    if A.shape[1] != p:
        raise BadParameter(
            f"The input dimensionality ({A.shape[1]}) of the given linear transformation `init` must match the dimensionality of the given "
            f"inputs `X` ({p})."
        )
    if A.shape[0] > p:
        raise BadParameter(
            f"The output dimensionality ({A.shape[0]}) of the given linear transformation `init` cannot be greater than its input "
            f"dimensionality ({p})."
        )
    if n is not None and n != A.shape[0]:
        raise BadParameter(
            f"The preferred dimensionality of the projected space `n_components` ({n}) does not match the output dimensionality of the "
            f"given linear transformation `init` ({A.shape[0]})!"
        )
    return A


def _chosen(n: int, X: Array, y: Array) -> str:
    if n <= min(X.shape[1], len(np.unique(y)) - 1):
        return "lda"
    return "pca" if n < min(X.shape) else "identity"


def principal(X: Array, w: Array, n: int) -> Array:
    """The directions of largest variance."""
    centred = X - np.average(X, axis=0, weights=w)
    _, axes = np.linalg.eigh((centred * w[:, None]).T @ centred)
    axes = axes[:, ::-1][:, :n].T
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return np.asarray(axes * np.where(largest < 0, -1.0, 1.0))


def discriminant(X: Array, y: Array, w: Array, n: int) -> Array:
    """Fisher's directions, in which rows of one class have variance one: at most one fewer than there are classes."""
    codes = np.unique(y, return_inverse=True)[1]
    weight = np.bincount(codes, w)
    means = np.stack([np.bincount(codes, w * column) for column in X.T], axis=1) / weight[:, None]
    within = X - means[codes]
    spread = np.sqrt(np.average(within**2, axis=0, weights=w))
    spread[spread == 0] = 1.0
    _, size, axes = np.linalg.svd(np.sqrt(w / w.sum())[:, None] * within / spread, full_matrices=False)
    rank = int((size > SMALL * size[0]).sum()) if len(size) and size[0] > 0 else 0
    white = (axes[:rank] / spread).T / size[:rank]
    share = np.sqrt(weight / max(len(weight) - 1, 1))
    _, size, axes = np.linalg.svd(share[:, None] * ((means - weight @ means / weight.sum()) @ white), full_matrices=False)
    found = int((size > SMALL * size[0]).sum()) if len(size) and size[0] > 0 else 0
    A = (white @ axes[:found].T).T[:n]
    return np.vstack([A, np.zeros((n - len(A), X.shape[1]))]) if len(A) < n else A
