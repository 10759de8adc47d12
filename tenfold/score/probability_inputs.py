"""The gate of scores of probabilities: between 0 and 1, a column for each class, with the truth as codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.score.inputs import Scores, Sets, are_rising, positive_class, truth_and_scores, truth_or_sets
from tenfold.score.kinds import LABELS, MULTILABEL, as_labels, as_text, is_text, kind_of, named_kind


def truth_and_probabilities(y_true: Any, y_proba: Any, sample_weight: Any = None, labels: Any = None) -> Scores:
    """Labels and probabilities of the classes, (n, k) with k ≥ 2; one column is of the last of two classes."""
    given = probabilities_or_sets(y_true, y_proba, sample_weight, labels)
    if isinstance(given, Sets):
        raise BadInput(f"{MULTILABEL} format is not supported: give one label for each row, not {given.truth.shape[1]}")
    return given


def probabilities_or_sets(y_true: Any, y_proba: Any, sample_weight: Any = None, labels: Any = None) -> Scores | Sets:
    """The same; or a set of labels for each row, with the probability of each label."""
    labels = None if labels is None else _in_order(labels)
    given = truth_or_sets(y_true, y_proba, sample_weight, labels, "y_proba")
    if isinstance(given, Sets):
        check_probabilities(given.other)
        return given
    return _for_each_class(given, labels is not None)


def _in_order(labels: Any) -> Array:
    given = np.asarray(labels).reshape(-1)
    if are_rising(given):
        return given
    ordered = np.unique(given)
    if len(ordered) == len(given) and not (ordered == given).all():
        warn(
            f"Labels passed were {given.tolist()}. But this function assumes labels are ordered lexicographically. Pass the "
            f"ordered labels={ordered.tolist()} and ensure that the columns of y_prob correspond to this ordering.",
            DataWarning, stacklevel=5,
        )  # fmt: skip
        return ordered
    return given


def _for_each_class(given: Scores, listed: bool) -> Scores:
    """Probabilities with a column for each class."""
    P, classes = given.scores, given.classes
    check_probabilities(P)
    if len(classes) == 1:
        if listed:
            raise BadInput(f"The labels array needs to contain at least two labels, got {as_text(classes)}.")
        raise BadInput(
            f"y_true contains only one label ({classes[0]}). Please provide the list of all expected class labels "
            "explicitly through the labels argument."
        )
    if P.shape[1] == 1:
        P = np.concatenate([1 - P, P], axis=1)
    if len(classes) == P.shape[1]:
        return given._replace(scores=P)
    if listed:
        raise BadInput(
            f"The number of classes in labels is different from that in y_prob. Classes found in labels: {as_text(classes)}"
        )
    raise BadInput(
        f"y_true and y_prob contain different number of classes: {len(classes)} vs {P.shape[1]}. Please provide the true "
        f"labels explicitly through the labels argument. Classes found in y_true: {as_text(classes)}"
    )


def check_probabilities(P: Array) -> None:
    """Between 0 and 1; those of a row should sum to 1."""
    if not (P.min() >= 0 and P.max() <= 1):
        row, column = (int(i) for i in np.argwhere((P < 0) | (P > 1))[0])
        side = "greater than 1" if P[row, column] > 1 else "lower than 0"
        raise BadInput(f"y_prob contains values {side}: {P[row, column]:g} in row {row}; give probabilities")
    if P.shape[1] == 1:
        return
    off = np.abs(P.sum(axis=1) - 1) > np.sqrt(np.finfo(P.dtype).eps)
    if off.any():
        row = int(np.flatnonzero(off)[0])
        warn(
            "The y_prob values do not sum to one. Make sure to pass probabilities: "
            f"those of row {row} sum to {float(P[row].sum()):.6g}",
            DataWarning, stacklevel=6,
        )  # fmt: skip


def truth_and_probability(y_true: Any, y_proba: Any, sample_weight: Any = None, pos_label: Any = None) -> Scores:
    """Probabilities (n, 2) of a class and its opposite."""
    return truth_and_probabilities(_positive_truth(y_true, pos_label), y_proba, sample_weight, [0, 1])


def truth_and_one_probability(y_true: Any, y_prob: Any, sample_weight: Any = None, pos_label: Any = None) -> Scores:
    """The same as one column (n, 1) of the positive class."""
    truth = _positive_truth(y_true, pos_label)
    if np.ndim(y_prob) > 1 and np.shape(y_prob)[1] > 1:
        checked = truth_and_probabilities(truth, y_prob, sample_weight, [0, 1])
        return checked._replace(scores=np.ascontiguousarray(checked.scores[:, 1:]))
    checked = truth_and_scores(truth, y_prob, sample_weight, [0, 1])
    check_probabilities(checked.scores)
    return checked


def _positive_truth(y_true: Any, pos_label: Any) -> Array:
    """1 where the label is pos_label, which is 1, or the larger of two numbers, where none is given; else 0."""
    truth = as_labels(y_true, "y_true")
    if truth.dtype == np.int64 and pos_label in (None, 1) and truth.min() >= 0 and truth.max() <= 1:
        return truth  # the usual case, without copies
    if kind_of(truth) != LABELS:
        raise BadInput(f"{named_kind(truth)} format is not supported: y_true must hold one label for each row")
    classes = check.encode(truth)[0]
    if len(classes) > 2:
        raise BadInput(
            "The type of the target inferred from y_true is multiclass but should be binary according to the shape of y_prob."
        )
    if pos_label is None and not is_text(classes):
        pos_label = 1 if set(classes.tolist()) <= {-1, 0, 1} else classes[-1]
    elif pos_label is None:
        positive_class(classes, None)
    elif len(classes) == 2 and pos_label not in classes.tolist():
        raise BadParameter(f"pos_label={pos_label!r} is not a valid label. It should be one of {as_text(classes)}")
    return np.asarray(truth == pos_label, dtype=np.int64)
