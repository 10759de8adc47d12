"""Trees of clusters that are cut: what learners that cluster rows and those that cluster columns share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.cluster.connected import check_connected, grown_connected
from tenfold.cluster.linkage import LINKAGES, Distances, check_metric, grown
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, group, param
from tenfold.solve.cut import cut, largest_gap


@group
class TreeCut(Estimator):
    """Abstract: the parameters of a tree of clusters and of its cut, and what is told of both."""

    n_clusters_: int = learned("int", "number of clusters")
    children_: Array = learned("int(*,2)", "the two clusters of each merge: rows come first, merge k is n_leaves_ + k")
    linkage_: Array = learned("float(*,4)", "the tree as SciPy's dendrogram reads it: two clusters, their distance, the rows of both")
    n_leaves_: int = learned("int", "number of rows in the tree")
    n_connected_components_: int = learned("int", "pieces that the graph of `connectivity` was in, else 1")
    distances_: Array = learned("float(*)", "distance of each merge; where asked for, or cut at a distance", optional=True)

    n_clusters: int | str | None = param(
        default=2, at_least=1, one_of=("gap", None), doc="number of clusters; 'gap': cut in the largest gap; None: at `distance_threshold`"
    )
    _: KW_ONLY
    metric: str | Callable[..., Any] = param(
        default="euclidean", doc="name of a metric, function of two rows or of the table, or 'precomputed': X has all distances"
    )
    memory: Any = param(default=None, doc="no effect: nothing is kept on disk")
    connectivity: Any = param(default=None, doc="a graph (n, n) of rows that may be merged, or a function of X for one; None: all may")
    compute_full_tree: bool | str = param(
        default="auto", one_of=("auto", True, False), doc="with `connectivity`: whether `children_` goes beyond the cut"
    )
    linkage: str = param(default="ward", one_of=LINKAGES, doc="how far clusters are apart")
    distance_threshold: float | None = param(default=None, at_least=0, doc="cut where clusters are at least so far apart")
    compute_distances: bool = param(default=False, doc="leave `distances_` also where the cut is at a number")

    def _tree(self, X: Array, w: Array) -> dict[str, Any]:
        """The tree of these rows, cut: with `labels_` of all of them."""
        distances, pieces = Distances.of(X, self.linkage, self.metric), 1
        if self.connectivity is None:
            tree = grown(distances, self.linkage, w)
        else:
            tree, pieces = grown_connected(distances, X, self.connectivity, self.linkage, w)
        return self._cut(tree, len(X)) | dict(linkage_=tree, n_leaves_=len(X), n_connected_components_=pieces)

    def _check_settings(self) -> None:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise BadParameter("Exactly one of n_clusters and distance_threshold has to be set, and the other needs to be None.")
        if self.distance_threshold is not None and self.compute_full_tree is False:
            raise BadParameter("compute_full_tree must be True if distance_threshold is set.")
        check_metric(self.linkage, self.metric)
        if self.connectivity is not None:
            check_connected(self.linkage)

    def _cut(self, tree: Array, n: int) -> dict[str, Any]:
        """Where the tree is cut, and what is left."""
        children, heights = tree[:, :2].astype(np.int64), tree[:, 2]
        if self.distance_threshold is not None:
            k = int((heights >= self.distance_threshold).sum()) + 1
        else:
            k = largest_gap(heights) if isinstance(self.n_clusters, str) else int(self.n_clusters or 1)
        if k > n:
            raise BadInput(
                f"Cannot extract more clusters than samples: {k} clusters were given for a tree with {n} leaves: "
                f"n_clusters must be at most {n}"
            )
        found: dict[str, Any] = dict(n_clusters_=k, labels_=cut(children, n, k), children_=children)
        if self.distance_threshold is not None or self.compute_distances:
            found["distances_"] = heights.copy()
        whole = k < max(100, 0.02 * n) if self.compute_full_tree == "auto" else self.compute_full_tree
        if self.connectivity is not None and self.distance_threshold is None and not whole:
            found["children_"] = children[: n - k]
            if "distances_" in found:
                found["distances_"] = found["distances_"][: n - k]
        return found
