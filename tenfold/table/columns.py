"""What each column of a table is: a number, a category, a date, or something that is left out, with the reason."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.table.cells import (
    Odd,
    as_numbers,
    as_texts,
    class_texts,
    finite,
    is_text,
    odd_cells,
    plain_numbers,
    present,
    too_long,
)
from tenfold.table.dates import COMPACT, ISO, are_compact, days, form_of, looks_like_dates, other_form, plain_days
from tenfold.table.names import TIMES, says, says_key
from tenfold.table.reading import Raw, pl
from tenfold.table.written_numbers import read_number, writes_commas

FREE_TEXT = 0.5  # a column of texts with more different values than this share of its rows is not a category
LEAST_LEVEL_ROWS = 5  # a level of fewer rows is not kept, so that no single row can be read off a model
MOST_NAMES = 8  # of columns in a message
LEAST_KEYS = 20  # rows, and different values, from which whole numbers may be names of rows
USED = ("number", "category", "date")


@dataclass(frozen=True)
class Column:
    """One column: its kind, and what the user should know about it."""

    name: str
    kind: str  # number, category, date, id, row number, text, constant, empty, nested, dropped
    note: str | None = None
    undo: str | None = None  # the option that undoes what is noted: keep, category or drop
    form: str | None = None  # of a date, and of a number that is not written as computers do: how it is written

    @property
    def used(self) -> bool:
        return self.kind in USED


@dataclass(frozen=True)
class Asked:
    """What the user asked for by name: columns to use all the same, to leave out, to take for categories."""

    keep: Collection[str] = ()
    drop: Collection[str] = ()
    category: Collection[str] = ()
    beside: Mapping[str, str] = field(default_factory=dict)  # columns that say something of rows, and what; none is used to predict

    def check(self, known: Sequence[str], target: str | None = None) -> None:
        """Refuse names that are not there, and a column asked for in two ways."""
        for option, names in (("keep", self.keep), ("drop", self.drop), ("category", self.category)):
            for name in names:
                check_name(name, known)
                if name == target and option != "category":
                    raise BadParameter(f"{option}={name!r}: this is the column to predict")
                if option != "drop" and name in self.drop:
                    raise BadParameter(f"{option}={name!r}: this column is also to be dropped, choose one of the two")


NOTHING = Asked()


def look_at_columns(
    frame: pl.DataFrame,
    typed: bool,
    asked: Asked = NOTHING,
    comma: bool = False,
    rows: Array | None = None,
) -> tuple[list[Column], pl.DataFrame]:
    """The kind of every column, and a frame of the used ones: Float64 or String, null for missing.

    `comma`: the table writes commas before decimals. `rows`: the numbers in the file of the rows of the frame.
    """
    columns, series = [], []
    plain = plain_numbers(frame, comma)
    for one in frame.iter_columns():
        column, values = look_at(one, typed, asked, comma, rows, plain.get(one.name))
        columns.append(column)
        if column.used:
            series.append(values)
    return columns, pl.DataFrame(series)


def look_at(
    series: pl.Series,
    typed: bool,
    asked: Asked = NOTHING,
    comma: bool = False,
    rows: Array | None = None,
    plain: pl.Series | None = None,
) -> tuple[Column, pl.Series]:
    """The kind of one column, and its values: Float64 or String where it is used. `plain`: the numbers, where it holds plain ones."""
    return _Look(series, typed, asked, comma, rows).found(plain)


def comma_of(raw: Raw) -> bool:
    """Whether a CSV file writes commas before decimals; where commas part its cells, it cannot."""
    return not raw.typed and not raw.about.startswith("comma") and writes_commas(raw.frame)


def read_as(columns: Sequence[Column], frame: pl.DataFrame) -> pl.DataFrame:
    """More rows of a table whose columns are known: numbers and days, null for what cannot be read; categories as they are written."""
    found = []
    for column in columns:
        if column.used:
            series = frame[column.name]
            if column.kind == "category":
                found.append(series if is_text(series) else as_texts(series))
            elif column.kind == "date":
                plain = plain_days(series, column.form or ISO) if series.dtype == pl.String else days(series, column.form or ISO)
                found.append(days(as_texts(series), column.form or ISO) if plain is None else plain)
            else:
                read = read_number(as_texts(series), column.form or "") if series.dtype == pl.String else series
                found.append(finite(read)[0])
    return pl.DataFrame(found)


def check_name(name: str, known: Sequence[str], where: str = "") -> None:
    """A column that is not there, with the name that was probably meant."""
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    lower = [column for column in known if column.lower() == name.lower()]
    shown = list(known) if len(known) <= MOST_NAMES else [*known[: MOST_NAMES - 3], "...", *known[-2:]]
    meant = f"did you mean {(lower or near)[0]!r}?" if lower or near else f"the columns are {', '.join(shown)}"
    raise BadParameter(f"there is no column {name!r}{where}: {meant}")


def typed_names(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Names as they were typed: each by itself, or several with commas between, where no column is called so."""
    names = [part for one in given for part in ([one] if one in known else [piece.strip() for piece in one.split(",")])]
    for name in names:
        check_name(name, known)
    return list(dict.fromkeys(names))


