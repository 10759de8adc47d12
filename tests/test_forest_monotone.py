"""Forests with monotone columns: what they promise, in every tree and in their mean, and what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.ensemble

import tenfold
from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadParameter

Array = np.ndarray[Any, Any]
KINDS = ["RandomForest", "ExtraTrees"]
CASES = [
    ("Regressor", "squared_error"),
    ("Regressor", "absolute_error"),
    ("Regressor", "poisson"),
    ("Classifier", "gini"),
    ("Classifier", "entropy"),
]


def wavy(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Rises with column 0 and falls with column 1, but for waves; noise above both."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    return X, 4 * X[:, 0] + np.sin(20 * X[:, 0]) - 3 * X[:, 1] - np.sin(15 * X[:, 1]) + X[:, 2] + rng.normal(size=n)


def told(model: Any, X: Any) -> Array:
    """The prediction, or the probability of the second class."""
    return np.asarray(model.predict_proba(X)[:, 1] if hasattr(model, "classes_") else model.predict(X))


def steps(model: Any, rows: pandas.DataFrame, column: str) -> Array:
    """How the prediction changes along a column, the rest of each row as it is."""
    line = np.linspace(-0.1, 1.1, 25)
    grid = pandas.concat([rows.assign(**{column: value}) for value in line], ignore_index=True)
    return np.diff(told(model, grid).reshape(len(line), len(rows)), axis=0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("role, criterion", CASES)
def test_every_tree_and_their_mean_are_monotone(role: str, criterion: str, kind: str) -> None:
    """Beside blanks, categories and weights; whatever the limits, and after pruning."""
    X, y = wavy(500)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["e"] = np.array(["low", "mid", "top"])[rng.integers(0, 3, 500)]
    target = y > 1 if role == "Classifier" else y - y.min()
    rows = frame[:30]
    free = getattr(tenfold, kind + role)(5, criterion=criterion, bootstrap=True, random_state=0)
    bound = fresh(free).set_params(monotonic_cst=[1, -1, 0, 0, 0])
    free.fit(frame, target)
    assert (steps(free, rows, "a") < 0).any() and (steps(free, rows, "b") > 0).any()
    w = rng.random(500)
    ways = [
        (None, {}),
        (w, {}),
        (None, {"min_samples_leaf": 4}),
        (w, {"max_leaf_nodes": 20}),
        (w, {"ccp_alpha": 0.002}),
    ]
    for weight, limits in ways:
        model = fresh(bound).set_params(**limits).fit(frame, target, weight)
        for tree in model.estimators_[:2]:
            assert steps(tree, rows, "a").min() >= 0 >= steps(tree, rows, "b").max()
        rising, falling = steps(model, rows, "a"), steps(model, rows, "b")
        assert rising.min() >= -1e-12 and falling.max() <= 1e-12  # a mean is rounded
        assert rising.max() > 0 > falling.min()


@pytest.mark.parametrize("role", ["Regressor", "Classifier"])
@pytest.mark.parametrize("kind", KINDS)
def test_as_good_as_scikit_learn_under_the_same_constraint(kind: str, role: str) -> None:
    X, y = wavy(3000)
    target = y > np.median(y) if role == "Classifier" else y
    limits = dict(n_estimators=30, min_samples_leaf=3, monotonic_cst=[1, -1, 0, 0], random_state=0)
    ours = getattr(tenfold, kind + role)(**limits).fit(X[:1000], target[:1000])
    theirs = getattr(sklearn.ensemble, kind + role)(**limits).fit(X[:1000], target[:1000])
    assert ours.score(X[1000:], target[1000:]) > theirs.score(X[1000:], target[1000:]) - 0.02


def test_columns_without_a_direction_change_nothing() -> None:
    X, y = wavy(300)
    for kind in KINDS:
        model = getattr(tenfold, f"{kind}Regressor")(4, random_state=0)
        plain, zeros = model.fit(X, y).predict(X), fresh(model).set_params(monotonic_cst=[0] * 4).fit(X, y)
        np.testing.assert_array_equal(zeros.predict(X), plain)


def test_directions_by_name_and_by_sign() -> None:
    """A falling column is a rising one with its sign turned."""
    X, y = wavy(300)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = tenfold.RandomForestRegressor(4, random_state=0, monotonic_cst={"a": 1})
    said = model.fit(frame, y).predict(frame)
    np.testing.assert_array_equal(fresh(model).set_params(monotonic_cst=[1, 0, 0, 0]).fit(X, y).predict(X), said)
    one = tenfold.RandomForestRegressor(1, bootstrap=False, max_depth=3, random_state=0)
    rising = fresh(one).set_params(monotonic_cst=[1, 0, 0, 0]).fit(X, y).predict(X)
    turned = X * [-1, 1, 1, 1]
    falling = fresh(one).set_params(monotonic_cst=[-1, 0, 0, 0]).fit(turned, y).predict(turned)
    np.testing.assert_allclose(falling, rising, rtol=1e-12)


def test_one_class_has_nothing_to_order() -> None:
    X, _ = wavy(30)
    model = tenfold.RandomForestClassifier(2, monotonic_cst=[1, 0, 0, 0]).fit(X, np.zeros(30))
    assert (model.predict(X) == 0).all()


@pytest.mark.parametrize(
    "given, words",
    [
        ([1, 0], "has shape 2 but the input data X has 4 features"),
        ([2, 0, 0, 0], "array-like of -1, 0 or 1. .*Got"),
        (["up", 0, 0, 0], "array-like of -1, 0 or 1. .*Got"),
        ({"z": 1}, "was not fitted on data with feature names"),
    ],
)
def test_bad_directions(given: Any, words: str) -> None:
    X, y = wavy(60)
    for name, target in (("RandomForestRegressor", y), ("ExtraTreesClassifier", y > 0)):
        with pytest.raises(BadParameter, match=f"{name}.monotonic_cst=.*{words}"):
            getattr(tenfold, name)(2, monotonic_cst=given).fit(X, target)


def test_directions_need_an_order() -> None:
    X, y = wavy(60)
    with pytest.raises(BadParameter, match="two classes only"):
        tenfold.RandomForestClassifier(2, monotonic_cst=[1, 0, 0, 0]).fit(X, np.digitize(y, [0, 1]))
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(a=np.array(["x", "y"])[(y > 0).astype(int)])
    with pytest.raises(BadParameter, match="Categorical features cannot have monotonic constraints: give column 'a' 0"):
        tenfold.RandomForestRegressor(2, monotonic_cst=[1, 0, 0, 0]).fit(frame, y)
