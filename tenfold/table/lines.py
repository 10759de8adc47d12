"""A CSV file line by line: its header as it is written, and the line that a reader stumbled over.

The readers of tables name columns anew where a header repeats one, and report of a bad line only that there is one. What they leave
out is found here, by reading the file again, a line at a time.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput, DataWarning, warn
from tenfold.table.packed import encoding_of, open_bytes

RENAMED = re.compile(r"(.*)_duplicated_\d+$", re.DOTALL)  # what the reader calls a column whose name is there already
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LARGEST_CELL = 1 << 27  # characters
MOST_SHOWN = 8


Tell = Callable[[str], None]  # what is done with a note about a file


def warn_note(note: str) -> None:
    """Notes as warnings, for readers that keep none."""
    warn(note, DataWarning, stacklevel=3)


@dataclass(frozen=True)
class Layout:
    """What parts the cells, the lines above the header, and what surrounds cells that hold a separator."""

    separator: str = ","
    skip: int = 0
    quote: str = '"'


PLAIN = Layout()


def _open(path: Any) -> TextIO:
    """The text of a file, lines ended as they are; single carriage returns end lines where nothing else does."""
    file = open_bytes(Path(path))
    start = file.read(1 << 16)
    file.seek(0)
    bare = b"\r" in start and b"\n" not in start
    return io.TextIOWrapper(
        file, encoding=encoding_of(start) or "utf-8-sig", errors="replace", newline=None if bare else ""
    )


def _records(path: Any, layout: Layout, empty: bool = False) -> Iterator[tuple[int, list[str]]]:
    """The number of the line where each record begins, and its fields; `empty`: also lines with nothing in them."""
    before = csv.field_size_limit(LARGEST_CELL)
    try:
        with _open(path) as file:
            for _ in range(layout.skip):
                file.readline()
            reader = csv.reader(file, delimiter=layout.separator, quotechar=layout.quote, strict=True)
            line = layout.skip + 1
            try:
                for fields in reader:
                    if fields or empty:
                        yield line, fields
                    line = layout.skip + reader.line_num + 1
            except csv.Error as reason:
                raise csv.Error(str(reason), line) from None
    finally:
        csv.field_size_limit(before)


def line_numbers(path: Any, layout: Layout, header: bool) -> Array:
    """The line on which each record below the header begins; as far as the file can be read so."""
    return np.array([line for line, _ in _below_header(path, layout, header)], dtype=np.int64)


def blank_records(path: Any, layout: Layout, header: bool) -> Array:
    """The numbers of the records below the header that are lines with nothing in them."""
    return np.array([i for i, (_, fields) in enumerate(_below_header(path, layout, header)) if not fields], dtype=np.int64)


def _below_header(path: Any, layout: Layout, header: bool) -> Iterator[tuple[int, list[str]]]:
    wanted = not header
    try:
        for line, fields in _records(path, layout, empty=True):
            if wanted:
                yield line, fields
            wanted = wanted or bool(fields)  # empty lines above a header are none of its rows
    except (csv.Error, OSError, EOFError):
        return


def separator_in(header: str) -> str:
    """What parts the cells of a header: the mark that is there most often, outside of quotes."""
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", header).count)


def header_of(path: Any, layout: Layout = PLAIN) -> list[str]:
    """The names of the first line, as they are written; none where they cannot be read."""
    try:
        return next((fields for _, fields in _records(path, layout)), [])
    except (csv.Error, OSError, EOFError):
        return []


def bad_line(path: Any, layout: Layout = PLAIN) -> BadFile | None:
    """What is wrong with the first bad line: more fields than the header has, or a quote that is never closed."""
    name, width = Path(path).name, 0
    try:
        for line, fields in _records(path, layout):
            width = width or len(fields)
            if len(fields) > width:
                more = f"{width} field{'s' if width > 1 else ''} expected as in the header, {len(fields)} found"
                return BadFile(f"{name!r}, line {line}: {more}: put texts that hold {layout.separator!r} in quotes")
    except csv.Error as reason:
        problem, line = reason.args
        if "unexpected end" in problem:
            return BadFile(f"{name!r}, line {line}: a quote is opened and never closed: close it")
        if "expected after" in problem:
            return BadFile(f"{name!r}, line {line}: text after the quote that closes a cell: double the quotes inside of cells")
    except (OSError, EOFError):
        pass  # the file itself is damaged: the reader has reported it
    return None


def warn_of_short_lines(path: Any, layout: Layout, tell: Tell, last: int) -> None:
    """Lines up to the last row with fewer fields than the header: readers take what is not there for missing values, without a word."""
    width, short, first = 0, 0, (0, 0)
    try:
        for line, fields in _records(path, layout):
            width = width or len(fields)
            if line > last:
                break
            if len(fields) < width:
                first, short = first if short else (line, len(fields)), short + 1
    except (csv.Error, OSError, EOFError):
        return
    if short:
        more = f" ({short:,} such lines)" if short > 1 else ""
        found = f"{first[1]} field{'s' if first[1] > 1 else ''} found, {width} expected as in the header"
        tell(f"{Path(path).name!r}, line {first[0]}: {found}{more}; what is not there counts as missing")


def check_header(
    path: Any, columns: Sequence[str], layout: Layout = PLAIN, tell: Tell = warn_note
) -> set[str]:
    """The names that stand more than once in the header; a warning gives the new names of the later ones. Numbers are no names."""
    suspects = [found[1] for found in map(RENAMED.fullmatch, columns) if found and re.search(r"[^\d\s.,+-]", found[1])]
    if not suspects:
        return set()
    written = header_of(path, layout)
    repeated = {name for name in suspects if written.count(name) > 1}
    new = [now for now, was in zip(columns, written, strict=False) if now != was and was in repeated]
    if new:
        tell(
            f"{Path(path).name!r}: {_quoted(sorted(repeated))} stand{'s' if len(repeated) == 1 else ''} more than once in the "
            f"header; the later columns are called {_quoted(new)}"
        )
    return repeated


def refuse_repeated(path: Any, repeated: set[str], names: Iterable[str], what: str = "target") -> None:
    """A target (or weight) that stands twice in the header could be either column."""
    for name in names:
        if name in repeated:
            raise BadInput(f"{Path(path).name!r} has more than one column {name!r}, the {what}: rename all but one")


def _quoted(names: Sequence[str]) -> str:
    shown = [repr(name if len(name) <= 40 else name[:39] + "…") for name in names[:MOST_SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else "")
