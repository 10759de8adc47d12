"""k medoids of a table of distances: where to begin, and swaps until none helps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tenfold._pairs import improve
from tenfold.core.data import Array


@dataclass(slots=True)
class Solution:
    """Medoids that no swap makes better, or those of the last round."""

    medoids: Array
    loss: float
    rounds: int
    unfinished: bool


def k_medoids(D: Array, w: Array, starts: list[Array], max_iter: int) -> Solution:
    """The best of what swaps make of some starts: D is (n, n), symmetric."""
    ends = [Solution(*improve(D, w, start, max_iter)) for start in starts]
    return min(ends, key=lambda end: end.loss)


def plus_plus(D: Array, w: Array, k: int, rng: np.random.Generator) -> Array:
    """As k-means++, by distances: each new medoid is the best of 2 + log k rows drawn with probability w · distance."""
    chosen = [_drawn(w, rng, 1)[0]]
    near = D[chosen[0]].astype(np.float64)
    while len(chosen) < k:
        share = w * near
        share[chosen] = 0
        if not share.any():  # the rows left lie on medoids: any of them
            share = np.ones(len(D))
            share[chosen] = 0
        trials = _drawn(share, rng, 2 + int(math.log(k)))
        closer = [np.minimum(near, D[trial]) for trial in trials]
        best = int(np.argmin([w @ one for one in closer]))
        chosen.append(trials[best])
        near = closer[best]
    return np.array(chosen, dtype=np.int64)


def build(D: Array, w: Array, k: int) -> Array:
    """Greedy: each new medoid is the row by which the loss falls most (BUILD of Kaufman & Rousseeuw 1990)."""
    chosen: list[int] = []
    near = np.full(len(D), np.inf)
    for _ in range(k):
        loss = np.array([w @ np.minimum(near, row) for row in D])
        loss[chosen] = np.inf
        chosen.append(int(loss.argmin()))
        near = np.minimum(near, D[chosen[-1]])
    return np.array(chosen, dtype=np.int64)


def random_rows(w: Array, k: int, rng: np.random.Generator) -> Array:
    """k different rows, of positive weight as far as there are any."""
    return np.asarray(np.concatenate([rng.permutation(np.flatnonzero(w > 0)), np.flatnonzero(w <= 0)])[:k], dtype=np.int64)


def _drawn(share: Array, rng: np.random.Generator, count: int) -> list[int]:
    """Row numbers with probability proportional to `share`."""
    total = share.cumsum()
    places = total.searchsorted(rng.random(count) * total[-1], side="right")
    last = int(np.flatnonzero(share)[-1])
    return [min(int(place), last) for place in places]
