"""The steps of a run, each an event for the listener: read, look, code, divide, race, decide, refit."""

from __future__ import annotations

import hashlib
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, TenfoldWarning
from tenfold.prepare.coder import TableCoder
from tenfold.score.record import Score
from tenfold.score.registry import SCORES, find_score
from tenfold.selection.candidates import Family
from tenfold.selection.checkpoint import Checkpoint
from tenfold.selection.choice import Mix
from tenfold.selection.coded import coder_for, why_no_columns
from tenfold.selection.decisions import Decisions
from tenfold.selection.folds import Division, folds_in_time, make_folds
from tenfold.selection.model import TableModel
from tenfold.selection.monotone import signs_of
from tenfold.selection.outcome import Outcome, decide
from tenfold.selection.plan import Plan
from tenfold.selection.portfolio import Shape
from tenfold.selection.race import Race
from tenfold.selection.refit import refit
from tenfold.selection.roles import groups_of, times_of, weights_of
from tenfold.selection.settings import Settings
from tenfold.selection.store import MARK
from tenfold.selection.text_folds import Counted, Texts, counted_texts, noted, placed, with_texts
from tenfold.selection.wall import Wall
from tenfold.table.columns import Asked, check_name, comma_of, look_at_columns
from tenfold.table.copies import duplicate_groups
from tenfold.table.leaks import leak_suspects
from tenfold.table.lines import refuse_repeated
from tenfold.table.reading import Raw, pl
from tenfold.table.sample import read_sample
from tenfold.table.sketch import sketch
from tenfold.table.task import Task, find_task

Listener = Callable[..., None]
# The judge, and a score beside it.
METRICS = {"classifier": ("log_loss", "accuracy"), "regressor": ("rmse", "r2")}
LEAST_ROWS_FOR_R2 = 10  # in a fold; the spread of fewer rows is no yardstick
SKEWED = 1.5  # third moment of a target in standard units, from which its tail is long
HURRY = 2.5  # seconds of fitting at most, about, once a run was stopped
KEPT_FOR_REFIT = 0.15  # share of the time that is left for fitting what was chosen


@dataclass(frozen=True)
class Found:
    """What came of a run."""

    outcome: Outcome
    model: TableModel
    beside: TableModel | None  # the simplest model that is as good, where it is another one
    sketch: dict[str, Any]  # of the training table
    record: dict[str, Any]  # what run.json holds


