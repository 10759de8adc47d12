"""`tenfold.select`: the whole job for one table, and its result."""

from __future__ import annotations

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
from tenfold.core.errors import BadInput, BadParameter, TenfoldError, TenfoldWarning
from tenfold.evaluate.metrics import SCORES, Score, find_score
from tenfold.selection.candidates import families_for
from tenfold.selection.checks import duplicate_groups, leak_suspects
from tenfold.selection.choice import (
    Choice,
    Estimate,
    Nested,
    choose,
    describe_place,
    estimated,
    honest_range,
    nested_estimate,
)
from tenfold.selection.coder import TableCoder
from tenfold.selection.columns import Column, check_name, look_at_columns
from tenfold.selection.model import TableModel
from tenfold.selection.race import Race, count_folds, front, make_folds
from tenfold.selection.reading import pl, read_table
from tenfold.selection.store import write_run
from tenfold.selection.task import Task, find_task

Listener = Callable[..., None]
SIDE_METRICS = {"classifier": ("log_loss", "accuracy"), "regressor": ("rmse", "r2")}
LEAST_ROWS_FOR_R2 = 10  # in a fold; the spread of fewer rows is no yardstick


class NothingFitted(TenfoldError):
    """Every learner of the race failed."""


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
    listen: Listener | None = None,
    finish_early: bool = False,
) -> Run:
    """Choose a model for a table, with an honest estimate of how good the chosen model will be on new rows.

    table: path to a CSV or Parquet file, or a data frame. target: the name of a column, or its values.
    task: "classes" or "number". metric: see tenfold.cross_validate. listen: called as listen(event, **facts) on each step.
    finish_early: on Ctrl-C, finish with what is complete instead of raising KeyboardInterrupt.
    """
    return _Job(listen or _silent, finish_early).run(
        table, target, task, metric, folds, seed, list(drop), list(keep)
    )


def _silent(event: str, **facts: Any) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Run:
    """What `select` returns: the model, what it is worth, and how it was found."""

    model: TableModel = field(repr=False)
    chosen: str
    estimate: (
        Estimate | None
    )  # of the saved model, on new rows; None where the run was stopped before it was known
    others: dict[str, Estimate]  # the same in other scores
    search: Nested | None = field(repr=False)
    leaderboard: list[dict[str, Any]]
    signal: bool | None  # False: nothing was found that beats the guess; None: stopped too early to say
    interrupted: bool
    record: dict[str, Any] = field(repr=False)  # what run.json holds

    def predict(self, table: Any) -> Array:
        """The predicted class or number of each row."""
        return self.model.predict(table)

    def predict_proba(self, table: Any) -> Array:
        """The probability of each class."""
        return self.model.predict_proba(table)

    def save(self, folder: Any) -> Path:
        """Write model.tenfold and run.json into a folder, whole or not at all."""
        return write_run(Path(folder), self.model, self.record)

    def __str__(self) -> str:
        lines = [f"{self.chosen}   predicts {self.model.target_!r}"]
        lines.append(
            f"  on new rows  {self.estimate if self.estimate is not None else 'not known: the run was stopped'}"
        )
        if self.signal is False:
            lines.append("  no usable signal: no model is distinguishable from the guess")
        width = max(len(row["model"]) for row in self.leaderboard)
        lines += [
            f"  {row['model']:<{width}}  {row['score']:.4f}  {row['against']}" for row in self.leaderboard
        ]
        return "\n".join(lines)

    __repr__ = __str__


