"""Sums over rows that are the same in any order, in one process or several: whole numbers, or exact sums (67 words of 32 bits each)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold import _boost
from tenfold.core.data import Array


class Travels:
    """Base of what is sent between processes: arrays that arrive at any byte are moved to where kernels take them."""

    __slots__ = ()

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        for name, value in state[1].items():
            setattr(self, name, [_ready(one) for one in value] if isinstance(value, list) else _ready(value))


def _ready(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) and value.ctypes.data % 16 else value


@dataclass(slots=True)
class Whole(Travels):
    """Sums in whole numbers, one array after the other."""

    arrays: list[Array]

    def __add__(self, other: Whole) -> Whole:
        return Whole([a + b for a, b in zip(self.arrays, other.arrays, strict=True)])

    def values(self) -> Array:
        """What the exact sums of the first array stand for."""
        return _boost.exact_values(self.arrays[0])


def exact_by(group: Array, values: Array, n: int) -> Whole:
    """Exact sums of values by group 0, ..., n − 1."""
    return Whole([_boost.exact_sums(values, group.astype(np.int32), n)])
