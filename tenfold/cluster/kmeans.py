"""k-means clustering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Clusterer, Estimator, Transformer, map_rows
from tenfold.cluster.seeds import draws
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source, Target, block_rows
from tenfold.core.engine import Threads
from tenfold.core.errors import BadInput, BadParameter, EmptyClusters, warn
from tenfold.core.learned import in_single, learned
from tenfold.core.learning import Learner, drive
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import seed_of
from tenfold.core.stats import Spread, Stats
from tenfold.solve.lloyd import Run, lloyd, lloyd_in_memory, plus_plus, random_rows
from tenfold.solve.sketch import Sample

SAMPLE_ROWS = 16_384
SAMPLE_BYTES = 1 << 26


@dataclass(slots=True)
class Survey(Stats):
    """What is looked at before the first step: rows to seed from, and the spread of the columns."""

    sample: Sample | None
    spread: Spread | None


@estimator
class KMeans(Clusterer, Transformer, Estimator):
    """KMeans: k centres with the least sum of squared distances to their rows.

    Model       cluster of x = argminₖ ‖x − cₖ‖²      (ties: the smallest k)
    Objective   min over c of  Σᵢ sᵢ minₖ ‖xᵢ − cₖ‖²      (a local minimum: it depends on the seeds)
    Algorithm   seeds (greedy k-means++) and restarts on a sample of at most 16,384 distinct rows, chosen by a
                hash of their content; Lloyd's steps there, then on all rows, one pass each; an empty cluster
                moves to the sample row that adds most to the inertia
    Cost        O(n p k) time a pass, O(k p) memory and the sample; n_iter_ counts the passes over all rows
    Fails when  clusters are not round or differ much in size; there are fewer distinct rows than clusters
                (warns EmptyClusters)
    Reference   Lloyd 1982; Arthur & Vassilvitskii 2007

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> model = tenfold.KMeans(n_clusters=2, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0])
    array([ 0.5, 10.5])
    """

    cluster_centers_: Array = learned("float(k,p)", "centres of the clusters", like_x=True)
    inertia_: float = learned("float", "sum of squared distances to the nearest centre")
    n_iter_: int = learned("int", "passes over the rows")
    labels_: Array = learned("int(n)<k", "the cluster of each training row of a table in memory", optional=True)

    sparse: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "seeds are drawn by a hash of the row, which reads the columns in their order",
    }

    n_clusters: int = param(default=8, at_least=1, doc="number of centres")
    _: KW_ONLY
    init: str | Array | Callable[..., Any] = param(
        default="k-means++",
        one_of=("k-means++", "random"),
        doc="how to seed; or the centres (k, p); or a function (rows, k, random_state) that gives them",
    )
    n_init: int | str = param(
        default="auto",
        at_least=1,
        at_most=10_000,
        one_of=("auto",),
        doc="restarts on the sample; 'auto': 1 for k-means++ and given centres, else 10",
    )
    max_iter: int = param(default=300, at_least=1, doc="most passes over the rows")
    tol: float = param(
        default=1e-4, at_least=0, doc="bound on the squared shift of the centres over the mean variance of a column"
    )
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")
    random_state: int | RandomState | None = param(default=None, doc="seed of the sample and of the draws from it")
    copy_x: bool = param(default=True, doc="no effect: X is never changed")
    algorithm: str = param(default="lloyd", one_of=("lloyd", "elkan"), doc="no effect: both give the same steps")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_clusters": 3, "random_state": 0}, {"n_clusters": 4, "n_init": 2, "random_state": 1, "tol": 0.0}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_clusters": 2, "random_state": 0}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        k = self.n_clusters
        if source.n_rows is not None and source.n_rows < k:
            raise BadInput(f"n_samples={source.n_rows} should be >= n_clusters={k}: ask for fewer clusters")
        rng = draws(self)
        sample_rows = max(min(SAMPLE_ROWS, SAMPLE_BYTES // (8 * source.n_features)), 4 * k)
        sampling = partial(_sample, k=sample_rows, seed=seed_of(rng))
        given = not isinstance(self.init, str) and (isinstance(self.init, type) or not callable(self.init))
        survey = Survey(None, None)
        if not given or self.tol > 0:
            survey = yield partial(_survey, sampling=None if given else sampling, spread=self.tol > 0)
        tol = 0.0
        if survey.spread is not None:
            tol = _at_most_huge(self.tol) * float(survey.spread.scatter[0].sum() / survey.spread.weight[0])
            tol /= source.n_features
        if survey.sample is None:
            start = self._centers(self.init, source.n_features)
        else:
            start = self._seeded(survey.sample, tol, sampling, rng)
        best = yield from lloyd([start], tol, self.max_iter, sampling, measure=not isinstance(source, Arrays))
        self._warn(best.n_filled)
        return dict(cluster_centers_=best.centers, inertia_=best.inertia, n_iter_=best.n_iter)

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

    def _warn(self, n_filled: int) -> None:
        if n_filled < self.n_clusters:
            warn(
                f"Number of distinct clusters ({n_filled}) found smaller than n_clusters ({self.n_clusters}). Possibly due to duplicate "
                f"points in X. KMeans(n_clusters={self.n_clusters}): only {n_filled} clusters have rows, for want of "
                "distinct rows or of passes: ask for fewer clusters",
                EmptyClusters,
                stacklevel=2,
            )

    def _centers(self, given: Any, p: int) -> Array:
        """The centres a user gave, or a user's function."""
        k = self.n_clusters
        try:
            centers = np.array(given, dtype=np.float64, order="C")
        except (TypeError, ValueError, OverflowError):
            raise BadParameter(f"KMeans(init=...): must be 'k-means++', 'random', or {k} rows of {p} numbers") from None
        if centers.shape != (k, p):
            what = f"clusters {k}" if centers.ndim != 2 or centers.shape[0] != k else f"features of the data {p}"
            raise BadParameter(
                f"KMeans(init=...): The shape of the initial centers {centers.shape} does not match the number of {what}: it must be "
                f"(n_clusters, n_features) = {(k, p)}"
            )
        if not np.isfinite(centers).all():
            raise BadParameter("KMeans(init=...): the initial centers must be finite")
        return centers

    def _seeded(self, sample: Sample, tol: float, sampling: Any, rng: np.random.Generator) -> Array:
        """The best of `n_init` restarts on the sample, improved there."""
        k, rows, weight = self.n_clusters, sample.rows, sample.weight
        n_init = int(self.n_init) if self.n_init != "auto" else 1 if self.init == "k-means++" else 10
        if callable(self.init):
            starts = [
                self._centers(self.init(rows, k, random_state=_legacy(rng)), rows.shape[1]) for _ in range(n_init)
            ]
        else:
            seed = plus_plus if self.init == "k-means++" else random_rows
            starts = [seed(rows, weight, k, rng) for _ in range(n_init)]
        if len(rows) <= block_rows(rows.shape[1]):
            return lloyd_in_memory(rows, weight, starts, tol, self.max_iter, sample).centers
        here = Arrays(rows, None, weight, Target("none"), {}, trusted=True)
        best = drive(
            _wrapped(lloyd(starts, tol, self.max_iter, sampling, measure=True)),
            here,
            Threads(),
            "KMeans on a sample",
        )["run"]
        return np.asarray(best.centers)

    def _assign(self, X: Any) -> Array:
        return np.asarray(ops.nearest(X, self._centres())[0].astype(np.int32))

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
        return [f"kmeans{k}" for k in range(len(self.cluster_centers_))]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """−Σ w ‖x − c‖² over these rows: higher is better."""
        X = check.check_predict(self, X)
        distance2 = map_rows(lambda X: ops.nearest(X, self._centres())[1], X)
        w = check.as_weights(sample_weight, len(distance2))
        return -float(distance2.sum() if w is None else distance2 @ w)


def _wrapped(algorithm: Learner[Run]) -> Learner[dict[str, Any]]:
    return dict(run=(yield from algorithm))


def _at_most_huge(value: float) -> float:
    """A float, also of whole numbers beyond its range."""
    return float(min(value, 10**300) if isinstance(value, int) else value)


def _legacy(rng: np.random.Generator) -> RandomState:
    """What scikit-learn's functions for `init` expect."""
    return RandomState(rng.integers(0, 2**31 - 1))


def _sample(block: Block, k: int, seed: int) -> Sample:
    return Sample.of(ops.dense(block.X), block.w, k, seed)


def _survey(block: Block, sampling: Any, spread: bool) -> Survey:
    X = ops.dense(block.X)
    return Survey(sampling(block) if sampling else None, Spread.of(X, block.w) if spread else None)
