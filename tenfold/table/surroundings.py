"""What stands around the rows of a table in a text file: a header or none, the header again, remarks and sums below."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

import polars as pl

from tenfold.table.layout import NUMBER
from tenfold.table.lines import Layout, Tell

HEAD = 1000  # rows that are looked at to distinguish a header from data
REPEATED = re.compile(r"_duplicated_\d+$")  # what polars adds to a name that is there already
TOTALS = ("total", "totals", "grand total", "sum", "summe", "gesamt", "somme", "totale", "suma")
REMARK = re.compile(r"(source|sources|note|notes|quelle|generated|exported|copyright|©|\*|#|\(?\d+ rows?\b)", re.IGNORECASE)
MOST_FOOTER = 20  # lines


def warn_of_header(name: str, frame: pl.DataFrame, header: bool | None, tell: Tell) -> None:
    """That the first line was taken for a row (False), or for names although it may be one (None)."""
    if header is True:
        return
    shown = ", ".join(frame.columns[:3]) + (", ..." if frame.width > 3 else "")
    if header is False:
        done = f"looks like data, not like names: it is kept as a row, and the columns are called column_1 to column_{frame.width}"
        remedy = "if these are names, put letters into them"
    else:
        done, remedy = "is taken for the names of the columns", "if it is data, put a line of names above it"
    tell(f"{name!r}: the first line ({shown}) {done}; {remedy}")


def repeated_header(frame: pl.DataFrame) -> pl.Series:
    """The rows that are the header once more."""
    names = {now: REPEATED.sub("", now) for now in frame.columns}
    same = [(now, was) for now, was in names.items() if was.strip()]
    none = pl.Series([False]).new_from_index(0, frame.height)
    if len(same) < 2:
        return none
    rows = (frame[same[0][0]] == same[0][1]).fill_null(False)
    if not rows.any():
        return none
    again = frame.filter(rows).select(pl.all_horizontal((pl.col(now) == was).fill_null(False) for now, was in same)).to_series()
    return none.scatter(rows.arg_true().filter(again), True)


def rows_below(frame: pl.DataFrame, empty: pl.Series) -> int:
    """The number of rows at the end that are none: remarks in the first cell alone, and lines of sums. Where the first column holds
    times or sentences, one more of them is a row of which nothing else is known, such as one to be predicted."""
    found = gap = 0
    usual = _signs(str(frame[0, 0] or ""))
    for back in range(1, min(frame.height - 1, MOST_FOOTER) + 1):
        row = frame.height - back
        if empty[row]:
            gap = back
            continue
        cells = frame.row(row)
        first = str(cells[0] or "").strip()
        alone = bool(first) and not any(cells[1:]) and not NUMBER.fullmatch(first)
        apart = row > 0 and bool(empty[row - 1])
        unusual = any(here and not there for here, there in zip(_signs(first), usual, strict=True))
        remark = alone and (frame.width >= 3 or apart) and (bool(REMARK.match(first)) or apart or unusual)
        total = row > 2 and first.lower().rstrip(":") in TOTALS and not (frame[:row, 0].str.to_lowercase() == first.lower()).any()
        if not remark and not total:
            break
        found = back
    return max(found, gap)


def _signs(cell: str) -> tuple[bool, bool]:
    """What a remark may be known by: several words, and a colon."""
    return len(cell.split()) >= 3, ":" in cell


def looks_like_header(frame: pl.DataFrame, known: Collection[str] = ()) -> bool | None:
    """Whether the names that were read are names, and not the first row of data; None where it cannot be known.

    A first row has a number above every column of numbers, and above a column of texts one of its texts. Numbers that go up
    in equal steps are names (years, or the numbers of the columns), and so is whatever is known for names.
    """
    if frame.height == 0 or frame.width < 2 or (known and set(known) <= set(frame.columns)):
        return True
    names = {name: REPEATED.sub("", name).strip() for name in frame.columns}
    texts: list[str] = []
    numbers: list[str] = []
    cells = frame.head(HEAD).select(pl.all().str.strip_chars())
    numeric = cells.select(pl.all().str.contains(f"^{NUMBER.pattern}$").sum()).row(0)
    present = cells.select((pl.all() != "").sum()).row(0)
    for name, some, of in zip(frame.columns, numeric, present, strict=True):
        (numbers if 2 * some > of else texts).append(name)
    above = [names[name] for name in numbers]
    if not any(above) or not all(NUMBER.fullmatch(name) or not name for name in above):
        return True
    steps = {
        round(float(b.replace(",", ".")) - float(a.replace(",", ".")), 9) for a, b in pairwise(filter(None, above))
    }
    if len(steps) == 1 and max(steps) > 0 and len(above) > 2:
        return True
    if not texts or any(names[name] and (frame[name].str.strip_chars() == names[name]).any() for name in texts):
        return False
    return None


def warn_of_lines_above(name: str, layout: Layout, tell: Tell) -> None:
    tell(f"{name!r}: {lines(layout.skip)} above the header left out")


def lines(count: int) -> str:
    return f"{count:,} line{'s' if count != 1 else ''}"
