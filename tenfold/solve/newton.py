"""Newton's method for a smooth convex loss, as a generator: each trial point costs exactly one pass over the rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.core.errors import NotConverged
from tenfold.core.monitor import note
from tenfold.core.stats import Terms

Array = np.ndarray[Any, Any]
# (block, theta) -> Terms
TermsAt = Callable[..., Terms]


class Problem(NamedTuple):
    """What is minimised: Σ w loss(θ) + ½ Σ l2 θ². `solve(curvature, gradient)` is the step H⁻¹ g."""

    terms: TermsAt
    l2: Array  # one value for each parameter, zero where it is free
    solve: Callable[[Array, Array], Array]


class Solution(NamedTuple):
    theta: Array
    loss: float  # with the penalty
    certificate: float  # max |gradient| / Σ w
    n_pass: int


def newton(problem: Problem, start: Array, tol: float, max_iter: int) -> Generator[Any, Terms, Solution]:
    """Damped Newton from `start` until the certificate is below `tol` and the next step would change nothing."""
    theta, step = start, np.zeros_like(start)
    best, slope, certificate = np.inf, 0.0, np.inf
    damping, n_pass = 1.0, 0
    for n_pass in range(1, max_iter + 1):
        trial = theta - damping * step
        s = yield partial(problem.terms, theta=trial)
        loss = s.loss + 0.5 * float((problem.l2 * trial * trial).sum())
        if not loss <= best - 1e-4 * damping * slope + 1e-13 * abs(best):  # also when it is NaN
            damping /= 4
            if damping < 1e-6:
                break
            continue
        theta, best, damping = trial, loss, 1.0
        gradient = s.gradient + problem.l2 * theta
        certificate = float(np.abs(gradient).max()) / s.weight
        note(certificate)
        step = problem.solve(s.curvature, gradient)
        slope = float((step * gradient).sum())
        if certificate <= tol and slope <= 1e-18 * s.weight:
            break
    if certificate > tol:
        warnings.warn(f"the gradient is {certificate:.2g} after {n_pass} passes, above tol={tol:g}: "
                      "raise max_iter, scale the columns, or lower C", NotConverged, stacklevel=2)
    return Solution(theta, best, certificate, n_pass)
