"""One search behind all that look for near rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from tenfold._near import AllRows, Tree
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import each, lent_threads
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.ops import is_sparse
from tenfold.core.random import generator_of
from tenfold.gate.containers import as_table
from tenfold.near.approximate import SEARCHES, Approximate
from tenfold.near.measures import (
    EUCLIDEAN,
    GOWER,
    INNER_PRODUCT,
    OF_SPARSE,
    OTHER_NAMES,
    Measure,
    by_products,
    check_symmetric,
    measure_of,
)
from tenfold.near.sparse_rows import SparseRows
from tenfold.score.kinds import check_finite

NONE = np.empty(0, dtype=np.int64)
FEW_COLUMNS, SOME_COLUMNS = 8, 12  # a tree for up to so many, or, with enough rows, so many
LEAST_ROWS = 64  # of a tree
QUERIES = {"tree": 512, "all rows": 1024, "graph": 512, "codes": 256}  # handled at a time
PAIRS = 1 << 21  # distances at a time, where they are all computed
PAIRS_NEAR = 1 << 24  # that are told at a time
METHODS = ("auto", "tree", "all rows", *SEARCHES)
MEASURED = 10  # neighbours whose recall is measured when an index is made


class NeighborIndex:
    """NeighborIndex: the rows of a table, ready to be searched for those that are nearest to others.

    Model       the k rows of least distance, or all at most a radius away; ties in the order of the rows
    Algorithm   "tree": a k-d tree of leaves of 16 rows. "all rows": every row is looked at, Euclidean distances in float32 with a
                bound on all rounding errors, by which few rows are left whose float64 distances decide; other metrics in float64.
                Sparse rows (Euclidean and cosine) by products through their columns, without a table of zeros.
                "auto" takes a tree for few columns: see `method_`. Two find most of the nearest rows only, for metrics that are
                Euclidean distances of changed rows (cosine, Mahalanobis, inner products, ...): "graph" walks through a navigable
                small-world graph, "codes" looks at rows whose codes of bits (sides of planes) differ least. Their recall, the share of
                the nearest rows that they find, is measured for rows that are held out (queries unlike all rows may find fewer), and
                they look as far as `recall` needs; where all rows would be looked at sooner, they are (`method_`). `recall_` is what
                was measured for 10 neighbours
    Cost        tree: O(n p log n) to build, O(log n) for a query while columns are few; all rows: O(n p) for a query; graph: about
                O(n p log n) to build, O(p log n) for a query, 4 p + 136 bytes a row; codes: O(n / 64) for a query beside the rows that
                it looks at. No table of all distances is ever made
    Fails when  there are more neighbours to find than rows, or a distance is NaN (refused)
    Reference   Friedman, Bentley & Finkel 1977; Malkov & Yashunin 2018 (graph); Charikar 2002 (codes)

    Example
    -------
    >>> import tenfold
    >>> index = tenfold.NeighborIndex([[0.0], [1.0], [5.0]])
    >>> distances, rows = index.nearest([[0.4]], 2)
    >>> rows.tolist(), distances.round(1).tolist()
    ([[0, 1]], [[0.4, 0.6]])
    """

    sparse: ClassVar[bool] = True

    def __init__(
        self,
        X: Any,
        metric: Any = "euclidean",
        *,
        p: float = 2.0,
        metric_params: dict[str, Any] | None = None,
        method: str = "auto",
        recall: float = 0.95,
        random_state: Any = 0,
    ) -> None:
        """metric: a name, or a function of two rows. p: of "minkowski". metric_params: what a metric takes besides (w, V, VI, and
        of "gower", which knows gaps (NaN), categorical: the columns that hold categories).
        method: "auto", "tree", "all rows", "graph" or "codes". recall, random_state: of the last two."""
        if method not in METHODS:
            raise BadParameter(f"method={method!r}: choose one of {', '.join(map(repr, METHODS))}")
        if not (isinstance(recall, (int, float)) and 0 < recall <= 1):
            raise BadParameter(f"recall={recall!r}: must be a share above 0, at most 1")
        self.random_state = random_state
        self._gaps = isinstance(metric, str) and metric == GOWER
        self._given = rows = self._rows(X)
        self.n_features_in_ = rows.shape[1]
        self.measure: Measure = self._measure(metric, rows, p, metric_params, method)
        self.X = _contiguous(self.measure.rows(rows, False))
        if method == "tree" and not self.measure.boxed:
            raise BadParameter(f"method='tree': there is no tree for the metric {self.measure.name!r}, use 'auto'")
        if method in SEARCHES and self.measure.apart != EUCLIDEAN:
            raise BadParameter(f"method={method!r}: the metric {self.measure.name!r} is no Euclidean distance of changed rows, use 'auto'")
        self.method_ = self._method(method)
        apart, by_tree = self.measure.apart, self.method_ == "tree"
        self.recall_ = 1.0
        self._most = self._approximate(recall) if self.method_ in SEARCHES else None
        self._tree = None
        if apart is not None and by_tree:
            with lent_threads() as threads:
                self._tree = Tree(self.X, apart, threads)
        self._sparse = SparseRows(self.X) if is_sparse(self.X) else None
        self._all = AllRows(self.X, apart) if apart is not None and not (by_tree or self._most or self._sparse) else None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def nearest(self, X: Any = None, k: int = 5) -> tuple[Array, Array]:
        """(distances, rows), both (queries, k), the nearest first; without X of the rows themselves, none of which is its own
        neighbour."""
        Q, skip = self._queries(X)
        most = len(self) - (1 if len(skip) else 0)
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or not 1 <= k <= most:
            raise BadInput(f"k={k!r}: must be a whole number from 1 to {most}, the number of rows that may be found")
        if self._most is not None:
            self._most.width(int(k))  # measured once, before threads begin
        order = None
        if self._tree is not None and len(Q) > QUERIES["tree"]:
            order = self._tree.order(Q)  # queries side by side look at the same rows
            Q, skip = Q[order], skip[order] if len(skip) else skip
        parts = self._each(lambda part: self._some_nearest(Q[part], int(k), skip[part]), Q.shape[0])
        distances = np.concatenate([distance for distance, _ in parts]) if parts else np.empty((0, k))
        rows = np.concatenate([row for _, row in parts]) if parts else np.empty((0, k), np.int64)
        if order is not None:
            back = np.argsort(order)
            distances, rows = distances[back], rows[back]
        return (self.measure.to_distances(distances), rows) if self.measure.pairs is None else self._by_pairs(Q, rows)

    def within(self, X: Any = None, radius: float = 1.0) -> tuple[Array, Array, Array]:
        """(start, rows, distances): the rows at most `radius` away from query q, in their order, are rows[start[q]:start[q + 1]];
        without X of the rows themselves, none of which is its own neighbour."""
        Q, skip = self._queries(X)
        self._check_distance()
        if self._most is not None:
            raise BadParameter(f"method={self.method_!r} finds the nearest rows, not all within a radius: use method='auto'")
        if not (isinstance(radius, (int, float, np.number)) and radius >= 0):
            raise BadParameter(f"radius={radius!r}: must be a number of at least 0")
        parts = self._each(lambda part: self._some_within(Q[part], float(radius), skip[part]), Q.shape[0])
        counts = np.concatenate([np.diff(start) for start, _, _ in parts]) if parts else NONE
        rows, distances = (np.concatenate([one[i] for one in parts]) if parts else np.empty(0) for i in (1, 2))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), rows.astype(np.int64), self.measure.to_distances(distances)

    def count_within(self, X: Any = None, radius: Any = 1.0) -> Array:
        """How many rows are at most `radius` away: one number, or one for each query; without X of the rows themselves, none of which
        counts itself. No list of them is made; a tree counts (method="tree")."""
        Q, skip = self._queries(X)
        self._check_distance()
        if self._tree is None:
            raise BadParameter(f"method={self.method_!r} does not count within radii: use method='tree', or the lengths of `within`")
        radii = np.asarray(radius, dtype=np.float64)
        if radii.shape not in ((), (len(Q),)) or not (radii >= 0).all():
            raise BadParameter(f"radius of shape {radii.shape}: must be a number of at least 0, or one for each of {len(Q)} queries")
        radii = np.broadcast_to(radii, len(Q))
        reach, order = np.array([self.measure.summed(one) for one in radii.tolist()]), self._tree.order(Q)
        Q, reach, skip = Q[order], reach[order], skip[order] if len(skip) else skip
        tree, power = self._tree, self.measure.power
        parts = self._each(lambda part: tree.count(Q[part], reach[part], skip[part], power), len(Q))
        found = np.empty(len(Q), dtype=np.int64)
        found[order] = np.concatenate(parts) if parts else NONE
        return found

    def blocks_within(self, radius: float) -> Iterator[tuple[int, Array, Array]]:
        """(first, start, rows): as `within` of the rows themselves, block by block from row `first`; each is in the list of those near it.
        At most PAIRS_NEAR pairs are in memory at a time, or those of a few rows."""
        if self.measure.block is not None:
            check_symmetric(self.measure, self.X)
        Q, skip = self._queries(None)
        step = min(max(PAIRS_NEAR // len(self), 32), 4096)
        for first in range(0, len(self), step):
            some, own = Q[first : first + step], skip[first : first + step]
            parts = self._each(lambda part, Q=some, skip=own: self._some_within(Q[part], float(radius), skip[part]), some.shape[0])
            counts = np.concatenate([np.diff(start) for start, _, _ in parts])
            yield first, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.concatenate([rows for _, rows, _ in parts])

    # --- inside ---

    def _check_distance(self) -> None:
        if self.measure.pairs is not None:
            raise BadParameter(f"metric={self.measure.name!r} is no distance, which a radius needs: ask for the nearest rows")

    def _measure(self, metric: Any, rows: Array, p: float, params: dict[str, Any] | None, method: str) -> Measure:
        if not is_sparse(rows):
            return by_products(rows) if isinstance(metric, str) and metric == INNER_PRODUCT else measure_of(metric, rows, p, params)
        name = OTHER_NAMES.get(metric, metric) if isinstance(metric, str) else metric
        name = "euclidean" if name == "minkowski" and p == 2 else name
        if name not in OF_SPARSE or params:
            raise BadParameter(f"metric={metric!r}: sparse rows are searched by 'euclidean' or 'cosine' alone, use X.toarray()")
        if method not in ("auto", "all rows"):
            raise BadParameter(f"method={method!r}: of sparse rows all are looked at, use 'auto'")
        return measure_of(name, rows)

    def _rows(self, X: Any) -> Any:
        table, _ = as_table(self, X)
        if is_sparse(table):
            table = sparse.csr_array(table, dtype=np.float64)
            if not ops.all_finite(table):
                raise BadInput("Input X contains NaN or infinity: give values for all, or drop the rows without")
            return table
        table = np.ascontiguousarray(table, dtype=np.float64)
        check_finite(np.nan_to_num(table, nan=0.0, posinf=np.inf, neginf=-np.inf) if self._gaps else table, "X", "values")
        return table

    def _queries(self, X: Any) -> tuple[Array, Array]:
        """The rows that are asked for, and which row each one is itself."""
        if X is None:
            return self._asked(self._given), np.arange(len(self))
        rows = self._rows(X)
        if rows.shape[1] != self.n_features_in_:
            raise BadInput(f"X has {rows.shape[1]} columns, but NeighborIndex is of rows of {self.n_features_in_}")
        if is_sparse(rows) and self._sparse is None:
            rows = rows.toarray()
        elif not is_sparse(rows) and self._sparse is not None:
            rows = sparse.csr_array(rows)
        return self._asked(rows), NONE

    def _asked(self, rows: Any) -> Any:
        return _contiguous(self.measure.rows(rows, True))

    def _method(self, asked: str) -> str:
        n, p = self.X.shape
        if is_sparse(self.X):
            return "all rows"
        if asked != "auto" or not self.measure.boxed:
            return "all rows" if asked == "auto" else asked
        few = p <= FEW_COLUMNS or (p <= SOME_COLUMNS and n >= 1 << (p + 8))
        return "tree" if few and n >= LEAST_ROWS else "all rows"

    def _approximate(self, recall: float) -> Approximate | None:
        """The search that finds most of the nearest, or none where all rows are looked at sooner."""
        search = SEARCHES[self.method_](self.X, lambda rows: self._asked(self._given[rows]), recall, generator_of(self))
        width, self.recall_ = search.width(min(MEASURED, len(self)))
        if width is None:
            self.method_ = "all rows"
        return None if width is None else search

    def _each(self, work: Any, queries: int) -> list[Any]:
        step = QUERIES[self.method_] if self._tree or self._all or self._most else max(1, PAIRS // len(self))
        return each(work, [slice(start, start + step) for start in range(0, queries, step)])

    def _some_nearest(self, Q: Array, k: int, skip: Array) -> tuple[Array, Array]:
        if self._most is not None:
            return self._most.nearest(Q, k, skip)
        if self._sparse is not None:
            return self._sparse.nearest(Q, k, skip)
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

    def _by_pairs(self, Q: Array, rows: Array) -> tuple[Array, Array]:
        """What the rows found are measured by, which their distances do not tell."""
        assert self.measure.pairs is not None
        step = max(1, PAIRS // (rows.shape[1] * self.X.shape[1]))
        parts = [self.measure.pairs(Q[i : i + step], self.X[rows[i : i + step]]) for i in range(0, len(Q), step)]
        measured = np.concatenate(parts) if parts else np.empty(rows.shape)
        order = np.argsort(measured, axis=1, kind="stable")  # apart from rounding they are in order
        return np.take_along_axis(measured, order, axis=1), np.take_along_axis(rows, order, axis=1)

    def _some_within(self, Q: Array, radius: float, skip: Array) -> tuple[Array, Array, Array]:
        reach = self.measure.summed(radius)
        if self._sparse is not None:
            return self._sparse.within(Q, reach, skip)
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


def _contiguous(rows: Any) -> Any:
    return rows if is_sparse(rows) else np.ascontiguousarray(rows)
