"""The range of a score from held-out rows: how far the score of the model fitted to all rows may be from it on new rows.

    from tenfold.evaluate.validate.ranges import loss_range, score_difference, score_range

    loss_range(losses)                                       losses of held-out rows whose mean is the score
    score_range(judge, truth, output, w, units, classes)     any score of the registry, from outputs as `Tally` keeps them
    score_difference(judge, truth, first, second, ...)       two models on the same held-out rows, paired

All give the score of **all rows together**: a mean over folds of rmse, R² or AUC is biased where folds are small. `units` says
which rows belong together (the row itself where it was held out several times, or its group); weights count rows.

The error s of a score comes from what each row adds to it (`spread.py`). The range is g⁻¹(g(θ̂) ± t f s g′(θ̂)), on the scale g on which
errors are symmetric: log for errors, log(1 − R²), logit for AUC and the like, Wilson's for shares of rows. t is Student's quantile,
its degrees of freedom those of Σψ² (`Spread.degrees`).

**f = 1.12 + 1.8/√n** (`widening`) is what rows alone do not show: models of the folds share training rows, and the model fitted to all
rows is another one. For least squares with p columns f² = 1/(1 − p/n) + p/n: residuals have n − p degrees of freedom, and the error
of the fit itself varies with p of them; learners whose complexity grows with the rows keep f above 1. The f for which 95 % of
ranges held the truth was 1.32, 1.25, 1.19 and 1.16 at 80, 200, 600 and 2,000 rows, over ridge, logistic regression, naive Bayes
and trees in simulated worlds (`bench.worlds.FITTED`, 160 tables each, 23,000 ranges), from which the two constants follow by least
squares. Stable learners alone need less (ridge 1.0 to 1.1 from 200 rows on), single trees more (1.3 to 1.4 at any size).

**Rare and dear.** Where one error costs as much as a hundred others, held-out rows often hold none of them, and their costs say nothing of
it. The probabilities do: by them a row costs Σ_k p_k c_k² − (Σ_k p_k c_k)² more or less, where c_k is what its decision costs in class k.
So the error s of a mean cost is never less than that of rows whose classes are drawn by their probabilities.

Log loss and Brier score also count what they do not show to first order, that the frequencies of K classes are estimated:
χ²(K − 1)/(2n), added in quadrature.

**Few errors.** Where a classifier is hardly ever wrong, one or two rows make up its loss, Σψ² has two or three degrees of freedom, and
Student's quantile knows neither that losses are not below zero nor that they are bounded: its ends are a hundred times apart. No row
loses more than it would, were the least likely class its own; so the range also stays within that of a sum of rare events of such a
size (`intervals.gamma_range`), which matters below some ten degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import chdtri, expit, logit, ndtri, stdtrit

from tenfold.base.by_rows import softmax
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.evaluate.validate.intervals import Interval, _check_level, gamma_range, wilson
from tenfold.evaluate.validate.spread import Spread, by_unit, mean_of, root_of, score_spread
from tenfold.score.record import RowLoss, Score

LEVEL = 0.95
ALWAYS, SHRINKING = 1.12, 1.8  # of `widening`
SAME = 1e-9  # rounding of how many rows count
FEW = 20.0  # degrees of freedom below which losses may be those of few rows
FREQUENCIES = {"log_loss": 0.5, "brier": 0.25}  # of χ²(K − 1)/n: what estimated class frequencies cost to second order


def widening(units: float) -> float:
    """f = 1.12 + 1.8/√n: by how much the error of a score exceeds what the losses of n held-out rows show."""
    return float(ALWAYS + SHRINKING / np.sqrt(units))


def loss_range(
    losses: Any, weights: Any = None, units: Any = None, *, root: bool = False, level: float = LEVEL, widen: float | None = None
) -> Interval:
    """The mean of losses of held-out rows (root: its root), and the range of what the model fitted to all rows loses on new ones.

    m exp(± t f s/m) with s the standard error of the mean; losses that are all 0 or 1 have Wilson's range instead.

    >>> import numpy as np
    >>> from tenfold.evaluate.validate.ranges import loss_range
    >>> interval = loss_range(np.random.default_rng(1).exponential(size=400))
    >>> bool(interval.low < 1 < interval.high)
    True
    """
    rows = np.asarray(losses, dtype=np.float64).reshape(-1)
    w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(rows) or not np.isfinite(rows).all() or w.shape != rows.shape or not w.sum() > 0:
        raise BadInput(f"losses of {len(rows)} rows with {len(w)} weights: give finite losses of at least one row, and a weight above 0")
    mean, part = mean_of(rows, w)
    spread = by_unit(mean, part, w, units)
    if root:
        return ranged(root_of(spread), "log", level, widen)
    if ((rows == 0) | (rows == 1)).all():
        return ranged(spread, "rate", level, widen, bounds=(0.0, 1.0))
    return ranged(spread, "log" if (rows >= 0).all() else "", level, widen)


def score_range(
    judge: Score, truth: Array, output: Array, weights: Array | None = None, units: Array | None = None,
    models: Array | None = None, *, classes: Array | None = None, level: float = LEVEL, widen: float | None = None,
) -> Interval:  # fmt: skip
    """The score of held-out rows together, and the range of the score of the model fitted to all rows on new ones.

    truth and output as a `Score` takes them (codes and class scores, or (n, q) numbers both: `judged_output`). widen: f, None for
    `widening` of the number of units. A row that was held out several times is given as often, with `units` naming it. models: a
    number for each row, of the model (the fold) that judges it: an AUC counts pairs of rows of one model, where there are some.
    """
    spread = score_spread(judge, truth, output, weights, units, models, classes)
    extra, share = 0.0, FREQUENCIES.get(judge.name)
    if share is not None and np.isfinite(spread.error):
        extra = share * float(chdtri(max(output.shape[1] - 1, 1), 1 - level)) / spread.units
    if judge.name == "cost" and judge.row_loss is not None and np.isfinite(spread.error):
        by_chances = error_by_chances(judge.row_loss, output, weights)
        factor = widening(spread.units) if widen is None else widen
        extra = factor * float(ndtri(0.5 + level / 2) * np.sqrt(max(by_chances**2 - spread.error**2, 0.0)))
    scale, most = scale_of(judge), np.inf
    if scale == "log" and judge.role == "classifier" and judge.mean_of_rows and judge.row_loss is not None and spread.degrees < FEW:
        most = spread.heaviest * largest_loss(judge.row_loss, output)
    return ranged(spread, scale, level, widen, extra, (judge.low, judge.high), most)


def largest_loss(row_loss: RowLoss, output: Array) -> float:
    """What a row would lose, were the class its own that is thought least likely there; the most over all rows."""
    return max(float(row_loss(np.full(len(output), k), output).max()) for k in range(output.shape[1]))


def error_by_chances(row_loss: RowLoss, output: Array, weights: Array | None = None) -> float:
    """The standard error of a mean loss of rows whose classes are drawn by their probabilities."""
    w, chances = np.ones(len(output)) if weights is None else weights, softmax(output)
    each = np.column_stack([row_loss(np.full(len(output), k), output) for k in range(output.shape[1])])
    spread = (chances * (each - (chances * each).sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return float(np.sqrt(w**2 @ spread) / w.sum())


def score_difference(
    judge: Score, truth: Array, first: Array, second: Array, weights: Array | None = None, units: Array | None = None,
    models: Array | None = None, *, classes: Array | None = None,
) -> Spread:  # fmt: skip
    """First score minus second on the same held-out rows, with the error of the difference row by row; not widened."""
    a, b = (score_spread(judge, truth, output, weights, units, models, classes) for output in (first, second))
    return replace(a, value=a.value - b.value, parts=a.parts - b.parts)


# --- scales -----------------------------------------------------------------------------------------------------------


def scale_of(judge: Score) -> str:
    """On which errors of the score are symmetric."""
    if judge.name in ("accuracy", "error"):
        return "rate"
    if not judge.greater_is_better and judge.low == 0:
        return "log"
    if judge.high == 1 and np.isneginf(judge.low):
        return "log below 1"
    return {(0.0, 1.0): "logit", (-1.0, 1.0): "logit about 0"}.get((judge.low, judge.high), "")


Map = tuple[Callable[[float], float], Callable[[float], float], Callable[[float], float]]  # g, its slope, and back
SCALES: dict[str, Map] = {
    "": (float, lambda v: 1.0, float),
    "log": (np.log, lambda v: 1 / v, np.exp),
    "log below 1": (lambda v: np.log(1 - v), lambda v: -1 / (1 - v), lambda u: 1 - np.exp(u)),
    "logit": (logit, lambda v: 1 / (v * (1 - v)), expit),
    "logit about 0": (np.arctanh, lambda v: 1 / (1 - v * v), np.tanh),
}


def ranged(
    spread: Spread, scale: str, level: float = LEVEL, widen: float | None = None, extra: float = 0.0,
    bounds: tuple[float, float] = (-np.inf, np.inf), most: float = np.inf,
) -> Interval:  # fmt: skip
    """The range on a scale; as wide as the score can be where one unit tells nothing of its own luck.

    most: what one unit more could add, where losses are bounded.
    """
    _check_level(level)
    value, error = spread.value, spread.error
    method = "held-out rows, drawn with replacement" if spread.drawn else "held-out rows"
    if not np.isfinite(error):
        return Interval(value, bounds[0], bounds[1], level, method)
    factor = widening(spread.units) if widen is None else widen
    half = np.hypot(float(stdtrit(spread.degrees, 0.5 + level / 2)) * factor * error, extra)
    at_end = scale.startswith("logit") and (error == 0 or value in bounds)
    at_end |= scale == "log" and error == 0 and value == bounds[0] and np.isfinite(bounds[1])  # no loss so far is not none for ever
    if scale == "rate" or at_end:
        low, high = bounds if at_end else (0.0, 1.0)
        share = min(max((value - low) / (high - low), 0.0), 1.0)  # means are beyond their ends by rounding, where weights are far apart
        trials = spread.units / factor**2
        if error > 0 and not at_end and 0 < share < 1:
            by_error = share * (1 - share) / (factor * error) ** 2
            if spread.rows > spread.units * (1 + SAME):  # rows of a unit are more trials than one, as many as the error of units says
                student = float(stdtrit(max(spread.units - 1, 1.0), 0.5 + level / 2) / ndtri(0.5 + level / 2))
                trials, by_error = spread.rows / factor**2, by_error / student**2
            trials = min(trials, by_error)
        found = wilson(share * trials, trials, level)
        return Interval(value, low + (high - low) * found.low, low + (high - low) * found.high, level, f"{method}, Wilson")
    to, slope, back = SCALES[scale]
    if half == 0:
        return Interval(value, value, value, level, method)
    if (scale == "log" and value <= 0) or (scale == "log below 1" and value >= 1):
        ends = value - half, value + half
    else:
        reach = half * abs(slope(value))
        with np.errstate(over="ignore"):  # a range without an end
            ends = back(to(value) - reach), back(to(value) + reach)
        if np.isfinite(most):
            low, high = gamma_range(value, float(np.hypot(factor * error, extra / ndtri(0.5 + level / 2))), most, level)
            ends = max(min(ends), low), min(max(ends), high)
    return Interval(value, max(float(min(ends)), bounds[0]), min(float(max(ends)), bounds[1]), level, method)
