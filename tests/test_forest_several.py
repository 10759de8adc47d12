"""Forests of several targets, and on sparse tables; what users of scikit-learn ask of a forest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn.ensemble
import sklearn.tree
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score

import tenfold
from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadInput, BadParameter, DataWarning

KINDS = ["RandomForest", "ExtraTrees"]


def rows(n: int = 400) -> tuple[Any, Any, Any]:
    """Few values in each column, so that every value has a bin; two targets of numbers, and two of classes."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n, 5)), 1)
    numbers = np.column_stack([X[:, 0] * X[:, 1], 10 * X[:, 2]]) + rng.normal(size=(n, 2))
    labels = np.column_stack([np.digitize(numbers[:, 0], [-1, 1]) * 2, numbers[:, 1] > 0]).astype(int)
    return X, numbers, labels


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "gini", "entropy"])
def test_a_tree_of_all_rows_is_that_of_scikit_learn(criterion: str, weighted: bool) -> None:
    X, numbers, labels = rows()
    kind = "Classifier" if criterion in ("gini", "entropy") else "Regressor"
    y = labels if kind == "Classifier" else np.exp(numbers / 10) if criterion == "poisson" else numbers
    w = np.random.default_rng(1).random(len(X)) + 0.1 if weighted else None
    limits: dict[str, Any] = dict(criterion=criterion, max_depth=3, random_state=0)
    theirs = getattr(sklearn.tree, f"DecisionTree{kind}")(**limits).fit(X, y, w)
    ours = getattr(tenfold, f"RandomForest{kind}")(1, bootstrap=False, max_features=None, **limits).fit(X, y, w)
    tree = ours.estimators_[0].tree_
    np.testing.assert_array_equal(tree.feature, theirs.tree_.feature)
    np.testing.assert_allclose(tree.value, theirs.tree_.value, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(tree.impurity, theirs.tree_.impurity, rtol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_several_targets(kind: str, tmp_path: Path) -> None:
    X, _, labels = rows()
    model = getattr(tenfold, f"{kind}Classifier")(20, bootstrap=True, random_state=0).fit(X, labels)
    assert [own.tolist() for own in model.classes_] == [[0, 2, 4], [0, 1]] and model.n_classes_ == [3, 2] and model.n_outputs_ == 2
    shares = model.predict_proba(X)
    assert [part.shape for part in shares] == [(400, 3), (400, 2)]
    for k, part in enumerate(shares):
        np.testing.assert_allclose(part.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_array_equal(model.predict(X)[:, k], model.classes_[k][part.argmax(axis=1)])
        trees = [member.predict_proba(X)[k] for member in model]
        np.testing.assert_allclose(np.mean(trees, axis=0), part, rtol=1e-12)
    assert model.oob_decision_function_.shape == (400, 3, 2) and 0.4 < model.oob_score_ < model.score(X, labels)
    assert model.oob_importance(X, labels).importances_mean[2] > 0.05
    tenfold.save(model, tmp_path / "several")
    again = tenfold.load(tmp_path / "several")
    assert all(np.array_equal(one, two) for one, two in zip(again.predict_proba(X), shares, strict=True))
    text = np.array([["a", "bb", "c"], ["no", "yes", ""]], dtype=object)
    named = np.column_stack([text[0][labels[:, 0] // 2], text[1][labels[:, 1]]])
    said = fresh(model).fit(X, named).predict(X)
    np.testing.assert_array_equal(said[:, 1], text[1][model.predict(X)[:, 1]])
    shallow = fresh(model).set_params(max_depth=2)
    heavy = fresh(shallow).set_params(class_weight=[{0: 1, 2: 9, 4: 1}, {0: 1, 1: 1}]).fit(X, labels)
    assert heavy.predict_proba(X)[0][:, 1].mean() > shallow.fit(X, labels).predict_proba(X)[0][:, 1].mean() + 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_quality_is_that_of_scikit_learn(kind: str) -> None:
    X, numbers, _ = rows(1500)
    train, test = slice(0, 1000), slice(1000, None)
    scores = [
        getattr(module, f"{kind}Regressor")(60, random_state=0).fit(X[train], numbers[train]).score(X[test], numbers[test])
        for module in (tenfold, sklearn.ensemble)
    ]
    assert scores[0] > scores[1] - 0.03
    X, labels = make_multilabel_classification(1500, n_classes=4, random_state=0)
    scores = [
        getattr(module, f"{kind}Classifier")(60, random_state=0).fit(X[train], labels[train]).score(X[test], labels[test])
        for module in (tenfold, sklearn.ensemble)
    ]
    assert scores[0] > scores[1] - 0.05


@pytest.mark.parametrize("container", ["csr_matrix", "csc_array", "coo_matrix"])
@pytest.mark.parametrize("name", ["RandomForestRegressor", "ExtraTreesClassifier"])
def test_sparse_tables_are_the_same_tables(name: str, container: str) -> None:
    X, numbers, labels = rows()
    X[np.abs(X) < 1] = 0
    X[3, 2] = np.nan
    y = labels[:, 0] if name.endswith("Classifier") else numbers
    sparse = getattr(scipy.sparse, container)(X)
    model = getattr(tenfold, name)(10, random_state=0)
    one, two = fresh(model).fit(X, y), fresh(model).fit(sparse, y)
    np.testing.assert_array_equal(two.predict(sparse), one.predict(X))
    np.testing.assert_array_equal(two.apply(sparse), one.apply(X))
    np.testing.assert_array_equal(two.decision_path(sparse)[0].toarray(), one.decision_path(X)[0].toarray())
    np.testing.assert_array_equal(two.estimators_[1].predict(sparse), one.estimators_[1].predict(X))
    assert two.score(sparse, y) == one.score(X, y)


def test_the_bins_of_a_long_sparse_table() -> None:
    """More rows than are looked at for bins; an entry that is stored twice is the sum of both."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(120_000, 3, 0.3, format="csr", random_state=0)
    y = np.asarray(X[:, [0]].toarray()[:, 0] + rng.normal(size=120_000) > 0.5)
    model = tenfold.ExtraTreesClassifier(2, max_depth=4, random_state=0)
    one, two = fresh(model).fit(X.toarray(), y), fresh(model).fit(X, y)
    np.testing.assert_array_equal(two.trees_.threshold, one.trees_.threshold)
    twice = scipy.sparse.csr_matrix((np.ones(4), [0, 0, 1, 1], [0, 2, 2, 4]), shape=(3, 2))
    again = tenfold.RandomForestRegressor(1, bootstrap=False).fit(twice, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(again.predict(twice.toarray()), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesRegressor"])
def test_a_forest_is_a_sequence_of_its_trees(name: str) -> None:
    X, _, labels = rows(100)
    model = getattr(tenfold, name)(4, min_impurity_decrease=0.01, max_depth=3, random_state=0)
    assert bool(model) and model.estimator.max_depth == 3
    assert model.estimator.splitter == ("best" if name.startswith("Random") else "random")
    model.fit(X, labels[:, 0])
    assert len(model) == 4 == len(list(model)) and type(model[0]) is type(model.estimator_)
    np.testing.assert_array_equal(model[1].predict(X), model.estimators_[1].predict(X))
    assert [one.min_impurity_decrease for one in model] == [0.01] * 4 and len({one.random_state for one in model}) == 4


def test_what_is_asked_of_rows_that_no_tree_has_left_out() -> None:
    X, numbers, labels = rows(60)
    with pytest.raises(BadParameter, match="only available if bootstrap=True"):
        tenfold.ExtraTreesRegressor(oob_score=True).fit(X, numbers)
    with pytest.warns(DataWarning, match="Some inputs do not have OOB scores"):
        tenfold.RandomForestRegressor(1, oob_score=True, random_state=0).fit(X, numbers)
    model = tenfold.RandomForestClassifier(40, oob_score=lambda y, said: f1_score(y, said, average="micro"), random_state=0)
    assert 0.5 < model.fit(X, labels[:, [1, 1]]).oob_score_ <= 1
    with pytest.raises(BadParameter, match="give a function"):
        model.set_params(oob_score="accuracy").fit(X, labels)
    drawn = tenfold.RandomForestRegressor(20, max_samples=2.0, random_state=0).fit(X, numbers)
    assert drawn.trees_.weighted_n_node_samples[drawn.trees_.first[:-1]].mean() == pytest.approx(120, rel=0.1)


def test_bad_input_of_several_targets() -> None:
    X, numbers, labels = rows(60)
    for model, y, words in (
        (tenfold.RandomForestRegressor(keep_targets=True), numbers, "is for one target, and y has 2 columns"),
        (tenfold.RandomForestRegressor(monotonic_cst=[1, 0, 0, 0, 0]), numbers, "not supported with multiple outputs"),
        (tenfold.RandomForestRegressor(criterion="poisson"), np.abs(numbers) * [1, 0], "Sum of y is not strictly positive"),
        (tenfold.RandomForestRegressor(criterion="poisson"), numbers, "Some value.s. of y are negative"),
        (tenfold.ExtraTreesClassifier(class_weight=[{0: 1.0}]), labels, "should match number of outputs"),
        (tenfold.RandomForestClassifier(), numbers, "continuous"),
        (tenfold.RandomForestRegressor(max_samples=5.0), numbers, "drawn 5 times"),
    ):
        with pytest.raises((BadInput, BadParameter), match=words):
            model.fit(X, y)
    model = tenfold.RandomForestClassifier(3, warm_start=True).fit(X, labels)
    with pytest.raises(BadInput, match="classes of y"):
        model.set_params(n_estimators=5).fit(X, labels[:, 0])
    assert len(model.set_params(n_estimators=5).fit(X, labels)) == 5


def test_several_labels_are_evaluated_by_the_ordinary_route() -> None:
    """As models of other libraries: folds and scores of the fast route are of one target."""
    X, _, labels = rows(120)
    model = tenfold.RandomForestClassifier(5, random_state=0)
    assert tenfold.cross_val_predict(model, X, labels).shape == labels.shape
    assert 0.2 < tenfold.cross_validate(model, X, labels.tolist()).mean < 1
    assert tenfold.GridSearchCV(model, {"max_depth": [1, 5]}).fit(X, labels).predict(X).shape == labels.shape
    assert tenfold.evaluate.permutation_importance(fresh(model).fit(X, labels), X, labels).importances_mean.argmax() == 2
    assert tenfold.evaluate.learning_curve(model, X, labels).test_mean.shape[0] > 2
    fitted = fresh(model).fit(X, labels)
    found = tenfold.evaluate.attributions(fitted, X)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), np.hstack(fitted.predict_proba(X)), rtol=0, atol=1e-12)
    explained = tenfold.evaluate.attributions(tenfold.RandomForestRegressor(5).fit(X, labels), X[:3])
    assert np.shape(explained.values) == (3, 5, 2)
