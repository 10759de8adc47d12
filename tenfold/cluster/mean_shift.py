"""Mean shift: clusters are the peaks of a density."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold._density import mean_shift
from tenfold.base import check
from tenfold.base.estimator import Clusterer, Estimator
from tenfold.cluster.bandwidth import bandwidth_of
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.engine import lent_threads
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.threads import while_listening
from tenfold.near.index import NeighborIndex

REST = 1e-3  # a point rests that moves less than this share of the bandwidth
FAR = 8.6  # bandwidths beyond which a Gaussian kernel is below 1e-16
NO_WEIGHTS = np.empty(0)
MANY = 1 << 20  # rows times seeds that take a while


@estimator
class MeanShift(Clusterer, Estimator):
    """MeanShift: clusters about the peaks of a density of the rows.

    Model       cluster of x = argminₖ ‖x − cₖ‖, cₖ a peak; with cluster_all=False −1 beyond the bandwidth
    Objective   peaks of Σᵢ wᵢ K((xᵢ − x) / h): each seed moves to the mean of the rows around it, weighted by the kernel, until it moves
                less than h / 1000. Flat: rows within h count alike; gaussian: by exp(−‖xᵢ − x‖² / 2h²)
    Algorithm   all seeds side by side on a k-d tree whose nodes know the sum of their rows: those wholly within h are added at once;
                of peaks within h of one another the one with most weight stays (ties: the larger, by the columns in their order)
    Cost        O(seeds · steps · rows around), less for the flat kernel in few columns; O(n p) memory; without a bandwidth O(n² p) time
    Fails when  h does not suit the clusters, or they differ much in size; the density is flat, where seeds rest anywhere
    Reference   Fukunaga & Hostetler 1975; Comaniciu & Meer 2002

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.MeanShift(bandwidth=2).fit([[1, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]])
    >>> model.labels_
    array([1, 1, 1, 0, 0, 0])
    >>> model.predict([[0, 0], [5, 5]])
    array([1, 0])
    """

    cluster_centers_: Array = learned("float(k,p)", "the peaks, that of most weight first", like_x=True)
    bandwidth_: float = learned("float>=0", "the bandwidth h")
    n_iter_: int = learned("int", "most steps of a seed")
    labels_: Array = learned("int(n)", "the cluster of each training row that can be read again; -1: none", optional=True)

    kind: ClassVar[str] = "keeps rows"

    _: KW_ONLY
    bandwidth: float | None = param(default=None, above=0, doc="h; None: estimate_bandwidth of all rows")
    seeds: object = param(default=None, doc="points (s, p) to start from; None: all rows, or bins of them")
    bin_seeding: bool = param(default=False, doc="start from the corners of a grid of width h that are nearest to rows")
    min_bin_freq: int = param(default=1, at_least=1, doc="weight of the rows at a corner that is started from")
    cluster_all: bool = param(default=True, doc="False: rows farther than h from all peaks belong to none (-1)")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    max_iter: int = param(default=300, at_least=0, doc="most steps of a seed")
    kernel: str = param(default="flat", one_of=("flat", "gaussian"), doc="how rows count by their distance")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"bandwidth": 3.0}, {"bandwidth": 4.0, "bin_seeding": True, "cluster_all": False}, {"kernel": "gaussian"}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        given = self._given_seeds(source.n_features)
        X, _, w = yield Keep()
        X, w = np.ascontiguousarray(X, dtype=np.float64), np.asarray(w, dtype=np.float64)
        h = float(bandwidth_of(X, w) if self.bandwidth is None else self.bandwidth)
        seeds = given if given is not None else bin_seeds(X, w, h, self.min_bin_freq) if self.bin_seeding else X
        points, weight, steps = shifted(X, w, seeds, h, self.kernel, self.max_iter)
        if not (weight > 0).any():
            raise BadInput(
                f"No point was within bandwidth={h:f} of any seed. Try a different seeding strategy or increase the bandwidth."
            )
        centers = peaks(points[weight > 0], weight[weight > 0], h)
        return dict(cluster_centers_=centers, bandwidth_=h, n_iter_=int(steps.max()))

    def _given_seeds(self, p: int) -> Array | None:
        if self.seeds is None:
            return None
        try:
            seeds = np.array(self.seeds, dtype=np.float64, order="C")
        except (TypeError, ValueError, OverflowError):
            seeds = np.empty(0)
        if seeds.ndim != 2 or seeds.shape[1] != p or not len(seeds) or not (np.abs(seeds) < 1e150).all():
            raise BadParameter(f"MeanShift(seeds={check.short(self.seeds)}): must be rows of {p} finite numbers, or None")
        return seeds

    def _assign(self, X: Any) -> Array:
        centers = self.cluster_centers_.astype(np.float64, copy=False)
        labels, distance2 = ops.nearest(np.ascontiguousarray(ops.dense(X)), centers)
        labels = labels.astype(np.int64)
        return labels if self.cluster_all else np.where(np.sqrt(distance2) <= self.bandwidth_, labels, -1)

    def _objection(self) -> str | None:
        return None if len(self.cluster_centers_) else "there is no cluster"


def shifted(X: Array, w: Array, seeds: Array, h: float, kernel: str, max_iter: int) -> tuple[Array, Array, Array]:
    """Where seeds come to rest, the weight around them there, and the steps of each."""
    weights = w if (w != 1).any() else NO_WEIGHTS
    gaussian = kernel == "gaussian" and h > 0
    with lent_threads() as threads:
        reach, scale = (FAR * h, 0.5 / h**2) if gaussian else (h, 0.0)
        args = (X, weights, np.ascontiguousarray(seeds), reach, scale, REST * h, max_iter, threads)
        return while_listening(len(X) * len(seeds) > MANY, lambda: mean_shift(*args))


def bin_seeds(X: Array, w: Array, size: float, least: float) -> Array:
    """The corners of a grid that are nearest to rows of weight `least`; the rows themselves where each has a corner of its own."""
    if size == 0:
        return X
    corners, corner = np.unique(np.round(X / size), axis=0, return_inverse=True)
    seeds = corners[np.bincount(corner.ravel(), weights=w, minlength=len(corners)) >= least]
    return X if len(seeds) == len(X) else np.ascontiguousarray(seeds * size)


def peaks(points: Array, weight: Array, h: float) -> Array:
    """Of points at rest within h of one another that with most weight around it; ties: the larger by its columns, in their order."""
    order = np.lexsort((*points.T[::-1], weight))[::-1]
    points = np.ascontiguousarray(points[order])
    index, left, kept = NeighborIndex(points), np.ones(len(points), dtype=bool), []
    ask, at = 1, 0
    while at < len(points):  # some at a time: the first ones take most of the others with them
        some = at + np.flatnonzero(left[at:])[:ask]
        if not len(some):
            break
        start, near, _ = index.within(points[some], h)
        for i, row in enumerate(some):
            if left[row]:
                kept.append(row)
                left[near[start[i] : start[i + 1]]] = False
                left[row] = False
        at, ask = int(some[-1]) + 1, min(2 * ask, 512)
    return points[kept]
