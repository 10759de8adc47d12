"""Attributions to the columns: they add up to what models say; the values themselves are held to their definition in
test_native_attribution.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine

import tenfold
from tenfold.core.errors import BadInput, BadType
from tenfold.evaluate import attributions

DIABETES, IRIS = load_diabetes(return_X_y=True), load_iris(return_X_y=True)


@pytest.mark.parametrize("background", [None, DIABETES[0][:20]])
def test_a_regression_tree_is_explained(background: Any) -> None:
    X, y = DIABETES
    model = tenfold.DecisionTreeRegressor(max_depth=5).fit(X, y)
    found = attributions(model, X[:50], background)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict(X[:50]), rtol=1e-10)
    start = y.mean() if background is None else model.predict(background).mean()
    np.testing.assert_allclose(found.base, start, rtol=1e-10)
    unused = np.setdiff1d(np.arange(10), model.tree_.feature)
    assert np.all(found.values[:, unused] == 0)


def test_classes_are_explained_in_probabilities() -> None:
    X, y = IRIS
    model = tenfold.DecisionTreeClassifier(max_depth=3).fit(X, y)
    found = attributions(model, X)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict_proba(X), rtol=0, atol=1e-12)
    one = found.of_class(2)
    np.testing.assert_allclose(one.base + one.values.sum(axis=1), model.predict_proba(X)[:, 2], rtol=0, atol=1e-12)
    two = attributions(tenfold.DecisionTreeClassifier(max_depth=3).fit(X[:100], y[:100]), X[:9])
    assert two.values.shape == (9, 4) and two.unit == "probability of 1"
    with pytest.raises(BadInput, match="no class 7"):
        found.of_class(7)


@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees", "HistGradientBoosting", "GradientBoosting"])
def test_forests_and_boosted_trees_are_explained(name: str) -> None:
    size = {"max_iter" if name.startswith("Hist") else "n_estimators": 7, "random_state": 0}
    X, y = IRIS
    model = getattr(tenfold, f"{name}Classifier")(**size).fit(X, y)
    found = attributions(model, X[::10], X[::30])
    outputs = model.decision_function(X[::10]) if "Boosting" in name else model.predict_proba(X[::10])
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), outputs, rtol=0, atol=1e-10)
    X, y = DIABETES
    model = getattr(tenfold, f"{name}Regressor")(**size).fit(X, y)
    found = attributions(model, X[:20])
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict(X[:20]), rtol=1e-10)


def test_names_and_the_order_of_importance_are_printed() -> None:
    pandas = pytest.importorskip("pandas")
    wine = load_wine()
    X = pandas.DataFrame(wine.data, columns=wine.feature_names)
    found = attributions(tenfold.DecisionTreeClassifier(max_depth=4).fit(X, wine.target), X)
    lines = str(found).splitlines()
    sizes = [float(line.split()[-1]) for line in lines[1:]]
    assert sizes == sorted(sizes, reverse=True) and lines[1].split()[0] in wine.feature_names


def test_what_cannot_be_explained_is_told() -> None:
    X, y = DIABETES
    with pytest.raises(BadType, match="neither made of trees nor a sum over its columns"):
        attributions(tenfold.QuadraticDiscriminantAnalysis().fit(X, y > y.mean()), X)
    with pytest.raises(BadType, match="KMeans predicts no target"):
        attributions(tenfold.KMeans(2).fit(X), X)
    model = tenfold.DecisionTreeRegressor(max_depth=2).fit(X, y)
    with pytest.raises(BadInput, match="features"):
        attributions(model, X[:, :3])
    with pytest.raises(BadInput, match="features"):
        attributions(model, X[:5], X[:, :3])
    with pytest.raises(tenfold.NotFitted):
        attributions(tenfold.DecisionTreeRegressor(), X)


def test_sums_over_columns_have_exact_values() -> None:
    """Of a linear model: coefficient times (value − mean); of all: what is left out is right in sum, and zero on average."""
    X, y = DIABETES
    ridge = tenfold.Ridge().fit(X, y)
    found = attributions(ridge, X, X[:50])
    np.testing.assert_allclose(found.values, ridge.coef_ * (X - X[:50].mean(axis=0)), rtol=0, atol=1e-9)
    three = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    front = tenfold.StandardScaler()
    for model in [
        tenfold.GaussianNB(),
        tenfold.make_pipeline(front, tenfold.LogisticRegression()),
        tenfold.NearestCentroid(),
    ]:
        for target in (three, three > 0):
            scores = model.fit(X, target)._scores(X)
            found = attributions(model, X)
            wanted = (
                scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores - scores.mean(axis=1, keepdims=True)
            )
            np.testing.assert_allclose(found.base + found.values.sum(axis=1), wanted, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(found.values.mean(axis=0), 0, atol=1e-9)


def test_pictures_show_the_values() -> None:
    X, y = DIABETES
    found = attributions(tenfold.DecisionTreeRegressor(max_depth=4).fit(X, y), X)
    ax = found.plot()
    order = np.argsort(-found.importances, kind="stable")
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"x{j}" for j in order]
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], found.values[:, order[0]], rtol=1e-12)
    ax = found.plot(row=3)
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(ends[-1], found.base + found.values[3].sum(), rtol=1e-12)
    classes = attributions(tenfold.DecisionTreeClassifier(max_depth=3).fit(*IRIS), IRIS[0])
    assert len(classes.plot().patches) == 3 * 4
    with pytest.raises(BadInput, match="choose a class first"):
        classes.plot(row=0)
    with pytest.raises(BadInput, match="no row 999"):
        found.plot(row=999)


def test_a_tree_is_drawn_as_far_as_asked() -> None:
    X, y = IRIS
    model = tenfold.DecisionTreeClassifier(max_depth=4).fit(X, y)
    texts = [text.get_text() for text in tenfold.draw.draw_tree(model, max_depth=1).texts]
    root, column = model.tree_, int(model.tree_.feature[0])
    assert (
        texts[0] == f"0 (50 of 150)\nx{column}"
        and f"<= {root.threshold[0]:.3g}" in texts
        and "1 (50 of 100)\n..." in texts
    )
    assert len(texts) == 3 + 2
    leaves = model.get_n_leaves()
    whole = tenfold.draw.draw_tree(model, max_depth=9)
    assert sum(text.get_text().count("(") for text in whole.texts) == 2 * leaves - 1
    many = tenfold.draw.draw_tree(tenfold.ID3Classifier(max_depth=1).fit(X, y))
    assert len(many.lines) >= 3  # as many branches as there are intervals
    with pytest.raises(BadType, match="not a single tree"):
        tenfold.draw.draw_tree(tenfold.Ridge())
    with pytest.raises(tenfold.NotFitted):
        tenfold.draw.draw_tree(tenfold.DecisionTreeClassifier())
