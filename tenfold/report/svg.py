"""Marks and axes as inline SVG. Colours and type come from the classes of the page's style sheet; every text is escaped."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from tenfold.core.data import Array
from tenfold.table.show import shown

WIDTH, HEIGHT = 400, 250  # of a picture, in pixels on a wide page
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 40
TITLE, LETTER = 24, 6.4  # pixels left of the numbers of an axis, and of a letter
BROAD = "<>=+%&@mw"
TICK = 14 * LETTER  # of a mark at most
TICKS = 5
MOST_MARKS = 2000
LONGEST_LABEL = 40


def ends(values: Array) -> tuple[float, float]:
    """The range of an axis that shows all of the values."""
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 1, high + 1)


def ticks(low: float, high: float, wanted: int = TICKS) -> list[float]:
    """Round numbers within a range: multiples of 1, 2 or 5 times a power of ten."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    raw = span / wanted
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 1e-300 else raw
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    found: list[float] = []
    while len(found) < 4 * wanted and (first + len(found)) * step <= high + 1e-9 * span:
        found.append((first + len(found)) * step)
    return [0.0 if abs(one) < 1e-9 * step else one for one in found]


def decades(low: float, high: float) -> list[float]:
    """Powers of ten within a range of logarithms; all of 1, 2, 5 where there are few, and round numbers where there are few of these."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 1:
        return [float(k) for k in range(first, last + 1, max(1, (last - first) // TICKS + 1))]
    found = [k + math.log10(m) for k in range(math.floor(low), math.ceil(high) + 1) for m in (1, 2, 5) if low <= k + math.log10(m) <= high]
    return found if len(found) > 2 else [math.log10(one) for one in ticks(10.0**low, 10.0**high) if one > 0]


def tick_text(value: float) -> str:
    """A number of an axis, short."""
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    for limit, end in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= limit:
            unit = 1e3 if end == "k" else limit
            return f"{value / unit:.4g}{end}"
    return f"{value:.6g}".replace("-", "−")


def places(count: int) -> tuple[float, float]:
    """The range of an axis of 1, ..., `count` that leaves room behind them for the label of a level."""
    return 0.5, 0.5 + 1.15 * count


def wide(text: str) -> float:
    """About how many pixels a text of a picture takes; Chinese, Japanese and Korean letters are twice as wide."""
    return sum(LETTER * (2 if unicodedata.east_asian_width(c) in "WF" else 1.4 if c.isupper() or c in BROAD else 1) for c in text)


def cut(text: Any, room: float) -> str:
    """A text that fits into so many pixels."""
    whole = shown(text, 200)
    if wide(whole) <= room:
        return whole
    ends = [k for k in range(len(whole)) if wide(whole[:k]) <= room - LETTER]
    return whole[: max(ends[-1:] or [0])] + "…"


class Axis:
    """A range of values on a range of pixels, linear or logarithmic."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool = False, pad: float = 0.0) -> None:
        self.log = log
        if log:
            low, high = math.log10(max(low, 1e-300)), math.log10(max(high, 1e-300))
        if not (math.isfinite(low) and math.isfinite(high)):
            low, high = 0.0, 1.0
        if high <= low:
            reach = 0.5 if log else 0.5 * abs(low) or 0.5
            low, high = low - reach, high + reach
        self.ends = low, high
        self.low, self.high, self.start, self.end = low - pad * (high - low), high + pad * (high - low), start, end

    def __call__(self, values: Any) -> Array:
        x = np.asarray(values, dtype=np.float64)
        if self.log:
            x = np.log10(np.maximum(x, 1e-300))
        return self.start + (x - self.low) / (self.high - self.low) * (self.end - self.start)

    def at(self, value: float) -> float:
        return float(self(value))

    def ticks(self) -> list[tuple[float, str]]:
        if self.log:
            return [(10.0**one, tick_text(10.0**one)) for one in decades(self.low, self.high)]
        found = ticks(self.low, self.high)
        texts = [tick_text(one) for one in found]
        return list(zip(found, texts if len(set(texts)) == len(texts) else [f"{one:,.12g}" for one in found], strict=True))


