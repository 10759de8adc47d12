"""Scores of rankings: the ROC curve and the area under it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, UndefinedScore, warn
from tenfold.score.inputs import Scores, Sets, check_choice, positive_class, truth_and_scores, truth_or_sets
from tenfold.score.label_sets import over_labels
from tenfold.score.ranks import ONE_CLASS, Bounded, Curve, OneClass, RankRows, RankSketch

Ranks = RankRows | RankSketch


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    sample_weight: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
) -> Any:
    """The area under the ROC curve: P(a positive row outranks a negative one), ties counted half.

    Two classes: y_score is one column, of the larger label. More: a column for each class, and multi_class
    sets which pairs are ranked: "ovr" each class against all others by its own column, "ovo" each pair of
    classes by both of their columns (the mean of the two). average: "macro", "weighted" by the rows of each
    class (of each pair), None for one of each class (ovr), "micro" all columns as one (ovr). max_fpr: the
    area up to that false positive rate only, rescaled so that guessing is ½ (McClish 1989). Several labels for
    each row, a table of zeros and ones: the area of each label, averaged likewise; "samples" ranks the labels of each row.

    All scores equal give ½. A truth of one class gives NaN and a warning: there is no pair to rank.

    >>> from tenfold.evaluate import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    if labels is not None and np.ndim(y_score) == 2:
        _check_labels(np.asarray(labels), np.shape(y_score)[1])
    given = truth_or_sets(y_true, y_score, sample_weight, labels)
    if isinstance(given, Sets):
        return over_labels(given, average, lambda *rows: _defined(of_two(*rows), max_fpr=max_fpr))
    return _defined(RankRows.of(given), average, max_fpr, multi_class)


def _check_labels(labels: Array, width: int) -> None:
    if len(np.unique(labels)) == len(labels) and (np.sort(labels) == labels).all() and len(labels) != width:
        raise BadInput(f"Number of given labels, {len(labels)}, not equal to the number of columns in 'y_score', {width}")


def of_two(codes: Array, scores: Array, w: Array | None) -> RankRows:
    return RankRows.of(Scores(np.array([0, 1]), codes, scores.reshape(-1, 1), w))


def _defined(
    ranks: RankRows, average: str | None = "macro", max_fpr: float | None = None, multi_class: str = "raise"
) -> Any:
    """The area; NaN and a warning where there is none."""
    try:
        return auc_of(ranks, average, max_fpr, multi_class, absent=True)[0]
    except OneClass:
        warn(ONE_CLASS, UndefinedScore, stacklevel=3)
        return float("nan")


def auc_of(
    ranks: Ranks,
    average: str | None = "macro",
    max_fpr: float | None = None,
    multi_class: str = "raise",
    absent: bool = False,
) -> Any:
    """The area, and a bound on its error, from a statistic of ranks; `absent`: pairs of classes without rows are left out."""
    check_choice("multi_class", multi_class, ("raise", "ovr", "ovo"))
    k = len(ranks.classes)
    if k < 2:
        raise OneClass(f"the AUC needs rows of both classes: the truth holds only {ranks.classes.tolist()[0]!r}")
    if ranks.width == 1 or (k == 2 and ranks.width == 2):
        if k > 2:
            raise BadInput(
                f"`y_score` needs to be of shape `(n_samples, n_classes)`: the truth holds {k} classes, give a column of "
                "scores for each"
            )
        column = ranks.width - 1
        if max_fpr is None or max_fpr == 1:
            return ranks.auc(column, 1)
        curve = ranks.curve(column, 1)
        if curve.rounded:
            raise BadParameter(f"max_fpr={max_fpr!r}: needs all rows in memory; use exact=True")
        return Bounded(_partial_area(curve, max_fpr), 0.0)
    if max_fpr not in (None, 1):
        raise BadParameter(
            "Partial AUC computation not available in multiclass setting, 'max_fpr' must be set to `None`, received "
            f"`max_fpr={max_fpr}` instead"
        )
    if multi_class == "raise":
        raise BadParameter(f"multi_class must be in ('ovo', 'ovr'): there are {k} classes")
    if ranks.width != k:
        raise BadInput(
            f"Number of classes in y_true not equal to the number of columns in 'y_score': {k} classes, {ranks.width} columns; "
            "give the classes of the columns as labels="
        )
    return _one_vs_rest(ranks, average) if multi_class == "ovr" else _one_vs_one(ranks, average, absent)


