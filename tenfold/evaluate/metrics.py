"""Scores by name, for cross-validation: functions of (codes of the truth, scores of the classes) or (truth,
values), and weights.

Each is made of the statistics of the public scores; there is no second way to compute one. The rows were
checked before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tenfold import _evaluate
from tenfold.core import check
from tenfold.core.errors import BadParameter
from tenfold.core.estimator import log_softmax, softmax
from tenfold.evaluate.confusion import Confusion
from tenfold.evaluate.inputs import Array, Labels, Scores, Values
from tenfold.evaluate.means import Mean
from tenfold.evaluate.probability import squared_distance, surprise
from tenfold.evaluate.ranking import auc_of
from tenfold.evaluate.ranks import RankRows
from tenfold.evaluate.regression import ValueSums

LEAST_LOG = float(np.log(np.finfo(float).tiny))


@dataclass(frozen=True)
class Score:
    """A named score of (truth, output, weights): outputs are class scores (log posteriors) or predicted
    values.
    """

    name: str
    role: str  # "classifier" or "regressor"
    greater_is_better: bool
    of: Callable[[Array, Array, Array], float]

    @property
    def sign(self) -> float:
        """+1 where more is better: sign × score is always to be made large."""
        return 1.0 if self.greater_is_better else -1.0


def largest(scores: Array) -> Array:
    """The number of the largest score of each row."""
    native = scores.dtype == np.float64 and scores.flags.c_contiguous
    return cast(Array, _evaluate.largest_columns(scores)) if native else scores.argmax(axis=1)


def accuracy(codes: Array, scores: Array, w: Array) -> float:
    """Σ w [argmax s = y] / Σ w."""
    return Mean.of(largest(scores) == codes, w).value()


def balanced_accuracy(codes: Array, scores: Array, w: Array) -> float:
    """The mean recall of the classes present."""
    return _confusion(codes, scores, w).balanced_accuracy()


def f1_macro(codes: Array, scores: Array, w: Array) -> float:
    """The mean F₁ of the classes present, true or predicted."""
    return float(_confusion(codes, scores, w).by_class(None, "macro").fbeta(1.0, 0))


def _confusion(codes: Array, scores: Array, w: Array) -> Confusion:
    return Confusion.of_labels(Labels(*check.encode(codes), *check.encode(largest(scores)), w))


def log_loss(codes: Array, scores: Array, w: Array) -> float:
    """−Σ w log p(y) / Σ w, with p the softmax of the scores, not below the smallest float."""
    return Mean.of(surprise(log_softmax(scores)[np.arange(len(codes)), codes], LEAST_LOG), w).value()


def brier(codes: Array, scores: Array, w: Array) -> float:
    """Σ w ‖p − e_y‖² / Σ w."""
    return Mean.of(squared_distance(codes, softmax(scores)), w).value()


def roc_auc(codes: Array, scores: Array, w: Array) -> float:
    """The area under the ROC curve; of each class against the others, averaged, where there are more than
    two.
    """
    k = scores.shape[1]
    ranked = scores[:, 1:] - scores[:, :1] if k == 2 else log_softmax(scores)  # log odds do not saturate
    return float(auc_of(RankRows.of(Scores(np.arange(k), codes, ranked, w)), multi_class="ovr").value)


def _sums(truth: Array, value: Array, w: Array) -> ValueSums:
    return ValueSums.of_values(Values(truth, value, w))


SCORES = {
    score.name: score
    for score in (
        Score("accuracy", "classifier", True, accuracy),
        Score("log_loss", "classifier", False, log_loss),
        Score("brier", "classifier", False, brier),
        Score("balanced_accuracy", "classifier", True, balanced_accuracy),
        Score("f1_macro", "classifier", True, f1_macro),
        Score("roc_auc", "classifier", True, roc_auc),
        Score("r2", "regressor", True, lambda t, v, w: _sums(t, v, w).explained()),
        Score("mse", "regressor", False, lambda t, v, w: _sums(t, v, w).mse()),
        Score("rmse", "regressor", False, lambda t, v, w: _sums(t, v, w).mse() ** 0.5),
        Score("mae", "regressor", False, lambda t, v, w: _sums(t, v, w).mae()),
    )
}


def find_score(score: Any, role: str) -> Score:
    """The score by name; None is accuracy for classifiers and R² for regressors; a function (truth,
    prediction) is taken as it is.
    """
    if score is None:
        return SCORES["accuracy" if role == "classifier" else "r2"]
    if isinstance(score, Score):
        return score
    fitting = [name for name, known in SCORES.items() if known.role == role]
    if isinstance(score, str):
        if score not in fitting:
            raise BadParameter(
                f"score={score!r}: a {role} can be judged by {', '.join(fitting)}, or a function of (truth, prediction)"
            )
        return SCORES[score]
    if callable(score):
        return Score(getattr(score, "__name__", "score"), role, True, _wrapped(score, role))
    raise BadParameter(f"score={score!r}: must be one of {', '.join(fitting)}, or a function of (truth, prediction)")


def _wrapped(function: Callable[[Array, Array], float], role: str) -> Callable[[Array, Array, Array], float]:
    """A user's function sees codes of the true and predicted classes, or true and predicted values."""
    if role == "classifier":
        return lambda codes, scores, w: float(function(codes, scores.argmax(axis=1)))
    return lambda truth, value, w: float(function(truth.squeeze(), value.squeeze()))
