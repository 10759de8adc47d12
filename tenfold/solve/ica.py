"""Directions in which rows are least Gaussian: the fixed points of FastICA, as generators. Each step is one sum over the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tenfold import _ica
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Stats
from tenfold.solve.linalg import EPS, eigh

NAMED = {"logcosh": 0, "exp": 1, "cube": 2}  # as in src/kernels/reduce/ica_kernels.hpp


@dataclass(frozen=True, slots=True)
class Contrast:
    """g and g': tanh(alpha y), y exp(−y²/2) or y³ by name, or a function of the user."""

    fun: str | Callable[..., Any] = "logcosh"
    alpha: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)

    def sums(self, X: Array, w: Array, center: Array, axes: Array) -> tuple[Array, Array]:
        """Σ w g(y) (x − center)ᵀ and Σ w g'(y), with y = axes (x − center)."""
        if isinstance(self.fun, str):
            return _ica.ica_sums(X, w, center, axes, NAMED[self.fun], self.alpha)
        rows = X - center
        y = axes @ rows.T
        bent, slope = self._asked(y)
        if slope.ndim == 1 and w.min() < w.max():
            raise BadInput("FastICA(fun=...): weights of rows need the derivative of each value, not its mean over the last axis")
        return np.asarray((bent * w) @ rows), slope @ w if slope.ndim == 2 else slope * w.sum()

    def _asked(self, y: Array) -> tuple[Array, Array]:
        """g and g' of the user at y (k, n): the slope of each value, or its mean over the rows."""
        assert callable(self.fun)
        try:
            found = self.fun(y.copy(), **self.options)
        except Exception as failure:
            raise BadInput(f"FastICA(fun=...): the function fails for an array of shape {y.shape}: {failure}") from failure
        if not isinstance(found, tuple) or len(found) != 2:
            raise BadInput("FastICA(fun=...): the function must return a pair, its values and its derivatives")
        bent, slope = (np.asarray(one, dtype=np.float64) for one in found)
        if bent.shape != y.shape or slope.shape not in (y.shape, y.shape[:1]):
            raise BadInput(
                f"FastICA(fun=...): for an array of shape {y.shape} the function must return values of that shape and derivatives of "
                f"that shape or their means over the last axis, not {bent.shape} and {slope.shape}"
            )
        return bent, slope


@dataclass(slots=True)
class Bent(Stats):
    """Σ w, Σ w g(y) (x − center)ᵀ and Σ w g'(y) of projected rows."""

    weight: float
    products: Array
    slopes: Array


def bent(block: Block, contrast: Contrast, center: Array, axes: Array) -> Bent:
    """The sums of a block."""
    return Bent(float(block.w.sum()), *contrast.sums(ops.dense(block.X), block.w, center, axes))


@dataclass(slots=True)
class Turned:
    """Orthonormal rows W, how many steps they took, and by how much 1 − |w·w'| the last one turned the one that turned most."""

    W: Array
    n_iter: int
    turned: float


def all_together(contrast: Contrast, center: Array, K: Array | None, start: Array, tol: float, max_iter: int) -> Learner[Turned]:
    """All directions at once, W ← (W₊ W₊ᵀ)^(−1/2) W₊ with W₊ = E g(y) zᵀ − E g'(y) W, y = W z, z = K (x − center).

    K None: the rows are z.
    """
    W, turned, n_iter = orthonormal(start), np.inf, 0
    while n_iter < max_iter and turned >= tol:
        found = yield partial(bent, contrast=contrast, center=center, axes=_on_rows(W, K))
        moved = orthonormal(_next(found, W, K))
        turned = float(np.abs(np.abs(np.einsum("ij,ij->i", moved, W)) - 1).max())
        W, n_iter = moved, n_iter + 1
        note(turned)
    return Turned(W, n_iter, turned)


def one_by_one(contrast: Contrast, center: Array, K: Array | None, start: Array, tol: float, max_iter: int) -> Learner[Turned]:
    """The same, each direction by itself, at right angles to those before."""
    W, steps, most = np.zeros_like(start), 0, 0.0
    for j, first in enumerate(start):
        w, turned, n_iter = _apart(first, W[:0]), np.inf, 0
        while n_iter < max_iter and turned >= tol:
            found = yield partial(bent, contrast=contrast, center=center, axes=_on_rows(w[None], K))
            moved = _apart(_next(found, w[None], K)[0], W[:j])
            turned = abs(abs(float(moved @ w)) - 1)
            w, n_iter = moved, n_iter + 1
            note(turned)
        W[j], steps, most = w, max(steps, n_iter), max(most, turned)
    return Turned(W, steps, most)


def _on_rows(W: Array, K: Array | None) -> Array:
    return np.ascontiguousarray(W if K is None else W @ K)


def _next(found: Bent, W: Array, K: Array | None) -> Array:
    products = found.products if K is None else found.products @ K.T
    moved: Array = (products - found.slopes[:, None] * W) / found.weight
    if not np.isfinite(moved).all():
        raise BadInput("FastICA: the function of the projected rows is not finite: give rows of smaller size, or whiten them")
    return moved


def _apart(w: Array, before: Array) -> Array:
    """w at right angles to the rows before, of length 1. The first part of w may be rounding: it is taken out twice."""
    for _ in range(2):
        w = w - (before @ w) @ before
        length = float(np.sqrt(w @ w))
        if length == 0:
            break
        w = w / length
    if length > 0:
        return w
    for j in range(len(w)):  # nothing is left of it: any direction, the first that is
        unit = np.eye(len(w))[j] - before[:, j] @ before
        if unit @ unit > 0.5 / len(w):
            return _apart(unit, before)
    raise AssertionError("fewer rows before than columns leave a direction")


def orthonormal(W: Array) -> Array:
    """(W Wᵀ)^(−1/2) W: the orthonormal rows nearest to those of W."""
    values, vectors = eigh(W @ W.T)
    if values[0] > np.sqrt(EPS) * values[-1]:
        return np.asarray((vectors / np.sqrt(values)) @ (vectors.T @ W))
    left, _, right = np.linalg.svd(W)  # the squares have lost digits
    return np.asarray(left @ right)
