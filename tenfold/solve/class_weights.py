"""The parameter `class_weight` of a classifier: one factor for each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter


def class_factors(model: Estimator, weight: Array, *, zero: bool = False) -> Array | None:
    """One factor for each class, or None; `weight` are the weights of the classes. Some may be 0 with `zero`."""
    given = model.class_weight
    if given is None:
        return None
    if isinstance(given, str):
        return np.asarray(weight.sum() / (len(weight) * weight))
    if isinstance(given, dict):
        labels = model.classes_.tolist()
        _check_names(model, given, labels)
        factors = np.array([given.get(label, 1.0) for label in labels])
        numbers = factors.dtype.kind in "fiub" and (np.isfinite(factors) & (factors >= 0) & (factors < 1e100)).all()
        if numbers and (factors.any() if zero else factors.all()):
            return factors.astype(np.float64)
    limits = "that are not negative nor all zero" if zero else "above 0"
    raise BadParameter(
        f"{type(model).__name__}(class_weight={repr(given)[:60]}): must be 'balanced', None, or a dict of "
        f"class: weight, with finite weights {limits}"
    )


def _check_names(model: Estimator, given: dict[Any, Any], labels: list[Any]) -> None:
    """A class that y does not have may be named beside all that it has: else a name was misspelled."""
    strange = [name for name in given if name not in labels]
    without = [label for label in labels if label not in given]
    if strange and without:
        raise BadParameter(
            f"{type(model).__name__}(class_weight={repr(given)[:60]}): {strange[0]!r} is no class of y, and class "
            f"{without[0]!r} has no weight: name the classes as they are in y"
        )
