"""Importance as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.draw.look import BLUE, GREY, new_axes, short


def draw_importance(found: Any, ax: Any = None, most: int = 20) -> Any:
    """One dot with its range for each column, the most important first; at most `most` columns.

    Grey dots are columns whose range is not above zero.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import permutation_importance
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> ax = permutation_importance(tenfold.Ridge(), X, 2 * X[:, 1] + X[:, 0]).plot()
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x1', 'x0', 'x2']
    """
    mean, (low, high) = found.importances_mean, found.interval.T
    order = np.argsort(-mean, kind="stable")[:most]
    ax = new_axes(ax, (6.4, max(1.6, 0.28 * len(order) + 1.1)))
    place = np.arange(len(order))
    clear = low[order] > 0
    for which, colour in ((clear, BLUE), (~clear, GREY)):
        rows = order[which]
        if not len(rows):
            continue
        reach = np.nan_to_num([mean[rows] - low[rows], high[rows] - mean[rows]])
        ax.errorbar(
            mean[rows], place[which], xerr=reach, fmt="o", color=colour, markersize=5, elinewidth=1.4, capsize=0
        )
    ax.axvline(0, color=GREY, linewidth=1.0, linestyle=":")
    ax.set_yticks(place, [short(found.columns[j], 24) for j in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    change = "fall" if found.score.greater_is_better else "rise"
    ax.set_xlabel(f"{change} of {found.score.title} when shuffled ({100 * found.level:g}% range)")
    hidden = len(mean) - len(order)
    ax.set_title(
        f"{found.score.title} {found.baseline:.4g} before shuffling"
        + (f"; {hidden} more columns not shown" if hidden else ""),
        fontsize=11,
    )
    return ax
