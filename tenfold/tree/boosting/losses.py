"""Losses of boosting by name: their number in the kernels, the prediction to begin with, and how raw sums are read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenfold import _boost
from tenfold.base.estimator import Estimator
from tenfold.core.data import Array


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

    def read(self, raw: Array) -> Array:
        """The prediction that raw sums stand for."""
        return np.exp(np.minimum(raw, 700.0)) if self.link == "log" else raw


EPSILON = float(np.finfo(np.float64).eps)
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
