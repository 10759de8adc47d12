"""Kernel regression: a weighted mean, or a weighted line, around every point."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar

import numpy as np

from tenfold.core import check
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import Summarize, each
from tenfold.core.errors import BadParameter
from tenfold.core.estimator import Estimator, Regressor
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Rows

PAIRS = 1 << 17  # pairs of rows handled at a time
TRIED = np.geomspace(0.1, 4.0, 25)  # of Silverman's bandwidth, by leave-one-out
SPECK = 1e-12  # a column with less spread than this share of its values is constant


def table(block: Block) -> Rows:
    """Rows, targets and weights side by side."""
    return Rows.of(np.column_stack([block.X.astype(np.float64), block.y, block.w]))


@estimator
class KernelRegressor(Regressor, Estimator):
    """KernelRegressor: a mean or a line fitted around every point, nearer rows counting more.

    Model       f(x) = the value at x of the constant (Nadaraya-Watson) or the line that fits best around it
    Objective   min over a, b of  Σᵢ sᵢ K((xᵢ − x) / h) (yᵢ − a − b·(xᵢ − x))²,  f(x) = a;  degree 0: b = 0
    Algorithm   all rows are kept; kernels are relative to the nearest row, so that they never all vanish
    Cost        fit O(n p), with "leave_one_out" O(25 n² p); predict O(n p²) for each row; keeps all rows
    Fails when  there are many columns: every row is then far from all others; where the rows
                around x do not spread, the line is the least steep of those that fit
    Reference   Nadaraya 1964; Watson 1964; local lines: Cleveland 1979; bandwidth: Silverman 1986, §4.3.2

    Fitted      bandwidth_ (p,), loo_error_ (mean squared leave-one-out error, where that was asked for)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.linspace(0, 3, 31)[:, None]
    >>> model = tenfold.KernelRegressor(0.1, degree=1).fit(x, 2 * x[:, 0] + 1)
    >>> model.predict([[0.0], [1.5]]).round(6)
    array([1., 4.])
    """

    kind: ClassVar[str] = "keeps rows"
    multi_output: ClassVar[bool] = True

    bandwidth: object = param(
        "silverman",
        doc="h: a number, one for each column, 'silverman' (from spread and rows) or 'leave_one_out'",
    )
    _: KW_ONLY
    degree: int = param(1, at_least=0, at_most=1, doc="0: weighted means, 1: weighted lines")
    kernel: str = param(
        "gaussian", one_of=("gaussian", "epanechnikov", "tricube"), doc="K: how weight falls with distance"
    )

    def _learn(self, source: Source) -> Generator[Summarize, Any, dict[str, Any]]:
        p = self.n_features_in_
        given = self._given(p)
        rows = (yield table).whole()
        X, Y, w = rows[:, :p].copy(), rows[:, p:-1].copy(), rows[:, -1].copy()
        h = silverman(X, w) if given is None else given
        fitted = dict(_rows=X, _targets=Y[:, 0].copy() if self._flat else Y, _weights=w, bandwidth_=h)
        if isinstance(self.bandwidth, str) and self.bandwidth == "leave_one_out":
            errors = [left_out_error(X, Y, w, t * h, self.degree, self.kernel) for t in TRIED]
            best = int(np.argmin(errors))
            fitted.update(bandwidth_=TRIED[best] * h, loo_error_=errors[best])
        return fitted

    def _given(self, p: int) -> Array | None:
        """The bandwidth of each column, or None where it comes from the data."""
        if isinstance(self.bandwidth, str) and self.bandwidth in ("silverman", "leave_one_out"):
            return None
        try:
            h = np.asarray(self.bandwidth, dtype=np.float64)
        except (TypeError, ValueError):
            h = np.empty((0, 0))
        sound = h.ndim <= 1 and h.size in (1, p) and bool(((h > 1e-100) & (h < 1e100)).all())
        if not sound or isinstance(self.bandwidth, (bool, str)):
            raise BadParameter(
                f"KernelRegressor(bandwidth={check.short(self.bandwidth)}): must be a number above 0, one "
                f"for each of {p} columns, 'silverman' or 'leave_one_out'"
            )
        return np.broadcast_to(h.reshape(-1), p).copy()

    def _predict(self, X: Any) -> Array:
        Y = self._targets if self._targets.ndim == 2 else self._targets[:, None]
        step = max(1, PAIRS // len(Y))
        pieces = np.split(X.astype(np.float64), range(step, len(X), step))
        parts = each(
            lambda x: around(x, self._rows, Y, self._weights, self.bandwidth_, self.degree, self.kernel), pieces
        )
        out = np.concatenate(parts).astype(X.dtype, copy=False)
        return out[:, 0] if self._targets.ndim == 1 else out


def silverman(X: Array, w: Array) -> Array:
    """(4 / (p + 2))^(1/(p+4)) n^(−1/(p+4)) times the spread of each column; 1 for a constant one."""
    p, n = X.shape[1], float(w.sum())
    moments = Moments.of(X, np.zeros((len(X), 1)), w)
    spread = np.sqrt(np.diagonal(moments.scatter)[:p] / n)
    spread = np.where(spread > np.maximum(SPECK * np.abs(moments.mean[:p]), 1e-100), spread, 1.0)
    return (4 / (p + 2)) ** (1 / (p + 4)) * n ** (-1 / (p + 4)) * spread


def shares(x: Array, X: Array, w: Array, h: Array, kernel: str, skip: Array | None = None) -> Array:
    """(q, n) weights of the rows around each x, adding up to one; w is the weight of the rows themselves.

    Beyond the reach of a kernel that ends, its nearest row alone counts. `skip` holds for each x the row to
    take one copy of away.
    """
    d = np.zeros((len(x), len(X)))
    for j in range(X.shape[1]):
        d += ((x[:, [j]] - X[:, j]) / h[j]) ** 2
    W = np.broadcast_to(w, d.shape)
    if skip is not None:
        W = W.copy()
        W[np.arange(len(x)), skip] = np.maximum(W[np.arange(len(x)), skip] - 1.0, 0.0)
    near = np.where(W > 0, d, np.inf).min(axis=1, keepdims=True)
    if kernel == "gaussian":
        K = np.exp(-0.5 * (d - near))
    else:
        K = np.maximum(1 - d, 0.0) if kernel == "epanechnikov" else np.maximum(1 - d**1.5, 0.0) ** 3
        K = np.where(near < 1, K, d <= near * (1 + 1e-12))
    K = K * W
    return K / K.sum(axis=1, keepdims=True)


def around(
    x: Array, X: Array, Y: Array, w: Array, h: Array, degree: int, kernel: str, skip: Array | None = None
) -> Array:
    """(q, targets): the local constant or line at each x."""
    P = shares(x, X, w, h, kernel, skip)
    mean = P @ Y
    if degree == 0:
        return mean
    Z = (X - x[:, None]) / h  # (q, n, p)
    center = np.matmul(P[:, None, :], Z)  # (q, 1, p)
    Z -= center
    weighed = (Z * P[:, :, None]).transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(np.matmul(weighed, Z))
    T = np.matmul(weighed, Y) - weighed.sum(axis=2)[:, :, None] * mean[:, None]
    # directions in which the rows around x hardly spread have no slope
    kept = values > 1e-10 * np.maximum(values[:, -1:], 1e-4)
    inverse = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    slope = np.matmul(vectors, inverse[:, :, None] * np.matmul(vectors.transpose(0, 2, 1), T))
    return mean - np.matmul(center, slope)[:, 0]


def left_out_error(X: Array, Y: Array, w: Array, h: Array, degree: int, kernel: str) -> float:
    """Mean squared error of each row predicted from all others; a row of weight k is k rows."""
    if w.sum() <= 1:
        return 0.0
    step = max(1, PAIRS // len(X))

    def squares(start: int) -> float:
        rows = np.arange(start, min(start + step, len(X)))
        guess = around(X[rows], X, Y, w, h, degree, kernel, skip=rows)
        return float(w[rows] @ ((Y[rows] - guess) ** 2).sum(axis=1))

    return sum(each(squares, list(range(0, len(X), step)))) / float(w.sum())
