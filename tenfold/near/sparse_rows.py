"""The search among sparse rows: Euclidean distances from products of sparse rows, block by block.

|q − x|² = |q|² + |x|² − 2 q·x orders the rows, but for rounding; of those that are near enough by it the differences of values decide.
Products are taken column by column of the queries (an inverted index): no table of zeros is ever made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from tenfold.core.data import Array

TOGETHER = 1 << 14  # pairs whose differences are in memory at a time
EPSILON = float(np.finfo(np.float64).eps)


class SparseRows:
    """Rows in CSR form, and their columns."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self._columns = X.T.tocsr()  # by column: which rows hold a value, and which
        self._norm2 = _squares(X)
        self._longest = int(np.diff(X.indptr).max())  # how many products a sum has at most

    def nearest(self, Q: Any, k: int, skip: Array) -> tuple[Array, Array]:
        """(squared distances, rows) of the k nearest; ties in the order of rows."""
        away, slack = self._away(Q, skip)
        last = np.partition(away, k - 1, axis=1)[:, k - 1 : k]
        query, row = np.nonzero(away <= last + slack)
        distance = self._between(Q, query, row)
        order = np.lexsort((row, distance, query))
        start = np.searchsorted(query, np.arange(Q.shape[0]))  # the first pair of each query: lexsort keeps them together
        first = order[start[:, None] + np.arange(k)]
        return distance[first], row[first]

    def within(self, Q: Any, reach: float, skip: Array) -> tuple[Array, Array, Array]:
        """(start, rows, squared distances) of all at most so far, squared."""
        away, slack = self._away(Q, skip)
        query, row = np.nonzero(away <= reach + slack)
        distance = self._between(Q, query, row)
        near = distance <= reach
        counts = np.bincount(query[near], minlength=Q.shape[0])
        return np.concatenate([[0], np.cumsum(counts)]), row[near], distance[near]

    def _away(self, Q: Any, skip: Array) -> tuple[Array, Array]:
        """(queries, rows): squared distances but for rounding, infinite to the row that a query is itself; and what rounding may do."""
        norm2 = _squares(Q)[:, None]
        away = -2 * (Q @ self._columns).toarray()
        away += norm2
        away += self._norm2
        if len(skip):
            away[np.arange(len(away)), skip] = np.inf
        return away, (self._longest + 8) * EPSILON * (norm2 + self._norm2.max())

    def _between(self, Q: Any, query: Array, row: Array) -> Array:
        """Squared distances of pairs, from differences."""
        parts = [slice(first, first + TOGETHER) for first in range(0, len(query), TOGETHER)]
        return np.concatenate([_squares(Q[query[part]] - self.X[row[part]]) for part in parts] or [np.empty(0)])


def _squares(X: Any) -> Array:
    """x·x of each row."""
    return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).reshape(-1)


def directions(X: Any, queried: bool) -> Any:
    """Sparse rows of length one, with two columns more as those of `measures` have."""
    data = np.abs(X.data)
    counts = np.diff(X.indptr)
    largest = np.zeros(X.shape[0])
    largest[counts > 0] = np.maximum.reduceat(data, X.indptr[:-1][counts > 0]) if len(data) else 0
    unit = sparse.csr_array(sparse.diags_array(1 / np.where(largest > 0, largest, 1.0)) @ X)  # squares neither vanish nor overflow
    size = np.sqrt(_squares(unit))
    unit = sparse.diags_array(1 / np.where(size > 0, size, 1.0)) @ unit
    none = sparse.csr_array((size == 0).astype(np.float64)[:, None])
    nothing = sparse.csr_array((X.shape[0], 1))
    return sparse.csr_array(sparse.hstack([unit, nothing, none] if queried else [unit, none, nothing]))
