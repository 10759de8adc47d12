"""The unusual rows of a table: prepared, judged, explained, and kept as a folder that judges new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.app.run_folder import (
    Facts,
    Kept,
    check_new,
    chosen,
    kinds_of,
    labels_of,
    pipeline_of,
    places_of,
    prepared,
    write_folder,
)
from tenfold.app.table_lines import Tell
from tenfold.app.unusual_density import Judged, choose_density
from tenfold.app.unusual_reasons import Choices, Reason, choices_of, reasons_of
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput, kept_warnings
from tenfold.features.selectors import few_false
from tenfold.report.unusual import Picture, unusual_page
from tenfold.selection.model.predictions import write_frame
from tenfold.selection.model.store import RECORD, plain
from tenfold.table.reading import pl
from tenfold.table.sample import read_sample
from tenfold.table.table import Table

KEPT = Kept("tenfold unusual", "--save", "was made from")
COLUMN = "p_value"
LEAST_ROWS, LEAST_DIFFERENT = 60, 10  # fewer have no tail to speak of
FDR = 0.1
MOST_REASONS = 3
RARE = 0.1  # share of gaps in a column
LEFT_OUT, ROUNDING = 0.03, 1e-9  # share of the rows that a second fit is without, and scores that are equal


@dataclass(frozen=True)
class Row:
    """An unusual row: its place among those that were read, its number from 1, its p-value, and the columns that make it so."""

    place: int
    number: int
    label: str | None  # of a column that names the rows
    p_value: float
    reasons: list[Reason]


@dataclass(frozen=True)
class Law:
    """What is known of usual rows: all that is needed to judge rows."""

    pipeline: Any  # Prepare and OutlierDetector
    choices: list[Choices]
    score: str  # in words
    tried: dict[str, float]  # area under the curve by name
    seed: int

    @property
    def prepare(self) -> Any:
        return self.pipeline.steps[0][1]

    @property
    def detector(self) -> Any:
        return self.pipeline.steps[1][1]

    @property
    def rate(self) -> float:
        return float(self.detector.false_alarm_rate)


@dataclass(frozen=True)
class Verdict:
    """Rows of a table, judged."""

    table: Table
    p_values: Array
    unusual: Array  # truth values
    sure: int  # of them, so many stand at a false discovery rate of FDR
    rows: list[Row]  # the most unusual first
    rate: float

    @property
    def expected(self) -> float:
        """Usual rows that would be flagged."""
        return self.rate * len(self.p_values)

    def facts(self) -> Facts:
        rows = [vars(row) | dict(reasons=[vars(one) for one in row.reasons]) for row in self.rows]
        found = dict(rate=self.rate, rows=len(self.p_values), unusual=int(self.unusual.sum()), expected=self.expected, sure=self.sure)
        return found | dict(most_unusual=rows)


def law_of(
    file: Path, columns: list[str], without: list[str], rows: int | None, rate: float, seed: int, tell: Tell
) -> tuple[Law, Table, Array, Array]:
    """Read, prepare, choose a density and fit it; also the table, its rows as they are prepared, and their p-values.

    Unusual rows widen what counts as usual, and hide others. So the density is fitted again without the rows that score least, which are
    judged all the same, as all others: by a density that has not seen them.
    """
    tell("reading")
    table = chosen(Table(read_sample(file, rows, seed)), columns, without, "judge rows by")
    if table.height < LEAST_ROWS:
        raise BadInput(f"{table.raw.name} has {table.height} rows: at least {LEAST_ROWS} are needed to say what is usual")
    first = _fitted(table, prepared(table), np.ones(table.height, dtype=bool), rate, seed, tell)
    try:
        found = _fitted_again(table, first, rate, seed, tell)
    except BadInput:  # without them there is nothing to be told apart
        found = first
    pipeline = pipeline_of(found.prepare, ("outliers", found.detector))
    choices = choices_of(table.values, kinds_of(table), places_of(found.prepare), found.Z)
    law = Law(pipeline, choices, found.tried[0].name, {one.name: one.area for one in found.tried}, seed)
    return law, table, found.Z, found.detector.pvalues_


@dataclass(frozen=True)
class _Fit:
    prepare: Any
    detector: Any
    Z: Array
    tried: list[Judged]


def _fitted(table: Table, prepare: Any, kept: Array, rate: float, seed: int, tell: Tell) -> _Fit:
    """The best density of the rows that are kept; all are judged."""
    Z = np.ascontiguousarray(prepare.transform(table), dtype=np.float64)
    different = len(np.unique(ops.hash_rows(Z[kept], 0)))
    if different < LEAST_DIFFERENT:
        raise BadInput(f"{table.raw.name} has {different} different rows: at least {LEAST_DIFFERENT} are needed to say what is usual")
    groups = [np.array(some) for some in places_of(prepare).values()]
    with kept_warnings():  # what a density has to say of single fits is in the choice among them
        tried = choose_density(Z[kept], groups, seed, lambda name: tell(f"trying: {name}"))
        tell(f"held-out scores of every row: {tried[0].name}")
        detector = tenfold.OutlierDetector(tried[0].density, false_alarm_rate=rate, calibration="tail")._fit_without(Z, ~kept)
    return _Fit(prepare, detector, Z, tried)


def _fitted_again(table: Table, first: _Fit, rate: float, seed: int, tell: Tell) -> _Fit:
    """Without the rows that score least."""
    scores = first.detector.held_out_scores_
    least = float(np.quantile(scores, LEFT_OUT, method="lower"))
    kept = (scores > least - ROUNDING * (1 + abs(least))) | _rare_gaps(table.values)  # equal rows stay together
    if kept.all():
        return first
    usual = Table(replace(table.raw, frame=table.raw.frame[np.flatnonzero(kept).tolist()]))
    again = prepared(usual)
    same = again.get_feature_names_out().tolist() == first.prepare.get_feature_names_out().tolist()
    prepare = again if same else first.prepare  # columns and levels that only they have stay
    return _fitted(table, prepare, kept, rate, seed, tell)


def _rare_gaps(values: pl.DataFrame) -> Array:
    """Rows with a gap in a column that has few: without them a gap would be something never seen, and hide what is wrong elsewhere."""
    gaps = [series.is_null().to_numpy() for series in values.iter_columns()]
    return np.asarray(np.any([gap & (gap.mean() < RARE) for gap in gaps], axis=0))


def judged(law: Law, table: Table, Z: Array, p_values: Array, top: int) -> Verdict:
    """Which rows are unusual, and the worst of them with reasons."""
    unusual = p_values <= law.rate
    order = np.lexsort((np.arange(len(Z)), law.detector._normality(Z), p_values))[: min(top, int(unusual.sum()))]
    values = table.values
    log_density = law.detector.density_.role == "density_estimator"
    known = [one for one in law.choices if one.name in values.columns]
    usual, score = law.detector.offset_, law.detector._normality
    some = reasons_of(score, Z[order], values[order.tolist()], known, log_density, usual, MOST_REASONS) if len(order) else []
    labels = labels_of(table)
    drawn = np.arange(len(Z)) if table.raw.drawn is None else table.raw.drawn
    rows = [
        Row(i, int(drawn[i]) + 1, None if labels[i] is None else str(labels[i]), float(p_values[i]), why)
        for i, why in zip(order.tolist(), some, strict=True)
    ]
    return Verdict(table, p_values, unusual, int((few_false(p_values, FDR) & unusual).sum()), rows, law.rate)


def judge_file(law: Law, file: Path, top: int) -> Verdict:
    """New rows, by a law that was fitted to others."""
    table = Table(read_sample(file, None, 0))
    check_new(law.prepare, table.raw.frame.columns, table.raw.name)
    Z = np.ascontiguousarray(law.prepare.transform(table.raw.frame), dtype=np.float64)
    with kept_warnings():
        return judged(law, table, Z, law.detector.pvalues(Z), top)


def write_table(verdict: Verdict, out: Path) -> None:
    """A line for each row: its number, p-value, whether it is unusual, and why; the format by the end of the name."""
    drawn = verdict.table.raw.drawn
    number = np.arange(len(verdict.p_values)) if drawn is None else drawn
    why = {row.number: "because " + "; ".join(one.words for one in row.reasons) for row in verdict.rows}
    frame = pl.DataFrame(
        {
            "row": number + 1, COLUMN: verdict.p_values, "unusual": verdict.unusual,
            "why": pl.Series([why.get(int(i) + 1) for i in number], dtype=pl.String),
        }
    )  # fmt: skip
    write_frame(frame, out)


# --- the folder ---


def save_law(folder: Path, law: Law, verdict: Verdict, picture: Picture, file: Path, commands: list[str]) -> None:
    """Whole or not at all."""
    record = KEPT.record(verdict.table, law.prepare, file, law.seed, dict(score=law.score, tried=law.tried) | verdict.facts())
    page = unusual_page(record, picture, commands)
    write_folder(folder, law.pipeline, record | dict(choices=plain([one.facts() for one in law.choices])), verdict.table, page)


def law_in(folder: Path) -> Law:
    """What a folder knows of usual rows."""
    record = KEPT.record_of(folder)
    if not record:
        raise BadFile(f"{folder} was not made by tenfold unusual: give a table, or a folder that it has made")
    pipeline = KEPT.model_in(folder)
    try:
        choices = [Choices.of(one) for one in record["choices"]]
        return Law(pipeline, choices, str(record["score"]), dict(record["tried"]), int(record["seed"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadFile(f"{folder / RECORD} is not as tenfold unusual wrote it: run it again") from None


class RarityModel:
    """Saved unusual rows as what predicts: the p-value of each row."""

    role, target_ = "outlier_detector", COLUMN

    def __init__(self, law: Law) -> None:
        self.law = law

    @property
    def columns(self) -> list[str]:
        return list(self.law.prepare._used)

    def check_columns(self, known: Sequence[str], name: str) -> None:
        check_new(self.law.prepare, known, name)

    def coded(self, table: Any) -> Any:
        return table

    def predictions(self, table: pl.DataFrame) -> Array:
        return np.asarray(self.law.detector.pvalues(np.ascontiguousarray(self.law.prepare.transform(table), dtype=np.float64)))


def open_rarity(folder: Path) -> Any:
    """The model of a folder with unusual rows; None of another."""
    return RarityModel(law_in(folder)) if KEPT.record_of(folder) else None


def unusual_in(folder: Path) -> list[tuple[str, str]]:
    """What a folder with unusual rows holds: titles and texts; nothing of another."""
    record = KEPT.record_of(folder)
    try:
        return [("UNUSUAL", f"{record['unusual']:,} of {record['rows']:,} rows of {record['data']['name']} at the rate {record['rate']:g}")]
    except (KeyError, TypeError, ValueError, AttributeError):  # another folder, another version, or somebody wrote in it
        return []
