"""`tenfold.select`: the whole job for one table, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from tenfold.core.data import Array
from tenfold.selection.estimate import Estimate
from tenfold.selection.job import Found, Job, Listener
from tenfold.selection.model import TableModel
from tenfold.selection.settings import Settings
from tenfold.selection.store import write_run
from tenfold.selection.targets import are_names, columns_in, settings_of
from tenfold.table.reading import pl


class Runs(dict[str, "Run"]):
    """What `select` returns for several targets: a run for each, by its name."""

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

    table: path to a CSV or Parquet file, or a data frame. target: the name of a column, or its values; of a list of names one after another
    is predicted, without the others, and the runs are returned by name, as `Runs`.
    task: "classes" or "number". metric: see tenfold.cross_validate. folds: 10 up to 200 rows, 8 up to 500, else 5.
    drop, keep: columns to leave out, or to use although they look useless. category: columns whose numbers are names of
    categories; a target that is named here has its texts for classes, also those that would stand for a missing value.
    effort: "quick", "normal" or "thorough", plans that are fixed by the shape of the table. time: seconds, after which the plan is cut
    short. prefer: "best", which may be an ensemble; "simple", the simplest model that is as good as the best single one; "fast", the
    best single one. groups: a column whose rows of one value stay in one fold, because new rows will have other values.
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
        effort=effort, time=time, prefer=prefer, groups=groups, weights=weights, time_column=time_column,
        cost=cost, positive=positive, rows=rows, monotone=monotone,
    )  # fmt: skip
    tell = listen or _silent
    if not isinstance(target, (list, tuple)) or not are_names(target, columns_in(table)):
        return run_of(Job(tell, finish_early, settings).run(table, target))
    asked = {one: settings_of(settings, one, target) for one in target}
    found = Runs()
    for one in target:
        tell("target", target=one, targets=list(target))
        found[one] = run_of(Job(tell, finish_early, asked[one]).run(table, one))
        if found[one].interrupted:
            break
    several: Any = found  # to a type checker `select` returns a run, as it does for one target
    return cast("Run", several)


def run_of(found: Found) -> Run:
    """The result, from what a job has found."""
    return Run.of(found.model, found.record, found.beside, found.outcome.held_out, found.sketch)


def _silent(event: str, **facts: Any) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Run:
    """What `select` returns: the model, what it is worth, and how it was found."""

    model: TableModel
    chosen: str
    estimate: Estimate | None  # of the saved model, on new rows; None where the run was stopped too early
    others: dict[str, Estimate]  # the same in other scores
    gain: Estimate | None  # over the guess
    leaderboard: list[dict[str, Any]]
    signal: bool | None  # False: nothing beats the guess; None: stopped too early to know
    interrupted: bool
    record: dict[str, Any] = field(repr=False)  # what run.json holds
    simple: TableModel | None = field(default=None, repr=False)  # the simplest model that is as good, where it is another one
    held_out: pl.DataFrame | None = field(default=None, repr=False)  # what was said of rows that had not been seen
    sketch: dict[str, Any] | None = field(default=None, repr=False)  # what the columns of the training rows held

    @classmethod
    def of(
        cls,
        model: TableModel,
        record: dict[str, Any],
        simple: TableModel | None = None,
        held_out: pl.DataFrame | None = None,
        sketch: dict[str, Any] | None = None,
    ) -> Run:
        """The result, from a model and the record of how it was found."""
        estimates = {name: Estimate(**one) for name, one in record["estimate"].items()}
        estimate, gain = estimates.pop(record["settings"]["metric"], None), (record["search"] or {}).get("gain")
        return cls(
            model, record["chosen"], estimate, estimates, None if gain is None else Estimate(**gain), record["board"],
            record["signal"], bool(record["interrupted"]), record, simple, held_out, sketch,
        )  # fmt: skip

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
        return write_run(
            Path(folder), self.model, self.record, replace, simple=self.simple, sketch=self.sketch, held_out=self.held_out
        )

    def report(self, path: Any, table: Any = None) -> Path:
        """Write the report, one HTML file that loads nothing; with the training table also what drives the model and where it fails."""
        from tenfold.report.folder import report_of

        return report_of(path, self.model, self.record, self.held_out, table)

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
