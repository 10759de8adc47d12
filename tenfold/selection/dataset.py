"""A table as a race takes it: what is predicted and judged by, the columns and what they become, and what is said of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.gate.categories import is_gap
from tenfold.gate.targets import as_column
from tenfold.prepare.coder import TableCoder
from tenfold.score.record import Score
from tenfold.score.registry import SCORES, find_score, known_score
from tenfold.selection.coded import coder_for, why_no_columns
from tenfold.selection.honest.decisions import Decisions
from tenfold.selection.plan.entries import Shape
from tenfold.selection.plan.monotone import signs_of
from tenfold.selection.race.text_folds import Counted, Texts, counted_texts, noted, placed, with_texts
from tenfold.selection.roles import groups_of, times_of, weights_of
from tenfold.selection.settings import Settings
from tenfold.table.columns import Asked, Column, check_name, comma_of, look_at_columns
from tenfold.table.leaks import leak_suspects
from tenfold.table.lines import refuse_repeated
from tenfold.table.reading import Raw, pl
from tenfold.table.task import Task, find_task

# The judge, and a score beside it.
METRICS = {"classifier": ("log_loss", "accuracy"), "regressor": ("rmse", "r2")}
LEAST_ROWS_FOR_R2 = 10  # in a fold; the spread of fewer rows is no yardstick
SKEWED = 1.5  # third moment of a target in standard units, from which its tail is long


@dataclass(frozen=True)
class Dataset:
    """The rows that have a target, and all that is known of them before the first fit."""

    raw: Raw
    target: str
    task: Task
    judge: Score
    decisions: Decisions
    columns: list[Column]
    used: pl.DataFrame  # the columns that are used, texts as they are
    texts: list[Counted]
    coder: TableCoder
    X: Array  # for learners of numbers,
    table: pl.DataFrame  # and for those that take categories and missing values; with places for the scores of texts
    weight: Array | None
    groups: Array | None
    times: Array | None
    suspects: list[tuple[str, str]]  # columns that give the target away, and how
    leaks: list[str]  # those of them that are left out

    @property
    def uncoded(self) -> int:
        """The columns that some learners take as they are, where that makes a difference."""
        alike = pl.String not in self.table.dtypes and not np.isnan(self.X).any()
        return 0 if alike else self.table.width

    def shape(self, monotone: dict[str, int] | None = None) -> Shape:
        """What the plan knows of a table."""
        task, X, table = self.task, self.X, self.table
        width, categories = X.shape[1], sum(kind == pl.String for kind in table.dtypes)
        reading = sum(one.seconds(max(len(one.names), 1)) for one in self.texts)
        if task.kind == "classes":
            found = Shape(task.role, len(X), table.width, task.n_classes, width, categories, reading=reading)
        else:
            spread = float(task.y.std())
            skewed = float((((task.y - task.y.mean()) / spread) ** 3).mean()) > SKEWED
            found = Shape(task.role, len(X), table.width, 0, width, categories, float(task.y.min()), skewed, spread, reading)
        if monotone is None:
            return found
        return replace(found, signs=signs_of(monotone, self.columns, table, task, self.decisions.positive))

    def judges(self, fold: Array) -> list[Score]:
        """The score that was asked for, and those beside it."""
        return [self.judge, *(one for one in self.decisions.beside(scores_beside(self.task, fold)) if one.name != self.judge.name)]

    def read_texts(self, fold: Array) -> Texts | None:
        """What reads the columns of texts, in these folds."""
        task = self.task
        return Texts(self.texts, task.codes, task.n_classes if task.kind == "classes" else 0, fold, self.weight) if self.texts else None

    def record(self, asked: Settings, folds: int) -> dict[str, Any]:
        """What run.json keeps of it."""
        raw, task = self.raw, self.task
        used = dict(target=self.target, task=task.kind, metric=self.judge.name, folds=folds)
        if task.n_classes == 2:
            used["positive"] = str(task.classes[self.decisions.positive])
        rows = dict(rows_drawn=None if raw.drawn is None else raw.frame.height, rows_used=len(task.y))
        return dict(
            data=dict(name=raw.name, sha256=raw.digest, place=raw.place, **size_of(raw, self.target), **rows, notes=list(raw.notes)),
            asked=asked.facts(),
            settings=asked.facts() | used,
            columns=[asdict(column) for column in self.columns],
            suspects=self.suspects,
            leaks=self.leaks,
        )


def dataset_of(
    raw: Raw,
    target: Any,
    asked: Settings,
    emit: Callable[..., None],
    trusting: bool = False,
    named: bool = False,
    others: Sequence[str] = (),
) -> Dataset:
    """Read a table as a dataset, step by step. trusting: columns that give the target away are used all the same. named: for one learner
    that was asked for. others: columns that are predicted by other runs."""
    frame, target = _with_target(raw, target)
    check_name(target, frame.columns)
    drawn = None if raw.drawn is None else frame.height
    emit("read", file=raw.name, **size_of(raw, target), about=raw.about, seconds=raw.seconds, drawn=drawn, notes=list(raw.notes))
    refuse_repeated(raw.name, set(raw.repeated), [target])
    comma, roles = comma_of(raw), asked.roles
    for role, name in roles.items():
        check_name(name, frame.columns)
        if name == target:
            raise BadParameter(f"{role}={name!r}: this is the column to predict")
        if role != "time_column" and name in (*asked.keep, *asked.category):
            option = "keep" if name in asked.keep else "category"
            raise BadParameter(f"{option}={name!r}: this is the column of {role}, which is not used to predict")
    beside = {roles[role]: f"{role} of rows" for role in ("weights", "groups") if role in roles}  # not known of the new rows
    beside |= dict.fromkeys(others, "another target")
    columns_asked = Asked(asked.keep, [*asked.drop, *beside], asked.category, beside)
    columns_asked.check(frame.columns, target)
    # A learner of a race may fail of classes of one row, and others go on; by time each class must have come up before the first fold.
    tiny = not named and "time_column" not in roles and not _needs_every_class(asked.metric)
    task = find_task(frame[target], asked.task, comma, target in columns_asked.category, tiny)
    weight = None
    if "weights" in roles:
        weight, task = weights_of(raw, roles["weights"], comma, task, tiny)
    decisions = Decisions.of(task, asked.cost, asked.positive)
    judge = decisions.judge(find_score(asked.metric or METRICS[task.role][0], task.role, task.n_classes, parameter="metric"))
    emit("task", **_task_facts(task, judge))
    rest = frame.drop(target)[task.rows]
    columns, used = look_at_columns(rest, raw.typed, columns_asked, comma, raw.numbers(task.rows))
    texts = counted_texts(columns, rest, columns_asked, task.classes if task.kind == "classes" else ())
    columns = noted(columns, texts)
    emit("columns", columns=[asdict(column) for column in columns])
    suspects = leak_suspects(with_texts(used, texts, rest), task)
    leaks = [] if trusting or task.kind == "number" else _left_out(suspects, asked, used.width + len(texts))
    columns = [_as_leak(one, dict(suspects)) if one.name in leaks else one for one in columns]
    used, texts = used.drop([name for name in leaks if name in used.columns]), [one for one in texts if one.column not in leaks]
    filled = placed(used, texts)
    coder = coder_for(columns, filled) if filled.width else None
    if coder is None or not coder.names_out():
        raise BadInput(why_no_columns(columns, target))
    return Dataset(
        raw, target, task, judge, decisions, columns, with_texts(used, texts, rest), texts, coder, coder.transform(filled),
        coder.frame(filled), weight, groups_of(raw, roles["groups"], task) if "groups" in roles else None,
        times_of(raw, roles["time_column"], comma, task) if "time_column" in roles else None, suspects, leaks,
    )  # fmt: skip


def _needs_every_class(metric: Any) -> bool:
    """Whether a class of a row or two decides a score: it has no value on a fold without it, or counts all classes alike; of a function
    that is not known."""
    found = known_score(metric) if isinstance(metric, str) else None
    if found is None:
        return metric is not None and not isinstance(metric, str)
    return found.every_class or found.row_loss is None


def _left_out(suspects: list[tuple[str, str]], asked: Settings, width: int) -> list[str]:
    """The columns that give a class away and are left out: most likely they are filled in after the outcome, and then every score with them
    is a lie. Not those that somebody vouches for, and not all that there are. Numbers are told of only: one measured in two ways, or a
    law of nature, orders a target as well."""
    vouched = {*asked.keep, *(asked.monotone or ()), asked.time_column}
    found = [name for name, _ in suspects if name not in vouched]
    return found if len(found) < width else []


def _as_leak(column: Column, suspects: dict[str, str]) -> Column:
    note = f"alone predicts the target almost perfectly ({suspects[column.name]}), left out"
    return replace(column, kind="leak", note=note, undo="keep")


def size_of(raw: Raw, target: str) -> dict[str, int]:
    """Rows and columns of the whole table, the target among them."""
    width = raw.frame.width
    return dict(rows=raw.height or raw.frame.height, columns=width if target in raw.frame.columns else width + 1)


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
    if np.ndim(target) == 0:  # a column of pandas that is called 3 is read as '3'
        raise BadParameter(f"target={target!r}: must be the name of a column, such as {frame.columns[-1]!r}, or its values")
    values = _values(target)
    height = raw.height or frame.height
    if len(values) != height:
        raise BadInput(f"the target has {len(values)} values, but the table has {height} rows")
    values = values if raw.drawn is None else [values[row] for row in raw.drawn]
    name = "target" if "target" not in frame.columns else "the target"
    return frame.with_columns(pl.Series(name, values, strict=False)), name


def _values(target: Any) -> list[Any]:
    """A target in memory as Python has its values, None where there is none: what pandas says for it, masked, or a NaN beside texts."""
    if hasattr(target, "to_list"):
        found = target.to_list()
    else:
        target = as_column(target) if isinstance(target, (list, tuple)) else target
        array = target if isinstance(target, np.ma.MaskedArray) else np.asarray(target)
        if array.dtype.kind in "mM":  # to be told from numbers: in nanoseconds NumPy gives whole numbers
            array = array.astype(f"{array.dtype.kind}8[us]")
        found = array.ravel().tolist()
    return [None if is_gap(one) else one for one in found]


def _task_facts(task: Task, judge: Score) -> dict[str, Any]:
    facts: dict[str, Any] = dict(
        kind=task.kind, target=task.target, metric=judge.name, why=task.why, notes=task.notes, rows=len(task.y)
    )
    if task.kind == "classes":
        return dict(facts, classes=task.counts())
    spread = dict(smallest=task.y.min(), median=np.median(task.y), largest=task.y.max())
    return facts | {name: float(value) for name, value in spread.items()}
