"""Columns of categories as columns of 0 and 1, one for each category."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter, BadType, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.gate.categories import is_missing
from tenfold.prepare.encoder import CATEGORIES, WHICH, Encoder

MOST_CELLS = 1 << 30  # of a block of dense rows
BEYOND = 1 << 40  # a code above that of any category: a missing value


@estimator
class OneHotEncoder(Encoder):
    """OneHotEncoder: a column of categories as one column 0/1 for each of them.

    Model       z_c = 1 if x is category c, else 0; columns that are no categories stay as they are, in their place
    Objective   none: categories are listed, and counted where rare ones are taken together
    Algorithm   one pass for the categories of each column (at the gate), one for their counts; a missing value is a category
                where fit met one
    Cost        O(n p) time, memory for every different value
    Fails when  a category comes that fit has not met (refused, unless handle_unknown allows it); categories
                are very many (refused where a block would take 8 GiB: use max_categories)
    Reference   Suits 1957

    Example
    -------
    >>> import tenfold
    >>> encoder = tenfold.OneHotEncoder(sparse_output=False, handle_unknown="ignore").fit([["red"], ["blue"], ["red"]])
    >>> encoder.transform([["blue"], ["green"]]).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    >>> encoder.get_feature_names_out().tolist()
    ['x0_blue', 'x0_red']
    """

    _: KW_ONLY
    categories: Any = param(default="auto", doc=CATEGORIES)
    drop: Any = param(
        default=None, doc="no column for: None, 'first', 'if_binary', or a list with one category a column"
    )
    sparse_output: bool = param(
        default=True, doc="let transform return a CSR matrix; steps of a pipeline get dense rows"
    )
    dtype: Any = param(default="float64", doc="the type of what transform returns; by default rows of float32 stay float32")
    handle_unknown: str = param(
        default="error",
        one_of=("error", "ignore", "infrequent_if_exist", "warn"),
        doc="what becomes of categories not met",
    )
    min_frequency: int | float | None = param(
        default=None, above=0, doc="categories of less weight (below 1: share) are taken together"
    )
    max_categories: int | None = param(
        default=None, at_least=1, doc="most columns for one column, that of rare ones included"
    )
    feature_name_combiner: str | Callable[..., Any] = param(
        default="concat", one_of=("concat",), doc="names are column_category; or a function of column and category that gives them"
    )
    categorical_features: Any = param(default="all", doc=WHICH)

    missing_is_category: ClassVar[bool] = True
    sparse_rows: ClassVar[bool] = True

    left_out_: Array = learned("int(p)", "the number of the category of each column that has no column, −1 for none", optional=True)

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"handle_unknown": "ignore", "sparse_output": False}]

    @property
    def fills(self) -> bool:
        """Whether what comes behind need not take missing values."""
        return isinstance(self.categorical_features, str) and self.categorical_features == "all"

    @property
    def drop_idx_(self) -> Array | None:
        """The number of the category without a column in each column, None where all have one."""
        check.check_fitted(self)
        found = [self._level_left_out(j) for j in range(len(self.levels_))]
        if self.drop is None and max(found, default=-1) < 0:
            return None
        numbers = [self._place_of_missing(j) if one == len(self.levels_[j]) - 1 else one for j, one in enumerate(found)]
        return np.array([None if one < 0 else one for one in numbers], dtype=object)

    def _level_left_out(self, j: int) -> int:
        """The number of the category of column j that has no column, −1 for none: as it was in fit."""
        return int(self.left_out_[j]) if "left_out_" in vars(self) else self._to_leave_out(j)

    def _to_leave_out(self, j: int) -> int:
        levels, where = self.levels_[j], column_name(vars(self).get("feature_names_in_"), j)
        if self.drop is None or not len(levels):
            return -1
        if isinstance(self.drop, str):
            if self.drop not in ("first", "if_binary"):
                raise BadParameter(f"OneHotEncoder(drop={self.drop!r}): must be None, 'first', 'if_binary', or a list")
            return int(np.argmax(levels == 0)) if self.drop == "first" or levels.max() == 1 else -1
        if not isinstance(self.drop, (list, tuple, np.ndarray)) or np.shape(self.drop)[:1] != (len(self.levels_),):
            raise BadParameter(
                f"OneHotEncoder(drop={check.short(self.drop)}): must be None, 'first', 'if_binary', or a list: `drop` should have "
                f"length equal to the number of features, {len(self.levels_)}, with one category for each"
            )
        wanted, known = self.drop[j], self._known(j)[:-1].tolist()
        number = len(known) if is_missing(wanted) and levels[-1] >= 0 else known.index(wanted) if wanted in known else -1
        if number < 0:
            raise BadParameter(f"OneHotEncoder(drop=...): {check.short(wanted)} is no category of {where}")
        if levels[number] == self.rare_[j]:
            raise BadParameter(
                f"OneHotEncoder(drop=...): Unable to drop category {wanted!r} from feature {j} because it is infrequent ({where})"
            )
        return number

    def _finish(self, source: Any) -> None:
        """A category to drop that is not there is refused by fit, and what is dropped stays so."""
        vars(self)["left_out_"] = np.array([self._to_leave_out(j) for j in range(len(self.levels_))], dtype=np.int64)

    def _places(self) -> list[Array]:
        """For each column the new column of each of its levels, counted from its first; −1 for the one left out."""
        found = []
        for j, levels in enumerate(self.levels_):
            places = np.arange(int(levels.max(initial=-1)) + 1)
            gone = self._level_left_out(j)
            if gone >= 0:
                places = np.where(places == levels[gone], -1, places - (places > levels[gone]))
            found.append(places)
        return found

    def _layout(self) -> tuple[list[Array], Array]:
        """`_places`, and the first new column of each column; the last number is how many there are."""
        found = self._places()
        widths = [np.count_nonzero(places >= 0) if len(levels) else 1 for places, levels in zip(found, self.levels_, strict=True)]
        return found, np.cumsum([0, *widths])

    def _widths(self) -> list[int]:
        widths: list[int] = np.diff(self._layout()[1]).tolist()
        return widths

    def _entries(self, X: Array) -> tuple[Array, Array]:
        """(rows, columns): the new column that each value falls into, −1 for none; and the first new column of each."""
        (layout, first), strange = self._layout(), list[int]()
        entries = np.full(X.shape, -1, dtype=np.int32 if first[-1] < 2**31 else np.int64)
        blank = np.isnan(X)
        gaps = np.asarray(blank.any(axis=0))
        codes = np.where(blank, np.float64(BEYOND), X).astype(np.int64) if gaps.any() else X.astype(np.int64)
        for j, places in enumerate(layout):
            levels = self.levels_[j]
            if not len(levels):
                continue
            if gaps[j] and levels[-1] < 0 and self.handle_unknown == "error":
                raise self._unknown_missing(j)
            code = codes[:, j]
            if code.min(initial=0) < 0 or (gaps[j] and levels[-1] < 0):
                strange.append(j)
            elif (levels[:-1] < 0).any() and (levels.take(code, mode="clip") < 0).any():  # met in no row of this fit
                if self.handle_unknown == "error":
                    raise self._unknown_category(j)
                strange.append(j)
            level = np.append(-1, levels)  # of what is unknown, of each category, of a missing value
            if self.handle_unknown in ("infrequent_if_exist", "warn"):
                level = np.where(level < 0, self.rare_[j], level)
            place = np.append(places, -1)[level]
            entries[:, j] = np.where(place < 0, -1, first[j] + place).take(code + 1, mode="clip")
        if strange and (self.handle_unknown == "warn" or max(map(self._level_left_out, strange)) >= 0):
            self._warn_unknown(strange)
        return entries, first

    def _warn_unknown(self, columns: list[int]) -> None:
        names = vars(self).get("feature_names_in_")
        shown = columns if names is None else [str(names[j]) for j in columns]
        how = "all zeros" if self.handle_unknown == "ignore" else "the infrequent category."
        warn(
            f"Found unknown categories in columns {shown} during transform. These unknown categories will be encoded as {how}"
            + ("" if self.handle_unknown == "ignore" else " Where a column has none, as all zeros"),
            DataWarning,
            stacklevel=4,
        )

    def _transform(self, X: Array) -> Array:
        entries, first = self._entries(X)
        if len(X) * first[-1] > MOST_CELLS:
            raise BadInput(
                f"OneHotEncoder makes {first[-1]:,} columns, too many for {len(X):,} dense rows: take rare categories "
                "together with max_categories or min_frequency"
            )
        out = np.zeros((len(X), first[-1]), dtype=X.dtype)
        row, column = np.nonzero(entries >= 0)
        out[row, entries[row, column]] = 1
        for j, levels in enumerate(self.levels_):
            if not len(levels):
                out[:, first[j]] = X[:, j]
        return out

    def _sparse(self, X: Array) -> Any:
        """The new rows as a CSR matrix."""
        from scipy.sparse import csr_matrix

        entries, first = self._entries(X)
        values = np.ones(X.shape, dtype=X.dtype)
        for j, levels in enumerate(self.levels_):
            if not len(levels):
                entries[:, j], values[:, j] = first[j], X[:, j]
        there = (entries >= 0) & (values != 0)
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        return csr_matrix((values[there], entries[there], starts), shape=(len(X), int(first[-1])))

    def transform(self, X: Any) -> Any:
        """The rows with a column for each category: a CSR matrix, unless sparse_output is False."""
        rows = check.check_predict(self, X)
        if self.sparse_output and not isinstance(rows, Source) and all(map(len, self.levels_)) and len(rows):
            entries = map_rows(lambda part: self._entries(part)[0], rows)
            if entries.min(initial=0) >= 0:  # as many entries in each row: no parts to be joined
                return self._dressed(self._typed(self._csr(entries, rows.dtype)), X)
        return self._dressed(map_rows(self._undressed, rows), X)

    def _csr(self, entries: Array, kind: Any) -> Any:
        from scipy.sparse import csr_matrix

        n, p = entries.shape
        size = np.int32 if n * p < 2**31 else np.int64
        starts = np.arange(0, n * p + 1, p, dtype=size)
        parts = (np.ones(n * p, dtype=kind), entries.ravel().astype(size, copy=False), starts)
        return csr_matrix(parts, shape=(n, int(self._layout()[1][-1])))

    def _sparse_row(self) -> tuple[float, int] | None:
        return (len(self.levels_), int(self._layout()[1][-1])) if self.sparse_output else None

    def _undressed(self, X: Any) -> Any:
        return self._typed(self._sparse(X) if self.sparse_output else self._transform(X))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns: column_category."""
        names, out = super().get_feature_names_out(input_features), list[str]()
        for j, places in enumerate(self._places()):
            if not len(self.levels_[j]):
                out.append(str(names[j]))
                continue
            out += [self._name(names[j], one) for one in np.array(self._level_names(j), dtype=object)[places >= 0]]
        return np.array(out, dtype=object)

    def _name(self, column: str, category: Any) -> str:
        """The name of the new column of a category."""
        if not callable(self.feature_name_combiner):
            return f"{column}_{category}"
        name = self.feature_name_combiner(column, category)
        if not isinstance(name, str):
            raise BadType(
                "When `feature_name_combiner` is a callable, it should return a Python string. "
                f"Got {type(name)} for the category {check.short(category)} of {column!r}."
            )
        return name

    def _decoded(self, Z: Array, j: int) -> Array:
        names, places = self._level_names(j), self._places()[j]
        gone = self._level_left_out(j)
        nothing = len(names) if gone < 0 else int(self.levels_[j][gone])
        levels, zeros = np.flatnonzero(places >= 0), ~Z.any(axis=1)
        if self.handle_unknown == "error" and gone < 0 and zeros.any():
            raise BadInput(
                f"Samples {np.flatnonzero(zeros)} can not be inverted when drop=None and handle_unknown='error' because they contain "
                f"all zeros (in {column_name(vars(self).get('feature_names_in_'), j)})"
            )
        found = np.full(len(Z), nothing) if not len(levels) else np.where(zeros, nothing, levels[Z.argmax(axis=1)])
        return self._in_type(names, found, j)
