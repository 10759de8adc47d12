"""Pictures of what clusters are found by."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.draw.look import BLUE, GREY, amount, new_axes
from tenfold.near.index import NeighborIndex


def draw_neighbor_distances(X: Any, k: int = 4, metric: Any = "euclidean", ax: Any = None) -> Any:
    """How far the k-th neighbour of each row is, in rising order: rows of clusters have near ones, noise has far ones, and the bend
    between them is a guess at `eps` of DBSCAN, with min_samples = k + 1. The bend is where the curve is farthest below the line between
    its ends.

    >>> import numpy as np
    >>> from tenfold.draw import draw_neighbor_distances
    >>> ax = draw_neighbor_distances(np.random.default_rng(0).normal(size=(200, 2)))
    >>> ax.get_ylabel()
    'distance to neighbour 4'
    """
    index = NeighborIndex(X, metric)
    if not 1 <= k < len(index):
        raise BadParameter(f"k={k!r}: must be a whole number from 1 to {len(index) - 1}, as many as other rows")
    away = np.sort(index.nearest(None, k)[0][:, -1])
    rise = np.linspace(away[0], away[-1], len(away)) - away
    bend = int(rise.argmax())
    ax = new_axes(ax)
    ax.plot(np.arange(1, len(away) + 1), away, color=BLUE)
    ax.axhline(away[bend], color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    ax.annotate(f"bend: {amount(away[bend])}", (1, away[bend]), xytext=(0, 4), textcoords="offset points", color=GREY)
    ax.set_xlabel("rows, by this distance")
    ax.set_ylabel(f"distance to neighbour {k}")
    return ax
