"""The gate of the metrics: truth, predictions and weights are checked and coded here, and nowhere else.

Rows of weight zero are dropped, as if they were not there. Every refusal is one sentence.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter

TEXT, NUMBERS = "US", "biuf"


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


def truth_and_labels(y_true: Any, y_pred: Any, sample_weight: Any = None) -> Labels:
    """Two columns of labels of the same rows, of any kind that can be sorted."""
    columns = [_column(y_true, "y_true"), _column(y_pred, "y_pred")]
    _same_rows(columns[0], columns[1])
    kinds = [_kind(column) for column in columns]
    if kinds[0] != kinds[1]:
        raise BadInput(f"y_true holds {kinds[0]} and y_pred {kinds[1]}: make both text or both numbers")
    columns, w = _weighted(columns, sample_weight)
    return Labels(*check.encode(columns[0]), *check.encode(columns[1]), w)


def truth_and_groups(labels_true: Any, labels_pred: Any, sample_weight: Any = None) -> Labels:
    """Two groupings of the same rows; the names of the groups need not be of one kind."""
    columns = [_column(labels_true, "labels_true"), _column(labels_pred, "labels_pred")]
    _same_rows(columns[0], columns[1], names=("labels_true", "labels_pred"))
    columns, w = _weighted(columns, sample_weight)
    return Labels(*check.encode(columns[0]), *check.encode(columns[1]), w)


def truth_and_scores(y_true: Any, y_score: Any, sample_weight: Any = None, labels: Any = None) -> Scores:
    """Labels and finite scores; one column of scores is of the last class, and then there are at most two."""
    truth, scores = _column(y_true, "y_true"), _table(y_score, "y_score")
    _same_rows(truth, scores, names=("y_true", "y_score"))
    if not ops.all_finite(scores):
        row = int(np.argwhere(~np.isfinite(scores))[0][0])
        raise BadInput(f"the score of row {row} is not finite: give numbers")
    (truth, scores), w = _weighted([truth, scores], sample_weight)
    classes, codes = _coded(truth, labels)
    return Scores(classes, codes, scores, w)


def truth_and_probabilities(y_true: Any, y_proba: Any, sample_weight: Any = None, labels: Any = None) -> Scores:
    """Labels and probabilities of the classes, (n, k) with k ≥ 2; one column is of the last of two classes."""
    checked = truth_and_scores(y_true, y_proba, sample_weight, labels)
    P, classes = checked.scores, checked.classes
    _check_range(P)
    if P.shape[1] == 1:
        P = np.concatenate([1 - P, P], axis=1)
    else:
        off = np.abs(P.sum(axis=1) - 1) > np.sqrt(np.finfo(P.dtype).eps)
        if off.any():
            row = int(np.flatnonzero(off)[0])
            total = float(P[row].sum())
            raise BadInput(f"the probabilities of row {row} sum to {total:.6g}, not to 1: divide each row by its sum")
    if len(classes) != P.shape[1]:
        raise BadInput(
            f"the truth holds {len(classes)} classes and there are probabilities of {P.shape[1]}: "
            "give the classes of the columns as labels="
        )
    return checked._replace(scores=P)


def _check_range(P: Array) -> None:
    if P.min() >= 0 and P.max() <= 1:
        return
    row, column = (int(i) for i in np.argwhere((P < 0) | (P > 1))[0])
    raise BadInput(f"the probability {P[row, column]:g} in row {row} is outside 0 to 1: give probabilities")


def truth_and_chance(y_true: Any, y_proba: Any, sample_weight: Any = None, pos_label: Any = None) -> Scores:
    """Probabilities (n, 2) of a class and its opposite."""
    return truth_and_probabilities(_positive_truth(y_true, pos_label), y_proba, sample_weight, [0, 1])


def truth_and_one_chance(y_true: Any, y_prob: Any, sample_weight: Any = None, pos_label: Any = None) -> Scores:
    """The same as one column (n, 1) of the positive class."""
    truth = _positive_truth(y_true, pos_label)
    if np.ndim(y_prob) > 1 and np.shape(y_prob)[1] > 1:
        checked = truth_and_probabilities(truth, y_prob, sample_weight, [0, 1])
        return checked._replace(scores=np.ascontiguousarray(checked.scores[:, 1:]))
    checked = truth_and_scores(truth, y_prob, sample_weight, [0, 1])
    _check_range(checked.scores)
    return checked


def _positive_truth(y_true: Any, pos_label: Any) -> Array:
    """1 where the label is pos_label, which is 1, or the larger of two numbers, where none is given; else 0."""
    truth = _column(y_true, "y_true")
    if truth.dtype == np.int64 and pos_label in (None, 1) and truth.min() >= 0 and truth.max() <= 1:
        return truth  # the usual case, without copies
    classes = check.encode(truth)[0]
    if len(classes) > 2:
        raise BadInput(f"the truth holds {len(classes)} classes: give a probability for each of them")
    if pos_label is None:
        numbers = _kind(classes) == "numbers" and not set(classes.tolist()) <= {-1, 0, 1}
        pos_label = classes[-1] if numbers else 1 if _kind(classes) == "numbers" else None
    if pos_label is None:
        positive_class(classes, None)
    return np.asarray(truth == pos_label, dtype=np.int64)


def truth_and_values(y_true: Any, y_pred: Any, sample_weight: Any = None) -> Values:
    """Finite numbers, one or several for each row."""
    columns = [_table(y_true, "y_true"), _table(y_pred, "y_pred")]
    _same_rows(columns[0], columns[1])
    if columns[0].shape[1] != columns[1].shape[1]:
        raise BadInput(
            f"y_true has {columns[0].shape[1]} values for each row and y_pred {columns[1].shape[1]}: give as many"
        )
    for name, table in zip(("y_true", "y_pred"), columns, strict=True):
        if not ops.all_finite(table):
            row = int(np.argwhere(~np.isfinite(table))[0][0])
            raise BadInput(f"{name} is not finite in row {row}: drop or repair that row")
    (truth, value), w = _weighted([table.astype(np.float64, copy=False) for table in columns], sample_weight)
    return Values(truth, value, w)


def positive_class(classes: Array, pos_label: Any) -> int:
    """The code of the positive class, −1 if the truth holds only another; without pos_label it is 1, of 0 and
    1 or −1 and 1.
    """
    if pos_label is None:
        values = set(classes.tolist())
        if _kind(classes) == "numbers" and (values <= {0, 1} or values <= {-1, 1}):
            pos_label = 1
        else:
            raise BadParameter(f"the labels are {_listed(classes)}: name the positive one with pos_label=")
    place = np.flatnonzero(classes == pos_label)
    if not len(place) and len(classes) == 1:
        return -1
    if not len(place):
        raise BadParameter(f"pos_label={pos_label!r} is not among the labels {_listed(classes)}: give one of them")
    return int(place[0])


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """A parameter that must be one of a few values."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise BadParameter(f"{name}={value!r}: must be one of {', '.join(map(repr, choices))}")


