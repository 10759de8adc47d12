"""Sums of the columns, class by class: all that naive Bayes of counts looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, CannotForget
from tenfold.core.memory import check_memory
from tenfold.core.numbers import column_name
from tenfold.core.stats import Stats

MOST_CATEGORIES = 1 << 24  # counts are kept of every number below the largest, so that a stray number would ask for gigabytes


@dataclass(slots=True)
class ClassSums(Stats):
    """Weight and sums of the columns of each class. The sums of sparse rows are sparse until all blocks are in."""

    weight: Array  # (K,)
    sums: Any  # (K, p)

    @classmethod
    def of(cls, X: Any, y: Array, w: Array, k: int) -> ClassSums:
        from scipy.sparse import csr_matrix

        chosen = csr_matrix((w, (y, np.arange(len(y)))), shape=(k, len(y)))
        sums = chosen @ X
        return cls(np.bincount(y, w, minlength=k), sums if ops.is_sparse(sums) else np.asarray(sums))

    def __add__(self, other: ClassSums) -> ClassSums:
        return ClassSums(self.weight + other.weight, _sum(self.sums, other.sums, 1))

    def __sub__(self, other: ClassSums) -> ClassSums:
        whole, sums = self.dense(), _sum(self.sums, other.sums, -1)
        sums, weight = ops.dense(sums), self.weight - other.weight
        if np.any(weight < -1e-9 * self.weight) or np.any(sums < -1e-9 * whole - 1e-300):
            raise CannotForget("more rows would be forgotten than were learned: only rows that were fitted can be forgotten")
        sums = np.where(sums > 1e-12 * whole, sums, 0.0)
        return ClassSums(np.where(weight > 1e-12 * self.weight, weight, 0.0), sums)

    def dense(self) -> Array:
        """The sums as an array, which they stay."""
        made: Array = np.ascontiguousarray(ops.dense(self.sums))
        self.sums = made
        return made


def _sum(a: Any, b: Any, sign: int) -> Any:
    if ops.is_sparse(a) and ops.is_sparse(b):
        return a + sign * b
    return ops.dense(a) + sign * ops.dense(b)


@dataclass(slots=True)
class CategoryCounts(Stats):
    """Weight of each class, and of each category of each column in it."""

    weight: Array  # (K,)
    counts: Array  # (p, categories, K), as many as the column with the most has

    @classmethod
    def of(cls, X: Array, y: Array, w: Array, k: int, names: Any) -> CategoryCounts:
        codes, known = categories_of(X, names)
        p = codes.shape[1]
        most = int(codes.max(initial=0)) + 1
        check_memory(f"counts of {most:,} categories of {p:,} columns in {k:,} classes", 8.0 * p * most * k)
        place = (np.arange(p) * most + codes) * k + y[:, None]
        weights = np.where(known, w[:, None], 0.0)
        counts = np.bincount(place.ravel(), weights.ravel(), minlength=p * most * k)
        return cls(np.bincount(y, w, minlength=k), counts.reshape(p, most, k))

    def __add__(self, other: CategoryCounts) -> CategoryCounts:
        return CategoryCounts(self.weight + other.weight, np.add(*_alike(self.counts, other.counts)))

    def __sub__(self, other: CategoryCounts) -> CategoryCounts:
        whole, gone = _alike(self.counts, other.counts)
        counts, weight = whole - gone, self.weight - other.weight
        if np.any(weight < -1e-9 * self.weight) or np.any(counts < -1e-9 * whole - 1e-300):
            raise CannotForget("more rows would be forgotten than were learned: only rows that were fitted can be forgotten")
        counts = np.where(counts > 1e-12 * whole, counts, 0.0)
        return CategoryCounts(np.where(weight > 1e-12 * self.weight, weight, 0.0), counts)

    def objection(self) -> str | None:
        return None if self.counts.shape[2] == len(self.weight) else "there are not counts for each class"

    def misfit(self, width: int, categories: Any) -> str | None:
        return None if len(self.counts) == width else "there are not counts for each column"


def _alike(a: Array, b: Array) -> list[Array]:
    """Both with as many categories as the one with more has."""
    most = max(a.shape[1], b.shape[1])
    return [np.pad(one, ((0, 0), (0, most - one.shape[1]), (0, 0))) for one in (a, b)]


def categories_of(X: Array, names: Any) -> tuple[Array, Array]:
    """The numbers of the categories, 0 where one is missing, and which are not."""
    refuse_negative(X, "CategoricalNB", names)
    known = ~np.isnan(X)
    if X.size and np.nanmax(X, initial=0.0) >= MOST_CATEGORIES:
        j = int(np.nanargmax(np.where(known, X, 0.0).max(axis=0)))
        raise BadInput(
            f"CategoricalNB: {column_name(names, j)} of X holds {np.nanmax(X[:, j]):g}, which is no number of a category: code categories "
            "as 0, 1, ... with OrdinalEncoder"
        )
    return np.where(known, X, 0.0).astype(np.int64), known


def refuse_negative(X: Any, learner: str, names: Any) -> None:
    """Counts and numbers of categories are not below zero."""
    values = X.data if ops.is_sparse(X) else X
    if not values.size or not np.nanmin(values, initial=0.0) < 0:
        return
    first = int(np.argmax(values.ravel() < 0))
    j = int(X.indices[first]) if ops.is_sparse(X) else first % X.shape[1]
    raise BadInput(
        f"Negative values in data passed to {learner} (input X): {column_name(names, j)} holds {values.ravel()[first]:g}, and it takes "
        "values of at least 0: give counts or numbers of categories, or use GaussianNB"
    )
