"""Sums of columns of several kinds, class by class: all that naive Bayes of mixed columns looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.stats import Counts, Spread, Stats
from tenfold.generative.class_sums import CategoryCounts


@dataclass(slots=True)
class MixedSums(Stats):
    """Weight of each class, the spread of the columns of numbers, and the counts of those of categories, without what is missing."""

    classes: Counts  # (K,)
    numbers: Spread | None  # (K · columns, 1): the columns of the first class, then those of the second; None: there are no such columns
    categories: CategoryCounts | None

    @classmethod
    def of(cls, numbers: Array, categories: Array, y: Array, w: Array, k: int) -> MixedSums:
        return cls(
            Counts.of(y, w, k),
            spreads(numbers, y, w, k) if numbers.shape[1] else None,
            CategoryCounts.of(categories, y, w, k, None) if categories.shape[1] else None,
        )

    def __sub__(self, other: MixedSums) -> MixedSums:
        numbers = None if self.numbers is None or other.numbers is None else self.numbers - other.numbers
        categories = None if self.categories is None or other.categories is None else self.categories - other.categories
        return MixedSums(self.classes - other.classes, numbers, categories)

    def objection(self) -> str | None:
        k = len(self.classes.weight)
        alike = self.numbers is None or len(self.numbers.weight) % k == 0
        return None if alike and (self.categories is None or len(self.categories.weight) == k) else "the sums are not of the same classes"

    def misfit(self, width: int, categories: Any) -> str | None:
        columns = 0 if self.numbers is None else len(self.numbers.weight) // len(self.classes.weight)
        columns += 0 if self.categories is None else len(self.categories.counts)
        return None if columns == width else "there are not sums for each column"


def spreads(X: Array, y: Array, w: Array, k: int) -> Spread:
    """Those of each column in each class, every pair a group of its own: weights differ where values are missing."""
    p, there = X.shape[1], ~np.isnan(X)
    if there.all():
        whole = Spread.by_group(np.ascontiguousarray(X), y, w, k)
        flat = [one.reshape(-1, 1) for one in (whole.center, whole.offset, whole.scatter)]
        return Spread(np.repeat(whole.weight, p), *flat)
    group = np.broadcast_to(y[:, None] * p + np.arange(p), X.shape)[there]
    values = np.ascontiguousarray(X[there][:, None])
    return Spread.by_group(values, np.ascontiguousarray(group), np.broadcast_to(w[:, None], X.shape)[there], k * p)
