"""A decision tree as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tenfold.core.check import check_fitted
from tenfold.core.errors import BadParameter, BadType
from tenfold.draw.look import AMOUNTS, COLOURS, GREY, new_axes, short


@dataclass
class Box:
    """A node: what it says, its colour and ink, the branches below it, and where it stands."""

    text: str
    colours: tuple[Any, Any]
    branches: list[tuple[str, Box]] = field(default_factory=list)
    x: float = 0.0
    depth: int = 0

    def __iter__(self) -> Iterator[Box]:
        """This box and all below it."""
        yield self
        for _, box in self.branches:
            yield from box


def draw_tree(model: Any, ax: Any = None, max_depth: int = 3) -> Any:
    """The first levels of a fitted tree: each box tells what is said of its rows, their weight, and the column it asks for.

    Boxes of a classifier have the colour of their class, the paler the more classes are mixed in them; those of a regression
    tree are the brighter the higher their mean. Three dots: there is more below.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_tree
    >>> X = np.arange(8.0)[:, None]
    >>> ax = draw_tree(tenfold.DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 3))
    >>> sorted(text.get_text() for text in ax.texts)
    ['0 (4)', '0.5 (8)\\nx0', '1 (4)', '<= 3.5', '> 3.5']
    """
    if not hasattr(model, "_outline"):
        raise BadType(f"{type(model).__name__} is not a single tree: give a decision tree")
    if max_depth < 0:
        raise BadParameter(f"max_depth={max_depth}: must be at least 0")
    check_fitted(model)
    root = _boxes(model, 0, 0, max_depth)
    width, height = _place(root, 0.0), 1 + max(box.depth for box in root)
    ax = new_axes(ax, (max(4.0, 1.5 * width), 1.2 * height + 0.2))
    ax.axis("off")
    for box in root:
        face, ink = box.colours
        around = dict(boxstyle="round,pad=0.45", facecolor=face, edgecolor=GREY, linewidth=0.8)
        middle = dict(ha="center", va="center", clip_on=True)
        ax.text(box.x, -box.depth, box.text, fontsize=9, color=ink, zorder=3, bbox=around, **middle)
        for label, below in box.branches:
            ax.plot([box.x, below.x], [-box.depth, -below.depth], color=GREY, linewidth=1.0, zorder=1)
            x, y = box.x + 0.55 * (below.x - box.x), -box.depth - 0.5 * (below.depth - box.depth)
            ax.text(x, y, label, ha="center", va="center", fontsize=8, zorder=2, bbox=PAPER)
    ax.set_xlim(-0.65, width - 0.35)
    ax.set_ylim(0.5 - height, 0.45)
    return ax


PAPER = dict(boxstyle="square,pad=0.15", facecolor="white", edgecolor="none")


def _boxes(model: Any, node: int, depth: int, deepest: int) -> Box:
    said, shade, branches = model._outline(node)
    verdict, *asked = said.split("\n")
    lines = [short(verdict, 24), *(short(name, 24) for name in asked)]
    box = Box("\n".join(lines), _colours(shade), depth=depth)
    if branches and depth == deepest:
        box.text = f"{lines[0]}\n..."
    elif branches:
        box.branches = [(short(label, 24), _boxes(model, child, depth + 1, deepest)) for label, child in branches]
    return box


def _place(box: Box, left: float) -> float:
    """Leaves side by side from `left` on, a parent in the middle of its children; returns where the next may stand."""
    right = left
    for _, below in box.branches:
        right = _place(below, right)
    if not box.branches:
        box.x, right = left, left + 1.0
    else:
        box.x = (box.branches[0][1].x + box.branches[-1][1].x) / 2
    return right


def _colours(shade: tuple[int | None, float]) -> tuple[Any, Any]:
    """Colour and ink of a box: of class k with some purity, or of a level between 0 and 1."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    which, level = shade
    if which is None:
        face = colormaps[AMOUNTS](0.15 + 0.8 * level)[:3]
    else:
        colour = to_rgb(COLOURS[which % len(COLOURS)])
        face = tuple(1 - (0.08 + 0.8 * level) * (1 - part) for part in colour)
    bright = 0.3 * face[0] + 0.59 * face[1] + 0.11 * face[2]
    return face, "white" if bright < 0.55 else "black"
