"""Discriminant analysis of tables much wider than long: covariances as the rows that they are made of, without a matrix of p x p."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import CannotForget
from tenfold.core.memory import check_memory
from tenfold.core.stats import Moments, Stats
from tenfold.core.threads import patiently
from tenfold.solve.few_rows import are_few, principal


@dataclass
class ClassRows(Stats):
    """Rows with their classes while they are fewer than half of the columns; the moments of the classes beyond."""

    X: Array  # (n, p) float64
    y: Array  # (n,) codes of classes
    w: Array  # (n,)
    classes: int

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, ClassRows):
            return self.moments + other
        X, y, w = (np.concatenate(pair) for pair in ((self.X, other.X), (self.y, other.y), (self.w, other.w)))
        joined = ClassRows(X, y, w, self.classes)
        return joined if are_few(*joined.X.shape) else joined.moments

    def __sub__(self, other: Any) -> Any:
        raise CannotForget("there are fewer rows than columns, and no sums to take rows from: fit again without them")

    @cached_property
    def moments(self) -> Moments:
        return Moments.by_group(self.X, self.y, self.w, self.classes)

    @cached_property
    def weight(self) -> Array:
        return np.bincount(self.y, weights=self.w, minlength=self.classes)

    @cached_property
    def mean(self) -> Array:
        """(K, p), zero for a class without rows."""
        share = (self.y == np.arange(self.classes)[:, None]) * self.w / np.maximum(self.weight, 1e-300)[:, None]
        mean = share @ self.X
        return np.asarray(mean + share @ (self.X - mean[self.y]))

    @property
    def center(self) -> Array:
        return self.mean

    @property
    def offset(self) -> Array:
        return np.zeros_like(self.mean)

    @property
    def scatter(self) -> Array:
        return self.moments.scatter

    @cached_property
    def apart(self) -> Array:
        """(n, p): the rows, each from the mean of its class."""
        return np.asarray(self.X - self.mean[self.y])

    @property
    def squares(self) -> Array:
        """(K, p): Σ w (x − m)² of each class."""
        weighed = self.w[:, None] * self.apart**2
        return np.array([weighed[self.y == k].sum(axis=0) for k in range(self.classes)])


def rows_or_moments(block: Block, classes: int) -> ClassRows | Moments:
    """The statistic of discriminant analysis."""
    if not are_few(len(block), block.width):
        return Moments.by_group(block.X, block.y, block.w, classes)
    return ClassRows(np.array(ops.dense(block.X), dtype=np.float64), np.array(block.y), np.array(block.w), classes)


class Covariance(NamedTuple):
    """C = (1 − share) RᵀR + share (trace RᵀR / p) I, by its rows R (m, p)."""

    rows: Array
    share: float = 0.0

    @property
    def level(self) -> float:
        """What it is in directions without rows."""
        return self.share * float((self.rows**2).sum()) / int(self.rows.shape[1])

    def diagonal(self) -> Array:
        return np.asarray((1 - self.share) * (self.rows**2).sum(axis=0) + self.level)

    def along(self, A: Array) -> Array:
        """AᵀC A."""
        turned = self.rows @ A
        return np.asarray((1 - self.share) * turned.T @ turned + self.level * (A.T @ A))

    def dense(self) -> Array:
        p = self.rows.shape[1]
        check_memory(f"a covariance of {p:,} columns", 8.0 * p * p, "set store_covariance=False, or drop columns")
        return np.asarray((1 - self.share) * self.rows.T @ self.rows + self.level * np.eye(p))


def basis_of(rows: Array) -> Array:
    """(p, r): orthonormal directions that the rows span."""
    return principal(rows)[1]


class Axes(NamedTuple):
    """(x − m)ᵀC⁻¹(x − m) from few axes: with u = (x − m) / unit and t = Vᵀu it is Σ inside t² + beside ‖u − V t‖²."""

    unit: Array  # (p,)
    V: Array  # (p, r)
    inside: Array  # (r,) precisions along the axes
    beside: float  # precision in all other directions
    log_det: float  # ½ log det C
    condition: float  # 1 / condition of C

    def squares(self, X: Array, mean: Array) -> Array:
        u = (X - mean) / self.unit
        t = u @ self.V
        rest = u - t @ self.V.T
        return np.asarray((t * t) @ self.inside + self.beside * (rest * rest).sum(axis=1))


def axes_of(rows: Array, mean: Array, unit: Array, keep: float, level: float, singular: float, rounding: float) -> Axes:
    """Of C = keep RᵀR + level I. Without a level C is scaled to correlations, and directions without variance get the smallest
    that rounding can separate from zero, `singular`, in the `unit` of a column."""
    p = rows.shape[1]
    if level > 0:
        values, V = principal(rows)
        values = keep * values + level
        log_det = 0.5 * float(np.log(values).sum() + (p - len(values)) * np.log(level))
        return Axes(np.ones(p), V, 1 / values, 1 / level, log_det, level / float(values.max(initial=level)))
    scale = np.sqrt(keep * (rows**2).sum(axis=0))
    flat = scale <= rounding * np.abs(mean)
    scale = np.where(flat, unit, scale)
    values, V = principal(np.where(flat, 0.0, np.sqrt(keep) * rows / scale))
    values = np.maximum(values, singular)
    log_det = 0.5 * float(np.log(values).sum() + (p - len(values)) * np.log(singular)) + float(np.log(scale).sum())
    return Axes(scale, V, 1 / values, 1 / singular, log_det, 0.0)


def whitening_of(rows: Array, scale: Array, least: float) -> tuple[Array, Array]:
    """A (p, r) with AᵀC A = I for C = RᵀR, from R / scale; and the eigenvalues of C / scale², ascending, as many as rows."""
    _, singular, Vt = patiently(np.linalg.svd, rows / scale, full_matrices=False)
    keep = singular**2 > least
    return Vt[keep].T / singular[keep] / scale[:, None], singular[::-1] ** 2
