"""Splits: the same rows as scikit-learn's, with the same seed, and what they promise."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pandas
import polars
import pytest
import sklearn.model_selection as theirs
from scipy.sparse import csr_array
from sklearn.linear_model import LinearRegression

import tenfold
from tenfold import evaluate as ours
from tenfold.evaluate.split.folds import assign_folds
from tenfold.evaluate.split.parts import assign_parts, sizes_of

rng = np.random.default_rng(0)
N = 61
LABELS = rng.choice(["b", "a", "c"], size=N)
GROUPS = rng.integers(0, 13, size=N)


def pairs(splitter: Any, n: int = N) -> list[tuple[np.ndarray, np.ndarray]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn tells that it does not use groups
        return list(splitter.split(np.zeros((n, 1)), LABELS[:n], GROUPS[:n]))


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("KFold", dict(n_splits=4)),
        ("StratifiedKFold", dict(n_splits=4)),
        ("StratifiedGroupKFold", dict(n_splits=3)),
        ("GroupKFold", dict(n_splits=4)),
        ("LeaveOneGroupOut", dict()),
        ("LeavePGroupsOut", dict(n_groups=2)),
        ("PredefinedSplit", dict(test_fold=np.arange(N) % 4 - 1)),
        ("TimeSeriesSplit", dict(n_splits=4)),
        ("TimeSeriesSplit", dict(n_splits=3, gap=2, max_train_size=9, test_size=7)),
        ("LeaveOneOut", dict()),
        ("LeavePOut", dict(p=2)),
    ],
)
def test_the_same_splits_as_scikit_learn(name: str, kwargs: dict) -> None:
    a, b = getattr(ours, name)(**kwargs), getattr(theirs, name)(**kwargs)
    found, expected = pairs(a), pairs(b)
    assert len(found) == len(expected) == a.get_n_splits(np.zeros(N), LABELS, GROUPS)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("KFold", dict(n_splits=4, shuffle=True)),
        ("StratifiedKFold", dict(n_splits=4, shuffle=True)),
        ("GroupKFold", dict(n_splits=4, shuffle=True)),
        ("StratifiedGroupKFold", dict(n_splits=3, shuffle=True)),
        ("RepeatedKFold", dict(n_splits=4, n_repeats=3)),
        ("RepeatedStratifiedKFold", dict(n_splits=3, n_repeats=3)),
        ("ShuffleSplit", dict(n_splits=4)),
        ("ShuffleSplit", dict(n_splits=4, test_size=0.3, train_size=7)),
        ("GroupShuffleSplit", dict(n_splits=4)),
        ("GroupShuffleSplit", dict(n_splits=4, test_size=3, train_size=0.4)),
        ("StratifiedShuffleSplit", dict(n_splits=4)),
        ("StratifiedShuffleSplit", dict(n_splits=4, test_size=0.31, train_size=17)),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_same_seeds_give_the_rows_of_scikit_learn(name: str, kwargs: dict, seed: int) -> None:
    for state in (lambda: seed, lambda: np.random.RandomState(seed)):
        found = pairs(getattr(ours, name)(**kwargs, random_state=state()))
        expected = pairs(getattr(theirs, name)(**kwargs, random_state=state()))
        for (train, test), (other_train, other_test) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(train, other_train)
            np.testing.assert_array_equal(test, other_test)


def test_groups_and_strata_of_many_shapes_give_the_rows_of_scikit_learn() -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        n, k = int(draw.integers(30, 120)), int(draw.integers(2, 6))
        y, groups = draw.integers(0, 3, size=n), draw.integers(0, 15, size=n).astype(str)
        for name in ("GroupKFold", "StratifiedGroupKFold"):
            for more in (dict(), dict(shuffle=True, random_state=seed)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    both = [list(getattr(kind, name)(k, **more).split(y, y, groups)) for kind in (ours, theirs)]
                for (_, test), (_, other) in zip(*both, strict=True):
                    np.testing.assert_array_equal(test, other)


def test_numpys_global_seed_is_obeyed_where_no_state_is_given() -> None:
    drawn = []
    for kind in (ours, theirs):
        np.random.seed(3)
        drawn.append([test.tolist() for _, test in kind.KFold(3, shuffle=True).split(range(20))])
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("options", [dict(), dict(test_size=0.3), dict(train_size=11), dict(test_size=5, train_size=0.5)])
@pytest.mark.parametrize("stratify", [None, LABELS])
def test_train_test_split_gives_the_rows_of_scikit_learn(options: dict, stratify: Any) -> None:
    rows = np.arange(N)
    for seed in (0, 5):
        found = ours.train_test_split(rows, rows.tolist(), random_state=seed, stratify=stratify, **options)
        expected = theirs.train_test_split(rows, rows.tolist(), random_state=seed, stratify=stratify, **options)
        for one, other in zip(found, expected, strict=True):
            assert type(one) is type(other)
            np.testing.assert_array_equal(one, other)


def test_splitters_say_what_they_ask_for_as_scikit_learns_do() -> None:
    request = ours.GroupKFold(3).get_metadata_routing()
    assert request.split.requests == {"groups": True}
    assert ours.GroupKFold(3).set_split_request(groups="patient").get_metadata_routing().split.requests == {"groups": "patient"}
    assert not ours.KFold(3).get_metadata_routing().split.requests and not hasattr(ours.KFold(3), "set_split_request")


def test_check_cv_is_scikit_learns() -> None:
    for cv, y in ((None, [0, 1] * 5), (3, [0.5, 1.5] * 5), (3, ["a", "b"] * 5)):
        found, expected = (kind.check_cv(cv, y, classifier=True) for kind in (ours, theirs))
        assert repr(found) == repr(expected)
    given = [([0, 1], [2]), ([1, 2], [0])]
    assert list(ours.check_cv(iter(given)).split()) == given
    with pytest.raises(tenfold.BadParameter, match="Expected `cv` as an integer"):
        ours.check_cv("five")


def test_splits_by_strata_for_many_shapes() -> None:
    for seed in range(30):
        draw = np.random.default_rng(seed)
        n, k = int(draw.integers(20, 90)), int(draw.integers(2, 6))
        y = draw.integers(0, 3, size=n)
        y[: 2 * k] = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # some classes have fewer rows than there are folds
            expected, found = (list(kind.StratifiedKFold(k).split(y, y)) for kind in (theirs, ours))
        for (_, test), (_, other) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(test, other)


@pytest.mark.parametrize(
    "splitter",
    [
        ours.KFold(5, shuffle=True, random_state=0),
        ours.StratifiedKFold(5, shuffle=True, random_state=0),
        ours.GroupKFold(5),
        ours.GroupKFold(5, shuffle=True, random_state=0),
        ours.StratifiedGroupKFold(5, shuffle=True, random_state=0),
    ],
    ids=str,
)
def test_folds_make_up_all_rows(splitter: Any) -> None:
    found = pairs(splitter)
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in found])), np.arange(N))
    for train, test in found:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(N))
        if "Group" in type(splitter).__name__:
            assert not set(GROUPS[train]) & set(GROUPS[test])
        if type(splitter).__name__ == "StratifiedKFold":
            for label in "abc":
                assert abs((LABELS[test] == label).sum() - (label == LABELS).sum() / 5) < 1
    assert [t.tolist() for _, t in found] == [t.tolist() for _, t in pairs(splitter)], "a seed repeats itself"


def test_groups_are_spread_as_evenly_as_by_scikit_learn() -> None:
    sizes = [sorted(len(test) for _, test in pairs(kind.GroupKFold(4))) for kind in (ours, theirs)]
    assert sizes[0] == sizes[1]
    codes = np.concatenate([np.repeat(np.arange(3), 100), np.arange(3, 703)])
    counts = np.bincount(assign_folds(1000, 7, np.random.default_rng(0), groups=codes))
    assert counts.max() - counts.min() <= 1


def test_random_splits() -> None:
    found = pairs(ours.ShuffleSplit(20, test_size=0.3, train_size=10, random_state=0))
    assert {(len(a), len(b)) for a, b in found} == {(10, 19)} and len({tuple(b) for _, b in found}) == 20
    assert all(not set(train) & set(test) for train, test in found)
    repeated = pairs(ours.RepeatedKFold(n_splits=4, n_repeats=3, random_state=0))
    assert len(repeated) == 12
    for r in range(3):
        tests = np.concatenate([test for _, test in repeated[4 * r : 4 * r + 4]])
        np.testing.assert_array_equal(np.sort(tests), np.arange(N))


def test_scikit_learn_takes_our_splitters() -> None:
    X = rng.normal(size=(N, 2))
    found = theirs.cross_val_score(LinearRegression(), X, X[:, 0], cv=ours.KFold(4))
    np.testing.assert_allclose(found, 1.0, rtol=1e-12)


def test_duplicates_have_one_group() -> None:
    X = rng.normal(size=(200, 3))
    X[50], X[51], X[52] = X[3], X[3], X[7]
    X[60], X[61] = [0.0, 1.0, np.nan], [-0.0, 1.0, np.nan]
    X[70] = X[8] * (1 + 1e-12)  # the same as float32, but not the same
    group = ours.duplicate_groups(X)
    expected = np.arange(200)
    expected[[50, 51]], expected[52], expected[61] = 3, 7, 60
    np.testing.assert_array_equal(group, np.unique(expected, return_inverse=True)[1])
    filled = np.nan_to_num(X)
    for table in (pandas.DataFrame(filled), csr_array(filled)):
        np.testing.assert_array_equal(ours.duplicate_groups(table), ours.duplicate_groups(filled))
    folds = list(ours.GroupKFold(4).split(X, groups="duplicates"))
    for train, test in folds:
        assert not set(group[train]) & set(group[test])


@pytest.mark.parametrize("parts", [(0.6, 0.2, 0.2), (0.5, 0.5), (0.7, 0.1, 0.1, 0.1)])
def test_parts_in_any_proportions(parts: tuple[float, ...]) -> None:
    sizes = sizes_of(parts, 103)
    assert sizes.sum() == 103 and (np.abs(sizes - np.array(parts) * 103) < 1).all()
    codes = np.random.default_rng(0).integers(0, 3, size=103)
    part = assign_parts(sizes, np.random.default_rng(0), codes=codes)
    np.testing.assert_array_equal(np.bincount(part), sizes)
    for k in range(3):
        assert (np.abs(np.bincount(part[codes == k]) - np.array(parts) * (codes == k).sum()) < 2).all()


def test_train_test_split() -> None:
    X, y = rng.normal(size=(40, 2)), np.arange(40)
    a, b, c, d = ours.train_test_split(X, y, test_size=0.25, random_state=0)
    assert a.shape == (30, 2) and b.shape == (10, 2) and sorted([*c, *d]) == list(range(40))
    np.testing.assert_array_equal(X[c], a)
    a, b = ours.train_test_split(y, shuffle=False)
    np.testing.assert_array_equal(a, theirs.train_test_split(y, shuffle=False)[0])
    for table in (pandas.DataFrame({"x": y}), polars.DataFrame({"x": y}), csr_array(X), list(y)):
        first, second, third = ours.train_test_split(table, parts=(0.5, 0.25, 0.25), random_state=1)
        assert type(first) is type(table)
        assert [p.shape[0] if hasattr(p, "shape") else len(p) for p in (first, second, third)] == [20, 10, 10]
    groups = y // 4
    parts = ours.train_test_split(groups, parts=(0.5, 0.3, 0.2), groups=groups, random_state=0)
    assert all(not set(one) & set(other) for one, other in pairwise(parts))
    labels = np.repeat([0, 1], [30, 10])
    train, test = ours.train_test_split(labels, stratify=labels, test_size=8, random_state=0)
    assert train.sum() == 8 and test.sum() == 2
    assert len(ours.train_test_split(X, test_size=5, train_size=10, random_state=0)[0]) == 10


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: list(ours.KFold(1).split(range(5))), "n_splits=2 or more"),
        (lambda: list(ours.KFold(9).split(range(5))), "n_splits=9 greater than the number of samples"),
        (lambda: list(ours.StratifiedKFold(3).split(range(4), None)), "'y' parameter should not be None"),
        (lambda: list(ours.StratifiedKFold(3).split(range(4), [1, 1, 2, 2])), "cannot be greater than the number of members in each class"),
        (lambda: list(ours.GroupKFold(3).split(range(4))), "'groups' parameter should not be None"),
        (lambda: list(ours.GroupKFold(3).split(range(4), groups=[1, 1, 2, 2])), "greater than the number of groups: 2"),
        (lambda: list(ours.GroupKFold(2).split(range(4), groups=[1])), "inconsistent numbers of samples"),
        (lambda: list(ours.TimeSeriesSplit(4).split(range(4))), "Cannot have number of folds=5 greater"),
        (lambda: list(ours.TimeSeriesSplit(2, gap=5).split(range(6))), "Too many splits=2"),
        (lambda: list(ours.LeavePOut(6).split(range(5))), "p=6 must be strictly less"),
        (lambda: ours.LeavePOut(2).get_n_splits(), "should not be None"),
        (lambda: list(ours.RepeatedKFold(n_repeats=0).split(range(9))), "must be greater than 0"),
        (lambda: list(ours.ShuffleSplit(test_size=1.5).split(range(9))), "test_size=1.5"),
        (lambda: list(ours.ShuffleSplit(test_size=5, train_size=5).split(range(9))), "Reduce test_size"),
        (lambda: ours.train_test_split(), "At least one array"),
        (lambda: ours.train_test_split([1, 2], [1]), "inconsistent"),
        (lambda: ours.train_test_split([1, 2], parts=(0.5, 0.6)), "sum to 1"),
        (lambda: ours.train_test_split([1, 2], parts=(0.4, 0.3, 0.3)), "too few"),
        (lambda: ours.train_test_split([1, 2], parts=(0.5, 0.5), test_size=1), "leave out test_size"),
        (lambda: ours.train_test_split([1, 2], shuffle=False, stratify=[1, 2]), "not implemented for shuffle=False"),
    ],
)
def test_bad_requests_are_told(call: Any, words: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=words):
        call()
