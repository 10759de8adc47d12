"""The table that PCA keeps: its moments, or its rows while there are few."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tenfold import _packed
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import CannotForget
from tenfold.core.pages import pages
from tenfold.core.stats import Centred, Moments, Stats
from tenfold.core.threads import patiently
from tenfold.reduce.root import EPS, Spectrum, completed, singular_spectrum
from tenfold.solve.linalg import cholesky, eigh, eigh_graded, largest_eigh, lengths, reciprocal_condition

SQUARED, GRAM = 1e-10, 1e-6  # of the largest eigenvalue: others below have lost half of their digits; a third of them
# Up to how many columns all components cost no more than some, and the accurate way costs little.
SMALL, GRADED = 32, 256
GATHERED = 4  # times as many rows as columns are gathered before they become moments
ALL = np.empty(0, dtype=np.int64)
SPARE: list[Array] = []  # memory of triangles that were merged into others, while a pass lasts


@dataclass(slots=True)
class Triangular(Centred):
    """Moments while they are summed: of the scatter the upper triangle alone, row by row. The same bits in half the memory."""

    @classmethod
    def of(cls, X: Array, w: Array, rows: Array = ALL) -> Triangular:
        """Of all rows of X, or of those with these numbers."""
        p = X.shape[1]
        triangle = _zeros(_packed.room(p))
        return cls(*_packed.packed_moments(X, rows, w, triangle), triangle[: p * (p + 1) // 2])

    @classmethod
    def of_block(cls, block: Block) -> Triangular:
        """Rows nobody has looked at are summed where they lie and judged by their sums."""
        if block.unread is None:
            return cls.of(ops.dense(block.X), block.w)
        X, index = block.unread.source.X, block.unread.index
        found = cls.of(X[index], block.w) if isinstance(index, slice) else cls.of(X, block.w, index)
        block.unread.judge(found.weight, found.mean, found.scatter[_diagonal(X.shape[1])])
        return found

    def _merged_scatter(self, other: Array, delta: Array, into: bool) -> Array:
        merged = self.scatter if into else self.scatter.copy()
        _packed.merge_packed(merged, other, delta)
        return merged

    def unpacked(self) -> Moments:
        p = len(self.center)
        S, starts = np.empty((p, p)), _diagonal(p)
        for i, start in enumerate(starts.tolist()):
            S[i, i:] = S[i:, i] = self.scatter[start : start + p - i]
        return Moments(self.weight, self.center, self.offset, S)


def _zeros(count: int) -> Array:
    """Zeros, in memory that was dropped if there is some."""
    with contextlib.suppress(IndexError):  # another thread may take the last one
        found = SPARE.pop()
        if len(found) == count:
            found[:] = 0.0
            return found
    return pages(count, np.float64)


def _diagonal(p: int) -> Array:
    """Where the diagonal of a triangle is."""
    i = np.arange(p)
    return i * p - i * (i - 1) // 2


def _sum(a: Moments | Triangular, b: Moments | Triangular, into: bool = False) -> Moments | Triangular:
    """a + b, in the memory of a if it may be; triangles stay triangles."""
    if type(a) is not type(b):
        a, b = (one if isinstance(one, Moments) else one.unpacked() for one in (a, b))
    total: Any = a
    if into:
        total += b
    else:
        total = total + b
    return cast(Moments | Triangular, total)


@dataclass(slots=True)
class Table(Stats):
    """The moments of many rows, or the rows themselves while there are few: exactly one of the two is there.

    So a table of 100 rows and 20,000 columns never makes a 20,000 x 20,000 matrix, and blocks much shorter
    than wide are gathered before their products are summed: merging moments costs as much as some rows.
    """

    moments: Moments | Triangular | None  # moments once they are settled
    rows: tuple[Any, ...]  # pieces (X, w)

    @classmethod
    def of(cls, block: Block) -> Table:
        if len(block) < GATHERED * block.width:
            return cls(None, ((block.X, block.w),))
        return cls(Triangular.of_block(block), ())

    def __add__(self, other: Table) -> Table:
        return self._gathered(other) or Table(_sum(self.sums(), other.sums()), ())

    def __iadd__(self, other: Table) -> Table:
        """As `+`; sums are added in their own memory."""
        joined = self._gathered(other)
        if joined is None:
            self.moments, self.rows = _sum(self.sums(), other.sums(), into=True), ()
        return joined or self

    def _gathered(self, other: Table) -> Table | None:
        """The rows of both, while they are few."""
        if self.moments is not None or other.moments is not None:
            return None
        joined = Table(None, self.rows + other.rows)
        return joined if joined.count() < GATHERED * joined.width() else Table(joined.sums(), ())

    def drop(self) -> None:
        """Nobody will look at it again: the memory of its triangle may be used for another."""
        if isinstance(self.moments, Triangular):
            memory, self.moments = self.moments.scatter.base, None
            if memory is not None:
                SPARE.append(memory)

    def gather(self) -> None:
        """Rows no fewer than columns become sums; fewer become one piece, which is no view."""
        SPARE.clear()
        if self.moments is None and self.count() < self.width():
            self.rows = (self.whole(),)
        else:
            self.moments, self.rows = self.sums(), ()

    def settle(self) -> None:
        """Sums become moments. After the solution, so that the whole matrix is not in memory beside LAPACK's copy of it."""
        if self.moments is not None:
            self.moments = self.as_moments()

    def count(self) -> int:
        return sum(len(w) for _, w in self.rows)

    def width(self) -> int:
        return int(self.rows[0][0].shape[1])

    def __sub__(self, other: Table) -> Table:
        if self.moments is None:
            raise CannotForget(
                "PCA keeps no sums while there are fewer rows than columns: fit again without those rows"
            )
        return Table(self.as_moments() - other.as_moments(), ())

    def sums(self) -> Moments | Triangular:
        if self.moments is not None:
            return self.moments
        X, w = self.whole() if len(self.rows) > 1 else self.rows[0]
        return Triangular.of(ops.dense(X), w)

    def as_moments(self) -> Moments:
        sums = self.sums()
        return sums if isinstance(sums, Moments) else sums.unpacked()

    def whole(self) -> tuple[Array, Array]:
        """All rows kept, and their weights, as new arrays."""
        X = np.concatenate([ops.dense(X) for X, _ in self.rows])
        return X, np.concatenate([w for _, w in self.rows])

    def spectrum(self, k: int | None, most: int) -> Spectrum:
        """k eigenpairs of the centred scatter, or more: at most `most`, and all of these where k is None."""
        return self._of_rows(k, most) if self.moments is None else self._of_moments(k, most)

    def _of_moments(self, k: int | None, most: int) -> Spectrum:
        total, p = float(self.squares().sum()), len(self.mean)
        if k is not None and 0 < 2 * k < p and p > SMALL:
            values, vectors = largest_eigh(self.as_moments().scatter, k, own=isinstance(self.moments, Triangular))
            distinct = values[0] > 4 * p * EPS * values[-1]
            if distinct and values.sum() <= (1 - 1e-6) * total:  # the rest is found by subtraction
                return Spectrum(np.maximum(values[::-1], 0.0), vectors[:, ::-1].T, "covariance_eigh")
        S = self.as_moments().scatter
        values, vectors = eigh_graded(S) if p <= GRADED else eigh(S)
        found = completed(values[::-1][:most], vectors[:, ::-1].T[:most], 4 * p * EPS)
        return Spectrum(*found, "covariance_eigh")

    def _of_rows(self, k: int | None, most: int) -> Spectrum:
        X, w = self.rows[0]
        rows = (X - self.mean) * np.sqrt(w)[:, None]
        if k is not None and 0 < 2 * k < len(rows):
            values, left = largest_eigh(rows @ rows.T, k)
            if values[0] > GRAM * values[-1]:  # the space is right; within it the rows themselves decide
                space, _ = patiently(np.linalg.qr, rows.T @ left)
                _, singular, turns = patiently(np.linalg.svd, rows @ space, full_matrices=False)
                return Spectrum(singular**2, turns @ space.T, "gram")
        return singular_spectrum(rows, most, "full")

    def lost(self, values: Array) -> bool:
        """Whether the last of these eigenvalues, of columns that vary, have lost most of their digits to the largest."""
        if self.moments is None:
            return False
        squares = self.squares()
        varying = int((squares > 0).sum())
        if not len(values[:varying]) or values[:varying][-1] > SQUARED * values[0]:
            return False
        return varying < len(squares) or len(squares) > GRADED or not self._graded()

    def _graded(self) -> bool:
        """Whether it is the units of the columns alone that make eigenvalues small: they are then found as accurately as the others."""
        S = self.as_moments().scatter
        size = lengths(S)
        scaled = S / size / size[:, None]
        L = cholesky(scaled)
        return L is not None and reciprocal_condition(scaled, L) > SQUARED

    @property
    def weight(self) -> float:
        return float(sum(w.sum() for _, w in self.rows) if self.moments is None else self.moments.weight)

    @property
    def mean(self) -> Array:
        if self.moments is not None:
            return self.moments.mean
        X, w = self.rows[0]
        center = (w / w.sum()) @ X
        return np.asarray(center + (w / w.sum()) @ (X - center))

    def squares(self) -> Array:
        """Centred sums of squares of the columns."""
        if isinstance(self.moments, Triangular):
            return self.moments.scatter[_diagonal(len(self.moments.center))]
        if self.moments is not None:
            return np.diagonal(self.moments.scatter)
        X, w = self.rows[0]
        with np.errstate(over="ignore"):
            return np.asarray(w @ (X - self.mean) ** 2)
