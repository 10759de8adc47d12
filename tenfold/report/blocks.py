"""What sections are made of: paragraphs, tables, figures, lists. The template knows how each of them is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from markupsafe import Markup

from tenfold.report.scale import Axis
from tenfold.report.svg import strip
from tenfold.score.words import figure
from tenfold.table.show import shown

STRIP = 190  # pixels of the small pictures in tables


@dataclass(frozen=True)
class Text:
    """A paragraph; `picture`: it says how a picture is to be read, and nothing without it."""

    kind: ClassVar[str] = "text"
    text: str
    faint: bool = False
    picture: bool = False


@dataclass(frozen=True)
class Figure:
    """A picture with a title above and words below; `keys` name the colours of its lines, or those of a ramp from low to high."""

    title: str
    svg: Markup
    caption: str = ""
    keys: Sequence[str] = ()
    ramp: bool = False


@dataclass(frozen=True)
class Figures:
    """Pictures side by side, as many as the page is wide."""

    kind: ClassVar[str] = "figures"
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Table:
    """Rows of cells: texts, pictures, or dicts with `text`, `small` and `heat`. `right`: columns of numbers."""

    kind: ClassVar[str] = "table"
    heads: Sequence[str]
    rows: Sequence[Sequence[Any]]
    right: Sequence[int] = ()
    caption: str = ""
    tight: Sequence[int] = ()  # columns that are not broken
    summary: str = ""  # where given, the table is folded behind it
    narrow: bool = False


@dataclass(frozen=True)
class Items:
    """A list; warnings are marked."""

    kind: ClassVar[str] = "items"
    items: Sequence[str]
    warning: bool = False


@dataclass(frozen=True)
class Pairs:
    """Names and values."""

    kind: ClassVar[str] = "pairs"
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Lines to copy."""

    kind: ClassVar[str] = "code"
    text: str
    summary: str = ""


@dataclass(frozen=True)
class Names:
    """All names of columns, with a box to search them."""

    kind: ClassVar[str] = "names"
    summary: str
    names: Sequence[tuple[str, str]]
    rest: int = 0  # names that are not listed


@dataclass(frozen=True)
class Costs:
    """The picture of costs, which a slider draws anew: counts of misses and false alarms at each threshold."""

    kind: ClassVar[str] = "costs"
    title: str
    svg: Markup
    at: Sequence[float]
    misses: Sequence[int]
    alarms: Sequence[int]
    rows: int
    best: float
    name: str


@dataclass(frozen=True)
class Download:
    """A file inside the page."""

    kind: ClassVar[str] = "download"
    text: str
    name: str
    content: str  # base64


@dataclass(frozen=True)
class Section:
    """One section of the page."""

    id: str
    title: str
    blocks: Sequence[Any] = field(default_factory=list)


def ranges_table(
    rows: Sequence[tuple[str, float | None, float | None, float | None, str]],
    metric: str,
    first: str = "",
    said: str = "",
    rule: float | None = None,
) -> Table:
    """A line for each of several scores on one axis: name, value, low, high, remark."""
    known = [one for _, value, low, high, _ in rows for one in (value, low, high) if one is not None]
    axis = Axis(min(known, default=0.0), max(known, default=1.0), 6, STRIP - 6, pad=0.03)
    cells = []
    for name, value, low, high, remark in rows:
        about = f"{figure(value, metric)}" + (
            f", {figure(low, metric)} to {figure(high, metric)}" if low is not None and high is not None else ""
        )
        span = f"{figure(low, metric)} to {figure(high, metric)}" if low is not None and high is not None else ""
        line = [name, figure(value, metric), strip(axis, value, low, high, rule=rule, label=about), span]
        cells.append([*line, remark] if said or any(one[4] for one in rows) else line)
    heads = [first, "value", "", "95% range", said]
    return Table(heads[: len(cells[0])] if cells else heads, cells, right=(1,), tight=(0, 3))


def columns_used(record: dict[str, Any]) -> list[Any]:
    """The columns that a result is made of, and those that are left out."""
    return [Text(", ".join(shown(name, 60) for name in record["columns"])), *left_out(record)]


def left_out(record: dict[str, Any]) -> list[Any]:
    """The columns that are left out, and why."""
    left = [shown(f"{name}: {why}", 200) for name, why in record["left_out"].items()]
    return [Text("Left out:", faint=True), Items(left[:50])] if left else []
