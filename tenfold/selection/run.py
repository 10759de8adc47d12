"""`tenfold.select`: the whole job for one table, and its result."""

from __future__ import annotations

import difflib
import hashlib
import platform
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, TenfoldWarning
from tenfold.prepare.coder import TableCoder
from tenfold.score.record import Score
from tenfold.score.registry import SCORES, find_score, known_score, score_names
from tenfold.selection.candidates import families_for
from tenfold.selection.choice import Estimate, Nested
from tenfold.selection.model import TableModel
from tenfold.selection.outcome import Outcome, decide
from tenfold.selection.prepared import front
from tenfold.selection.race import Race, count_folds, make_folds
from tenfold.selection.store import MARK, write_run
from tenfold.table.columns import Asked, Column, check_name, comma_of, look_at_columns
from tenfold.table.copies import duplicate_groups
from tenfold.table.leaks import leak_suspects
from tenfold.table.lines import refuse_repeated
from tenfold.table.reading import pl, read_table
from tenfold.table.task import Task, find_task, task_name

Listener = Callable[..., None]
# The judge, and a score beside it.
METRICS = {"classifier": ("log_loss", "accuracy"), "regressor": ("rmse", "r2")}
LARGEST_TABLE = 100_000_000  # cells of coded categories
MOST_FOLDS = 50  # every pair of folds is left out once
LEAST_ROWS_FOR_R2 = 10  # in a fold; the spread of fewer rows is no yardstick


def select(
    table: Any,
    target: Any,
    *,
    task: str | None = None,
    metric: str | None = None,
    folds: int | None = None,
    seed: int = 0,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    category: Sequence[str] = (),
    listen: Listener | None = None,
    finish_early: bool = False,
) -> Run:
    """Choose a model for a table, with an honest estimate of how good the chosen model will be on new rows.

    table: path to a CSV or Parquet file, or a data frame. target: the name of a column, or its values.
    task: "classes" or "number". metric: see tenfold.cross_validate. folds: 10 for small tables, else 5.
    drop, keep: columns to leave out, or to use although they look useless. category: columns whose numbers are names of
    categories; a target that is named here has its texts for classes, also those that would stand for a missing value. listen:
    called as listen(event, **facts) on each step. finish_early: on Ctrl-C, finish with what is complete.
    """
    settings = checked_settings(task, metric, folds, seed, drop, keep, category)
    return _Job(listen or _silent, finish_early, settings).run(table, target)


def checked_settings(
    task: str | None = None,
    metric: str | None = None,
    folds: int | None = None,
    seed: int = 0,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    category: Sequence[str] = (),
) -> dict[str, Any]:
    """The settings of a run, as far as they can be checked before the table is read."""
    if not _is_whole(seed) or seed < 0:
        raise BadParameter(f"seed={seed!r}: must be a whole number of at least 0")
    if folds is not None and not (_is_whole(folds) and 3 <= folds <= MOST_FOLDS):
        many = _is_whole(folds) and folds > MOST_FOLDS
        sets = f", and {folds} folds would make {folds * (folds + 1) // 2:,} training sets" if many else ""
        raise BadParameter(f"folds={folds!r}: must be 3 to {MOST_FOLDS}: every pair of folds is left out once{sets}")
    if isinstance(metric, str) and known_score(metric) is None:
        names = [*score_names("classifier"), *score_names("regressor")]
        near = difflib.get_close_matches(metric.lower(), names, n=1)
        meant = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(names)}"
        raise BadParameter(f"metric={metric!r} is not known: {meant}")
    columns = {name: _names(name, value) for name, value in dict(drop=drop, keep=keep, category=category).items()}
    return dict(task=task_name(task), metric=metric, folds=folds, seed=int(seed), **columns)


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def _names(option: str, names: Any) -> list[str]:
    if isinstance(names, str):  # a text is a sequence too, of letters
        raise BadParameter(f"{option}={names!r}: must be a list of names of columns, such as [{names!r}]")
    return list(names)


