"""Splits in which no group of rows is torn apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import legacy_generator
from tenfold.evaluate.split.folds import duplicate_groups, group_codes, grouped, stratified_groups
from tenfold.evaluate.split.splitters import Folds, Pairs, Splitter
from tenfold.evaluate.split.strata import check_strata, classes_of


class OfGroups(Splitter):
    """Abstract: a splitter that needs the group of each row; `groups="duplicates"` keeps equal rows of X together."""

    takes_groups: ClassVar[bool] = True

    def _pairs(self, X: Any, y: Any, groups: Any) -> Pairs:
        if isinstance(groups, str) and groups == "duplicates":
            groups = duplicate_groups(X)
        return super()._pairs(X, y, groups)

    def set_split_request(self, *, groups: Any = True) -> Self:
        """Whether `groups` is passed to `split` by scikit-learn's metadata routing, or the name it has there."""
        if not (groups is None or isinstance(groups, (bool, str))):
            raise BadParameter(f"set_split_request(groups={groups!r}): must be True, False, None or a name")
        vars(self)["_groups_request"] = groups
        return self


@dataclass(eq=False, repr=False)
class GroupKFold(OfGroups, Folds):
    """k folds in which no group is split: the largest group first, into the fold with the fewest rows; with shuffle, groups in
    random order, as many in each fold.

    `groups="duplicates"` keeps equal rows of X together.

    >>> from tenfold.evaluate import GroupKFold
    >>> [test.tolist() for _, test in GroupKFold(2).split(range(4), groups=["a", "b", "a", "b"])]
    [[1, 3], [0, 2]]
    """

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        code, sizes = group_codes(n, groups, self.n_splits)
        if self.shuffle:
            order = legacy_generator(self.random_state).permutation(len(sizes))
            place = np.empty(len(sizes), dtype=np.int64)
            place[order] = np.repeat(np.arange(self.n_splits), list(map(len, np.array_split(order, self.n_splits))))
        else:
            place = grouped(sizes, self.n_splits, np.argsort(sizes, kind="stable")[::-1])
        yield from (np.flatnonzero(place[code] == k) for k in range(self.n_splits))


@dataclass(eq=False, repr=False)
class StratifiedGroupKFold(OfGroups, Folds):
    """k folds in which no group is split and the classes are spread as evenly as that allows.

    Groups whose classes are most uneven come first; each goes to the fold that keeps  Σ over classes of the
    standard deviation of the class's share over folds  smallest.

    >>> from tenfold.evaluate import StratifiedGroupKFold
    >>> splitter = StratifiedGroupKFold(2)
    >>> [test.tolist() for _, test in splitter.split(range(6), [0, 1, 0, 1, 0, 1], groups=[1, 1, 2, 2, 3, 3])]
    [[0, 1, 4, 5], [2, 3]]
    """

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        codes = classes_of(y, n)
        check_strata(codes, self.n_splits)
        code, sizes = group_codes(n, groups, self.n_splits)
        order = legacy_generator(self.random_state).permutation(len(sizes)) if self.shuffle else np.arange(len(sizes))
        fold = stratified_groups(code, order, codes, self.n_splits)
        yield from (np.flatnonzero(fold == k) for k in range(self.n_splits))


@dataclass(eq=False, repr=False)
class LeavePGroupsOut(OfGroups):
    """Every set of `n_groups` groups is held out once.

    >>> from tenfold.evaluate import LeavePGroupsOut
    >>> LeavePGroupsOut(2).get_n_splits(groups=[1, 2, 3])
    3
    """

    n_groups: int

    def _tests(self, n: int, y: Any, groups: Any) -> Iterator[Array]:
        code = group_codes(n, groups)[0]
        count = int(code.max()) + 1
        if self.n_groups >= count:
            raise BadInput(self._too_few(np.unique(np.asarray(groups))))
        for chosen in combinations(range(count), self.n_groups):
            yield np.flatnonzero(np.isin(code, chosen))

    def _too_few(self, found: Array) -> str:
        return (
            f"The groups parameter contains fewer than (or equal to) n_groups ({self.n_groups}) numbers of unique groups ({found}). "
            f"LeavePGroupsOut expects that at least n_groups + 1 ({self.n_groups + 1}) unique groups be present"
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many pairs `split` yields for these groups."""
        code = group_codes(None, groups)[0]
        return comb(int(code.max()) + 1, self.n_groups)


class LeaveOneGroupOut(LeavePGroupsOut):
    """Every group is held out once.

    >>> from tenfold.evaluate import LeaveOneGroupOut
    >>> [test.tolist() for _, test in LeaveOneGroupOut().split(range(4), groups=["a", "b", "a", "b"])]
    [[0, 2], [1, 3]]
    """

    def __init__(self) -> None:
        super().__init__(1)

    def _too_few(self, found: Array) -> str:
        return f"The groups parameter contains fewer than 2 unique groups ({found}). LeaveOneGroupOut expects at least 2."

    def __repr__(self) -> str:
        return "LeaveOneGroupOut()"
