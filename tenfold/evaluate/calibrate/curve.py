"""Calibration curves: whether probabilities are calibrated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold import _evaluate
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.evaluate.validate.intervals import wilson
from tenfold.score.probability_inputs import truth_and_one_probability


@dataclass(frozen=True)
class CalibrationCurve:
    """Bin by bin: the share of positives, the mean predicted probability, and Wilson's range of the share.

    Unpacks as scikit-learn's pair:  prob_true, prob_pred = calibration_curve(y, p).
    """

    prob_true: Array
    prob_pred: Array
    low: Array
    high: Array
    weight: Array  # of the rows in each bin
    level: float

    def __iter__(self) -> Iterator[Array]:
        return iter((self.prob_true, self.prob_pred))

    @property
    def error(self) -> float:
        """The expected calibration error: the weighted mean of |prob_true − prob_pred|."""
        return float(np.average(np.abs(self.prob_true - self.prob_pred), weights=self.weight))

    def plot(self, ax: Any = None) -> Any:
        """Predicted against observed, with ranges; returns the axes."""
        from tenfold.draw.calibration import draw_calibration

        return draw_calibration(self, ax=ax)


def calibration_curve(
    y_true: Any,
    y_prob: Any,
    *,
    pos_label: Any = None,
    n_bins: int = 5,
    strategy: str = "uniform",
    level: float = 0.95,
    sample_weight: Any = None,
) -> CalibrationCurve:
    """How often the positive class comes, among rows with about the same predicted probability.

    Empty bins are left out. strategy: "uniform" bins of equal width, or "quantile" bins of about equally many rows.

    >>> from tenfold.evaluate import calibration_curve
    >>> prob_true, prob_pred = calibration_curve([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], n_bins=2)
    >>> prob_true.tolist(), prob_pred.round(2).tolist()
    ([0.0, 1.0], [0.15, 0.85])
    """
    if not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
        raise BadParameter(f"n_bins={n_bins!r}: must be a whole number of at least 1")
    if strategy not in ("uniform", "quantile"):
        raise BadParameter(f"strategy={strategy!r}: must be 'uniform' or 'quantile'")
    checked = truth_and_one_probability(y_true, y_prob, sample_weight, pos_label)
    p = checked.scores[:, 0].astype(np.float64, copy=False)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile" and checked.w is None:
        edges = np.percentile(p, 100 * edges)  # scikit-learn's rounding: ties at an edge fall alike
    elif strategy == "quantile":
        edges = np.quantile(p, edges, weights=checked.w, method="inverted_cdf")
    weights = np.empty(0) if checked.w is None else checked.w
    sums = _evaluate.bin_sums(p, checked.truth, weights, edges[1:-1].copy())
    weight, hits, total, squares = sums[sums[:, 0] > 0].T
    seen, predicted = hits / weight, total / weight
    trials = weight**2 / squares  # as many equal rows as the weights are worth
    ranges = [wilson(rate * n, n, level) for rate, n in zip(np.clip(seen, 0, 1), trials, strict=True)]
    low, high = (np.array([getattr(r, side) for r in ranges]) for side in ("low", "high"))
    return CalibrationCurve(seen, predicted, np.minimum(low, seen), np.maximum(high, seen), weight, level)