def _silent(event: str, **facts: Any) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Run:
    """What `select` returns: the model, what it is worth, and how it was found."""

    model: TableModel
    chosen: str
    estimate: Estimate | None  # of the saved model, on new rows; None where the run was stopped too early
    others: dict[str, Estimate]  # the same in other scores
    search: Nested | None  # what the whole search is worth, also where the guess was taken in the end
    leaderboard: list[dict[str, Any]]
    signal: bool | None  # False: nothing beats the guess; None: stopped too early to know
    interrupted: bool
    record: dict[str, Any] = field(repr=False)  # what run.json holds

    def predict(self, table: Any) -> Array:
        """The predicted class or number of each row."""
        return self.model.predict(table)

    def predict_proba(self, table: Any) -> Array:
        """The probability of each class."""
        return self.model.predict_proba(table)

    def predict_interval(self, table: Any) -> Array:
        """For numbers: a range around each prediction that holds the truth of 90 % of new rows."""
        return self.model.predict_interval(table)

    def save(self, folder: Any, replace: bool = False) -> Path:
        """Write model.tenfold and run.json into a folder, whole or not at all.

        The folder of a run with the same target is replaced, unless this one was stopped; any other only if `replace`.
        """
        return write_run(Path(folder), self.model, self.record, replace)

    def __str__(self) -> str:
        known = "not known: the run was stopped" if self.estimate is None else str(self.estimate)
        lines = [f"{self.chosen}   predicts {self.model.target_!r}", f"  on new rows  {known}"]
        if self.signal is False:
            lines.append("  no usable signal: no model is distinguishable from the guess")
        width = max((len(row["model"]) for row in self.leaderboard), default=0)
        for row in self.leaderboard:
            lines.append(f"  {row['model']:<{width}}  {row['score']:.4f}  {row['against']}")
        return "\n".join(lines)

    __repr__ = __str__


class _Job:
    """The steps of a run, each an event for the listener."""

    def __init__(self, emit: Listener, finish_early: bool, settings: dict[str, Any]) -> None:
        self.emit, self.finish_early, self.settings = emit, finish_early, settings
        self.began, self.interrupted = time.perf_counter(), False

    def run(self, table: Any, target: Any) -> Run:
        asked = self.settings
        raw = read_table(table)
        frame, target = _with_target(raw.frame, target)
        shape = dict(rows=frame.height, columns=frame.width)
        self.emit("read", file=raw.name, **shape, about=raw.about, seconds=raw.seconds)
        check_name(target, frame.columns)
        refuse_repeated(raw.name, set(raw.repeated), [target])
        comma = comma_of(raw)
        named = Asked(asked["keep"], asked["drop"], asked["category"])
        named.check(frame.columns, target)
        task = find_task(frame[target], raw.typed, asked["task"], comma, target in named.category)
        judge = find_score(asked["metric"] or METRICS[task.role][0], task.role, task.n_classes, parameter="metric")
        self.emit("task", **_task_facts(task, judge))
        rest = frame.drop(target)[task.rows]
        columns, used = look_at_columns(rest, raw.typed, named, comma, task.rows)
        self.emit("columns", columns=[asdict(column) for column in columns])
        coder = coder_for(columns, used) if used.width else None
        if coder is None or not coder.names_out():
            raise BadInput(_why_no_columns(columns, target))
        X, table = coder.transform(used), coder.frame(used)
        fold = self._folds(used, task, count_folds(asked["folds"], X.shape[0], X.shape[1], task.n_classes))
        outcome = decide(self._race(X, coder.names_out(), table, task, fold, judge), task, judge)
        used_settings = dict(target=target, task=task.kind, metric=judge.name, folds=outcome.race.K)
        return self._finish(
            outcome,
            coder,
            dict(
                data=dict(name=raw.name, sha256=raw.digest, place=raw.place, **shape, rows_used=len(task.y)),
                settings=asked | used_settings,
                columns=[asdict(column) for column in columns],
            ),
        )

    def _folds(self, used: pl.DataFrame, task: Task, folds: int) -> Array:
        groups, copies = duplicate_groups(used, task, folds)
        self.emit("checks", copies=copies, suspects=leak_suspects(used, task))
        return make_folds(task.codes, folds, self.settings["seed"], task.role, groups)

    def _race(self, X: Array, names: list[str], table: pl.DataFrame, task: Task, fold: Array, judge: Score) -> Race:
        beside = [score for score in scores_beside(task, fold) if score.name != judge.name]
        families = families_for(task.role, X.shape[0], X.shape[1], task.n_classes)
        race = Race(X, task.codes, fold, families, [judge, *beside], table, names)
        if task.kind == "classes":
            race.labels = task.classes
        alike = pl.String not in table.dtypes and not np.isnan(X).any()
        units = len(race.units())
        self.emit(
            "plan",
            families=len(race.families) - 1,
            settings=len(race.settings) - 1,
            folds=race.K,
            width=X.shape[1],
            fits=race.fits,
            uncoded=0 if race.raw is None or alike else table.width,
        )
        try:
            race.run(lambda done: self.emit("progress", done=done, of=units, seconds=self._gone()))
        except KeyboardInterrupt:
            if not self.finish_early:
                raise
            self.interrupted = True
            self.emit("interrupted", done=race.units_done, of=units, seconds=self._gone())
        return race

    def _finish(self, found: Outcome, coder: TableCoder, record: dict[str, Any]) -> Run:
        race, judge, estimates = found.race, found.judge, found.estimates
        self.emit(
            "board", rows=found.board, metric=judge.name, greater_is_better=judge.greater_is_better, notes=race.warned
        )
        self.emit("estimate", **found.facts())
        model = TableModel.of(
            coder, refit(race, found.task, found.chosen), found.task.target, found.reach, found.reaches
        )
        self.emit("chosen", model=found.label, tied=found.tied, is_guess=found.is_guess)
        fitting = dict(zip((family.title for family in race.families), race.seconds.tolist(), strict=True))
        record = dict(
            made_by=MARK,
            tenfold=tenfold.__version__,
            python=platform.python_version(),
            numpy=np.__version__,
            polars=pl.__version__,
            **record,
            **found.record(),
            interrupted=self.interrupted,
            folds_sha256=hashlib.sha256(race.fold.astype("<i8").tobytes()).hexdigest(),
            seconds=dict(total=self._gone(), fitting=fitting),
        )
        others = {name: one for name, one in estimates.items() if name != judge.name}
        return Run(
            model,
            found.label,
            estimates.get(judge.name),
            others,
            found.search,
            found.board,
            found.signal,
            self.interrupted,
            record,
        )

    def _gone(self) -> float:
        return time.perf_counter() - self.began


