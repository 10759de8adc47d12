"""Splits: which rows are held out together, and which are trained on.

A splitter has scikit-learn's name and verbs, `split(X, y, groups)` and `get_n_splits`, so that either library
takes it as `cv=` or `folds=`. `split` yields pairs (train, test) of row numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.random import generator, seed_of
from tenfold.evaluate.split.folds import (
    any_table,
    assign_folds,
    check_class_sizes,
    check_folds,
    check_repeats,
    codes_of,
    duplicate_groups,
    grouped,
    hash_folds,
    n_rows,
    stratified_groups,
    two_sizes,
)

__all__ = ["assign_folds", "check_class_sizes"]

Pairs = Iterator[tuple[Array, Array]]


class Splitter:
    """Abstract: test sets, one after the other; what is not in a test set is trained on."""

    n_splits: int

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        raise NotImplementedError

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Pairs:
        """Pairs (train, test) of row numbers; of X only the number of rows is used."""
        n = n_rows(X)
        for test in self._tests(n, y, groups):
            held_out = np.zeros(n, dtype=bool)
            held_out[test] = True
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs `split` yields."""
        return self.n_splits


@dataclass(frozen=True)
class KFold(Splitter):
    """k folds of neighbouring rows, or of rows in random order (shuffle); sizes differ by at most one row.

    >>> from tenfold.evaluate import KFold
    >>> [test.tolist() for _, test in KFold(2).split(range(5))]
    [[0, 1, 2], [3, 4]]
    """

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = False
    random_state: Any = None

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        check_folds(self.n_splits, n)
        order = _rows_in_order(n, self.shuffle, self.random_state)
        yield from np.array_split(order, self.n_splits)


@dataclass(frozen=True)
class HashKFold(Splitter):
    """k folds of rows in the order of a hash of what they hold: folds that do not depend on where the rows are, or in which
    order. Equal rows are in one fold; sizes are near one another, as by tossing a die for every row.

    So are the folds of files and streams, which are cross-validated without being read into memory.

    >>> from tenfold.evaluate import HashKFold
    >>> import numpy as np
    >>> [len(test) for _, test in HashKFold(2).split(np.arange(100.0)[:, None])]
    [43, 57]
    """

    n_splits: int = 10
    _: KW_ONLY
    random_state: Any = 0

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Pairs:
        """Pairs (train, test) of row numbers."""
        check_folds(self.n_splits, n_rows(X))
        table = any_table(X)
        fold = hash_folds(table, self.n_splits, seed_of(generator(self.random_state)))
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


@dataclass(frozen=True)
class RepeatedKFold(Splitter):
    """KFold with shuffled rows, `n_repeats` times.

    >>> from tenfold.evaluate import RepeatedKFold
    >>> RepeatedKFold(n_splits=5, n_repeats=3).get_n_splits()
    15
    """

    _: KW_ONLY
    n_splits: int = 5
    n_repeats: int = 10
    random_state: Any = None

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        check_repeats(self.n_repeats)
        rng = generator(self.random_state)
        for _ in range(self.n_repeats):
            yield from KFold(self.n_splits, shuffle=True, random_state=rng)._tests(n, y, groups)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits * self.n_repeats


@dataclass(frozen=True)
class StratifiedKFold(Splitter):
    """k folds with the classes of y spread evenly: the share of a class differs by at most one row between
    folds.

    >>> from tenfold.evaluate import StratifiedKFold
    >>> [test.tolist() for _, test in StratifiedKFold(2).split(range(4), ["a", "a", "b", "b"])]
    [[0, 2], [1, 3]]
    """

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = False
    random_state: Any = None

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        check_folds(self.n_splits, n)
        codes = codes_of(y, n, "y")
        first = np.unique(codes, return_index=True)[1]  # classes in the order in which they first occur
        codes = np.argsort(np.argsort(first))[codes]
        if np.bincount(codes).max() < self.n_splits:
            raise BadInput(f"no class has {self.n_splits} rows: ask for fewer folds than the largest class has rows")
        order = np.argsort(codes, kind="stable")
        deal = np.arange(n) % self.n_splits  # every class gets its share of each fold, in whichever order
        deal = deal[np.lexsort((deal, codes[order]))]
        rng = generator(self.random_state)
        if self.shuffle:
            ends = np.cumsum(np.bincount(codes))
            deal = np.concatenate([rng.permutation(part) for part in np.split(deal, ends[:-1])])
        fold = np.empty(n, dtype=np.int64)
        fold[order] = deal
        yield from (np.flatnonzero(fold == k) for k in range(self.n_splits))


