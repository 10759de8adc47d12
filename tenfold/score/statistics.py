"""Statistics of outputs, from which scores follow: (codes of the truth, class scores) or (truth, values), and weights.

They are those of the public scores; there is no second way to compute one. The rows were checked before.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np

from tenfold import _evaluate
from tenfold.base import check
from tenfold.base.estimator import log_softmax, softmax
from tenfold.core.data import Array
from tenfold.core.stats import Rows
from tenfold.score.absolute_errors import AbsoluteErrors, LargestError
from tenfold.score.clustering import Contingency
from tenfold.score.confusion import Confusion
from tenfold.score.dispersion import calinski_harabasz_score, davies_bouldin_score
from tenfold.score.inputs import Labels, Scores, Values
from tenfold.score.means import Mean
from tenfold.score.precision_recall import average_precision_of
from tenfold.score.probability import row_surprise, squared_distance
from tenfold.score.ranks import MOST_DISTINCT, RankRows, RankSketch
from tenfold.score.regression import ResidualSpread, ValueSums, poisson_sums_of
from tenfold.score.relative_errors import Shares, gamma_sums_of, log_sums_of
from tenfold.score.roc import auc_of
from tenfold.score.silhouette import silhouette_score

Weights = Array | None
NORMALISED = 1e-12  # |log Σ exp(s)| of log posteriors that were divided by their sum


def largest(scores: Array) -> Array:
    """The number of the largest score of each row."""
    native = scores.dtype == np.float64 and scores.flags.c_contiguous
    return cast(Array, _evaluate.largest_columns(scores)) if native else scores.argmax(axis=1)


# --- losses of rows -----------------------------------------------------------------------------------------


def zero_one(codes: Array, scores: Array) -> Array:
    """[ŷ ≠ y]."""
    return np.asarray(largest(scores) != codes, dtype=np.float64)


def squared_probability(codes: Array, scores: Array) -> Array:
    """‖p − e_y‖², halved for two classes, as `brier_score_loss` is."""
    return np.asarray(squared_distance(codes, softmax(scores)) * (0.5 if scores.shape[1] == 2 else 1.0))


def squared(truth: Array, value: Array) -> Array:
    """(y − ŷ)², the mean over targets."""
    return np.asarray(((truth - value.reshape(truth.shape)) ** 2).mean(axis=1))


def absolute(truth: Array, value: Array) -> Array:
    """|y − ŷ|, the mean over targets."""
    return np.asarray(np.abs(truth - value.reshape(truth.shape)).mean(axis=1))


# --- classes ------------------------------------------------------------------------------------------------


def hits(codes: Array, scores: Array, w: Weights) -> Mean:
    return Mean.of(largest(scores) == codes, w)


def errors(codes: Array, scores: Array, w: Weights) -> Mean:
    return Mean.of(largest(scores) != codes, w)


def surprises(codes: Array, scores: Array, w: Weights) -> Mean:
    return Mean.of(row_surprise(codes, scores), w)


def distances(codes: Array, scores: Array, w: Weights) -> Mean:
    return Mean.of(squared_probability(codes, scores), w)


def confusion(codes: Array, scores: Array, w: Weights) -> Confusion:
    return Confusion.of_labels(Labels(*check.encode(codes), *check.encode(largest(scores)), w))


def by_class(confusion: Confusion, share: str, average: str) -> float:
    """Precision, recall or F₁; one class against the other is the second; a ratio without rows is 0."""
    counted = confusion.by_class(None, average, 1)
    return float(counted.fbeta(1.0, 0) if share == "f1" else getattr(counted, share)(0))


def rank_rows(codes: Array, scores: Array, w: Weights) -> RankRows:
    return RankRows.of(_ranked(codes, scores, w))


def rank_sketch(codes: Array, scores: Array, w: Weights) -> RankSketch:
    return RankSketch.of(_ranked(codes, scores, w))


def _ranked(codes: Array, scores: Array, w: Weights) -> Scores:
    k = scores.shape[1]
    ranked = scores[:, 1:] - scores[:, :1] if k == 2 else _log_probabilities(scores)  # log odds do not saturate
    return Scores(np.arange(k), codes, ranked, w)


def _log_probabilities(scores: Array) -> Array:
    """s − log Σ exp(s) by rows; what has a sum of 1 but for rounding stays as it is, so that equal probabilities stay equal."""
    top = scores.max(axis=1, keepdims=True)
    total = top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
    return np.asarray(np.where(np.abs(total) <= NORMALISED, scores, log_softmax(scores)))


def area(ranks: Any, multi_class: str = "ovr", average: str = "macro") -> float:
    """Under the ROC curve; of more than two classes, of each against the others ("ovr") or of pairs ("ovo"), averaged."""
    return float(auc_of(ranks, average, multi_class=multi_class).value)


def precision_area(ranks: Any) -> float:
    """The average precision; of more than two classes, of each against the others, averaged."""
    return float(average_precision_of(ranks).value)


# --- numbers ------------------------------------------------------------------------------------------------


def sums(truth: Array, value: Array, w: Weights) -> ValueSums:
    return ValueSums.of_values(Values(truth, value, w))


def residual_spread(truth: Array, value: Array, w: Weights) -> ResidualSpread:
    return ResidualSpread.of_values(Values(truth, value, w))


def largest_error(truth: Array, value: Array, w: Weights) -> LargestError:
    return LargestError.of_values(Values(truth, value, w))


def absolute_errors(truth: Array, value: Array, w: Weights) -> AbsoluteErrors:
    return AbsoluteErrors.of_values(Values(truth, value, w), most=2**62)


def absolute_sketch(truth: Array, value: Array, w: Weights) -> AbsoluteErrors:
    return AbsoluteErrors.of_values(Values(truth, value, w), most=MOST_DISTINCT)


def median(errors: AbsoluteErrors) -> float:
    return float(errors.median().value)


def shares(truth: Array, value: Array, w: Weights) -> Shares:
    return Shares.of_values(Values(truth, value, w))


def log_sums(truth: Array, value: Array, w: Weights) -> ValueSums:
    return log_sums_of(Values(truth, value, w))


def gamma_deviances(truth: Array, value: Array, w: Weights) -> Mean:
    return gamma_sums_of(Values(truth, value, w))


def deviances(truth: Array, value: Array, w: Weights) -> Mean:
    return poisson_sums_of(Values(truth, value, w))


# --- groups -------------------------------------------------------------------------------------------------


def rows(X: Array, groups: Array, w: Weights = None) -> Rows:
    return Rows.of((np.asarray(X), np.asarray(groups), np.ones(len(groups)) if w is None else np.asarray(w)))


def _of_all(score: Any, kept: Rows, **parameters: Any) -> float:
    """A score of rows and their groups that needs all of them."""
    X, groups, w = (np.concatenate(part) for part in zip(*kept.parts, strict=True))
    return float(score(X, groups, sample_weight=w, **parameters))


silhouette = partial(_of_all, silhouette_score)
calinski_harabasz = partial(_of_all, calinski_harabasz_score)
davies_bouldin = partial(_of_all, davies_bouldin_score)


def contingency(truth: Array, groups: Array, w: Weights) -> Contingency:
    return Contingency.of_labels(Labels(*check.encode(truth), *check.encode(groups), w))