def coded_regression(table: Any, target: str) -> tuple[Array, Array, list[str]]:
    """The columns of a table as numbers, missing values filled with means; a target that is a number; notes of what was done."""
    raw = read_table(table)
    check_name(target, raw.frame.columns)
    refuse_repeated(raw.name, set(raw.repeated), [target])
    comma = comma_of(raw)
    task = find_task(raw.frame[target], raw.typed, "number", comma)
    columns, used = look_at_columns(raw.frame.drop(target)[task.rows], raw.typed, comma=comma, rows=task.rows)
    if not used.width:
        raise BadInput(_why_no_columns(columns, target))
    X = coder_for(columns, used).transform(used)
    notes = (
        [*task.notes, f"{used.width} columns coded as {X.shape[1]} of numbers"]
        if X.shape[1] != used.width
        else task.notes
    )
    left_out = [column.name for column in columns if not column.used]
    if left_out:
        notes = [*notes, f"left out: {', '.join(left_out[:8])}"]
    return tenfold.SimpleImputer().fit_transform(X), task.y, list(notes)


def scores_beside(task: Task, fold: Array) -> list[Score]:
    """The usual scores of a task that every fold can give."""
    names = list(METRICS[task.role])
    if task.kind == "number":
        names = [name for name in names if name != "r2" or np.bincount(fold).min() >= LEAST_ROWS_FOR_R2]
    elif task.n_classes == 2 and np.bincount(2 * fold + task.codes, minlength=2 * (fold.max() + 1)).all():
        names.append("roc_auc")
    return [SCORES[name] for name in names]


def coder_for(columns: list[Column], used: pl.DataFrame) -> TableCoder:
    """The coder of a table, fitted to its used columns."""
    forms = {column.name: column.form for column in columns if column.form is not None}
    return TableCoder(most_levels=levels_for(used)).fit(used, forms=forms)


def levels_for(frame: pl.DataFrame) -> int:
    """The most levels of a category that get a column, so that the coded table fits in memory."""
    categories = sum(kind == pl.String for kind in frame.dtypes)
    return int(min(max(LARGEST_TABLE // (frame.height * max(categories, 1)), 5), 50))


def refit(race: Race, task: Task, chosen: int) -> Any:
    """The chosen setting on all rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TenfoldWarning)  # shown on the board
        learner = race.settings[chosen].learner
        if learner.categorical:
            return learner.fit(race.frame, task.y)
        return tenfold.Pipeline([*front(), ("model", learner)]).fit(race.X, task.y)


def _with_target(frame: pl.DataFrame, target: Any) -> tuple[pl.DataFrame, str]:
    """The frame with its target as a column, and the name of that column."""
    if isinstance(target, str):
        return frame, target
    values = target.to_list() if hasattr(target, "to_list") else np.asarray(target).ravel().tolist()
    if len(values) != frame.height:
        raise BadInput(f"the target has {len(values)} values, but the table has {frame.height} rows")
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


def _why_no_columns(columns: list[Column], target: str) -> str:
    kinds = ", ".join(f"{column.name!r} ({column.kind})" for column in columns[:5])
    left_out = f"; left out: {kinds}" if kinds else ": it is the only column"
    return f"no column is left to predict {target!r} from{left_out}"
