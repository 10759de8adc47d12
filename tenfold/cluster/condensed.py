"""Which clusters of a condensed tree are told: those that last longest, or its leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array


@dataclass(frozen=True)
class Condensed:
    """Who left whom: rows below n, clusters from n on, of which n is the root; `at` is one over the height."""

    n: int
    parent: Array
    child: Array
    at: Array
    weight: Array

    @property
    def count(self) -> int:
        """The number of clusters."""
        return int(self.parent.max()) - self.n + 1

    def births(self) -> Array:
        """Where each cluster begins."""
        found = np.zeros(self.count)
        clusters = self.child >= self.n
        found[self.child[clusters] - self.n] = self.at[clusters]
        return found

    def above(self) -> Array:
        """The cluster that each was part of; -1 for the root."""
        found = np.full(self.count, -1)
        clusters = self.child >= self.n
        found[self.child[clusters] - self.n] = self.parent[clusters] - self.n
        return found

    def sizes(self) -> Array:
        """The weight of each cluster where it begins; of the root that of the clusters that it splits into."""
        found = np.zeros(self.count)
        clusters = self.child >= self.n
        found[self.child[clusters] - self.n] = self.weight[clusters]
        found[0] = self.weight[clusters & (self.parent == self.n)].sum()
        return found

    def deaths(self) -> Array:
        """Where the last row or cluster leaves each cluster."""
        found = np.zeros(self.count)
        np.maximum.at(found, self.parent - self.n, self.at)
        return found

    def stability(self) -> Array:
        """Σ weight (at − birth) over what leaves each cluster; what leaves where it begins adds nothing."""
        birth = self.births()[self.parent - self.n]
        with np.errstate(invalid="ignore"):
            lasts = np.where(self.at == birth, 0.0, self.at - birth) * self.weight
        return np.bincount(self.parent - self.n, weights=lasts, minlength=self.count)


def chosen_by_mass(tree: Condensed, single: bool, largest: float) -> list[int]:
    """The clusters without overlap of the largest sum of stability; `single`: the root may be one."""
    stability, above, sizes = tree.stability(), tree.above(), tree.sizes()
    below, keeps = np.zeros(tree.count), np.zeros(tree.count, dtype=bool)
    for cluster in range(tree.count - 1, -1 if single else 0, -1):  # children have larger numbers
        keeps[cluster] = not (below[cluster] > stability[cluster] or sizes[cluster] > largest)
        if above[cluster] >= 0:
            below[above[cluster]] += stability[cluster] if keeps[cluster] else below[cluster]
    covered = np.zeros(tree.count, dtype=bool)
    for cluster in range(1, tree.count):
        covered[cluster] = covered[above[cluster]] or keeps[above[cluster]]
    return [int(cluster) for cluster in np.flatnonzero(keeps & ~covered)]


def leaves_of(tree: Condensed) -> list[int]:
    """The clusters that do not split; the root is none."""
    splits = np.zeros(tree.count, dtype=bool)
    above = tree.above()
    splits[above[above >= 0]] = True
    return [int(cluster) for cluster in np.flatnonzero(~splits) if cluster > 0]


def no_smaller(tree: Condensed, chosen: list[int], epsilon: float, single: bool) -> list[int]:
    """Clusters that begin at distances below `epsilon` give way to the one above them that begins beyond it."""
    births, above = tree.births(), tree.above()
    found: set[int] = set()
    done: set[int] = set()
    for cluster in chosen:
        if births[cluster] * epsilon <= 1:
            found.add(cluster)
            continue
        if cluster in done:
            continue
        here = cluster
        while above[here] > 0:
            here = int(above[here])
            if births[here] * epsilon < 1:
                break
        else:
            here = 0 if single else here
        found.add(here)
        under = np.zeros(tree.count, dtype=bool)
        under[here] = True
        for one in range(here + 1, tree.count):
            under[one] = under[above[one]]
        done.update(int(one) for one in np.flatnonzero(under) if one != here)
    return sorted(found)


def labelled(tree: Condensed, chosen: list[int], epsilon: float) -> tuple[Array, Array]:
    """The number of the chosen cluster that each row is in, -1 for none, and how long it stays: its share of the cluster's life."""
    above, number = tree.above(), np.full(tree.count, -1)
    for place, cluster in enumerate(chosen):
        number[cluster] = place
    for cluster in range(1, tree.count):
        if number[cluster] < 0 and (above[cluster] > 0 or number[0] < 0):
            number[cluster] = number[above[cluster]]
    alone = chosen == [0]
    if alone:
        number[:] = 0
    rows = tree.child < tree.n
    who, last, at = tree.child[rows], tree.parent[rows] - tree.n, tree.at[rows]
    label = np.full(tree.n, -1)
    label[who] = number[last]
    if alone:  # rows of the root itself, where they leave late enough
        enough = 1 / epsilon if epsilon > 0 else tree.at[tree.parent == tree.n].max()
        label[who[at < enough]] = -1
    death = tree.deaths()[np.array(chosen, dtype=np.int64)] if chosen else np.empty(0)
    probability = np.zeros(tree.n)
    inside = label[who] >= 0
    end = death[label[who][inside]]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where((end == 0) | np.isinf(at[inside]), 1.0, np.minimum(at[inside], end) / end)
    probability[who[inside]] = share
    return label, probability
