"""Where a column of numbers is cut into bins: evenly, at quantiles, or between clusters; where classes change is in `solve.class_cuts`."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array

MOST_STEPS = 300  # of Lloyd's algorithm
SETTLED = 1e-4  # of the variance: centres that move less have settled
STEP_EPS = float(np.finfo(np.float64).eps)


def weighted_quantiles(values: Array, w: Array, levels: Array, average: bool) -> Array:
    """Inverses of the weighted distribution function of sorted values; `average`: in the middle of where it is level."""
    reached = np.cumsum(w)
    wanted = np.maximum(levels * reached[-1], np.nextafter(0.0, 1.0))
    place = np.minimum(np.searchsorted(reached, wanted), len(values) - 1)
    found = values[place].astype(np.float64)
    if average:
        level = reached[place] - wanted <= STEP_EPS * reached[-1]
        found = np.where(level, (found + values[np.minimum(place + 1, len(values) - 1)]) / 2, found)
    return np.asarray(found)


def cluster_cuts(values: Array, w: Array, k: int) -> Array:
    """k − 1 cuts half-way between the centres of k-means in one dimension, from evenly spaced starts; `values` are sorted.

    In one dimension clusters are intervals, so that a step is k − 1 binary searches and sums between them.
    """
    middle = np.average(values, weights=None if (w == w[0]).all() else w)
    x = values.astype(np.float64) - middle
    tol = SETTLED * x.var()
    edges = np.linspace(x[0], x[-1], k + 1)
    centers, before = (edges[1:] + edges[:-1]) / 2, None
    wx = w * x
    for _ in range(MOST_STEPS):
        stops = np.concatenate([[0], np.searchsorted(x, (centers[1:] + centers[:-1]) / 2, side="right"), [len(x)]])
        if before is not None and np.array_equal(stops, before):
            break
        there = stops[1:] > stops[:-1]
        weight, total = np.zeros(k), np.zeros(k)
        weight[there], total[there] = np.add.reduceat(w, stops[:-1][there]), np.add.reduceat(wx, stops[:-1][there])
        if not there.all():
            _fill_empty(x, w, centers, stops, weight, total)
        moved = total / np.where(weight > 0, weight, 1.0)
        moved[weight <= 0] = moved[weight.argmax()]  # one that has nothing, or gave its only value away, starts again at the largest
        shift = float(((moved - centers) ** 2).sum())
        before, centers = stops if there.all() else None, np.sort(moved)
        if shift <= tol:
            break
    return np.asarray((centers[1:] + centers[:-1]) / 2 + middle)


def _fill_empty(x: Array, w: Array, centers: Array, stops: Array, weight: Array, total: Array) -> None:
    """Each cluster without values gets the value farthest from its centre, which leaves its own cluster."""
    label = np.repeat(np.arange(len(centers)), np.diff(stops))
    far = np.argsort(-((x - centers[label]) ** 2), kind="stable")
    for empty, row in zip(np.flatnonzero(np.diff(stops) == 0), far, strict=False):
        weight[label[row]] -= w[row]
        total[label[row]] -= w[row] * x[row]
        weight[empty], total[empty] = w[row], w[row] * x[row]
