"""The range of a score from held-out rows: how far the score of the model fitted to all rows may be from it on new rows.

    from tenfold.evaluate.validate.ranges import loss_range, score_difference, score_range

    loss_range(losses)                                       losses of held-out rows whose mean is the score
    score_range(judge, truth, output, w, units, classes)     any score of the registry, from outputs as `Tally` keeps them
    score_difference(judge, truth, first, second, ...)       two models on the same held-out rows, paired

All give the score of **all rows together**: a mean over folds of rmse, R² or AUC is biased where folds are small. `units` says
which rows belong together (the row itself where it was held out several times, or its group); weights count rows.

To first order a score is a sum over rows, θ̂ − θ ≈ Σ ψᵢ (rmse: ψᵢ = (lᵢ − m)/(2 n √m) of squared errors l with mean m; R²: that of
the ratio of two means; AUC: DeLong's placements), so that its error is s = √(U/(U − 1) Σ_u (Σ_{i in u} ψᵢ)²) over U units. Scores
without such a sum (F₁, Matthews correlation, functions of the user, ...) have s from rows drawn with replacement.

The range is g⁻¹(g(θ̂) ± t f s g′(θ̂)), on the scale g on which errors are symmetric: log for errors, log(1 − R²), logit for AUC and
the like, Wilson's for shares of rows. t is Student's quantile, its degrees of freedom those of Σψ² (`Spread.degrees`).

**f = 1.12 + 1.8/√n** (`widening`) is what rows alone do not show: models of the folds share training rows, and the model fitted to all
rows is another one. For least squares with p columns f² = 1/(1 − p/n) + p/n: residuals have n − p degrees of freedom, and the error
of the fit itself varies with p of them; learners whose complexity grows with the rows keep f above 1. The f for which 95 % of
ranges held the truth was 1.32, 1.25, 1.19 and 1.16 at 80, 200, 600 and 2,000 rows, over ridge, logistic regression, naive Bayes
and trees in simulated worlds (`bench.worlds.FITTED`, 160 tables each, 23,000 ranges), from which the two constants follow by least
squares. Stable learners alone need less (ridge 1.0 to 1.1 from 200 rows on), single trees more (1.3 to 1.4 at any size).

Log loss and Brier score also count what they do not show to first order, that the frequencies of K classes are estimated:
χ²(K − 1)/(2n), added in quadrature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import chdtri, expit, logit, stdtrit

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, TenfoldError
from tenfold.core.random import generator
from tenfold.evaluate.validate.intervals import Interval, _check_level, placements, wilson
from tenfold.score.record import Score

LEVEL = 0.95
ALWAYS, SHRINKING = 1.12, 1.8  # of `widening`
REPLICATES, CELLS = (100, 400), 4_000_000  # of the bootstrap, least and most, and rows in all of them
FREQUENCIES = {"log_loss": 0.5, "brier": 0.25}  # of χ²(K − 1)/n: what estimated class frequencies cost to second order


def widening(units: float) -> float:
    """f = 1.12 + 1.8/√n: by how much the error of a score exceeds what the losses of n held-out rows show."""
    return float(ALWAYS + SHRINKING / np.sqrt(units))


@dataclass(frozen=True)
class Spread:
    """A score of rows, with its error to first order: what each unit adds, or the scores of rows drawn with replacement."""

    value: float
    parts: Array  # of each unit, or of each draw
    drawn: bool
    units: float  # that count: fewer where weights differ, or a class is rare
    classes: int = 1  # that share them, where a score is one of classes and not of rows

    @property
    def error(self) -> float:
        """The standard error, not widened; NaN of one unit."""
        count = len(self.parts)
        if count < 2:
            return float("nan")
        parts, size = self._scaled
        if self.drawn:
            return size * float(parts.std(ddof=1))
        return size * float(np.sqrt(count / (count - 1) * (parts @ parts)))

    @property
    def _scaled(self) -> tuple[Array, float]:
        """Parts of size one at most, and their size: squares of huge and tiny numbers are none."""
        size = float(np.abs(self.parts).max(initial=0.0))
        return (self.parts / size, size) if size > 0 else (self.parts, 0.0)

    @property
    def degrees(self) -> float:
        """Of freedom of the error: of a sum of U terms ψ of mean zero 2 (Σψ²)² / (Σψ⁴ − (Σψ²)²/U), by Satterthwaite's rule; few
        where few rows make up the error, as those of a rare class.
        """
        most = max(self.units / self.classes - 1, 1.0)
        if self.drawn:
            return most
        squares = self._scaled[0] ** 2
        total = float(squares.sum())
        rest = float(squares @ squares) - total**2 / len(squares)
        return most if rest <= 2 * total**2 / most else max(2 * total**2 / rest, 1.0)


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
    mean, part = _mean(rows, w)
    spread = _by_unit(mean, part, w, units)
    if root:
        return ranged(_root(spread), "log", level, widen)
    return ranged(spread, "rate" if ((rows == 0) | (rows == 1)).all() else "log" if (rows >= 0).all() else "", level, widen)


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
    return ranged(spread, scale_of(judge), level, widen, extra, (judge.low, judge.high))


def score_difference(
    judge: Score, truth: Array, first: Array, second: Array, weights: Array | None = None, units: Array | None = None,
    models: Array | None = None, *, classes: Array | None = None,
) -> Spread:  # fmt: skip
    """First score minus second on the same held-out rows, with the error of the difference row by row; not widened."""
    a, b = (score_spread(judge, truth, output, weights, units, models, classes) for output in (first, second))
    return replace(a, value=a.value - b.value, parts=a.parts - b.parts)


def score_spread(
    judge: Score, truth: Array, output: Array, weights: Array | None, units: Array | None, models: Array | None, classes: Array | None
) -> Spread:
    """The score of all rows together, and what its error is made of."""
    w = np.ones(len(truth)) if weights is None else weights
    if judge.row_loss is not None and judge.mean_of_rows:
        mean, part = _mean(judge.row_loss(truth, output), w)
        down = judge.greater_is_better
        return _by_unit(1 - mean if down else mean, -part if down else part, w, units)
    flat = truth.ndim == 1 or truth.shape[1] == 1
    if judge.name in ("rmse", "r2") and judge.row_loss is not None and flat:
        mean, part = _mean(judge.row_loss(truth, output), w)
        if judge.name == "rmse":
            return _root(_by_unit(mean, part, w, units))
        y = truth.reshape(-1)
        spread, of_truth = _mean((y - np.average(y, weights=w)) ** 2, w)
        if spread > 0:
            return _by_unit(1 - mean / spread, (mean * of_truth / spread - part) / spread, w, units)
    found = None
    if judge.name == "roc_auc" and output.shape[1] == 2 and (w == w[0]).all():
        area = _area(truth == 1, output[:, 1] - output[:, 0], models)
        found = None if area is None else _by_unit(*area, w, units)
    found = _drawn(judge, truth, output, w, units, classes) if found is None else found
    if judge.role != "classifier":
        return found
    counts = np.bincount(truth.astype(np.int64))  # what is known of such a score is what the rarest class shows
    counts = counts[counts > 0]
    return replace(found, units=min(found.units, float(len(counts) * counts.min())), classes=len(counts))


# --- scores as sums over rows -----------------------------------------------------------------------------------------


def _mean(losses: Array, w: Array) -> tuple[float, Array]:
    """The mean, and w (l − m)/Σw of each row."""
    total = float(w.sum())
    mean = float(w @ losses) / total
    return mean, w * (losses - mean) / total


def _root(spread: Spread) -> Spread:
    value = float(np.sqrt(spread.value))
    return replace(spread, value=value, parts=spread.parts / (2 * value) if value > 0 else spread.parts)


def _area(positive: Array, scores: Array, models: Array | None) -> tuple[float, Array] | None:
    """The AUC over pairs of rows that one model has judged, and what each row adds; None where there is no pair.

    The scores of two models are not on one scale: ranked together they cost some per cent of the AUC of small tables. With
    h = 1, ½ or 0 for a pair in order, tied or not, and M pairs, A = Σ h/M, and row i adds Σⱼ (h − A)/M. The squares of these sums
    count each pair twice: Σᵢ (·)² + Σⱼ (·)² − Σ (h − A)² is the variance, so they are scaled down by as much.
    """
    order = np.arange(len(positive)) if models is None else np.argsort(models, kind="stable")
    cuts = np.empty(0, dtype=np.int64) if models is None else np.flatnonzero(np.diff(models[order])) + 1
    groups = [rows for rows in np.split(order, cuts) if 0 < np.count_nonzero(positive[rows]) < len(rows)]
    if not groups and models is not None:
        return _area(positive, scores, None)
    wins, pairs, ties = np.zeros(len(positive)), np.zeros(len(positive)), 0.0
    for rows in groups:
        up, down = rows[positive[rows]], rows[~positive[rows]]
        of_positive, of_negative = placements(positive[rows], scores[rows])
        pairs[up], pairs[down] = len(down), len(up)
        wins[up], wins[down] = of_positive * len(down), of_negative * len(up)
        below = np.sort(scores[down])
        ties += (np.searchsorted(below, scores[up], "right") - np.searchsorted(below, scores[up], "left")).sum()
    total = pairs.sum() / 2
    if not total:
        return None
    area = float(wins.sum() / pairs.sum())
    part = (wins - area * pairs) / total
    squares, twice = float(part @ part), (area * (1 - area) - ties / total / 4) / total
    return area, part * np.sqrt(max(1 - twice / squares, 0.5)) if squares > 0 else part


def _by_unit(value: float, part: Array, w: Array, units: Array | None) -> Spread:
    if units is None:
        weight = w
    else:
        code = np.unique(units, return_inverse=True)[1].reshape(-1)
        weight, part = np.bincount(code, w), np.bincount(code, part)
    seen = weight > 0
    count = float(weight.sum() ** 2 / (weight @ weight))
    return Spread(value, part[seen], False, count)


def _drawn(
    judge: Score, truth: Array, output: Array, w: Array, units: Array | None, classes: Array | None
) -> Spread:
    """From units drawn with replacement; within classes where the score needs all of them."""
    value, rng = judge.of(truth, output, w, classes), generator(0)
    code = np.arange(len(truth)) if units is None else np.unique(units, return_inverse=True)[1].reshape(-1)
    whole = _by_unit(value, np.zeros(len(truth)), w, units)
    strata = truth if judge.every_class and units is None else np.zeros(len(truth), dtype=np.int64)
    order = np.argsort(code, kind="stable")
    ends = np.searchsorted(code[order], np.arange(code.max() + 2))
    of_unit = strata[order[ends[:-1]]]
    members = [np.flatnonzero(of_unit == s) for s in np.unique(of_unit)]
    found = []
    for _ in range(int(np.clip(CELLS // len(truth), *REPLICATES))):
        chosen = np.concatenate([one[rng.integers(0, len(one), len(one))] for one in members])
        rows = order[chosen] if units is None else order[_runs(ends[chosen], ends[chosen + 1])]
        try:
            found.append(judge.of(truth[rows], output[rows], w[rows], classes))
        except TenfoldError:  # a class that is not among these rows
            found.append(np.nan)
    parts = np.array(found)
    parts = np.where(np.isfinite(parts), parts, value)
    return Spread(value, parts, True, whole.units)


def _runs(start: Array, stop: Array) -> Array:
    """start₀, ..., stop₀ − 1, start₁, ..."""
    length = stop - start
    return np.repeat(start - np.append(0, np.cumsum(length)[:-1]), length) + np.arange(length.sum())


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
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """The range on a scale; as wide as the score can be where one unit tells nothing of its own luck."""
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
        share = (value - low) / (high - low)
        trials = spread.units / factor**2
        if error > 0 and not at_end:
            trials = min(trials, share * (1 - share) / (factor * error) ** 2)
        found = wilson(share * trials, trials, level)
        return Interval(value, low + (high - low) * found.low, low + (high - low) * found.high, level, f"{method}, Wilson")
    to, slope, back = SCALES[scale]
    if half == 0:
        return Interval(value, value, value, level, method)
    if (scale == "log" and value <= 0) or (scale == "log below 1" and value >= 1):
        ends = value - half, value + half
    else:
        reach = half * abs(slope(value))
        ends = back(to(value) - reach), back(to(value) + reach)
    return Interval(value, max(float(min(ends)), bounds[0]), min(float(max(ends)), bounds[1]), level, method)
