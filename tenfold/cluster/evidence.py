"""What rows say about the number of their clusters: curves over k = 1, ..., most, from k-means of the rows, of halves of them and of
rows without groups."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from tenfold.cluster.path import along, labels_of, many_along
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.random import seed_of
from tenfold.score.silhouette import MANY_COLUMNS, Distances, silhouettes
from tenfold.solve.lloyd import Run

REFERENCES = 20  # tables without groups
SPLITS = 5  # into two halves, each of which judges the other
RESTARTS, FEWER = 4, 1
PAIRS = 1 << 21  # distances at a time
LEAST_VARIANCE = 1e-6  # of a column within a cluster, of the mean variance of all columns


@dataclass(frozen=True)
class Evidence:
    """Curves over k; what is not defined for one cluster is NaN there."""

    runs: list[Run]
    total: float  # scatter of all rows
    within: Array  # (k) scatter within clusters over that of all rows
    held_out: Array  # (k) the same of rows that the centres have not seen
    silhouette: Array
    gap: Array  # mean of log W of tables without groups, less that of these rows
    gap_error: Array
    bic: Array  # 2 log L − parameters · log n: greater is better
    strength: Array  # prediction strength
    strength_error: Array

    @property
    def most(self) -> int:
        return len(self.within)


def evidence_of(rows: Array, weight: Array, most: int, rng: np.random.Generator) -> Evidence:
    """All curves of rows in memory, centred before so that squares keep their digits."""
    runs = along(rows, weight, most, seed_of(rng), RESTARTS)
    groups = [labels_of(rows, run.centers) for run in runs]
    spread = np.array([run.inertia for run in runs])
    gap, gap_error = gaps(rows, weight, spread, rng)
    held_out, strength = halves(rows, weight, most, rng)
    error = strength.std(axis=0, ddof=1) / np.sqrt(SPLITS)  # the two of a split share their rows
    return Evidence(
        runs, float(spread[0]), spread / spread[0], held_out.mean(axis=0), silhouette_curve(rows, weight, groups),
        gap, gap_error, np.array([bic(rows, weight, one, k) for k, one in enumerate(groups, 1)]), strength.mean(axis=0), error,
    )  # fmt: skip


def gaps(rows: Array, weight: Array, spread: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """mean of log W of rows spread evenly over the box of these along their principal axes, less log W; and its standard error.

    Tibshirani, Walther & Hastie 2001. The error is that of a mean of REFERENCES tables and of one more.
    """
    _, _, axes = np.linalg.svd(rows * np.sqrt(weight)[:, None], full_matrices=False)
    turned = rows @ axes.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    tables = [(np.ascontiguousarray(rng.uniform(low, high, turned.shape)), weight) for _ in range(REFERENCES)]
    runs = many_along(tables, len(spread), [seed_of(rng) for _ in tables], FEWER)
    least = np.finfo(np.float64).tiny
    logs = np.log(np.maximum([[run.inertia for run in path] for path in runs], least))
    return logs.mean(axis=0) - np.log(np.maximum(spread, least)), logs.std(axis=0) * np.sqrt(1 + 1 / REFERENCES)


def halves(rows: Array, weight: Array, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """(halves, k) both: the scatter within over that of all, and the prediction strength, of each half by the centres of the other.

    Prediction strength (Tibshirani & Walther 2005): of the pairs of rows that are together in a cluster of a half, the share that centres
    of the other half would keep together, in the cluster for which that share is least.
    """
    places = [np.array_split(rng.permutation(len(rows)), 2) for _ in range(SPLITS)]
    parts = [part for pair in places for part in pair]
    paths = many_along([(np.ascontiguousarray(rows[part]), weight[part]) for part in parts], most, [seed_of(rng) for _ in parts], FEWER)
    jobs = [(parts[i], paths[i], paths[i ^ 1]) for i in range(len(parts))]
    found = each(lambda job: _judged(rows[job[0]], weight[job[0]], job[1], job[2]), jobs)
    return np.array([one[0] for one in found]), np.array([one[1] for one in found])


def _judged(rows: Array, w: Array, own: list[Run], other: list[Run]) -> tuple[list[float], list[float]]:
    """Rows of a half, by its own clusters and by the centres of the other half."""
    total = max(own[0].inertia, np.finfo(np.float64).tiny)
    within, strength = list[float](), list[float]()
    for k, (mine, theirs) in enumerate(zip(own, other, strict=True), 1):
        here, there = labels_of(rows, mine.centers), labels_of(rows, theirs.centers)
        within.append(float(w @ ((rows - theirs.centers[there]) ** 2).sum(axis=1)) / total)
        both, alone = (np.bincount(here * k + there, amount, k * k).reshape(k, k) for amount in (w, w * w))
        pairs, kept = both.sum(axis=1) ** 2 - alone.sum(axis=1), (both**2 - alone).sum(axis=1)  # a row is no pair with itself
        shared = kept[pairs > 0] / pairs[pairs > 0]
        strength.append(float(shared.min()) if len(shared) else 0.0)
    return within, strength


def silhouette_curve(rows: Array, weight: Array, groups: list[Array]) -> Array:
    """The mean silhouette of each grouping; distances are computed once, a part at a time."""
    members = [np.eye(k)[one] * weight[:, None] for k, one in enumerate(groups, 1)][1:]
    if not members:
        return np.full(1, np.nan)
    together = np.concatenate(members, axis=1)
    parts = np.array_split(np.arange(len(rows)), max(1, len(rows) ** 2 // PAIRS))
    distances = Distances.of(rows) if rows.shape[1] >= MANY_COLUMNS else lambda part: cdist(rows[part], rows)
    sums = np.concatenate(each(lambda part: distances(part) @ together, parts))
    ends = np.cumsum([0, *(member.shape[1] for member in members)])
    found = [
        np.average(silhouettes(sums[:, start:end], one, member.sum(axis=0)), weights=weight)
        for start, end, one, member in zip(ends[:-1], ends[1:], groups[1:], members, strict=True)
    ]
    return np.array([np.nan, *found])


def bic(rows: Array, weight: Array, groups: Array, k: int) -> float:
    """2 log L − (2 k p + k − 1) log n of the mixture of Gaussians with the shares, means and variances by column of these groups."""
    n, p = float(weight.sum()), int(rows.shape[1])
    member = np.eye(k)[groups] * weight[:, None]
    share = np.maximum(member.sum(axis=0), np.finfo(np.float64).tiny)
    mean = member.T @ rows / share[:, None]
    variance = member.T @ rows**2 / share[:, None] - mean**2
    least = LEAST_VARIANCE * float(weight @ rows**2 @ np.ones(p)) / n / p
    variance = np.maximum(variance, max(least, np.finfo(np.float64).tiny))
    square = rows**2 @ (1 / variance).T - 2 * rows @ (mean / variance).T + (mean**2 / variance).sum(axis=1)
    logs = np.log(share / n) - 0.5 * np.log(2 * np.pi * variance).sum(axis=1) - 0.5 * square
    top = logs.max(axis=1)
    likelihood = float(weight @ (top + np.log(np.exp(logs - top[:, None]).sum(axis=1))))
    return 2 * likelihood - (2 * k * p + k - 1) * math.log(n)
