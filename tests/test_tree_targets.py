"""Single trees for several targets and for sparse tables, with scikit-learn's trees as the oracle."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn.tree

import tenfold
from tenfold.core.errors import BadInput, BadParameter

Array = np.ndarray[Any, Any]


def rows(n: int = 300) -> tuple[Array, Array, Array, Array]:
    """X, numbers (n, 3), labels (n, 3) with 3, 2 and 4 classes, whole weights: those of theirs are not exact."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(np.float64)
    noise = 0.4 * rng.normal(size=(n, 3))
    Y = np.column_stack([X[:, 0] + X[:, 1] ** 2, np.sin(3 * X[:, 2]), X[:, 3] * X[:, 0]]) + noise
    labels = np.column_stack([np.digitize(Y[:, 0], [0, 1]), Y[:, 1] > 0, np.digitize(Y[:, 2], [-1, 0, 1])])
    return X, Y, labels, rng.integers(1, 9, n).astype(float)


@pytest.mark.parametrize("params", [{}, {"max_leaf_nodes": 9}, {"ccp_alpha": 0.01}], ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
def test_scikit_learn_grows_the_same_tree_for_several_targets(criterion: str, params: dict[str, Any]) -> None:
    X, Y, labels, w = rows()
    kind = "Classifier" if criterion in ("gini", "entropy") else "Regressor"
    target = labels if kind == "Classifier" else np.exp(Y / 2) if criterion == "poisson" else Y
    settings = {"criterion": criterion, "min_samples_leaf": 10, **params}
    ours = getattr(tenfold, f"DecisionTree{kind}")(**settings).fit(X, target, w)
    theirs = getattr(sklearn.tree, f"DecisionTree{kind}")(random_state=0, **settings).fit(X, target, w)
    mine, other = ours.tree_, theirs.tree_
    assert (ours.n_outputs_, mine.n_outputs, mine.n_classes.tolist()) == (3, 3, other.n_classes.tolist())
    if "max_leaf_nodes" not in params:  # they number the nodes in another order
        for name in ("feature", "threshold", "impurity", "value", "weighted_n_node_samples"):
            np.testing.assert_allclose(getattr(mine, name), getattr(other, name), rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    np.testing.assert_allclose(ours.score(X, target, w), np.mean((ours.predict(X) == target).all(axis=1) @ w / w.sum())
                               if kind == "Classifier" else theirs.score(X, target, w), rtol=1e-9)  # fmt: skip
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-8)
    if kind == "Classifier":
        assert [len(one) for one in ours.classes_] == ours.n_classes_ == [3, 2, 4]
        for found, expected in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)
        assert len(ours.predict_log_proba(X)) == 3


def test_class_weights_of_several_targets_are_multiplied() -> None:
    X, _, labels, _ = rows()
    each = [{0: 1, 1: 2, 2: 3}, {0: 2, 1: 1}, {0: 1, 1: 1, 2: 4, 3: 2}]
    for given in (each, "balanced"):
        ours = tenfold.DecisionTreeClassifier(min_samples_leaf=10, class_weight=given).fit(X, labels)
        theirs = sklearn.tree.DecisionTreeClassifier(min_samples_leaf=10, class_weight=given, random_state=0).fit(X, labels)
        np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)
    with pytest.raises(BadParameter, match="number of elements in class_weight should match number of outputs"):
        tenfold.DecisionTreeClassifier(class_weight=each[:1]).fit(X, labels)


def test_one_column_is_one_target() -> None:
    X, Y, labels, _ = rows()
    tree = tenfold.DecisionTreeRegressor(max_depth=3).fit(X, Y[:, :1])
    np.testing.assert_array_equal(tree.predict(X), tenfold.DecisionTreeRegressor(max_depth=3).fit(X, Y[:, 0]).predict(X))
    two = tenfold.DecisionTreeClassifier(max_depth=3).fit(X, labels[:, [0, 0]])
    one = tenfold.DecisionTreeClassifier(max_depth=3).fit(X, labels[:, 0])
    np.testing.assert_array_equal(two.predict_proba(X)[1], one.predict_proba(X))


