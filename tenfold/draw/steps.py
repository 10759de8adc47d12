"""k-means step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cluster.centers import given_centers
from tenfold.cluster.kmeans import KMeans
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.draw.look import BLACK, COLOURS, GREY, amount, new_axes
from tenfold.gate.containers import as_table
from tenfold.score.kinds import check_finite
from tenfold.solve.lloyd import Clusters, plus_plus, random_rows

EACH = (3.0, 2.9)  # inches of a panel


def draw_kmeans_steps(model: KMeans, X: Any, *, panels: int = 6) -> Any:
    """Lloyd's steps on rows of two columns, from the model's `init` and `random_state`: in each panel rows have the colour of their
    nearest centre, and each centre (a cross) goes to the mean of them. The last panel is where nothing moves any more, or after
    `max_iter` steps; where there are more steps than panels, those that lower the inertia most are shown.

    Returns the axes of the panels, in order."""
    if not isinstance(model, KMeans):
        raise BadInput(f"draw_kmeans_steps: {type(model).__name__} does not make Lloyd's steps: give a KMeans")
    if not isinstance(panels, (int, np.integer)) or isinstance(panels, bool) or panels < 2:
        raise BadParameter(f"draw_kmeans_steps(panels={panels!r}): must be a whole number of at least 2")
    table, names = as_table(model, X)
    rows = np.ascontiguousarray(np.asarray(table, dtype=np.float64))
    check_finite(rows, "X", "values")
    if rows.ndim != 2 or rows.shape[1] != 2 or len(rows) < model.n_clusters:
        raise BadInput(f"draw_kmeans_steps: X must have two columns and at least {model.n_clusters} rows, not the shape {rows.shape}")
    steps = _steps(model, rows)
    shown = worth_showing([inertia for _, _, inertia in steps], int(panels))
    figure, grid = panels_of(len(shown))
    for ax, number in zip(grid, shown, strict=True):
        centers, labels, inertia = steps[number]
        after = steps[min(number + 1, len(steps) - 1)][0]
        colours = [COLOURS[k % len(COLOURS)] for k in labels]
        ax.scatter(*rows.T, s=9, c=colours, alpha=0.6, linewidths=0)
        for before, now in zip(centers, after, strict=True):
            ax.plot(*np.array([before, now]).T, color=BLACK, linewidth=1)
        ax.scatter(*centers.T, s=55, color=BLACK, marker="x", zorder=3)
        ax.set_title(f"step {number}: inertia {amount(inertia)}", fontsize=10)
        ax.tick_params(labelsize=8, colors=GREY)
    figure.supxlabel("x0" if names is None else str(names[0]), fontsize=10)
    figure.supylabel("x1" if names is None else str(names[1]), fontsize=10)
    return grid


def _steps(model: KMeans, rows: Array) -> list[tuple[Array, Array, float]]:
    """(centres, labels, inertia) before each step, and in the end."""
    k, weight, rng = model.n_clusters, np.ones(len(rows)), generator(model.random_state)
    if given_centers(model.init):
        centers = model._given_centers(model.init, 2)
    elif callable(model.init):
        centers = model._given_centers(model.init(rows, k, random_state=np.random.RandomState(0)), 2)
    else:
        centers = (plus_plus if model.init == "k-means++" else random_rows)(rows, weight, k, rng)
    steps: list[tuple[Array, Array, float]] = []
    while True:
        found = Clusters.of(rows, weight, centers)
        labels = ((rows[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        steps.append((centers, labels, float(found.inertia)))
        moved = np.where(found.weight[:, None] > 0, found.sum / np.maximum(found.weight, 1.0)[:, None], centers)
        if np.array_equal(moved, centers) or len(steps) > model.max_iter:
            return steps
        centers = moved


def worth_showing(inertias: list[float], panels: int) -> list[int]:
    """The first and the last step, and those between after which the inertia has fallen most."""
    last = len(inertias) - 1
    if last < panels:
        return list(range(last + 1))
    falls = [inertias[i - 1] - inertias[i] for i in range(1, last)]
    between = 1 + np.argsort(np.negative(falls), kind="stable")[: panels - 2]
    return [0, *sorted(int(i) for i in between), last]


def panels_of(count: int, apart: int = 0) -> tuple[Any, list[Any]]:
    """A figure of so many panels, three side by side, on one scale but for the last `apart` of them."""
    across = min(3, count)
    down = -(-count // across)
    figure = new_axes(None, (EACH[0] * across, EACH[1] * down)).figure
    figure.clear()
    grid: list[Any] = []
    for i in range(count):
        shared = dict(sharex=grid[0], sharey=grid[0]) if grid and i < count - apart else {}
        grid.append(new_axes(figure.add_subplot(down, across, i + 1, **shared)))
    return figure, grid
