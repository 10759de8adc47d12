"""A score of held-out rows as a sum over them: what each row adds, and the error of the whole from it.

To first order a score is a sum over rows, θ̂ − θ ≈ Σ ψᵢ (rmse: ψᵢ = (lᵢ − m)/(2 n √m) of squared errors l with mean m; R²: that of
the ratio of two means; AUC: DeLong's placements), so that its error is s = √(U/(U − 1) Σ_u (Σ_{i in u} ψᵢ)²) over U units: rows, or
groups of rows that belong together. Scores without such a sum (F₁, Matthews correlation, functions of the user, ...) have s from rows
drawn with replacement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import TenfoldError
from tenfold.core.random import generator
from tenfold.evaluate.validate.intervals import placements, weights_below
from tenfold.score.record import Score

REPLICATES, CELLS = (100, 400), 4_000_000  # of the bootstrap, least and most, and rows in all of them


@dataclass(frozen=True)
class Spread:
    """A score of rows, with its error to first order: what each unit adds, or the scores of rows drawn with replacement."""

    value: float
    parts: Array  # of each unit, or of each draw
    drawn: bool
    units: float  # that count: fewer where weights differ, or a class is rare
    classes: int = 1  # that share them, where a score is one of classes and not of rows
    heaviest: float = 1.0  # share of the weight that one unit has at most
    rows: float = 0.0  # that count, where some belong together: no fewer than units

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


def score_spread(
    judge: Score, truth: Array, output: Array, weights: Array | None, units: Array | None, models: Array | None, classes: Array | None
) -> Spread:
    """The score of all rows together, and what its error is made of."""
    w = np.ones(len(truth)) if weights is None else weights
    if judge.row_loss is not None and judge.mean_of_rows:
        mean, part = mean_of(judge.row_loss(truth, output), w)
        down = judge.greater_is_better
        return by_unit(1 - mean if down else mean, -part if down else part, w, units)
    flat = truth.ndim == 1 or truth.shape[1] == 1
    if judge.name in ("rmse", "r2") and judge.row_loss is not None and flat:
        mean, part = mean_of(judge.row_loss(truth, output), w)
        if judge.name == "rmse":
            return root_of(by_unit(mean, part, w, units))
        y = truth.reshape(-1)
        spread, of_truth = mean_of((y - np.average(y, weights=w)) ** 2, w)
        if spread > 0:
            return by_unit(1 - mean / spread, (mean * of_truth / spread - part) / spread, w, units)
    found = None
    if judge.name == "roc_auc" and output.shape[1] == 2:
        area = _area(truth == 1, output[:, 1] - output[:, 0], models, w)
        found = None if area is None else by_unit(*area, w, units)
    found = _drawn(judge, truth, output, w, units, classes) if found is None else found
    if judge.role != "classifier":
        return found
    # What is known of such a score is what the rarest class shows; of precision that which is said least, if at all.
    if judge.name.startswith("precision"):
        counts = np.maximum(np.bincount(output.argmax(axis=1), minlength=output.shape[1]), 1)
    else:
        counts = np.bincount(truth.astype(np.int64))
        counts = counts[counts > 0]
    return replace(found, units=min(found.units, float(len(counts) * counts.min())), classes=len(counts))


# --- what each row adds -----------------------------------------------------------------------------------------------


def mean_of(losses: Array, w: Array) -> tuple[float, Array]:
    """The mean, and w (l − m)/Σw of each row."""
    total = float(w.sum())
    mean = float(w @ losses) / total
    return mean, w * (losses - mean) / total


def root_of(spread: Spread) -> Spread:
    value = float(np.sqrt(spread.value))
    return replace(spread, value=value, parts=spread.parts / (2 * value) if value > 0 else spread.parts)


def _area(positive: Array, scores: Array, models: Array | None, w: Array) -> tuple[float, Array] | None:
    """The AUC over pairs of rows that one model has judged, and what each row adds; None where there is no pair.

    The scores of two models are not on one scale: ranked together they cost some per cent of the AUC of small tables. With
    h = 1, ½ or 0 for a pair in order, tied or not, which counts w = wᵢ wⱼ, and M = Σ w over pairs, A = Σ w h/M, and row i adds
    Σⱼ w (h − A)/M. The squares of these sums count each pair twice: Σᵢ (·)² + Σⱼ (·)² − Σ w² (h − A)²/M² is the variance, so they are
    scaled down by as much (as if weights had nothing to do with h).
    """
    order = np.arange(len(positive)) if models is None else np.argsort(models, kind="stable")
    cuts = np.empty(0, dtype=np.int64) if models is None else np.flatnonzero(np.diff(models[order])) + 1
    groups = [rows for rows in np.split(order, cuts) if 0 < np.count_nonzero(positive[rows]) < len(rows)]
    if not groups and models is not None:
        return _area(positive, scores, None, w)
    equal = bool((w == w[0]).all())
    w = np.ones(len(w)) if equal else w
    wins, pairs, ties, squared = np.zeros(len(positive)), np.zeros(len(positive)), 0.0, 0.0
    for rows in groups:
        up, down = rows[positive[rows]], rows[~positive[rows]]
        of_positive, of_negative = placements(positive[rows], scores[rows], None if equal else w[rows])
        pairs[up], pairs[down] = w[down].sum(), w[up].sum()
        wins[up], wins[down] = of_positive * pairs[up], of_negative * pairs[down]
        below, above = weights_below(scores[up], scores[down], w[down])
        ties += w[up] @ (above - below)
        squared += float(w[up] @ w[up]) * float(w[down] @ w[down])
    total = (w * pairs).sum() / 2
    if not total:
        return None
    area = float((w * wins).sum() / (w * pairs).sum())
    part = w * (wins - area * pairs) / total
    squares, twice = float(part @ part), (area * (1 - area) - ties / total / 4) / total * (squared / total)
    return area, part * np.sqrt(max(1 - twice / squares, 0.5)) if squares > 0 else part


def by_unit(value: float, part: Array, w: Array, units: Array | None) -> Spread:
    if units is None:
        weight = w
    else:
        code = np.unique(units, return_inverse=True)[1].reshape(-1)
        weight, part = np.bincount(code, w), np.bincount(code, part)
    seen = weight > 0
    count = float(weight.sum() ** 2 / (weight @ weight))
    rows = float(w.sum() ** 2 / (w @ w))
    return Spread(value, part[seen], False, count, heaviest=float(weight.max() / weight.sum()), rows=rows)


def _drawn(
    judge: Score, truth: Array, output: Array, w: Array, units: Array | None, classes: Array | None
) -> Spread:
    """From units drawn with replacement; within classes where the score needs all of them. An average precision rises and falls with the
    share of the positives, which is luck too: it is one of the rows that were drawn."""
    value, rng = judge.of(truth, output, w, classes), generator(0)
    code = np.arange(len(truth)) if units is None else np.unique(units, return_inverse=True)[1].reshape(-1)
    whole = by_unit(value, np.zeros(len(truth)), w, units)
    within = judge.every_class and judge.name != "average_precision" and units is None
    strata = truth if within else np.zeros(len(truth), dtype=np.int64)
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
