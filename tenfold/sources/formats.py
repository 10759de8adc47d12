"""One file with a table, CSV (also gzipped) or Parquet: its columns and types, and how its rows are read.

A Parquet file holds the types of its columns. In a CSV they are guessed from the first rows, so the reader
asks for what it needs (numbers, text), and a value that is something else is found and named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput, TenfoldError
from tenfold.table.lines import Layout, bad_line, check_header, separator_of

SUFFIXES = {".parquet": True, ".pq": True, ".csv": False, ".csv.gz": False}  # whether the types are known
READ_BYTES = 1 << 16  # of each column at a time
MISSING_NUMBER = "NA"  # besides nothing at all, what stands for a missing number in a CSV


class Table:
    """A file, its columns with their polars types, and the types asked of a CSV."""

    def __init__(self, path: str) -> None:
        self.path = path
        suffix = next((end for end in SUFFIXES if path.lower().endswith(end)), None)
        if suffix is None or os.path.isdir(path):
            what = "is a folder" if os.path.isdir(path) else "is not a file that can be read"
            raise BadFile(f"{path!r} {what}: give files whose names end in {', '.join(SUFFIXES)}")
        self.typed = SUFFIXES[suffix]
        self.asked: dict[str, Any] = {}
        self.separator = "," if self.typed else separator_of(path)
        with _reported(self):
            self.types: dict[str, Any] = dict(self._scan().collect_schema())
        self.repeated = set[str]() if self.typed else check_header(path, list(self.types), Layout(self.separator))

    def __str__(self) -> str:
        return repr(os.path.basename(self.path))

    def _scan(self, **options: Any) -> Any:
        pl = polars()
        if self.typed:
            return pl.scan_parquet(self.path, glob=False, hive_partitioning=False)
        missing = {name: MISSING_NUMBER for name, kind in self.asked.items() if kind == pl.Float64}
        return pl.scan_csv(
            self.path,
            **{
                "glob": False,
                "schema_overrides": self.asked,
                "null_values": missing or None,
                "separator": self.separator,
            }
            | options,
        )

    def batches(self, names: list[str], rows: int) -> Iterator[Any]:
        """Those columns, some rows at a time, as polars frames.

        Parquet is decoded by pyarrow, page by page in the calling thread: about a third of the memory that
        polars takes by reading row groups ahead. CSV is parsed by polars, on threads of its own
        (POLARS_MAX_THREADS).
        """
        pl = polars()
        wide = (pl.Decimal, pl.Int128, pl.UInt128, pl.Null)  # types NumPy does not have
        casts = [pl.col(name).cast(pl.Float64) for name in names if self.types[name] in wide]
        with _reported(self):
            for frame in self._parquet(names, rows) if self.typed else self._csv(names, rows):
                yield frame.with_columns(casts) if casts else frame

    def _csv(self, names: list[str], rows: int) -> Iterator[Any]:
        frames: Iterator[Any] = self._scan().select(names).collect_batches(chunk_size=rows, lazy=True)
        return frames

    def _parquet(self, names: list[str], rows: int) -> Iterator[Any]:
        pl = polars()
        try:
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise BadFile("reading Parquet files needs pyarrow: pip install 'tenfold[app]'") from None
        with ParquetFile(self.path, pre_buffer=False, buffer_size=READ_BYTES) as file:
            for batch in file.iter_batches(batch_size=rows, columns=names, use_threads=False):
                yield pl.from_arrow(batch).select(names)

    def expect(self, names: list[str], exactly: bool) -> None:
        """These columns are here; with `exactly`, no others."""
        for name in names:
            if name not in self.types:
                shown = ", ".join(map(repr, list(self.types)[:8])) + (" ..." if len(self.types) > 8 else "")
                raise BadInput(f"there is no column {name!r} in {self}: its columns are {shown}")
        if exactly and len(self.types) > len(names):
            more = next(name for name in self.types if name not in names)
            raise BadInput(f"{self} has a column {more!r} that the first file has not: all files need the same columns")

    def want_numbers(self, names: list[str]) -> None:
        """These columns must be numbers: refused now where types are known, else while reading."""
        pl = polars()
        for name in names:
            kind = self.types[name]
            if not self.typed:
                self.asked[name] = kind if kind == pl.Boolean else pl.Float64
            elif not (kind.is_numeric() or kind in (pl.Boolean, pl.Null)):
                with _reported(self):
                    first = self._scan().select(name).with_row_index("row").drop_nulls().head(1).collect()
                row, value = first.row(0) if first.height else (0, None)
                raise not_a_number(self, name, str(kind), row, value)

    def category_kinds(self, names: list[str]) -> dict[str, Any]:
        """The columns that hold no numbers, each with its type: text or truth. In a CSV every value is looked at."""
        pl = polars()
        if self.typed:
            return {
                name: pl.Boolean if self.types[name] == pl.Boolean else pl.String
                for name in names
                if self.types[name] in (pl.String, pl.Categorical, pl.Enum, pl.Boolean)
            }
        kinds = {"number": pl.Float64, "truth": pl.Boolean}
        wrong = [_unread(pl.col(name), kinds[k]).any().alias(f"{k} {j}") for j, name in enumerate(names) for k in kinds]
        with _reported(self):
            found = self._scan(schema_overrides={}, infer_schema=False).select(wrong).collect(engine="streaming").row(0)
        return {name: pl.String if found[2 * j + 1] else pl.Boolean for j, name in enumerate(names) if found[2 * j]}

    def want_categories(self, name: str, categories: Array | None, kind: Any) -> None:
        """This column holds categories of a type; of `categories`, where they are known."""
        pl = polars()
        if not self.typed:
            self.asked[name] = kind
        if categories is None or kind != pl.String or self.typed or not self.types[name].is_numeric():
            return
        if len(categories) and pl.Series(categories.tolist()).cast(pl.Float64, strict=False).is_null().all():
            raise BadInput(f"column {name!r} of {self} holds numbers, but text in fit: give what it held then")

    def want_labels(self, name: str, kind: str) -> None:
        """This column holds labels of a NumPy kind of type."""
        pl = polars()
        if not self.typed:
            self.asked[name] = {"i": pl.Int64, "u": pl.Int64, "f": pl.Float64, "b": pl.Boolean}.get(kind, pl.String)
        elif kind in "iufb" and not (self.types[name].is_numeric() or self.types[name] == pl.Boolean):
            raise BadInput(
                f"the labels in column {name!r} of {self} ({self.types[name]}) are not of the same "
                "type as the classes: "
                "make both text or both numbers"
            )

    def numpy_type(self, name: str) -> np.dtype[Any]:
        """The type of a column of numbers in NumPy."""
        kind = self.types[name]
        known = re.fullmatch(r"U?Int(8|16|32|64)|Float(32|64)", str(kind))
        return np.dtype(str(kind).lower()) if self.typed and known else np.dtype(np.float64)

    def find_text(self) -> BadInput | None:
        """The first value in a column asked for numbers that is none."""
        pl = polars()
        names = [name for name, kind in self.asked.items() if kind != pl.String]
        first = 0
        for frame in (
            self._scan(schema_overrides={}, infer_schema=False)
            .select(names)
            .collect_batches(chunk_size=8192, lazy=True)
        ):
            bad = frame.select(_unread(pl.col(name), self.asked[name]) for name in names)
            row = bad.select(pl.any_horizontal(pl.all()).arg_max()).item()
            at = next((name for name in names if bad[name][row]), None)
            if at is not None:
                return not_a_number(self, at, "text", first + row, frame[at][row])
            first += frame.height
        return None


def _unread(text: Any, kind: Any) -> Any:
    """Whether a text is there but is no value of that type."""
    pl = polars()
    if kind == pl.Boolean:
        return text.is_not_null() & ~text.is_in(["true", "false", "True", "False", "TRUE", "FALSE"])
    return text.is_not_null() & (text != MISSING_NUMBER) & text.cast(kind, strict=False).is_null()


def not_a_number(table: Table, name: str, kind: str, row: int, value: Any) -> BadInput:
    shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."
    return BadInput(
        f"could not convert string to float: column {name[:80]!r} of {table} holds {kind} (row {row}: "
        f"{shown}): "
        "code it as numbers first, with OneHotEncoder for example"
    )


class _reported:
    """Errors of a reader become one sentence with the name of the file."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __enter__(self) -> None:
        polars()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, TenfoldError):
            return
        if not isinstance(error, (polars().exceptions.PolarsError, OSError)) and not kind.__module__.startswith(
            "pyarrow"
        ):
            return
        text = None if self.table.typed else self._text() or bad_line(self.table.path, Layout(self.table.separator))
        reason = str(error).strip().partition("\n")[0][:200]
        raise text or BadFile(
            f"{self.table.path!r} cannot be read ({reason}): check that it is whole and of the kind of its name"
        ) from None

    def _text(self) -> TenfoldError | None:
        try:
            return self.table.find_text() if self.table.asked else None
        except (polars().exceptions.PolarsError, OSError):
            return None


def polars() -> Any:
    """Polars, which is needed for files only."""
    try:
        import polars
    except ImportError:
        raise BadFile("reading files needs polars: pip install 'tenfold[app]'") from None
    return polars
