"""The pictures of held-out predictions and of the race, from facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from tenfold.core.data import Array
from tenfold.evaluate.validate.intervals import wilson
from tenfold.report import numbers
from tenfold.report.classes import Curve, Reliability, Thresholds
from tenfold.report.facts import floats, number
from tenfold.report.scale import cut, places, tick_text, wide
from tenfold.report.svg import Plot
from tenfold.report.trust import PROMISED
from tenfold.score.words import figure
from tenfold.selection.explain.along import along
from tenfold.selection.honest.unseen import Unseen
from tenfold.table.show import shown
from tenfold.table.sketch import written

CLASSES = 5  # colours of lines
ROOM, LEVEL_ROOM = 280, 300  # pixels for the marks of groups, and of levels, below an axis
FEW_LEVELS = 6  # whose names are cut rather than left out
SHARES = [(share, f"{100 * share:.0f}%") for share in (0, 0.25, 0.5, 0.75, 1)]


def curves_chart(curves: list[Curve], label: str, x_title: str, y_title: str, diagonal: bool, floor: float | None = None) -> Markup:
    """Curves on the unit square, a single one with its band."""
    plot = Plot(label, (0, 1), (0, 1), x_title=x_title, y_title=y_title, square=True, x_ticks=SHARES, y_ticks=SHARES)
    if diagonal:
        plot.diagonal()
    if floor is not None:
        plot.level(floor, f"guessing: {100 * floor:.0f}%", first=True)
    for k, curve in enumerate(curves):
        if curve.grid is not None:
            plot.band(curve.grid, curve.low, curve.high)
        plot.line(curve.x, curve.y, f"c{k}")
    return plot.svg()


def reliability_chart(found: Reliability) -> Markup:
    """The share that came true against the predicted probability, with ranges."""
    plot = Plot(
        "calibration: share that came true against the predicted probability", (0, 1), (0, 1),
        x_title="predicted probability", y_title="share that came true", square=True, x_ticks=SHARES, y_ticks=SHARES,
    )  # fmt: skip
    plot.diagonal()
    for x, low, high in zip(found.chance, found.low, found.high, strict=True):
        plot.whisker(float(x), float(low), float(high))
    plot.line(found.chance, found.share, "c0 thin")
    plot.dots(found.chance, found.share, "c0", 4.0)
    return plot.svg()


def confusion_rows(names: list[str], counts: Array) -> tuple[list[str], list[list[Any]]]:
    """A table of counts with the share of each true class, shaded by it."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows: list[list[Any]] = []
    for name, line, part in zip(names, counts, shares, strict=True):
        cells = [
            dict(text=f"{int(count):,}", small=_rounded(share), heat=min(int(10 * share), 9) if count else None)
            for count, share in zip(line, part, strict=True)
        ]
        rows.append([f"true {shown(name, 24)}", *cells, f"{int(line.sum()):,}"])
    return ["", *(f"predicted {shown(name, 24)}" for name in names), "rows"], rows


def _rounded(share: float) -> str:
    """A share in whole per cent; of what is neither nothing nor all never 0 or 100."""
    return "<1%" if 0 < share < 0.01 else ">99%" if 0.99 < share < 1 else f"{100 * share:.0f}%"


def threshold_chart(found: Thresholds, miss: float) -> Markup:
    """The mean cost of a row at each threshold, where a miss costs `miss` false alarms."""
    cost = found.cost(miss)
    plot = Plot(
        "mean cost of a row at each threshold", (0, 1), (
            0,
            float(cost.max()) or 1.0,
        ), x_title="threshold of the probability", y_title="cost per row",
        x_ticks=SHARES,
    )  # fmt: skip
    plot.line(found.at, cost, "c0 cost")
    plot.upright(float(found.at[found.best(miss)]), "cheapest", "best")
    return plot.svg(data_left=round(plot.x.at(0), 1), data_right=round(plot.x.at(1), 1), data_low=plot.y.start, data_high=plot.y.end)


def _cloud(plot: Plot, found: numbers.Cloud) -> None:
    if found.counts is None or found.x_edges is None or found.y_edges is None:
        plot.dots(found.x, found.y, "many", 2.2)
        return
    top = np.log1p(found.counts.max())
    for i, j in np.argwhere(found.counts > 0):
        shade = 0.12 + 0.88 * float(np.log1p(found.counts[i, j]) / top)
        plot.box(found.x_edges[i], found.x_edges[i + 1], found.y_edges[j], found.y_edges[j + 1], "cell", shade)


