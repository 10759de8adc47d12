"""Decision trees: scikit-learn's splits, pruning, words, categories and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.metrics
import sklearn.tree
from sklearn.datasets import load_breast_cancer

import tenfold
from tenfold.core.errors import BadInput, BadParameter

Array = np.ndarray[Any, Any]
LIMITS: list[dict[str, Any]] = [
    {"min_samples_leaf": 10},
    {"max_depth": 4, "min_samples_leaf": 5},
    {"min_weight_fraction_leaf": 0.02},
    {"min_impurity_decrease": 0.004, "min_samples_leaf": 5},
    {"min_samples_leaf": 10, "ccp_alpha": 0.003},
]


def table() -> tuple[Array, Array, Array, Array]:
    """float32, as scikit-learn makes of any table; random weights, so that no two splits are equal."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 5)).astype(np.float32)
    y = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(size=800)
    return X, y, np.digitize(y, [-1, 1]), rng.random(800) + 0.1


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
def test_scikit_learn_grows_the_same_tree(criterion: str, limits: dict[str, Any]) -> None:
    X, y, label, w = table()
    kind = "Classifier" if criterion in ("gini", "entropy") else "Regressor"
    target = label if kind == "Classifier" else np.exp(y / 3) if criterion == "poisson" else y
    ours = getattr(tenfold, f"DecisionTree{kind}")(criterion=criterion, **limits).fit(X, target, w)
    theirs = getattr(sklearn.tree, f"DecisionTree{kind}")(criterion=criterion, random_state=0, **limits)
    theirs.fit(X, target, w)
    tree, other = ours.tree_, theirs.tree_
    np.testing.assert_array_equal(tree.feature, other.feature)
    np.testing.assert_array_equal(tree.threshold, other.threshold)
    np.testing.assert_allclose(tree.value, other.value, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(tree.impurity, other.impurity, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    np.testing.assert_array_equal(ours.apply(X), theirs.apply(X))
    assert (ours.decision_path(X) != theirs.decision_path(X)).nnz == 0
    assert (ours.get_depth(), ours.get_n_leaves()) == (theirs.get_depth(), theirs.get_n_leaves())


def test_best_first_chooses_the_same_leaves() -> None:
    X, y, _, w = table()
    ours = tenfold.DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y, w)
    theirs = sklearn.tree.DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y, w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)


@pytest.mark.parametrize("how", ["balanced", {0: 2.0, 1: 0.5, 2: 1.0}])
def test_class_weights(how: Any) -> None:
    X, _, label, w = table()
    ours = tenfold.DecisionTreeClassifier(min_samples_leaf=20, class_weight=how).fit(X, label, w)
    totals = np.bincount(label)  # theirs counts rows, ours weight
    factor = len(label) / (3 * totals) if how == "balanced" else np.array([how[k] for k in range(3)])
    if how == "balanced":
        totals = np.bincount(label, w)
        factor = totals.sum() / (3 * totals)
    theirs = sklearn.tree.DecisionTreeClassifier(min_samples_leaf=20, random_state=0).fit(X, label, w * factor[label])
    np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-5)


# --- pruning ---


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_cost_complexity_path(kind: str) -> None:
    X, y, label, w = table()
    target = label if kind == "Classifier" else y
    ours = getattr(tenfold, f"DecisionTree{kind}")(min_samples_leaf=10)
    theirs = getattr(sklearn.tree, f"DecisionTree{kind}")(min_samples_leaf=10, random_state=0)
    path, expected = (one.cost_complexity_pruning_path(X, target, w) for one in (ours, theirs))
    np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(path.impurities, expected.impurities, rtol=1e-9)


