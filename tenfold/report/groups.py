"""The page of `tenfold cluster`: how many groups and why, what sets them apart, and where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from tenfold.core.data import Array
from tenfold.report.blocks import Code, Figure, Figures, Section, Table, Text, columns_used
from tenfold.report.facts import counted
from tenfold.report.page import rendered
from tenfold.report.scale import ends
from tenfold.report.svg import Plot
from tenfold.table.show import shown

COLOURS = 5  # of the page
MOST_POINTS = 600
Facts = dict[str, Any]


@dataclass(frozen=True)
class Cloud:
    """Some rows on the first two principal axes."""

    points: Array  # (m, 2)
    groups: Array  # (m) from 0
    share: tuple[float, float]  # of the variance along each axis

    @classmethod
    def of(cls, rows: Array, groups: Array, seed: int) -> Cloud:
        centred = rows - rows.mean(axis=0)
        values, axes = np.linalg.eigh(centred.T @ centred)
        first = np.concatenate([axes[:, ::-1], np.zeros((len(axes), 1))], axis=1)[:, :2]  # one column has one axis
        share = np.append(values[::-1], 0.0)[:2] / max(float(values.sum()), np.finfo(np.float64).tiny)
        drawn = np.random.default_rng(seed).permutation(len(rows))[:MOST_POINTS]
        return cls(centred[drawn] @ first, groups[drawn], (float(share[0]), float(share[1])))


def groups_page(record: Facts, cloud: Cloud, stable: str, commands: Sequence[str]) -> str:
    """The whole page, from what run.json holds. stable: what halves of the rows say; commands: what to type next."""
    groups, name = record["groups"], shown(record["data"]["name"], 60)
    sections = [
        Section("groups", "What sets them apart", [_described(groups), Text(BUT, faint=True)]),
        Section("map", "Where they lie", [Figures([_map(cloud, groups)])]),
        Section("number", "How many", [Text(_reason(record)), Figures(_curves(record)), _rules(record)]),
        Section("stable", "Would new rows give the same", [Text(f"{stable[:1].upper()}{stable[1:]}."), Text(AGREEMENT, faint=True)]),
        Section("columns", "Columns", columns_used(record)),
        Section("next", "What to type next", [Code("\n".join(commands))]),
    ]
    agreed = "" if record["agreement"] is None else f"; halves of the rows agree on them by {record['agreement']:.2f} (adjusted Rand index)"
    sizes = ", ".join(f"{one['rows']:,}" for one in groups)
    return rendered(
        title=f"groups · {name}", name=name, heading=f"The groups of {name}", rows=counted(record["rows"], "row"),
        model=f"k-means of {counted(len(record['columns']), 'column')}", version=record["version"],
        headline=(counted(len(groups), "group"), f"of {sizes} rows{agreed}"), sections=sections,
    )  # fmt: skip


BUT = (
    "Differences from all other rows, in standard deviations of the column. The groups were made from these columns: "
    "no test of significance can be made of them."
)
AGREEMENT = (
    "Ten times the rows were cut into halves; each half was grouped by itself, and its groups were given to all rows. "
    "Found again: how much of a group is in the most similar one of each half."
)


def _reason(record: Facts) -> str:
    """Why so many groups."""
    why = f"{record['why'][:1].upper()}{record['why'][1:]}."
    if record["asked"] is None:
        return why
    say = "no groups" if record["recommended"] == 1 else counted(record["recommended"], "group")
    return f"As many as were asked for. The rows themselves show {say}. {why}"


def _described(groups: list[Facts]) -> Table:
    rows = list[list[Any]]()
    for one in groups:
        again = "" if one["again"] is None else f"{100 * one['again']:.0f} %"
        words = [shown(trait["words"], 250) for trait in one["traits"]] or ["nothing by itself"]
        rows.append([str(one["number"]), f"{one['rows']:,}", f"{100 * one['share']:.0f} %", again, words[0]])
        rows += [["", "", "", "", word] for word in words[1:]]
    return Table(["group", "rows", "share", "found again", "set apart by"], rows, right=(1, 2, 3), tight=(0,))


def _map(cloud: Cloud, groups: list[Facts]) -> Figure:
    """The rows, coloured by group, with the number of each group at its middle."""
    x, y = cloud.points.T
    words = zip(("first", "second"), cloud.share, strict=True)
    titles = [f"{word} principal axis, {100 * part:.0f}% of the variance" for word, part in words]
    plot = Plot("rows on the first two principal axes", ends(x), ends(y), x_title=titles[0], y_title=titles[1], square=True)
    for one in groups:
        mine = cloud.groups == one["number"] - 1
        plot.dots(x[mine], y[mine], f"many c{(one['number'] - 1) % COLOURS}", 2.4)
    for one in groups:
        mine = cloud.groups == one["number"] - 1
        if mine.any():
            plot.note(float(x[mine].mean()), float(y[mine].mean()), str(one["number"]), "up mid halo")
    keys = [f"group {one['number']}" for one in groups[:COLOURS]]
    return Figure("Rows on their first two principal axes", plot.svg(), "The number of a group stands at its middle.", keys)


def _curves(record: Facts) -> list[Figure]:
    """Scatter, gap, silhouette and strength against the number of clusters."""
    curves = {name: np.array(values, dtype=np.float64) for name, values in record["curves"].items()}
    if "gap" not in curves:
        return []
    k, chosen = curves["clusters"], float(record["clusters"])
    pictures = [
        ("Scatter within groups", ("within", "held out"), ("these rows", "held-out rows"), "within / total"),
        ("Gap", ("gap",), (), "gap, with its standard error"),
        ("Told apart, and found again", ("silhouette", "strength"), ("mean silhouette", "prediction strength"), ""),
    ]
    return [Figure(title, _curve(k, curves, names, chosen, y_title), keys=keys) for title, names, keys, y_title in pictures]


def _curve(k: Array, curves: dict[str, Array], names: tuple[str, ...], chosen: float, y_title: str) -> Markup:
    error = curves["gap error"] if names == ("gap",) else np.zeros(len(k))
    values = np.concatenate([part for name in names for part in (curves[name] - error, curves[name] + error)])
    low, high = ends(values[np.isfinite(values)])
    ticks = [(float(one), f"{one:.0f}") for one in k]
    plot = Plot(f"{' and '.join(names)} by number of clusters", ends(k), (low, high), x_title="clusters", y_title=y_title, x_ticks=ticks)
    plot.upright(chosen, "taken" if chosen <= k[-1] else "")
    for i, name in enumerate(names):
        there = np.isfinite(curves[name])
        for at, value, half in zip(k[there], curves[name][there], error[there], strict=True):
            if half > 0:
                plot.whisker(float(at), float(value - half), float(value + half))
        plot.line(k[there], curves[name][there], f"c{i} thin")
        plot.dots(k[there], curves[name][there], f"c{i}", 3.0)
    return plot.svg()


def _rules(record: Facts) -> Table:
    rows = [[rule, "" if number is None else str(number)] for rule, number in record["rules"].items()]
    return Table(["rule", "clusters"], rows, right=(1,), narrow=True)
