"""k medoids: clusters by any distance."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base.estimator import Clusterer, Estimator, Transformer, map_rows
from tenfold.cluster.centers import sample_of
from tenfold.cluster.seeds import draws
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.errors import BadInput, BadParameter, EmptyClusters, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import seed_of
from tenfold.core.stats import Counts
from tenfold.near.measures import Measure, measure_of
from tenfold.near.pairs import check_symmetric, distances, table_of_distances
from tenfold.solve.medoids import Solution, build, k_medoids, plus_plus, random_rows

ALL_ROWS = 1 << 31


@estimator
class KMedoids(Clusterer, Transformer, Estimator):
    """KMedoids: k rows of the table with the least sum of distances to the others.

    Model       cluster of x = argminₖ d(x, mₖ)      (ties: the smallest k); each mₖ is one of the rows
    Objective   min over m of  Σᵢ sᵢ minₖ d(xᵢ, mₖ)      (no swap of a medoid for another row lowers it)
    Algorithm   FasterPAM on a table of all distances: each row is offered in the place of every medoid at once, and the best swap is
                made if the loss falls, until a round makes none. Equal rows are one. With max_rows, the medoids are those of a
                sample of so many rows (CLARA), chosen by a hash of their content, and all rows are assigned to them
    Cost        O(n² p) for the distances, O(n²) for a round; 4 n² bytes, checked before they are taken
    Fails when  distances are NaN, negative or not the same both ways (refused); there are fewer distinct rows than clusters
                (warns EmptyClusters)
    Reference   Schubert & Rousseeuw 2021; Kaufman & Rousseeuw 1990

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [3.0], [50.0], [51.0], [60.0]])
    >>> model = tenfold.KMedoids(n_clusters=2, random_state=0).fit(X)
    >>> sorted(model.medoid_indices_.tolist()), model.inertia_
    ([1, 4], 13.0)
    """

    cluster_centers_: Array = learned("float(k,p)", "the medoids, rows of the table", rows=True, like_x=True)
    inertia_: float = learned("float", "sum of distances to the nearest medoid")
    n_iter_: int = learned("int", "rounds in which all rows were offered as medoids")
    medoid_indices_: Array = learned("int(k)", "which rows of a table in memory the medoids are, the first of equal ones", optional=True)
    labels_: Array = learned("int(n)<k", "the cluster of each training row of a table in memory", optional=True)
    spread_: Array = learned("float(p)|float(p,p)", "variances or inverse covariance that the metric is of", optional=True)

    kind = "keeps rows"
    sparse: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "seeds are drawn by a hash of the row, which reads the columns in their order",
    }

    n_clusters: int = param(default=8, at_least=1, doc="number of medoids")
    _: KW_ONLY
    metric: str | Callable[..., Any] = param(
        default="euclidean",
        doc="how far rows are apart: a name as in NeighborIndex, a function of two rows, or 'precomputed' for X that holds distances",
    )
    metric_params: dict[str, Any] | None = param(default=None, doc="what the metric takes besides: p, w, V, VI")
    init: str = param(
        default="k-medoids++",
        one_of=("k-medoids++", "random", "build"),
        doc="where to begin: with rows drawn far from one another, any rows, or the greedy choice",
    )
    n_init: int = param(default=1, at_least=1, at_most=10_000, doc="restarts; the best is kept")
    max_iter: int = param(default=300, at_least=1, doc="most rounds through all rows")
    max_rows: int | None = param(default=None, at_least=2, doc="seek the medoids among a sample of at most so many distinct rows")
    random_state: int | RandomState | None = param(default=None, doc="seed of the sample and of the draws from it")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [
            {"n_clusters": 3, "random_state": 0},
            {"n_clusters": 4, "metric": "manhattan", "init": "build", "random_state": 1},
            {"n_clusters": 3, "metric": "mahalanobis", "max_rows": 40, "random_state": 0},
        ]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_clusters": 2, "random_state": 0}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._given_distances()
        return tags

    def _named(self) -> str:
        return self.metric if isinstance(self.metric, str) else ""

    def _given_distances(self) -> bool:
        return self._named() == "precomputed"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        k = self.n_clusters
        if source.n_rows is not None and source.n_rows < k:
            raise BadInput(f"n_samples={source.n_rows} should be >= n_clusters={k}: ask for fewer clusters")
        if self._given_distances():
            X, _, w = yield Keep()
            return self._of_distances(X, w, source)
        rng = draws(self)
        sample = yield partial(sample_of, k=self.max_rows or ALL_ROWS, seed=seed_of(rng))
        rows, n = sample.rows, len(sample.rows)
        known = self._spread(rows, sample.weight)
        measure = self._measure(rows, known)
        check_memory(f"KMedoids: a table of the distances of {n:,} rows", 4.0 * n * n, f"set max_rows, such as max_rows={min(n, 10_000)}")
        found = self._best(table_of_distances(measure, rows), sample.weight, rng)
        centers = rows[found.medoids[np.arange(k) % len(found.medoids)]]
        self._warn(found)
        fitted = dict(cluster_centers_=centers, n_iter_=found.rounds, inertia_=found.loss, **known)
        if not isinstance(source, Arrays):
            total = yield partial(_loss, measure=measure, centers=centers)
            fitted["inertia_"] = float(total.weight[0])
        return fitted

    def _of_distances(self, X: Array, w: Array, source: Source) -> dict[str, Any]:
        """The medoids of distances that the user gives."""
        kept = source.rows if isinstance(source, Arrays) and source.rows is not None else None  # others have no weight
        D = X if kept is None else np.ascontiguousarray(X[:, kept])
        if D.shape[0] != D.shape[1]:
            raise BadInput(f"metric='precomputed': X must be a square table of distances, not {X.shape}")
        if (D < 0).any():
            i, j = np.argwhere(D < 0)[0]
            raise BadInput(f"metric='precomputed': the distance of row {i} to row {j} is {D[i, j]:.6g}: no distance is below 0")
        if np.diagonal(D).any():
            i = np.flatnonzero(np.diagonal(D))[0]
            raise BadInput(f"metric='precomputed': row {i} is {D[i, i]:.6g} from itself: use np.fill_diagonal(X, 0)")
        check_symmetric(D, "metric='precomputed'")
        found = self._best(D, w, draws(self))
        self._warn(found)
        medoids = found.medoids if kept is None else np.asarray(kept)[found.medoids]
        return dict(cluster_centers_=np.array(X[found.medoids]), medoid_indices_=medoids, n_iter_=found.rounds, inertia_=found.loss)

    def _best(self, D: Array, w: Array, rng: np.random.Generator) -> Solution:
        """The best of `n_init` starts."""
        k = min(self.n_clusters, len(D))
        match self.init:
            case "build":
                starts = [build(D, w, k)]
            case "random":
                starts = [random_rows(w, k, rng) for _ in range(self.n_init)]
            case _:
                starts = [plus_plus(D, w, k, rng) for _ in range(self.n_init)]
        return k_medoids(D, w, starts, self.max_iter)

    def _warn(self, found: Solution) -> None:
        if len(found.medoids) < self.n_clusters:
            n, k = len(found.medoids), self.n_clusters
            words = f"KMedoids(n_clusters={k}): there are only {n} distinct rows, so only {n} clusters have rows: ask for fewer clusters"
            warn(words, EmptyClusters, stacklevel=2)
        if found.unfinished:
            words = f"KMedoids(max_iter={self.max_iter}): the loss was still falling after so many rounds: raise max_iter"
            warn(words, NotConverged, stacklevel=2)

    def _spread(self, rows: Array, w: Array) -> dict[str, Array]:
        """What a metric needs to know of all rows, where the user does not say it."""
        given = self.metric_params or {}
        if not isinstance(given, dict):
            raise BadParameter(f"KMedoids(metric_params={given!r}): must be a dict, such as {{'p': 3}}, or None")
        Z, degrees = rows - w @ rows / w.sum(), max(w.sum() - 1, 1.0)
        if self._named() == "seuclidean" and "V" not in given:
            return dict(spread_=np.maximum(w @ Z**2 / degrees, np.finfo(float).tiny))
        if self._named() == "mahalanobis" and not {"V", "VI"} & given.keys():
            return dict(spread_=np.linalg.pinv((Z * w[:, None]).T @ Z / degrees, hermitian=True))
        return {}

    def _measure(self, rows: Array, known: dict[str, Any]) -> Measure:
        params = dict(self.metric_params or {})
        if "spread_" in known:
            params["V" if self._named() == "seuclidean" else "VI"] = np.asarray(known["spread_"], dtype=np.float64)
        return measure_of(self.metric, rows, params=params)

    def _finish(self, source: Source) -> None:
        """For a table in memory one pass gives `labels_`, `medoid_indices_` and the inertia."""
        if not isinstance(source, Arrays):
            super()._finish(source)
            why = "medoid_indices_ is absent: the rows were not a table in memory; cluster_centers_ are the medoids"
            vars(self)["absent_"] = {**vars(self).get("absent_", {}), "medoid_indices_": why}
            return
        nearest = map_rows(self._nearest, source.whole())
        labels, away = nearest[:, 0], np.ascontiguousarray(nearest[:, 1])
        rows = slice(None) if source.rows is None else source.rows
        inertia = float(away[rows].sum() if source.w is None else away[rows] @ source.w[rows])
        vars(self).update(labels_=labels.astype(np.int32), inertia_=inertia)
        if not self._given_distances():
            vars(self)["medoid_indices_"] = self._places(source)

    def _places(self, source: Arrays) -> Array:
        """The first row of the table that each medoid is."""
        centers = self.cluster_centers_
        sought = ops.hash_rows(np.ascontiguousarray(centers), 0)
        hashes = np.concatenate([ops.hash_rows(source.load(part).X, 0) for part in source.parts()])
        some = np.flatnonzero(np.isin(hashes, sought))
        numbers = some if source.rows is None else np.asarray(source.rows)[some]
        table = ops.dense(source.X[numbers])
        return np.array([numbers[np.flatnonzero((table == one).all(axis=1))[0]] for one in centers], dtype=np.int64)

    def _distances_to_medoids(self, X: Any) -> Array:
        rows = np.asarray(ops.dense(X), dtype=np.float64)
        if self._given_distances():
            return rows[:, self.medoid_indices_]
        centers = self.cluster_centers_.astype(np.float64, copy=False)
        return distances(self._measure(centers, vars(self)), rows, centers)

    def _nearest(self, X: Any) -> Array:
        """(rows, 2): the number of the nearest medoid, and how far it is."""
        away = self._distances_to_medoids(X)
        labels = away.argmin(axis=1)
        return np.column_stack([labels, away[np.arange(len(away)), labels]])

    def _assign(self, X: Any) -> Array:
        return np.asarray(self._distances_to_medoids(X).argmin(axis=1).astype(np.int32))

    def _transform(self, X: Any) -> Array:
        """Distance to each medoid."""
        away = self._distances_to_medoids(X)
        return away.astype(np.float32) if X.dtype == np.float32 else away

    def _names_out(self) -> list[str]:
        return [f"kmedoids{k}" for k in range(len(self.cluster_centers_))]

    def _objection(self) -> str | None:
        if not self._given_distances():
            return None
        places = vars(self).get("medoid_indices_")
        if places is None or places.min(initial=0) < 0 or places.max(initial=0) >= self.n_features_in_:
            return "medoid_indices_ does not name rows of the distances"
        return None


def _loss(block: Block, measure: Measure, centers: Array) -> Counts:
    away = distances(measure, np.asarray(ops.dense(block.X), dtype=np.float64), centers)
    return Counts(np.array([block.w @ away.min(axis=1)]))
