"""Isotonic regression: the nearest sequence that never falls."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold import _evaluate
from tenfold.base.check import as_weights
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter


def isotonic_regression(
    y: Any,
    *,
    sample_weight: Any = None,
    y_min: float | None = None,
    y_max: float | None = None,
    increasing: bool = True,
) -> Array:
    """The never falling sequence nearest to y:  min Σ w (z − y)²  over  z₁ ≤ z₂ ≤ ...,  kept within y_min and y_max.

    Pool adjacent violators (Ayer et al. 1955): neighbours in the wrong order get their mean until none is left.
    increasing=False: the nearest sequence that never rises.

    >>> from tenfold.evaluate import isotonic_regression
    >>> isotonic_regression([1.0, 3.0, 2.0, 4.0]).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    values = np.asarray(y, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not ops.all_finite(values):
        raise BadInput(f"y has shape {values.shape}: give a column of at least one number, all finite")
    if y_min is not None and y_max is not None and y_min > y_max:
        raise BadParameter(f"y_min={y_min!r} is above y_max={y_max!r}: exchange them")
    w = as_weights(sample_weight, len(values))
    if not increasing:
        values, w = values[::-1], None if w is None else w[::-1]
    whole = _pooled(values, w)
    if y_min is not None or y_max is not None:
        whole = np.clip(whole, y_min, y_max)
    whole = whole if increasing else whole[::-1]
    return whole.astype(np.float32) if getattr(y, "dtype", None) == np.float32 else whole


def _pooled(values: Array, w: Array | None) -> Array:
    """The nearest sequence that never falls; a row of weight zero has the value of the row before it."""
    if w is None or w.all():
        weights = np.empty(0) if w is None else np.ascontiguousarray(w)
        return _evaluate.pool_neighbours(np.ascontiguousarray(values), weights)
    kept = np.flatnonzero(w)
    found = _evaluate.pool_neighbours(values[kept], w[kept])
    return found[np.maximum(np.searchsorted(kept, np.arange(len(w)), "right") - 1, 0)]


def isotonic_map(x: Array, y: Array, w: Array) -> tuple[Array, Array]:
    """Knots of the never falling function nearest to the points; rows of equal x share one value."""
    knots, code = np.unique(x, return_inverse=True)
    weight: Array = np.bincount(code, w)
    level = _evaluate.pool_neighbours(np.bincount(code, w * y) / weight, weight)
    # Inside a flat stretch only its two ends matter.
    inner = np.zeros(len(level), dtype=bool)
    inner[1:-1] = (level[1:-1] == level[:-2]) & (level[1:-1] == level[2:])
    return knots[~inner], level[~inner]
