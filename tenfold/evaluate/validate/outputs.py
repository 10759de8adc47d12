"""Held-out outputs, gathered row by row."""

from __future__ import annotations

import numpy as np

from tenfold.base.estimator import softmax
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput
from tenfold.evaluate.split.plan import truth_of
from tenfold.evaluate.validate.intervals import Interval
from tenfold.evaluate.validate.ranges import LEVEL, score_range
from tenfold.score.record import Score, judged_output, split_choice


class Tally:
    """Held-out outputs, put together row by row when asked for: a row may be held out often, or never."""

    def __init__(self, source: Arrays, groups: Array | None = None) -> None:
        self.n, self.classes, self.flat = source.n_rows or 0, source.target.classes, source.target.flat
        self.truth, self.w = truth_of(source)
        self.groups = groups  # rows that belong together: what is known of the score counts groups
        self.parts: list[tuple[Array, Array]] = []

    def add(self, rows: Array, output: Array) -> None:
        self.parts.append((rows, output))

    def count(self) -> Array:
        """How often each row was held out."""
        return np.bincount(np.concatenate([rows for rows, _ in self.parts]), minlength=self.n)

    def rows(self) -> Array | None:
        """Rows that were held out; None if all were."""
        count = self.count()
        return None if count.all() else np.flatnonzero(count)

    def pooled(self, judge: Score) -> float:
        """The score of all rows that were held out, together; a row as often as it was."""
        parts = [(self.truth[rows], judged_output(judge, out, self.classes), self.w[rows]) for rows, out in self.parts]
        return judge.pooled(parts, self.classes)

    def together(self, judge: Score) -> tuple[Array, Array, Array, Array | None, Array]:
        """Truth, outputs as the score wants them, weights, units and part of all rows that were held out; a row as often as it was."""
        rows = np.concatenate([rows for rows, _ in self.parts])
        output = np.concatenate([judged_output(judge, out, self.classes) for _, out in self.parts])
        units = self.groups[rows] if self.groups is not None else rows if (self.count() > 1).any() else None
        return self.truth[rows], output, self.w[rows], units, np.repeat(np.arange(len(self.parts)), [len(part) for part, _ in self.parts])

    def estimate(self, judge: Score, level: float = LEVEL) -> Interval:
        """The score of all rows that were held out, with the range of what to expect on new rows."""
        return score_range(judge, *self.together(judge), classes=self.classes, level=level)

    def predictions(self) -> Array:
        """The mean output over the times a row was held out, as labels or values."""
        if self.classes is None:
            mean = self._mean([output for _, output in self.parts])
            return mean[:, 0] if self.flat else mean
        split = [split_choice(output, len(self.classes)) for _, output in self.parts]
        chosen = all(codes is not None for _, codes in split)  # a class that has not the largest score: votes
        votes = [np.eye(len(self.classes))[codes] if chosen else scores for scores, codes in split]
        return np.asarray(self.classes[self._mean(votes).argmax(axis=1)])

    def probabilities(self) -> Array | None:
        """The mean probabilities of the classes."""
        if self.classes is None:
            return None
        return self._mean([softmax(split_choice(output, len(self.classes))[0]) for _, output in self.parts])

    def _mean(self, outputs: list[Array]) -> Array:
        total, count = np.zeros((self.n, outputs[0].shape[1])), self.count()
        for (rows, _), output in zip(self.parts, outputs, strict=True):
            total[rows] += output  # the rows of one part differ
        seen = count > 0
        return total / count[:, None] if seen.all() else total[seen] / count[seen, None]


class Unkept:
    """Stands for the outputs of rows that were read block by block, or of models that are not Tenfold's: they are not there."""

    def pooled(self, judge: Score) -> float:
        raise BadInput("outputs of a stream, or of a model that is not Tenfold's, are not kept: there is no pooled score")

    def predictions(self) -> Array:
        raise BadInput("predictions of a stream, or of a model that is not Tenfold's, are not kept here: use cross_val_predict")

    probabilities = predictions
