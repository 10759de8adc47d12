"""Where a column of numbers is cut into bins: evenly, at quantiles, between clusters, or where classes change."""

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


def class_cuts(values: Array, codes: Array, w: Array, k: int) -> Array:
    """The cuts of the recursive minimal-entropy splitting of Fayyad & Irani (1993); `values` are sorted.

    A set S of weight N is cut into S₁, S₂ where Σ N_i H(S_i) is least, if that pays for its description:
    N gain > log₂(N − 1) + log₂(3^c − 2) − [c H(S) − c₁ H(S₁) − c₂ H(S₂)], where c counts the classes that a set has.
    """
    first = np.flatnonzero(np.append(True, values[1:] > values[:-1]))
    counts = np.zeros((len(first), k))
    np.add.at(counts, (np.searchsorted(first, np.arange(len(values)), side="right") - 1, codes), w)
    distinct = values[first].astype(np.float64)
    found, open_ = list[float](), [(0, len(distinct))]
    while open_:
        start, stop = open_.pop()
        cut = _best_cut(counts[start:stop])
        if cut is None:
            continue
        cut += start
        found.append(distinct[cut - 1] + (distinct[cut] - distinct[cut - 1]) / 2)
        open_ += [(start, cut), (cut, stop)]
    return np.array(sorted(found))


def _best_cut(counts: Array) -> int | None:
    """How many of the values, in order, go left in the best cut; None where no cut pays."""
    if len(counts) < 2:
        return None
    left = np.cumsum(counts, axis=0)
    total, left = left[-1], left[:-1]
    right = total - left
    weight = total.sum()
    inside = _bits(left) + _bits(right)  # N₁ H₁ + N₂ H₂
    cut = int(np.argmin(inside))
    one, two = left[cut], counts[cut + 1 :].sum(axis=0)
    c, c1, c2 = (int((part > 0).sum()) for part in (total, one, two))
    whole = _bits(total)
    entropies = c * whole / weight - c1 * _bits(one) / one.sum() - c2 * _bits(two) / two.sum()
    price = np.log2(max(weight - 1, 1.0)) + np.log2(3.0**c - 2) - entropies
    return cut + 1 if whole - inside[cut] > price else None


def _bits(counts: Array) -> Array:
    """N H = N log₂ N − Σ n log₂ n of counts of classes."""
    total = counts.sum(axis=-1)
    return np.asarray(_n_log_n(total) - _n_log_n(counts).sum(axis=-1))


def _n_log_n(n: Array) -> Array:
    return np.asarray(n * np.log2(np.where(n > 0, n, 1.0)))
