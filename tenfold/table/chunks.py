"""A large file some rows at a time, so that no more than a few of them are in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tenfold.core.errors import BadFile
from tenfold.table.delimited import START, looks_like_header
from tenfold.table.layout import layout_of
from tenfold.table.lines import bad_line
from tenfold.table.packed import bytes_of, encoding_of, is_packed
from tenfold.table.reading import first_line, pl

LARGE = 1 << 26  # bytes: smaller files are read whole, and all that surrounds their rows is looked at
CHUNK_CELLS = 1 << 21


def is_large(path: Path) -> bool:
    """Whether a file is to be read in parts: a CSV file in UTF-8, or a Parquet file."""
    if not path.is_file() or path.stat().st_size < LARGE or is_packed(path):
        return False
    return _is_parquet(path) or (path.suffix.lower() in (".csv", ".tsv", ".txt") and encoding_of(bytes_of(path, START)) is None)


def chunks(path: Path) -> Iterator[pl.DataFrame]:
    """The rows in their order; the cells of a CSV file are texts."""
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

    def scanned(header: bool) -> pl.LazyFrame:
        return pl.scan_csv(
            path, separator=layout.separator, infer_schema=False, has_header=header, skip_lines=layout.skip, quote_char=layout.quote,
            glob=False,
        )  # fmt: skip

    try:
        header = looks_like_header(scanned(True).head(1000).collect()) is not False
        rows = scanned(header)
        width = len(rows.collect_schema())
        yield from rows.collect_batches(chunk_size=max(1, CHUNK_CELLS // width), maintain_order=True, lazy=True)
    except (OSError, pl.exceptions.PolarsError) as reason:
        raise bad_line(path, layout) or BadFile(f"{path} cannot be read as a table: {first_line(reason)}") from None


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")
