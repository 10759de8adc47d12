"""Columns of categories as columns of whole numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.encoder import CATEGORIES, WHICH, Encoder


@estimator
class OrdinalEncoder(Encoder):
    """OrdinalEncoder: a column of categories as one column of whole numbers.

    Model       z = the number 0, ..., k − 1 of the category of x; columns that are no categories stay as they are
    Objective   none: categories are listed, and counted where rare ones are taken together
    Algorithm   one pass for the categories of each column (at the gate), one for their counts
    Cost        O(n p) time, memory for every different value
    Fails when  a category comes that fit has not met (refused, unless handle_unknown allows it); a learner behind
                it takes the order of the numbers for that of the categories: give it in `categories`
    Reference   Stevens 1946 (scales)

    Example
    -------
    >>> import tenfold
    >>> encoder = tenfold.OrdinalEncoder(categories=[["low", "middle", "high"]]).fit([["low"], ["high"]])
    >>> encoder.transform([["middle"], ["low"]]).tolist()
    [[1.0], [0.0]]
    """

    _: KW_ONLY
    categories: Any = param(default="auto", doc=CATEGORIES)
    dtype: Any = param(default="float64", doc="the type of what transform returns; by default rows of float32 stay float32")
    handle_unknown: str = param(
        default="error", one_of=("error", "use_encoded_value"), doc="what becomes of categories not met"
    )
    unknown_value: float | None = param(
        default=None, one_of=(None, np.nan), doc="the number of categories not met, or NaN"
    )
    encoded_missing_value: float = param(default=np.nan, doc="the number of a missing value, or NaN")
    min_frequency: int | float | None = param(
        default=None, above=0, doc="categories of less weight (below 1: share) have one number together"
    )
    max_categories: int | None = param(
        default=None, at_least=1, doc="most numbers of one column, that of rare ones included"
    )
    categorical_features: Any = param(default="all", doc=WHICH)

    missing_is_category: ClassVar[bool] = False
    sparse_rows: ClassVar[bool] = False

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"handle_unknown": "use_encoded_value", "unknown_value": -1}]

    @property
    def fills(self) -> bool:
        """Whether what comes behind need not take missing values."""
        every = isinstance(self.categorical_features, str) and self.categorical_features == "all"
        return every and not np.isnan([self.encoded_missing_value, self._unknown()]).any()

    def _unknown(self) -> float:
        """What stands for categories not met."""
        if (self.handle_unknown == "error") != (self.unknown_value is None):
            raise BadParameter(
                f"OrdinalEncoder(unknown_value={self.unknown_value!r}): must be a number or NaN with "
                "handle_unknown='use_encoded_value', and None with 'error'"
            )
        if self.unknown_value is not None and np.isnan(self.unknown_value) and np.dtype(self.dtype).kind != "f":
            raise BadParameter(
                f"OrdinalEncoder(unknown_value=nan, dtype={self.dtype}): when unknown_value is np.nan, the dtype parameter should be a "
                "float dtype"
            )
        return -1.0 if self.unknown_value is None else float(self.unknown_value)

    def _finish(self, source: Any) -> None:
        """Numbers for what is no category must be none of a category."""
        unknown, missing, names = self._unknown(), float(self.encoded_missing_value), vars(self).get("feature_names_in_")
        with_gaps = [j for j, levels in enumerate(self.levels_) if len(levels) and levels[-1] >= 0]
        for j in range(len(self.levels_)):
            if 0 <= unknown < self._n_levels(j):
                raise BadParameter(
                    f"OrdinalEncoder(unknown_value={unknown:g}): The used value for unknown_value is one of the values already used for "
                    f"encoding the seen categories, that of a category of {column_name(names, j)}: give another one, or NaN"
                )
        taken = [j for j in with_gaps if 0 <= missing < self._n_levels(j)]
        if taken:
            raise BadParameter(
                f"OrdinalEncoder: encoded_missing_value ({missing:g}) is already used to encode a known category in features: "
                f"{taken if names is None else names[taken].tolist()}: it is the number of a category of "
                f"{column_name(names, taken[0])}, so give another one, or NaN"
            )
        if with_gaps and np.isnan(missing) and np.dtype(self.dtype).kind != "f":
            raise BadParameter(
                f"There are missing values in features {with_gaps}. For OrdinalEncoder to encode missing values with dtype: "
                f"{self.dtype}, set encoded_missing_value to a non-nan value, or set dtype to a float dtype"
            )

    def transform(self, X: Any) -> Any:
        """The numbers of the categories."""
        return self._dressed(map_rows(self._undressed, check.check_predict(self, X)), X)

    def _undressed(self, X: Any) -> Any:
        return self._typed(self._transform(X))

    def _n_levels(self, j: int) -> int:
        """How many numbers the categories of column j have, missing values apart."""
        return int(self.levels_[j][:-1].max(initial=-1)) + 1

    def _widths(self) -> list[int]:
        return [1] * len(self.levels_)

    def _transform(self, X: Array) -> Array:
        Z = X.astype(X.dtype, copy=True)
        for j, levels in enumerate(self.levels_):
            if len(levels):
                level, k = self._level_of(X, j), self._n_levels(j)
                known = np.where(level >= k, self.encoded_missing_value, level)
                Z[:, j] = np.where(level < 0, self._unknown(), known)
        return Z

    def _decoded(self, Z: Array, j: int) -> Array:
        k, value = self._n_levels(j), Z[:, 0].copy()
        names = [*self._level_names(j)[:k], self._mark(j)]
        with np.errstate(invalid="ignore"):  # NaN and what is too large become numbers that are not theirs
            places = value.astype(np.int64)
        known = (places == value) & (places >= 0) & (places < k)
        if not known.all():
            missing = np.isnan(value) if np.isnan(self.encoded_missing_value) else value == self.encoded_missing_value
            places = np.where(known, places, np.where(missing & (self.levels_[j][-1] >= 0), k, k + 1))
        return self._in_type(names, places, j)
