"""What each column of a table is: a number, a category, or something that is left out and told."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.selection.dates import DATE, ISO, days, form_of, other_form
from tenfold.selection.figures import forms_of, read_figures
from tenfold.selection.reading import pl

# Words that stand for "missing" in a column whose other cells are numbers. In a category they are levels.
MISSING_WORDS = (
    "na",
    "n/a",
    "nan",
    "null",
    "none",
    "nil",
    "?",
    "-",
    ".",
    "missing",
    "inf",
    "-inf",
    "+inf",
    "infinity",
)
FREE_TEXT = 0.5  # a column of texts with more different values than this share of its rows is not a category
LEAST_LEVEL_ROWS = 5  # a level of fewer rows is not kept, so that no single row can be told from a model
USED = ("number", "category", "date")


@dataclass(frozen=True)
class Column:
    """One column: its kind, and what the user should be told about it."""

    name: str
    kind: str  # number, category, date, id, row number, text, constant, empty, nested, dropped
    note: str | None = None
    kept_by_asking: bool = False  # --keep brings it back
    form: str | None = None  # of a date, and of a number that is not written as computers do: how it is written

    @property
    def used(self) -> bool:
        return self.kind in USED


def look_at_columns(
    frame: pl.DataFrame, typed: bool, keep: Collection[str] = (), drop: Collection[str] = (), comma: bool = False
) -> tuple[list[Column], pl.DataFrame]:
    """The kind of every column, and a frame of the used ones: Float64 or String, null for missing.

    `comma`: the table writes commas before decimals.
    """
    for name in [*keep, *drop]:
        check_name(name, frame.columns)
    columns, series = [], []
    for one in frame.iter_columns():
        column, values = _dropped(one) if one.name in drop else _look(one, typed, one.name in keep, comma)
        columns.append(column)
        if column.used:
            series.append(values)
    return columns, pl.DataFrame(series)


def check_name(name: str, known: list[str], where: str = "") -> None:
    """A column that is not there, with the name that was probably meant."""
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    lower = [column for column in known if column.lower() == name.lower()]
    shown = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
    meant = f"did you mean {(lower or near)[0]!r}?" if lower or near else f"the columns are {shown}"
    raise BadParameter(f"there is no column {name!r}{where}: {meant}")


def _dropped(series: pl.Series) -> tuple[Column, pl.Series]:
    return Column(series.name, "dropped", "left out as asked"), series


def _look(series: pl.Series, typed: bool, keep: bool, comma: bool) -> tuple[Column, pl.Series]:
    name, kind = series.name, series.dtype
    if kind.is_temporal():
        return _look_dates(name, days(series, ISO), ISO, None)
    if kind.is_nested() or kind in (pl.Binary, pl.Object):
        return Column(name, "nested", f"holds {kind}, left out"), series
    if kind.is_numeric() or kind.is_decimal():
        numbers, told = finite(series)
        return _look_numbers(name, numbers, told, keep)
    texts = as_texts(series)
    numbers, told, form = as_numbers(texts, comma)
    if numbers is not None and not (typed and _whole(numbers)):
        column, values = _look_numbers(name, numbers, told, keep)
        return replace(column, form=form or None), values
    return _look_texts(name, texts, keep)


def _look_numbers(name: str, numbers: pl.Series, told: str | None, keep: bool) -> tuple[Column, pl.Series]:
    blanks, different = numbers.null_count(), numbers.drop_nulls().n_unique()
    if different == 0:
        return Column(name, "empty", "holds no values, left out"), numbers
    if different == 1 and blanks == 0:
        return Column(name, "constant", "the same in every row, left out"), numbers
    if different == 1:  # all that varies is whether there is a value
        return Column(name, "category", "one value or blank: used as present or absent"), numbers.cast(pl.String)
    if blanks == 0 and not keep and len(numbers) > 2 and _counts_rows(numbers.to_numpy()):
        return Column(name, "row number", "counts the rows, left out", kept_by_asking=True), numbers
    return Column(name, "number", told), numbers


def _look_dates(name: str, numbers: pl.Series, form: str, other: str | None) -> tuple[Column, pl.Series]:
    """Dates as days; told where day and month could be the other way round."""
    column, values = _look_numbers(name, numbers, None, keep=True)
    if column.kind != "number":
        return column, values
    unsure = f"dates read as {_spelt(form)}, could be {_spelt(other)}" if other else None
    return replace(column, kind="date", form=form, note=unsure), values


def _spelt(form: str) -> str:
    words = {"%Y": "year", "%y": "year", "%m": "month", "%d": "day"}
    return "".join(words.get(form[i : i + 2], "") + form[i + 2 : i + 3] for i in range(0, len(form), 3))


def _look_texts(name: str, texts: pl.Series, keep: bool) -> tuple[Column, pl.Series]:
    present = texts.drop_nulls()
    different = present.n_unique()
    if different == 0:
        return Column(name, "empty", "holds no values, left out"), texts
    if different == 1 and texts.null_count() == 0:
        return Column(name, "constant", "the same in every row, left out"), texts
    if present.str.contains(DATE).all() and not keep:
        form = form_of(texts)
        if form is not None:
            return _look_dates(name, days(texts, form), form, other_form(texts, form))
        return Column(name, "text", "dates of mixed form, left out", kept_by_asking=True), texts
    if different == len(present) and different > 2 and not keep:
        return Column(name, "id", "different in every row, left out", kept_by_asking=True), texts
    if different > max(FREE_TEXT * len(present), 2) and not keep:
        return Column(
            name,
            "text",
            f"{different:,} different texts in {len(present):,} rows, left out",
            kept_by_asking=True,
        ), texts
    if texts.fill_null("").value_counts()["count"].max() < LEAST_LEVEL_ROWS:
        return Column(name, "text", f"no value occurs in {LEAST_LEVEL_ROWS} rows, left out"), texts
    return Column(name, "category"), texts


# --- cells ---------------------------------------------------------------------------------------------


def as_texts(series: pl.Series) -> pl.Series:
    """Trimmed texts; a blank is missing."""
    texts = series.cast(pl.String).str.strip_chars()
    return texts.set(texts == "", None)


def as_numbers(texts: pl.Series, comma: bool = False) -> tuple[pl.Series | None, str | None, str]:
    """The cells as numbers, what should be told, and how they are written; None where the column holds other texts."""
    for form in forms_of(texts, comma):
        numbers, told = _read_as(texts, form)
        if numbers is not None:
            if form:
                first = int((texts.cast(pl.Float64, strict=False).is_null() & numbers.is_not_null()).arg_max() or 0)
                written = f"numbers such as {texts[first]!r}, read as {numbers[first]:.12g}"
                told = f"{written}; {told}" if told else written
            return numbers, told, form
    return None, None, ""


def _read_as(texts: pl.Series, form: str) -> tuple[pl.Series | None, str | None]:
    numbers, _ = finite(read_figures(texts, form))
    bad = texts.filter(numbers.is_null() & texts.is_not_null())
    if len(bad) == 0:
        return numbers, None
    words = bad.str.to_lowercase()
    overflow = bad.str.contains(r"^[+-]?\d+(\.\d*)?[eE]\+?\d+$")  # 1e400 is a number, but no float
    if 2 * len(bad) > len(texts.drop_nulls()) or not (words.is_in(list(MISSING_WORDS)) | overflow).all():
        return None, None
    return numbers, f"{counted_cells(len(bad))} such as {bad[0]!r} read as missing, the rest are numbers"


def finite(numbers: pl.Series) -> tuple[pl.Series, str | None]:
    """Float64 with infinities and NaN as missing."""
    values = numbers.cast(pl.Float64, strict=False)
    infinite = int(values.is_infinite().sum())
    values = values.set(~values.is_finite().fill_null(True), None)
    return values, f"{counted_cells(infinite)} with infinity read as missing" if infinite else None


def counted_cells(count: int) -> str:
    return f"{count:,} cell{'s' if count != 1 else ''}"


def _whole(numbers: pl.Series) -> bool:
    present = numbers.drop_nulls()
    return bool((present == present.round()).all())


def _counts_rows(values: np.ndarray[Any, Any]) -> bool:
    return values[0] in (0.0, 1.0) and bool(np.array_equal(values, values[0] + np.arange(len(values))))
