"""The biweight ρ(u) = 1 − (1 − u²)³, 1 beyond |u| = 1: its scale, its start from random subsets, its minimum.

Rows are y ≈ z·θ, z = [x 1] (x alone without an intercept), in a frame in which columns have comparable sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import exp
from typing import NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Stats
from tenfold.solve.irls import SETTLED, Frame, Piece, Solution, spd_solve
from tenfold.solve.linalg import cholesky

HALF = 1.5476450  # ρ(e / HALF) is one half on average, for Gaussian e
SCREENED, POLISHED = 12, 3  # starts that are improved by two steps; and by ten, of which the best goes on
STEPS = 500
FEW_COLUMNS = 8  # up to so many parameters random subsets find clean rows


def scale_of(r: Array, w: Array, b: float, s: float = 0.0) -> float:
    """σ with Σ w ρ(r / HALF σ) = b Σ w, found near s: 0 where a share 1 − b of the rows fits exactly."""
    size = np.abs(r)
    floor = 1e-14 * float(size.max(initial=0.0))
    if float(w[size > floor].sum()) <= b * float(w.sum()):
        return 0.0
    s = s or weighted_median(size, w) / 0.6745 or float(size.max())
    for _ in range(200):
        step = _scale_step(*_scale_sums(size, w, s), b)
        s *= step
        if abs(step - 1) <= 1e-9:  # they converge quadratically: the next would change nothing
            break
    return s


def _scale_sums(size: Array, w: Array, s: float) -> tuple[float, float, float]:
    """Σ w ρ, Σ w ρ′(u) u and Σ w at u = size / (HALF s)."""
    u2 = np.minimum((size / (HALF * s)) ** 2, 1.0)
    rest = 1 - u2
    return float(w @ (1 - rest**3)), float(w @ (6 * u2 * rest**2)), float(w.sum())


def _scale_step(rho: float, pull: float, weight: float, b: float) -> float:
    """The factor of a Newton step in log σ, not far."""
    gap = rho / weight - b
    if pull <= 0:
        return 2.0 if gap > 0 else 0.5
    return exp(min(max(gap * weight / pull, -0.7), 0.7))


def weighted_median(values: Array, w: Array) -> float:
    """The smallest value at which half of the weight is reached."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(w[order])
    return float(values[order[np.searchsorted(reached, 0.5 * reached[-1])]])


# --- a start that no minority can move ----------------------------------------------------------------------


class Start(NamedTuple):
    """A fit, the scale of its residuals, and the mean of ρ that the scale stands for."""

    theta: Array
    scale: float
    b: float


def robust_start(Z: Array, y: Array, w: Array, rows: float, n_subsets: int, rng: np.random.Generator) -> Start:
    """θ of least biweight scale (an S-estimate): from the best of random subsets (Salibian-Barrera & Yohai 2006).

    The mean of ρ is ½ less its share of parameters, as in least squares: they make residuals smaller. Where
    columns depend on one another, the θ of least norm.
    """
    _, size, Vt = np.linalg.svd(np.linalg.qr(Z, mode="r"), full_matrices=False)
    kept = size > 1e-11 * size.max(initial=0.0)
    b = 0.5 * max(1 - kept.sum() / rows, 0.0)
    if not kept.any():
        return Start(np.zeros(Z.shape[1]), scale_of(y, w, b), b)
    if not kept.all() or len(size) < Z.shape[1]:
        found = robust_start(np.ascontiguousarray(Z @ Vt[kept].T), y, w, rows, n_subsets, rng)
        return found._replace(theta=Vt[kept].T @ found.theta)
    guesses = _through_subsets(Z, y, w, n_subsets, rng)
    if FEW_COLUMNS < Z.shape[1] <= len(Z) // 4:  # of fewer rows half can be fitted by anything
        guesses = np.vstack([guesses, *_without_the_sensitive(Z, y, w)])
    medians = _medians(np.abs(y - guesses @ Z.T), w)
    some = [_improved(Z, y, w, b, guesses[k], 2) for k in np.argsort(medians, kind="stable")[:SCREENED]]
    some = sorted(some, key=lambda one: one.scale)[:POLISHED]
    if some[0].scale == 0.0:
        return some[0]
    best = min((_improved(Z, y, w, b, one.theta, 10) for one in some), key=lambda one: one.scale)
    return _improved(Z, y, w, b, best.theta, STEPS)


