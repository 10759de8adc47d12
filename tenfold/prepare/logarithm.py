"""Logarithmic scaling to any base."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.scaler import Extreme, Extremes, refuse_at

ABOVE = 1 + 4 * float(np.finfo(float).eps)  # 1 more than a number beyond 1e16 is the number itself


@estimator
class LogTransformer(Extreme):
    """LogTransformer: the logarithm of each column, to any base.

    Model       z = log_b(x + shift); with signed=True z = sign(x) log_b(1 + |x|), for any x
    Objective   shift is 0 where all values are above 0, else 1 − min x, which makes the least value 0
    Algorithm   one pass for the least values; log(1 + x) by `log1p`, so that small x keep their digits
    Cost        O(n p) time, O(p) memory, one pass; merging O(p)
    Fails when  x + shift ≤ 0 in rows to transform (refused, with the column and the remedy); missing values are left
                out and stay missing
    Reference   Bartlett 1947; signed: John & Draper 1980

    Example
    -------
    >>> import tenfold
    >>> rows = [[1.0], [10.0], [1000.0]]
    >>> tenfold.LogTransformer(base=10).fit_transform(rows).round(12).tolist()
    [[0.0], [1.0], [3.0]]
    """

    shift_: Array = learned("real(p)", "what is added to each column; 1 with signed=True")
    data_min_: Array = learned("real(p)", "least value of each column")
    n_samples_seen_: Any = learned("int|float", "number of rows")
    stats_: Any = learned("Extremes(p)", "the extremes: for partial_fit and merge", optional=True)

    double: ClassVar[bool] = True

    base: float = param(default=math.e, above=0, doc="base of the logarithm, not 1")
    _: KW_ONLY
    shift: float | str = param(default="auto", one_of=("auto",), doc="what is added before the logarithm is taken")
    signed: bool = param(default=False, doc="sign(x) log(1 + |x|): takes negative values, keeps zeros and signs")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"shift": 20.0}, {"base": 2, "signed": True}]

    def _solve(self, stats: Extremes) -> dict[str, Any]:
        if self.base == 1:
            raise BadParameter("LogTransformer(base=1): must not be 1, to which no logarithm exists")
        low, _ = stats.ends()
        if self.signed:
            shift = np.ones(len(low))
        elif self.shift == "auto":
            shift = np.where(low > 0, 0.0, np.where(np.isnan(low), 0.0, np.maximum(1 - low, -low * ABOVE)))
        else:
            shift = np.full(len(low), float(self.shift))
        least = np.where(np.isnan(low), 1.0, low + shift)
        if not self.signed:
            refuse_at(
                self,
                (least <= 0)[None],
                low[None],
                f"has no logarithm with shift={self.shift}",
                "give a larger shift, leave it to shift='auto', or set signed=True",
            )
        return dict(shift_=shift, data_min_=low, n_samples_seen_=stats.seen())

    def _transform(self, X: Array) -> Array:
        x = X.astype(np.float64, copy=False)
        if self.signed:
            return (np.copysign(np.log1p(np.abs(x)), x) / math.log(self.base)).astype(X.dtype, copy=False)
        refuse_at(
            self,
            x + self.shift_ <= 0,
            X,
            "has no logarithm: it is below all values of the fit",
            "fit with a larger shift, or set signed=True",
        )
        one = self.shift_ == 1  # log1p keeps the digits of small x
        Z = np.log1p(x) if one.all() else np.where(one, np.log1p(np.where(one, x, 0.0)), np.log(x + np.where(one, 1.0, self.shift_)))
        Z /= math.log(self.base)
        return Z.astype(X.dtype, copy=False)

    def _inverse(self, Z: Array) -> Array:
        z = Z.astype(np.float64) * math.log(self.base)
        if self.signed:
            return np.copysign(np.expm1(np.abs(z)), z).astype(Z.dtype, copy=False)
        one = self.shift_ == 1
        X = np.expm1(z) if one.all() else np.where(one, np.expm1(np.where(one, z, 0.0)), np.exp(z) - self.shift_)
        return X.astype(Z.dtype, copy=False)
