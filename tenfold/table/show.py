"""A table in words: one line for each column, and what should be known."""

from __future__ import annotations

import html
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenfold.table.table import Table, TableColumn

LONGEST_NAME = 30
MOST_COLUMNS = 100  # shown by repr


def shown(text: object, most: int = 200) -> str:
    """Text of bounded length without control, bidirectional and zero-width characters, which could steer a terminal or a page."""
    plain = str(text)
    if not plain.isprintable():
        plain = "".join(c if unicodedata.category(c)[0] != "C" else "�" for c in plain)
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def title_of(table: Table) -> str:
    rows, columns = table.shape
    return f"{shown(table.raw.name, 60)}   {rows:,} row{'s' * (rows != 1)} x {columns:,} column{'s' * (columns != 1)}   {table.raw.about}"


def described(column: TableColumn) -> str:
    """What was read, and what was done or is doubted."""
    return "; ".join([column.evidence, *column.notes])


def lines_of(table: Table, most: int | None = None, flags: bool = True) -> list[str]:
    """The title, one line for each column, and the flags, warnings marked by "!"."""
    columns = table.columns[:most]
    width = max((len(shown(column.name, LONGEST_NAME)) for column in columns), default=0)
    gaps = max((len(f"{column.missing:,}") for column in columns), default=0)
    lines = [title_of(table)]
    for column in columns:
        missing = f"{column.missing:>{gaps},} missing" if column.missing else " " * (gaps + 8)
        mark = " (target)" if column.name == table.target else ""
        lines.append(f"  {shown(column.name, LONGEST_NAME):<{width}}  {column.kind:<8}  {missing}  {shown(described(column))}{mark}")
    if len(table.columns) > len(columns):
        lines.append(f"  and {len(table.columns) - len(columns):,} more columns")
    if flags:
        lines += [f"  {'!' if flag.warning else '-'} {shown(flag.text, 400)}" for flag in table.flags]
    return lines


def html_of(table: Table, most: int = MOST_COLUMNS) -> str:
    """A table of HTML, all texts escaped."""
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(cell))}</td>" for cell in _cells(column)) + "</tr>" for column in table.columns[:most]
    )
    more = f"<p>and {len(table.columns) - most:,} more columns</p>" if len(table.columns) > most else ""
    flags = "".join(f"<li>{html.escape(shown(flag.text, 400))}</li>" for flag in table.flags)
    heads = "".join(f"<th>{name}</th>" for name in ("column", "kind", "missing", "what was read", "examples"))
    return f"<div><p>{html.escape(title_of(table))}</p><table><tr>{heads}</tr>{rows}</table>{more}<ul>{flags}</ul></div>"


def _cells(column: TableColumn) -> tuple[str, ...]:
    return column.name, column.kind, f"{column.missing:,}", described(column), ", ".join(column.examples)
