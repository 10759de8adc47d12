"""The race: every setting on every fold, and on every pair of folds.

`scores[name][c, i, o]` is the score on fold i of setting c, trained without folds i and o; for o = i, without
fold i alone. The diagonal is an ordinary cross-validation, which ranks the settings. Column o without its
diagonal is a cross-validation inside the rows that remain when fold o is taken away: it repeats the choice
without looking at fold o. So K(K + 1)/2 training sets give the board and the nested estimate.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.base import check
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, NotConverged, TenfoldError, TenfoldWarning
from tenfold.core.threads import single_blas
from tenfold.evaluate.split.splitters import assign_folds
from tenfold.score.record import Score
from tenfold.score.statistics import squared, zero_one
from tenfold.selection.candidates import Family, Setting, settings_of
from tenfold.selection.reading import first_line, pl

SMALL_ROWS, SMALL_WORK = 2000, 300_000  # up to so many rows, and rows × columns × classes, 10 folds; beyond 5
MOST_KEPT = 2**28  # bytes of held-out outputs that are kept with all their digits


def front() -> list[tuple[str, Any]]:
    """The transformers before every learner; what they learn, they learn from training rows."""
    return [("impute", tenfold.SimpleImputer()), ("scale", tenfold.StandardScaler())]


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
    first = np.unique(groups, return_index=True)[1]  # one row of each group speaks for it
    of_group = assign_folds(len(first), folds, rng, codes=y[first] if role == "classifier" else None)
    return of_group[groups]


def held_out_table(settings: int, rows: int, width: int) -> Array:
    """(settings, rows, outputs), for what each setting says of each row when trained without its fold.

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
        """X for learners of numbers, `names` of its columns; the same rows as a frame for those that take categories and blanks."""
        self.X, self.y, self.fold, self.families, self.judges, self.frame = X, y, fold, families, judges, frame
        raw = [family.learner for family in families if family.raw]
        self.raw = check.in_memory(raw[0], frame, y) if raw else None
        self.names = None if names is None else np.array(names, dtype=object)
        self.labels: Array | None = None  # what the classes are called, for what learners have to say of them
        self.settings: list[Setting] = settings_of(families)
        self.K = int(fold.max()) + 1
        shape = (len(self.settings), self.K, self.K)
        self.scores = {judge.name: np.full(shape, np.nan) for judge in judges}
        width = int(y.max()) + 1 if families[0].learner.role == "classifier" else 1
        self.outputs = held_out_table(len(self.settings), len(y), width)
        self.seconds = np.zeros(len(families))  # of fitting, all units together
        self.units_done = 0
        self.failures: dict[str, str] = {}  # family -> why, once
        self.told: dict[str, str] = {}  # family -> what it warned of, once

    def units(self) -> list[tuple[int, int]]:
        """Single folds first: they make the board. Then pairs, completing one outer fold after another."""
        K = self.K
        return [(i, i) for i in range(K)] + [(i, o) for o in range(K) for i in range(o + 1, K)]

    def run(self, tick: Callable[[int], None] = lambda done: None) -> None:
        """Do all units that are still to do; `tick` hears how many are done."""
        for i, o in self.units()[self.units_done :]:
            self._unit(i, o)
            self.units_done += 1
            tick(self.units_done)

    @property
    def complete_folds(self) -> list[int]:
        """Folds with a score of every setting on the board."""
        return list(range(min(self.units_done, self.K)))

    @property
    def complete_outer(self) -> list[int]:
        """Outer folds whose inner cross-validation is complete."""
        done = set(self.units()[: self.units_done])
        return [o for o in range(self.K) if all((max(i, o), min(i, o)) in done for i in range(self.K))]

    def _unit(self, i: int, o: int) -> None:
        held = {i, o}
        training = ~np.isin(self.fold, list(held))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TenfoldWarning)
            steps = tenfold.Pipeline(front())
            Z = np.ascontiguousarray(steps.fit(self.X[training]).transform(self.X[training]))
            tests = {f: np.ascontiguousarray(steps.transform(self.X[self.fold == f])) for f in held}
        rows = check.in_memory(self.families[0].learner, Z, self.y[training])
        if self.names is not None:
            rows.facts["feature_names_in_"] = steps[0].get_feature_names_out(self.names)
        if self.labels is not None:
            rows.facts["classes_"] = self.labels[rows.facts["classes_"]]
        raw_rows = None if self.raw is None else self.raw.select(np.flatnonzero(training))
        raw_tests = {} if self.raw is None else {f: self.raw.X[self.fold == f] for f in held}
        c = 0
        for number, family in enumerate(self.families):
            began = time.perf_counter()
            for model in self._fits(family, raw_rows if family.raw else rows):
                if model is not None:
                    for f in held:
                        self._score(c, f, o if f == i else i, model, (raw_tests if family.raw else tests)[f])
                c += 1
            self.seconds[number] += time.perf_counter() - began

    def _fits(self, family: Family, rows: Any) -> Iterator[Any]:
        """The fitted models of a family, None for a setting that failed."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TenfoldWarning)
            models = self._path(family, rows)
        for one in caught:
            if isinstance(one.message, TenfoldWarning):
                self.told.setdefault(family.title, _told(one.message))
        yield from models

    def _path(self, family: Family, rows: Any) -> list[Any]:
        """One fit for all values where the learner has such a path; else, or where that fails, one by one."""
        if family.name is not None and family.learner.path == family.name:
            try:
                with single_blas:
                    return list(fresh(family.learner)._fit_path(rows, family.name, list(family.values)))
            except TenfoldError:
                pass
        return [self._fit(family, learner, rows) for learner in family.settings()]

    def _fit(self, family: Family, learner: Any, rows: Any) -> Any:
        try:
            return learner._fit(rows)
        except (TenfoldError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as reason:
            self.failures.setdefault(family.title, first_line(reason))
            return None

    @single_blas
    def _score(self, c: int, fold: int, other: int, model: Any, Z: Array) -> None:
        classes = model.role == "classifier"
        output = model._scores(Z) if classes else model._predict(Z)
        rows = np.flatnonzero(self.fold == fold)
        truth = self.truth(rows)
        output = output.reshape(len(output), -1)
        if not np.isfinite(output).all():
            self.failures.setdefault(self.settings[c].family.title, "its answers are not all finite")
            return
        weights = np.ones(len(truth))
        for judge in self.judges:
            self.scores[judge.name][c, fold, other] = judge.of(truth, output, weights, self.labels)
        if fold == other:
            self.outputs[c, rows] = output

    def truth(self, rows: Array) -> Array:
        """The truth of some rows, as a score takes it: codes of classes, or one column of numbers."""
        return self.y[rows] if self.families[0].learner.role == "classifier" else self.y[rows, None]

    def losses(self, c: int, rows: Array) -> Array:
        """The loss of each of these rows under setting c, trained without their fold."""
        judge, truth = self.judges[0], self.truth(rows)
        return (judge.row_loss or (squared if truth.ndim > 1 else zero_one))(truth, self.outputs[c, rows])


def _told(warning: TenfoldWarning) -> str:
    """What a learner warned of; the remedy is left out where it is a setting that the race does not offer."""
    text = first_line(warning)
    if not isinstance(warning, NotConverged):
        return text
    learner, _, what = text.partition(": ")
    return f"{learner}: stopped before it had converged ({what.rpartition(': ')[0] or what})"
