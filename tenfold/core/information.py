"""Entropy and information of weights, in nats: what scores, cuts of columns and distributions are computed with."""

from __future__ import annotations

import numpy as np

from tenfold.core.ops import Array


def entropy(weight: Array) -> Array:
    """−Σ p log p over the last axis, p the shares of the weights; 0 where there are none."""
    total = weight.sum(axis=-1, keepdims=True)
    p = weight / np.where(total > 0, total, 1.0)
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1)) + 0.0


def mutual_information(table: Array) -> float:
    """Σ p log p / (p of the row · p of the column) over the cells of a table of weights."""
    if 1 in table.shape or not table.size:
        return 0.0
    n = table.sum()
    i, j = np.nonzero(table)
    cell = table[i, j] / n
    rows, columns = table.sum(axis=1) / n, table.sum(axis=0) / n
    return max(0.0, float(cell @ (np.log(cell) - np.log(rows[i]) - np.log(columns[j]))))
