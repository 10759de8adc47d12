"""The posterior of logistic regression of two classes by a variational bound.

    σ(z) ≥ σ(ξ) exp((z − ξ)/2 − η(ξ)(z² − ξ²)),   η(ξ) = tanh(ξ/2) / 4ξ,   equal at z = ±ξ

With a ξ for each row, the bound times the prior N(0, Λ⁻¹) is a normal density N(m, S) times a constant: S⁻¹ = Λ + 2 Σ s η(ξ) zzᵀ and
m = S Σ s (y − ½) z. Rows take turns with the posterior and λ, and each turn raises the bound of log p(y | λ): ξ² = zᵀ(S + mmᵀ)z, and the
λ that is best for these ξ, which one decomposition of 2 Σ s η(ξ) zzᵀ finds without another look at the rows. The bound is

    ½ mᵀS⁻¹m + ½ log det S + ½ log det Λ + Σ s (log σ(ξ) − ξ/2 + η(ξ) ξ²)

Reference: Jaakkola & Jordan 2000; Bishop 2006, 10.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Stats
from tenfold.linear.laplace import WIDEST, Peak, Problem, inverse_of, rows_of
from tenfold.linear.logistic_terms import Setting
from tenfold.solve.linalg import eigh


@dataclass(slots=True)
class Bound(Stats):
    """What the rows add to the bound, for the ξ that suit a posterior."""

    value: float
    pull: Array
    gram: Array


def bound(block: Block, mean: Array, sigma: Array, setting: Setting) -> Bound:
    """`Bound` of one block."""
    Z = rows_of(block.X, setting.shift, setting.fit_intercept)
    xi = np.sqrt(np.maximum(np.einsum("ij,ij->i", Z @ sigma, Z), 0.0) + (Z @ mean) ** 2)
    small = xi < 1e-4
    eta = np.where(small, 0.125 - xi * xi / 96, np.tanh(xi / 2) / np.where(small, 1.0, 4 * xi))
    value = float(block.w @ (eta * xi * xi - xi / 2 - np.log1p(np.exp(-xi))))
    gram = ops.weighted_gram(np.ascontiguousarray(Z[:, :-1]), 2 * block.w * eta)
    if not setting.fit_intercept:
        gram[-1] = gram[:, -1] = 0.0
    return Bound(value, (block.w * (block.y - 0.5)) @ Z, gram)


def tightest(problem: Problem, precision: float, fixed: bool) -> Learner[tuple[Peak, list[float]]]:
    """The posterior of the tightest bound and the bounds on the way, which never fall; λ is chosen unless it is `fixed`."""
    q = problem.shape[1]
    mean, sigma, bounds, converged = np.zeros(q), np.zeros((q, q)), list[float](), False
    for n_pass in range(1, problem.max_iter + 1):
        found: Bound = yield partial(bound, mean=mean, sigma=sigma, setting=problem.setting)
        last = precision
        precision = precision if fixed else best_precision(found.gram, found.pull, problem.constant, precision)
        prior = problem.precisions(precision)[0]
        H = found.gram + np.diag(prior)
        sigma, log_det = inverse_of(H)
        before, mean = mean, sigma @ found.pull
        bounds.append(found.value + 0.5 * float(mean @ found.pull) - 0.5 * log_det + 0.5 * float(np.log(prior).sum()))
        moved = float(np.sqrt(max((mean - before) @ H @ (mean - before), 0.0)))
        note(moved)
        converged = moved <= problem.tol and abs(np.log(precision / last)) <= problem.tol
        if n_pass > 1 and converged:
            break
    return Peak(precision, mean[None], sigma, bounds[-1], found.gram, n_pass, converged), bounds


def best_precision(gram: Array, pull: Array, constant: float, now: float) -> float:
    """The λ of the largest bound for given ξ; never a worse one than `now`.

    Without the constant, whose precision is fixed, and along the axes of the weights, with curvatures D and pulls r, the bound is
    ½ Σ (r² / (λ + D) + log λ − log(λ + D)), and its derivative by log λ is ½ Σ (D / (λ + D) − λ r² / (λ + D)²).
    """
    own = gram[-1, -1] + constant
    D, axes = eigh(gram[:-1, :-1] - np.outer(gram[:-1, -1], gram[-1, :-1]) / own)
    D = np.maximum(D, 0.0)
    squares = (axes.T @ (pull[:-1] - gram[:-1, -1] * pull[-1] / own)) ** 2
    if not D.mean() > 0:
        return now

    def value(t: float) -> float:
        with_prior = np.exp(t) + D
        return float((squares / with_prior + t - np.log(with_prior)).sum())

    def slope(t: float) -> float:
        with_prior = np.exp(t) + D
        return float((D / with_prior - np.exp(t) * squares / with_prior**2).sum())

    low, high = np.log(D.mean()) - WIDEST, np.log(D.mean()) + WIDEST
    ends = [low, high]
    if slope(low) > 0 > slope(high):
        ends.append(brentq(slope, low, high, xtol=1e-13))
    best = max((np.log(now), *ends), key=value)
    return float(np.exp(best))
