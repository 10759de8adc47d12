"""Clusters of dense rows at one scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold._density import RowGroups, dense_groups
from tenfold.base.estimator import Clusterer, Estimator, map_rows
from tenfold.cluster.near_core import check_distances, index_of, is_precomputed, nearest_of, search_of, two_sided
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.engine import lent_threads
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.threads import while_listening
from tenfold.near.index import NeighborIndex

NO_WEIGHTS = np.empty(0)
MANY = 1 << 14  # rows that take a while


@estimator
class DBSCAN(Clusterer, Estimator):
    """DBSCAN: groups of dense rows, with rows that belong to none as noise.

    Model       x is a core row if Σ wᵢ over rows i with d(x, xᵢ) ≤ eps is at least min_samples (x itself counts); core rows within eps of
                one another are of one cluster; another row is of the first cluster with a core row within eps, or noise: −1.
                A new row: the cluster of the nearest core row if that is within eps, else −1
    Objective   none: the clusters are the connected parts of the core rows, and unique
    Algorithm   k-d tree: rows are weighed until there is enough, then joined; parts of the tree that are one cluster are not entered
                again. Other metrics: lists of near rows, block by block
    Cost        O(n log n) time with few columns, else O(n² p); O(n p) memory whatever eps is, never all pairs
    Fails when  clusters differ much in density (see HDBSCAN); a metric is not symmetric: within eps one way is enough
    Reference   Ester, Kriegel, Sander & Xu 1996

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.DBSCAN(eps=3, min_samples=2).fit([[1, 2], [2, 2], [2, 3], [8, 7], [8, 8], [25, 80]])
    >>> model.labels_
    array([ 0,  0,  0,  1,  1, -1])
    >>> model.predict([[9, 9], [40, 40]])
    array([ 1, -1])
    """

    core_sample_indices_: Array = learned("int(m)>=0", "numbers of the core rows")
    components_: Array = learned("float(m,p)", "the core rows; of distances the rows of their table", rows=True, like_x=True)
    core_labels_: Array = learned("int(m)>=0", "the cluster of each core row")
    labels_: Array = learned("int(n)", "the cluster of each training row; -1: noise")

    kind: ClassVar[str] = "keeps rows"
    sparse: ClassVar[bool] = True  # made dense, but for distances
    exempt: ClassVar[dict[str, str]] = {
        "row_order": "clusters are numbered in the order of their first core rows",
        "weight_is_copies": "components_ has a core row once, whatever its weight",
    }

    eps: float = param(default=0.5, above=0, doc="distance of neighbours at most; draw.draw_neighbor_distances shows a guess")
    _: KW_ONLY
    min_samples: int = param(default=5, at_least=1, doc="weight of the neighbours of a core row, itself among them")
    metric: str | Callable[..., Any] = param(
        default="euclidean",
        doc="a metric of NeighborIndex by name, a function of two rows, or 'precomputed': X holds the distances of the rows; of sparse "
        "ones those that it stores",
    )
    metric_params: dict[str, Any] | None = param(default=None, doc="what the metric takes besides: p, w, V, VI")
    algorithm: str = param(
        default="auto", one_of=("auto", "ball_tree", "kd_tree", "brute"), doc="no effect: all of them find the same rows"
    )
    leaf_size: int = param(default=30, at_least=1, doc="no effect: leaves of the tree have 16 rows")
    p: float | None = param(default=None, above=0, at_most=np.inf, doc="power of the Minkowski metric; None: 2")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        cosine, manhattan = {"eps": 0.3, "metric": "cosine", "min_samples": 3}, {"eps": 3.0, "metric": "manhattan", "min_samples": 3}
        return [{"eps": 2.5, "min_samples": 4}, manhattan, cosine]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"eps": 1.0, "min_samples": 2}

    @property
    def accepts(self) -> str:
        """Rows, or a table of distances."""
        return "pairs" if is_precomputed(self.metric) else "rows"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        X, _, w = yield Keep(sparse=is_precomputed(self.metric))
        weights = w.astype(np.float64) if (w != 1).any() else NO_WEIGHTS
        if is_precomputed(self.metric):
            check_distances(X)
            dense, labels = groups_of_distances(X, weights, self.eps, self.min_samples)
        else:
            index = index_of(X, self.metric, self.p, self.metric_params)
            dense, labels = groups_of_rows(index, weights, self.eps, self.min_samples)
        core = np.flatnonzero(dense)
        components = np.array(ops.dense(X[core]), dtype=np.float64)
        return dict(core_sample_indices_=core, components_=components, core_labels_=labels[core], labels_=labels)

    def _finish(self, source: Source) -> None:
        """Rows of weight zero are not learned from, but have a label."""
        if not isinstance(source, Arrays) or source.rows is None:
            return
        labels = map_rows(self._assign, source.whole())
        labels[source.rows] = self.labels_
        vars(self).update(labels_=labels, core_sample_indices_=source.rows[self.core_sample_indices_])

    def _assign(self, X: Any) -> Array:
        if not len(self.components_):
            return np.full(X.shape[0], -1)
        if is_precomputed(self.metric):
            return self._nearest_precomputed(X)
        search = search_of(self, self.components_, lambda: index_of(self.components_, self.metric, self.p, self.metric_params))
        distance, row = nearest_of(search, ops.dense(X))
        return np.where(distance <= self.eps, self.core_labels_[row], -1)

    def _nearest_precomputed(self, X: Any) -> Array:
        """By distances to the rows of the fit; those that a sparse table does not store are large."""
        if ops.is_sparse(X):
            full = np.full(X.shape, np.inf)
            where = X.tocoo()
            full[where.row, where.col] = where.data
            X = full
        away = X[:, self.core_sample_indices_]
        return np.where(away.min(axis=1) <= self.eps, self.core_labels_[away.argmin(axis=1)], -1)

    def _objection(self) -> str | None:
        if self.core_labels_.size and self.core_sample_indices_.max() >= len(self.labels_):
            return "a core row is none of the rows that have labels"
        return None


def groups_of_rows(index: NeighborIndex, weights: Array, eps: float, least: float) -> tuple[Array, Array]:
    """Whether each row is a core row, and its label."""
    measure = index.measure
    if index.method_ == "tree" and not two_sided(index):
        assert measure.apart is not None
        with lent_threads() as threads:
            args = (index.X, weights, measure.summed(eps), float(least), measure.apart, measure.power, threads)
            dense, labels = while_listening(len(index) > MANY, lambda: dense_groups(*args))
        return dense.astype(bool), labels
    dense, groups = np.zeros(len(index), dtype=np.uint8), RowGroups(len(index))
    for first, start, rows in index.blocks_within(eps):
        known = first + len(start) - 1
        own = weights[first:known] if len(weights) else 1.0  # a row is its own neighbour
        dense[first:known] = _sums(start, rows, weights) + own >= least
        groups.add(first, start, rows, dense, known)
    return dense.astype(bool), groups.labels(dense)


def groups_of_distances(table: Any, weights: Array, eps: float, least: float) -> tuple[Array, Array]:
    """The same of a table of distances. A row is its own neighbour, whatever the table says."""
    n = table.shape[0]
    step, lists = max(1, (1 << 24) // max(n, 1)), []
    for first in range(0, n, step):
        part = table[first : first + step]
        near = part.tocoo() if ops.is_sparse(part) else None
        if near is None:
            row, column = np.nonzero(part <= eps)
        else:
            order = np.lexsort((near.col, near.row))
            row, column = near.row[order][near.data[order] <= eps], near.col[order][near.data[order] <= eps]
        others = row + first != column
        row, column = row[others], column[others]
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=part.shape[0]))]).astype(np.int64)
        lists.append((first, start, column.astype(np.int64)))
    own = weights if len(weights) else np.ones(n)
    sums = np.concatenate([_sums(start, rows, weights) for _, start, rows in lists])
    dense, groups = (sums + own >= least).astype(np.uint8), RowGroups(n)
    for first, start, rows in lists:
        groups.add(first, start, rows, dense, n)
    return dense.astype(bool), groups.labels(dense)


def _sums(start: Array, rows: Array, weights: Array) -> Array:
    """The weight of the rows in each list."""
    if not len(weights):
        return np.diff(start)
    return np.bincount(np.repeat(np.arange(len(start) - 1), np.diff(start)), weights=weights[rows], minlength=len(start) - 1)
