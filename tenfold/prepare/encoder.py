"""What encoders of categories have in common: the levels of each column, from one count of its categories."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, Transformer
from tenfold.core.data import Array, Block, Source, as_floats
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.numbers import column_name
from tenfold.core.stats import Counts

INFREQUENT = "infrequent_sklearn"  # what scikit-learn calls the categories that are taken together
WHICH = "columns of categories: 'all', 'from_dtype' for text, categories and truth values, or a list; others pass"
CATEGORIES = "'auto', or a list with the categories of each column in their order, None for a column of numbers"


class Encoder(Transformer, Estimator):
    """Abstract: gives each category of a column, and its missing values, the number of a level."""

    categories_: Any = learned(
        "[levels](p)", "the categories of each column, None for columns of numbers; missing values are not listed"
    )
    levels_: list[Array] = learned("[int(*)](p)", "the column or number of each category, and of a missing value")
    rare_: Array = learned("int(p)", "the column or number of rare categories taken together, −1 for none")

    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    codes: ClassVar[bool] = True  # what comes behind sees numbers
    missing_is_category: ClassVar[bool]  # or a level beside the categories
    kind: ClassVar[str] = "keeps rows"  # every different value, that is

    @property
    def unseen(self) -> str:
        """What the gate makes of categories that fit has not seen."""
        return "refuse" if self.handle_unknown == "error" else "mark"

    @property
    def given_categories(self) -> list[Array | None] | None:
        """The categories that the user has given, for the gate."""
        if isinstance(self.categories, str) and self.categories == "auto":
            return None
        here = f"{type(self).__name__}(categories={check.short(self.categories)})"
        if not isinstance(self.categories, (list, tuple)):
            raise BadParameter(f"{here}: must be 'auto', or a list with the categories of each column")
        return [None if one is None else _listed(one, here) for one in self.categories]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        found = source.facts.get("categories_")
        if self.categorical_features is None:
            raise BadParameter(
                f"{type(self).__name__}(categorical_features=None): must be 'all', 'from_dtype' or a list"
            )
        if found is None:
            raise BadInput(
                f"{type(self).__name__} stands behind a step that takes numbers alone: put it first in the pipeline"
            )
        if len(found) != source.n_features:
            raise BadParameter(
                f"{type(self).__name__}(categories=...): has {len(found)} lists, but X has {source.n_features} columns"
            )
        sizes = [-1 if one is None else len(one) for one in found]
        counts = (yield partial(_count, sizes=tuple(sizes))).weight
        parts = np.split(counts, np.cumsum([size + 1 for size in sizes]))[:-1]
        levels, rare = zip(*(self._levelled(part) for part in parts), strict=True)
        return dict(levels_=list(levels), rare_=np.array(rare))

    def _levelled(self, counts: Array) -> tuple[Array, int]:
        """(categories + 1,): the level of each category and of a missing value, −1 for none; and the level of those taken together."""
        levels = np.full(len(counts), -1, dtype=np.int64)
        if not len(counts):  # a column of numbers
            return levels, -1
        there = np.append(np.ones(len(counts) - 1, dtype=bool), self.missing_is_category and counts[-1] > 0)
        rare = np.zeros(len(counts), dtype=bool)
        rare[there] = self._infrequent(counts[there])
        kept = there & ~rare
        levels[kept], levels[rare] = np.arange(kept.sum()), kept.sum()
        if counts[-1] > 0 and not there[-1]:
            levels[-1] = levels.max() + 1
        return levels, int(kept.sum()) if rare.any() else -1

    def _infrequent(self, counts: Array) -> Array:
        """Which categories are taken together."""
        least, most = self.min_frequency, self.max_categories
        share = isinstance(least, (float, np.floating))
        rare: Array = counts < (0.0 if least is None else least * counts.sum() if share else least)
        if most is not None and most < len(counts) - rare.sum() + 1:
            rare[np.argsort(counts, kind="stable")[: len(counts) - (most - 1)]] = True
        return rare

    def _level_of(self, X: Array, j: int) -> Array:
        """The level of column j in each row, −1 for what fit has not seen."""
        levels, values = self.levels_[j], X[:, j]
        missing = np.isnan(values)
        if levels[-1] < 0 and self.handle_unknown == "error" and missing.any():
            raise BadInput(
                f"Found unknown categories in {column_name(vars(self).get('feature_names_in_'), j)}: it is missing in a row "
                "and never was in fit: fill its missing values first, or set handle_unknown"
            )
        place = np.minimum(np.where(missing, len(levels) - 1, values).astype(np.int64), len(levels) - 1)
        return np.where(place < 0, -1, levels[place])

    def _known(self, j: int) -> Array:
        """The categories of column j, then NaN for a missing value."""
        return np.array([*self.categories_[j].tolist(), np.nan], dtype=object)

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
        for j, (known, levels, rare) in enumerate(zip(self.categories_, self.levels_, self.rare_.tolist(), strict=True)):
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

    def inverse_transform(self, X: Any) -> Array:
        """The categories again; None where a row has none of them."""
        check.check_fitted(self)
        Z, _ = check.as_table(self, X.toarray() if hasattr(X, "toarray") else X)
        widths = self._widths()
        check.check_width(self, Z.shape[1], sum(widths))
        parts = np.split(as_floats(Z), np.cumsum(widths)[:-1], axis=1)
        columns = [
            self._decoded(part, j) if len(self.levels_[j]) else part[:, 0].astype(object)
            for j, part in enumerate(parts)
        ]
        return np.column_stack(columns)


def _listed(categories: Any, here: str) -> Array:
    """The categories of one column as the gate keeps them."""
    values = list(categories) if isinstance(categories, (list, tuple, np.ndarray)) else []
    kinds = {str if isinstance(one, str) else bool if isinstance(one, (bool, np.bool_)) else float for one in values}
    if len(kinds) != 1 or len(set(values)) < len(values):
        raise BadParameter(f"{here}: the categories of a column must be different, and all text or all numbers")
    kind = kinds.pop()
    array = np.array(values, dtype=object if kind is str else kind)
    if kind is not str and (np.diff(array.astype(float)) <= 0).any():
        raise BadParameter(f"{here}: categories that are numbers must be in ascending order")
    return array


def _count(block: Block, sizes: tuple[int, ...]) -> Counts:
    """The weight of each category of each column, and of its missing values."""
    parts = []
    for j, size in enumerate(sizes):
        if size >= 0:
            codes = np.where(np.isnan(block.X[:, j]), size, block.X[:, j]).astype(np.int64)
            parts.append(np.bincount(codes, weights=block.w, minlength=size + 1))
    return Counts(np.concatenate(parts) if parts else np.zeros(0))
