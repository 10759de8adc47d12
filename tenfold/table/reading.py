"""Reading a table: CSV (also .gz) and Parquet files, and frames in memory, as one polars frame."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from tenfold.core.errors import BadFile, BadInput, BadType, DataWarning, warn
from tenfold.table.lines import SEPARATORS, bad_line, check_header, separator_in, warn_of_short_lines

try:
    import polars as pl
except ImportError:  # polars belongs to the extra "app"
    raise ImportError("tenfold.select reads tables with polars: install it with  pip install 'tenfold[app]'") from None

__all__ = ["Raw", "pl", "read_table"]
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
REPEATED = re.compile(r"_duplicated_\d+$")  # what polars adds to a name that is there already
HEAD = 1000  # rows that are looked at to distinguish a header from data
LARGEST_LOOKED_AT = 1 << 26  # bytes of a file whose lines are counted
LONGEST_REASON = 1000  # characters of a message that are kept
UNREADABLE = "\N{REPLACEMENT CHARACTER}"
NO_NAME = re.compile(r"\s*(_duplicated_\d+)?")


@dataclass(frozen=True)
class Raw:
    """A table as it was read. Cells of a CSV file are texts; the columns of other sources have types."""

    frame: pl.DataFrame
    typed: bool
    name: str
    about: str
    digest: str  # SHA-256 of the file, or of the values of a frame
    seconds: float
    place: str | None  # SHA-256 of where the file lies, to distinguish it from another of the same name
    repeated: frozenset[str] = frozenset()  # names that stand more than once in the header of a CSV file


def read_table(table: Any) -> Raw:
    """A path to CSV, CSV.gz or Parquet, or a frame that narwhals knows (pandas, polars, Arrow, ...)."""
    began = time.perf_counter()
    if isinstance(table, (str, Path)):
        path = Path(table)
        frame, typed, about, repeated = _read_file(path)
        digest = _digest_file(path)
        name, place = path.name, place_of(path)
    else:
        place = None
        frame, typed, about, repeated, name = _from_frame(table), True, "in memory", set[str](), "table"
        digest = hashlib.sha256(frame.hash_rows(seed=0).to_numpy().tobytes() + repr(frame.schema).encode()).hexdigest()
    if frame.width == 0:
        raise BadInput(f"{name} holds no columns: the first line of a CSV file names them")
    if frame.height == 0:
        raise BadInput(f"{name} holds no rows below its header")
    unnamed = {column: f"column_{i + 1}" for i, column in enumerate(frame.columns) if NO_NAME.fullmatch(column)}
    return Raw(
        frame.rename(unnamed), typed, name, about, digest, time.perf_counter() - began, place, frozenset(repeated)
    )


def _read_file(path: Path) -> tuple[pl.DataFrame, bool, str, set[str]]:
    """The frame, whether its columns have types, notes on the file, and the names that its header repeats."""
    if path.is_dir():
        raise BadFile(f"{path} is a folder, not a table: give a CSV or Parquet file")
    if not path.exists():
        near = (
            [p.name for p in sorted(path.parent.glob("*")) if path.stem.lower() in p.name.lower()][:3]
            if path.parent.is_dir()
            else []
        )
        raise BadFile(f"there is no file {path}" + (f": did you mean {' or '.join(near)}?" if near else ""))
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return pl.read_parquet(path), True, "Parquet", set()
        return _read_csv(path)
    except (OSError, EOFError, pl.exceptions.PolarsError) as reason:
        raise BadFile(f"{path} cannot be read as a table: {first_line(reason)}") from None


def _read_csv(path: Path) -> tuple[pl.DataFrame, bool, str, set[str]]:
    """Every cell as text: what a column is, is decided by looking at all of it."""
    start = _bytes_of(path, 1 << 16)
    if not start.strip():
        raise BadInput(f"{path} is empty: a table has a header line and at least one row")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(f"{path} is text in UTF-16: save it again as CSV in UTF-8")
    if b"\0" in start:
        raise BadFile(f"{path} is not a text file: give a CSV or Parquet file")
    separator = separator_in(start.lstrip().splitlines()[0].decode("utf-8", "replace"))
    try:
        frame, encoding = _parsed(path, separator)
    except pl.exceptions.PolarsError:
        reason = bad_line(path, separator)
        if reason is None:
            raise
        raise reason from None
    header = looks_like_header(frame)
    if header is not True:
        shown = ", ".join(frame.columns[:3]) + (", ..." if frame.width > 3 else "")
        _warn_no_header(path.name, shown, frame.width, kept=header is False)
    if header is False:
        frame = _parsed(path, separator, header=False)[0]
        frame.columns = [f"column_{i + 1}" for i in range(frame.width)]
    if frame.width > 1 and frame.to_series(-1).null_count() and path.stat().st_size < LARGEST_LOOKED_AT:
        warn_of_short_lines(path, separator)
    about = f"{SEPARATORS[separator]}, {'no ' if header is False else ''}header row" + (
        ", Windows-1252" if encoding == "cp1252" else ""
    )
    return frame, False, about, set() if header is False else check_header(path, frame.columns, separator)


def _warn_no_header(name: str, shown: str, width: int, kept: bool) -> None:
    if kept:
        done = f"looks like data, not like names: it is kept as a row, and the columns are called column_1 to column_{width}"
        remedy = "if these are names, put letters into them"
    else:
        done, remedy = "is taken for the names of the columns", "if it is data, put a line of names above it"
    warn(f"{name!r}: the first line ({shown}) {done}; {remedy}", DataWarning, stacklevel=5)


def looks_like_header(frame: pl.DataFrame) -> bool | None:
    """Whether the names that were read are names, and not the first row of data; None where it cannot be known.

    A first row has a number above every column of numbers, and above a column of texts one of its texts. Numbers that go up
    in equal steps are names (years, or the numbers of the columns).
    """
    if frame.height == 0 or frame.width < 2:
        return True
    names = {name: REPEATED.sub("", name).strip() for name in frame.columns}
    texts: list[str] = []
    numbers: list[str] = []
    for column in frame.head(HEAD).iter_columns():
        cells = column.str.strip_chars()
        present = cells.filter((cells != "").fill_null(False))
        numeric = len(present) > 0 and 2 * int(present.str.contains(f"^{NUMBER.pattern}$").sum()) > len(present)
        (numbers if numeric else texts).append(column.name)
    above = [names[name] for name in numbers]
    if not any(above) or not all(NUMBER.fullmatch(name) or not name for name in above):
        return True
    steps = {
        round(float(b.replace(",", ".")) - float(a.replace(",", ".")), 9) for a, b in pairwise(filter(None, above))
    }
    if len(steps) == 1 and max(steps) > 0 and len(above) > 2:
        return True
    if not texts or any(names[name] and (frame[name].str.strip_chars() == names[name]).any() for name in texts):
        return False
    return None


def _parsed(path: Path, separator: str, header: bool = True) -> tuple[pl.DataFrame, str]:
    """The cells, and the encoding of the file: UTF-8, or else what Windows writes in western Europe."""
    read = partial(pl.read_csv, separator=separator, infer_schema=False, has_header=header)
    try:
        frame = read(path)
        if not any(UNREADABLE in name for name in frame.columns):  # of a header polars does not complain
            return frame, "utf8"
    except pl.exceptions.PolarsError as reason:
        if "utf-8" not in str(reason).lower():
            raise
    try:
        text = _bytes_of(path).decode("cp1252").encode()
        return read(text), "cp1252"
    except UnicodeDecodeError:
        return read(path, encoding="utf8-lossy"), "utf8-lossy"


def _bytes_of(path: Path, most: int = -1) -> bytes:
    """A file, unpacked; or its first bytes."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    with opener(path, "rb") as file:
        return bytes(file.read(most))


