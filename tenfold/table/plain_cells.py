"""The cells of plain delimited text, of columns that are known, as numbers, dates and levels: read by a kernel of our own.

The kernel reads only what is certain, twice as fast as a reader that is ready for anything; what it refuses is for that one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tenfold import _delimited
from tenfold.table.lines import Layout
from tenfold.table.missing_words import WORDS_OF_STREAMS

NUMBER, LEVEL = "number", "level"  # kinds of columns; that of dates is the form in which they are written
WORDS = [word for word in WORDS_OF_STREAMS if word]
MOST_LEVELS = 1 << 16  # of a column in one piece: more are no levels
NO_MOMENT, DAY = -(2**63), 86_400_000_000  # of a missing date; microseconds


def is_read(kind: str) -> bool:
    """Whether the kernel reads columns of this kind: of dates, those of ten characters."""
    return kind in (NUMBER, LEVEL) or ({"%Y", "%m", "%d"} == {kind[:2], kind[3:5], kind[6:]} and len(kind) == 8)


def plain_columns(
    piece: bytes | memoryview, layout: Layout, names: Sequence[str], kinds: Mapping[str, str]
) -> tuple[int, dict[str, pl.Series]] | None:
    """The number of rows, and the columns of these kinds in which every cell is plain; None where rows or quotes are not.

    Missing are empty cells, and of numbers and dates the words that say so.
    """
    if not layout.separator.isascii() or not layout.quote.isascii():
        return None
    found = _delimited.read(piece, layout.separator, layout.quote, [kinds.get(name, "") for name in names], WORDS, MOST_LEVELS)
    if found is None:
        return None
    rows, columns = found
    made = {name: _series(name, kinds[name], rows, *column) for name, column in zip(names, columns, strict=True) if column is not None}
    return rows, made


def _series(name: str, kind: str, rows: int, values: Any, gaps: int, more: Any) -> pl.Series:
    values = values[:rows]
    if kind == NUMBER:
        return pl.Series(name, values, nan_to_null=gaps > 0)
    if kind == LEVEL:
        levels = pl.Series(name, [None, *more], dtype=pl.String).cast(pl.Categorical(pl.Categories.random()))
        return levels.gather(pl.Series(values))
    moments = pl.Series(name, values)
    if gaps:
        moments = moments.set(moments == NO_MOMENT, None)
    return moments.cast(pl.Datetime("us")) if more else (moments // DAY).cast(pl.Int32).cast(pl.Date)
