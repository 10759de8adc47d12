"""One pass over a table: the kinds of its columns, found in the first rows, and all that their coding follows from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tenfold.base import check
from tenfold.core.errors import BadInput
from tenfold.prepare.table_dates import DateSums
from tenfold.prepare.table_rows import Rows, asked_kinds, looked_at
from tenfold.prepare.table_sums import TableSums
from tenfold.prepare.words import is_prose
from tenfold.table.columns import Column, read_as
from tenfold.table.reading import pl


@dataclass(frozen=True)
class Counted:
    """What was found and counted in a table."""

    columns: list[Column]
    schema: Any  # of the columns that are used: Float64 or String
    texts: list[str]  # columns of texts, to be coded by their words
    sums: TableSums


def counted(chunks: Iterator[Rows], kinds: dict[Any, Any], sample_weight: Any, least_rows: int, with_texts: bool) -> Counted:
    """The pass; `kinds`: of single columns, as the user has named them."""
    head = next(chunks)
    if not head.frame.width or not head.frame.height:
        shape = (head.frame.height, head.frame.width)
        raise BadInput(f"0 feature(s) (shape={shape}) while a minimum of 1 is required: the table is empty")
    asked = asked_kinds({**head.kinds, **kinds}, head.frame.columns)
    if sample_weight is not None:
        head = replace(head, weights=check.as_weights(sample_weight, head.frame.height))
    frame, weights = head.weighed()
    columns, used = looked_at(head, frame, asked)
    texts = [one.name for one in columns if with_texts and _is_text(one, frame) and one.name not in asked.drop]
    if not used.width and not texts:
        left = ", ".join(f"{column.name!r} ({column.kind})" for column in columns[:5])
        few = f" of {frame.height} sample{'s' if frame.height > 1 else ''}" if frame.height < least_rows else ""
        raise BadInput(f"no column of the table{few} can be used: {left}; name kinds=, such as {{{frame.columns[0]!r}: 'nominal'}}")
    dates = [one.name for one in columns if one.kind == "date" and frame.schema[one.name] != pl.Duration]
    sums = TableSums(dates={name: DateSums() for name in dates}).add(used, [frame[name] for name in texts], weights)
    for chunk in chunks:
        frame, weights = chunk.weighed()
        sums.add(read_as(columns, frame), [frame[name] for name in texts], weights)
    return Counted(columns, used.schema, texts, sums)


def _is_text(column: Column, frame: pl.DataFrame) -> bool:
    """Whether a column that is neither number nor category holds sentences, to be coded by their words."""
    return column.kind in ("text", "id") and frame[column.name].dtype == pl.String and is_prose(frame[column.name])
