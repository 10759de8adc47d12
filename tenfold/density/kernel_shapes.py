"""Kernels of the distance r in bandwidths: what each is, its integral, and how rows are drawn around a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, ndtr

from tenfold.core.data import Array


@dataclass(frozen=True)
class KernelShape:
    """A kernel K(r), 1 at r = 0."""

    number: int  # of the native sums (`Shape` in src/kernels/summation)
    compact: bool  # 0 from r = 1 on
    pointed: bool  # with a kink at r = 0
    log_at: Callable[[Array], Array]  # log K(r)
    below: Callable[[Array], Array]  # in one column: the integral up to u over the whole
    log_mass: Callable[[int], float]  # of d columns: log ∫ K over log volume of the unit ball
    radius: Callable[[np.random.Generator, int, int], Array]  # n distances of rows drawn in d columns

    def log_integral(self, d: int) -> float:
        """log of the integral of K over d columns."""
        return float(self.log_mass(d) + d / 2 * np.log(np.pi) - gammaln(d / 2 + 1))


def _log_gaussian_mass(d: int) -> float:
    return float(d / 2 * np.log(2) + gammaln(d / 2 + 1))


def _log_cosine_mass(d: int) -> float:
    """log d ∫ r^(d − 1) cos(π r / 2) dr over [0, 1], by the series of the cosine."""
    m = np.arange(20)
    terms = (-1.0) ** m * np.exp(2 * m * np.log(np.pi / 2) - gammaln(2 * m + 1)) * d / (d + 2.0 * m)
    return float(np.log(terms.sum()))


def _draw_cosine(rng: np.random.Generator, n: int, d: int) -> Array:
    """Distances of the triangular kernel, which is at least 2 / π of this one, are kept as often as the ratio says."""
    found = np.empty(0)
    while len(found) < n:
        r = rng.beta(d, 2, 2 * n + 16)
        kept = rng.random(len(r)) * (1 - r) * np.pi / 2 <= np.cos(np.pi * r / 2)
        found = np.concatenate([found, r[kept]])
    return found[:n]


def _beta_root(extra: int) -> Callable[[np.random.Generator, int, int], Array]:
    """Of (1 − r²)^(extra − 1): r² has a beta distribution."""
    return lambda rng, n, d: np.sqrt(rng.beta(d / 2, extra, n))


def _log(values: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _inside(r: Array) -> Array:
    return np.minimum(r, 1.0)


KERNELS = {
    "gaussian": KernelShape(
        0, False, False, lambda r: -0.5 * r * r, ndtr, _log_gaussian_mass, lambda rng, n, d: np.sqrt(rng.chisquare(d, n))
    ),
    "tophat": KernelShape(1, True, False, lambda r: _log(r < 1), lambda u: (1 + u) / 2, lambda d: 0.0, _beta_root(1)),
    "epanechnikov": KernelShape(
        2, True, False,
        lambda r: _log(1 - _inside(r) ** 2),
        lambda u: (2 + 3 * u - u**3) / 4,
        lambda d: float(np.log(2 / (d + 2))),
        _beta_root(2),
    ),
    "exponential": KernelShape(
        3, False, True,
        lambda r: -r,
        lambda u: np.where(u < 0, np.exp(-np.abs(u)) / 2, 1 - np.exp(-np.abs(u)) / 2),
        lambda d: float(gammaln(d + 1)),
        lambda rng, n, d: rng.gamma(d, 1.0, n),
    ),
    "linear": KernelShape(
        4, True, True,
        lambda r: _log(1 - _inside(r)),
        lambda u: np.where(u < 0, (1 + u) ** 2 / 2, 1 - (1 - u) ** 2 / 2),
        lambda d: -float(np.log(d + 1)),
        lambda rng, n, d: rng.beta(d, 2, n),
    ),
    "cosine": KernelShape(
        5, True, False,
        lambda r: _log(np.where(r < 1, np.cos(np.pi * _inside(r) / 2), 0.0)),
        lambda u: (1 + np.sin(np.pi * u / 2)) / 2,
        _log_cosine_mass,
        _draw_cosine,
    ),
    "biweight": KernelShape(
        6, True, False,
        lambda r: 2 * _log(1 - _inside(r) ** 2),
        lambda u: (8 + 15 * u - 10 * u**3 + 3 * u**5) / 16,
        lambda d: float(np.log(8 / ((d + 2) * (d + 4)))),
        _beta_root(3),
    ),
}  # fmt: skip
KERNELS |= {"rectangular": KERNELS["tophat"], "triangular": KERNELS["linear"]}
