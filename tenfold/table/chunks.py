"""A large file some rows at a time, so that no more than a few of them are in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain
from pathlib import Path

from tenfold.core.errors import BadFile
from tenfold.table.columns import Column, look_at, read_as
from tenfold.table.dates import as_dates
from tenfold.table.delimited import looks_like_header
from tenfold.table.layout import START, layout_of
from tenfold.table.lines import bad_line
from tenfold.table.packed import bytes_of, encoding_of, is_packed
from tenfold.table.reading import first_line, pl
from tenfold.table.written_numbers import writes_commas

LARGE = 1 << 26  # bytes: smaller files are read whole, and all that surrounds their rows is looked at
CHUNK_CELLS = 1 << 21


def is_large(path: Path) -> bool:
    """Whether a file is to be read in parts: a CSV file in UTF-8, or a Parquet file."""
    if not path.is_file() or path.stat().st_size < LARGE or is_packed(path):
        return False
    return _is_parquet(path) or (path.suffix.lower() in (".csv", ".tsv", ".txt") and encoding_of(bytes_of(path, START)) is None)


def chunks(path: Path) -> Iterator[pl.DataFrame]:
    """The rows in their order. What the columns of a CSV file hold (numbers, dates, texts) is found in the first chunk; further down, what
    does not suit that is missing."""
    if _is_parquet(path):
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=max(1, CHUNK_CELLS // max(1, len(file.schema_arrow))), use_threads=True):
                frame = pl.from_arrow(batch)
                assert isinstance(frame, pl.DataFrame)
                yield frame
        return
    start = bytes_of(path, START)
    layout = layout_of(start.decode("utf-8", "replace"), whole=False)

    def scanned(header: bool, floats: Collection[str] = ()) -> pl.LazyFrame:
        return pl.scan_csv(
            path, separator=layout.separator, infer_schema=False, has_header=header, skip_lines=layout.skip, quote_char=layout.quote,
            glob=False, schema_overrides=dict.fromkeys(floats, pl.Float64),
        )  # fmt: skip

    try:
        header = looks_like_header(scanned(True).head(1000).collect()) is not False
        rows = scanned(header)
        names = rows.collect_schema().names()
        size = max(1, CHUNK_CELLS // len(names))
        first = rows.head(size).collect()
        yield from _typed(first, lambda numbers: _after(scanned, header, numbers, first.height, size))
    except (OSError, pl.exceptions.PolarsError) as reason:
        raise bad_line(path, layout) or BadFile(f"{path} cannot be read as a table: {first_line(reason)}") from None


def _typed(first: pl.DataFrame, after: Callable[[list[str]], Iterator[pl.DataFrame]]) -> Iterator[pl.DataFrame]:
    comma = writes_commas(first)
    columns = {one.name: look_at(one, False, comma=comma)[0] for one in first.iter_columns()}
    plain = [name for name, column in columns.items() if column.kind == "number" and not column.form and not column.note]
    for frame in chain([first], after(plain)):
        yield pl.DataFrame([_as(columns[one.name], one) for one in frame.iter_columns()])


def _as(column: Column, cells: pl.Series) -> pl.Series:
    """Cells as numbers, dates or texts."""
    if column.kind not in ("number", "date") or cells.dtype != pl.String:
        return cells
    values = read_as([column], cells.to_frame()).to_series()
    return as_dates(values) if column.kind == "date" else values


def _after(
    scanned: Callable[[bool, Collection[str]], pl.LazyFrame], header: bool, numbers: list[str], done: int, size: int
) -> Iterator[pl.DataFrame]:
    """The chunks after so many rows; columns of numbers are read as such by the parser for as long as all of their cells are."""
    if numbers:
        try:
            for frame in _batches(scanned(header, numbers).slice(done), size):
                yield frame
                done += frame.height
            return
        except pl.exceptions.PolarsError:
            pass  # a cell that is no number: texts from here on
    yield from _batches(scanned(header, ()).slice(done), size)


def _batches(rows: pl.LazyFrame, size: int) -> Iterator[pl.DataFrame]:
    frames: Iterator[pl.DataFrame] = rows.collect_batches(chunk_size=size, maintain_order=True, lazy=True)
    return frames


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")
