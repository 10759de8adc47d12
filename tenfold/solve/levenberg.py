"""Non-linear least squares: Levenberg-Marquardt as a trust region, and Gauss-Newton with halved steps.

    minimise  F(b) = Σ wᵢ s² ρ(rᵢ(b)² / s²)      under  lower ≤ b ≤ upper

With ρ(z) = z these are least squares; other ρ give less weight to large residuals. One decomposition of the
scaled Jacobian serves all damping factors, and squares of the condition number never occur.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array

EPS = float(np.finfo(float).eps)
# First radius of the trust region, as a multiple of the scaled start: a wide one is quick, the narrow ones
# are tried where the wide one ran to a place at which a parameter no longer matters.
RADII = (100.0, 1.0, 0.1, 0.01)
STUCK = 1e-3  # where F falls no more although the certificate is above this, there is no optimum
POLISH = 12  # undamped steps after F has no more digits to give: the gradient still has some

Residuals = Callable[[Array], Array]
Jacobian = Callable[[Array], Array]


def _linear(z: Array) -> tuple[Array, Array, Array]:
    return z, np.ones_like(z), np.zeros_like(z)


def _soft_l1(z: Array) -> tuple[Array, Array, Array]:
    root = np.sqrt(1 + z)
    return 2 * z / (1 + root), 1 / root, -0.5 / root**3


def _huber(z: Array) -> tuple[Array, Array, Array]:
    far, safe = z > 1, np.maximum(z, 1.0)
    root = np.sqrt(safe)
    return np.where(far, 2 * root - 1, z), np.where(far, 1 / root, 1.0), np.where(far, -0.5 / root**3, 0.0)


def _cauchy(z: Array) -> tuple[Array, Array, Array]:
    return np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2


def _arctan(z: Array) -> tuple[Array, Array, Array]:
    square = 1 + z**2
    return np.arctan(z), 1 / square, -2 * z / square**2


# ρ, ρ' and ρ'' of z = r² / s².
LOSSES = {"linear": _linear, "soft_l1": _soft_l1, "huber": _huber, "cauchy": _cauchy, "arctan": _arctan}


@dataclass
class Problem:
    """What is minimised, and where the parameters may be."""

    residuals: Residuals  # r(b), (n,); a value that is not finite means that b cannot be used
    jacobian: Jacobian  # ∂r/∂b, (n, k)
    w: Array  # (n,)
    lower: Array
    upper: Array
    loss: str = "linear"
    scale: float = 1.0  # s
    rounding: float = 0.0  # F of residuals that are rounding errors

    def cost(self, r: Array) -> float:
        """F; infinite where a residual is not a number."""
        if not np.isfinite(r).all():
            return np.inf
        total = float(self.w @ self.rho(r)[0]) * self.scale**2
        return total if np.isfinite(total) else np.inf

    def rho(self, r: Array) -> tuple[Array, Array, Array]:
        with np.errstate(over="ignore"):
            return LOSSES[self.loss]((r / self.scale) ** 2)

    def weighted(self, r: Array, J: Array) -> tuple[Array, Array]:
        """√(w ρ') r and √(w ρ') J: as plain least squares they have the gradient of F."""
        root = np.sqrt(self.w * self.rho(r)[1])
        return root * r, root[:, None] * J


@dataclass
class Point:
    """A point of the search, with its residuals, Jacobian and the certificate of an optimum."""

    b: Array
    r: Array
    J: Array
    cost: float
    free: Array  # parameters not held by a bound
    certificate: float  # length of the tangent part of the residuals over their length
    n_iter: int = 0
    converged: bool = False


def least_squares(problem: Problem, start: Array, *, damped: bool, tol: float, max_iter: int) -> Point:
    """The best point found. Where a search loses a parameter, it is begun again with shorter steps."""
    best: Point | None = None
    steps = 0
    for radius in RADII if damped else RADII[:1]:
        found = _search(problem, start, radius, damped, tol, max_iter)
        steps += found.n_iter
        if best is None or found.cost < best.cost * (1 - 1e-9) or (found.converged and not best.converged):
            best = found
        if found.converged and not _lost(problem, found).any():
            break
    assert best is not None
    best.n_iter = steps
    return best


def _lost(problem: Problem, at: Point) -> Array:
    """Parameters that could change by their own size and move the fit by a millionth of its error."""
    r, J = problem.weighted(at.r, at.J)
    moved = np.linalg.norm(J, axis=0) * np.abs(at.b)
    return np.asarray(at.free & (moved <= 1e-6 * np.linalg.norm(r)) & (at.b != 0))


def _search(problem: Problem, start: Array, radius: float, damped: bool, tol: float, max_iter: int) -> Point:
    at = _point(problem, np.clip(start, problem.lower, problem.upper))
    scale = _column_scale(problem, at, np.zeros(len(at.b)))
    reach = radius * (float(np.linalg.norm(scale * at.b)) or 1.0)
    quiet = 0  # steps in a row that gain nothing that F can show
    for n_iter in range(1, max_iter + 1):
        at.n_iter = n_iter
        if at.certificate <= tol or not at.free.any():
            at.converged = True
            break
        step, predicted = _step(problem, at, scale, reach if damped else np.inf)
        length = float(np.linalg.norm(scale * step))
        if predicted <= 4 * EPS * at.cost or length <= EPS * float(np.linalg.norm(scale * at.b)):
            at.converged = True
            break
        new, gain = _try(problem, at, step)
        ratio = gain / predicted if np.isfinite(gain) else -1.0
        if not damped:  # Gauss-Newton: halve until F falls
            for _ in range(60):
                if ratio > 1e-4:
                    break
                step, predicted = step / 2, predicted / 2
                new, gain = _try(problem, at, step)
                ratio = gain / predicted if np.isfinite(gain) else -1.0
            else:
                break
        elif ratio < 0.25:
            reach = min(length, reach) * (0.5 if ratio > 0 else 0.1 if not np.isfinite(gain) else 0.25)
        elif ratio > 0.75 or reach > 2 * length:
            reach = max(reach, 2 * length) if ratio > 0.75 else 2 * length
        if ratio > 1e-4:
            quiet = quiet + 1 if gain <= 1e-13 * at.cost else 0
            at = _point(problem, new, n_iter)
            scale = _column_scale(problem, at, scale)
        elif reach <= EPS * float(np.linalg.norm(scale * at.b)):
            quiet = 3
        if quiet >= 3:  # at a pole or a kink F cannot fall either, but the certificate shows it, unless all it sees are rounding errors
            at.converged = at.certificate <= STUCK or at.certificate**2 * at.cost <= problem.rounding
            break
    return _polish(problem, at, scale) if at.converged else at


def _try(problem: Problem, at: Point, step: Array) -> tuple[Array, float]:
    """The point a step leads to, kept within the bounds, and what F gains there."""
    new = np.clip(at.b + step, problem.lower, problem.upper)
    return new, at.cost - problem.cost(problem.residuals(new))


def _point(problem: Problem, b: Array, n_iter: int = 0) -> Point:
    r, J = problem.residuals(b), problem.jacobian(b)
    rw, Jw = problem.weighted(r, J)
    gradient = Jw.T @ rw
    held = ((b <= problem.lower) & (gradient >= 0)) | ((b >= problem.upper) & (gradient <= 0))
    size = float(np.linalg.norm(rw))
    if size == 0 or held.all():
        certificate = 0.0
    else:
        tangent, values, _ = _svd(Jw[:, ~held])
        kept = values > EPS * len(b) * values[0]
        certificate = float(np.linalg.norm(tangent[:, kept].T @ rw)) / size
    return Point(b, r, J, problem.cost(r), ~held, certificate, n_iter)


def _svd(J: Array) -> tuple[Array, Array, Array]:
    """Singular value decomposition with columns brought to length one, so that units do not count."""
    size = np.linalg.norm(J, axis=0)
    return np.linalg.svd(J / np.where(size > 0, size, 1.0), full_matrices=False)


def _column_scale(problem: Problem, at: Point, before: Array) -> Array:
    """Marquardt's scaling in Moré's form: the largest length that each column of the Jacobian has had."""
    size = np.linalg.norm(problem.weighted(at.r, at.J)[1], axis=0)
    size = np.maximum(before, size)
    return np.where(size > 0, size, 1.0)


def _step(problem: Problem, at: Point, scale: Array, reach: float) -> tuple[Array, float]:
    """The best step of the linear model with ‖scale · step‖ ≤ reach, and the fall of F that it promises."""
    r, J = problem.weighted(at.r, at.J)
    D = scale[at.free]
    U, s, Vt = np.linalg.svd(J[:, at.free] / D, full_matrices=False)
    c = U.T @ r
    kept = s > EPS * len(s) * s[0]
    c, s, Vt = c[kept], s[kept], Vt[kept]
    damping = _damping(c, s, reach)
    step = np.zeros(len(at.b))
    step[at.free] = -(Vt.T @ (c * s / (s**2 + damping))) / D
    inside = np.clip(at.b + step, problem.lower, problem.upper)
    if np.array_equal(inside, at.b + step):
        return step, float(np.sum((c * s / (s**2 + damping)) ** 2 * (s**2 + 2 * damping)))
    predicted = float(r @ r - np.sum((r + J @ (inside - at.b)) ** 2))
    if predicted > 0:
        return inside - at.b, predicted
    return _along_gradient(problem, at, r, J, D, reach)


def _along_gradient(problem: Problem, at: Point, r: Array, J: Array, D: Array, reach: float) -> tuple[Array, float]:
    """Down the gradient, bent along the bounds: promises a fall where a step cut off by a bound does not."""
    direction = np.zeros(len(at.b))
    direction[at.free] = -(J.T @ r)[at.free] / D**2
    length = min(1.0, reach / max(float(np.linalg.norm(D * direction[at.free])), 1e-300))
    for _ in range(60):
        inside = np.clip(at.b + length * direction, problem.lower, problem.upper) - at.b
        predicted = float(r @ r - np.sum((r + J @ inside) ** 2))
        if predicted > 0:
            break
        length /= 2
    return inside, max(predicted, 0.0)


def _damping(c: Array, s: Array, reach: float) -> float:
    """λ ≥ 0 with ‖c s / (s² + λ)‖ = reach, or 0 where the undamped step is short (Hebden's iteration)."""

    def length(damping: float) -> float:
        return float(np.linalg.norm(c * s / (s**2 + damping)))

    if length(0.0) <= 1.1 * reach:
        return 0.0
    low, high = 0.0, float(np.linalg.norm(c * s)) / reach
    damping = max(1e-3 * high, float(np.sqrt(EPS)) * float(s[-1]) ** 2)
    for _ in range(50):
        now = length(damping)
        if abs(now - reach) <= 0.1 * reach:
            break
        low, high = (damping, high) if now > reach else (low, damping)
        slope = -float(np.sum((c * s) ** 2 / (s**2 + damping) ** 3)) / now
        damping -= (now - reach) / reach * now / slope
        if not low < damping < high:
            damping = max(1e-3 * high, float(np.sqrt(low * high)))
    return damping


def _polish(problem: Problem, at: Point, scale: Array) -> Point:
    """Undamped steps as long as the certificate falls: F is flat to half the digits, its gradient is not."""
    for _ in range(POLISH):
        if at.certificate <= EPS or not at.free.any():
            break
        step, _ = _step(problem, at, scale, np.inf)
        new = np.clip(at.b + step, problem.lower, problem.upper)
        r = problem.residuals(new)
        if not problem.cost(r) <= at.cost * (1 + 1e-9) + 1e-300:
            break
        then = _point(problem, new, at.n_iter + 1)
        if not then.certificate < at.certificate:
            break
        then.converged = True
        at = then
    return at


def covariance(J: Array) -> tuple[Array, int]:
    """(JᵀJ)⁻¹ and the rank of J; directions that J does not see are left out."""
    size = np.linalg.norm(J, axis=0)
    size = np.where(size > 0, size, 1.0)
    _, s, Vt = np.linalg.svd(J / size, full_matrices=False)
    kept = s > EPS * max(J.shape) * s[0] if len(s) else np.zeros(0, dtype=bool)
    W = Vt[kept].T / s[kept] / size[:, None]
    return W @ W.T, int(kept.sum())


def difference(function: Callable[[Array], Any], b: Array, lower: Array, upper: Array, typical: Array) -> Array:
    """Jacobian by central differences; one-sided of second order where a bound is near.

    The step goes with the size of a parameter, or with its `typical` size where it happens to pass zero.
    """
    columns = []
    for j in range(len(b)):
        h = EPS ** (1 / 3) * max(abs(b[j]), 0.01 * typical[j])
        h = (b[j] + h) - b[j]
        e = np.zeros(len(b))
        e[j] = h
        if b[j] + h <= upper[j] and b[j] - h >= lower[j]:
            columns.append((function(b + e) - function(b - e)) / (2 * h))
            continue
        e = e if b[j] + 2 * h <= upper[j] else -e
        columns.append((4 * function(b + e) - 3 * function(b) - function(b + 2 * e)) / (2 * e[j]))
    return np.column_stack(columns)


def complex_step(function: Callable[[Array], Any], b: Array) -> Array:
    """Jacobian as Im f(b + i h eⱼ) / h, exact to rounding: no digits cancel."""
    columns = []
    for j in range(len(b)):
        h = 1e-30 * max(abs(b[j]), 1e-3)
        z = b.astype(complex)
        z[j] += 1j * h
        columns.append(np.imag(function(z)) / h)
    return np.column_stack(columns)
