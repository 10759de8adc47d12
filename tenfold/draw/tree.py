"""A decision tree as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tenfold.base.check import check_fitted
from tenfold.base.estimator import Estimator
from tenfold.core.errors import BadParameter, BadType
from tenfold.draw.look import AMOUNTS, COLOURS, GREY, new_axes, short

BOX, LABEL = 9.0, 8.0  # sizes of letters, in points
LINE, PAD, GAP = 0.17, 0.12, 0.16  # inches: of a line, around the words of a box, between boxes side by side
BETWEEN = 0.42  # inches from a box to the label of a box below it
LONGEST = 26  # letters of a line
MOST_BRANCHES = 24  # of a node


@dataclass
class Box:
    """A node: its text, its shade, the label on the line that leads to it, the boxes below it, and where it stands."""

    lines: list[str]
    shade: tuple[int | None, float]
    label: str = ""
    below: list[Box] = field(default_factory=list)
    depth: int = 0
    x: float = 0.0
    top: float = 0.0  # both in inches

    def __iter__(self) -> Iterator[Box]:
        """This box and all below it."""
        yield self
        for box in self.below:
            yield from box

    @property
    def height(self) -> float:
        return LINE * len(self.lines) + 2 * PAD

    @property
    def width(self) -> float:
        """What the box and its label need, with the space to the next one."""
        words = max(_width(line, BOX) for line in self.lines) + 2 * PAD
        return max(words, _width(self.label, LABEL)) + GAP


def draw_tree(model: Any, ax: Any = None, max_depth: int = 3) -> Any:
    """The first levels of a fitted tree: each box shows the prediction of its rows, their weight, and the column of its split.

    Boxes of a classifier have the colour of their class, the paler the more classes are mixed in them; those of a regression
    tree are the brighter the higher their mean. Three dots: there is more below. Without `ax` the picture is as large as its
    words need.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_tree
    >>> X = np.arange(8.0)[:, None]
    >>> ax = draw_tree(tenfold.DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 3))
    >>> sorted(text.get_text() for text in ax.texts)
    ['0 (4)', '0.5 (8)\\nx0', '1 (4)', '<= 3.5', '> 3.5']
    """
    if not isinstance(model, Estimator) or type(model)._outline is Estimator._outline:
        raise BadType(f"{type(model).__name__} is not a single tree: give a decision tree")
    if max_depth < 0:
        raise BadParameter(f"max_depth={max_depth}: must be at least 0")
    check_fitted(model)
    root = _boxes(model, None, "", 0, max_depth)
    width, height = _place(root, 0.0), _stack(root)
    ax = new_axes(ax, (max(3.0, 1.04 * width), 1.04 * height))
    ax.axis("off")
    ax.set_xlim(0.0, width)
    ax.set_ylim(-height, 0.0)
    levels = [box.shade[1] for box in root]
    for box in root:
        face, ink = _colours(box.shade, min(levels), max(levels))
        around = dict(boxstyle="round,pad=0.45", facecolor=face, edgecolor=GREY, linewidth=0.8)
        middle = dict(ha="center", va="center", clip_on=True, parse_math=False)
        text = "\n".join(box.lines)
        ax.text(box.x, box.top - box.height / 2, text, fontsize=BOX, color=ink, zorder=3, bbox=around, **middle)
        for below in box.below:
            ax.plot([box.x, below.x], [box.top - box.height / 2, below.top - PAD], color=GREY, linewidth=1.0, zorder=1)
            ax.text(below.x, below.top + LINE / 2, below.label, fontsize=LABEL, zorder=2, bbox=PAPER, **middle)
    return ax


PAPER = dict(boxstyle="square,pad=0.15", facecolor="white", edgecolor="none")


def _boxes(model: Any, place: Any, label: str, depth: int, deepest: int) -> Box:
    text, shade, branches = model._outline(place)
    verdict, *asked = text.split("\n")
    lines = [verdict]
    if len(verdict) > LONGEST:  # the weight must not be lost
        name, _, weight = verdict.rpartition(" (")
        lines = [short(name, LONGEST), f"({weight}"]
    box = Box(lines, shade, short(label, LONGEST + 6), depth=depth)
    if branches and depth == deepest:
        box.lines = [*lines, "..."]
    elif branches:
        box.lines = [*lines, *(short(name, LONGEST) for name in asked)]
        shown = branches if len(branches) <= MOST_BRANCHES else branches[: MOST_BRANCHES - 1]
        box.below = [_boxes(model, child, label, depth + 1, deepest) for label, child in shown]
        if len(shown) < len(branches):
            box.below.append(Box(["..."], (shade[0], 0.0), f"and {len(branches) - len(shown)} more", depth=depth + 1))
    return box


def _place(box: Box, left: float) -> float:
    """Leaves side by side from `left` on, a parent in the middle of its children; returns where the next may stand."""
    right = left
    for below in box.below:
        right = _place(below, right)
    need = left + box.width
    if not box.below:
        box.x, right = left + box.width / 2, need
        return right
    if need > right:  # wider than what is below: that goes to the middle
        for below in box.below:
            for one in below:
                one.x += (need - right) / 2
        right = need
    box.x = (box.below[0].x + box.below[-1].x) / 2
    half = box.width / 2
    box.x = min(max(box.x, left + half), right - half)
    return right


def _stack(root: Box) -> float:
    """The boxes of a level below those of the level before; returns how high all of it is."""
    top = -PAD
    for depth in range(1 + max(box.depth for box in root)):
        level = [box for box in root if box.depth == depth]
        if depth:
            top -= BETWEEN + LINE
        for box in level:
            box.top = top
        top -= max(box.height for box in level)
    return PAD - top


def _width(text: str, size: float) -> float:
    """Inches of a line of text."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), ismath=False)
    return float(width) / 72


def _colours(shade: tuple[int | None, float], low: float, high: float) -> tuple[Any, Any]:
    """Colour and ink of a box: of class k with some purity, or of a level between those of all boxes."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    which, level = shade
    face: tuple[float, ...]
    if which is None:
        face = colormaps[AMOUNTS](0.15 + 0.8 * ((level - low) / (high - low) if high > low else 0.5))[:3]
    else:
        colour = to_rgb(COLOURS[which % len(COLOURS)])
        face = tuple(1 - (0.08 + 0.8 * level) * (1 - part) for part in colour)
    red, green, blue = (part**2.2 for part in face)
    return (
        face,
        "white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.18 else "black",
    )  # whichever is read better
