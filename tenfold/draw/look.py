"""The one look of all pictures: colours that the colour-blind tell apart (Okabe & Ito), light grid, no box."""

from __future__ import annotations

from typing import Any

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#8A8A8A"


def new_axes(ax: Any = None) -> Any:
    """The given axes, or new ones, dressed."""
    if ax is None:
        from matplotlib.figure import Figure
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        FigureCanvasAgg(figure)  # needs no screen; figure.savefig works everywhere
        ax = figure.add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    return ax
