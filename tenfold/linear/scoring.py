"""The parameter `scoring` of a learner that chooses its own penalty: names of scikit-learn's, larger is better, or a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.base.sklearn_api import Protocol
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter

Score = Callable[[Array, Array, Array], float]  # of targets (n, q), predictions (n, q) and weights (n,)


def r2(y: Array, predicted: Array, w: Array) -> float:
    """1 − Σ w (y − ŷ)² / Σ w (y − ȳ)², averaged over targets; of a constant target, 1 if it is met and 0 if not."""
    weight = w / w.sum()
    spread, rest = weight @ (y - weight @ y) ** 2, weight @ (y - predicted) ** 2
    safe = np.where(spread > 0, spread, 1.0)
    return float(np.mean(np.where(spread > 0, 1 - rest / safe, np.where(rest > 0, 0.0, 1.0))))


def explained_variance(y: Array, predicted: Array, w: Array) -> float:
    rest = y - predicted
    return r2(y, predicted + (w / w.sum()) @ rest, w)


def _squares(y: Array, predicted: Array, w: Array) -> Array:
    return np.asarray(w @ (y - predicted) ** 2 / w.sum())


def _median(y: Array, predicted: Array, w: Array) -> float:
    """The weighted median of |y − ŷ|: of w copies of each row, the mean of the two in the middle."""
    found = []
    for rest in np.abs(y - predicted).T:
        order = np.argsort(rest, kind="stable")
        below = np.cumsum(w[order])
        low, high = np.searchsorted(below, below[-1] / 2, "left"), np.searchsorted(below, below[-1] / 2, "right")
        found.append(rest[order[[low, min(high, len(order) - 1)]]].mean())
    return -float(np.mean(found))


SCORES: dict[str, Score] = {
    "r2": r2,
    "explained_variance": explained_variance,
    "neg_mean_squared_error": lambda y, predicted, w: -float(_squares(y, predicted, w).mean()),
    "neg_root_mean_squared_error": lambda y, predicted, w: -float(np.sqrt(_squares(y, predicted, w)).mean()),
    "neg_mean_absolute_error": lambda y, predicted, w: -float((w @ np.abs(y - predicted) / w.sum()).mean()),
    "neg_median_absolute_error": _median,
    "neg_max_error": lambda y, predicted, w: -float(np.abs(y - predicted).max()),
}


class Echo(Protocol):
    """A model whose predictions are what it is given: for scorers that ask a model to predict."""

    role, target, multi_output = "regressor", "real", True
    sparse = missing = categorical = False

    def predict(self, X: Any) -> Any:
        return X


def score_of(model: Any) -> Score:
    """What the parameter `scoring` of a learner asks for."""
    scoring, name = model.scoring, type(model).__name__
    if isinstance(scoring, str) and scoring in SCORES:
        return SCORES[scoring]
    if isinstance(scoring, str) or not callable(scoring):
        raise BadParameter(
            f"{name}(scoring={str(scoring)[:40]!r}): must be None, one of {', '.join(SCORES)}, or a function scorer(model, X, y)"
        )

    def score(y: Array, predicted: Array, w: Array) -> float:
        flat = y.shape[1] == 1
        try:
            return float(scoring(Echo(), predicted[:, 0] if flat else predicted, y[:, 0] if flat else y))
        except Exception as reason:
            said = f"{type(reason).__name__}: {str(reason)[:200]}"
            raise BadParameter(
                f"{name}(scoring=...): scorer(model, X, y) must return a number, but raised {said}"
            ) from reason

    return score
