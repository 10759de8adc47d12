"""Estimates of scores on new rows, and how far predictions of numbers are off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from tenfold.core.data import Array
from tenfold.evaluate.validate.ranges import score_range
from tenfold.score.record import Score, judged_output
from tenfold.selection.held_out import HeldOut

COVERAGE = 0.9  # share of new rows whose truth lies within the range of a prediction
MOST_LEVELS, LEVEL_ROWS = 10, 200  # of predictions that have ranges of their own, and the held-out rows of each


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
    found = score_range(judge, held.truth(rows), output, weights, units, classes=held.labels)
    error = (found.high - found.low) / (2 * float(ndtri(0.975)))
    return Estimate(judge.name, float(found.estimate), float(found.low), float(found.high), float(error), method)


def reach_of(losses: Array, metric: str, weights: Array | None = None) -> float | None:
    """How far off the prediction for a new row is in 90 % of cases: split conformal, from the losses of held-out rows.

    The smallest loss that 90 % of all rows and a new one do not exceed, by weight where they have one. None where there are too few.
    """
    off = losses if metric == "mae" else np.sqrt(losses)
    if weights is None:
        place = int(np.ceil(COVERAGE * (len(losses) + 1)))
        return None if place > len(losses) else float(np.partition(off, place - 1)[place - 1])
    order = np.argsort(off, kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), COVERAGE * (weights.sum() + weights.mean())))
    return None if place >= len(losses) else float(off[order[place]])


def reaches_of(predictions: Array, losses: Array, metric: str, weights: Array | None = None) -> Array | None:
    """(2, levels): the largest prediction of each level, and how far off predictions of that level are in 90 % of cases.

    Levels have equally many held-out rows. None where there are too few rows for two of them.
    """
    levels = min(MOST_LEVELS, len(predictions) // LEVEL_ROWS)
    if levels < 2:
        return None
    ends = np.unique(np.quantile(predictions, np.arange(1, levels + 1) / levels, method="inverted_cdf"))
    if len(ends) < 2:
        return None
    of = np.minimum(np.searchsorted(ends, predictions), len(ends) - 1)
    at = [of == level for level in range(len(ends))]
    off = [reach_of(losses[one], metric, None if weights is None else weights[one]) for one in at]
    return None if None in off else np.array([ends, off], dtype=np.float64)
