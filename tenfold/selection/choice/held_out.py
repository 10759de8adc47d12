"""What the settings of a race say of rows that they have not seen: losses of rows, scores, and weighted means of settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tenfold.base.estimator import softmax
from tenfold.core.data import Array
from tenfold.evaluate.validate.result import corrected_error
from tenfold.score.record import Score, judged_output, split_choice
from tenfold.score.statistics import absolute, squared
from tenfold.selection.choice.decision import decided, rule_for

SMALLEST = float(np.finfo(np.float64).eps)  # probability whose logarithm stands for that of zero, as in `log_loss`
MOST_KEPT = 2**28  # bytes of held-out outputs that are kept with all their digits
WIDER = 1.15  # what an error of a mean over held-out rows is multiplied by: models of different folds share training rows


def held_out_table(settings: int, rows: int, width: int) -> Array:
    """(settings, rows, outputs), for the outputs of each setting for each row, trained without its fold.

    Half the digits are kept where all of them would take more than MOST_KEPT bytes.
    """
    shape = settings, rows, width
    return np.full(shape, np.nan, np.float64 if 8 * settings * rows * width <= MOST_KEPT else np.float32)


def longer(table: Array, count: int) -> Array:
    """With so many settings more, of which nothing is known yet."""
    return np.concatenate([table, np.full((count, *table.shape[1:]), np.nan, table.dtype)])


@dataclass(frozen=True)
class HeldOut:
    """Outputs (settings, rows, outputs): class scores (log posteriors up to a constant in each row), or one value; NaN where unknown."""

    outputs: Array
    y: Array  # codes of classes, or numbers
    fold: Array
    judge: Score
    classes: Array | None
    labels: Array | None = None  # what the classes are called
    weight: Array | None = None  # of each row, where rows do not count alike
    units: Array | None = None  # a number for each row, the same for rows that belong together
    costs: Array | None = None  # of decisions, where they were given
    divisions: int = 1  # into folds that lie one below the other: each row is there so many times

    def truth(self, rows: Array) -> Array:
        """The truth of some rows, as a score takes it: codes of classes, or one column of numbers."""
        return self.y[rows] if self.classes is not None else self.y[rows, None]

    def usable(self, rows: Array) -> Array:
        """Which settings have an output for each of these rows."""
        return np.asarray(np.isfinite(self.outputs[:, rows, 0]).all(axis=1))

    def weights(self, rows: Array) -> Array:
        """The weights of some rows, as a score takes them."""
        return np.ones(len(rows)) if self.weight is None else self.weight[rows]

    def mean(self, values: Array, rows: Array) -> Array:
        """The mean over these rows, of values whose last axis they are."""
        return np.asarray(values.mean(axis=-1) if self.weight is None else np.average(values, axis=-1, weights=self.weight[rows]))

    def error(self, values: Array, rows: Array) -> float:
        """The standard error of that mean: √(U/(U − 1) Σ_u (Σ_{i in u} wᵢ (vᵢ − v̄)/Σw)²) over U units, rows unless others are known."""
        w = self.weights(rows)
        parts = w * (values - self.mean(values, rows)) / w.sum()
        if self.units is not None:
            parts = np.bincount(np.unique(self.units[rows], return_inverse=True)[1].reshape(-1), parts)
        return float(np.sqrt(len(parts) / max(len(parts) - 1, 1) * (parts @ parts)))

    def row_losses(self, output: Array, rows: Array) -> Array:
        """The judge's loss of each of these rows; of a judge that is no mean over rows, the one that ensembles are weighed by."""
        loss = self.judge.row_loss
        if loss is not None:
            return loss(self.truth(rows), judged_output(self.judge, output.astype(np.float64, copy=False), self.classes))
        if self.classes is None:
            return squared(self.truth(rows), output)
        output = split_choice(output, len(self.classes))[0]
        return -np.log(np.maximum(softmax(output)[np.arange(len(rows)), self.y[rows]], SMALLEST))

    def score(self, output: Array, rows: Array, judge: Score | None = None) -> float:
        """The score of outputs for these rows together; an AUC counts pairs of rows that one model has judged, as its estimate does."""
        judge = judge or self.judge
        output = judged_output(judge, output.astype(np.float64, copy=False), self.classes)
        if judge.name == "roc_auc" and output.shape[1] == 2:
            folds, w, y = np.unique(self.fold[rows]), self.weights(rows), self.y[rows]
            parts = [p for k in folds if 0 < y[p := np.flatnonzero(self.fold[rows] == k)].sum() < len(p)]
            pairs = [float(w[p] @ y[p]) * float(w[p] @ (1 - y[p])) for p in parts]
            if parts:
                each = [judge.of(y[p], output[p], None if self.weight is None else w[p], self.labels) for p in parts]
                return float(np.average(each, weights=pairs))
        return judge.of(self.truth(rows), output, self.weights(rows), self.labels)

    def rule(self, output: Array, rows: Array) -> Array | None:
        """The costs by which classes are decided for, from these rows; None for the most likely class."""
        if self.classes is None or self.costs is not None:
            return self.costs
        return rule_for(self.judge, self.y[rows], output, self.fold[rows], None if self.weight is None else self.weight[rows])

    def decided_outputs(self, c: int, rows: Array) -> Array:
        """What a setting says of rows, decided by the rule that is best for them, which is found once."""
        output = np.asarray(self.outputs[c, rows], dtype=np.float64)
        if self.classes is None or self.judge.of_counts is None:
            return output
        place = c, hash(rows.tobytes())
        if place not in self._rules:
            self._rules[place] = self.rule(output, rows)
        return decided(output, self._rules[place])

    @cached_property
    def _rules(self) -> dict[tuple[int, int], Array | None]:
        return {}

    def decided(self, output: Array, rows: Array) -> Array:
        """Outputs with the class that is decided for as one more column, by the rule that is best for these rows, if there is one."""
        return output if self.classes is None or output.shape[1] > len(self.classes) else decided(output, self.rule(output, rows))

    def utilities(self, rows: Array) -> Array:
        """Of each setting, how good it is on these rows by the judge, greater is better; −∞ where it is not known.

        Minus the mean loss of rows where the judge has one, or rises and falls with it (RMSE with the squared error).
        """
        usable = self.usable(rows)
        found = np.full(len(usable), -np.inf)
        for c in np.flatnonzero(usable):
            if self.judge.row_loss is not None:
                found[c] = -self.mean(self.row_losses(self.outputs[c, rows], rows), rows)
            else:
                found[c] = self.judge.sign * self.score(self.decided_outputs(int(c), rows), rows)
        return found

    def behind(self, ahead: Array, other: Array, rows: Array) -> tuple[float, float]:
        """How far outputs are behind others on the same rows by the judge, in the unit of `utilities`, and the standard error of that."""
        if self.judge.row_loss is not None:
            gap = self.row_losses(other, rows) - self.row_losses(ahead, rows)
            return float(self.mean(gap, rows)), WIDER * self.error(gap, rows)
        ahead, other = self.decided(ahead, rows), self.decided(other, rows)
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
            return self.mean(-np.log(np.maximum(parts, SMALLEST)), rows)
        off = parts - self.y[rows]
        return self.mean(np.abs(off) if self.judge.row_loss is absolute else off**2, rows)