def test_files_pickles_words_and_pipelines(tmp_path: Path) -> None:
    X, Y, labels, _ = rows()
    text = np.array(["a", "b", "c", "d"], dtype=object)[labels]
    for model, target in (
        (tenfold.DecisionTreeClassifier(max_depth=2), text),
        (tenfold.DecisionTreeRegressor(max_depth=2), Y),
    ):
        model.fit(X, target)
        tenfold.save(model, tmp_path / "tree.tenfold")
        for again in (tenfold.load(tmp_path / "tree.tenfold"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert all(line.count(",") == 2 for line in model.rules())
        behind = tenfold.make_pipeline(tenfold.StandardScaler(), type(model)(max_depth=2)).fit(X, target)
        np.testing.assert_array_equal(behind.predict(X), model.predict(X))
        assert behind.score(X, target) == pytest.approx(model.score(X, target))
        cut = model.pruned("reduced_error", X[:50], target[:50])
        assert cut.get_n_leaves() <= model.get_n_leaves() and cut.predict(X).shape == (300, 3)


def test_a_class_without_weight_is_absent() -> None:
    X, _, labels, _ = rows()
    w = (labels[:, 2] != 3).astype(float)
    tree = tenfold.DecisionTreeClassifier(max_depth=3).fit(X, labels, w)
    assert tree.n_classes_ == [3, 2, 3] and not (tree.predict(X)[:, 2] == 3).any()


def test_what_several_targets_cannot_have() -> None:
    X, Y, labels, _ = rows()
    with pytest.raises(BadParameter, match="Monotonicity constraints are not supported with multiple outputs"):
        tenfold.DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0]).fit(X, Y)
    with pytest.raises(BadParameter, match="gain_ratio is for one target"):
        tenfold.DecisionTreeClassifier(criterion="gain_ratio").fit(X, labels)
    with pytest.raises(BadInput, match="inconsistent numbers of samples"):
        tenfold.DecisionTreeClassifier().fit(X, labels[1:])
    with pytest.raises(BadParameter, match="of one target"):
        tenfold.DecisionTreeClassifier().fit(X, labels).pruned("pessimistic")


def test_around_several_columns_of_labels() -> None:
    """Pipelines ask by blocks, attributions name all classes, evaluation takes the ordinary route."""
    X, _, labels, _ = rows()
    model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.DecisionTreeClassifier(max_depth=2)).fit(X, labels)
    many = np.tile(X, (500, 1))  # several blocks
    for found, few in zip(model.predict_proba(many), model.predict_proba(X), strict=True):
        np.testing.assert_array_equal(found, np.tile(few, (500, 1)))
    tree = tenfold.DecisionTreeClassifier(max_depth=2).fit(X, labels)
    said = tenfold.evaluate.attributions(tree, X[:5])
    expected = np.hstack(tree.predict_proba(X[:5]))
    np.testing.assert_allclose(said.base + said.values.sum(axis=1), expected, rtol=1e-9, atol=1e-12)
    assert tenfold.cross_val_score(tree, X, labels, cv=3).shape == (3,)
    assert tenfold.GridSearchCV(tree, {"max_depth": [1, 2]}, cv=3).fit(X, labels).predict(X).shape == (300, 3)


def test_trees_of_a_forest_have_its_settings() -> None:
    X, _, labels, _ = rows()
    forest = tenfold.RandomForestClassifier(2, criterion="entropy", max_depth=3, random_state=0).fit(X, labels[:, 0])
    assert {(one.criterion, one.max_depth, one.max_features) for one in forest.estimators_} == {("entropy", 3, "sqrt")}
    assert "entropy = " in tenfold.export_graphviz(forest.estimators_[0])


# --- sparse tables ---


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array", "coo_array"])
def test_sparse_tables_give_the_same_tree(form: str) -> None:
    X, Y, labels, w = rows()
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    sparse = getattr(scipy.sparse, form)(X)
    for model, target in ((tenfold.DecisionTreeClassifier(), labels[:, 2]), (tenfold.DecisionTreeRegressor(), Y)):
        dense = model.fit(X, target, w)
        expected, leaves, path = dense.predict(X), dense.apply(X), dense.decision_path(X)
        fitted = model.fit(sparse, target, w)
        np.testing.assert_array_equal(fitted.predict(sparse), expected)
        np.testing.assert_array_equal(fitted.apply(sparse), leaves)
        np.testing.assert_array_equal(fitted.tree_.apply(sparse), leaves)
        assert (fitted.decision_path(sparse) != path).nnz == 0
        assert fitted.score(sparse, target) == dense.score(X, target)
