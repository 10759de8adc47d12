"""Columns as arrows over a cloud of rows, with labels that do not lie upon one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.draw.labels import apart
from tenfold.draw.look import BLACK, GREY, short

SHORTEST = 0.15  # of the longest: shorter ones are left out
REACH = 0.8  # of the cloud
LONGEST_NAME = 24


def column_arrows(ax: Any, place: Array, way: Array, names: list[str], most: int) -> None:
    """An arrow from zero for each of the longest ways, scaled to the cloud; last of all, when the axes have
    their labels and so their size. place: (rows, 2); way: (columns, 2)."""
    length = np.hypot(*way.T)
    if not len(length) or not length.any():
        return
    kept = [j for j in np.argsort(-length, kind="stable")[:most] if length[j] >= SHORTEST * length.max()]
    reach = REACH * float(np.abs(place).max()) / float(length.max())
    ends = reach * way[kept]
    for end in ends:
        ax.annotate("", end, (0, 0), arrowprops=dict(arrowstyle="->", color=GREY, linewidth=1.2)).set_in_layout(False)
    plate = dict(boxstyle="square,pad=0.05", facecolor="white", alpha=0.6, linewidth=0)
    texts = list[Any]()
    for j, end in zip(kept, ends, strict=True):
        side = "left" if end[0] >= 0 else "right"
        texts.append(ax.text(*(1.04 * end), short(names[j], LONGEST_NAME), fontsize=8, color=BLACK, ha=side, va="center", bbox=plate))
        texts[-1].set_in_layout(False)  # it is moved into the axes: they need not become smaller for it
    ax.figure.draw_without_rendering()  # so that texts know their size
    boxes, frame = np.array([text.get_window_extent().extents for text in texts]), ax.get_window_extent()
    right = np.maximum(frame.x0 - boxes[:, 0], 0) - np.maximum(boxes[:, 2] - frame.x1, 0)  # what lies outside comes in
    middle, width, level = (boxes[:, 0] + boxes[:, 2]) / 2 + right, boxes[:, 2] - boxes[:, 0], (boxes[:, 1] + boxes[:, 3]) / 2
    up = apart(middle, level, width, float((boxes[:, 3] - boxes[:, 1]).max()), frame.y0, frame.y1) - level
    for text, move in zip(texts, np.column_stack([right, up]), strict=True):
        text.set_position(ax.transData.inverted().transform(ax.transData.transform(text.get_position()) + move))
