"""Calibration: whether probabilities keep their word, and a learner that sees to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tenfold import _evaluate
from tenfold.core import check
from tenfold.core.data import Arrays, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.estimator import Classifier, Estimator
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.protocol import fresh
from tenfold.evaluate.calibrators import METHODS, calibrator_of
from tenfold.evaluate.held_out import held_out
from tenfold.evaluate.inputs import truth_and_chance
from tenfold.evaluate.intervals import wilson
from tenfold.evaluate.rounds import plan, truth_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class CalibrationCurve:
    """Bin by bin: the share of positives, the mean probability that was said, and Wilson's range of the share.

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
        """Said against seen, with ranges; returns the axes."""
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
    """How often the positive class comes, among rows of which about the same probability was said.

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
    checked = truth_and_chance(y_true, y_prob, sample_weight, pos_label)
    p = checked.scores[:, 1].astype(np.float64)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile" and checked.w is None:
        edges = np.percentile(p, 100 * edges)  # scikit-learn's rounding: ties at an edge fall alike
    elif strategy == "quantile":
        edges = np.quantile(p, edges, weights=checked.w, method="inverted_cdf")
    weights = np.empty(0) if checked.w is None else checked.w
    sums = _evaluate.bin_sums(p, checked.truth, weights, edges[1:-1].copy())
    weight, hits, total, squares = sums[sums[:, 0] > 0].T
    seen, said = hits / weight, total / weight
    trials = weight**2 / squares  # as many equal rows as the weights are worth
    ranges = [wilson(rate * n, n, level) for rate, n in zip(np.clip(seen, 0, 1), trials, strict=True)]
    low, high = (np.array([getattr(r, side) for r in ranges]) for side in ("low", "high"))
    return CalibrationCurve(seen, said, np.minimum(low, seen), np.maximum(high, seen), weight, level)


@estimator
class Calibrated(Classifier, Estimator):
    """Calibrated: a classifier whose probabilities are made honest by a map fitted on out-of-fold predictions.

    Model       P(class | x) = map(scores of the model at x); the model is fitted on all rows
    Objective   the model's own; for the map, log loss (temperature, platt, beta) or squared error (isotonic) of
                rows held out
    Algorithm   scores of every row from a model of the other folds (merged statistics where the model is one-pass),
                then the map
    Cost        a cross-validation of the model, one more fit, and O(n K) for the map (isotonic: O(n K log n))
    Fails when  rows are few (prefer temperature: it has one number to fit); the rows do not fit in memory (refused)
    Reference   Platt 1999; Zadrozny & Elkan 2002 (isotonic); Guo et al. 2017 (temperature); Kull et al. 2017 (beta)

    Fitted      model_ (fitted on all rows), calibrator_ (the map), classes_, n_features_in_

    Example
    -------
    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import Calibrated
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(400, 1)); y = (x[:, 0] + rng.normal(size=400) > 0).astype(int)
    >>> twice = np.repeat(x, 5, axis=1)                  # five copies of one column: naive Bayes is far too sure
    >>> sure, honest = tenfold.GaussianNB().fit(twice, y), Calibrated(tenfold.GaussianNB()).fit(twice, y)
    >>> bool(honest.predict_proba(twice).max(axis=1).mean() < sure.predict_proba(twice).max(axis=1).mean())
    True
    """

    model: Any = param(None, doc="the classifier to calibrate")
    method: str = param("temperature", one_of=METHODS, doc="the map: temperature, platt, beta or isotonic")
    _: KW_ONLY
    folds: int = param(5, at_least=2, doc="folds of the out-of-fold predictions")
    random_state: int | None = param(0, doc="seed of the folds")

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.model, "sparse", False))

    @property
    def missing(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.model, "missing", False))

    @property
    def least_rows(self) -> int:  # type: ignore[override]
        return int(getattr(self.model, "least_rows", 1))

    def _fit(self, source: Source) -> Self:
        if getattr(self.model, "role", None) != "classifier" or not isinstance(self.model, Estimator):
            raise BadParameter(f"Calibrated(model={self.model!r}): must be a classifier of Tenfold")
        if not isinstance(source, Arrays):
            raise BadInput(
                "Calibrated needs rows by number, to hold some of them out: read the table into memory first"
            )
        check.check_params(self.model)
        self._forget_fit()
        codes, w = truth_of(source)
        (one,) = plan(self.model, source, folds=self.folds, random_state=self.random_state)
        scores = np.empty((len(codes), len(source.facts["classes_"])))
        for k, output in enumerate(held_out(self.model, source, one)[0]):
            scores[one.test_rows(k)] = output[:, : scores.shape[1]]
        fitted = dict(model_=fresh(self.model)._fit(source), calibrator_=calibrator_of(self.method, codes, scores, w))
        vars(self).update(source.facts, **fitted)
        return self

    def _scores(self, X: Any) -> Array:
        return self.calibrator_.log_probabilities(self.model_._scores(X))