def _medians(size: Array, w: Array) -> Array:
    """The weighted median of each row."""
    if (w == w[0]).all():
        middle = (size.shape[1] - 1) // 2
        return np.asarray(np.partition(size, middle, axis=1)[:, middle])
    return np.array([weighted_median(one, w) for one in size])


def _through_subsets(Z: Array, y: Array, w: Array, n_subsets: int, rng: np.random.Generator) -> Array:
    """(m, q): least squares of all rows, and exact fits of random subsets of q rows, where these determine one."""
    n, q = Z.shape
    root = np.sqrt(w)
    first = np.linalg.lstsq(Z * root[:, None], y * root, rcond=None)[0]
    # the q smallest of n exponential times: draws without replacement, chances as the weights
    times = rng.exponential(size=(n_subsets, n)) / w
    rows = np.sort(np.argpartition(times, q - 1, axis=1)[:, :q], axis=1)
    A = Z[rows]
    sound = np.abs(np.linalg.det(A / np.maximum(np.linalg.norm(A, axis=2, keepdims=True), 1e-300))) > 1e-12
    thetas = np.linalg.solve(A[sound], y[rows[sound]][:, :, None])[:, :, 0] if sound.any() else np.empty((0, q))
    return np.vstack([first, thetas])


def _without_the_sensitive(Z: Array, y: Array, w: Array) -> list[Array]:
    """Fits without the half of the rows to which least squares is most sensitive, along each direction of
    sensitivity, then again without the rows far from the best of them (Peña & Yohai 1999)."""
    use, found = np.ones(len(y), dtype=bool), []
    for _ in range(4):
        root = np.sqrt(w[use])
        Q = np.linalg.qr(Z[use] * root[:, None])[0]
        rest = y[use] * root - Q @ (Q.T @ (y[use] * root))
        pull = rest / np.maximum(1 - (Q**2).sum(axis=1), 1e-6)
        directions = np.linalg.eigh((Q * pull[:, None] ** 2).T @ Q)[1]
        along = (Q @ directions).T  # (q, n)
        here = np.flatnonzero(use)
        fits = []
        for values in [*along, *-along, *np.abs(along)]:
            kept = here[values <= np.median(values)]
            R = np.sqrt(w[kept])
            fits.append(_normal_equations(Z[kept] * R[:, None], y[kept] * R))
        thetas = np.array(fits)
        sizes = np.abs(y - thetas @ Z.T)
        medians = _medians(sizes, w)
        best = int(np.argmin(medians))
        found.append(thetas[np.argsort(medians, kind="stable")[:5]])
        then = sizes[best] <= 2.5 * max(medians[best], 1e-300) / 0.6745
        if (then == use).all() or then.sum() <= 2 * Z.shape[1]:
            break
        use = then
    return found


def _normal_equations(A: Array, b: Array) -> Array:
    G = A.T @ A
    size = np.sqrt(np.maximum(G.diagonal(), 1e-300))
    return np.asarray(spd_solve(G / size / size[:, None], (A.T @ b) / size) / size)


def _improved(Z: Array, y: Array, w: Array, b: float, theta: Array, steps: int) -> Start:
    """Re-weighted least squares, each step with the scale of its residuals: none raises the scale."""
    r = y - Z @ theta
    s = scale_of(r, w, b)
    for _ in range(steps):
        if s <= 0:
            break
        u2 = np.minimum((r / (HALF * s)) ** 2, 1.0)
        root = np.sqrt(w) * (1 - u2)
        new = _normal_equations(Z * root[:, None], y * root)
        rest = y - Z @ new
        then = scale_of(rest, w, b, s)
        if then >= s:
            break
        settled = then >= s * (1 - 1e-12)  # what θ still lacks is the root of that, but it only begins a search
        theta, r, s = new, rest, then
        if settled:
            break
    return Start(theta, s, b)


