"""The parameter `class_weight` of a classifier: one factor for each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter


def row_factors(model: Estimator, codes: Array, w: Array) -> Array | None:
    """One factor for each row, or None; of several targets (n, q) the product of theirs, with `class_weight` a list of dicts."""
    if model.class_weight is None:
        return None
    if codes.ndim == 1:
        factors = class_factors(model, np.bincount(codes, w, len(model.classes_)))
        return None if factors is None else np.asarray(factors[codes])
    given, product = model.class_weight, np.ones(len(w))
    if not isinstance(given, str) and not (isinstance(given, list) and len(given) == codes.shape[1]):
        raise BadParameter(
            f"{type(model).__name__}(class_weight={repr(given)[:60]}): number of elements in class_weight should match number of "
            f"outputs. y has {codes.shape[1]} columns: give 'balanced', or a list with a dict for each"
        )
    for k, (own, classes) in enumerate(zip(codes.T, model.classes_, strict=True)):
        total = np.bincount(own, w, len(classes))
        factors = _factors(model, given if isinstance(given, str) else given[k], classes.tolist(), total, zero=False)
        product *= factors[own]
    return product


def class_factors(model: Estimator, weight: Array, *, zero: bool = False) -> Array | None:
    """One factor for each class, or None; `weight` are the weights of the classes. Some may be 0 with `zero`."""
    given = model.class_weight
    return None if given is None else _factors(model, given, model.classes_.tolist(), weight, zero)


def _factors(model: Estimator, given: Any, labels: list[Any], weight: Array, zero: bool) -> Array:
    if isinstance(given, str):
        return np.asarray(weight.sum() / (len(weight) * weight))
    if isinstance(given, dict):
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
