"""Non-negative matrix factorisation by mini-batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.errors import NotConverged, ReadOnce, warn
from tenfold.core.learned import in_single, learned
from tenfold.core.learning import Keep, Learner, Scan
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import legacy_generator
from tenfold.core.stats import Stats
from tenfold.reduce.factors import Asked, Factorisation, check_values
from tenfold.solve.factors import Penalty, Table
from tenfold.solve.nmf import Problem, rows_of
from tenfold.solve.nmf_batches import Course, Rule, batches_in_memory, take, take_batches, take_the_rest
from tenfold.solve.sketch import Sample

SAMPLED = 4096  # rows of a stream to begin with


@estimator
class MiniBatchNMF(Factorisation):
    """MiniBatchNMF: non-negative factorisation from a few rows at a time; rows that keep coming are learned with partial_fit.

    Model       X ≈ W H,  W ≥ 0,  H ≥ 0
    Objective   that of NMF, approached batch by batch
    Algorithm   of each batch in the order of the rows: a multiplicative step of its rows of W (or W found anew for H), then
                H ← (A / B)^power, where A and B are the numerators and denominators of multiplicative steps of H, sums over rows that fade
                by forget_factor a pass. A table in memory keeps its W; of files, streams and Dask W is found anew in each batch, and H
                begins at 4,096 rows drawn by a hash. Order and scale of the components mean nothing, as in NMF
    Cost        O(n p k) time a pass, O(n k) memory beside a table, of a stream O(batch_size p + k p); n_iter_ counts passes begun,
                n_steps_ the batches
    Fails when  X has values below zero; the order of the rows tells of their parts and forget_factor is small; batches differ by more than
                a pass gains, so that max_no_improvement ends it early: raise it, or set it to None
    Reference   Lefèvre, Bach & Févotte 2011

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).poisson(3.0, (200, 2)) @ np.array([[1, 1, 0], [0, 1, 2]])
    >>> model = tenfold.MiniBatchNMF(n_components=2, batch_size=50, fresh_restarts=True, random_state=0).fit(X)
    >>> bool(model.reconstruction_err_ < 0.05 * np.linalg.norm(X))
    True
    """

    n_steps_: int = learned("int", "batches")
    _above: Array = learned("float(k,p)>=0", "numerators of H, for partial_fit")
    _below: Array = learned("float(k,p)>=0", "denominators of H, for partial_fit")

    kind = "sequential"
    exempt: ClassVar[dict[str, str]] = {
        "row_order": "batches are taken in the order of the rows",
        "weight_is_copies": "a row of weight two is in one batch, a row that is there twice may be in two",
        "partial_fit": "each call of partial_fit is one batch, and the first one begins with its rows",
    }

    _: KW_ONLY
    batch_size: int = param(default=1024, at_least=1, before="beta_loss", doc="rows of a batch")
    max_no_improvement: int | None = param(
        default=10, at_least=1, before="max_iter", doc="end after so many batches without a better mean objective; None: never for that"
    )
    forget_factor: float = param(default=0.7, at_least=0, at_most=1, before="random_state", doc="what a pass leaves of the sums before it")
    fresh_restarts: bool = param(default=False, before="random_state", doc="find the rows of W anew in each batch; else they make a step")
    fresh_restarts_max_iter: int = param(default=30, at_least=1, before="random_state", doc="most steps for that")
    transform_max_iter: int | None = param(default=None, at_least=1, before="random_state", doc="most steps of transform; None: max_iter")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_components": 2, "batch_size": 20, "tol": 1e-2, "fresh_restarts": True}]

    @property
    def by_verbs(self) -> bool:
        """Whether `fit_transform` is not `transform`."""
        return self._beta() != 2 and not self.fresh_restarts

    def _most_steps(self) -> int:
        return self.max_iter if self.transform_max_iter is None else self.transform_max_iter

    # --- fit ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if isinstance(source, Arrays):
            return (yield from self._in_memory(source))
        return (yield from self._streamed(source))

    def _in_memory(self, source: Source) -> Learner[dict[str, Any]]:
        asked = self._asked_for()
        X, _, w = yield Keep(sparse=True)
        table = self._table(X, w, source)
        W, H = self._begin(table, asked, source, True)
        rule, course = self._rule(table.p, table.n), Course.begin(H)
        W = batches_in_memory(course, table, W, rule)
        problem = rule.problem(table.weight)
        if not self.by_verbs:
            W = rows_of(table, course.H, problem, self.tol, self._most_steps())
        asked.made, error = W, problem.error(table, W, course.H)
        self._check_range(course.H, error)
        return self._fitted_attributes(course, rule) | dict(reconstruction_err_=error)

    def _streamed(self, source: Source) -> Learner[dict[str, Any]]:
        if not source.rereadable:
            raise ReadOnce(
                "MiniBatchNMF.fit makes several passes and these blocks can be read only once: give a list of blocks or a function that "
                "returns a new iterator, or learn them with partial_fit"
            )
        seed = 0 if self.random_state is None else int(legacy_generator(self.random_state).randint(0, 2**31 - 1))
        survey: Survey = yield partial(_survey_of, learner=self, seed=seed)
        table = self._table(survey.sample.rows, survey.sample.weight, source)
        _, H = self._begin(table, self._asked_for(), source, True)
        rule, course = self._rule(table.p, survey.rows), Course.begin(H)
        while not course.done:
            course = take_the_rest((yield Scan(partial(take_batches, rule=rule), course)), rule)
        error: Error = yield partial(_error_of, H=course.H, problem=rule.problem(1.0), tol=self.tol, max_iter=self._most_steps())
        return self._fitted_attributes(course, rule) | dict(reconstruction_err_=float(np.sqrt(2.0 * max(error.divergence, 0.0))))

    def _rule(self, p: int, n: int) -> Rule:
        problem, batch = self._problem(p, 1.0), min(self.batch_size, n)
        return Rule(
            problem.beta, problem.of_W, problem.of_H, batch, n, self.forget_factor, self.tol, self.max_no_improvement, self.fresh_restarts,
            self.fresh_restarts_max_iter, self.max_iter * -(-n // batch),
        )  # fmt: skip

    def _fitted_attributes(self, course: Course, rule: Rule) -> dict[str, Any]:
        if course.steps >= rule.most and self.tol > 0:
            warn(
                f"Maximum number of iterations {self.max_iter} reached. Increase it to improve convergence.", NotConverged, stacklevel=2
            )
        passes = -(-course.steps // -(-rule.total // rule.rows))
        return self._state(course) | dict(n_iter_=passes)

    def _state(self, course: Course) -> dict[str, Any]:
        below = np.ascontiguousarray(np.broadcast_to(course.below, course.H.shape))
        return dict(
            components_=course.H, n_components_=len(course.H), n_steps_=course.steps, _above=course.above, _below=below
        )

    # --- rows that keep coming ---

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, W: Any = None, H: Any = None) -> Self:
        """Learn from these rows, as one batch; the first ones are where it begins, or W and H with init="custom"."""
        check.check_params(self)
        mine = vars(self)
        begun = "_above" in mine
        source = check.check_more(self, X, None, sample_weight, None, begun)
        apart = self if begun else self._apart()
        vars(apart)["_asked"] = Asked(W, H)
        try:
            fitted = apart._driven(apart._one_more, source)
        finally:
            vars(apart).pop("_asked", None)
        fitted |= in_single(type(self), fitted) if source.single else {}
        mine.pop("reconstruction_err_", None)
        mine.update(source.facts if not begun else {}, **fitted)
        return self

    def _one_more(self, source: Source) -> Learner[dict[str, Any]]:
        X, _, w = yield Keep(sparse=True)
        table = self._table(X, w, source)
        if "_above" in vars(self):
            H = np.ascontiguousarray(self.components_, dtype=np.float64)
            course = Course(H, self._above, self._below, self.n_steps_)
        else:
            course = Course.begin(self._begin(table, self._asked_for(), source, True)[1])
        take(course, table, None, self._rule(table.p, table.n))
        return self._state(course) | dict(n_iter_=1)


@dataclass(slots=True)
class Survey(Stats):
    """How many rows there are, and some of them."""

    rows: int
    sample: Sample


@dataclass(slots=True)
class Error(Stats):
    """The divergence of rows from W H."""

    divergence: float


def _survey_of(block: Block, learner: Any, seed: int) -> Survey:
    check_values(block.X, learner, places=False)
    return Survey(len(block), Sample.of(block.X, block.w, SAMPLED, seed))


def _error_of(block: Block, H: Array, problem: Problem, tol: float, max_iter: int) -> Error:
    table = Table.of(block.X, block.w)
    W = rows_of(table, H, Problem(problem.beta, problem.of_W, Penalty()), tol, max_iter)
    return Error(table.divergence(W, H, problem.beta, table.floor()))
