"""Statistics: what is summed over blocks of rows. Values with `+`, associative and commutative up to rounding.

    Moments     weighted mean and centred scatter of the columns (also one set for each group)
    Spread      the same without the products of different columns
    Terms       a loss with its gradient and curvature at one point
    Counts      weight for each class, category or bin
    Rows        the rows themselves, appended: for learners that keep them
    Keyed       one statistic for each key, as the folds of a cross-validation need

Those of one family are with its solver: `Triangle` in `solve.least_squares`, `Clusters` in `solve.lloyd`, the sketches `Histogram`,
`Quantiles` and `Sample` in `solve.sketch`. A statistic never sees an empty block: rows of weight zero
are dropped at the gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from tenfold.core import ops
from tenfold.core.errors import CannotForget
from tenfold.core.ops import Array

# `forget` un-merges, which cancels: it refuses when the part kept is smaller than this share of the whole.
SMALLEST_SHARE_KEPT = 1e-6


class Storable:
    """Base of what a saved model may hold besides arrays: asked when it comes from a file."""

    __slots__ = ()

    def objection(self) -> str | None:
        """Why the fields, each of its form, do not belong together; None where they do."""
        return None

    def misfit(self, width: int, categories: Sequence[Any]) -> str | None:
        """Why it is not for rows of so many columns with these categories; None where it is."""
        return None


@dataclass(slots=True)
class Stats(Storable):
    """Base: the fields add, one by one. `None` stands for a field nobody asked for."""

    def __add__(self, other: Self) -> Self:
        added = (_plus(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return type(self)(*added)

    def drop(self) -> None:
        """Nobody will look at this again: memory of its own may be used for others."""

    def __sub__(self, other: Self) -> Self:
        """Un-merge `other`, which was added before; refused where it would not be exact."""
        raise CannotForget(f"{type(self).__name__} cannot be un-merged exactly: fit again without those rows")


def _plus(a: Any, b: Any) -> Any:
    return None if a is None else a + b


@dataclass(slots=True)
class Centred(Stats):
    """Abstract: weight, mean and centred second moments, merged pairwise (Chan, Golub & LeVeque 1983).

    The mean is kept as `center + offset`: `center` is any vector near it, `offset` the mean of what is left after
    subtracting `center`. So a mean of 1e8 costs no digits of the scatter. With groups, a leading axis runs over them.
    """

    weight: Any
    center: Array
    offset: Array
    scatter: Array

    @property
    def mean(self) -> Array:
        return self.center + self.offset

    def _square(self, delta: Array) -> Array:
        raise NotImplementedError

    def __add__(self, other: Self) -> Self:
        weight = self.weight + other.weight
        if np.ndim(weight):
            return self._add_groups(other, weight)
        return self._merged(other, weight, into=False)

    def __iadd__(self, other: Self) -> Self:
        """The same bits as `+`, in the memory of this one: for a reduction, whose parts nobody else holds."""
        weight = self.weight + other.weight
        return self._add_groups(other, weight) if np.ndim(weight) else self._merged(other, weight, into=True)

    def _merged(self, other: Self, weight: float, into: bool) -> Self:
        share = other.weight / weight
        delta = (other.center - self.center) + (other.offset - self.offset)
        scatter = self._merged_scatter(other.scatter, delta * (self.weight * share) ** 0.5, into)
        return type(self)(weight, self.center, self.offset + delta * share, scatter)

    def _merged_scatter(self, other: Array, delta: Array, into: bool) -> Array:
        return self.scatter + other + self._square(delta)

    def _add_groups(self, other: Self, weight: Array) -> Self:
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        here = (self.weight > 0)[:, None]  # an empty group has no centre: take the other's
        delta = (other.center - self.center) + (other.offset - self.offset)
        center = np.where(here, self.center, other.center)
        offset = np.where(here, self.offset + delta * share[:, None], other.offset)
        scatter = self._square(np.where(here, delta, 0) * np.sqrt(self.weight * share)[:, None])
        return type(self)(weight, center, offset, scatter + self.scatter + other.scatter)

    def __sub__(self, other: Self) -> Self:
        weight = np.asarray(self.weight - other.weight)
        if np.any(weight < -1e-9 * self.weight) or not np.any(weight > 0):
            raise CannotForget(
                "more rows would be forgotten than were learned: only rows that were fitted can be forgotten"
            )
        empty = weight <= 1e-12 * self.weight
        safe = np.where(empty, 1.0, weight)
        share = np.where(empty, 0.0, other.weight / safe)
        delta = (self.center - other.center) + (self.offset - other.offset)
        scatter = self.scatter - other.scatter - self._square(delta * np.sqrt(self.weight * share)[..., None])
        kept, whole = self._variances(scatter), self._variances(self.scatter)
        if np.any((kept < SMALLEST_SHARE_KEPT * whole) & ~empty[..., None]):
            raise CannotForget(
                "forgetting these rows would lose digits (they carry nearly all of the spread): fit again without them"
            )
        clear = empty.reshape(empty.shape + (1,) * (scatter.ndim - empty.ndim))
        offset = np.where(empty[..., None], 0.0, self.offset + delta * share[..., None])
        return type(self)(np.where(empty, 0.0, weight)[()], self.center, offset, np.where(clear, 0.0, scatter))

    def _variances(self, scatter: Array) -> Array:
        raise NotImplementedError


@dataclass(slots=True)
class Moments(Centred):
    """Weight, mean and full centred scatter Σ w (z − m)(z − m)ᵀ of the columns of Z."""

    @classmethod
    def of(cls, X: Array, Y: Array, w: Array) -> Moments:
        """Of the columns of [X Y]."""
        return cls(*ops.moments(X, Y, w))

    @classmethod
    def by_group(cls, X: Array, group: Array, w: Array, k: int) -> Moments:
        """One set for each of the groups 0, ..., k − 1."""
        return cls(*ops.group_moments(X, group, w, k))

    @classmethod
    def of_block(cls, block: Any, *, target: bool = True) -> Moments:
        """Of the columns of [X y], or X. Rows nobody has looked at are summed where they lie and judged by their sums."""
        Y = block.y if target else np.empty((len(block), 0))
        if block.unread is None:
            return cls.of(block.X, Y, block.w)
        moments = cls(*block.unread.moments(Y, block.w))
        p = block.width
        block.unread.judge(moments.weight, moments.mean[:p], np.diagonal(moments.scatter)[:p])
        return moments

    def spread(self) -> Spread:
        """Without the products of different columns, for each group (a leading axis of length 1 where there are none)."""
        weight, squares = np.atleast_1d(self.weight), np.diagonal(self.scatter, axis1=-2, axis2=-1)
        return Spread(weight, np.atleast_2d(self.center), np.atleast_2d(self.offset), np.atleast_2d(squares))

    def _merged_scatter(self, other: Array, delta: Array, into: bool) -> Array:
        merged: Array = ops.merge_scatter(self.scatter, other, delta, into)
        return merged

    def _square(self, delta: Array) -> Array:
        return delta[..., :, None] * delta[..., None, :]

    def _variances(self, scatter: Array) -> Array:
        return np.diagonal(scatter, axis1=-2, axis2=-1)


@dataclass(slots=True)
class Spread(Centred):
    """Weight, mean and centred sums of squares Σ w (x − m)², column by column, for each group."""

    @classmethod
    def by_group(cls, X: Array, group: Array, w: Array, k: int) -> Spread:
        return cls(*ops.group_spreads(X, group, w, k))

    @classmethod
    def of(cls, X: Array, w: Array) -> Spread:
        """One group, kept as a leading axis of length 1."""
        return cls.by_group(X, np.zeros(len(w), dtype=np.int64), w, 1)

    def _square(self, delta: Array) -> Array:
        return delta * delta

    def _variances(self, scatter: Array) -> Array:
        return scatter


@dataclass(slots=True)
class Terms(Stats):
    """A loss at one point with its gradient and, where asked for, its curvature; `weight` is Σ w."""

    loss: float
    gradient: Array
    weight: float
    curvature: Array | None = None


@dataclass(slots=True)
class Counts(Stats):
    """Weight that fell into each class, category or bin."""

    weight: Array

    @classmethod
    def of(cls, code: Array, w: Array, k: int) -> Counts:
        return cls(np.bincount(code, weights=w, minlength=k))

    @classmethod
    def of_rows(cls, block: Any) -> Counts:
        """Σ w of a block, whose rows are looked at: a learner that needs nothing of them refuses bad ones all the same."""
        block.X  # noqa: B018
        return cls(np.array([block.w.sum()]))

    def __sub__(self, other: Counts) -> Counts:
        left = self.weight - other.weight
        if np.any(left < -1e-9 * self.weight):
            raise CannotForget(
                "more rows would be forgotten than were learned: only rows that were fitted can be forgotten"
            )
        return Counts(np.maximum(left, 0.0))


@dataclass(slots=True)
class Rows(Stats):
    """The rows themselves. `+` appends; the order is that of the blocks, not of the workers."""

    parts: list[Any]

    @classmethod
    def of(cls, rows: Any) -> Rows:
        return cls([rows])

    def whole(self) -> Any:
        """All rows as one array, or one CSR matrix."""
        if len(self.parts) == 1:
            return self.parts[0]
        if ops.is_sparse(self.parts[0]):
            from scipy.sparse import vstack

            return vstack(self.parts, format="csr")
        return np.concatenate(self.parts)


class Keyed(dict[Any, Any]):
    """One statistic for each key. `+` merges what both have and keeps the rest."""

    def __add__(self, other: Keyed) -> Keyed:
        merged = Keyed(self)
        for key, stats in other.items():
            merged[key] = merged[key] + stats if key in merged else stats
        return merged

    def __iadd__(self, other: Keyed) -> Keyed:
        for key, stats in other.items():
            if key in self:
                self[key] += stats
            else:
                self[key] = stats
        return self


def merge(stats: Iterable[Any]) -> Any:
    """All of them, added left to right."""
    total = None
    for one in stats:
        total = one if total is None else total + one
    return total