def test_all_penalties_from_one_tree() -> None:
    X, y, _, w = table()
    model = tenfold.DecisionTreeRegressor(min_samples_leaf=5)
    alphas = [0.0, 0.003, 0.02, 10.0]
    from tenfold.base import check

    fits = model._fit_path(check.check_fit(model, X, y, w), "ccp_alpha", alphas)
    for alpha, fitted in zip(alphas, fits, strict=True):
        alone = tenfold.DecisionTreeRegressor(min_samples_leaf=5, ccp_alpha=alpha).fit(X, y, w)
        assert fitted.ccp_alpha == alpha
        np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))
    assert fits[-1].get_n_leaves() == 1


def smallest_error(model: Any, error: Any) -> float:
    """The least error of any pruned tree, by trying both at every node."""
    tree = model.tree_

    def best(node: int) -> float:
        own = error(node)
        if tree.children_left[node] < 0:
            return own
        return min(own, best(int(tree.children_left[node])) + best(int(tree.children_right[node])))

    return best(0)


def test_reduced_error_pruning_is_the_best_subtree_on_the_rows_held_out() -> None:
    X, y, label, _ = table()
    for model, target in ((tenfold.DecisionTreeClassifier(), label), (tenfold.DecisionTreeRegressor(), y)):
        model.fit(X[:500], target[:500])
        held, truth = X[500:], target[500:]
        pruned = model.pruned("reduced_error", held, truth)
        passes = model.decision_path(held).toarray().astype(bool)

        def error(node: int, model: Any = model, truth: Array = truth, passes: Array = passes) -> float:
            rows = truth[passes[:, node]]
            value = model.tree_.value[node, 0]
            return float((rows != value.argmax()).sum() if len(value) > 1 else ((rows - value[0]) ** 2).sum())

        wrong = pruned.predict(held) != truth if model.tree_.max_n_classes > 1 else (pruned.predict(held) - truth) ** 2
        np.testing.assert_allclose(wrong.sum(), smallest_error(model, error), rtol=1e-5)
        assert 1 < pruned.get_n_leaves() < model.get_n_leaves()
        assert model.get_n_leaves() > 100, "the tree itself is not changed"


def test_pessimistic_pruning() -> None:
    """Quinlan's example: limits of 0 errors of 6, 0 of 9 and 0 of 1 rows at 25 % add up to more than 1 of 16."""
    from tenfold.tree.structure.prune import upper_error

    limits = upper_error(np.array([0.0, 0, 0, 1]), np.array([6.0, 9, 1, 16]), 0.25)
    np.testing.assert_allclose(limits / [6, 9, 1, 16], [0.206, 0.143, 0.75, 0.157], rtol=0, atol=3e-3)
    assert limits[:3].sum() > limits[3]
    X, _, label, _ = table()
    model = tenfold.DecisionTreeClassifier().fit(X[:500], label[:500])
    pruned = model.pruned("pessimistic")
    assert pruned.get_n_leaves() < 0.9 * model.get_n_leaves()
    assert model.pruned("pessimistic", confidence=0.01).get_n_leaves() < pruned.get_n_leaves()
    for how in ("hard", "pessimistic"):
        with pytest.raises(BadParameter, match="must be 'reduced_error'"):
            tenfold.DecisionTreeRegressor().fit(X, label).pruned(how)
    with pytest.raises(BadInput, match="give X and y"):
        model.pruned("reduced_error")


# --- words, categories, missing values ---


def test_text_and_rules() -> None:
    frame = pandas.DataFrame({"size": [1.0, 2.0, 3.0, 4.0, np.nan], "colour": ["red", "blue", "red", "green", "red"]})
    model = tenfold.DecisionTreeClassifier().fit(frame, ["a", "b", "a", "c", "a"])
    assert model.export_text().splitlines() == [
        "colour in {blue, green}",
        "|   size <= 3.00: b (1)",
        "|   size > 3.00 or missing: c (1)",
        "colour not in {blue, green}: a (3)",
    ]
    assert model.rules() == [
        "if colour in {blue, green} and size <= 3.00 then b (1)",
        "if colour in {blue, green} and (size > 3.00 or missing) then c (1)",
        "if colour not in {blue, green} then a (3)",
    ]
    blank = tenfold.DecisionTreeRegressor().fit([[1.0], [2.0], [np.nan]], [0.0, 0.0, 9.0])
    assert blank.rules(decimals=1) == ["if x0 is known then 0.0 (2)", "if x0 is missing then 9.0 (1)"]
    assert blank.predict([[5.0], [np.nan]]).tolist() == [0.0, 9.0]
    X, y, _, _ = table()
    deep = tenfold.DecisionTreeRegressor().fit(X, y)
    assert "..." in deep.export_text(max_depth=2) and len(deep.rules()) == deep.get_n_leaves()