class Job:
    """One run of `select`."""

    def __init__(
        self,
        emit: Listener,
        finish_early: bool,
        settings: Settings,
        checkpoint: Checkpoint | None = None,
        units: int | None = None,
    ) -> None:
        """checkpoint: where the race is kept, and may go on from. units: end the race after so many, and heed no clock."""
        self.emit, self.finish_early, self.settings = emit, finish_early, settings
        self.checkpoint, self.units = checkpoint, units
        self.began, self.interrupted, self.cut = time.perf_counter(), False, False
        self.checks: dict[str, Any] = {}  # what was found in the rows before the race

    def run(self, table: Any, target: Any) -> Found:
        """All steps, from the table to the fitted model."""
        asked = self.settings
        raw = read_sample(table, asked.rows, asked.seed)
        frame, target = _with_target(raw, target)
        if self.checkpoint is not None:
            self.checkpoint.is_of(raw.name, raw.digest)
        shape = dict(rows=raw.height or frame.height, columns=frame.width)
        drawn = None if raw.drawn is None else frame.height
        self.emit("read", file=raw.name, **shape, about=raw.about, seconds=raw.seconds, drawn=drawn)
        check_name(target, frame.columns)
        refuse_repeated(raw.name, set(raw.repeated), [target])
        comma = comma_of(raw)
        roles = asked.roles
        for role, name in roles.items():
            check_name(name, frame.columns)
            if name == target:
                raise BadParameter(f"{role}={name!r}: this is the column to predict")
        beside = [roles[role] for role in ("weights", "groups") if role in roles]  # what they hold is not known of the new rows
        named = Asked(asked.keep, [*asked.drop, *beside], asked.category)
        named.check(frame.columns, target)
        task = find_task(frame[target], raw.typed, asked.task, comma, target in named.category)
        weight = None
        if "weights" in roles:
            weight, task = weights_of(raw, roles["weights"], comma, task)
        decisions = Decisions.of(task, asked.cost, asked.positive)
        judge = find_score(asked.metric or METRICS[task.role][0], task.role, task.n_classes, parameter="metric")
        judge = decisions.judge(judge)
        self.emit("task", **_task_facts(task, judge))
        rest = frame.drop(target)[task.rows]
        columns, used = look_at_columns(rest, raw.typed, named, comma, raw.numbers(task.rows))
        texts = counted_texts(columns, rest, named, task.classes if task.kind == "classes" else ())
        columns, looked = noted(columns, texts), with_texts(used, texts, rest)
        self.emit("columns", columns=[asdict(column) for column in columns])
        used = placed(used, texts)
        coder = coder_for(columns, used) if used.width else None
        if coder is None or not coder.names_out():
            raise BadInput(why_no_columns(columns, target))
        X, table = coder.transform(used), coder.frame(used)
        seen = shape_of(task, table, X, texts)
        if asked.monotone is not None:
            seen = replace(seen, signs=signs_of(asked.monotone, columns, table, task, decisions.positive))
        plan = Plan.of(asked.effort, asked.folds, asked.time, seen, in_time="time_column" in roles)
        if asked.monotone is not None:
            self.emit("monotone", columns=asked.monotone, families=[family.title for family in plan.families[1:]])
        times = times_of(raw, roles["time_column"], comma, task) if "time_column" in roles else None
        groups = groups_of(raw, roles["groups"], task) if "groups" in roles else None
        division = self._folds(looked, task, plan.folds, groups, times)
        read = Texts(texts, task.codes, task.n_classes if task.kind == "classes" else 0, division.fold, weight) if texts else None
        sketched = sketch(looked, columns)
        race, task = self._race(plan, X, coder.names_out(), table, task, division, judge, weight, decisions, read)
        task = replace(task, rows=raw.numbers(task.rows))

        def finished() -> Found:
            used_settings = dict(target=target, task=task.kind, metric=judge.name, folds=race.K)
            if task.n_classes == 2:
                used_settings["positive"] = str(task.classes[decisions.positive])
            record = dict(
                data=dict(name=raw.name, sha256=raw.digest, place=raw.place, **shape, rows_drawn=drawn, rows_used=len(task.y)),
                asked=asked.facts(),
                settings=asked.facts() | used_settings,
                columns=[asdict(column) for column in columns],
                **self.checks,
            )
            return self._finish(self._decided(race, task, judge, decisions), coder, record, sketched)

        try:
            return finished()
        except KeyboardInterrupt:
            if self.interrupted or not self.finish_early:
                raise
        self.interrupted = True  # after the race: it is kept, and what is fitted soonest is saved
        self._stopped(race)
        return finished()

    def _decided(self, race: Race, task: Task, judge: Score, decisions: Decisions) -> Outcome:
        found = decide(race, task, judge, self.settings.prefer, decisions)
        return found.hurried(HURRY) if self.interrupted else found

    def _folds(self, used: pl.DataFrame, task: Task, folds: int, groups: Array | None, times: Array | None) -> Division:
        suspects = leak_suspects(used, task)
        self.checks = dict(suspects=suspects, copies=0)
        if times is not None:
            name = self.settings.roles["time_column"]
            self.emit("checks", copies=f"folds are spans of {name!r}, each judged by what was known before it", suspects=suspects)
            return folds_in_time(times, folds, name, task.y if task.kind == "classes" else None)
        alike, copies = (groups, "") if groups is not None else duplicate_groups(used, task, folds)
        if groups is None and alike is not None:
            self.checks["copies"] = len(alike) - int(alike.max()) - 1
        if groups is not None:
            name, count = self.settings.roles["groups"], int(groups.max()) + 1
            if count < folds:
                raise BadInput(f"the column {name!r} has {count} groups: {folds} folds need at least as many")
            copies = f"{count:,} groups of {name!r} kept in one fold each"
        self.emit("checks", copies=copies, suspects=suspects)
        return make_folds(task.codes, folds, self.settings.seed, task.role, alike)

    def _race(
        self, plan: Plan, X: Array, names: list[str], table: pl.DataFrame, task: Task, division: Division, judge: Score,
        weight: Array | None, decisions: Decisions, texts: Texts | None,
    ) -> tuple[Race, Task]:  # fmt: skip
        """The race, and the task of its rows: all of them, unless it was cut short in a first heat."""
        beside = [score for score in decisions.beside(scores_beside(task, division.fold)) if score.name != judge.name]
        labels, judges = task.classes if task.kind == "classes" else None, [judge, *beside]
        families: list[Family] = list(plan.families)
        alike = pl.String not in table.dtypes and not np.isnan(X).any()

        def race_of(families: list[Family]) -> Race:
            return Race(
                X, task.codes, division, families, judges, table, names,
                weight=weight, labels=labels, costs=decisions.costs, pairs=plan.nested, texts=texts,
            )  # fmt: skip

        race = race_of(families)
        self.emit(
            "plan",
            families=len(families) - 1,
            settings=len(race.settings) - 1,
            folds=race.K,
            width=X.shape[1],
            fits=race.fits_to_do,
            uncoded=0 if race.fits.raw is None or alike else table.width,
            nested=plan.nested,
            screened=plan.screened,
        )
        wall, rows = self._wall(), np.arange(len(X))
        heat: Race | None = None
        with wall:
            if plan.screened is not None:
                rows = plan.sample(len(X), self.settings.seed)
                heat = race.some(rows)
                known = None if self.checkpoint is None else self.checkpoint.families()
                if known is None:
                    heat.run(self._tick, singles=1)
                    kept = plan.after_heat(heat.order())
                    known = [family.title for number, family in enumerate(families) if number in kept]
                families = [family for family in families if family.title in known]
                self.emit("screened", kept=[family.title for family in families[1:]], rows=len(rows), seconds=self._gone())
                race = race_of(families)
            if self.checkpoint is not None:
                self.checkpoint.restore(race)
            race.run(partial(self._tick, race=race), most=self.units)
        self.interrupted, self.cut = wall.interrupted, wall.cut
        if self.interrupted or self.cut:
            self._stopped(race)
        some = replace(task, y=task.y[rows], rows=task.rows[rows])
        if heat is not None and not race.done and some.n_classes == task.n_classes:
            return heat, some  # rather a model of some rows than none
        return race, task

    def _stopped(self, race: Race) -> None:
        """Keep what is complete, and say so."""
        if self.checkpoint is not None and race.done:
            self.checkpoint.keep(race, [family.title for family in race.families], done=True)
        self.emit("interrupted", done=len(race.done), of=race.units, seconds=self._gone(), wall=self.cut)

    def _tick(self, done: int, of: int, race: Race | None = None) -> None:
        self.emit("progress", done=done, of=of, seconds=self._gone())
        if self.checkpoint is not None and race is not None:
            self.checkpoint.keep(race, [family.title for family in race.families])

    def _wall(self) -> Wall:
        limit = self.settings.time if self.units is None else None
        return Wall(self.finish_early, None if limit is None else limit * (1 - KEPT_FOR_REFIT) - self._gone())

    def _finish(self, found: Outcome, coder: TableCoder, record: dict[str, Any], sketched: dict[str, Any]) -> Found:
        race, judge = found.race, found.judge
        self.emit(
            "board", rows=found.board, metric=judge.name, greater_is_better=judge.greater_is_better, notes=race.warned
        )
        self.emit("estimate", **found.facts())
        if found.told is not None:
            self.emit("decisions", **found.told)
        model = self._model(found, coder, found.taken)
        late = self.interrupted and found.fit_seconds(found.taken) + found.fit_seconds(found.simple) > HURRY
        simple = None if late or found.simple == found.taken else self._model(found, coder, found.simple)
        other = "best" if found.prefer == "simple" else "simple"
        beside = found.name(found.choice.taken(other))
        worth = found.estimates_of(other).get(judge.name)
        self.emit(
            "chosen",
            model=found.label,
            tied=found.tied,
            is_guess=found.is_guess,
            members=found.members,
            prefer=found.prefer,
            beside=None if simple is None else beside,
            worth=None if worth is None else worth.value,
            metric=judge.name,
        )
        fitting = dict(zip((family.title for family in race.families), race.seconds.tolist(), strict=True))
        return Found(
            found,
            model,
            simple,
            sketched,
            dict(
                made_by=MARK,
                tenfold=tenfold.__version__,
                python=platform.python_version(),
                numpy=np.__version__,
                polars=pl.__version__,
                **record,
                **found.record(),
                interrupted=self.interrupted,
                cut_by_time=self.cut,
                units=len(race.done),
                folds_sha256=hashlib.sha256(race.fold.astype("<i8").tobytes()).hexdigest(),
                seconds=dict(total=self._gone(), fitting=fitting),
            ),
        )

    def _model(self, found: Outcome, coder: TableCoder, mix: Mix) -> TableModel:
        """What is chosen, fitted to all rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TenfoldWarning)  # shown on the board
            fitted = refit(found.race, found.task, coder, mix)
        race, texts = found.race, [] if found.race.texts is None else found.race.texts.fitted()
        return TableModel.of(coder, fitted, found.task.target, found.reach, found.reaches, race.fits.floor, found.rule(mix), texts)

    def _gone(self) -> float:
        return time.perf_counter() - self.began


def shape_of(task: Task, table: pl.DataFrame, X: Array, texts: list[Counted]) -> Shape:
    """What the plan knows of a table."""
    width, categories = X.shape[1], sum(kind == pl.String for kind in table.dtypes)
    reading = sum(one.seconds(max(len(one.names), 1)) for one in texts)
    if task.kind == "classes":
        return Shape(task.role, len(X), table.width, task.n_classes, width, categories, reading=reading)
    y = (task.y - task.y.mean()) / task.y.std()
    return Shape(task.role, len(X), table.width, 0, width, categories, float(task.y.min()), float((y**3).mean()) > SKEWED, reading)


def scores_beside(task: Task, fold: Array) -> list[Score]:
    """The usual scores of a task that every fold can give."""
    names = list(METRICS[task.role])
    judged = fold >= 0
    fold, codes = fold[judged], task.codes[judged]
    if task.kind == "number":
        names = [name for name in names if name != "r2" or np.bincount(fold).min() >= LEAST_ROWS_FOR_R2]
    elif task.n_classes == 2 and np.bincount(2 * fold + codes, minlength=2 * (fold.max() + 1)).all():
        names.append("roc_auc")
    return [SCORES[name] for name in names]


def _with_target(raw: Raw, target: Any) -> tuple[pl.DataFrame, str]:
    """The frame with its target as a column, and the name of that column."""
    frame = raw.frame
    if isinstance(target, str):
        return frame, target
    values = target.to_list() if hasattr(target, "to_list") else np.asarray(target).ravel().tolist()
    height = raw.height or frame.height
    if len(values) != height:
        raise BadInput(f"the target has {len(values)} values, but the table has {height} rows")
    values = values if raw.drawn is None else [values[row] for row in raw.drawn]
    name = "target" if "target" not in frame.columns else "the target"
    return frame.with_columns(pl.Series(name, values, strict=False)), name


def _task_facts(task: Task, judge: Score) -> dict[str, Any]:
    facts: dict[str, Any] = dict(
        kind=task.kind, target=task.target, metric=judge.name, why=task.why, notes=task.notes, rows=len(task.y)
    )
    if task.kind == "classes":
        return dict(facts, classes=task.counts())
    spread = dict(smallest=task.y.min(), median=np.median(task.y), largest=task.y.max())
    return facts | {name: float(value) for name, value in spread.items()}
