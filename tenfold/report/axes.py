"""The page of `tenfold reduce`: the axes in words, how many and why, and the rows along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.report.blocks import Code, Figure, Figures, Items, Section, Table, Text, left_out
from tenfold.report.facts import counted
from tenfold.report.page import rendered
from tenfold.report.scale import ends
from tenfold.report.svg import Plot
from tenfold.table.reading import pl
from tenfold.table.show import shown
from tenfold.table.sketch import written

COLOURS = 5  # of the page
MOST_POINTS, MOST_ARROWS, MOST_BARS = 800, 8, 20
MOST_AXES, MOST_COLUMNS = 6, 60  # of the table of correlations
LEAST_ARROW = 0.3
LETTER = 6.2  # pixels
LONGEST = 22
Facts = dict[str, Any]


@dataclass(frozen=True)
class Colours:
    """Which colour each row has, and what the colours mean; a ramp: from low to high."""

    name: str
    group: Array  # (n) from 0
    keys: list[str]
    ramp: bool

    @classmethod
    def of(cls, series: pl.Series) -> Colours:
        """The most frequent levels of a category, or fifths of numbers and dates."""
        there = series.drop_nulls()
        if (not series.dtype.is_numeric() and not series.dtype.is_temporal()) or there.n_unique() <= COLOURS:
            texts = series.cast(pl.String).fill_null("(missing)")
            counts = texts.value_counts(sort=True).sort(["count", series.name], descending=[True, False])
            levels = counts[series.name].to_list()
            named = levels if len(levels) <= COLOURS else levels[: COLOURS - 1]
            place = {level: i for i, level in enumerate(named)}
            keys = [shown(level, 30) for level in named] + (["others"] if len(levels) > COLOURS else [])
            return cls(series.name, np.array([place.get(one, COLOURS - 1) for one in texts.to_list()]), keys, False)
        dated = series.dtype.is_temporal()
        days = series.cast(pl.Datetime("us")).dt.timestamp("us") / 86_400e6 if dated else series
        x = days.cast(pl.Float64).to_numpy()
        cuts = np.unique(np.nanquantile(x, np.linspace(0, 1, COLOURS + 1)))
        group = np.clip(np.searchsorted(cuts, x, side="right") - 1, 0, len(cuts) - 2)
        kind = dict(kind="date" if dated else "number")
        keys = [f"{written(kind, float(a))} to {written(kind, float(b))}" for a, b in pairwise(cuts)]
        return cls(series.name, np.where(np.isfinite(x), group, 0), keys, True)


@dataclass(frozen=True)
class Picture:
    """Some rows along the first axes, with their colours, and the correlations of columns with these axes."""

    points: Array  # (m, axes)
    loadings: Array  # (columns, axes)
    names: list[str]
    colours: Colours | None

    @classmethod
    def of(cls, scores: Array, loadings: Array, names: list[str], colour: pl.Series | None, seed: int) -> Picture:
        drawn = np.sort(np.random.default_rng(seed).permutation(len(scores))[:MOST_POINTS])
        colours = None if colour is None or not colour.drop_nulls().len() else Colours.of(colour)
        if colours is not None:
            colours = Colours(colours.name, colours.group[drawn], colours.keys, colours.ramp)
        return cls(np.asarray(scores[drawn], dtype=np.float64), loadings, names, colours)


def axes_page(record: Facts, picture: Picture, commands: Sequence[str]) -> str:
    """The whole page, from what run.json holds; commands: what to type next."""
    name, axes = shown(record["data"]["name"], 60), record["axes"]
    place, what = ("map", "map") if record["map"] else ("axes", "axes")
    sections = [
        Section(place, "What is near on it" if record["map"] else "What each axis is", _axes(record)),
        Section("rows", "Where the rows lie", [Figures(_maps(record, picture))]),
        Section("number", "Principal axes" if record["map"] else "How many axes", [Text(_why(record)), Figures(_scree(record))]),
        Section("columns", "How every column goes with the axes", [_table(axes), Text(CORRELATION, faint=True), *left_out(record)]),
        Section("next", "What to type next", [Code("\n".join(commands))]),
    ]
    together = f"with {100 * record['together']:.0f} % of the variance of {counted(len(record['columns']), 'column')}"
    if record["map"]:
        together = f"on which {100 * record['map']['kept']:.0f} % of the nearest rows stay nearest"
    return rendered(
        title=f"{what} · {name}", name=name, heading=f"The {what} of {name}", rows=counted(record["rows"], "row"),
        model=record["says"], version=record["version"],
        headline=(counted(len(axes), "axis", "axes"), together), sections=sections,
    )  # fmt: skip




def _why(record: Facts) -> str:
    beyond = record["beyond_chance"]
    if record["map"]:
        return f"What straight axes would explain: {counted(beyond, 'of them explains', 'of them explain')} more than chance."
    return f"{record['why'][:1].upper()}{record['why'][1:]}."


SHARES = (
    "The share is that of the variance of all columns, each counted alike, with its 95 % range. "
    "Found again: the cosine between the axes that halves of the rows give, 1 where they are the same."
)
CORRELATION = "Correlations with the scores; of a category that of the level that goes with the axis most."
CHANCE = "Chance: what the first axes explain, 19 times in 20 at most, where the same columns are shuffled against one another."
NEAR = (
    "On a map nearness is what counts; its axes, and distances between groups, mean nothing by themselves. "
    "Told is how much of each column the nearest rows on the map explain."
)


def _axes(record: Facts) -> list[Any]:
    notes = [Items([shown(one, 250) for one in record["warnings"]], warning=True)] if record["warnings"] else []
    if record["map"]:
        near, k = record["map"], record["map"]["neighbours"]
        kept = f"Of the {k} nearest rows of a row {100 * near['kept']:.0f} % are among the {k} nearest on the map."
        shares = [[shown(name, 60), f"{100 * max(share, 0):.0f} %"] for name, share in list(near["columns"].items())[:30]]
        return [*notes, Text(kept), Table(["column", "read off the map"], shares, right=(1,), narrow=True), Text(NEAR, faint=True)]
    rows = list[list[Any]]()
    for one in record["axes"]:
        span = "" if one["low"] is None else f"{100 * one['low']:.0f} to {100 * one['high']:.0f} %"
        again = "" if one["again"] is None else f"{one['again']:.2f}"
        rows.append([str(one["number"]), f"{100 * one['share']:.1f} %", span, again, shown(one["words"], 400)])
        ends = [f"{word} {', '.join(_row(end) for end in one[key])}" for word, key in (("low: rows", "lowest"), ("high: rows", "highest"))]
        rows.append(["", "", "", "", shown("; ".join(ends), 300)])
    return [*notes, Table(["axis", "share", "range", "found again", "columns, with their correlations, and rows at its ends"], rows,
                          right=(1, 2, 3), tight=(0,)), Text(SHARES, faint=True)]  # fmt: skip


def _row(end: Facts) -> str:
    return f"{end['number']:,}" + ("" if end["label"] is None else f" ({shown(end['label'], 24)})")


def _maps(record: Facts, picture: Picture) -> list[Figure]:
    """The first two axes, and the third against the first."""
    k = picture.points.shape[1]
    if k == 1:
        return [_histogram(record, picture)]
    pairs = [(0, 1)] if k == 2 or record["map"] else [(0, 1), (0, 2)]
    return [_map(record, picture, *pair) for pair in pairs]


def _title(record: Facts, j: int) -> str:
    if record["map"]:
        return f"axis {j + 1}"
    if j < len(record["axes"]):
        return f"axis {j + 1}, {100 * record['axes'][j]['share']:.0f}% of the variance"
    return f"axis {j + 1}, not taken, {100 * record['shares'][j]:.0f}% of the variance"


def _map(record: Facts, picture: Picture, i: int, j: int) -> Figure:
    """Rows as dots, in the colours of a column; columns as lines from the middle."""
    x, y = picture.points[:, i], picture.points[:, j]
    plot = Plot(f"rows on axes {i + 1} and {j + 1}", ends(x), ends(y), x_title=_title(record, i), y_title=_title(record, j), square=True)
    colours = picture.colours
    for group in range(1 if colours is None else len(colours.keys)):
        mine = np.ones(len(x), dtype=bool) if colours is None else colours.group == group
        look = "c0" if colours is None else f"{'q' if colours.ramp else 'c'}{group}"
        plot.dots(x[mine], y[mine], f"many {look}" if colours is None or not colours.ramp else look, 2.4)
    if not record["map"]:
        _arrows(plot, picture, i, j)
    caption = "" if record["map"] else "Lines: the columns that go with these axes most, as far as they do."
    coloured = "" if colours is None else f", coloured by {shown(colours.name, 40)}"
    keys, ramp = ([], False) if colours is None else (colours.keys, colours.ramp)
    return Figure(f"Axes {i + 1} and {j + 1}{coloured}", plot.svg(), caption, keys, ramp)


def _arrows(plot: Plot, picture: Picture, i: int, j: int) -> None:
    from tenfold.draw.labels import apart

    r = picture.loadings[:, [i, j]]
    size = np.hypot(*r.T)
    first = [a for a in np.argsort(-size, kind="stable")[:MOST_ARROWS] if size[a] >= LEAST_ARROW]
    if not first:
        return
    points = picture.points[:, [i, j]]
    middle = points.mean(axis=0)
    room = np.minimum(points.max(axis=0) - middle, middle - points.min(axis=0))
    ends = middle + r[first] * room / max(float(size.max()), 0.1)
    names = [shown(picture.names[a], LONGEST) for a in first]
    wide = LETTER * np.array([len(name) for name in names])
    left, right = plot.x.start, plot.x.end
    at = np.clip(plot.x(ends[:, 0]), left + wide / 2, right - wide / 2)
    up = np.where(r[first, 1] >= 0, -8.0, 12.0)
    heights = apart(at, plot.y(ends[:, 1]) + up, wide, 13.0, plot.y.end, plot.y.start)
    for x, y in ends:
        plot.line([middle[0], x], [middle[1], y], "arrow")
    for name, a, b in zip(names, at, heights, strict=True):
        plot.text_at(float(a), float(b), name, "mid halo")


def _histogram(record: Facts, picture: Picture) -> Figure:
    """Of a single axis: how many rows lie where."""
    counts, edges = np.histogram(picture.points[:, 0], bins=30)
    ends = float(edges[0]), float(edges[-1])
    plot = Plot("rows along axis 1", ends, (0.0, float(counts.max())), x_title=_title(record, 0), y_title="rows")
    plot.columns(edges, counts)
    return Figure("Rows along the axis", plot.svg())


def _scree(record: Facts) -> list[Figure]:
    """What each principal axis explains beside chance, and all up to it."""
    shares = np.array(record["shares"][:MOST_BARS], dtype=np.float64)
    chance = np.array(record["chance"][:MOST_BARS], dtype=np.float64)
    number = np.arange(1, len(shares) + 1)
    ticks = [(float(one), str(one)) for one in number if one == 1 or one % max(1, len(number) // 5) == 0]
    taken, ends = len(record["axes"]) + 0.5, (0.5, len(shares) + 0.5)
    top = 100 * max(float(shares.max()), float(chance.max()), float(np.max(record["high"] or [0.0])))
    first = Plot("share of the variance by axis", ends, (0.0, top), x_title="principal axis", y_title="% of the variance", x_ticks=ticks)
    for at, share in zip(number, shares, strict=True):
        first.box(at - 0.35, at + 0.35, 0.0, 100 * float(share))
    if record["low"] is not None:
        for at, low, high in zip(number, record["low"], record["high"], strict=False):
            first.whisker(float(at), 100 * low, 100 * high, "quiet")
    first.line(number, 100 * chance, "c1 dash")
    whole = Plot("share up to each axis", ends, (0.0, 100.0), x_title="principal axes", y_title="% together", x_ticks=ticks)
    whole.line(number, 100 * np.cumsum(shares), "thin")
    whole.dots(number, 100 * np.cumsum(shares), "", 3.0)
    for plot in (first, whole):
        if not record["map"]:
            plot.upright(taken, "taken up to here" if taken < len(shares) + 0.5 else "")
    each = Figure("What each axis explains", first.svg(), CHANCE, ["this table", "chance"])
    return [each, Figure("What the first axes explain together", whole.svg())]


def _table(axes: list[Facts]) -> Table:
    """Columns against axes, the strongest first."""
    some = axes[:MOST_AXES]
    r = {tie["column"]: [0.0] * len(some) for tie in some[0]["ties"]}
    for a, axis in enumerate(some):
        for tie in axis["ties"]:
            r[tie["column"]][a] = tie["r"]
    order = sorted(r, key=lambda name: -max(abs(one) for one in r[name]))
    rows = [[shown(name, 60), *(_cell(one) for one in r[name])] for name in order[:MOST_COLUMNS]]
    more = f"{len(order) - MOST_COLUMNS} more are in run.json" if len(order) > MOST_COLUMNS else ""
    return Table(["column", *(f"axis {axis['number']}" for axis in some)], rows, right=tuple(range(1, len(some) + 1)), caption=more)


def _cell(r: float) -> Facts:
    return dict(text=f"{r:+.2f}".replace("-", "−"), small="", heat=min(9, round(9 * abs(r))))
