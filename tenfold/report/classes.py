"""Facts about predicted classes on held-out rows: confusion, ROC, precision and recall, reliability, gain, thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.evaluate.validate.intervals import wilson
from tenfold.selection.honest.unseen import Unseen

REPLICATES, BAND_ROWS, GRID = 200, 50_000, 51  # of the bands
LEVEL = 0.95
MOST_CLASSES = 15  # of a confusion matrix; the rarest are taken together
MOST_CURVES = 5  # of more than two classes
BINS = 10  # of the reliability diagram
THRESHOLDS = 99


@dataclass(frozen=True)
class Curve:
    """A curve with its area, and a band at the points of a grid."""

    name: str
    x: Array
    y: Array
    area: float
    grid: Array | None = None
    low: Array | None = None
    high: Array | None = None


@dataclass(frozen=True)
class Reliability:
    """Rows by predicted chance: the mean chance of each part, and the share that came true with its range."""

    chance: Array
    share: Array
    low: Array
    high: Array
    rows: Array
    off: float  # the mean distance of the two, weighted by rows


@dataclass(frozen=True)
class Thresholds:
    """What happens where a class is said from a chance on: counts at each threshold."""

    at: Array
    hits: Array
    false_alarms: Array
    misses: Array
    passed: Array

    def cost(self, miss: float, alarm: float = 1.0) -> Array:
        """The mean cost of a row at each threshold."""
        total = self.hits + self.false_alarms + self.misses + self.passed
        return np.asarray((miss * self.misses + alarm * self.false_alarms) / np.maximum(total, 1))

    def best(self, miss: float, alarm: float = 1.0) -> int:
        """The cheapest threshold; of several the middle one."""
        cost = self.cost(miss, alarm)
        least = np.flatnonzero(cost <= cost.min() * (1 + 1e-12))
        return int(least[len(least) // 2])


def positive_class(held: Unseen, positive: Any = None) -> int:
    """Of two classes the one that the run calls positive, of which is asked "how many of them are found"; else the rarer one."""
    if positive in held.classes:
        return held.classes.index(positive)
    counts = np.bincount(held.truth, minlength=len(held.classes))
    return int(np.argmin(counts)) if counts[0] != counts[-1] else len(counts) - 1


def drawn_classes(held: Unseen, positive: Any = None) -> list[int]:
    """The classes that get curves: the positive one of two, else the most frequent."""
    counts = np.bincount(held.truth, minlength=len(held.classes))
    if len(held.classes) == 2:
        return [positive_class(held, positive)]
    return sorted(np.argsort(-counts, kind="stable")[:MOST_CURVES].tolist())


def confusion(held: Unseen) -> tuple[list[str], Array]:
    """Names of classes and counts (true, predicted); of many classes the most frequent, the others taken together."""
    k = len(held.classes)
    counts = np.bincount(held.truth * k + held.predicted, minlength=k * k).reshape(k, k)
    if k <= MOST_CLASSES:
        return list(held.classes), counts
    first = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[: MOST_CLASSES - 1])
    place = np.full(k, MOST_CLASSES - 1)
    place[first] = np.arange(len(first))
    few = np.zeros((MOST_CLASSES, MOST_CLASSES), dtype=counts.dtype)
    np.add.at(few, (place[:, None], place[None, :]), counts)
    return [*(held.classes[i] for i in first), "all others"], few


def ranked(chance: Array) -> tuple[Array, Array]:
    """The order of falling chances, and the last place of each different chance in it."""
    order = np.argsort(-chance, kind="stable")
    different = np.flatnonzero(np.diff(chance[order]))
    return order, np.append(different, len(order) - 1)


def counts_along(weights: Array, positive: Array, order: Array, ends: Array) -> tuple[Array, Array]:
    """Weighted positives and others with at least each different chance."""
    w = weights[order]
    hit = np.cumsum(np.where(positive[order], w, 0.0))[ends]
    return hit, np.cumsum(w)[ends] - hit


def roc(held: Unseen, label: int, band: bool) -> Curve | None:
    """Share of the class found against the share of the others taken for it; its area is the chance that one of the class ranks first."""
    positive, chance = held.truth == label, held.outputs[:, label]
    if positive.all() or not positive.any():
        return None
    order, ends = ranked(chance)
    hit, false = counts_along(np.ones(len(held)), positive, order, ends)
    x, y = np.append(0.0, false / false[-1]), np.append(0.0, hit / hit[-1])
    area = float(np.trapezoid(y, x))
    grid = np.linspace(0, 1, GRID)
    low, high = _bands(positive, chance, grid, _roc_at) if band else (None, None)
    return Curve(held.classes[label], x, y, area, grid if band else None, low, high)


def precision_recall(held: Unseen, label: int, band: bool) -> Curve | None:
    """Precision against recall; its area is the average precision Σ (Rₖ − Rₖ₋₁) Pₖ."""
    positive, chance = held.truth == label, held.outputs[:, label]
    if positive.all() or not positive.any():
        return None
    order, ends = ranked(chance)
    hit, false = counts_along(np.ones(len(held)), positive, order, ends)
    recall, precision = hit / hit[-1], hit / (hit + false)
    area = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    grid = np.linspace(0.02, 1, GRID - 1)
    low, high = _bands(positive, chance, grid, _precision_at) if band else (None, None)
    return Curve(held.classes[label], np.append(0.0, recall), np.append(precision[0], precision), area, grid if band else None, low, high)


def _roc_at(hit: Array, false: Array, grid: Array) -> Array:
    return np.asarray(np.interp(grid, np.append(0.0, false / false[-1]), np.append(0.0, hit / hit[-1])))


def _precision_at(hit: Array, false: Array, grid: Array) -> Array:
    """The precision at the first threshold that reaches each recall."""
    place = np.minimum(np.searchsorted(hit / hit[-1], grid - 1e-12), len(hit) - 1)
    return np.asarray(hit[place] / np.maximum(hit[place] + false[place], 1e-300))


def _bands(positive: Array, chance: Array, grid: Array, along: object) -> tuple[Array, Array]:
    """Pointwise ranges at the grid from rows drawn with replacement."""
    assert callable(along)
    if len(positive) > BAND_ROWS:
        some = np.linspace(0, len(positive) - 1, BAND_ROWS).astype(int)
        positive, chance = positive[some], chance[some]
    order, ends = ranked(chance)
    rng, n, found = np.random.default_rng(0), len(positive), []
    for _ in range(REPLICATES):
        weights = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        hit, false = counts_along(weights, positive, order, ends)
        if hit[-1] > 0 and false[-1] > 0:
            found.append(along(hit, false, grid))
    if not found:
        return np.zeros(len(grid)), np.ones(len(grid))
    low, high = np.quantile(np.array(found), [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], axis=0)
    return low, high


def reliability(held: Unseen, positive: Any = None) -> Reliability:
    """Of two classes the chance of the positive one; of more the chance of the class that is said, against how often it is right."""
    if len(held.classes) == 2:
        label = positive_class(held, positive)
        chance, true = held.outputs[:, label], held.truth == label
    else:
        chance, true = held.outputs.max(axis=1), held.predicted == held.truth
    order = np.argsort(chance, kind="stable")
    parts = [part for part in np.array_split(order, min(BINS, max(1, len(order) // 10))) if len(part)]
    rows = np.array([len(part) for part in parts])
    mean, share = (np.array([values[part].mean() for part in parts]) for values in (chance, true))
    ranges = [wilson(float(p * n), int(n), LEVEL) for p, n in zip(share, rows, strict=True)]
    low, high = (np.array([getattr(one, end) for one in ranges]) for end in ("low", "high"))
    return Reliability(mean, share, low, high, rows, float(np.average(np.abs(mean - share), weights=rows)))


def gain(held: Unseen, label: int) -> Curve | None:
    """The share of a class found among the rows ranked first, against the share of rows looked at."""
    positive, chance = held.truth == label, held.outputs[:, label]
    if positive.all() or not positive.any():
        return None
    order, ends = ranked(chance)
    hit, false = counts_along(np.ones(len(held)), positive, order, ends)
    x, y = np.append(0.0, (hit + false) / len(held)), np.append(0.0, hit / hit[-1])
    return Curve(held.classes[label], x, y, float(np.trapezoid(y, x)))


def thresholds(held: Unseen, label: int) -> Thresholds:
    """Counts where a row is said to be of the class from each of 0.01, ..., 0.99 on."""
    at = np.arange(1, THRESHOLDS + 1) / (THRESHOLDS + 1)
    positive, chance = held.truth == label, held.outputs[:, label]
    mine, others = np.sort(chance[positive]), np.sort(chance[~positive])
    misses, passed = np.searchsorted(mine, at), np.searchsorted(others, at)
    return Thresholds(at, len(mine) - misses, len(others) - passed, misses, passed)
