"""The score to expect of the setting that was chosen: its score on the folds that chose it flatters.

The choice is replayed on held-out rows drawn with replacement, and the winner of each replay is judged on the rows that were
not drawn (`evaluate.bootstrap_bias_correction`). The range is that of the losses of the winner (`evaluate/validate/ranges.py`),
and in quadrature what the choice varies from replay to replay. Each setting needs a loss of each row, or of each group of rows:

    a mean over rows (accuracy, log loss, absolute error)     the losses of the rows themselves
    R², root mean squared error                               squared errors, of whose mean the score is a function
    others (AUC, F₁, functions of the user)                   what a group of rows adds: G S − (G − 1) S without the group
                                                              (the pseudo-values of the jackknife)

Equal rows are one unit, and so are rows of one group; units are ordered by a hash of what they hold. So neither the order of the
rows nor whether a row comes twice or with weight 2 matters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import TenfoldError
from tenfold.evaluate.split.plan import truth_of
from tenfold.evaluate.validate.merges import all_but_one
from tenfold.evaluate.validate.ranges import ranged, scale_of
from tenfold.evaluate.validate.selection_bias import bootstrap_bias_correction
from tenfold.evaluate.validate.spread import Spread
from tenfold.score.record import Score, judged_output

MOST_UNITS = 1000  # of rows; more are taken together
REPLICATES = 500
JACKKNIFE = 50  # groups of rows; a score that is no mean over rows is computed once without each
LEVEL = 0.95


class Expected(NamedTuple):
    """The score for new rows of the setting that was chosen, with its range."""

    estimate: float
    low: float
    high: float


def units_of(source: Arrays, groups: Array | None) -> Array:
    """The unit of each row: its group, or that of all rows with the same content, in an order that depends on content alone."""
    if groups is not None:
        return np.unique(groups, return_inverse=True)[1].reshape(-1)
    hashes = np.concatenate([ops.hash_rows(source.load(part).X, 0) for part in source.parts()])
    return np.unique(hashes, return_inverse=True)[1].reshape(-1)


class HeldOut:
    """Losses of units of held-out rows for each setting.

    `part` is what is kept of the outputs for the test rows of one split, `add` takes those of all splits.
    """

    def __init__(self, judge: Score, source: Arrays, tests: list[Array], units: Array) -> None:
        self.judge, self.classes = judge, source.target.classes
        rows = np.concatenate(tests)
        self.ends = np.cumsum([0, *map(len, tests)])
        truth, w = truth_of(source)
        self.truth, self.w = truth[rows], w[rows]
        found, unit = np.unique(units[rows], return_inverse=True)
        most = MOST_UNITS if self._of_rows else JACKKNIFE
        count = min(len(found), most)
        self.unit, self.count, self.units = unit.reshape(-1) * count // len(found), count, len(found)
        self.losses: dict[int, Array] = {}

    @property
    def _of_rows(self) -> bool:
        """Whether the score is a function of the mean loss of rows."""
        flat = self.truth.ndim == 1 or self.truth.shape[1] == 1
        return self.judge.row_loss is not None and (self.judge.mean_of_rows or (self.judge.of_squares is not None and flat))

    def part(self, split: int, output: Array) -> Array:
        """The summed losses of the units, where the score is a function of the mean loss of rows; else the outputs themselves."""
        output = judged_output(self.judge, output, self.classes)
        if not self._of_rows or self.judge.row_loss is None:
            return output
        here = slice(self.ends[split], self.ends[split + 1])
        return np.bincount(self.unit[here], self.w[here] * self.judge.row_loss(self.truth[here], output), minlength=self.count)

    def add(self, setting: int, parts: list[Array]) -> None:
        """Take the parts of a setting, split by split."""
        if self._of_rows:  # a unit counts by its weight: the mean over units is the weighted mean over rows
            self.losses[setting] = np.sum(parts, axis=0) * self.count / self.w.sum()
        else:
            self.losses[setting] = self._pseudo_values(np.concatenate(parts))

    def _pseudo_values(self, output: Array) -> Array:
        parts = [(self.truth[here], output[here], self.w[here]) for here in (self.unit == g for g in range(self.count))]
        try:
            if self.judge.merges:
                stats = [self.judge.sums(*part) for part in parts]
                without = np.array([self.judge.finish(one) for one in all_but_one(stats)])
            else:
                others = [[part for j, part in enumerate(parts) if j != g] for g in range(self.count)]
                without = np.array([self.judge.pooled(some, self.classes) for some in others])
            whole = self.judge.pooled(parts, self.classes)
        except TenfoldError:  # a class that is missing without the group
            return np.full(self.count, np.nan)
        return np.asarray(-self.judge.sign * (self.count * whole - (self.count - 1) * without))

    def expected(self, among: list[int]) -> Expected | None:
        """The score to expect of the best of some settings; None where it cannot be told."""
        table = [self.losses[i] for i in among if i in self.losses and np.isfinite(self.losses[i]).all()]
        if not table or self.count < 2:
            return None
        losses = np.column_stack(table)
        replay = _replayed(losses)
        winner = losses[:, losses.mean(axis=0).argmin()]
        judge, (slope, of_truth) = self.judge, self._slope(replay.loss)
        value, parts = judge.sign * self._utility(replay.loss), slope * (winner - winner.mean() - of_truth) / self.count
        spread = Spread(value, parts, False, self.units)
        found = ranged(spread, scale_of(judge), extra=slope * replay.choice, bounds=(judge.low, judge.high))
        ends = sorted((judge.sign * found.low, judge.sign * found.high))
        return Expected(judge.sign * value, *ends)

    def _slope(self, loss: float) -> tuple[float, Array | float]:
        """By how much the score moves with the mean loss, whichever way; and what each unit adds to the loss by the truth alone."""
        if not self._of_rows or self.judge.mean_of_rows:
            return 1.0, 0.0
        if self.judge.name == "rmse":
            return 1 / (2 * np.sqrt(loss)) if loss > 0 else 0.0, 0.0
        total = np.bincount(self.unit, self.w * self._away(), minlength=self.count) * self.count / self.w.sum()
        spread = float(total.mean())  # R² is 1 − loss/spread
        return (1 / spread, loss * (total - spread) / spread) if spread > 0 else (0.0, 0.0)

    def _away(self) -> Array:
        """(y − ȳ)² of each row."""
        truth = self.truth.reshape(-1)
        return np.asarray((truth - np.average(truth, weights=self.w)) ** 2)

    def _utility(self, loss: float) -> float:
        """The score that goes with a mean loss, so that greater is better."""
        if not self._of_rows:
            return -loss
        if self.judge.mean_of_rows:
            return 1.0 - loss if self.judge.greater_is_better else -loss
        assert self.judge.of_squares is not None
        spread = np.average(self._away(), weights=self.w)
        return float(self.judge.sign * self.judge.of_squares(np.asarray(loss), float(spread)))


class FoldScores:
    """Scores of test sets for each setting, where losses of rows are not known: the choice is replayed on test sets drawn with
    replacement, and judged on those that were not drawn.
    """

    def __init__(self, scores: Array, tests: list[Array]) -> None:
        self.scores = scores  # (settings, splits), greater is better
        rows = np.concatenate(tests)
        self.apart = len(np.unique(rows)) == len(rows)  # test sets that share rows would judge a choice by rows that have made it

    def expected(self, among: list[int]) -> Expected | None:
        """As `HeldOut.expected`."""
        known = [i for i in among if np.isfinite(self.scores[i]).all()]
        if not known or self.scores.shape[1] < 2 or not self.apart:
            return None
        replay = _replayed(-self.scores[known].T)
        return Expected(-replay.loss, -replay.high, -replay.low)


class Replay(NamedTuple):
    """The loss to expect of the setting that is chosen, the range of the replays, and what of half of it comes from the choice."""

    loss: float
    low: float
    high: float
    choice: float


def _replayed(losses: Array) -> Replay:
    """The choice of the least loss, replayed; a row for each unit, a column for each setting."""
    found = bootstrap_bias_correction(losses, LEVEL, REPLICATES, 0)
    alone = bootstrap_bias_correction(losses[:, [found.index]], LEVEL, REPLICATES, 0)
    luck = alone.estimate - alone.naive  # of the units that the same draws have left out: on average there is none
    choice = 0.5 * np.sqrt(max((found.high - found.low) ** 2 - (alone.high - alone.low) ** 2, 0.0))
    return Replay(found.estimate - luck, found.low - luck, found.high - luck, float(choice))
