"""The race: every family of the portfolio on one fold after another, all on the same rows; whoever falls behind is dropped.

    singles   each fold is left out once. What the models that have not seen it say of its rows, `outputs[c, row]`, ranks the settings,
              weighs the members of the ensemble, and is all that the choice looks at
    pairs     each two folds are left out together, for the finalists. Without folds i and o a model is heard on fold i inside the round
              that leaves out o (`inner[o]`), and on fold o inside the round of i: the choice is made again without looking at a fold

So K(K + 1)/2 training sets at most give the choice and its nested estimate. Learners of one pass are summed up fold by fold, once, and
solved from merged sums (`evaluate.validate.training_sets`).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import softmax
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, NotConverged, TenfoldError, TenfoldWarning
from tenfold.core.threads import single_blas
from tenfold.evaluate.validate.training_sets import Held, TrainingSets
from tenfold.score.record import Score, split_choice
from tenfold.selection.candidates import Family, Setting, settings_of
from tenfold.selection.decision import at_best
from tenfold.selection.ensemble import greedy_weights
from tenfold.selection.folds import Division
from tenfold.selection.held_out import HeldOut
from tenfold.selection.model import floor_of, floored
from tenfold.selection.prepared import Prepared
from tenfold.selection.text_folds import Texts
from tenfold.table.reading import first_line, pl

ERRORS = (TenfoldError, ArithmeticError, np.linalg.LinAlgError, MemoryError)  # of a setting that cannot be fitted
MOST_KEPT = 2**28  # bytes of held-out outputs that are kept with all their digits
FINALISTS = 8  # families that also run on pairs of folds
LEAST_RACING = 5  # families are dropped down to no fewer,
LEAST_HEARD = 200  # and not before so many rows were heard
HOPELESS = 3.0  # standard errors behind the leader


def held_out_table(settings: int, rows: int, width: int) -> Array:
    """(settings, rows, outputs), for the outputs of each setting for each row, trained without its fold.

    Half the digits are kept where all of them would take more than MOST_KEPT bytes.
    """
    shape = settings, rows, width
    return np.full(shape, np.nan, np.float64 if 8 * settings * rows * width <= MOST_KEPT else np.float32)


class Race:
    """Outputs of all settings for rows they have not seen, filled unit by unit: a unit is one family on one training set."""

    def __init__(
        self,
        X: Array,
        y: Array,
        division: Division,
        families: list[Family],
        judges: list[Score],
        frame: pl.DataFrame | None = None,
        names: list[str] | None = None,
        *,
        weight: Array | None = None,
        pairs: bool = False,
        texts: Texts | None = None,
    ) -> None:
        """X for learners of numbers, `names` of its columns; the same rows as a frame for those that take categories and missing values.

        weight: of each row, where they do not count alike. texts: what fills some of the columns, for each training set anew.
        """
        self.names, self.texts = names or [], texts
        self.filled: Held | None = None  # the training set that the columns of texts are filled for
        self.X, self.y, self.weight, self.families, self.judges, self.frame = X, y, weight, families, judges, frame
        self.division, self.fold, self.ordered = division, division.fold, division.ordered
        self.K, self.pairs = division.folds, pairs
        raw = [family.learner for family in families if family.raw]
        self.raw = check.in_memory(raw[0], frame, y, weight) if raw else None
        first = families[0].learner
        self.labels: Array | None = None  # what the classes are called, for the messages of learners
        self.costs: Array | None = None  # of decisions, where they were given
        self.settings: list[Setting] = settings_of(families)
        self.places = _places(families)
        self.classes = np.arange(int(y.max()) + 1) if first.role == "classifier" else None
        width = 1 if self.classes is None else len(self.classes)
        self.floor = 0.0 if self.classes is None else floor_of(len(y), width)
        self.outputs = held_out_table(len(self.settings), len(y), width)
        self.inner = [held_out_table(len(self.settings), len(y), width) for _ in range(self.K)] if pairs else []
        self.scores = {judge.name: np.full((len(self.settings), self.K), np.nan) for judge in judges}
        self.prepared = Prepared(X, y, division, first, names, weight, fixed=texts is None)
        self.sets = [self._training_sets(family) for family in families]
        self.seconds = np.zeros(len(families))  # of fitting, all units together
        self.done: list[tuple[int, Held]] = []  # units, in the order they were done
        self.dropped: dict[int, int] = {}  # family -> the fold after which it left the race
        self.failures: dict[str, str] = {}  # family -> why, once
        self.warned: dict[str, str] = {}  # family -> its warning, once

    # --- what is to do ---

    def training_sets(self) -> list[Held]:
        """Single folds first: they make the board. Then pairs, completing one round after another."""
        singles: list[Held] = [(k,) for k in range(self.K)]
        return singles + ([(i, o) for i in range(self.K) for o in range(i + 1, self.K)] if self.pairs else [])

    def run(
        self, tick: Callable[[int, int], None] = lambda done, of: None, singles: int | None = None, most: int | None = None
    ) -> None:
        """Do all units that are still to do, of so many single folds, or so many units, if given; `tick` gets how many are done, and how
        many there are as far as is known."""
        ready = set(self.done)
        for held in self.training_sets()[:singles]:
            for number in self._entered(held):
                if (number, held) not in ready:
                    if len(self.done) == most:
                        return
                    self._unit(number, held)
                    self.done.append((number, held))
                    tick(len(self.done), max(self.units, len(self.done)))
            if len(held) == 1:
                self._drop(held[0])

    @property
    def units(self) -> int:
        """The units of the whole race, if nobody else is dropped."""
        racing = len(self.families) - len(self.dropped)
        singles = sum(1 for _, held in self.done if len(held) == 1)
        later = racing * (self.K - len({held for _, held in self.done if len(held) == 1}))
        heard = len({held for _, held in self.done if len(held) == 2})
        pairs = sum(1 for _, held in self.done if len(held) == 2)
        left = self.K * (self.K - 1) // 2 - heard if self.pairs else 0
        return singles + later + pairs + left * min(racing, FINALISTS + 1)

    def _entered(self, held: Held) -> Iterator[int]:
        """The families that are fitted without these folds: on pairs only those that lead in one of both rounds, and the guess."""
        wanted = None if len(held) == 1 else set().union(*(self.finalists(o) for o in held))
        for number in range(len(self.families)):
            if number not in self.dropped and (wanted is None or number in wanted):
                yield number

    def finalists(self, without: int | None = None) -> set[int]:
        """The guess, and the families that lead by the folds but this one."""
        return {f for f, family in enumerate(self.families) if family.is_guess} | set(self.order(without)[:FINALISTS])

    def order(self, without: int | None = None) -> list[int]:
        """The families but the guess, best first by the folds but this one."""
        gained = self._gained([k for k in self.complete_folds if k != without])
        return sorted((f for f in gained if not self.families[f].is_guess), key=lambda f: -gained[f])

    def _gained(self, folds: list[int]) -> dict[int, float]:
        """By family that is still in the race, the best mean score of its settings, greater is better; nothing of those that failed."""
        judge, found = self.judges[0], dict[int, float]()
        for number, where in enumerate(self.places):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a family that failed has no mean
                mean = np.nanmax((judge.sign * self.scores[judge.name][where][:, folds]).mean(axis=1), initial=-np.inf)
            if number not in self.dropped and np.isfinite(mean):
                found[number] = float(mean)
        return found

    def _drop(self, after: int) -> None:
        """From the second fold on families that failed, and those that have no chance: their mean is worse than the leader's worst
        fold, worse than the leader's by far more than luck on so many rows, and an ensemble of all does without them. Those that follow
        from merged sums cost nothing, and stay."""
        self.dropped = {number: fold for number, fold in self.dropped.items() if fold < after}  # a race that goes on decides as before
        judge, folds = self.judges[0], [k for k in self.complete_folds if k <= after]
        if len(folds) < 2:
            return
        gained = self._gained(folds)
        for number, family in enumerate(self.families):
            if number not in self.dropped and number not in gained and not family.is_guess:
                self.dropped[number] = after
        order = sorted((f for f in gained if not self.families[f].is_guess), key=lambda f: -gained[f])
        rows = np.flatnonzero(np.isin(self.fold, folds))
        if len(order) <= LEAST_RACING or len(rows) < LEAST_HEARD:
            return
        leader, held = self._leading(order[0], folds), self.held_out()
        worst = float((judge.sign * self.scores[judge.name][leader, folds]).min())
        helps = greedy_weights(held, [self._leading(number, folds) for number in order], rows)
        for number in order[LEAST_RACING:]:
            if self._leading(number, folds) in helps:
                continue
            if gained[number] < worst and self.sets[number].solve is None:
                behind, error = held.behind(self.outputs[leader, rows], self.outputs[self._leading(number, folds), rows], rows)
                if behind > HOPELESS * error:
                    self.dropped[number] = after

    def _leading(self, number: int, folds: list[int]) -> int:
        """The best setting of a family by these folds."""
        where = self.places[number]
        mean = (self.judges[0].sign * self.scores[self.judges[0].name][where][:, folds]).mean(axis=1)
        return where[int(np.nanargmax(mean))]

    # --- what is done ---

    @property
    def complete_folds(self) -> list[int]:
        """Folds that all families have run that had not been dropped before; of a first fold that was cut short, who ran it counts."""
        ran = {held[0]: set[int]() for _, held in self.done if len(held) == 1}
        for number, held in self.done:
            if len(held) == 1:
                ran[held[0]].add(number)
        full = [k for k in sorted(ran) if all(f in ran[k] or self.dropped.get(f, self.K) < k for f in range(len(self.families)))]
        return full or sorted(ran)[:1]

    @property
    def complete_rounds(self) -> list[int]:
        """Outer rounds whose inner cross-validation is complete."""
        if not self.pairs or len(self.complete_folds) < self.K:
            return []
        done = set(self.done)
        needed = {held: set(self._entered(held)) for held in self.training_sets() if len(held) == 2}
        return [
            o for o in range(self.K) if all((f, held) in done for held, wanted in needed.items() if o in held for f in wanted)
        ]

    @property
    def fits(self) -> int:
        """The fits of the whole race if nobody is dropped: what follows from merged sums is none, and a path of values is one."""
        by_fitting = [sets for sets in self.sets if sets.solve is None or not self.prepared.merges]
        each = sum(1 if sets.learner.path == sets.path else max(len(sets.values), 1) for sets in by_fitting)
        return each * self.K + min(each, FINALISTS) * (self.K * (self.K - 1) // 2 if self.pairs else 0)

    def held_out(self, outer: int | None = None) -> HeldOut:
        """What is known of rows by models that have not seen them; of an outer round, by models that have not seen its fold either."""
        outputs = self.outputs if outer is None else self.inner[outer]
        known = self.weight, self.division.units, self.costs
        return HeldOut(outputs, self.y, self.fold, self.judges[0], self.classes, self.labels, *known)

    # --- one unit ---

    def _training_sets(self, family: Family) -> TrainingSets:
        """How the models of a family are made: trees from the columns as they are, others behind the transformers of the front."""
        learner, values = family.learner, list(family.values)
        if family.raw:
            return TrainingSets(learner, family.name, values, self._raw_rows)
        able = isinstance(learner, OnePass) and type(learner)._from_moments is not OnePass._from_moments
        return TrainingSets(learner, family.name, values, self._rows, partial(self._solved, family) if able else None)

    def _raw_rows(self, held: Held) -> Source:
        assert self.raw is not None
        return self.raw.select(self.division.training(held))

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

    def fill(self, held: Held) -> None:
        """Fill the columns of texts, for models that are to be fitted without these folds."""
        if self.texts is None or self.filled == held or self.frame is None:
            return
        scores, made = self.texts.at(self.division.training(held) if held else np.arange(len(self.y))), self.texts.names
        self.X[:, [self.names.index(name) for name in made]] = scores
        if self.raw is not None:
            self.raw.X[:, [self.frame.columns.index(name) for name in made]] = scores
        if not held:
            self.frame = self.frame.with_columns([pl.Series(name, scores[:, k]) for k, name in enumerate(made)])
        self.filled = held

    def _unit(self, number: int, held: Held) -> None:
        """Fit a family without these folds, and keep what it says of their rows."""
        self.fill(held)
        family, began = self.families[number], time.perf_counter()
        models = self._models(family, self.sets[number], held)
        for c, model in zip(self.places[number], models, strict=True):
            for k in held if model is not None else ():
                Z = self.raw.X[self.division.rows(k)] if family.raw and self.raw is not None else self.prepared.at(held).tested(k)
                self._hear(c, model, Z, k, held)
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
    def _hear(self, c: int, model: Any, Z: Array, k: int, held: Held) -> None:
        """What a model says of the rows of fold k, which it has not seen."""
        output, rows, title = model._outputs(Z), self.division.rows(k), self.settings[c].family.title
        if self.classes is not None:
            output = split_choice(output, len(self.classes))[0]
            output = np.log(floored(softmax(output), self.floor)) if np.isfinite(output).all() else output
        if not np.isfinite(output).all():
            self.failures.setdefault(title, "its predictions are not all finite")
            return
        truth = self.y[rows] if self.classes is not None else self.y[rows, None]
        weights = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        try:
            heard = {judge.name: at_best(judge, truth, output, weights) if len(held) == 1 else output for judge in self.judges}
            scores = {judge.name: judge.of(truth, heard[judge.name], weights, self.labels) for judge in self.judges}
        except BadInput as reason:  # a score may refuse predictions; if those of the guess, then the truth
            if self.settings[c].family.is_guess:
                raise
            self.failures.setdefault(title, first_line(reason))
            return
        if len(held) == 2:
            self.inner[held[0] + held[1] - k][c, rows] = output
            return
        for name, score in scores.items():
            self.scores[name][c, k] = score
        self.outputs[c, rows] = output


def _places(families: list[Family]) -> list[list[int]]:
    """The numbers of the settings of each family."""
    ends = np.cumsum([0, *(max(1, len(family.values)) for family in families)])
    return [list(range(start, end)) for start, end in pairwise(ends.tolist())]


def _warning_text(warning: TenfoldWarning) -> str:
    """What a learner warned of; the remedy is left out where it is a setting that the race does not offer."""
    text = first_line(warning)
    if not isinstance(warning, NotConverged):
        return text
    learner, _, what = text.partition(": ")
    return f"{learner}: stopped before it had converged ({what.rpartition(': ')[0] or what})"
