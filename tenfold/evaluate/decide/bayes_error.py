"""The Bayes error: the least error any classifier can have, from known densities or bounded from data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.random import generator
from tenfold.evaluate.decide.bayes_rule import checked_priors, posterior


def guessing_error(priors: Any) -> float:
    """The error of guessing classes at random in proportion to their priors:  1 − Σ πₖ².

    >>> from tenfold.evaluate import guessing_error
    >>> guessing_error([0.5, 0.5])
    0.5
    """
    return float(1 - (checked_priors(priors) ** 2).sum())


def most_frequent_error(priors: Any) -> float:
    """The error of always naming the most frequent class:  1 − max πₖ."""
    return float(1 - checked_priors(priors).max())


def bayes_error(
    densities: Sequence[Callable[[Array], Array]], priors: Any, low: float, high: float, points: int = 20001
) -> float:
    """The Bayes error of known densities on an interval:  1 − ∫ maxₖ πₖ pₖ(x) dx,  by the trapezoidal rule.

    With p_1(x) = 2 − 2x and p_2(x) = 2x on [0, 1] and equal priors it is 1/4:

    >>> from tenfold.evaluate import bayes_error
    >>> round(bayes_error([lambda x: 2 - 2 * x, lambda x: 2 * x], [0.5, 0.5], 0, 1), 9)
    0.25
    """
    p = checked_priors(priors)
    if len(densities) != len(p) or not low < high:
        raise BadInput(
            f"{len(densities)} densities, {len(p)} priors, interval {low} to {high}: give a density for each prior, and low < high"
        )
    x = np.linspace(low, high, points)
    best = np.max(
        [prior * np.asarray(density(x), dtype=np.float64) for prior, density in zip(p, densities, strict=True)], axis=0
    )
    if not np.isfinite(best).all() or (best < 0).any():
        raise BadInput(
            f"a density is negative or not finite near x = {x[int(np.argmin(np.isfinite(best) & (best >= 0)))]:g}"
        )
    return float(1 - np.trapezoid(best, x))


@dataclass(frozen=True)
class MonteCarlo:
    """An estimate by simulation and its standard error."""

    estimate: float
    standard_error: float


def simulated_bayes_error(
    samplers: Sequence[Callable[[np.random.Generator, int], Array]],
    log_densities: Sequence[Callable[[Array], Array]],
    priors: Any,
    draws: int = 100_000,
    random_state: Any = 0,
) -> MonteCarlo:
    """The Bayes error of known densities in any dimension: rows are drawn, and classified by the largest posterior.

    E[1 − maxₖ P(k | x)] is averaged instead of counting errors, which has less variance.
    """
    p, rng = checked_priors(priors), generator(random_state)
    counts = rng.multinomial(draws, p)
    X = np.concatenate(
        [np.asarray(sampler(rng, int(count))) for sampler, count in zip(samplers, counts, strict=True) if count]
    )
    found = posterior(p, np.column_stack([np.asarray(log_density(X)).reshape(len(X)) for log_density in log_densities]))
    wrong = 1 - found.probabilities.max(axis=1)
    return MonteCarlo(float(wrong.mean()), float(wrong.std(ddof=1) / np.sqrt(len(wrong))))


@dataclass(frozen=True)
class Bounds:
    """The Bayes error lies between `low` and `high`, if `nearest` is the error of the nearest neighbour with ever more rows."""

    low: float
    high: float
    nearest: float


def cover_hart(nearest: float, classes: int = 2) -> Bounds:
    """Bounds on the Bayes error R* from the error R of the nearest neighbour (Cover & Hart 1967).

    R* ≤ R ≤ R* (2 − K/(K−1) R*),  so  (K−1)/K (1 − √(1 − K/(K−1) R)) ≤ R* ≤ R.

    >>> from tenfold.evaluate import cover_hart
    >>> round(cover_hart(0.18).low, 6)
    0.1
    """
    if not (0 <= nearest <= 1 and classes >= 2):
        raise BadInput(
            f"nearest={nearest!r}, classes={classes!r}: an error lies between 0 and 1, of at least 2 classes"
        )
    most = (classes - 1) / classes
    return Bounds(most * (1 - float(np.sqrt(max(0.0, 1 - nearest / most)))), min(nearest, most), nearest)


def estimate_bayes_error(X: Any, y: Any, block: int = 512) -> Bounds:
    """Bounds on the Bayes error from data: the leave-one-out error of the nearest neighbour (Euclid) in Cover and Hart's inequality.

    The inequality is exact for infinitely many rows; with n rows in d dimensions the neighbour is too far away, so in many
    dimensions the upper bound is loose. Scale the columns first: the distance takes them as they are.
    """
    X, (labels, y) = np.asarray(X, dtype=np.float64), np.unique(np.asarray(y).reshape(-1), return_inverse=True)
    if X.ndim != 2 or len(X) != len(y) or len(labels) < 2 or not np.isfinite(X).all():
        raise BadInput(
            f"X of shape {X.shape} with {len(y)} labels of {len(labels)} classes: give finite rows with labels of at least 2 classes"
        )
    X = X - X.mean(axis=0)
    squares, wrong = (X * X).sum(axis=1), 0
    for start in range(0, len(X), block):
        rows = slice(start, start + block)
        distance = squares - 2 * X[rows] @ X.T  # + ‖x‖², the same for all neighbours of x
        distance[np.arange(len(distance)), np.arange(start, start + len(distance))] = np.inf
        wrong += int((y[distance.argmin(axis=1)] != y[rows]).sum())
    return cover_hart(wrong / len(X), len(labels))
