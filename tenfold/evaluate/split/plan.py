"""Rounds: splits of the rows, written as unions of disjoint groups of rows.

A one-pass learner is summarised once, group by group; the statistics of every training set are merges of
those of its groups. In a k-fold round the groups are the folds, and all training sets (all folds but one)
come from prefixes and suffixes. Other splits are taken apart into groups of rows that are always used
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.core.stats import merge
from tenfold.evaluate.split.folds import assign_folds, by_code, check_class_sizes, duplicate_groups
from tenfold.evaluate.split.splitters import LeavePOut
from tenfold.evaluate.split.splitting import UNSAID, Given, Splitting, check_cv
from tenfold.evaluate.validate.merges import all_but_one, all_but_some

MOST_MERGES = 32  # groups of a training set, on average, up to which merging them beats fitting again
MOST_SPLITS = 2_000_000


@dataclass(frozen=True)
class SplitPlan:
    """Some splits. `kind` is "folds", "reversed", "leave p out" or "any"."""

    kind: str
    groups: Sequence[Array]  # row numbers, disjoint; a table (n, 1) where every row is alone
    train: list[Array]  # of each split: numbers of groups; empty where it is always all that is not tested
    test: Sequence[Array]

    @property
    def single(self) -> bool:
        """Whether every row is a fold of its own."""
        return self.kind == "folds" and not self.train

    @property
    def parts(self) -> list[Array]:
        """Rows whose outputs are kept together: the test rows of each split, but all of them where each is a
        fold.
        """
        if self.single:
            return [np.arange(len(self.groups))]
        return [self.test_rows(k) for k in range(len(self.test))]

    def train_rows(self, split: int) -> Array:
        train: Array = self.train[split] if self.train else np.delete(np.arange(len(self.groups)), self.test[split])
        return np.sort(np.concatenate([self.groups[g] for g in train.tolist()]))

    @property
    def ratio(self) -> float:
        """Test rows for each training row, on average; for reversed folds, that of the folds."""
        if self.kind in ("folds", "reversed"):
            return 1 / (len(self.groups) - 1)
        n, sizes = sum(map(len, self.groups)), np.array(list(map(len, self.groups)))
        test = np.array([sizes[groups].sum() for groups in self.test])
        train = np.array([sizes[groups].sum() for groups in self.train]) if self.train else n - test
        return float((test / train).mean())

    def test_rows(self, split: int) -> Array:
        if len(self.test[split]) == 1:
            return np.asarray(self.groups[self.test[split][0]])
        return np.sort(np.concatenate([self.groups[g] for g in self.test[split]]))

    def __len__(self) -> int:
        return len(self.test)

    @property
    def merges(self) -> bool:
        """Whether training statistics are better merged than made again."""
        return self.kind != "any" or sum(map(len, self.train)) <= MOST_MERGES * len(self.train)

    def training(self, stats: list[Any]) -> list[Any]:
        """The statistics of each training set from those of each group."""
        if self.kind == "folds":
            return all_but_one(stats)
        if self.kind == "leave p out":
            return all_but_some(stats, len(self.test[0]))
        return [merge(stats[g] for g in groups) for groups in self.train]

    def order(self) -> Array:
        """All rows, group after group."""
        return np.asarray(self.groups).reshape(-1) if self.single else np.concatenate(self.groups)

    def label(self, n: int) -> Array:
        """For folds, the fold of each row; else the test rows of each split, filled up with −1."""
        if self.kind in ("folds", "reversed"):
            fold = np.empty(n, dtype=np.int64)
            sizes = 1 if self.single else [len(rows) for rows in self.groups]
            fold[self.order()] = np.repeat(np.arange(len(self.groups)), sizes)
            return fold[None]
        rows = [self.test_rows(k) for k in range(len(self.test))]
        table = np.full((len(rows), max(map(len, rows))), -1)
        for line, test in zip(table, rows, strict=True):
            line[: len(test)] = test
        return table


def plan(model: Estimator, source: Arrays, splitting: Splitting) -> list[SplitPlan]:
    """The rounds of a cross-validation."""
    splitting.check()
    folds, groups, repeats, kind = splitting.folds, splitting.groups, splitting.repeats, splitting.kind
    n, codes = source.n_rows or 0, None
    if model.role == "classifier":
        codes = target_of(source)
        check_class_sizes(codes, source.facts["classes_"])
    groups = groups_of(source, groups)
    if splitting.cv is not UNSAID:
        folds = check_cv(splitting.cv, codes, classifier=codes is not None)
    if isinstance(folds, (int, np.integer, float, type(None))):
        rng, stratify = generator(splitting.random_state), splitting.stratify
        spread = codes if stratify is True or (stratify == "auto" and groups is None) else None
        assigned = [assign_folds(n, folds, rng, codes=spread, groups=groups) for _ in range(repeats)]
        return [folds_plan(fold, "reversed" if kind == "reversed" else "folds") for fold in assigned]
    if repeats != 1:
        raise BadParameter(f"repeats={repeats}: a splitter says itself how often it repeats; leave repeats at 1")
    found = _explicit(source, folds, codes, groups)
    if kind == "reversed":
        return [SplitPlan("reversed" if one.kind == "folds" else "any", one.groups, *_swapped(one)) for one in found]
    if kind == "corrected" and any(one.kind != "folds" for one in found):
        raise BadParameter("kind='corrected' needs folds that make up all rows: give a number of folds")
    return found


def check_classes_met(source: Arrays, rounds: list[SplitPlan]) -> None:
    """Every training set must hold rows of all classes: the models of splits are compared class by class."""
    if source.target.classes is None:
        return
    codes, count = target_of(source), len(source.target.classes)
    for one in rounds:
        for k in () if one.single else range(len(one)):
            found = np.bincount(codes[one.train_rows(k)], minlength=count)
            if not found.all():
                raise BadInput(f"the training rows of split {k} hold none of class {source.target.classes.tolist()[int(found.argmin())]!r}")


def _swapped(one: SplitPlan) -> tuple[list[Array], list[Array]]:
    train = one.train or [np.delete(np.arange(len(one.groups)), test) for test in one.test]
    return list(one.test), train


def groups_of(source: Arrays, groups: Any) -> Array | None:
    """One entry for each row that takes part; None where no groups were given."""
    if groups is None:
        return None
    if isinstance(groups, str):
        return duplicate_groups(source.X if source.rows is None else source.X[source.rows])
    groups = np.asarray(groups)
    if len(groups) != source.X.shape[0]:
        raise BadInput(f"groups has {len(groups)} entries, but X has {source.X.shape[0]} rows")
    return np.asarray(groups if source.rows is None else groups[source.rows])


def _explicit(source: Arrays, folds: Any, codes: Array | None, groups: Any) -> list[SplitPlan]:
    """Rounds of a splitter or of pairs."""
    n, rows = source.n_rows or 0, source.rows
    if isinstance(folds, LeavePOut):
        return [leave_out_of(folds, n)]
    if isinstance(folds, Given):
        folds = folds.cv
    if hasattr(folds, "split") and not isinstance(folds, (str, bytes)):
        y = target_of(source) if codes is None and source.y is not None else codes
        return plans_of(folds.split(source.X if rows is None else source.X[rows], y, groups), n)
    if isinstance(folds, (str, bytes)) or not np.iterable(folds):
        raise BadParameter(
            f"folds={folds!r}: must be a number of folds, a splitter, or pairs (train, test) of row numbers"
        )
    if rows is None:
        return plans_of(folds, n)
    place = np.full(source.X.shape[0], -1)  # the numbers are those of the whole table: rows of weight zero drop out
    place[rows] = np.arange(n)
    pairs = [_checked(pair, len(place)) for pair in folds]
    return plans_of([[place[rows][place[rows] >= 0] for rows in pair] for pair in pairs], n)


def target_of(source: Arrays) -> Array:
    """The target of the rows of a source."""
    if source.y is None:
        return np.empty(0)
    return source.y if source.rows is None else source.y[source.rows]


def truth_of(source: Arrays, among: Any = slice(None)) -> tuple[Array, Array]:
    """Target and weights of some rows of a source: all of them, or those numbers."""
    y = target_of(source)[among]
    if source.w is None:
        return y, np.ones(len(y))
    return y, (source.w if source.rows is None else source.w[source.rows])[among]


def folds_plan(fold: Array, kind: str = "folds") -> SplitPlan:
    """All folds but one to train and that one to test; or the other way round (kind "reversed")."""
    order = by_code(fold)
    count = int(fold.max()) + 1
    alone = np.arange(count)[:, None]
    if kind == "folds" and count == len(fold):  # tables: n lists of n − 1 groups would fill the memory
        return SplitPlan(kind, cast("Sequence[Array]", order[:, None]), [], cast("Sequence[Array]", alone))
    groups = np.split(order, np.cumsum(np.bincount(fold))[:-1])
    rest = [np.delete(np.arange(len(groups)), k) for k in range(len(groups))]
    return SplitPlan(kind, groups, rest, list(alone)) if kind == "folds" else SplitPlan(kind, groups, list(alone), rest)


def leave_p_out_plan(n: int, p: int) -> SplitPlan:
    groups = list(np.arange(n)[:, None])
    tests = [np.array(rows) for rows in combinations(range(n), p)]
    return SplitPlan("leave p out", groups, [], tests)


def plans_of(splits: Iterable[Any], n: int) -> list[SplitPlan]:
    """Explicit pairs (train, test) as rounds: runs of test sets that make up all rows are folds."""
    pairs = [_checked(pair, n) for pair in splits]
    if not pairs:
        raise BadInput(
            "No fits were performed. Was the CV iterator empty? Were there no candidates? Give at least one "
            "pair (train, test) of row numbers"
        )
    found, start = [], 0
    while start < len(pairs):
        fold, stop = np.full(n, -1), start
        while stop < len(pairs) and (fold < 0).any():
            train, test = pairs[stop]
            if (fold[test] >= 0).any() or len(train) + len(test) != n:
                break
            fold[test] = stop - start
            stop += 1
        if (fold < 0).any():
            return [any_plan(pairs, n)]
        found.append(folds_plan(fold))
        start = stop
    return found


def any_plan(pairs: list[tuple[Array, Array]], n: int) -> SplitPlan:
    """Rows that are always used together are a group."""
    group = np.zeros(n, dtype=np.int64)
    for train, test in pairs:
        use = np.zeros(n, dtype=np.int64)
        use[train], use[test] = 1, 2
        group = np.unique(3 * group + use, return_inverse=True)[1].reshape(-1)
    order = np.argsort(group, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(group))[:-1])
    numbers = [tuple(np.unique(group[rows]) for rows in pair) for pair in pairs]
    return SplitPlan("any", groups, [train for train, _ in numbers], [test for _, test in numbers])


def _checked(pair: Any, n: int) -> tuple[Array, Array]:
    """Row numbers of one split, sound."""
    try:
        train, test = (np.asarray(rows) for rows in pair)
    except (TypeError, ValueError):
        raise BadParameter(
            f"folds holds {str(pair)[:60]}: must be a number of folds, a splitter, or pairs (train, test) of "
            "row numbers"
        ) from None
    both = []
    for rows in (train, test):
        rows = np.flatnonzero(rows) if rows.dtype == bool and len(rows) == n else rows.reshape(-1)
        if not len(rows) or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n:
            raise BadInput(f"folds: a training or test set is empty, or has row numbers outside 0 to {n - 1}")
        both.append(np.sort(rows.astype(np.int64)))
    if len(np.unique(np.concatenate(both))) < len(both[0]) + len(both[1]):
        raise BadInput("folds: a row is in a training set and its test set at once, or twice in one of them")
    return both[0], both[1]


def leave_out_of(splitter: LeavePOut, n: int) -> SplitPlan:
    """Leave-one-out is folds of one row; leave-p-out is all sets of p rows."""
    if splitter.p == 1:
        return folds_plan(np.arange(n))
    count = splitter.get_n_splits(range(n))
    if count > MOST_SPLITS:
        raise BadInput(f"leaving {splitter.p} of {n} rows out makes {count} splits: repeat k folds instead")
    next(splitter._tests(n, None, None))  # refuses a p that does not fit
    return leave_p_out_plan(n, splitter.p)
