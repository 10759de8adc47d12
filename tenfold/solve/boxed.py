"""A minimum between bounds, where a value is a pass over the rows and a gradient another: quasi-Newton steps for a few parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.learning import Learner
from tenfold.core.monitor import note

ENOUGH = 1e-4  # share of the fall that the slope promises which a step must have
LONGEST = 2.0  # of a step, in any parameter
TRIALS = 20  # shorter ones of the same step
ValueAt = Callable[[Array], Learner[tuple[float, Any]]]  # the value at a point, and what its gradient will be found from


class Boxed(NamedTuple):
    """Where it ended."""

    theta: Array
    value: float
    known: Any  # what was found there
    curvature: Array  # what the steps have told of it
    converged: bool


def minimum(
    value_at: ValueAt,
    gradient_at: Callable[[Any], Learner[Array]],
    start: Array,
    bounds: Array,
    *,
    curvature: Array | None = None,
    tol: float = 1e-9,
    max_iter: int = 100,
) -> Learner[Boxed]:
    """Steps −C⁻¹ g in the parameters that are not held at a bound, shortened until the value falls enough; the curvature C by the formula
    of Broyden, Fletcher, Goldfarb & Shanno, from `curvature` where something is known of it. Ends where a step promises less than
    tol. A value that is not finite is no place to be."""
    low, high = (bounds[:, 0], bounds[:, 1]) if len(start) else (np.empty(0), np.empty(0))
    theta = np.clip(start, low, high)
    value, known = yield from value_at(theta)
    C, fresh = (np.eye(len(theta)), True) if curvature is None else (curvature.copy(), False)
    if not np.isfinite(value) or not len(theta):
        return Boxed(theta, value, known, C, not len(theta))
    gradient = yield from gradient_at(known)
    for _ in range(max_iter):
        free = ~(((theta <= low) & (gradient > 0)) | ((theta >= high) & (gradient < 0)))
        step = np.zeros_like(theta)
        step[free] = -np.linalg.solve(C[np.ix_(free, free)], gradient[free])
        promised = -float(gradient @ step)
        note(promised)
        if promised <= tol and (not fresh or np.abs(gradient[free]).max(initial=0.0) <= np.sqrt(tol)):
            return Boxed(theta, value, known, C, True)
        if fresh:
            step /= max(float(np.linalg.norm(step)), 1e-300)
        step *= min(1.0, LONGEST / float(np.abs(step).max()))
        taken = yield from _shortened(value_at, theta, value, gradient, step, low, high)
        if taken is None:
            return Boxed(theta, value, known, C, promised <= np.sqrt(tol))
        place, value, known = taken
        before, gradient = gradient, (yield from gradient_at(known))
        C, fresh = _updated(C, place - theta, gradient - before, fresh)
        theta = place
    return Boxed(theta, value, known, C, False)


def _shortened(
    value_at: ValueAt, theta: Array, value: float, gradient: Array, step: Array, low: Array, high: Array
) -> Learner[tuple[Array, float, Any] | None]:
    """The first point along a step, bent at the bounds, that is low enough; None where none is."""
    length = 1.0
    for _ in range(TRIALS):
        place = np.clip(theta + length * step, low, high)
        slope = float(gradient @ (place - theta))
        if not slope < 0:
            return None
        there, known = yield from value_at(place)
        if there <= value + ENOUGH * slope:
            return place, there, known
        curved = there - value - slope
        length *= min(max(-0.5 * slope / curved, 0.1), 0.5) if np.isfinite(there) and curved > 0 else 0.25
    return None


def _updated(C: Array, moved: Array, change: Array, fresh: bool) -> tuple[Array, bool]:
    bend = float(moved @ change)
    if bend <= 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(change)):
        return C, fresh
    if fresh:
        C = np.eye(len(C)) * (float(change @ change) / bend)
    along = C @ moved
    return C - np.outer(along, along) / float(moved @ along) + np.outer(change, change) / bend, False
