"""Losses of boosting by name: their number in the kernels, what raw sums begin with, how they are read, and how they are scored.

Sums begin with the best constant, or with the predictions of a learner that is given as `init`: the trees add what it leaves over.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tenfold import _boost
from tenfold.base.estimator import Classifier, Estimator, Regressor
from tenfold.base.members import copy_of, fit_member
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.score.record import Score
from tenfold.score.registry import find_score
from tenfold.tree.settings import refuse


@dataclass(frozen=True)
class Loss:
    """A loss of y and the raw prediction r; formulas are in src/kernels/boosting/losses.hpp."""

    name: str  # in the kernels too
    link: str = "identity"  # what r is of the mean: "identity", "log", "logit" or "half logit"
    renews: bool = False  # values of leaves are quantiles of what is left, not Newton steps
    factor: float = 1.0  # scikit-learn reports the loss times this

    @property
    def number(self) -> int:
        """That the kernels know it by."""
        return _boost.LOSSES[self.name]

    def start(self, mean: float) -> float:
        """The constant with the smallest loss, from the mean of the targets; where leaves are renewed it is a quantile instead."""
        if self.link == "identity":
            return mean
        if self.link == "log":
            return float(np.log(max(mean, np.finfo(np.float64).tiny)))
        mean = min(max(mean, EPSILON), 1 - EPSILON)
        logit = float(np.log(mean) - np.log1p(-mean))
        return logit if self.link == "logit" else logit / 2

    def check_targets(self, lowest: float, highest: float) -> None:
        """Refuses targets that it cannot take."""
        if self.name == "poisson" and (lowest < 0 or highest == 0):
            raise BadInput("loss='poisson' requires non-negative y and sum(y) > 0.")
        if self.name == "gamma" and lowest <= 0:
            raise BadInput("loss='gamma' requires strictly positive y.")

    def read(self, raw: Array) -> Array:
        """The prediction that raw sums stand for."""
        return np.exp(np.minimum(raw, 700.0)) if self.link == "log" else raw


EPSILON = float(np.finfo(np.float64).eps)
SMALLEST = float(np.finfo(np.float32).eps)  # of a share that is turned into a raw sum, and of what it lacks to 1
PROBABILITY = _boost.LOSSES["softmax"]  # the loss of one class, by its probability

LOSSES = {
    loss.name: loss
    for loss in (
        Loss("squared_error", factor=2.0),
        Loss("absolute_error", renews=True),
        Loss("huber", renews=True),
        Loss("quantile", renews=True),
        Loss("poisson", "log"),
        Loss("gamma", "log"),
        Loss("log_loss", "logit", factor=2.0),
        Loss("softmax", "softmax"),
        Loss("exponential", "half logit"),
    )
}


def weighted_quantile(values: Array, w: Array | None, q: float) -> float:
    """The smallest value up to which there is the share q of the weight; where exactly that is reached, the middle to the next."""
    order = np.argsort(values, kind="stable") if w is None else np.lexsort((w, values))
    values = values[order]
    reached = np.arange(1, len(values) + 1, dtype=np.float64) if w is None else np.cumsum(w[order])
    total = reached[-1]
    at = int(np.searchsorted(reached, q * total - 1e-12 * total))
    at = min(at, len(values) - 1)
    if reached[at] > q * total + 1e-12 * total or at + 1 == len(values):
        return float(values[at])
    return float(values[at] / 2 + values[at + 1] / 2)


def priors(weights: Array) -> Array:
    """The logarithms of the shares of the classes."""
    return np.asarray(np.log(np.maximum(weights / weights.sum(), EPSILON)))


def loss_of(model: Estimator) -> Loss:
    """The loss that a learner's parameter names, for the classes it has."""
    several = model.target == "label" and model.loss == "log_loss" and len(model.classes_) > 2
    return LOSSES["softmax" if several else model.loss]


# --- how sums are read; the mixins stand beside Boosted, which the type checker is told ---------------------------------

if TYPE_CHECKING:
    from tenfold.tree.boosting.boosting import Boosted

    class _Number(Regressor, Boosted):
        loss: str

    class _Label(Classifier, Boosted):
        loss: str
else:
    _Number, _Label = Regressor, Classifier


class BoostedRegressor(_Number):
    """Mixin: reads the sum of the trees as a number."""

    def _predict(self, X: Any) -> Array:
        return self._read(self._raw(X), X.dtype)

    def _read(self, raw: Array, dtype: Any) -> Array:
        return loss_of(self).read(raw[:, 0]).astype(dtype, copy=False)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """The predictions after each round."""
        return self._staged(X, self._read)


