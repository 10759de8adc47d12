"""From a frame of numbers and categories to a matrix of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.params import estimator, param
from tenfold.prepare.cycles import WAVES, cycle_columns, cycle_names
from tenfold.prepare.table_dates import DateSums
from tenfold.prepare.table_sums import LevelSums, NumberSums, TableSums
from tenfold.table.cells import as_known, as_texts, by_level, class_texts, counted_levels, finite, is_text
from tenfold.table.columns import LEAST_LEVEL_ROWS, Column
from tenfold.table.dates import FORMS, ISO, days, written_dates
from tenfold.table.reading import pl
from tenfold.table.written_numbers import PATTERNS, read_number

OTHER = "(other)"
HUGE, TINY = 1e100, 1e-100  # beyond these the squares of a column leave the range of floats


@estimator
class TableCoder(Estimator):
    """TableCoder: a frame of numbers and categories as a matrix of numbers.

    Model       a number stays itself (NaN where missing), with a column 0/1 for "is missing" if enough are; a date is days;
                a category becomes one column 0/1 for each level but the most frequent one;
                with cycles=True also a column 0/1 for each weekday of a date but Monday, sine and cosine of its place in year and day
    Objective   none: the target is not looked at, so the list of levels may come from the whole table
    Algorithm   counts levels; those of fewer than least_rows rows, and all beyond most_levels, become "other"
    Cost        one pass
    Fails when  a column of the table it was fitted on is missing (refused)
    Reference   none
    """

    feature_names_in_: Array = learned("text(p)", "names of the columns")
    category_: Array = learned("bool(p)", "which columns hold categories")
    blank_: Array = learned("bool(p)", "which columns have an indicator of missing values")
    reference_: Array = learned("text(p)", "the category without a column")
    levels_: list[Array] = learned("[text(*)](p)", "the categories with a column")
    pooled_: Array = learned("bool(p)", "whether other categories share a column")
    scale_: Array = learned("float(p)", "what each number is multiplied by")
    date_: Array = learned("text(p)", "how dates and numbers are written", optional=True)
    cycles_: list[Array] = learned("[text(*)](p)", "the cycles of each column of dates that have columns", optional=True)

    kind: ClassVar[str] = "one pass"
    role: ClassVar[str] = "transformer"
    frozen: ClassVar[bool] = True

    least_rows: int = param(
        default=LEAST_LEVEL_ROWS,
        at_least=1,
        doc="a level of fewer rows is not kept, so that no single row can be read off it",
    )
    most_levels: int = param(default=50, at_least=1, doc="levels kept for one category, the most frequent first")
    cycles: bool = param(default=False, doc="columns for the week, the year and the day of dates, where these come round")

    def fit(
        self, X: pl.DataFrame, y: Any = None, sample_weight: Any = None, forms: dict[str, str] | None = None
    ) -> Self:
        """Learn levels, missing values and scales from a frame of Float64 and String columns (look_at_columns).

        `forms` are the ways in which the dates or numbers of a column were written before they became floats.
        """
        self.learn(X.schema, TableSums().add(X, []), forms)
        if self.cycles:
            self.cycles_ = [self._found_cycles(X, i) for i in range(self.n_features_in_)]
        return self

    def _found_cycles(self, X: pl.DataFrame, i: int) -> Array:
        """The cycles that a column of dates can say something of."""
        sums = DateSums()
        if "%" in self.form_of(i):
            sums.add(X[str(self.feature_names_in_[i])].to_numpy())
        return np.array(sums.cycles() if "%" in self.form_of(i) else [], dtype=object)

    def cycles_of(self, i: int) -> list[str]:
        """The cycles of column i that have columns of their own."""
        return [str(one) for one in self.cycles_[i]] if "cycles_" in vars(self) else []

    def learn(self, schema: Mapping[str, Any], sums: TableSums, forms: dict[str, str] | None = None) -> Self:
        """The same from what was counted in columns of these names and types."""
        category = np.array([kind == pl.String for kind in schema.values()], dtype=bool)
        counted = [self._levels(sums.levels[name]) if text else ("", [], False) for name, text in zip(schema, category, strict=True)]
        numbers = {name: sums.numbers[name] for name, text in zip(schema, category, strict=True) if not text}
        marked = _with_indicator(numbers, self.least_rows)
        vars(self).update(
            n_features_in_=len(schema),
            feature_names_in_=np.array(list(schema), dtype=object),
            category_=category,
            blank_=np.array([name in marked for name in schema], dtype=bool),
            reference_=np.array([reference for reference, _, _ in counted], dtype=object),
            levels_=[np.array(levels, dtype=object) for _, levels, _ in counted],
            pooled_=np.array([pooled for _, _, pooled in counted], dtype=bool),
            scale_=np.array([_safe_scale(numbers[name].largest) if name in numbers else 1.0 for name in schema], dtype=np.float64),
            date_=np.array([(forms or {}).get(name, "") for name in schema], dtype=object),
        )
        return self

    def _levels(self, sums: LevelSums) -> tuple[str, list[str], bool]:
        """The reference level, those with a column, and whether the others have one. A missing value is level ""."""
        kept, others = sums.frequent(self.least_rows, self.most_levels)
        return (kept[0], kept[1:], others) if kept else ("", [], False)

    def transform(self, X: pl.DataFrame) -> Array:
        """The matrix, columns in the order of `names_out`."""
        out = np.empty((X.height, len(self.names_out())))
        j = 0
        for i, column in enumerate(self._columns(X)):
            if self.category_[i]:
                width = self._code_category(column, i, out[:, j:])
            else:
                out[:, j] = self.numbers(column, i).to_numpy()
                if self.blank_[i]:
                    out[:, j + 1] = np.isnan(out[:, j])
                width = 1 + int(self.blank_[i])
                more = cycle_columns(out[:, j] / self.scale_[i], self.cycles_of(i))
                out[:, j + width : j + width + more.shape[1]] = more
                width += more.shape[1]
            j += width
        return out

    def frame(self, X: pl.DataFrame) -> pl.DataFrame:
        """The columns as they are, for learners that take categories and missing values; levels that are not kept are "(other)"."""
        return pl.DataFrame(
            [
                self._levels_only(column, i) if self.category_[i] else self.numbers(column, i)
                for i, column in enumerate(self._columns(X))
            ]
        )

    def _objection(self) -> str | None:
        if len(set(self.feature_names_in_)) < self.n_features_in_:
            return "two columns have one name"
        for i, levels in enumerate(self.levels_):
            if len({self.reference_[i], *levels}) < len(levels) + 1:
                return f"column {i} has a level twice"
            if self.form_of(i) not in ("", *FORMS, *PATTERNS):
                return f"the dates of column {i} are of an unknown form"
            if not set(self.cycles_of(i)) <= set(WAVES) or (self.category_[i] and self.cycles_of(i)):
                return f"the cycles of column {i} are not known"
        return None

    def _columns(self, X: pl.DataFrame) -> list[pl.Series]:
        known = set(X.columns)
        for name in self.feature_names_in_:
            if name not in known:
                raise BadInput(f"there is no column {name!r}, which the model needs")
        return [X[name] for name in self.feature_names_in_]

    def numbers(self, column: pl.Series, i: int) -> pl.Series:
        """Column i as Float64, null where it holds no number or date."""
        column = as_texts(column) if column.dtype == pl.String else column
        values = finite(self.read(column, i))[0]
        return values if self.scale_[i] == 1.0 else values * float(self.scale_[i])

    def read(self, column: pl.Series, i: int) -> pl.Series:
        """Column i, trimmed, as the numbers or dates that it held in fit; null where it holds something else."""
        form = self.form_of(i)
        if column.dtype == pl.String and (not form or form in PATTERNS):
            return read_number(column, form)
        return column if not form or form in PATTERNS else days(column, form)

    def form_of(self, i: int) -> str:
        """How the dates or numbers of column i are written; older files know no forms."""
        return str(self.date_[i]) if "date_" in vars(self) else ""

    def as_columns(self) -> list[Column]:
        """The columns as they were read in fit, so that more rows of them are read in the same way; nothing of older files."""
        found = []
        for i, name in enumerate(map(str, self.feature_names_in_ if "date_" in vars(self) else ())):
            form = self.form_of(i)
            kind = "category" if self.category_[i] else "number" if not form or form in PATTERNS else "date"
            found.append(Column(name, kind, form=form or None))
        return found

    def typed(self) -> dict[str, bool]:
        """Columns that were numbers or dates in fit, and not texts of some form; whether they were dates."""
        names = map(str, self.feature_names_in_)
        forms = {name: self.form_of(i) for i, name in enumerate(names) if not self.category_[i]}
        return {name: form == ISO for name, form in forms.items() if form in ("", ISO)}

    def level_texts(self, column: pl.Series, i: int) -> pl.Series:
        """Column i as texts; a whole number and a truth value are the level that they were in fit, however that was written."""
        known = {str(level) for level in (self.reference_[i], *self.levels_[i])}
        return as_known(class_texts(as_texts(column), known), known)

    def new_levels(self, column: pl.Series, i: int) -> pl.Series:
        """The cells of category i that hold a level which no row had in fit, as texts."""
        cells = column if is_text(column) else as_texts(column)
        levels, counts, codes = counted_levels(cells)
        texts = self.level_texts(levels, i)
        known = texts.is_null() | texts.is_in([self.reference_[i], *self.levels_[i]])
        new = np.flatnonzero(counts)[~known.fill_null(True).to_numpy()]
        if not len(new):
            return levels.clear()
        return self.level_texts(cells.gather(pl.Series(np.flatnonzero(np.isin(codes, new)))), i)

    def _levels_only(self, column: pl.Series, i: int) -> pl.Series:
        """A category with its kept levels alone, missing values as they are."""
        return by_level(column, lambda cells: self._kept(cells, i))

    def _kept(self, column: pl.Series, i: int) -> pl.Series:
        texts = self.level_texts(column, i)
        known = texts.is_in([self.reference_[i], *self.levels_[i]]) | texts.is_null()
        return texts.set(~known, OTHER if self.pooled_[i] else None)

    def _code_category(self, column: pl.Series, i: int, out: Array) -> int:
        """Fill the columns of one category; returns how many."""
        width = len(self.levels_[i]) + int(self.pooled_[i])
        codes, places = self.places(column, i)
        out[:, :width] = places[codes][:, None] == np.arange(width)
        return width

    def places(self, column: pl.Series, i: int) -> tuple[Array, Array]:
        """Codes of the cells of category i, and which of its columns holds a 1 for each code; −1 for none of them."""
        levels, counts, codes = counted_levels(column if is_text(column) else as_texts(column))
        places = np.full(len(counts), -1)
        places[counts > 0] = self._places(levels, i).to_numpy()
        return codes, places

    def _places(self, column: pl.Series, i: int) -> pl.Series:
        texts = self.level_texts(column, i).fill_null("")
        levels = [str(level) for level in self.levels_[i]]
        known = {str(self.reference_[i]): -1} | {level: place for place, level in enumerate(levels)}
        other = len(levels) if self.pooled_[i] else -1
        return texts.replace_strict(list(known), list(known.values()), default=other, return_dtype=pl.Int64)

    def undone(self, i: int, part: Array, complete: bool = False) -> pl.Series:
        """Column i again, from its columns of the matrix; `complete`: the reference level has one too."""
        name, form = str(self.feature_names_in_[i]), self.form_of(i)
        if not self.category_[i]:
            values = pl.Series(name, part[:, 0] / float(self.scale_[i]))
            gaps = part[:, 1] > 0.5 if self.blank_[i] else np.zeros(len(part), dtype=bool)
            values = values.set(pl.Series(gaps), None)
            return written_dates(values, form) if "%" in form else values
        levels = [str(self.reference_[i]), *map(str, self.levels_[i]), *([OTHER] if self.pooled_[i] else [])]
        part = part if complete else np.column_stack([1.0 - part.sum(axis=1), part])
        said = np.array(levels, dtype=object)[part.argmax(axis=1)]
        return pl.Series(name, [one or None for one in said], dtype=pl.String)

    def names_out(self) -> list[str]:
        """The names of the columns of the matrix."""
        names = []
        for i, name in enumerate(self.feature_names_in_):
            if self.category_[i]:
                names += [f"{name}={level or '(missing)'}" for level in self.levels_[i]]
                names += [f"{name}={OTHER}"] if self.pooled_[i] else []
            else:
                names += [str(name), f"{name} is missing"] if self.blank_[i] else [str(name)]
                names += cycle_names(str(name), self.cycles_of(i))
        return names


def _with_indicator(numbers: dict[str, NumberSums], least_rows: int) -> set[str]:
    """Columns with enough missing values for a column of their own, and not in the rows of an earlier column's."""
    seen: set[bytes] = set()
    found = set()
    for name, sums in numbers.items():
        if least_rows <= sums.missing <= sums.rows - least_rows and sums.pattern not in seen:
            found.add(name)
        seen.add(sums.pattern)
    return found


def _safe_scale(largest: float) -> float:
    """1, or the power of two that brings a column of extreme size near 1."""
    if largest == 0.0 or TINY < largest < HUGE:
        return 1.0
    return float(2.0 ** -np.clip(np.floor(np.log2(largest)), -1000, 1000))
