"""How far a neighbourhood reaches that holds a share of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy.spatial.distance import cdist

from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadParameter
from tenfold.gate.containers import as_table
from tenfold.score.kinds import check_finite

PAIRS = 1 << 22  # distances at a time


class _Rows:
    """What the gate asks of who takes a table."""

    sparse = False


def estimate_bandwidth(X: Any, *, quantile: float = 0.3, n_samples: int | None = None, random_state: Any = 0, n_jobs: Any = None) -> float:
    """The mean distance of a row to the farthest of the nearest `quantile` of all rows, itself among them: a bandwidth for MeanShift.

    With `n_samples` only of so many rows, drawn by `random_state`. O(n² p) time in blocks; n_jobs has no effect: use tenfold.threads(n).

    >>> import tenfold
    >>> round(tenfold.estimate_bandwidth([[1, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]], quantile=0.5), 2)
    1.62
    """
    if not 0 <= quantile <= 1:
        raise BadParameter(f"quantile={quantile!r}: must be a number from 0 to 1")
    if n_samples is not None and (isinstance(n_samples, bool) or not isinstance(n_samples, (int, np.integer)) or n_samples < 1):
        raise BadParameter(f"n_samples={n_samples!r}: must be a whole number of at least 1, or None")
    rows, _ = as_table(_Rows(), X)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    check_finite(rows, "X", "values")
    if n_samples is not None:
        drawn = random_state if isinstance(random_state, RandomState) else RandomState(random_state)
        rows = rows[drawn.permutation(len(rows))[:n_samples]]
    return bandwidth_of(rows, np.ones(len(rows)), quantile)


def bandwidth_of(X: Array, w: Array, quantile: float = 0.3) -> float:
    """`estimate_bandwidth` of clean rows; a row of weight k is k rows."""
    n = float(w.sum())
    k = max(int(n * quantile), 1)
    step = max(1, PAIRS // len(X))
    plain = bool((w == 1).all())

    def some(start: int) -> float:
        away = cdist(X[start : start + step], X)
        if plain:
            return float(np.partition(away, k - 1, axis=1)[:, k - 1].sum())
        order = np.argsort(away, axis=1, kind="stable")
        last = (np.cumsum(w[order], axis=1) < k * (1 - 1e-12)).sum(axis=1)
        last = np.minimum(last, len(X) - 1)
        return float(w[start : start + step] @ away[np.arange(len(away)), order[np.arange(len(away)), last]])

    return float(sum(each(some, list(range(0, len(X), step)))) / n)
