"""Reading a table: files of many kinds, databases, and frames and arrays in memory, as one polars frame.

    CSV, TSV, text                        delimiter, encoding, header are found; cells stay texts (delimited.py)
    Parquet, Arrow, Feather, JSON lines   with their types
    Excel                                 a sheet, if fastexcel or openpyxl is installed (excel.py)
    SQLite, DuckDB, addresses             a table or a query (database.py)
    .gz, .zst, .zip                       of all of these (packed.py)
"""

from __future__ import annotations

import difflib
import hashlib
import io
import os
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput, BadType
from tenfold.gate.categories import is_gap
from tenfold.table.lines import Tell, warn_note
from tenfold.table.packed import bytes_of, inner_name, is_packed

try:
    import polars as pl
except ImportError:  # polars belongs to the extra "app"
    missing = "tenfold.select reads tables with polars: install it with  pip install 'tenfold[app]'"
    raise ImportError(missing, name="polars") from None

from tenfold.table.database import is_address, is_connection, is_database, read_database
from tenfold.table.delimited import Delimited, read_delimited
from tenfold.table.excel import EXCEL, read_excel

__all__ = ["Raw", "pl", "read_table"]
LONGEST_REASON = 1000  # characters of a message that are kept
NO_NAME = re.compile(r"\s*(_duplicated_\d+)?")


READERS: dict[str, tuple[str, Callable[[Any], pl.DataFrame]]] = {  # kinds of files whose columns have types
    **dict.fromkeys((".parquet", ".pq"), ("Parquet", pl.read_parquet)),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), ("Arrow", pl.read_ipc)),
    **dict.fromkeys((".jsonl", ".ndjson"), ("JSON lines", lambda source: pl.read_ndjson(source, infer_schema_length=None))),
}


@dataclass(frozen=True)
class Raw:
    """A table as it was read. Cells of a CSV file are texts; the columns of other sources have types."""

    frame: pl.DataFrame
    typed: bool
    name: str
    about: str
    seconds: float
    path: Path | None  # of a file
    place: str | None  # SHA-256 of where the file lies, to distinguish it from another of the same name
    repeated: frozenset[str] = frozenset()  # names that stand more than once in the header of a CSV file
    notes: tuple[str, ...] = ()  # what was told about the file
    lines: Delimited | None = None  # where the rows stand in a CSV file
    drawn: Array | None = None  # numbers of the rows, where some were drawn by chance,
    height: int | None = None  # from so many

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file, or of the values of a frame."""
        if self.path is not None:
            return _digest_file(self.path)
        return hashlib.sha256(self.frame.hash_rows(seed=0).to_numpy().tobytes() + repr(self.frame.schema).encode()).hexdigest()

    def where(self, row: int) -> str:
        """The place of a row of the frame: its line in a CSV file, else its number from 1."""
        row = row if self.drawn is None else int(self.drawn[row])
        return f"row {row + 1:,}" if self.lines is None else f"line {self.lines.line(row):,}"

    def numbers(self, rows: Array) -> Array:
        """The numbers that rows of the frame have in the table."""
        return rows if self.drawn is None else self.drawn[rows]


def read_table(
    source: Any, table: str | None = None, query: str | None = None, tell: Tell = warn_note, known: Collection[str] = ()
) -> Raw:
    """A path to a file, a database, a frame that narwhals knows (pandas, polars, Arrow, ...), or an array of two dimensions.

    known: columns that it should have; in a CSV file a line of these is its header, though they be numbers.
    """
    began = time.perf_counter()
    notes = list[str]()
    path, place, repeated, lines = None, None, set[str](), None

    def told(note: str) -> None:
        notes.append(note)
        tell(note)

    if is_address(source) or (not isinstance(source, (str, Path, dict)) and is_connection(source)):
        frame, about = read_database(source, table, query)
        name = "query" if table is None else table
    elif isinstance(source, (str, os.PathLike)):
        path = Path(source)
        frame, about, lines = _read_file(path, table, query, told, known)
        repeated = set() if lines is None else lines.repeated
        name, place = path.name, place_of(path)
    else:
        frame, about, name = _from_frame(source), "in memory", "table"
    if frame.width == 0:
        raise BadInput(f"{name} holds no columns: the first line of a CSV file names them")
    if frame.height == 0:
        raise BadInput(f"{name} holds no rows below its header")
    frame = named(frame)
    gone = time.perf_counter() - began
    return Raw(frame, lines is None, name, about, gone, path, place, frozenset(repeated), tuple(notes), lines)


def named(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns without a name are called column_1, ... by their place."""
    new, taken = {}, set(frame.columns)
    for i, column in enumerate(frame.columns):
        if NO_NAME.fullmatch(column):
            name = f"column_{i + 1}"
            while name in taken:
                name += "_"
            taken.add(name)
            new[column] = name
    return frame.rename(new)


