"""Local means of many rows, as quotients of fast sums."""

from __future__ import annotations

import numpy as np

from tenfold._summation import KernelSums
from tenfold.core.data import Array
from tenfold.core.engine import each, lent_threads

GAUSSIAN = 0  # as the native sums number it (`Shape` in src/kernels/summation)
MANY_ROWS = 4096  # from which on a tree is worth its while
FEW_COLUMNS = 2  # with more, most rows are looked at anyway
TOLERANCE = 1e-10  # of the sums; of means a few times that of the range of the targets
POINTS = 512  # at a time
NONE, NO_WEIGHTS = np.empty(0, dtype=np.int64), np.empty(0)
FARTHEST = 1e150  # bandwidths
FAR = -1000.0  # logarithms of sums below have lost digits that their quotient needs


class FastMeans:
    """Σ w K y / Σ w K with Gaussian kernels, each sum to a relative tolerance: targets are counted from below the least, so that no term
    of a sum is negative."""

    def __init__(self, X: Array, Y: Array, w: Array, h: Array) -> None:
        self.center, self.h, self.w = X.mean(axis=0), h, w
        span = np.ptp(Y, axis=0)
        self.base = Y.min(axis=0) - np.where(span > 0, span, 1.0)
        self.parts = [w, *((Y - self.base) * w[:, None]).T]
        rows = self._scaled(X)
        with lent_threads() as threads:
            self.sums = [KernelSums(rows, np.ascontiguousarray(part), GAUSSIAN, TOLERANCE, threads) for part in self.parts]

    @staticmethod
    def suit(X: Array, w: Array, h: Array) -> bool:
        """Whether these rows are many, in few columns, all there, and not farther apart than bandwidths can say."""
        if len(X) < MANY_ROWS or X.shape[1] > FEW_COLUMNS or not (w > 0).all():
            return False
        with np.errstate(over="ignore"):
            return bool((np.ptp(X, axis=0) / h < FARTHEST).all())

    def _scaled(self, X: Array) -> Array:
        return np.ascontiguousarray(((X - self.center) / self.h).clip(-FARTHEST, FARTHEST))

    def at(self, points: Array, skip: Array) -> Array:
        """(points, targets): the mean around each, NaN where all rows are far; `skip` names the row that each is, to be left out once."""
        Z = self._scaled(points)
        order, found = self.sums[0].order(Z), np.empty((len(Z), len(self.parts) - 1))

        def some(start: int) -> None:
            part = order[start : start + POINTS]
            own = skip[part] if len(skip) else NONE
            share = np.minimum(1.0, 1.0 / self.w[own])  # of the weight of a row that one copy is
            logs = [sums.log_sums(Z[part], own, share * weights[own]) for sums, weights in zip(self.sums, self.parts, strict=True)]
            whole = np.where(logs[0] > FAR, logs[0], np.nan)
            found[part] = self.base + np.exp(np.stack(logs[1:], axis=1) - whole[:, None])

        each(some, list(range(0, len(Z), POINTS)))
        return found
