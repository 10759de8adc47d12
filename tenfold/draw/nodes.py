"""Boxes of two branches each in given axes, as large as these allow: the picture behind `tenfold.plot_tree`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tenfold.draw.look import GREY, new_axes, pyplot_in_use

LARGEST, ROOM = 11.0, 0.85  # points of a letter; share of its place that a box may fill
LINE = 1.25  # height of a line, in letters


@dataclass
class Drawn:
    """A node: its text and colour, the nodes below it, and where it stands, in shares of the axes."""

    text: str
    face: str
    below: list[Drawn] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0


def draw_nodes(root: Drawn, ax: Any = None, *, rounded: bool = False, fontsize: float | None = None) -> list[Any]:
    """The texts that were drawn: of a node, of what is left of it, the branch that leads there, then what is right."""
    ax = _axes(ax)
    levels = list(_levels(root))
    leaves = _place(root, 0, len(levels), 0)
    for box in (box for level in levels for box in level):
        box.x /= leaves
    size = _fitting(levels, leaves, ax) if fontsize is None else fontsize
    style = f"{'round' if rounded else 'square'},pad=0.4"
    common = dict(xycoords="axes fraction", ha="center", va="center", fontsize=size, parse_math=False)
    texts: list[Any] = []

    def draw(box: Drawn, parent: Drawn | None, side: str) -> None:
        around = dict(boxstyle=style, facecolor=box.face, edgecolor="black", linewidth=0.8)
        texts.append(ax.annotate(box.text, (box.x, box.y), bbox=around, zorder=3, color=_ink(box.face), **common))
        if parent is not None:
            line = dict(transform=ax.transAxes, color=GREY, linewidth=1.0, zorder=1, clip_on=False)
            ax.plot([parent.x, box.x], [parent.y, box.y], **line)
        if side:
            between = ((box.x + root.x) / 2, (box.y + root.y) / 2)
            texts.append(ax.annotate(side, between, zorder=2, **{**common, "ha": "right" if side[0] == "T" else "left"}))
        for k, below in enumerate(box.below):
            draw(below, box, ("True  ", "  False")[k] if parent is None else "")

    draw(root, None, "")
    return texts


def _axes(ax: Any) -> Any:
    """The given axes, the current ones of pyplot, or new ones; emptied."""
    if ax is None and pyplot_in_use():
        from matplotlib import pyplot

        ax = pyplot.gca()
    ax = new_axes() if ax is None else ax
    ax.clear()
    ax.set_axis_off()
    return ax


def _levels(root: Drawn) -> Iterator[list[Drawn]]:
    level = [root]
    while level:
        yield level
        level = [below for box in level for below in box.below]


def _place(box: Drawn, depth: int, deepest: int, left: int) -> int:
    """Leaves side by side from place `left` on, a parent in the middle of its children; returns the next free place."""
    box.y = 1 - (depth + 0.5) / deepest
    if not box.below:
        box.x = left + 0.5
        return left + 1
    for below in box.below:
        left = _place(below, depth + 1, deepest, left)
    box.x = (box.below[0].x + box.below[-1].x) / 2
    return left


def _fitting(levels: list[list[Drawn]], leaves: int, ax: Any) -> float:
    """The size of letters with which no box leaves its place: as wide as a leaf, as high as a level."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    def width(line: str) -> float:
        return float(text_to_path.get_text_width_height_descent(line, FontProperties(size=1.0), ismath=False)[0])

    place, (wide, high) = ax.get_position(), ax.figure.get_size_inches() * 72.0
    boxes = [box.text.split("\n") for level in levels for box in level]
    most = max(len(lines) for lines in boxes)
    widest = max(width(line) for line in {max(lines, key=len) for lines in boxes})
    across, down = wide * place.width / leaves, high * place.height / len(levels)
    return float(max(1.0, min(LARGEST, ROOM * across / (widest + 1.0), ROOM * down / (LINE * most + 1.0))))


def _ink(face: str) -> str:
    """Black or white, whichever is read better."""
    from matplotlib.colors import to_rgb

    red, green, blue = (part**2.2 for part in to_rgb(face))
    return "white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.18 else "black"
