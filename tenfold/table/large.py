"""A large CSV file some rows at a time, its plain numbers read as such by the parser: a third of the memory of texts, and of the time.

What numbers are is found in the first rows. A column in which something else turns up further down is read as texts from there on, so
that no cell is lost.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tenfold.table.lines import Layout

LARGE = 1 << 26  # bytes: smaller files are read whole, and all that surrounds their rows is looked at
HEAD = 10_000  # rows in which numbers are looked for
PART_CELLS = 1 << 21
PIECE = 1 << 24  # bytes
FLOAT_WHOLE = 2.0**53  # above it floats run together


@dataclass(frozen=True)
class Parts:
    """A CSV file of known layout, in UTF-8."""

    path: Path
    layout: Layout
    header: bool = True

    def head(self, rows: int) -> pl.DataFrame:
        """The first rows, as texts."""
        return self._scanned({}).head(rows).collect()

    def frames(
        self, types: Mapping[str, Any], size: int, start: int = 0, names: Collection[str] | None = None
    ) -> Iterator[pl.DataFrame]:
        """The rows from `start` on in their order, some at a time; columns are of these types while their cells are, then texts."""
        types, done = dict(types), start
        while True:
            try:
                for frame in self._batches(types, size, done, names):
                    yield frame
                    done += frame.height
                return
            except pl.exceptions.PolarsError:
                numbers = [name for name, kind in types.items() if kind == pl.Float64 and (names is None or name in names)]
                if not numbers:
                    raise
                for name in self._no_numbers(numbers, size, done):
                    del types[name]

    def _batches(self, types: Mapping[str, Any], size: int, start: int, names: Collection[str] | None) -> Iterator[pl.DataFrame]:
        rows = self._scanned(types)
        rows = rows if names is None else rows.select(names)
        frames: Iterator[pl.DataFrame] = rows.slice(start).collect_batches(chunk_size=size, maintain_order=True, lazy=True)
        return frames

    def _no_numbers(self, names: list[str], size: int, start: int) -> list[str]:
        """Of these columns those with the first cell from `start` on that is no number; all where the parser minds something else."""
        for texts in self._batches({}, size, start, names):
            unread = texts.select((pl.all().cast(pl.Float64, strict=False).is_null() & pl.all().is_not_null()).any()).row(0)
            if any(unread):
                return [name for name, one in zip(names, unread, strict=True) if one]
        return names

    def _scanned(self, types: Mapping[str, Any]) -> pl.LazyFrame:
        return pl.scan_csv(
            self.path, separator=self.layout.separator, infer_schema=False, has_header=self.header, skip_lines=self.layout.skip,
            quote_char=self.layout.quote, glob=False, schema_overrides=types,
        )  # fmt: skip


def typed_frame(path: Path, layout: Layout) -> pl.DataFrame | None:
    """The whole file, of Float64 columns and of texts; None where no column holds a plain number in every row, or it is not plain UTF-8."""
    if not _is_plain_text(path):
        return None
    parts = Parts(path, layout)
    head = parts.head(HEAD)
    values = head.select(pl.all().cast(pl.Float64, strict=False))
    plain = values.select(pl.all().is_finite().all() & pl.all().is_not_null().all()).row(0)
    numbers = [name for name, one in zip(head.columns, plain, strict=True) if one]
    if not numbers:
        return None
    frames = list(parts.frames(dict.fromkeys(numbers, pl.Float64), max(1, PART_CELLS // head.width)))
    still = [name for name in numbers if frames[-1].schema[name] == pl.Float64]
    kept = [name for name in still if all(_exact(frame[name]) for frame in frames)]
    if not kept:
        return None
    again = [name for name in numbers if name not in kept]
    frame = pl.concat([frame.drop(again) for frame in frames])
    if again:
        frame = frame.hstack(pl.concat(list(parts.frames({}, frame.height, names=again)))).select(head.columns)
    return frame


def _exact(values: pl.Series) -> bool:
    """Whether floats are there in every row, and hold all the digits of whole numbers."""
    return values.null_count() == 0 and bool((values.abs() < FLOAT_WHOLE).all())


def lines_in(path: Path) -> int:
    """The number of lines of a file."""
    return sum(piece.count(b"\n") for piece in _pieces(path))


def _is_plain_text(path: Path) -> bool:
    """Whether a file is UTF-8 without NUL."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in _pieces(path):
            if b"\0" in piece or not (piece.isascii() or decoder.decode(piece) is not None):
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _pieces(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            yield piece
