"""Estimates of scores on new rows, how far predictions of numbers are off, and the sets that hold the class of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri

from tenfold.core.data import Array
from tenfold.evaluate.validate.ranges import score_range
from tenfold.score.probability import calibration_error
from tenfold.score.record import Score, judged_output
from tenfold.selection.choice.held_out import HeldOut
from tenfold.table.task import LEAST_CLASS_ROWS

COVERAGE = 0.9  # share of new rows whose truth lies within the range of a prediction, or is in its set
MOST_LEVELS, LEVEL_ROWS = 10, 200  # of predictions that have ranges of their own, and the held-out rows of each
CLASS_ROWS = 50  # held-out rows of a class that has a threshold of its own
SAME = 1e-12  # what rounding makes of one probability: a guess says the same of all rows, and all or none would be in a set
LUCK_ROWS, LUCK_TIMES = 2_000_000, (20, 200)  # rows that luck is drawn for, and how often at least and at most


@dataclass(frozen=True)
class Estimate:
    """A score expected on new rows, with a range that covers it with 95 % confidence."""

    metric: str
    value: float
    low: float
    high: float
    error: float  # standard error: a quarter of the range, near enough
    method: str

    def __str__(self) -> str:
        return f"{self.metric} {self.value:.4g}, 95% range {self.low:.4g} to {self.high:.4g} ({self.method})"


def estimated(judge: Score, held: HeldOut, outputs: Array, rows: Array, method: str) -> Estimate:
    """The score of held-out rows together, and the range of what it is on new rows."""
    weights = None if held.weight is None else held.weight[rows]
    units = None if held.units is None else held.units[rows]
    output = judged_output(judge, outputs.astype(np.float64, copy=False), held.classes)
    models = held.fold[rows]  # whoever judges a row has not seen its fold: scores of two models are not on one scale
    found = score_range(judge, held.truth(rows), output, weights, units, models, classes=held.labels)
    error = (found.high - found.low) / (2 * float(ndtri(0.975)))
    return Estimate(judge.name, float(found.estimate), float(found.low), float(found.high), float(error), method)


def conformal(scores: Array, weights: Array | None = None, coverage: float = COVERAGE) -> float | None:
    """The smallest score that a share of all held-out rows and a new one does not exceed: the ⌈coverage (n + 1)⌉-th smallest of n.

    By weight where rows have one. Rows are as many as (Σw)²/Σw² that weigh alike, each of them Σw²/Σw, and so is the new one: it is drawn
    by weight, too, and weighs more than rows do on average. None where there are too few.
    """
    if weights is None:
        place = int(np.ceil(coverage * (len(scores) + 1)))
        return None if place > len(scores) else float(np.partition(scores, place - 1)[place - 1])
    order = np.argsort(scores, kind="stable")
    total = weights.sum()
    place = int(np.searchsorted(np.cumsum(weights[order]), coverage * (total + weights @ weights / total))) if total else 0
    return None if place >= len(scores) else float(scores[order[place]])


# --- numbers ----------------------------------------------------------------------------------------------------------


def half_width_of(losses: Array, metric: str, weights: Array | None = None, coverage: float = COVERAGE) -> float | None:
    """How far off the prediction for a new row is in 90 % of cases: split conformal, from the losses of held-out rows.

    The smallest loss that 90 % of all rows and a new one do not exceed, by weight where they have one. None where there are too few.
    """
    return conformal(losses if metric == "mae" else np.sqrt(losses), weights, coverage)


def half_widths_of(
    predictions: Array, losses: Array, metric: str, weights: Array | None = None, coverage: float = COVERAGE
) -> Array | None:
    """(2, levels): the largest prediction of each level, and how far off predictions of that level are in 90 % of cases.

    Levels have equally many held-out rows, or more where many predictions are the same. None where there are too few rows for two of them.
    """
    levels = min(MOST_LEVELS, len(predictions) // LEVEL_ROWS)
    if levels < 2:
        return None
    ends = np.unique(np.quantile(predictions, np.arange(1, levels + 1) / levels, method="inverted_cdf"))
    ends = _with_rows(ends, np.bincount(np.searchsorted(ends, predictions)))
    if len(ends) < 2:
        return None
    of = np.minimum(np.searchsorted(ends, predictions), len(ends) - 1)
    at = [of == level for level in range(len(ends))]
    off = [half_width_of(losses[one], metric, None if weights is None else weights[one], coverage) for one in at]
    return None if None in off else np.array([ends, off], dtype=np.float64)


def _with_rows(ends: Array, counts: Array) -> Array:
    """The ends of levels that have LEVEL_ROWS or more; those with fewer belong to the next, the last to the one before."""
    kept, rows = list[float](), 0
    for end, count in zip(ends.tolist(), counts.tolist(), strict=True):
        rows += count
        if rows >= LEVEL_ROWS:
            kept, rows = [*kept, end], 0
    return np.array([*kept[:-1], ends[-1]])


# --- classes ----------------------------------------------------------------------------------------------------------


def least_of(
    probabilities: Array, truth: Array, weights: Array | None = None, coverage: float = COVERAGE, by_class: bool | None = None
) -> Array | None:
    """(classes): how likely a class must be to be in the set of a row, so that sets hold the truth of 90 % of new rows.

    Split conformal: the ⌊α (n + 1)⌋-th smallest probability of the true class over n held-out rows, α = 1 − coverage. One for all would
    leave a rare class out of most sets of its own rows, so each class has that of its own rows where all have 50 of them, but those of a
    row or two (Vovk's Mondrian sets: the coverage holds in every class). None where there are too few rows. by_class: decided elsewhere.
    """
    true, k = probabilities[np.arange(len(truth)), truth], probabilities.shape[1]
    of_all = conformal(-true, weights, coverage)
    if enough_by_class(truth, k) if by_class is None else by_class:
        at = [truth == one for one in range(k)]
        few = [one.sum() < LEAST_CLASS_ROWS for one in at]
        own = [conformal(-true[one], None if weights is None else weights[one], coverage) for one in at]
        found = [of_all if none else one for one, none in zip(own, few, strict=True)]
        if None not in found:
            return -np.array(found, dtype=np.float64)
    return None if of_all is None else np.full(k, -of_all)


def enough_by_class(truth: Array, classes: int) -> bool:
    """Whether every class has held-out rows enough for a threshold of its own, but those of a row or two, for which there never are."""
    counts = np.bincount(truth, minlength=classes)
    return bool((counts[counts >= LEAST_CLASS_ROWS] >= CLASS_ROWS).all() and counts.max() >= CLASS_ROWS)


def in_sets(probabilities: Array, least: Array) -> Array:
    """(rows, classes): the classes that are likely enough, and the most likely one."""
    found = probabilities >= least - SAME
    found[np.arange(len(probabilities)), probabilities.argmax(axis=1)] = True
    return np.asarray(found)


def sets_of(
    probabilities: Array, truth: Array, rounds: Array, labels: Sequence[Any], weights: Array | None = None
) -> dict[str, Any] | None:
    """What the sets of held-out rows are like, those of each round by the rows of the others: the shares of rows whose set has 1, 2, ...
    classes, and of those whose set holds the truth; and the class whose rows they hold least. None where there are too few rows."""
    k = probabilities.shape[1]
    if least_of(probabilities, truth, weights) is None:
        return None
    by_class, inside = enough_by_class(truth, k), np.ones(probabilities.shape, dtype=bool)
    for one in np.unique(rounds):
        here = rounds == one
        rest = ~here if not here.all() else here
        least = least_of(probabilities[rest], truth[rest], None if weights is None else weights[rest], by_class=by_class)
        if least is not None:
            inside[here] = in_sets(probabilities[here], least)
    w = np.ones(len(truth)) if weights is None else weights
    sizes = np.bincount(inside.sum(axis=1) - 1, w, minlength=k) / w.sum()
    held = inside[np.arange(len(truth)), truth]
    told = np.bincount(truth, minlength=k) >= LEAST_CLASS_ROWS  # of a row or two it says nothing
    of_class = [float(np.average(held[truth == one], weights=w[truth == one])) if told[one] else 1.0 for one in range(k)]
    worst = int(np.argmin(of_class))
    return dict(
        single=float(sizes[0]),
        sizes=sizes.tolist(),
        coverage=float(np.average(held, weights=w)),
        by_class=by_class,
        worst=dict(label=str(labels[worst]), coverage=of_class[worst]),
    )


def calibration_of(probabilities: Array, truth: Array, weights: Array | None = None) -> dict[str, float]:
    """The expected calibration error of probabilities, and what it would seem to be of right ones: at most so much in 95 % of times that
    as many rows come true by their probabilities. Few rows fill a bin by luck, and seem to show an error.

    Of two classes the probability of the second, of more that of the most likely one.
    """
    two = probabilities.shape[1] == 2
    said = np.clip(probabilities[:, 1] if two else probabilities.max(axis=1), 0.0, 1.0)
    came = truth == (1 if two else probabilities.argmax(axis=1))
    rng, times = np.random.default_rng(0), int(np.clip(LUCK_ROWS // max(len(truth), 1), *LUCK_TIMES))
    error = partial(calibration_error, y_proba=said, sample_weight=weights)
    luck = [error((rng.random(len(said)) < said).astype(np.int64)) for _ in range(times)]
    return dict(off=error(came.astype(np.int64)), luck=float(np.quantile(luck, 0.95)))
