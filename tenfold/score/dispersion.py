"""Scores of a grouping without known groups: how far the groups lie apart, against how far their rows are spread."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.stats import Spread
from tenfold.score.silhouette import as_rows, groups_of


def calinski_harabasz_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """(B / (k − 1)) / (W / (n − k)): the scatter between k groups over the scatter within them, each by its degrees of freedom.

    B = Σₖ nₖ ‖mₖ − m‖² and W = Σᵢ ‖xᵢ − m of its group‖²: greater is better, and about 1 where groups say nothing. Where W is zero, 1.
    Weights count copies of a row.

    >>> from tenfold.evaluate import calinski_harabasz_score
    >>> round(calinski_harabasz_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 3)
    200.0
    """
    _, _, k, w, found = _spreads(X, labels, sample_weight, "this score")
    n, weight, means = float(w.sum()), found.weight, found.mean
    within = float(found.scatter.sum())
    between = float(weight @ ((means - weight @ means / n) ** 2).sum(axis=1))
    return 1.0 if within == 0 else between * (n - k) / (within * (k - 1))


def davies_bouldin_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """The mean over groups of max over others of (sₖ + sⱼ) / ‖mₖ − mⱼ‖, with s the mean distance of the rows of a group from its mean m.

    Less is better: groups are narrow and far apart. Weights count copies of a row.

    >>> from tenfold.evaluate import davies_bouldin_score
    >>> round(davies_bouldin_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 3)
    0.1
    """
    from scipy.spatial.distance import cdist  # slow to load, and all who look for a score by its name load this file

    X, code, k, w, found = _spreads(X, labels, sample_weight, "this score")
    means = found.mean
    away = np.sqrt(((X - means[code]) ** 2).sum(axis=1))
    inside = np.bincount(code, w * away, minlength=k) / found.weight
    apart = cdist(means, means)
    if np.allclose(inside, 0) or np.allclose(apart, 0):
        return 0.0
    apart[apart == 0] = np.inf
    return float(((inside[:, None] + inside) / apart).max(axis=1).mean())


def _spreads(X: Any, labels: Any, sample_weight: Any, score: str) -> tuple[Array, Array, int, Array, Spread]:
    """Dense rows in double precision, their groups, weights, and weight, mean and scatter of each group."""
    X = np.ascontiguousarray(ops.dense(as_rows(X)), dtype=np.float64)
    code, _ = groups_of(X, labels, score)
    w = check.as_weights(sample_weight, len(X))
    w = np.ones(len(X)) if w is None else w
    X, code, w = X[w > 0], code[w > 0], w[w > 0]
    _, code = np.unique(code, return_inverse=True)  # groups of no weight are not there
    k = int(code.max()) + 1
    return X, code, k, w, Spread.by_group(X, code.astype(np.int64), w, k)
