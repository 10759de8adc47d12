"""Scaling by extremes: to a range, by the largest size, by a power of ten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.scaler import TINY, Extreme, Extremes, shifted_and_divided, shifted_and_multiplied


@estimator
class MinMaxScaler(Extreme):
    """MinMaxScaler: each column brought into a range.

    Model       z = a + (b − a) (x − low) / (high − low), column by column, for feature_range = (a, b)
    Objective   low and high are the least and the largest value that is not missing
    Algorithm   one pass; x − low is taken first, so that a large offset costs no digits
    Cost        O(n p) time, O(p) memory, one pass; merging O(p)
    Fails when  a column is constant: it becomes a; new rows lie beyond the range: so does z, unless clip=True;
                missing values are left out and stay missing
    Reference   Han, Kamber & Pei 2011, section 3.5

    Example
    -------
    >>> import tenfold
    >>> rows = [[1.0], [2.0], [5.0]]
    >>> tenfold.MinMaxScaler().fit_transform(rows).tolist()
    [[0.0], [0.25], [1.0]]
    """

    min_: Array = learned("real(p)", "what is added to a column after it is multiplied by scale_")
    scale_: Array = learned("real(p)", "what a column is multiplied by")
    data_min_: Array = learned("real(p)", "least value of each column")
    data_max_: Array = learned("real(p)", "largest value of each column")
    data_range_: Array = learned("real(p)", "their difference")
    n_samples_seen_: Any = learned("int|float", "number of rows")
    stats_: Any = learned("Extremes(p)", "the extremes: for partial_fit and merge", optional=True)

    writes: ClassVar[bool] = True

    feature_range: Sequence[float] = param(default=(0, 1), doc="the range (a, b)")
    _: KW_ONLY
    copy: bool = param(default=True, doc="False lets transform write over X")
    clip: bool = param(default=False, doc="keep new rows within the range")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"feature_range": (-1, 2), "clip": True}]

    def _solve(self, stats: Extremes) -> dict[str, Any]:
        a, b = self._range()
        low, high = stats.ends()
        extent = high - low
        scale = (b - a) / np.where(extent < TINY, 1.0, extent)
        return dict(
            min_=a - low * scale,
            scale_=scale,
            data_min_=low,
            data_max_=high,
            data_range_=extent,
            n_samples_seen_=stats.seen(),
        )

    def _column_map(self) -> tuple[Array | None, Any, Any]:
        return None, self.data_min_ - self._range()[0] / self.scale_, 1 / self.scale_

    def _range(self) -> tuple[float, float]:
        given = self.feature_range
        if len(given) != 2 or not all(np.isfinite(end) for end in given):
            raise BadParameter(f"MinMaxScaler(feature_range={given!r}): must be two numbers, the ends of the range")
        if given[0] >= given[1]:
            raise BadParameter(f"Minimum of desired feature range must be smaller than maximum. Got {given}.")
        return float(given[0]), float(given[1])

    def _transform(self, X: Array) -> Array:
        Z = np.empty(X.shape)
        self._write(X, Z)
        return Z.astype(X.dtype, copy=False)

    def _write(self, X: Array, out: Array) -> None:
        a, b = self._range()
        shifted_and_multiplied(X, self.data_min_, self.scale_, a, out)
        if self.clip:
            np.clip(out, a, b, out=out)

    def _inverse(self, Z: Array) -> Array:
        X = np.empty(Z.shape)
        self._write_back(Z, X)
        return X.astype(Z.dtype, copy=False)

    def _write_back(self, Z: Array, out: Array) -> None:
        shifted_and_divided(Z, self._range()[0], self.scale_, out)
        out += self.data_min_


@estimator
class MaxAbsScaler(Extreme):
    """MaxAbsScaler: each column divided by its largest size, so that it lies within −1 and 1.

    Model       z = x / max |x|, column by column; zeros stay zeros, so that sparse rows stay sparse
    Objective   the largest |x| that is not missing
    Algorithm   one pass
    Cost        O(n p) time, O(p) memory, one pass; merging O(p)
    Fails when  a column is zero: it stays zero; missing values are left out and stay missing
    Reference   Han, Kamber & Pei 2011, section 3.5

    Example
    -------
    >>> import tenfold
    >>> rows = [[1.0], [-4.0], [2.0]]
    >>> tenfold.MaxAbsScaler().fit_transform(rows).tolist()
    [[0.25], [-1.0], [0.5]]
    """

    scale_: Array = learned("real(p)", "what a column is divided by")
    max_abs_: Array = learned("real(p)", "largest size of each column")
    n_samples_seen_: Any = learned("int|float", "number of rows")
    stats_: Any = learned("Extremes(p)", "the extremes: for partial_fit and merge", optional=True)

    sparse = True
    writes: ClassVar[bool] = True

    _: KW_ONLY
    copy: bool = param(default=True, doc="False lets transform write over X")
    clip: bool = param(default=False, doc="keep new rows within −1 and 1")

    def _solve(self, stats: Extremes) -> dict[str, Any]:
        low, high = stats.ends()
        size = np.maximum(np.abs(low), np.abs(high))
        return dict(scale_=np.where(size < TINY, 1.0, size), max_abs_=size, n_samples_seen_=stats.seen())

    def _transform(self, X: Any) -> Any:
        if ops.is_sparse(X):
            Z = divided(X, self.scale_)
            if self.clip:
                np.clip(Z.data, -1.0, 1.0, out=Z.data)
            return Z
        rows = np.empty(X.shape)
        self._write(X, rows)
        return rows.astype(X.dtype, copy=False)

    def _write(self, X: Array, out: Array) -> None:
        shifted_and_divided(X, 0.0, self.scale_, out)
        if self.clip:
            np.clip(out, -1.0, 1.0, out=out)

    def _inverse(self, Z: Any) -> Any:
        return divided(Z, 1 / self.scale_) if ops.is_sparse(Z) else (Z * self.scale_).astype(Z.dtype, copy=False)

    def _write_back(self, Z: Array, out: Array) -> None:
        shifted_and_multiplied(Z, 0.0, self.scale_, 0.0, out)


@estimator
class DecimalScaler(Extreme):
    """DecimalScaler: the decimal point of each column moved until all values are below 1 in size.

    Model       z = x / 10ᵏ, column by column; digits stay as they were written
    Objective   the smallest whole k with max |x| / 10ᵏ < 1 over the values that are not missing
    Algorithm   one pass
    Cost        O(n p) time, O(p) memory, one pass; merging O(p)
    Fails when  a column is zero: k = 0; new rows are larger than those of the fit: so is z; missing values are left
                out and stay missing
    Reference   Han, Kamber & Pei 2011, section 3.5

    Example
    -------
    >>> import tenfold
    >>> rows = [[917.0], [-986.0]]
    >>> tenfold.DecimalScaler().fit_transform(rows).tolist()
    [[0.917], [-0.986]]
    """

    exponent_: Array = learned("int(p)", "the power k of ten of each column")
    scale_: Array = learned("real(p)", "what a column is divided by, 10ᵏ")
    max_abs_: Array = learned("real(p)", "largest size of each column")
    n_samples_seen_: Any = learned("int|float", "number of rows")
    stats_: Any = learned("Extremes(p)", "the extremes: for partial_fit and merge", optional=True)

    sparse = True

    _: KW_ONLY
    copy: bool = param(default=True, doc="False lets transform write over X")

    def _solve(self, stats: Extremes) -> dict[str, Any]:
        low, high = stats.ends()
        size = np.maximum(np.abs(low), np.abs(high))
        known = size >= TINY
        k = np.where(known, np.floor(np.log10(np.where(known, size, 1.0))) + 1, 0).astype(np.int64)
        k = np.where(known & (size >= power_of_ten(k)), k + 1, k)  # a logarithm may be rounded across a power of ten
        k = np.where(known & (size < power_of_ten(k - 1)), k - 1, k)
        return dict(exponent_=k, scale_=power_of_ten(k), max_abs_=size, n_samples_seen_=stats.seen())

    def _transform(self, X: Any) -> Any:
        return divided(X, self.scale_) if ops.is_sparse(X) else (X / self.scale_).astype(X.dtype, copy=False)

    def _inverse(self, Z: Any) -> Any:
        return divided(Z, 1 / self.scale_) if ops.is_sparse(Z) else (Z * self.scale_).astype(Z.dtype, copy=False)


def power_of_ten(k: Array) -> Array:
    """10ᵏ, each as exact as a number can be; powers by `**` are not."""
    return np.array([float(f"1e{one}") for one in k.tolist()])


def divided(X: Any, scale: Array) -> Any:
    """CSR rows with each column divided by its scale."""
    Z = X.copy()
    Z.data = (X.data / scale[X.indices]).astype(X.dtype)
    return Z