def test_categories_are_split_as_sets() -> None:
    rng = np.random.default_rng(1)
    level = rng.integers(0, 200, 4000)
    effect = rng.permutation(200) % 2
    frame = pandas.DataFrame(
        {"level": pandas.Categorical([f"v{i:03d}" for i in level]), "noise": rng.normal(size=4000)}
    )
    model = tenfold.DecisionTreeRegressor(max_depth=1).fit(frame, effect[level].astype(float))
    np.testing.assert_array_equal(model.predict(frame), effect[level])
    unseen = pandas.DataFrame({"level": ["never", None], "noise": [0.0, 0.0]})
    assert np.isfinite(model.predict(unseen)).all()


def test_many_categories_one_value_and_all_missing() -> None:
    rng = np.random.default_rng(2)
    X = np.column_stack(
        [np.arange(20_000.0) % 10_000, np.full(20_000, 3.0), np.full(20_000, np.nan), rng.random(20_000)]
    )
    model = tenfold.DecisionTreeClassifier(max_depth=3, categorical_features=[0]).fit(X, X[:, 3] > 0.5)
    assert model.score(X, X[:, 3] > 0.5) == 1.0
    assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0, 1.0]


def test_real_rows_are_learned_by_heart() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert tenfold.DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"min_samples_split": 1}, "min_samples_split=1"),
        ({"min_samples_leaf": 1.5}, "a share of the rows"),
        ({"max_features": 1.5}, "max_features=1.5"),
        ({"monotonic_cst": [1, 0]}, "has shape 2 but the input data X has 5 features"),
        ({"monotonic_cst": [1, 0, 0, 0, 0]}, "two classes"),
        ({"class_weight": {0: -1.0}}, "class_weight"),
    ],
)
def test_bad_parameters(wrong: dict[str, Any], words: str) -> None:
    X, _, label, _ = table()
    with pytest.raises(BadParameter, match=words):
        tenfold.DecisionTreeClassifier(**wrong).fit(X, label)


@pytest.mark.parametrize("kind", [tenfold.DecisionTreeClassifier, tenfold.RandomForestClassifier, sklearn.tree.DecisionTreeClassifier])
def test_log_loss_of_pure_leaves_is_clipped_in_cross_validation_as_elsewhere(kind: Any) -> None:
    """A row in a pure leaf of another class costs -log of the rounding of 1, 36, by name as by function; not 690."""
    X, _, label, _ = table()
    X = X.astype(np.float64)  # probabilities of float32 rows are float32, and clipped where those end
    model = kind(random_state=0).set_params(**({"n_estimators": 5} if "Forest" in kind.__name__ else {}))
    folds = [(np.arange(400), np.arange(400, 800)), (np.arange(400, 800), np.arange(400))]
    found = tenfold.cross_val_score(model, X, label, scoring="neg_log_loss", cv=folds)
    each = [(train, test, kind(**model.get_params()).fit(X[train], label[train])) for train, test in folds]
    expected = [-sklearn.metrics.log_loss(label[test], fitted.predict_proba(X[test])) for _, test, fitted in each]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_counts_must_not_be_negative() -> None:
    with pytest.raises(BadInput, match="negative which is not allowed for Poisson"):
        tenfold.DecisionTreeRegressor(criterion="poisson").fit([[1.0], [2.0]], [-1.0, 2.0])
