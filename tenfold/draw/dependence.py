"""Partial dependence, curves of single rows, and accumulated effects as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.draw.look import AMOUNTS, BLUE, GREY, SIGNED, new_axes, short

MOST_CURVES = 100  # of single rows, evenly chosen


def draw_dependence(found: Any, ax: Any = None, output: int = -1) -> Any:
    """The response along one column (with the curves of single rows if they were kept), or a map over two.

    Ticks inside the axes mark the deciles of the columns: beyond them there are few rows to support the curve.

    >>> import numpy as np
    >>> from tenfold.evaluate import partial_dependence
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> ax = partial_dependence(lambda rows: rows[:, 0] ** 2, X, 0).plot()
    >>> ax.get_xlabel()
    'x0 (marks: deciles)'
    """
    ax = new_axes(ax)
    if len(found.columns) == 2:
        return _map(ax, found, output)
    grid, mean = _places(ax, found.grid_values[0], "x"), found.average[output]
    if found.individual is not None:
        rows = found.individual[output]
        chosen = np.linspace(0, len(rows) - 1, min(MOST_CURVES, len(rows))).astype(int)
        for i in chosen:
            label = "single rows" if i == chosen[0] else None
            ax.plot(grid, rows[i], color=GREY, alpha=0.3, linewidth=0.7, label=label, **_joined(found, len(grid), 2))
    ax.plot(grid, mean, color=BLUE, linewidth=2.2, label="mean of all rows", **_joined(found, len(grid), 4))
    _ticks(ax, found.spread[0], "x")
    if found.individual is not None:
        ax.legend(fontsize=9)
    what = found.outputs[output]
    effect = (
        f"effect on {what}" if found.kind == "accumulated" else f"mean {what}" if found.individual is None else what
    )
    ax.set(xlabel=_axis_label(found, 0), ylabel=effect)
    if found.kind == "accumulated":
        ax.axhline(0, color=GREY, linewidth=1.0, linestyle=":")
    return ax


def _joined(found: Any, points: int, size: float) -> dict[str, Any]:
    """How the points of a curve are drawn: between categories there is nothing, so no line joins them."""
    if not len(found.spread[0]):
        return dict(linestyle="none", marker="o", markersize=2 * size)
    return dict(marker="o" if points <= 30 and size > 2 else None, markersize=size)


def _map(ax: Any, found: Any, output: int) -> Any:
    values = found.average[output]
    a, b = (_places(ax, grid, side) for grid, side in zip(found.grid_values, "xy", strict=True))
    signed = found.kind == "accumulated"
    most = float(np.abs(values).max()) or 1.0
    limits = dict(vmin=-most, vmax=most) if signed else {}
    numbers = all(len(spread) for spread in found.spread)
    if numbers and min(len(a), len(b)) >= 3 and np.ptp(values) > 0:
        cells = ax.contourf(a, b, values.T, levels=14, cmap=SIGNED if signed else AMOUNTS, **limits)
    else:
        cells = ax.pcolormesh(a, b, values.T, shading="nearest", cmap=SIGNED if signed else AMOUNTS, **limits)
    what = found.outputs[output]
    ax.figure.colorbar(cells, ax=ax, label=f"joint effect on {what}" if signed else what)
    for spread, side in zip(found.spread, "xy", strict=True):
        _ticks(ax, spread, side)
    ax.set(xlabel=_axis_label(found, 0), ylabel=_axis_label(found, 1))
    ax.grid(False)
    return ax


def _axis_label(found: Any, which: int) -> str:
    """The name of a column, and what the marks on its axis are."""
    return short(found.columns[which], 40) + (" (marks: deciles)" if len(found.spread[which]) else "")


def _places(ax: Any, grid: Any, side: str) -> Any:
    """Where the points of a grid are: categories side by side, with their names."""
    if grid.dtype.kind in "fiu":
        return grid
    axis, places = (ax.xaxis if side == "x" else ax.yaxis), np.arange(len(grid))
    axis.set_ticks(places, [short(str(name), 16) for name in grid])
    if side == "x" and sum(min(len(str(name)), 16) for name in grid) > 50:  # letters that stand beside each other
        ax.tick_params(axis="x", rotation=60)
    return places


def _ticks(ax: Any, places: Any, side: str) -> None:
    """Short marks at the deciles, inside the axes."""
    if side == "x":
        ax.vlines(places, 0, 0.03, transform=ax.get_xaxis_transform(), color="black", linewidth=1.0)
    else:
        ax.hlines(places, 0, 0.02, transform=ax.get_yaxis_transform(), color="black", linewidth=1.0)
