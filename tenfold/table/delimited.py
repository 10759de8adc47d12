"""A CSV file as a frame of texts: what a column holds is decided by looking at all of it.

Polars does the parsing. What stands around the table (lines above the header, remarks below the rows, empty lines, the header
again in the middle) is left out and told; a line that does not suit the header is refused with its number.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput
from tenfold.table.large import LARGE, lines_in, typed_frame
from tenfold.table.layout import START, layout_of
from tenfold.table.lines import (
    SEPARATORS,
    Layout,
    Tell,
    bad_line,
    blank_records,
    check_header,
    line_numbers,
    warn_of_short_lines,
)
from tenfold.table.packed import bytes_of, encoding_of, is_packed
from tenfold.table.surroundings import (
    HEAD,
    lines,
    looks_like_header,
    repeated_header,
    rows_below,
    warn_of_header,
    warn_of_lines_above,
)

LONGEST_LINE = 1 << 26  # bytes
LARGEST_LOOKED_AT = 1 << 26  # bytes of a file whose lines are counted
UNREADABLE = "\N{REPLACEMENT CHARACTER}"


@dataclass
class Delimited:
    """The cells of a CSV file, all texts, and where they stand."""

    path: Path
    frame: pl.DataFrame
    layout: Layout
    encoding: str
    header: bool
    repeated: set[str] = field(default_factory=set)
    kept: Array | None = None  # numbers of the records that are rows; None where all are
    numbers: Array | None = None  # the line on which each record begins, where it does not follow from its number

    @property
    def about(self) -> str:
        parts = f"{SEPARATORS.get(self.layout.separator, 'marks')}, {'' if self.header else 'no '}header row"
        names = {"cp1252": ", Windows-1252", "utf-16": ", UTF-16", "utf-32": ", UTF-32"}
        return parts + names.get(self.encoding.removesuffix("-le").removesuffix("-be"), "")

    def line(self, row: int) -> int:
        """The line of the file on which a row of the frame begins."""
        record = row if self.kept is None else int(self.kept[row])
        if self.numbers is None:
            large = self.path.stat().st_size > LARGEST_LOOKED_AT and not is_packed(self.path)
            plain = large and abs(lines_in(self.path) - self.layout.skip - self.header - self.frame.height) <= 1
            self.numbers = np.zeros(0, int) if plain else line_numbers(self.path, self.layout, self.header)
        return int(self.numbers[record]) if record < len(self.numbers) else self.layout.skip + 1 + self.header + record


def read_delimited(path: Path, tell: Tell, known: Collection[str] = ()) -> Delimited:
    """Every cell as text. known: names of columns, by which a header is seen."""
    start = bytes_of(path, START)
    if not start.strip():
        raise BadInput(f"{path} is empty: a table has a header line and at least one row")
    announced = encoding_of(start)
    if announced is None and b"\0" in start:
        line = start[: start.index(b"\0")].count(b"\n") + 1
        raise BadFile(f"{path}, line {line}: it holds a NUL byte, so this is not a text file: give a CSV or Parquet file")
    data = _data(path, start, announced)
    text = (start if announced is None else start[: len(start) // 4 * 4]).decode(announced or "utf-8", "replace")
    layout = layout_of(_newlines(text.removeprefix("\ufeff")), len(start) < START)
    if layout.skip:
        warn_of_lines_above(path.name, layout, tell)
    try:
        typed = typed_frame(path, layout) if data is None and path.stat().st_size >= LARGE else None
        if typed is not None and looks_like_header(typed.head(HEAD).select(pl.all().cast(pl.String))) is True:
            found = Delimited(path, unquoted(typed), layout, "utf8", True)
            return _told(found, tell)  # a column of numbers without a gap: nothing but rows is below the header
        frame, encoding = _parsed(path, data, layout, tell)
    except pl.exceptions.PolarsError as reason:
        raise bad_line(path, layout) or BadFile(_cannot(path, layout, reason)) from None
    found = Delimited(path, frame, layout, announced or encoding, True)
    _without_nul(found)
    _settle_header(found, data, tell, known)
    _without_surroundings(found, tell)
    return _told(found, tell)


def _told(found: Delimited, tell: Tell) -> Delimited:
    """With what should be known of the header and of lines that are too short."""
    path, layout, frame = found.path, found.layout, found.frame
    if frame.width > 1 and frame.height and frame.to_series(-1).null_count() and path.stat().st_size < LARGEST_LOOKED_AT:
        warn_of_short_lines(path, layout, tell, found.line(frame.height - 1))
    found.repeated = check_header(path, frame.columns, layout, tell) if found.header else set()
    return found


def _data(path: Path, start: bytes, announced: str | None) -> bytes | None:
    """The bytes in UTF-8, where polars cannot read the file itself."""
    bare = b"\r" in start and b"\n" not in start
    if b"\n" not in start and not bare and len(start) == START and announced is None:
        _refuse_long_line(path)
    if not is_packed(path) and announced in (None, "utf-8-sig") and not bare:
        return None
    data = bytes_of(path)
    if announced not in (None, "utf-8-sig"):
        try:
            data = data.decode(announced).encode()
        except UnicodeDecodeError as reason:
            line = data[: reason.start].decode(announced, "replace").count("\n") + 1
            said = f"it is not text in {announced.upper()}, as its beginning says"
            raise BadFile(f"{path}, line {line}: {said}: save it again in UTF-8") from None
    return data.replace(b"\r", b"\n") if bare else data


def _refuse_long_line(path: Path) -> None:
    if b"\n" not in bytes_of(path, LONGEST_LINE) and path.stat().st_size > LONGEST_LINE:
        raise BadFile(f"{path}, line 1: it is longer than {LONGEST_LINE:,} bytes: a table has a line for each row")


def _newlines(text: str) -> str:
    return text if "\n" in text else text.replace("\r", "\n")


def _parsed(path: Path, data: bytes | None, layout: Layout, tell: Tell, header: bool = True) -> tuple[pl.DataFrame, str]:
    """The cells, and the encoding of the file: UTF-8, or else what Windows writes in western Europe."""
    read = partial(
        pl.read_csv, separator=layout.separator, infer_schema=False, has_header=header, skip_lines=layout.skip, quote_char=layout.quote,
        raise_if_empty=False,
    )  # fmt: skip
    try:
        frame = read(path if data is None else data)
        if not any(UNREADABLE in name for name in frame.columns):  # of a header polars does not complain
            return unquoted(frame), "utf8"
    except pl.exceptions.PolarsError as reason:
        if "utf-8" not in str(reason).lower():
            return _slowly(path, data, layout, header, reason), "utf8"
    raw = bytes_of(path) if data is None else data
    try:
        return unquoted(read(raw.decode("cp1252").encode())), "cp1252"
    except UnicodeDecodeError as reason:
        line = raw[: reason.start].count(b"\n") + 1
        tell(f"{path.name!r}, line {line}: bytes that are no text in UTF-8 nor in Windows-1252 read as {UNREADABLE}")
        return read(raw, encoding="utf8-lossy"), "utf8-lossy"


def unquoted(frame: pl.DataFrame) -> pl.DataFrame:
    """Doubled quotes inside of names are one quote, which polars knows of cells only."""
    new = {name: name.replace('""', '"') for name in frame.columns if '""' in name}
    return frame.rename(new) if new and len({*frame.columns} - {*new} | {*new.values()}) == frame.width else frame


def _slowly(path: Path, data: bytes | None, layout: Layout, header: bool, reason: Exception) -> pl.DataFrame:
    """What polars does not take (a quote inside a cell), record by record; refused where records do not suit the header."""
    if path.stat().st_size > LARGEST_LOOKED_AT or bad_line(path, layout) is not None:
        raise reason
    raw = bytes_of(path) if data is None else data
    text = raw.decode("utf-8-sig", "replace")
    lines = text.split("\n", layout.skip)[-1]
    if '"' not in lines:
        raise reason
    records = list(csv.reader(io.StringIO(lines, newline=""), delimiter=layout.separator, quotechar=layout.quote, strict=True))
    names, rows = (records[0], records[1:]) if header else ([f"column_{i + 1}" for i in range(len(records[0]))], records)
    seen: dict[str, int] = {}
    columns = []
    for name in names:
        again = seen.get(name)
        seen[name] = 0 if again is None else again + 1
        columns.append(name if again is None else f"{name}_duplicated_{again}")
    cells = [[row[j] if j < len(row) and row[j] else None for row in rows] for j in range(len(columns))]
    return pl.DataFrame(dict(zip(columns, cells, strict=True)), schema=dict.fromkeys(columns, pl.String))


def _cannot(path: Path, layout: Layout, reason: Exception) -> str:
    """Where polars stumbles over what the line reader takes, the last line that both know is not to be found: its own words."""
    first = str(reason).strip().splitlines()[0].rstrip(".")[:200]
    return f"{path}, line {layout.skip + 1} or below: it cannot be read as a table ({first})"


def _without_nul(found: Delimited) -> None:
    held = found.frame.select(pl.all().str.contains("\0", literal=True).any()).row(0) if found.frame.width else ()
    if any(held):
        column = found.frame.to_series(held.index(True))
        line = found.line(int(column.str.contains("\0", literal=True).arg_max() or 0))
        raise BadFile(f"{found.path}, line {line}: the cell of {column.name[:40]!r} holds a NUL byte, which no text has: remove it")


def _settle_header(found: Delimited, data: bytes | None, tell: Tell, known: Collection[str]) -> None:
    frame, name = found.frame, found.path.name
    header = looks_like_header(frame, known)
    if header is True:
        return
    warn_of_header(name, frame, header, tell)
    if header is False:
        frame = _parsed(found.path, data, found.layout, tell, header=False)[0]
        frame.columns = [f"column_{i + 1}" for i in range(frame.width)]
        found.frame, found.header = frame, False


def _without_surroundings(found: Delimited, tell: Tell) -> None:
    """Leave out empty lines, the header where it stands again, and remarks or sums below the rows."""
    frame, name = found.frame, found.path.name
    if frame.width < 2 or frame.height == 0:
        return
    empty = _empty_lines(found)
    again = repeated_header(frame) if found.header else empty.clear().extend_constant(False, frame.height)
    last = frame.height - rows_below(frame, empty)
    keep = ~(empty | again).to_numpy()
    keep[last:] = False
    if keep.all():
        return
    if again.any():
        tell(f"{name!r}, line {found.line(int(again.arg_max() or 0))}: the header stands again ({lines(int(again.sum()))}), left out")
    if last < frame.height and not empty[last:].all():
        first = next(row for row in range(last, frame.height) if not empty[row])
        shown = next(str(cell) for cell in frame.row(first) if cell is not None)
        tell(f"{name!r}, line {found.line(first)}: left out what stands below the rows ({shown[:40]!r})")
    found.kept = np.flatnonzero(keep)
    found.frame = frame.filter(pl.Series(keep))


def _empty_lines(found: Delimited) -> pl.Series:
    """Rows that are lines with nothing in them; one with separators alone is a row of missing values."""
    empty = found.frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if not empty.any():
        return empty
    if found.path.stat().st_size > LARGEST_LOOKED_AT:
        return empty & False
    blank = np.zeros(len(empty), dtype=bool)
    at = blank_records(found.path, found.layout, found.header)
    blank[at[at < len(empty)]] = True
    return empty & pl.Series(blank)
