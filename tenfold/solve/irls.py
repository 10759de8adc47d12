"""Robust fits of y ≈ z·θ, z = [x 1]: sums over blocks at one θ, and the minimisers that ask for them.

The columns are centred and scaled by the caller's `Frame`, so that tolerances mean the same for all units.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Counts, Moments, Stats
from tenfold.solve.linalg import cholesky, cholesky_solve, eigh

HALVINGS = 30  # of a step that does not lower the objective
BLURRED = 1e-6  # a scale from differences of sums has digits only above this, relative to the spread of y
SETTLED = 1e-22  # the squared length of a Newton step, relative to the objective, that changes nothing


class Frame(NamedTuple):
    """Centre and size of the columns of X and of y, from their moments."""

    mean: Array  # (p,)
    size: Array  # (p,)
    y_mean: float
    y_size: float

    def rows(self, block: Block) -> tuple[Array, Array]:
        """X and y of a block in this frame."""
        X = ops.standardized(ops.dense(block.X), self.mean, self.size)
        return X, (block.y[:, 0] - self.y_mean) / self.y_size

    def coefficients(self, theta: Array) -> tuple[Array, float]:
        """w and b in the units of the table, from θ = [w b] in this frame."""
        w = theta[:-1] * self.y_size / self.size
        return w, theta[-1] * self.y_size + self.y_mean - w @ self.mean

    def inside(self, coef: Array, intercept: float) -> Array:
        """θ = [w b] in this frame, from w and b in the units of the table."""
        w = np.asarray(coef, dtype=np.float64)
        return np.append(w * self.size, intercept - self.y_mean + w @ self.mean) / self.y_size


def frame_of(stats: Moments, fit_intercept: bool) -> Frame:
    """Without an intercept nothing is shifted."""
    mean = stats.mean if fit_intercept else np.zeros_like(stats.mean)
    squares = np.diagonal(stats.scatter) / stats.weight + (0.0 if fit_intercept else stats.mean**2)
    size = np.sqrt(squares)
    size = np.where(size > 1e-13 * np.abs(stats.mean), size, 1.0)
    size = np.where(size > 1e-100, size, 1.0)
    return Frame(mean[:-1], size[:-1], float(mean[-1]), float(size[-1]))


def start_of(stats: Moments, frame: Frame, fit_intercept: bool) -> tuple[Array, float]:
    """Least squares in the frame, θ = [w b], and the root mean square of its residuals."""
    S = stats.scatter if fit_intercept else stats.scatter + stats.weight * np.outer(stats.mean, stats.mean)
    size = np.append(frame.size, frame.y_size)
    S = S / size / size[:, None] / stats.weight
    w = spd_solve(S[:-1, :-1], S[:-1, -1])
    rest = S[-1, -1] + w @ (S[:-1, :-1] @ w - 2 * S[:-1, -1])
    return np.append(w, 0.0), float(np.sqrt(max(rest, 0.0)))


def settled_scale(theta: Array, scale: float, frame: Frame) -> Learner[float]:
    """The root mean square of the residuals; where sums cannot separate it from rounding, from the residuals themselves."""
    if scale > BLURRED:
        return scale
    sums: Counts = yield partial(_squares, theta=theta, frame=frame)
    return float(np.sqrt(sums.weight[0] / sums.weight[1]))


def _squares(block: Block, theta: Array, frame: Frame) -> Counts:
    X, y = frame.rows(block)
    return Counts(np.array([block.w @ (y - X @ theta[:-1] - theta[-1]) ** 2, block.w.sum()]))


def spd_solve(A: Array, b: Array) -> Array:
    """A⁻¹ b for A ⪰ 0, of least norm where A is singular."""
    L = cholesky(A)
    if L is not None and np.diagonal(L).min(initial=1.0) ** 2 > max(1e-13 * np.abs(A).max(initial=0.0), 1e-300):
        return cholesky_solve(L, b)
    values, vectors = eigh(A)
    keep = values > 1e-13 * max(values.max(initial=0.0), 1e-300)
    return np.asarray(vectors[:, keep] @ ((vectors[:, keep].T @ b) / values[keep]))


@dataclass(slots=True)
class Piece(Stats):
    """Of an objective at one point: its value, gradient and curvature, and Σ w."""

    loss: float
    gradient: Array
    curvature: Array
    weight: float


class Solution(NamedTuple):
    """Where a minimiser stopped."""

    theta: Array
    loss: float
    certificate: float
    converged: bool
    n_pass: int


def newton(
    terms: Any,
    start: Array,
    quadratic: Array,
    *,
    tol: float,
    max_iter: int,
    scale: bool = False,
    floor: float = 1e-12,
) -> Learner[Solution]:
    """Minimise Σ terms(θ) + ½ Σ quadratic θ², convex with a continuous gradient, by Newton steps,
    halved until the objective falls. With `scale` the last entry of θ is a scale, which stays positive.
    `floor` is the least curvature for each unit of weight.

    Each of at most max_iter trial steps costs one pass, and so does the start. Steps go on past `tol` until they change nothing.
    """
    theta, trial, step = start, start, np.zeros_like(start)
    best, slope, damping, certificate, halved = np.inf, 0.0, 1.0, np.inf, 0
    for n_pass in range(1, max_iter + 2):
        s: Piece = yield partial(terms, theta=trial)
        total = s.loss + 0.5 * float(quadratic @ trial**2)
        if total > best - 1e-4 * damping * slope + 1e-14 * abs(best):
            if slope <= 1e-13 * abs(best) or halved >= HALVINGS:
                return Solution(theta, best, certificate, certificate <= tol or slope <= 1e-13 * abs(best), n_pass)
            halved += 1
            damping *= min(max(0.5 * slope * damping / (total - best + slope * damping), 0.1), 0.5)
            trial = theta - damping * step
            continue
        theta, best, damping, halved = trial, total, 1.0, 0
        gradient = s.gradient + quadratic * theta
        certificate = float(np.abs(gradient).max()) / s.weight
        note(certificate)
        step = spd_solve(s.curvature + np.diag(quadratic + floor * s.weight), gradient)
        slope = float(step @ gradient)
        if slope <= SETTLED * abs(best):
            return Solution(theta - step, best, certificate, True, n_pass)
        if scale and step[-1] >= 0.9 * theta[-1]:
            step = step * (0.9 * theta[-1] / step[-1])
            slope = float(step @ gradient)
        trial = theta - step
    return Solution(theta, best, certificate, certificate <= tol, max_iter + 1)
