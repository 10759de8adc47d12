"""The posterior of logistic regression by Laplace's method, and the precision of the prior that makes the labels most probable.

With the prior N(0, I/λ) of the weights and a broad one of the constants, together of precisions Λ, the posterior is nearly normal about
its peak θ̂:

    Σ⁻¹ = H = curvature of Σ s log(1 / P(y | x, θ)) at θ̂, plus Λ
    log p(y | λ) ≈ Σ s log P(y | x, θ̂) − ½ θ̂ᵀΛθ̂ + ½ log det Λ − ½ log det H

Its derivative by t = log λ is known exactly, and its zero is found: with d weights ŵ and δ = dθ̂/dt = −Σ λŵ it is

    ½ (d − λ‖ŵ‖² − λ tr Σ_ww − tr(Σ dH/dθ[δ]))

Reference: MacKay 1992; Bishop 2006, 4.4 and 4.5; Rasmussen & Williams 2006, 5.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.base.estimator import softmax
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput
from tenfold.core.learning import Learner
from tenfold.core.stats import Stats
from tenfold.linear.logistic import curvatures_of
from tenfold.linear.logistic_terms import Setting, many_classes, two_classes
from tenfold.solve.linalg import cholesky, cholesky_solve
from tenfold.solve.newton import Loss, Metric, minimise

WIDEST = 23.0  # log λ is sought within a factor 1e10 of where it is begun
DIGITS = 1e-11  # of log λ


class Problem(NamedTuple):
    """Rows and their loss."""

    setting: Setting
    shape: tuple[int, int]  # of θ: a row for two classes, else one for each; the constant last
    constant: float  # precision of the prior of the constants
    tol: float
    max_iter: int

    @property
    def terms(self) -> Any:
        return partial(two_classes if self.shape[0] == 1 else many_classes, setting=self.setting)

    def precisions(self, precision: float) -> Array:
        """Λ, of the shape of θ."""
        found = np.full(self.shape, precision)
        found[:, -1] = self.constant
        return found


class Peak(NamedTuple):
    """A normal approximation of the posterior."""

    precision: float  # λ
    theta: Array
    sigma: Array  # (θ.size, θ.size)
    log_evidence: float
    curvature: Array  # of the loss at θ
    n_pass: int
    converged: bool


def inverse_of(H: Array) -> tuple[Array, float]:
    """H⁻¹ and log det H of a positive definite H."""
    scale = np.sqrt(np.diagonal(H))
    L = cholesky(H / scale / scale[:, None])
    if L is None:  # rounding of what is nearly singular
        L = cholesky(H / scale / scale[:, None] + 1e-12 * np.eye(len(H)))
    assert L is not None
    with np.errstate(over="ignore"):
        inverse = cholesky_solve(L, np.eye(len(H))) / scale / scale[:, None]
    if not np.isfinite(inverse).all():
        raise BadInput("the variance of a coefficient is beyond the range of numbers, as columns of X are so small: rescale them")
    return (inverse + inverse.T) / 2, 2 * float(np.log(np.diagonal(L)).sum() + np.log(scale).sum())


def peak_at(problem: Problem, precision: float, near: Peak | None) -> Learner[Peak]:
    """The posterior for one λ, begun where that for another was."""
    l2 = problem.precisions(precision)
    loss = Loss(problem.terms, l2, *curvatures_of(*problem.shape))
    theta, metric = (np.zeros(problem.shape), None) if near is None else (near.theta, Metric(near.curvature, l2))
    found = yield from minimise(loss, theta, tol=problem.tol, max_iter=problem.max_iter, metric=metric)
    at = yield partial(loss.terms, theta=found.theta, curvature="blocks" if problem.shape[0] == 1 else "full")
    sigma, log_det = inverse_of(at.curvature.reshape(l2.size, l2.size) + np.diag(l2.ravel()))
    evidence = -at.loss - 0.5 * float((l2 * found.theta**2).sum()) + 0.5 * float(np.log(l2).sum()) - 0.5 * log_det
    return Peak(precision, found.theta, sigma, float(evidence), at.curvature, found.n_pass + 1, found.converged)


@dataclass(slots=True)
class Bend(Stats):
    """tr(Σ dH/dθ[δ]): how the curvature changes along δ, as the posterior sees it."""

    trace: float


def bend(block: Block, theta: Array, sigma: Array, delta: Array, setting: Setting) -> Bend:
    """`Bend` of one block; σ is (M, q, M, q)."""
    Z = rows_of(block.X, setting.shift, setting.fit_intercept)
    scores, moved = Z @ theta.T, Z @ delta.T
    if len(theta) == 1:
        P = softmax(np.hstack([np.zeros_like(scores), scores]))
        third = P[:, 0] * P[:, 1] * (P[:, 0] - P[:, 1]) * moved[:, 0]
        return Bend(float((block.w * third) @ _spread(Z, sigma[0, :, 0])))
    P = softmax(scores)
    change = P * (moved - (P * moved).sum(axis=1, keepdims=True))
    total = np.zeros(len(Z))
    for k in range(len(theta)):
        for j in range(k + 1):
            third = -change[:, k] * P[:, j] - P[:, k] * change[:, j] + (change[:, k] if j == k else 0.0)
            total += (1.0 if j == k else 2.0) * third * _spread(Z, sigma[k, :, j])
    return Bend(float(block.w @ total))


def _spread(Z: Array, S: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", Z @ S, Z))


def rows_of(X: Any, shift: Array | None, fit_intercept: bool) -> Array:
    """[x − shift, 1], or 0 in the place of the constant where there is none."""
    X = ops.dense(X)
    Z = np.empty((X.shape[0], X.shape[1] + 1))
    Z[:, :-1] = X if shift is None else X - shift
    Z[:, -1] = float(fit_intercept)
    return Z


def slope_of(problem: Problem, peak: Peak) -> Learner[float]:
    """The derivative of the evidence by log λ."""
    M, q = problem.shape
    pull = peak.precision * peak.theta
    pull[:, -1] = 0.0
    delta = -(peak.sigma @ pull.ravel()).reshape(M, q)
    sigma = peak.sigma.reshape(M, q, M, q)
    found: Bend = yield partial(bend, theta=peak.theta, sigma=sigma, delta=delta, setting=problem.setting)
    inner = float(np.einsum("kqkq->", sigma[:, :-1, :, :-1]))
    own = M * (q - 1) - float((pull * peak.theta).sum()) - peak.precision * inner
    return 0.5 * (own - found.trace)


def most_evident(problem: Problem, start: float) -> Learner[Peak]:
    """The posterior for the λ of most evidence; `start` is a λ to begin with."""
    first = float(np.log(start))
    reach = (first - WIDEST, first + WIDEST)
    peak: Peak = yield from peak_at(problem, start, None)
    n_pass = peak.n_pass + 1
    here, slope = first, (yield from slope_of(problem, peak))
    ends: dict[bool, tuple[float, float]] = {slope > 0: (here, slope)}  # True: where the evidence still grows
    step, side, width = 1.0, None, np.inf
    while slope != 0 and width > DIGITS * max(1.0, abs(here)):
        if len(ends) < 2:
            here = float(np.clip(here + (step if slope > 0 else -step), *reach))
            step *= 2.0
        else:
            (low, at_low), (high, at_high) = ends[True], ends[False]
            here = (low * at_high - high * at_low) / (at_high - at_low)
        peak = yield from peak_at(problem, float(np.exp(here)), peak)
        slope = yield from slope_of(problem, peak)
        n_pass += peak.n_pass + 1
        grows = slope > 0
        if len(ends) == 2 and side is grows:  # the end that stays counts half, so that it will move too (Illinois)
            other = ends[not grows]
            ends[not grows] = (other[0], 0.5 * other[1])
        width = abs(here - ends[grows][0]) if grows in ends and len(ends) == 2 else np.inf
        ends[grows], side = (here, slope), grows
        if len(ends) < 2 and here in reach:
            break  # there is no best λ within reach
    return peak._replace(n_pass=n_pass)
