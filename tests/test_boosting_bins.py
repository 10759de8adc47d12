"""Boosting with more than 255 bins a column: exact thresholds, and all that holds with fewer."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from test_boosting_parts import CASES, Depth, Hist, HistC, InParts, assert_same, given, made, rows_stay

import tenfold
from tenfold.core import memory
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, DataWarning, TooLarge
from tenfold.tree.bins import Bins
from tenfold.tree.memory import memory_of_fit

__all__ = ["rows_stay"]  # a fixture that every test takes

MANY = 1000  # the columns of `made` have some 600 different values


def curved(n: int = 3000, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.permutation(n), rng.normal(size=(n, 2))])
    return X, np.sin(X[:, 0] / 97) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def test_the_table_of_these_tests_has_columns_of_many_bins() -> None:
    bins = Bins.of(made()["X"], max_bins=MANY)
    assert bins.wide and bins.n_bins[:5].min() > 255 and bins.n_bins[5] == 6


# --- exact thresholds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_one_round_is_the_tree_with_exact_thresholds(weighted: bool) -> None:
    X, y = curved()
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    limits: dict[str, Any] = dict(max_leaf_nodes=40, min_samples_leaf=3)
    boosted = Hist(max_iter=1, learning_rate=1.0, max_bins=65_535, early_stopping=False, **limits).fit(X, y, w)
    ours = tenfold.DecisionTreeRegressor(**limits).fit(X, y, w)
    theirs = sklearn.tree.DecisionTreeRegressor(random_state=0, **limits).fit(X, y, w)
    for tree in (ours, theirs):
        np.testing.assert_allclose(boosted.predict(X), tree.predict(X), rtol=1e-9, atol=1e-12)
    few = Hist(max_iter=1, learning_rate=1.0, early_stopping=False, **limits).fit(X, y, w)
    assert np.abs(few.predict(X) - ours.predict(X)).max() > 0.1, "255 bins are too few here"


def test_missing_values_go_as_in_the_exact_tree() -> None:
    X, y = curved()
    X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    y += np.isnan(X[:, 1])
    limits: dict[str, Any] = dict(max_leaf_nodes=12, min_samples_leaf=5)
    boosted = Hist(max_iter=1, learning_rate=1.0, max_bins=65_535, **limits).fit(X, y)
    tree = tenfold.DecisionTreeRegressor(**limits).fit(X, y)
    np.testing.assert_allclose(boosted.predict(X), tree.predict(X), rtol=1e-9, atol=1e-12)


def test_depth_limited_rounds_are_those_of_scikit_learn() -> None:
    X, y = curved(800)
    settings: dict[str, Any] = dict(n_estimators=6, max_depth=3, min_samples_leaf=4)
    ours = Depth(max_bins=65_535, **settings).fit(X, y)
    theirs = sklearn.ensemble.GradientBoostingRegressor(random_state=0, **settings).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-6)


def test_a_signal_of_many_steps_is_found_as_by_lightgbm() -> None:
    many, few, theirs = [], [], []
    for steps in (200, 231, 333):  # where steps and bins meet is luck
        rng = np.random.default_rng(steps)
        X, T = rng.random((12_000, 3)), rng.random((5000, 3))
        y, t = (np.floor(one[:, 0] * steps) % 2 + one[:, 1] + 0.1 * rng.normal(size=len(one)) for one in (X, T))
        settings: dict[str, Any] = dict(max_iter=20, max_leaf_nodes=63, early_stopping=False, learning_rate=0.5)
        model = lightgbm.LGBMRegressor(
            n_estimators=20, num_leaves=63, max_bin=1024, learning_rate=0.5, verbose=-1, n_jobs=1
        )
        for errors, one in ((many, Hist(max_bins=1023, **settings)), (few, Hist(**settings)), (theirs, model)):
            errors.append(np.mean((t - one.fit(X, y).predict(T)) ** 2))
    assert sum(many) < 1.03 * sum(theirs)
    assert sum(many) < 0.6 * sum(few)


# --- what holds with fewer bins holds here ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_parts_threads_and_streams_give_the_same_bits(name: str) -> None:
    model, *what = CASES[name]
    model = pickle.loads(pickle.dumps(model)).set_params(max_bins=MANY)
    table, fits = given(made(), *what), []
    for engine in (InParts(), tenfold.Threads(1), tenfold.Threads(3)):
        with tenfold.engine(engine):
            fits.append(pickle.loads(pickle.dumps(model.fit(*table))))
    blocks = [tuple(one[a : a + 700] for one in table) for a in range(0, len(table[0]), 700)]
    fits.append(model.fit(blocks))
    for other in fits[1:]:
        assert_same(other, fits[0])


@pytest.mark.parametrize("seed", range(2))
def test_missing_values_may_stand_alone_on_the_left(seed: int) -> None:
    """Where values may only rise, missing values below all others are another split than above them, in small nodes too."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3000, (800, 2)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, 3, 800) * (1.0 + (X[:, 0] > 100))
    model, fits = Hist(max_iter=2, max_bins=MANY, min_samples_leaf=5, monotonic_cst=[1, 1]), []
    for engine in (InParts(), tenfold.Threads(2)):
        with tenfold.engine(engine):
            fits.append(pickle.loads(pickle.dumps(model.fit(X, y))))
    assert_same(*fits)


