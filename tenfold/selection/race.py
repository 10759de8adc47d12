"""The race: every setting on every fold, and on every pair of folds.

`scores[name][c, i, o]` is the score on fold i of setting c, trained without folds i and o; for o = i, without
fold i alone. The diagonal is an ordinary cross-validation, which ranks the settings. Column o without its
diagonal is a cross-validation inside the rows that remain when fold o is taken away: it repeats the choice
without looking at fold o. So K(K + 1)/2 training sets give the board and the nested estimate. Learners of one
pass are summed up fold by fold, once, and solved from merged sums (`evaluate.validate.training_sets`).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter, NotConverged, TenfoldError, TenfoldWarning
from tenfold.core.threads import single_blas
from tenfold.evaluate.split.splitters import assign_folds
from tenfold.evaluate.validate.training_sets import Held, TrainingSets
from tenfold.score.record import ALL_OUTPUTS, LABELS, Score, judged_output, split_choice
from tenfold.score.statistics import squared, zero_one
from tenfold.selection.candidates import Family, Setting, settings_of
from tenfold.selection.prepared import Prepared
from tenfold.table.reading import first_line, pl

SMALL_ROWS, SMALL_WORK = 2000, 300_000  # up to so many rows, and rows × columns × classes, 10 folds; beyond 5
ERRORS = (TenfoldError, ArithmeticError, np.linalg.LinAlgError, MemoryError)  # of a setting that cannot be fitted
MOST_KEPT = 2**28  # bytes of held-out outputs that are kept with all their digits


def count_folds(asked: int | None, rows: int, columns: int, classes: int) -> int:
    """The number of folds: as asked, else fixed by the shape of the table."""
    if asked is not None and asked < 3:
        raise BadParameter(f"folds={asked}: at least 3 are needed, as two are left out at a time")
    small = rows <= SMALL_ROWS and rows * columns * classes <= SMALL_WORK
    return min(asked or (10 if small else 5), rows // 2)


def make_folds(y: Array, folds: int, seed: int, role: str, groups: Array | None) -> Array:
    """The fold of each row. Rows of one group stay together; classes are spread evenly."""
    n = len(y)
    rng = np.random.default_rng(seed)
    if groups is None:
        return assign_folds(n, folds, rng, codes=y if role == "classifier" else None)
    first = np.unique(groups, return_index=True)[1]  # one row represents each group
    of_group = assign_folds(len(first), folds, rng, codes=y[first] if role == "classifier" else None)
    return of_group[groups]


def held_out_table(settings: int, rows: int, width: int) -> Array:
    """(settings, rows, outputs), for the outputs of each setting for each row, trained without its fold.

    Half the digits are kept where all of them would take more than MOST_KEPT bytes.
    """
    shape = settings, rows, width
    return np.full(shape, np.nan, np.float64 if 8 * settings * rows * width <= MOST_KEPT else np.float32)


class Race:
    """Scores of all settings, filled unit by unit: a unit is one training set."""

    def __init__(
        self,
        X: Array,
        y: Array,
        fold: Array,
        families: list[Family],
        judges: list[Score],
        frame: pl.DataFrame | None = None,
        names: list[str] | None = None,
    ) -> None:
        """X for learners of numbers, `names` of its columns; the same rows as a frame for those that take categories and missing values."""
        self.X, self.y, self.fold, self.families, self.judges, self.frame = X, y, fold, families, judges, frame
        self.K = int(fold.max()) + 1
        self.folds = [np.flatnonzero(fold == k) for k in range(self.K)]
        raw = [family.learner for family in families if family.raw]
        self.raw = check.in_memory(raw[0], frame, y) if raw else None
        first = families[0].learner
        self.labels: Array | None = None  # what the classes are called, for the messages of learners
        self.settings: list[Setting] = settings_of(families)
        shape = (len(self.settings), self.K, self.K)
        self.scores = {judge.name: np.full(shape, np.nan) for judge in judges}
        self.classes = np.arange(int(y.max()) + 1) if first.role == "classifier" else None
        self.outputs = held_out_table(len(self.settings), len(y), 1 if self.classes is None else len(self.classes))
        self.prepared = Prepared(X, y, self.folds, first, names)
        self.sets = [self._training_sets(family) for family in families]
        self.seconds = np.zeros(len(families))  # of fitting, all units together
        self.units_done = 0
        self.failures: dict[str, str] = {}  # family -> why, once
        self.warned: dict[str, str] = {}  # family -> its warning, once

    def units(self) -> list[tuple[int, int]]:
        """Single folds first: they make the board. Then pairs, completing one outer fold after another."""
        K = self.K
        return [(i, i) for i in range(K)] + [(i, o) for o in range(K) for i in range(o + 1, K)]

    def run(self, tick: Callable[[int], None] = lambda done: None) -> None:
        """Do all units that are still to do; `tick` gets how many are done."""
        for i, o in self.units()[self.units_done :]:
            self._unit(i, o)
            self.units_done += 1
            tick(self.units_done)

    @property
    def fits(self) -> int:
        """The fits of the whole race: what follows from merged sums is none, and a path of values is one."""
        by_fitting = [sets for sets in self.sets if sets.solve is None or not self.prepared.merges]
        each = sum(1 if sets.learner.path == sets.path else max(len(sets.values), 1) for sets in by_fitting)
        return len(self.units()) * each

    @property
    def complete_folds(self) -> list[int]:
        """Folds with a score of every setting on the board."""
        return list(range(min(self.units_done, self.K)))

    @property
    def complete_outer(self) -> list[int]:
        """Outer folds whose inner cross-validation is complete."""
        done = set(self.units()[: self.units_done])
        return [o for o in range(self.K) if all((max(i, o), min(i, o)) in done for i in range(self.K))]

    def _training_sets(self, family: Family) -> TrainingSets:
        """How the models of a family are made: trees from the columns as they are, others behind the transformers of the front."""
        learner, values = family.learner, list(family.values)
        if family.raw:
            return TrainingSets(learner, family.name, values, self._raw_rows)
        able = isinstance(learner, OnePass) and type(learner)._from_moments is not OnePass._from_moments
        return TrainingSets(learner, family.name, values, self._rows, partial(self._solved, family) if able else None)

    def _raw_rows(self, held: Held) -> Source:
        assert self.raw is not None
        return self.raw.select(np.flatnonzero(~np.isin(self.fold, held)))

    def _rows(self, held: Held) -> Source:
        rows = self.prepared.at(held).training
        rows.facts = self._named(rows.facts)
        return rows

    def _solved(self, family: Family, held: Held) -> list[Any] | None:
        """The models of a learner of one pass, from merged moments behind the transformers."""
        moments = self.prepared.at(held).moments
        if moments is None:
            return None
        facts = self._named(self.prepared.rows.facts)
        on_path = family.name is not None and family.learner.path == family.name
        models: list[Any] = []
        for learner in [fresh(family.learner)] if on_path else family.settings():
            vars(learner).update(facts)
            found = learner._solved(learner._from_moments(moments), list(family.values) if on_path else [])
            if found is None:
                return None
            models += found
        return models

    def _named(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Facts with the classes as the user calls them."""
        classes = facts.get("classes_")
        if (
            self.labels is None
            or classes is None
            or (classes.dtype == self.labels.dtype and np.isin(classes, self.labels).all())
        ):
            return facts
        return dict(facts, classes_=self.labels[classes])

    def _unit(self, i: int, o: int) -> None:
        held = (i,) if i == o else (min(i, o), max(i, o))
        tests = {f: self.prepared.at(held).tested(f) for f in held}
        raw_tests = {} if self.raw is None else {f: self.raw.X[self.folds[f]] for f in held}
        c = 0
        for number, (family, sets) in enumerate(zip(self.families, self.sets, strict=True)):
            began = time.perf_counter()
            for model in self._models(family, sets, held):
                if model is not None:
                    for f in held:
                        self._score(c, f, o if f == i else i, model, (raw_tests if family.raw else tests)[f])
                c += 1
            self.seconds[number] += time.perf_counter() - began

    def _models(self, family: Family, sets: TrainingSets, held: Held) -> list[Any]:
        """The fitted models of a family, None for a setting that failed; what they warned of is kept."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TenfoldWarning)
            try:
                with single_blas:
                    models = sets.models(held)
            except ERRORS:
                models = [self._one(family, sets, value, held) for value in family.values or (None,)]
        for one in caught:
            if isinstance(one.message, TenfoldWarning):
                self.warned.setdefault(family.title, _warning_text(one.message))
        return models

    def _one(self, family: Family, sets: TrainingSets, value: Any, held: Held) -> Any:
        try:
            return sets.one(value, sets.rows(held))
        except ERRORS as reason:
            self.failures.setdefault(family.title, first_line(reason))
            return None

    @single_blas
    def _score(self, c: int, fold: int, other: int, model: Any, Z: Array) -> None:
        output, rows = model._outputs(Z), self.folds[fold]
        if not np.isfinite(output).all():
            self.failures.setdefault(self.settings[c].family.title, "its predictions are not all finite")
            return
        truth, weights = self.truth(rows), np.ones(len(rows))
        for judge in self.judges:
            wanted = judged_output(judge, output, self.classes)
            try:
                self.scores[judge.name][c, fold, other] = judge.of(truth, wanted, weights, self.labels)
            except BadInput as reason:  # a score may refuse predictions; if those of the guess, then the truth
                if self.settings[c].family.is_guess:
                    raise
                self.failures.setdefault(self.settings[c].family.title, first_line(reason))
                return
        if fold == other:
            self.outputs[c, rows] = self._kept(output)

    def _kept(self, output: Array) -> Array:
        """Of held-out rows, what the judge of the race looks at: values, class scores, or ones for the chosen class."""
        if self.classes is None:
            return output
        scores, chosen = split_choice(output, len(self.classes))
        by_class = self.judges[0].output in (LABELS, ALL_OUTPUTS)
        return scores if chosen is None or not by_class else chosen[:, None] == self.classes

    def truth(self, rows: Array) -> Array:
        """The truth of some rows, as a score takes it: codes of classes, or one column of numbers."""
        return self.y[rows, None] if self.classes is None else self.y[rows]

    def losses(self, c: int, rows: Array) -> Array:
        """The loss of each of these rows under setting c, trained without their fold."""
        judge, truth = self.judges[0], self.truth(rows)
        return (judge.row_loss or (squared if truth.ndim > 1 else zero_one))(truth, self.outputs[c, rows])


def _warning_text(warning: TenfoldWarning) -> str:
    """What a learner warned of; the remedy is left out where it is a setting that the race does not offer."""
    text = first_line(warning)
    if not isinstance(warning, NotConverged):
        return text
    learner, _, what = text.partition(": ")
    return f"{learner}: stopped before it had converged ({what.rpartition(': ')[0] or what})"
