"""k planes: rows to the nearest affine subspace, and the subspaces to the principal components of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner
from tenfold.core.stats import Moments, Stats


@dataclass(frozen=True, slots=True)
class Planes:
    """k points (k, p), and orthonormal directions from each (k, q, p)."""

    points: Array
    directions: Array

    def distances2(self, X: Array) -> Array:
        """(rows, k): ‖x − m‖² − ‖V (x − m)‖², from differences, so that digits are kept."""
        found = np.empty((len(X), len(self.points)))
        for k, (point, V) in enumerate(zip(self.points, self.directions, strict=True)):
            Z = X - point
            Z = Z - (Z @ V.T) @ V
            found[:, k] = (Z * Z).sum(axis=1)
        return found


@dataclass(slots=True)
class Fits(Stats):
    """Moments of the rows nearest to each plane, and Σ w times the least squared distance."""

    groups: Moments
    inertia: float


def assigned(block: Block, planes: Planes) -> Fits:
    """The rows of a block at their planes."""
    X = np.asarray(ops.dense(block.X), dtype=np.float64)
    away = planes.distances2(X)
    label = away.argmin(axis=1)
    groups = Moments.by_group(X, label.astype(np.int64), block.w, len(planes.points))
    return Fits(groups, float(block.w @ away.min(axis=1)))


def refitted(found: Fits, before: Planes) -> Planes:
    """Through the mean of its rows, along their largest spread; a plane without rows stays."""
    q = before.directions.shape[1]
    points, directions = before.points.copy(), before.directions.copy()
    for k in np.flatnonzero(found.groups.weight > 0):
        points[k] = found.groups.mean[k]
        _, vectors = np.linalg.eigh(found.groups.scatter[k])
        directions[k] = vectors[:, ::-1][:, :q].T
    return Planes(points, signed(directions))


def signed(directions: Array) -> Array:
    """With the largest entry of each above zero: the sign says nothing."""
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=-1, keepdims=True), axis=-1)
    return np.asarray(directions * np.where(largest < 0, -1.0, 1.0))


def alternate(planes: Planes, tol: float, max_iter: int) -> Learner[tuple[Planes, float, int, bool]]:
    """Passes until the objective falls by at most `tol` of itself: the planes, their objective, passes, and whether it has settled."""
    before, settled, passes = np.inf, False, 0
    found = yield partial(assigned, planes=planes)
    while passes < max_iter and not settled:
        passes += 1
        trial = refitted(found, planes)
        after = yield partial(assigned, planes=trial)
        before = found.inertia
        if after.inertia <= before:  # else rounding errors: the planes stay
            planes, found = trial, after
        settled = before - after.inertia <= tol * before
    return planes, found.inertia, passes, settled


def seeds(rows: Array, weight: Array, k: int, q: int, rng: np.random.Generator) -> Planes:
    """Planes through a drawn row and those around it; each next row with probability w · squared distance from the planes so far."""
    p, around = rows.shape[1], min(len(rows), 2 * q + 3)
    points, directions = np.empty((k, p)), np.empty((k, q, p))
    share = weight.astype(np.float64)
    for c in range(k):
        share = share if share.sum() > 0 else weight
        row = rows[rng.choice(len(rows), p=share / share.sum())]
        near = np.argpartition(((rows - row) ** 2).sum(axis=1), around - 1)[:around]
        points[c] = rows[near].mean(axis=0)
        directions[c] = np.linalg.svd(rows[near] - points[c], full_matrices=True)[2][:q]
        share = weight * Planes(points[: c + 1], directions[: c + 1]).distances2(rows).min(axis=1)
    return Planes(points, signed(directions))
