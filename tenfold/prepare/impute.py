"""Filling missing values, column by column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block, as_floats
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts, Spread, Stats
from tenfold.prepare.scale import column_spreads
from tenfold.solve.columns import Distinct


@dataclass(slots=True)
class Filled(Stats):
    """The values of each column that are there, and the weight of those that are not."""

    values: Stats  # Spread, or Distinct
    missing: Counts

    def __sub__(self, other: Filled) -> Filled:
        return Filled(self.values - other.values, self.missing - other.missing)


@estimator
class SimpleImputer(Transformer, OnePass):
    """SimpleImputer: missing values replaced by one number for each column.

    Model       x, with what is missing in column j replaced by sⱼ
    Objective   sⱼ is the mean, the median, the most frequent value (the smallest of several) or a constant
    Algorithm   one pass of means; medians and most frequent values from the distinct values of each column
    Cost        O(n p) time and O(p) memory for means and constants; medians and most frequent values keep
                every distinct value
    Fails when  a column has no value at all: it is dropped, with a warning (keep_empty_features=True fills it
                with 0 instead); columns hold text, unless strategy is "most_frequent"
    Reference   Little & Rubin 2002, §4.2

    Example
    -------
    >>> import numpy as np, tenfold
    >>> imputer = tenfold.SimpleImputer(strategy="median").fit([[1.0], [2.0], [9.0], [np.nan]])
    >>> imputer.transform([[np.nan], [5.0]]).tolist()
    [[2.0], [5.0]]
    """

    statistics_: Array = learned("real(p)", "what fills each column")
    missing_features_: Array = learned("int(*)<p", "columns with missing values in fit")
    stats_: Any = learned(
        "Filled(p)", "spreads or values, and missing weight: for partial_fit, merge and forget", optional=True
    )

    _: KW_ONLY
    missing_values: float = param(default=np.nan, doc="what stands for a missing value: NaN or a number")
    strategy: str = param(default="mean", one_of=("mean", "median", "most_frequent", "constant"), doc="what to fill in")
    fill_value: float | None = param(default=None, doc="the constant of strategy='constant'; None: 0")
    copy: bool = param(default=True, doc="no effect: X is never changed")
    add_indicator: bool = param(default=False, doc="append a 0/1 column for each column that had missing values in fit")
    keep_empty_features: bool = param(default=False, doc="keep columns without any value, filled with 0 or fill_value")

    fills: ClassVar[bool] = True  # what comes behind need not take missing values

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"strategy": "median"}]

    @property
    def kind(self) -> str:
        """Medians and modes need every distinct value."""
        return "keeps rows" if self.strategy in ("median", "most_frequent") else "one pass"

    @property
    def missing(self) -> bool:
        """NaN passes the gate if it stands for a missing value."""
        return bool(self.missing_values != self.missing_values)

    @property
    def categorical(self) -> bool:
        """The most frequent category is one; categories have no mean."""
        return self.strategy == "most_frequent" and self.missing

    @property
    def by_column(self) -> bool:
        """Means and constants are; medians and modes need the values, an indicator is a column more."""
        return self.strategy in ("mean", "constant") and self.missing and not self.add_indicator

    def _categories_out(self) -> list[Array | None] | None:
        """The categories of the new columns, None where they are all numbers."""
        if "categories_" not in vars(self):
            return None
        kept = [one for one, there in zip(self.categories_, ~np.isnan(self.statistics_), strict=True) if there]
        return kept + [None] * (len(self.missing_features_) if self.add_indicator else 0)

    def transform(self, X: Any) -> Any:
        """The rows without gaps: numbers, or objects where a column holds categories."""
        return self._dressed(map_rows(self._undressed, check.check_predict(self, X)), X)

    def _undressed(self, X: Any) -> Any:
        return self._named(X) if self._has_categories() else self._transform(X)

    def _has_categories(self) -> bool:
        return any(one is not None for one in vars(self).get("categories_") or ())

    def _named(self, X: Array) -> Array:
        """The filled rows with the categories themselves instead of their codes."""
        Z = self._transform(X)
        out = Z.astype(object)
        for j, known in enumerate(self._categories_out() or []):
            if known is not None and len(known):
                out[:, j] = known.astype(object)[Z[:, j].astype(np.int64)]
        return out

    def _summarize(self, block: Block) -> Filled:
        present = self._present(block.X)
        lost = Counts(np.where(present, 0.0, block.w[:, None]).sum(axis=0))
        if self.strategy in ("median", "most_frequent"):
            return Filled(Distinct.of(block.X, block.w, present), lost)
        return Filled(column_spreads(block.X, block.w, present), lost)

    def _from_columns(self, present: Spread, missing: Counts) -> Filled:
        return Filled(present, missing)

    def _column_map(self) -> tuple[Array | None, Any, Any]:
        return self.statistics_, 0.0, 1.0

    def _present(self, X: Array) -> Array:
        return ~np.isnan(X) if self.missing else np.asarray(self.missing_values != X)

    def _solve(self, stats: Filled) -> dict[str, Any]:
        if not isinstance(self.missing_values, (float, int, np.number)):
            raise BadParameter(f"SimpleImputer(missing_values={self.missing_values!r}): must be NaN or a number")
        constant = 0.0 if self.fill_value is None else float(self.fill_value)
        values = stats.values
        if isinstance(values, Distinct):
            weight = values.totals()
            found = values.medians() if self.strategy == "median" else values.modes()
        else:
            assert isinstance(values, Spread)
            weight = values.weight
            found = values.mean[:, 0] if self.strategy == "mean" else np.full(len(weight), constant)
        empty = constant if self.strategy == "constant" else 0.0
        return dict(
            statistics_=np.where(weight > 0, found, empty if self.keep_empty_features else np.nan),
            missing_features_=np.flatnonzero(stats.missing.weight > 0),
        )

    def _transform(self, X: Array) -> Array:
        gaps = ~self._present(X)
        kept = self._kept()
        Z = np.where(gaps, self.statistics_, X).astype(X.dtype, copy=False)
        if not kept.all():
            Z = np.ascontiguousarray(Z[:, kept])
        if not self.add_indicator:
            return Z
        return np.hstack([Z, gaps[:, self.missing_features_].astype(X.dtype)])

    def _kept(self) -> Array:
        """Columns with something to fill in. The others are dropped, with a warning."""
        kept: Array = ~np.isnan(self.statistics_)
        if not kept.all():
            names = vars(self).get("feature_names_in_")
            dropped = np.flatnonzero(~kept) if names is None else names[~kept]
            warn(
                f"SimpleImputer: Skipping features without any observed values: "
                f"{', '.join(map(str, dropped[:8]))}; set keep_empty_features=True to keep them",
                DataWarning,
                stacklevel=3,
            )
        return kept

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        names = super().get_feature_names_out(input_features)
        marks = [f"missingindicator_{names[j]}" for j in self.missing_features_] if self.add_indicator else []
        return np.array([*names[~np.isnan(self.statistics_)], *marks], dtype=object)

    @property
    def inverse_transform(self) -> Callable[[Any], Array]:
        """Imputed rows with their indicator columns back as they were, missing values missing again."""
        if not self.add_indicator:
            raise AttributeError("inverse_transform needs the columns of SimpleImputer(add_indicator=True)")
        return self._with_gaps

    def _with_gaps(self, X: Any) -> Array:
        check.check_fitted(self)
        kept, objects = np.flatnonzero(~np.isnan(self.statistics_)), self._has_categories()
        Z = np.asarray(X, dtype=object) if objects else check.as_table(self, X)[0]
        check.check_width(self, Z.shape[-1], len(kept) + len(self.missing_features_))
        Z = Z if objects else as_floats(Z)
        rows = np.full((len(Z), self.n_features_in_), self.missing_values, dtype=Z.dtype)
        rows[:, kept] = Z[:, : len(kept)]
        gaps = Z[:, len(kept) :] != 0
        rows[:, self.missing_features_] = np.where(gaps, self.missing_values, rows[:, self.missing_features_])
        return rows
