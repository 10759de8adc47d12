"""Newton's method from products alone: for losses whose curvature has too many columns to be written down.

    min over θ of  Σ loss(θ) + ½ Σ price θ²,   loss with a continuous gradient

Each step solves H d = −∇ by conjugate gradients, in the metric of the diagonal of H, as far as that pays: the nearer, the more exactly.
A trial point costs one pass over the rows, and so does a product H v. Reference: Dembo & Steihaug 1983; Nocedal & Wright 2006, §7.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Stats

ROUGH = 0.5  # share of the gradient that a step may leave, far from the minimum
PRODUCTS = 500  # for one step
HALVINGS = 40
ROUNDING = 1e-14  # a change of the objective below this share of it is noise


@dataclass(slots=True)
class Slopes(Stats):
    """A loss at one point, minus its gradient, and the diagonal of its curvature."""

    loss: float
    pull: Array
    diagonal: Array


@dataclass(slots=True)
class Product(Stats):
    """The curvature times a vector."""

    value: Array


class Truncated(NamedTuple):
    """Where it stopped, and what the certificate was there."""

    theta: Array
    gap: float
    n_pass: int
    closed: bool  # the certificate is at most tol
    loss: float  # without the penalty
    n_step: int


def missing(gradient: Array, price: Array, value: float) -> float:
    """½ Σ ∇² / price over the objective: a bound on what is missing to the minimum, where every θ has a price."""
    return 0.5 * float((gradient**2 / price).sum()) / value if value > 0 else 0.0


def truncated_newton(
    terms: Callable[..., Slopes],
    product: Callable[..., Product],
    price: Array,
    *,
    tol: float,
    max_iter: int,
    start: Array | None = None,
    certificate: Callable[[Array, Array, float], float] = missing,
    fine: float = 0.0,
) -> Learner[Truncated]:
    """From θ = 0, or another start, until the certificate is at most `tol`; at most `max_iter` steps.

    With `fine` they go on past that while the objective is likely to fall by more, so that the result does not depend on the start.
    """
    theta = trial = np.zeros_like(price) if start is None else start
    step = np.zeros_like(price)
    best, slope, damping, gap, n_pass, halved = np.inf, 0.0, 1.0, np.inf, 0, 0
    steps, loss = 0, np.inf
    while True:
        at: Slopes = yield partial(terms, theta=trial)
        n_pass += 1
        total = at.loss + 0.5 * float(price @ trial**2)
        if not total <= best - 1e-4 * damping * slope + ROUNDING * abs(best):
            if damping * slope <= ROUNDING * abs(best) or halved >= HALVINGS:
                break  # no trial point can be distinguished from this one
            halved += 1
            damping *= min(max(0.5 * slope * damping / (total - best + slope * damping), 0.1), 0.5)
            trial = theta + damping * step
            continue
        theta, best, loss, damping, halved = trial, total, at.loss, 1.0, 0
        gradient = price * theta - at.pull
        gap = certificate(gradient, price, best)
        note(gap)
        if (gap <= tol and not fine) or steps >= max_iter:
            break
        enough, last = min(ROUGH, gap**0.5), False
        if fine:  # what a step leaves undone is enough² of what it gains, and of the order of the square of that
            gain = max(float((gradient**2 / (at.diagonal + price)).sum()), 1e-300)
            enough, last = max(enough, min((fine / gain) ** 0.5, ROUGH)), gap <= tol and gain**2 <= fine * best and gain * enough**2 <= fine
        step, products = yield from _solved(partial(product, theta=theta), gradient, price, at.diagonal + price, enough)
        slope = -float(step @ gradient)
        n_pass, steps, trial = n_pass + products, steps + 1, theta + step
        if last:  # it is known and safe this close to the optimum: it costs no pass
            theta = trial
            break
    return Truncated(theta, gap, n_pass, gap <= tol, loss, steps)


def _solved(product: Callable[..., Product], gradient: Array, price: Array, metric: Array, enough: float) -> Learner[tuple[Array, int]]:
    """d of H d = −∇, until what is left of ∇ is at most a share `enough` of it, and the number of products."""
    d, left = np.zeros_like(gradient), -gradient
    z = left / metric
    along, size = z, float(left @ z)
    price_or_bend = np.where(price > 0, price, metric)  # what has no price is measured by its curvature
    end = enough**2 * float((gradient**2 / price_or_bend).sum())
    products = 0
    while products < PRODUCTS:
        products += 1
        bent = price * along + (yield partial(product, v=along)).value
        share = size / float(along @ bent)
        d, left = d + share * along, left - share * bent
        if float((left**2 / price_or_bend).sum()) <= end:
            break
        z = left / metric
        before, size = size, float(left @ z)
        along = z + (size / before) * along
    return d, products
