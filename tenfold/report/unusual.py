"""The page of `tenfold unusual`: which rows, why, where they lie, and how many would be flagged by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.report.blocks import Code, Figure, Figures, Section, Table, Text, columns_used
from tenfold.report.facts import counted
from tenfold.report.page import rendered
from tenfold.report.scale import ends
from tenfold.report.svg import Plot
from tenfold.table.show import shown

MOST_POINTS, MOST_FLAGGED = 600, 300
MOST_NOTED = 8
CURVE, TINY = 60, 1e-9
MARGIN = 0.4  # around the usual rows, in their widths
Facts = dict[str, Any]


@dataclass(frozen=True)
class Picture:
    """Some rows on the first two principal axes of the usual ones, and the p-values of all."""

    points: Array  # (m, 2)
    flagged: Array  # (m) truth values
    noted: list[tuple[float, float, str]]  # places and numbers of the most unusual rows
    share: tuple[float, float]  # of the variance along each axis
    p_values: Array

    @classmethod
    def of(cls, Z: Array, p_values: Array, flagged: Array, worst: Sequence[tuple[int, int]], seed: int) -> Picture:
        """worst: the places of the most unusual rows in Z, and their numbers in the table."""
        usual = Z[~flagged] if (~flagged).sum() > 1 else Z
        centred = Z - usual.mean(axis=0)
        values, axes = np.linalg.eigh(np.cov(usual.T).reshape(Z.shape[1], -1))
        first = np.concatenate([axes[:, ::-1], np.zeros((len(axes), 1))], axis=1)[:, :2]
        share = np.append(values[::-1], 0.0)[:2] / max(float(values.sum()), np.finfo(np.float64).tiny)
        order = np.random.default_rng(seed).permutation(len(Z))
        drawn = np.concatenate([order[~flagged[order]][:MOST_POINTS], order[flagged[order]][:MOST_FLAGGED]])
        places = centred @ first
        low, high = places[~flagged].min(axis=0, initial=0.0), places[~flagged].max(axis=0, initial=0.0)
        margin = MARGIN * (high - low)
        places = np.clip(places, low - margin, high + margin)  # one that is far away would leave no room for the others
        noted = [(float(places[i, 0]), float(places[i, 1]), str(n)) for i, n in worst[:MOST_NOTED]]
        return cls(places[drawn], flagged[drawn], noted, (float(share[0]), float(share[1])), np.sort(p_values))


def unusual_page(record: Facts, picture: Picture, commands: Sequence[str]) -> str:
    """The whole page, from what run.json holds; commands: what to type next."""
    name = shown(record["data"]["name"], 60)
    expected = f"about {record['expected']:.0f}" if record["expected"] >= 1 else f"{record['expected']:.1g}"
    chance = f"at a rate of {record['rate']:g}, where {expected} would be flagged by chance"
    sections = [
        Section("rows", "The most unusual rows", [_rows(record["most_unusual"]), Text(GIVEN, faint=True)]),
        Section("map", "Where they lie", [Figures([_map(picture), _curve(picture, record["rate"])])]),
        Section("score", "What they were judged by", [_tried(record), Text(EXCHANGED, faint=True)]),
        Section("columns", "Columns", columns_used(record)),
        Section("next", "What to type next", [Code("\n".join(commands))]),
    ]
    return rendered(
        title=f"unusual rows · {name}", name=name, heading=f"The unusual rows of {name}", rows=counted(record["rows"], "row"),
        model=record["score"], version=record["version"],
        headline=(counted(record["unusual"], "unusual row"), chance), sections=sections,
    )  # fmt: skip


GIVEN = (
    "The p-value is the share of usual rows that are as unusual as this one. A column is named where another value of it, the other cells "
    "as they are, would make the row more usual; the range is what the other cells lead to expect, four times in five."
)
EXCHANGED = (
    "How often a held-out row looks more usual than one of which a cell was exchanged with that of another row; 50 % is guessing. "
    "Where columns have nothing to do with one another, no density tells."
)


def _rows(rows: list[Facts]) -> Table:
    lines = list[list[Any]]()
    for one in rows:
        words = [shown(reason["words"], 250) for reason in one["reasons"]] or [""]
        label = f"{one['number']:,}" + ("" if one["label"] is None else f"  {shown(one['label'], 40)}")
        lines.append([label, f"{one['p_value']:.2g}" if one["p_value"] >= TINY else f"under {TINY:g}", words[0]])
        lines += [["", "", word] for word in words[1:]]
    return Table(["row", "p-value", "because of"], lines, right=(1,), tight=(0,))


def _map(picture: Picture) -> Figure:
    """Usual rows pale, unusual ones above them; the worst with their numbers."""
    x, y = picture.points.T
    words = zip(("first", "second"), picture.share, strict=True)
    titles = [f"{word} principal axis, {100 * part:.0f}% of the variance" for word, part in words]
    plot = Plot("rows on the first two principal axes", ends(x), ends(y), x_title=titles[0], y_title=titles[1], square=True)
    plot.dots(x[~picture.flagged], y[~picture.flagged], "many c0", 2.0)
    plot.dots(x[picture.flagged], y[picture.flagged], "many c1", 3.2)
    for a, b, number in picture.noted:
        plot.note(a, b, number, "up mid halo")
    caption = (
        "The numbers are those of the most unusual rows. Rows that lie far away are drawn at the edge. A row may be "
        "unusual in a way that two axes do not show."
    )
    return Figure("Rows on the first two principal axes of the usual ones", plot.svg(), caption, ["usual", "unusual"])


def _curve(picture: Picture, rate: float) -> Figure:
    """How many rows have a p-value of at most so much, beside what chance would give."""
    n = len(picture.p_values)
    grid = np.geomspace(max(float(picture.p_values[0]), 1e-8, 0.1 / n) / 2, 1.0, CURVE)
    count = np.searchsorted(picture.p_values, grid, "right").astype(np.float64)
    ends = float(grid[0]), 1.0
    plot = Plot(
        "rows by p-value", ends, (0.5, float(max(n, 1))), log_x=True, log_y=True, x_title="p-value at most", y_title="rows", square=True
    )
    plot.line(grid, np.maximum(n * grid, 0.5), "c0 thin")
    plot.line(grid[count > 0], count[count > 0], "c1")
    plot.upright(rate, "rate")
    return Figure("Rows up to each p-value", plot.svg(), "Above the line of chance there are more unusual rows than usual tables have.",
                  ["by chance", "here"])  # fmt: skip


def _tried(record: Facts) -> Table:
    rows = [[name, f"{100 * area:.1f} %"] for name, area in record["tried"].items()]
    return Table(["score", "tells exchanged cells"], rows, right=(1,), narrow=True)
