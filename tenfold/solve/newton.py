"""Smooth convex losses: quasi-Newton steps in the metric of a curvature that is renewed when that pays.

The minimiser is a generator: it yields the summary of a block that it wants (`Terms` at a trial point, with
or without curvature) and receives that summary of all rows, so each trial point costs exactly one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from tenfold.core.data import Array
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Terms
from tenfold.core.threads import patiently
from tenfold.solve.linalg import upper_triangle

MEMORY = 30  # pairs of (step, change of the gradient) that correct the metric
RENEWED = 5  # passes that a fresh metric is expected to need to the end
# Past the certificate, steps go on while they are cheap, so that the result does not depend on where it started:
# until the squared length of the next step in the metric is this share of Σ w.
FINE = 1e-18
ROUNDING = 1e-12  # a change of the loss below this share of it is noise
LEAST_EIGENVALUE = 1e-11  # of an equilibrated metric


class Loss(NamedTuple):
    """What is minimised over θ (K, q): Σ w loss(θ) + ½ Σ l2 θ².

    `terms(block, theta, curvature)` gives `Terms`; `curvature` is None or a shape that `Metric` knows.
    """

    terms: Callable[..., Terms]
    l2: Array  # (K, q), zero where a parameter is free
    first: str  # the curvature to begin with
    renewed: str  # the curvature to go on with
    cost: float  # passes that a renewed curvature costs


class Solution(NamedTuple):
    """Where the minimiser stopped."""

    theta: Array
    loss: float  # Σ w loss without the penalty
    weight: float  # Σ w
    certificate: float  # max |gradient| / Σ w
    converged: bool  # the certificate is below tol
    settled: bool  # and further steps would change nothing
    n_pass: int
    singular: bool  # the curvature was, to working precision
    curvature: Array | None = None  # the last that was asked for, of the loss without the penalty: near that at θ


class Metric:
    """H = curvature + diag(l2) for θ (K, q), with `solve(g)` = H⁻¹ g. Curvatures come in three shapes:

    "diagonal"  (K, q)
    "blocks"    (K, q, q)       without the products of different rows of θ
    "full"      (K, q, K, q)
    """

    def __init__(self, curvature: Array, l2: Array) -> None:
        K, q = l2.shape
        self.singular = False
        diagonal = {2: "kq->kq", 3: "kqq->kq", 4: "kqkq->kq"}[curvature.ndim]
        size = np.einsum(diagonal, curvature) + l2
        size[size <= 0] = 1.0  # a column of zeros, or an intercept that is not fitted
        if curvature.ndim == 4:
            curvature, size = _with_common_shift(curvature, size)
            curvature, size = curvature.reshape(1, K * q, K * q), size.reshape(1, K * q)
        self.scale = 1 / np.sqrt(size)
        blocks = curvature if curvature.ndim == 3 else ()
        self.factors = [self._factor(one, scale) for one, scale in zip(blocks, self.scale, strict=False)]

    def _factor(self, curvature: Array, scale: Array) -> Array:
        """Lower triangular L with the equilibrated H = L Lᵀ; where that is nearly singular, not quite H."""
        H = curvature * scale
        H *= scale[:, None]
        H.flat[:: len(H) + 1] = 1.0  # here the penalty enters: `scale` knows it
        L, fail = lapack.dpotrf(H, lower=1, clean=0)
        if not fail and np.einsum("qq->q", L).min() ** 2 > LEAST_EIGENVALUE:
            return np.asarray(L)
        self.singular = True
        values, vectors = patiently(np.linalg.eigh, H)
        values = np.maximum(values, LEAST_EIGENVALUE * values[-1])
        return upper_triangle((vectors * np.sqrt(values)).T).T  # one more L with L Lᵀ = V Λ Vᵀ

    def solve(self, g: Array) -> Array:
        z = g.reshape(self.scale.shape) * self.scale
        for row, L in zip(z, self.factors, strict=False):
            row[:] = lapack.dpotrs(L, row, lower=1)[0]
        z *= self.scale
        return np.asarray(z.reshape(g.shape))


def _with_common_shift(curvature: Array, size: Array) -> tuple[Array, Array]:
    """A shift common to all K rows of θ changes no probability and has no curvature: it is given some.

    The gradient has no part along that shift, so no other part of a step changes.
    """
    K, q = size.shape
    extra = size.mean(axis=0) / K
    curvature = curvature.copy()
    curvature[:, range(q), :, range(q)] += extra[:, None, None]
    return curvature, size + extra


def minimise(
    loss: Loss,
    start: Array,
    *,
    tol: float,
    max_iter: int,
    metric: Metric | None = None,
    fine: float = FINE,
    floor: float = 0.0,
) -> Learner[Solution]:
    """Minimise from `start` until max |gradient| / Σ w ≤ tol, and on while steps are cheap and help; at most max_iter trial steps.

    `floor`: stop as soon as the mean loss is below it, for losses without a minimum; 0 for none.
    """
    l2, theta, trial = loss.l2, start, start
    ask = loss.first if metric is None else None
    best, slope, damping = np.inf, 0.0, 1.0
    gradient = step = np.zeros_like(start)
    curvature: Array | None = None
    pairs: list[tuple[Array, Array, float]] = []
    track: list[tuple[int, float]] = []  # (pass, slope) since the metric was renewed
    renewals: list[float] = []  # slopes where it was
    n_pass, value, certificate, converged, settled = 0, np.inf, np.inf, False, False
    while n_pass <= max_iter:  # the first pass is that of the start
        s: Terms = yield partial(loss.terms, theta=trial, curvature=ask)
        n_pass += 1
        total = s.loss + 0.5 * float((l2 * trial * trial).sum())
        if not total <= best - 1e-4 * damping * slope + ROUNDING * abs(best):
            if damping * slope <= ROUNDING * abs(best) or damping < 1e-10:
                break  # no trial point can be distinguished from this one
            damping *= _shrink(total - best, damping * slope)
            trial, ask = theta - damping * step, None
            continue
        old, gradient = gradient, s.gradient + l2 * trial
        if s.curvature is not None:
            metric, pairs, track, curvature = Metric(s.curvature, l2), [], [], s.curvature
        elif n_pass > 1:
            _remember(pairs, trial - theta, gradient - old)
        assert metric is not None  # the first pass has no loss to compare with: it is accepted, and gives the metric
        theta, best, value = trial, total, s.loss
        step = _direction(gradient, pairs, metric)
        slope = float(np.vdot(step, gradient))
        track.append((n_pass, slope))
        if ask:
            renewals.append(slope)
        certificate = float(np.abs(gradient).max()) / s.weight
        note(certificate)
        end = fine * s.weight
        converged = certificate <= tol or slope <= end
        if slope <= end or (floor and value <= floor * s.weight) or (converged and _hopeless(track, renewals, loss.renewed, floor)):
            settled = slope <= end
            if settled:  # the last step is known and safe this close to the optimum: it costs no pass
                theta = theta - step
            break
        ask = loss.renewed if _renewal_pays(track, end, loss.cost) else None
        damping, trial = 1.0, theta - step
    return Solution(theta, value, s.weight, certificate, converged, settled, n_pass, metric is not None and metric.singular, curvature)


def _shrink(rise: float, slope: float) -> float:
    """Where the parabola through the two losses and the slope has its minimum, kept within 0.1 and 0.5."""
    if not np.isfinite(rise):
        return 0.1
    return min(max(0.5 * slope / (rise + slope), 0.1), 0.5)


def _remember(pairs: list[tuple[Array, Array, float]], moved: Array, change: Array) -> None:
    bend = float(np.vdot(moved, change))
    if bend > 1e-14 * float(np.linalg.norm(moved) * np.linalg.norm(change)):
        pairs.append((moved, change, 1 / bend))
        del pairs[:-MEMORY]


def _direction(gradient: Array, pairs: list[tuple[Array, Array, float]], metric: Metric) -> Array:
    """H⁻¹ g with H the metric corrected by the pairs: the two loops of L-BFGS.

    With several classes the gradient sums to zero over them, and so must the step: a shift common to all
    classes changes no probability.
    """
    g, shares = gradient.copy(), []
    for moved, change, inverse in reversed(pairs):
        shares.append(inverse * float(np.vdot(moved, g)))
        g -= shares[-1] * change
    z = metric.solve(g)
    for (moved, change, inverse), share in zip(pairs, reversed(shares), strict=True):
        z += (share - inverse * float(np.vdot(change, z))) * moved
    return z - z.mean(axis=0) if len(z) > 1 else z


def _hopeless(track: list[tuple[int, float]], renewals: list[float], renewed: str, floor: float) -> bool:
    """Whether more passes would help little: the last two renewals did not, or diagonals are all there is.

    Without a minimum (`floor`) the slope falls by e a step, for ever: at a minimum Newton's method is faster.
    """
    if renewed == "diagonal":
        return len(track) > 2 and track[-1][1] > 0.5 * track[-3][1]
    return len(renewals) > 2 and len(track) == 1 and renewals[-1] > (0.1 if floor else 0.5) * renewals[-3]


def _renewal_pays(track: list[tuple[int, float]], end: float, cost: float) -> bool:
    """Whether the passes left at the present rate are more than a curvature and its fast end would take."""
    if len(track) < 2:
        return cost <= 1  # as cheap as a pass: Newton's method
    (earlier, before), (now, slope) = track[-min(len(track), 4)], track[-1]
    rate = (slope / before) ** (1 / (now - earlier))
    return bool(rate >= 1 or np.log(end / slope) / np.log(rate) > cost + RENEWED)