# --- over all rows ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ScaleSums(Stats):
    """Σ w ρ, Σ w ρ′(u) u and Σ w."""

    rho: float
    pull: float
    weight: float


def settle_scale(start: Start, frame: Frame) -> Learner[float]:
    """The scale of the residuals of all rows at the start."""
    s = start.scale
    for _ in range(40):
        sums: ScaleSums = yield partial(scale_terms, theta=start.theta, frame=frame, s=s)
        step = _scale_step(sums.rho, sums.pull, sums.weight, start.b)
        s *= step
        if abs(step - 1) <= 1e-9:
            break
    return s


def scale_terms(block: Block, theta: Array, frame: Frame, s: float) -> ScaleSums:
    X, y = frame.rows(block)
    return ScaleSums(*_scale_sums(np.abs(y - X @ theta[:-1] - theta[-1]), block.w, s))


def biweight_terms(block: Block, theta: Array, frame: Frame, c: float, newton: bool, fit_intercept: bool) -> Piece:
    """Σ w c²/6 ρ(r / c), its gradient in θ = [w b], and its curvature, or that of re-weighted least squares."""
    X, y = frame.rows(block)
    r = y - X @ theta[:-1] - theta[-1]
    u2 = np.minimum((r / c) ** 2, 1.0)
    rest = 1 - u2
    loss = c**2 / 6 * float(block.w @ (1 - rest**3))
    pull = -block.w * r * rest**2
    gradient = np.append(pull @ X, pull.sum())
    bend = block.w * rest * (1 - 5 * u2 if newton else rest)
    H = ops.weighted_gram(X, np.maximum(bend, 0.0))
    if newton and (bend < 0).any():
        down = np.flatnonzero(bend < 0)
        H = H - ops.weighted_gram(np.ascontiguousarray(X[down]), -bend[down])
    if not fit_intercept:
        gradient[-1] = 0.0
        H[-1] = H[:, -1] = 0.0
    return Piece(loss, gradient, H, float(block.w.sum()))


NEAR = 0.1  # of a scale: steps shorter than this are followed by Newton's


def descend(
    theta: Array, frame: Frame, c: float, fit_intercept: bool, *, tol: float, max_iter: int
) -> Learner[Solution]:
    """The minimum of Σ w ρ(r / c) below this start: re-weighted least squares, which never climbs, then Newton steps.

    Each trial costs one pass. The scale is one in this frame.
    """
    trial, best, newton, risky, certificate = theta, np.inf, False, False, np.inf
    for n_pass in range(1, max_iter + 1):
        s: Piece = yield partial(biweight_terms, theta=trial, frame=frame, c=c, newton=newton, fit_intercept=fit_intercept)
        if s.loss > best * (1 + 1e-14):
            if not risky:
                return Solution(theta, best, certificate, certificate <= tol, n_pass)
            trial, newton, best = theta, False, np.inf  # Newton's step climbed: back
            continue
        theta, best = trial, s.loss
        certificate = float(np.abs(s.gradient).max()) / s.weight
        note(certificate)
        H = s.curvature + 1e-12 * s.weight * np.eye(len(theta))
        if newton and cholesky(H) is None:
            newton, best = False, np.inf
            continue
        step = spd_solve(H, s.gradient)
        if float(step @ s.gradient) <= SETTLED * abs(best):
            return Solution(theta - step, best, certificate, True, n_pass)
        trial, risky, newton = theta - step, newton, float(np.abs(step).max()) < NEAR
    return Solution(theta, best, certificate, certificate <= tol, max_iter)
