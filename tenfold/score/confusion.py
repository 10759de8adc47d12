"""Scores of predicted labels: all of them are functions of one small table, the confusion of truth and
prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, UndefinedScore, warn
from tenfold.core.stats import Stats
from tenfold.score.inputs import Labels, Sets, check_choice, truth_and_labels
from tenfold.score.kinds import as_text

AVERAGES = ("binary", "micro", "macro", "weighted", "samples", None)
WITHOUT = {  # what a ratio without rows lacks
    "Precision": "predicted",
    "Recall": "true",
    "F-score": "true nor predicted",
    "Specificity": "true negative",
    "Jaccard": "true or predicted",
}


@dataclass(slots=True)
class Confusion(Stats):
    """Weight of the rows of each true label (rows) with each predicted label (columns); `+` joins the labels
    of both.
    """

    truth: Array
    predicted: Array
    weight: Array  # whole numbers where rows are not weighted

    @classmethod
    def of(cls, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Self:
        labels = truth_and_labels(y_true, y_pred, sample_weight)
        if isinstance(labels, Sets):
            raise BadInput(f"multilabel-indicator is not supported: y_true has shape {labels.truth.shape}")
        return cls.of_labels(labels)._whole(sample_weight)

    @classmethod
    def of_labels(cls, labels: Labels) -> Self:
        k, m = len(labels.true_values), len(labels.predicted_values)
        cell = np.bincount(labels.true * m + labels.predicted, weights=labels.w, minlength=k * m)
        return cls(labels.true_values, labels.predicted_values, cell.reshape(k, m))

    def _whole(self, sample_weight: Any) -> Self:
        """Whole numbers where the weights were."""
        if sample_weight is not None and np.asarray(sample_weight).dtype.kind in "biu":
            self.weight = self.weight.astype(np.int64)
        return self

    def __add__(self, other: Self) -> Self:
        truth = joined(self.truth, other.truth)
        predicted = joined(self.predicted, other.predicted)
        return type(self)(truth, predicted, self._on(truth, predicted) + other._on(truth, predicted))

    def _on(self, truth: Array, predicted: Array) -> Array:
        """The table for these labels, in this order; what has other labels is left out."""
        if truth is self.truth and predicted is self.predicted:
            return self.weight
        table = np.zeros((len(truth) + 1, len(predicted) + 1), dtype=self.weight.dtype)  # the last ones are for other labels
        table[_places(self.truth, truth)[:, None], _places(self.predicted, predicted)] = self.weight
        return table[:-1, :-1].copy()

    @property
    def labels(self) -> Array:
        """All labels, true or predicted."""
        return joined(self.truth, self.predicted)

    @property
    def total(self) -> Any:
        return self.weight.sum()

    def matrix(self, labels: Any = None, normalize: str | None = None) -> Array:
        """The square table; see `confusion_matrix`."""
        check_choice("normalize", normalize, ("true", "pred", "all", None))
        chosen = self.labels if labels is None else np.asarray(labels)
        if not len(chosen):
            raise BadInput("'labels' should contain at least one label.")
        if labels is not None and not len(np.intersect1d(chosen, self.truth)):
            raise BadInput(f"At least one label specified must be in y_true: labels={chosen.tolist()!r}")
        table = self._on(chosen, chosen)
        if normalize is None:
            return table
        axis = {"true": 1, "pred": 0, "all": None}[normalize]
        total = table.sum(axis=axis, keepdims=True)
        shares: Array = np.divide(table, total, out=np.zeros(table.shape), where=total != 0)
        return shares

    def right(self) -> Any:
        """Weight of the rows whose prediction is the truth."""
        labels = self.labels
        return self._on(labels, labels).trace()

    def accuracy(self, normalize: bool = True) -> float:
        return float(self.right() / self.total) if normalize else float(self.right())

    def error(self, normalize: bool = True) -> float:
        return float(1 - self.right() / self.total) if normalize else float(self.total - self.right())

    def hamming(self) -> float:
        return self.error()

    def balanced_accuracy(self, adjusted: bool = False) -> float:
        actual = self.weight.sum(axis=1)
        recalls = np.diagonal(self._on(self.truth, self.truth))[actual > 0] / actual[actual > 0]
        score = float(recalls.mean())
        if not adjusted:
            return score
        chance = 1 / len(recalls)
        return (score - chance) / (1 - chance) if chance < 1 else float("nan")

    def matthews(self) -> float:
        """The correlation of truth and prediction, as indicators of their classes."""
        labels = self.labels
        table = self._on(labels, labels).astype(np.float64)
        actual, predicted, n = table.sum(axis=1), table.sum(axis=0), table.sum()
        spread = (n * n - actual @ actual) * (n * n - predicted @ predicted)
        return float((np.trace(table) * n - actual @ predicted) / np.sqrt(spread)) if spread > 0 else 0.0

    def kappa(self, labels: Any = None, weights: str | None = None) -> float:
        """1 − disagreement / disagreement by chance; weights: of classes far apart in their order, "linear" or "quadratic"."""
        check_choice("weights", weights, (None, "linear", "quadratic"))
        table = self.matrix(labels).astype(np.float64)
        chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        apart = np.abs(np.subtract.outer(np.arange(len(table)), np.arange(len(table))))
        cost = apart > 0 if weights is None else apart if weights == "linear" else apart**2
        by_chance = float((cost * chance).sum())
        return 1 - float((cost * table).sum()) / by_chance if by_chance else float("nan")

    def by_class(self, labels: Any, average: str | None, pos_label: Any = 1) -> Counted:
        """Right, predicted and true weight of each chosen label; of all together for the micro average."""
        check_choice("average", average, AVERAGES)
        if average == "samples":
            raise BadParameter("Samplewise metrics are not available outside of multilabel classification.")
        present = self.labels
        if average == "binary":
            if len(present) > 2:
                raise BadParameter(
                    "Target is multiclass but average='binary'. Please choose another average setting, one of "
                    "[None, 'micro', 'macro', 'weighted']."
                )
            if pos_label not in present.tolist() and len(present) == 2:
                raise BadParameter(f"pos_label={pos_label} is not a valid label. It should be one of {as_text(present)}")
            chosen = np.asarray([pos_label])
        else:
            check_unused(pos_label, average)
            chosen = present if labels is None else np.asarray(labels)
        right = np.diagonal(self._on(chosen, chosen)).astype(np.float64)
        actual = self._on(chosen, self.predicted).sum(axis=1)
        predicted = self._on(self.truth, chosen).sum(axis=0)
        total = np.full(len(chosen), self.total)
        counts = [right, predicted, actual, total]
        if average == "micro":
            counts = [count.sum(keepdims=True) for count in counts]
        return Counted(chosen, average, *counts)


@dataclass(slots=True)
class Counted:
    """Of each label: the weight predicted right, predicted, and true, of a total weight; ratios and their
    averages.
    """

    labels: Array
    average: str | None
    right: Array
    predicted: Array
    actual: Array
    total: Array
    w: Array | None = None  # of rows, where each has its own ratios

    def precision(self, zero_division: Any) -> Any:
        return self._mean(self._share(self.right, self.predicted, zero_division, "Precision"))

    def recall(self, zero_division: Any) -> Any:
        return self._mean(self._share(self.right, self.actual, zero_division, "Recall"))

    def specificity(self, zero_division: Any) -> Any:
        others = self.total - self.actual
        rejected = others - (self.predicted - self.right)
        return self._mean(self._share(rejected, others, zero_division, "Specificity"))

    def fbeta(self, beta: float, zero_division: Any) -> Any:
        if np.isposinf(beta):
            return self.recall(zero_division)
        if beta == 0:
            return self.precision(zero_division)
        above, below = (1 + beta**2) * self.right, beta**2 * self.actual + self.predicted
        return self._mean(self._share(above, below, zero_division, "F-score"))

    def jaccard(self, zero_division: Any) -> Any:
        either = self.actual + self.predicted - self.right
        return self._mean(self._share(self.right, either, zero_division, "Jaccard"))

    def _share(self, above: Array, below: Array, zero_division: Any, name: str) -> Array:
        empty = below == 0
        share = np.divide(above, below, out=np.zeros(len(below)), where=~empty)
        if empty.any():
            share[empty] = check_zero_division(zero_division)
            if isinstance(zero_division, str):
                warn(
                    f"{name} is ill-defined and being set to 0.0 {self._where(WITHOUT[name])}. "
                    "Use `zero_division` parameter to control this behavior.",
                    UndefinedScore, stacklevel=5,
                )  # fmt: skip
        return share

    def _where(self, lacking: str) -> str:
        if self.average in ("binary", "micro"):
            return f"due to no {lacking} samples"
        rows, of = ("samples", "labels") if self.average == "samples" else ("labels", "samples")
        return f"in {rows} with no {lacking} {of}"

    def _mean(self, shares: Array) -> Any:
        if self.average is None:
            return shares
        known = ~np.isnan(shares)
        if not known.any():
            return float("nan")
        weights = self.actual if self.average == "weighted" else self.w
        return float(np.average(shares[known], weights=weights[known] if weights is not None and weights[known].any() else None))


def check_zero_division(value: Any) -> float:
    """The value of a ratio without rows: 0, 1, NaN, or "warn" for 0 and a warning."""
    if isinstance(value, str) and value == "warn":
        return 0.0
    if not isinstance(value, (bool, str)) and np.ndim(value) == 0 and (value in (0, 1) or value != value):
        return float(value)
    raise BadParameter(f"zero_division={value!r}: must be 0, 1, nan or 'warn'")


def check_unused(pos_label: Any, average: str | None) -> None:
    """Tell that a positive label has no effect."""
    if pos_label is not None and pos_label != 1:
        warn(
            f"Note that pos_label (set to {pos_label!r}) is ignored when average != 'binary' (got {average!r}). You may use "
            "labels=[pos_label] to specify a single positive class.",
            DataWarning, stacklevel=4,
        )  # fmt: skip


def joined(first: Array, second: Array) -> Array:
    """Sorted labels of both."""
    if first.shape == second.shape and (first == second).all():
        return first
    if (first.dtype.kind in "biuf") != (second.dtype.kind in "biuf"):
        raise BadInput(
            f"labels {first.tolist()[0]!r} and {second.tolist()[0]!r} are of different types: use text or numbers"
        )
    return np.union1d(first, second)


def _places(labels: Array, among: Array) -> Array:
    """The place of each label in a list, −1 where it is not there."""
    if labels is among:
        return np.arange(len(labels))
    number = {label: place for place, label in enumerate(among.tolist())}
    return np.array([number.get(label, -1) for label in labels.tolist()], dtype=np.int64)
