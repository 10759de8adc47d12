"""Is one model really better than another? Tests on the same rows or the same folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, stdtr

from tenfold.core.errors import BadInput, BadParameter
from tenfold.evaluate.validate.outputs import Tally
from tenfold.evaluate.validate.ranges import score_difference, widening
from tenfold.evaluate.validate.result import CrossValidation
from tenfold.evaluate.validate.spread import Spread
from tenfold.score.record import Score


@dataclass(frozen=True)
class McNemar:
    """Rows that only one of two models predicts right, and the p-value of both being equally good."""

    only_first: int
    only_second: int
    p_value: float


def mcnemar(truth: Any, first: Any, second: Any, *, mid_p: bool = True) -> McNemar:
    """McNemar's exact test of two classifiers on the same rows.

    Of the n rows that exactly one model gets right, the first gets k ~ Binomial(n, ½) if they are equally good. The mid-p
    version counts half the probability of the observed k: it is less conservative (Fagerland et al. 2013).

    >>> from tenfold.evaluate import mcnemar
    >>> test = mcnemar([1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1], mid_p=False)
    >>> round(test.p_value, 5)
    0.21875
    """
    columns = [np.asarray(column).reshape(-1) for column in (truth, first, second)]
    if len({len(column) for column in columns}) != 1 or not len(columns[0]):
        raise BadInput(f"truth and predictions have {[len(c) for c in columns]} rows: they must be of the same rows")
    a, b = (columns[1] == columns[0]), (columns[2] == columns[0])
    k, m = int((a & ~b).sum()), int((b & ~a).sum())
    n, low = k + m, min(k, m)
    if n == 0 or k == m:
        return McNemar(k, m, 1.0)
    tail = float(bdtr(low, n, 0.5))
    at = tail - (float(bdtr(low - 1, n, 0.5)) if low else 0.0)
    return McNemar(k, m, min(1.0, 2 * tail - (at if mid_p else 0.0)))


@dataclass(frozen=True)
class Comparison:
    """Two models on the same folds. `difference` is first minus second in the direction of better."""

    score: str
    difference: float
    standard_error: float
    degrees: float
    p_value: float  # of learners that are equally good
    band: float  # differences up to this size count as equal
    first_better: float  # probabilities for these two models on new rows, under a flat prior
    equal: float
    second_better: float

    @property
    def verdict(self) -> str:
        """In words, at 95 %."""
        for probability, words in (
            (self.first_better, "the first is better"),
            (self.second_better, "the second is better"),
            (self.equal, "they are equally good for practical purposes"),
        ):
            if probability >= 0.95:
                return words
        return "these rows cannot separate them"

    def __str__(self) -> str:
        return (
            f"{self.score}: difference {self.difference:+.4g} ± {self.standard_error:.2g}, p = {self.p_value:.3g}; "
            f"P(first better) {self.first_better:.2f}, P(equal within {self.band:g}) {self.equal:.2f}, "
            f"P(second better) {self.second_better:.2f}: {self.verdict}"
        )

    __repr__ = __str__


def corrected_t(
    differences: Any, test_share: float, band: float = 0.0
) -> tuple[float, float, int, float, tuple[float, float, float]]:
    """Mean, standard error, degrees of freedom, p-value, and the posterior of the mean difference below/within/above ± band.

    With J differences of variance s² and ρ = n_test/n:  t = d̄ / √((1/J + ρ/(1 − ρ)) s²), J − 1 degrees of freedom (Nadeau & Bengio
    2003). The same t distribution around d̄ is the posterior of the difference under a flat prior (Corani & Benavoli 2015).
    """
    d = np.asarray(differences, dtype=np.float64).reshape(-1)
    if len(d) < 2:
        raise BadInput("comparing needs at least 2 differences of fold scores")
    mean, degrees = float(d.mean()), len(d) - 1
    error = float(np.sqrt((1 / len(d) + test_share / (1 - test_share)) * d.var(ddof=1)))
    return mean, error, degrees, *_student(mean, error, degrees, band)


def _student(mean: float, error: float, degrees: float, band: float) -> tuple[float, tuple[float, float, float]]:
    """The p-value of no difference, and the probabilities of a difference below, within and above ± band."""
    if error == 0:
        return 1.0 if mean == 0 else 0.0, (float(mean < -band), float(abs(mean) <= band), float(mean > band))
    below, above = float(stdtr(degrees, (-band - mean) / error)), float(stdtr(degrees, (mean - band) / error))
    return 2 * float(stdtr(degrees, -abs(mean) / error)), (below, max(0.0, 1 - below - above), above)


def compare(first: CrossValidation, second: CrossValidation, band: float | None = None) -> Comparison:
    """Compare two cross-validations made on the same folds (same rows, folds and random_state).

    Row by row: both have judged the same held-out rows, and what is hard about a row is hard for both. The p-value is that of
    the differences of rows alone (false alarms 1 to 5.5 %, `docs/honesty.md`); the standard error, and the probabilities of which of the
    two models is better on new rows, are widened for the luck of their training rows (`validate.ranges`). Where outputs of rows are
    not kept (streams, learners of other libraries): by scores of folds, with the corrected t of `corrected_t`.

    band: how large a difference matters; None takes 1 % of the score (0.01 for scores between 0 and 1).

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import compare
    >>> X = np.random.default_rng(0).normal(size=(200, 3)); y = X[:, 0] + 0.1 * X[:, 1]
    >>> a, b = (tenfold.cross_validate(tenfold.Ridge(alpha), X, y, score="mse") for alpha in (0.1, 500.0))
    >>> compare(a, b).verdict
    'the first is better'
    """
    if first.score.name != second.score.name:
        raise BadInput(
            f"the first is scored by {first.score.name} and the second by {second.score.name}: use one score"
        )
    if first.fold.shape != second.fold.shape or not np.array_equal(first.fold, second.fold):
        raise BadInput("the two were not scored on the same folds: use the same rows, folds, repeats and random_state")
    if band is None:
        band = 0.01 * (1.0 if first.score.high == 1 else max(abs(first.mean), abs(second.mean)))
    if not band >= 0:
        raise BadParameter(f"band={band!r}: must not be negative")
    degrees: float
    if isinstance(first.held_out, Tally) and isinstance(second.held_out, Tally):
        rows = _by_rows(first.score, first.held_out, second.held_out)
        mean, error, degrees = first.score.sign * rows.value, widening(rows.units) * rows.error, rows.degrees
        p_value, (below, within, above) = _student(mean, rows.error, degrees, band)[0], _student(mean, error, degrees, band)[1]
    else:
        d = first.score.sign * (first.scores - second.scores)
        mean, error, degrees, p_value, (below, within, above) = corrected_t(d, _test_share(first), band)
    return Comparison(first.score.name, mean, error, degrees, p_value, band, above, within, below)


def _by_rows(judge: Score, first: Tally, second: Tally) -> Spread:
    """The difference of the scores of the same held-out rows, and its error row by row."""
    (truth, a, w, units, models), (other, b, *_) = first.together(judge), second.together(judge)
    if not np.array_equal(truth, other):
        raise BadInput("the two were not scored on the same rows: the truth of held-out rows differs")
    found = score_difference(judge, truth, a, b, w, units, models, classes=first.classes)
    if not np.isfinite(found.error):
        raise BadInput("comparing needs at least 2 held-out rows")
    return found


def _test_share(result: CrossValidation) -> float:
    """Test rows as a share of all rows."""
    return 1 / result.scores.shape[1] if result.ratio is None else result.ratio / (1 + result.ratio)
