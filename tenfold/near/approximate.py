"""Searches that find most of the nearest rows: by a graph, or by codes of bits. What they miss is measured.

A search looks at as many rows as its width says. The width is the least of a geometric series at which, for rows that are held out,
the share of the nearest rows that is found reaches the target; where none does that is worth its while, all rows are looked at.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from tenfold._near import AllRows, Graph, codes_nearest
from tenfold.core.data import Array
from tenfold.core.engine import each, lent_threads

NONE = np.empty(0, dtype=np.int64)
EUCLIDEAN = 0
HELD_OUT = 512  # rows that are asked for to measure the recall, one of ten at most
TOGETHER = 64  # of them, that a thread takes at a time
LEAST_ROWS = 1000  # with fewer rows all are looked at
ROUNDING = 1 + 1e-9  # a row as far as the last of the nearest is as good


class Approximate(ABC):
    """Rows of which most of those that are nearest to a query, by Euclidean distance, are found soon."""

    dear: int  # a width of n / dear takes as long as all rows

    def __init__(self, X: Array, asked: Callable[[Array], Array], recall: float, rng: np.random.Generator) -> None:
        """asked(rows): these rows as they are when they are queries."""
        self.X, self.asked, self.target = X, asked, recall
        self.order = rng.permutation(len(X))
        self.kept = len(X) - min(HELD_OUT, len(X) // 10)  # how many rows, in this order, are not held out
        self._widths: dict[int, tuple[int | None, float]] = {}
        self._all: AllRows | None = None

    @abstractmethod
    def search(self, Q: Array, k: int, skip: Array, width: int) -> tuple[Array, Array]:
        """(squared distances, rows); the last are −1, infinitely far, where fewer than k were found."""

    @abstractmethod
    def trial(self, Q: Array, k: int, width: int, others: Array) -> Array:
        """The squared distances that a search finds among the others, of which no query is one."""

    def width(self, k: int) -> tuple[int | None, float]:
        """How wide a search for k rows is, None for all rows, and the recall that was measured."""
        if k not in self._widths:
            self._widths[k] = self._measured(k)
        return self._widths[k]

    def nearest(self, Q: Array, k: int, skip: Array) -> tuple[Array, Array]:
        width = self.width(k)[0]
        if width is None:
            return self._exact(Q, k, skip)
        distances, rows = self.search(Q, k, skip, width)
        lost = np.flatnonzero(rows[:, -1] < 0)
        if len(lost):
            distances[lost], rows[lost] = self._exact(Q[lost], k, skip[lost] if len(skip) else NONE)
        return distances, rows

    def _exact(self, Q: Array, k: int, skip: Array) -> tuple[Array, Array]:
        if self._all is None:
            self._all = AllRows(self.X, EUCLIDEAN)
        return self._all.nearest(self.X, Q, k, skip, 2.0)

    def _measured(self, k: int) -> tuple[int | None, float]:
        n, held_out = len(self.X), self.order[self.kept :]
        width = k + k // 2 + 4
        if n < LEAST_ROWS or width > self.kept // self.dear:
            return None, 1.0
        parts = [self.asked(held_out[start : start + TOGETHER]) for start in range(0, len(held_out), TOGETHER)]
        others = self.X[self.order[: self.kept]]
        all_others = AllRows(others, EUCLIDEAN)
        last = each(lambda part: all_others.nearest(others, part, k, NONE, 2.0)[0][:, -1:], parts)

        def recall(width: int) -> float:
            found = each(lambda part: self.trial(part, k, width, others), parts)
            return float(np.mean([np.mean(one <= most * ROUNDING) for one, most in zip(found, last, strict=True)]))

        below = 0
        while (reached := recall(width)) < self.target:
            below, width = width, 2 * width
            if width > self.kept // self.dear:
                return None, 1.0
        while below and width > 1.1 * below + 1:
            middle = round(float(np.sqrt(below * width)))
            found = recall(middle)
            if found >= self.target:
                width, reached = middle, found
            else:
                below = middle
        return width, reached


class GraphSearch(Approximate):
    """By a navigable small-world graph (Malkov & Yashunin 2018): from link to link, always nearer."""

    dear = 16

    def __init__(self, X: Array, asked: Callable[[Array], Array], recall: float, rng: np.random.Generator) -> None:
        super().__init__(X, asked, recall, rng)
        with lent_threads() as threads:
            self._graph = Graph(X, self.order, threads)

    def search(self, Q: Array, k: int, skip: Array, width: int) -> tuple[Array, Array]:
        return self._graph.nearest(self.X, Q, k, skip, width, len(self.X))

    def trial(self, Q: Array, k: int, width: int, others: Array) -> Array:
        # walks that see neither the rows that are held out nor their links
        return self._graph.nearest(self.X, Q, k, NONE, width, self.kept)[0]


class CodesSearch(Approximate):
    """By codes of bits, on which side of a plane a row is: those that differ in the fewest bits, then by their distances.

    The planes go through the medians, at right angles to directions drawn by chance, any p of which are at right angles to one another.
    """

    dear = 4

    def __init__(self, X: Array, asked: Callable[[Array], Array], recall: float, rng: np.random.Generator) -> None:
        super().__init__(X, asked, recall, rng)
        p = X.shape[1]
        bits = 64 * min(4, max(1, p // 8))
        groups = [np.linalg.qr(rng.normal(size=(p, p)))[0][: bits - start] for start in range(0, bits, p)]
        self._directions = np.concatenate(groups).T
        some = X[self.order[:HELD_OUT]]
        self._middle = np.median(some @ self._directions, axis=0)
        self._codes = self._coded(X)

    def search(self, Q: Array, k: int, skip: Array, width: int) -> tuple[Array, Array]:
        return codes_nearest(self.X, self._codes, Q, self._coded(Q), k, skip, width)

    def trial(self, Q: Array, k: int, width: int, others: Array) -> Array:
        return codes_nearest(others, self._codes[self.order[: self.kept]], Q, self._coded(Q), k, NONE, width)[0]

    def _coded(self, X: Array) -> Array:
        step = max(1, (1 << 22) // self._directions.shape[1])
        sides = [np.packbits(X[i : i + step] @ self._directions > self._middle, axis=1) for i in range(0, len(X), step)]
        return np.ascontiguousarray(np.concatenate(sides)).view(np.uint64)


SEARCHES: dict[str, type[Approximate]] = {"graph": GraphSearch, "codes": CodesSearch}
