"""Pictures of cross-validation: fold scores, and the curve along a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.draw.look import BLUE, GREY, ORANGE, new_axes, said, short


def draw_folds(result: Any, ax: Any = None) -> Any:
    """One dot for each fold and repeat, the mean as a line, and a band of one corrected standard error."""
    ax = new_axes(ax)
    repeats, folds = result.scores.shape
    place = np.arange(1, folds + 1)
    for scores in result.scores:
        ax.plot(place, scores, "o", color=BLUE, alpha=max(0.3, 1 / repeats), zorder=3)
    ax.axhline(result.mean, color=ORANGE, zorder=2, label=f"mean {result.mean:.4g} ± {result.standard_error:.2g}")
    ax.axhspan(
        result.mean - result.standard_error,
        result.mean + result.standard_error,
        color=ORANGE,
        alpha=0.15,
        lw=0,
        zorder=1,
    )
    ax.set(xlabel="fold", ylabel=f"{said(result.score.name)} on held-out rows", title=short(result.model))
    ax.set_xticks(place)
    ax.legend()
    return ax


def draw_path(result: Any, ax: Any = None) -> Any:
    """Mean score along the parameter with a band of one corrected standard error; the best value is marked."""
    ax = new_axes(ax)
    values, mean, error = np.asarray(result.values, dtype=float), result.mean, result.standard_error
    ax.fill_between(values, mean - error, mean + error, color=BLUE, alpha=0.15, lw=0)
    ax.plot(values, mean, color=BLUE)
    ax.axvline(values[result.best_index], color=ORANGE, ls="--", label=f"best: {result.name} = {result.best:.4g}")
    if values.min() > 0 and values.max() / values.min() > 50:
        ax.set_xscale("log")
    ax.set(xlabel=result.name, ylabel=f"{said(result.score.name)} on held-out rows", title=short(result.model))
    ax.tick_params(colors=GREY, labelcolor="black")
    ax.legend()
    return ax
