"""Shares of most likelihood: the Dirichlet distribution that rows of shares come from."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from tenfold.core.data import Array
from tenfold.core.errors import BadInput

STEPS = 200
ENOUGH = 1e-13  # relative change of the last step


def concentration_of(place: str, rows: Array, w: Array | None) -> Array:
    """a that maximises  log Γ(Σ a) − Σ log Γ(aₖ) + Σ (aₖ − 1) gₖ,  gₖ the mean of log θₖ over rows of positive shares with sum 1.

    The objective is concave. Newton's steps, whose Hessian z 11ᵀ − diag(ψ′(a)) is inverted in O(k), halved while a is not positive or the
    objective falls (Minka 2000); from Σ mₖ (log mₖ − gₖ) ≈ (k − 1) / (2 Σ a), m the mean shares.
    """
    share = np.full(len(rows), 1 / len(rows)) if w is None else w / w.sum()
    m, g = share @ rows, share @ np.log(rows)
    gap = float(m @ (np.log(m) - g))
    if not gap > 1e-12:
        raise BadInput(f"{place}: the rows do not vary, so that no concentration is large enough: give more rows, or a prior for counts")
    a = m * (len(m) - 1) / (2 * gap)

    def value(a: Array) -> float:
        return float(gammaln(a.sum()) - gammaln(a).sum() + (a - 1) @ g)

    best = value(a)
    for _ in range(STEPS):
        slope = digamma(a.sum()) - digamma(a) + g
        q, z = -polygamma(1, a), polygamma(1, a.sum())
        step = (slope - (slope / q).sum() / (1 / z + (1 / q).sum())) / q
        size = 1.0
        while (a - size * step <= 0).any() or (now := value(a - size * step)) < best - 1e-12 * abs(best):
            size /= 2
            if size < 1e-12:
                return a
        a, best = a - size * step, max(best, now)
        if (np.abs(step) <= ENOUGH * a).all():
            break
    return a
