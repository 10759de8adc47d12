"""Evidence about a regression problem: robust residuals, and tests of what the residuals should not show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, chdtri, fdtrc, ndtri

from tenfold.core.data import Array

DRAWS, WIDEST = 300, 20  # subsets tried by the robust fit, and the most columns for which that makes sense
FAR = 2.5  # standard deviations from which a row counts as lying off the plane
GAUSSIAN_TAIL = float((ndtri(0.995) - ndtri(0.005)) / (ndtri(0.75) - ndtri(0.25)))


@dataclass
class Plane:
    """A linear fit: what it predicts, what is left, and the standard deviation of that, from the median."""

    value: Array
    rest: Array
    scale: float

    @property
    def near(self) -> Array:
        return np.abs(self.rest) <= FAR * self.scale


def least_squares(Z: Array, y: Array, rows: Any = slice(None)) -> Plane:
    """Z holds the constant column too; fitted to some rows, evaluated on all."""
    coef = np.linalg.lstsq(Z[rows], y[rows], rcond=None)[0]
    value = Z @ coef
    rest = y - value
    # n / (n − k): residuals of a fit are smaller than errors
    used = len(y[rows])
    grown = np.sqrt(used / max(used - Z.shape[1], 1))
    return Plane(value, rest, grown * float(np.median(np.abs(rest[rows]))) / 0.6745)


def robust_plane(Z: Array, y: Array, seed: int = 0) -> Plane:
    """Least median of squares over random subsets, then least squares on the rows near it (twice)."""
    n, k = Z.shape
    best = least_squares(Z, y)
    if k - 1 <= WIDEST and n > 3 * k:
        rng = np.random.default_rng(seed)
        for _ in range(DRAWS):
            plane = least_squares(Z, y, rng.choice(n, k, replace=False))
            scale = 1.4826 * float(np.median(np.abs(plane.rest)))
            if scale < best.scale:
                best = Plane(plane.value, plane.rest, scale)
    floor = 1e-12 * float(np.abs(y).max(initial=0.0))
    for _ in range(2):
        near = np.abs(best.rest) <= np.maximum(FAR * best.scale, floor)
        if near.sum() <= k:
            break
        best = least_squares(Z, y, near)
        # the rows were chosen to be near, so their median is that of a cut Gaussian; the scale is that of all rows
        best.scale = max(1.4826 * float(np.median(np.abs(best.rest))), floor)
    return best


def condition(X: Array) -> float:
    """Condition number of the centred columns, each brought to length one: units do not count."""
    apart = X - X.mean(axis=0)
    size = np.linalg.norm(apart, axis=0)
    moving = size > 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300) * np.sqrt(len(X))
    if not moving.all():
        return np.inf
    values = np.linalg.svd(apart / size, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else np.inf


def curvature(Z: Array, y: Array, plane: Plane) -> tuple[float, float]:
    """p of the F-test that squares of columns and prediction add nothing, and the share they explain."""
    near = plane.near
    X = Z[:, 1:]
    spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    squares = ((X - X.mean(axis=0)) / spread) ** 2 if X.shape[1] <= WIDEST else np.empty((len(X), 0))
    v = plane.value - plane.value.mean()
    v = v / max(float(np.abs(v).max(initial=0.0)), 1e-300)
    extra = np.column_stack([squares, v**2, v**3])
    n, k = int(near.sum()), Z.shape[1]
    more = np.linalg.matrix_rank(np.column_stack([Z, extra])[near]) - np.linalg.matrix_rank(Z[near])
    free = n - k - more
    if more < 1 or free < 5:
        return 1.0, 0.0
    small = float((least_squares(Z, y, near).rest[near] ** 2).sum())
    large = float((least_squares(np.column_stack([Z, extra]), y, near).rest[near] ** 2).sum())
    if small <= 1e-24 * float((y**2).sum()):
        return 1.0, 0.0
    f = (small - large) / more / max(large / free, 1e-300)
    return float(fdtrc(more, free, max(f, 0.0))), 1 - large / small


def unequal(Z: Array, plane: Plane) -> float:
    """p of Koenker's test: squared residuals do not go with the columns or the prediction."""
    near = plane.near
    T = np.column_stack([Z, plane.value**2])[near]
    s = plane.rest[near] ** 2
    total = float(((s - s.mean()) ** 2).sum())
    df = np.linalg.matrix_rank(T) - 1
    if total == 0 or df < 1 or len(s) <= df + 5:
        return 1.0
    left = s - T @ np.linalg.lstsq(T, s, rcond=None)[0]
    return float(chdtrc(df, max(len(s) * (1 - float(left @ left) / total), 0.0)))


def dispersion(y: Array, plane: Plane) -> float | None:
    """Σ (y − μ)² / μ over degrees of freedom, which is 1 for Poisson counts; None if y cannot be counts."""
    if (y < 0).any() or (y != np.floor(y)).any() or len(np.unique(y)) < 5:
        return None
    mean = np.maximum(plane.value, 0.5)
    return float(np.mean((y - plane.value) ** 2 / mean))


def remote(Z: Array, plane: Plane) -> float:
    """The share of the rows far off the plane whose columns lie where hardly any row on it does."""
    off, near = np.abs(plane.rest) > 5 * max(plane.scale, 1e-300), plane.near
    X = Z[:, 1:]
    p = X.shape[1]
    if not off.any() or near.sum() <= 2 * p:
        return 0.0
    centre = X[near].mean(axis=0)
    values, vectors = np.linalg.eigh((X[near] - centre).T @ (X[near] - centre) / near.sum())
    kept = values > 1e-12 * max(values[-1], 1e-300)
    away = ((X[off] - centre) @ vectors[:, kept]) ** 2 / values[kept]
    return float((away.sum(axis=1) > chdtri(kept.sum(), 1e-3)).mean()) if kept.any() else 0.0


def tail(rest: Array) -> float:
    """How much wider the outer 99 % of the residuals are than those of a Gaussian with the same quartiles."""
    q = np.quantile(rest, [0.005, 0.25, 0.75, 0.995])
    return float((q[3] - q[0]) / max(q[2] - q[1], 1e-300) / GAUSSIAN_TAIL)


def second_plane(Z: Array, y: Array, plane: Plane) -> tuple[float, float]:
    """The share of rows far from the plane, and the share of those on one other plane as narrow."""
    off = ~plane.near
    share = float(off.mean())
    if off.sum() < 5 * Z.shape[1] or Z.shape[1] - 1 > WIDEST:
        return share, 0.0
    other = robust_plane(Z[off], y[off], seed=1)
    width = 2 * FAR * max(plane.scale, 1e-12 * float(np.abs(y).max(initial=0.0)))
    return share, float((np.abs(other.rest) <= width).mean())
