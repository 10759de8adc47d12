"""Residuals as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.draw.look import BLUE, GREY, RED, new_axes
from tenfold.score.inputs import truth_and_values

MANY = 5_000  # rows above which points would hide one another: cells are shaded instead


def draw_residuals(y_true: Any, y_pred: Any, *, sample_weight: Any = None, ax: Any = None) -> Any:
    """Truth less prediction against the prediction, with the mean and the spread (one standard deviation) along it.

    A mean that leaves zero shows a shape the model misses; a spread that grows, of noise that does.

    >>> from tenfold.draw import draw_residuals
    >>> ax = draw_residuals([1.0, 2.0, 3.0], [1.5, 2.0, 2.5])
    >>> ax.collections[0].get_offsets()[:, 1].tolist()
    [-0.5, 0.0, 0.5]
    """
    truth, value, w = truth_and_values(y_true, y_pred, sample_weight)
    truth, value = truth.reshape(-1), value.reshape(-1)
    rest = truth - value
    w = np.ones(len(rest)) if w is None else np.repeat(w, len(rest) // len(w))
    ax = new_axes(ax)
    if len(rest) <= MANY:
        ax.scatter(value, rest, s=14, color=BLUE, alpha=0.5 if len(rest) > 300 else 0.75, linewidth=0, label="rows")
    else:
        cells = ax.hexbin(
            value, rest, C=w, reduce_C_function=np.sum, gridsize=60, cmap="Blues", bins="log", mincnt=1, linewidths=0
        )
        ax.figure.colorbar(cells, ax=ax, label="rows")
    ax.axhline(0, color=GREY, linewidth=1.2, linestyle=":")
    groups = (
        [g for g in np.array_split(np.argsort(value, kind="stable"), min(15, len(rest) // 15)) if len(g)]
        if len(rest) >= 45
        else []
    )
    if groups:
        at = np.array([np.average(value[g], weights=w[g]) for g in groups])
        mean = np.array([np.average(rest[g], weights=w[g]) for g in groups])
        spread = np.array(
            [np.sqrt(np.average((rest[g] - m) ** 2, weights=w[g])) for g, m in zip(groups, mean, strict=True)]
        )
        ax.plot(at, mean, color=RED, linewidth=1.8, label="mean")
        for side in (-1, 1):
            ax.plot(
                at,
                mean + side * spread,
                color=RED,
                linewidth=1.2,
                linestyle=(0, (6, 2)),
                label="mean ± spread" if side > 0 else None,
            )
        ax.legend(fontsize=9)
    root = float(np.sqrt(np.average(rest**2, weights=w)))
    ax.set(xlabel="predicted", ylabel="true less predicted", title=f"root mean squared error {root:.4g}")
    return ax
