"""Neighbourhood components analysis."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.neighbors.learned_metric import LearnedMetric, PairRisk


class Neighborhoods(PairRisk):
    """−Σ wᵢ pᵢ."""

    sign = -1.0

    def of_block(self, part: slice, D: Array) -> tuple[float, Array]:
        log_p = np.log(self.w) - D
        with np.errstate(divide="ignore"):  # a row of weight 2 is its own neighbour, once
            log_p[np.arange(len(D)), np.arange(part.start, part.stop)] = np.log(np.maximum(self.w[part] - 1, 0))
        most = log_p.max(axis=1, keepdims=True)
        p = np.exp(log_p - np.where(np.isfinite(most), most, 0.0))
        p /= np.maximum(p.sum(axis=1, keepdims=True), 1e-300)
        same = self.y[part, None] == self.y
        right = (p * same).sum(axis=1)
        return -float(self.w[part] @ right), (same - right[:, None]) * p * self.w[part, None]


@estimator
class NeighborhoodComponentsAnalysis(LearnedMetric):
    """NeighborhoodComponentsAnalysis: a linear map after which a row drawn near another is of its class.

    Model       z = A x; row i draws j ≠ i as its neighbour with probability pᵢⱼ ∝ wⱼ exp(−|zᵢ − zⱼ|²)
    Objective   max over A of Σ wᵢ pᵢ, pᵢ = Σⱼ pᵢⱼ over the rows j of i's class
    Algorithm   L-BFGS from `init`; pairs in blocks, no table of all; ends where an iteration wins less than tol of the objective
    Cost        O(n² k + n p k) time for a pass, O(n (p + k)) memory; keeps the rows while it fits
    Fails when  columns have different units (scale them first); the objective has many maxima: `init` decides which is found
    Reference   Goldberger, Roweis, Hinton & Salakhutdinov 2004

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X, y = [[0.0, 0.0], [1.0, 1.1], [9.0, 0.1], [8.0, 1.0], [4.0, 0.2], [5.0, 0.9]], [0, 1, 0, 1, 0, 1]
    >>> A = tenfold.NeighborhoodComponentsAnalysis(n_components=1, random_state=0).fit(X, y).components_
    >>> bool(abs(A[0, 1]) > 10 * abs(A[0, 0]))
    True
    """

    _: KW_ONLY
    verbose: int = param(default=0, at_least=0, doc="no effect: use tenfold.progress()")

    def _risk(self, X: Array, y: Array, w: Array) -> PairRisk:
        return Neighborhoods(X, y, w)
