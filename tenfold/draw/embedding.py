"""Rows in few dimensions: two axes, or every pair of some, coloured by a class or a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.draw.look import AMOUNTS, BLUE, COLOURS, GREY, new_axes, short

MOST_POINTS = 5000  # of a cloud
MOST_CLASSES = 12  # of whole numbers that are taken for classes
MOST_NAMED = 20  # in a legend
MARKERS = "osD^vP*X"


def draw_embedding(Z: Any, y: Any = None, axes: tuple[int, int] | str = (0, 1), ax: Any = None, *, name: str = "") -> Any:
    """Rows as points: Z their places (rows, dimensions), or a learner with `embedding_`; y: a class or a number for each, shown in
    colours with a legend or a colour bar, under the title `name`.

    axes: the two that are drawn; "pairs": all of up to five against one another, as an array of axes.

    >>> import numpy as np
    >>> from tenfold.draw import draw_embedding
    >>> ax = draw_embedding(np.random.default_rng(0).normal(size=(60, 2)), np.repeat(["a", "b"], 30))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    places = rows_of(Z)
    if axes != "pairs":
        i, j = _pair(axes, places.shape[1])
        ax = new_axes(ax, (6.0, 5.2))
        scattered(ax, places[:, [i, j]], y, name, ax)
        ax.set(xlabel=f"axis {i + 1}", ylabel=f"axis {j + 1}")
        return ax
    k = min(5, places.shape[1])
    if k < 3:
        raise BadInput(f'draw_embedding(axes="pairs"): there are {places.shape[1]} axes, and pairs are for three or more: leave it out')
    first = new_axes(None, (2.6 * (k - 1), 2.6 * (k - 1)))
    figure = first.figure
    first.remove()
    grid = figure.subplots(k - 1, k - 1, squeeze=False)
    for a, b in np.ndindex(grid.shape):
        if b > a:
            grid[a, b].set_axis_off()
            continue
        panel = new_axes(grid[a, b])
        scattered(panel, places[:, [b, a + 1]], y, name, grid[0, k - 2] if a == b == 0 else None, size=5)
        panel.set(xlabel=f"axis {b + 1}" if a == k - 2 else "", ylabel=f"axis {a + 2}" if b == 0 else "")
    return grid


def rows_of(Z: Any) -> Array:
    """Places as numbers: (rows, dimensions)."""
    found = getattr(Z, "embedding_", Z)
    if found is Z and hasattr(Z, "get_params"):
        raise BadInput(f"draw_embedding: {type(Z).__name__} holds no embedding_: fit it, or give transform(X)")
    places = np.asarray(found, dtype=np.float64)
    if places.ndim != 2 or not len(places):
        raise BadInput(f"draw_embedding: places must have the shape (rows, dimensions), and have {places.shape}")
    bad = ~np.isfinite(places).all(axis=1)
    if bad.any():
        raise BadInput(f"draw_embedding: row {int(bad.argmax())} is not finite: leave out such rows")
    return places


def _pair(axes: Any, k: int) -> tuple[int, int]:
    try:
        i, j = (int(one) for one in axes)
    except (TypeError, ValueError):
        raise BadInput(f'draw_embedding(axes={axes!r}): must be two numbers of axes from 0, or "pairs"') from None
    if not (0 <= i < k and 0 <= j < k):
        raise BadInput(f"draw_embedding(axes={axes!r}): there are {k} axes: give two numbers from 0 to {k - 1}")
    return i, j


def scattered(ax: Any, places: Array, y: Any, name: str, legend: Any, size: float = 14) -> None:
    """Points in the colours of classes, or of numbers; of many rows some, drawn by chance. legend: the axes that tell the colours."""
    shown = np.sort(np.random.default_rng(0).permutation(len(places))[:MOST_POINTS])
    if y is None:
        ax.scatter(*places[shown].T, s=size, color=BLUE, alpha=0.6, linewidths=0)
        return
    values = np.asarray(y)
    if values.shape != (len(places),):
        raise BadInput(f"y has the shape {values.shape}, and there are {len(places)} rows: give one value for each")
    if _numeric(values):
        numbers = values.astype(np.float64)
        there = shown[np.isfinite(numbers[shown])]
        ax.scatter(*places[np.setdiff1d(shown, there)].T, s=size, color=GREY, alpha=0.3, linewidths=0)
        drawn = ax.scatter(*places[there].T, s=size, c=numbers[there], cmap=AMOUNTS, linewidths=0)
        if legend is not None:
            ax.figure.colorbar(drawn, ax=legend, label=name)
        return
    texts = values.astype(str)
    for k, level in enumerate(np.unique(texts) if values.dtype.kind in "OSU" else np.unique(values).astype(str)):
        mine = shown[texts[shown] == level]
        style = dict(color=COLOURS[k % len(COLOURS)], marker=MARKERS[k // len(COLOURS) % len(MARKERS)])
        ax.scatter(*places[mine].T, s=size, alpha=0.65, linewidths=0, label=short(level, 24) if k < MOST_NAMED else None, **style)
    if legend is not None:
        handles, labels = ax.get_legend_handles_labels()
        legend.legend(handles, labels, fontsize=8, title=name or None, markerscale=1.0 if legend is ax else 2.0)


def _numeric(values: Array) -> bool:
    """Amounts rather than names of classes."""
    if values.dtype.kind == "f":
        return True
    return values.dtype.kind in "iu" and len(np.unique(values)) > MOST_CLASSES
