"""Splits: which rows are held out together, and which are trained on.

A splitter has scikit-learn's name, parameters and verbs, `split(X, y, groups)` and `get_n_splits`, so that either library
takes it as `cv=` or `folds=`; with the same seed it gives the same rows. `split` yields pairs (train, test) of row numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, fields
from itertools import combinations
from math import comb
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, BadType, DataWarning
from tenfold.core.random import generator, legacy_generator, seed_of
from tenfold.evaluate.split.folds import (
    any_table,
    assign_folds,
    check_class_sizes,
    check_folds,
    check_same_lengths,
    hash_folds,
    n_rows,
)
from tenfold.evaluate.split.strata import appearance_codes, check_strata, classes_of

__all__ = ["assign_folds", "check_class_sizes"]

Pairs = Iterator[tuple[Array, Array]]


class Splitter:
    """Abstract: test sets, one after the other; what is not in a test set is trained on."""

    n_splits: int
    takes_groups: ClassVar[bool] = False

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        raise NotImplementedError

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Pairs:
        """Pairs (train, test) of row numbers; of X only the number of rows is used."""
        self._check_groups(groups)
        return self._pairs(X, y, groups)

    def _pairs(self, X: Any, y: Any, groups: Any) -> Pairs:
        n = n_rows(X)
        check_same_lengths(X, y, groups)
        for test in self._tests(n, y, groups):
            held_out = np.zeros(n, dtype=bool)
            held_out[test] = True
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def _check_groups(self, groups: Any) -> None:
        if groups is not None and not self.takes_groups:
            warnings.warn(f"The groups parameter is ignored by {type(self).__name__}", DataWarning, stacklevel=3)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs `split` yields."""
        return self.n_splits

    def get_metadata_routing(self) -> Any:
        """What `split` asks for besides X and y, in scikit-learn's words."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        if self.takes_groups:
            request.split.add_request(param="groups", alias=vars(self).get("_groups_request", True))
        return request

    def __repr__(self) -> str:
        shown = sorted((one.name, getattr(self, one.name)) for one in fields(cast(Any, self)))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"


@dataclass(eq=False, repr=False)
class Folds(Splitter):
    """Abstract: k folds that make up all rows, each held out once."""

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = False
    random_state: Any = None

    def __post_init__(self) -> None:
        check_n_splits(self.n_splits)
        if not isinstance(self.shuffle, (bool, np.bool_)):
            raise BadType(f"shuffle must be True or False; got {self.shuffle!r}")
        if not self.shuffle and self.random_state is not None:
            raise BadParameter(
                "Setting a random_state has no effect since shuffle is False: leave random_state at None, or set shuffle=True"
            )

    def _pairs(self, X: Any, y: Any, groups: Any) -> Pairs:
        check_enough(self.n_splits, n_rows(X))
        yield from super()._pairs(X, y, groups)


@dataclass(eq=False, repr=False)
class KFold(Folds):
    """k folds of neighbouring rows, or of rows in random order (shuffle); sizes differ by at most one row.

    >>> from tenfold.evaluate import KFold
    >>> [test.tolist() for _, test in KFold(2).split(range(5))]
    [[0, 1, 2], [3, 4]]
    """

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        order = legacy_generator(self.random_state).permutation(n) if self.shuffle else np.arange(n)
        yield from np.array_split(order, self.n_splits)


@dataclass(eq=False, repr=False)
class StratifiedKFold(Folds):
    """k folds with the classes of y spread evenly: the share of a class differs by at most one row between
    folds.

    >>> from tenfold.evaluate import StratifiedKFold
    >>> [test.tolist() for _, test in StratifiedKFold(2).split(range(4), ["a", "a", "b", "b"])]
    [[0, 2], [1, 3]]
    """

    def split(self, X: Any, y: Any, groups: Any = None) -> Pairs:  # type: ignore[override]
        """Pairs (train, test) of row numbers; of X only the number of rows is used."""
        return super().split(X, y, groups)

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        codes = appearance_codes(classes_of(y, n))
        check_strata(codes, self.n_splits)
        order = np.argsort(codes, kind="stable")
        deal = np.arange(n) % self.n_splits  # every class gets its share of each fold, in whichever order
        deal = deal[np.lexsort((deal, codes[order]))]
        if self.shuffle:
            rng = legacy_generator(self.random_state)
            for part in np.split(deal, np.cumsum(np.bincount(codes))[:-1]):  # views
                rng.shuffle(part)
        fold = np.empty(n, dtype=np.int64)
        fold[order] = deal
        yield from (np.flatnonzero(fold == k) for k in range(self.n_splits))


@dataclass(eq=False, repr=False)
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

    def _pairs(self, X: Any, y: Any, groups: Any) -> Pairs:
        check_folds(self.n_splits, n_rows(X))
        table = any_table(X)
        fold = hash_folds(table, self.n_splits, seed_of(generator(self.random_state)))
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


@dataclass(eq=False, repr=False)
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

    def __post_init__(self) -> None:
        check_n_splits(self.n_splits)

    def _pairs(self, X: Any, y: Any, groups: Any) -> Pairs:
        n = n_rows(X)
        check_same_lengths(X, y, groups)
        if self.n_splits + 1 > n:
            raise BadInput(f"Cannot have number of folds={self.n_splits + 1} greater than the number of samples={n}")
        size = n // (self.n_splits + 1) if self.test_size is None else self.test_size
        first = n - self.n_splits * size
        if size < 1 or self.gap < 0 or first - self.gap < 1:
            raise BadInput(
                f"Too many splits={self.n_splits} for number of samples={n} with test_size={size} and gap={self.gap}: "
                "ask for fewer or smaller test sets, or for a smaller gap"
            )
        for start in range(first, n, size):
            stop = start - self.gap
            begin = max(0, stop - self.max_train_size) if self.max_train_size else 0
            yield np.arange(begin, stop), np.arange(start, start + size)


@dataclass(eq=False, repr=False)
class LeavePOut(Splitter):
    """Every set of p rows is held out once: n! / (p! (n − p)!) splits.

    >>> from tenfold.evaluate import LeavePOut
    >>> LeavePOut(2).get_n_splits(range(10))
    45
    """

    p: int

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        if not 1 <= self.p < n:
            raise BadInput(f"p={self.p} must be strictly less than the number of samples={n}, and at least 1")
        yield from (np.array(rows) for rows in combinations(range(n), self.p))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs `split` yields for the rows X."""
        return comb(n_rows(X), self.p)


