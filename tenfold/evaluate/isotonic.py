"""Isotonic regression: the nearest sequence that never falls."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.check import as_weights
from tenfold.core.errors import BadInput, BadParameter

Array = np.ndarray[Any, Any]


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
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise BadInput(f"y has shape {values.shape}: give a column of at least one number, all finite")
    if y_min is not None and y_max is not None and y_min > y_max:
        raise BadParameter(f"y_min={y_min!r} is above y_max={y_max!r}: exchange them")
    weights = as_weights(sample_weight, len(values))
    w = np.ones(len(values)) if weights is None else weights
    order = slice(None, None, 1 if increasing else -1)
    kept = np.flatnonzero(w[order] > 0)
    found = pooled(values[order][kept], w[order][kept])
    whole = (
        found if len(kept) == len(w) else found[np.maximum(np.searchsorted(kept, np.arange(len(w)), "right") - 1, 0)]
    )
    return np.clip(whole, y_min, y_max)[order] if (y_min, y_max) != (None, None) else whole[order]


def pooled(y: Array, w: Array) -> Array:
    """Pool adjacent violators, in O(n): falling runs all at once while that removes many, then one by one."""
    value, weight, size = y.astype(np.float64), w.astype(np.float64), np.ones(len(y), dtype=np.int64)
    while len(value) > 1:
        rising = value[1:] > value[:-1]
        start = np.flatnonzero(np.append(True, rising))
        if len(start) == len(value):
            return np.repeat(value, size)
        few = len(value) - len(start) < len(value) / 16
        total = np.add.reduceat(weight, start)
        value = np.add.reduceat(weight * value, start) / total
        size, weight = np.add.reduceat(size, start), total
        if few:
            return _one_by_one(value, weight, size)
    return np.repeat(value, size)


def _one_by_one(value: Array, weight: Array, size: Array) -> Array:
    """Blocks on a stack; a new block swallows those before it that are not below it."""
    stack: list[tuple[float, float, int]] = []
    for v, w, s in zip(value.tolist(), weight.tolist(), size.tolist(), strict=True):
        while stack and stack[-1][0] >= v:
            before, heavy, many = stack.pop()
            v, w, s = (before * heavy + v * w) / (heavy + w), heavy + w, many + s
        stack.append((v, w, s))
    return np.repeat([v for v, _, _ in stack], [s for _, _, s in stack])


def isotonic_map(x: Array, y: Array, w: Array) -> tuple[Array, Array]:
    """Knots of the never falling function nearest to the points; rows of equal x share one value."""
    knots, code = np.unique(x, return_inverse=True)
    weight = np.bincount(code, w)
    level = pooled(np.bincount(code, w * y) / weight, weight)
    # Inside a flat stretch only its two ends matter.
    inner = np.zeros(len(level), dtype=bool)
    inner[1:-1] = (level[1:-1] == level[:-2]) & (level[1:-1] == level[2:])
    return knots[~inner], level[~inner]
