"""Gower's distance: of rows with numbers, categories and gaps."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter


class Gower:
    """d(x, y) = Σ w_j s_j / Σ w_j over the columns that both rows know, s_j = |x_j − y_j| / range of j, for categories x_j ≠ y_j.

    Ranges are those of the rows; a column of one value tells nothing apart but values of queries from it. Reference: Gower 1971.
    """

    def __init__(self, X: Array, params: dict[str, Any]) -> None:
        p = X.shape[1]
        self.category = _marked(params.pop("categorical", ()), p)
        weights = params.pop("w", None)
        self.weights = np.ones(p) if weights is None else np.asarray(weights, dtype=np.float64)
        if self.weights.shape != (p,) or not (self.weights >= 0).all() or not self.weights.any():
            raise BadParameter(f"metric_params: w must hold a weight of at least 0 for each of {p} columns, and not only zeros")
        known = np.where(np.isnan(X), -np.inf, X).max(axis=0), np.where(np.isnan(X), np.inf, X).min(axis=0)
        span = known[0] - known[1]
        self.span = np.where(np.isfinite(span) & (span > 0), span, 1.0)

    def __call__(self, Q: Array, R: Array) -> Array:
        """(queries, rows): distances of all pairs."""
        total, counted = np.zeros((len(Q), len(R))), np.zeros((len(Q), len(R)))
        for j in np.flatnonzero(self.weights):
            q, r = Q[:, j, None], R[None, :, j]
            apart = (q != r).astype(np.float64) if self.category[j] else np.abs(q - r) / self.span[j]
            if np.isnan(q).any() or np.isnan(r).any():
                known = ~(np.isnan(q) | np.isnan(r))
                total += np.where(known, self.weights[j] * apart, 0.0)
                counted += self.weights[j] * known
            else:
                total += self.weights[j] * apart
                counted += self.weights[j]
        if not counted.all():
            where = np.argwhere(counted == 0)[0]
            raise BadInput(
                f"metric 'gower': row {where[0]} of the block of queries and row {where[1]} have no column that both know, and so no "
                "distance: drop rows of gaps, or fill them (SimpleImputer)"
            )
        return np.asarray(total / counted)


def _marked(columns: Any, p: int) -> Array:
    """Which columns hold categories: numbers of columns, or a truth value for each."""
    given = np.asarray(columns)
    if given.size == 0:
        return np.zeros(p, dtype=bool)
    if given.dtype.kind == "b" and given.shape == (p,):
        return given
    if given.dtype.kind not in "iu" or given.ndim != 1 or given.min() < -p or given.max() >= p:
        raise BadParameter(f"metric_params: categorical={columns!r}: give the numbers of columns from 0 to {p - 1}, or {p} truth values")
    marked = np.zeros(p, dtype=bool)
    marked[given] = True
    return marked
