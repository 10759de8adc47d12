"""What a classifier says of every point of a plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.errors import BadInput
from tenfold.draw.fit import like
from tenfold.draw.look import BLACK, COLOURS, new_axes, titled

PLACES = 240  # in each direction
MARGIN = 0.05  # around the rows, as a share of their range
MOST_POINTS = 4000
MOST_CELLS = 2000
HELD = (0.5, 0.9)  # shares of the rows of a class that the lines of its density hold
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def draw_regions(model: Any, X: Any, y: Any = None, ax: Any = None, *, cells: bool = False, densities: bool = False) -> Any:
    """The class that a fitted classifier (or the cluster that a clusterer) gives to every point of a plane of two columns, the paler
    the less sure where it knows probabilities; rows as points, those that it gets wrong with a dark rim.

    y: the classes of the rows; without it the points are what the model says of them. cells: the Voronoi cells of the rows X, the points
    that are nearer to a row than to any other: the regions of the nearest neighbour are made of them. densities: lines of equal density
    of each class, those that hold half and nine tenths of its rows, of a model that knows densities (`BayesClassifier`, naive Bayes).

    >>> import tenfold
    >>> from tenfold.draw import draw_regions
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [1.0, 3.0]], ["a", "a", "b", "b"]
    >>> ax = draw_regions(tenfold.KNeighborsClassifier(1).fit(X, y), X, y, cells=True)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    as_given, rows = like(X), np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows) or not np.isfinite(rows).all():
        raise BadInput(f"draw_regions shows rows of two columns of numbers, and X has the shape {rows.shape}: fit the model to two columns")
    labels = np.asarray(model.predict(X) if y is None else y)
    if labels.shape != (len(rows),):
        raise BadInput(f"draw_regions shows one target: y has the shape {labels.shape}, and X {len(rows)} rows")
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = np.where(high > low, MARGIN * (high - low), 0.5)
    first, second = (np.linspace(a, b, PLACES) for a, b in zip(low - room, high + room, strict=True))
    plane = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    predicted, confidence = _predictions(model, as_given(plane))
    if predicted.dtype.kind == "f" and len(np.unique(predicted)) > len(COLOURS) ** 2:
        raise BadInput(f"draw_regions shows classes, and {type(model).__name__} predicts numbers: use draw_fit")
    names = np.unique(np.concatenate([np.unique(predicted), np.unique(labels)]))
    ax = new_axes(ax, (6.4, 5.2))
    ax.grid(False)
    ax.imshow(
        _picture(np.searchsorted(names, predicted), confidence).reshape(PLACES, PLACES, 4),
        origin="lower", aspect="auto", interpolation="nearest",
        extent=(first[0], first[-1], second[0], second[-1]), zorder=0,
    )  # fmt: skip
    if cells:
        _draw_cells(ax, rows)
    if densities:
        _draw_densities(ax, model, X, labels, names, first, second, as_given(plane))
    _draw_rows(ax, rows, labels, names, labels != np.asarray(model.predict(X)))
    columns = getattr(model, "feature_names_in_", ("x0", "x1"))
    ax.set(xlim=(first[0], first[-1]), ylim=(second[0], second[-1]), xlabel=str(columns[0]), ylabel=str(columns[1]), title=titled(model))
    ax.legend(fontsize=9)
    return ax


def _predictions(model: Any, plane: Any) -> tuple[Any, Any]:
    """The class of each point, and its probability from 0 (as all others) to 1; 1 where there are none."""
    predicted = np.asarray(model.predict(plane))
    if not hasattr(model, "predict_proba") or predicted.ndim != 1:
        return predicted, np.ones(len(predicted))
    shares = np.asarray(model.predict_proba(plane))
    even = 1 / shares.shape[1]
    return predicted, (shares.max(axis=1) - even) / (1 - even) if even < 1 else np.ones(len(predicted))


def _picture(code: Any, confidence: Any) -> Any:
    """(points, 4): colours, the paler the less sure."""
    from matplotlib.colors import to_rgba

    found = np.array([to_rgba(COLOURS[k % len(COLOURS)]) for k in range(int(code.max()) + 1)])[code]
    found[:, 3] = 0.08 + 0.32 * np.clip(confidence, 0.0, 1.0)
    return found


def _draw_rows(ax: Any, rows: Any, labels: Any, names: Any, wrong: Any) -> None:
    shown = np.random.default_rng(0).permutation(len(rows))[:MOST_POINTS]
    for k, name in enumerate(names):
        mine = shown[labels[shown] == name]
        rim = np.where(wrong[mine], BLACK, "white")
        style = dict(color=COLOURS[k % len(COLOURS)], marker=MARKERS[k % len(MARKERS)], s=22, linewidths=0.8, zorder=3)
        ax.scatter(*rows[mine].T, edgecolors=rim, label=str(name), **style)


def _draw_densities(ax: Any, model: Any, X: Any, labels: Any, names: Any, first: Any, second: Any, plane: Any) -> None:
    """Contours of the density of each class."""
    if not hasattr(model, "predict_joint_log_proba"):
        raise BadInput(
            f"draw_regions(densities=True) shows densities of classes, and {type(model).__name__} knows none: give a BayesClassifier"
        )
    rows, places = np.asarray(model.predict_joint_log_proba(X)), np.asarray(model.predict_joint_log_proba(plane))
    for k, label in enumerate(model.classes_):
        mine = rows[labels == label, k]
        if len(mine) and np.isfinite(mine).all():
            levels = np.unique(np.quantile(mine, [1 - share for share in HELD]))
            colour = COLOURS[int(np.searchsorted(names, label)) % len(COLOURS)]
            style = dict(colors=colour, linewidths=1.1, linestyles="solid", zorder=2)
            ax.contour(first, second, places[:, k].reshape(PLACES, PLACES), levels, **style)


def _draw_cells(ax: Any, rows: Any) -> None:
    """The borders of the Voronoi cells; those that are open end far outside, where mirrored rows close them."""
    from matplotlib.collections import LineCollection
    from scipy.spatial import Voronoi

    points = np.unique(rows, axis=0)
    if len(points) > MOST_CELLS:
        raise BadInput(f"draw_regions(cells=True) shows at most {MOST_CELLS:,} cells, and there are {len(points):,}: give fewer rows")
    centre, reach = points.mean(axis=0), 100 * (np.ptp(points, axis=0) + 1)
    corners = centre + reach * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    found = Voronoi(np.vstack([points, corners]))
    edges = [found.vertices[list(edge)] for edge in found.ridge_vertices if -1 not in edge]
    ax.add_collection(LineCollection(edges, colors=BLACK, linewidths=0.5, alpha=0.5, zorder=2))