class BoostedClassifier(_Label):
    """Mixin: reads the sums of the trees as scores of classes."""

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    def _scores(self, X: Any) -> Array:
        return self._sharpness() * self._decisions(X)

    def _decisions(self, X: Any) -> Array:
        return self._class_scores(self._raw(X))

    def _class_scores(self, raw: Array) -> Array:
        return np.hstack([np.zeros_like(raw), raw]) if raw.shape[1] == 1 else raw

    def _probabilities(self, X: Any) -> Array:
        return self._shares(self._raw(X), X.dtype)

    def _log_probabilities(self, X: Any) -> Array:
        scores = self._scores(X)
        shifted = (scores - scores.max(axis=1, keepdims=True)).astype(X.dtype, copy=False)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))

    def _sharpness(self) -> float:
        """Scores times this are logarithms of probabilities, up to a constant."""
        return 2.0 if self.loss == "exponential" else 1.0

    def _shares(self, raw: Array, dtype: Any) -> Array:
        scores = self._sharpness() * self._class_scores(raw)
        odds = np.exp((scores - scores.max(axis=1, keepdims=True)).astype(dtype, copy=False))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """The predicted classes after each round."""
        return self._staged(X, lambda raw, dtype: self.classes_[self._class_scores(raw).argmax(1)])

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """The probabilities after each round."""
        return self._staged(X, self._shares)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """The scores after each round."""
        return self._staged(X, lambda raw, dtype: raw[:, 0] if raw.shape[1] == 1 else raw)


# --- a learner to begin with ------------------------------------------------------------------------------------------


def given_learner(model: Estimator) -> Any:
    """The learner that `init` holds, or None where it is a constant."""
    given = model.init
    if given is None or isinstance(given, str):
        return None
    verbs = ("fit", "predict_proba" if model.role == "classifier" else "predict")
    fits = not isinstance(given, type) and all(hasattr(given, verb) for verb in verbs)
    if not fits or (isinstance(given, Estimator) and given.role not in (model.role, "")):
        asked = " and ".join(map(repr, verbs))
        raise refuse(
            model,
            "init",
            f"The 'init' parameter of {type(model).__name__} must be a str among {{'zero'}}, None or an object implementing {asked}.",
        )
    return given


def fitted_init(model: Estimator, X: Array, y: Array, w: Array | None, category: Array, seed: int) -> Any:
    """A copy of the learner that `init` holds, fitted to these rows."""
    given = given_learner(model)
    target = y.astype(np.int64) if model.target == "label" else y
    if isinstance(given, Estimator):
        if category.any() and not given.categorical:
            raise refuse(model, "init", "does not take columns of categories: use a tree, or encode them before")
        return fit_member(copy_of(given, seed), X, target, w, category)
    member = deepcopy(given)
    if w is None:
        return member.fit(X, target)
    if "sample_weight" not in inspect.signature(member.fit).parameters:
        raise refuse(model, "init", f"The initial estimator {type(given).__name__} does not support sample weights")
    return member.fit(X, target, sample_weight=w)


def raw_of(model: Estimator, member: Any, X: Array) -> Array:
    """(rows, outputs): the predictions of a fitted learner, as sums that trees may be added to."""
    if model.target == "real":
        raw = np.asarray(member.predict(X), dtype=np.float64).reshape(X.shape[0], 1)
    else:
        probabilities = np.zeros((X.shape[0], len(model.classes_)))
        probabilities[:, np.asarray(member.classes_, dtype=np.int64)] = member.predict_proba(X)
        logs = np.log(np.clip(probabilities, SMALLEST, 1 - SMALLEST))
        if probabilities.shape[1] > 2:
            raw = logs - logs.mean(axis=1, keepdims=True)
        else:
            logit = logs[:, 1:] - np.log1p(-np.clip(probabilities[:, 1:], SMALLEST, 1 - SMALLEST))
            raw = logit / 2 if loss_of(model).link == "half logit" else logit
    if not np.isfinite(raw).all():
        raise BadInput(f"{type(model).__name__}(init={type(member).__name__}): it predicts numbers that are not finite")
    return raw


# --- the parameter `scoring`, where it is not the loss: a score by name or a function, greater is better ----------------


def score_of(model: Estimator) -> Score:
    """The score that `scoring` asks for; refuses what is none of these classes."""
    n_classes = len(model.classes_) if model.target == "label" else None
    owner = type(model).__name__
    return find_score(model.scoring, model.role, n_classes, parameter="scoring", owner=owner, also=("loss",))


def utility(model: Estimator, y: Array, raw: Array, w: Array | None) -> float:
    """Of targets (n,), raw sums (outputs, n) and weights (n,) or None."""
    if model.target == "label":
        return score_of(model).utility(
            y.astype(np.int64), model._sharpness() * model._class_scores(raw.T), w, model.classes_
        )
    return score_of(model).utility(y[:, None], model._read(raw.T, np.float64)[:, None], w)
