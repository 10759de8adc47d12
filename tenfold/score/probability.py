"""Scores of predicted probabilities: log loss, Brier score, calibration error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tenfold.base.estimator import log_softmax
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.stats import Stats
from tenfold.score.inputs import Scores, Sets, check_choice
from tenfold.score.means import Mean
from tenfold.score.probability_inputs import probabilities_or_sets, truth_and_probability

LEAST_LOG = float(np.log(np.finfo(float).tiny))


def log_loss(
    y_true: Any, y_proba: Any, *, normalize: bool = True, sample_weight: Any = None, labels: Any = None
) -> float:
    """−Σ w log p(y) / Σ w; the sum alone with normalize=False.

    y_proba: a column for each class in sorted order, or one for the last of two classes. labels: the classes,
    where the truth may not hold all of them. Probabilities are kept ε (of their type) away from 0 and 1, so
    that the loss of a sure error is finite: 36. A table y_true of zeros and ones, a column for each label, has the sum over
    the true labels of each row.

    >>> from tenfold.evaluate import log_loss
    >>> round(log_loss([0, 1, 1], [0.1, 0.8, 0.7]), 4)
    0.2284
    """
    return log_loss_sums(y_true, y_proba, sample_weight, labels=labels).value(normalize)


def log_loss_sums(y_true: Any, y_proba: Any, sample_weight: Any = None, *, labels: Any = None) -> Mean:
    """The statistic of the log loss."""
    given = probabilities_or_sets(y_true, y_proba, sample_weight, labels)
    if isinstance(given, Sets):
        least = np.finfo(given.other.dtype).eps
        return Mean.of(-(given.truth * np.log(np.clip(given.other, least, 1 - least))).sum(axis=1), given.w)
    least = np.finfo(given.scores.dtype).eps
    p = given.scores[np.arange(len(given.truth)), given.truth]
    return Mean.of(surprise(np.log(np.clip(p, least, 1 - least)), np.log(least)), given.w)


def surprise(log_p: Array, least: float) -> Array:
    """−log p of the true class of each row, with log p not below `least`."""
    return -np.maximum(log_p, least).astype(np.float64, copy=False)


def row_surprise(codes: Array, scores: Array) -> Array:
    """The same from class scores (log posteriors), never infinite."""
    return surprise(log_softmax(scores)[np.arange(len(codes)), codes], LEAST_LOG)


def brier_score_loss(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    scale_by_half: Any = "auto",
) -> float:
    """Σ w ‖p − e_y‖² / Σ w, with e_y = 1 at the true class; halved for two classes, where it is then Σ w (p₁
    − [y = 1])² / Σ w.

    scale_by_half: "auto" halves for two classes only; True and False decide. pos_label: the class that one
    column is of; without it it is 1, or the larger of two numbers.

    >>> from tenfold.evaluate import brier_score_loss
    >>> round(brier_score_loss([0, 1, 1], [0.1, 0.8, 0.7]), 4)
    0.0467
    """
    check_choice("scale_by_half", scale_by_half, ("auto", True, False))
    given = _all_or_one(y_true, y_proba, sample_weight, pos_label, labels)
    if isinstance(given, Sets):
        gap = given.other - given.truth
        half = gap.shape[1] < 3 if scale_by_half == "auto" else scale_by_half
        return Mean.of(np.einsum("ij,ij->i", gap, gap), given.w).value() * (0.5 if half else 1.0)
    half = given.scores.shape[1] < 3 if scale_by_half == "auto" else scale_by_half
    return Mean.of(squared_distance(given.truth, given.scores), given.w).value() * (0.5 if half else 1.0)


def squared_distance(codes: Array, P: Array) -> Array:
    """‖p − e_y‖² of each row."""
    gap = P.astype(np.float64)
    gap[np.arange(len(codes)), codes] -= 1.0
    return np.asarray(np.einsum("ij,ij->i", gap, gap))


def brier_sums(
    y_true: Any, y_proba: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> Mean:
    """The statistic of the Brier score, halved for two classes."""
    given = _one_each(_all_or_one(y_true, y_proba, sample_weight, pos_label, labels))
    scale = 0.5 if given.scores.shape[1] < 3 else 1.0
    return Mean.of(scale * squared_distance(given.truth, given.scores), given.w)


def _one_each(given: Scores | Sets) -> Scores:
    if isinstance(given, Sets):
        raise BadInput(f"multilabel-indicator format is not supported: y_true has shape {given.truth.shape}")
    return given


def _all_or_one(y_true: Any, y_proba: Any, sample_weight: Any, pos_label: Any, labels: Any) -> Scores | Sets:
    """Probabilities of all classes; one column is of pos_label against the rest."""
    if np.ndim(y_proba) == 2 and np.shape(y_proba)[1] > 1:
        return probabilities_or_sets(y_true, y_proba, sample_weight, labels)
    return truth_and_probability(y_true, y_proba, sample_weight, pos_label)


@dataclass(slots=True)
class CalibrationBins(Stats):
    """Rows by their stated probability, in bins of equal width: weight, Σ w p, and Σ w of the rows where it
    came true.
    """

    weight: Array
    stated: Array
    true: Array

    @classmethod
    def of(cls, y_true: Any, y_proba: Any, sample_weight: Any = None, *, n_bins: int = 10, labels: Any = None) -> Self:
        if not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
            raise BadParameter(f"n_bins={n_bins!r}: must be a whole number of at least 1")
        given = _one_each(_all_or_one(y_true, y_proba, sample_weight, None, labels))
        one = np.ndim(y_proba) == 1 or np.shape(y_proba)[1] == 1
        return cls.of_scores(given, n_bins, 1 if one else None)

    @classmethod
    def of_scores(cls, given: Scores, n_bins: int, column: int | None = None) -> Self:
        """Of the probabilities of one class, or of the most probable of each row."""
        chosen = given.scores.argmax(axis=1) if column is None else np.full(len(given.truth), column)
        stated, true = given.scores[np.arange(len(chosen)), chosen], given.truth == chosen
        w = np.ones(len(true)) if given.w is None else given.w
        place = np.minimum((stated * n_bins).astype(np.int64), n_bins - 1)
        return cls(*(np.bincount(place, weights=v, minlength=n_bins) for v in (w, w * stated, w * true)))

    def error(self, norm: str = "l1") -> float:
        check_choice("norm", norm, ("l1", "l2", "max"))
        some = self.weight > 0
        gap = np.abs(self.stated[some] - self.true[some]) / self.weight[some]
        share = self.weight[some] / self.weight.sum()
        if norm == "max":
            return float(gap.max())
        return float(share @ gap) if norm == "l1" else float(np.sqrt(share @ gap**2))


def calibration_error(
    y_true: Any,
    y_proba: Any,
    *,
    n_bins: int = 10,
    norm: str = "l1",
    sample_weight: Any = None,
    labels: Any = None,
) -> float:
    """How far stated probabilities are from what came true: Σ_b (n_b/n) |mean p − share true|, over bins b of
    equal width (ECE).

    One column of probabilities is of the last of two classes; with a column for each class, the largest of
    each row is taken and compared with how often that class is right. norm: "l1", "l2" (root of the mean
    square) or "max" (the worst bin).

    >>> from tenfold.evaluate import calibration_error
    >>> round(calibration_error([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]), 3)
    0.25
    """
    return CalibrationBins.of(y_true, y_proba, sample_weight, n_bins=n_bins, labels=labels).error(norm)
