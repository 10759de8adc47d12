"""One named learner for a table: prepared as in a race, estimated by folds, fitted to all rows."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.base.estimator import softmax
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, TenfoldWarning
from tenfold.evaluate.split.splitters import assign_folds
from tenfold.prepare.coder import TableCoder
from tenfold.score.registry import find_score
from tenfold.selection.choice.costs import positive_class
from tenfold.selection.honest.estimate import least_of, off_of, reach_of, sets_of
from tenfold.selection.model.store import MARK, write_run
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.monitor.answers import USUAL, Answers, judges_for, logs
from tenfold.selection.monitor.paired import Contender, difference, held_out_frame
from tenfold.selection.plan.guess import FrequencyGuess, MeanGuess
from tenfold.selection.race.prepared import front
from tenfold.selection.race.text_folds import Texts, counted_texts, noted, placed, with_texts
from tenfold.selection.settings import FitSettings
from tenfold.table.columns import check_name, comma_of, look_at_columns
from tenfold.table.copies import duplicate_groups
from tenfold.table.lines import refuse_repeated
from tenfold.table.reading import Raw, pl, read_table
from tenfold.table.sketch import sketch
from tenfold.table.task import Task, find_task

SMALL_ROWS, MANY_FOLDS, FEW_FOLDS = 2000, 10, 5
Facts = dict[str, Any]


@dataclass(frozen=True)
class Fitted:
    """A learner fitted to a table, with an honest estimate."""

    model: TableModel
    estimates: list[Facts]
    guesses: list[Facts]  # the same scores of the guess
    beats_guess: bool | None  # None: these rows cannot say
    held_out: pl.DataFrame
    sketch: Facts
    record: Facts

    def save(self, folder: Path, replace: bool = False) -> Path:
        """A folder that predict, estimate, explain, watch and compare take."""
        return write_run(folder, self.model, self.record, replace, sketch=self.sketch, held_out=self.held_out)


def fit_one(
    table: Any,
    target: str,
    learner_for: Callable[[str], Any],
    settings: FitSettings,
    listen: Callable[..., None] = lambda event, **facts: None,
) -> Fitted:
    """Fit one learner to a table. learner_for: the unfitted learner for a role, "classifier" or "regressor"."""
    began = time.perf_counter()
    raw = read_table(table)
    listen("read", file=raw.name, rows=raw.frame.height, columns=raw.frame.width, about=raw.about, seconds=raw.seconds)
    check_name(target, raw.frame.columns)
    refuse_repeated(raw.name, set(raw.repeated), [target])
    asked, comma = settings.columns, comma_of(raw)
    asked.check(raw.frame.columns, target)
    goal = find_task(raw.frame[target], raw.typed, settings.task, comma, target in asked.category)
    judge = find_score(settings.metric or USUAL[goal.role][0], goal.role, goal.n_classes, parameter="metric")
    listen("task", **_facts(goal, judge.name))
    rest = raw.frame.drop(target)[goal.rows]
    columns, used = look_at_columns(rest, raw.typed, asked, comma, goal.rows)
    texts = counted_texts(columns, rest, asked, goal.classes if goal.kind == "classes" else ())
    columns, looked, used = noted(columns, texts), with_texts(used, texts, rest), placed(used, texts)
    listen("columns", columns=[asdict(column) for column in columns])
    if not used.width:
        raise BadInput(f"no column is left to predict {target!r} from: tenfold check shows what the columns hold")
    learner = learner_for(goal.role)
    coder = TableCoder(cycles=True).fit(used, forms={one.name: one.form for one in columns if one.form is not None})
    count = min(settings.folds or (MANY_FOLDS if len(goal.y) <= SMALL_ROWS else FEW_FOLDS), len(goal.y) // 2)
    fold, note = _folds(looked, goal, count, settings.seed)
    read = Texts(texts, goal.codes, goal.n_classes if goal.kind == "classes" else 0, fold) if texts else None

    def made(training: Array) -> Any:
        """The columns, with scores of texts as models of the training rows have them."""
        rows = used if read is None else used.with_columns([*map(pl.Series, read.names, read.at(training).T)])
        return coder.frame(rows) if learner.categorical else coder.transform(rows)

    listen("learner", learner=repr(learner), folds=count, copies=note)
    guess: Any = FrequencyGuess() if goal.kind == "classes" else MeanGuess()
    said = _held_out(learner, made, goal, fold, lambda done: listen("progress", done=done, of=count, seconds=time.perf_counter() - began))
    guessed = _held_out(guess, lambda _: np.zeros((len(goal.y), 1)), goal, fold, lambda done: None)
    labels = [str(one) for one in goal.classes] if goal.kind == "classes" else None
    answers, blind = (_answers(goal, output, labels) for output in (said, guessed))
    asked_for = settings.facts() | _positive(goal)
    judges = judges_for(answers, judge.name, asked_for)
    level = Answers(blind.truth, np.tile(blind.output.mean(axis=0), (blind.rows, 1)), labels)  # no fold before another: for ranks
    estimates = [answers.scored(each) for each in judges]
    guesses = [(level if each.every_class else blind).scored(each) for each in judges]
    gain = difference(Contender("", goal.rows, answers, {}), Contender("", goal.rows, blind, {}), judges[0])
    fitted = _behind(learner).fit(made(np.arange(len(goal.y))), goal.y)
    reach = reach_of(np.abs(goal.y - said[:, 0]), "mae") if labels is None else None
    least = None if labels is None else least_of(said, goal.codes)
    model = TableModel.of(coder, fitted, target, reach, texts=[] if read is None else read.fitted(), least=least)
    record = _record(raw, goal, repr(learner), estimates, gain.p_value < 0.05 and gain.value > 0, began) | dict(
        settings=asked_for | dict(target=target, task=goal.kind, metric=judges[0].name, folds=count),
        columns=[asdict(column) for column in columns],
        reach=reach,
        sets=None if labels is None else sets_of(said, goal.codes, fold, labels),
        chances=None if labels is None else off_of(said, goal.codes),
    )
    beats = None if gain.p_value >= 0.05 else gain.value > 0
    return Fitted(model, estimates, guesses, beats, held_out_frame(goal.rows, fold, goal.y, said, labels), sketch(looked, columns), record)


def _folds(used: pl.DataFrame, task: Task, count: int, seed: int) -> tuple[Array, str]:
    """The fold of each row, copies together, classes spread evenly."""
    groups, note = duplicate_groups(used, task, count)
    codes = task.codes if task.kind == "classes" else None
    rng = np.random.default_rng(seed)
    if groups is None:
        return assign_folds(len(task.y), count, rng, codes=codes), note
    first = np.unique(groups, return_index=True)[1]
    return assign_folds(len(first), count, rng, codes=None if codes is None else codes[first])[groups], note


def _behind(learner: Any) -> Any:
    """A learner with what stands before it: nothing where it takes categories and gaps, else filled and scaled columns."""
    return fresh(learner) if learner.categorical else tenfold.Pipeline([*front(), ("model", fresh(learner))])


def _held_out(learner: Any, made: Callable[[Array], Any], task: Task, fold: Array, tick: Callable[[int], None]) -> Array:
    """Predictions (n), or probabilities (n, classes), of each row by a model that has not seen its fold."""
    classes = task.classes if task.kind == "classes" else None
    found = np.zeros((len(task.y), 1 if classes is None else len(classes)))
    for done, k in enumerate(np.unique(fold)):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        X = made(train)
        with warnings.catch_warnings():
            if done:
                warnings.simplefilter("ignore", TenfoldWarning)  # told once
            model = _behind(learner).fit(X[train], task.y[train])
        if classes is None:
            found[test, 0] = np.asarray(model.predict(X[test])).reshape(-1)
        else:
            place = np.searchsorted(classes, model.classes_)  # a rare class may be in one fold alone
            found[np.ix_(test, place)] = model.predict_proba(X[test])
        tick(done + 1)
    return found


def _answers(task: Task, output: Array, labels: list[str] | None) -> Answers:
    if labels is None:
        return Answers(task.y[:, None], output)
    return Answers(task.codes, np.log(softmax(logs(output))), labels)


def _positive(task: Task) -> Facts:
    """Of two classes the positive one, as in `select`: the rarer, by which FP and FN, F1 and others of its kind are meant."""
    return dict(positive=str(task.classes[positive_class(task.codes, list(task.classes), None)])) if task.n_classes == 2 else {}


def _facts(task: Task, metric: str) -> Facts:
    facts: Facts = dict(kind=task.kind, target=task.target, metric=metric, why=task.why, notes=task.notes, rows=len(task.y))
    if task.kind == "classes":
        return facts | dict(classes=task.counts())
    return facts | {name: float(of(task.y)) for name, of in (("smallest", np.min), ("median", np.median), ("largest", np.max))}


def _record(raw: Raw, task: Task, chosen: str, estimates: list[Facts], signal: bool, began: float) -> Facts:
    return dict(
        made_by=MARK,
        command="fit",
        tenfold=tenfold.__version__,
        python=platform.python_version(),
        numpy=np.__version__,
        polars=pl.__version__,
        data=dict(
            name=raw.name, sha256=raw.digest, place=raw.place, rows=raw.frame.height, columns=raw.frame.width, rows_used=len(task.y)
        ),
        chosen=chosen,
        estimate={one["metric"]: one for one in estimates},
        signal=True if signal else None,
        notes=task.notes,
        interrupted=False,
        seconds=dict(total=time.perf_counter() - began),
    )
