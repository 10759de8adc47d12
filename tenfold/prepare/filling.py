"""What imputers have in common that fill gaps from other columns: where gaps are, columns without any value, indicators."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.estimator import Estimator, Transformer
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.stats import Counts
from tenfold.prepare.gaps import check_kinds, is_nan, is_number
from tenfold.prepare.indicate import Indicated


@group
class Filling(Indicated, Transformer, Estimator):
    """Abstract: fills the gaps of a row from its other values."""

    empty_: Array = learned("bool(p)", "columns without any value in fit")
    missing_features_: Array = learned("int(*)<p", "columns with missing values in fit")

    _: KW_ONLY
    missing_values: Any = param(default=np.nan, doc="what stands for a missing value: NaN, or a number")
    add_indicator: bool = param(default=False, doc="append a 0/1 column for each column that had missing values in fit")
    keep_empty_features: bool = param(default=False, doc="keep columns without any value, filled with 0")

    missing: ClassVar[bool] = True  # where a number stands for a missing value, NaN is refused with the values
    fills: ClassVar[bool] = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn what fills gaps."""
        if not is_number(self.missing_values) and not is_nan(self.missing_values):
            kind = getattr(X, "dtype", None)
            if kind is not None and kind.kind in "fiu":
                check_kinds(X, self.missing_values)
        return super().fit(X, y, sample_weight)

    def _with_nan(self, X: Array) -> Array:
        """Rows with NaN for what is missing."""
        if not is_number(self.missing_values):
            return X
        if np.isnan(X).any():
            column = int(np.isnan(X).any(axis=0).argmax())
            raise BadInput(
                f"Input X contains NaN in {column_name(vars(self).get('feature_names_in_'), column)}, which is not what stands for a "
                "missing value: set missing_values=np.nan, or drop such rows"
            )
        return np.where(self.missing_values == X, np.nan, X)

    def _fill(self, X: Array) -> Array:
        """float64 rows, NaN for what is missing, without gaps but in columns that are empty."""
        raise NotImplementedError

    def _transform(self, X: Array) -> Array:
        return self._assembled(X, None)

    def _assembled(self, X: Array, filled: Array | None) -> Array:
        """Rows with their gaps filled, without columns that are empty, with indicators; `filled` where the rows were filled before."""
        gapped = self._with_nan(X)
        blank = np.isnan(gapped)
        Z = X
        if blank[:, ~self.empty_].any():
            Z = np.where(blank, self._fill(gapped.astype(np.float64)) if filled is None else filled, X).astype(X.dtype)
        if self.empty_.any():
            Z = np.where(blank & self.empty_, X.dtype.type(self._empty_value()), Z) if self.keep_empty_features else Z[:, ~self.empty_]
        if not self.add_indicator:
            return np.array(Z) if Z is X else np.ascontiguousarray(Z)
        return np.hstack([Z, blank[:, self.missing_features_].astype(X.dtype)])

    def _empty_value(self) -> float:
        """What fills columns without any value where they are kept."""
        return 0.0

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        names = super().get_feature_names_out(input_features)
        kept = names if self.keep_empty_features else names[~self.empty_]
        return np.array([*kept, *self._marks(names)], dtype=object)

    def _missing_weight(self, block: Block) -> Counts:
        """The weight of the rows, and of those with a gap in each column."""
        blank = np.isnan(self._with_nan(block.X))
        return Counts(np.append(block.w.sum(), block.w @ blank))


def where_missing(counts: Counts) -> dict[str, Array]:
    """Columns without a value, and those with gaps, by the sums of `_missing_weight`."""
    return dict(empty_=counts.weight[1:] >= counts.weight[0] * (1 - 1e-12), missing_features_=np.flatnonzero(counts.weight[1:] > 0))
