"""Models on the same rows: what each said of rows that it had not seen, and how much better one is, with a range.

`held_out.parquet` of a run has a row for each row of the training table that was held out:

    row     its number in the table, from 0              prediction          of a number
    fold    the fold that it was held out in             chance of LABEL     of each class
    truth   the target                                   decision            the class, where that need not be the most likely one
    weight  how much it counts, where rows do not count alike
    unit    a number, the same for rows that belong together, where some do
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput
from tenfold.evaluate.validate.ranges import widening
from tenfold.evaluate.validate.spread import score_spread
from tenfold.score.record import Score, split_choice
from tenfold.selection.honest.unseen import CHANCE, DECISION, UNIT, WEIGHT, read_held_out
from tenfold.selection.model.store import HELD_OUT, record_of
from tenfold.selection.monitor.labelled import LabelledRows, logs
from tenfold.table.cells import as_known, as_texts
from tenfold.table.reading import pl, read_table

BESIDE = ("fold", WEIGHT, UNIT)
Z, SURE = 1.959963984540054, 0.05
BAND = 0.01  # differences of this share of the score, or of 1 for shares, do not matter
GIVE = "give a file of predictions for its rows, in a column 'prediction'"
Facts = dict[str, Any]


@dataclass(frozen=True)
class Contender:
    """One model of a comparison: what it said of which rows."""

    name: str
    rows: Array  # numbers of the rows, each once, in ascending order
    labelled: LabelledRows
    record: Facts
    fold: Array | None = None  # of each row
    weight: Array | None = None  # of each row, where they do not count alike
    unit: Array | None = None  # a number for each row, the same for rows that belong together

    def __getitem__(self, places: Array) -> Contender:
        known = {name: part[places] for name in BESIDE if (part := getattr(self, name)) is not None}
        return replace(self, rows=self.rows[places], labelled=self.labelled[places], **known)

    @property
    def label(self) -> str:
        """What was chosen, where that is known."""
        return str(self.record.get("chosen") or "predictions of a file")


@dataclass(frozen=True)
class Difference:
    """First minus second, in the direction of better, on the rows of both."""

    metric: str
    first: float
    second: float
    value: float
    low: float
    high: float
    p_value: float  # of no difference
    band: float
    rows: int

    @property
    def verdict(self) -> str:
        if self.p_value < SURE:
            return "better" if self.value > 0 else "worse"
        return "as good" if -self.band <= self.low and self.high <= self.band else "cannot be separated"


def contender(folder: Path) -> Contender:
    """A run, by the predictions that it has kept of rows that it had not seen."""
    path = folder / HELD_OUT
    if not path.exists():
        why = "run tenfold select again" if record_of(folder) else "give a folder that tenfold select or tenfold fit has made"
        raise BadFile(f"{folder} holds no {HELD_OUT}, the predictions for rows that its model had not seen: {why}")
    frame = read_held_out(path)
    labels = [name.removeprefix(CHANCE) for name in frame.columns if name.startswith(CHANCE)]
    columns = [f"{CHANCE}{one}" for one in labels] or ["prediction"]
    once = [name for name in ("truth", DECISION, *BESIDE) if name in frame.columns]
    frame = frame.sort("row").group_by("row", maintain_order=True).agg(
        *(pl.col(name).first() for name in once), *(pl.col(name).mean() for name in columns),  # held out several times: the mean
    )  # fmt: skip
    known = {name: frame[name].cast(pl.Float64).to_numpy() for name in BESIDE if name in frame.columns}
    return Contender(str(folder), frame["row"].to_numpy(), _labelled(frame, columns, labels, path), record_of(folder), **known)


def _labelled(frame: pl.DataFrame, columns: list[str], labels: list[str], path: Path) -> LabelledRows:
    if not labels:
        return LabelledRows(frame["truth"].cast(pl.Float64).to_numpy()[:, None], frame["prediction"].to_numpy()[:, None])
    texts = [_text(one, labels) for one in frame["truth"].to_list()]
    strange = [one for one in texts if one not in labels]
    if strange:
        raise BadFile(f"{path} has the truth {strange[0][:40]!r}, which has no column {CHANCE + strange[0][:40]!r}")
    codes = np.array([labels.index(one) for one in texts], dtype=np.int64)
    output = logs(frame.select(columns).to_numpy())
    if DECISION in frame.columns:
        decided = [_text(one, labels) for one in frame[DECISION].to_list()]
        if not set(decided) <= set(labels):
            raise BadFile(f"{path} has decisions for classes that have no column {CHANCE + 'CLASS'!r}: it was not written by tenfold")
        output = np.column_stack([output, [labels.index(one) for one in decided]])
    return LabelledRows(codes, output, labels)


def foreign(path: Path, beside: Contender) -> Contender:
    """Predictions of somebody else, for the rows of a run: a column for each class, or one of predictions.

    Rows are found by a column `row` (from 0, as in held_out.parquet), else by their order: as many as the table has, or as were held out.
    """
    raw = read_table(path)
    frame, target = raw.frame, str((beside.record.get("settings") or {}).get("target"))
    if raw.digest == (beside.record.get("data") or {}).get("sha256"):
        raise BadInput(f"{raw.name} is the table that {beside.name} was made from, and holds no predictions: {GIVE}")
    place = _places(frame, beside, raw.name)
    predicted = _numbers(frame, beside.labelled.classes, target, raw.name)[place]
    if "prediction" not in frame.columns and _is_table(frame, beside, target) and np.array_equal(predicted, _truths(beside.labelled)):
        made = f"{raw.name} has the columns that {beside.name} was made from"
        raise BadInput(f"{made}, and {target!r} in it is the truth in every row: {GIVE}")
    bad = ~np.isfinite(predicted).all(axis=1)
    if bad.any():
        row = int(beside.rows[np.argmax(bad)])
        raise BadInput(f"{raw.name} has no usable prediction for row {row} of the table (from 0): give one for each row")
    output = predicted if beside.labelled.classes is None else logs(predicted)
    return Contender(str(path), beside.rows, LabelledRows(beside.labelled.truth, output, beside.labelled.classes), {})


def _is_table(frame: pl.DataFrame, beside: Contender, target: str) -> bool:
    """Whether a frame has all columns of the table of a run, the target among them."""
    known = [str(one.get("name")) for one in beside.record.get("columns") or [] if isinstance(one, dict)]
    return bool(known) and {*known, target} <= set(frame.columns)


def _truths(labelled: LabelledRows) -> Array:
    """The truth as predictions that are certain."""
    return labelled.truth if labelled.classes is None else np.eye(len(labelled.classes))[labelled.truth]


def _places(frame: pl.DataFrame, beside: Contender, name: str) -> Array:
    """Where in a frame the rows of a run are."""
    if "row" in frame.columns:
        given = frame["row"].cast(pl.Float64, strict=False).fill_null(-1).to_numpy()
        place = {int(row): i for i, row in enumerate(given)}
        missing = [int(row) for row in beside.rows if int(row) not in place]
        if missing:
            raise BadInput(f"{name} has no row {missing[0]}, counted from 0, which {beside.name} has: give a prediction for each row")
        return np.array([place[int(row)] for row in beside.rows])
    of_table = (beside.record.get("data") or {}).get("rows")
    if frame.height == of_table:
        return beside.rows
    if frame.height == len(beside.rows):
        return np.arange(frame.height)
    raise BadInput(
        f"{name} has {frame.height:,} rows, but {beside.name} has {len(beside.rows):,} of a table of {of_table}: "
        "give a prediction for each row of the table, or a column 'row' (from 0)"
    )


def _numbers(frame: pl.DataFrame, classes: list[str] | None, target: str, name: str) -> Array:
    """(rows, 1) or (rows, classes): what is predicted; where classes alone are, they are certain."""
    if classes is not None:
        for written in (CHANCE + "{}", "{}"):
            wanted = [written.format(label) for label in classes]
            if set(wanted) <= set(frame.columns):
                found = frame.select(pl.col(wanted).cast(pl.Float64, strict=False)).to_numpy()
                if (found < 0).any() or (np.abs(found.sum(axis=1) - 1) > 1e-3).any():
                    raise BadInput(f"the chances of {name} do not sum to 1 in each row: give probabilities from 0 to 1")
                return np.asarray(found)
    for column in ("prediction", target):
        if column in frame.columns:
            if classes is None:
                return frame[column].cast(pl.Float64, strict=False).to_numpy()[:, None]
            texts = as_known(as_texts(frame[column]), classes).to_list()
            return np.array([[float(one == label) if one in classes else np.nan for label in classes] for one in texts])
    what = f"'prediction' or {target!r}" if classes is None else f"{CHANCE + classes[0]!r}, ... for each class, or 'prediction'"
    raise BadInput(f"{name} has no column {what}: its columns are {', '.join(frame.columns[:8])}")


def difference(first: Contender, second: Contender, judge: Score) -> Difference:
    """How much better the first is, by the losses of the rows that both have; refused where these are not the same rows.

    Rows count by the weights of the first run, and belong together as there, else as in the second. An AUC counts pairs of rows that one
    model has judged; of predictions of a file the same pairs.
    """
    a, b = _common(first, second)
    weight, unit, fold = (one if one is not None else other for one, other in ((a.weight, b.weight), (a.unit, b.unit), (a.fold, b.fold)))
    each = zip((a.labelled, b.labelled), (fold, fold if b.fold is None else b.fold), strict=True)
    one, other = (score_spread(judge, rows.truth, rows.outputs_for(judge), weight, unit, models, None) for rows, models in each)
    spread = replace(one, value=one.value - other.value, parts=one.parts - other.parts)
    value, error = judge.sign * spread.value, widening(spread.units) * spread.error
    band = BAND * (1.0 if judge.high == 1 else max(abs(one.value), abs(other.value)))
    p = 1.0 if value == 0 else 2 * float(ndtr(-abs(value) / error)) if error > 0 else 0.0
    value += 0.0  # no minus before nothing
    return Difference(judge.name, one.value, other.value, value, value - Z * error, value + Z * error, p, band, len(a.rows))


def _common(first: Contender, second: Contender) -> tuple[Contender, Contender]:
    """The rows that both have, with classes in the order of the first."""
    ours, theirs = first.labelled.classes, second.labelled.classes
    if (ours is None) != (theirs is None) or set(ours or ()) != set(theirs or ()):
        raise BadInput(f"{first.name} and {second.name} predict different things: compare runs with the same target")
    rows, i, j = np.intersect1d(first.rows, second.rows, return_indices=True)
    if len(rows) < 2:
        raise BadInput(f"{first.name} and {second.name} have {len(rows)} rows in common: compare runs on the same table")
    a, b = first[i], second[j]
    if ours is not None and ours != theirs:
        order = [list(theirs or ()).index(label) for label in ours]
        place = np.argsort(order)
        scores, codes = split_choice(b.labelled.output, len(order))
        output = scores[:, order] if codes is None else np.column_stack([scores[:, order], place[codes]])
        b = replace(b, labelled=LabelledRows(place[b.labelled.truth], output, ours))
    truths = np.asarray(a.labelled.truth), np.asarray(b.labelled.truth)
    if not np.array_equal(*truths):
        row = int(rows[np.argmax((truths[0] != truths[1]).reshape(len(rows), -1).any(axis=1))])
        raise BadInput(f"{first.name} and {second.name} have different truths in row {row} (from 0): compare runs on the same table")
    return a, b


def _text(value: Any, labels: Sequence[str]) -> str:
    """A class as it is written in the name of its column: of numbers 1 or 1.0, whichever is one."""
    whole = isinstance(value, float) and math.isfinite(value) and value == int(value) and str(value) not in labels
    return str(int(value)) if whole else str(value)
