"""The confusion matrix as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.errors import BadInput
from tenfold.draw.look import new_axes, short
from tenfold.score.confusion import Confusion


def draw_confusion(
    y_true: Any, y_pred: Any = None, *, labels: Any = None, sample_weight: Any = None, ax: Any = None
) -> Any:
    """Rows are true classes, columns predicted ones; a cell is shaded by its share of the true class.

    Without y_pred, y_true is the matrix itself, and `labels` names its classes.

    >>> from tenfold.draw import draw_confusion
    >>> ax = draw_confusion(["cat", "dog", "dog"], ["cat", "cat", "dog"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['cat', 'dog']
    """
    if y_pred is None:
        matrix = np.asarray(y_true)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise BadInput(f"the confusion matrix has shape {matrix.shape}: it must be square, a row for each class")
        names = list(range(len(matrix))) if labels is None else list(labels)
        if len(names) != len(matrix):
            raise BadInput(f"there are {len(names)} labels for {len(matrix)} classes: give one for each")
    else:
        counted = Confusion.of(y_true, y_pred, sample_weight)
        names = counted.labels.tolist() if labels is None else list(labels)
        matrix = counted.matrix(labels)
    k = len(matrix)
    side = min(max(3.2, 0.62 * k + 1.6), 14.0)
    ax = new_axes(ax, (side + 0.4, side))
    whole = matrix.sum(axis=1, keepdims=True)
    share = np.divide(matrix, whole, out=np.zeros(matrix.shape), where=whole > 0)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="equal")
    small = 10 if k <= 5 else 8 if k <= 10 else 6
    if k <= 25:
        for i, j in np.ndindex(matrix.shape):
            amount = f"{matrix[i, j]:,}" if matrix.dtype.kind in "iu" else f"{matrix[i, j]:.4g}"
            text = f"{amount}\n{100 * share[i, j]:.0f}%" if matrix[i, j] and k <= 12 else amount
            colour = "white" if share[i, j] > 0.55 else "black" if matrix[i, j] else "#AAAAAA"
            ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=small)
    shown = [short(str(name), 16) for name in names]
    long = max(map(len, shown)) * k > 40
    ax.set_xticks(range(k), shown, rotation=45 if long else 0, ha="right" if long else "center")
    ax.set_yticks(range(k), shown)
    ax.set(xlabel="predicted", ylabel="true")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    right = np.trace(matrix) / matrix.sum() if matrix.sum() else float("nan")
    ax.set_title(f"{100 * right:.1f}% predicted right", fontsize=11)
    return ax