def _read_file(
    path: Path, table: str | None, query: str | None, tell: Tell, known: Collection[str]
) -> tuple[pl.DataFrame, str, Delimited | None]:
    """The frame, what kind of file it is, and of a CSV file where its rows stand."""
    try:
        _check_file(path)
    except OSError as reason:
        raise BadFile(f"{path} cannot be read ({reason.strerror or first_line(reason)})") from None
    kind = Path(inner_name(path)).suffix.lower()
    try:
        if is_database(path):
            return *read_database(path, table, query), None
        if kind in EXCEL and query is None:
            return read_excel(path, table, tell), "Excel", None
        if table is not None or query is not None:
            raise BadInput(f"{path.name} is no database: table= and query= are for databases, and table= for the sheets of Excel files")
        if kind in READERS:
            about, read = READERS[kind]
            return read(io.BytesIO(bytes_of(path)) if is_packed(path) else path), about, None
        if kind == ".json":
            raise BadFile(f"{path} is JSON, which is read as JSON lines only: write each row on a line of its own, in a .jsonl file")
        found = read_delimited(path, tell, known)
        return found.frame, found.about, found
    except (OSError, EOFError, pl.exceptions.PolarsError) as reason:
        raise BadFile(f"{path} cannot be read as a table: {first_line(reason)}") from None


def _check_file(path: Path) -> None:
    """That there is a file, which may be opened."""
    if path.is_dir():
        raise BadFile(f"{path} is a folder, not a table: give a CSV or Parquet file")
    if not path.exists():
        near = _near(path)
        raise BadFile(f"there is no file {path}" + (f": did you mean {' or '.join(near)}?" if near else ""))
    if not path.is_file():
        raise BadFile(f"{path} is a pipe or a device, and a table is read more than once: write it to a file first")
    path.open("rb").close()


def _near(path: Path) -> list[str]:
    """Files beside it that may have been meant."""
    if not path.parent.is_dir() or len(path.stem) < 2:
        return []
    names = sorted(one.name for one in path.parent.iterdir() if one.is_file())
    return [name for name in names if path.stem.lower() in name.lower()][:3] or difflib.get_close_matches(path.name, names, n=1, cutoff=0.7)


def _digest_file(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def place_of(path: Path) -> str:
    """SHA-256 of the path of a file."""
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()


def of_array(X: Array) -> pl.DataFrame:
    """An array of two dimensions as a frame: columns x0, x1, ..., cells of objects and texts as Python has them, masked ones missing."""
    if X.ndim != 2:
        shape = "one dimension" if X.ndim == 1 else f"{X.ndim} dimensions"
        raise BadInput(f"an array of {shape} is not a table: give rows and columns, as in X.reshape(len(X), -1)")
    if X.dtype.kind not in "biufOUSMm":
        raise BadInput(f"an array of {X.dtype} is not a table: give numbers, truth values, texts or dates")
    if X.dtype.kind in "OUS" or isinstance(X, np.ma.MaskedArray):
        return pl.DataFrame({f"x{j}": pl.Series(column.tolist(), strict=False) for j, column in enumerate(X.T)})
    numbers = X.astype(np.float32) if X.dtype == np.float16 else X
    return pl.DataFrame({f"x{j}": np.ascontiguousarray(column) for j, column in enumerate(numbers.T)})


def _from_frame(table: Any) -> pl.DataFrame:
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, np.ndarray):
        return of_array(table)
    if isinstance(table, dict):
        return pl.DataFrame(table, strict=False)
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise BadInput(_ambiguous([str(name) for name in table.columns])) from None
    except TypeError:
        raise BadType(
            f"{type(table).__name__} is not a table: give the path of a CSV or Parquet file, a data frame, or an array of two dimensions"
        ) from None
    texts = [str(name) for name in frame.columns]
    if len(set(texts)) < len(texts):  # 1 and "1"
        raise BadInput(_ambiguous(texts))
    try:
        frame = frame.rename({name: text for name, text in zip(frame.columns, texts, strict=True) if not isinstance(name, str)})
        converted: pl.DataFrame = frame.to_polars()
    except Exception as reason:  # pandas columns of mixed Python objects have no Arrow type
        raise BadInput(f"{_culprit(frame)} cannot be converted: {first_line(reason)}: give each column one type") from None
    # periods and intervals of pandas, as from pd.cut: polars knows of no texts for them
    odd = [name for name, kind in converted.schema.items() if isinstance(kind, getattr(pl, "BaseExtension", ()))]
    return converted.with_columns(pl.Series(name, [None if is_gap(one) else str(one) for one in frame[name].to_list()]) for name in odd)


def _ambiguous(names: list[str]) -> str:
    first = next(name for i, name in enumerate(names) if name in names[:i])
    return f"two columns of the frame have one name, {first[:40]!r}: rename all but one"


def _culprit(frame: Any) -> str:
    """The column that keeps a frame from being converted."""
    for name in dict.fromkeys(frame.columns):
        try:
            frame.select(name).to_polars()
        except Exception:
            return f"the column {str(name)!r} of the frame"
    return "the frame"


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