def _column(values: Any, name: str) -> Array:
    if ops.is_sparse(values):
        raise BadInput(f"{name} is sparse: give a dense column of labels")
    column = np.asarray(values)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise BadInput(f"{name} has shape {column.shape}: give one label for each row")
    if not len(column):
        raise BadInput(f"{name} is empty: give at least one row")
    return check.flat_labels(column, len(column))


def _table(values: Any, name: str) -> Array:
    table = np.asarray(values)
    if table.dtype not in (np.float32, np.float64):
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            raise BadInput(f"{name} does not hold numbers: {str(values)[:40]}") from None
    if table.ndim not in (1, 2) or 0 in table.shape:
        raise BadInput(f"{name} has shape {table.shape}: give a column, or a table with a row for each row of data")
    return np.ascontiguousarray(table.reshape(len(table), -1))


def _same_rows(first: Array, second: Array, names: tuple[str, str] = ("y_true", "y_pred")) -> None:
    if len(first) != len(second):
        raise BadInput(
            f"{names[0]} has {len(first)} rows and {names[1]} has {len(second)}: they must be of the same rows"
        )


def _weighted(columns: list[Array], sample_weight: Any) -> tuple[list[Array], Array | None]:
    """The rows whose weight is above zero, with their weights."""
    w = check.as_weights(sample_weight, len(columns[0]))
    if w is None or w.all():
        return columns, w
    kept = np.flatnonzero(w)
    return [column[kept] for column in columns], w[kept]


def _coded(truth: Array, labels: Any) -> tuple[Array, Array]:
    if labels is None:
        if truth.dtype == np.int64 and truth.min() == 0 and truth.max() == 1:
            return np.array([0, 1]), np.ascontiguousarray(truth)  # already codes: the usual case, without copies
        return check.encode(truth)
    given = np.asarray(labels).reshape(-1)
    if len(np.unique(given)) < len(given) or (np.sort(given) != given).any():
        raise BadParameter(
            f"labels={_listed(given)}: must be distinct and in ascending order, as columns of scores are"
        )
    if _kind(given) != _kind(truth):
        raise BadInput(f"y_true holds {_kind(truth)} and labels {_kind(given)}: make both text or both numbers")
    codes = truth.dtype == np.int64 and np.array_equal(given, np.arange(len(given)))
    if codes and truth.min() >= 0 and truth.max() < len(given):
        return given, np.ascontiguousarray(truth)
    known = np.isin(truth, given)
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        label = truth[row : row + 1].tolist()[0]
        raise BadInput(f"y_true has the label {label!r} in row {row}, which is not in labels={_listed(given)}: add it")
    return check.encode(truth, given)


def _kind(column: Array) -> str:
    if column.dtype.kind == "O":
        return "text" if any(isinstance(value, str) for value in column) else "numbers"
    return "text" if column.dtype.kind in TEXT else "numbers"


def _listed(values: Array) -> str:
    shown = ", ".join(repr(value) for value in values[:5].tolist())
    return shown + (", ..." if len(values) > 5 else "")
