"""Scaling by median and quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.minmax import divided
from tenfold.prepare.ordered import Column, Ordered
from tenfold.prepare.scaler import TINY, shifted_and_divided, shifted_and_multiplied


@estimator
class RobustScaler(Ordered):
    """RobustScaler: each column by its median and the range of its quantiles, which outliers do not move.

    Model       z = (x − median) / (q_b − q_a), column by column, for quantile_range = (a, b) in percent
    Objective   quantiles by linear interpolation over the values that are not missing; a row of weight k counts k times
    Algorithm   exact for tables in memory, by selection; on streams exact up to 4,096 rows and then from a sketch
                (KLL), whose ranks are within `rank_error_` (99 %)
    Cost        O(n p) time; in memory a copy of 8 columns, on streams O(p) memory and one pass
    Fails when  half of a column is one value: its range is zero, and 1 is used; missing values stay missing
    Reference   Huber & Ronchetti 2009, ch. 5; sketch: Karnin, Lang & Liberty 2016

    Example
    -------
    >>> import tenfold
    >>> rows = [[1.0], [2.0], [3.0], [4.0], [1000.0]]
    >>> tenfold.RobustScaler().fit_transform(rows).tolist()
    [[-1.0], [-0.5], [0.0], [0.5], [498.5]]
    """

    center_: Any = learned("real(p)|none", "median of each column")
    scale_: Any = learned("real(p)|none", "what each column is divided by")
    rank_error_: float = learned("float", "bound on the error of ranks, as a share of the rows, at 99 %; 0: exact")
    stats_: Any = learned("Ranks(p)", "the sketch: for partial_fit and merge", optional=True)

    writes: ClassVar[bool] = True

    _: KW_ONLY
    with_centering: bool = param(default=True, doc="subtract the median; False also takes sparse X, which stays sparse")
    with_scaling: bool = param(default=True, doc="divide by the range of the quantiles")
    quantile_range: Sequence[float] = param(default=(25.0, 75.0), doc="the quantiles (a, b) in percent")
    copy: bool = param(default=True, doc="False lets transform write over X")
    unit_variance: bool = param(default=False, doc="make the variance 1 where the column is normal")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"with_centering": False, "quantile_range": (10, 80), "unit_variance": True}]

    @property
    def sparse(self) -> bool:
        """Centring would fill every zero of a sparse table, so that is not done."""
        return not self.with_centering

    def _check(self) -> None:
        given = self.quantile_range
        if len(given) != 2 or not 0 <= given[0] <= given[1] <= 100:
            raise BadParameter(f"Invalid quantile range: {given!r}: quantile_range must be two percentages, the lower one first")
        if self.unit_variance and not 0 < given[0] < given[1] < 100:
            raise BadParameter(f"RobustScaler(quantile_range={given!r}): with unit_variance=True must be 0 < a < b < 100")

    def _fit_column(self, column: Column) -> Array:
        a, b = self.quantile_range
        return column.quantiles(np.array([a / 100, 0.5, b / 100]))

    def _assemble(self, found: list[Array]) -> dict[str, Any]:
        low, middle, high = np.array(found).T
        scale = high - low
        scale = np.where(scale < TINY, 1.0, scale)
        if self.unit_variance:
            from scipy.special import ndtri

            a, b = self.quantile_range
            scale = scale / (ndtri(b / 100) - ndtri(a / 100))
        return dict(center_=middle if self.with_centering else None, scale_=scale if self.with_scaling else None)

    def _transform(self, X: Any) -> Any:
        if ops.is_sparse(X):
            return X.copy() if self.scale_ is None else divided(X, self.scale_)
        Z = X.astype(np.float64) if self.center_ is None else X - self.center_
        if self.scale_ is not None:
            Z /= self.scale_
        with np.errstate(over="ignore"):
            rows = Z.astype(X.dtype, copy=False)
        if X.dtype == np.float32 and not np.array_equal(np.isinf(rows), np.isinf(Z)):
            raise BadInput("rows of float32 are too far from the middle of their columns for float32: give them as float64")
        return rows

    def _write(self, X: Array, out: Array) -> None:
        shifted_and_divided(X, 0.0 if self.center_ is None else self.center_, 1.0 if self.scale_ is None else self.scale_, out)

    def _inverse(self, Z: Any) -> Any:
        if ops.is_sparse(Z):
            return Z.copy() if self.scale_ is None else divided(Z, 1 / self.scale_)
        X = np.empty(Z.shape)
        self._write_back(Z, X)
        return X.astype(Z.dtype, copy=False)

    def _write_back(self, Z: Array, out: Array) -> None:
        center, scale = 0.0 if self.center_ is None else self.center_, 1.0 if self.scale_ is None else self.scale_
        shifted_and_multiplied(Z, 0.0, scale, center, out)
