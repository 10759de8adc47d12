"""The one look of all pictures: colours that the colour-blind can distinguish (Okabe & Ito), light grid, no box."""

from __future__ import annotations

import sys
from typing import Any

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#8A8A8A"
SKY, BLACK = "#56B4E9", "#000000"
# Several curves in one picture differ in colour and in dash, so that they can be distinguished in black and white too.
COLOURS = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY, BLACK)
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
AMOUNTS, SIGNED = "cividis", "PuOr_r"  # colour maps: of amounts, and of what may be above or below zero


def new_axes(ax: Any = None, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """The given axes, or new ones, in the one look.

    Where pyplot is in use, new axes are pyplot's: a notebook shows them, and so does plt.show(); plt.savefig keeps them. Elsewhere, in
    a program that only saves files, the figure belongs to nobody: it opens no window and is freed with the last reference.
    """
    if ax is None and pyplot_in_use():
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=size, layout="constrained")[1]
    elif ax is None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)  # needs no screen; figure.savefig works everywhere
        ax = figure.add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def pyplot_in_use() -> bool:
    """Whether figures are expected to appear: pyplot was imported, or somebody sits at a notebook or a prompt."""
    shell = sys.modules.get("IPython")
    notebook = shell is not None and shell.get_ipython() is not None
    return notebook or "matplotlib.pyplot" in sys.modules or hasattr(sys, "ps1") or bool(sys.flags.interactive)


def style(k: int) -> dict[str, Any]:
    """Colour and dash of the k-th curve."""
    return dict(color=COLOURS[k % len(COLOURS)], linestyle=DASHES[k % len(DASHES)])


def short(text: str, most: int = 60) -> str:
    """A title that fits."""
    return text if len(text) <= most else text[: most - 3] + "..."


def titled(model: Any) -> str:
    """A model as a title: its parameters, unless one is an object that has no text of its own."""
    text = repr(model)
    return short(type(model).__name__ if " at 0x" in text else text)


def amount(value: float) -> str:
    """A number in a picture: three digits, thousands whole."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
