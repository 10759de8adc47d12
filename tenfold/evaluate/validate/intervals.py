"""Intervals: how far a number computed from rows may be from the number for all rows of that kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.score.inputs import truth_and_scores


@dataclass(frozen=True)
class Interval:
    """An estimate with its range; `level` is the coverage asked for, `method` how the range was made."""

    estimate: float
    low: float
    high: float
    level: float
    method: str

    def __str__(self) -> str:
        return f"{self.estimate:.4g}   {100 * self.level:g}% range {self.low:.4g} to {self.high:.4g}   ({self.method})"

    __repr__ = __str__


def _check_level(level: float) -> float:
    if not 0 < level < 1:
        raise BadParameter(f"level={level!r}: must lie between 0 and 1, 0.95 for example")
    return float(ndtri(0.5 + level / 2))


def wilson(successes: float, trials: float, level: float = 0.95) -> Interval:
    """Wilson's interval for a rate (accuracy, recall, ...): the rates p with |p̂ − p| ≤ z √(p(1 − p)/n).

    >>> from tenfold.evaluate import wilson
    >>> interval = wilson(8, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.49, 0.943)
    """
    z = _check_level(level)
    if not (np.isfinite(trials) and trials > 0 and 0 <= successes <= trials):
        raise BadInput(
            f"wilson({successes!r}, {trials!r}): successes must lie between 0 and the number of trials, which is above 0"
        )
    p, n = successes / trials, trials
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = float(z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)))
    low = 0.0 if successes == 0 else max(0.0, middle - half)  # exactly, not up to rounding
    high = 1.0 if successes == trials else min(1.0, middle + half)
    return Interval(p, low, high, level, "Wilson")


def gamma_range(mean: float, error: float, most: float, level: float = 0.95) -> tuple[float, float]:
    """Where the true mean of losses of rows may lie that few large ones make up, each at most `most` times the number of rows.

    The sum of such losses is one of rare events of different sizes, nearly a gamma variable of shape k = mean²/error² (a Poisson
    count of k, where all events have one size): the low end is its lower quantile, the high end the upper one after one more event
    of the largest size, which may just not have come yet. Never too narrow where the events are Poisson.  (Fay & Feuer 1997)
    """

    def quantile(mean: float, error: float, share: float) -> float:
        shape = (mean / error) ** 2
        return float(mean * gammaincinv(shape, share) / shape)

    tail = (1 - level) / 2
    return quantile(mean, error, tail), quantile(mean + most, float(np.hypot(error, most)), 1 - tail)


# --- AUC --------------------------------------------------------------------------------------------------------------


def midranks(values: Array) -> Array:
    """Ranks from 1, ties sharing their mean rank."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    after = np.append(first[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((first + after + 1) / 2, after - first)
    return ranks


def weights_below(values: Array, others: Array, w: Array) -> tuple[Array, Array]:
    """For each value the weight of the others that are less, and of those that are no more."""
    order = np.argsort(others, kind="stable")
    total = np.append(0.0, np.cumsum(w[order]))
    below, above = (total[np.searchsorted(others[order], values, side)] for side in ("left", "right"))
    return below, above


def placements(positive: Array, scores: Array, w: Array | None = None) -> tuple[Array, Array]:
    """For each positive the share of negatives below it, for each negative the share of positives above it (ties half), by weight where
    rows have one.

    These are DeLong's structural components; their means are both the AUC. O(n log n) by ranks (Sun & Xu 2014).
    """
    up, down = scores[positive], scores[~positive]
    if not len(up) or not len(down):
        raise BadInput("the AUC needs rows of both classes: the truth holds only one")
    if w is not None:
        sides = ((up, down, w[~positive]), (down, up, w[positive]))
        shares = [sum(weights_below(*side)) / (2 * side[2].sum()) for side in sides]
        return shares[0], 1 - shares[1]
    ranks = midranks(np.concatenate([up, down]))
    of_positive = (ranks[: len(up)] - midranks(up)) / len(down)
    of_negative = 1 - (ranks[len(up) :] - midranks(down)) / len(up)
    return of_positive, of_negative


def _binary(truth: Any, scores: Any) -> tuple[Array, Array]:
    given = truth_and_scores(truth, scores)
    if len(given.classes) != 2 or given.scores.shape[1] != 1:
        raise BadInput(
            f"the AUC needs one score for each row and rows of two classes, but the truth holds {len(given.classes)}"
        )
    return given.truth == 1, given.scores[:, 0].astype(np.float64, copy=False)