class _Job:
    """The steps of a run, each told to the listener."""

    def __init__(self, tell: Listener, finish_early: bool) -> None:
        self.tell, self.finish_early = tell, finish_early
        self.began = time.perf_counter()

    def run(
        self,
        table: Any,
        target: Any,
        asked: str | None,
        metric: str | None,
        folds: int | None,
        seed: int,
        drop: list[str],
        keep: list[str],
    ) -> Run:
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise BadParameter(f"seed={seed!r}: must be a whole number of at least 0")
        raw = read_table(table)
        frame, target = _with_target(raw.frame, target)
        self.tell(
            "read",
            file=raw.name,
            rows=frame.height,
            columns=frame.width,
            about=raw.about,
            seconds=raw.seconds,
        )
        check_name(target, frame.columns)
        task = find_task(frame[target], raw.typed, asked)
        judge = find_score(metric or SIDE_METRICS[task.role][0], task.role)
        self.tell("task", **_task_facts(task, judge))
        columns, used = look_at_columns(frame.drop(target)[task.rows], raw.typed, keep, drop)
        self.tell("columns", columns=[asdict(column) for column in columns])
        coder = TableCoder().fit(used) if used.width else None
        if coder is None or not coder.names_out():
            raise BadInput(_why_no_columns(columns, target))
        X = coder.transform(used)
        race = self._race(
            X,
            task,
            self._checked_folds(used, task, count_folds(folds, *X.shape, task.n_classes), seed),
            judge,
        )
        return self._finish(
            race,
            task,
            judge,
            coder,
            dict(
                data=dict(
                    name=raw.name,
                    sha256=raw.digest,
                    rows=frame.height,
                    columns=frame.width,
                    rows_used=len(task.y),
                ),
                settings=dict(
                    target=target,
                    task=task.kind,
                    metric=judge.name,
                    folds=race.K,
                    seed=seed,
                    drop=drop,
                    keep=keep,
                ),
                columns=[asdict(column) for column in columns],
            ),
        )

    def _checked_folds(self, used: pl.DataFrame, task: Task, folds: int, seed: int) -> Array:
        groups, copies = duplicate_groups(used, task, folds)
        self.tell("checks", copies=copies, suspects=leak_suspects(used, task))
        return make_folds(task.codes, folds, seed, task.role, groups)

    def _race(self, X: Array, task: Task, fold: Array, judge: Score) -> Race:
        families = families_for(task.role, *X.shape, task.n_classes)
        side = [SCORES[name] for name in SIDE_METRICS[task.role] if name != judge.name]
        if np.bincount(fold).min() < LEAST_ROWS_FOR_R2:
            side = [score for score in side if score.name != "r2"]
        race = Race(X, task.codes, fold, families, [judge, *side])
        self.tell(
            "plan",
            families=len(families) - 1,
            settings=len(race.settings) - 1,
            folds=race.K,
            width=X.shape[1],
            fits=len(race.settings) * len(race.units()),
        )
        self.interrupted = False
        try:
            race.run(
                lambda done, of: self.tell(
                    "progress", done=done, of=of, folds=race.K, seconds=time.perf_counter() - self.began
                )
            )
        except KeyboardInterrupt:
            if not self.finish_early:
                raise
            self.interrupted = True
            self.tell(
                "interrupted",
                done=race.units_done,
                of=len(race.units()),
                seconds=time.perf_counter() - self.began,
            )
        return race

    def _finish(self, race: Race, task: Task, judge: Score, coder: TableCoder, record: dict[str, Any]) -> Run:
        guess = next(c for c, setting in enumerate(race.settings) if setting.family.is_guess)
        complete = race.complete_folds
        table = race.scores[judge.name][:, complete, complete]
        choice = choose(race.settings, table, judge) if complete else Choice([], guess, guess)
        if complete and not np.isfinite(np.delete(table, guess, axis=0)).all(axis=1).any():
            reasons = "; ".join(f"{title}: {reason}" for title, reason in race.failures.items())
            raise NothingFitted(f"no learner could be fitted ({reasons})")
        board = [describe_place(place, race, _seconds_each(race, place.setting)) for place in choice.places]
        self.tell(
            "board", rows=board, metric=judge.name, greater_is_better=judge.greater_is_better, notes=race.told
        )
        search = nested_estimate(race, judge)
        signal = (
            None if search is None or (self.interrupted and not search.signal) else search.signal
        )  # few rounds prove no absence
        chosen = guess if signal is False else choice.chosen
        estimates = _estimates(race, search, chosen == guess, guess)
        self.tell(
            "estimate",
            estimates=[asdict(one) for one in estimates.values()],
            metric=judge.name,
            signal=signal,
            board=table[choice.leader].mean() if complete else None,
            guess=_guess_scores(race, guess),
            rounds=len(race.complete_outer),
            search=None if search is None else asdict(search.estimates[judge.name]),
            gain=None if search is None else asdict(search.gain),
            guess_labels={name: _guess_label(task, name) for name in race.scores},
            rows=len(task.y),
            settings=len(race.settings) - 1,
        )
        model = TableModel.of(coder, self._refit(race, task, chosen), task.target)
        label = _guess_label(task) if chosen == guess else race.settings[chosen].label
        tied = [
            race.settings[p.setting].label
            for p in choice.places
            if p.against in ("best", "as good") and p.setting != chosen
        ]
        self.tell("chosen", model=label, tied=tied, is_guess=chosen == guess, signal=signal)
        record = dict(
            made_by="tenfold select",
            tenfold=tenfold.__version__,
            python=platform.python_version(),
            numpy=np.__version__,
            polars=pl.__version__,
            **record,
            folds_sha256=hashlib.sha256(race.fold.astype("<i8").tobytes()).hexdigest(),
            chosen=label,
            signal=signal,
            interrupted=self.interrupted,
            board=board,
            estimate={name: asdict(one) for name, one in estimates.items()},
            search=None
            if search is None
            else dict(
                gain=asdict(search.gain),
                picks=[race.settings[c].label for c in search.picks],
                estimates={name: asdict(one) for name, one in search.estimates.items()},
            ),
            warnings=race.told,
            failures=race.failures,
            notes=task.notes,
            seconds=dict(
                total=time.perf_counter() - self.began,
                fitting=dict(zip((f.title for f in race.families), race.seconds.tolist(), strict=True)),
            ),
        )
        others = {name: one for name, one in estimates.items() if name != judge.name}
        return Run(
            model, label, estimates.get(judge.name), others, search, board, signal, self.interrupted, record
        )

    def _refit(self, race: Race, task: Task, chosen: int) -> Any:
        """The chosen setting on all rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TenfoldWarning)  # told on the board
            pipeline = tenfold.Pipeline([*front(), ("model", race.settings[chosen].learner)]).fit(
                race.X, task.y
            )
        for _, step in pipeline.steps[:-1]:
            vars(step).pop(
                "classes_", None
            )  # of no use to a transformer, and not part of what is saved of one
        return pipeline


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
        kind=task.kind,
        target=task.target,
        metric=judge.name,
        why=task.why,
        notes=task.notes,
        rows=len(task.y),
    )
    if task.kind == "classes":
        return dict(facts, classes=task.counts())
    return dict(
        facts, smallest=float(task.y.min()), median=float(np.median(task.y)), largest=float(task.y.max())
    )


def _why_no_columns(columns: list[Column], target: str) -> str:
    kinds = ", ".join(f"{column.name!r} ({column.kind})" for column in columns[:5])
    return f"no column is left to predict {target!r} from" + (
        f"; left out: {kinds}" if kinds else ": it is the only column"
    )


def _guess_label(task: Task, metric: str = "") -> str:
    if task.kind == "number":
        mean = task.y.mean()
        return f"always guessing {mean:,.0f}" if 1e4 <= abs(mean) < 1e12 else f"always guessing {mean:.4g}"
    return (
        f"always saying {max(task.counts(), key=lambda pair: pair[1])[0]}"
        if metric == "accuracy"
        else "guessing the class frequencies"
    )


def _guess_scores(race: Race, guess: int) -> dict[str, float]:
    complete = race.complete_folds
    return {
        name: float(scores[guess, complete, complete].mean())
        for name, scores in race.scores.items()
        if complete
    }


def _estimates(race: Race, search: Nested | None, is_guess: bool, guess: int) -> dict[str, Estimate]:
    """What the saved model is worth: the nested estimate of the search, or for the guess its own cross-validation."""
    complete = race.complete_folds
    if search is None or (is_guess and len(complete) < 2):
        return {}
    if not is_guess:
        return search.estimates
    method, rows = "cross-validation of the guess, which was not picked by its score", len(race.y)
    return {
        name: honest_range(estimated(name, scores[guess, complete, complete], race.K, method), rows)
        for name, scores in race.scores.items()
    }


def _seconds_each(race: Race, setting: int) -> float:
    """Seconds for one fit of a setting, on the average of all."""
    family = race.settings[setting].family
    number = race.families.index(family)
    return float(race.seconds[number] / max(race.units_done, 1) / max(len(family.values), 1))
