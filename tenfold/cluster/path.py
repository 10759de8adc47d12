"""k-means for every number of clusters in turn, each begun at the one before, on rows in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.threads import stopping
from tenfold.solve.lloyd import Run, lloyd_in_memory, plus_plus
from tenfold.solve.sketch import Sample

TRIALS = 8  # rows that are tried as one more centre
STEPS = 100
STILL = 1e-6  # of the scatter of all rows by which centres may move in a last step


def along(rows: Array, weight: Array, most: int, seed: int, restarts: int) -> list[Run]:
    """Runs for k = 1, ..., most: the best of the last one with one centre more and of `restarts` from k-means++; inertia never rises."""
    rng = np.random.default_rng(seed)
    mean = weight @ rows / weight.sum()
    total = float(weight @ ((rows - mean) ** 2).sum(axis=1))
    here = _all_of(rows, weight)
    found = [Run(mean[None, :], inertia=total, settled=True, done=True, n_filled=1)]
    for k in range(2, most + 1):
        if stopping():
            raise KeyboardInterrupt
        starts = [_one_more(rows, weight, found[-1].centers, rng), *(plus_plus(rows, weight, k, rng) for _ in range(restarts))]
        best = lloyd_in_memory(rows, weight, starts, STILL * total / max(k, 1) / len(rows), STEPS, here)
        found.append(best if best.inertia <= found[-1].inertia else Run(starts[0], inertia=found[-1].inertia, n_filled=k))
    return found


def many_along(tables: Sequence[tuple[Array, Array]], most: int, seeds: Sequence[int], restarts: int) -> list[list[Run]]:
    """The same of several tables, side by side on the threads that are lent."""
    jobs = list(zip(tables, seeds, strict=True))
    return each(lambda job: along(job[0][0], job[0][1], most, job[1], restarts), jobs)


def alone(rows: Array, k: int, seed: int, restarts: int = 4) -> Array:
    """The centres of one number of clusters, the best of several seeds."""
    rng, weight = np.random.default_rng(seed), np.ones(len(rows))
    total = float(((rows - rows.mean(axis=0)) ** 2).sum())
    starts = [plus_plus(rows, weight, k, rng) for _ in range(restarts)]
    return lloyd_in_memory(rows, weight, starts, STILL * total / k / len(rows), STEPS, _all_of(rows, weight)).centers


def labels_of(rows: Array, centers: Array) -> Array:
    return np.asarray(ops.nearest(rows, np.ascontiguousarray(centers))[0])


def _all_of(rows: Array, weight: Array) -> Sample:
    """All rows as a sample, for clusters that have lost theirs."""
    return Sample(np.zeros(len(rows), dtype=np.uint64), rows, weight, len(rows), float(weight.sum()))


def _one_more(rows: Array, weight: Array, centers: Array, rng: np.random.Generator) -> Array:
    """The centres and the row, of several drawn with probability w · distance², that lowers the inertia most."""
    _, away = ops.nearest(rows, np.ascontiguousarray(centers))
    share = weight * away
    if not share.any():
        return np.concatenate([centers, centers[:1]])
    drawn = np.unique(rng.choice(len(rows), TRIALS, p=share / share.sum()))
    gain = [float(weight @ np.maximum(away - ((rows - rows[one]) ** 2).sum(axis=1), 0.0)) for one in drawn]
    return np.concatenate([centers, rows[drawn[int(np.argmax(gain))]][None, :]])
