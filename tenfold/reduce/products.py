"""Leading components by products with blocks of vectors: passes over the rows, and no matrix of products of columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.learning import Learner
from tenfold.core.stats import Spread, Stats
from tenfold.solve.leading import BESIDE, krylov

NARROWEST = 8  # vectors of a block
WIDEST_BYTES = 1 << 29  # of one Krylov space


@dataclass(slots=True)
class Product(Stats):
    """Σ w (x − m) (x − m)ᵀ Q."""

    value: Array


def spread_of(block: Block) -> Spread:
    """Means and centred sums of squares of the columns; of sparse rows from what they hold: the other cells are zeros, all alike."""
    X, w = block.X, block.w
    if not ops.is_sparse(X):
        return Spread.of(X, w)
    total, p = float(w.sum()), X.shape[1]
    each, column = np.repeat(w, np.diff(X.indptr)), X.indices
    mean = np.bincount(column, each * X.data, p) / total
    there = np.bincount(column, each, p)
    squares = np.bincount(column, each * (X.data - mean[column]) ** 2, p) + np.maximum(total - there, 0.0) * mean**2
    return Spread(np.array([total]), mean[None], np.zeros((1, p)), squares[None])


def product_of(block: Block, Q: Array, mean: Array | None) -> Product:
    """Sparse rows stay sparse: the mean is taken from the products."""
    X, w = block.X, block.w[:, None]
    if not ops.is_sparse(X):
        X = X.astype(np.float64, copy=False) if mean is None else X - mean
        return Product(X.T @ (w * (X @ Q)))
    along = np.asarray(X @ Q) if mean is None else np.asarray(X @ Q) - mean @ Q
    found = np.asarray(X.T @ (w * along))
    return Product(found if mean is None else found - np.outer(mean, (w * along).sum(axis=0)))


def narrow(source: Source, width: int) -> int | None:
    """The width of a block where rows are in memory, and what counts is the number of products with a vector, not that of passes."""
    return max(NARROWEST, width // 4) if isinstance(source, Arrays) else None


def leading_axes(
    p: int, k: int, mean: Array | None, seed: int, tol: float, *, beside: int = BESIDE, block: int | None = None, most: int | None = None
) -> Learner[tuple[Array, Array, bool]]:
    """The k largest eigenvalues of Σ w (x − m)(x − m)ᵀ, the largest first, and their eigenvectors as rows: a pass for each product, at
    most so many; and whether they have settled to `tol`."""
    spaces = krylov(p, k, seed, tol, beside=beside, block=block, most=most, widest=max(2 * (k + beside), WIDEST_BYTES // (8 * p)))
    try:
        Q = next(spaces)
        while True:
            found: Any = yield partial(product_of, Q=Q, mean=mean)
            Q = spaces.send(found.value)
    except StopIteration as done:
        values, vectors, settled = done.value
        return np.maximum(values, 0.0), np.ascontiguousarray(vectors.T), settled
