"""Smooth convex losses with an L1 penalty: Newton steps on the columns that matter.

    min over θ of  Σ w loss(θ) + ½ l2 Σ θ² + l1 Σ |θ|        θ = [W b], (K, p + 1); the constants b are not penalised

Near θ the loss is a parabola; with the penalty that is an elastic net, which `solve.coordinate` solves exactly. A column whose coefficients
are zero and whose gradient is within l1 stays out, so that only few columns ever get a curvature. Each trial point costs one pass.
Reference: Lee, Sun & Saunders 2014; working sets: Friedman, Hastie & Tibshirani 2010.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Terms
from tenfold.solve.coordinate import Products, descend, finish
from tenfold.solve.irls import spd_solve
from tenfold.solve.newton import FINE, ROUNDING, Solution

AT_ONCE = 256  # parameters up to which all columns are in from the beginning
FEWEST_NEW = 64  # columns that may join at once, where there are fewer
DAMPING = 1e-9  # of the curvature, relative to its diagonal: a metric does not move the minimum
SWEEPS = 1000
NEAR = 1e-6  # a tolerance from which on steps are exact


class Penalised(NamedTuple):
    """What is minimised. `terms(block, theta, columns)`: loss and gradient, and the curvature (K, c + 1, K, c + 1) of c columns and b."""

    terms: Callable[..., Terms]
    l1: float
    l2: float

    def penalty(self, theta: Array) -> float:
        W = theta[:, :-1]
        return 0.5 * self.l2 * float((W * W).sum()) + self.l1 * float(np.abs(W).sum())

    def slope(self, theta: Array, gradient: Array) -> Array:
        """The gradient of the loss and of the smooth part of the penalty."""
        return gradient + self.l2 * np.column_stack([theta[:, :-1], np.zeros(len(theta))])

    def violation(self, theta: Array, gradient: Array) -> Array:
        """How far each parameter is from optimality, in the unit of this gradient."""
        W, g = theta[:, :-1], gradient[:, :-1]
        inner = np.where(W != 0, np.abs(g + self.l1 * np.sign(W)), np.maximum(np.abs(g) - self.l1, 0.0))
        return np.column_stack([inner, np.abs(gradient[:, -1])])


def minimise_l1(problem: Penalised, start: Array, *, tol: float, max_iter: int) -> Learner[Solution]:
    """Minimise from `start` until no parameter is further than tol Σ w from optimality, and on while steps help; max_iter at most."""
    theta, trial, step = start, start, np.zeros_like(start)
    columns = np.arange(start.shape[1] - 1) if start.size <= AT_ONCE else _used(start)
    best, fall, damping, asked = np.inf, 0.0, 1.0, False
    n_steps, value, certificate, converged, settled = 0, np.inf, np.inf, False, False
    while True:
        s: Terms = yield partial(problem.terms, theta=trial, columns=columns)
        total = s.loss + problem.penalty(trial)
        if not total <= best - 1e-4 * damping * fall + ROUNDING * abs(best):
            if damping * fall <= ROUNDING * abs(best) or damping < 1e-10 or n_steps >= max_iter:
                break  # no trial point can be distinguished from this one
            damping, n_steps = 0.5 * damping, n_steps + 1
            trial = theta + damping * step
            continue
        theta, best, value = trial, total, s.loss
        gradient = problem.slope(theta, s.gradient)
        missed = problem.violation(theta, gradient)
        certificate = float(missed.max()) / s.weight
        note(certificate)
        converged = certificate <= tol
        outside = np.setdiff1d(np.flatnonzero(missed[:, :-1].max(axis=0, initial=0.0)), columns)
        if len(outside) and not asked:
            used = _used(theta)
            columns = used if len(columns) > 2 * len(used) + FEWEST_NEW else columns  # others have left
            columns, trial, asked, damping = _joined(columns, outside, missed, len(used)), theta, True, 0.0
            continue  # the curvature of those that join, at the same point
        assert s.curvature is not None
        last = fall if n_steps else best
        step, fall = _step(problem, theta, gradient, s.curvature, columns, last)
        if fall <= FINE * s.weight < last:  # a start that is near hides from a rough step what is left to gain
            step, fall = _step(problem, theta, gradient, s.curvature, columns, FINE * s.weight)
        if fall <= FINE * s.weight and len(outside):
            columns, trial, damping = _joined(columns, outside, missed, len(columns)), theta, 0.0
            continue
        settled = fall <= FINE * s.weight
        if settled or n_steps >= max_iter:
            theta, converged = theta + step if settled and fall > 0 else theta, converged or settled
            break
        n_steps, damping, asked, trial = n_steps + 1, 1.0, False, theta + step
    return Solution(theta, value, s.weight, certificate, converged, settled, n_steps, False)


def _used(theta: Array) -> Array:
    """The columns with coefficients."""
    return np.flatnonzero(np.any(theta[:, :-1], axis=0))


def _size(theta: Array) -> float:
    return float(np.abs(theta[:, :-1]).sum())


def _joined(columns: Array, outside: Array, missed: Array, most: int) -> Array:
    """The columns, and those outside that are furthest from optimality."""
    order = np.argsort(-missed[:, outside].max(axis=0), kind="stable")
    return np.union1d(columns, outside[order[: max(most, FEWEST_NEW)]])


def _step(
    problem: Penalised, theta: Array, gradient: Array, curvature: Array, columns: Array, fall: float
) -> tuple[Array, float]:
    """To the minimum of the parabola with its penalty, to a hundredth of `fall`, and by how much the objective falls there to first
    order. The constants, which are free, are eliminated first."""
    K, c = len(theta), len(columns)
    H = curvature.reshape(K * (c + 1), K * (c + 1))
    at = np.arange(K * (c + 1)).reshape(K, c + 1)
    inner, free = at[:, :-1].reshape(-1), at[:, -1]
    W, slope = theta[:, columns].reshape(-1), gradient[:, columns].reshape(-1)
    slope = slope - problem.l2 * W  # of the loss alone: the elastic net has the penalty
    across = H[np.ix_(free, inner)]
    inverse = np.linalg.pinv(H[np.ix_(free, free)], rcond=1e-13, hermitian=True)  # constants of all classes may shift together
    reached = inverse @ np.column_stack([across, gradient[:, -1]])
    G = H[np.ix_(inner, inner)] - across.T @ reached[:, :-1]
    G = 0.5 * (G + G.T)
    G.flat[:: len(G) + 1] *= 1 + DAMPING
    right = G @ W - (slope - across.T @ reached[:, -1])
    yy = float(right @ spd_solve(G, right)) if c else 0.0
    if yy > 0:
        net = Products(np.ascontiguousarray(G), right, yy)
        l1, l2 = np.array([problem.l1]), np.array([problem.l2])
        enough = min(max(0.01 * fall / yy, 1e-15), 0.01)
        found = descend(net, l1, l2, positive=False, tol=enough, most=SWEEPS, start=np.ascontiguousarray(W))[0]
        moved = (finish(net, problem.l1, problem.l2, found, False) if enough <= NEAR else found).w - W
    else:
        moved = -W
    step = np.zeros_like(theta)
    step[:, columns] = moved.reshape(K, c)
    step[:, -1] = -reached[:, -1] - reached[:, :-1] @ moved
    return step, -float(np.vdot(gradient, step)) + problem.l1 * (_size(theta) - _size(theta + step))
