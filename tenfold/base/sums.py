"""Fits that follow from sums over rows: what evaluation merges instead of fitting again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sums:
    """What is summed, and what follows from the sums of any set of training rows.

    `summarize(block)` has `+`. `solve(total, values)` gives fitted learners: one for each of the values of the path parameter, or one
    where there are no values; None where the sums are not exact enough, so that the rows have to be read again.
    """

    summarize: Callable[[Any], Any]
    solve: Callable[[Any, list[Any]], list[Any] | None]
    size: int = 0  # bytes of one sum, where it may be large
    key: Any = None  # sums of the same rows with equal keys are the same, also of learners with other parameters; None: no others are


def hashable(value: Any) -> Any:
    """Equal for equal values of a parameter. Those that cannot be hashed are the same only if they are one object."""
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    return type(value), value
