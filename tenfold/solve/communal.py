"""The noise of factor analysis: maximum likelihood over the variances ψ of the columns, with the loadings at their best for each ψ.

    −2/n log-likelihood = p log 2π + Σ log ψ + Σ over i ≤ k of (log θᵢ + 1) + Σ over i > k of θᵢ

with θ, ω the eigenpairs of Ψ^−½ S Ψ^−½, the largest first; a θᵢ ≤ 1 is no factor. The leading k are all that is needed: in log ψ the
gradient is 1 − s − Σ (1 − θᵢ) ωᵢ², s the diagonal, and the curvature is near (I − Σ ωᵢ ωᵢᵀ)², cell by cell (Jöreskog 1967; Clarke 1970).
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.monitor import note
from tenfold.core.threads import stopping
from tenfold.solve.linalg import cholesky, cholesky_solve

Leading = Callable[[Array], tuple[Array, Array]]  # of 1/√ψ: the k leading eigenvalues of D S D, the largest first, and eigenvectors (p, k)
LONGEST, HALVINGS = 2.0, 8  # a step in log ψ, and times that it is halved
POLISH, FALLS, SETTLED = 50, 0.7, 1e-14  # steps at the top, and the share of the gradient that one may leave
WIDE = 1000  # columns from which the curvature is taken by its diagonal: what is beside it is of the order of k / p²
LEAST = 1e-6  # noise, of the variance of a column
TINY = 1e-290  # a variance that counts as none: shares of it would vanish


class Noise(NamedTuple):
    """ψ, the loadings (k, p) that go with it, and what the likelihood was on the way."""

    psi: Array
    W: Array
    likelihoods: list[float]
    converged: bool


class _Point(NamedTuple):
    psi: Array
    theta: Array
    omega: Array
    value: float  # mean log-likelihood


def least_noise(variance: Array, leading: Leading, start: Array, n: float, tol: float, max_iter: int) -> Noise:
    """Newton steps while they pay, else those of expectation-maximisation, which always do; until n rows gain less than tol."""
    mean = float(variance.mean())
    floor = LEAST * np.where(variance > TINY, variance, mean if mean > TINY else 1.0)
    here = _at(np.maximum(start, floor), variance, leading)
    told, converged = [n * here.value], False
    for _ in range(max_iter - 1):
        if stopping():
            raise KeyboardInterrupt
        new = _newton(here, variance, leading, floor) or _at(np.maximum(variance - _squares(here), floor), variance, leading)
        gain = n * (new.value - here.value)
        note(max(gain, 0.0))
        if gain > 0:
            here = new
            told.append(n * here.value)
        if gain < tol:
            converged = True
            break
    if converged:
        here = _polished(here, variance, leading, floor)
        told[-1] = n * here.value
    return Noise(here.psi, _loadings(here), told, converged)


def _polished(here: _Point, variance: Array, leading: Leading, floor: Array) -> _Point:
    """Newton steps that lower the gradient: the likelihood is flat at its top, and knows half of the digits of ψ only."""
    left = _direction(here, variance, floor)
    for _ in range(POLISH):
        if left is None or left[1] < SETTLED or stopping():
            break
        new = _at(np.maximum(here.psi * np.exp(left[0]), floor), variance, leading)
        after = _direction(new, variance, floor)
        if after is None or after[1] > FALLS * left[1]:
            break
        here, left = new, after
    return here


def _at(psi: Array, variance: Array, leading: Leading) -> _Point:
    theta, omega = leading(1 / np.sqrt(psi))
    kept = theta > 1
    theta, omega = theta[kept], omega[:, kept]
    rest = float((variance / psi).sum()) - float(theta.sum())
    value = len(psi) * log(2 * pi) + float(np.log(psi).sum() + (np.log(theta) + 1).sum()) + rest
    return _Point(psi, theta, omega, -0.5 * value)


def _loadings(at: _Point) -> Array:
    return np.asarray((at.omega * np.sqrt(at.theta - 1)).T * np.sqrt(at.psi))


def _squares(at: _Point) -> Array:
    """Σ over the factors of the squares of their loadings: what they explain of each column."""
    return np.asarray((at.omega**2 @ (at.theta - 1)) * at.psi)


def _direction(at: _Point, variance: Array, floor: Array) -> tuple[Array, float] | None:
    """The Newton step in log ψ, and the largest entry of the gradient; None where the curvature says nothing."""
    gradient = 1 - variance / at.psi - at.omega**2 @ (1 - at.theta)
    free = np.flatnonzero((at.psi > floor) | (gradient < 0))
    if not len(free):
        return None
    step, omega = np.zeros(len(at.psi)), at.omega[free]
    if len(free) > WIDE:
        step[free] = -gradient[free] / (np.maximum(1 - (omega**2).sum(axis=1), 0.0) ** 2 + 1e-9)
    else:
        bend = (np.eye(len(free)) - omega @ omega.T) ** 2
        bend[np.diag_indices(len(free))] += 1e-9
        L = cholesky(bend)
        if L is None:
            return None
        step[free] = -cholesky_solve(L, gradient[free])
    size = float(np.abs(step).max())
    step *= min(1.0, LONGEST / size) if size > 0 else 1.0
    return step, float(np.abs(gradient[free]).max())


def _newton(at: _Point, variance: Array, leading: Leading, floor: Array) -> _Point | None:
    """A point of higher likelihood, or None."""
    found = _direction(at, variance, floor)
    if found is None:
        return None
    step = found[0]
    for _ in range(HALVINGS):
        new = _at(np.maximum(at.psi * np.exp(step), floor), variance, leading)
        if new.value > at.value:
            return new
        step = step / 2
    return None


def rotated(W: Array, quartic: float, max_iter: int = 500, tol: float = 1e-10) -> Array:
    """Loadings (k, p) turned so that each column of the table has few that are large: quartic 1 is varimax (Kaiser 1958), 0 quartimax."""
    A, R, before = W.T, np.eye(len(W)), 0.0
    for _ in range(max_iter):
        turned = A @ R
        U, s, Vt = np.linalg.svd(A.T @ (turned**3 - quartic / len(A) * turned * (turned**2).sum(axis=0)))
        R, total = U @ Vt, float(s.sum())
        if total <= before * (1 + tol):
            break
        before = total
    return np.ascontiguousarray((A @ R).T)
