"""The posterior of logistic regression of two classes by a variational bound.

    σ(z) ≥ σ(ξ) exp((z − ξ)/2 − η(ξ)(z² − ξ²)),   η(ξ) = tanh(ξ/2) / 4ξ,   equal at z = ±ξ

With a ξ for each row, the bound times the prior N(0, Λ⁻¹) is a normal density N(m, S) times a constant: S⁻¹ = Λ + 2 Σ s η(ξ) zzᵀ and
m = S Σ s (y − ½) z. Rows, posterior and λ take turns, ξ² = zᵀ(S + mmᵀ)z and λ = d / (‖m_w‖² + tr S_ww) for d weights, and each turn
raises the bound of log p(y | λ):

    ½ mᵀS⁻¹m + ½ log det S + ½ log det Λ + Σ s (log σ(ξ) − ξ/2 + η(ξ) ξ²)

Reference: Jaakkola & Jordan 2000; Bishop 2006, 10.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Stats
from tenfold.linear.laplace import Peak, Problem, inverse_of, rows_of
from tenfold.linear.logistic_terms import Setting


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
    mean, sigma, bounds, moved = np.zeros(q), np.zeros((q, q)), list[float](), np.inf
    for n_pass in range(1, problem.max_iter + 1):
        found: Bound = yield partial(bound, mean=mean, sigma=sigma, setting=problem.setting)
        prior = problem.precisions(precision)[0]
        H = found.gram + np.diag(prior)
        sigma, log_det = inverse_of(H)
        before, mean = mean, sigma @ found.pull
        bounds.append(found.value + 0.5 * float(mean @ found.pull) - 0.5 * log_det + 0.5 * float(np.log(prior).sum()))
        moved = float(np.sqrt(max((mean - before) @ H @ (mean - before), 0.0)))
        note(moved)
        last = precision
        if not fixed:
            precision = (q - 1) / float(mean[:-1] @ mean[:-1] + np.trace(sigma[:-1, :-1]))
        if n_pass > 1 and moved <= problem.tol and abs(np.log(precision / last)) <= problem.tol:
            break
    converged = moved <= problem.tol and abs(np.log(precision / last)) <= problem.tol
    return Peak(last, mean[None], sigma, bounds[-1], found.gram, n_pass, converged), bounds
