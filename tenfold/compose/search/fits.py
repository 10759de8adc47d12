"""The models of one split for all settings of a group, with the work that they share done once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.compose.pipeline import Pipeline
from tenfold.compose.search.parameters import Setting
from tenfold.compose.search.sharing import (
    Family,
    Summed,
    Where,
    by_fits,
    by_front,
    by_start,
    by_sums,
    families,
    with_setting,
)
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import Local, current_engine
from tenfold.core.learning import Keep
from tenfold.core.stats import Keyed, Rows
from tenfold.evaluate.split.plan import SplitPlan
from tenfold.evaluate.validate.held_out import start_of
from tenfold.evaluate.validate.memory import table_of
from tenfold.evaluate.validate.training_sets import MOST_SUMS

Changes = tuple[Callable[[Any], Any], ...]  # what rows pass through before they reach the models
LARGEST_TABLE = 1 << 28  # bytes of transformed rows that are kept for a learner of many passes; larger ones are made again in each


class Fitted(NamedTuple):
    """Some of the settings with their models, and what rows pass through before these."""

    where: Where
    models: list[Any]
    changes: Changes


class Splits:
    """The splits of some rounds, one after the other."""

    def __init__(self, source: Arrays, rounds: list[SplitPlan]) -> None:
        self.source, self.rounds = source, rounds
        self.places = [(one, k) for one in rounds for k in range(len(one))]

    def __len__(self) -> int:
        return len(self.places)

    def train(self, k: int) -> Array:
        one, split = self.places[k]
        return one.train_rows(split)

    def test(self, k: int) -> Array:
        one, split = self.places[k]
        return one.test_rows(split)

    def totals(self, summarize: Callable[[Block], Any], size: int) -> list[Any] | None:
        """The sums of every training set, merged of those of its groups of rows; None where summing them again is better."""
        if any(not one.merges or 3 * len(one.groups) * size > MOST_SUMS for one in self.rounds):
            return None
        training: list[Any] = []
        for one in self.rounds:
            keyed = self.source.by_key(list(enumerate(one.groups)))
            stats = current_engine().run(partial(_summarize_keyed, summarize), keyed)
            training += one.training([stats[k] for k in range(len(one.groups))])
        return training


def _summarize_keyed(summarize: Callable[[Block], Any], block: Block) -> Keyed:
    return Keyed({block.key: summarize(block)})


class Group:
    """Settings that share work: `prepare` does what serves all splits, `models` what is left on one of them."""

    def __init__(self, learner: Estimator, settings: Sequence[Setting], splits: Splits, summed: Summed | None) -> None:
        self.learner, self.settings, self.splits, self.summed = learner, list(settings), splits, summed
        self.totals: list[Any] | None = None
        self.start: Any = None

    def prepare(self) -> None:
        """Sum the rows of each fold, where fits follow from sums; or find a solution that is near those of all splits."""
        if self.summed is not None:
            self.totals = self.splits.totals(self.summed.sums[0].summarize, self.summed.sums[0].size)
        elif not isinstance(self.learner, Pipeline) and len(self.splits) > 2:
            self.start = start_of(with_setting(self.learner, self.settings[0]), self.splits.source)

    def models(self, k: int) -> Iterator[Fitted]:
        """The models of split k."""
        train = self.splits.source.select(self.splits.train(k))
        if self.summed is None or self.totals is None:
            yield from models_of(self.learner, self.settings, train, self.start)
        else:
            yield from solved(self.summed, self.totals[k], train)


def groups_of(learner: Estimator, settings: list[Setting], splits: Splits) -> list[tuple[Where, Group]]:
    """All settings in groups that share work, with their places."""
    summed, rest = by_sums(learner, settings, splits.source)
    found = []
    for one in summed:
        where = [i for family in one.families for i in family.where]
        place = {i: at for at, i in enumerate(where)}
        here = Summed([family._replace(where=[place[i] for i in family.where]) for family in one.families], one.sums)
        found.append((where, Group(learner, [settings[i] for i in where], splits, here)))
    for some in by_fits(learner, [settings[i] for i in rest]):
        where = [rest[i] for i in some]
        found.append((where, Group(learner, [settings[i] for i in where], splits, None)))
    return found


def models_of(learner: Estimator, settings: Sequence[Setting], train: Source, start: Any = None) -> Iterator[Fitted]:
    """Models of a training set for all settings."""
    if isinstance(learner, Pipeline):
        for ahead in by_front(learner, settings):
            mapped = ahead.pipeline._driven(ahead.pipeline._learn_front, train)
            last, changes = ahead.pipeline._last, ahead.pipeline._changes()
            for where, models, more in models_of(last, ahead.settings, _kept(mapped, last) if changes else mapped):
                yield Fitted([ahead.where[i] for i in where], models, changes + more)
        return
    summed, rest = by_sums(learner, settings, train)
    for one in summed:
        yield from solved(one, current_engine(train).run(one.sums[0].summarize, train), train)
    for some in by_start(learner, [settings[i] for i in rest]):
        for where, models, _ in _in_turn(learner, [settings[rest[i]] for i in some], train, start):
            yield Fitted([rest[some[i]] for i in where], models, ())


def _kept(mapped: Source, last: Estimator) -> Source:
    """The transformed rows, made once, where the last step reads them more than once and they are not too many to keep."""
    if last.kind == "one pass" or 8 * (mapped.n_rows or 0) * mapped.n_features > LARGEST_TABLE:
        return mapped
    return table_of(Keep(sparse=True).answer(mapped, Local()), mapped, last.missing)


def solved(summed: Summed, total: Any, train: Source) -> Iterator[Fitted]:
    """The models of families that follow from the sums of a training set; fitted where the sums do not have enough digits."""
    for family, sums in zip(summed.families, summed.sums, strict=True):
        models = sums.solve(total, family.values)
        if models is None:
            models = _fitted(family, train)
        if isinstance(models[0], Pipeline):  # they share their transformers
            yield Fitted(family.where, [one._last for one in models], models[0]._changes())
        else:
            yield Fitted(family.where, models, ())


def _fitted(family: Family, train: Source, start: Any = None) -> list[Any]:
    one = family.learner
    return list(one._fit_path(train, one.path, family.values)) if family.values else [one._fit(train, start)]


def _in_turn(learner: Estimator, settings: list[Setting], train: Source, start: Any) -> Iterator[Fitted]:
    """Families of settings one after the other, each from where the one before it ended if the learner can start there."""
    for family in families(learner, settings):
        models = _fitted(family, train, start)
        start = models[-1]._solution()
        yield Fitted(family.where, models, ())


def outputs_of_models(models: list[Any], changes: Changes, rows: Source) -> list[Array]:
    """The outputs of each model for the same rows, which are transformed once for all."""
    stacked = Local().run(partial(_stacked, models, changes), rows).whole()
    return [np.ascontiguousarray(one) for one in np.split(stacked, len(models), axis=1)]


def _stacked(models: list[Any], changes: Changes, block: Block) -> Rows:
    X = block.X
    for change in changes:
        X = change(X)
    return Rows.of(np.hstack(models[0]._outputs_along(models, X)))
