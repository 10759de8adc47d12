"""Soft k-means: rows belong to several centres in part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.cluster.centers import Centers, at_most_huge, given_centers, legacy, sample_of
from tenfold.cluster.kmeans import SAMPLE_BYTES, SAMPLE_ROWS, Survey, survey_of
from tenfold.cluster.seeds import draws
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import seed_of
from tenfold.core.stats import Stats
from tenfold.solve.lloyd import Clusters, lloyd_in_memory, plus_plus, random_rows
from tenfold.solve.sketch import Sample

ROUNDING = (8 * np.finfo(np.float64).eps) ** 2  # of the squares of centres: what rounding errors move them by


@dataclass(slots=True)
class Shares(Stats):
    """Σ w r and Σ w r (x − c) of each centre c, the free energy, and Σ w minₖ ‖x − cₖ‖²."""

    weight: Array
    pull: Array
    loss: float
    inertia: float


@estimator
class SoftKMeans(Centers):
    """SoftKMeans: k centres to which rows belong in shares that fall with the squared distance.

    Model       rᵢₖ = exp(−β ‖xᵢ − cₖ‖²) / Σₗ exp(−β ‖xᵢ − cₗ‖²)      (responsibilities; the cluster is the largest share)
    Objective   min over c of  −(1/β) Σᵢ sᵢ log Σₖ exp(−β ‖xᵢ − cₖ‖²)      (for β → ∞ the inertia of k-means)
    Algorithm   k-means on a sample, then the fixed point cₖ ← Σ s r x / Σ s r, one pass each, by which the objective never rises
    Cost        O(n p k) time a pass, O(k p) memory and the sample
    Fails when  β is so small that centres run into one another
    Reference   MacKay 2003, chapter 22; Dempster, Laird & Rubin 1977

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [5.0], [9.0], [10.0]])
    >>> model = tenfold.SoftKMeans(n_clusters=2, beta=0.1, random_state=0).fit(X)
    >>> model.responsibilities([[5.0]]).round(2)
    array([[0.5, 0.5]])
    """

    free_energy_: float = learned("float", "the objective")
    beta_: float = learned("float>0", "the stiffness")

    exempt: ClassVar[dict[str, str]] = {
        "column_order": "seeds are drawn by a hash of the row, which reads the columns in their order",
    }

    n_clusters: int = param(default=8, at_least=1, doc="number of centres")
    _: KW_ONLY
    beta: float | None = param(
        default=None, at_least=1e-100, doc="the stiffness; None: 1 / (2 v), v the mean variance of a column within the clusters of k-means"
    )
    init: str | Array | Callable[..., Any] = param(
        default="k-means++",
        one_of=("k-means++", "random"),
        doc="how to seed; or the centres (k, p); or a function (rows, k, random_state) that gives them",
    )
    n_init: int = param(default=1, at_least=1, at_most=10_000, doc="restarts of k-means on the sample")
    max_iter: int = param(default=300, at_least=1, doc="most passes over the rows")
    tol: float = param(
        default=1e-6, at_least=0, doc="bound on the squared shift of the centres over the mean variance of a column"
    )
    random_state: int | RandomState | None = param(default=None, doc="seed of the sample and of the draws from it")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_clusters": 3, "random_state": 0, "tol": 1e-14}, {"n_clusters": 3, "beta": 0.3, "random_state": 1, "tol": 1e-14}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_clusters": 2, "random_state": 0}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        k, rng = self.n_clusters, draws(self)
        if source.n_rows is not None and source.n_rows < k:
            raise BadInput(f"n_samples={source.n_rows} should be >= n_clusters={k}: ask for fewer clusters")
        size = max(min(SAMPLE_ROWS, SAMPLE_BYTES // (8 * source.n_features)), 4 * k)
        survey: Survey = yield partial(survey_of, sampling=partial(sample_of, k=size, seed=seed_of(rng)), spread=True)
        assert survey.sample is not None and survey.spread is not None
        variance = float(survey.spread.scatter[0].sum() / survey.spread.weight[0]) / source.n_features
        tol = at_most_huge(self.tol) * variance
        centers = self._seeds(survey.sample, tol, rng)
        beta = at_most_huge(self.beta) if self.beta is not None else _stiffness(survey.sample, centers, variance)
        taken, shift = 0, np.inf
        while taken < self.max_iter and shift > tol:
            found = yield partial(_shares, centers=centers, beta=beta)
            moved = centers + found.pull / np.where(found.weight > 0, found.weight, 1.0)[:, None]
            shift, centers, taken = float(((moved - centers) ** 2).sum()), moved, taken + 1
            tol = max(tol, ROUNDING * float((moved**2).sum()))
        if shift > tol:
            words = f"SoftKMeans(max_iter={self.max_iter}): the centres still move by more than tol={self.tol:g}: raise max_iter or tol"
            warn(words, NotConverged, stacklevel=2)
        last = yield partial(_shares, centers=centers, beta=beta)
        return dict(
            cluster_centers_=centers, inertia_=float(last.inertia), n_iter_=taken, free_energy_=float(last.loss), beta_=float(beta)
        )

    def _seeds(self, sample: Sample, tol: float, rng: np.random.Generator) -> Array:
        k, rows, weight = self.n_clusters, sample.rows, sample.weight
        if given_centers(self.init):
            return self._given_centers(self.init, rows.shape[1])
        if callable(self.init):
            made = (self.init(rows, k, random_state=legacy(rng)) for _ in range(self.n_init))
            starts = [self._given_centers(one, rows.shape[1]) for one in made]
        else:
            seed = plus_plus if self.init == "k-means++" else random_rows
            starts = [seed(rows, weight, k, rng) for _ in range(self.n_init)]
        return lloyd_in_memory(rows, weight, starts, tol, self.max_iter, sample).centers

    def responsibilities(self, X: Any) -> Array:
        """The share of each centre in each row."""
        return map_rows(self._responsibilities, check.check_predict(self, X))

    def _responsibilities(self, X: Any) -> Array:
        r, _, _ = _responsible(ops.dense(X), self._centres(), float(self.beta_))
        return r.astype(np.float32) if X.dtype == np.float32 else r


def _responsible(X: Array, centers: Array, beta: float) -> tuple[Array, Array, Array]:
    """(rows, k): shares; and for each row −(1/β) log Σ exp(−β d²), and the least d²."""
    shift = centers.mean(axis=0)
    Z, C = X - shift, centers - shift
    distance2 = np.maximum((Z * Z).sum(axis=1)[:, None] - 2 * (Z @ C.T) + (C * C).sum(axis=1), 0.0)
    least = distance2.min(axis=1)
    with np.errstate(over="ignore"):  # a stiffness beyond all bounds: shares of 0 and 1
        r = np.exp(-np.minimum(beta * (distance2 - least[:, None]), 1e5))
    total = r.sum(axis=1)
    r /= total[:, None]
    return r, least - np.log(total) / beta, least


def _shares(block: Block, centers: Array, beta: float) -> Shares:
    X = np.asarray(ops.dense(block.X), dtype=np.float64)
    r, energy, least = _responsible(X, centers, beta)
    r *= block.w[:, None]
    weight = r.sum(axis=0)
    # About a point near the centres, so that digits are kept where all are far from zero.
    shift = centers.mean(axis=0)
    pull = r.T @ (X - shift) - weight[:, None] * (centers - shift)
    return Shares(weight, pull, float(block.w @ energy), float(block.w @ least))


def _stiffness(sample: Sample, centers: Array, variance: float) -> float:
    inertia = Clusters.of(sample.rows, sample.weight, centers).inertia
    within = inertia / (sample.weight.sum() * centers.shape[1])
    within = within if within > 1e-12 * variance else variance
    return 1 / (2 * within) if within > 1e-300 else 1.0
