"""k-means by mini-batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.cluster.centers import Centers, at_most_huge, given_centers, legacy, sample_of
from tenfold.cluster.kmeans import Survey, survey_of
from tenfold.cluster.seeds import draws
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadInput, ReadOnce
from tenfold.core.learned import in_single, learned
from tenfold.core.learning import Learner, Scan
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import seed_of
from tenfold.core.stats import Counts
from tenfold.solve.lloyd import Clusters, plus_plus, random_rows
from tenfold.solve.mini_batch import Course, Rule, as_one_batch, take_batches, take_the_rest
from tenfold.solve.sketch import Sample

WINDOW_ROWS, WINDOW_BYTES = 1 << 15, 1 << 26  # that are shuffled at a time


@estimator
class MiniBatchKMeans(Centers):
    """MiniBatchKMeans: k-means from a few rows at a time; rows that keep coming are learned with partial_fit.

    Model       cluster of x = argminₖ ‖x − cₖ‖²      (ties: the smallest k)
    Objective   min over c of  Σᵢ sᵢ minₖ ‖xᵢ − cₖ‖²      (approached batch by batch)
    Algorithm   seeds (greedy k-means++) on a sample; blocks of a table come in drawn order, and of 32,768 rows at a time the order is
                drawn by a hash of their content; each batch moves the centres its rows are nearest to, to the mean of all rows that
                ever came to them; centres that few rows come to are moved to rows of a batch; ends when the moving mean of the
                inertia has not fallen for max_no_improvement batches after the first pass
    Cost        O(batch_size p k) time a batch, O(k p) memory and a batch; n_iter_ counts passes begun, n_steps_ the batches
    Fails when  a long stream comes in an order that tells of its clusters
    Reference   Sculley 2010

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> model = tenfold.MiniBatchKMeans(n_clusters=2, random_state=0)
    >>> for _ in range(3):
    ...     model = model.partial_fit(X)
    >>> np.sort(model.cluster_centers_[:, 0])
    array([ 0.5, 10.5])
    """

    n_steps_: int = learned("int", "batches")
    counts_: Array = learned("float(k)>=0", "weight of the rows that came to each centre, for partial_fit")

    kind = "sequential"
    exempt: ClassVar[dict[str, str]] = {
        "weight_is_copies": "a row of weight two is in one batch, a row that is there twice may be in two",
        "partial_fit": "each call of partial_fit is one batch, and the first one seeds the centres",
        "column_order": "seeds are drawn by a hash of the row, which reads the columns in their order",
    }

    n_clusters: int = param(default=8, at_least=1, doc="number of centres")
    _: KW_ONLY
    init: str | Array | Callable[..., Any] = param(
        default="k-means++",
        one_of=("k-means++", "random"),
        doc="how to seed; or the centres (k, p); or a function (rows, k, random_state) that gives them",
    )
    max_iter: int = param(default=100, at_least=1, doc="most passes over the rows")
    batch_size: int = param(default=1024, at_least=1, doc="rows of a batch")
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()")
    compute_labels: bool = param(default=True, doc="whether labels_ and the inertia of all rows are computed in the end")
    random_state: int | RandomState | None = param(default=None, doc="seed of the sample, of the draws and of the order of rows")
    tol: float = param(
        default=0.0, at_least=0, doc="end when a batch shifts the centres by at most so much (squared, over the mean variance of a column)"
    )
    max_no_improvement: int | None = param(default=10, at_least=0, doc="end after so many batches without a better mean inertia")
    init_size: int | None = param(default=None, at_least=1, doc="rows of the sample to seed from; None: 3 batch_size")
    n_init: int | str = param(
        default="auto", at_least=1, at_most=10_000, one_of=("auto",), doc="seeds tried; 'auto': 1 for k-means++ and given centres, else 3"
    )
    reassignment_ratio: float = param(
        default=0.01, at_least=0, doc="centres with less than this share of the largest weight are moved to rows of a batch"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_clusters": 3, "random_state": 0, "batch_size": 20}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_clusters": 2, "random_state": 0}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        k = self.n_clusters
        if not source.rereadable:
            raise ReadOnce(
                "MiniBatchKMeans.fit makes several passes and these blocks can be read only once: give a list of blocks or a function "
                "that returns a new iterator, or learn them with partial_fit"
            )
        rng = draws(self)
        size = self.init_size or 3 * self.batch_size
        size = max(3 * k, size) if size < k or self.init_size is None else size
        sampling = partial(sample_of, k=size, seed=seed_of(rng))
        survey: Survey = yield partial(survey_of, sampling=sampling, spread=True)
        assert survey.sample is not None and survey.spread is not None
        n = source.n_rows if source.n_rows is not None else int((yield _rows).weight[0])
        if n < k:
            raise BadInput(f"n_samples={n} should be >= n_clusters={k}: ask for fewer clusters")
        variance = float(survey.spread.scatter[0].sum() / survey.spread.weight[0]) / source.n_features
        batch = min(self.batch_size, n)
        rule = Rule(
            batch,
            max(batch, min(WINDOW_ROWS, WINDOW_BYTES // (8 * source.n_features)) // batch * batch),
            max(1, self.max_iter * n // batch),
            at_most_huge(self.tol) * variance,
            self.max_no_improvement,
            at_most_huge(self.reassignment_ratio),
            min(1.0, 2.0 * batch / (n + 1)),
            n // batch,
            seed_of(rng),
        )
        course = Course(self._seeds(survey.sample, rng), np.zeros(k))
        for _ in range(self.max_iter):
            seed = seed_of(rng)
            course = yield Scan(partial(take_batches, rule=rule, seed=seed), course, shuffle=seed, rows_too=False)
            course = take_the_rest(course, rule, seed)
            if course.done:
                break
        passes = -(-course.steps * batch // n)
        known = dict(cluster_centers_=course.centers, counts_=course.weight, n_iter_=passes, n_steps_=course.steps)
        if self.compute_labels and not isinstance(source, Arrays):
            found = yield partial(_clusters, centers=course.centers)
            return known | dict(inertia_=found.inertia)
        mean = course.mean if np.isfinite(course.mean) else 0.0
        return known | dict(inertia_=float(mean * survey.spread.weight[0]))

    def _finish(self, source: Source) -> None:
        if self.compute_labels:
            super()._finish(source)

    def _seeds(self, sample: Sample, rng: np.random.Generator) -> Array:
        """The best of some seeds, by the inertia of the sample."""
        k, rows, weight = self.n_clusters, sample.rows, sample.weight
        if given_centers(self.init):
            return self._given_centers(self.init, rows.shape[1])
        n_init = int(self.n_init) if self.n_init != "auto" else 1 if self.init == "k-means++" else 3
        if callable(self.init):
            starts = [self._given_centers(self.init(rows, k, random_state=legacy(rng)), rows.shape[1]) for _ in range(n_init)]
        else:
            seed = plus_plus if self.init == "k-means++" else random_rows
            starts = [seed(rows, weight, k, rng) for _ in range(n_init)]
        return min(starts, key=lambda start: Clusters.of(rows, weight, start).inertia) if n_init > 1 else starts[0]

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows, as one batch; the first ones seed the centres."""
        check.check_params(self)
        begun = "counts_" in vars(self)
        source = check.check_more(self, X, None, sample_weight, None, begun)
        apart = self if begun else self._apart()
        vars(apart).update(source.facts)
        fitted = apart._driven(apart._one_more, source)
        fitted |= in_single(type(self), fitted) if source.single else {}
        vars(self).update(source.facts if not begun else {}, **fitted)
        if self.compute_labels:
            super()._finish(source)
        return self

    def _one_more(self, source: Source) -> Learner[dict[str, Any]]:
        mine, rng, k = vars(self), draws(self), self.n_clusters
        if "counts_" in mine:
            course = Course(self._centres(), self.counts_, self.n_steps_)
        else:
            if source.n_rows is not None and source.n_rows < k:
                raise BadInput(f"n_samples={source.n_rows} should be >= n_clusters={k}: ask for fewer clusters")
            sample = yield partial(sample_of, k=max(3 * self.batch_size, 3 * k, 1 << 14), seed=seed_of(rng))
            course = Course(self._seeds(sample, rng), np.zeros(k))
        rule = Rule(1, 1, 1 << 62, 0.0, None, at_most_huge(self.reassignment_ratio), 1.0, 0, seed_of(rng))
        course = yield Scan(partial(as_one_batch, rule=rule), course)
        inertia = mine.get("inertia_", 0.0)
        return dict(
            cluster_centers_=course.centers, counts_=course.weight, n_iter_=1, n_steps_=course.steps, inertia_=inertia
        )


def _rows(block: Any) -> Counts:
    return Counts(np.array([float(len(block))]))


def _clusters(block: Any, centers: Array) -> Clusters:
    return Clusters.of(ops.dense(block.X), block.w, centers)