def delong(truth: Any, scores: Any, level: float = 0.95) -> Interval:
    """DeLong's interval for the AUC, on the logit scale so that it stays inside (0, 1).

    var(AUC) = var(V₁₀)/m + var(V₀₁)/n with the placements V of the m positives and n negatives.  (DeLong et al. 1988)
    """
    z = _check_level(level)
    positive, values = _binary(truth, scores)
    up, down = placements(positive, values)
    if min(len(up), len(down)) < 2:
        raise BadInput("the variance of an AUC needs at least 2 rows of each class")
    auc = float(up.mean())
    error = float(np.sqrt(up.var(ddof=1) / len(up) + down.var(ddof=1) / len(down)))
    if (
        error == 0 or not 0 < auc < 1
    ):  # perfectly ranked: the logit is infinite, so bound the rate of wrongly ranked pairs
        bound = wilson(auc * min(len(up), len(down)), min(len(up), len(down)), level)
        return Interval(auc, min(bound.low, auc), max(bound.high, auc), level, "Wilson, as all pairs are ranked alike")
    logit, scale = np.log(auc / (1 - auc)), error / (auc * (1 - auc))
    low, high = (1 / (1 + np.exp(-(logit + s * z * scale))) for s in (-1, 1))
    return Interval(auc, float(low), float(high), level, "DeLong")


@dataclass(frozen=True)
class PairedAUC:
    """Two AUCs on the same rows: their difference, its standard error and the two-sided p-value of no difference."""

    first: float
    second: float
    difference: float
    standard_error: float
    p_value: float


def delong_test(truth: Any, first: Any, second: Any) -> PairedAUC:
    """DeLong's test of two scores on the same rows; the covariance of their placements is taken into account."""
    positive, a = _binary(truth, first)
    _, b = _binary(truth, second)
    pairs = [placements(positive, values) for values in (a, b)]
    gap = [p - q for p, q in zip(*pairs, strict=True)]
    if min(map(len, gap)) < 2:
        raise BadInput("the variance of an AUC needs at least 2 rows of each class")
    error = float(np.sqrt(sum(part.var(ddof=1) / len(part) for part in gap)))
    aucs = [float(pair[0].mean()) for pair in pairs]
    difference = aucs[0] - aucs[1]
    p_value = 1.0 if error == 0 and difference == 0 else 2 * float(ndtr(-abs(difference) / error)) if error else 0.0
    return PairedAUC(aucs[0], aucs[1], difference, error, p_value)


# --- any metric -------------------------------------------------------------------------------------------------------


def bootstrap(
    metric: Callable[..., float],
    *columns: Any,
    level: float = 0.95,
    method: str = "bca",
    replicates: int = 1000,
    random_state: Any = 0,
) -> Interval:
    """Bootstrap interval for metric(*columns), rows drawn with replacement; method "bca" or "percentile".

    BCa shifts the percentiles for bias (z₀) and skewness (a, from the jackknife):
    α → Φ(z₀ + (z₀ + z_α) / (1 − a (z₀ + z_α))).  (Efron 1987)

    >>> import numpy as np
    >>> from tenfold.evaluate import bootstrap
    >>> values = np.random.default_rng(0).normal(size=200)
    >>> interval = bootstrap(np.mean, values)
    >>> bool(interval.low < 0 < interval.high)
    True
    """
    z = _check_level(level)
    if method not in ("bca", "percentile"):
        raise BadParameter(f"method={method!r}: must be 'bca' or 'percentile'")
    arrays = [np.asarray(column) for column in columns]
    n = len(arrays[0]) if arrays else 0
    if n < 2 or any(len(array) != n for array in arrays):
        raise BadInput(
            f"the columns have {[len(array) for array in arrays]} rows: give at least 2 rows, the same number in each"
        )
    estimate, rng = float(metric(*arrays)), generator(random_state)
    drawn = np.sort(
        [float(metric(*(array[rows] for array in arrays))) for rows in rng.integers(0, n, size=(replicates, n))]
    )
    if not np.isfinite(drawn).all():
        raise BadInput(
            "the metric is not finite on some bootstrap samples (a class may be absent from them): use more rows"
        )
    tails = np.array([-z, z])
    if method == "bca" and drawn[0] < drawn[-1]:
        share = (np.count_nonzero(drawn < estimate) + 0.5 * np.count_nonzero(drawn == estimate)) / replicates
        shift = ndtri(np.clip(share, 0.5 / replicates, 1 - 0.5 / replicates))
        tails = shift + (shift + tails) / (1 - _acceleration(metric, arrays) * (shift + tails))
    low, high = np.quantile(drawn, ndtr(tails))
    return Interval(estimate, float(low), float(high), level, f"bootstrap, {method}, {replicates} replicates")


def _acceleration(metric: Callable[..., float], arrays: list[Array], most: int = 500) -> float:
    """Σ(θ̄ − θᵢ)³ / 6 (Σ(θ̄ − θᵢ)²)^{3/2} over the jackknife, by groups of rows where there are many."""
    groups = np.array_split(np.arange(len(arrays[0])), min(len(arrays[0]), most))
    left = np.array([float(metric(*(np.delete(array, rows, axis=0) for array in arrays))) for rows in groups])
    gap = left.mean() - left
    spread = float((gap**2).sum())
    return 0.0 if spread == 0 else float((gap**3).sum()) / (6 * spread**1.5)
