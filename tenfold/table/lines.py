"""A CSV file line by line: its header as it is written, and the line that a reader stumbled over.

The readers of tables name columns anew where a header repeats one, and report of a bad line only that there is one. What they leave
out is found here, by reading the file again, a line at a time.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from tenfold.core.errors import BadFile, BadInput, DataWarning, warn

RENAMED = re.compile(r"(.*)_duplicated_\d+$", re.DOTALL)  # what the reader calls a column whose name is there already
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LONGEST = 1 << 16  # characters of a line that are looked at
MOST_SHOWN = 8


def _open(path: Any) -> TextIO:
    opener = gzip.open if str(path).lower().endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="")


def _records(path: Any, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The number of the line where each record begins, and its fields; lines with nothing in them are passed over."""
    with _open(path) as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        line = 1
        try:
            for fields in reader:
                if fields:
                    yield line, fields
                line = reader.line_num + 1
        except csv.Error as reason:
            raise csv.Error(str(reason), line) from None


def separator_in(header: str) -> str:
    """What parts the cells of a header: the mark that is there most often, outside of quotes."""
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", header).count)


def separator_of(path: Any) -> str:
    """What parts the cells of a file, by its first line; a comma where it cannot be read."""
    try:
        with _open(path) as file:
            while (line := file.readline(LONGEST)) and not line.strip():
                pass
    except (OSError, EOFError):
        return ","
    return separator_in(line)


def header_of(path: Any, separator: str = ",") -> list[str]:
    """The names of the first line, as they are written; none where they cannot be read."""
    try:
        return next((fields for _, fields in _records(path, separator)), [])
    except (csv.Error, OSError, EOFError):
        return []


def bad_line(path: Any, separator: str = ",") -> BadFile | None:
    """What is wrong with the first bad line: more fields than the header has, or a quote that is never closed."""
    name, width = Path(path).name, 0
    try:
        for line, fields in _records(path, separator):
            width = width or len(fields)
            if len(fields) > width:
                more = f"{width} field{'s' if width > 1 else ''} expected as in the header, {len(fields)} found"
                return BadFile(f"{name!r}, line {line}: {more}: put texts that hold {separator!r} in quotes")
    except csv.Error as reason:
        problem, line = reason.args
        if "unexpected end" in problem:
            return BadFile(f"{name!r}, line {line}: a quote is opened and never closed: close it")
    except (OSError, EOFError):
        pass  # the file itself is damaged: the reader has reported it
    return None


def warn_of_short_lines(path: Any, separator: str = ",") -> None:
    """Lines with fewer fields than the header: readers take what is not there for missing values, without a word."""
    width, short, first = 0, 0, (0, 0)
    try:
        for line, fields in _records(path, separator):
            width = width or len(fields)
            if len(fields) < width:
                first, short = first if short else (line, len(fields)), short + 1
    except (csv.Error, OSError, EOFError):
        return
    if short:
        more = f" ({short:,} such lines)" if short > 1 else ""
        found = f"{first[1]} field{'s' if first[1] > 1 else ''} found, {width} expected as in the header"
        warn(
            f"{Path(path).name!r}, line {first[0]}: {found}{more}; what is not there counts as missing",
            DataWarning,
            stacklevel=2,
        )


def check_header(path: Any, columns: Sequence[str], separator: str = ",") -> set[str]:
    """The names that stand more than once in the header; a warning gives the new names of the later ones. Numbers are no names."""
    suspects = [found[1] for found in map(RENAMED.fullmatch, columns) if found and re.search(r"[^\d\s.,+-]", found[1])]
    if not suspects:
        return set()
    written = header_of(path, separator)
    repeated = {name for name in suspects if written.count(name) > 1}
    new = [now for now, was in zip(columns, written, strict=False) if now != was and was in repeated]
    if new:
        warn(
            f"{Path(path).name!r}: {_quoted(sorted(repeated))} stand{'s' if len(repeated) == 1 else ''} more than once in the "
            f"header; the later columns are called {_quoted(new)}",
            DataWarning,
            stacklevel=2,
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
