"""Would new rows give the same groups: k-means of halves of the rows, held against each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenfold.cluster.path import alone, labels_of
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.random import seed_of
from tenfold.score.clustering import Contingency

SPLITS = 10
ROWS = 5000  # looked at
STABLE, MOSTLY = 0.9, 0.7  # adjusted Rand index


@dataclass(frozen=True)
class Stability:
    """agreement: the mean adjusted Rand index of the groupings by two halves, each of which groups all rows
    again: for each cluster, the mean over halves of its largest overlap (Jaccard index) with a cluster of the half
    """

    agreement: float
    again: Array

    def __str__(self) -> str:
        if self.agreement >= STABLE:
            return "stable: other rows of the same kind would give the same groups"
        if self.agreement >= MOSTLY:
            return "mostly stable: with other rows of the same kind some rows would change groups"
        return "not stable: with other rows of the same kind the groups would come out differently"


def stability(rows: Array, labels: Array, k: int, seed: int) -> Stability:
    """Rows are drawn where there are many; a half has at least as many rows as clusters."""
    rng = np.random.default_rng(seed)
    if len(rows) > ROWS:
        drawn = np.sort(rng.permutation(len(rows))[:ROWS])
        rows, labels = np.ascontiguousarray(rows[drawn]), labels[drawn]
    splits = [np.array_split(rng.permutation(len(rows)), 2) for _ in range(SPLITS)]
    halves = [half for pair in splits for half in pair]
    seeds = [seed_of(rng) for _ in halves]
    found = each(lambda i: labels_of(rows, alone(np.ascontiguousarray(rows[halves[i]]), k, seeds[i])), list(range(len(halves))))
    agreed = [Contingency.of(one, other).adjusted_rand() for one, other in zip(found[::2], found[1::2], strict=True)]
    return Stability(float(np.mean(agreed)), np.mean([_overlaps(labels, one, k) for one in found], axis=0))


def _overlaps(labels: Array, other: Array, k: int) -> Array:
    """For each cluster the largest share of rows in common with one of the others, of the rows in either."""
    both = np.bincount(labels * k + other, minlength=k * k).reshape(k, k).astype(np.float64)
    either = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
    return np.asarray(np.divide(both, either, out=np.zeros_like(both), where=either > 0).max(axis=1))
