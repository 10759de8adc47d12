"""Planes with a margin for tables of many columns: by products with the rows, where a matrix of p x p would be too large.

Squares are minimised by Newton's method with conjugate gradients (`solve.truncated`): products only, so that the rows may be anywhere.
Sparse rows are kept as they are, and first powers are minimised in their dual, a row at a time, by a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tenfold import _margin
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source, Target
from tenfold.core.engine import lent_threads
from tenfold.core.learning import Keep, Learner, Request
from tenfold.core.stats import Stats
from tenfold.linear.margins import Cost, Plane, plane
from tenfold.solve.linalg import eigh
from tenfold.solve.margin import CLOSED, pushing
from tenfold.solve.truncated import Product, Slopes, truncated_newton

CURVED = 1024  # columns up to which a curvature is written down
Result = TypeVar("Result")


class Setting(NamedTuple):
    """What the planes of one table have in common; `intercept_scaling` is 0 where no intercept is fitted."""

    cost: Cost
    intercept_scaling: float
    tol: float
    max_iter: int

    @property
    def intercept(self) -> bool:
        return self.intercept_scaling > 0

    def price(self, p: int) -> Array:
        bias = min(max(self.intercept_scaling, 1e-75), 1e75) ** -2 if self.intercept else 1.0
        return np.append(np.ones(p), bias)


@dataclass(slots=True)
class Stored(Stats):
    """How many blocks are sparse, and how many are not."""

    sparse: int
    dense: int


def stored(block: Block) -> Stored:
    sparse = ops.is_sparse(block.X)
    return Stored(int(sparse), int(not sparse))


def is_stored(source: Source) -> bool:
    """Whether it is known before reading that the rows are sparse."""
    return ops.is_sparse(getattr(source, "X", None))


def in_memory(source: Source, squared: bool) -> Learner[tuple[Any, Array, Array] | None]:
    """(X, y, w) with X as CSR: all rows, where they are sparse or the dual is to be solved; None where passes over them will do."""
    if squared:
        seen: Stored = yield stored
        if seen.dense:
            return None
    X, y, w = yield Keep(sparse=True)
    return csr_of(X), y, w


def csr_of(X: Any) -> Any:
    """CSR of float64 with int32 columns, no column twice in a row."""
    if not ops.is_sparse(X) or X.format != "csr":
        from scipy.sparse import csr_matrix

        X = csr_matrix(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X.astype(np.float64, copy=False)


def products_plane(p: int, setting: Setting) -> Learner[Plane]:
    """Of squares, by passes over the rows."""
    common: dict[str, Any] = dict(cost=setting.cost, intercept=setting.intercept)
    found = yield from truncated_newton(
        partial(squares_of, **common), partial(product_of, **common), setting.price(p),
        tol=max(setting.tol, CLOSED), max_iter=setting.max_iter,
    )  # fmt: skip
    return Plane(found.theta[:-1], float(found.theta[-1]), min(found.gap, 1.0), found.n_pass, found.closed)


def rows_plane(X: Any, y: Array, w: Array, setting: Setting) -> Plane:
    """Of rows in memory (CSR). Of few rows that need too many steps (C is large) in the space that they span, exactly."""
    if setting.cost.squared:
        found = on_rows(products_plane(X.shape[1], setting), Block(X, y[:, None], w))
    else:
        found = _descended(X, y, w, setting)
    return found if found.closed or len(y) > CURVED else _spanned_plane(X, y, w, setting, found)


def _spanned_plane(X: Any, y: Array, w: Array, setting: Setting, before: Plane) -> Plane:
    """X Xᵀ = U Λ Uᵀ: rows are known by their coordinates U √Λ, and w = Xᵀ U u / √Λ by the plane u of these."""
    values, U = eigh(ops.dense(X @ X.T))
    real = values > values.max(initial=0.0) * len(y) * np.finfo(float).eps
    if not real.any():
        return before
    root, U = np.sqrt(values[real]), U[:, real]
    Z = np.ascontiguousarray(U * root)
    algorithm = plane(
        Arrays(Z, None, None, Target("none"), {}), setting.cost, intercept_scaling=setting.intercept_scaling or 1.0,
        fit_intercept=setting.intercept, tol=setting.tol, max_iter=setting.max_iter,
    )  # fmt: skip
    found = on_rows(algorithm, Block(Z, y[:, None], w))
    return found._replace(coef=np.asarray(X.T @ (U @ (found.coef / root)))) if found.gap < before.gap else before


def _descended(X: Any, y: Array, w: Array, setting: Setting) -> Plane:
    """Of first powers, in the dual."""
    cost, enough = setting.cost, max(setting.tol, CLOSED)
    bias = 1 / float(setting.price(0)[0]) if setting.intercept else 0.0
    theta, gap, sweeps = _margin.descend(
        *csr_parts(X), np.ascontiguousarray(y), cost.C * w, cost.epsilon, cost.sided, X.shape[1], bias, enough, setting.max_iter
    )
    return Plane(theta[:-1], float(theta[-1]), min(gap, 1.0), sweeps, gap <= enough)


def on_rows(algorithm: Learner[Result], block: Block) -> Result:
    """What a learner that asks for sums returns, on rows in memory as one block."""
    try:
        asked = next(algorithm)
        while True:
            assert not isinstance(asked, Request)
            asked = algorithm.send(asked(block))
    except StopIteration as done:
        result: Result = done.value
        return result


def squares_of(block: Block, theta: Array, cost: Cost, intercept: bool) -> Slopes:
    """Σ C s (|r| − ε)₊² with minus its gradient and the diagonal of its curvature."""
    q = len(theta)
    if ops.is_sparse(block.X):
        sums = _native(_margin.squares, block, cost, theta, intercept)
        return Slopes(float(sums[-1]), sums[:q], sums[q:-1])
    over, bend = _beyond(block, theta, cost)
    alpha = bend * over
    X = block.X.astype(np.float64, copy=False)
    pull, diagonal = np.append(alpha @ X, alpha.sum()), np.append(bend @ (X * X), bend.sum())
    if not intercept:
        pull[-1] = diagonal[-1] = 0.0
    return Slopes(0.5 * float(alpha @ over), pull, diagonal)


def product_of(block: Block, theta: Array, v: Array, cost: Cost, intercept: bool) -> Product:
    """The curvature of the same at θ times v."""
    if ops.is_sparse(block.X):
        return Product(_native(_margin.product, block, cost, theta, v, intercept))
    _, bend = _beyond(block, theta, cost)
    X = block.X.astype(np.float64, copy=False)
    along = bend * (X @ v[:-1] + v[-1])
    return Product(np.append(along @ X, along.sum() if intercept else 0.0))


def _beyond(block: Block, theta: Array, cost: Cost) -> tuple[Array, Array]:
    """How far residuals are beyond the margin, with their sign, and the curvature of what they cost."""
    y = block.y[:, 0]
    r = pushing(y - block.X @ theta[:-1] - theta[-1], y, cost.sided)
    over = np.sign(r) * np.maximum(np.abs(r) - cost.epsilon, 0.0)
    return over, 2 * cost.C * block.w * (over != 0)


def csr_parts(X: Any) -> tuple[Array, Array, Array]:
    return X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data.astype(np.float64, copy=False)


def _native(kernel: Callable[..., Array], block: Block, cost: Cost, *at: Any) -> Array:
    y, price = np.ascontiguousarray(block.y[:, 0]), cost.C * block.w
    with lent_threads() as n:
        return kernel(*csr_parts(block.X), y, price, cost.epsilon, cost.sided, *at, n)
