"""Orthogonal matching pursuit: column after column, each the one that correlates most with what is left of the target.

Two suppliers of cross-products serve one method. `FromMoments` has them all; `FromRows` makes the products of a few columns
with all others when they are asked for, many at a time, because one sweep over the rows serves sixteen columns
for little more than one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.solve.nonnegative import Crossed, enter

ROUNDING = 1e-13  # a correlation this small, of columns and target of length 1, is rounding
DEPENDENT = 1e-12  # share of the square of a column that columns before it must leave over
BATCH = 16  # columns whose products are made together
FAR = 1e-11  # error of the correlations, from columns far from zero, beyond which the columns are centred


class Supplier(Protocol):
    def column(self, j: int, reach: Array) -> Array:
        """Products of column j with all columns; `reach` shows which columns may be asked for next."""
        ...


@dataclass(frozen=True)
class FromMoments:
    """All cross-products are there."""

    G: Array

    def column(self, j: int, reach: Array) -> Array:
        found: Array = self.G[j]
        return found


class FromRows:
    """Rows that are kept: products of columns are made when they are asked for.

    Columns are centred implicitly: a centred column is orthogonal to the ones, so that the mean of the other drops out.
    """

    def __init__(self, parts: list[tuple[Any, Array, Array]], fit_intercept: bool) -> None:
        self.parts = parts
        p, q = parts[0][0].shape[1], parts[0][1].shape[1]
        self.weight = float(sum(w.sum() for _, _, w in parts))
        self.level, self.center = np.zeros(q), np.zeros(p)
        if fit_intercept:
            self.level = np.asarray(sum(w @ y for _, y, w in parts)) / self.weight
        ones = fit_intercept
        sums = self._summed([np.column_stack([w * ones, (y - self.level) * w[:, None]]) for _, y, w in parts])
        if fit_intercept:
            self.center = sums[0] / self.weight
        self.q = sums[1:].T  # (p, q)
        self.yy = np.asarray(sum(w @ (y - self.level) ** 2 for _, y, w in parts))
        size = np.max(sum(w @ np.abs(y - self.level) for _, y, w in parts))
        error = np.finfo(float).eps * np.abs(self.center).max() * size
        self.shift = np.zeros(p)
        if error > FAR * np.abs(self.q).max():
            self.parts = [(np.asarray(ops.dense(X), dtype=np.float64) - self.center, y, w) for X, y, w in parts]
            self.shift = self.center  # taken off once and for all
            self.q = self._summed([(y - self.level) * w[:, None] for _, y, w in parts]).T
        self.known: dict[int, Array] = {}

    def _summed(self, factors: list[Array]) -> Array:
        """Σ over blocks of ZᵀX, in the order of the blocks."""

        def one(pair: tuple[Any, Array]) -> Array:
            X, Z = pair
            return np.asarray((X.T @ Z).T if ops.is_sparse(X) else np.ascontiguousarray(Z.T) @ X)

        found = each(one, list(zip((X for X, _, _ in self.parts), factors, strict=True)))
        total: Array = found[0].astype(np.float64)
        for more in found[1:]:
            total += more
        return total

    def column(self, j: int, reach: Array) -> Array:
        if j not in self.known:
            order = np.argpartition(-reach, min(2 * BATCH, len(reach) - 1))[: 2 * BATCH]
            order = order[np.argsort(-reach[order], kind="stable")]
            others = [int(i) for i in order if int(i) not in self.known and int(i) != j and reach[i] > 0]
            take = np.array([j, *others][:BATCH])
            left = self.center[take] - self.shift[take]
            picked = [(self._columns(X, take) - left) * w[:, None] for X, _, w in self.parts]
            products = self._summed(picked)
            sums = sum(Z.sum(axis=0) for Z in picked)
            products -= np.outer(sums, self.center - self.shift)  # what rounding left of the sum of a centred column
            self.known.update(zip(take.tolist(), products, strict=True))
        return self.known[j]

    @staticmethod
    def _columns(X: Any, take: Array) -> Array:
        return np.asarray(ops.dense(X[:, take]), dtype=np.float64)


@dataclass(frozen=True)
class Pursuit:
    """Columns in the order in which they entered, and the coefficients when there were first 0, 1, ..., k of them.

    The last row of the path is the end: where columns left again, it may have fewer than those before.
    """

    active: Array
    path: Array  # (k + 1, p), or one row more
    steps: int
    dependent: Array  # columns left out because those before them make them up


def pursue(source: Supplier, q: Array, yy: float, *, most: int, rest: float | None, positive: bool) -> Pursuit:
    """Up to `most` columns, or until what is left of the target has squares of at most `rest`."""
    if positive:
        return _nonnegative(source, q, yy, most, rest)
    p = len(q)
    A, b = np.empty((min(most, 32), p)), np.empty(most)  # A = L⁻¹ G of the active columns: a Cholesky factor, grown
    c, left = q.copy(), yy
    active: list[int] = []
    shut = np.zeros(p, dtype=bool)
    dependent: list[int] = []
    while len(active) < most and (rest is None or left > rest):
        reach = np.abs(c)
        reach[shut] = 0.0
        j, k = int(reach.argmax()), len(active)
        if reach[j] == 0.0:
            break
        g = source.column(j, reach)
        if reach[j] <= ROUNDING * np.sqrt(max(g[j], 0.0) * yy):
            break
        shut[j] = True
        v = A[:k, j]
        own = float(g[j] - v @ v)
        if own <= DEPENDENT * g[j]:
            dependent.append(j)
            continue
        if k == len(A):
            A = np.concatenate([A, np.empty((min(most, 2 * k) - k, p))])
        A[k] = (g - v @ A[:k]) / own**0.5
        b[k] = c[j] / own**0.5
        c -= b[k] * A[k]
        left -= b[k] ** 2
        active.append(j)
    k = len(active)
    order = np.array(active, dtype=np.int64)
    path = np.zeros((k + 1, p))
    if k:
        R = A[:k, order]
        inverse = solve_triangular(R, np.eye(k))
        path[1:, order] = np.cumsum(inverse * b[:k], axis=1).T
    return Pursuit(order, path, k, np.array(dependent, dtype=np.int64))


def _nonnegative(source: Supplier, q: Array, yy: float, most: int, rest: float | None) -> Pursuit:
    """Only columns that pull upwards enter; those whose coefficient would fall below zero leave again."""
    p = len(q)
    w, support, c = np.zeros(p), list[int](), q.copy()
    met: list[int] = []  # every column that was ever in, with its products
    products = np.empty((0, p))
    shut = np.zeros(p, dtype=bool)
    path, steps = [w.copy()], 0
    dependent: list[int] = []
    left = yy
    while len(support) < most and (rest is None or left > rest) and steps < 5 * most + 20:
        reach = np.where(shut, 0.0, np.maximum(c, 0.0))
        reach[support] = 0.0
        j = int(reach.argmax())
        if reach[j] == 0.0:
            break
        if j not in met:
            met.append(j)
            products = np.concatenate([products, source.column(j, reach)[None]])
        place = {column: i for i, column in enumerate(met)}
        if reach[j] <= ROUNDING * np.sqrt(max(products[place[j], j], 0.0) * yy):
            break
        inside = Crossed.of(products[:, met], q[met], yy)
        small = w[met]
        entered = enter(inside, small, [place[i] for i in support], place[j])
        if entered is None:
            shut[j] = True
            dependent.append(j)
            continue
        support, steps = [met[i] for i in entered], steps + 1
        shut[:] = False
        w = np.zeros(p)
        w[met] = small
        c = q - small @ products
        left = yy - float(small @ (q[met] + c[met]))
        if len(support) == len(path):
            path.append(w.copy())
    if not np.array_equal(path[-1], w):
        path.append(w)
    return Pursuit(np.array(support, dtype=np.int64), np.array(path), steps, np.array(dependent, dtype=np.int64))
