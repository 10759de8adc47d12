"""Repair of k-means: one cluster is split and two are merged, while that lowers the inertia."""

from __future__ import annotations

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.solve.lloyd import Clusters, Run, lloyd_in_memory
from tenfold.solve.sketch import Sample

ROUNDS, TRIES = 100, 5  # exchanges that help, and splits that are tried for one
TURNS = 12  # of a direction towards the largest spread


def repaired(rows: Array, weight: Array, run: Run, tol: float, max_iter: int, sample: Sample) -> Run:
    """Lloyd's steps after each exchange; one that does not lower the inertia is taken back. Nothing is drawn."""
    for _ in range(ROUNDS):
        better = _exchanged(rows, weight, run, tol, max_iter, sample)
        if better is None:
            break
        run = better
    return run


def _exchanged(rows: Array, weight: Array, run: Run, tol: float, max_iter: int, sample: Sample) -> Run | None:
    """The run after the first exchange that helps: clusters of the largest gain by a split first, the cheapest merger for each."""
    k = len(run.centers)
    labels, _ = ops.nearest(rows, run.centers)
    splits = [_split(rows[labels == c], weight[labels == c]) for c in range(k)]
    W = np.bincount(labels, weights=weight, minlength=k)
    apart = ((run.centers[:, None] - run.centers) ** 2).sum(axis=2) if k * k * rows.shape[1] < 1 << 24 else _apart(run.centers)
    price = W[:, None] * W / np.maximum(W[:, None] + W, 1e-300) * apart  # of a merger: what the inertia rises by
    np.fill_diagonal(price, np.inf)
    for c in sorted(range(k), key=lambda c: -splits[c][0])[:TRIES]:
        gain, halves = splits[c]
        others = price.copy()
        others[c], others[:, c] = np.inf, np.inf
        a, b = np.unravel_index(int(others.argmin()), others.shape)
        if not gain > others[a, b]:
            return None
        centers = run.centers.copy()
        if W[a] + W[b] > 0:
            centers[a] = (W[a] * centers[a] + W[b] * centers[b]) / (W[a] + W[b])
        centers[c], centers[b] = halves
        trial = lloyd_in_memory(rows, weight, [centers], tol, max_iter, sample)
        if trial.inertia < run.inertia * (1 - 1e-9):
            return trial
    return None


def _split(rows: Array, weight: Array) -> tuple[float, Array]:
    """What the inertia falls by if these rows have two centres, and the centres: the halves along the largest spread, improved."""
    total = weight.sum()
    if len(rows) < 2 or not total > 0:
        return 0.0, np.zeros((2, rows.shape[1]))
    mean = weight @ rows / total
    Z = rows - mean
    spread = weight @ Z**2
    direction = Z[:, int(spread.argmax())] * weight @ Z
    for _ in range(TURNS):
        size = float(np.sqrt(direction @ direction))
        if not size > 0:
            return 0.0, np.stack([mean, mean])
        direction = (Z @ (direction / size) * weight) @ Z
    right = Z @ direction > 0
    if not (weight[right].any() and weight[~right].any()):
        return 0.0, np.stack([mean, mean])
    halves = np.stack([np.average(rows[side], axis=0, weights=weight[side]) for side in (~right, right)])
    halves, _, _, _ = ops.lloyd(rows, weight, halves, 0.0, 20)
    return float(spread.sum()) - Clusters.of(rows, weight, halves).inertia, halves


def _apart(centers: Array) -> Array:
    """Squared distances of many centres."""
    C = centers - centers.mean(axis=0)
    norm = (C * C).sum(axis=1)
    return np.asarray(np.maximum(norm[:, None] - 2 * C @ C.T + norm, 0.0))