def _digest_file(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def place_of(path: Path) -> str:
    """SHA-256 of the path of a file."""
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()


def _from_frame(table: Any) -> pl.DataFrame:
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, dict):
        return pl.DataFrame(table, strict=False)
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        raise BadType(
            f"{type(table).__name__} is not a table: give the path of a CSV or Parquet file, or a data frame"
        ) from None
    try:
        names = {name: str(name) for name in frame.columns if not isinstance(name, str)}
        converted: pl.DataFrame = frame.rename(names).to_polars()
    except Exception as reason:  # pandas columns of mixed Python objects have no Arrow type
        raise BadInput(f"the frame cannot be converted: {first_line(reason)}: give each column one type") from None
    return converted


def first_line(reason: BaseException) -> str:
    """The first line of an error message, without its full stop; a very long one ends after a word."""
    lines = str(reason).strip().splitlines()
    return cut_after_word(lines[0].rstrip("."), LONGEST_REASON) if lines else type(reason).__name__


def cut_after_word(text: str, most: int) -> str:
    """Text of bounded length that ends with a word, and "…" where something was left out."""
    if len(text) <= most:
        return text
    head, space, _ = text[:most].rpartition(" ")
    return (head if space and len(head) > most // 2 else text[: most - 1]).rstrip(" ,;:(") + "…"
