"""Columns by the order of their values: exact in memory, from a sketch of fixed size on streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base.available import available
from tenfold.base.sums import Sums
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import each
from tenfold.core.learning import Keep, Learner
from tenfold.core.mapped import Mapped
from tenfold.core.stats import Stats
from tenfold.prepare.scaler import Scaler
from tenfold.solve.columns import quantiles, tally
from tenfold.solve.sketch import Quantiles

SIZE = 4096  # rows up to which a sketch is exact
TOGETHER = 8  # columns that are copied side by side: a line of the cache holds as many


@dataclass(slots=True)
class Column:
    """The values of a column that are there, in any order, with their weights; None: each counts once."""

    values: Array
    weights: Array | None

    @property
    def total(self) -> float:
        return float(len(self.values) if self.weights is None else self.weights.sum())

    def quantiles(self, shares: Array) -> Array:
        """By linear interpolation, as of a column in which a value of weight k stands k times; NaN of an empty one."""
        n = len(self.values)
        if n == 0:
            return np.full(len(shares), np.nan)
        if self.weights is not None:
            return quantiles(*tally(self.values, self.weights), shares)
        place = shares * (n - 1)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, n - 1)
        wanted = np.unique(np.concatenate([below, above]))
        ordered = np.partition(self.values, wanted) if len(wanted) < 32 else np.sort(self.values)
        low, high, part = ordered[below].astype(np.float64), ordered[above].astype(np.float64), place - below
        return np.asarray(np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1 - part)))

    def ranks(self) -> tuple[Array, Array]:
        """The distinct values in order, and the mid-rank of each: W₋ + (w + 1) / 2, with W₋ the weight below and w its own."""
        ones = np.ones(len(self.values)) if self.weights is None else self.weights
        values, weights = tally(self.values.astype(np.float64, copy=False), ones)
        return values, np.cumsum(weights) - (weights - 1) / 2


@dataclass(slots=True)
class Ranks(Stats):
    """A sketch of each column that takes missing values, which stand behind all others."""

    sketch: Quantiles
    missing: Array  # (p,) weight of the missing values

    @classmethod
    def of(cls, X: Array, w: Array) -> Ranks:
        gone = np.isnan(X)
        if not gone.any():
            return cls(Quantiles.of(X, w, SIZE), np.zeros(X.shape[1]))
        sketch = Quantiles.of(np.where(gone, np.inf, X), w, SIZE)
        sketch.high = np.where(gone, -np.inf, X).max(axis=0).astype(np.float64)
        return cls(sketch, w @ gone)

    def columns(self) -> list[Column]:
        """The items of the sketch; the least and the largest are those of the column."""
        found = []
        for j, (value, weight) in enumerate(zip(self.sketch.value, self.sketch.weight, strict=True)):
            there = value < np.inf
            value, weight = value[there], weight[there]
            order = np.argsort(value, kind="stable")
            value, weight = value[order], weight[order]
            if len(value) and self.sketch.doubt[j] > 0:
                value[0], value[-1] = self.sketch.low[j], self.sketch.high[j]
            found.append(Column(value, weight))
        return found


class Ordered(Scaler):
    """Abstract: a scaler by order statistics. Of a table in memory of more than `SIZE` rows no statistics are kept."""

    def _fit_column(self, column: Column) -> Any:
        """What is learned of one column."""
        raise NotImplementedError

    def _assemble(self, found: list[Any]) -> dict[str, Any]:
        """The fitted attributes from what was learned of each column."""
        raise NotImplementedError

    def _dense(self, X: Any) -> Array:
        """Some rows or columns of a table, as they are looked at."""
        dense: Array = ops.dense(X)
        return dense

    def _check(self) -> None:
        """Refuse parameters that do not suit one another."""

    def _summarize(self, block: Block) -> Any:
        return Ranks.of(self._dense(block.X), block.w)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._check()
        if not self._is_exact(source):
            return (yield from super()._learn(source))
        X, _, w = yield Keep(sparse=bool(self.sparse))
        rows = self._drawn(X)
        if rows is not None:
            X, w = X[rows], w[rows]
        found = columnwise(self._fit_column, X, None if (w == 1).all() else w, self._dense)
        return dict(rank_error_=0.0 if rows is None else drawn_error(len(rows)), **self._assemble(found))

    def _drawn(self, X: Any) -> Array | None:
        """Which rows of a table are looked at; None: all."""
        return None

    def _solve(self, stats: Any) -> dict[str, Any]:
        self._check()
        return dict(rank_error_=stats.sketch.error, **self._assemble([self._fit_column(one) for one in stats.columns()]))

    def _is_exact(self, source: Source) -> bool:
        """Whether the rows are in memory, and more than a sketch holds."""
        return in_memory(source) and (source.n_rows or 0) > SIZE

    def _from_sums(self, source: Source) -> Sums | None:
        return None if self._is_exact(source) else super()._from_sums(source)

    @available(lambda self: False)
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Absent: a sketch cannot be un-merged."""


def drawn_error(n: int) -> float:
    """Of n rows drawn at random: what the share of values below any number is off by at most, at 99 % (Massart 1990)."""
    return float(np.sqrt(np.log(2 / 0.01) / (2 * n)))


def in_memory(source: Source) -> bool:
    """Whether the rows, or those that a step before makes them of, are a table in memory."""
    while isinstance(source, Mapped):
        source = source.inner
    return isinstance(source, Arrays)


def columnwise(function: Callable[[Column], Any], X: Any, w: Array | None, dense: Callable[[Any], Array]) -> list[Any]:
    """function(column) of every column of a table, on all threads; a sparse one is made dense a few columns at a time."""
    X = X.tocsc() if ops.is_sparse(X) else X

    def some(start: int) -> list[Any]:
        part = X[:, start : start + TOGETHER]
        return [function(present(values, w)) for values in np.ascontiguousarray(dense(part).T)]

    return [one for part in each(some, list(range(0, X.shape[1], TOGETHER))) for one in part]


def present(values: Array, w: Array | None) -> Column:
    """The values that are not missing."""
    gone = np.isnan(values)
    if not gone.any():
        return Column(values, w)
    return Column(values[~gone], None if w is None else w[~gone])
