"""Filling missing values, column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from tenfold import _columns
from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import map_rows
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array, Source, as_floats
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.gaps import NUMBERS, as_objects, check_kinds, gaps, is_nan, is_number
from tenfold.prepare.imputer import Imputer
from tenfold.prepare.indicate import Indicated
from tenfold.prepare.scaler import are_plain, for_columns, is_long, written


@estimator
class SimpleImputer(Indicated, Imputer):
    """SimpleImputer: missing values replaced by one value for each column.

    Model       x, with what is missing in column j replaced by sⱼ
    Objective   sⱼ is the mean, the median, the most frequent value (the smallest of several), a constant, or what a
                function makes of the values of the column
    Algorithm   one pass of means; medians and most frequent values from the distinct values of each column
    Cost        O(n p) time and O(p) memory for means and constants; medians, most frequent values and functions keep
                every distinct value
    Fails when  a column has no value at all: it is dropped, with a warning (keep_empty_features=True fills it
                with 0 instead); columns hold text, unless strategy is "most_frequent" or "constant"
    Reference   Little & Rubin 2002, §4.2

    Example
    -------
    >>> import numpy as np, tenfold
    >>> imputer = tenfold.SimpleImputer(strategy="median").fit([[1.0], [2.0], [9.0], [np.nan]])
    >>> imputer.transform([[np.nan], [5.0]]).tolist()
    [[2.0], [5.0]]
    """

    _: KW_ONLY
    missing_values: Any = param(default=np.nan, doc="what stands for a missing value: NaN, None, a number or a text")
    strategy: str | Callable[..., Any] = param(
        default="mean",
        one_of=("mean", "median", "most_frequent", "constant"),
        doc="what to fill in; or a function of the values of a column",
    )
    fill_value: Any = param(default=None, doc="the constant of strategy='constant'; None: 0, 'missing_value' for text")
    copy: bool = param(default=True, doc="no effect: X is never changed")
    add_indicator: bool = param(default=False, doc="append a 0/1 column for each column that had missing values in fit")
    keep_empty_features: bool = param(default=False, doc="keep columns without any value, filled with 0 or fill_value")

    fills: ClassVar[bool] = True  # what comes behind need not take missing values
    missing: ClassVar[bool] = True  # where a number stands for a missing value, NaN is refused with the values

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"strategy": "median"}]

    def _fills_by(self, *strategies: str) -> bool:
        return isinstance(self.strategy, str) and self.strategy in strategies

    @property
    def kind(self) -> str:
        """Medians, modes and functions need every distinct value."""
        return "one pass" if self._fills_by("mean", "constant") else "keeps rows"

    @property
    def accepts(self) -> str:
        """A text that stands for a missing value is looked for in the table as it was given, in a pipeline too."""
        return "anything" if isinstance(self.missing_values, str) else "rows"

    @property
    def categorical(self) -> bool:
        """The most frequent category is one, and a constant may be; categories have no mean."""
        return self._fills_by("most_frequent", "constant")

    @property
    def sparse(self) -> bool:
        """Zeros that are not stored are no gaps."""
        return not (is_number(self.missing_values) and self.missing_values == 0)

    @property
    def by_column(self) -> bool:
        """Means and constants are; medians and modes need the values, an indicator is a column more."""
        return self._fills_by("mean", "constant") and not is_number(self.missing_values) and not self.add_indicator

    @property
    def statistics_(self) -> Array:
        """What fills each column, NaN for one that is dropped: a number, or a category."""
        check.check_fitted(self)
        stored: Array = vars(self)["statistics_"]
        if not self._has_categories():
            return stored
        shown = [value if known is None or value != value else self._category(known, int(value))
                 for value, known in zip(stored.tolist(), vars(self)["categories_"], strict=True)]  # fmt: skip
        return np.array(shown, dtype=object)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn what fills each column."""
        if not isinstance(self.strategy, str) and not callable(self.strategy):
            raise BadParameter(
                f"SimpleImputer(strategy={check.short(self.strategy)}): must be 'mean', 'median', 'most_frequent', 'constant' or a function"
            )
        check_kinds(X, self.missing_values)
        if type(X) is np.ndarray and X.dtype.kind in "USb" and self.categorical:
            raise BadInput(
                f"SimpleImputer does not support data with dtype {X.dtype}: a missing value is a text like any other there. "
                "Please provide either a numeric array, or text in an array of objects or a frame"
            )
        self._check_cast(X)
        if self.accepts == "anything":
            check.check_params(self)
            if check.elsewhere(X):
                raise BadParameter(
                    f"SimpleImputer(missing_values={self.missing_values!r}): a text is looked for in tables in memory alone: read the rows "
                    "first, or let the file leave such cells empty"
                )
            self._publish(fresh(self).set_params(missing_values=np.nan).fit(self._with_nan(X), y, sample_weight))
            return self
        try:
            return super().fit(self._with_nan(X), y, sample_weight)
        except BadInput as wrong:
            if self._fills_by("mean", "median") and "could not convert" in str(wrong):
                raise BadInput(f"Cannot use {self.strategy} strategy with non-numeric data:\n{wrong}") from None
            raise

    def _more(self, *given: Any) -> Source:
        if self.accepts == "anything":
            raise BadParameter(f"SimpleImputer(missing_values={self.missing_values!r}): learns all rows at once: use fit")
        return super()._more(*given)

    def _check_cast(self, X: Any) -> None:
        kind, value = getattr(X, "dtype", None), self.fill_value
        if not self._fills_by("constant") or value is None or kind is None or kind.kind not in "fiu":
            return
        if not np.can_cast(type(value), kind, casting="same_kind"):
            raise BadInput(
                f"fill_value={value!r} (of type {type(value)!r}) cannot be cast to the input data that is {kind!r}: give a "
                "fill_value of the kind of the data"
            )

    def _with_nan(self, X: Any) -> Any:
        """A table of objects with None in place of the mark; any other table as it is."""
        table = as_objects(X) if not is_nan(self.missing_values) or type(X) in (list, tuple) else None
        if table is None:
            return X
        if not is_nan(self.missing_values) and self.missing_values is not None and any(is_nan(one) for one in table.flat):
            raise BadInput("Input X contains NaN, which is not what stands for a missing value: set missing_values=np.nan")
        blank = gaps(table, self.missing_values)
        if is_number(self.missing_values):  # among numbers it is looked for later
            blank &= np.array([any(isinstance(one, str) for one in column) for column in table.T]) | blank.all(axis=0)
        table = table.copy()
        table[blank] = None
        if not check.is_frame(X):
            return table
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        for j in np.flatnonzero(blank.any(axis=0)).tolist():
            column = nw.new_series(frame.columns[j], table[:, j].tolist(), backend=frame.implementation)
            frame = frame.with_columns(column)
        return frame.to_native()

    def transform(self, X: Any) -> Any:
        """The rows without gaps: numbers, or objects where a column holds categories."""
        check.check_fitted(self)
        check_kinds(X, self.missing_values)
        table = as_objects(X) if self.categorical else None
        if table is None and self.accepts == "rows":
            rows = check.check_predict(self, X)
            strips = is_long(rows) and not self._has_categories() and not self.add_indicator and self._kept().all()
            return self._dressed(written(self._write, rows) if strips else map_rows(self._undressed, rows), X)
        if table is None:  # no text in it
            return self._fitted_copy(self._fitted_state(), missing_values=np.nan).transform(X)
        check.check_names(self, check.frame_names(X))
        check.check_width(self, table.shape[1], self.n_features_in_)
        return self._dressed(self._filled(table), X)

    def _undressed(self, X: Any) -> Any:
        return self._named(X) if self._has_categories() else self._transform(X)

    def _filled(self, table: Array) -> Array:
        """A table of objects without gaps: values that fit has not seen stay what they are."""
        blank, kept, fill = gaps(table, self.missing_values), self._kept(), self.statistics_
        out: Array = np.where(blank, fill.astype(object), table)[:, kept]
        if not self.add_indicator:
            return out
        return np.hstack([out, blank[:, self.missing_features_].astype(np.float64)])

    def _named(self, X: Array) -> Array:
        """The filled rows with the categories themselves instead of their codes."""
        Z: Array = self._transform(X)
        out = Z.astype(object)
        for j, known in enumerate(self._categories_out() or []):
            if known is not None and len(known):
                out[:, j] = known.astype(object)[Z[:, j].astype(np.int64)]
        return out

    def _transform(self, X: Any) -> Any:
        if ops.is_sparse(X):
            return self._transform_sparse(X)
        blank = ~self._present(X) if is_number(self.missing_values) else np.isnan(X)
        fill = vars(self)["statistics_"]
        Z = np.where(blank, fill, X).astype(X.dtype, copy=False)
        if np.isnan(fill).any():
            Z = np.ascontiguousarray(Z[:, self._kept()])
        if not self.add_indicator:
            return Z
        return np.hstack([Z, blank[:, self.missing_features_].astype(X.dtype)])

    def _write(self, X: Array, out: Array) -> None:
        """`_transform` of numbers into memory that is there, where no column is dropped and none is added."""
        fill = vars(self)["statistics_"]
        if not is_number(self.missing_values) and are_plain(X, out):
            _columns.fill(X, for_columns(X, fill), out)
            return
        out[...] = X
        np.copyto(out, fill, where=~self._present(X))

    def _transform_sparse(self, X: Any) -> Any:
        """Gaps among the stored values; zeros that are not stored are values."""
        from scipy import sparse

        blank = np.isnan(X.data) if not is_number(self.missing_values) else X.data == self.missing_values
        fill = vars(self)["statistics_"]
        Z, marks = X.copy(), X.astype(X.dtype)
        Z.data = np.where(blank, fill[X.indices], X.data).astype(X.dtype)
        kept = self._kept()
        Z = Z if kept.all() else Z[:, np.flatnonzero(kept)]
        if not self.add_indicator:
            return Z
        marks.data = blank.astype(X.dtype)
        marks.eliminate_zeros()
        return sparse.hstack([Z, marks[:, self.missing_features_]], format="csr")

    def _kept(self) -> Array:
        """Columns with something to fill in. The others are dropped, with a warning."""
        kept: Array = ~np.isnan(vars(self)["statistics_"])
        if not kept.all():
            names = vars(self).get("feature_names_in_")
            dropped = np.flatnonzero(~kept) if names is None else names[~kept]
            warn(
                f"SimpleImputer: Skipping features without any observed values: {dropped[:8]}. At least one non-missing value is "
                f"needed for imputation with strategy={self.strategy!r}; set keep_empty_features=True to keep them",
                DataWarning,
                stacklevel=3,
            )
        return kept

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        names = super().get_feature_names_out(input_features)
        return np.array([*names[~np.isnan(vars(self)["statistics_"])], *self._marks(names)], dtype=object)

    @available(lambda self: bool(self.add_indicator))
    def inverse_transform(self, X: Any) -> Array:
        """Imputed rows with their indicator columns back as they were, missing values missing again."""
        check.check_fitted(self)
        kept = np.flatnonzero(~np.isnan(vars(self)["statistics_"]))
        objects = self._has_categories() or not isinstance(self.missing_values, NUMBERS)
        Z = np.asarray(X, dtype=object) if objects else check.as_table(self, X)[0]
        check.check_width(self, Z.shape[-1], len(kept) + len(self.missing_features_))
        Z = Z if objects else as_floats(ops.dense(Z))
        rows = np.full((len(Z), self.n_features_in_), self.missing_values, dtype=Z.dtype)
        rows[:, kept] = Z[:, : len(kept)]
        blank = Z[:, len(kept) :] != 0
        rows[:, self.missing_features_] = np.where(blank, self.missing_values, rows[:, self.missing_features_])
        return rows
