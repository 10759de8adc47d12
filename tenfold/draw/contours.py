"""Densities of two columns as lines of equal density, and densities of one column by their bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadInput
from tenfold.draw.fit import like
from tenfold.draw.look import AMOUNTS, BLACK, BLUE, GREY, amount, new_axes, titled

PLACES = 160  # in each direction
POINTS = 600
MARGIN = 0.12  # around the rows, as a share of their range
MOST_POINTS = 4000
HELD = (0.9, 0.75, 0.5, 0.25, 0.1)  # shares of the rows that the lines hold


def draw_contours(model: Any, X: Any, ax: Any = None) -> Any:
    """A density of two columns: its lines around 90, 75, 50, 25 and 10 per cent of the rows of X, and the rows.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_contours
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> ax = draw_contours(tenfold.KernelDensity(bandwidth="cv").fit(X), X)
    >>> ax.get_xlabel()
    'x0'
    """
    check.check_fitted(model)
    as_given, rows = like(X), np.asarray(X, dtype=np.float64)
    if model.role != "density_estimator" or rows.ndim != 2 or rows.shape[1] != 2 or not len(rows):
        raise BadInput(f"draw_contours shows a density of two columns, and X has the shape {rows.shape}: fit a density on two columns")
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = np.where(high > low, MARGIN * (high - low), 0.5)
    first, second = (np.linspace(a, b, PLACES) for a, b in zip(low - room, high + room, strict=True))
    plane = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    density = np.exp(np.asarray(model.score_samples(as_given(plane)), dtype=np.float64)).reshape(PLACES, PLACES)
    levels = np.unique(np.quantile(np.exp(np.asarray(model.score_samples(X), dtype=np.float64)), 1 - np.array(HELD)))
    ax = new_axes(ax, (6.4, 5.2))
    ax.grid(False)
    ax.contourf(first, second, density, levels=40, cmap=AMOUNTS, zorder=0)
    some = rows[:: max(1, len(rows) // MOST_POINTS)]
    ax.scatter(some[:, 0], some[:, 1], s=7, color="white", edgecolor=BLACK, linewidth=0.3, alpha=0.7, zorder=2)
    levels = levels[(levels > density.min()) & (levels < density.max())]
    if len(levels):
        ax.contour(first, second, density, levels=levels, colors="white", linewidths=1.1, zorder=3)
    columns = getattr(model, "feature_names_in_", ("x0", "x1"))
    ax.set(xlabel=str(columns[0]), ylabel=str(columns[1]), title=titled(model))
    return ax


def draw_bandwidths(model: Any, X: Any, times: Sequence[float] = (0.2, 1.0, 5.0)) -> Any:
    """A fitted kernel density of one column with its bandwidth too small, as it is, and too large: a panel for each of these multiples,
    with the kernels of the rows, where they are few, and the rows. Returns the axes of the panels.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_bandwidths
    >>> X = np.array([[0.0], [0.5], [3.0], [3.2], [3.9]])
    >>> panels = draw_bandwidths(tenfold.KernelDensity(bandwidth=0.5).fit(X), X)
    >>> [ax.get_title() for ax in panels]
    ['bandwidth 0.1: 0.2 times', 'bandwidth 0.5', 'bandwidth 2.5: 5 times']
    """
    check.check_fitted(model)
    rows = np.asarray(X, dtype=np.float64)
    if not hasattr(model, "bandwidth_") or rows.ndim != 2 or rows.shape[1] != 1 or not len(rows):
        raise BadInput(f"draw_bandwidths shows a kernel density of one column, and X has the shape {rows.shape}: fit it on one column")
    h, first = float(np.ravel(model.bandwidth_)[0]), new_axes(None, (3.4 * len(times), 3.2))
    figure = first.figure
    first.remove()
    panels = [new_axes(ax) for ax in np.ravel(figure.subplots(1, len(times), sharex=True))]
    reach = 3 * h * max(min(max(times), 5.0), 1.0)
    x = np.linspace(rows.min() - reach, rows.max() + reach, POINTS)
    for ax, t in zip(panels, times, strict=True):
        other = fresh(model).set_params(bandwidth=t * h).fit(X)
        x_here = np.unique(np.concatenate([x, rows[:MOST_POINTS, 0]]))
        if len(rows) <= 30:
            for row in rows:
                one = fresh(other).fit(row[None])
                ax.plot(x_here, np.exp(one.score_samples(x_here[:, None])) / len(rows), color=GREY, linewidth=0.7)
        ax.plot(x_here, np.exp(other.score_samples(x_here[:, None])), color=BLUE)
        ax.plot(rows[:MOST_POINTS, 0], np.zeros(len(rows[:MOST_POINTS])), "|", color=BLACK, markersize=9, alpha=0.5, clip_on=False)
        ax.set(title=f"bandwidth {amount(t * h)}" + (f": {t:g} times" if t != 1 else ""), ylim=(0, None))
    panels[0].set_ylabel("density")
    for ax in panels:
        ax.set_xlabel(str(getattr(model, "feature_names_in_", ("x0",))[0]))
    return panels
