"""What a map of rows keeps: how many near rows stay near, and which columns can be read off it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array
from tenfold.near.index import NeighborIndex

NEIGHBOURS, MOST_ROWS = 10, 3000


@dataclass(frozen=True)
class Neighbourhood:
    """kept: of the nearest rows of each row so many are among its nearest on the map; columns: share of the variance of each that the
    mean of its nearest rows on the map explains."""

    neighbours: int
    kept: float
    columns: dict[str, float]


def neighbourhood_of(Z: Array, scores: Array, places: Mapping[str, Sequence[int]], seed: int) -> Neighbourhood | None:
    """On at most MOST_ROWS rows; None where there are too few."""
    some = np.sort(np.random.default_rng(seed).permutation(len(Z))[:MOST_ROWS])
    Z, scores = np.ascontiguousarray(Z[some]), np.ascontiguousarray(scores[some], dtype=np.float64)
    k = min(NEIGHBOURS, (len(Z) - 1) // 2)
    if k < 1:
        return None
    before, after = (NeighborIndex(rows).nearest(None, k)[1] for rows in (Z, scores))
    kept = np.mean([len(np.intersect1d(a, b, assume_unique=True)) for a, b in zip(before, after, strict=True)]) / k
    left = ((Z - Z[after].mean(axis=1)) ** 2).sum(axis=0)
    total = ((Z - Z.mean(axis=0)) ** 2).sum(axis=0)
    shown = {name: float(1 - left[list(one)].sum() / (total[list(one)].sum() or 1.0)) for name, one in places.items()}
    return Neighbourhood(k, float(kept), dict(sorted(shown.items(), key=lambda pair: -pair[1])))
