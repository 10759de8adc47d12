"""Scores of predicted labels by their usual names. Weights count rows: weight 2 is the row twice, weight 0 is
no row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.score.confusion import Confusion
from tenfold.score.label_sets import LabelSets, compared


def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, normalize: str | None = None
) -> Array:
    """Cᵢⱼ: the weight of the rows of class i that were predicted as class j.

    labels: which, and in which order; None takes all, sorted. normalize: "true" divides by the sum of each
    row, "pred" of each column, "all" by the whole; an empty one stays 0.

    >>> from tenfold.evaluate import confusion_matrix
    >>> confusion_matrix(["cat", "dog", "dog"], ["cat", "cat", "dog"])
    array([[1, 0],
           [1, 1]])
    """
    confusion = Confusion.of(y_true, y_pred, sample_weight)
    if labels is None and len(confusion.labels) == 1:
        warn(
            "A single label was found in 'y_true' and 'y_pred'. For the confusion matrix to have the correct shape, use the "
            "'labels' parameter to pass all known labels.",
            DataWarning,
        )
    return confusion.matrix(labels, normalize)


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """Σ w [ŷ = y] / Σ w, or the sum alone with normalize=False.

    >>> from tenfold.evaluate import accuracy_score
    >>> accuracy_score([0, 1, 1, 0], [0, 1, 0, 0])
    0.75
    """
    return compared(y_true, y_pred, sample_weight).accuracy(normalize)


def zero_one_loss(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The error rate, Σ w [ŷ ≠ y] / Σ w, or the sum alone with normalize=False.

    >>> from tenfold.evaluate import zero_one_loss
    >>> zero_one_loss([0, 1, 1, 0], [0, 1, 0, 0])
    0.25
    """
    return compared(y_true, y_pred, sample_weight).error(normalize)


def balanced_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, adjusted: bool = False) -> float:
    """The mean recall of the classes of the truth; a class that was only predicted does not count.

    adjusted: (score − 1/k) / (1 − 1/k), which is 0 for guessing one class; NaN where the truth holds one
    class.

    >>> from tenfold.evaluate import balanced_accuracy_score
    >>> balanced_accuracy_score([0, 0, 0, 1], [0, 0, 0, 0])
    0.5
    """
    confusion = Confusion.of(y_true, y_pred, sample_weight)
    if len(confusion.labels) > len(confusion.truth):
        warn("y_pred contains classes not in y_true: they do not count", DataWarning)
    return confusion.balanced_accuracy(adjusted)


def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Right among those predicted as the class: TP / (TP + FP).

    average: "binary" of pos_label; None one for each class; "macro" their mean, "weighted" by their true
    rows, "micro" all rows as one. zero_division: the value of a class that was never predicted, 0, 1 or NaN
    (left out of means); "warn" is 0 and a warning.

    >>> from tenfold.evaluate import precision_score
    >>> precision_score([0, 1, 1, 0], [1, 1, 1, 0])
    0.6666666666666666
    """
    return compared(y_true, y_pred, sample_weight).by_class(labels, average, pos_label).precision(zero_division)


def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Right among those of the class, the sensitivity: TP / (TP + FN). Parameters as for `precision_score`.

    >>> from tenfold.evaluate import recall_score
    >>> recall_score([0, 1, 1, 0], [1, 1, 0, 0])
    0.5
    """
    return compared(y_true, y_pred, sample_weight).by_class(labels, average, pos_label).recall(zero_division)


