"""Numbers and names as text for a terminal."""

from __future__ import annotations

import math
import re
import shutil
import textwrap
import unicodedata
from typing import Any, TextIO

from tenfold.score.words import figure as figure
from tenfold.score.words import metric_name as metric_name
from tenfold.score.words import percent as percent

LONGEST_NAME = 60
LONGEST_MODEL = 90
# What a line begins with, a title or the name of a score; the rest of it goes on below its text.
LABEL = re.compile(r" *(?:[A-Z^]+ +|! |note: |\S.{0,12}? {2,}(?=[-\d]))?")
PARTED = re.compile(r"( {3,})")  # between the parts of a line
UNLIMITED = 10_000  # where lines go to a file or another program
NARROWEST = 40
NICE_SECONDS = (3, 5, 10, 15, 20, 30, 45, 60, 90)


class AsItIs(str):
    """A line that is not to be broken: one of a table, or a command."""


def terminal_width(out: TextIO) -> int:
    """The characters of a line on a terminal; elsewhere nobody breaks lines."""
    return max(shutil.get_terminal_size().columns, NARROWEST) if out.isatty() else UNLIMITED


def wrapped(line: str, width: int) -> list[str]:
    """A clean line in pieces that fit, going on below its own text: broken between its parts, or else between words."""
    text = clean(line)
    if isinstance(line, AsItIs) or len(text) <= width:
        return [text]
    found = LABEL.match(text)
    label = found.end() if found else 0
    hang = " " * min(label, 9)
    first, *more = PARTED.split(text[label:])
    pieces = [text[:label] + first]
    for gap, part in zip(more[::2], more[1::2], strict=True):
        if len(pieces[-1] + gap + part) <= width:
            pieces[-1] += gap + part
        else:
            pieces.append(hang + part)
    return [one for piece in pieces for one in _between_words(piece, width, hang)]


def _between_words(line: str, width: int, hang: str) -> list[str]:
    words = textwrap.TextWrapper(width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)
    return [piece.rstrip() for piece in words.wrap(line)] if len(line) > width else [line]


def clean(text: Any) -> str:
    """Text without control, bidirectional and zero-width characters: a name cannot steer the terminal."""
    plain = str(text)
    return plain if plain.isprintable() else "".join(c if unicodedata.category(c)[0] != "C" else "�" for c in plain)


def short(name: Any, most: int = LONGEST_NAME) -> str:
    """A clean name of bounded length."""
    text = clean(name)
    return text if len(text) <= most else text[: most - 1] + "…"


def folded(model: str, most: int) -> str:
    """A learner with its settings, of bounded length: words are left out of the middle, as learners differ at the end, too."""
    text = clean(model)
    if len(text) <= most:
        return text
    tail = text[-(most // 2) :].partition(" ")[2]
    head = text[: most - len(tail) - 2].rpartition(" ")[0]
    return f"{head} … {tail}"[:most] if head and tail else short(text, most)


def full(model: str) -> str:
    """A learner with its settings, which are at the end of its name."""
    return short(model, LONGEST_MODEL)


def about(seconds: float) -> str:
    """A time that is known roughly: "about 15 s", "about 3 minutes"."""
    if seconds <= NICE_SECONDS[-1]:
        return f"about {next(one for one in NICE_SECONDS if one >= seconds)} s"
    return f"about {math.ceil(seconds / 60)} minutes"


def counted(count: int, one: str, many: str | None = None) -> str:
    """`3 rows`, `1 row`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"


def file_size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} KB"
