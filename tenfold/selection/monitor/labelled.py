"""What a saved model says of rows whose truth is known: truth and outputs as scores take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.evaluate.validate.ranges import score_range
from tenfold.score.record import Score, judged_output
from tenfold.score.registry import SCORES
from tenfold.selection.choice.decision import decided, judge_of
from tenfold.selection.model.table_model import TableModel
from tenfold.table.cells import as_numbers, as_texts, class_texts, finite, group_numbers, label_of
from tenfold.table.columns import check_name, comma_of
from tenfold.table.missing_words import MISSING_IN_NUMBERS
from tenfold.table.reading import Raw, pl, read_table

LEAST = float(np.finfo(np.float64).eps)  # probability whose logarithm stands for that of zero
USUAL = {"classifier": ("log_loss", "accuracy", "roc_auc"), "regressor": ("rmse", "mae", "r2")}
Facts = dict[str, Any]


@dataclass(frozen=True)
class LabelledRows:
    """Truth and outputs of some rows: codes of classes and logarithms of probabilities, or one column of numbers each."""

    truth: Array  # (n) codes, or (n, 1)
    output: Array  # (n, classes), or (n, 1); one more column for the class that is decided for, where that need not be the most likely
    classes: list[str] | None = None
    notes: list[str] = field(default_factory=list)
    weight: Array | None = None  # of each row, where they do not count alike
    unit: Array | None = None  # a number for each row, the same for rows that belong together

    @property
    def role(self) -> str:
        return "regressor" if self.classes is None else "classifier"

    @property
    def rows(self) -> int:
        return len(self.truth)

    def __getitem__(self, rows: Array) -> LabelledRows:
        weight, unit = (None if one is None else one[rows] for one in (self.weight, self.unit))
        return LabelledRows(self.truth[rows], self.output[rows], self.classes, self.notes, weight, unit)

    def can(self, judge: Score) -> bool:
        """Whether these rows have a value of a score."""
        if judge.role != self.role:
            return False
        if self.classes is None:
            return judge.name != "r2" or float(np.ptp(self.truth)) > 0
        two_only = len(judge.tasks) == 1 and len(self.classes) > 2
        every = not judge.every_class or len(np.unique(self.truth)) == len(self.classes)
        return every and not two_only

    def outputs_for(self, judge: Score) -> Array:
        """Outputs as a score takes them."""
        return judged_output(judge, self.output, None if self.classes is None else np.arange(len(self.classes)))

    def scored(self, judge: Score) -> Facts:
        """The score with its 95 % range, for rows that no model was fitted to."""
        with np.errstate(over="ignore"):  # the range of a perfect score has no end
            found = score_range(judge, self.truth, self.outputs_for(judge), self.weight, self.unit, widen=1.0)
        return dict(metric=judge.name, value=found.estimate, low=found.low, high=found.high, method=found.method)


def judges_for(labelled: LabelledRows, first: str | None = None, settings: Mapping[str, Any] = MappingProxyType({})) -> list[Score]:
    """The score that a run was judged by, if it is known and these rows have it, and the usual ones of its task.

    settings: of the run, by which one of two classes is the positive one.
    """
    asked = judge_of(first, settings, labelled.classes) if first else None
    found = [] if asked is None else [asked]
    names = [one.name for one in found]
    found += [SCORES[name] for name in USUAL[labelled.role] if name not in names and (name != "mae" or not names)]
    return [one for one in found if labelled.can(one)]


def logs(probabilities: Array) -> Array:
    """Probabilities as class scores."""
    return np.log(np.maximum(probabilities, LEAST))


def labelled_rows(
    model: TableModel, table: Any, trained_on: str | None = None, settings: Mapping[str, Any] = MappingProxyType({})
) -> LabelledRows:
    """What a model says of the rows of a table that have a target, with notes of what was left out.

    trained_on: SHA-256 of the training table; scores of that very table flatter, and it is noted. settings: of the run, whose columns of
    weights and of groups count here too.
    """
    raw = read_table(table, known=model.columns)
    target = model.target_
    check_name(target, raw.frame.columns, f" in {raw.name}: it is what the predictions are held against")
    model.check_columns(raw.frame.columns, raw.name)
    frame, notes = _with_target(raw, model)
    if trained_on is not None and raw.digest == trained_on:
        notes.append("this is the table that the model was fitted to: the scores below flatter it, give rows that it has not seen")
    comma = comma_of(raw)
    frame, *beside = _beside(frame, settings, comma, notes)
    if model.role != "classifier":
        return LabelledRows(model._truth(frame[target], comma)[:, None], model.predict(frame)[:, None], None, notes, *beside)
    labels = [str(one) for one in model.classes_]
    truth = [label_of(one, labels) for one in model._truth(frame[target], comma).tolist()]
    known = np.array([one in labels for one in truth])
    if not known.all():
        strange = truth[int(np.argmin(known))]
        count = f"{(~known).sum():,} row{'s' if (~known).sum() > 1 else ''}"
        if not known.any():
            known_ones = ", ".join(labels[:8])
            raise BadInput(f"no value of {target!r} in {raw.name} is a class of the model: {strange[:40]!r} is none of {known_ones}")
        notes.append(f"{count} of classes that the model has never seen (such as {strange[:40]!r}) left out: it cannot be right there")
    codes = np.array([labels.index(one) for one, here in zip(truth, known, strict=True) if here])
    probabilities = model.predict_proba(frame if known.all() else frame.filter(pl.Series(known)))
    output, beside = decided(logs(probabilities), model.rule), [None if one is None else one[known] for one in beside]
    return LabelledRows(codes, output, labels, notes, *beside)


def _with_target(raw: Raw, model: TableModel) -> tuple[pl.DataFrame, list[str]]:
    """The rows that have a target."""
    column = raw.frame[model.target_]
    if model.role == "classifier":
        labels = [str(one) for one in model.classes_]
        texts = class_texts(as_texts(column), labels)
        there = texts.is_not_null()
        if np.asarray(model.classes_).dtype.kind in "iuf":  # words for a missing number are none
            there &= texts.is_in(labels) | ~texts.str.to_lowercase().is_in(list(MISSING_IN_NUMBERS)).fill_null(True)
    elif column.dtype == pl.String:
        read = as_numbers(as_texts(column), comma_of(raw))
        there = pl.Series([False] * len(column)) if read is None else read.values.is_not_null()
    else:
        there = finite(column)[0].is_not_null()
    gone = int((~there).sum())
    if gone == len(there):
        raise BadInput(f"the target column {model.target_!r} of {raw.name} holds nothing to hold the predictions against")
    note = [f"{gone:,} row{'s' if gone > 1 else ''} without a value of {model.target_!r} left out"] if gone else []
    return (raw.frame.filter(there) if gone else raw.frame), note


def _beside(
    frame: pl.DataFrame, settings: Mapping[str, Any], comma: bool, notes: list[str]
) -> tuple[pl.DataFrame, Array | None, Array | None]:
    """The rows, and what the run that a model comes from knows of them: how much each counts, and which belong together. Those of weight 0
    are left out, as there; where the rows do not have weights, they count alike. Both is noted. comma: the table writes commas before
    decimals."""
    weights, groups = (settings.get(name) for name in ("weights", "groups"))
    weight = unit = None
    if weights is not None:
        read = finite(frame[weights])[0] if weights in frame.columns and frame[weights].dtype.is_numeric() else None
        if read is None and weights in frame.columns and (found := as_numbers(as_texts(frame[weights]), comma)) is not None:
            read = found.values
        if read is None or read.null_count() or not (read >= 0).all() or not (read > 0).any():
            notes.append(f"the run counts rows by {weights!r}, of which not every row here has a number of at least 0: they count alike")
        else:
            some = read > 0
            if gone := int((~some).sum()):
                frame, read = frame.filter(some), read.filter(some)
                notes.append(f"{gone:,} row{'s' if gone > 1 else ''} of weight 0 left out")
            weight = read.to_numpy() / float(np.mean(read.to_numpy()))
    if groups is not None and groups in frame.columns:
        unit = group_numbers(frame[groups])
    return frame, weight, unit