def specificity_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Right among those not of the class: TN / (TN + FP). Parameters as for `precision_score`.

    >>> from tenfold.evaluate import specificity_score
    >>> specificity_score([0, 1, 0, 0, 0], [1, 1, 0, 0, 0])
    0.75
    """
    return compared(y_true, y_pred, sample_weight).by_class(labels, average, pos_label).specificity(zero_division)


def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """F_β = (1 + β²) P R / (β² P + R): recall counts β times as much as precision. β = 0 is precision, β = ∞
    recall.

    In rows: (1 + β²) TP / ((1 + β²) TP + β² FN + FP). The same as F_α with α = 1 / (1 + β²). Parameters as
    for `precision_score`.

    >>> from tenfold.evaluate import fbeta_score
    >>> fbeta_score([0, 1, 1, 0], [0, 1, 0, 0], beta=1)
    0.6666666666666666
    """
    if not beta >= 0:
        raise BadParameter(f"beta={beta!r}: must be at least 0")
    return compared(y_true, y_pred, sample_weight).by_class(labels, average, pos_label).fbeta(beta, zero_division)


def f_alpha_score(
    y_true: Any,
    y_pred: Any,
    *,
    alpha: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """F_α = 1 / (α/P + (1 − α)/R): the harmonic mean of precision and recall, with weight α on precision.

    It is F_β with β² = (1 − α)/α: α = ½ is F₁, α = 1 precision, α = 0 recall. Parameters as for
    `precision_score`.

    >>> from tenfold.evaluate import f_alpha_score, f1_score
    >>> f_alpha_score([0, 1, 1, 0], [0, 1, 0, 0], alpha=0.5) == f1_score([0, 1, 1, 0], [0, 1, 0, 0])
    True
    """
    counted = compared(y_true, y_pred, sample_weight).by_class(labels, average, pos_label)
    return counted.fbeta(beta_of(alpha), zero_division)


def beta_of(alpha: float) -> float:
    """The β of an F_β that is F_α: √((1 − α)/α)."""
    if not 0 <= alpha <= 1:
        raise BadParameter(f"alpha={alpha!r}: must lie between 0 and 1")
    return float(np.sqrt((1 - alpha) / alpha)) if alpha > 0 else float("inf")


def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """F₁ = 2 P R / (P + R) = 2 TP / (2 TP + FN + FP). Parameters as for `precision_score`.

    >>> from tenfold.evaluate import f1_score
    >>> f1_score([0, 1, 2, 2], [0, 2, 2, 1], average="macro")
    0.5
    """
    return compared(y_true, y_pred, sample_weight).by_class(labels, average, pos_label).fbeta(1.0, zero_division)


def precision_recall_fscore_support(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = None,
    warn_for: Any = ("precision", "recall", "f-score"),
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> tuple[Any, Any, Any, Any]:
    """Precision, recall, F_β, and the true weight of each class (None where they are averaged), from one
    pass.

    warn_for: which of the three may warn of a ratio without rows. Other parameters as for `precision_score`.

    >>> from tenfold.evaluate import precision_recall_fscore_support
    >>> precision_recall_fscore_support([0, 1, 1, 0], [0, 1, 0, 0], average="macro")[:2]
    (0.8333333333333333, 0.75)
    """
    confusion = compared(y_true, y_pred, sample_weight)
    return all_shares(confusion, beta, labels, pos_label, average, warn_for, zero_division)


def all_shares(
    confusion: Confusion | LabelSets,
    beta: float = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = None,
    warn_for: Any = ("precision", "recall", "f-score"),
    zero_division: Any = "warn",
) -> tuple[Any, Any, Any, Any]:
    """Precision, recall, F_β and support from a confusion."""
    if not beta >= 0:
        raise BadParameter(f"beta={beta!r}: must be at least 0")
    counted = confusion.by_class(labels, average, pos_label)

    def if_undefined(name: str) -> Any:
        return zero_division if name in warn_for or zero_division != "warn" else 0

    precision, recall = counted.precision(if_undefined("precision")), counted.recall(if_undefined("recall"))
    f_score = counted.fbeta(beta, if_undefined("f-score"))
    return precision, recall, f_score, counted.actual if average is None else None


def jaccard_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Rows that are and were predicted as the class, among those that are or were: TP / (TP + FP + FN). Parameters as for
    `precision_score`.

    >>> from tenfold.evaluate import jaccard_score
    >>> jaccard_score([0, 1, 1, 0], [1, 1, 0, 0])
    0.3333333333333333
    """
    return compared(y_true, y_pred, sample_weight).by_class(labels, average, pos_label).jaccard(zero_division)


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The correlation of truth and prediction: (TP TN − FP FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN)) of two classes; 0
    where one of them is constant.

    >>> from tenfold.evaluate import matthews_corrcoef
    >>> matthews_corrcoef([0, 1, 1, 0], [0, 1, 1, 0])
    1.0
    """
    return Confusion.of(y_true, y_pred, sample_weight).matthews()


def cohen_kappa_score(
    y1: Any, y2: Any, *, labels: Any = None, weights: str | None = None, sample_weight: Any = None
) -> float:
    """κ = 1 − disagreement / disagreement by chance: 1 for the same labels, 0 for what chance gives; NaN where both are constant.

    weights: errors between classes far apart in their order count more, "linear" or "quadratic".

    >>> from tenfold.evaluate import cohen_kappa_score
    >>> cohen_kappa_score([0, 1, 1, 0], [0, 1, 0, 0])
    0.5
    """
    return Confusion.of(y1, y2, sample_weight).kappa(labels, weights)


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The share of wrong labels: of classes `zero_one_loss`; of sets of labels, over all cells of the tables.

    >>> from tenfold.evaluate import hamming_loss
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    0.25
    """
    return compared(y_true, y_pred, sample_weight).hamming()
