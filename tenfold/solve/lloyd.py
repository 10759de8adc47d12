"""k-means: seeds from a weighted sample, and Lloyd's steps as a generator with several runs in lockstep."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.learning import Learner
from tenfold.core.stats import Stats
from tenfold.solve.sketch import Sample

AT_A_CALL = 200_000_000  # products in one native call: well below a second, so that Ctrl-C is noticed


@dataclass(slots=True)
class Clusters(Stats):
    """Weight and sum of the rows nearest to each centre, and Σ w ‖x − c‖²."""

    weight: Array
    sum: Array
    inertia: float

    @classmethod
    def of(cls, X: Array, w: Array, centers: Array) -> Clusters:
        return cls(*ops.assign_sums(X, w, centers))


@dataclass(slots=True)
class Steps(Stats):
    """One Lloyd step of each run: one read of a block serves all of them."""

    runs: list[Clusters]

    def __add__(self, other: Steps) -> Steps:
        return Steps([a + b for a, b in zip(self.runs, other.runs, strict=True)])

    @property
    def inertia(self) -> float:
        return min(run.inertia for run in self.runs)


@dataclass(slots=True)
class Run:
    """Centres on their way."""

    centers: Array
    n_iter: int = 0
    inertia: float = np.inf  # of these centres if they are settled or measured, else of those before the last step
    settled: bool = False  # the last step moved nothing
    done: bool = False
    n_filled: int = 0  # clusters that have rows


def step(block: Any, centers: list[Array]) -> Steps:
    """Assign the rows of a block to the nearest of each set of centres."""
    X = ops.dense(block.X)
    return Steps([Clusters.of(X, block.w, one) for one in centers])


def lloyd(starts: list[Array], tol: float, max_iter: int, sampling: Any, measure: bool) -> Learner[Run]:
    """Lloyd's steps from every start, side by side; the run that ends with the least inertia.

    A run ends when its centres move by at most `tol` (sum of squares). A cluster without rows is moved to the
    row of a sample that adds most to the inertia: an empty cluster adds nothing, so this never raises it.
    `sampling` is the summary that gives the sample; it is asked for only when a cluster is empty. With
    `measure` one last pass, where needed, finds the inertia of the final centres.
    """
    runs, sample = [Run(start) for start in starts], None
    for _ in range(max_iter):
        active = [run for run in runs if not run.done]
        if not active:
            break
        steps = yield partial(step, centers=[run.centers for run in active])
        if sample is None and any(not one.weight.all() for one in steps.runs):
            sample = yield sampling
        for run, found in zip(active, steps.runs, strict=True):
            _advance(run, found, tol, sample)
    if measure and not all(run.settled for run in runs):
        last = yield partial(step, centers=[run.centers for run in runs])
        for run, found in zip(runs, last.runs, strict=True):
            run.inertia, run.n_filled = found.inertia, int((found.weight > 0).sum())
    return min(runs, key=lambda run: run.inertia)


def lloyd_in_memory(rows: Array, weight: Array, starts: list[Array], tol: float, max_iter: int, sample: Sample) -> Run:
    """`lloyd` with `measure` on rows in memory, few enough for one block: many steps at a call."""
    runs = [Run(start) for start in starts]
    for run in runs:
        while not run.done and run.n_iter < max_iter:
            most = int(min(max_iter - run.n_iter, max(1, AT_A_CALL // (rows.size * len(run.centers)))))
            run.centers, inertia, shift, steps = ops.lloyd(rows, weight, run.centers, tol, most)
            if steps:
                run.inertia, run.n_iter, run.n_filled = inertia, run.n_iter + steps, len(run.centers)
                run.settled, run.done = shift == 0, shift <= tol
            if steps < most and not run.done:  # a centre has lost its rows
                _advance(run, Clusters.of(rows, weight, run.centers), tol, sample)
        if not run.settled:
            last = Clusters.of(rows, weight, run.centers)
            run.inertia, run.n_filled = last.inertia, int((last.weight > 0).sum())
    return min(runs, key=lambda run: run.inertia)


def _advance(run: Run, found: Clusters, tol: float, sample: Sample | None) -> None:
    filled = found.weight > 0
    n_filled = int(np.count_nonzero(filled))
    if n_filled == len(filled):
        moved = found.sum / found.weight[:, None]
    else:
        moved = np.where(filled[:, None], found.sum / np.where(filled, found.weight, 1.0)[:, None], run.centers)
        if sample is not None:
            moved[~filled] = _farthest(sample, moved[filled], moved[~filled])
    away = moved - run.centers
    shift = float(np.vdot(away, away))
    run.n_iter += 1
    run.inertia, run.n_filled = found.inertia, n_filled
    run.centers, run.settled, run.done = moved, shift == 0, shift <= tol


def _farthest(sample: Sample, centers: Array, idle: Array) -> Array:
    """New places for idle centres, one after the other: the sample row that adds most to the inertia."""
    _, distance2 = ops.nearest(sample.rows, np.ascontiguousarray(centers))
    places = idle.copy()
    for place in places:
        row = int(np.argmax(sample.weight * distance2))
        if distance2[row] == 0:
            break  # no row is left without a centre on it
        place[:] = sample.rows[row]
        np.minimum(distance2, ((sample.rows - place) ** 2).sum(axis=1), out=distance2)
    return places


def plus_plus(rows: Array, weight: Array, k: int, rng: np.random.Generator) -> Array:
    """Greedy k-means++: each new seed is the best of 2 + log k rows drawn with probability w · distance²."""
    Z = rows - weight @ rows / weight.sum()  # so that the expanded distances keep their digits
    norm = (Z * Z).sum(axis=1)
    n_trials = 2 + int(math.log(k))
    cost = np.full(len(rows), np.inf)
    seeds: list[int] = []
    drawn = _draw(weight, rng.random(1))
    for _ in range(min(k, len(rows))):
        distance2 = Z[drawn] @ (-2 * Z.T)  # (trials, rows)
        distance2 += norm
        distance2 += norm[drawn, None]
        distance2[range(len(drawn)), drawn] = 0.0
        np.maximum(distance2, 0.0, out=distance2)
        np.minimum(distance2, cost, out=distance2)
        best = int((distance2 @ weight).argmin())
        cost = distance2[best]
        seeds.append(int(drawn[best]))
        if len(seeds) == k:
            break
        share = cost * weight
        if not share.any():  # the rows left lie on seeds to working precision: any of them
            share = np.where(np.isin(np.arange(len(rows)), seeds), 0.0, weight)
        drawn = _draw(share, rng.random(n_trials))
    return _filled_up(rows[seeds], k)


def _draw(share: Array, uniform: Array) -> Array:
    """Row numbers with probability proportional to `share`."""
    total = share.cumsum()
    return np.asarray(np.minimum(total.searchsorted(uniform * total[-1], side="right"), len(share) - 1))


def random_rows(rows: Array, weight: Array, k: int, rng: np.random.Generator) -> Array:
    """k different rows, drawn one after the other with probability proportional to weight."""
    n = min(k, len(rows))
    return _filled_up(rows[rng.choice(len(rows), n, replace=False, p=weight / weight.sum())], k)


def _filled_up(seeds: Array, k: int) -> Array:
    """Fewer rows than seeds: some seeds coincide."""
    return np.ascontiguousarray(seeds[np.arange(k) % len(seeds)])
