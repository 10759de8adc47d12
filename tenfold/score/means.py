"""A weighted mean as a statistic: what most scores are, one loss for each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tenfold.core.data import Array
from tenfold.core.stats import Stats


@dataclass(slots=True)
class Mean(Stats):
    """Σ w and Σ w v over rows; v may have columns."""

    weight: float
    sum: Any

    @classmethod
    def of(cls, values: Array, w: Array | None) -> Self:
        if w is None:
            return cls(float(len(values)), values.sum(axis=0))
        return cls(float(w.sum()), w @ values)

    def value(self, normalize: bool = True) -> float:
        """Σ w v / Σ w, or the sum alone."""
        total = self.sum / self.weight if normalize else self.sum
        if np.ndim(total) == 0:
            return float(total)
        return float(np.mean(total) if normalize else np.sum(total))
