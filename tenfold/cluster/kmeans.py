"""k-means clustering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.cluster.centers import Centers, at_most_huge, given_centers, legacy, sample_of
from tenfold.cluster.seeds import draws
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source, Target, block_rows
from tenfold.core.engine import Threads
from tenfold.core.errors import BadInput
from tenfold.core.learning import Learner, drive
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import seed_of
from tenfold.core.stats import Spread, Stats
from tenfold.solve.lloyd import Run, lloyd, lloyd_in_memory, plus_plus, random_rows
from tenfold.solve.sketch import Sample
from tenfold.solve.split_merge import repaired

SAMPLE_ROWS = 16_384
SAMPLE_BYTES = 1 << 26


@dataclass(slots=True)
class Survey(Stats):
    """What is looked at before the first step: rows to seed from, and the spread of the columns."""

    sample: Sample | None
    spread: Spread | None


@estimator
class KMeans(Centers):
    """KMeans: k centres with the least sum of squared distances to their rows.

    Model       cluster of x = argminₖ ‖x − cₖ‖²      (ties: the smallest k)
    Objective   min over c of  Σᵢ sᵢ minₖ ‖xᵢ − cₖ‖²      (a local minimum: it depends on the seeds)
    Algorithm   seeds (greedy k-means++) and restarts on a sample of at most 16,384 distinct rows, chosen by a
                hash of their content; Lloyd's steps there, then on all rows, one pass each; an empty cluster
                moves to the sample row that adds most to the inertia. With repair, on the sample also: the cluster of most gain is
                split and the two of least cost are merged, while the inertia falls
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

    repair: bool = param(
        default=False, doc="after the steps on the sample, split a cluster and merge two while that lowers the inertia there"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_clusters": 3, "random_state": 0}, {"n_clusters": 4, "n_init": 2, "random_state": 1, "tol": 0.0, "repair": True}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_clusters": 2, "random_state": 0}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        k = self.n_clusters
        if source.n_rows is not None and source.n_rows < k:
            raise BadInput(f"n_samples={source.n_rows} should be >= n_clusters={k}: ask for fewer clusters")
        rng = draws(self)
        sample_rows = max(min(SAMPLE_ROWS, SAMPLE_BYTES // (8 * source.n_features)), 4 * k)
        sampling = partial(sample_of, k=sample_rows, seed=seed_of(rng))
        given = given_centers(self.init)
        survey = Survey(None, None)
        if not given or self.repair or self.tol > 0:
            survey = yield partial(survey_of, sampling=None if given and not self.repair else sampling, spread=self.tol > 0)
        tol = 0.0
        if survey.spread is not None:
            tol = at_most_huge(self.tol) * float(survey.spread.scatter[0].sum() / survey.spread.weight[0])
            tol /= source.n_features
        if survey.sample is None:
            start = self._given_centers(self.init, source.n_features)
        else:
            start = self._seeded(survey.sample, tol, sampling, rng)
        best = yield from lloyd([start], tol, self.max_iter, sampling, measure=not isinstance(source, Arrays))
        self._warn(best.n_filled)
        return dict(cluster_centers_=best.centers, inertia_=best.inertia, n_iter_=best.n_iter)

    def _starts(self, rows: Array, weight: Array, rng: np.random.Generator) -> list[Array]:
        k = self.n_clusters
        if given_centers(self.init):
            return [self._given_centers(self.init, rows.shape[1])]
        n_init = int(self.n_init) if self.n_init != "auto" else 1 if self.init == "k-means++" else 10
        if callable(self.init):
            made = (self.init(rows, k, random_state=legacy(rng)) for _ in range(n_init))
            return [self._given_centers(one, rows.shape[1]) for one in made]
        seed = plus_plus if self.init == "k-means++" else random_rows
        return [seed(rows, weight, k, rng) for _ in range(n_init)]

    def _seeded(self, sample: Sample, tol: float, sampling: Any, rng: np.random.Generator) -> Array:
        """The best of `n_init` restarts on the sample, improved there."""
        rows, weight = sample.rows, sample.weight
        starts = self._starts(rows, weight, rng)
        if len(rows) <= block_rows(rows.shape[1]):
            best = lloyd_in_memory(rows, weight, starts, tol, self.max_iter, sample)
        else:
            here = Arrays(rows, None, weight, Target("none"), {}, trusted=True)
            steps = _wrapped(lloyd(starts, tol, self.max_iter, sampling, measure=True))
            best = drive(steps, here, Threads(), "KMeans on a sample")["run"]
        return repaired(rows, weight, best, tol, self.max_iter, sample).centers if self.repair else best.centers


def _wrapped(algorithm: Learner[Run]) -> Learner[dict[str, Any]]:
    return dict(run=(yield from algorithm))


def survey_of(block: Block, sampling: Any, spread: bool) -> Survey:
    X = ops.dense(block.X)
    return Survey(sampling(block) if sampling else None, Spread.of(X, block.w) if spread else None)
