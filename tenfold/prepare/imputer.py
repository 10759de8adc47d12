"""What fills the gaps of a column: sums over the values that are there, and one value from the sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base.columns import ColumnSums
from tenfold.base.estimator import Transformer
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.numbers import column_name
from tenfold.core.stats import Counts, Spread, Stats
from tenfold.prepare.gaps import NUMBERS, is_number
from tenfold.prepare.scale import column_spreads, weight_of
from tenfold.solve.columns import Distinct


@dataclass(slots=True)
class Filled(Stats):
    """The values of each column that are there, and the weight of those that are not."""

    values: Stats  # Spread, or Distinct
    missing: Counts

    def __sub__(self, other: Filled) -> Filled:
        return Filled(self.values - other.values, self.missing - other.missing)


class Imputer(Transformer, OnePass):
    """Abstract: learns one value for each column; that of a column of categories is the number of one."""

    statistics_: Any = learned("real(p)", "what fills each column")
    missing_features_: Array = learned("int(*)<p", "columns with missing values in fit")
    stats_: Any = learned(
        "Filled(p)", "spreads or values, and missing weight: for partial_fit, merge and forget", optional=True
    )

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        """Distinct values of a table in memory are found column by column at once; of blocks they would be sorted again and again."""
        if self.strategy in ("mean", "constant") or not isinstance(source, Arrays) or source.rows is not None or not source.plain_rows:
            return (yield from super()._learn(source))
        X, _, w = yield Keep()
        stats = self._summarize(Block(X, None, w))
        return dict(stats_=stats, **self._solve(stats))

    def _summarize(self, block: Block) -> Filled:
        X = ops.dense(block.X)
        present = self._present(X)
        if self.strategy == "mean" and present.all():
            return Filled(column_spreads(X, block.w), Counts(np.zeros(X.shape[1])))
        lost = weight_of(~present, block.w)
        if self.strategy == "constant":  # whether there is a value is all that counts
            nothing = np.zeros((X.shape[1], 1))
            return Filled(Spread(weight_of(present, block.w), nothing, nothing, nothing), Counts(lost))
        if self.strategy == "mean":
            gapped = np.where(present, X, np.nan) if is_number(self.missing_values) else X
            return Filled(column_spreads(gapped, block.w, present), Counts(lost))
        return Filled(Distinct.of(X, block.w, present), Counts(lost))

    def _from_columns(self, columns: ColumnSums) -> Filled:
        return Filled(columns.present, columns.missing)

    def _column_map(self) -> tuple[Array | None, Any, Any]:
        return vars(self)["statistics_"], 0.0, 1.0

    def _present(self, X: Array) -> Array:
        """Which values are there: codes of categories and, unless a number stands for a missing value, numbers that are not NaN."""
        there = ~np.isnan(X)
        if not is_number(self.missing_values):
            return there
        known = vars(self).get("categories_") or [None] * X.shape[1]
        numbers = np.array([one is None for one in known])
        if not there[:, numbers].all():
            column = int(np.flatnonzero(numbers & ~there.all(axis=0))[0])
            raise BadInput(
                f"Input X contains NaN in {column_name(vars(self).get('feature_names_in_'), column)}, which is not what stands for a "
                "missing value: set missing_values=np.nan, or drop such rows"
            )
        return np.asarray(np.where(numbers, self.missing_values != X, there))

    def _solve(self, stats: Filled) -> dict[str, Any]:
        known = vars(self).get("categories_") or [None] * len(stats.missing.weight)
        values = stats.values
        if isinstance(values, Distinct):
            weight = values.totals()
            found = values.medians() if self.strategy == "median" else values.modes()
            if callable(self.strategy):
                found = np.array([self._computed(*column) for column in zip(values.values, values.weights, strict=True)])
        else:
            assert isinstance(values, Spread)
            weight = values.weight
            found = values.mean[:, 0] if self.strategy == "mean" else np.zeros(len(weight))
        empty = np.zeros(len(weight))
        if self.strategy == "constant":
            found = empty = np.array([self._constant_code(one, j) for j, one in enumerate(known)])
        return dict(
            statistics_=np.where(weight > 0, found, empty if self.keep_empty_features else np.nan),
            missing_features_=np.flatnonzero(stats.missing.weight > 0),
        )

    def _computed(self, values: Array, weights: Array) -> float:
        """What the user's function makes of a column: rows of weight k stand k times."""
        assert callable(self.strategy)
        return float(self.strategy(np.repeat(values, np.maximum(np.rint(weights), 1).astype(np.int64)))) if len(values) else np.nan

    def _constant_code(self, known: Array | None, j: int) -> float:
        """The constant as a number: that of its category, or one more where it is none of them."""
        value = self._constant(known)
        if known is not None:
            return float(known.tolist().index(value)) if value in known.tolist() else float(len(known))
        if not isinstance(value, NUMBERS):
            raise BadInput(
                f"fill_value={value!r} (of type {type(value)!r}) cannot be cast to the input data that is numbers in "
                f"{column_name(vars(self).get('feature_names_in_'), j)}: give numbers and texts to imputers of their own"
            )
        return float(value)

    def _category(self, known: Array, code: int) -> Any:
        """The category that fills a column; the constant where it is none of its own."""
        if code < len(known):
            return known.tolist()[code]
        return self._constant(known) if self.strategy == "constant" else 0

    def _constant(self, known: Array | None) -> Any:
        if self.fill_value is not None:
            return self.fill_value
        return 0.0 if known is None else "missing_value"

    def _categories_out(self) -> list[Array | None] | None:
        """The categories of the new columns, None where they are all numbers."""
        if "categories_" not in vars(self):
            return None
        stored, out = vars(self)["statistics_"], list[Array | None]()
        for known, code in zip(vars(self)["categories_"], stored, strict=True):
            if known is not None and code >= len(known):
                known = np.array([*known.tolist(), self._category(known, int(code))], dtype=object)
            if not np.isnan(code):
                out.append(known)
        return out + [None] * (len(self.missing_features_) if self.add_indicator else 0)

    def _has_categories(self) -> bool:
        return any(one is not None for one in vars(self).get("categories_") or ())
