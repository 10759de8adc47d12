"""Clusters of dense rows at all scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from tenfold._density import condense
from tenfold.base import check
from tenfold.base.estimator import Clusterer, Estimator, map_rows
from tenfold.cluster.condensed import Condensed, chosen_by_mass, labelled, leaves_of, no_smaller
from tenfold.cluster.near_core import check_distances, index_of, is_precomputed, search_of
from tenfold.cluster.spanning import from_row_zero, given_distances, span_distances, span_rows, with_gaps
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import estimator, param
from tenfold.near.pairs import distances

NO_WEIGHTS = np.empty(0)
OF_BOXES = ("euclidean", "l2", "minkowski", "p", "manhattan", "cityblock", "l1", "chebyshev", "infinity")
OF_BALLS = (
    *OF_BOXES, "seuclidean", "mahalanobis", "hamming", "canberra", "braycurtis", "jaccard", "dice", "rogerstanimoto", "russellrao",
    "sokalsneath", "haversine",
)  # fmt: skip


@estimator
class HDBSCAN(Clusterer, Estimator):
    """HDBSCAN: the clusters of dense rows that last longest, of all scales at once, with noise.

    Model       rows are max(core(x), core(y), d(x, y) / alpha) apart, core(x) being how far min_samples rows around x reach, itself
                included; the tree of merges of single linkage by that, without branches below min_cluster_size.
                A new row joins at the row that is nearest so: its cluster, if the cluster begins above that distance, else −1
    Objective   max Σ stability over clusters without overlap, stability = Σ wᵢ (λᵢ − λ of its beginning), λ = 1 / distance at which row i
                leaves ("eom"); or all leaves of the tree ("leaf")
    Algorithm   shortest spanning tree on a k-d tree by Borůvka's rounds, each row asked again only when its nearest is of its own group;
                with many columns, and by other metrics, Prim's, row by row
    Cost        about O(n log n) time with few columns, else O(n² p); O(n p) memory, never all pairs
    Fails when  clusters are not set apart by density; branches that merge at one height are taken as one merge of all of them, so that
                the order of rows does not matter (scikit-learn: one after another)
    Reference   Campello, Moulavi & Sander 2013; McInnes & Healy 2017

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(40, 2)) + c for c in (0, 20)])
    >>> model = tenfold.HDBSCAN(min_cluster_size=10).fit(X)
    >>> int(model.labels_.max()), model.predict([[0, 0], [20, 20], [60, 60]]).tolist()
    (1, [0, 1, -1])
    """

    labels_: Array = learned("int(n)", "the cluster of each training row; -1: noise")
    probabilities_: Array = learned("float(n)>=0", "how long each row stays in its cluster, as a share of the cluster's life")
    centroids_: Array = learned("float(k,p)", "means of the clusters, weighted by probabilities_", optional=True)
    medoids_: Array = learned("float(k,p)", "rows of the clusters in their middle", optional=True, rows=True)
    _rows: Array = learned("float(m,*)", "the training rows; of distances nothing but their number", rows=True)
    _row_labels: Array = learned("int(m)", "their clusters")
    _cores: Array = learned("float(m)>=0", "how far the rows around each reach")
    _row_weights: Array = learned("float(m)>0", "their weights, where they are not one", optional=True)
    _births: Array = learned("real(k)", "one over the distance at which each cluster begins")
    _merges: Array = learned("float(*,3)", "the edges of the spanning tree: both rows, and their distance")

    kind: ClassVar[str] = "keeps rows"
    least_rows: ClassVar[int] = 2
    sparse: ClassVar[bool] = True  # made dense
    exempt: ClassVar[dict[str, str]] = {"row_order": "clusters are numbered along the tree, from the first row"}

    min_cluster_size: int = param(default=5, at_least=2, doc="weight of a cluster at least")
    min_samples: int | None = param(default=None, at_least=1, doc="weight of the rows around a row, and itself; None: min_cluster_size")
    cluster_selection_epsilon: float = param(default=0.0, at_least=0, doc="clusters do not split below this distance")
    max_cluster_size: int | None = param(default=None, at_least=1, doc="clusters of more weight are split, by 'eom'")
    metric: str | Callable[..., Any] = param(
        default="euclidean", doc="a metric of NeighborIndex by name, a function of two rows, or 'precomputed': X holds distances"
    )
    metric_params: dict[str, Any] | None = param(default=None, doc="what the metric takes besides: p, w, V, VI")
    alpha: float = param(default=1.0, above=0, doc="distances between rows are divided by it")
    algorithm: str = param(
        default="auto",
        one_of=("auto", "brute", "kd_tree", "ball_tree"),
        doc="a tree refuses metrics that it has no bounds for; all find the same",
    )
    leaf_size: int = param(default=40, at_least=1, doc="no effect: leaves of the tree have 16 rows")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    cluster_selection_method: str = param(
        default="eom", one_of=("eom", "leaf"), doc="clusters of most excess of mass, or the leaves of the tree"
    )
    allow_single_cluster: bool = param(default=False, doc="whether all rows may be one cluster")
    store_centers: str | None = param(default=None, one_of=("centroid", "medoid", "both"), doc="which centres to tell")
    copy: bool | str = param(default="warn", one_of=("warn",), doc="no effect: X is never changed")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        centers = {"min_cluster_size": 4, "min_samples": 2, "store_centers": "both", "metric": "manhattan"}
        return [{"min_cluster_size": 4, "cluster_selection_method": "leaf"}, centers, {"min_cluster_size": 6, "allow_single_cluster": True}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"min_cluster_size": 2, "allow_single_cluster": True}

    @property
    def accepts(self) -> str:
        """Rows, or a table of distances."""
        return "pairs" if is_precomputed(self.metric) else "rows"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if is_precomputed(self.metric) and self.store_centers is not None:
            raise BadParameter("Cannot store centers when using a precomputed distance matrix: they would be rows")
        check_algorithm(self.algorithm, self.metric)
        X, _, w = yield Keep(sparse=is_precomputed(self.metric))
        n, least = X.shape[0], self.min_cluster_size if self.min_samples is None else self.min_samples
        if n < 2:
            raise BadInput("n_samples=1 while HDBSCAN requires more than one sample")
        if least > w.sum():
            raise BadInput(f"min_samples ({least}) must be at most the number of samples in X ({n})")
        weights = np.asarray(w, dtype=np.float64) if (w != 1).any() else NO_WEIGHTS
        if is_precomputed(self.metric):
            check_distances(X)
            table = given_distances(X, least)
            spanned, rows = span_distances(table / self.alpha, weights, least), np.empty((n, 0))
        else:
            rows = np.array(ops.dense(X), dtype=np.float64)
            spanned = span_rows(index_of(rows, self.metric, None, self.metric_params), weights, least, self.alpha)
        cores, first, second, length = spanned
        if not np.isfinite(length).all():
            raise BadInput("distances between rows are too large to be told apart: scale the columns")
        first, second, length = from_row_zero(first, second, length)
        tree = Condensed(n, *condense(first, second, length, weights, cores, float(self.min_cluster_size)))
        chosen = self._chosen(tree)
        labels, shares = labelled(tree, chosen, self.cluster_selection_epsilon)
        births = tree.births()[np.array(chosen, dtype=np.int64)]
        fitted = dict(labels_=labels, probabilities_=shares, _rows=rows, _row_labels=labels, _cores=cores, _births=births)
        if len(weights):
            fitted["_row_weights"] = weights
        fitted["_merges"] = np.column_stack([first, second, length])
        return fitted | self._centers(rows, labels, shares if not len(weights) else shares * weights, len(chosen))

    def _chosen(self, tree: Condensed) -> list[int]:
        """The clusters that are told, by their numbers in the tree."""
        epsilon, single = self.cluster_selection_epsilon, self.allow_single_cluster
        if self.cluster_selection_method == "leaf":
            leaves = leaves_of(tree)
            return no_smaller(tree, leaves, epsilon, single) if epsilon > 0 else leaves
        chosen = chosen_by_mass(tree, single, np.inf if self.max_cluster_size is None else self.max_cluster_size)
        if epsilon > 0 and tree.count > 1 and chosen != [0]:
            return no_smaller(tree, chosen, epsilon, single)
        return chosen

    def _centers(self, rows: Array, labels: Array, shares: Array, k: int) -> dict[str, Array]:
        found: dict[str, list[Array]] = {"centroids_": [], "medoids_": []}
        measure = index_of(rows, self.metric, None, self.metric_params).measure if self.store_centers in ("medoid", "both") else None
        for cluster in range(k if self.store_centers else 0):
            mine, share = rows[labels == cluster], shares[labels == cluster]
            found["centroids_"].append(np.average(mine, weights=share, axis=0))
            if measure is not None:
                step = max(1, (1 << 22) // len(mine))
                sums = [distances(measure, mine[i : i + step], mine) @ share for i in range(0, len(mine), step)]
                found["medoids_"].append(mine[np.concatenate(sums).argmin()])
        kept = {"centroid": ("centroids_",), "medoid": ("medoids_",), "both": ("centroids_", "medoids_"), None: ()}[self.store_centers]
        return {name: np.array(found[name]).reshape(k, rows.shape[1]) for name in kept}

    def _finish(self, source: Source) -> None:
        """Rows of weight zero are not learned from, but have a label."""
        if not isinstance(source, Arrays) or source.rows is None:
            return
        labels, shares = map_rows(self._assign, source.whole()), np.zeros(source.X.shape[0])
        labels[source.rows], shares[source.rows] = self.labels_, self.probabilities_
        vars(self).update(labels_=labels, probabilities_=shares)

    def _assign(self, X: Any) -> Array:
        least = self.min_cluster_size if self.min_samples is None else self.min_samples
        m = len(self._cores)
        k = min(max(2 * least, 2), m)
        if is_precomputed(self.metric):
            table = with_gaps(X) / self.alpha
            near = np.argsort(table, axis=1, kind="stable")[:, :k]
            away = np.take_along_axis(table, near, axis=1)
        else:
            search = search_of(self, self._rows, lambda: index_of(self._rows, self.metric, None, self.metric_params))
            away, near = search.nearest(np.asarray(ops.dense(X), dtype=np.float64), k)
            away = away / self.alpha
        weights = vars(self).get("_row_weights")
        before = np.cumsum(np.ones(near.shape) if weights is None else weights[near], axis=1) 
        enough = np.minimum((before < (least - 1) * (1 - 1e-12)).sum(axis=1), k - 1)
        core = away[np.arange(len(away)), enough] if least > 1 else np.zeros(len(away))
        reach = np.maximum(np.maximum(away, self._cores[near]), core[:, None])
        beyond = before[:, :-1] >= 2 * least * (1 - 1e-12)
        reach[:, 1:][beyond] = np.inf
        best = reach.argmin(axis=1)
        label = self._row_labels[near[np.arange(len(near)), best]]
        if not len(self._births):
            return np.full(len(label), -1)
        return np.where((label >= 0) & (reach.min(axis=1) * self._births[label] < 1), label, -1)

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> Array:
        """Labels of the clusters of one scale: rows connected by edges shorter than `cut_distance`, in the order of their first rows;
        -1 where they are fewer than `min_cluster_size`."""
        check.check_fitted(self)
        n, short = len(self._cores), self._merges[self._merges[:, 2] < cut_distance]
        ends = short[:, :2].astype(np.int64)
        _, part = connected_components(csr_matrix((np.ones(len(ends)), ends.T), shape=(n, n)), directed=False)
        large = np.bincount(part) >= min_cluster_size
        number = np.full(len(large), -1)
        order = [one for one in dict.fromkeys(part.tolist()) if large[one]]
        number[order] = np.arange(len(order))
        return np.asarray(number[part])

    def _objection(self) -> str | None:
        if self._row_labels.size and self._row_labels.max() >= len(self._births):
            return "a row is of a cluster that is not there"
        if self._rows.shape[1] not in (0, self.n_features_in_):
            return f"the rows have {self._rows.shape[1]} columns, not {self.n_features_in_}"
        return None


def check_algorithm(algorithm: str, metric: Any) -> None:
    """Refuses a tree for a metric that has none, as scikit-learn does."""
    known = {"kd_tree": ("KDTree", OF_BOXES), "ball_tree": ("BallTree", OF_BALLS)}
    if algorithm in known and not (isinstance(metric, str) and metric in known[algorithm][1]):
        raise BadParameter(
            f"{metric} is not a valid metric for a {known[algorithm][0]}-based algorithm. Please select a different metric. "
            "Or let algorithm='auto' choose"
        )