class _Look:
    """A look at one column."""

    def __init__(self, series: pl.Series, typed: bool, asked: Asked, comma: bool, rows: Array | None) -> None:
        self.series, self.name, self.typed, self.comma, self.rows = series, series.name, typed, comma, rows
        self.beside = asked.beside.get(self.name)
        self.keep, self.drop, self.category = (self.name in names for names in (asked.keep, asked.drop, asked.category))

    def found(self, plain: pl.Series | None) -> tuple[Column, pl.Series]:
        """The column, and its values."""
        kind = self.series.dtype
        if self.beside is not None:
            return Column(self.name, "dropped", f"{self.beside}, not used to predict"), self.series
        if self.drop:
            return Column(self.name, "dropped", "left out as asked"), self.series
        if kind.is_nested() or kind in (pl.Binary, pl.Object):
            return Column(self.name, "nested", f"holds {kind}, left out"), self.series
        if self.category:
            return self._texts(as_texts(self.series))
        if kind.is_temporal():
            return self._dates(days(self.series, ISO), ISO, None, None)
        if kind.is_numeric() or kind.is_decimal():
            values, infinite = finite(self.series)
            if kind.is_integer() and too_long(self.series, values):
                return self._texts(as_texts(self.series))
            return self._numbers(values, self._note(infinite))
        if plain is not None and not (self.typed and _whole(plain)) and not too_long(self.series, plain):
            return self._numbers(plain, None)
        texts = as_texts(self.series)
        numbers = as_numbers(texts, self.comma)
        if numbers is not None and not too_long(texts, numbers.values) and not (self.typed and _whole(numbers.values)):
            note = "; ".join(filter(None, [numbers.as_written, self._note(numbers.odd)])) or None
            column, values = self._numbers(numbers.values, note)
            return replace(column, form=numbers.form or None, undo=column.undo or self._undo(numbers.odd)), values
        return self._texts(texts)

    def _note(self, odd: Odd | None) -> str | None:
        """What was read as missing, with the number of the row as it is in the file."""
        if odd is None:
            return None
        return str(odd if self.rows is None else replace(odd, row=int(self.rows[odd.row])))

    def _undo(self, odd: Odd | None) -> str | None:
        if odd is None:
            return None
        return "category" if _frequent_enough(as_texts(self.series)) else "drop"

    def _numbers(self, values: pl.Series, note: str | None) -> tuple[Column, pl.Series]:
        x = present(values)
        missing = len(values) - len(x)
        varies = len(x) > 0 and bool(x.min() < x.max())
        if len(x) == 0:
            return Column(self.name, "empty", "holds no values, left out"), values
        if not varies and missing == 0:
            return Column(self.name, "constant", "the same in every row, left out"), values
        if not varies:  # all that varies is whether there is a value
            either = "one value or missing: used as present or absent"
            return Column(self.name, "category", either), as_texts(self.series)
        if missing == 0 and not self.keep and len(values) > 2 and _counts_rows(x):
            return Column(self.name, "row number", "counts the rows, left out", undo="keep"), values
        if says(self.name, TIMES) == "date" and are_compact(values):
            return self._dates(days(values, COMPACT), COMPACT, None, None)
        key = None if self.keep else _is_key(self.name, x, len(values))
        if key is not None:
            return Column(self.name, "id", f"{key}, left out", undo="keep"), values
        return Column(self.name, "number", note), values

    def _dates(self, values: pl.Series, form: str, other: str | None, odd: Odd | None) -> tuple[Column, pl.Series]:
        """Dates as days; noted where day and month could be the other way round."""
        missing, different = values.null_count(), values.drop_nulls().n_unique()
        if different < 2:
            kind, what = ("empty", "holds no values") if different == 0 else ("constant", "the same in every row")
            if different == 0 or missing == 0:
                return Column(self.name, kind, f"{what}, left out"), values
        unsure = f"dates read as {_spelt(form)}, could be {_spelt(other)}" if other else None
        note = "; ".join(filter(None, [unsure, self._note(odd)])) or None
        return Column(self.name, "date", note, self._undo(odd), form), values

    def _texts(self, texts: pl.Series) -> tuple[Column, pl.Series]:
        asked = self.keep or self.category
        if not self.category and looks_like_dates(texts):
            form = form_of(texts)
            if form is not None:
                values = days(texts, form)
                return self._dates(values, form, other_form(texts, form), odd_cells(texts, values))
            if not self.keep:
                return Column(self.name, "text", "dates of mixed form, left out", _kept(texts)), texts
        texts = texts if self.category else class_texts(texts)
        there = texts.drop_nulls()
        different = there.n_unique()
        if different == 0:
            return Column(self.name, "empty", "holds no values, left out"), texts
        if different == 1 and texts.null_count() == 0:
            return Column(self.name, "constant", "the same in every row, left out"), texts
        if different == len(there) and different > 2 and not asked:
            what = "different in every row, left out"
            if _are_sentences(there):
                return Column(self.name, "text", f"texts of several words, {what}", _kept(texts)), texts
            return Column(self.name, "id", what, _kept(texts)), texts
        if different > max(FREE_TEXT * len(there), 2) and not asked:
            what = f"{different:,} different texts in {len(there):,} rows, left out"
            return Column(self.name, "text", what, _kept(texts)), texts
        if not _frequent_enough(texts):
            return Column(self.name, "text", f"no value occurs in {LEAST_LEVEL_ROWS} rows, left out"), texts
        return Column(self.name, "category"), texts


