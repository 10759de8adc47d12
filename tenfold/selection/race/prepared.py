"""The front of a race: the transformers before every learner of numbers, fitted to one training set after another."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

import tenfold
from tenfold.base import check
from tenfold.compose.front import Front
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import kept_warnings
from tenfold.core.stats import Moments
from tenfold.evaluate.validate.merges import FoldSums
from tenfold.evaluate.validate.training_sets import Held, sums_fit, sums_of_folds
from tenfold.selection.race.rows import Rows


def front() -> list[tuple[str, Any]]:
    """The transformers before every learner; what they learn, they learn from training rows."""
    return [("impute", tenfold.SimpleImputer()), ("scale", tenfold.StandardScaler())]


def named(source: Arrays, labels: Array | None) -> Arrays:
    """Rows whose classes, numbers so far, are what the user calls them; a training set may be without some of them."""
    if labels is not None:
        source.facts["classes_"] = labels[source.facts["classes_"]]
    return source


class Prepared:
    """The transformers of a training set, fitted, and what lies behind them; of one training set at a time.

    Moments are summed up fold by fold, once; transformers and moments behind them follow from merges. Training rows are transformed
    only for learners that have to see them. Where moments would take too much memory, transformers are fitted to training rows.
    """

    steps: list[Any]
    moments: Moments | None  # behind the transformers; None where they are not known

    def __init__(self, rows: Rows, learner: Any) -> None:
        self.X, self.y, self.weight, self.division, self.learner = rows.X, rows.y, rows.weight, rows.division, learner
        self.labels = rows.labels
        whole = tenfold.Pipeline([*front(), ("model", learner)])
        self.rows = named(check.in_memory(whole, rows.X, rows.y, rows.weight), rows.labels)
        self.names = None if rows.names is None else np.array(rows.names, dtype=object)
        if self.names is not None:
            self.rows.facts["feature_names_in_"] = self.names
        # with texts X is another one for each training set: sums over folds cannot be merged
        self.front = Front.of([step for _, step in front()], self.rows) if rows.texts is None else None
        self.sums: FoldSums | None = None
        self.held: Held = ()

    @property
    def merges(self) -> bool:
        """Whether there is memory for the moments of all folds."""
        return self.front is not None and sums_fit(self.front.size, len(self.division.parts))

    def at(self, held: Held) -> Self:
        """Without these folds."""
        if held == self.held:
            return self
        self.held = ()
        if self.front is not None and self.sums is None:
            self.sums = sums_of_folds(self.front.summarize, self.rows, self.division.parts, self.front.size)
        found = None
        if self.front is not None and self.sums is not None:
            merged = self.sums.before(held[0] + 1) if self.division.ordered else self.sums.without(held)
            found = self.front.solve(merged)
        self.seen = self.division.training(held)
        with kept_warnings():  # they are known from the look at the columns
            self.steps, self.moments = (self._fitted(), None) if found is None else found
        self._training: Arrays | None = None
        self._tested: dict[int, Array] = {}
        self.held = held
        return self

    def _fitted(self) -> list[Any]:
        weight = None if self.weight is None else self.weight[self.seen]
        given = {} if weight is None else {f"{name}__sample_weight": weight for name, _ in front()}
        return [step for _, step in tenfold.Pipeline(front()).fit(self.X[self.seen], **given).steps]

    def _through(self, rows: Array) -> Array:
        Z = self.X[rows]
        with kept_warnings():  # they are known from the look at the columns
            for step in self.steps:
                Z = step._transform(Z)
        return np.ascontiguousarray(Z)

    def tested(self, fold: int) -> Array:
        """The rows of a fold that is left out, transformed."""
        if fold not in self._tested:
            self._tested[fold] = self._through(self.division.rows(fold))
        return self._tested[fold]

    @property
    def training(self) -> Arrays:
        """The training rows, transformed."""
        if self._training is None:
            weight = None if self.weight is None else self.weight[self.seen]
            source = named(check.in_memory(self.learner, self._through(self.seen), self.y[self.seen], weight), self.labels)
            if self.names is not None:
                source.facts["feature_names_in_"] = self.names[~np.isnan(self.steps[0].statistics_)]
            self._training = source
        return self._training
