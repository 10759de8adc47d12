"""One file with a table, CSV (also gzipped) or Parquet: its columns and types, and how its rows are read.

A Parquet file holds the types of its columns. In a CSV they are guessed from the first rows, so the reader
asks for what it needs (numbers, text), and a value that is something else is found and named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput, TenfoldError
from tenfold.sources.bad_cells import PLAIN_MISSING, not_a_label, not_a_number, not_plain, polars, reported, unread
from tenfold.table.layout import START, layout_of
from tenfold.table.lines import Layout, check_header, warn_note
from tenfold.table.packed import bytes_of, encoding_of

SUFFIXES = {".parquet": True, ".pq": True, ".csv": False, ".csv.gz": False}  # whether the types are known
READ_BYTES = 1 << 16  # of each column at a time
HEAD = 1000  # rows in which the form of numbers is looked for


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
        self.labels: str | None = None  # the column that holds them
        self.forms: dict[str, str] = {}  # columns of numbers that are read as texts: how their numbers are written
        self.layout = Layout() if self.typed else _layout(path)
        with reported(self):
            self.types: dict[str, Any] = dict(self._scan().collect_schema())
        self.repeated = set[str]() if self.typed else check_header(path, list(self.types), self.layout)

    def __str__(self) -> str:
        return repr(os.path.basename(self.path))

    def _scan(self, **options: Any) -> Any:
        pl = polars()
        if self.typed:
            return pl.scan_parquet(self.path, glob=False, hive_partitioning=False)
        missing = {name: PLAIN_MISSING for name, kind in self.asked.items() if kind == pl.Float64}
        return pl.scan_csv(
            self.path,
            **{
                "glob": False,
                "schema_overrides": self.asked,
                "null_values": missing or None,
                "separator": self.layout.separator,
                "skip_lines": self.layout.skip,
                "quote_char": self.layout.quote,
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
        with reported(self):
            for frame in self._parquet(names, rows) if self.typed else self._csv(names, rows):
                yield frame.with_columns(casts) if casts else frame

    def _csv(self, names: list[str], rows: int) -> Iterator[Any]:
        """Numbers as polars reads them; from the first on that it does not, as the cells of a table are read."""
        done = 0
        while True:
            try:
                frames = self._scan().select(names).slice(done) if done else self._scan().select(names)
                for frame in frames.collect_batches(chunk_size=rows, lazy=True):
                    frame = self._numbers_of(frame, done)
                    done += frame.height
                    yield frame
                return
            except polars().exceptions.PolarsError:
                if not self._read_as_cells():
                    raise

    def _read_as_cells(self) -> bool:
        """Whether columns asked for numbers hold words for missing values, or numbers in another form: from now on read as texts."""
        pl = polars()
        asked = [name for name, kind in self.asked.items() if kind == pl.Float64]
        if not asked or self.find_text() is not None:
            return False
        unplain = self._texts().select(not_plain(pl.col(name)).any() for name in asked).collect(engine="streaming").row(0)
        found = [name for name, wrong in zip(asked, unplain, strict=True) if wrong]
        self._read_texts(dict.fromkeys(found, ""))
        return bool(found)

    def _read_texts(self, forms: dict[str, str]) -> None:
        self.forms |= forms
        self.asked |= dict.fromkeys(forms, polars().String)

    def _numbers_of(self, frame: Any, first: int) -> Any:
        """The frame with numbers for the texts of numbers; a cell that is none is refused."""
        from tenfold.table.cells import read_cells

        new = []
        for name in frame.columns:
            if name in self.forms and self.asked[name] == polars().String:
                values, wrong = read_cells(frame[name], self.forms[name])
                if wrong is not None:
                    raise not_a_number(self, name, "text", first + wrong, frame[name][wrong])
                new.append(values)
        return frame.with_columns(new) if new else frame

    def _look_for_forms(self, names: list[str]) -> None:
        """Of columns of texts those that hold numbers with decimal commas, thousands or currencies, by their first rows."""
        from tenfold.table.cells import as_numbers, as_texts
        from tenfold.table.written_numbers import writes_commas

        texts = [name for name in names if self.types[name] == polars().String and name not in self.forms]
        if not texts:
            return
        head = self._texts().select(texts).head(HEAD).collect()
        comma = self.layout.separator != "," and writes_commas(head)
        found = {name: as_numbers(as_texts(head[name]), comma) for name in texts if head[name].null_count() < head.height}
        self._read_texts({name: one.form for name, one in found.items() if one is not None})

    def _texts(self) -> Any:
        """All cells as texts."""
        return self._scan(schema_overrides={}, infer_schema=False, null_values=None)

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
        if not self.typed:
            with reported(self):
                self._look_for_forms(names)
        for name in names:
            kind = self.types[name]
            if not self.typed:
                self.asked[name] = pl.String if name in self.forms else kind if kind == pl.Boolean else pl.Float64
            elif not (kind.is_numeric() or kind in (pl.Boolean, pl.Null)):
                with reported(self):
                    there = self._scan().select(name).with_row_index("row").drop_nulls()
                    texts = kind in (pl.String, pl.Categorical, pl.Enum)
                    wrong = pl.col(name).cast(pl.String).cast(pl.Float64, strict=False).is_null() if texts else True
                    first = pl.concat([there.filter(wrong).head(1), there.head(1)]).collect()
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
        with reported(self):
            self._look_for_forms(names)
            names = [name for name in names if name not in self.forms]
            kinds = {"number": pl.Float64, "truth": pl.Boolean}
            wrong = [unread(pl.col(name), kinds[k]).any().alias(f"{k} {j}") for j, name in enumerate(names) for k in kinds]
            found = self._texts().select(wrong).collect(engine="streaming").row(0) if names else ()
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
        pl, self.labels = polars(), name
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
        if not names:
            return None
        for frame in self._texts().select(names).collect_batches(chunk_size=8192, lazy=True):
            bad = frame.select(unread(pl.col(name), self.asked[name]) for name in names)
            row = bad.select(pl.any_horizontal(pl.all()).arg_max()).item()
            at = next((name for name in names if bad[name][row]), None)
            if at is not None:
                if at == self.labels:
                    return not_a_label(self, at, first + row, frame[at][row])
                return not_a_number(self, at, "text", first + row, frame[at][row])
            first += frame.height
        return None


def _layout(path: str) -> Layout:
    """How a CSV is written, from its beginning; lines above the header are left out and told of."""
    try:
        start = bytes_of(Path(path), START)
    except (OSError, TenfoldError):
        return Layout()  # opening it will say what is wrong
    announced = encoding_of(start)
    if announced not in (None, "utf-8-sig"):
        raise BadFile(f"{path!r} is text in {announced.upper()}: save it in UTF-8, or give tenfold.read({os.path.basename(path)!r}).frame")
    found = layout_of(start.decode("utf-8-sig", "replace"), len(start) < START)
    if found.skip:
        warn_note(f"{os.path.basename(path)!r}: {found.skip} line{'s' if found.skip > 1 else ''} above the header left out")
    return found


