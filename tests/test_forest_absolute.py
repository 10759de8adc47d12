"""Forests about medians: criterion="absolute_error"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree

import tenfold
from tenfold.base.sklearn_api import fresh

Array = np.ndarray[Any, Any]


def truth(X: Array) -> Array:
    return np.asarray(5 * X[:, 0] + np.sin(9 * X[:, 1]))


def rows(n: int, seed: int = 0, digits: int = 2) -> tuple[Array, Array]:
    """Few different values, so that each has a bin; wild noise now and then."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.random((n, 5)), digits)
    return X, truth(X) + 0.3 * rng.standard_t(1.5, size=n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "friedman_mse", "poisson"])
def test_a_tree_of_all_rows_and_columns_is_the_exact_tree(criterion: str, weighted: bool) -> None:
    """Where every value has a bin: as one tree grown alone, and as scikit-learn's."""
    X, y = rows(600)
    y = np.abs(y) if criterion == "poisson" else y
    w = np.random.default_rng(1).random(600) + 0.5 if weighted else None
    limits = dict(max_depth=4, min_samples_leaf=10, criterion=criterion)
    forest = tenfold.RandomForestRegressor(1, bootstrap=False, max_features=None, **limits).fit(X, y, w)
    alone = tenfold.DecisionTreeRegressor(**limits).fit(X, y, w)
    if criterion == "friedman_mse":  # of the same squared errors another rule there
        limits["criterion"] = "squared_error"
    theirs = sklearn.tree.DecisionTreeRegressor(**limits, random_state=0).fit(X, y, w)
    np.testing.assert_allclose(forest.predict(X), alone.predict(X), rtol=1e-9)
    equal = np.isclose(forest.predict(X), theirs.predict(X), rtol=1e-6, atol=0)
    assert equal.mean() > 0.99  # of equal splits another one may be taken there
    np.testing.assert_allclose(forest.feature_importances_, alone.feature_importances_, rtol=1e-6)
    np.testing.assert_allclose(forest.trees_.impurity[0], theirs.tree_.impurity[0], rtol=1e-6)


@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_as_good_as_scikit_learn(kind: str) -> None:
    """On rows not seen, without their noise; and better than means where the noise is wild."""
    X, y = rows(1500, digits=9)
    limits = dict(n_estimators=20, min_samples_leaf=3, random_state=0)

    def error(model: Any) -> float:
        return float(np.abs(model.fit(X[:500], y[:500]).predict(X[500:]) - truth(X[500:])).mean())

    ours = error(getattr(tenfold, f"{kind}Regressor")(criterion="absolute_error", **limits))
    assert ours < 1.12 * error(getattr(sklearn.ensemble, f"{kind}Regressor")(criterion="absolute_error", **limits))
    assert ours < error(getattr(tenfold, f"{kind}Regressor")(**limits))


@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_all_that_forests_tell(kind: str) -> None:
    """The same forest on any threads, in parts, from copies; out of bag; quantiles; blanks and equal targets."""
    X, y = rows(300)
    y, X[::9, 0] = np.round(y), np.nan
    w = np.random.default_rng(3).integers(1, 4, 300)
    model = getattr(tenfold, f"{kind}Regressor")(
        6, criterion="absolute_error", bootstrap=True, min_weight_fraction_leaf=0.01, keep_targets=True, random_state=0
    )
    with tenfold.threads(1):
        said = model.fit(X, y, w).predict(X)
    assert set(np.unique(model.trees_.value * 2 % 1)) == {0.0}  # medians of whole numbers
    assert model.oob_score_ > 0 and np.isfinite(model.oob_prediction_).mean() > 0.5
    assert model.feature_importances_[0] > 0.3
    assert model.oob_importance(X, y, w).importances_mean.argmax() == 0
    assert (np.diff(model.predict_quantiles(X, [0.1, 0.5, 0.9]), axis=1) >= 0).all()
    for threads in (2, 5):
        with tenfold.threads(threads):
            np.testing.assert_array_equal(fresh(model).fit(X, y, w).predict(X), said)
    parts = fresh(model).set_params(n_estimators=2, warm_start=True).fit(X, y, w)
    np.testing.assert_array_equal(parts.set_params(n_estimators=6).fit(X, y, w).predict(X), said)
    order = np.random.default_rng(4).permutation(300)
    np.testing.assert_array_equal(fresh(model).fit(X[order], y[order], w[order]).predict(X), said)
    X, y, w = X[:200], y[:200], w[:200]  # where no rows are drawn, a whole weight is so many copies
    model.set_params(bootstrap=False, max_features=1)
    said, copies = model.fit(X, y, w).predict(X), fresh(model).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    known = ~np.isnan(X[:, 0])  # blanks that a node has not seen go where more rows go
    np.testing.assert_array_equal(copies.predict(X[known]), said[known])


def test_the_middle_of_two_and_of_unequal_weights() -> None:
    X, y = np.zeros((4, 1)), np.array([1.0, 2.0, 10.0, 50.0])
    for w, median in (([1, 1, 1, 1], 6.0), ([1, 1, 3, 1], 10.0), ([1, 1, 2, 0], 6.0), ([0.5, 2.5, 0.5, 0.5], 2.0)):
        model = tenfold.RandomForestRegressor(1, bootstrap=False, criterion="absolute_error").fit(X, y, w)
        np.testing.assert_allclose(model.predict([[0.0]]), median, rtol=1e-15)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e60])
def test_targets_of_any_size(unit: float) -> None:
    X, y = rows(200)
    model = tenfold.RandomForestRegressor(2, criterion="absolute_error", bootstrap=False, random_state=0)
    np.testing.assert_allclose(fresh(model).fit(X, y * unit).predict(X), model.fit(X, y).predict(X) * unit, rtol=1e-9)
