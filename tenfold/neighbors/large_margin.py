"""Large-margin nearest neighbours."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.near.index import NeighborIndex
from tenfold.neighbors.learned_metric import LearnedMetric, PairRisk


class Margins(PairRisk):
    """The pull of the rows of one class that are to be near, and the push of others that come nearer than one unit more."""

    def __init__(self, X: Array, y: Array, w: Array, k: int, push: float) -> None:
        super().__init__(X, y, w)
        self.push = push
        self.near, self.share = targets(self.X, y, w, k)

    def of_block(self, part: slice, D: Array) -> tuple[float, Array]:
        other = (self.y[part, None] != self.y) * self.w
        W, total, rows = np.zeros_like(D), 0.0, np.arange(len(D))
        for near, share in zip(self.near[part].T, self.share[part].T, strict=True):
            weight = self.w[part] * share
            here = D[rows, near]
            margin = 1 + here[:, None] - D
            pushed = np.where(margin > 0, other, 0.0)
            crowd = pushed.sum(axis=1)
            total += float(weight @ ((1 - self.push) * here + self.push * (pushed * margin).sum(axis=1)))
            W -= self.push * weight[:, None] * pushed
            W[rows, near] += weight * ((1 - self.push) + self.push * crowd)
        return total, W


def targets(X: Array, y: Array, w: Array, k: int) -> tuple[Array, Array]:
    """(rows, k): the nearest rows of the same class, and how often each counts: a row of weight 2 is near itself once, and counts twice.
    A row that has fewer of them has itself in their place, which counts nothing."""
    own = np.arange(len(X))
    near, share = np.tile(own[:, None], (1, k + 1)), np.zeros((len(X), k + 1))
    share[:, 0] = np.clip(w - 1, 0, k)
    for label in np.unique(y):
        mine = np.flatnonzero(y == label)
        most = min(k, len(mine) - 1)
        if most:
            found = mine[NeighborIndex(X[mine]).nearest(k=most)[1]]
            left = k - share[mine, :1] - np.hstack([np.zeros((len(mine), 1)), np.cumsum(w[found], axis=1)[:, :-1]])
            near[mine, 1 : most + 1] = found
            share[mine, 1 : most + 1] = np.clip(left, 0, w[found])
    return near, share


@estimator
class LargeMarginNearestNeighbor(LearnedMetric):
    """LargeMarginNearestNeighbor: a linear map after which the nearest rows are of one class, and others stay a margin away.

    Model       z = A x, Dᵢⱼ = |zᵢ − zⱼ|²; j → i: j is one of the k nearest rows of i's class, before the map
    Objective   min over A of (1 − μ) Σ_{j→i} Dᵢⱼ + μ Σ_{j→i} Σ_{l of another class} max(0, 1 + Dᵢⱼ − Dᵢₗ)
    Algorithm   L-BFGS from `init`, with all rows that come too near; pairs in blocks, no table of all
    Cost        O(n² k) time for a pass, O(n (p + k)) memory; keeps the rows while it fits
    Fails when  columns have different units (scale them first): they decide which rows are to be near
    Reference   Weinberger & Saul 2009

    Example
    -------
    >>> import tenfold
    >>> X, y = [[0.0, 0.0], [4.0, 0.1], [9.0, 0.0], [0.0, 1.0], [4.0, 1.1], [9.0, 1.0]], [0, 0, 0, 1, 1, 1]
    >>> A = tenfold.LargeMarginNearestNeighbor(n_neighbors=1).fit(X, y).components_
    >>> bool(abs(A[:, 1]).max() > 2 * abs(A[:, 0]).max())
    True
    """

    _: KW_ONLY
    n_neighbors: int = param(default=3, at_least=1, doc="k, the rows of its class that each is to be near")
    push: float = param(default=0.5, at_least=0, at_most=1, doc="μ, what the margins count; the distances count 1 − μ")

    def _risk(self, X: Array, y: Array, w: Array) -> PairRisk:
        return Margins(X, y, w, self.n_neighbors, self.push)
