"""Columns that hardly vary are dropped."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.available import available
from tenfold.base.columns import ColumnSums
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.params import estimator, param
from tenfold.features.selector import Selector
from tenfold.solve.columns import Ranges


@estimator
class VarianceThreshold(Selector, OnePass):
    """VarianceThreshold: drops columns whose variance is not above a threshold; by default constants.

    Model       x ↦ (x_j : Var(x_j) > threshold)
    Objective   Var(x) = Σ w (x − m)² / Σ w over the values that are not missing; where the threshold is 0, the range of the values
                if that is smaller, which is exactly 0 for constants
    Algorithm   one pass of means and centred sums of squares
    Cost        O(n p) time, O(p) memory, one pass; merging O(p)
    Fails when  units of columns differ: the threshold is in their squares; no column passes (refused)
    Reference   merge: Chan, Golub & LeVeque 1983

    Example
    -------
    >>> import tenfold
    >>> chosen = tenfold.VarianceThreshold().fit([[0.0, 2.0, 3.0], [0.0, 1.0, 4.0], [0.0, 1.0, 1.0]])
    >>> chosen.transform([[5.0, 6.0, 7.0]]).tolist()
    [[6.0, 7.0]]
    """

    variances_: Array = learned("real(p)", "variance of each column")
    stats_: Any = learned("Ranges(p)", "spreads and ranges: for partial_fit and merge", optional=True)

    missing: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    double: ClassVar[bool] = True
    by_column: ClassVar[bool] = True
    by_ends: ClassVar[bool] = True
    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    forget = available(lambda model: False)(OnePass.forget)  # the range of the rows that are left is not known

    threshold: float = param(default=0.0, at_least=0, doc="columns of at most this variance are dropped")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"threshold": 0.5}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {}

    def _summarize(self, block: Block) -> Ranges:
        return Ranges.of(block)

    def _from_columns(self, columns: ColumnSums) -> Ranges | None:
        return None if columns.low is None or columns.high is None else Ranges(columns.present, columns.low, columns.high)

    def _solve(self, stats: Ranges) -> dict[str, Any]:
        weight = stats.spread.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = stats.spread.scatter[:, 0] / weight
        if self.threshold == 0:
            variances = np.fmin(variances, np.where(weight > 0, stats.high - stats.low, np.nan))
        if not (variances > self.threshold).any():
            one = " (X contains only one sample)" if weight.max() <= 1 else ""
            raise BadInput(
                f"No feature in X meets the variance threshold {self.threshold:.5f}{one}: the largest variance is "
                f"{np.nanmax(variances, initial=0.0):g}; lower the threshold"
            )
        return dict(variances_=variances)

    def _mask(self) -> Array:
        return np.asarray(self.variances_ > self.threshold)
