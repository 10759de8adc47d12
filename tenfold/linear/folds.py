"""The parameter `cv` of a learner that cross-validates itself, and the training sets that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.stats import Moments

Pair = tuple[Array, Array]


def splits_of(model: Estimator, cv: Any, X: Array, y: Array, rows: Array | None) -> list[Pair]:
    """Pairs (train, test) of row numbers: k neighbouring parts, those of a splitter, or the pairs given.

    `rows` are the rows of the table that are left, where some had weight zero; given pairs number the table.
    """
    name = type(model).__name__
    n = len(y)
    cv = 5 if cv is None else cv
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise BadParameter(f"{name}(cv={cv}): must be at least 2 folds")
        if cv > n:
            raise BadInput(f"{name}(cv={cv}): there are n_samples={n} rows only: use fewer folds")
        numbers = np.arange(n)
        parts = np.array_split(numbers, cv)
        return [(np.setdiff1d(numbers, test, assume_unique=True), test) for test in parts]
    if isinstance(cv, (str, bytes)) or not (hasattr(cv, "split") or _iterable(cv)):
        raise BadParameter(f"{name}(cv={str(cv)[:80]!r}): must be a number of folds, a splitter, or pairs of rows")
    if hasattr(cv, "split"):
        return _checked(name, cv.split(X, y), np.arange(n))
    place = np.arange(n)
    if rows is not None:
        place = np.full(int(rows.max()) + 1, -1)
        place[rows] = np.arange(n)
    return _checked(name, cv, place)


def _iterable(cv: Any) -> bool:
    return hasattr(cv, "__iter__") and not (isinstance(cv, np.ndarray) and cv.ndim == 0)


def _checked(name: str, pairs: Any, place: Array) -> list[Pair]:
    """Row numbers of the table as places among the rows that are left; `place` is −1 for the others."""
    found = []
    for k, pair in enumerate(pairs):
        try:
            train, test = (np.asarray(part) for part in pair)
            train, test = (np.flatnonzero(part) if part.dtype == bool else part for part in (train, test))
            both = tuple(_places(part, place) for part in (train, test))
        except (TypeError, ValueError, IndexError):
            raise BadParameter(f"{name}(cv=...): split {k} is not a pair (train, test) of row numbers") from None
        if not all(map(len, both)):
            raise BadInput(f"{name}(cv=...): split {k} has no rows (of weight above zero) to train on or to test")
        found.append((both[0], both[1]))
    if not found:
        raise BadParameter(f"{name}(cv=...): there is no split")
    return found


def _places(part: Array, place: Array) -> Array:
    if part.ndim != 1 or part.dtype.kind not in "iu" or (len(part) and part.min() < 0):
        raise ValueError
    here = place[part[part < len(place)]]
    return here[here >= 0]


def batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of so many of them: what is large is made when it is needed."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def without_each(total: Callable[[range], Moments], folds: range, outside: Moments | None = None) -> Iterator[Moments]:
    """For each fold the merge of all others, by halves: no more than a few are alive at a time, and none is subtracted."""
    if len(folds) == 1:
        assert outside is not None
        yield outside
        return
    left, right = folds[: len(folds) // 2], folds[len(folds) // 2 :]
    for inside, other in ((left, right), (right, left)):
        more = total(other)
        yield from without_each(total, inside, more if outside is None else outside + more)
