"""Attributions as pictures: all rows, or one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.errors import BadInput
from tenfold.draw.look import BLUE, GREY, RED, SIGNED, amount, new_axes, short


def draw_attributions(found: Any, ax: Any = None, most: int = 15) -> Any:
    """A strip of dots for each column, one dot a row, coloured by the value of the column; with classes, bars of their sizes.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import attributions
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> model = tenfold.DecisionTreeRegressor(max_depth=3).fit(X, X[:, 1])
    >>> ax = attributions(model, X).plot()
    >>> ax.get_yticklabels()[0].get_text()
    'x1'
    """
    by_class = found.values.ndim == 3
    size = found.importances.sum(axis=1) if by_class else found.importances
    order = np.argsort(-size, kind="stable")[:most]
    ax = new_axes(ax, (6.8, max(1.8, 0.34 * len(order) + 1.2)))
    place = np.arange(len(order))
    if by_class:
        from tenfold.draw.look import COLOURS

        start = np.zeros(len(order))
        for k, name in enumerate(found.classes):
            length = found.importances[order, k]
            ax.barh(place, length, left=start, color=COLOURS[k % len(COLOURS)], label=short(str(name), 20), height=0.6)
            start += length
        ax.legend(frameon=False, fontsize=9)
        ax.set_xlabel(f"mean size of the attribution ({found.unit})")
    else:
        for y, j in zip(place, order, strict=True):
            x, colour = found.values[:, j], _ranks(found.rows[:, j])
            dots = ax.scatter(x, y + _spread(x), c=colour, cmap=SIGNED, vmin=0, vmax=1, s=9, linewidths=0, alpha=0.8)
        ax.axvline(0, color=GREY, linewidth=1.0, linestyle=":")
        bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], aspect=30, pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
        bar.set_label("value of the column", labelpad=-14)
        bar.outline.set_visible(False)
        ax.set_xlabel(f"attribution ({found.unit})")
    ax.set_yticks(place, [short(found.columns[j], 24) for j in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    hidden = len(size) - len(order)
    if hidden:
        ax.set_title(f"{hidden} more columns not shown", fontsize=11)
    return ax


def _cell(found: Any, row: int, j: int) -> str:
    """The value of a cell, with the name of a category instead of its code."""
    value, names = float(found.rows[row, j]), None if found.categories is None else found.categories[j]
    if names is None:
        return "missing" if value != value else str(amount(value))
    return "missing" if not 0 <= value < len(names) else short(str(names[int(value)]), 20)


def draw_one_row(found: Any, row: int, ax: Any = None, most: int = 10) -> Any:
    """From the base to the prediction of one row: a bar for each column, the largest first, the rest together."""
    if found.values.ndim == 3:
        raise BadInput(f"choose a class first: found.of_class({found.classes[-1]!r}).plot(row={row})")
    if not -len(found.values) <= row < len(found.values):
        raise BadInput(f"there is no row {row}: {len(found.values)} rows were explained")
    values = found.values[row]
    order = np.argsort(-np.abs(values), kind="stable")
    shown, rest = order[:most], order[most:]
    labels = [f"{short(found.columns[j], 20)} = {_cell(found, row, j)}" for j in shown]
    steps = list(values[shown])
    if len(rest):
        labels.append(f"{len(rest)} more columns")
        steps.append(float(values[rest].sum()))
    ax = new_axes(ax, (6.8, max(1.8, 0.34 * len(steps) + 1.2)))
    at = float(found.base)
    ax.axvline(at, color=GREY, linewidth=1.0, linestyle=":")
    for y, step in enumerate(steps):
        ax.barh(y, step, left=at, color=BLUE if step >= 0 else RED, height=0.62)
        ax.annotate(
            f"{'+' if step >= 0 else '−'}{amount(abs(float(step)))}",
            (at + step, y),
            xytext=(4 if step >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if step >= 0 else "right",
            va="center",
            fontsize=9,
            bbox=dict(boxstyle="square,pad=0.1", facecolor="white", edgecolor="none", alpha=0.8),
        )
        at += step
    ax.axvline(at, color=GREY, linewidth=1.0)
    ax.use_sticky_edges = False  # bars would else touch the sides, and their numbers leave the picture
    ax.margins(x=0.12)
    ax.set_yticks(range(len(steps)), labels)
    ax.set_ylim(len(steps) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(found.unit)
    ax.set_title(f"from {amount(float(found.base))} for an unknown row to {amount(at)}", fontsize=11)
    return ax


def _ranks(values: Any) -> Any:
    """From 0 (lowest) to 1 (highest); missing values are in the middle."""
    known = np.unique(values[np.isfinite(values)])
    if len(known) < 2:
        return np.full(len(values), 0.5)
    return np.where(np.isfinite(values), np.searchsorted(known, values) / (len(known) - 1), 0.5)


def _spread(x: Any) -> Any:
    """How far dots are moved up or down so that equal ones do not hide one another."""
    span = float(np.ptp(x)) or 1.0
    cell = np.floor((x - x.min()) / span * 60).astype(int)
    moved = np.zeros(len(x))
    most = max(np.bincount(cell).max(), 1)
    for c in np.unique(cell):
        members = np.flatnonzero(cell == c)
        k = np.arange(len(members))
        moved[members] = np.where(k % 2 == 0, k, -k - 1) / 2
    return moved / most * 0.7
