"""Descent on a convex risk, a pass over the rows for each point that is looked at: plain, by conjugate gradients, and by L-BFGS.

    min over θ of  Σ w loss(θ) / Σ w + Σ (½ l2 θ² + l1 |θ|)

Each solver is a generator: it yields the summary of a block (`Terms` at a point) and receives that of all rows. Its certificate is the
largest violation of the conditions of an optimum: max |gradient|, where θ = 0 under an L1 penalty max(0, |gradient| − l1). Only plain
descent takes an L1 penalty. Losses with a known curvature are done sooner by `solve.newton`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Terms

ENOUGH = 1e-4  # share of the fall that the slope promises which a step must have
FLATTER = 0.1  # share of the slope that may be left where a line search ends
ROUNDING = 1e-14  # a change below this share of the value is noise
TRIALS = 30  # points of one line search
IDLE = 3  # line searches that win nothing, neither in value nor in the certificate
LONGEST, SHORTEST = 10.0, 0.1  # how much longer or shorter a trial may be than the one before
MEMORY = 20  # pairs of L-BFGS


class Risk(NamedTuple):
    """What is minimised. `terms(block, theta=θ)` gives loss, gradient and weight of a block; prices are arrays like θ, or one number."""

    terms: Callable[..., Terms]
    l2: Array | float = 0.0
    l1: Array | float = 0.0

    def at(self, theta: Array) -> Learner[Point]:
        """The value there without the L1 penalty, and its gradient: one pass."""
        s: Terms = yield partial(self.terms, theta=theta)
        value = s.loss / s.weight + 0.5 * float((self.l2 * theta * theta).sum())
        return Point(theta, value, s.gradient / s.weight + self.l2 * theta)

    def cost(self, theta: Array) -> float:
        """The L1 penalty."""
        return float((self.l1 * np.abs(theta)).sum())

    def violation(self, at: Point) -> float:
        """How far a point is from being an optimum."""
        theta, g = at.theta, at.gradient
        inner = np.where(theta != 0, np.abs(g + self.l1 * np.sign(theta)), np.maximum(np.abs(g) - self.l1, 0.0))
        return float(inner.max(initial=0.0))


class Point(NamedTuple):
    """A point with its value and gradient."""

    theta: Array
    value: float
    gradient: Array


class Descended(NamedTuple):
    """Where a solver stopped."""

    theta: Array
    value: float  # with all penalties
    certificate: float
    converged: bool  # the certificate is at most tol
    n_pass: int


def gradient_descent(risk: Risk, start: Array, *, tol: float, max_iter: int) -> Learner[Descended]:
    """Steps down the gradient, thresholded where there is an L1 penalty; their length is that of Barzilai & Borwein 1988, shortened
    until the value falls enough (Beck & Teboulle 2009)."""
    at = yield from risk.at(start)
    best, n_pass = at.value + risk.cost(start), 1
    rate = 1.0 / max(float(np.linalg.norm(at.gradient)), 1e-300)
    while True:
        certificate = risk.violation(at)
        note(certificate)
        if certificate <= tol or n_pass >= max_iter:
            break
        for _ in range(TRIALS):
            theta = _threshold(at.theta - rate * at.gradient, rate * np.asarray(risk.l1))
            trial = yield from risk.at(theta)
            n_pass += 1
            moved = theta - at.theta
            value = trial.value + risk.cost(theta)
            if value <= best - ENOUGH / rate * float(np.vdot(moved, moved)) + ROUNDING * abs(best) or n_pass >= max_iter:
                break
            rate *= 0.3
        if not value <= best + ROUNDING * abs(best) or not moved.any():
            break
        change = trial.gradient - at.gradient
        bend, length = float(np.vdot(moved, change)), float(np.vdot(moved, moved))
        rate = length / bend if bend > 1e-16 * length else LONGEST * rate
        at, best = trial, value
    return Descended(at.theta, best, certificate, certificate <= tol, n_pass)


def _threshold(theta: Array, by: Array) -> Array:
    return np.asarray(np.sign(theta) * np.maximum(np.abs(theta) - by, 0.0))


def conjugate_gradients(risk: Risk, start: Array, *, tol: float, max_iter: int) -> Learner[Descended]:
    """A line search in each of directions that do not undo one another, d ← −g + β d with β of Polak & Ribière 1969, at least zero."""
    return (yield from _along(risk, start, Conjugate(), tol=tol, max_iter=max_iter))


def lbfgs(risk: Risk, start: Array, *, tol: float, max_iter: int) -> Learner[Descended]:
    """A line search in each direction −H g, with H the inverse of the curvature that the last steps tell of (Nocedal 1980)."""
    return (yield from _along(risk, start, Curved(), tol=tol, max_iter=max_iter))


class Conjugate:
    """Conjugate directions. Their lengths mean nothing: a search begins with the fall of the one before."""

    before: tuple[Array, Array] | None = None

    def next(self, at: Point) -> Array:
        d = -at.gradient
        if self.before is not None:
            g, last = self.before
            beta = max(0.0, float(np.vdot(at.gradient, at.gradient - g)) / max(float(np.vdot(g, g)), 1e-300))
            d = d + beta * last
        self.before = at.gradient, d
        return d

    def length(self, last: float, before: float, slope: float) -> float:
        return last * before / slope


class Curved:
    """Directions by the two loops of L-BFGS, which are as long as they should be."""

    def __init__(self) -> None:
        self.pairs: deque[tuple[Array, Array, float]] = deque(maxlen=MEMORY)
        self.before: Point | None = None

    def next(self, at: Point) -> Array:
        if self.before is not None:
            moved, change = at.theta - self.before.theta, at.gradient - self.before.gradient
            bend = float(np.vdot(moved, change))
            if bend > 1e-14 * float(np.linalg.norm(moved) * np.linalg.norm(change)):
                self.pairs.append((moved, change, 1 / bend))
        self.before = at
        g, shares = -at.gradient, []
        for moved, change, inverse in reversed(self.pairs):
            shares.append(inverse * float(np.vdot(moved, g)))
            g = g - shares[-1] * change
        if self.pairs:
            moved, change, inverse = self.pairs[-1]
            g = g / (inverse * float(np.vdot(change, change)))
        for (moved, change, inverse), share in zip(self.pairs, reversed(shares), strict=True):
            g = g + (share - inverse * float(np.vdot(change, g))) * moved
        return np.asarray(g)

    def length(self, last: float, before: float, slope: float) -> float:
        return 1.0


def _along(risk: Risk, start: Array, directions: Conjugate | Curved, *, tol: float, max_iter: int) -> Learner[Descended]:
    """A line search in one direction after the other."""
    at = yield from risk.at(start)
    n_pass, length, before, least, idle = 1, 0.0, 0.0, np.inf, 0
    while True:
        certificate = risk.violation(at)
        note(certificate)
        idle, least = 0 if certificate < least else idle, min(certificate, least)
        if certificate <= tol or n_pass >= max_iter or idle > IDLE:
            break
        d = directions.next(at)
        slope = float(np.vdot(d, at.gradient))
        if not slope < 0:
            directions.before, d = None, -at.gradient
            slope = float(np.vdot(d, at.gradient))
        first = directions.length(length, before, slope) if before else 1.0 / max(float(np.linalg.norm(d)), 1.0)
        found, length, trials = yield from _search(risk, at, d, slope, first, max_iter - n_pass)
        n_pass, before = n_pass + trials, slope
        if found is None:
            break
        idle += not found.value < at.value - ROUNDING * abs(at.value)
        at = found
    return Descended(at.theta, at.value, certificate, certificate <= tol, n_pass)


def _search(risk: Risk, at: Point, d: Array, slope: float, length: float, most: int) -> Learner[tuple[Point | None, float, int]]:
    """Where along d the value has fallen enough and the slope is flat (Wolfe 1969): by secants of the slope, kept within what is
    known to hold such a point. The best point seen where trials are used up; None where nothing is won."""
    best, taken, trials = None, 0.0, 0
    low, low_slope, high, high_slope = 0.0, slope, np.inf, 0.0
    while trials < min(TRIALS, most):
        point = yield from risk.at(at.theta + length * d)
        trials += 1
        now = float(np.vdot(d, point.gradient))
        if not point.value <= at.value + ENOUGH * length * slope + ROUNDING * abs(at.value):
            high, high_slope = length, now
        else:
            best, taken = point, length
            if abs(now) <= -FLATTER * slope:
                break
            if now > 0:
                high, high_slope = length, now
            else:
                low, low_slope = length, now
        if np.isinf(high):
            length *= LONGEST if not low_slope > slope else min(max(slope / (slope - low_slope), 2.0), LONGEST)
        else:
            share = low_slope / (low_slope - high_slope) if high_slope > low_slope else 0.5
            if trials % 3 == 0:  # secants of a slope that jumps may move one end alone
                share = SHORTEST if best is None else 0.5
            length = low + (high - low) * min(max(share, SHORTEST), 1 - SHORTEST)
    return best, taken, trials