def predicted_chart(held: Unseen, target: str) -> Markup:
    """Truth against prediction."""
    both = numbers.trimmed(np.concatenate([held.truth, held.predicted]))
    plot = Plot("truth against prediction", both, both, x_title="predicted", y_title=f"true {shown(target, 30)}", square=True)
    _cloud(plot, numbers.cloud(held.predicted, held.truth, both, both))
    plot.diagonal()
    return plot.svg()


def residual_chart(held: Unseen) -> Markup:
    """Truth less prediction against the prediction, with the middle and where 80 % lie."""
    off = numbers.residuals(held)
    x, y = numbers.trimmed(held.predicted), numbers.trimmed(off)
    plot = Plot("residuals against predictions", x, y, x_title="predicted", y_title="truth − prediction", square=True)
    _cloud(plot, numbers.cloud(held.predicted, off, x, y))
    found = along(held.predicted, off)
    plot.level(0.0)
    plot.line(found.x, found.middle, "c1")
    plot.line(found.x, found.low, "c1 thin dash")
    plot.line(found.x, found.high, "c1 thin dash")
    return plot.svg()


def histogram_chart(values: Array, label: str, x_title: str, rules: list[tuple[float, str]] | None = None) -> Markup:
    """How values are spread."""
    edges, counts = numbers.histogram(values)
    low, high = float(edges[0]), float(edges[-1])
    for at, _ in rules or []:
        low, high = min(low, at), max(high, at)
    plot = Plot(label, (low, high), (0, float(counts.max())), x_title=x_title, y_title="rows", pad=0.015)
    plot.columns(edges, counts, "c0 soft")
    for at, name in rules or []:
        plot.upright(at, name, "best")
    return plot.svg()


def coverage_chart(groups: Sequence[tuple[str, int, float]], x_title: str, named: bool = False) -> Markup:
    """The share of rows whose truth lay in their range or their set, group by group, with Wilson's ranges; named: with the names of
    the groups below the axis, if there is room for them."""
    ranges = [wilson(share * count, count) for _, count, share in groups]
    low, count = min(0.7, *(one.low for one in ranges)), len(groups)
    marks = [shown(name, 60) if named else str(k) for k, (name, _, _) in enumerate(groups, 1)]
    if named and max(map(wide, marks)) > ROOM / count:
        marks, x_title = [str(k) for k in range(1, count + 1)], f"{x_title}, in the order of the table below"
    plot = Plot(
        "share of rows whose truth was held at 90%",
        places(count),
        (low, 1),
        x_title=x_title,
        y_title="held the truth",
        x_ticks=[(float(k), mark) for k, mark in enumerate(marks, 1)],
        y_ticks=[(one, f"{100 * one:.0f}%") for one in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0) if one >= low],
    )
    plot.level(PROMISED, "promised")
    for k, one in enumerate(ranges, 1):
        plot.whisker(float(k), one.low, one.high)
    plot.dots(np.arange(1, count + 1), [share for _, _, share in groups], "c0", 4.0)
    return plot.svg()


def effect_chart(effect: dict[str, Any], unit: str, scale: tuple[float, float]) -> Markup:
    """How predictions change along a column; one line for each class that is drawn."""
    values = np.array(effect["effect"], dtype=np.float64)
    name = shown(effect["column"], 40)
    if effect.get("levels"):
        ends = (-0.5, len(effect["levels"]) - 0.5)
        plot = Plot(f"effect of {name}", ends, scale, x_title=name, y_title=unit, x_ticks=level_marks(effect["levels"]))
        plot.level(0.0)
        for k, line in enumerate(values):
            for at, value in enumerate(line):
                at_x = at + (k - (len(values) - 1) / 2) * 0.8 / max(len(values), 1)
                half = 0.36 / max(len(values), 1)
                plot.box(at_x - half, at_x + half, 0.0, float(value), f"c{k} soft")
        return plot.svg()
    grid = np.array(effect["grid"], dtype=np.float64)
    few = len(grid) <= 8 and bool(np.all(grid == np.round(grid))) and effect.get("kind") != "date"
    plot = Plot(
        f"effect of {name}",
        (float(grid[0]), float(grid[-1])),
        scale,
        x_title=_of_column(effect),
        y_title=unit,
        x_ticks=[(one, tick_text(one)) for one in grid.tolist()] if few else _days(effect, grid),
    )
    plot.level(0.0)
    for k, line in enumerate(values):
        plot.line(grid, line, f"c{k}")
    plot.rug([one for one in floats(effect.get("rug")) if grid[0] <= one <= grid[-1]])
    return plot.svg()


def level_marks(levels: Sequence[Any]) -> list[tuple[float, str]]:
    """The marks of an axis of levels, cut where there are few of them; none where many do not fit."""
    room = LEVEL_ROOM / len(levels)
    fits = len(levels) <= FEW_LEVELS or all(wide(shown(level, 200)) <= room for level in levels)
    return [(float(k), cut(level, room)) for k, level in enumerate(levels)] if fits else []


