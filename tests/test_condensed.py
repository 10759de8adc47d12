"""Condensed and edited neighbours: consistent on the rows of the fit, Wilson's rule by all distances, copies, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
from conftest import plain_id
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris

import tenfold

RNG = np.random.default_rng(2)
X = RNG.normal(size=(300, 3))
Y = np.array(["a", "b", "c"])[(X[:, 0] + 0.4 * RNG.normal(size=300) > 0).astype(int) + (X[:, 1] > 0.5)]
NEW = RNG.normal(size=(50, 3))


def furthest(a: Any, b: Any) -> float:
    return float(np.abs(a - b).max())


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "mahalanobis", "seuclidean", furthest], ids=plain_id)
def test_the_condensed_rows_classify_all_others_right(metric: Any) -> None:
    rows, y = X[:120], Y[:120]
    model = tenfold.CondensedNearestNeighbor(metric=metric).fit(rows, y)
    assert (model.predict(rows) == y).all()
    assert len(model.sample_indices_) < 100
    assert (np.diff(model.sample_indices_) > 0).all()


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_few_rows_of_real_tables_are_needed(load: Any) -> None:
    rows, y = load(return_X_y=True)
    model = tenfold.CondensedNearestNeighbor().fit(rows, y)
    assert (model.predict(rows) == y).all() and len(model.sample_indices_) < 0.12 * len(y)


def test_equal_rows_of_two_classes_do_not_hinder() -> None:
    rows = RNG.integers(0, 4, (200, 2)).astype(float)
    y = (rows.sum(axis=1) > 3).astype(int)
    y[::17] = 1 - y[::17]
    model = tenfold.CondensedNearestNeighbor().fit(rows, y)
    found = model.predict(rows)
    clear = np.array([len(set(y[(rows == row).all(axis=1)])) == 1 for row in rows])
    assert (found[clear] == y[clear]).all() and not clear.all()
    assert len(tenfold.CondensedNearestNeighbor().fit(np.ones((9, 2)), [0, 1] * 4 + [0]).sample_indices_) == 2
    assert tenfold.CondensedNearestNeighbor().fit(X, np.zeros(300)).sample_indices_.shape == (1,)


def wilson(rows: Any, y: Any, k: int, rule: str) -> Any:
    away = cdist(rows, rows)
    np.fill_diagonal(away, np.inf)
    near = np.argsort(away, axis=1, kind="stable")[:, :k]
    counts = np.stack([(y[near] == c).sum(axis=1) for c in np.unique(y)])
    own = (y[near] == y[:, None]).sum(axis=1)
    return np.flatnonzero(own == (counts.max(axis=0) if rule == "majority" else k))


@pytest.mark.parametrize("rule", ["majority", "all"])
@pytest.mark.parametrize("k", [1, 3, 4])
def test_edited_rows_are_those_of_wilson(k: int, rule: str) -> None:
    once = tenfold.EditedNearestNeighbors(k, rule=rule).fit(X, Y)
    expected = wilson(X, Y, k, rule)
    np.testing.assert_array_equal(once.sample_indices_, expected)
    again = tenfold.EditedNearestNeighbors(k, rule=rule, max_iter=100).fit(X, Y).sample_indices_
    while len(left := expected[wilson(X[expected], Y[expected], k, rule)]) < len(expected):
        expected = left
    np.testing.assert_array_equal(again, expected)
    nearest = expected[cdist(NEW, X[expected]).argmin(axis=1)]
    np.testing.assert_array_equal(tenfold.EditedNearestNeighbors(k, rule=rule, max_iter=100).fit(X, Y).predict(NEW), Y[nearest])


@pytest.mark.parametrize("cls", [tenfold.CondensedNearestNeighbor, tenfold.EditedNearestNeighbors])
def test_weights_are_copies_and_rows_keep_their_numbers(cls: Any) -> None:
    w = RNG.integers(0, 3, 300)
    weighted, copied = cls().fit(X, Y, w), cls().fit(np.repeat(X, w, axis=0), np.repeat(Y, w))
    np.testing.assert_array_equal(weighted.predict(NEW), copied.predict(NEW))
    assert (w[weighted.sample_indices_] > 0).all()
    np.testing.assert_array_equal(weighted._fit_X, X[weighted.sample_indices_])


def test_rows_and_labels_come_in_their_containers() -> None:
    frame = pandas.DataFrame(X, columns=list("pqr"))
    rows, labels = tenfold.EditedNearestNeighbors().fit_resample(frame, pandas.Series(Y))
    kept = wilson(X, Y, 3, "majority")
    assert rows.index.tolist() == kept.tolist() and labels.tolist() == Y[kept].tolist()


def test_what_is_refused() -> None:
    with pytest.raises(tenfold.BadParameter, match="precomputed"):
        tenfold.CondensedNearestNeighbor(metric="precomputed").fit(cdist(X, X), Y)
    with pytest.raises(tenfold.BadInput, match="no row is left"):
        tenfold.EditedNearestNeighbors(1, rule="all").fit([[0.0], [1.0], [10.0], [11.0]], [0, 1, 0, 1])
    assert tenfold.EditedNearestNeighbors(50).fit(X[:1], Y[:1]).predict(NEW[:2]).tolist() == [Y[0]] * 2
