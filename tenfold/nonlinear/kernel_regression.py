"""Kernel regression: a weighted mean, or a weighted line, around every point."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold._local import local_sums
from tenfold.base import check
from tenfold.base.estimator import Estimator, Regressor
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import each
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Rows
from tenfold.core.threads import patiently
from tenfold.nonlinear.fast_means import FastMeans
from tenfold.solve.few_rows import are_few

PAIRS = 1 << 20  # pairs of rows handled at a time
COLUMNS = 256  # whose spread is found at a time
KERNELS = ("gaussian", "epanechnikov", "tricube")
NONE = np.empty(0, dtype=np.int64)
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
    Algorithm   all rows are kept; kernels are relative to the nearest row, so that they never all vanish; Gaussian means
                of 4,096 rows or more in one or two columns by sums to 1e-10 (a tree and series, as KernelDensity)
    Cost        fit O(n p), with "leave_one_out" O(25 n² p); predict O(n p²) for each row, and
                O(n² p + n³) where rows are fewer than half of the columns; keeps all rows
    Fails when  there are many columns: every row is then far from all others; where the rows
                around x do not spread, the line is the least steep of those that fit
    Reference   Nadaraya 1964; Watson 1964; local lines: Cleveland 1979; bandwidth: Silverman 1986, §4.3.2

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.linspace(0, 3, 31)[:, None]
    >>> model = tenfold.KernelRegressor(0.1, degree=1).fit(x, 2 * x[:, 0] + 1)
    >>> model.predict([[0.0], [1.5]]).round(6)
    array([1., 4.])
    """

    bandwidth_: Array = learned("float(p)", "bandwidth of each column")
    loo_error_: float = learned(
        "float", "mean squared leave-one-out error, where the bandwidth was chosen by it", optional=True
    )
    _rows: Array = learned("float(n,p)", "the training rows", rows=True)
    _targets: Array = learned("float(n,q)", "their targets", rows=True)
    _weights: Array = learned("float(n)", "their weights")

    kind: ClassVar[str] = "keeps rows"
    multi_output: ClassVar[bool] = True

    bandwidth: object = param(
        default="silverman",
        doc="h: a number, one for each column, 'silverman' (from spread and rows) or 'leave_one_out'",
    )
    _: KW_ONLY
    degree: int = param(default=1, at_least=0, at_most=1, doc="0: weighted means, 1: weighted lines")
    kernel: str = param(default="gaussian", one_of=KERNELS, doc="K: how weight falls with distance")

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        p = self.n_features_in_
        given = self._given(p)
        rows = (yield table).whole()
        X, Y, w = rows[:, :p].copy(), rows[:, p:-1].copy(), rows[:, -1].copy()
        h = silverman(X, w) if given is None else given
        fitted = dict(_rows=X, _targets=Y[:, 0].copy() if self._flat else Y, _weights=w, bandwidth_=h)
        if isinstance(self.bandwidth, str) and self.bandwidth == "leave_one_out":
            near = Neighbourhood(X, Y, w, self.degree, self.kernel)
            errors = [left_out_error(near, X, Y, w, t * h) for t in TRIED]
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
        near = Neighbourhood(self._rows, Y, self._weights, self.degree, self.kernel)
        out = near.at(X.astype(np.float64), self.bandwidth_).astype(X.dtype, copy=False)
        return out[:, 0] if self._targets.ndim == 1 else out


def silverman(X: Array, w: Array) -> Array:
    """(4 / (p + 2))^(1/(p+4)) n^(−1/(p+4)) times the spread of each column; 1 for a constant one."""
    p, n = X.shape[1], float(w.sum())
    some = [Moments.of(X[:, j : j + COLUMNS].copy(), np.zeros((len(X), 1)), w) for j in range(0, p, COLUMNS)]
    spread = np.sqrt(np.concatenate([np.diagonal(part.scatter)[:-1] for part in some]) / n)
    mean = np.concatenate([part.mean[:-1] for part in some])
    spread = np.where(spread > np.maximum(SPECK * np.abs(mean), 1e-100), spread, 1.0)
    return np.asarray((4 / (p + 2)) ** (1 / (p + 4)) * n ** (-1 / (p + 4)) * spread)


