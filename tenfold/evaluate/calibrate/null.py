"""The law of a score among usual rows: its p-values, the threshold of a rate, and the tail beyond the rows that are there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array

BEGIN = 0.25  # the tail: so many of the rows, the least usual ones
DOUBTFUL = 0.03  # of them, so many may be outliers themselves: the fit does not look at them
LEAST = 10  # rows in a tail that a shape is fitted to
SPREAD_OF_SHAPE = 1.0  # a shape is zero (the tail of a Gaussian) but for a normal deviation of this size: rows of a tail are few
GRID, MOST_SHAPE = 80, 1.5


@dataclass(frozen=True)
class Tail:
    """P(score ≤ s) = share · (1 + shape (start − s) / scale)^(−1/shape) below `start`: generalised Pareto, exponential at shape 0.

    limit: the lowest score that the fit has looked at; the tail speaks for those below it.
    """

    start: float
    share: float
    scale: float
    shape: float
    limit: float

    def below(self, scores: Array) -> Array:
        """P(score ≤ s), for scores below the start."""
        z = np.maximum(self.start - scores, 0.0) / self.scale
        return np.asarray(self.share * np.exp(-(np.log1p(self.shape * z) / self.shape if self.shape > 0 else z)))

    def quantile(self, rate: float) -> float:
        """The score below which there is this share."""
        log = math.log(self.share / rate)
        return self.start - self.scale * (math.expm1(self.shape * log) / self.shape if self.shape > 0 else log)


@dataclass(frozen=True)
class NullLaw:
    """Scores of usual rows, the higher the more usual, by rows that were not in the fit of what scores them."""

    scores: Array  # rising, all different
    ends: Array  # weight of all rows that score no higher
    tail: Tail | None = None

    @classmethod
    def of(cls, scores: Array, weights: Array | None, tail: Tail | None = None) -> NullLaw:
        different, place = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
        return cls(different, np.cumsum(np.bincount(place.reshape(-1), weights)).astype(np.float64), tail)

    @property
    def weight(self) -> float:
        return float(self.ends[-1])

    def pvalues(self, scores: Array) -> Array:
        """Of new rows: (1 + weight of usual rows that score no higher) / (1 + weight of all), or less where a tail says so: outliers among
        the rows can only add to those that score no higher."""
        below: Array = np.append(0.0, self.ends)[np.searchsorted(self.scores, scores, "right")]
        found = (1 + below) / (1 + self.weight)
        return found if self.tail is None else np.where(scores < self.tail.limit, np.minimum(self.tail.below(scores), found), found)

    def own_pvalues(self, scores: Array, weights: Array | None) -> Array:
        """Of the rows themselves, each among all others."""
        if self.tail is not None:
            return self.pvalues(scores)
        below: Array = self.ends[np.searchsorted(self.scores, scores, "right") - 1]
        itself = 1.0 if weights is None else np.minimum(weights, 1.0)
        return np.asarray(np.clip((1 + below - itself) / self.weight, 0.0, 1.0))

    def threshold(self, rate: float) -> float:
        """Rows that score less have a p-value of at most the rate; −inf where the rows are too few to tell."""
        tail = -np.inf if self.tail is None else min(self.tail.limit, self.tail.quantile(rate))
        most = rate * (1 + self.weight) * (1 + 1e-12) - 1  # weight of usual rows that may score no higher
        first = min(int(np.searchsorted(self.ends, most, "right")), len(self.scores) - 1)
        return max(tail, float(self.scores[first]) if most >= 0 else -np.inf)


def tail_of(law: NullLaw) -> Tail | None:
    """The tail of a law, by the rows between the `DOUBTFUL` and the `BEGIN` share; None where they are too few, or all score alike.

    Maximum a posteriori for the excesses z = start − s that are no larger than `last`, that of the first row that is not doubtful: a
    generalised Pareto law cut off there, with a normal prior of the shape. Neither where the doubtful rows lie nor how many of them
    there are has a say. With θ = shape / scale the sums of log(1 + θ z) are the same for all shapes, so that a grid of both is cheap.
    """
    place = int(np.searchsorted(law.ends, BEGIN * law.weight, "right"))
    cut = int(np.searchsorted(law.ends, DOUBTFUL * law.weight, "right"))
    if place >= len(law.scores) or cut >= place or not np.isfinite(law.scores[[cut, place]]).all():
        return None
    start, mass = float(law.scores[place]), np.diff(law.ends[:place], prepend=0.0)[cut:]
    z = start - law.scores[cut:place]
    seen, last = float(mass.sum()), float(z[0])
    if seen < LEAST:
        return None
    mean = float(mass @ z) / seen
    scales = mean * np.geomspace(0.2, 10, GRID)
    best = _highest(-seen * np.log(scales) - float(mass @ z) / scales, last / scales, seen, scales, np.zeros(GRID))
    shapes = np.linspace(0, MOST_SHAPE, GRID + 1)[1:]
    for theta in np.geomspace(1e-3, 1e2, GRID) / mean:
        logs = float(mass @ np.log1p(theta * z))
        fit = -seen * np.log(shapes / theta) - (1 + 1 / shapes) * logs - 0.5 * (shapes / SPREAD_OF_SHAPE) ** 2
        best = max(best, _highest(fit, math.log1p(theta * last) / shapes, seen, shapes / theta, shapes))
    _, scale, shape, inside = best
    whole = seen / inside  # with those that the law itself has beyond
    return Tail(start, whole / (whole + law.weight - float(law.ends[place - 1])), scale, shape, float(law.scores[cut]))


def _highest(fit: Array, beyond: Array, seen: float, scales: Array, shapes: Array) -> tuple[float, float, float, float]:
    """The best of some laws: its posterior, scale, shape, and the share of its excesses up to the last; `beyond`: −log of the rest."""
    inside = -np.expm1(-beyond)
    fit = fit - seen * np.log(inside)
    at = int(fit.argmax())
    return float(fit[at]), float(scales[at]), float(shapes[at]), float(inside[at])
