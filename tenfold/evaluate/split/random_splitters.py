"""Splits that are drawn anew several times: random parts of the rows, and repeated folds."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.random import legacy_generator
from tenfold.evaluate.split.folds import check_same_lengths, group_codes, n_rows, two_sizes
from tenfold.evaluate.split.group_splitters import OfGroups
from tenfold.evaluate.split.splitters import KFold, Pairs, Splitter, StratifiedKFold
from tenfold.evaluate.split.strata import check_drawn_classes, stratified_draw


@dataclass(eq=False, repr=False)
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

    share: ClassVar[float] = 0.1  # held out where no size is given

    def _sizes(self, n: int) -> tuple[int, int]:
        """Numbers of training and test rows."""
        return two_sizes(n, self.test_size, self.train_size, self.share)

    def _pairs(self, X: Any, y: Any, groups: Any) -> Pairs:
        check_same_lengths(X, y, groups)
        return self._drawn(n_rows(X))

    def _drawn(self, n: int) -> Pairs:
        (n_train, n_test), rng = self._sizes(n), legacy_generator(self.random_state)
        for _ in range(self.n_splits):
            order = rng.permutation(n)
            yield order[n_test : n_test + n_train], order[:n_test]


@dataclass(eq=False, repr=False)
class GroupShuffleSplit(OfGroups, ShuffleSplit):
    """A random part of the groups is held out, `n_splits` times anew; the sizes are shares or numbers of groups, a fifth of them
    if none is given.

    >>> from tenfold.evaluate import GroupShuffleSplit
    >>> splitter = GroupShuffleSplit(2, test_size=1, random_state=0)
    >>> [test.tolist() for _, test in splitter.split(range(4), groups=["a", "a", "b", "b"])]
    [[2, 3], [0, 1]]
    """

    n_splits: int = 5

    share: ClassVar[float] = 0.2

    def _pairs(self, X: Any, y: Any, groups: Any) -> Pairs:
        check_same_lengths(X, y, None if isinstance(groups, str) else groups)
        code, sizes = group_codes(n_rows(X), groups, table=X)
        for train, test in self._drawn(len(sizes)):
            yield np.flatnonzero(np.isin(code, train)), np.flatnonzero(np.isin(code, test))


@dataclass(eq=False, repr=False)
class StratifiedShuffleSplit(ShuffleSplit):
    """A random part of the rows is held out, `n_splits` times anew, with every class in proportion on both sides.

    >>> from tenfold.evaluate import StratifiedShuffleSplit
    >>> y = [0, 0, 0, 0, 1, 1]
    >>> splitter = StratifiedShuffleSplit(2, test_size=0.5, random_state=0)
    >>> [sorted(y[i] for i in test) for _, test in splitter.split(y, y)]
    [[0, 0, 1], [0, 0, 1]]
    """

    def split(self, X: Any, y: Any, groups: Any = None) -> Pairs:  # type: ignore[override]
        """Pairs (train, test) of row numbers, in random order."""
        return super().split(X, y, groups)

    def _pairs(self, X: Any, y: Any, groups: Any) -> Pairs:
        check_same_lengths(X, y, groups)
        sizes = self._sizes(n_rows(X))
        labels, codes = strata_of(y)
        check_drawn_classes(codes, labels, *sizes)
        rng = legacy_generator(self.random_state)
        for _ in range(self.n_splits):
            yield stratified_draw(codes, *sizes, rng)


def strata_of(y: Any) -> tuple[Array, Array]:
    """The labels that occur and the number of that of each row; rows of several labels are classes of their own."""
    y = np.asarray(y)
    if y.ndim == 2:
        y = np.array([" ".join(row.astype("str")) for row in y])
    labels, codes = np.unique(y, return_inverse=True)
    return labels, codes.reshape(-1)


@dataclass(eq=False, repr=False)
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

    folds: ClassVar[type[KFold | StratifiedKFold]] = KFold

    def __post_init__(self) -> None:
        if not isinstance(self.n_repeats, (Integral, np.integer)):
            raise BadParameter(f"n_repeats={self.n_repeats!r}: Number of repetitions must be of Integral type.")
        if self.n_repeats < 1:
            raise BadParameter(f"n_repeats={self.n_repeats}: Number of repetitions must be greater than 0.")

    def _pairs(self, X: Any, y: Any, groups: Any) -> Pairs:
        rng = legacy_generator(self.random_state)
        for _ in range(self.n_repeats):
            yield from self.folds(self.n_splits, shuffle=True, random_state=rng).split(X, y)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs `split` yields."""
        return self.n_splits * self.n_repeats


@dataclass(eq=False, repr=False)
class RepeatedStratifiedKFold(RepeatedKFold):
    """StratifiedKFold with shuffled rows, `n_repeats` times.

    >>> from tenfold.evaluate import RepeatedStratifiedKFold
    >>> RepeatedStratifiedKFold(n_splits=5, n_repeats=3).get_n_splits()
    15
    """

    folds: ClassVar[type[KFold | StratifiedKFold]] = StratifiedKFold

    def split(self, X: Any, y: Any, groups: Any = None) -> Pairs:  # type: ignore[override]
        """Pairs (train, test) of row numbers; of X only the number of rows is used."""
        return super().split(X, y, groups)
