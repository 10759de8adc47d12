"""`tenfold.read`: a table as it is, every column with its kind, what was read and what is doubted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.table.cells import FLOAT_WHOLE, OddCell, as_texts, odd_list, plain_numbers, present
from tenfold.table.columns import Asked, Column, check_name, comma_of, look_at
from tenfold.table.dates import COMPACT, as_dates
from tenfold.table.flags import Flag, flags_of
from tenfold.table.kinds import KINDS, NUMERIC, Kind, kind_of
from tenfold.table.reading import Raw, pl, read_table
from tenfold.table.show import MOST_COLUMNS, html_of, lines_of

EXAMPLES = 3


@dataclass(frozen=True)
class TableColumn:
    """One column of a table: its kind and the evidence, what is missing, and cells that are not what the others are."""

    name: str
    kind: str  # one of KINDS
    evidence: str
    missing: int  # cells without a value, odd ones included
    odd: tuple[OddCell, ...]  # cells with something written in them that was read as missing; at most MOST_LISTED are listed
    n_odd: int
    examples: tuple[str, ...]
    notes: tuple[str, ...] = ()  # what is doubted, or was done
    order: tuple[str, ...] = ()  # the levels of an ordinal column of texts, from low to high
    look: Column | None = None  # how its cells are read

    @property
    def used(self) -> bool:
        """Whether it says something about the rows: not an id, free text, constant or empty."""
        return self.kind not in ("text", "id", "constant", "empty")


class Table:
    """A table as it was read: what `tenfold.read` returns.

    frame       the cells as a polars frame: numbers, dates, texts; null where a value is missing
    columns     one TableColumn each: name, kind, evidence, missing, odd cells with their lines, examples
    flags       what should be known before learning: copies of rows and columns, ids, leaks, order in time
    """

    def __init__(self, raw: Raw, target: str | None = None, kinds: Mapping[str, str] | None = None, missing: Sequence[Any] = ()) -> None:
        self.raw, self.target, self.given, self.missing = raw, target, dict(kinds or {}), tuple(missing)
        if target is not None:
            if not isinstance(target, str):
                raise BadParameter(f"target={target!r}: must be the name of a column, such as {raw.frame.columns[-1]!r}")
            check_name(target, raw.frame.columns)
        for name, kind in self.given.items():
            check_name(name, raw.frame.columns)
            if kind not in KINDS:
                raise BadParameter(f"kinds[{name!r}]={kind!r}: must be one of {', '.join(KINDS)}")

    # --- what it holds ---

    @cached_property
    def comma(self) -> bool:
        """Whether the file writes commas before decimals."""
        return comma_of(self.raw)

    @cached_property
    def _read(self) -> list[tuple[TableColumn, pl.Series]]:
        frame = self.raw.frame
        if self.missing:
            frame = pl.DataFrame([without(series, self.missing) for series in frame.iter_columns()])
        plain = plain_numbers(frame, self.comma)
        return [self._column(series, plain.get(series.name)) for series in frame.iter_columns()]

    @cached_property
    def columns(self) -> list[TableColumn]:
        """What each column is."""
        return [column for column, _ in self._read]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The cells: numbers, dates and texts; null where a value is missing."""
        cells = ((without(self.raw.frame[column.name], self.missing), values, column.look) for column, values in self._read)
        return pl.DataFrame([typed_values(*one, not self.raw.typed) for one in cells])

    @cached_property
    def values(self) -> pl.DataFrame:
        """The used columns for learning: numbers and days as Float64, categories as String."""
        return pl.DataFrame([values for column, values in self._read if column.used])

    @cached_property
    def flags(self) -> list[Flag]:
        """What should be known before learning, warnings first."""
        return flags_of(self)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column by name."""
        return {column.name: column.kind for column in self.columns}

    @property
    def height(self) -> int:
        return self.raw.frame.height

    @property
    def width(self) -> int:
        return self.raw.frame.width

    @property
    def shape(self) -> tuple[int, int]:
        return self.raw.frame.shape

    def _column(self, series: pl.Series, plain: pl.Series | None) -> tuple[TableColumn, pl.Series]:
        asked = self.given.get(series.name)
        look, values = look_at(series, self.raw.typed, asked_for(series.name, asked), self.comma, None, plain)
        if asked in NUMERIC and look.kind != "number":
            raise BadParameter(f"kinds[{series.name!r}]={asked!r}: {self._no_number(series)}")
        if asked == "date" and look.kind != "date":
            raise BadParameter(f"kinds[{series.name!r}]='date': its cells are not dates of one form: give 'nominal' or 'text'")
        kind = kind_of(look, values) if asked is None else Kind(asked, "as asked")
        if asked == "ordinal":
            kind = replace(kind, order=kind_of(look, values).order)
        odd, count = odd_list(as_texts(series), values, self.raw.where) if series.dtype == pl.String and plain is None else ((), 0)
        notes = tuple(filter(None, [look.note if look.used else None, kind.doubt]))
        examples = tuple(dict.fromkeys(str(one).strip()[:40] for one in series.head(20).to_list() if one not in (None, "")))[:EXAMPLES]
        gone = values.null_count()
        return TableColumn(series.name, kind.name, kind.evidence, gone, odd, count, examples, notes, kind.order, look), values

    def _no_number(self, series: pl.Series) -> str:
        texts = as_texts(series)
        bad = (texts.cast(pl.Float64, strict=False).is_null() & texts.is_not_null()).fill_null(False)
        row = int(bad.arg_max() or 0)
        return f"{str(texts[row])[:40]!r} in {self.raw.where(row)} is not a number, and too many others are not: give 'nominal' or 'text'"

    # --- as other things ---

    def with_kinds(self, kinds: Mapping[str, str] | None = None, **more: str) -> Table:
        """The same table with other kinds: table.with_kinds(zip="nominal")."""
        return Table(self.raw, self.target, self.given | dict(kinds or {}) | more, self.missing)

    def with_target(self, target: str | None) -> Table:
        """The same table with a column to predict, or without."""
        return Table(self.raw, target, self.given, self.missing)

    def select(self, names: str | Iterable[str]) -> Table:
        """The table with these columns only."""
        wanted = [names] if isinstance(names, str) else list(names)
        for name in wanted:
            check_name(name, self.raw.frame.columns)
        raw = replace(self.raw, frame=self.raw.frame.select(wanted))
        kept = {name: kind for name, kind in self.given.items() if name in wanted}
        return Table(raw, self.target if self.target in wanted else None, kept, self.missing)

    def drop(self, names: str | Iterable[str]) -> Table:
        """The table without these columns."""
        gone = [names] if isinstance(names, str) else list(names)
        for name in gone:
            check_name(name, self.raw.frame.columns)
        return self.select(name for name in self.raw.frame.columns if name not in gone)

    def __getitem__(self, name: Any) -> Any:
        """A column by name as a polars series; several names as a table."""
        if isinstance(name, str):
            check_name(name, self.raw.frame.columns)
            return self.frame[name]
        if isinstance(name, slice):
            return self.select(self.raw.frame.columns[name])
        return self.select(name)

    def __len__(self) -> int:
        return self.height

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw.frame.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.raw.frame.columns

    def column(self, name: str) -> TableColumn:
        """What is known of one column."""
        check_name(name, self.raw.frame.columns)
        return next(column for column in self.columns if column.name == name)

    def to_polars(self) -> pl.DataFrame:
        """The cells as a polars frame."""
        return self.frame

    def to_pandas(self) -> Any:
        """The cells as a pandas frame."""
        return self.frame.to_pandas()

    def to_arrow(self) -> Any:
        """The cells as an Arrow table."""
        return self.frame.to_arrow()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.frame.__arrow_c_stream__(requested_schema)

    # --- in words ---

    def describe(self) -> str:
        """One line for each column: its kind, what is missing, the evidence; and what should be known."""
        return "\n".join(lines_of(self))

    def __repr__(self) -> str:
        return "\n".join(lines_of(self, MOST_COLUMNS))

    def _repr_html_(self) -> str:
        return html_of(self)


def asked_for(name: str, kind: str | None) -> Asked:
    """What a kind given by name means for the look at the cells."""
    if kind in ("nominal", "ordinal"):
        return Asked(category=[name])
    return Asked(keep=[name]) if kind in NUMERIC else Asked()


def typed_values(series: pl.Series, values: pl.Series, look: Column | None, in_text: bool = True) -> pl.Series:
    """A column as it is handed out: with the type that it came with, or that its texts stand for (`in_text`: it came from a text)."""
    read_large = series.dtype == pl.Float64 and values.dtype == pl.Float64 and in_text
    if (series.dtype != pl.String and not read_large) or look is None:
        return as_dates(values) if look is not None and look.kind == "date" and look.form == COMPACT else series
    if look.kind == "date":
        return as_dates(values)
    if values.dtype != pl.Float64:
        return values
    x = present(values)
    whole = bool((x == np.round(x)).all() and (np.abs(x) < FLOAT_WHOLE).all())
    return values.cast(pl.Int64) if whole else values


def without(series: pl.Series, missing: Collection[Any]) -> pl.Series:
    """The column with null where a cell holds one of these, as a text or a number."""
    if not missing:
        return series
    texts = as_texts(series)
    words = [str(word).strip().lower() for word in missing]
    gone = texts.str.to_lowercase().is_in(words)
    numbers = [float(word) for word in missing if isinstance(word, (int, float))]
    if numbers:
        gone = gone | texts.cast(pl.Float64, strict=False).is_in(numbers)
    return series.set(gone.fill_null(False), None)


def read(
    source: Any,
    *,
    target: str | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Sequence[Any] = (),
    table: str | None = None,
    query: str | None = None,
) -> Table:
    """Read a table as it is, and find out what each column holds.

    source      the path of a file (CSV, TSV, Parquet, Arrow, Feather, JSON lines, Excel; .gz, .zst, .zip; SQLite, DuckDB), a frame (pandas,
                polars, Arrow, anything narwhals knows), a connection, or the address of a database
    target      the column to predict: the checks for leaks look at it
    kinds       kinds of columns by name, where those found are not what they should be: {"zip": "nominal"}
    missing     further words or numbers that stand for a missing value: [-999, "not asked"]
    table       the table of a database, needed where it has several; the sheet of an Excel file, where it is not the first
    query       a query of a database, in SQL

    Delimiter, encoding, decimal commas, header, lines above it and below the rows are found. Whatever was left out or changed is told
    by a warning and in `describe()`; a file that cannot be read is refused in a sentence with the line.
    """
    if isinstance(source, Table):
        return Table(source.raw, target or source.target, source.given | dict(kinds or {}), (*source.missing, *missing))
    return Table(read_table(source, table, query), target, kinds, missing)
