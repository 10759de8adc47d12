"""Penalties that users give: one, or several to choose from."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, BadParameterType


def are_several(values: Any) -> bool:
    """Whether there is a list of penalties, whatever is in it."""
    return isinstance(values, (list, tuple)) or np.ndim(values) > 0


def positive_numbers(owner: str, name: str, values: Any, *, zero: bool = False) -> Array:
    """A list of finite numbers above zero (or zero, where it is allowed), as an array."""
    many = are_several(values)
    listed = list(values) if many else [values]
    for i, value in enumerate(listed):
        place = f"{owner}: {name}[{i}]" if many else f"{owner}: {name}"
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (float, int, np.floating, np.integer, numbers.Real)):
            raise BadParameterType(f"{place} must be an instance of float, not {type(value).__name__}")
        if not (float(value) > 0 or (zero and value == 0)) or not float(value) <= 1e100:
            raise BadParameter(f"{place} == {value}, must be {'>=' if zero else '>'} 0.0. At most 1e100 is allowed")
    if not listed:
        raise BadParameter(f"{owner}({name}=[]): must be one or more numbers")
    return np.array(listed, dtype=np.float64)
