"""Bandwidths of kernel densities: by rules, by the improved Sheather-Jones equation, and by a search."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.fft import dct
from scipy.optimize import brentq

from tenfold.core.data import Array

BINS = 1 << 14  # of the table whose cosines the equation is written in
STAGES = 7
COARSE = np.geomspace(1 / 16, 4, 13)  # of the rule's bandwidth: where the search begins
FINE = 8  # steps of golden section after that
GOLDEN = (np.sqrt(5) - 1) / 2


def scott(n: float, p: int) -> float:
    """n^(−1/(p+4))."""
    return float(n ** (-1 / (p + 4)))


def silverman(n: float, p: int) -> float:
    """(n (p + 2) / 4)^(−1/(p+4))."""
    return float((n * (p + 2) / 4) ** (-1 / (p + 4)))


def spreads(X: Array, w: Array) -> Array:
    """Standard deviation of each column; 1 where it has none."""
    mean = w @ X / w.sum()
    found = np.sqrt(w @ (X - mean) ** 2 / w.sum())
    return np.where(found > 1e-12 * np.maximum(np.abs(mean), 1e-88), found, 1.0)


def improved_sheather_jones(x: Array, w: Array) -> float | None:
    """The bandwidth of one column that solves h = ξ γ⁷(h), Botev, Grotowski & Kroese 2010, §5; None where nothing does.

    Rows are counted in a table, whose cosine transform a gives ‖f^(s)‖² = ½ π^(2s) Σ k^(2s) a_k² exp(−k² π² t) at t = h².
    """
    low, high = float(x.min()), float(x.max())
    span = (high - low) * 1.2
    if not 0 < span < np.inf:
        return None
    place = ((x - low + 0.1 * (high - low)) / span * BINS).astype(np.int64).clip(0, BINS - 1)
    n = float(w.sum())
    counts = np.bincount(place, weights=w, minlength=BINS) / n
    squares = (dct(counts)[1:] / 2) ** 2
    k2 = np.arange(1.0, BINS) ** 2

    def roughness(s: int, t: float) -> float:
        return float(2 * np.pi ** (2 * s) * (k2**s * squares * np.exp(-k2 * np.pi**2 * t)).sum())

    def off(t: float) -> float:
        norm = roughness(STAGES, t)
        for s in range(STAGES - 1, 1, -1):
            odd = np.prod(np.arange(1, 2 * s, 2)) / np.sqrt(2 * np.pi)
            time = (2 * (1 + 0.5 ** (s + 0.5)) / 3 * odd / (n * norm)) ** (2 / (3 + 2 * s))
            norm = roughness(s, time)
        return float(t - (2 * n * np.sqrt(np.pi) * norm) ** -0.4)

    with np.errstate(all="ignore"):
        ends = [(t, value) for t in np.geomspace(1e-12, 0.1, 45) if np.isfinite(value := off(t))]
        for (first, below), (last, above) in pairwise(ends):
            if below < 0 <= above:
                return float(np.sqrt(brentq(off, first, last, xtol=1e-300, rtol=1e-12)) * span)
    return None


def search_bandwidth(likelihood: Callable[[float], float]) -> tuple[Array, Array]:
    """(multiples, likelihoods) of all that were tried, in their order: some over a wide range, then golden section around the best."""
    tried = [(float(t), likelihood(float(t))) for t in COARSE]
    best = int(np.argmax([value for _, value in tried]))
    low, high = np.log(COARSE[max(best - 1, 0)]), np.log(COARSE[min(best + 1, len(COARSE) - 1)])
    inner: list[tuple[float, float]] = []

    def at(place: float) -> tuple[float, float]:
        tried.append((float(np.exp(place)), likelihood(float(np.exp(place)))))
        return place, tried[-1][1]

    inner = [at(high - GOLDEN * (high - low)), at(low + GOLDEN * (high - low))]
    for _ in range(FINE - 2):
        if inner[0][1] >= inner[1][1]:
            high = inner[1][0]
            inner = [at(high - GOLDEN * (high - low)), inner[0]]
        else:
            low = inner[0][0]
            inner = [inner[1], at(low + GOLDEN * (high - low))]
    return np.array([t for t, _ in tried]), np.array([value for _, value in tried])
