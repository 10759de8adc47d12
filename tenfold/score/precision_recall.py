"""Scores of rankings: precision against recall, and average precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, UndefinedScore, warn
from tenfold.score.inputs import Scores, Sets, check_choice, positive_class, truth_and_scores, truth_or_sets
from tenfold.score.label_sets import over_labels
from tenfold.score.ranks import Bounded, Curve, OneClass, RankRows, RankSketch
from tenfold.score.roc import Ranks, curve_of, kept, mean_of, of_two


def precision_recall_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = False
) -> tuple[Array, Array, Array]:
    """Precision and recall when rows that score at least the threshold are called positive.

    Thresholds ascend. A last point, precision 1 and recall 0, has no threshold. drop_intermediate keeps only
    the first and last point of each recall.

    >>> from tenfold.evaluate import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> recall
    array([1. , 1. , 0.5, 0.5, 0. ])
    """
    given = truth_and_scores(y_true, y_score, sample_weight)
    return precision_recall_curve_of(RankRows.of(given), pos_label, drop_intermediate)


def precision_recall_curve_of(
    ranks: Ranks, pos_label: Any = None, drop_intermediate: bool = False
) -> tuple[Array, Array, Array]:
    """The points of the curve from a statistic of ranks; rounded scores give fewer points, each of them exact."""
    curve = curve_of(ranks, pos_label)
    if drop_intermediate and len(curve.thresholds) > 2:
        moved = np.diff(curve.positives) != 0
        curve = kept(curve, np.concatenate([[True], moved[:-1] | moved[1:], [True]]))
    precision = curve.positives / (curve.positives + curve.negatives)
    if not curve.positives[-1]:
        _warn_no_positives(5)
    recall = curve.positives / curve.positives[-1] if curve.positives[-1] else np.ones(len(precision))
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), curve.thresholds[::-1]


def average_precision_score(
    y_true: Any, y_score: Any, *, average: str | None = "macro", pos_label: Any = 1, sample_weight: Any = None
) -> Any:
    """Σ (Rₙ − Rₙ₋₁) Pₙ over the thresholds: the mean precision at the positives, ties as one threshold.

    More than two classes: a column of scores for each, each class against the others, averaged as in
    `roc_auc_score`.

    >>> from tenfold.evaluate import average_precision_score
    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    given = truth_or_sets(y_true, y_score, sample_weight)
    if isinstance(given, Sets):
        _check_fixed(pos_label, "multilabel-indicator")
        return over_labels(given, average, lambda *rows: _found(of_two(*rows), "macro", 1))
    if average == "samples" and given.scores.shape[1] == len(given.classes) > 2:
        one = given.truth[:, None] == np.arange(len(given.classes))
        return over_labels(Sets(one, given.scores, given.w), average, lambda *rows: _found(of_two(*rows), "macro", 1))
    return _found(RankRows.of(given), average, pos_label)


def _check_fixed(pos_label: Any, kind: str) -> None:
    if pos_label != 1:
        raise BadParameter(
            f"Parameter pos_label is fixed to 1 for {kind} y_true. Do not set pos_label or set pos_label to 1."
        )


def _found(ranks: RankRows, average: str | None, pos_label: Any) -> Any:
    """The average precision; 0 and a warning where there is nothing to find."""
    try:
        return average_precision_of(ranks, average, pos_label)[0]
    except OneClass:
        _warn_no_positives(4)
        return 0.0


def _warn_no_positives(stacklevel: int) -> None:
    warn("No positive class found in y_true, recall is set to one for all thresholds.", UndefinedScore, stacklevel=stacklevel)


def average_precision_of(ranks: Ranks, average: str | None = "macro", pos_label: Any = 1) -> Any:
    """The average precision, and a bound on its error, from a statistic of ranks."""
    check_choice("average", average, ("macro", "weighted", "micro", "samples", None))  # "samples": of two classes, the same
    k = len(ranks.classes)
    if ranks.width == 1:
        if k > 2:
            raise BadInput(f"`y_score` needs to be of shape `(n_samples, n_classes)`: the truth holds {k} classes")
        return step_area(ranks.curve(0, positive_class(ranks.classes, pos_label)))
    if ranks.width != k:
        raise BadInput(f"the truth holds {k} classes and there are {ranks.width} columns of scores: give as many")
    _check_fixed(pos_label, "multiclass")
    if average == "micro":
        return step_area(_pooled(ranks).curve(0, 1))
    values, bounds = np.array([step_area(ranks.curve(a, a)) for a in range(k)]).T
    if average is None:
        return Bounded(values, bounds)
    return mean_of(values, bounds, ranks.weights() if average == "weighted" else None)


def step_area(curve: Curve) -> Bounded:
    """Area under precision against recall, as steps.

    At a rounded score with p positives the precision lies between that of all its negatives first and that of
    all its positives first: that bounds the error.
    """
    _need_positives(curve)
    up = np.diff(curve.positives, prepend=0.0)
    area = float(up @ (curve.positives / (curve.positives + curve.negatives)) / curve.positives[-1])
    if not curve.rounded:
        return Bounded(area, 0.0)
    before = curve.positives - up, np.append(0.0, curve.negatives[:-1])
    with np.errstate(invalid="ignore"):
        least = up @ np.nan_to_num(before[0] / (before[0] + curve.negatives)) / curve.positives[-1]
        most = up @ np.nan_to_num(curve.positives / (curve.positives + before[1])) / curve.positives[-1]
    return Bounded(area, float(max(area - least, most - area)))


def _pooled(ranks: Ranks) -> RankRows:
    if isinstance(ranks, RankSketch):
        raise BadParameter("average='micro': needs all rows in memory; use exact=True")
    truth, scores, w = ranks._whole()
    k = scores.shape[1]
    codes = (truth[:, None] == np.arange(k)).astype(np.int64).reshape(-1)
    return RankRows.of(Scores(np.array([0, 1]), codes, scores.reshape(-1, 1), None if w is None else np.repeat(w, k)))


def _need_positives(curve: Curve) -> None:
    if not curve.positives[-1]:
        raise OneClass("recall needs rows of the positive class: the truth holds none")
