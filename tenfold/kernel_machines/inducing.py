"""The bound on the evidence of a Gaussian process that knows all rows by their kernels with a few points, as sums over the rows.

With z(x) = L⁻¹ k(u, x), L Lᵀ = k(u, u), the noise v, and sums over rows  S = Σ w z zᵀ,  t = Σ w z yᵀ,  d = Σ w k(x, x):

    F = −½ q n log(2π v) − ½ q log|B| − ½ Σ w y² / v + ½ tr(tᵀ B⁻¹ t) / v² − ½ q (d − tr S) / v,     B = I + S / v

(Titsias 2009; q targets, n = Σ w). It is below the evidence by how far q(f) is from the posterior, and equal to it where z·z = k. Its
gradient is a second pass, as ∂F/∂k(u, x) depends on S and t:  w L⁻ᵀ (2 (∂F/∂S) z + (∂F/∂t) y).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.engine import each
from tenfold.core.learning import Learner
from tenfold.core.random import generator
from tenfold.core.stats import Stats
from tenfold.kernels.between import between, own_noise
from tenfold.kernels.combined import evaluated

JITTERS = (1e-10, 1e-8, 1e-6)  # shares of k(u, u) that are added to its diagonal, the first that gives a factor: F stays a bound
ROWS = 2_048  # whose kernels are held at once
TILE = 128
FEW = 64  # the same of kernels of rows with one another
SMALLEST_GAIN = 1e-10  # share of the largest variance that a point must add


class Scale(NamedTuple):
    """What is subtracted from the targets, and what they are divided by."""

    mean: Array
    std: Array


class Points(NamedTuple):
    """A kernel at its points: what blocks of rows need to know."""

    kernel: Any
    at: Array  # (m, p)
    inverse: Array  # L⁻¹
    jitter: float  # share of the mean of k(u, u)
    own: float  # noise of the kernel itself, the same for all rows
    scale: Scale

    def turned(self, K: Array) -> Array:
        """K L⁻ᵀ: rows z. In tiles, as half of L⁻¹ is zero; and never as products with (L Lᵀ)⁻¹, which has half of the digits."""
        Z = np.empty_like(K)
        for j in range(0, len(self.at), TILE):
            Z[:, j : j + TILE] = K[:, : j + TILE] @ self.inverse[j : j + TILE, : j + TILE].T
        return Z

    def turned_back(self, R: Array) -> Array:
        """R L⁻¹."""
        W = np.empty_like(R)
        for j in range(0, len(self.at), TILE):
            W[:, j : j + TILE] = R[:, j:] @ self.inverse[j:, j : j + TILE]
        return W


def points_of(kernel: Any, at: Array, scale: Scale) -> Points | None:
    """None where the kernel of the points is not positive definite to working precision."""
    own, K = own_noise(kernel, at), between(kernel, at, at.copy()).K
    K[np.diag_indices(len(K))] = np.asarray(kernel.diag(at)) - own
    middle = float(np.diagonal(K).mean())
    if not np.isfinite(K).all() or not middle > 0:
        return None
    for jitter in JITTERS:
        shifted = K.copy()
        shifted[np.diag_indices(len(K))] += jitter * middle
        factor, fail = lapack.dpotrf(shifted, lower=1, clean=1)
        if not fail and np.isfinite(factor).all():
            inverse, fail = lapack.dtrtri(factor, lower=1)
            if not fail and np.isfinite(inverse).all():
                return Points(kernel, at, np.ascontiguousarray(inverse), jitter, float(own[0]), scale)
    return None


# --- sums over rows ---


@dataclass(slots=True)
class Sums(Stats):
    """S, t, Σ w y², Σ w and Σ w k(x, x), the last without noise."""

    zz: Array
    zy: Array
    yy: float
    weight: float
    kk: float


@dataclass(slots=True)
class Slopes(Stats):
    """Σ over rows of what changes with theta."""

    along: Array


def sums_of(block: Block, points: Points) -> Any:
    return _merged(block, partial(_sums, points))


def slopes_of(block: Block, points: Points, by_zz: Array, by_zy: Array, by_kk: float) -> Any:
    """Of the derivatives of F with respect to S, t and d."""
    return _merged(block, partial(_slopes, points, by_zz, by_zy, by_kk))


def _merged(block: Block, of_rows: Any) -> Any:
    X = ops.dense(block.X).astype(np.float64, copy=False)
    y = np.asarray(block.y, dtype=np.float64)
    slices = [slice(one, one + ROWS) for one in range(0, len(X), ROWS)]
    total = None
    for start in range(0, len(slices), 8):  # the sums of a few are held at once
        for one in each(lambda rows: of_rows(X[rows], y[rows], block.w[rows]), slices[start : start + 8]):
            total = one if total is None else total + one
    return total


def _sums(points: Points, X: Array, y: Array, w: Array) -> Sums:
    root = np.sqrt(w)[:, None]
    Z = points.turned(between(points.kernel, X, points.at).K)
    Z *= root
    y = root * ((y - points.scale.mean) / points.scale.std)
    shared = np.asarray(points.kernel.diag(X)) - points.own
    return Sums(Z.T @ Z, Z.T @ y, float(np.vdot(y, y)), float(w.sum()), float(w @ shared))


def _slopes(points: Points, by_zz: Array, by_zy: Array, by_kk: float, X: Array, y: Array, w: Array) -> Slopes:
    found = between(points.kernel, X, points.at)
    R = points.turned(found.K) @ (2.0 * by_zz)
    R += ((y - points.scale.mean) / points.scale.std) @ by_zy.T
    R *= w[:, None]
    return Slopes(np.asarray(found.pull(points.turned_back(R))) + by_kk * diagonal_slopes(points.kernel, X, w))


def diagonal_slopes(kernel: Any, X: Array, w: Array) -> Array:
    """Σ w ∂k(x, x)/∂θ, noise included."""
    if kernel.is_stationary():
        return float(w.sum()) * np.asarray(evaluated(kernel, X[:1]).pull(np.ones((1, 1))))
    parts = [slice(one, one + FEW) for one in range(0, len(X), FEW)]
    return np.asarray(np.sum([evaluated(kernel, X[rows]).pull(np.diag(w[rows])) for rows in parts], axis=0))


# --- the bound ---


class Solved(NamedTuple):
    """F, and what it was found from."""

    bound: float
    points: Points
    sums: Sums
    noise: float  # v
    root: Array  # the lower triangular factor of B
    mean: Array  # B⁻¹ t: (m, q)


def solved(points: Points, sums: Sums, alpha: float) -> Solved | None:
    """None where there is no noise, or numbers overflow."""
    v, q = alpha + points.own, sums.zy.shape[1]
    if not v > 0:
        return None
    B = sums.zz / v
    B[np.diag_indices(len(B))] += 1.0
    root, fail = lapack.dpotrf(B, lower=1, clean=1)
    if fail or not np.isfinite(root).all():
        return None
    mean, _ = lapack.dpotrs(root, sums.zy, lower=1)
    bound = -0.5 * q * sums.weight * np.log(2 * np.pi * v) - q * float(np.log(np.diagonal(root)).sum())
    bound += -0.5 * sums.yy / v + 0.5 * float(np.vdot(sums.zy, mean)) / v**2
    bound -= 0.5 * q * max(sums.kk - float(np.trace(sums.zz)), 0.0) / v
    return Solved(bound, points, sums, v, np.asarray(root), np.asarray(mean)) if np.isfinite(bound) else None


def bound_at(kernel: Any, at: Array, alpha: float, scale: Scale) -> Learner[Solved | None]:
    """F at a kernel: one pass."""
    points = points_of(kernel, at, scale)
    if points is None:
        return None
    sums = yield partial(sums_of, points=points)
    return solved(points, sums, alpha)


def gradient_at(known: Solved) -> Learner[Array]:
    """∂F/∂θ: another pass."""
    _, points, sums, v, root, mean = known
    S, t, q, m = sums.zz, sums.zy, sums.zy.shape[1], len(points.at)
    inverse, _ = lapack.dpotri(root, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T  # B⁻¹
    learned = inverse @ S / v  # I − B⁻¹, with all digits where little was learned
    by_S = (0.25 * q / v) * (learned + learned.T) - (mean @ mean.T) / (2 * v**3)
    by_t, back = mean / v**2, points.inverse
    slopes = yield partial(slopes_of, points=points, by_zz=by_S, by_zy=by_t, by_kk=-0.5 * q / v)
    inner = S @ by_S
    inner = 0.5 * (inner + inner.T) + 0.25 * (t @ by_t.T + by_t @ t.T)
    W = -back.T @ inner @ back
    W[np.diag_indices(m)] += points.jitter * np.trace(W) / m
    apart = sums.kk - float(np.trace(S))
    by_noise = -0.5 * q * sums.weight / v + 0.5 * q * float(np.vdot(inverse, S)) / v**2 + 0.5 * sums.yy / v**2
    by_noise += -float(np.vdot(t, mean)) / v**3 + 0.5 * float(np.vdot(mean, S @ mean)) / v**4 + 0.5 * q * apart / v**2
    first = points.at[:1]
    one = np.ones((1, 1))
    own = np.asarray(evaluated(points.kernel, first).pull(one)) - np.asarray(between(points.kernel, first, first.copy()).pull(one))
    own = own * (by_noise + 0.5 * q / v * sums.weight)  # k(x, x) of the sums has no noise
    return np.asarray(slopes.along + np.asarray(between(points.kernel, points.at, points.at.copy()).pull(W)) + own)


# --- which points ---


def least_known(kernel: Any, X: Array, w: Array, most: int) -> Array:
    """Which rows: one after the other drawn with chances in proportion to their weight times the variance that those before leave them (a
    Cholesky factor with pivots at random), as long as there is any left. The largest variance would take the rim of the rows first."""
    left = np.asarray(kernel.diag(X), dtype=np.float64) - own_noise(kernel, X)
    least = SMALLEST_GAIN * float(left.max(initial=0.0))
    factor, chosen, rng = np.empty((len(X), min(most, len(X)))), list[int](), generator(0)
    for j in range(factor.shape[1]):
        reached = np.cumsum(w * left)
        if not reached[-1] > 0:
            break
        at = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
        column = between(kernel, X, X[at : at + 1]).K[:, 0] - factor[:, :j] @ factor[at, :j]
        factor[:, j] = column / np.sqrt(left[at])
        left = left - factor[:, j] ** 2
        left[left <= least] = 0.0
        left[at] = 0.0
        chosen.append(at)
    return np.array(chosen, dtype=np.int64)