class Neighbourhood:
    """Rows, ready to be summed around points."""

    def __init__(self, X: Array, Y: Array, w: Array, degree: int, kernel: str) -> None:
        pad = -len(X) % 8  # rows without weight: the sums are taken eight rows at a time
        self.columns = np.ascontiguousarray(np.pad(X, ((0, pad), (0, 0))).T)
        self.targets = np.ascontiguousarray(np.pad(Y, ((0, pad), (0, 0))).T)
        self.weights, self.lines, self.kernel = np.pad(w, (0, pad)), bool(degree), KERNELS.index(kernel)
        self.n, self.wide = len(X), are_few(len(X), X.shape[1])
        self.rows = X, Y, w
        self.means = not degree and kernel == "gaussian"

    def at(self, points: Array, h: Array, skip: Array = NONE) -> Array:
        """(q, targets): the local constant or line at each point; `skip` names the row that each is, to leave out one copy of."""
        if not (self.means and FastMeans.suit(*self.rows[::2], h)):
            return self._row_by_row(points, h, skip)
        found = FastMeans(*self.rows, h).at(points, skip)
        far = np.isnan(found).any(axis=1)
        if far.any():
            found[far] = self._row_by_row(points[far], h, skip[far] if len(skip) else skip)
        return found

    def _row_by_row(self, points: Array, h: Array, skip: Array) -> Array:
        dual = self.lines and self.wide
        step = max(1, PAIRS // (self.n**2 if dual else self.n))
        starts = list(range(0, len(points), step))

        def some(start: int) -> Array:
            stop = start + step
            if dual:
                return self._in_dual(points[start:stop], h, skip[start:stop])
            return self._solved(
                local_sums(
                    points[start:stop], self.columns, self.targets, self.weights, 1 / h, self.kernel, self.lines,
                    skip[start:stop],
                )
            )  # fmt: skip

        return np.concatenate(each(some, starts)) if starts else np.empty((0, len(self.targets)))

    def _in_dual(self, points: Array, h: Array, skip: Array) -> Array:
        """The lines at points of more dimensions than there are rows, from the products of the rows with one another.

        With Z the rows about their mean, each times √k for its share k of the kernels, and T = Zᵀ(√k y):
        (ZᵀZ)⁺ T = Zᵀ (Z Zᵀ)⁺ (√k y), and the eigenvalues of ZᵀZ that are not zero are those of Z Zᵀ.
        """
        unit = np.pad(np.eye(self.n), ((0, 0), (0, len(self.weights) - self.n)))
        sums = local_sums(points, self.columns, unit, self.weights, 1 / h, self.kernel, False, skip)
        shares, Y = sums[:, 1:] / sums[:, :1], self.targets[:, : self.n].T
        found = np.empty((len(points), Y.shape[1]))
        for i, (point, k) in enumerate(zip(points, shares, strict=True)):
            near = np.flatnonzero(k)
            k, origin, y = k[near], self.columns[:, near[k[near].argmax()]], Y[near]
            Z, root = (self.columns[:, near].T - origin) / h, np.sqrt(k)[:, None]
            center, mean = k @ Z, k @ y
            Z = (Z - center) * root
            with np.errstate(over="ignore", invalid="ignore"):
                lever, S = Z @ ((point - origin) / h - center), Z @ Z.T
            lever[~np.isfinite(lever)] = 0.0
            found[i] = mean + lever @ self._pseudo_solve(S, root * (y - mean))
        return found

    def _pseudo_solve(self, S: Array, T: Array) -> Array:
        """S⁺ T; directions in which the rows around the points hardly spread have no slope."""
        sound = np.asarray(np.isfinite(S).all(axis=(-2, -1)) & np.isfinite(T).all(axis=(-2, -1)))[..., None, None]
        values, vectors = patiently(np.linalg.eigh, np.where(sound, S, 0.0))
        kept = values > 1e-10 * np.maximum(values[..., -1:], 1e-4)
        inverse = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
        turned = np.matmul(np.swapaxes(vectors, -1, -2), np.where(sound, T, 0.0))
        return np.asarray(np.matmul(vectors, inverse[..., None] * turned))

    def _solved(self, sums: Array) -> Array:
        """Of the sums of K, K z, K z zᵀ, K y, K z y, and the place of the point, the value there."""
        p, t = len(self.columns), len(self.targets)
        if not self.lines:
            return sums[:, 1:] / sums[:, :1]
        parts = np.split(sums / sums[:, :1], np.cumsum([1, p, p * (p + 1) // 2, t, p * t]), axis=1)
        _, center, products, mean, cross, _ = parts
        lower = np.tril_indices(p)
        S = np.empty((len(sums), p, p))
        S[:, lower[0], lower[1]] = S[:, lower[1], lower[0]] = products
        S -= center[:, :, None] * center[:, None, :]
        T = cross.reshape(-1, p, t) - center[:, :, None] * mean[:, None, :]
        slope = self._pseudo_solve(S, T)
        away = sums[:, -p:] - center
        away[~np.isfinite(away)] = 0.0
        return np.asarray(mean + np.matmul(away[:, None, :], slope)[:, 0])


def left_out_error(near: Neighbourhood, X: Array, Y: Array, w: Array, h: Array) -> float:
    """Mean squared error of each row predicted from all others; a row of weight k is k rows."""
    if w.sum() <= 1:
        return 0.0
    guess = near.at(X, h, np.arange(len(X)))
    return float(w @ ((Y - guess) ** 2).sum(axis=1) / w.sum())
