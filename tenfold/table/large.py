"""A large CSV file as a frame, its plain numbers read as such by the parser: a third of the memory of texts, and of the time.

What numbers are is found in the first rows. A column in which something else turns up further down is read again, as texts, so that the
frame holds what it would had all cells been read as texts first.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl

from tenfold.table.lines import Layout

LARGE = 1 << 26  # bytes
HEAD = 10_000  # rows in which numbers are looked for
PIECE = 1 << 24  # bytes
FLOAT_WHOLE = 2.0**53  # above it floats run together


def typed_frame(path: Path, layout: Layout) -> pl.DataFrame | None:
    """The frame, of Float64 columns without gaps and of texts; None where no column is plain, or the file is not plain UTF-8."""
    read = partial(
        pl.read_csv, path, separator=layout.separator, infer_schema=False, skip_lines=layout.skip, quote_char=layout.quote
    )
    if not _is_plain_text(path):
        return None
    head = read(n_rows=HEAD)
    values = head.select(pl.all().cast(pl.Float64, strict=False))
    plain = values.select(pl.all().is_finite().all() & pl.all().is_not_null().all()).row(0)
    numbers = [name for name, one in zip(head.columns, plain, strict=True) if one]
    if not numbers:
        return None
    frame = read(schema_overrides=dict.fromkeys(numbers, pl.Float64), ignore_errors=True)  # what is no number is found by its gap
    whole = frame.select((pl.col(numbers).is_not_null() & (pl.col(numbers).abs() < FLOAT_WHOLE)).all()).row(0)
    again = [name for name, one in zip(numbers, whole, strict=True) if not one]
    if len(again) == len(numbers):
        return None
    return frame.with_columns(read(columns=again).get_columns()) if again else frame


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
