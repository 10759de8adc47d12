"""How a CSV file is written: what parts its cells, and how many lines stand above its header.

All of it is found from the beginning of the file. Nothing is guessed that could pass unnoticed: lines above the header are left
out only where the table below them is plain to see, and it is told; otherwise the first line is the header, and a line that does
not suit it is refused with its number.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

from tenfold.table.lines import SEPARATORS, Layout, separator_in

START = 1 << 18  # bytes in which the layout is looked for
LINES = 200  # looked at
CONSISTENT = 0.9  # of the records have the same number of cells, where a table is plain to see
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
COMMENT = ("#", "%", "//", ";")
MARKED = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # the first line of some files says what parts the cells


def layout_of(start: str, whole: bool) -> Layout:
    """The layout, from the text at the beginning of a file; `whole` where that is all of it."""
    lines = start.splitlines(keepends=True)
    lines = lines[:LINES] if whole or len(lines) > LINES else lines[:-1] or lines
    marked = MARKED.fullmatch(lines[0]) if lines else None
    if marked:
        return Layout(marked[1], 1)
    first = next((line for line in lines if line.strip()), "")
    usual = separator_in(first)
    tables = {mark: _Records(lines, mark) for mark in SEPARATORS}
    plain = [mark for mark, one in tables.items() if one.is_plain]
    if _decimal_commas(tables):
        usual = ";"
    elif plain and usual not in plain:  # a mark that is frequent in the header alone parts nothing
        usual = max(plain, key=lambda mark: (tables[mark].share, tables[mark].width))
    table = tables[usual]
    if table.width < 2 or len(table.records[0][1]) != table.width:
        below = max(tables, key=lambda mark: (tables[mark].width > 1, tables[mark].share, tables[mark].width))
        skip = tables[below].preamble()
        if skip:
            return Layout(below, skip)
    skip = table.preamble()
    return Layout(usual, skip, _quote(lines, usual))


class _Records:
    """The first records of a file, parted by one mark."""

    def __init__(self, lines: list[str], mark: str) -> None:
        reader = csv.reader(io.StringIO("".join(lines), newline=""), delimiter=mark)
        self.records: list[tuple[int, list[str]]] = []
        line = 0
        try:
            for fields in reader:
                self.records.append((line, fields))
                line = reader.line_num
        except csv.Error:
            pass
        self.records = self.records or [(0, [""])]
        widths = Counter(len(fields) for _, fields in self.records if any(fields))
        self.width = max(widths, key=lambda width: (widths[width], width)) if widths else 0
        self.share = widths[self.width] / max(sum(widths.values()), 1)

    @property
    def is_plain(self) -> bool:
        """Whether header and rows have the same number of cells, at least two."""
        first = next((fields for _, fields in self.records if any(fields)), [])
        return self.width >= 2 and len(first) == self.width and self.share >= CONSISTENT

    def preamble(self) -> int:
        """The lines above the header: remarks with at most one cell each, or parted from the table by an empty line."""
        top = next((i for i, (_, fields) in enumerate(self.records) if any(fields)), 0)
        at = top
        for i in range(top, min(len(self.records) - 1, 50)):
            fields = self.records[i][1]
            filled = sum(1 for cell in fields if cell.strip())
            remark = filled <= 1 and (len(fields) == 1 or self.width >= 3)
            block = len(fields) < self.width and not any(self.records[i + 1][1])
            if filled and not remark and not block:
                break
            at = i + 1
        if at == top or self.width < 2:
            return 0
        line, header = self.records[at]
        rest = [fields for _, fields in self.records[at:] if sum(1 for cell in fields if cell.strip()) > 1]
        plain = len(rest) >= 2 and sum(len(one) == self.width for one in rest) >= CONSISTENT * len(rest)
        named = len(header) == self.width and not any(NUMBER.fullmatch(cell.strip()) for cell in header if cell.strip())
        above = [fields for _, fields in self.records[:at]]
        apart = any(not any(fields) for fields in above[top:])
        marked = all(not any(fields) or fields[0].lstrip().startswith(COMMENT) for fields in above)
        return line if plain and named and (self.width >= 3 or apart or marked) else 0


def _decimal_commas(tables: dict[str, _Records]) -> bool:
    """Whether semicolons part cells with a comma before the decimals, so that commas seem to part them too."""
    by = tables[";"]
    if by.width < 2 or by.share < CONSISTENT:
        return False
    cells = [cell.strip() for _, fields in by.records[1:] for cell in fields if "," in cell]
    return bool(cells) and sum(NUMBER.fullmatch(cell) is not None for cell in cells) > len(cells) / 2


def _quote(lines: list[str], mark: str) -> str:
    """A single quote where it surrounds cells that hold the separator, and no double quote is there."""
    text = "".join(lines)
    held = re.search(rf"(^|{re.escape(mark)})'[^'\n]*{re.escape(mark)}[^'\n]*'({re.escape(mark)}|$)", text, re.MULTILINE)
    return "'" if held and '"' not in text else '"'
