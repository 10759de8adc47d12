"""The steps of a run, each an event for the listener: read, look, code, divide, race, decide, refit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tenfold.core.errors import BadInput, BadRequest, kept_warnings
from tenfold.core.threads import single_blas
from tenfold.prepare.coder import TableCoder
from tenfold.selection.choice.choice import Mix
from tenfold.selection.copied import copied
from tenfold.selection.dataset import Dataset, dataset_of
from tenfold.selection.model.refit import refit
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.outcome import Outcome, decide
from tenfold.selection.plan.folds import Division, folds_in_time, make_folds
from tenfold.selection.plan.plan import Plan
from tenfold.selection.race.checkpoint import Checkpoint
from tenfold.selection.race.race import Race
from tenfold.selection.record import facts_of
from tenfold.selection.result import Result
from tenfold.selection.search import Listener, Replay, Search
from tenfold.selection.settings import LEAST_FOLDS, Settings, other_preference
from tenfold.table.copies import duplicate_groups
from tenfold.table.sample import read_sample
from tenfold.table.task import Task

FAR_TOO_LONG = 2.0  # times what is left: where a fit to the rows of the race would take that, the first heat decides
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
        replay: Replay | None = None,
        named: Callable[[str], Any] | None = None,
        others: Sequence[str] = (),
    ) -> None:
        """checkpoint: where the race is kept, and may go on from. replay: do the work of an earlier run, and heed no clock. named: the one
        learner that is asked for, by the role "classifier" or "regressor"; then nothing is chosen. others: columns that other runs
        predict."""
        self.emit, self.finish_early, self.settings, self.named, self.checkpoint = emit, finish_early, settings, named, checkpoint
        self.others = others
        self.search = Search(emit, finish_early, settings, checkpoint, replay)
        self.checks: dict[str, Any] = {}  # what was found in the rows before the race

    @single_blas
    def run(self, table: Any, target: Any, trusting: bool = False) -> Result:
        """All steps, from the table to the fitted model. trusting: columns that give the target away are used all the same."""
        refuse_forked()
        asked = self.settings
        raw = read_sample(table, asked.rows, asked.seed)
        if self.checkpoint is not None:
            self.checkpoint.is_of(raw.name, raw.digest)
        dataset = dataset_of(raw, target, asked, self.emit, trusting, self.named is not None, self.others)
        _ran_in.add(os.getpid())
        if self.checkpoint is not None:
            self.checkpoint.begin()
        plan = self._plan(dataset)
        if asked.monotone is not None:
            self.emit("monotone", columns=asked.monotone, families=[family.title for family in plan.families[1:]])
        division = self._folds(dataset, plan.folds)
        race, task = self.search.run(plan, dataset, division)
        try:
            return self._finish(dataset, race, task)
        except KeyboardInterrupt:
            if self.search.interrupted or not self.finish_early:
                raise
        self.search.interrupted = True  # after the race: it is kept, and what is fitted soonest is saved
        self.search.stopped(race)
        return self._finish(dataset, race, task)

    def _plan(self, dataset: Dataset) -> Plan:
        asked, shape = self.settings, dataset.shape(self.settings.monotone)
        if self.named is None:
            plan = Plan.of(asked.effort, asked.folds, asked.time, shape, dataset.times is not None, asked.honest)
        else:
            plan = Plan.of_one(self.named(shape.role), shape, asked.folds, asked.seed)
        if dataset.groups is None or asked.folds is not None:
            return plan
        return replace(plan, folds=max(min(plan.folds, int(dataset.groups.max()) + 1), LEAST_FOLDS))  # each group is in one fold

    def _folds(self, dataset: Dataset, folds: int) -> Division:
        task, groups = dataset.task, dataset.groups
        facts = dict(suspects=dataset.suspects, left_out=dataset.leaks)
        self.checks = dict(copies=0)
        if dataset.times is not None:
            name = self.settings.roles["time_column"]
            self.emit("checks", copies=f"folds are spans of {name!r}, each judged by what was known before it", **facts)
            return folds_in_time(dataset.times, folds, name, task.y if task.kind == "classes" else None)
        alike, copies = (groups, "") if groups is not None else duplicate_groups(dataset.used, task, folds)
        if groups is None and alike is not None:
            self.checks["copies"] = len(alike) - int(alike.max()) - 1
        if groups is not None:
            name, count = self.settings.roles["groups"], int(groups.max()) + 1
            if count < folds:
                raise BadInput(f"the column {name!r} has {count} groups: {folds} folds need at least as many")
            copies = f"{count:,} groups of {name!r} kept in one fold each"
        self.emit("checks", copies=copies, **facts)
        return make_folds(task.codes, folds, self.settings.seed, task.role, alike)

    def _finish(self, whole: Dataset, race: Race, task: Task) -> Result:
        """Decide, fit what was chosen to all rows, and write down how it was found. task: of the rows of the race."""
        dataset, left, first = _raced(whole, task), self.search.left, self.search.first
        found = self._decided(dataset, race)
        if left is not None and first is not None and found.fit_seconds(found.taken) > FAR_TOO_LONG * left:
            race, dataset = first[0], _raced(whole, first[1])
            found = self._decided(dataset, race)
        judge, coder = dataset.judge, dataset.coder
        self.emit(
            "board", rows=found.board, metric=judge.name, greater_is_better=judge.greater_is_better, notes=race.warned
        )
        self.emit("estimate", **facts_of(found))
        if found.decision_facts is not None:
            self.emit("decisions", **found.decision_facts)
        model = self._model(found, coder, found.taken)
        fit, left = found.fit_seconds(found.taken), self.search.left
        self.checks["copied"] = None
        if not self.search.interrupted and (left is None or 2 * fit <= left):
            self.checks["copied"] = copied(found, model, dataset, self.settings.seed)
        if self.checks["copied"] is not None:
            fit *= 2  # once more, without the rows that are held out
            self.emit("copied", **self.checks["copied"])
        other = other_preference(found.prefer)
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
        search = self.search
        cut = dict(interrupted=search.interrupted, cut_by_time=search.cut, heat=race is search.heat)
        how = cut | dict(rows_known=len(whole.task.y))
        return Result.of(found, dataset, (model, beside), self.settings, self.checks | how, search.gone)

    def _decided(self, dataset: Dataset, race: Race) -> Outcome:
        replay, left = self.search.replay, self.search.left
        prefer = replay.prefer if replay is not None and replay.prefer is not None else self.settings.prefer
        found = decide(race, dataset.task, dataset.judge, prefer, dataset.decisions)
        return found if left is None else found.hurried(left)

    def _model(self, found: Outcome, coder: TableCoder, mix: Mix) -> TableModel:
        """What is chosen, fitted to all rows."""
        with kept_warnings():  # shown on the board
            fitted = refit(found.race, found.task, coder, mix)
        race, texts = found.race, [] if found.race.texts is None else found.race.texts.fitted()
        floor, rule, known = race.fits.floor, found.rule(mix), found.certainty
        half_width, half_widths, least = (None, None, None) if known is None else (known.half_width, known.half_widths, known.least)
        return TableModel.of(coder, fitted, found.task.target, half_width, half_widths, floor, rule, texts, least)


def _raced(dataset: Dataset, task: Task) -> Dataset:
    """The rows of a race, with their numbers in the table."""
    return replace(dataset, task=replace(task, rows=dataset.raw.numbers(task.rows)))