def _of_column(along: dict[str, Any]) -> str:
    """What the numbers along a column are."""
    name = shown(along["column"], 40)
    return f"what the words of {name} score" if along.get("kind") == "text" else name


def _days(along: dict[str, Any], x: Any) -> list[tuple[float, str]] | None:
    """The marks of an axis of dates, which are days since 1970-01-01: four of them, apart from one another and from the ends."""
    if along.get("kind") != "date":
        return None
    low, high = float(min(x)), float(max(x))
    return [(one, written(along, one)) for one in (low + (high - low) * share for share in (0.125, 0.375, 0.625, 0.875))]


def race_chart(trace: list[tuple[str, Array, bool]], metric: str, scale: tuple[float, float]) -> Markup | None:
    """Running means of the families over the folds, as far as they lie within a scale; a dot where one was dropped."""
    lines = [(np.cumsum(scores) / np.arange(1, len(scores) + 1), dropped) for _, scores, dropped in trace]
    lines = [(means, dropped) for means, dropped in lines if scale[0] <= means[-1] <= scale[1]]
    if not lines or max(len(means) for means, _ in lines) < 2:
        return None
    every = np.concatenate([means for means, _ in lines])
    low, high = max(float(every.min()), scale[0]), min(float(every.max()), scale[1])
    longest = max(len(means) for means, _ in lines)
    step = max(1, longest // 10)
    plot = Plot(
        "running means of the race", (1, max(longest, 2)), (float(low), float(high)), x_title="folds", y_title=f"{metric}, mean so far",
        x_ticks=[(float(k), str(k)) for k in range(1, longest + 1, step)],
    )  # fmt: skip
    for means, dropped in lines:
        folds, inside = np.arange(1, len(means) + 1), np.clip(means, low, high)
        plot.line(folds, inside, "thin faint" if dropped else "thin c0")
        if dropped:
            plot.dots(folds[-1:], inside[-1:], "faint", 2.5)
    return plot.svg()


def time_chart(board: list[tuple[str, dict[str, Any]]], metric: str, scale: tuple[float, float]) -> Markup | None:
    """Scores within a scale against the time of a fit, with the places on the board; what has none is left out."""
    points = [
        (one["seconds"], one["score"], place)
        for place, one in board
        if place and (number(one.get("seconds")) or 0) > 0 and scale[0] <= one["score"] <= scale[1]
    ]
    if len(points) < 3:
        return None
    x, y = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    plot = Plot(
        "score against the time of a fit",
        (float(x.min()), float(x.max())),
        (float(y.min()), float(y.max())),
        x_title="seconds of a fit",
        y_title=metric,
        log_x=True,
        pad=0.08,
    )
    plot.dots(x, y, "c0", 4.0)
    taken: list[tuple[float, float]] = []
    for a, b, name in points:
        at = plot.x.at(a), plot.y.at(b)
        if all(abs(at[0] - c) > 12 or abs(at[1] - d) > 12 for c, d in taken):  # the better of two that would overlap is named
            taken.append(at)
            plot.note(a, b, name, "up mid")
    return plot.svg()


def along_chart(along: dict[str, Any], y_title: str) -> Markup:
    """Quantiles of residuals along a column."""
    x, low, middle, high = (along[key] for key in ("x", "low", "middle", "high"))
    name, ends = _of_column(along), (min([*low, 0]), max([*high, 0]))
    plot = Plot(f"residuals along {name}", (min(x), max(x)), ends, x_title=name, y_title=y_title, x_ticks=_days(along, x))
    plot.level(0.0)
    plot.band(x, low, high)
    plot.line(x, middle, "c0")
    return plot.svg()


def matrix_rows(names: list[str], better: Array, same: Array) -> tuple[list[str], list[list[Any]]]:
    """A table of how likely each model is better than each other, with the chance that they are practically equal."""
    rows: list[list[Any]] = []
    for i, name in enumerate(names):
        cells: list[Any] = [
            "" if i == j else dict(
                text=f"{100 * better[i, j]:.0f}%",
                small=f"= {100 * same[i, j]:.0f}%",
                heat=min(int(10 * better[i, j]), 9),
            )
            for j in range(len(names))
        ]
        rows.append([f"{i + 1}. {shown(name, 30)}", *cells])
    return ["better than", *(str(j + 1) for j in range(len(names)))], rows


def level_of(value: float) -> str:
    """A number beside a picture."""
    return tick_text(float(f"{value:.4g}")) if abs(value) < 1e4 else figure(value)
