"""One search behind all that look for near rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tenfold._near import AllRows, Tree
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter
from tenfold.gate.containers import as_table
from tenfold.near.measures import Measure, measure_of
from tenfold.score.kinds import check_finite

NONE = np.empty(0, dtype=np.int64)
FEW_COLUMNS, SOME_COLUMNS = 8, 12  # a tree for up to so many, or, with enough rows, so many
LEAST_ROWS = 64  # of a tree
QUERIES = {"tree": 512, "all rows": 1024}  # handled at a time
PAIRS = 1 << 21  # distances at a time, where they are all computed
PAIRS_NEAR = 1 << 24  # that are told at a time
METHODS = ("auto", "tree", "all rows")


class NeighborIndex:
    """NeighborIndex: the rows of a table, ready to be searched for those that are nearest to others.

    Model       the k rows of least distance, or all at most a radius away; ties in the order of the rows
    Algorithm   "tree": a k-d tree of leaves of 16 rows. "all rows": every row is looked at, Euclidean distances in float32 with a
                bound on all rounding errors, by which few rows are left whose float64 distances decide; other metrics in float64.
                "auto" takes a tree for few columns: see `method_`
    Cost        tree: O(n p log n) to build, O(log n) for a query while columns are few; all rows: O(n p) for a query. No table of
                all distances is ever made
    Fails when  there are more neighbours to find than rows, or a distance is NaN (refused)
    Reference   Friedman, Bentley & Finkel 1977

    Example
    -------
    >>> import tenfold
    >>> index = tenfold.NeighborIndex([[0.0], [1.0], [5.0]])
    >>> distances, rows = index.nearest([[0.4]], 2)
    >>> rows.tolist(), distances.round(1).tolist()
    ([[0, 1]], [[0.4, 0.6]])
    """

    sparse: ClassVar[bool] = False

    def __init__(
        self, X: Any, metric: Any = "euclidean", *, p: float = 2.0, metric_params: dict[str, Any] | None = None, method: str = "auto"
    ) -> None:
        """metric: a name, or a function of two rows. p: of "minkowski". metric_params: what a metric takes besides (w, V, VI).
        method: "auto", "tree" or "all rows"."""
        if method not in METHODS:
            raise BadParameter(f"method={method!r}: choose one of {', '.join(map(repr, METHODS))}")
        self._given = rows = self._rows(X)
        self.n_features_in_ = rows.shape[1]
        self.measure: Measure = measure_of(metric, rows, p, metric_params)
        self.X = np.ascontiguousarray(self.measure.rows(rows, False))
        if method == "tree" and not self.measure.boxed:
            raise BadParameter(f"method='tree': there is no tree for the metric {self.measure.name!r}, use 'auto'")
        self.method_ = self._method(method)
        apart, by_tree = self.measure.apart, self.method_ == "tree"
        self._tree = None if apart is None or not by_tree else Tree(self.X, apart)
        self._all = None if apart is None or by_tree else AllRows(self.X, apart)

    def __len__(self) -> int:
        return len(self.X)

    def nearest(self, X: Any = None, k: int = 5) -> tuple[Array, Array]:
        """(distances, rows), both (queries, k), the nearest first; without X of the rows themselves, none of which is its own
        neighbour."""
        Q, skip = self._queries(X)
        most = len(self) - (1 if len(skip) else 0)
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or not 1 <= k <= most:
            raise BadInput(f"k={k!r}: must be a whole number from 1 to {most}, the number of rows that may be found")
        parts = self._each(lambda part: self._some_nearest(Q[part], int(k), skip[part]), len(Q))
        distances = np.concatenate([distance for distance, _ in parts]) if parts else np.empty((0, k))
        rows = np.concatenate([row for _, row in parts]) if parts else np.empty((0, k), np.int64)
        return self.measure.told(distances), rows

    def within(self, X: Any = None, radius: float = 1.0) -> tuple[Array, Array, Array]:
        """(start, rows, distances): the rows at most `radius` away from query q, in their order, are rows[start[q]:start[q + 1]];
        without X of the rows themselves, none of which is its own neighbour."""
        Q, skip = self._queries(X)
        if not (isinstance(radius, (int, float, np.number)) and radius >= 0):
            raise BadParameter(f"radius={radius!r}: must be a number of at least 0")
        parts = self._each(lambda part: self._some_within(Q[part], float(radius), skip[part]), len(Q))
        counts = np.concatenate([np.diff(start) for start, _, _ in parts]) if parts else NONE
        rows, distances = (np.concatenate([one[i] for one in parts]) if parts else np.empty(0) for i in (1, 2))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), rows.astype(np.int64), self.measure.told(distances)

    def blocks_within(self, radius: float) -> Iterator[tuple[int, Array, Array]]:
        """(first, start, rows): as `within` of the rows themselves, block by block from row `first`; each is in the list of those near it.
        At most PAIRS_NEAR pairs are in memory at a time, or those of a few rows."""
        Q, skip = self._queries(None)
        step = min(max(PAIRS_NEAR // len(self), 32), 4096)
        for first in range(0, len(self), step):
            some, own = Q[first : first + step], skip[first : first + step]
            parts = self._each(lambda part, Q=some, skip=own: self._some_within(Q[part], float(radius), skip[part]), len(some))
            counts = np.concatenate([np.diff(start) for start, _, _ in parts])
            yield first, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.concatenate([rows for _, rows, _ in parts])

    # --- inside ---

    def _rows(self, X: Any) -> Array:
        table, _ = as_table(self, X)
        table = np.ascontiguousarray(table, dtype=np.float64)
        check_finite(table, "X", "values")
        return table

    def _queries(self, X: Any) -> tuple[Array, Array]:
        """The rows that are asked for, and which row each one is itself."""
        if X is None:
            return np.ascontiguousarray(self.measure.rows(self._given, True)), np.arange(len(self.X))
        rows = self._rows(X)
        if rows.shape[1] != self.n_features_in_:
            raise BadInput(f"X has {rows.shape[1]} columns, but NeighborIndex is of rows of {self.n_features_in_}")
        return np.ascontiguousarray(self.measure.rows(rows, True)), NONE

    def _method(self, asked: str) -> str:
        n, p = self.X.shape
        if asked != "auto" or not self.measure.boxed:
            return "all rows" if asked == "auto" else asked
        few = p <= FEW_COLUMNS or (p <= SOME_COLUMNS and n >= 1 << (p + 8))
        return "tree" if few and n >= LEAST_ROWS else "all rows"

    def _each(self, work: Any, queries: int) -> list[Any]:
        step = QUERIES[self.method_] if self._tree or self._all else max(1, PAIRS // len(self.X))
        return each(work, [slice(start, start + step) for start in range(0, queries, step)])

    def _some_nearest(self, Q: Array, k: int, skip: Array) -> tuple[Array, Array]:
        if self._tree is not None:
            return self._tree.nearest(Q, k, skip, self.measure.power)
        if self._all is not None:
            return self._all.nearest(self.X, Q, k, skip, self.measure.power)
        away = self._away(Q, skip)
        near = np.argpartition(away, k - 1, axis=1)[:, :k] if k < away.shape[1] else np.tile(np.arange(k), (len(Q), 1))
        # rows that are as far as the last of them come in their order
        last = np.take_along_axis(away, near, axis=1).max(axis=1, keepdims=True)
        for q in np.flatnonzero((away <= last).sum(axis=1) > k):
            tied = np.flatnonzero(away[q] <= last[q])
            near[q] = tied[np.argsort(away[q, tied], kind="stable")[:k]]
        near = np.sort(near, axis=1)
        order = np.argsort(np.take_along_axis(away, near, axis=1), axis=1, kind="stable")
        near = np.take_along_axis(near, order, axis=1)
        return np.take_along_axis(away, near, axis=1), near

    def _some_within(self, Q: Array, radius: float, skip: Array) -> tuple[Array, Array, Array]:
        reach = self.measure.summed(radius)
        if self._tree is not None:
            return self._tree.within(Q, reach, skip, self.measure.power)
        if self._all is not None:
            return self._all.within(self.X, Q, reach, skip, self.measure.power)
        away = self._away(Q, skip)
        near = away <= radius
        start = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
        return start, np.nonzero(near)[1], away[near]

    def _away(self, Q: Array, skip: Array) -> Array:
        """(queries, rows): distances, infinite to the row that a query is itself."""
        assert self.measure.block is not None
        away = np.array(self.measure.block(Q, self.X), dtype=np.float64)
        if len(skip):
            away[np.arange(len(Q)), skip] = np.inf
        return away