@dataclass(frozen=True)
class GroupKFold(Splitter):
    """k folds in which no group is split: the largest group first, into the fold with the fewest rows.

    `groups="duplicates"` keeps equal rows of X together.

    >>> from tenfold.evaluate import GroupKFold
    >>> [test.tolist() for _, test in GroupKFold(2).split(range(4), groups=["a", "b", "a", "b"])]
    [[0, 2], [1, 3]]
    """

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = False
    random_state: Any = None

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Pairs:
        """Pairs (train, test) of row numbers."""
        if isinstance(groups, str) and groups == "duplicates":
            groups = duplicate_groups(X)
        yield from super().split(X, y, groups)

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        rng = generator(self.random_state) if self.shuffle else None
        fold = grouped(n, self.n_splits, rng, groups)
        yield from (np.flatnonzero(fold == k) for k in range(self.n_splits))


@dataclass(frozen=True)
class StratifiedGroupKFold(GroupKFold):
    """k folds in which no group is split and the classes are spread as evenly as that allows.

    Groups whose classes are most uneven come first; each goes to the fold that keeps  Σ over classes of the
    standard deviation of the class's share over folds  smallest.

    >>> from tenfold.evaluate import StratifiedGroupKFold
    >>> splitter = StratifiedGroupKFold(2)
    >>> [test.tolist() for _, test in splitter.split(range(6), [0, 1, 0, 1, 0, 1], groups=[1, 1, 2, 2, 3, 3])]
    [[0, 1, 4, 5], [2, 3]]
    """

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        rng = generator(self.random_state) if self.shuffle else None
        fold = stratified_groups(n, self.n_splits, rng, groups, codes_of(y, n, "y"))
        yield from (np.flatnonzero(fold == k) for k in range(self.n_splits))


@dataclass(frozen=True)
class TimeSeriesSplit(Splitter):
    """Rows in the order of time: each test set follows its training rows, `gap` rows apart.

    >>> from tenfold.evaluate import TimeSeriesSplit
    >>> [(train.tolist(), test.tolist()) for train, test in TimeSeriesSplit(2).split(range(6))]
    [([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5])]
    """

    n_splits: int = 5
    _: KW_ONLY
    max_train_size: int | None = None
    test_size: int | None = None
    gap: int = 0

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Pairs:
        """Pairs (train, test) of row numbers."""
        n = n_rows(X)
        check_folds(self.n_splits, n - 1)
        size = n // (self.n_splits + 1) if self.test_size is None else self.test_size
        first = n - self.n_splits * size
        if size < 1 or self.gap < 0 or first - self.gap < 1:
            raise BadInput(
                f"{n} rows are too few for {self.n_splits} test sets of {size} rows, each {self.gap} rows "
                "after at least one training row: ask for fewer or smaller ones, or for a smaller gap"
            )
        for start in range(first, n, size):
            stop = start - self.gap
            begin = 0 if self.max_train_size is None else max(0, stop - self.max_train_size)
            yield np.arange(begin, stop), np.arange(start, start + size)


@dataclass(frozen=True)
class LeavePOut(Splitter):
    """Every set of p rows is held out once: n! / (p! (n − p)!) splits.

    >>> from tenfold.evaluate import LeavePOut
    >>> LeavePOut(2).get_n_splits(range(10))
    45
    """

    p: int

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        if not 1 <= self.p < n:
            raise BadInput(f"cannot leave {self.p} of {n} rows out: p must be at least 1 and below the number of rows")
        yield from (np.array(rows) for rows in combinations(range(n), self.p))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        if X is None:
            raise BadInput("how many splits there are depends on the rows: pass X")
        return comb(n_rows(X), self.p)


class LeaveOneOut(LeavePOut):
    """Every row is held out once.

    >>> from tenfold.evaluate import LeaveOneOut
    >>> [(train.tolist(), test.tolist()) for train, test in LeaveOneOut().split(range(3))]
    [([1, 2], [0]), ([0, 2], [1]), ([0, 1], [2])]
    """

    def __init__(self) -> None:
        super().__init__(1)

    def __repr__(self) -> str:
        return "LeaveOneOut()"


@dataclass(frozen=True)
class ShuffleSplit(Splitter):
    """A random part of the rows is held out, `n_splits` times anew.

    test_size and train_size are shares or numbers of rows; test_size is 0.1 if neither is given.

    >>> from tenfold.evaluate import ShuffleSplit
    >>> splitter = ShuffleSplit(2, test_size=0.25, random_state=0)
    >>> [(len(train), len(test)) for train, test in splitter.split(range(8))]
    [(6, 2), (6, 2)]
    """

    n_splits: int = 10
    _: KW_ONLY
    test_size: float | int | None = None
    train_size: float | int | None = None
    random_state: Any = None

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Pairs:
        """Pairs (train, test) of row numbers, in random order."""
        n = n_rows(X)
        sizes, rng = two_sizes(n, self.test_size, self.train_size, 0.1), generator(self.random_state)
        for _ in range(self.n_splits):
            order = rng.permutation(n)
            yield order[sizes[1] : sum(sizes)], order[: sizes[1]]


def _rows_in_order(n: int, shuffle: bool, random_state: Any) -> Array:
    return generator(random_state).permutation(n) if shuffle else np.arange(n)
