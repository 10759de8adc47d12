"""Predictions for rows that the finished procedure had not seen, as a run keeps them (`held_out.parquet`).

A row for each: `row` (its number in the table, from 0), `fold`, `truth`, and `prediction` for numbers or one column
`chance of LABEL` for each class; and `decision`, the class that is decided for, where that is not the most likely one; `weight` and `unit`
where rows do not count alike, and where some belong together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput
from tenfold.score.record import Score, judged_output
from tenfold.score.statistics import squared, zero_one
from tenfold.table.reading import pl

CHANCE, DECISION = "chance of ", "decision"
WEIGHT, UNIT = "weight", "unit"  # columns, where rows do not count alike, and where some belong together
LEAST_CHANCE = 1e-15  # a chance of 0 would cost an infinite loss


def read_held_out(path: Path) -> pl.DataFrame:
    """The frame of a run, as it was saved; refused where it is none, as anybody may have written into the file."""
    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as reason:
        raise BadFile(f"{path} cannot be read: {str(reason).splitlines()[0]}") from None
    chances = [name for name in frame.columns if name.startswith(CHANCE)]
    for name in ("row", "fold", "truth", *(chances or ["prediction"])):
        if name not in frame.columns:
            raise BadFile(f"{path} has no column {name!r}: it was not written by tenfold")
    places = [frame["row"], frame["fold"]]
    wrong = [one.name for one in places if not one.dtype.is_integer() or one.null_count() or (one < 0).any()]
    wrong += [name for name in chances or ["truth", "prediction"] if not frame[name].dtype.is_numeric()]
    beside = [frame[name].cast(pl.Float64, strict=False) for name in (WEIGHT, UNIT) if name in frame.columns]
    wrong += [one.name for one in beside if not one.is_finite().fill_null(False).all() or (one.name == WEIGHT and (one <= 0).any())]
    if wrong:
        raise BadFile(f"{path} has a column {wrong[0]!r} that is not one of numbers: it was not written by tenfold")
    if not len(Unseen.of(frame)):
        raise BadFile(f"{path} holds no row that was judged: it was not written by tenfold")
    return frame


@dataclass(frozen=True)
class Unseen:
    """The truth and the predictions of held-out rows."""

    rows: Array
    fold: Array
    truth: Array  # numbers, or codes of classes
    classes: list[str]  # none for numbers
    outputs: Array  # (n, classes) chances, or (n, 1) predicted numbers
    decisions: Array | None = None  # codes of classes, where they follow from costs or a threshold
    weight: Array | None = None  # of each row, where they do not count alike
    unit: Array | None = None  # a number for each row, the same for rows that belong together, where some do

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Unseen:
        """From the frame of a run. Rows without a truth or without a prediction are left out."""
        names = [name for name in frame.columns if name.startswith(CHANCE)]
        wanted = [name for name in ("row", "fold", "truth", *(names or ["prediction"])) if name not in frame.columns]
        if wanted:
            raise BadInput(f"held-out predictions have no column {wanted[0]!r}: give the frame that a run has made")
        classes = [name.removeprefix(CHANCE) for name in names]
        outputs = frame.select(names or ["prediction"]).cast(pl.Float64).to_numpy()
        truth = _codes(frame["truth"], classes) if classes else frame["truth"].cast(pl.Float64).to_numpy()
        known = np.isfinite(truth) & np.isfinite(outputs).all(axis=1)
        decisions = _codes(frame[DECISION], classes) if classes and DECISION in frame.columns else None
        known &= True if decisions is None else np.isfinite(decisions)
        rows, fold = (frame[name].cast(pl.Int64).to_numpy()[known] for name in ("row", "fold"))
        codes = None if decisions is None else decisions[known].astype(np.int64)
        weight, unit = (frame[name].cast(pl.Float64).to_numpy()[known] if name in frame.columns else None for name in (WEIGHT, UNIT))
        return cls(rows, fold, truth[known].astype(np.int64 if classes else np.float64), classes, outputs[known], codes, weight, unit)

    def __len__(self) -> int:
        return len(self.rows)

    def among(self, numbers: Array) -> Unseen:
        """Those whose row is one of these ascending numbers, `row` then being its place among them."""
        place = np.searchsorted(numbers, self.rows)
        known = np.flatnonzero(place < len(numbers))
        known = known[numbers[place[known]] == self.rows[known]]
        beside = (None if one is None else one[known] for one in (self.decisions, self.weight, self.unit))
        return Unseen(place[known], self.fold[known], self.truth[known], self.classes, self.outputs[known], *beside)

    def units(self, count: int) -> Array | None:
        """A number for each of so many rows, the same for those that belong together, where some do; others are one each."""
        if self.unit is None:
            return None
        found = float(self.unit.min()) - 1.0 - np.arange(count)
        found[self.rows] = self.unit
        return found

    def weights(self, count: int) -> Array | None:
        """How much each of so many rows counts, where they do not count alike."""
        if self.weight is None:
            return None
        found = np.ones(count)
        found[self.rows] = self.weight
        return found

    @cached_property
    def scores(self) -> Array:
        """Outputs as scores take them: log posteriors of classes, or values."""
        return np.log(np.maximum(self.outputs, LEAST_CHANCE)) if self.classes else self.outputs

    def outputs_for(self, judge: Score) -> Array:
        """Outputs as a score takes them, the decisions where it judges those."""
        if self.decisions is None:
            return self.scores
        return judged_output(judge, np.column_stack([self.scores, self.decisions]), np.arange(len(self.classes)))

    @cached_property
    def predicted(self) -> Array:
        """The predicted numbers, or the codes of the classes that are decided for, the most likely ones without a rule."""
        if self.decisions is not None:
            return self.decisions
        return np.argmax(self.outputs, axis=1) if self.classes else self.outputs[:, 0]

    def losses(self, judge: Score) -> Array:
        """The loss of each row: that of the judge, else the squared error or whether the class is wrong."""
        truth = self.truth if self.classes else self.truth[:, None]
        loss = judge.row_loss or (zero_one if self.classes else squared)
        return np.asarray(loss(truth, self.outputs_for(judge)), dtype=np.float64).reshape(len(self))

    def score(self, judge: Score, where: Array | slice = slice(None), truth: Array | None = None) -> float:
        """The score of some rows; `truth` instead of theirs, where given."""
        found = (self.truth if truth is None else truth)[where]
        labels = np.array(self.classes, dtype=object) if self.classes else None
        w = np.ones(len(found)) if self.weight is None else self.weight[where]
        return float(judge.of(found if self.classes else found[:, None], self.outputs_for(judge)[where], w, labels))


def _codes(truth: pl.Series, classes: list[str]) -> Array:
    """The code of each label, NaN where there is no such class."""
    texts = truth.cast(pl.String) if truth.dtype != pl.Boolean else truth.cast(pl.String).str.to_titlecase()
    codes = {label: float(code) for code, label in enumerate(classes)}
    if truth.dtype.is_float():  # written as in the names of the columns, whatever polars would write
        return np.array([codes.get(str(value), np.nan) for value in truth.to_list()])
    return np.array([codes.get(text, np.nan) for text in texts.to_list()])