def _kept(texts: pl.Series) -> str | None:
    return "keep" if _frequent_enough(texts) else None


def _frequent_enough(texts: pl.Series) -> bool:
    """Whether some level can be kept in a category."""
    return int(texts.fill_null("").value_counts()["count"].max() or 0) >= LEAST_LEVEL_ROWS  # type: ignore[arg-type]


def _are_sentences(texts: pl.Series) -> bool:
    """Whether texts are written words rather than names of rows: three spaces or more, most of them."""
    return float(texts.str.count_matches(r"\s").median() or 0) >= 3  # type: ignore[arg-type]


def _is_key(name: str, x: Array, n: int) -> str | None:
    """Why whole numbers name the rows, or what these belong to; None where they measure something.

    Certain are numbers that count on from row to row, whatever their name, unless it is one of a time or place, where a series may be
    measured at equal steps. All different in another order they may be ranks: the name decides. Names alone decide where they repeat.
    """
    if n < LEAST_KEYS or x[0] != round(float(x[0])) or not np.array_equal(x, np.round(x)) or x.min() < 0:
        return None
    key, time = says_key(name), says(name, TIMES)
    if not key and abs(x[1] - x[0]) != 1:
        return None
    different = len(np.unique(x))
    if different == len(x):
        steps = np.unique(np.diff(x))
        if time is None and len(steps) == 1 and abs(steps[0]) == 1:
            return "whole numbers that count on from row to row"
        return f"whole numbers, all different, and the name says {key!r}" if key else None
    if key and different > LEAST_KEYS and different > n / 20:
        return f"{different:,} different whole numbers in {n:,} rows, and the name says {key!r}"
    return None


def _spelt(form: str) -> str:
    words = {"%Y": "year", "%y": "year", "%m": "month", "%d": "day"}
    return "".join(words.get(form[i : i + 2], "") + form[i + 2 : i + 3] for i in range(0, len(form), 3))


def _whole(numbers: pl.Series) -> bool:
    x = present(numbers)
    return bool((x == np.round(x)).all())


def _counts_rows(values: Array) -> bool:
    return values[0] in (0.0, 1.0) and bool(np.array_equal(values, values[0] + np.arange(len(values))))
