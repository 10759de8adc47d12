"""Learning and validation curves as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.draw.look import BLUE, GREY, ORANGE, RED, new_axes, short


def draw_learning_curve(curve: Any, ax: Any = None) -> Any:
    """Scores on held-out and training rows against the number of training rows, with bands of one standard error.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import learning_curve
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> ax = learning_curve(tenfold.Ridge(), X, X[:, 0], folds=3, sizes=3).plot()
    >>> ax.get_xlabel()
    'training rows'
    """
    ax = new_axes(ax)
    sizes = np.asarray(curve.sizes, dtype=np.float64)
    _both(ax, sizes, curve)
    if sizes[0] > 0 and sizes[-1] / sizes[0] > 50:
        ax.set_xscale("log")
    ax.set(xlabel="training rows", ylabel=curve.score.title, title=short(curve.model))
    ax.legend()
    return ax


def draw_validation_curve(curve: Any, ax: Any = None) -> Any:
    """Scores on held-out and training rows along a parameter; the best value is marked, and what is as good.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import validation_curve
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> ax = validation_curve(tenfold.Ridge(), X, X[:, 0], "alpha", [0.1, 1.0, 10.0], folds=3).plot()
    >>> ax.get_xlabel()
    'alpha'
    """
    ax = new_axes(ax)
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in curve.values)
    place = np.asarray(curve.values if numbers else range(len(curve.values)), dtype=np.float64)
    order = np.argsort(place)
    _both(ax, place, curve, order)
    if numbers and place.min() > 0 and place.max() / place.min() > 50:
        ax.set_xscale("log")
    if not numbers:
        ax.set_xticks(place, [short(str(value), 16) for value in curve.values])
    best = curve.best_index
    shown = f"{curve.best:.4g}" if numbers else str(curve.best)
    ax.axvline(place[best], color=ORANGE, linestyle="--", linewidth=1.2, label=f"best: {curve.name} = {shown}")
    ax.axhline(curve.limit, color=GREY, linestyle=":", linewidth=1.2, label="one standard error from the best")
    ax.set(xlabel=curve.name, ylabel=curve.score.title, title=short(curve.model))
    ax.legend(fontsize=9)
    return ax


def _both(ax: Any, place: Any, curve: Any, order: Any = slice(None)) -> None:
    for name, colour, dash, marker, mean, error in (
        ("held-out rows", BLUE, "-", "o", curve.test_mean, curve.test_error),
        ("training rows", RED, (0, (6, 2)), "s", curve.train_mean, curve.train_error),
    ):
        at, middle, half = place[order], mean[order], np.nan_to_num(error[order])
        band = "± one standard error" if name == "held-out rows" else None  # once: the other band has its line's colour
        ax.fill_between(at, middle - half, middle + half, color=colour, alpha=0.15, linewidth=0, label=band)
        many = len(at) > 25
        ax.plot(at, middle, color=colour, linestyle=dash, marker=None if many else marker, markersize=4, label=name)