def tag(_name: str, _inside: Any = None, **attributes: Any) -> Markup:
    """An element; `cls` is its class, `_` in names is `-`, numbers have one decimal."""
    parts = [
        f' {"class" if key == "cls" else key.replace("_", "-")}="{f"{value:.1f}" if isinstance(value, float) else escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    head = f"<{_name}{''.join(parts)}"
    return Markup(f"{head}/>" if _inside is None else f"{head}>{escape(_inside)}</{_name}>")


class Plot:
    """A picture with axes; marks are added in the order in which they lie upon one another."""

    def __init__(
        self,
        label: str,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        x_title: str = "",
        y_title: str = "",
        log_x: bool = False,
        log_y: bool = False,
        square: bool = False,
        pad: float = 0.02,
        x_ticks: Sequence[tuple[float, str]] | None = None,
        y_ticks: Sequence[tuple[float, str]] | None = None,
        height: int = HEIGHT,
        left: int = LEFT,
    ) -> None:
        self.label, self.height = label, 340 if square else height
        self.y = Axis(*y, self.height - BOTTOM, TOP, log_y, pad)
        y_ticks = self.y.ticks() if y_ticks is None else y_ticks
        self.left = max(left, *(TITLE + round(min(wide(text), TICK)) for _, text in y_ticks)) if y_ticks else left
        self.x = Axis(*x, self.left, WIDTH - RIGHT, log_x, pad)
        self.marks: list[Markup] = []
        self.count = 0
        self._axes(x_title, y_title, self.x.ticks() if x_ticks is None else x_ticks, y_ticks)

    def _axes(self, x_title: str, y_title: str, x_ticks: Sequence[tuple[float, str]], y_ticks: Sequence[tuple[float, str]]) -> None:
        bottom, right = self.height - BOTTOM, WIDTH - RIGHT
        for value, name in y_ticks:
            at = self.y.at(value)
            self.marks.append(tag("line", cls="grid", x1=self.left, x2=right, y1=at, y2=at))
            self.marks.append(tag("text", cut(name, TICK), cls="tick end", x=self.left - 6, y=at + 3.5))
        free = -math.inf
        for value, name in sorted(x_ticks):
            text = cut(name, TICK)
            at, half = self.x.at(value), wide(text) / 2
            if at - half >= free:  # one that would lie on another is not written
                free = at + half + LETTER / 2
                self.marks.append(tag("text", text, cls="tick mid", x=at, y=bottom + 15.0))
        self.marks.append(tag("line", cls="axis", x1=self.left, x2=right, y1=bottom, y2=bottom))
        if x_title:
            middle = (self.left + right) / 2
            self.marks.append(tag("text", cut(x_title, 2 * (WIDTH - middle)), cls="title mid", x=middle, y=self.height - 6.0))
        if y_title:
            turned = f"rotate(-90 11 {(TOP + bottom) / 2:.0f})"
            self.marks.append(tag("text", cut(y_title, TOP + bottom), cls="title mid", x=11, y=(TOP + bottom) / 2, transform=turned))

    def _path(self, xs: Any, ys: Any) -> str:
        points = np.column_stack([np.atleast_1d(self.x(xs)), np.atleast_1d(self.y(ys))])
        points = thinned(points[np.isfinite(points).all(axis=1)])
        self.count += 1
        return " ".join(f"{'M' if i == 0 else 'L'}{a:.1f},{b:.1f}" for i, (a, b) in enumerate(points))

    def line(self, xs: Any, ys: Any, cls: str = "") -> None:
        self.marks.append(tag("path", cls=f"line {cls}".strip(), d=self._path(xs, ys)))

    def steps(self, xs: Any, ys: Any, cls: str = "") -> None:
        """A line that keeps its height up to the next point."""
        xs, ys = np.repeat(np.asarray(xs, dtype=np.float64), 2)[1:], np.repeat(np.asarray(ys, dtype=np.float64), 2)[:-1]
        self.line(xs, ys, cls)

    def band(self, xs: Any, low: Any, high: Any, cls: str = "") -> None:
        xs = np.asarray(xs, dtype=np.float64)
        d = self._path(np.concatenate([xs, xs[::-1]]), np.concatenate([np.asarray(low), np.asarray(high)[::-1]]))
        self.marks.append(tag("path", cls=f"band {cls}".strip(), d=f"{d} Z"))

    def dots(self, xs: Any, ys: Any, cls: str = "", radius: float = 3.0) -> None:
        for a, b in zip(np.atleast_1d(self.x(xs)), np.atleast_1d(self.y(ys)), strict=True):
            if math.isfinite(a) and math.isfinite(b):
                self._mark(tag("circle", cls=f"dot {cls}".strip(), cx=float(a), cy=float(b), r=radius))

    def box(self, x0: float, x1: float, y0: float, y1: float, cls: str = "", opacity: float | None = None) -> None:
        if not all(map(math.isfinite, (x0, x1, y0, y1))):
            return
        a, b = sorted((self.x.at(x0), self.x.at(x1)))
        c, d = sorted((self.y.at(y0), self.y.at(y1)))
        shade = None if opacity is None else f"{opacity:.2f}"
        self._mark(tag("rect", cls=f"bar {cls}".strip(), x=a, y=c, width=max(b - a, 0.5), height=max(d - c, 0.0), fill_opacity=shade))

    def columns(self, edges: Any, heights: Any, cls: str = "") -> None:
        """A histogram: a column between each two edges."""
        edges = np.asarray(edges, dtype=np.float64)
        for a, b, h in zip(edges[:-1], edges[1:], heights, strict=True):
            if h > 0:
                gap = 0.04 * (b - a)
                self.box(a + gap, b - gap, 0.0, h, cls)

    def whisker(self, x: float, low: float, high: float, cls: str = "") -> None:
        if not all(map(math.isfinite, (x, low, high))):
            return
        at = self.x.at(x)
        self._mark(tag("line", cls=f"whisker {cls}".strip(), x1=at, x2=at, y1=self.y.at(low), y2=self.y.at(high)))

    def upright(self, x: float, label: str = "", cls: str = "") -> None:
        """A rule from top to bottom, with a label beside it."""
        if not math.isfinite(x):
            return
        at = self.x.at(x)
        self._mark(tag("line", cls=f"rule {cls}".strip(), x1=at, x2=at, y1=TOP, y2=self.height - BOTTOM))
        if label:
            late = at > (self.left + WIDTH) / 2
            self.marks.append(
                tag(
                    "text",
                    shown(label, LONGEST_LABEL),
                    cls=f"note {'end' if late else ''}".strip(),
                    x=at + (-5 if late else 5),
                    y=TOP + 9.0,
                ),
            )

    def level(self, y: float, label: str = "", cls: str = "", first: bool = False) -> None:
        """A rule from left to right, with a label at its end; first: at its beginning, on the side where there is more room."""
        if not math.isfinite(y):
            return
        at = self.y.at(y)
        self._mark(tag("line", cls=f"rule {cls}".strip(), x1=self.left, x2=WIDTH - RIGHT, y1=at, y2=at))
        if label:
            below = first and at < (TOP + self.height - BOTTOM) / 2
            place = dict(cls="note", x=self.left + 4) if first else dict(cls="note end", x=WIDTH - RIGHT)
            self.marks.append(tag("text", shown(label, LONGEST_LABEL), y=at + (12.0 if below else -4.0), **place))

    def diagonal(self) -> None:
        low, high = max(self.x.ends[0], self.y.ends[0]), min(self.x.ends[1], self.y.ends[1])
        ends = [10.0**low, 10.0**high] if self.x.log else [low, high]
        self.marks.append(tag("path", cls="rule", d=self._path(ends, ends)))

    def rug(self, xs: Any) -> None:
        """A small stroke at the foot for each value."""
        bottom = self.height - BOTTOM
        for a in np.atleast_1d(self.x(xs)):
            self._mark(tag("line", cls="rug", x1=float(a), x2=float(a), y1=bottom - 6, y2=bottom))

    def note(self, x: float, y: float, text: str, cls: str = "") -> None:
        self.marks.append(
            tag("text", shown(text, LONGEST_LABEL), cls=f"note {cls}".strip(), x=self.x.at(x), y=self.y.at(y) - (8 if "up" in cls else 0)),
        )

    def text_at(self, x: float, y: float, text: str, cls: str = "") -> None:
        """A note at a place in pixels."""
        self.marks.append(tag("text", shown(text, LONGEST_LABEL), cls=f"note {cls}".strip(), x=x, y=y))

    def _mark(self, mark: Markup) -> None:
        if self.count < MOST_MARKS:
            self.count += 1
            self.marks.append(mark)

    def svg(self, **attributes: Any) -> Markup:
        name = shown(self.label, 200)
        return tag(
            "svg",
            tag("title", name) + Markup("").join(self.marks),
            cls="plot",
            viewBox=f"0 0 {WIDTH} {self.height}",
            role="img",
            aria_label=name,
            **attributes,
        )


def thinned(points: Array, most: int = 600) -> Array:
    """At most so many points of a line: those that hold its extremes within each stretch are kept."""
    if len(points) <= most:
        return points
    parts = np.array_split(np.arange(len(points)), most // 4)
    kept = np.unique([i for part in parts for i in (part[0], part[np.argmin(points[part, 1])], part[np.argmax(points[part, 1])], part[-1])])
    return np.asarray(points[kept])


def strip(
    axis: Axis,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    zero: float | None = None,
    rule: float | None = None,
    cls: str = "",
    label: str = "",
) -> Markup:
    """A cell of a table: a dot with its range, or a bar from `zero`; `rule` marks a value to compare with."""
    width, middle = round(axis.end + 6), 9.0
    marks = []
    if zero is not None and value is not None:
        a, b = sorted((axis.at(zero), axis.at(value)))
        marks.append(tag("rect", cls=f"bar {cls}".strip(), x=a, y=5, width=max(b - a, 1.0), height=8))
    if rule is not None:
        marks.append(tag("line", cls="rule", x1=axis.at(rule), x2=axis.at(rule), y1=0, y2=18))
    if low is not None and high is not None:
        ends = np.clip([axis.at(low), axis.at(high)], 1, width - 1).tolist()
        marks.append(tag("line", cls=f"whisker {cls}".strip(), x1=ends[0], x2=ends[1], y1=middle, y2=middle))
    if zero is None and value is not None:
        marks.append(tag("circle", cls=f"dot {cls}".strip(), cx=axis.at(value), cy=middle, r=3.5))
    return tag(
        "svg",
        Markup("").join(marks),
        cls="strip",
        viewBox=f"0 0 {width} 18",
        width=width,
        height=18,
        role="img",
        aria_label=shown(label or "range", 120),
    )
