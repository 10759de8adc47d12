"""Agglomerative clustering: a tree of clusters, cut into groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold._linkage import between
from tenfold.base import check
from tenfold.base.estimator import Clusterer, map_rows
from tenfold.cluster.linkage import OF_CENTRES, Distances, is_precomputed, of_table
from tenfold.cluster.tree_cut import TreeCut
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import estimator
from tenfold.near.index import NeighborIndex
from tenfold.near.measures import EUCLIDEAN, measure_of
from tenfold.solve.cut import halves, numbered

PAIRS = 1 << 21  # distances at a time


@estimator
class AgglomerativeClustering(Clusterer, TreeCut):
    """AgglomerativeClustering: rows are merged two by two, the nearest clusters first, until few are left.

    Model       the clusters that are left when the tree of merges is cut: at a number of clusters, at a distance, or in the largest gap
                between the distances of successive merges. A new row belongs to the cluster that is nearest by the same linkage: for
                single that of the nearest row, for complete and average that of the least largest or mean distance, for centroid that
                of the nearest centre, for ward that of the least √(2 W / (W + 1)) ‖x − c‖, where W is the weight of the cluster; so
                `predict` of rows of the fit need not be `labels_`
    Objective   none beyond the order of merges: each merge is the one of least distance by the linkage (see `tenfold.linkage`)
    Algorithm   single: a spanning tree, on a k-d tree where many rows have few columns, else row by row. ward: all pairs of clusters that
                are nearest to one another are merged at once, from their centres. complete, average, weighted: the same in a table of
                distances, and chains of nearest neighbours where few pairs are, or where distances are equal. centroid, median: nearest
                pairs with bounds
    Cost        O(n² p) time, single linkage of few columns about O(n log n); single and ward O(n p) memory, all others the n² / 2
                distances, of which is warned before they are made
    Fails when  there are many more rows than the table of distances has room for; single linkage chains clusters together over few rows
    Reference   Lance & Williams 1967; Murtagh 1983; Müllner 2011

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [50.0]])
    >>> tenfold.AgglomerativeClustering(n_clusters=3, linkage="average").fit_predict(X).tolist()
    [2, 2, 0, 0, 1]
    >>> tenfold.AgglomerativeClustering(n_clusters="gap", linkage="single").fit(X).n_clusters_
    2
    """

    labels_: Array = learned("int(r)", "the cluster of each row of the fit")
    rows_: Array = learned("float(m,p)", "the rows, for new ones to be compared with", optional=True, rows=True)
    centers_: Array = learned("float(k,p)", "centres of the clusters, of linkages that compare them", optional=True)
    members_: Array = learned("int(m)", "the cluster of each of `rows_`, or of each column of distances; -1: of none", optional=True)
    shares_: Array = learned("float(m)>=0", "what each of these is of its cluster; of centres, the weight", optional=True)

    kind: ClassVar[str] = "keeps rows"
    exempt: ClassVar[dict[str, str]] = {
        "row_order": "merges and clusters are numbered in the order of the rows",
        "weight_is_copies": "the tree has a leaf for each row, however much it weighs",
    }

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [
            {"n_clusters": 3},
            {"n_clusters": 4, "linkage": "average", "metric": "manhattan"},
            {"n_clusters": "gap", "linkage": "complete", "metric": "cosine"},
            {"n_clusters": None, "distance_threshold": 2.5, "linkage": "single"},
        ]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_clusters": 2}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._check_settings()
        X, _, w = yield Keep()
        X = np.ascontiguousarray(ops.dense(X), dtype=np.float64)
        columns = np.arange(X.shape[1])
        if is_precomputed(self.metric):
            # rows of weight 0 are not here, but their columns are
            columns = source.rows if isinstance(source, Arrays) and source.rows is not None else columns
            if len(X) != len(columns):
                raise BadInput(f"Distance matrix should be square, got matrix of shape {X.shape}: metric='precomputed' is of all pairs")
            X = np.ascontiguousarray(X[:, columns])
        found = self._tree(X, w)
        return found | self._measured_by(X, columns, source.n_features, w, found)

    def _measured_by(self, X: Array, columns: Array, p: int, w: Array, found: dict[str, Any]) -> dict[str, Any]:
        """What new rows are compared with."""
        members, k = found["labels_"], found["n_clusters_"]
        by_halves = self.linkage in ("weighted", "median")
        share = halves(found["linkage_"][:, :2].astype(np.int64), len(X), k) if by_halves else w
        weight = np.bincount(members, weights=share, minlength=k)
        share = share / weight[members]
        if is_precomputed(self.metric):
            whole, shares = np.full(p, -1), np.zeros(p)
            whole[columns], shares[columns] = members, share
            return dict(members_=whole, shares_=shares)
        if self.linkage in OF_CENTRES:
            centers = np.zeros((k, p))
            np.add.at(centers, members, X * share[:, None])
            return dict(centers_=centers, shares_=weight)
        return dict(rows_=X.copy(), members_=members, shares_=share)

    def _finish(self, source: Source) -> None:
        """Rows of weight 0 are not in the tree: they get the labels of new ones."""
        if isinstance(source, Arrays) and source.rows is not None:
            labels = map_rows(self._assigner(), source.whole())
            labels[source.rows] = self.labels_
            vars(self)["labels_"] = labels

    def plot(self, ax: Any = None, most: int = 30, names: Any = None) -> Any:
        """The tree as a picture (`draw_dendrogram`): clusters in colour, the cut as a line; of many rows the last merges."""
        from tenfold.draw import draw_dendrogram

        check.check_fitted(self)
        return draw_dendrogram(self, most=most, names=names, ax=ax)

    def predict(self, X: Any) -> Array:
        """The nearest cluster of each row, by the linkage; with metric='precomputed' X has the distances to the rows of the fit."""
        return map_rows(self._assigner(), check.check_predict(self, X))

    def _assign(self, X: Any) -> Array:
        return self._assigner()(X)

    def _assigner(self) -> Callable[[Array], Array]:
        """The rule for new rows, with all that blocks of them share."""
        check.check_fitted(self)
        if is_precomputed(self.metric):
            if self.linkage in OF_CENTRES:
                raise BadParameter(f"linkage={self.linkage!r} compares centres, which distances alone do not tell of new rows: give rows")
            known = self.members_ >= 0
            return lambda X: self._nearest_by_all(X[:, known], self.members_[known], self.shares_[known])
        if self.linkage in OF_CENTRES:
            return self._nearest_centre
        if callable(self.metric) and of_table(self.metric):
            raise BadParameter("metric is a function of the whole table, which knows no new rows: use a function of two rows")
        if self.linkage == "single":
            index = NeighborIndex(self.rows_, self.metric)
            return lambda X: np.asarray(self.members_[index.nearest(X, 1)[1][:, 0]])
        measure = measure_of(self.metric, self.rows_)
        distances = Distances(len(self.rows_), measure, np.ascontiguousarray(measure.rows(self.rows_, False)))

        def by_all(X: Array) -> Array:
            assert distances.rows is not None
            changed = measure.rows(np.ascontiguousarray(X, dtype=np.float64), True)
            step = max(1, PAIRS // len(distances.rows))
            blocks = (distances.between(changed[i : i + step], distances.rows) for i in range(0, len(changed), step))
            return np.concatenate([self._nearest_by_all(away, self.members_, self.shares_) for away in blocks])

        return by_all

    def _objection(self) -> str | None:
        k, known = self.n_clusters_, vars(self)
        if "centers_" in known and (len(self.centers_) != k or len(known.get("shares_", self.centers_)) != k):
            return "centers_ are not those of n_clusters_ clusters"
        if "members_" in known and not numbered(self.members_[self.members_ >= 0], k):
            return "members_ are not those of n_clusters_ clusters"
        return None

    def _nearest_centre(self, X: Array) -> Array:
        away = between(np.ascontiguousarray(X, dtype=np.float64), self.centers_, EUCLIDEAN, 2.0, False)
        if self.linkage == "ward":
            away *= self.shares_ / (self.shares_ + 1)
        return np.asarray(away.argmin(axis=1))

    def _nearest_by_all(self, away: Array, members: Array, shares: Array) -> Array:
        """The nearest cluster, from the distances to all rows of the fit."""
        order = np.argsort(members, kind="stable")
        starts = np.searchsorted(members[order], np.arange(self.n_clusters_))
        if self.linkage in ("single", "complete"):
            fold = np.minimum if self.linkage == "single" else np.maximum
            return np.asarray(fold.reduceat(away[:, order], starts, axis=1).argmin(axis=1))
        return np.asarray(np.add.reduceat((away * shares)[:, order], starts, axis=1).argmin(axis=1))
