"""Rank-order standardisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.ordered import Column, Ordered


@estimator
class RankTransformer(Ordered):
    """RankTransformer: each value replaced by its rank, as a share: evenly spread between 0 and 1.

    Model       u = [i] / (N + 1), with [i] the rank of x in its column, ties at the mean of their ranks
    Objective   none: monotone maps of x, outliers, units do not matter
    Algorithm   sorting; values between those of the fit, and the inverse, by linear interpolation, values beyond them at
                the ends. Exact for tables in memory; on streams exact up to 4,096 rows, and then from a sketch (KLL),
                whose ranks are within `rank_error_` (99 %)
    Cost        O(n p log n) time; every distinct value of a table in memory is kept, of a stream about 12,000 a column
    Fails when  a column is constant: u = 1/2; missing values are left out and stay missing
    Reference   Conover & Iman 1981; sketch: Karnin, Lang & Liberty 2016

    Example
    -------
    >>> import tenfold
    >>> rows = [[7.0], [1.0], [100.0], [1.0]]
    >>> tenfold.RankTransformer().fit_transform(rows).tolist()
    [[0.6], [0.3], [0.8], [0.3]]
    """

    values_: list[Array] = learned("[real(*)](p)", "distinct values of each column, in order", rows=True)
    ranks_: list[Array] = learned("[real(*)](p)", "their ranks, as shares")
    rank_error_: float = learned("float", "bound on the error of ranks, as a share of the rows, at 99 %; 0: exact")
    stats_: Any = learned("Ranks(p)", "the sketch: for partial_fit and merge", optional=True)

    _: KW_ONLY
    copy: bool = param(default=True, doc="False lets transform write over X")

    def _fit_column(self, column: Column) -> tuple[Array, Array]:
        values, ranks = column.ranks()
        return values, ranks / (column.total + 1)

    def _assemble(self, found: list[tuple[Array, Array]]) -> dict[str, Any]:
        return dict(values_=[values for values, _ in found], ranks_=[ranks for _, ranks in found])

    def _objection(self) -> str | None:
        pairs = zip(self.values_, self.ranks_, strict=True)
        if any(len(values) != len(ranks) or (np.diff(values) <= 0).any() or (np.diff(ranks) <= 0).any() for values, ranks in pairs):
            return "values and ranks do not rise together"
        return None

    def _transform(self, X: Array) -> Array:
        return interpolated(X, self.values_, self.ranks_)

    def _inverse(self, Z: Array) -> Array:
        return interpolated(Z, self.ranks_, self.values_)


def interpolated(X: Array, points: Any, values: Any) -> Array:
    """Linear interpolation, column by column; missing values stay missing, and so does a column without points."""
    Z = np.empty_like(X)
    for j, (x, y) in enumerate(zip(points, values, strict=True)):
        Z[:, j] = interpolate(np.ascontiguousarray(X[:, j], dtype=np.float64), x, y) if len(x) else np.nan
    return Z


def interpolate(x: Array, points: Array, values: Array) -> Array:
    """np.interp, which gives a missing value the only value of a single point."""
    z: Array = np.interp(x, points, values)
    return z if len(points) > 1 else np.where(np.isnan(x), np.nan, z)
