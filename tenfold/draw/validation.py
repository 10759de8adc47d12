"""Pictures of cross-validation: fold scores, and the curve along a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.draw.look import BLUE, GREY, ORANGE, new_axes, short

MOST_TICKS, MOST_DOTS = 25, 400  # folds that are numbered, and that have a dot of their own


def draw_folds(result: Any, ax: Any = None) -> Any:
    """One dot for each fold and repeat, the mean as a line, and a band of one corrected standard error."""
    ax = new_axes(ax)
    repeats, folds = result.scores.shape
    place = np.arange(1, folds + 1)
    many = folds > MOST_DOTS  # leave-one-out: dots so many that only where they are dense is seen
    for scores in result.scores:
        ax.plot(place, scores, "," if many else "o", color=BLUE, alpha=max(0.3, 1 / repeats), zorder=3)
    mean, error = result.mean, result.standard_error
    known = bool(np.isfinite(error))
    label = f"mean {mean:.4g}" + (f" ± {error:.2g}, the corrected standard error" if known else "")
    ax.axhline(mean, color=ORANGE, zorder=2, label=label)
    if known:
        ax.axhspan(mean - error, mean + error, color=ORANGE, alpha=0.15, lw=0, zorder=1)
    ax.set(xlabel="fold", ylabel=f"{result.score.title} on held-out rows", title=short(result.model))
    if folds <= MOST_TICKS:
        ax.set_xticks(place)
    ax.legend()
    return ax


def draw_path(result: Any, ax: Any = None) -> Any:
    """Mean score along the parameter with a band of one corrected standard error; the best value is marked."""
    ax = new_axes(ax)
    values, mean, error = np.asarray(result.values, dtype=float), result.mean, result.standard_error
    band = "± one corrected standard error"
    ax.fill_between(values, mean - error, mean + error, color=BLUE, alpha=0.15, lw=0, label=band)
    ax.plot(values, mean, color=BLUE, label="mean of the folds")
    ax.axvline(values[result.best_index], color=ORANGE, ls="--", label=f"best: {result.name} = {result.best:.4g}")
    if values.min() > 0 and values.max() / values.min() > 50:
        ax.set_xscale("log")
    ax.set(xlabel=result.name, ylabel=f"{result.score.title} on held-out rows", title=short(result.model))
    ax.tick_params(colors=GREY, labelcolor="black")
    ax.legend()
    return ax