def test_few_values_make_the_same_model_whatever_is_allowed() -> None:
    table = made()
    table["X"] = table["X"].round(1)
    assert_same(*(Hist(max_iter=3, max_bins=bins).fit(*given(table, "real", True)) for bins in (65_535, 255)))


def test_rounds_one_after_the_other_and_from_a_file(tmp_path: Path) -> None:
    X, y = given(made(), "three", False)
    whole = HistC(max_iter=4, max_leaf_nodes=8, max_bins=MANY, categorical_features=[5]).fit(X, y)
    more = HistC(max_iter=1, max_leaf_nodes=8, max_bins=MANY, categorical_features=[5], warm_start=True).fit(X, y)
    np.testing.assert_array_equal(more.set_params(max_iter=4).fit(X, y).predict_proba(X), whole.predict_proba(X))
    short = HistC(max_iter=2, max_leaf_nodes=8, max_bins=MANY, categorical_features=[5]).fit(X, y)
    np.testing.assert_allclose(list(whole.staged_predict_proba(X))[1], short.predict_proba(X), rtol=1e-12)
    tenfold.save(whole, tmp_path / "model.tenfold")
    loaded = tenfold.load(tmp_path / "model.tenfold")
    assert loaded.max_bins == MANY
    np.testing.assert_array_equal(loaded.predict_proba(X), whole.predict_proba(X))


def test_float32_is_binned_as_float64() -> None:
    X, y = given(made(), "real", False)
    X = X.astype(np.float32)
    assert_same(*(Hist(max_iter=2, max_bins=MANY).fit(one, y) for one in (X, X.astype(np.float64))))


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [1, 65_536, 300.5])
@pytest.mark.parametrize("kind", [Hist, Depth])
def test_a_number_of_bins_that_cannot_be_is_refused(kind: Any, max_bins: Any) -> None:
    with pytest.raises((BadParameter, TypeError), match="max_bins"):
        kind(max_bins=max_bins).fit(*curved(50))


def test_memory_is_told_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = curved(4000)
    wide, narrow = (memory_of_fit(4000, Bins.of(X, max_bins=bins), 1, 2) for bins in (65_535, 255))
    assert wide > narrow + 4000 * 3 * 16 * 5
    monkeypatch.setattr(memory, "LITTLE", 0)
    monkeypatch.setattr(memory, "memory", lambda: (wide, 2.0 * wide))
    with pytest.warns(DataWarning, match=r"4,000 bins will take about .* GiB are free: give fewer bins"):
        Hist(max_iter=1, max_bins=65_535).fit(X, y)
    monkeypatch.setattr(memory, "memory", lambda: (wide / 2, wide / 2))
    with pytest.raises(TooLarge, match=r"more than the .* of this machine"):
        Hist(max_iter=1, max_bins=65_535).fit(X, y)


def test_free_memory_is_less_than_all() -> None:
    free, whole = memory.memory()
    assert 0 < free <= whole
