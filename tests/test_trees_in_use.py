"""Trees, forests and boosting as other parts of the library meet them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tenfold
from tenfold.evaluate import accumulated_effects, cross_val_predict, partial_dependence

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
THREE = np.argsort(np.argsort(X[:, 0] + X[:, 1])) * 3 // 150
OTHER_UNITS = [  # decision_function is not in logarithms of probabilities
    (tenfold.AdaBoostClassifier(n_estimators=5), THREE),
    (tenfold.AdaBoostClassifier(n_estimators=5, algorithm="SAMME.R"), THREE),
    (tenfold.GradientBoostingClassifier(loss="exponential", n_estimators=5), THREE > 0),
]


@pytest.mark.parametrize(("model", "y"), OTHER_UNITS, ids=["samme", "samme.r", "exponential"])
def test_probabilities_are_those_of_predict_proba_everywhere(model, y):
    fitted = model.fit(X, y)
    found = partial_dependence(fitted, X, 0, grid_resolution=3)
    moved = X.copy()
    moved[:, 0] = found.grid_values[0][1]
    expected = fitted.predict_proba(moved).mean(axis=0)
    np.testing.assert_allclose(found.average[:, 1], expected if len(expected) > 2 else expected[1:], rtol=1e-12)
    even, odd = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    held_out = cross_val_predict(model, X, y, folds=[(even, odd), (odd, even)], method="predict_proba")
    np.testing.assert_allclose(held_out[odd], model.fit(X[even], y[even]).predict_proba(X[odd]), rtol=1e-12)


@pytest.mark.parametrize("name", ["AdaBoostClassifier", "AdaBoostRegressor"])
def test_a_seed_is_checked_where_nothing_is_drawn(name):
    with pytest.raises(ValueError, match="random_state='a'"):
        getattr(tenfold, name)(random_state="a").fit(X, THREE)


def with_blanks() -> pd.DataFrame:
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["kind"] = pd.Categorical(np.array(["u", "v", "w"])[np.arange(len(X)) % 3])
    return table.mask(np.random.default_rng(1).random(table.shape) < 0.2)


def test_dependence_on_columns_with_blanks_and_categories():
    table = with_blanks()
    model = tenfold.HistGradientBoostingRegressor(max_iter=5).fit(table, X[:, 0] + (table["kind"] == "u"))
    found = partial_dependence(model, table, "a", grid_resolution=4)
    known = table["a"].dropna()
    assert known.min() < found.grid_values[0][0] < found.grid_values[0][-1] < known.max()
    np.testing.assert_allclose(
        found.average[0, 2], model.predict(table.assign(a=found.grid_values[0][2])).mean(), rtol=1e-12
    )
    kinds = partial_dependence(model, table, ["kind", "a"], grid_resolution=4)
    assert kinds.grid_values[0].tolist() == ["u", "v", "w"] and kinds.average.shape == (1, 3, 4)
    alike = table.assign(kind=pd.Categorical(["v"] * len(table), categories=["u", "v", "w"]), a=kinds.grid_values[1][3])
    np.testing.assert_allclose(kinds.average[0, 1, 3], model.predict(alike).mean(), rtol=1e-12)
    two = partial_dependence(model, table, "kind", grid_resolution=2)
    assert two.grid_values[0].tolist() == sorted(table["kind"].value_counts().index[:2])
    for one in (found, kinds, two):
        one.plot().figure.canvas.draw()
    ax = two.plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == two.grid_values[0].tolist()
    assert ax.lines[0].get_linestyle() == "None", "a line between categories says that there is something between them"


def test_accumulated_effects_leave_out_rows_with_blanks():
    table = with_blanks()[["a", "b", "c"]].to_numpy()
    model = tenfold.HistGradientBoostingRegressor(max_iter=5).fit(table, X[:, 0])
    found, known = accumulated_effects(model, table, 0), table[~np.isnan(table[:, 0])]
    np.testing.assert_allclose(found.average, accumulated_effects(model, known, 0).average, rtol=1e-12)


WARM = [
    tenfold.RandomForestClassifier(3, random_state=0, warm_start=True),
    tenfold.BaggingClassifier(n_estimators=3, random_state=0, warm_start=True),
    tenfold.GradientBoostingClassifier(n_estimators=3, warm_start=True),
]


@pytest.mark.parametrize("model", WARM, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("table", "y", "words"),
    [
        (with_blanks().drop(columns="b"), THREE, "X has 3 columns, and the fit before had 4"),
        (with_blanks(), np.array(["x", "y", "z"])[THREE], "classes of y are not those"),
        (with_blanks(), THREE > 0, "classes of y are not those"),
        (with_blanks().replace({"kind": {"u": None}}), THREE, "column 'kind' has other categories"),
    ],
    ids=["columns", "names", "fewer classes", "categories"],
)
def test_a_warm_start_with_another_table_is_refused(model, table, y, words):
    model.set_params(n_estimators=3, warm_start=False).fit(with_blanks(), THREE)
    model.set_params(n_estimators=4, warm_start=True)
    with pytest.raises(ValueError, match=words):
        model.fit(table, y)
    assert model.fit(with_blanks(), THREE).score(with_blanks(), THREE) > 0.5  # still there, and goes on


CLASSIFIERS = [
    "DecisionTreeClassifier",
    "RandomForestClassifier",
    "HistGradientBoostingClassifier",
    "LogisticRegression",
]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_weights_of_classes_that_are_not_there(name):
    y = np.where(THREE > 0, "yes", "no")
    with pytest.raises(ValueError, match=r"'Yes' is no class of y, and class 'no' has no weight"):
        getattr(tenfold, name)(class_weight={"Yes": 2.0}).fit(X, y)
    named = getattr(tenfold, name)(class_weight={"yes": 2.0, "no": 1.0, "maybe": 3.0}).fit(X, y)
    assert named.predict_proba(X)[:, 1].mean() > 0.5


def test_c45_is_not_led_astray_by_a_column_that_names_the_rows():
    table = pd.DataFrame({"name": [f"pair {i // 2}" for i in range(len(X))], "a": X[:, 0]})
    y = X[:, 0] + X[:, 1] > 0
    model = tenfold.C45Classifier(max_depth=1).fit(table, y)
    assert model.tree_.feature[0] == 1 and model.score(table, y) > 0.7
    names = tenfold.C45Classifier(prune=False).fit(table[["name"]], y)
    assert names.get_n_leaves() == len(X) // 2  # nothing else can be asked for


def test_forests_tell_the_ways_of_rows():
    forest = tenfold.RandomForestClassifier(4, random_state=0).fit(X, THREE)
    ways, first = forest.decision_path(X[:20])
    assert ways.shape == (20, first[-1]) and first.tolist() == forest.trees_.first.tolist()
    for t, tree in enumerate(forest.estimators_):
        np.testing.assert_array_equal(ways[:, first[t] : first[t + 1]].toarray(), tree.decision_path(X[:20]).toarray())
    whole = tenfold.DecisionTreeRegressor(max_depth=4).fit(X, X[:, 0])
    np.testing.assert_array_equal(whole.decision_path(X).sum(axis=0).A1, whole.tree_.n_node_samples)


@pytest.mark.parametrize("y", [THREE, THREE > 0, X[:, 0]], ids=["three", "two", "numbers"])
def test_boosted_trees_are_learners_that_add_up(y):
    kind = tenfold.GradientBoostingRegressor if y.dtype == float else tenfold.GradientBoostingClassifier
    model = kind(n_estimators=3).fit(X, y)
    trees = model.estimators_
    assert trees.shape == (3, len(model.baseline_)) and trees[0, 0].get_depth() <= 3
    sums = model.baseline_ + np.sum([[tree.predict(X) for tree in one] for one in trees], axis=0).T
    expected = model.predict(X) if y.dtype == float else model.decision_function(X)
    np.testing.assert_allclose(sums[:, 0] if expected.ndim == 1 else sums, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["DecisionTree", "RandomForest", "ExtraTrees", "Bagging", "AdaBoost", "GradientBoosting"]
)
def test_fitted_attributes_that_scripts_ask_for(name):
    assert getattr(tenfold, name + "Classifier")().fit(X, THREE).n_classes_ == 3
    if "Tree" in name or "Forest" in name:
        assert getattr(tenfold, name + "Regressor")().fit(X, X[:, 0]).n_outputs_ == 1


def test_which_columns_hold_categories():
    model = tenfold.HistGradientBoostingClassifier(max_iter=2)
    assert model.fit(with_blanks(), THREE).is_categorical_.tolist() == [False, False, False, True]
    assert model.fit(X, THREE).is_categorical_ is None


@pytest.mark.parametrize("kind", ["RandomForestRegressor", "ExtraTreesRegressor"])
def test_thresholds_of_forests_lie_amid_the_values_they_part(kind):
    rows = np.random.default_rng(2).normal(size=(200, 3))
    forest = getattr(tenfold, kind)(10, bootstrap=False, max_features=2, random_state=0).fit(rows, rows.sum(axis=1))
    trees, (ways, _) = forest.trees_, forest.decision_path(rows)
    ways, places = ways.tocsc(), []
    for node in np.flatnonzero(~trees.leaves()):
        values = rows[ways[:, node].indices, trees.feature[node]]
        low, high = values[values <= trees.threshold[node]].max(), values[values > trees.threshold[node]].min()
        places.append((trees.threshold[node] - low) / (high - low))
    assert abs(np.mean(places) - 0.5) < 0.03


@pytest.mark.parametrize("y", [THREE > 0, THREE], ids=["two", "three"])
def test_a_cascade_that_is_stopped_keeps_its_stages(monkeypatch, y):
    from tenfold.tree.single.stumps import Stumps

    plain, rounds = Stumps.best, []

    def stopped(self, weight):
        rounds.append(1)
        if len(rounds) > 5 + 12 * (y.max() > 1):
            raise KeyboardInterrupt
        return plain(self, weight)

    monkeypatch.setattr(Stumps, "best", stopped)
    stages = [tenfold.AdaBoostClassifier(n_estimators=n) for n in (3, 12)]
    model = tenfold.CascadeClassifier(stages, max_miss=0.3, confidence=0.8, random_state=0)
    with pytest.raises(KeyboardInterrupt, match="1 of 2 stages of CascadeClassifier are fitted"):
        model.fit(X, y)
    assert len(model.estimators_) == 1 and model.miss_bound_ <= 0.3
    assert set(model.predict(X)) == set(y.tolist())


@pytest.mark.filterwarnings("ignore:.*do not have OOB scores")  # ten trees leave some rows without one
@pytest.mark.parametrize("name", ["RandomForest", "Bagging"])
def test_a_score_of_ones_own_out_of_bag(name):
    def worst(truth, predicted):
        assert len(truth) == len(predicted) > 100
        return (
            -np.max(np.abs(truth - predicted))
            if truth.dtype == float
            else np.mean([np.mean(predicted[truth == k] == k) for k in "xyz"])
        )

    forest = getattr(tenfold, name + "Regressor")(n_estimators=10, oob_score=worst, random_state=0).fit(X, X[:, 0])
    assert forest.oob_score_ == -np.nanmax(np.abs(forest.oob_prediction_ - X[:, 0]))
    y = np.array(["x", "y", "z"])[THREE]
    shares = getattr(tenfold, name + "Classifier")(n_estimators=10, oob_score=worst, random_state=0).fit(X, y)
    expected = shares.oob_decision_function_
    known = ~np.isnan(expected[:, 0])
    assert shares.oob_score_ == worst(y[known], shares.classes_[expected[known].argmax(axis=1)])


def test_decimals_that_are_none():
    for model in (tenfold.DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0]), tenfold.C45Classifier().fit(X, THREE)):
        with pytest.raises(ValueError, match="decimals=-1: must be a whole number"):
            model.export_text(decimals=-1)
