"""`tenfold.select`: the whole job for one table, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast, overload

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, TenfoldError, warn
from tenfold.selection.choice.floor import floored
from tenfold.selection.explain.reasons import Effect, Reasons, effect, movers, reasons, row_of
from tenfold.selection.honest.estimate import COVERAGE, Estimate, half_width_of, half_widths_of, least_of
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.job import Job
from tenfold.selection.model.store import BEST, SIMPLE, write_run
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.plan.guess import FrequencyGuess
from tenfold.selection.result import Result
from tenfold.selection.search import Listener
from tenfold.selection.settings import Settings
from tenfold.selection.targets import are_names, columns_in, settings_of
from tenfold.table.reading import pl, read_table

LOWEST, HIGHEST = 0.5, 0.99  # levels of ranges and sets


class Runs(dict[str, "Run"]):
    """What `select` returns for several targets: a run for each, by its name; `failures` say why there is none of the others."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: dict[str, str] = {}

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.values()))


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
    effort: str = "normal",
    time: float | None = None,
    prefer: str = "best",
    honest: str = "auto",
    groups: str | None = None,
    weights: str | None = None,
    time_column: str | None = None,
    cost: Any = None,
    positive: Any = None,
    rows: int | None = None,
    monotone: Any = None,
    listen: Listener | None = None,
    finish_early: bool = False,
) -> Run:
    """Choose a model for a table, with an honest estimate of how good the chosen model will be on new rows.

    table: path to a file (CSV, TSV, Parquet, Arrow, JSON lines, Excel, SQLite; also .gz, .zst, .zip), a data frame, or an array of two
    dimensions, whose columns are called x0, x1, ... target: the name of a column, or its values: `select(X, y)`; of a list of names one
    after another is predicted, without the others, and the runs are returned by name, as `Runs`.
    task: "classes" or "number". metric: see tenfold.cross_validate. folds: 10 up to 200 rows, 8 up to 500, else 5.
    drop, keep: columns to leave out, or to use although they look useless. category: columns whose numbers are names of
    categories; a target that is named here has its texts for classes, also those that would stand for a missing value.
    effort: "quick", "normal" or "thorough", plans that are fixed by the shape of the table. time: seconds that the plan is made for, in
    place of the effort, and after which it is cut short. prefer: "best", which may be an ensemble; "simple", the simplest model that is
    as good as the best single one; "fast", the best single one. honest: how the estimate is made, "nested" (the choice looks at models
    that have not seen the rows it is judged on), "folds" (from the models of the race alone), or "auto", nested where that is cheap.
    groups: a column whose rows of one value stay in one fold, because new rows will have other values.
    weights: a column that says how much each row counts, in fits and in scores. time_column: dates or numbers; every fold is judged by what
    was known before it, so that the estimate is one for the future.
    cost: what errors cost, so that the class of least expected cost is decided for: "FP:1,FN:20", "a>b:5,b>a:1" (a taken for b), the path
    of a matrix, or a dict; errors that are not named cost 1. positive: which of two classes is the positive one, the rarer if not given.
    rows: of a longer table about so many rows are drawn by chance; if not given, as many as make 20 million cells.
    monotone: columns of numbers that act in one direction only, {"age": 1, "price": -1}: where age grows and all else stays, the predicted
    number (of two classes the probability of the positive one) never falls; only trees are tried then.
    listen: called as listen(event, **facts) on each step. finish_early: on Ctrl-C, finish with what is complete.
    """
    settings = Settings(
        task=task, metric=metric, folds=folds, seed=seed, drop=drop, keep=keep, category=category,
        effort=effort, time=time, prefer=prefer, honest=honest, groups=groups, weights=weights, time_column=time_column,
        cost=cost, positive=positive, rows=rows, monotone=monotone,
    )  # fmt: skip
    tell = listen or _aloud
    if not isinstance(target, (list, tuple)) or not are_names(target, columns_in(table)):
        return run_of(Job(tell, finish_early, settings).run(table, target), table)
    asked = {one: settings_of(settings, one, target) for one in target}
    found = Runs()
    for one in target:
        tell("target", target=one, targets=list(target))
        try:
            found[one] = run_of(Job(tell, finish_early, asked[one], others=[name for name in target if name != one]).run(table, one), table)
        except TenfoldError as reason:  # what is done stays, whatever becomes of the others
            found.failures[one] = str(reason)
            if len(found.failures) == len(target):
                raise
            continue
        if found[one].interrupted:
            break
    for one, why in found.failures.items():
        warn(f"{one!r} has no run: {why}", DataWarning)
    several: Any = found  # to a type checker `select` returns a run, as it does for one target
    return cast("Run", several)


