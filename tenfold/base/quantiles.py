"""Quantiles of a distribution whose cdf and density are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tenfold.core.data import Array

ROUNDS = 300  # `_middle` alone ends in less
CLOSE = 4 * np.finfo(np.float64).eps


def solve_quantiles(q: Array, cdf: Callable[[Array], Array], density: Callable[[Array], Array], low: float, high: float) -> Array:
    """x with cdf(x) = q, for each 0 < q < 1; the support is [low, high], which may be without ends.

    Newton's steps within a bracket: F(a) ≤ q ≤ F(b) holds throughout, and where a step leaves the bracket, or has not halved
    |F(x) − q|, the middle of the bracket is next.
    """
    a, b = _bracket(q, cdf, low, high)
    x, error = _middle(a, b), np.full(q.shape, np.inf)
    left = np.flatnonzero(a < b)
    for _ in range(ROUNDS):
        here = x[left]
        wrong = cdf(here) - q[left]
        a[left] = np.where(wrong <= 0, here, a[left])
        b[left] = np.where(wrong >= 0, here, b[left])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = here - wrong / density(here)
        lower, upper = a[left], b[left]
        good = (step > lower) & (step < upper) & (np.abs(wrong) <= 0.5 * error[left])
        error[left] = np.abs(wrong)
        x[left] = np.where(wrong == 0, here, np.where(good, step, _middle(lower, upper)))
        done = (wrong == 0) | (np.abs(x[left] - here) <= CLOSE * np.abs(here)) | (upper - lower <= CLOSE * np.abs(here))
        left = left[~done]
        if not len(left):
            break
    return x


def _middle(a: Array, b: Array) -> Array:
    """Between a and b, halving the size of what is sought as long as that is not known: quantiles of 1e-100 are not far away."""
    small, large = np.minimum(np.abs(a), np.abs(b)), np.maximum(np.abs(a), np.abs(b))
    size = np.where(small == 0, large * 2.0**-10, np.sqrt(small) * np.sqrt(large))
    same = (a >= 0) | (b <= 0)
    return np.where(same & (large > 4 * small), np.where(b > 0, size, -size), np.where(same, 0.5 * a + 0.5 * b, 0.0))


def _bracket(q: Array, cdf: Callable[[Array], Array], low: float, high: float) -> tuple[Array, Array]:
    """Finite a and b with cdf(a) ≤ q ≤ cdf(b): ends of the support, or found by doubling."""
    start = 0.0 if low < 0 < high else (low if np.isfinite(low) else high if np.isfinite(high) else 0.0)
    ends = []
    for end, sign in ((low, -1.0), (high, 1.0)):
        if np.isfinite(end):
            ends.append(np.full(q.shape, end))
            continue
        found, far = np.full(q.shape, start), 1.0
        out = np.arange(len(q))
        while len(out) and np.isfinite(start + sign * far):
            found[out] = start + sign * far
            out = out[sign * (cdf(found[out]) - q[out]) < 0]
            far *= 2.0
        ends.append(found)
    return ends[0], ends[1]
