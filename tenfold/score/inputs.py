"""The gate of the metrics: truth, predictions and weights are checked and coded here, and nowhere else.

Rows of weight zero are dropped, as if they were not there. Every refusal is one sentence.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.stats import Stats
from tenfold.score.kinds import (
    LABELS,
    MULTILABEL,
    as_labels,
    as_text,
    check_finite,
    check_same_type,
    encoded,
    is_text,
    kind_of,
    same_kind,
    same_rows,
)

ZERO_ONE = np.array([0, 1])


class Labels(NamedTuple):
    """True and predicted labels, each as sorted distinct values and a code for every row; w is None for ones."""

    true_values: Array
    true: Array
    predicted_values: Array
    predicted: Array
    w: Array | None


class Scores(NamedTuple):
    """A score for each class (n, k), or of the positive class (n, 1), with the true class as a code."""

    classes: Array
    truth: Array
    scores: Array
    w: Array | None


class Values(NamedTuple):
    """True and predicted numbers, (n, q) both."""

    truth: Array
    value: Array
    w: Array | None


class Sets(NamedTuple):
    """A set of labels for each row: truth and prediction, or scores, as tables (n, q) with a column for each label."""

    truth: Array
    other: Array
    w: Array | None


def truth_and_labels(y_true: Any, y_pred: Any, sample_weight: Any = None) -> Labels | Sets:
    """Two columns of labels of the same rows, of any kind that can be sorted; or two tables of zeros and ones."""
    columns = [as_labels(y_true, "y_true"), as_labels(y_pred, "y_pred")]
    w = weights_of(sample_weight, y_true=columns[0], y_pred=columns[1])
    if same_kind(*columns) == MULTILABEL:
        return _sets(columns[0], columns[1] != 0, w)
    check_same_type(columns[0], columns[1], ("y_true", "y_pred"))
    columns, w = counted(columns, w)
    return Labels(*encoded(columns[0], "y_true"), *encoded(columns[1], "y_pred"), w)


def _sets(truth: Array, other: Array, w: Array | None) -> Sets:
    if truth.shape != other.shape:
        raise BadInput(f"y_true has {truth.shape[1]} labels for each row and y_pred {other.shape[1]}: give as many")
    columns, w = counted([truth != 0, other], w)
    return Sets(columns[0], columns[1], w)


def truth_and_groups(labels_true: Any, labels_pred: Any, sample_weight: Any = None) -> Labels:
    """Two groupings of the same rows; the names of the groups need not be of one kind."""
    columns = []
    for values, name in ((labels_true, "labels_true"), (labels_pred, "labels_pred")):
        column = np.asarray(values)
        if column.ndim != 1:
            raise BadInput(f"{name} must be 1D: shape is {column.shape}")
        columns.append(as_labels(column, name) if len(column) else column.astype(np.int64))
    w = weights_of(sample_weight, labels_true=columns[0], labels_pred=columns[1])
    kinds = [kind_of(column) for column in columns]
    if "continuous" in kinds:
        kinds = [kind.replace(LABELS, "discrete") for kind in kinds]
        warn(
            "Clustering metrics expects discrete values but received "
            f"{kinds[0]} values for label, and {kinds[1]} values for target: each number is a group of its own",
            DataWarning, stacklevel=5,
        )  # fmt: skip
    columns, w = counted(columns, w)
    return Labels(*encoded(columns[0], "labels_true"), *encoded(columns[1], "labels_pred"), w)


def truth_and_scores(
    y_true: Any, y_score: Any, sample_weight: Any = None, labels: Any = None, name: str = "y_score"
) -> Scores:
    """Labels and finite scores; one column of scores is of the last class, and then there are at most two."""
    given = truth_or_sets(y_true, y_score, sample_weight, labels, name)
    if isinstance(given, Sets):
        raise BadInput(f"{MULTILABEL} format is not supported: y_true has shape {given.truth.shape}, give one label for each row")
    return given


def truth_or_sets(
    y_true: Any, y_score: Any, sample_weight: Any = None, labels: Any = None, name: str = "y_score"
) -> Scores | Sets:
    """The same; or a set of labels for each row, with a column of scores for each label."""
    truth, scores = as_labels(y_true, "y_true"), as_table(y_score, name)
    w = None
    if sample_weight is not None or len(truth) != len(scores):
        columns = {"y_true": truth, name: scores} if name == "y_score" else {name: scores, "y_true": truth}
        w = weights_of(sample_weight, **columns)
    kind = kind_of(truth)
    if kind == MULTILABEL:
        if truth.shape != scores.shape:
            raise BadInput(f"y_true has {truth.shape[1]} labels for each row and {name} {scores.shape[1]}: give as many")
        return _sets(truth, scores, w)
    if kind != LABELS:
        raise BadInput(f"{kind} format is not supported: y_true must hold labels")
    (truth, scores), w = counted([truth, scores], w)
    classes, codes = coded(truth, labels)
    return Scores(classes, codes, scores, w)


def truth_and_values(y_true: Any, y_pred: Any, sample_weight: Any = None, names: tuple[str, str] = ("y_true", "y_pred")) -> Values:
    """Finite numbers, one or several for each row."""
    columns = [as_table(values, name) for values, name in zip((y_true, y_pred), names, strict=True)]
    w = weights_of(sample_weight, **dict(zip(names, columns, strict=True)))
    if columns[0].shape[1] != columns[1].shape[1]:
        raise BadInput(
            f"{names[0]} and {names[1]} have different number of output ({columns[0].shape[1]}!={columns[1].shape[1]}): "
            "give as many values for each row"
        )
    (truth, value), w = counted([table.astype(np.float64, copy=False) for table in columns], w)
    return Values(truth, value, w)


def positive_class(classes: Array, pos_label: Any) -> int:
    """The code of the positive class, −1 if the truth holds only another; without pos_label it is 1, of 0 and
    1 or −1 and 1.
    """
    if pos_label is None:
        found = set(classes.tolist())
        if not is_text(classes) and (found <= {0, 1} or found <= {-1, 1}):
            pos_label = 1
        else:
            values = ", ".join(repr(value) for value in classes.tolist())
            raise BadParameter(
                f"y_true takes value in {{{values}}} and pos_label is not specified: either make y_true take value in {{0, 1}} "
                "or {-1, 1} or pass pos_label explicitly."
            )
    place = np.flatnonzero(classes == pos_label)
    if not len(place) and len(classes) == 1:
        return -1
    if not len(place):
        raise BadParameter(f"pos_label={pos_label} is not a valid label. It should be one of {as_text(classes)}")
    return int(place[0])


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """A parameter that must be one of a few values."""
    if isinstance(value, str) and value in choices:  # the usual case
        return
    if not any(value is choice for choice in choices):
        raise BadParameter(f"{name}={value!r}: must be one of {', '.join(map(repr, choices))}")


def as_table(values: Any, name: str) -> Array:
    """Finite numbers (n, q)."""
    try:
        table = np.asarray(values)
        if table.dtype not in ops.LARGEST:  # neither float32 nor float64
            table = table.astype(np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"{name} does not hold numbers: {str(values)[:40]}") from None
    if table.ndim not in (1, 2) or 0 in table.shape:
        raise BadInput(f"{name} has shape {table.shape}: give a column, or a table with a row for each row of data")
    check_finite(table, name, "values")
    return np.ascontiguousarray(table.reshape(len(table), -1))


def weights_of(sample_weight: Any, **columns: Array) -> Array | None:
    """Weights of the rows of some columns, all of one length."""
    if sample_weight is None:
        same_rows(**columns)
        return None
    if np.ndim(sample_weight) == 1:
        same_rows(**columns, sample_weight=sample_weight)
    else:
        same_rows(**columns)
    return check.as_weights(sample_weight, len(next(iter(columns.values()))))


def counted(columns: list[Array], w: Array | None) -> tuple[list[Array], Array | None]:
    """The rows whose weight is above zero, with their weights."""
    if w is None or w.all():
        return columns, w
    kept = np.flatnonzero(w)
    return [column[kept] for column in columns], w[kept]


def coded(truth: Array, labels: Any) -> tuple[Array, Array]:
    """Classes in ascending order, and the code of each row."""
    if labels is None:
        if truth.dtype == np.int64 and np.minimum.reduce(truth) == 0 and np.maximum.reduce(truth) == 1:
            return ZERO_ONE.copy(), np.ascontiguousarray(truth)  # already codes: the usual case, without copies
        return encoded(truth, "y_true")
    given = np.asarray(labels).reshape(-1)
    if not are_rising(given):
        if len(np.unique(given)) < len(given):
            raise BadParameter(f"Parameter 'labels' must be unique: {_listed(given)}")
        if (np.sort(given) != given).any():
            raise BadParameter(f"Parameter 'labels' must be ordered, as columns of scores are: {_listed(given)}")
    check_same_type(truth, given, ("y_true", "labels"))
    codes = truth.dtype == np.int64 and np.array_equal(given, np.arange(len(given)))
    if codes and truth.min() >= 0 and truth.max() < len(given):
        return given, np.ascontiguousarray(truth)
    known = np.isin(truth, given)
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        label = truth[row : row + 1].tolist()[0]
        raise BadInput(
            f"y_true contains values {{{label!r}}} not belonging to the passed labels {given.tolist()}. "
            f"'y_true' contains labels not in parameter 'labels': see row {row}"
        )
    return check.encode(truth, given)


def are_rising(labels: Array) -> bool:
    """Whether labels are different and in order."""
    return bool((labels[1:] > labels[:-1]).all())


def _listed(values: Array) -> str:
    shown = ", ".join(repr(value) for value in values[:5].tolist())
    return shown + (", ..." if len(values) > 5 else "")


class OfValues(Stats):
    """Base: statistics of truths and predicted numbers."""

    __slots__ = ()

    @classmethod
    def of(cls, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Self:
        return cls.of_values(truth_and_values(y_true, y_pred, sample_weight))

    @classmethod
    def of_values(cls, given: Values) -> Self:
        """Of truths and values that have passed the gate."""
        raise NotImplementedError
