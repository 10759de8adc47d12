"""Training sets of nested cross-validation: all folds but one, and all folds but two, each fitted in the cheapest exact way.

The k (k − 1)/2 training sets without two folds serve twice: without folds i and o, a model is tested on fold i inside the outer
round o, and on fold o inside the outer round i. Learners whose fit follows from sums over rows (`_from_sums`: one pass, also behind
transformers that map column by column) are summed up fold by fold, once; every training set is then a merge and a solve. Values of
a path parameter are columns of one fit. What is left is fitted again, from a solution that is near where the learner can start there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import Engine, current_engine
from tenfold.core.stats import Keyed
from tenfold.evaluate.validate.merges import FoldSums

Held = tuple[int, ...]  # the folds that are left out: one, or two
MOST_SUMS = 2**30  # bytes of sums that are kept, of all folds, prefixes and suffixes; beyond, learners are fitted again


@dataclass(frozen=True)
class TrainingSets:
    """The fitted models of one learner, one for each value of a parameter, on every training set."""

    learner: Any
    path: str | None  # the parameter that has `values`
    values: list[Any]
    rows: Callable[[Held], Source]  # of a training set
    solve: Callable[[Held], list[Any] | None] | None = None  # from merged sums; None where these are not exact
    start: Any = None  # a solution that is near those of all training sets
    refitted: set[Held] = field(default_factory=set, init=False)  # training sets that had to be fitted again

    @property
    def merged(self) -> bool:
        """Whether merged sums have served all training sets so far."""
        return self.solve is not None and not self.refitted

    def models(self, held: Held) -> list[Any]:
        """The models that have seen all folds but these."""
        found = None if self.solve is None else self.solve(held)
        if found is not None:
            return found
        self.refitted.add(held)
        return self.fitted(self.rows(held))

    def fitted(self, rows: Source) -> list[Any]:
        """The models of some rows by fitting: along the path at once, else each value from the solution for the one before."""
        if self.path is None:
            return [fresh(self.learner)._fit(rows, self.start)]
        if self.learner.path == self.path:
            return list(fresh(self.learner)._fit_path(rows, self.path, list(self.values)))
        return list(fresh(self.learner)._fit_values(rows, self.path, list(self.values), self.start))

    def one(self, value: Any, rows: Source, start: Any = None) -> Any:
        """The model of one value."""
        learner = fresh(self.learner)
        return (learner if self.path is None else learner.set_params(**{self.path: value}))._fit(rows, start)


def sums_fit(size: int, folds: int) -> bool:
    """Whether there is room for the sums of so many folds, `size` bytes each, with their prefixes and suffixes."""
    return 3 * folds * size <= MOST_SUMS


def sums_of_folds(summarize: Callable[[Block], Any], source: Arrays, folds: list[Array], size: int) -> FoldSums | None:
    """One pass over the rows; None where the sums would take too much memory."""
    if not sums_fit(size, len(folds)):
        return None
    on: Engine = current_engine(source)
    stats = on.run(partial(_by_fold, summarize), source.by_key(list(enumerate(folds))))
    return FoldSums([stats[k] for k in range(len(folds))])


def _by_fold(summarize: Callable[[Block], Any], block: Block) -> Keyed:
    return Keyed({block.key: summarize(block)})


def solver_of(
    template: Estimator, source: Arrays, folds: list[Array], values: list[Any]
) -> Callable[[Held], list[Any] | None] | None:
    """How the models of a learner that knows the facts of the gate follow from merged sums; None where they do not."""
    sums = template._from_sums(source)
    totals = None if sums is None else sums_of_folds(sums.summarize, source, folds, sums.size)
    return None if sums is None or totals is None else lambda held: sums.solve(totals.without(held), values)
