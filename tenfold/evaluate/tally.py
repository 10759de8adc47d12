"""Held-out outputs, gathered row by row."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array, Arrays
from tenfold.core.estimator import softmax


def split_choice(output: Array, n_classes: int) -> tuple[Array, Array | None]:
    """Class scores, and the number of the chosen class where one more column tells it."""
    if output.shape[1] == n_classes:
        return output, None
    return output[:, :n_classes], output[:, n_classes].astype(np.int64)


class Tally:
    """Held-out outputs, summed row by row: a row may be held out several times, or never."""

    def __init__(self, source: Arrays) -> None:
        self.n, self.classes, self.flat = source.n_rows or 0, source.target.classes, source.target.flat
        self.count = np.zeros(self.n)
        self.total: Array | None = None
        self.chance: Array | None = None
        self.votes: Array | None = None  # where the class is not that of the largest score

    def add(self, rows: Array, output: Array) -> None:
        codes = None
        if self.classes is not None:
            output, codes = split_choice(output, len(self.classes))
        if self.total is None:
            self.total = np.zeros((self.n, output.shape[1]))
            self.chance = None if self.classes is None else np.zeros_like(self.total)
            self.votes = None if codes is None else np.zeros_like(self.total)
        self.count[rows] += 1
        self.total[rows] += output
        if self.chance is not None:
            self.chance[rows] += softmax(output)
        if self.votes is not None and codes is not None:
            self.votes[rows, codes] += 1

    def rows(self) -> Array | None:
        """Rows that were held out; None if all were."""
        return None if self.count.all() else np.flatnonzero(self.count)

    def predictions(self) -> Array:
        """The mean output over the times a row was held out, as labels or values."""
        assert self.total is not None
        seen = self.count > 0
        if self.classes is not None:
            best = self.total if self.votes is None else self.votes
            return self.classes[best[seen].argmax(axis=1)]
        mean = self.total[seen] / self.count[seen, None]
        return mean[:, 0] if self.flat else mean

    def probabilities(self) -> Array | None:
        if self.chance is None:
            return None
        seen = self.count > 0
        return self.chance[seen] / self.count[seen, None]