class LeaveOneOut(LeavePOut):
    """Every row is held out once.

    >>> from tenfold.evaluate import LeaveOneOut
    >>> [(train.tolist(), test.tolist()) for train, test in LeaveOneOut().split(range(3))]
    [([1, 2], [0]), ([0, 2], [1]), ([0, 1], [2])]
    """

    def __init__(self) -> None:
        super().__init__(1)

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        if n < 2:
            raise BadInput(f"Cannot perform LeaveOneOut with n_samples={n}: there is no row left to train on")
        yield from super()._tests(n, y, groups)

    def __repr__(self) -> str:
        return "LeaveOneOut()"


@dataclass(eq=False, repr=False)
class PredefinedSplit(Splitter):
    """The test set of each row is given: `test_fold[i]` is its number, −1 where the row is never held out.

    >>> from tenfold.evaluate import PredefinedSplit
    >>> [(train.tolist(), test.tolist()) for train, test in PredefinedSplit([0, 1, -1, 1]).split()]
    [([1, 2, 3], [0]), ([0, 2], [1, 3])]
    """

    test_fold: Any

    def __post_init__(self) -> None:
        self.test_fold = np.array(self.test_fold, dtype=int).reshape(-1)
        self.unique_folds = np.unique(self.test_fold[self.test_fold != -1])

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Pairs:
        """Pairs (train, test) of row numbers."""
        self._check_groups(groups)
        return self._pairs(self.test_fold, None, None)

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        yield from (np.flatnonzero(self.test_fold == fold) for fold in self.unique_folds)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs `split` yields."""
        return len(self.unique_folds)


def check_n_splits(n_splits: Any) -> None:
    """What does not depend on the rows."""
    if not isinstance(n_splits, (Integral, np.integer)):
        raise BadParameter(f"The number of folds must be of Integral type. {n_splits!r} of type {type(n_splits)} was passed")
    if n_splits < 2:
        raise BadParameter(
            f"k-fold cross-validation requires at least one train/test split by setting n_splits=2 or more, got n_splits={n_splits}"
        )


def check_enough(n_splits: int, n: int) -> None:
    if n_splits > n:
        raise BadInput(f"Cannot have number of splits n_splits={n_splits} greater than the number of samples: n_samples={n}")
