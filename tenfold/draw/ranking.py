"""Pictures of rankings: ROC and precision against recall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.core.errors import BadInput
from tenfold.draw.look import GREY, new_axes, style
from tenfold.evaluate.validate.intervals import delong
from tenfold.score.precision_recall import precision_recall_curve
from tenfold.score.roc import roc_curve


def draw_roc(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, ax: Any = None) -> Any:
    """The ROC curve, with the AUC and its 95 % range (DeLong) in the legend.

    y_score: a score for each row; a table with a column for each class (each against the rest); or a dict of
    name: scores, to compare models. pos_label: the positive class, the second one where none is given.

    >>> from tenfold.draw import draw_roc
    >>> ax = draw_roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ax.lines[1].get_label()
    'AUC 0.750'
    """
    ax = new_axes(ax, (5.2, 4.8))
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.2, label="guessing")
    for k, (name, truth, score) in enumerate(_curves(y_true, y_score, pos_label)):
        fpr, tpr, _ = roc_curve(truth, score, sample_weight=sample_weight)
        area = float(np.trapezoid(tpr, fpr))
        text = f"{name}AUC {area:.3f}"
        if sample_weight is None and min(truth.sum(), (1 - truth).sum()) >= 10:
            found = delong(truth, score)
            text += f" (95%: {found.low:.3f} to {found.high:.3f})"
        ax.plot(fpr, tpr, linewidth=1.8, label=text, **style(k))
    ax.set(
        xlabel="false positive rate",
        ylabel="true positive rate",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
        aspect="equal",
    )
    ax.legend(loc="lower right", fontsize=9)
    return ax


def draw_precision_recall(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, ax: Any = None
) -> Any:
    """Precision against recall, with the average precision in the legend; the dotted line is the precision of guessing.

    Arguments as for `draw_roc`. Steps, not slopes: between two thresholds nothing can be had.

    >>> from tenfold.draw import draw_precision_recall
    >>> ax = draw_precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ax.lines[0].get_label()
    'average precision 0.833'
    """
    ax = new_axes(ax, (5.2, 4.8))
    levels = []
    for k, (name, truth, score) in enumerate(_curves(y_true, y_score, pos_label)):
        precision, recall, _ = precision_recall_curve(truth, score, sample_weight=sample_weight)
        area = float(-(np.diff(recall) * precision[:-1]).sum())
        ax.step(recall, precision, where="post", linewidth=1.8, label=f"{name}average precision {area:.3f}", **style(k))
        levels.append(float(np.average(truth, weights=sample_weight)))
    if max(levels) - min(levels) < 1e-9:
        ax.axhline(levels[0], color=GREY, linestyle=":", linewidth=1.2, label="guessing")
    ax.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.legend(loc="lower left", fontsize=9)
    return ax


def _curves(y_true: Any, y_score: Any, pos_label: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, truth (0 or 1) and score of each curve."""
    truth = np.asarray(y_true).reshape(-1)
    classes = np.unique(truth)
    if len(classes) < 2:
        raise BadInput("a ranking needs rows of at least two classes: the truth holds only one")
    several = list(y_score.items()) if isinstance(y_score, dict) else [("", y_score)]
    if not several:
        raise BadInput("there are no scores: give at least one name with its scores")
    for name, scores in several:
        table = np.asarray(scores, dtype=np.float64)
        label = f"{name}, " if name else ""
        if table.ndim == 2 and table.shape[1] == 2 and len(classes) == 2:
            table = table[:, 1]
        if table.ndim == 1:
            if pos_label is None and len(classes) > 2:
                raise BadInput(
                    f"the truth holds {len(classes)} classes: give a column of scores for each, or pos_label="
                )
            positive = classes[1] if pos_label is None else pos_label
            if positive not in classes:
                raise BadInput(f"pos_label={pos_label!r} is not among the labels of the truth")
            yield label, (truth == positive).astype(np.int64), table
        elif table.ndim == 2 and table.shape[1] == len(classes):
            for c, value in enumerate(classes):
                yield f"{label}class {value}: ", (truth == value).astype(np.int64), table[:, c]
        else:
            raise BadInput(f"the scores have shape {table.shape}: give one for each row, or one for each row and class")
