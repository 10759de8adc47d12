"""The fits of a race: a unit is one family on one training set, with what its models say of the rows they have not seen."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import softmax
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh
from tenfold.compose.last_step import passed_once
from tenfold.core.data import Array, Source, as_floats
from tenfold.core.errors import BadInput, NotConverged, TenfoldError, TenfoldWarning, kept_warnings
from tenfold.core.threads import single_blas
from tenfold.evaluate.validate.training_sets import Held, TrainingSets
from tenfold.score.record import Score, split_choice
from tenfold.selection.choice.decision import at_best
from tenfold.selection.choice.floor import floor_of, floored
from tenfold.selection.plan.candidates import Family
from tenfold.selection.race.prepared import Prepared, named
from tenfold.selection.race.rows import Rows
from tenfold.table.reading import first_line

ERRORS = (TenfoldError, ArithmeticError, np.linalg.LinAlgError, MemoryError)  # of a setting that cannot be fitted


@dataclass
class Unit:
    """What came of a family on a training set."""

    results: list[tuple[int, int, Array, dict[str, float]]] = field(default_factory=list)  # setting, fold, outputs, scores
    failure: str | None = None  # why a setting has failed, the first one
    warning: str | None = None
    refitted: bool = False  # whether its rows were needed, and not merged sums alone
    seconds: float = 0.0


class Fits:
    """All that the units of a race share; several may be done at once, of one training set at a time."""

    def __init__(self, rows: Rows, families: list[Family], judges: list[Score]) -> None:
        self.y, self.division, self.weight, self.labels = rows.y, rows.division, rows.weight, rows.labels
        self.rows, self.families, self.judges = rows, families, judges
        first, raw = families[0].learner, [family.learner for family in families if family.raw]
        self.raw = named(check.in_memory(raw[0], rows.frame, rows.y, rows.weight), rows.labels) if raw else None
        count = int(rows.y.max()) + 1 if rows.labels is None else len(rows.labels)  # some of the rows may be without the last classes
        self.classes = np.arange(count) if first.role == "classifier" else None
        self.floor = 0.0 if self.classes is None else floor_of(len(rows.y), len(self.classes))
        self.prepared, self.lock = Prepared(rows, first), threading.Lock()
        self.sets = [self._training_sets(family) for family in families]

    def enter(self, more: list[Family]) -> None:
        """Families that come later; those that take the columns as they are only where one of the first does."""
        self.families = [*self.families, *more]
        self.sets += [self._training_sets(family) for family in more]

    def unit(self, number: int, held: Held) -> Unit:
        """Fit a family without these folds, and evaluate it on their rows."""
        family, began, unit = self.families[number], time.perf_counter(), Unit()
        with kept_warnings() as warned, single_blas:
            models = self._models(family, self.sets[number], held, unit)
            for k in held:
                with passed_once():
                    for place, model in enumerate(models):
                        if model is not None:
                            self._evaluate(place, model, k, held, family, unit)
        if warned:
            unit.warning = first_line(warned[0]) if family.named else _warning_text(warned[0])
        unit.refitted = held in self.sets[number].refitted
        unit.seconds = time.perf_counter() - began
        return unit

    # --- fitted ---

    def _training_sets(self, family: Family) -> TrainingSets:
        """How the models of a family are made: trees from the columns as they are, others behind the transformers of the front."""
        learner, values = family.learner, list(family.values)
        if family.raw:
            return TrainingSets(learner, family.name, values, self._raw_rows)
        able = isinstance(learner, OnePass) and type(learner)._from_moments is not OnePass._from_moments
        return TrainingSets(learner, family.name, values, self._rows, partial(self._solved, family) if able else None)

    def _models(self, family: Family, sets: TrainingSets, held: Held, unit: Unit) -> list[Any]:
        """The fitted models of a family, None for a setting that failed."""
        try:
            return sets.models(held)
        except ERRORS:
            sets.refitted.add(held)
            return [self._one(sets, value, held, unit) for value in family.values or (None,)]

    def _one(self, sets: TrainingSets, value: Any, held: Held, unit: Unit) -> Any:
        try:
            return sets.one(value, sets.rows(held))
        except ERRORS as reason:
            unit.failure = unit.failure or first_line(reason)
            return None

    def _raw_rows(self, held: Held) -> Source:
        assert self.raw is not None
        return self.raw.select(self.division.training(held))

    def _rows(self, held: Held) -> Source:
        with self.lock:
            return self.prepared.at(held).training

    def _solved(self, family: Family, held: Held) -> list[Any] | None:
        """The models of a learner of one pass, from merged moments behind the transformers."""
        with self.lock:
            moments = self.prepared.at(held).moments
        # of a class without rows there are no moments, and the guess alone knows what to say of it
        if moments is None or not (family.is_guess or np.all(moments.weight > 0)):
            return None
        facts = self.prepared.rows.facts
        on_path = family.name is not None and family.learner.path == family.name
        models: list[Any] = []
        for learner in [fresh(family.learner)] if on_path else family.learners():
            vars(learner).update(facts)
            found = learner._solved(learner._from_moments(moments), list(family.values) if on_path else [])
            if found is None:
                return None
            models += found
        return models

    # --- evaluated ---

    def _evaluate(self, place: int, model: Any, k: int, held: Held, family: Family, unit: Unit) -> None:
        """What a model says of the rows of fold k, which it has not seen, with each power."""
        rows = self.division.rows(k)
        try:
            if family.raw and self.raw is not None:
                Z = as_floats(self.raw.X[rows])  # of categories alone codes of two bytes are kept
            else:
                with self.lock:
                    Z = self.prepared.at(held).tested(k)
            said = model._outputs(Z)
        except ERRORS as reason:  # more neighbours than there are training rows, where one fold has nearly all of them
            unit.failure = unit.failure or first_line(reason)
            return
        if self.classes is not None:
            said = split_choice(said, len(model.classes_))[0]
        if not np.isfinite(said).all():
            unit.failure = unit.failure or "its predictions are not all finite"
            return
        said = said if self.classes is None else self._of_all_classes(said, model.classes_)
        for number, power in enumerate(family.powers, place * len(family.powers)):
            output = said if self.classes is None else np.log(floored(softmax(power * said), self.floor))
            self._score(number, output, k, held, family, unit)

    def _of_all_classes(self, scores: Array, known: Array) -> Array:
        """Class scores with a column for each class of the race. One that a model does not know is impossible to it, and gets the floor."""
        assert self.classes is not None
        if len(known) == len(self.classes):
            return scores
        found = np.full((len(scores), len(self.classes)), -np.inf)
        found[:, known if self.labels is None else np.searchsorted(self.labels, known)] = scores
        return found

    def _score(self, number: int, output: Array, k: int, held: Held, family: Family, unit: Unit) -> None:
        """Keep what a setting says of the rows of fold k, with its scores."""
        rows = self.division.rows(k)
        truth = self.y[rows] if self.classes is not None else self.y[rows, None]
        weights = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        try:
            outputs = {judge.name: at_best(judge, truth, output, weights) if len(held) == 1 else output for judge in self.judges}
            scores = {judge.name: judge.of(truth, outputs[judge.name], weights, self.labels) for judge in self.judges}
        except BadInput as reason:  # a score may refuse predictions; if those of the guess, then the truth
            if family.is_guess:
                raise
            unit.failure = unit.failure or first_line(reason)
            return
        unit.results.append((number, k, output, scores))


def _warning_text(warning: TenfoldWarning) -> str:
    """What a learner warned of; the remedy is left out where it is a setting that the race does not offer."""
    text = first_line(warning)
    if not isinstance(warning, NotConverged):
        return text
    learner, _, what = text.partition(": ")
    return f"{learner}: stopped before it had converged ({what.rpartition(': ')[0] or what})"
