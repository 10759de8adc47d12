"""The search for a model: the race of the families of a plan, with what comes before and behind it, under Ctrl-C and the clock.

    first heat      on some of the rows of a long table: which families run on all
    first lap       every family on every fold
    second lap      variants of those that lead; pairs of folds for the nested estimate
    repeats         of small tables, the finalists on other divisions of the rows
    fewer rows      what is taken, by models of K - 2 folds: what the last rows bring

Where it is cut short, what is complete counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

import numpy as np

from tenfold.core.data import Array
from tenfold.core.threads import thread_budget
from tenfold.evaluate.validate.training_sets import Held
from tenfold.selection.choice.choice import MOST_ROWS
from tenfold.selection.dataset import Dataset
from tenfold.selection.honest.fewer_rows import can_run_fewer, pairs_of, run_fewer, seconds_of, taken_without
from tenfold.selection.plan.candidates import Family
from tenfold.selection.plan.entries import Entry
from tenfold.selection.plan.folds import Division
from tenfold.selection.plan.plan import Plan
from tenfold.selection.race.checkpoint import Checkpoint
from tenfold.selection.race.deadline import Deadline
from tenfold.selection.race.race import Race
from tenfold.selection.race.repeat import can_repeat, run_again
from tenfold.selection.race.rows import Rows
from tenfold.selection.race.workers import Workers
from tenfold.selection.settings import Settings, other_preference
from tenfold.table.task import Task

Listener = Callable[..., None]
HURRY = 2.5  # seconds of fitting at most, about, once a run was stopped
WORTH_A_PROCESS = 4.0  # seconds of one core by the cost model, from which the time that a process takes to start is soon made up
KEPT_FOR_REFIT = 0.15  # share of the time that is left for fitting what was chosen
MOST_FOR_GROWTH = 0.15  # share of the time that is kept, besides, for models of fewer rows
LATEST, AROUND = 1.05, 0.5  # of the time, less so many seconds: what is fitted then should be ready, as Python has begun before the clock
# and the page comes behind it
DECIDING, WEIGHING = 1e-6, 6e-6  # seconds of deciding for each row and output, and for each of those rows that a choice looks at


@dataclass(frozen=True)
class Replay:
    """How far an earlier run came: all of its plan, or so many units of it; heat: of its first heat; fewer: so many units of
    models of fewer rows behind it, None for what the plan says; prefer: what was taken in the end, where the time was short."""

    units: int | None = None
    heat: bool = False
    fewer: int | None = None
    prefer: str | None = None


class Search:
    """One search, and how it has ended: stopped by Ctrl-C, cut by the clock, or neither."""

    def __init__(
        self, emit: Listener, finish_early: bool, settings: Settings, checkpoint: Checkpoint | None, replay: Replay | None
    ) -> None:
        """checkpoint: where the race is kept, and may go on from. replay: do the work of an earlier run, and heed no clock."""
        self.emit, self.finish_early, self.settings, self.checkpoint, self.replay = emit, finish_early, settings, checkpoint, replay
        self.units = None if replay is None or replay.heat else replay.units
        self.began, self.interrupted, self.cut = time.perf_counter(), False, False
        self.heat: Race | None = None  # a first heat, on some of the rows;
        self.first: tuple[Race, Task] | None = None  # with the task of these, where a model can be chosen by it instead of by the race

    @property
    def gone(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float | None:
        """Seconds in which what is chosen should be fitted, about; None for as long as it takes."""
        if self.interrupted:
            return HURRY
        if self.settings.time is None or self.replay is not None:
            return None
        return max(LATEST * self.settings.time - AROUND - self.gone, 0.0)

    def run(self, plan: Plan, dataset: Dataset, division: Division) -> tuple[Race, Task]:
        """The race, and the task of its rows: all of them, unless it was cut short in a first heat."""
        X, task, decisions, weight = dataset.X, dataset.task, dataset.decisions, dataset.weight
        judges, texts = dataset.judges(division.fold), dataset.read_texts(division.fold)
        labels, names = task.classes if task.kind == "classes" else None, dataset.coder.names_out()
        everything = Rows(X, task.codes, division, dataset.table, names, weight, labels, texts)
        families: list[Family] = list(plan.families)
        workers = Workers(thread_budget() - 1 if plan.seconds >= WORTH_A_PROCESS else 0)

        def race_of(families: Sequence[Family], rows: Array | None = None) -> Race:
            on = everything if rows is None or len(rows) == len(X) else everything.some(rows)
            return Race(on, list(families), judges, costs=decisions.costs, pairs=plan.nested, workers=workers)

        race = race_of(families)
        self.emit(
            "plan",
            families=len(families) - 1,
            models=[family.title for family in families[1:]],
            settings=len(race.settings) - 1,
            folds=race.K,
            width=X.shape[1],
            fits=race.fits_to_do,
            uncoded=0 if race.fits.raw is None else dataset.uncoded,
            nested=plan.nested,
            screened=plan.screened,
            seconds=self._forecast(plan),
        )
        rows, raced = np.arange(len(X)), np.arange(len(X))
        with workers:
            with self._deadline(1 - KEPT_FOR_REFIT) as deadline:
                if plan.screened is not None:
                    rows = plan.sample(len(X), self.settings.seed, _codes(task))
                    heat = self.heat = race.some(rows)
                    families = self._screened(plan, heat, deadline)
                    if self.replay is not None and self.replay.heat:
                        return heat, _of_rows(task, rows)
                    if self.settings.time is not None:
                        raced = self._rows_in_time(plan, families, task)
                    kept = [family.title for family in families[1:]]
                    on, more = dict(on=len(raced), of=len(X)), self._forecast_after_heat(plan, families)
                    self.emit("screened", kept=kept, rows=len(rows), **on, seconds=self.gone, more=more)
                    race = race_of(families, raced)
                variants = partial(_variants, plan, race)
                tick = partial(self._tick, race=race, deadline=deadline)
                if self.checkpoint is not None:
                    self.checkpoint.restore(race, variants)
                race.run(tick, singles=race.K, most=self.units)
                if not race.pairs and can_run_fewer(race):
                    deadline.keep(self._kept_for_growth(race))
                self._refine(race, variants)
                race.run(tick, most=self.units)
                self._repeat(race, plan)
            self._ended(deadline, race)
            self._grow(race, plan)
        some, first = _of_rows(task, rows), self.heat
        if first is not None and some.n_classes == task.n_classes and first.judges[0].name == judges[0].name:
            if not race.begun:
                return first, some  # rather a model of some rows than none
            self.first = (first, some) if first.begun else None  # of a run that goes on behind it there is none
        return race, task if len(raced) == len(X) else _of_rows(task, raced)

    def _forecast(self, plan: Plan) -> float | None:
        """About how many seconds the run takes; no more than it may."""
        seconds, most = plan.forecast(thread_budget()), self.settings.time
        return seconds if seconds is None or most is None or self.replay is not None else min(seconds, most)

    def _rows_in_time(self, plan: Plan, families: Sequence[Family], task: Task) -> Array:
        """The rows of a long table that the families left by a first heat run on: all, or as many as the given time has room for."""
        assert self.settings.time is not None
        count = plan.rows_in_time([one for one in families[1:] if isinstance(one, Entry)], self.settings.time)
        return plan.sample(len(task.y), self.settings.seed, _codes(task), count)

    def _forecast_after_heat(self, plan: Plan, families: Sequence[Family]) -> float:
        """About how many seconds more it takes; no more than it may."""
        more, left = plan.forecast_after_heat([one for one in families if isinstance(one, Entry)], thread_budget()), self.left
        return more if left is None else min(more, left)

    def _screened(self, plan: Plan, heat: Race, deadline: Deadline) -> list[Family]:
        """The families that run on all rows, by a first heat on some."""
        known = None if self.checkpoint is None else self.checkpoint.families()
        if known is None:
            if self.checkpoint is not None:
                self.checkpoint.restore_heat(heat)
            most = self.replay.units if self.replay is not None and self.replay.heat else None
            heat.run(partial(self._tick, race=heat, deadline=deadline), singles=1, most=most)
            kept = plan.after_heat(heat.order())
            known = [family.title for number, family in enumerate(heat.families) if number in kept]
        return [family for family in heat.families if family.title in known]

    def _refine(self, race: Race, variants: Callable[[], Sequence[Family]]) -> None:
        """Let variants of the leaders into a second lap, once the first is complete; a race that goes on may have them already."""
        if len(race.complete_folds) < race.K or (self.units is not None and len(race.done) >= self.units):
            return
        if len(race.families) == race.first:
            race.enter(variants())
        more = race.families[race.first :]
        self.emit("refined", variants=len(more), of=list(dict.fromkeys(family.refines for family in more)), seconds=self.gone)

    def _repeat(self, race: Race, plan: Plan) -> None:
        """Let the finalists run on other divisions of the rows, once all else is done."""
        if not can_repeat(race):
            return
        for number in range(1, 1 + plan.repeats([race.families[f] for f in race.finalists()])):
            if self.units is not None and race.units_done >= self.units:
                break
            run_again(race, self.settings.seed, number, self._tick, self.units)
        if race.repeats:
            self.emit("repeated", divisions=len(race.repeats), families=len(race.repeats[0].families) - 1, seconds=self.gone)

    def _grow(self, race: Race, plan: Plan) -> None:
        """Let what is taken also run on fewer rows, to tell what the last ones bring; once all else is done, or the clock has cut it short
        and there is time for this too."""
        known = None if self.replay is None else self.replay.fewer
        if self.interrupted or not can_run_fewer(race):
            return
        with Deadline(self.finish_early, self.left) as deadline:
            planned: list[Family] = []
            for pair in pairs_of(race):
                numbers = self._without_folds(race, pair)
                if not planned:
                    fitting = sum(race.fit_seconds(number) for number in numbers) * race.K / (race.K - 1)
                    deadline.keep(fitting + _seconds_to_decide(race))
                planned += [race.families[number] for number in numbers]
                in_time = seconds_of(race, numbers) <= deadline.left if self.cut else plan.has_room(planned)
                if not (in_time if known is None else race.less_units < known):
                    break
                run_fewer(race, pair, numbers, self._tick)
        self._ended(deadline, race)

    def _without_folds(self, race: Race, pair: Held) -> list[int]:
        """The families that models of fewer rows are of."""
        return taken_without(race, pair, (self.settings.prefer, other_preference(self.settings.prefer)))

    def _kept_for_growth(self, race: Race) -> float:
        """Seconds of a given time that models of fewer rows will take, about; nothing where that is too much."""
        if self.settings.time is None or self.replay is not None:
            return 0.0
        seconds = [0.0, *accumulate(seconds_of(race, self._without_folds(race, pair)) for pair in pairs_of(race))]
        return max(one for one in seconds if one <= MOST_FOR_GROWTH * self.settings.time)

    def _ended(self, deadline: Deadline, race: Race) -> None:
        """Whether work was cut short by Ctrl-C or by the clock: then what is complete is kept, and it is said once."""
        told, self.interrupted, self.cut = self.cut, deadline.interrupted, self.cut or deadline.cut
        if deadline.interrupted or (deadline.cut and not told):
            self.stopped(race)

    def stopped(self, race: Race) -> None:
        """Keep what is complete, and say so."""
        race = self.heat if self.heat is not None and not race.begun else race
        if self.checkpoint is not None and race.done:
            self._keep(race, done=True)
        self.emit("interrupted", done=race.units_done, of=max(race.units, race.units_done), seconds=self.gone, wall=not self.interrupted)

    def _tick(self, done: int, of: int, race: Race | None = None, deadline: Deadline | None = None) -> None:
        self.emit("progress", done=done, of=of, seconds=self.gone, **({} if race is None else race.place()))
        if self.checkpoint is not None and race is not None:
            self._keep(race)
        if deadline is not None and race is not None and self.left is not None:
            deadline.within(self.left - _seconds_to_decide(race) - _seconds_to_fit(race))

    def _keep(self, race: Race, done: bool = False) -> None:
        if self.checkpoint is not None:
            self.checkpoint.keep(race, [family.title for family in race.families], done, heat=race is self.heat)

    def _deadline(self, share: float) -> Deadline:
        """For work that ends with Ctrl-C, and when this share of a given time is over."""
        limit = self.settings.time if self.replay is None else None
        return Deadline(self.finish_early, None if limit is None else limit * share - self.gone)


def _seconds_to_decide(race: Race) -> float:
    """About how long it takes from the end of a race to what is fitted."""
    rows, outputs = len(race.y), 1 if race.classes is None else len(race.classes)
    return (DECIDING * rows + WEIGHING * min(rows, MOST_ROWS)) * outputs


def _seconds_to_fit(race: Race) -> float:
    """About how long it takes to fit the family that leads a race to all of its rows."""
    order = race.order()
    return race.fit_seconds(order[0]) * race.K / (race.K - 1) if order else 0.0


def _of_rows(task: Task, rows: Array) -> Task:
    return replace(task, y=task.y[rows], rows=task.rows[rows])


def _codes(task: Task) -> Array | None:
    return task.codes if task.kind == "classes" else None


def _variants(plan: Plan, race: Race) -> list[Entry]:
    """Variants of the families that lead after the first lap."""
    families = [family for family in race.families[: race.first] if isinstance(family, Entry)]
    ran = [sum(number == one and len(held) == 1 for one, held in race.done) for number in range(race.first)]
    return plan.variants(families, race.leaders(), ran)