def run_of(found: Result, table: Any = None) -> Run:
    """The result, from what a job has found. table: what it was made from, to be explained by."""
    made = Run.of(found.model, found.record, found.beside, found.outcome.held_out, found.sketch)
    return made if table is None else replace(made, table=table)


def _aloud(event: str, **facts: Any) -> None:
    """Nobody listens: what must not be missed is a warning."""
    for name, how in facts["suspects"] if event == "checks" else ():
        if name in facts["left_out"]:
            warn(
                f"column {name!r} alone predicts the target almost perfectly ({how}), as if it were filled in after the outcome, and "
                f"is left out: keep=[{name!r}] if it is known at prediction time",
                DataWarning,
                stacklevel=2,
            )


@dataclass(frozen=True)
class Run:
    """What `select` returns: the model, what it is worth, and how it was found."""

    model: TableModel
    chosen: str
    estimate: Estimate | None  # of the saved model, on new rows; None where the run was stopped too early
    others: dict[str, Estimate]  # the same in other scores
    gain: Estimate | None  # over the guess
    leaderboard: list[dict[str, Any]]
    signal: bool | None  # False: nothing beats the guess; None: stopped too early to know, or a named learner is neither better nor worse
    interrupted: bool
    record: dict[str, Any] = field(repr=False)  # what run.json holds
    simple: TableModel | None = field(default=None, repr=False)  # the simplest model that is as good, where it is another one,
    best: TableModel | None = field(default=None, repr=False)  # and the best one where the simplest is preferred
    held_out: pl.DataFrame | None = field(default=None, repr=False)  # what was said of rows that had not been seen
    sketch: dict[str, Any] | None = field(default=None, repr=False)  # what the columns of the training rows held
    table: Any = field(default=None, repr=False, compare=False)  # what it was made from, a path or rows in memory; not saved

    @classmethod
    def of(
        cls,
        model: TableModel,
        record: dict[str, Any],
        beside: TableModel | None = None,
        held_out: pl.DataFrame | None = None,
        sketch: dict[str, Any] | None = None,
    ) -> Run:
        """The result, from a model, the one that is saved beside it, and the record of how they were found."""
        estimates = {name: Estimate(**one) for name, one in record["estimate"].items()}
        estimate, gain = estimates.pop(record["settings"]["metric"], None), (record["search"] or {}).get("gain")
        simple, best = (None, beside) if record["prefer"] == "simple" else (beside, None)
        return cls(
            model, record["chosen"], estimate, estimates, None if gain is None else Estimate(**gain), record["board"],
            record["signal"], bool(record["interrupted"]), record, simple, best, held_out, sketch,
        )  # fmt: skip

    @overload
    def predict(self, table: Any, interval: None = None) -> Array: ...

    @overload
    def predict(self, table: Any, interval: float) -> tuple[Array, Array]: ...

    def predict(self, table: Any, interval: float | None = None) -> Array | tuple[Array, Array]:
        """The predicted class or number of each row.

        interval: a share of new rows, 0.5 to 0.99, whose truth lies within the ranges (rows, 2), or is in the sets (rows, classes in the
        order of `model.classes_`), that are returned beside the predictions.
        """
        if interval is None:
            return self.model.predict(table)
        model = self._at(interval)
        rows = model.coded(table)
        predictions = model.predictions(rows)
        return predictions, model.within(model.probabilities(rows)) if model.role == "classifier" else model.around(predictions)

    def predict_proba(self, table: Any) -> Array:
        """The probability of each class."""
        return self.model.predict_proba(table)

    def predict_interval(self, table: Any) -> Array:
        """For numbers: a range around each prediction that holds the truth of 90 % of new rows."""
        return self.model.predict_interval(table)

    def predict_set(self, table: Any) -> Array:
        """For classes, (rows, classes): which of them may be that of a row; such sets hold the truth of 90 % of new rows."""
        return self.model.predict_set(table)

    def _at(self, level: float) -> TableModel:
        """The model with ranges or sets of another level than 90 %, from the rows that were held out."""
        if isinstance(level, bool) or not isinstance(level, (int, float)) or not LOWEST <= level <= HIGHEST:
            raise BadParameter(f"interval={level!r}: must be a share of new rows, from {LOWEST} to {HIGHEST}")
        if level == COVERAGE:
            return self.model
        if self.held_out is None:
            raise BadInput(f"interval={level!r}: this run has no held-out rows with it, and only ranges and sets of {COVERAGE} are kept")
        held = Unseen.of(self.held_out)
        model = copy(self.model)
        if held.classes:
            probabilities, last = held.outputs, model._last
            if isinstance(last, FrequencyGuess):  # it says the same of all rows, and a little else in every fold: as in `Outcome.certainty`
                probabilities = np.repeat(floored(np.exp(last.log_share_)[None], model._floor), len(held), axis=0)
            found = dict[str, Any](least_=least_of(probabilities, held.truth, held.weight, level))
        else:
            off = np.abs(held.truth - held.predicted)
            wide = half_widths_of(held.predicted, off, "mae", held.weight, level)
            found = dict(reach_=half_width_of(off, "mae", held.weight, level), reaches_=np.empty((2, 0)) if wide is None else wide)
        if any(one is None for one in found.values()):
            raise BadInput(f"interval={level!r}: the {len(held):,} rows that were held out are too few for it")
        vars(model).update(found)
        return model

    def explain(
        self, row: int | None = None, column: str | None = None, *, table: Any = None, label: Any = None
    ) -> Reasons | Effect | list[tuple[str, float]]:
        """Why a row gets its prediction, how predictions change along a column, or which columns matter: as `tenfold explain`.

        row: counted from 1. table: other rows than those of the run. label: the class whose chance is explained. Without row and column,
        by how much predictions change when the cells of each column are shuffled among the rows, the largest first.
        """
        if row is not None and column is not None:
            raise BadParameter("give row= or column=, not both")
        if label is not None and row is None and column is None:
            raise BadParameter(f"label={label!r}: says what is explained of a row or along a column: give row= or column=")
        source = self.table if table is None else table
        if source is None:
            raise BadInput("this run does not have the table that it was made from: give its rows, as in run.explain(table=rows)")
        raw = read_table(source, known=self.model.columns)
        if row is not None:
            return reasons(self.model, raw, row_of(raw, row), label)
        return movers(self.model, raw) if column is None else effect(self.model, raw, column, label)

    def save(self, folder: Any, replace: bool = False) -> Path:
        """Write the models, run.json, the sketch and what was said of held-out rows into a folder, whole or not at all.

        The folder of a run with the same target is replaced, unless this one was stopped; any other only if `replace`.
        """
        beside = {SIMPLE: self.simple, BEST: self.best}
        return write_run(Path(folder), self.model, self.record, replace, beside=beside, sketch=self.sketch, held_out=self.held_out)

    def report(self, path: Any, table: Any = None, by: str | None = None) -> Path:
        """Write the report, one HTML file that loads nothing; with the training table also what drives the model and where it fails.

        by: a column of the table, used by the model or not, by whose groups errors and chances are told: is it fair to all of them?
        """
        from tenfold.report.folder import report_of

        return report_of(path, self.model, self.record, self.held_out, table, by)

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

    def __getstate__(self) -> dict[str, Any]:
        """A copy for another process does not take the rows along."""
        return vars(self) | dict(table=None)
