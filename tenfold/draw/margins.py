"""What a classifier decides by, over a plane: its decision function, its margins, and the rows that carry them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.errors import BadInput
from tenfold.draw.fit import like
from tenfold.draw.look import BLACK, COLOURS, new_axes, titled
from tenfold.draw.regions import MARGIN, MARKERS, MOST_POINTS

PLACES = 240  # in each direction
FULL = 2.0  # of the decision function, from where colours are as strong as they get


def draw_margins(model: Any, X: Any, y: Any = None, ax: Any = None) -> Any:
    """The decision function of a fitted classifier over a plane of two columns: a line where it is 0, dashed ones where it is −1 and +1,
    the paler the nearer to 0; rows as points, and the support vectors of a model that has them with a ring.

    Of several classes each has the line where its own decision function is 0. Of a model of one class (OneClassSVM, IsolationForest)
    there is the line between what it takes for its own and the rest. y: the classes of the rows; without it the points are what the
    model says of them.

    >>> import tenfold
    >>> from tenfold.draw import draw_margins
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [1.0, 3.0]], ["a", "a", "b", "b"]
    >>> ax = draw_margins(tenfold.LinearSVC(C=10.0).fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    as_given, rows = like(X), np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows) or not np.isfinite(rows).all():
        raise BadInput(f"draw_margins shows rows of two columns of numbers, and X has the shape {rows.shape}: fit the model to two columns")
    if not hasattr(model, "decision_function"):
        raise BadInput(f"draw_margins shows a decision function, and {type(model).__name__} has none: use draw_regions")
    labels = np.asarray(model.predict(X) if y is None else y)
    if labels.shape != (len(rows),):
        raise BadInput(f"draw_margins shows one target: y has the shape {labels.shape}, and X {len(rows)} rows")
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = np.where(high > low, MARGIN * (high - low), 0.5)
    first, second = (np.linspace(a, b, PLACES) for a, b in zip(low - room, high + room, strict=True))
    plane = as_given(np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2))
    scores = np.asarray(model.decision_function(plane), dtype=np.float64)
    scores = scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
    ours = np.asarray(getattr(model, "classes_", [-1, 1]))
    names = np.unique(np.concatenate([ours.astype(labels.dtype) if ours.dtype.kind in "iufb" else ours, labels]))
    ax = new_axes(ax, (6.4, 5.2))
    ax.grid(False)
    predicted, confidence = _sides(model, plane, scores, ours)
    ax.imshow(
        _shades(np.searchsorted(names, predicted), confidence).reshape(PLACES, PLACES, 4),
        origin="lower", aspect="auto", interpolation="nearest",
        extent=(first[0], first[-1], second[0], second[-1]), zorder=0,
    )  # fmt: skip
    if scores.ndim == 1:
        _line(ax, first, second, scores, 0.0, colors=BLACK, linewidths=1.5, linestyles="solid")
        for level in (-1.0, 1.0) if hasattr(model, "classes_") else ():
            _line(ax, first, second, scores, level, colors=BLACK, linewidths=1.0, linestyles="dashed")
    elif scores.shape[1] == len(ours):
        for k, label in enumerate(ours):
            colour = COLOURS[int(np.searchsorted(names, label)) % len(COLOURS)]
            _line(ax, first, second, scores[:, k], 0.0, colors=colour, linewidths=1.5, linestyles="solid")
    shown = np.random.default_rng(0).permutation(len(rows))[:MOST_POINTS]
    for k, name in enumerate(names):
        mine = rows[shown[labels[shown] == name]]
        style = dict(color=COLOURS[k % len(COLOURS)], marker=MARKERS[k % len(MARKERS)], s=20, linewidths=0.5, edgecolors="white", zorder=3)
        ax.scatter(*mine.T, label=str(name), **style)
    vectors = _support(model, X, rows)
    if vectors is not None:
        ax.scatter(
            *vectors.T, s=75, facecolors="none", edgecolors=BLACK, linewidths=0.9, zorder=4, label=f"{len(vectors):,} support vectors"
        )
    columns = getattr(model, "feature_names_in_", ("x0", "x1"))
    ax.set(xlim=(first[0], first[-1]), ylim=(second[0], second[-1]), xlabel=str(columns[0]), ylabel=str(columns[1]), title=titled(model))
    ax.legend(fontsize=9)
    return ax


def _sides(model: Any, plane: Any, scores: Any, classes: Any) -> tuple[Any, Any]:
    """The class of each point, and how far it is from a border, from 0 to 1."""
    if scores.ndim == 1:
        full = FULL if hasattr(model, "classes_") else float(np.abs(scores).max()) or 1.0  # of one class the unit is another one
        return classes[(scores > 0).astype(int)], np.minimum(np.abs(scores) / full, 1.0)
    if scores.shape[1] != len(classes):  # one score for each pair of classes
        return np.asarray(model.predict(plane)), np.full(len(scores), 0.5)
    largest = np.sort(scores, axis=1)
    return classes[scores.argmax(axis=1)], np.minimum((largest[:, -1] - largest[:, -2]) / FULL, 1.0)


def _shades(code: Any, confidence: Any) -> Any:
    """(points, 4): colours, the paler the nearer to a border."""
    from matplotlib.colors import to_rgba

    found = np.array([to_rgba(COLOURS[k % len(COLOURS)]) for k in range(int(code.max()) + 1)])[code]
    found[:, 3] = 0.06 + 0.34 * confidence
    return found


def _line(ax: Any, first: Any, second: Any, scores: Any, level: float, **style: Any) -> None:
    """Where the scores have this value, if that is anywhere in the picture."""
    if np.min(scores) < level < np.max(scores):
        ax.contour(first, second, scores.reshape(PLACES, PLACES), [level], zorder=2, **style)


def _support(model: Any, X: Any, rows: Any) -> Any:
    """The support vectors in the columns of the picture, or None. Behind transformers they are those rows of X that the model names,
    where X is what it was fitted to."""
    steps = getattr(model, "steps", None)
    last = model if steps is None else steps[-1][1]
    vectors = getattr(last, "support_vectors_", None)
    if vectors is None or np.shape(vectors)[1:] == (0,) or not len(vectors):
        return None
    vectors = np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors, dtype=np.float64)
    if steps is None:
        return vectors
    named = np.asarray(getattr(last, "support_", []), dtype=int)
    if not len(named) or named.max() >= len(rows):
        return None
    behind = np.asarray(model[:-1].transform(X), dtype=np.float64)[named]
    return rows[named] if behind.shape == vectors.shape and np.allclose(behind, vectors, rtol=1e-6, atol=1e-9) else None
