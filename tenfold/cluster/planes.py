"""Lines and planes through clusters of rows."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base.estimator import Clusterer, Estimator, Transformer
from tenfold.cluster.centers import at_most_huge, sample_of
from tenfold.cluster.seeds import draws
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source, Target
from tenfold.core.engine import Threads
from tenfold.core.errors import BadInput, BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner, drive
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import seed_of
from tenfold.solve.planes import Planes, alternate, seeds
from tenfold.solve.sketch import Sample

SAMPLE_ROWS, SAMPLE_VALUES = 4096, 1 << 18  # of the sample that restarts are made on


@estimator
class KPlanes(Clusterer, Transformer, Estimator):
    """KPlanes: k lines, planes or higher affine subspaces, each through the rows that are nearest to it.

    Model       cluster of x = argminₖ ‖(I − VₖᵀVₖ)(x − mₖ)‖²      (Vₖ: n_components orthonormal directions; ties: the smallest k)
    Objective   min over m, V of  Σᵢ sᵢ minₖ ‖(I − VₖᵀVₖ)(xᵢ − mₖ)‖²      (a local minimum; it never rises)
    Algorithm   rows to their nearest plane, planes to the principal components of their rows, by turns; n_init starts on a sample of
                distinct rows, through a drawn row and its neighbours; then on all rows, one pass each
    Cost        O(n p k (q + 1) + n p² + k p³) time a pass, O(k p²) memory and the sample
    Fails when  planes cross where most rows are; columns are thousands (slow: reduce them first with PCA); there are fewer rows
                than planes (refused)
    Reference   Bradley & Mangasarian 2000

    Example
    -------
    >>> import numpy as np, tenfold
    >>> t = np.arange(10.0)
    >>> X = np.concatenate([np.column_stack([t, t]), np.column_stack([t, 20 - t])])
    >>> model = tenfold.KPlanes(n_clusters=2, random_state=0).fit(X)
    >>> len(set(model.labels_[:10])), round(model.inertia_, 9)
    (1, 0.0)
    """

    cluster_centers_: Array = learned("float(k,p)", "a point on each plane: the mean of its rows", like_x=True)
    components_: Array = learned("float(k,m,p)", "orthonormal directions of each plane", like_x=True)
    inertia_: float = learned("float", "sum of squared distances to the nearest plane")
    n_iter_: int = learned("int", "passes over the rows")
    labels_: Array = learned("int(n)<k", "the cluster of each training row of a table in memory", optional=True)

    sparse: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "seeds are drawn by a hash of the row, which reads the columns in their order",
    }

    n_clusters: int = param(default=2, at_least=1, doc="number of planes")
    _: KW_ONLY
    n_components: int = param(default=1, at_least=1, doc="dimension of each: 1 for lines, 2 for planes; less than the columns")
    n_init: int = param(default=20, at_least=1, at_most=10_000, doc="starts on the sample")
    max_iter: int = param(default=300, at_least=1, doc="most passes over the rows")
    tol: float = param(default=1e-7, at_least=0, doc="end when the objective falls by at most this share of itself")
    random_state: int | RandomState | None = param(default=None, doc="seed of the sample and of the draws from it")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_clusters": 3, "random_state": 0}, {"n_clusters": 2, "n_components": 2, "n_init": 3, "random_state": 1}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_clusters": 2, "n_init": 3, "random_state": 0}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        k, q, p, rng = self.n_clusters, self.n_components, source.n_features, draws(self)
        if q >= p:
            raise BadParameter(f"KPlanes(n_components={q}): must be less than n_features={p}, else a plane holds all rows")
        if source.n_rows is not None and source.n_rows < k:
            raise BadInput(f"n_samples={source.n_rows} should be >= n_clusters={k}: ask for fewer clusters")
        check_memory(f"KPlanes: moments of {k} groups of {p:,} columns", 8.0 * k * p * p, "reduce the columns first, such as with PCA")
        size = max(min(SAMPLE_ROWS, SAMPLE_VALUES // p), 8 * k * (q + 1), 256)
        sample = yield partial(sample_of, k=size, seed=seed_of(rng))
        planes = self._seeded(sample, rng)
        planes, inertia, passes, settled = yield from alternate(planes, at_most_huge(self.tol), self.max_iter)
        if not settled:
            words = f"KPlanes(max_iter={self.max_iter}): the objective was still falling after so many passes: raise max_iter or tol"
            warn(words, NotConverged, stacklevel=2)
        return dict(cluster_centers_=planes.points, components_=planes.directions, inertia_=float(inertia), n_iter_=passes)

    def _seeded(self, sample: Sample, rng: np.random.Generator) -> Planes:
        """The best of `n_init` starts, improved on the sample."""
        rows, weight = sample.rows, sample.weight
        here = Arrays(rows, None, weight, Target("none"), {}, trusted=True)
        best: tuple[float, Planes] | None = None
        for _ in range(self.n_init):
            start = seeds(rows, weight, self.n_clusters, self.n_components, rng)
            turns = alternate(start, max(at_most_huge(self.tol), 1e-6), self.max_iter)
            planes, inertia, _, _ = drive(turns, here, Threads(), "KPlanes on a sample")
            if best is None or inertia < best[0]:
                best = inertia, planes
        assert best is not None
        return best[1]

    def _objection(self) -> str | None:
        return None if len(self.cluster_centers_) else "there is no cluster"

    def _away2(self, X: Any) -> Array:
        planes = Planes(*(one.astype(np.float64, copy=False) for one in (self.cluster_centers_, self.components_)))
        return planes.distances2(np.asarray(ops.dense(X), dtype=np.float64))

    def _assign(self, X: Any) -> Array:
        return np.asarray(self._away2(X).argmin(axis=1).astype(np.int32))

    def _transform(self, X: Any) -> Array:
        """Distance to each plane."""
        away = np.sqrt(self._away2(X))
        return away.astype(np.float32) if X.dtype == np.float32 else away

    def _names_out(self) -> list[str]:
        return [f"kplanes{k}" for k in range(len(self.cluster_centers_))]
