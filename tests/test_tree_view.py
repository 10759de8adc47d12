"""`tree_`: the nodes of a tree under scikit-learn's names, with scikit-learn's trees as the oracle."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn.inspection
import sklearn.tree

import tenfold

Array = np.ndarray[Any, Any]
ARRAYS = (
    "children_left", "children_right", "feature", "threshold", "impurity", "n_node_samples", "weighted_n_node_samples", "value",
)  # fmt: skip
NUMBERS = ("node_count", "n_leaves", "max_depth", "n_outputs", "max_n_classes", "n_features")


def rows(n: int = 300) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 0.3 * rng.normal(size=n)
    return X, y, rng.integers(1, 4, n).astype(float)  # whole weights: theirs are not exact with others


def pair(kind: str, **params: Any) -> tuple[Any, Any, Array]:
    X, y, w = rows()
    target = np.digitize(y, [-1, 1]) if kind == "Classifier" else y
    X = X.astype(np.float32).astype(np.float64)  # theirs are float32
    ours = getattr(tenfold, f"DecisionTree{kind}")(min_samples_leaf=5, **params).fit(X, target, w)
    theirs = getattr(sklearn.tree, f"DecisionTree{kind}")(min_samples_leaf=5, random_state=0, **params).fit(X, target, w)
    return ours.tree_, theirs.tree_, X


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_arrays_and_sizes_are_those_of_scikit_learn(kind: str) -> None:
    ours, theirs, X = pair(kind)
    for name in NUMBERS:
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ARRAYS:
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.shape == other.shape, name
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12, err_msg=name)
    assert ours.n_classes.tolist() == theirs.n_classes.tolist() and ours.capacity >= ours.node_count
    table = X.astype(np.float32)
    np.testing.assert_allclose(ours.predict(table), theirs.predict(table), rtol=1e-9)
    np.testing.assert_array_equal(ours.apply(table), theirs.apply(table))
    assert (ours.decision_path(table) != theirs.decision_path(table)).nnz == 0
    for normalize in (True, False):
        mine, other = (one.compute_feature_importances(normalize=normalize) for one in (ours, theirs))
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("columns", [[0], [2, 0]])
def test_partial_dependence_is_that_of_scikit_learn(columns: list[int]) -> None:
    ours, theirs, _ = pair("Regressor")
    grid = np.random.default_rng(0).normal(size=(17, len(columns))).astype(np.float32)
    mine, other = np.zeros(17), np.zeros(17)
    ours.compute_partial_dependence(grid, np.array(columns), mine)
    theirs.compute_partial_dependence(grid, np.array(columns, dtype=np.intp), other)
    np.testing.assert_allclose(mine, other, rtol=1e-9)


def test_partial_dependence_over_all_columns_is_the_prediction() -> None:
    """With missing values and categories, where scikit-learn's trees cannot be asked."""
    X, y, w = rows()
    X[::7, 0], X[:, 3] = np.nan, np.random.default_rng(1).integers(0, 6, len(X))
    tree = tenfold.DecisionTreeRegressor(max_depth=6, categorical_features=[3]).fit(X, y + X[:, 3] % 2, w).tree_
    assert (tree.packed.subset >= 0).any()
    found = np.zeros(len(X))
    tree.compute_partial_dependence(X, np.arange(4), found)
    np.testing.assert_allclose(found, tree.predict(X)[:, 0], rtol=1e-12)


def test_pickle_and_the_trees_of_a_forest() -> None:
    X, y, _ = rows()
    forest = tenfold.RandomForestClassifier(3, random_state=0).fit(X, np.digitize(y, [-1, 1]))
    for member in forest.estimators_:
        tree = member.tree_
        again = pickle.loads(pickle.dumps(tree))
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(again, name), getattr(tree, name))
        assert tree.value.shape == (tree.node_count, 1, 3)
        np.testing.assert_allclose(tree.predict(X), member.predict_proba(X), rtol=1e-12)


def test_a_single_leaf() -> None:
    tree = tenfold.DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"]).tree_
    assert (tree.node_count, tree.max_depth, tree.n_leaves, tree.value.tolist()) == (1, 0, 1, [[[1.0]]])
    assert tree.compute_feature_importances(normalize=False).tolist() == [0.0]


@pytest.mark.parametrize("kind", ["DecisionTreeRegressor", "RandomForestRegressor", "HistGradientBoostingRegressor"])
def test_partial_dependence_by_recursion(kind: str) -> None:
    """The definition: the mean over the leaves, by weights of training rows at splits on other columns; near that over rows here."""
    X, y, _ = rows()
    settings = {"max_depth": 3, "min_samples_leaf": 20, **({} if kind.startswith("Decision") else {"random_state": 0})}
    model = getattr(tenfold, kind)(**settings).fit(X, y)
    found = tenfold.evaluate.partial_dependence(model, X, [0, 2], grid_resolution=5, method="recursion")
    brute = tenfold.evaluate.partial_dependence(model, X, [0, 2], grid_resolution=5)
    assert found.average.shape == brute.average.shape == (1, 5, 5)
    assert np.corrcoef(found.average.ravel(), brute.average.ravel())[0, 1] > 0.9  # columns are independent
    if kind.startswith("Decision"):
        theirs = sklearn.tree.DecisionTreeRegressor(max_depth=3, min_samples_leaf=20, random_state=0).fit(X, y)
        expected = sklearn.inspection.partial_dependence(theirs, X, [0, 2], grid_resolution=5, method="recursion")
        np.testing.assert_allclose(found.average, expected["average"], rtol=1e-6)


def test_recursion_for_classes() -> None:
    X, y, _ = rows()
    for target, outputs in ((y > 0, 1), (np.digitize(y, [-1, 1]), 3)):
        forest = tenfold.RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, target)
        found, brute = (tenfold.evaluate.partial_dependence(forest, X, 0, method=how) for how in ("recursion", "brute"))
        assert found.outputs == brute.outputs and found.average.shape == brute.average.shape == (outputs, 100)
        assert np.abs(found.average - brute.average).max() < 0.2
    boosted = tenfold.HistGradientBoostingClassifier(max_iter=5).fit(X, y > 0)
    assert tenfold.evaluate.partial_dependence(boosted, X, 0, method="recursion").outputs == ["log-odds"]


def test_recursion_needs_trees() -> None:
    X, y, w = rows()
    tree = tenfold.DecisionTreeRegressor(max_depth=2).fit(X, y)
    for bad, words in (
        (lambda: tenfold.evaluate.partial_dependence(tenfold.Ridge().fit(X, y), X, 0, method="recursion"), "not Ridge"),
        (lambda: tenfold.evaluate.partial_dependence(tree, X, 0, method="exact"), "method='exact'"),
        (lambda: tenfold.evaluate.partial_dependence(tree, X, 0, method="recursion", sample_weight=w), "knows no rows"),
    ):
        with pytest.raises(tenfold.BadParameter, match=words):
            bad()
