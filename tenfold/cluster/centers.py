"""What clusterers by centres share: the nearest centre of a row, distances, and the score."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Clusterer, Estimator, Transformer, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.errors import BadParameter, EmptyClusters, warn
from tenfold.core.learned import in_single, learned
from tenfold.solve.sketch import Sample


class Centers(Clusterer, Transformer, Estimator):
    """Abstract: clusters by the nearest of k centres, in squared Euclidean distance."""

    cluster_centers_: Array = learned("float(k,p)", "centres of the clusters", like_x=True)
    inertia_: float = learned("float", "sum of squared distances to the nearest centre")
    n_iter_: int = learned("int", "passes over the rows")
    labels_: Array = learned("int(n)<k", "the cluster of each training row of a table in memory", optional=True)

    sparse: ClassVar[bool] = True
    n_clusters: int

    def _finish(self, source: Source) -> None:
        """For a table in memory one pass gives both `labels_` and the inertia of the final centres, rounded as they are told."""
        vars(self).update(in_single(type(self), vars(self)) if source.single else {})
        if not isinstance(source, Arrays):
            return super()._finish(source)
        if source.rows is None and source.n_parts == 1:
            labels, distance2 = ops.nearest(source.load(0).X, self._centres())
        else:
            nearest = map_rows(lambda X: np.column_stack(ops.nearest(X, self._centres())), source.whole())
            labels, distance2 = nearest[:, 0], np.ascontiguousarray(nearest[:, 1])
        # Rows of weight zero have a label, but no inertia.
        rows = slice(None) if source.rows is None else source.rows
        inertia = float(distance2[rows].sum() if source.w is None else distance2[rows] @ source.w[rows])
        vars(self).update(labels_=labels.astype(np.int32), inertia_=inertia)

    def _given_centers(self, given: Any, p: int) -> Array:
        """The centres a user gave, or a user's function."""
        k, name = self.n_clusters, type(self).__name__
        try:
            centers = np.array(given, dtype=np.float64, order="C")
        except (TypeError, ValueError, OverflowError):
            raise BadParameter(f"{name}(init=...): must be 'k-means++', 'random', or {k} rows of {p} numbers") from None
        if centers.shape != (k, p):
            what = f"clusters {k}" if centers.ndim != 2 or centers.shape[0] != k else f"features of the data {p}"
            raise BadParameter(
                f"{name}(init=...): The shape of the initial centers {centers.shape} does not match the number of {what}: it must be "
                f"(n_clusters, n_features) = {(k, p)}"
            )
        if not np.isfinite(centers).all():
            raise BadParameter(f"{name}(init=...): the initial centers must be finite")
        return centers

    def _warn(self, n_filled: int) -> None:
        if n_filled < self.n_clusters:
            warn(
                f"Number of distinct clusters ({n_filled}) found smaller than n_clusters ({self.n_clusters}). Possibly due to duplicate "
                f"points in X. {type(self).__name__}(n_clusters={self.n_clusters}): only {n_filled} clusters have rows, for want of "
                "distinct rows or of passes: ask for fewer clusters",
                EmptyClusters,
                stacklevel=2,
            )

    def _assign(self, X: Any) -> Array:
        return np.asarray(ops.nearest(X, self._centres())[0].astype(np.int32))

    def _objection(self) -> str | None:
        return None if len(self.cluster_centers_) else "there is no cluster"

    def _centres(self) -> Array:
        """The centres to compute with."""
        return self.cluster_centers_.astype(np.float64, copy=False)

    def _transform(self, X: Any) -> Array:
        """Distance to each centre; both are shifted first, so that the expanded square keeps its digits."""
        centres = self._centres()
        shift = centres.mean(axis=0)
        D, C = ops.dense(X) - shift, centres - shift
        square = (D * D).sum(axis=1)[:, None] - 2 * (D @ C.T) + (C * C).sum(axis=1)
        distance = np.sqrt(np.maximum(square, 0.0))
        return np.asarray(distance.astype(np.float32) if X.dtype == np.float32 else distance)

    def _names_out(self) -> list[str]:
        return [f"{type(self).__name__.lower()}{k}" for k in range(len(self.cluster_centers_))]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """−Σ w ‖x − c‖² over these rows: higher is better."""
        X = check.check_predict(self, X)
        distance2 = map_rows(lambda X: ops.nearest(X, self._centres())[1], X)
        w = check.as_weights(sample_weight, len(distance2))
        return -float(distance2.sum() if w is None else distance2 @ w)


def given_centers(init: Any) -> bool:
    """Whether the user says where the centres begin, by numbers."""
    return not isinstance(init, str) and (isinstance(init, type) or not callable(init))


def at_most_huge(value: float) -> float:
    """A float, also of whole numbers beyond its range."""
    return float(min(value, 10**300) if isinstance(value, int) else value)


def legacy(rng: np.random.Generator) -> RandomState:
    """What scikit-learn's functions for `init` expect."""
    return RandomState(rng.integers(0, 2**31 - 1))


def sample_of(block: Block, k: int, seed: int) -> Sample:
    """Distinct rows of a block, chosen by a hash."""
    return Sample.of(ops.dense(block.X), block.w, k, seed)
