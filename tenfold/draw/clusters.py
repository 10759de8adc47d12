"""Pictures of what clusters are found by."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.check import check_fitted, check_predict
from tenfold.cluster.mean_shift import REST, MeanShift, shifted
from tenfold.core import ops
from tenfold.core.errors import BadInput, BadParameter, BadType
from tenfold.draw.look import BLACK, BLUE, COLOURS, GREY, amount, new_axes
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


def draw_mean_shift(model: Any, X: Any, ax: Any = None, most: int = 150) -> Any:
    """The ways of points to the peaks of a fitted MeanShift of two columns: from every n-th row of X, `most` of them, step by step.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_mean_shift
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> ax = draw_mean_shift(tenfold.MeanShift(bandwidth=1.0).fit(X), X)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x0', 'x1')
    """
    if not isinstance(model, MeanShift):
        raise BadType(f"{type(model).__name__} does not move points: give a fitted MeanShift")
    check_fitted(model)
    if model.n_features_in_ != 2:
        raise BadInput(f"the picture is of two columns, and this model is of {model.n_features_in_}: fit one to two of them")
    rows = np.ascontiguousarray(ops.dense(check_predict(model, X)), dtype=np.float64)
    ways = _ways(model, rows, rows[:: -(-len(rows) // most)])
    ends = model.predict(ways[-1])
    ax = new_axes(ax, (5.6, 5.0))
    ax.scatter(*rows.T, s=6, color=GREY, alpha=0.4, linewidths=0)
    for end, way in zip(ends, ways.transpose(1, 0, 2), strict=True):
        ax.plot(*way.T, color=COLOURS[end % len(COLOURS)], linewidth=0.8, marker=".", markersize=2)
    ax.scatter(*model.cluster_centers_.T, s=60, color=BLACK, marker="x", zorder=3)
    names = vars(model).get("feature_names_in_")
    ax.set_xlabel("x0" if names is None else str(names[0]))
    ax.set_ylabel("x1" if names is None else str(names[1]))
    ax.set_title(f"{len(model.cluster_centers_)} peaks, bandwidth {amount(model.bandwidth_)}", fontsize=11)
    return ax


def _ways(model: MeanShift, rows: Any, points: Any) -> Any:
    """(steps, points, 2): where points are after each step; those that rest stay."""
    ways, moving = [points], np.ones(len(points), dtype=bool)
    for _ in range(model.max_iter + 1):
        after = ways[-1].copy()
        found, weight, _ = shifted(rows, np.ones(len(rows)), after[moving], model.bandwidth_, model.kernel, 0)
        after[moving] = np.where(weight[:, None] > 0, found, after[moving])
        far = np.sqrt(((after - ways[-1]) ** 2).sum(axis=1))
        ways.append(after)
        moving &= far > REST * model.bandwidth_
        if not moving.any():
            break
    return np.array(ways)
