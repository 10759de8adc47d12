"""A large CSV file some rows at a time, its plain numbers read as such by the parser: a third of the memory of texts, and of the time.

The file is cut between records, and each piece is parsed by itself: where a column of numbers holds something else, its cells are
read as texts in that piece, and none is lost. The next pieces are parsed while the last one is used.
"""

from __future__ import annotations

import codecs
import os
from collections import deque
from collections.abc import Collection, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from tenfold.table.lines import Layout
from tenfold.table.plain_cells import LEVEL, NUMBER, is_read, plain_columns

LARGE = 1 << 26  # bytes: smaller files are read whole, and all that surrounds their rows is looked at
HEAD = 10_000  # rows in which numbers are looked for
PART = 1 << 25  # bytes
PART_CELLS = 1 << 23
SMALL = 1 << 18  # bytes: what stays in a cache
AHEAD = 2  # pieces that are parsed while one is used
FIRST = 1 << 23  # bytes: what the columns hold is found in them
PLACES, PLACE = 8, 1 << 16  # where rows are looked at further down, and bytes at each
FLOAT_WHOLE = 2.0**53  # above it floats run together
Buffer: TypeAlias = bytes | memoryview


@dataclass(frozen=True)
class Parts:
    """A CSV file of known layout, in UTF-8, and what its columns are called."""

    path: Path
    layout: Layout
    names: tuple[str, ...]
    header: bool = True

    def head(self) -> pl.DataFrame:
        """The first rows, as texts."""
        with closing(self._pieces()) as pieces:
            return self._by_polars(next(pieces), {}, self.names, set())

    def frames(self, kinds: Mapping[str, str], names: Collection[str] | None = None) -> Iterator[pl.DataFrame]:
        """The rows in their order; columns are of their kind (`plain_cells`) where all cells of a piece are, else texts."""
        wanted, mixed = self.names if names is None else names, set[str]()
        size = max(1, PART_CELLS // len(self.names))
        with closing(self._pieces()) as pieces, ThreadPoolExecutor(AHEAD) as ahead:
            pending = deque(ahead.submit(self._parsed, piece, kinds, wanted, mixed) for piece in islice(pieces, AHEAD))
            while pending:
                frame = pending.popleft().result()
                pending.extend(ahead.submit(self._parsed, piece, kinds, wanted, mixed) for piece in islice(pieces, 1))
                yield from frame.iter_slices(size)

    def elsewhere(self) -> pl.DataFrame:
        """Some rows from further down, as texts: from places where no quote could hide the end of a row."""
        size, mark, quote = self.path.stat().st_size, self.layout.separator.encode(), self.layout.quote.encode()
        lines: list[bytes] = []
        with open(self.path, "rb") as file:
            for place in range(1, PLACES + 1):
                file.seek(max(0, size * place // PLACES - PLACE))
                piece = file.read(PLACE)
                if quote not in piece:
                    lines += [line for line in piece.split(b"\n")[1:-1] if line.count(mark) == len(self.names) - 1 and line.strip()]
        return self._by_polars(b"\n".join(lines), {}, self.names, set())

    def _pieces(self) -> Generator[memoryview]:
        """The bytes below the header, cut where a record ends. Each piece stays as it is until AHEAD more are asked for."""
        quote = self.layout.quote.encode()
        with open(self.path, "rb") as file:
            for _ in range(self.layout.skip):
                file.readline()
            line = file.readline() if self.header else b""
            while self.header and line.count(quote) % 2 and (more := file.readline()):
                line += more
            buffers = deque([bytearray(FIRST)] + [bytearray(PART) for _ in range(AHEAD - 1)])
            while size := file.readinto(buffers[0]):
                room = len(buffers[0])
                end = _last_record(buffers[0], size, quote) if size == room else size
                file.seek(end - size, os.SEEK_CUR)
                if end:
                    yield memoryview(buffers[0])[:end]
                    buffers.rotate(-1)
                if not end or len(buffers[0]) != PART:
                    buffers[0] = bytearray(PART if end else 2 * room)  # a record longer than that

    def _parsed(self, piece: Buffer, kinds: Mapping[str, str], names: Collection[str], mixed: set[str]) -> pl.DataFrame:
        """The rows of a piece: by the kernel for plain cells what it reads, by polars the other columns, or all."""
        wanted = {name: kinds[name] for name in names if name in kinds and is_read(kinds[name])}
        found = plain_columns(piece, self.layout, self.names, wanted) if 2 * len(wanted) >= len(names) else None
        if found is not None:
            rows, columns = found
            others = [name for name in names if name not in columns]
            rest = self._read(piece, {}, others) if others else pl.DataFrame()
            if not others or rest.height == rows:
                return pl.DataFrame({name: columns[name] if name in columns else rest[name] for name in names})
        return self._by_polars(piece, kinds, names, mixed)

    def _by_polars(self, piece: Buffer, kinds: Mapping[str, str], names: Collection[str], mixed: set[str]) -> pl.DataFrame:
        """The same of any piece; `mixed`: columns of numbers that hold something else somewhere, and are read as texts."""
        piece = bytes(piece)
        blank = len(self.names) > 1 and (piece[:1] == b"\n" or b"\n\n" in piece or b"\n\r" in piece)
        wanted = self.names  # which lines hold nothing, and which too much, is seen in all of their cells
        types: dict[str, Any] = {name: pl.Categorical(pl.Categories.random()) for name, kind in kinds.items() if kind == LEVEL}
        types |= {name: pl.Float64 for name, kind in kinds.items() if kind == NUMBER and name not in mixed}
        try:
            frame = self._read(piece, types, wanted)
        except pl.exceptions.PolarsError:
            numbers = [name for name in wanted if types.get(name) == pl.Float64]
            if not numbers:
                raise
            texts = self._read(piece, {}, numbers)
            unread = texts.select((pl.all().cast(pl.Float64, strict=False).is_null() & pl.all().is_not_null()).any()).row(0)
            minds_more = not any(unread)  # something else than a number that is none
            mixed.update(name for name, wrong in zip(numbers, unread, strict=True) if wrong or minds_more)
            frame = self._read(piece, {name: kind for name, kind in types.items() if name not in mixed}, wanted)
        read = [name for name, kind in frame.schema.items() if kind == pl.Float64]
        beyond = frame.select(pl.col(read).is_infinite().any()).row(0) if read else ()
        if any(beyond):  # 1e400 is to be told of
            mixed.update(name for name, some in zip(read, beyond, strict=True) if some)
            frame = self._read(piece, {name: kind for name, kind in types.items() if name not in mixed}, wanted)
        return (frame.filter(pl.any_horizontal(pl.all().is_not_null())) if blank else frame).select(names)

    def _read(self, piece: Buffer, types: Mapping[str, Any], names: Collection[str]) -> pl.DataFrame:
        short = {name: f"c{i}" for i, name in enumerate(self.names)}  # the header of every piece, so that a short first row is none
        header = self.layout.separator.join(short.values()).encode()
        frame = pl.read_csv(
            b"".join([header, b"\n", piece]), separator=self.layout.separator, infer_schema=False, quote_char=self.layout.quote,
            columns=[short[name] for name in names], raise_if_empty=False,
            schema_overrides={short[name]: kind for name, kind in types.items() if name in names},
        )  # fmt: skip
        return frame.select(pl.col(short[name]).alias(name) for name in names)


def _last_record(piece: bytearray, size: int, quote: bytes) -> int:
    """Where the last whole record of so many bytes ends: after a line break that no quotes surround; 0 where there is none."""
    end = piece.rfind(b"\n", 0, size) + 1
    odd = piece.find(quote, 0, end) >= 0 and piece.count(quote, 0, end) % 2  # one is found sooner than all are counted
    while end and odd:
        before = piece.rfind(b"\n", 0, end - 1) + 1
        odd = (odd + piece.count(quote, before, end)) % 2
        end = before
    return end


def texts_of(path: Path, layout: Layout, rows: int) -> pl.DataFrame:
    """The first rows, as texts, under the names of the header."""
    with open(path, "rb") as file:  # a parser that is given the path would fetch far more of it
        lines = list(islice(file, layout.skip + 1 + rows))
        odd = sum(line.count(layout.quote.encode()) for line in lines) % 2
        for line in islice(file, rows if odd else 0):  # the last of them ended within a cell
            lines.append(line)
            if line.count(layout.quote.encode()) % 2:
                break
    return pl.read_csv(
        b"".join(lines), separator=layout.separator, infer_schema=False, skip_lines=layout.skip, quote_char=layout.quote, n_rows=rows
    )


def typed_frame(path: Path, layout: Layout) -> pl.DataFrame | None:
    """The whole file, of Float64 columns and of texts; None where no column holds a plain number in every row, or it is not plain UTF-8."""
    if not is_plain_text(path):
        return None
    head = texts_of(path, layout, HEAD)
    parts = Parts(path, layout, tuple(head.columns))
    values = head.select(pl.all().cast(pl.Float64, strict=False))
    plain = values.select(pl.all().is_finite().all() & pl.all().is_not_null().all()).row(0)
    numbers = [name for name, one in zip(head.columns, plain, strict=True) if one]
    if not numbers:
        return None
    frames = list(parts.frames(dict.fromkeys(numbers, NUMBER)))
    kept = [name for name in numbers if all(_exact(frame[name]) for frame in frames)]
    if not kept:
        return None
    again = [name for name in numbers if name not in kept]
    frame = pl.concat([frame.drop(again) for frame in frames])
    if again:
        frame = frame.hstack(pl.concat(list(parts.frames({}, again)))).select(head.columns)
    return frame


def _exact(values: pl.Series) -> bool:
    """Whether there are floats in every row, and they hold all the digits of whole numbers."""
    return values.dtype == pl.Float64 and values.null_count() == 0 and bool((values.abs() < FLOAT_WHOLE).all())


def lines_in(path: Path) -> int:
    """The number of lines of a file."""
    return sum(piece.count(b"\n") for piece in _bytes(path))


def is_plain_text(path: Path) -> bool:
    """Whether a file is UTF-8 without NUL."""
    about = path.stat()
    return _is_plain_text(os.path.realpath(path), about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=64)
def _is_plain_text(path: str, size: int, changed: int) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in _bytes(Path(path)):
            if b"\0" in piece:
                return False
            if decoder.getstate()[0] or not piece.isascii():
                decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _bytes(path: Path) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(SMALL):
            yield piece
