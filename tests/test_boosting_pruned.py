"""Trees of gradient boosting whose leaves have a price (`ccp_alpha`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble as theirs

import tenfold
from tenfold.core.data import Array


def table(n: int = 400) -> tuple[Array, Array, Array]:
    """Columns of few different values, so that bins are exact; numbers, and whole weights."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 40, size=(n, 3)) / 40
    y = np.sin(6 * X[:, 0]) + (X[:, 1] > 0.5) * X[:, 2] + 0.3 * rng.normal(size=n)
    return X, y, rng.integers(1, 4, size=n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("price", [1e-3, 1e-2, 0.1])
def test_pruned_trees_are_those_of_scikit_learn(price: float, weighted: bool) -> None:
    X, y, w = table()
    settings: dict[str, Any] = dict(n_estimators=15, max_depth=5, ccp_alpha=price, learning_rate=0.3)
    ours = tenfold.GradientBoostingRegressor(**settings).fit(X, y, w if weighted else None)
    other = theirs.GradientBoostingRegressor(**settings).fit(X, y, w if weighted else None)
    leaves = [tree.get_n_leaves() for tree in other.estimators_[:, 0]]
    assert [int(ours._trees[t].leaves().sum()) for t in range(15)] == leaves
    assert max(leaves) < 32
    np.testing.assert_allclose(ours.train_score_, other.train_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-6, atol=1e-6)
    weight = np.concatenate([tree.tree_.weighted_n_node_samples[:1] for tree in other.estimators_[:, 0]])
    np.testing.assert_allclose(ours._trees.weighted_n_node_samples[ours._trees.first[:-1]], weight, rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "value"),
    [("absolute_error", np.median), ("quantile", lambda here: np.quantile(here, 0.8, method="averaged_inverted_cdf"))],
)
def test_leaves_of_pruned_trees_suit_their_rows(loss: str, value: Any) -> None:
    X, y, _ = table()
    settings: dict[str, Any] = dict(loss=loss, alpha=0.8, n_estimators=1, learning_rate=1.0, max_depth=4)
    model = tenfold.GradientBoostingRegressor(ccp_alpha=0.02, **settings).fit(X, y)
    leaf = model.apply(X)[:, 0]
    assert 1 < len(np.unique(leaf)) < len(np.unique(tenfold.GradientBoostingRegressor(**settings).fit(X, y).apply(X)))
    for one in np.unique(leaf):
        np.testing.assert_allclose(model.predict(X[leaf == one]), value(y[leaf == one]), rtol=1e-12)


@pytest.mark.parametrize("loss", ["huber", "squared_error"])
def test_a_price_that_nothing_is_worth_changes_nothing_else(loss: str) -> None:
    X, y, w = table()
    plain = tenfold.GradientBoostingRegressor(loss=loss, n_estimators=8, subsample=0.7, random_state=0).fit(X, y, w)
    priced = tenfold.GradientBoostingRegressor(
        loss=loss, n_estimators=8, subsample=0.7, random_state=0, ccp_alpha=1e-12
    ).fit(X, y, w)
    np.testing.assert_allclose(priced.predict(X), plain.predict(X), rtol=1e-12)
    np.testing.assert_allclose(priced.oob_scores_, plain.oob_scores_, rtol=1e-12)
    assert np.array_equal(priced._trees.n_node_samples, plain._trees.n_node_samples)


def test_classes_and_a_price_above_all_gains() -> None:
    X, y, _ = table()
    label = np.digitize(y, [0.0, 0.8])
    leaves = [
        int(tenfold.GradientBoostingClassifier(n_estimators=5, ccp_alpha=price).fit(X, label)._trees.leaves().sum())
        for price in (0.0, 0.02, 0.1, 1e6)
    ]
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[0] > leaves[1] > leaves[2] > leaves[3] == 15
    model = tenfold.GradientBoostingClassifier(n_estimators=5, ccp_alpha=1e6).fit(X, label)
    assert np.array_equal(model.feature_importances_, np.zeros(3))
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.bincount(label) / len(label), rtol=1e-9)


def test_threads_and_order_change_no_bit() -> None:
    X, y, w = table()
    order = np.random.default_rng(0).permutation(len(y))
    model = tenfold.GradientBoostingRegressor(n_estimators=6, ccp_alpha=5e-3, loss="huber")
    with tenfold.threads(1):
        first = model.fit(X, y, w).predict(X)
    with tenfold.threads(3):
        assert np.array_equal(model.fit(X[order], y[order], w[order]).predict(X), first)
