"""Standardising columns."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold import _columns
from tenfold.base import check
from tenfold.base.columns import ColumnSums
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Spread
from tenfold.prepare.scaler import brought_back, is_long, over, shifted_and_divided, shifted_and_multiplied, written
from tenfold.solve.columns import check_magnitude

TOGETHER = 128  # a byte holds the sum of as many truth values
EPS = float(np.finfo(float).eps)
FEWEST = 32.0  # rows whose rounding errors a column is granted at least


def column_spreads(X: Any, w: Array, present: Array | None = None) -> Spread:
    """Weight, mean and sum of squares of the values there are: every column is a group of its own. X is NaN where `present` is not true."""
    if present is None:
        whole = Spread.of(X, w)
        center, offset, scatter = whole.center.T, whole.offset.T, whole.scatter.T
        return Spread(np.full(len(center), whole.weight[0]), center, offset, scatter)
    weight = weight_of(present, w)
    safe = np.where(weight > 0, weight, 1.0)
    values, filled = np.ascontiguousarray(X, dtype=np.float64), np.empty(X.shape)
    _columns.fill(values, np.zeros(X.shape[1]), filled)
    center = (w / w.max()) @ filled / (safe / w.max())  # so that sums of large weights do not overflow
    _columns.fill(values, center, filled)  # at the mean, where nothing is added to the squares but rounding errors
    whole = Spread.of(filled, w)
    offset = ((whole.center[0] - center) + whole.offset[0]) * (w.sum() / safe)
    return Spread(weight, center[:, None], offset[:, None], whole.scatter[0][:, None])


def weight_of(marked: Array, w: Array) -> Array:
    """The weight of the marked values of each column. Where all weights are 1 they are counted, in bytes as far as those reach."""
    if not (w == 1).all() or not marked.flags.c_contiguous:
        return np.asarray(w @ marked)
    whole = len(marked) // TOGETHER * TOGETHER
    sums = np.add.reduce(marked[:whole].view(np.uint8).reshape(TOGETHER, -1), axis=0, dtype=np.uint8).reshape(-1, marked.shape[1])
    return np.asarray(np.add.reduce(sums, axis=0, dtype=np.float64) + np.add.reduce(marked[whole:], axis=0, dtype=np.float64))


def constant(var: Array, mean: Array, weight: Array) -> Array:
    """Whether a variance is within the rounding errors of a sum over so many rows, n ε σ² + n² ε² m² (Chan, Golub & LeVeque 1983)."""
    share = np.maximum(weight, FEWEST) * EPS
    return np.asarray(var <= share * var + (share * mean) ** 2)


@estimator
class StandardScaler(Transformer, OnePass):
    """StandardScaler: each column with mean 0 and variance 1.

    Model       z = (x − m) / s,  column by column
    Objective   m = Σ w x / Σ w,  s² = Σ w (x − m)² / Σ w  over the values that are not missing
    Algorithm   one pass of means and centred sums of squares
    Cost        O(n p) time, O(p) memory, one pass; merging O(p)
    Fails when  a column is constant up to rounding errors: s = 1 is used; missing values are left out of the sums
                and stay missing
    Reference   merge: Chan, Golub & LeVeque 1983

    Example
    -------
    >>> import numpy as np, tenfold
    >>> scaler = tenfold.StandardScaler().fit([[0.0], [2.0], [4.0], [np.nan]])
    >>> scaler.transform([[2.0], [4.0]]).round(4).tolist()
    [[0.0], [1.2247]]
    """

    mean_: Any = learned("real(p)|none", "mean of each column")
    var_: Any = learned("real(p)|none", "variance of each column")
    scale_: Any = learned("real(p)|none", "what each column is divided by")
    n_samples_seen_: Any = learned(
        "int|float|int(p)|float(p)", "number of rows; one for each column where values are missing"
    )
    stats_: Any = learned("Spread(p,1)", "the spreads: for partial_fit, merge and forget", optional=True)

    missing = True
    double: ClassVar[bool] = True
    by_column: ClassVar[bool] = True
    invertible: ClassVar[bool] = True

    _: KW_ONLY
    copy: bool = param(default=True, doc="False lets transform write over X")
    with_mean: bool = param(default=True, doc="subtract the mean; False also takes sparse X, which stays sparse")
    with_std: bool = param(default=True, doc="divide by the standard deviation")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"with_mean": False}]

    @property
    def sparse(self) -> bool:
        """Centring would fill every zero of a sparse table, so that is not done."""
        return not self.with_mean

    def _summarize(self, block: Block) -> Spread:
        X = ops.dense(block.X)
        stats = column_spreads(X, block.w)
        return column_spreads(X, block.w, ~np.isnan(X)) if np.isnan(stats.offset.sum()) and np.isnan(X).any() else stats

    def _solve(self, stats: Spread) -> dict[str, Any]:
        weight, mean, squares = stats.weight, stats.mean[:, 0], stats.scatter[:, 0]
        if self.with_std:
            check_magnitude(mean, squares, vars(self).get("feature_names_in_"))
        var = squares / np.where(weight > 0, weight, 1.0)
        scale = np.sqrt(var)
        scale[constant(var, mean, weight)] = 1.0
        empty = weight <= 0
        if empty.any():
            mean, var, scale = (np.where(empty, np.nan, values) for values in (mean, var, scale))
        seen: Any = weight.astype(np.int64) if (weight == np.floor(weight)).all() else weight
        return dict(
            mean_=mean if self.with_mean or self.with_std else None,
            var_=var if self.with_std else None,
            scale_=scale if self.with_std else None,
            n_samples_seen_=seen[0] if (weight == weight[0]).all() else seen,
        )

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None) -> Self:
        """Learn more rows; equal to a fit on all rows so far."""
        return super().partial_fit(X, y, sample_weight=sample_weight)

    def _from_columns(self, columns: ColumnSums) -> Spread:
        return columns.present

    def _column_map(self) -> tuple[Array | None, Any, Any]:
        return None, self.mean_ if self.with_mean else 0.0, self.scale_ if self.with_std else 1.0

    def _transform(self, X: Any) -> Any:
        if ops.is_sparse(X):
            return X if self.scale_ is None else X.multiply(1 / self.scale_).tocsr().astype(X.dtype)
        Z = np.empty(X.shape)
        self._write(X, Z)
        return Z if Z.dtype is X.dtype else Z.astype(X.dtype, copy=False)

    def _write(self, X: Array, out: Array) -> None:
        shifted_and_divided(X, self.mean_ if self.with_mean else 0.0, self.scale_ if self.with_std else 1.0, out)

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """The rows in units of their deviations; copy=False writes them over X where it is an array of floats."""
        rows = check.check_predict(self, X)
        rows = written(self._write, rows) if is_long(rows) else map_rows(self._transform, rows)
        return over(X, self._dressed(rows, X), self.copy if copy is None else copy)

    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:
        """Rows back in their original units; copy=False writes them over X where it is an array of floats."""
        return over(X, brought_back(self, X, write=self._write_back), self.copy if copy is None else copy)

    def _inverse(self, Z: Any) -> Any:
        if ops.is_sparse(Z):
            return Z if self.scale_ is None else Z.multiply(self.scale_).tocsr().astype(Z.dtype)
        X = np.empty(Z.shape)
        self._write_back(Z, X)
        return X.astype(Z.dtype, copy=False)

    def _write_back(self, Z: Array, out: Array) -> None:
        shifted_and_multiplied(Z, 0.0, self.scale_ if self.with_std else 1.0, self.mean_ if self.with_mean else 0.0, out)

