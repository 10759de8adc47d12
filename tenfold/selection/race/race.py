"""The race: every family of the portfolio on one fold after another, all on the same rows; whoever falls behind is dropped.

    singles   each fold is left out once. What the models that have not seen it say of its rows, `outputs[c, row]`, ranks the settings,
              weighs the members of the ensemble, and is all that the choice looks at
    pairs     each two folds are left out together, for the finalists. Without folds i and o a model predicts fold i inside the round
              that leaves out o (`inner[o]`), and on fold o inside the round of i: the choice is made again without looking at a fold

Variants of the families that lead by the singles may run them too, in a second lap (`refine`). A choice knows of a variant only where
the family that it refines leads by the folds that this choice looks at.

So K(K + 1)/2 training sets at most give the choice and its nested estimate. Learners of one pass are summed up fold by fold, once, and
solved from merged sums (`evaluate.validate.training_sets`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise

import numpy as np

from tenfold.core.data import Array
from tenfold.core.engine import Local, each
from tenfold.core.errors import silenced
from tenfold.core.threads import stopping
from tenfold.evaluate.validate.training_sets import Held
from tenfold.score.record import Score
from tenfold.score.registry import SCORES
from tenfold.selection.choice.ensemble import greedy_weights
from tenfold.selection.choice.held_out import HeldOut, held_out_table, longer
from tenfold.selection.plan.candidates import FINALISTS, REFINED, Family, Setting, settings_of
from tenfold.selection.race.fits import Fits, Unit
from tenfold.selection.race.rows import Rows
from tenfold.selection.race.standing import Standing
from tenfold.selection.race.workers import Workers
from tenfold.table.reading import pl

SIDE_BY_SIDE = 2_000_000  # cells of a table, up to which several families are fitted at once; larger ones have work for all threads
FEW_ROWS = 2_000  # up to which they are fitted at once however many columns there are: threads divide rows
LEAST_RACING = 5  # families are dropped down to no fewer,
LEAST_SCORED = 200  # and not before so many rows were predicted
HOPELESS = 3.0  # standard errors behind the leader


class Race(Standing):
    """Outputs of all settings for rows they have not seen, filled unit by unit: a unit is one family on one training set."""

    def __init__(
        self,
        rows: Rows,
        families: list[Family],
        judges: list[Score],
        *,
        costs: Array | None = None,
        pairs: bool = False,
        drops: bool = True,
        workers: Workers | None = None,
    ) -> None:
        """costs: of decisions. pairs: whether each two folds are left out together, too. drops: whether who falls behind leaves.
        workers: processes that fit beside this one."""
        self.rows, self.families, self.judges, self.costs, self.pairs, self.drops = rows, families, judges, costs, pairs, drops
        # Texts fill the columns of this process, for each training set anew; of large tables one copy is enough.
        self.workers = workers if rows.texts is None and rows.X.size <= SIDE_BY_SIDE else None
        self.X, self.y, self.weight, self.frame = rows.X, rows.y, rows.weight, rows.frame
        self.division, self.fold, self.ordered = rows.division, rows.division.fold, rows.division.ordered
        self.K, self.texts = rows.division.folds, rows.texts
        self.first = len(families)  # of the first lap
        self.filled: Held | None = None  # the training set that the columns of texts are filled for
        self.settings: list[Setting] = settings_of(families)
        self.places = _places(families)
        self.fits = Fits(rows, families, judges)
        self.classes = self.fits.classes
        self.scores = {judge.name: np.full((len(self.settings), self.K), np.nan) for judge in judges}
        self.seconds = np.zeros(len(families))  # of fitting, all units together
        self.done: list[tuple[int, Held]] = []  # units, in the order they were done
        self.dropped: dict[int, int] = {}  # family -> the fold after which it left the race
        self.failures: dict[str, str] = {}  # family -> why, once
        self.warned: dict[str, str] = {}  # family -> its warning, once
        self.repeats: list[Race] = []  # complete races of the finalists, on other divisions of the same rows (`repeat`)
        self.less: dict[tuple[int, int], Array] = {}  # setting, fold -> what it says of the fold from fewer rows, without pairs (`growth`)
        self.less_units = 0  # that this took

    @cached_property
    def outputs(self) -> Array:
        """What each setting says of each row, of models that have not seen it. Made when it is needed: a race may only be planned."""
        return self._table()

    @cached_property
    def inner(self) -> list[Array]:
        """The same inside each outer round."""
        return [self._table() for _ in range(self.K)] if self.pairs else []

    def _table(self) -> Array:
        return held_out_table(len(self.settings), len(self.y), 1 if self.classes is None else len(self.classes))

    def some(self, rows: Array) -> Race:
        """A first heat, on some of the rows and the first fold alone: by the first judge, or by log loss where that fold is without a class
        that the judge needs."""
        some, judge = self.rows.some(rows), self.judges[0]
        lacking = self.classes is not None and len(np.unique(some.y[some.division.rows(0)])) < len(self.classes)
        judges = [SCORES["log_loss"] if judge.every_class and lacking else judge]
        return Race(some, self.families, judges, costs=self.costs, workers=self.workers)

    def enter(self, more: Sequence[Family]) -> None:
        """A second lap, of variants: they run the single folds behind the families that are there, and pairs with them."""
        known = self.outputs, *self.inner
        self.families = [*self.families, *more]
        self.settings, self.places = settings_of(self.families), _places(self.families)
        self.fits.enter(list(more))
        count = len(self.settings) - len(self.outputs)
        self.outputs, *self.inner = (longer(one, count) for one in known)
        self.scores = {name: longer(one, count) for name, one in self.scores.items()}
        self.seconds = np.concatenate([self.seconds, np.zeros(len(more))])

    # --- what is to do ---

    def training_sets(self) -> list[Held]:
        """Single folds first: they make the board. Then pairs, completing one round after another."""
        singles: list[Held] = [(k,) for k in range(self.K)]
        return singles + ([(i, o) for i in range(self.K) for o in range(i + 1, self.K)] if self.pairs else [])

    @property
    def guess(self) -> int:
        """The setting that learns nothing from the columns."""
        return next(c for c, setting in enumerate(self.settings) if setting.family.is_guess)

    @property
    def laps(self) -> list[range]:
        """The families of the first lap, and the variants of a second one where there is one."""
        return [range(self.first), *([range(self.first, len(self.families))] if len(self.families) > self.first else [])]

    def stages(self) -> list[tuple[range, Held]]:
        """Which families run without which folds, in this order: the first lap, the second one, pairs."""
        sets, all_of_them = self.training_sets(), range(len(self.families))
        return [(lap, held) for lap in self.laps for held in sets[: self.K]] + [(all_of_them, held) for held in sets[self.K :]]

    def run(
        self, tick: Callable[[int, int], None] = lambda done, of: None, singles: int | None = None, most: int | None = None
    ) -> None:
        """Do all units that are still to do, of so many single folds, or so many units, if given; `tick` gets how many are done, and how
        many there are as far as is known."""
        ready = set(self.done)
        for lap, held in self.stages()[:singles]:
            waiting = [number for number in self._entered(held) if number in lap and (number, held) not in ready]
            left = len(waiting) if most is None else most - len(self.done)
            self.side_by_side(waiting[:left], held, partial(self._counted, held, tick))
            if left < len(waiting):
                return
            if len(held) == 1 and self.drops:
                self._drop(held[0], lap)

    def _counted(self, held: Held, tick: Callable[[int, int], None], number: int, unit: Unit) -> None:
        if (number, held) not in self.done:
            self._record(number, held, unit)
        tick(len(self.done), max(self.units, len(self.done)))

    def side_by_side(self, numbers: list[int], held: Held, keep: Callable[[int, Unit], None]) -> None:
        """Units of one training set, on all threads where the table is small. They are kept in their order, whoever is ready first: a run
        that is stopped has the same units as one that was to do as many."""
        caller, waiting, ready = threading.current_thread(), deque(numbers), dict[int, Unit]()

        def do(number: int) -> None:
            if stopping():
                raise KeyboardInterrupt
            if threading.current_thread() is caller:
                ready[number] = self.fits.unit(number, held)
                count()
            else:
                ready[number] = self.fits.unit(number, held) if self.workers is None else self.workers.unit(self.fits, number, held)

        def count() -> None:
            while waiting and (number := waiting[0]) in ready:  # an interrupt may fall anywhere in here, and then it is done again
                keep(number, ready[number])
                waiting.popleft()

        self.fill(held)
        try:
            with silenced:  # what learners say is kept
                longest_first = sorted(numbers, key=lambda number: -self.seconds[number])  # so that nobody is left with one at the end
                each(do, longest_first, on=None if self.together else Local())
        finally:
            count()

    @property
    def together(self) -> bool:
        """Whether several families are fitted at once, each on one thread."""
        return self.X.size <= SIDE_BY_SIDE or len(self.y) <= FEW_ROWS

    def fit_seconds(self, number: int) -> float:
        """What a fit of a family has taken, on average; a family on a training set is one unit, of all its settings."""
        return float(self.seconds[number]) / max(1, sum(number == one for one, _ in self.done))

    def fill(self, held: Held) -> None:
        """Fill the columns of texts, for models that are to be fitted without these folds."""
        if self.texts is None or self.filled == held or self.frame is None:
            return
        scores, made = self.texts.at(self.division.training(held) if held else np.arange(len(self.y))), self.texts.names
        names = self.rows.names or []
        self.X[:, [names.index(name) for name in made]] = scores
        if self.fits.raw is not None:
            self.fits.raw.X[:, [self.frame.columns.index(name) for name in made]] = scores
        if not held:
            self.frame = self.frame.with_columns([pl.Series(name, scores[:, k]) for k, name in enumerate(made)])
        self.filled = held

    def _record(self, number: int, held: Held, unit: Unit) -> None:
        """Keep what came of a unit."""
        title = self.families[number].title
        for place, k, output, scores in unit.results:
            c, rows = self.places[number][place], self.division.rows(k)
            if len(held) == 2:
                self.inner[held[0] + held[1] - k][c, rows] = output
                continue
            self.outputs[c, rows] = output
            for name, score in scores.items():
                self.scores[name][c, k] = score
        for found, told in ((unit.failure, self.failures), (unit.warning, self.warned)):
            if found is not None:
                told.setdefault(title, found)
        if unit.refitted:
            self.fits.sets[number].refitted.add(held)
        self.seconds[number] += unit.seconds
        self.done.append((number, held))

    @property
    def units_done(self) -> int:
        """The units that count so far, those of complete repeats and of models of fewer rows among them."""
        return len(self.done) + sum(len(again.done) for again in self.repeats) + self.less_units

    @property
    def units(self) -> int:
        """The units of the whole race, if nobody else is dropped."""
        racing = len(self.families) - len(self.dropped)
        singles = later = 0
        for lap in self.laps:
            ran = [held for number, held in self.done if len(held) == 1 and number in lap]
            singles += len(ran)
            later += sum(number not in self.dropped for number in lap) * (self.K - len(set(ran)))
        begun = len({held for _, held in self.done if len(held) == 2})
        pairs = sum(1 for _, held in self.done if len(held) == 2)
        left = self.K * (self.K - 1) // 2 - begun if self.pairs else 0
        return singles + later + pairs + left * min(racing, FINALISTS + 1 + min(REFINED, len(self.families) - self.first))

    def _entered(self, held: Held) -> Iterator[int]:
        """The families that are fitted without these folds: on pairs only those that lead in one of both rounds, and the guess."""
        wanted = None if len(held) == 1 else set().union(*(self.finalists(o) for o in held))
        for number in range(len(self.families)):
            if number not in self.dropped and (wanted is None or number in wanted):
                yield number

    def _drop(self, after: int, lap: range) -> None:
        """From the second fold on, of a lap, families that failed, and those that have no chance: their mean is worse than the leader's
        worst fold, worse than the leader's by far more than luck on so many rows, and an ensemble of all does without them. Those that
        follow from merged sums cost nothing, and stay."""
        # a race that goes on decides as before
        self.dropped = {number: fold for number, fold in self.dropped.items() if fold < after or number not in lap}
        judge, folds = self.judges[0], [k for k in self.complete_folds if k <= after]
        if len(folds) < 2:
            return
        gained = {number: gain for number, gain in self._gained(folds).items() if number < lap.stop}
        for number in lap:
            if number not in self.dropped and number not in gained and not self.families[number].is_guess:
                self.dropped[number] = after
        order = sorted((f for f in gained if not self.families[f].is_guess), key=lambda f: -gained[f])
        rows = np.flatnonzero(np.isin(self.fold, folds))
        if len(order) <= LEAST_RACING or len(rows) < LEAST_SCORED:
            return
        leader, held = self._leading(order[0], folds), self.held_out()
        worst = float((judge.sign * self.scores[judge.name][leader, folds]).min())
        helps = greedy_weights(held, [self._leading(number, folds) for number in order], rows)
        for number in order[LEAST_RACING:]:
            if number not in lap or self._leading(number, folds) in helps:
                continue
            if gained[number] < worst and self.fits.sets[number].solve is None:
                behind, error = held.behind(self.outputs[leader, rows], self.outputs[self._leading(number, folds), rows], rows)
                if behind > HOPELESS * error:
                    self.dropped[number] = after

    # --- what is done ---

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
    def fits_to_do(self) -> int:
        """The fits of the whole race if nobody is dropped: what follows from merged sums is none, and a path of values is one."""
        by_fitting = [sets for sets in self.fits.sets if sets.solve is None or not self.fits.prepared.merges]
        each = sum(1 if sets.learner.path == sets.path else max(len(sets.values), 1) for sets in by_fitting)
        return each * self.K + min(each, FINALISTS) * (self.K * (self.K - 1) // 2 if self.pairs else 0)

    def held_out(self, outer: int | None = None) -> HeldOut:
        """What is known of rows by models that have not seen them; of an outer round, by models that have not seen its fold either."""
        outputs = self.outputs if outer is None else self.inner[outer]
        known = self.weight, self.division.units, self.costs
        return HeldOut(outputs, self.y, self.fold, self.judges[0], self.classes, self.rows.labels, *known)


def _places(families: list[Family]) -> list[list[int]]:
    """The numbers of the settings of each family."""
    ends = np.cumsum([0, *(family.count for family in families)])
    return [list(range(start, end)) for start, end in pairwise(ends.tolist())]
