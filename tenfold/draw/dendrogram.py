"""Trees of clusters as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.cluster.agglomerative import AgglomerativeClustering
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.draw.look import COLOURS, GREY, amount, new_axes


def draw_dendrogram(tree: Any, clusters: int | None = None, most: int = 30, names: Any = None, ax: Any = None) -> Any:
    """The merges of a tree of clusters: each as high as its clusters were apart. Tree: a fitted AgglomerativeClustering, or a table as
    `tenfold.linkage` and SciPy make it.

    Each of the `clusters` that the cut leaves has a colour, and the dashed line is the cut, half-way between the two merges that it
    separates. Of more rows than `most` the last merges are drawn, and leaves tell how many rows they stand for. names: of the rows.

    >>> import tenfold
    >>> from tenfold.draw import draw_dendrogram
    >>> ax = draw_dendrogram(tenfold.linkage([[0.0], [1.0], [5.0], [6.5]], "average"), clusters=2, names=list("abcd"))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['a', 'b', 'c', 'd']
    """
    Z, k = _table(tree, clusters)
    n = len(Z) + 1
    if most < 2:
        raise BadParameter(f"most={most!r}: must be at least 2, as many leaves as a tree has")
    if names is not None and len(names) != n:
        raise BadInput(f"names has {len(names)} names, but the tree has {n} rows")
    ax = new_axes(ax, (max(4.8, min(n, most) * 0.24 + 1.2), 4.0))
    shown = min(n, max(most, k)) - 1  # merges: the last ones
    first = 2 * n - 1 - shown  # clusters from here on have their merge in the picture
    place, ticks = _places(Z, n, first)
    group = _groups(Z, n, k, first)
    for made in range(first, 2 * n - 1):
        a, b = (int(one) for one in Z[made - n, :2])
        height, low = Z[made - n, 2], [Z[one - n, 2] if one >= n and one >= first else 0.0 for one in (a, b)]
        colour = COLOURS[group[made] % len(COLOURS)] if made in group else GREY
        across = [place[a], place[a], place[b], place[b]]
        ax.plot(across, [low[0], height, height, low[1]], color=colour, linewidth=1.2, solid_joinstyle="miter")
        for one, x, bottom in ((a, place[a], low[0]), (b, place[b], low[1])):
            if one in group and made not in group:  # a cluster, whose line upwards goes beyond it
                ax.plot([x, x], [bottom, min(height, _cut_at(Z, n, k))], color=COLOURS[group[one] % len(COLOURS)], linewidth=1.2)
    if 1 < k < n:
        ax.axhline(_cut_at(Z, n, k), color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        ax.annotate(f"{k} clusters", (1, _cut_at(Z, n, k)), xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points",
                    ha="right", color=GREY)  # fmt: skip
    ax.set_xticks(np.arange(len(ticks)), [_leaf(one, Z, n, names) for one in ticks], rotation=90 if len(ticks) > 12 else 0)
    ax.set_xlim(-0.7, len(ticks) - 0.3)
    ax.set_ylim(0, None)
    ax.grid(axis="x", visible=False)
    ax.set_ylabel("distance")
    if len(ticks) < n:
        ax.set_xlabel(f"rows, or how many (of {amount(n)})")
    return ax


def _table(tree: Any, clusters: int | None) -> tuple[Array, int]:
    """The table, and how many clusters the cut leaves."""
    model = tree if isinstance(tree, AgglomerativeClustering) else None
    Z = np.asarray(tree if model is None else model.linkage_, dtype=np.float64)
    if Z.ndim != 2 or Z.shape[1] != 4 or not len(Z):
        raise BadInput(f"tree: must be a fitted AgglomerativeClustering or a table (n − 1, 4) of at least one merge, not {Z.shape}")
    k = clusters if clusters is not None else 1 if model is None else model.n_clusters_
    if not 1 <= k <= len(Z) + 1:
        raise BadParameter(f"clusters={k!r}: must be from 1 to {len(Z) + 1}, the number of rows")
    return Z, int(k)


def _places(Z: Array, n: int, first: int) -> tuple[dict[int, float], list[int]]:
    """Where each cluster of the picture is, and those that are its leaves, from left to right."""
    ticks: list[int] = []
    open_ = [2 * n - 2]
    while open_:
        one = open_.pop()
        if one >= first and one >= n:
            open_ += [int(Z[one - n, 1]), int(Z[one - n, 0])]
        else:
            ticks.append(one)
    place = {one: float(x) for x, one in enumerate(ticks)}
    for made in range(max(first, n), 2 * n - 1):
        place[made] = (place[int(Z[made - n, 0])] + place[int(Z[made - n, 1])]) / 2
    return place, ticks


def _groups(Z: Array, n: int, k: int, first: int) -> dict[int, int]:
    """The number of the cluster, from left to right, of each part of the picture below the cut; none where all is one cluster."""
    if k == 1:
        return {one: 0 for one in range(2 * n - 1)}
    found: dict[int, int] = {}
    open_, number = [(2 * n - 2, -1)], 0
    while open_:
        one, group = open_.pop()
        if group < 0 and one < 2 * n - k:  # a merge before the cut: a cluster with all that is in it
            group, number = number, number + 1
        if group >= 0:
            found[one] = group
        if one >= max(first, n):
            open_ += [(int(Z[one - n, 1]), group), (int(Z[one - n, 0]), group)]
    return found


def _cut_at(Z: Array, n: int, k: int) -> float:
    return float((Z[n - k - 1, 2] + Z[n - k, 2]) / 2) if 1 < k < n else np.inf


def _leaf(one: int, Z: Array, n: int, names: Any) -> str:
    if one >= n:
        return f"({int(Z[one - n, 3])})"
    return str(one if names is None else names[one])
