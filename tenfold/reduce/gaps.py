"""Principal components of rows with missing cells, by expectation-maximisation (Tipping & Bishop 1999, §3; Little & Rubin 2002, §11.3).

Under N(m, W Wᵀ + σ² I) the cells o of a row that are observed tell its coordinates z = M⁻¹ W_oᵀ(x_o − m_o), M = W_oᵀ W_o + σ² I, and so
those that are missing: x_m has the mean m_m + W_m z and the covariance σ² (I + W_m M⁻¹ W_mᵀ). The complete rows are the hidden part, not
z: the maximisation is then PCA itself, so that a table without gaps takes one step, and others as many as their gaps make.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import log, pi
from typing import Any, NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, NotConverged, warn
from tenfold.core.learning import Learner
from tenfold.core.numbers import column_name
from tenfold.core.stats import Moments, Stats
from tenfold.solve.em import ascend
from tenfold.solve.linalg import eigh

NUMBERS = 1 << 20  # in the conditional covariances of rows that are taken together
STEPS = 1000
LEAST = 1e-12  # noise, of the mean variance


class Plane(NamedTuple):
    """m, W (p, k) and σ²."""

    mean: Array
    W: Array
    noise: float


@dataclass(slots=True)
class Completed(Stats):
    """Moments of rows filled by their conditional means, Σ w of their conditional covariances, and the log-likelihood."""

    moments: Moments
    doubt: Array
    likelihood: float


@dataclass(slots=True)
class Cells(Stats):
    """Σ w, Σ w x and Σ w x² of the cells that are there."""

    weight: Array
    total: Array
    squares: Array


def observed(block: Block) -> Cells:
    X, w = ops.dense(block.X).astype(np.float64, copy=False), block.w
    there = ~np.isnan(X)
    X = np.where(there, X, 0.0)
    return Cells(w @ there, w @ X, w @ X**2)


def fill(X: Array, plane: Plane, doubt: Array | None = None, w: Array | None = None) -> tuple[Array, Array]:
    """Rows with their missing cells at their conditional means, less m; and the log density of what is observed.

    Σ w of the conditional covariances is added to `doubt` (p, p).
    """
    mean, W, noise = plane
    p, k = W.shape
    gaps = np.isnan(X)
    count = gaps.sum(axis=1)
    apart = np.where(gaps, 0.0, X - mean)
    along, inner = apart @ W, W.T @ W + noise * np.eye(k)
    size = np.empty(len(X))
    z = np.empty((len(X), k))
    for c in np.unique(count).tolist():
        same = np.flatnonzero(count == c)
        step = max(1, NUMBERS // max(c * c, k * k, 1)) if c else len(same)
        for rows in (same[start : start + step] for start in range(0, len(same), step)):
            places = np.nonzero(gaps[rows])[1].reshape(len(rows), c)
            missing = W[places]  # (rows, c, k)
            M = inner - np.swapaxes(missing, 1, 2) @ missing if c else inner[None]
            z[rows] = np.linalg.solve(M, along[rows][:, :, None])[:, :, 0] if c else np.linalg.solve(inner, along[rows].T).T
            size[rows] = np.linalg.slogdet(M)[1]
            apart[rows[:, None], places] = (missing @ z[rows][:, :, None])[:, :, 0]
            if c and doubt is not None and w is not None:
                spread = noise * (missing @ np.linalg.solve(M, np.swapaxes(missing, 1, 2)))
                spread[:, np.arange(c), np.arange(c)] += noise
                cells = places[:, :, None] * p + places[:, None, :]
                doubt += np.bincount(cells.ravel(), (spread * w[rows][:, None, None]).ravel(), p * p).reshape(p, p)
    seen = np.where(gaps, 0.0, X - mean)
    far = ((seen * seen).sum(axis=1) - (along * z).sum(axis=1)) / noise
    return apart, -0.5 * (far + size + (p - count - k) * log(noise) + (p - count) * log(2 * pi))


def expect(block: Block, plane: Plane) -> Completed:
    p = len(plane.mean)
    doubt = np.zeros((p, p))
    rows, likelihood = fill(ops.dense(block.X).astype(np.float64, copy=False), plane, doubt, block.w)
    moments = Moments.of(rows, np.empty((len(rows), 0)), block.w)
    return Completed(moments, doubt, float(block.w @ likelihood))


def spectrum_of(found: Completed) -> tuple[Array, Array]:
    """Eigenvalues of the expected scatter, largest first, and eigenvectors as rows."""
    values, vectors = eigh(found.moments.scatter + found.doubt)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1].T


def maximise(found: Completed, plane: Plane, k: int) -> Plane:
    values, axes = spectrum_of(found)
    values = values / found.moments.weight
    noise = max(float(values[k:].mean()), LEAST * float(values.mean()), 1e-300)
    return Plane(plane.mean + found.moments.mean, axes[:k].T * np.sqrt(np.maximum(values[:k] - noise, 0.0)), noise)


def moved(before: Plane, after: Plane) -> float:
    """How far a step goes: of the mean and of W Wᵀ, in units of the deviations of the columns."""
    size = np.sqrt((after.W**2).sum(axis=1) + after.noise)
    change = float(np.abs((after.mean - before.mean) / size).max())
    a, b = after.W / size[:, None], before.W / size[:, None]
    return max(change, float(np.abs(a @ a.T - b @ b.T).max()))


def plane_of(p: int, k: int, names: Any, tol: float) -> Learner[tuple[Plane, Completed]]:
    """The plane of highest likelihood, and the expectations under it."""
    seen = yield observed
    if not (seen.weight > 0).all():
        raise BadInput(f"{column_name(names, int(np.argmin(seen.weight)))} of X has no value: leave it out")
    mean = seen.total / seen.weight
    variance = float((seen.squares / seen.weight - mean**2).mean())
    start = Plane(mean, np.zeros((p, k)), max(variance, 1e-300))
    climb = yield from ascend([start], expect, lambda found, plane: maximise(found, plane, k), _bound, tol, STEPS, moved=moved)
    if not climb.converged:
        warn(f"PCA: the missing cells have not settled after {STEPS} steps: raise tol, or lower n_components", NotConverged, stacklevel=2)
    found = yield partial(expect, plane=climb.model)
    return climb.model, found


def _bound(found: Completed, plane: Plane) -> float:
    return found.likelihood / float(found.moments.weight)
