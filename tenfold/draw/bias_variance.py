"""Bias and variance as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.draw.look import BLACK, BLUE, GREEN, GREY, RED, amount, new_axes
from tenfold.evaluate.curves.decomposition import BiasVariance, BiasVariancePath


def draw_bias_variance(found: BiasVariance | BiasVariancePath, ax: Any = None) -> Any:
    """The parts of the error: bars that build it up, or curves along a parameter.

    Noise that was not given is part of the bias, and so labelled.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import bias_variance
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> ax = bias_variance(tenfold.Ridge(), X, X[:, 0], replicates=20).plot()
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['bias² with noise', 'variance', 'error']
    """
    known = (found.parts[0] if isinstance(found, BiasVariancePath) else found).noise_known
    bias = ("bias²" if found.loss == "squared" else "bias") + ("" if known else " with noise")
    error = "squared error" if found.loss == "squared" else "share of rows predicted wrong"
    parts: tuple[tuple[str, str, str], ...] = (
        ("bias", bias, BLUE),
        ("variance", "variance", RED),
        ("noise", "noise", GREY),
    )
    if isinstance(found, BiasVariancePath):
        return _along(found, new_axes(ax), parts, error)
    parts = tuple(part for part in parts if part[0] != "noise" or known)
    ax = new_axes(ax, (6.4, 2.4))
    sizes = [getattr(found, key) for key, _, _ in parts]
    starts = np.concatenate([[0.0], np.cumsum(sizes)])  # each part begins where the one before it ends
    for place, ((_, _, colour), size) in enumerate(zip(parts, sizes, strict=True)):
        ax.barh(place, size, left=starts[place], color=colour, height=0.62)
    ax.barh(len(parts), found.error, color=GREEN, height=0.62)
    ends = [*np.maximum(starts[:-1], starts[1:]), found.error]
    for place, (size, end) in enumerate(zip([*sizes, found.error], ends, strict=True)):
        ax.annotate(amount(size), (end, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
    ax.set_yticks(range(len(parts) + 1), [name for _, name, _ in parts] + ["error"])
    ax.invert_yaxis()
    ax.margins(x=0.12)
    ax.set_xlim(left=min(0.0, starts.min()))
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(error)
    return ax


def _along(found: Any, ax: Any, parts: Any, error: str) -> Any:
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in found.values)
    place = np.asarray(found.values if numbers else range(len(found.values)), dtype=np.float64)
    few = len(place) <= 25
    for (key, name, colour), dash, marker in zip(
        parts, ((0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2))), "^sD", strict=True
    ):
        if key != "noise" or found.parts[0].noise_known:
            ax.plot(
                place,
                found.column(key),
                color=colour,
                linestyle=dash,
                marker=marker if few else None,
                markersize=4,
                label=name,
            )
    ax.plot(
        place,
        found.column("error"),
        color=BLACK,
        linewidth=2.0,
        marker="o" if few else None,
        markersize=4,
        label="error",
    )
    if numbers and place.min() > 0 and place.max() / place.min() > 50:
        ax.set_xscale("log")
    if not numbers:
        ax.set_xticks(place, [str(value) for value in found.values])
    ax.set(xlabel=found.name, ylabel=error)
    ax.legend(fontsize=9)
    return ax
