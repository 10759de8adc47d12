"""The steps of a run, each an event for the listener: read, look, code, divide, race, decide, refit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tenfold.core.errors import BadInput, BadRequest, kept_warnings
from tenfold.core.threads import thread_budget
from tenfold.prepare.coder import TableCoder
from tenfold.selection.choice.choice import Mix
from tenfold.selection.copied import copied
from tenfold.selection.found import Found
from tenfold.selection.honest.growth import can_run_fewer, run_fewer, seconds_of, taken_without
from tenfold.selection.looked import Looked, look
from tenfold.selection.model.refit import refit
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.outcome import Outcome, decide
from tenfold.selection.plan.candidates import Family
from tenfold.selection.plan.entries import Entry
from tenfold.selection.plan.folds import Division, folds_in_time, make_folds
from tenfold.selection.plan.plan import Plan
from tenfold.selection.race.checkpoint import Checkpoint
from tenfold.selection.race.race import Race
from tenfold.selection.race.repeat import can_repeat, run_again
from tenfold.selection.race.rows import Rows
from tenfold.selection.race.wall import Wall
from tenfold.selection.race.workers import Workers
from tenfold.selection.record import facts_of
from tenfold.selection.settings import LEAST_FOLDS, Settings
from tenfold.table.copies import duplicate_groups
from tenfold.table.sample import read_sample
from tenfold.table.task import Task

Listener = Callable[..., None]
HURRY = 2.5  # seconds of fitting at most, about, once a run was stopped
WORTH_A_PROCESS = 4.0  # seconds of one core by the cost model, from which the time that a process takes to start is soon made up
KEPT_FOR_REFIT = 0.15  # share of the time that is left for fitting what was chosen
MOST_FOR_GROWTH = 0.15  # share of the time that is kept, besides, for models of fewer rows
LATEST = 1.05  # of the time, and HURRY: what is fitted then should be ready


@dataclass(frozen=True)
class Again:
    """How far an earlier run came: all of its plan, or so many units of it; heat: of its first heat; fewer: whether it went
    on to models of fewer rows, None for what the plan says."""

    units: int | None = None
    heat: bool = False
    fewer: bool | None = None


_ran_in: set[int] = set()  # processes in which polars has worked: this one, and those that it was forked from


def refuse_forked() -> None:
    """A process that was forked from one in which polars has worked would wait for ever: its threads have not come along."""
    if _ran_in - {os.getpid()}:
        raise BadRequest(
            "a run cannot be made in a process that was forked from one that has made another, as polars would wait there for ever: "
            "start processes by multiprocessing.get_context('spawn')"
        )


class Job:
    """One run of `select`."""

    def __init__(
        self,
        emit: Listener,
        finish_early: bool,
        settings: Settings,
        checkpoint: Checkpoint | None = None,
        again: Again | None = None,
        named: Callable[[str], Any] | None = None,
    ) -> None:
        """checkpoint: where the race is kept, and may go on from. again: do the work of an earlier run, and heed no clock. named: the one
        learner that is asked for, by the role "classifier" or "regressor"; then nothing is chosen."""
        self.emit, self.finish_early, self.settings, self.named = emit, finish_early, settings, named
        self.checkpoint, self.again = checkpoint, again
        self.units = None if again is None or again.heat else again.units
        self.began, self.interrupted, self.cut = time.perf_counter(), False, False
        self.heat: Race | None = None  # a first heat, on some of the rows
        self.checks: dict[str, Any] = {}  # what was found in the rows before the race

    def run(self, table: Any, target: Any, trusting: bool = False) -> Found:
        """All steps, from the table to the fitted model. trusting: columns that give the target away are used all the same."""
        refuse_forked()
        asked = self.settings
        raw = read_sample(table, asked.rows, asked.seed)
        if self.checkpoint is not None:
            self.checkpoint.is_of(raw.name, raw.digest)
        looked = look(raw, target, asked, self.emit, trusting, self.named is not None)
        _ran_in.add(os.getpid())
        if self.checkpoint is not None:
            self.checkpoint.begin()
        plan = self._plan(looked)
        if asked.monotone is not None:
            self.emit("monotone", columns=asked.monotone, families=[family.title for family in plan.families[1:]])
        division = self._folds(looked, plan.folds)
        race, task = self._race(plan, looked, division)
        looked = replace(looked, task=replace(task, rows=raw.numbers(task.rows)))
        try:
            return self._finish(looked, race)
        except KeyboardInterrupt:
            if self.interrupted or not self.finish_early:
                raise
        self.interrupted = True  # after the race: it is kept, and what is fitted soonest is saved
        self._stopped(race)
        return self._finish(looked, race)

    def _plan(self, looked: Looked) -> Plan:
        asked, shape = self.settings, looked.shape(self.settings.monotone)
        if self.named is None:
            plan = Plan.of(asked.effort, asked.folds, asked.time, shape, looked.times is not None, asked.honest)
        else:
            plan = Plan.of_one(self.named(shape.role), shape, asked.folds, asked.seed)
        if looked.groups is None or asked.folds is not None:
            return plan
        return replace(plan, folds=max(min(plan.folds, int(looked.groups.max()) + 1), LEAST_FOLDS))  # each group is in one fold

    def _folds(self, looked: Looked, folds: int) -> Division:
        task, groups = looked.task, looked.groups
        told = dict(suspects=looked.suspects, left_out=looked.leaks)
        self.checks = dict(copies=0)
        if looked.times is not None:
            name = self.settings.roles["time_column"]
            self.emit("checks", copies=f"folds are spans of {name!r}, each judged by what was known before it", **told)
            return folds_in_time(looked.times, folds, name, task.y if task.kind == "classes" else None)
        alike, copies = (groups, "") if groups is not None else duplicate_groups(looked.used, task, folds)
        if groups is None and alike is not None:
            self.checks["copies"] = len(alike) - int(alike.max()) - 1
        if groups is not None:
            name, count = self.settings.roles["groups"], int(groups.max()) + 1
            if count < folds:
                raise BadInput(f"the column {name!r} has {count} groups: {folds} folds need at least as many")
            copies = f"{count:,} groups of {name!r} kept in one fold each"
        self.emit("checks", copies=copies, **told)
        return make_folds(task.codes, folds, self.settings.seed, task.role, alike)

    def _race(self, plan: Plan, looked: Looked, division: Division) -> tuple[Race, Task]:
        """The race, and the task of its rows: all of them, unless it was cut short in a first heat."""
        X, task, decisions, weight = looked.X, looked.task, looked.decisions, looked.weight
        judges, texts = looked.judges(division.fold), looked.read_texts(division.fold)
        labels, names = task.classes if task.kind == "classes" else None, looked.coder.names_out()
        everything = Rows(X, task.codes, division, looked.table, names, weight, labels, texts)
        families: list[Family] = list(plan.families)
        workers = Workers(thread_budget() - 1 if plan.seconds >= WORTH_A_PROCESS else 0)

        def race_of(families: Sequence[Family]) -> Race:
            return Race(everything, list(families), judges, costs=decisions.costs, pairs=plan.nested, workers=workers)

        race = race_of(families)
        self.emit(
            "plan",
            families=len(families) - 1,
            models=[family.title for family in families[1:]],
            settings=len(race.settings) - 1,
            folds=race.K,
            width=X.shape[1],
            fits=race.fits_to_do,
            uncoded=0 if race.fits.raw is None else looked.uncoded,
            nested=plan.nested,
            screened=plan.screened,
            seconds=self._forecast(plan),
        )
        rows = np.arange(len(X))
        with workers:
            with self._wall(1 - KEPT_FOR_REFIT) as wall:
                if plan.screened is not None:
                    rows = plan.sample(len(X), self.settings.seed, task.codes if task.kind == "classes" else None)
                    heat = self.heat = race.some(rows)
                    families = self._screened(plan, heat)
                    if self.again is not None and self.again.heat:
                        return heat, replace(task, y=task.y[rows], rows=task.rows[rows])
                    self.emit("screened", kept=[family.title for family in families[1:]], rows=len(rows), seconds=self._gone())
                    race = race_of(families)
                variants = partial(_variants, plan, race)
                tick = partial(self._tick, race=race)
                if self.checkpoint is not None:
                    self.checkpoint.restore(race, variants)
                race.run(tick, singles=race.K, most=self.units)
                if not race.pairs and can_run_fewer(race):
                    wall.keep(self._kept_for_growth(race))
                self._refine(race, variants)
                race.run(tick, most=self.units)
                self._repeat(race, plan)
            self._ended(wall, race)
            self._grow(race, plan)
        some = replace(task, y=task.y[rows], rows=task.rows[rows])
        first = self.heat
        if first is not None and not race.begun and some.n_classes == task.n_classes and first.judges[0].name == judges[0].name:
            return first, some  # rather a model of some rows than none
        return race, task

    def _forecast(self, plan: Plan) -> float | None:
        """About how many seconds the run takes; no more than it may."""
        seconds, most = plan.forecast(thread_budget()), self.settings.time
        return seconds if seconds is None or most is None or self.again is not None else min(seconds, most)

    def _screened(self, plan: Plan, heat: Race) -> list[Family]:
        """The families that run on all rows, by a first heat on some."""
        known = None if self.checkpoint is None else self.checkpoint.families()
        if known is None:
            if self.checkpoint is not None:
                self.checkpoint.restore_heat(heat)
            most = self.again.units if self.again is not None and self.again.heat else None
            heat.run(partial(self._tick, race=heat), singles=1, most=most)
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
        self.emit("refined", variants=len(more), of=list(dict.fromkeys(family.refines for family in more)), seconds=self._gone())

    def _repeat(self, race: Race, plan: Plan) -> None:
        """Let the finalists run on other divisions of the rows, once all else is done."""
        if not can_repeat(race):
            return
        for number in range(1, 1 + plan.repeats([race.families[f] for f in race.finalists()])):
            if self.units is not None and race.units_done >= self.units:
                break
            run_again(race, self.settings.seed, number, self._tick, self.units)
        if race.repeats:
            self.emit("repeated", divisions=len(race.repeats), families=len(race.repeats[0].families) - 1, seconds=self._gone())

    def _grow(self, race: Race, plan: Plan) -> None:
        """Let what is taken also run on fewer rows, to tell what the last ones bring; once all else is done, or the clock has cut it short
        and there is time for this too."""
        known = None if self.again is None else self.again.fewer
        if self.interrupted or known is False or not can_run_fewer(race):
            return
        with self._wall(LATEST) as wall:
            numbers = self._without_folds(race)
            wall.keep(sum(race.fit_seconds(number) for number in numbers) * race.K / (race.K - 1))  # for fitting what is chosen
            planned = known or plan.has_room([race.families[number] for number in numbers])
            if seconds_of(race, numbers) <= wall.left if self.cut else planned:
                run_fewer(race, numbers, self._tick)
        self._ended(wall, race)

    def _without_folds(self, race: Race) -> list[int]:
        """The families that models of fewer rows are of."""
        return taken_without(race, (self.settings.prefer, _told_beside(self.settings.prefer)))

    def _kept_for_growth(self, race: Race) -> float:
        """Seconds of a given time that models of fewer rows will take, about; nothing where that is too much."""
        if self.settings.time is None or self.again is not None:
            return 0.0
        seconds = seconds_of(race, self._without_folds(race))
        return seconds if seconds <= MOST_FOR_GROWTH * self.settings.time else 0.0

    def _ended(self, wall: Wall, race: Race) -> None:
        """Whether work was cut short by Ctrl-C or by the clock: then what is complete is kept, and it is said once."""
        told, self.interrupted, self.cut = self.cut, wall.interrupted, self.cut or wall.cut
        if wall.interrupted or (wall.cut and not told):
            self._stopped(race)

    def _stopped(self, race: Race) -> None:
        """Keep what is complete, and say so."""
        race = self.heat if self.heat is not None and not race.begun else race
        if self.checkpoint is not None and race.done:
            self._keep(race, done=True)
        self.emit("interrupted", done=race.units_done, of=max(race.units, race.units_done), seconds=self._gone(), wall=not self.interrupted)

    def _tick(self, done: int, of: int, race: Race | None = None) -> None:
        self.emit("progress", done=done, of=of, seconds=self._gone(), **({} if race is None else race.place()))
        if self.checkpoint is not None and race is not None:
            self._keep(race)

    def _keep(self, race: Race, done: bool = False) -> None:
        if self.checkpoint is not None:
            self.checkpoint.keep(race, [family.title for family in race.families], done, heat=race is self.heat)

    def _wall(self, share: float) -> Wall:
        """For work that ends with Ctrl-C, and when this share of a given time is over."""
        limit = self.settings.time if self.again is None else None
        return Wall(self.finish_early, None if limit is None else limit * share - self._gone())

    def _finish(self, looked: Looked, race: Race) -> Found:
        """Decide, fit what was chosen to all rows, and write down how it was found."""
        judge, coder = looked.judge, looked.coder
        found = decide(race, looked.task, judge, self.settings.prefer, looked.decisions)
        left = self._left()
        found = found if left is None else found.hurried(left)
        self.emit(
            "board", rows=found.board, metric=judge.name, greater_is_better=judge.greater_is_better, notes=race.warned
        )
        self.emit("estimate", **facts_of(found))
        if found.told is not None:
            self.emit("decisions", **found.told)
        model = self._model(found, coder, found.taken)
        fit = found.fit_seconds(found.taken)
        self.checks["copied"] = None
        if not self.interrupted and (left is None or 2 * fit <= left):
            self.checks["copied"] = copied(found, model, looked, self.settings.seed)
        if self.checks["copied"] is not None:
            fit *= 2  # once more, without the rows that are held out
            self.emit("copied", **self.checks["copied"])
        other = _told_beside(found.prefer)
        second = found.taken if found.is_guess else found.choice.taken(other)
        late = left is not None and fit + found.fit_seconds(second) > left
        beside = None if late or second == found.taken else self._model(found, coder, second)
        worth = found.estimates_of(other).get(judge.name)
        self.emit(
            "chosen",
            model=found.label,
            tied=found.tied,
            is_guess=found.is_guess,
            members=found.members,
            prefer=found.prefer,
            beside=None if beside is None else found.name(second),
            worth=None if worth is None else worth.value,
            metric=judge.name,
        )
        how = dict(interrupted=self.interrupted, cut_by_time=self.cut, heat=race is self.heat)
        return Found.of(found, looked, (model, beside), self.settings, self.checks | how, self._gone())

    def _model(self, found: Outcome, coder: TableCoder, mix: Mix) -> TableModel:
        """What is chosen, fitted to all rows."""
        with kept_warnings():  # shown on the board
            fitted = refit(found.race, found.task, coder, mix)
        race, texts = found.race, [] if found.race.texts is None else found.race.texts.fitted()
        floor, rule, sure = race.fits.floor, found.rule(mix), found.certainty
        reach, reaches, least = (None, None, None) if sure is None else (sure.reach, sure.reaches, sure.least)
        return TableModel.of(coder, fitted, found.task.target, reach, reaches, floor, rule, texts, least)

    def _left(self) -> float | None:
        """Seconds in which what is chosen should be fitted, about; None for as long as it takes."""
        if self.interrupted:
            return HURRY
        if self.settings.time is None or self.again is not None:
            return None
        return max(HURRY, LATEST * self.settings.time + HURRY - self._gone())

    def _gone(self) -> float:
        return time.perf_counter() - self.began


def _told_beside(prefer: str) -> str:
    """What is told beside what is preferred."""
    return "best" if prefer == "simple" else "simple"


def _variants(plan: Plan, race: Race) -> list[Entry]:
    """Variants of the families that lead after the first lap."""
    families = [family for family in race.families[: race.first] if isinstance(family, Entry)]
    ran = [sum(number == one and len(held) == 1 for one, held in race.done) for number in range(race.first)]
    return plan.variants(families, race.leaders(), ran)
