"""A large file some rows at a time, its columns read as what they are, so that no more than a few rows are in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from tenfold.core.errors import BadFile, DataWarning, warn
from tenfold.table import large
from tenfold.table.cells import as_texts, counted_cells, plain_numbers
from tenfold.table.columns import Column, look_at, look_at_columns, read_as
from tenfold.table.dates import as_dates
from tenfold.table.delimited import unquoted
from tenfold.table.large import Parts
from tenfold.table.layout import START, layout_of
from tenfold.table.lines import Layout, bad_line, check_header, warn_note
from tenfold.table.missing_words import MISSING_IN_NUMBERS
from tenfold.table.packed import bytes_of, encoding_of, is_packed
from tenfold.table.plain_cells import LEVEL, NUMBER
from tenfold.table.reading import first_line, named, pl
from tenfold.table.surroundings import looks_like_header, warn_of_header, warn_of_lines_above
from tenfold.table.written_numbers import writes_commas

STILL = ("constant", "empty")  # kinds of columns that do not vary


@dataclass(frozen=True)
class Chunk:
    """Some rows; with the first ones come a few from further down, by which more is known of columns that do not vary in the first."""

    frame: pl.DataFrame
    elsewhere: pl.DataFrame | None = None


def is_large(path: Path) -> bool:
    """Whether a file is to be read in parts: a CSV file in UTF-8, or a Parquet file."""
    if not path.is_file() or path.stat().st_size < large.LARGE or is_packed(path):
        return False
    if _is_parquet(path) or path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        return _is_parquet(path)
    start = bytes_of(path, START)
    return b"\n" in start and encoding_of(start) is None and large.is_plain_text(path)


def chunks(path: Path, names: Collection[str] | None = None, known: Sequence[Column] = ()) -> Iterator[pl.DataFrame]:
    """The rows of a large file in their order, some at a time (`read_in_parts`)."""
    return (chunk.frame for chunk in read_in_parts(path, names, known))


def read_in_parts(path: Path, names: Collection[str] | None = None, known: Sequence[Column] = ()) -> Iterator[Chunk]:
    """The rows in their order, of all columns or of those named (all, where one is not there).

    What the columns of a CSV file hold (numbers, dates, categories, texts) is found in the first rows, but for those that are known; what
    does not suit it further down is missing, which is told at the end.
    """
    if _is_parquet(path):
        yield from map(Chunk, _of_parquet(path, names))
        return
    layout = layout_of(bytes_of(path, START).decode("utf-8", "replace"), whole=False)
    try:
        parts, about = _opened(path, layout, names or ()), path.stat()
        wanted, found = _those(names, list(parts.names)), _columns_of(parts, about.st_size, about.st_mtime_ns)
        found = found | {column.name: column for column in known}
        typed, head = _Typed({name: found[name] for name in wanted}), 0
        for frame in parts.frames(typed.kinds, wanted):
            if head:
                yield Chunk(typed.read(frame))
                continue
            head, levels = frame.height, [one.name for one in frame.iter_columns() if isinstance(one.dtype, pl.Categorical)]
            first = typed.read(frame.with_columns(pl.col(levels).cast(pl.String)))
            yield Chunk(first, _Typed(typed.columns).read(parts.elsewhere().select(wanted)))
        typed.tell(path, head)
    except (OSError, pl.exceptions.PolarsError) as reason:
        raise bad_line(path, layout) or BadFile(f"{path} cannot be read as a table: {first_line(reason)}") from None


def _opened(path: Path, layout: Layout, known: Collection[str]) -> Parts:
    """The file with the names of its columns; what was done about its header is told."""
    head = unquoted(large.texts_of(path, layout, 1000))
    header = looks_like_header(head, known)
    if layout.skip:
        warn_of_lines_above(path.name, layout, warn_note)
    warn_of_header(path.name, head, header, warn_note)
    if header is False:
        return Parts(path, layout, tuple(f"column_{i + 1}" for i in range(head.width)), False)
    check_header(path, head.columns, layout)
    return Parts(path, layout, tuple(named(head).columns))


@lru_cache(maxsize=8)
def _columns_of(parts: Parts, size: int, changed: int) -> dict[str, Column]:
    """What the columns hold, by their first rows; a file that has the same size and time again holds the same."""
    head = parts.head()
    comma = writes_commas(head)
    found = look_at_columns(head, False, comma=comma)[0]
    still = [i for i, column in enumerate(found) if column.kind in STILL]
    elsewhere = parts.elsewhere() if still else head
    for i in still:
        name = found[i].name
        found[i] = look_at(pl.concat([head[name], elsewhere[name]]), False, comma=comma)[0]
    return {column.name: column for column in found}


@dataclass
class _Typed:
    """What the columns hold, and the cells that turned out to be something else."""

    columns: dict[str, Column]
    unread: dict[str, tuple[int, str]] = field(default_factory=dict)  # how many cells, and one of them

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The columns that the parser can read by itself: numbers and dates as computers write them, and categories."""
        numbers = {name: NUMBER for name, one in self.columns.items() if one.kind == "number" and not one.form}
        levels = {name: LEVEL for name, one in self.columns.items() if one.kind == "category"}
        return numbers | levels | {name: one.form for name, one in self.columns.items() if one.kind == "date" and one.form}

    def read(self, frame: pl.DataFrame) -> pl.DataFrame:
        plain = plain_numbers(frame.select(name for name in frame.columns if self.kinds.get(name) == NUMBER))
        return pl.DataFrame([self._values(self.columns[one.name], plain.get(one.name, one)) for one in frame.iter_columns()])

    def _values(self, column: Column, cells: pl.Series) -> pl.Series:
        """Cells as numbers, dates or texts."""
        if column.kind not in ("number", "date") or cells.dtype != pl.String:
            return cells
        values = read_as([column], cells.to_frame()).to_series()
        if values.null_count() > cells.null_count():
            texts = as_texts(cells.filter(values.is_null())).drop_nulls()
            odd = texts.filter(~texts.str.to_lowercase().is_in(list(MISSING_IN_NUMBERS)))
            if len(odd):
                count, example = self.unread.get(column.name, (0, odd[0]))
                self.unread[column.name] = (count + len(odd), example)
        return as_dates(values) if column.kind == "date" else values

    def tell(self, path: Path, head: int) -> None:
        for name, (count, example) in self.unread.items():
            known = f"column {name!r} of {path.name!r} holds {self.columns[name].kind}s in the first {head:,} rows"
            warn(f"{known}: {counted_cells(count)} such as {example[:40]!r} read as missing", DataWarning, stacklevel=4)


def _of_parquet(path: Path, names: Collection[str] | None) -> Iterator[pl.DataFrame]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path, pre_buffer=False) as file:
        names = _those(names, file.schema_arrow.names)
        size = max(1, large.PART_CELLS // max(1, len(file.schema_arrow)))
        for batch in file.iter_batches(batch_size=size, use_threads=True, columns=names):
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame


def _those(names: Collection[str] | None, known: list[str]) -> list[str]:
    """The columns to be read: those wanted; all where one of them goes by another name."""
    return list(dict.fromkeys(names)) if names is not None and set(names) <= set(known) else known


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")
