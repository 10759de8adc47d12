"""What the settings of a race say of rows that they have not seen: losses of rows, scores, and weighted means of settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tenfold.base.estimator import softmax
from tenfold.core.data import Array
from tenfold.evaluate.validate.result import corrected_error
from tenfold.score.record import Score
from tenfold.score.statistics import absolute, squared

SMALLEST = float(np.finfo(np.float64).eps)  # probability whose logarithm stands for that of zero, as in `log_loss`
WIDER = 1.15  # what an error of a mean over held-out rows is multiplied by: models of different folds share training rows


@dataclass(frozen=True)
class HeldOut:
    """Outputs (settings, rows, outputs): class scores (log posteriors up to a constant in each row), or one value; NaN where unknown."""

    outputs: Array
    y: Array  # codes of classes, or numbers
    fold: Array
    judge: Score
    classes: Array | None
    labels: Array | None = None  # what the classes are called

    def truth(self, rows: Array) -> Array:
        """The truth of some rows, as a score takes it: codes of classes, or one column of numbers."""
        return self.y[rows] if self.classes is not None else self.y[rows, None]

    def usable(self, rows: Array) -> Array:
        """Which settings have an output for each of these rows."""
        return np.asarray(np.isfinite(self.outputs[:, rows, 0]).all(axis=1))

    @cached_property
    def losses(self) -> Array | None:
        """(settings, rows): the judge's loss of each row, NaN where unknown; None where the judge is no mean over rows."""
        if self.judge.row_loss is None:
            return None
        found = np.full(self.outputs.shape[:2], np.nan)
        for c, output in enumerate(self.outputs):
            rows = np.flatnonzero(np.isfinite(output[:, 0]))
            if rows.size:
                found[c, rows] = self.row_losses(output[rows], rows)
        return found

    def row_losses(self, output: Array, rows: Array) -> Array:
        """The judge's loss of each of these rows; of a judge that is no mean over rows, the one that ensembles are weighed by."""
        loss = self.judge.row_loss
        if loss is not None:
            return loss(self.truth(rows), output.astype(np.float64, copy=False))
        if self.classes is None:
            return squared(self.truth(rows), output)
        return -np.log(np.maximum(softmax(output)[np.arange(len(rows)), self.y[rows]], SMALLEST))

    def score(self, output: Array, rows: Array, judge: Score | None = None) -> float:
        """The score of outputs for these rows together."""
        judge, output = judge or self.judge, output.astype(np.float64, copy=False)
        return judge.of(self.truth(rows), output, np.ones(len(rows)), self.labels)

    def utilities(self, rows: Array) -> Array:
        """Of each setting, how good it is on these rows by the judge, greater is better; −∞ where it is not known.

        Minus the mean loss of rows where the judge has one, or rises and falls with it (RMSE with the squared error).
        """
        usable = self.usable(rows)
        found = np.full(len(usable), -np.inf)
        if self.losses is not None:
            found[usable] = -self.losses[usable][:, rows].mean(axis=1)
        else:
            for c in np.flatnonzero(usable):
                found[c] = self.judge.sign * self.score(self.outputs[c, rows], rows)
        return found

    def behind(self, ahead: Array, other: Array, rows: Array) -> tuple[float, float]:
        """How far outputs are behind others on the same rows by the judge, in the unit of `utilities`, and the standard error of that."""
        if self.judge.row_loss is not None:
            gap = self.row_losses(other, rows) - self.row_losses(ahead, rows)
            return float(gap.mean()), float(WIDER * gap.std(ddof=1) / np.sqrt(len(gap)))
        parts = [np.flatnonzero(self.fold[rows] == k) for k in np.unique(self.fold[rows])]
        gaps = np.array(
            [self.judge.sign * (self.score(ahead[p], rows[p]) - self.score(other[p], rows[p])) for p in parts]
        )
        return float(gaps.mean()), corrected_error(gaps, len(parts))

    def mixed(self, weights: dict[int, float], rows: Array) -> Array:
        """The weighted mean of settings: of values, or of probabilities, as logarithms."""
        if self.classes is None:
            return np.asarray(sum(w * self.outputs[c, rows].astype(np.float64) for c, w in weights.items()))
        if len(weights) == 1:
            return np.asarray(self.outputs[next(iter(weights)), rows], dtype=np.float64)
        return np.log(np.maximum(self.shares(weights, rows), SMALLEST))

    def shares(self, weights: dict[int, float], rows: Array) -> Array:
        """(rows, classes): the weighted mean of the probabilities of settings."""
        return np.asarray(sum(w * softmax(self.outputs[c, rows].astype(np.float64)) for c, w in weights.items()))

    def parts(self, members: Sequence[int], rows: Array) -> Array:
        """(members, rows): what the loss of a mean of settings depends on, the probability of the true class or the value."""
        if self.classes is None:
            return np.asarray(self.outputs[members][:, rows, 0], dtype=np.float64)
        at = np.arange(len(rows)), self.y[rows]
        return np.stack([softmax(self.outputs[c, rows].astype(np.float64))[at] for c in members])

    def part_losses(self, parts: Array, rows: Array) -> Array:
        """The mean loss of parts (..., rows): log loss, or the squared error, or the absolute one where that judges."""
        if self.classes is not None:
            return np.asarray(-np.log(np.maximum(parts, SMALLEST)).mean(axis=-1))
        off = parts - self.y[rows]
        return np.asarray((np.abs(off) if self.judge.row_loss is absolute else off**2).mean(axis=-1))