def _one_vs_rest(ranks: Ranks, average: str | None) -> Any:
    _check_average(average, ("micro", "macro", "weighted", None))
    if average == "micro":
        return ranks.pooled_auc()
    weights = ranks.weights()
    _all_present(ranks.classes, weights)
    values, bounds = np.array([ranks.auc(a, a) for a in range(len(weights))]).T
    if average is None:
        return Bounded(values, bounds)
    return mean_of(values, bounds, weights if average == "weighted" else None)


def _check_average(average: str | None, choices: tuple[str | None, ...]) -> None:
    if average not in choices:
        raise BadParameter(f"average must be one of {choices} for multiclass problems: got {average!r}")


class NoAverage(BadParameter, NotImplementedError):
    """A score of pairs of classes without an average."""


def _one_vs_one(ranks: Ranks, average: str | None, absent: bool) -> Bounded:
    _check_average(average, ("macro", "weighted", None))
    if average is None:
        raise NoAverage("average=None is not implemented for multi_class='ovo'.")
    weights = ranks.weights()
    if not absent:
        _all_present(ranks.classes, weights)
    present = np.flatnonzero(weights).tolist()
    if len(present) < 2:
        raise OneClass(ONE_CLASS)
    pairs = [(a, b) for a in present for b in present if a < b]
    both = np.array([[ranks.auc(a, a, b), ranks.auc(b, b, a)] for a, b in pairs]).mean(axis=1)
    share = np.array([weights[a] + weights[b] for a, b in pairs]) if average == "weighted" else None
    return mean_of(both[:, 0], both[:, 1], share)


def _all_present(classes: Array, weights: Array) -> None:
    if not weights.all():
        absent = classes[weights == 0].tolist()[0]
        raise OneClass(
            f"class {absent!r} has no row in the truth, so there is nothing to rank: leave it out of labels="
        )


def mean_of(values: Array, bounds: Array, weights: Array | None) -> Bounded:
    return Bounded(*(float(np.average(part, weights=weights)) for part in (values, bounds)))


def _partial_area(curve: Curve, most: float) -> float:
    """Area up to a false positive rate m, rescaled: ½ (1 + (area − m²/2) / (m − m²/2))."""
    if not 0 < most < 1:
        raise BadParameter(f"max_fpr={most!r}: must be above 0 and at most 1")
    fpr, tpr = (np.append(0.0, part / part[-1]) for part in (curve.negatives, curve.positives))
    stop = int(np.searchsorted(fpr, most, side="right"))
    end = np.interp(most, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    area = np.trapezoid(np.append(tpr[:stop], end), np.append(fpr[:stop], most))
    least = most**2 / 2
    return float((1 + (area - least) / (most - least)) / 2)


def roc_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = True
) -> tuple[Array, Array, Array]:
    """False and true positive rates when rows that score at least the threshold are called positive.

    It starts at (0, 0) with the threshold ∞. drop_intermediate leaves out points on a straight line between
    their neighbours.

    >>> from tenfold.evaluate import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    given = truth_and_scores(y_true, y_score, sample_weight)
    return roc_curve_of(RankRows.of(given), pos_label, drop_intermediate)


def roc_curve_of(ranks: Ranks, pos_label: Any = None, drop_intermediate: bool = True) -> tuple[Array, Array, Array]:
    """The points of the curve from a statistic of ranks; rounded scores give fewer points, each of them exact."""
    curve = curve_of(ranks, pos_label)
    if drop_intermediate and len(curve.thresholds) > 2:
        bends = (np.diff(curve.negatives, 2) != 0) | (np.diff(curve.positives, 2) != 0)
        curve = kept(curve, np.concatenate([[True], bends, [True]]))
    thresholds = np.append(np.inf, curve.thresholds)
    fpr, tpr = _rates(curve.negatives, "negative", "false"), _rates(curve.positives, "positive", "true")
    return fpr, tpr, thresholds


def _rates(above: Array, rows: str, rate: str) -> Array:
    if above[-1]:
        return np.asarray(np.append(0.0, above) / above[-1])
    warn(f"No {rows} samples in y_true, {rate} positive value should be meaningless", UndefinedScore, stacklevel=5)
    return np.full(len(above) + 1, np.nan)


def curve_of(ranks: Ranks, pos_label: Any) -> Curve:
    if ranks.width > 1:
        raise BadInput(f"y_score has {ranks.width} columns: give one score for each row")
    if len(ranks.classes) > 2 and pos_label is None:
        raise BadParameter(f"multiclass format is not supported: name the positive one of {len(ranks.classes)} classes by pos_label=")
    return ranks.curve(0, positive_class(ranks.classes, pos_label))


def kept(curve: Curve, which: Array) -> Curve:
    return Curve(curve.thresholds[which], curve.positives[which], curve.negatives[which], curve.rounded)
