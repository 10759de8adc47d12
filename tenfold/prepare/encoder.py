"""What encoders of categories have in common: the levels of each column, from one count of its categories."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold import _codes
from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Estimator, Transformer
from tenfold.core.data import Array, Block, Source, as_floats
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.numbers import column_name
from tenfold.core.stats import Counts
from tenfold.gate.categories import is_missing
from tenfold.prepare.given_categories import listed_categories, marks_of, types_of

INFREQUENT = "infrequent_sklearn"  # what scikit-learn calls the categories that are taken together
WHICH = "columns of categories: 'all', 'from_dtype' for text, categories and truth values, or a list; others pass"
CATEGORIES = "'auto', or a list with the categories of each column in their order, None for a column of numbers"


COMMON = ("float64", "float32", "int64")  # types that categories have without being told


class Encoder(Transformer, Estimator):
    """Abstract: gives each category of a column, and its missing values, the number of a level."""

    levels_: list[Array] = learned("[int(*)](p)", "the column or number of each category, and of a missing value")
    rare_: Array = learned("int(p)", "the column or number of rare categories taken together, −1 for none")
    types_: Array = learned("text(p)", "the types of the columns as they were given, where they are others than usual", optional=True)
    marks_: Array = learned("text(p)", "what stood for a missing value in each column, where it was not nan alone", optional=True)

    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    codes: ClassVar[bool] = True  # what comes behind sees numbers
    missing_is_category: ClassVar[bool]  # or a level beside the categories
    sparse_rows: ClassVar[bool]  # whether its rows may be sparse
    decodes: ClassVar[bool] = True  # whether categories can be told from their codes
    kind: ClassVar[str] = "keeps rows"  # every different value, that is

    @property
    def unseen(self) -> str:
        """What the gate makes of categories that fit has not seen."""
        return "refuse" if self.handle_unknown == "error" else "mark"

    @property
    def given_categories(self) -> list[Array | None] | None:
        """The categories that the user has given, for the gate."""
        try:
            np.dtype(self.dtype)
        except TypeError:
            raise BadParameter(f"{type(self).__name__}(dtype={check.short(self.dtype)}): must be a type of NumPy") from None
        if isinstance(self.categories, str) and self.categories == "auto":
            return None
        here = f"{type(self).__name__}(categories={check.short(self.categories)})"
        several = isinstance(self.categories, (list, tuple)) or (isinstance(self.categories, np.ndarray) and self.categories.ndim > 0)
        if not several or any(isinstance(one, str) for one in self.categories):
            raise BadParameter(
                f"{here}: Shape mismatch: if categories is an array, it has to be of shape (n_features,): must be 'auto', or a list "
                "with the categories of each column"
            )
        return [None if one is None else listed_categories(one, here, j) for j, one in enumerate(self.categories)]

    def _look(self, table: Any) -> dict[Any, Any]:
        """Types and marks of missing values as the user gave them: `categories_` and inverse_transform show them so."""
        types = types_of(table)
        if types is None:
            return {}
        marks = marks_of(table)
        known = dict(types_=types) if any(kind not in COMMON for kind in types) else {}
        return known | (dict(marks_=marks) if (marks == "None").any() else {})

    @property
    def categories_(self) -> list[Array | None]:
        """The categories of each column, a missing value included where it is one; None for columns of numbers."""
        check.check_fitted(self)
        return [None if one is None else self._shown(j) for j, one in enumerate(vars(self)["categories_"])]

    def _shown(self, j: int) -> Array:
        """The categories of column j as `categories_` shows them: of the type that was given, with what stands for a missing value."""
        known, kind = vars(self)["categories_"][j], self._type(j)
        if kind == "bytes":
            known = np.char.encode(known.astype(str), "utf-8")
        elif known.dtype.kind in "fi" and kind == "object":
            known = known.astype(object)
        elif known.dtype.kind in "fiO" and kind not in (None, "object"):
            known = known.astype(str if kind == "str" else np.dtype(kind))
        there, place = self.levels_[j][-1], self._place_of_missing(j)
        if there < 0:
            return np.asarray(known)
        mark = self._mark(j)
        numbers = known.dtype.kind in "fiu" and mark is not None
        return np.insert(known.astype(np.float64 if known.dtype.kind in "iu" else known.dtype if numbers else object), place, mark)

    def _type(self, j: int) -> str | None:
        types = vars(self).get("types_")
        return None if types is None else str(types[j])

    def _mark(self, j: int) -> Any:
        """What a missing value of column j is called."""
        marks = vars(self).get("marks_")
        return None if marks is not None and marks[j] == "None" else np.nan

    def _place_of_missing(self, j: int) -> int:
        """Where a missing value stands among the categories of column j: last, unless the user has given another place."""
        levels = self.levels_[j]
        return len(levels) - 1 if self.rare_[j] >= 0 or not self.missing_is_category else int(levels[-1])

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        found, name = source.facts.get("categories_"), type(self).__name__
        if self.categorical_features is None:
            raise BadParameter(f"{name}(categorical_features=None): must be 'all', 'from_dtype' or a list")
        if found is None:
            raise BadInput(f"{name} stands behind a step that takes numbers alone: put it first in the pipeline")
        if len(found) != source.n_features:
            raise BadParameter(
                f"{name}(categories=...): Shape mismatch: if categories is an array, it has to be of shape (n_features,): has "
                f"{len(found)} lists, but X has {source.n_features} columns"
            )
        looked = {key: source.looked[key] for key in ("types_", "marks_") if key in source.looked}
        places = self._given_places(looked.get("types_"))
        sizes = [-1 if one is None else len(one) for one in found]
        counts = (yield partial(_count, sizes=tuple(sizes))).weight
        parts = np.split(counts, np.cumsum([size + 1 for size in sizes]))[:-1]
        levels, rare = zip(*(self._levelled(part, j, places) for j, part in enumerate(parts)), strict=True)
        return dict(levels_=list(levels), rare_=np.array(rare), **looked)

    def _given_places(self, types: Array | None) -> list[int | None] | None:
        """Where a missing value stands among the categories that the user has given, None for nowhere; None where none were given."""
        if isinstance(self.categories, str):
            return None
        for j, one in enumerate(self.categories):
            binary = one is not None and len(one) and isinstance(one[0], bytes)
            if binary and types is not None and types[j] == "str":
                raise BadInput(
                    f"In column {j}, the predefined categories have type 'bytes' which is incompatible with values of type 'str_'."
                )
        blanks = [[] if one is None else [i for i, value in enumerate(one) if is_missing(value)] for one in self.categories]
        return [one[0] if one else None for one in blanks]

    def _levelled(self, counts: Array, j: int, given: list[int | None] | None) -> tuple[Array, int]:
        """(categories + 1,): the level of each category and of a missing value, −1 for none; and the level of those taken together."""
        levels = np.full(len(counts), -1, dtype=np.int64)
        if not len(counts):  # a column of numbers
            return levels, -1
        met, place = counts[-1] > 0, None if given is None else given[j]
        if met and given is not None and place is None:
            if self.handle_unknown == "error":
                raise self._unknown_missing(j)
            met = False
        known = vars(self)["categories_"][j]
        own = np.ones(len(counts) - 1, dtype=bool)
        if given is None and known is not None and known.dtype.kind != "b":
            own = counts[:-1] > 0  # those of a test fold alone, in cross-validation, are unknown
        there = np.append(own, self.missing_is_category and (met or place is not None))
        if place is None and self.min_frequency is None and self.max_categories is None:  # the usual case
            levels[there] = np.arange(np.count_nonzero(there))
            if met and not there[-1]:
                levels[-1] = levels.max() + 1
            return levels, -1
        order = np.arange(len(counts))  # missing values last, unless the user has given another place
        order = order if place is None else np.insert(order[:-1], place, len(counts) - 1)
        rare = np.zeros(len(counts), dtype=bool)
        rare[there] = self._infrequent(counts[there], float(counts.sum()))
        kept = order[(there & ~rare)[order]]
        levels[kept], levels[rare] = np.arange(len(kept)), len(kept)
        if (met or place is not None) and not there[-1]:
            levels[-1] = levels.max() + 1
        return levels, len(kept) if rare.any() else -1

    def _unknown_missing(self, j: int) -> BadInput:
        return BadInput(
            f"Found unknown categories [nan] in {column_name(vars(self).get('feature_names_in_'), j)}: it is missing in a row "
            "and is none of its categories: fill its missing values first, or set handle_unknown"
        )

    def _infrequent(self, counts: Array, total: float) -> Array:
        """Which categories are taken together; shares are of all rows, those where the value is missing too."""
        least, most = self.min_frequency, self.max_categories
        share = isinstance(least, (float, np.floating))
        rare: Array = counts < (0.0 if least is None else least * total if share else least)
        if most is not None and most < len(counts) - rare.sum() + 1:
            rare[np.argsort(counts, kind="stable")[: len(counts) - (most - 1)]] = True
        return rare

    def _level_of(self, X: Array, j: int) -> Array:
        """The level of column j in each row, −1 for what fit has not seen."""
        levels, values = self.levels_[j], X[:, j]
        missing = np.isnan(values)
        if levels[-1] < 0 and self.handle_unknown == "error" and missing.any():
            raise self._unknown_missing(j)
        place = np.minimum(np.where(missing, len(levels) - 1, values).astype(np.int64), len(levels) - 1)
        found = np.where(place < 0, -1, levels[place])
        if self.handle_unknown == "error" and (found[~missing] < 0).any():
            raise self._unknown_category(j)
        return found

    def _unknown_category(self, j: int) -> BadInput:
        return BadInput(
            f"Found unknown categories in {column_name(vars(self).get('feature_names_in_'), j)}, which were not there in fit: set "
            "handle_unknown to take them"
        )

    def _known(self, j: int) -> Array:
        """The categories of column j as they are shown, then what stands for a missing value."""
        shown = self._shown(j)
        if self.levels_[j][-1] >= 0:
            shown = np.delete(shown, self._place_of_missing(j))
        return np.array([*shown.tolist(), self._mark(j)], dtype=object)

    def _level_names(self, j: int) -> list[Any]:
        """The category of each level of column j; NaN for missing values."""
        levels, known = self.levels_[j], self._known(j)
        numbers = range(int(levels.max(initial=-1)) + 1)
        return [INFREQUENT if one == self.rare_[j] else known[levels == one][0] for one in numbers]

    @property
    def infrequent_categories_(self) -> list[Array | None]:
        """The categories of each column that are taken together, None where there are none."""
        check.check_fitted(self)
        return [
            None if rare < 0 else self._known(j)[self.levels_[j] == rare] for j, rare in enumerate(self.rare_.tolist())
        ]

    def _objection(self) -> str | None:
        """Each category of a column has a level, and the levels are numbered without a gap."""
        if "categories_" not in vars(self):
            return "categories_ is missing"
        for j, (known, levels, rare) in enumerate(zip(vars(self)["categories_"], self.levels_, self.rare_.tolist(), strict=True)):
            used = np.unique(levels[levels >= 0])
            sizes = len(levels) == (0 if known is None else len(known) + 1)
            if not sizes or not np.array_equal(used, np.arange(len(used))) or not -1 <= rare < max(len(used), 1):
                return f"the levels of column {j} are not those of its categories"
        return None

    def _widths(self) -> list[int]:
        """How many new columns each column makes."""
        raise NotImplementedError

    def _decoded(self, Z: Array, j: int) -> Array:
        """The values of column j from the new columns that it made."""
        raise NotImplementedError

    @available(lambda encoder: bool(encoder.decodes))
    def inverse_transform(self, X: Any) -> Array:
        """The categories again, of the type that fit has seen; None where a row has none of them."""
        check.check_fitted(self)
        Z, _ = check.as_table(self, X.toarray() if hasattr(X, "toarray") and self.sparse_rows else X)
        widths = self._widths()
        if Z.shape[1] != sum(widths):
            raise BadInput(
                f"Shape of the passed X data is not correct. Expected {sum(widths)} columns, got {Z.shape[1]}: give what transform "
                "returns"
            )
        parts = np.split(as_floats(Z), np.cumsum(widths)[:-1], axis=1)
        columns = [self._decoded(part, j) if len(self.levels_[j]) else part[:, 0] for j, part in enumerate(parts)]
        kinds = {one.dtype for one in columns}
        alike = len(kinds) == 1 or all(kind.kind in "fiu" for kind in kinds)
        return np.column_stack(columns if alike else [one.astype(object) for one in columns])

    def _typed(self, rows: Any) -> Any:
        """Transformed rows in the type that the parameter `dtype` asks for."""
        return rows if np.dtype(self.dtype) == np.float64 else rows.astype(self.dtype)

    def _saved_params(self) -> dict[str, Any]:
        return super()._saved_params() | {"dtype": np.dtype(self.dtype).name}

    def _in_type(self, names: list[Any], places: Array, j: int) -> Array:
        """names[places] in the type of the categories of column j where all of them are categories."""
        values, kind = np.array([*names, None], dtype=object), self._shown(j).dtype
        used = np.zeros(len(values), dtype=bool)
        used[places] = True
        if kind.kind == "O" or any(one is None or one is INFREQUENT for one in values[used].tolist()):
            return np.asarray(values[places])
        typed = np.zeros(len(values), dtype=kind)
        typed[used] = values[used].astype(kind)
        return typed[places]


def _count(block: Block, sizes: tuple[int, ...]) -> Counts:
    """The weight of each category of each column, and of its missing values."""
    alike = bool((block.w == 1).all())
    return Counts(_codes.tally(block.X, np.array(sizes, dtype=np.int64), None if alike else block.w))
