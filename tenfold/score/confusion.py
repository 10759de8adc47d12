"""Scores of predicted labels: all of them are functions of one small table, the confusion of truth and
prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, UndefinedScore, warn
from tenfold.core.stats import Stats
from tenfold.score.inputs import Labels, check_choice, truth_and_labels

AVERAGES = ("binary", "micro", "macro", "weighted", None)


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
        return cls.of_labels(truth_and_labels(y_true, y_pred, sample_weight))

    @classmethod
    def of_labels(cls, labels: Labels) -> Self:
        k, m = len(labels.true_values), len(labels.predicted_values)
        cell = np.bincount(labels.true * m + labels.predicted, weights=labels.w, minlength=k * m)
        return cls(labels.true_values, labels.predicted_values, cell.reshape(k, m))

    def __add__(self, other: Self) -> Self:
        truth = joined(self.truth, other.truth)
        predicted = joined(self.predicted, other.predicted)
        return type(self)(truth, predicted, self._on(truth, predicted) + other._on(truth, predicted))

    def _on(self, truth: Array, predicted: Array) -> Array:
        """The table for these labels, in this order; what has other labels is left out."""
        table = np.zeros((len(truth), len(predicted)), dtype=self.weight.dtype)
        rows, columns = (_places(*pair) for pair in ((self.truth, truth), (self.predicted, predicted)))
        kept = np.ix_(rows >= 0, columns >= 0)
        table[np.ix_(rows[rows >= 0], columns[columns >= 0])] = self.weight[kept]
        return table

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
        if labels is not None and not len(np.intersect1d(chosen, self.truth)):
            raise BadInput(f"none of labels={chosen.tolist()!r} is in y_true: give labels that occur")
        table = self._on(chosen, chosen)
        if normalize is None:
            return table
        axis = {"true": 1, "pred": 0, "all": None}[normalize]
        total = table.sum(axis=axis, keepdims=True)
        shares: Array = np.divide(table, total, out=np.zeros(table.shape), where=total != 0)
        return shares

    def right(self) -> Any:
        """Weight of the rows whose prediction is the truth."""
        return np.trace(self._on(self.labels, self.labels))

    def accuracy(self, normalize: bool = True) -> float:
        return float(self.right() / self.total) if normalize else float(self.right())

    def error(self, normalize: bool = True) -> float:
        return float(1 - self.right() / self.total) if normalize else float(self.total - self.right())

    def balanced_accuracy(self, adjusted: bool = False) -> float:
        actual = self.weight.sum(axis=1)
        recalls = np.diagonal(self._on(self.truth, self.truth))[actual > 0] / actual[actual > 0]
        score = float(recalls.mean())
        if not adjusted:
            return score
        chance = 1 / len(recalls)
        return (score - chance) / (1 - chance) if chance < 1 else float("nan")

    def by_class(self, labels: Any, average: str | None, pos_label: Any = 1) -> Counted:
        """Right, predicted and true weight of each chosen label; of all together for the micro average."""
        check_choice("average", average, AVERAGES)
        present = self.labels
        if average == "binary":
            if len(present) > 2:
                raise BadParameter(
                    f"there are {len(present)} labels, but average='binary' needs two: use 'macro' for example"
                )
            if pos_label not in present.tolist() and len(present) == 2:
                raise BadParameter(
                    f"pos_label={pos_label!r} is not among the labels {present.tolist()!r}: give one of them"
                )
            chosen = np.asarray([pos_label])
        else:
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

    def precision(self, zero_division: Any) -> Any:
        return self._mean(self._share(self.right, self.predicted, zero_division, "precision", "predicted"))

    def recall(self, zero_division: Any) -> Any:
        return self._mean(self._share(self.right, self.actual, zero_division, "recall", "true"))

    def specificity(self, zero_division: Any) -> Any:
        others = self.total - self.actual
        rejected = others - (self.predicted - self.right)
        return self._mean(self._share(rejected, others, zero_division, "specificity", "true for another class"))

    def fbeta(self, beta: float, zero_division: Any) -> Any:
        if np.isposinf(beta):
            return self.recall(zero_division)
        if beta == 0:
            return self.precision(zero_division)
        above, below = (1 + beta**2) * self.right, beta**2 * self.actual + self.predicted
        return self._mean(self._share(above, below, zero_division, "F-score", "true or predicted"))

    def _share(self, above: Array, below: Array, zero_division: Any, name: str, what: str) -> Array:
        empty = below == 0
        share = np.divide(above, below, out=np.zeros(len(below)), where=~empty)
        if empty.any():
            share[empty] = check_zero_division(zero_division)
            if isinstance(zero_division, str):
                which = "any class" if self.average == "micro" else f"class {self.labels[empty].tolist()[0]!r}"
                warn(
                    f"{name} of {which} is set to 0, as no row is {what}: choose its value by zero_division=",
                    UndefinedScore,
                    stacklevel=5,
                )
        return share

    def _mean(self, shares: Array) -> Any:
        if self.average is None:
            return shares
        known = ~np.isnan(shares)
        if not known.any():
            return float("nan")
        weights = self.actual[known] if self.average == "weighted" and self.actual[known].any() else None
        return float(np.average(shares[known], weights=weights))


def check_zero_division(value: Any) -> float:
    """The value of a ratio without rows: 0, 1, NaN, or "warn" for 0 and a warning."""
    if isinstance(value, str) and value == "warn":
        return 0.0
    if not isinstance(value, (bool, str)) and np.ndim(value) == 0 and (value in (0, 1) or value != value):
        return float(value)
    raise BadParameter(f"zero_division={value!r}: must be 0, 1, nan or 'warn'")


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
