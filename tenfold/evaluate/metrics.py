"""Scores: how good predictions are, as a mean over rows or from a few sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.core.estimator import log_softmax

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Score:
    """A named score of (truth, output, weights): outputs are class scores (log posteriors) or predicted values."""

    name: str
    role: str  # "classifier" or "regressor"
    greater_is_better: bool
    of: Callable[[Array, Array, Array], float]

    @property
    def sign(self) -> float:
        """+1 where more is better: sign × score is always to be made large."""
        return 1.0 if self.greater_is_better else -1.0


def accuracy(codes: Array, scores: Array, w: Array) -> float:
    """Σ w [argmax s = y] / Σ w."""
    return float(np.average(scores.argmax(axis=1) == codes, weights=w))


def log_loss(codes: Array, scores: Array, w: Array) -> float:
    """−Σ w log p(y) / Σ w, with p the softmax of the scores, not below the smallest float."""
    log_p = log_softmax(scores)[np.arange(len(codes)), codes]
    return float(np.average(-np.maximum(log_p, np.log(np.finfo(float).tiny)), weights=w))


def brier(codes: Array, scores: Array, w: Array) -> float:
    """Σ w ‖p − e_y‖² / Σ w."""
    p = np.exp(log_softmax(scores))
    p[np.arange(len(codes)), codes] -= 1.0
    return float(np.average((p * p).sum(axis=1), weights=w))


def mean_squared_error(truth: Array, value: Array, w: Array) -> float:
    """Σ w (y − ŷ)² / Σ w, averaged over targets."""
    return float(np.average(((truth - value) ** 2).mean(axis=1), weights=w))


def mean_absolute_error(truth: Array, value: Array, w: Array) -> float:
    """Σ w |y − ŷ| / Σ w, averaged over targets."""
    return float(np.average(np.abs(truth - value).mean(axis=1), weights=w))


def r2(truth: Array, value: Array, w: Array) -> float:
    """1 − Σ w (y − ŷ)² / Σ w (y − ȳ)², averaged over targets."""
    rest = w @ (truth - value) ** 2
    spread = w @ (truth - np.average(truth, axis=0, weights=w)) ** 2
    flat = spread == 0
    return float(np.mean(np.where(flat, np.where(rest == 0, 1.0, 0.0), 1 - rest / np.where(flat, 1.0, spread))))


SCORES = {
    score.name: score
    for score in (
        Score("accuracy", "classifier", True, accuracy),
        Score("log_loss", "classifier", False, log_loss),
        Score("brier", "classifier", False, brier),
        Score("r2", "regressor", True, r2),
        Score("mse", "regressor", False, mean_squared_error),
        Score("rmse", "regressor", False, lambda t, v, w: mean_squared_error(t, v, w) ** 0.5),
        Score("mae", "regressor", False, mean_absolute_error),
    )
}


def find_score(score: Any, role: str) -> Score:
    """The score by name; None is accuracy for classifiers and R² for regressors; a function (truth, prediction) is taken as it is."""
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
