"""What generative classifiers share: prior probabilities, and the refusal of too few rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn


def class_priors(learner: Estimator, weight: Array, *, renormalise: bool = True) -> Array:
    """The given priors, or the share of each class in the weight."""
    if learner.priors is None:
        return np.asarray(weight / weight.sum())
    return given_priors(type(learner).__name__, learner.priors, weight, renormalise=renormalise)


def given_priors(name: str, given: Any, weight: Array, *, renormalise: bool = True) -> Array:
    """Priors that a user has given to the learner of this name."""
    try:
        priors = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter(f"{name}(priors={str(given)[:60]}): must be one number for each class") from None
    if priors.shape != weight.shape:
        raise BadParameter(f"{name}(priors=...): Number of priors must match number of classes, {len(weight)}")
    if not (priors >= 0).all():
        raise BadParameter(f"{name}(priors=...): {'priors' if renormalise else 'Priors'} must be non-negative")
    total = priors.sum()
    if abs(total - 1) <= 1e-5:
        return priors
    if not renormalise or not 0 < total < np.inf:
        raise BadParameter(f"{name}(priors=...): The sum of the priors should be 1, not {total:g}")
    warn(
        f"{name}: The priors do not sum to 1. Renormalizing: they were divided by {total:g}",
        DataWarning,
        stacklevel=2,
    )
    return np.asarray(priors / total)


def log_priors(priors: Array, weight: Array) -> Array:
    """Their logarithms; −∞ for a class of prior zero or without rows: it is never predicted."""
    with np.errstate(divide="ignore"):
        return np.where(weight > 0, np.log(priors), -np.inf)


def not_yet(reason: str, *attributes: str) -> dict[str, Any]:
    """What is fitted where the rows are not enough: `fit` refuses them, `partial_fit` may bring more."""
    return {"absent_": dict.fromkeys(attributes, reason)}


def refuse_if_not_yet(learner: Estimator) -> None:
    """For `fit`, after which no more rows come."""
    if "absent_" in vars(learner):
        raise BadInput(next(iter(learner.absent_.values())))
