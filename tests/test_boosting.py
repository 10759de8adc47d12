"""Gradient boosting: against scikit-learn, against itself in another form, and what its trees may not do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.ensemble as theirs
from sklearn.metrics import get_scorer

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.tree.boosting import hist_boosting

HIST = {"real": tenfold.HistGradientBoostingRegressor, "label": tenfold.HistGradientBoostingClassifier}


def table(n: int = 400, p: int = 4, seed: int = 0, values: int = 60) -> tuple[Array, Array, Array]:
    """Columns of few different values, so that bins are exact; a curved surface, and labels of three classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, size=(n, p)) / values
    signal = np.sin(5 * X[:, 0]) + 2 * X[:, 1] * X[:, 2]
    return X, signal + 0.3 * rng.normal(size=n), np.digitize(signal + 0.2 * rng.normal(size=n), [0.5, 1.2])


# --- against scikit-learn ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma", "absolute_error", "quantile"])
def test_regressors_are_those_of_scikit_learn(loss: str) -> None:
    X, y, _ = table()
    y = y - y.min() + 0.1
    settings: dict[str, Any] = dict(loss=loss, max_iter=8, max_leaf_nodes=6, l2_regularization=0.5)
    if loss == "quantile":
        settings["quantile"] = 0.7
    ours = tenfold.HistGradientBoostingRegressor(**settings).fit(X, y)
    other = theirs.HistGradientBoostingRegressor(**settings).fit(X, y)
    if loss in ("squared_error", "poisson", "gamma"):
        np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-5, atol=1e-5)
        return
    share = settings.get("quantile", 0.5)  # quantiles of a leaf's few rows are defined otherwise there
    mine, his = (np.mean((share - (y < m.predict(X))) * (y - m.predict(X))) for m in (ours, other))
    np.testing.assert_allclose(mine, his, rtol=0.02)


@pytest.mark.parametrize("classes", [2, 3])
def test_classifiers_are_those_of_scikit_learn(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hist_boosting, "DAMPING", 0.0)
    X, _, label = table()
    label = np.minimum(label, classes - 1)
    settings: dict[str, Any] = dict(max_iter=8, max_leaf_nodes=6, max_depth=4)
    rate = 0.1 if classes == 2 else 0.15  # steps of several classes are shorter by (K − 1) / K here
    ours = tenfold.HistGradientBoostingClassifier(learning_rate=rate, **settings).fit(X, label)
    other = theirs.HistGradientBoostingClassifier(**settings).fit(X, label)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("weight", "damping"), [(1.0, 1.0), (0.25, 0.25), (4.0, 1.0)])
def test_leaves_of_classes_are_damped_as_by_one_row(weight: float, damping: float) -> None:
    X, y = np.repeat([[0.0], [1.0]], [30, 50], axis=0), np.repeat([0, 1], [36, 44])
    model = tenfold.HistGradientBoostingClassifier(max_iter=1, l2_regularization=2.0)
    share = 44 / 80
    told = model.fit(X, y, np.full(80, weight)).decision_function([[0.0], [1.0]]) - np.log(share / (1 - share))
    gradient = weight * np.array([30 * share, 50 * share - 44])
    curvature = weight * np.array([30, 50]) * share * (1 - share)
    np.testing.assert_allclose(told, -0.1 * gradient / (curvature + 2 + damping), rtol=1e-6)


def test_damping_lowers_the_loss_on_new_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, label = table(1500)
    label = np.minimum(label, 1) ^ (np.random.default_rng(3).random(1500) < 0.1)

    def loss() -> float:
        model = tenfold.HistGradientBoostingClassifier().fit(X[:500], label[:500])
        return -float(model.predict_log_proba(X[500:])[np.arange(1000), label[500:]].mean())

    damped = loss()
    monkeypatch.setattr(hist_boosting, "DAMPING", 0.0)
    assert damped < 0.95 * loss()


def test_one_row_of_a_rare_class_throws_nothing_far_out() -> None:
    X, _, label = table(1000)
    label = np.minimum(label, 1)
    label[3] = 2
    model = tenfold.HistGradientBoostingClassifier().fit(X, label)
    assert np.abs(model._trees.value).max() <= 0.1 * 10 + 1e-12
    assert -np.log(model.predict_proba(X)[np.arange(1000), label]).mean() < 0.05


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_shallow_trees_are_those_of_scikit_learn(loss: str) -> None:
    X, y, _ = table(300)
    settings: dict[str, Any] = dict(n_estimators=12, loss=loss, min_samples_leaf=5)
    ours = tenfold.GradientBoostingRegressor(**settings).fit(X, y)
    other = theirs.GradientBoostingRegressor(**settings).fit(X, y)
    tolerance = 1e-9 if loss == "squared_error" else 0.02
    np.testing.assert_allclose(ours.train_score_, other.train_score_, rtol=tolerance)
    np.testing.assert_allclose(ours.predict(X).mean(), other.predict(X).mean(), rtol=tolerance)
    assert ours.apply(X).shape == (300, 12)
    np.testing.assert_allclose(ours.feature_importances_.sum(), 1, rtol=1e-12)


def test_exponential_loss_of_two_classes() -> None:
    X, _, label = table()
    label = np.minimum(label, 1)
    model = tenfold.GradientBoostingClassifier(loss="exponential", n_estimators=15).fit(X, label)
    other = theirs.GradientBoostingClassifier(loss="exponential", n_estimators=15).fit(X, label)
    np.testing.assert_allclose(model.train_score_, other.train_score_, rtol=0.03)
    raw = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * raw)), rtol=1e-9)
    with pytest.raises(BadParameter, match="two classes"):
        tenfold.GradientBoostingClassifier(loss="exponential").fit(X, table()[2])


# --- the same in another form -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["real", "label"])
def test_threads_blocks_and_order_change_no_bit(kind: str) -> None:
    X, y, label = table(9000, 9, values=4000)
    X[::7, 3] = np.nan
    target = y if kind == "real" else np.minimum(label, 1)
    expected = None
    order = np.random.default_rng(1).permutation(len(X))
    for threads, rows in ((1, slice(None)), (2, slice(None)), (5, order)):
        with tenfold.threads(threads):
            model = HIST[kind](max_iter=3, early_stopping=True, random_state=0).fit(X[rows], target[rows])
        found = model.predict(X) if kind == "real" else model.predict_proba(X)
        expected = found if expected is None else expected
        np.testing.assert_array_equal(found, expected)
    stream = [(X[a : a + 1000], target[a : a + 1000]) for a in range(0, 9000, 1000)]
    model = HIST[kind](max_iter=3, early_stopping=True, random_state=0).fit(stream)
    np.testing.assert_array_equal(model.predict(X) if kind == "real" else model.predict_proba(X), expected)


def test_whole_weights_are_copies() -> None:
    X, y, label = table(200)
    w = np.random.default_rng(0).integers(0, 4, len(y))
    for kind, target in (("real", y), ("label", label)):
        one = HIST[kind](max_iter=5, min_samples_leaf=1, max_leaf_nodes=5).fit(X, target, w)
        two = HIST[kind](max_iter=5, min_samples_leaf=1, max_leaf_nodes=5).fit(np.repeat(X, w, 0), np.repeat(target, w))
        found, expected = (m.predict(X) if kind == "real" else m.predict_proba(X) for m in (one, two))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_class_weights_are_weights() -> None:
    X, _, label = table()
    factors = {0: 1.0, 1: 3.0, 2: 0.5}
    one = tenfold.HistGradientBoostingClassifier(max_iter=3, class_weight=factors).fit(X, label)
    two = tenfold.HistGradientBoostingClassifier(max_iter=3).fit(X, label, np.array([1.0, 3.0, 0.5])[label])
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("name", ["HistGradientBoostingClassifier", "GradientBoostingRegressor"])
def test_rounds_are_a_path_a_warm_start_and_stages(name: str) -> None:
    X, y, label = table()
    cls = getattr(tenfold, name)
    target = y if cls.target == "real" else label
    path = cls.path
    settings = {"subsample": 0.5, "random_state": 3}
    source = tenfold.base.check.check_fit(cls(**settings), X, target)
    along = cls(**settings)._fit_path(source, path, [2, 6])
    stages = list(along[1].staged_predict(X))
    warm = cls(**settings, warm_start=True, **{path: 2}).fit(X, target)
    for rounds, model in zip((2, 6), along, strict=True):
        alone = cls(**settings, **{path: rounds}).fit(X, target)
        warm.set_params(**{path: rounds}).fit(X, target)
        for other in (alone, warm):
            np.testing.assert_allclose(
                other.predict(X) if y is target else other.predict_proba(X),
                model.predict(X) if y is target else model.predict_proba(X),
                rtol=1e-9,
            )
            np.testing.assert_allclose(other.train_score_, model.train_score_, rtol=1e-9)
        last = stages[rounds - 1]
        if y is target:
            np.testing.assert_allclose(last, model.predict(X), rtol=1e-12)
        else:
            np.testing.assert_array_equal(last, model.predict(X))
    with pytest.raises(BadParameter, match=r"=3 must be larger.*=6 when warm_start==True"):
        warm.set_params(**{path: 3}).fit(X, target)


def test_rows_drawn_for_each_round_leave_an_estimate() -> None:
    X, y, _ = table(2000)
    model = tenfold.GradientBoostingRegressor(n_estimators=40, subsample=0.5, random_state=0).fit(X, y)
    assert model.oob_improvement_.shape == (40,) and (model.oob_improvement_[:5] > 0).all()
    new, truth, _ = table(4000, seed=9)
    error = np.mean((model.predict(new) - truth) ** 2)
    assert abs(model.oob_score_ / error - 1) < 0.15  # the last trees have seen half of these rows


# --- what trees may do ------------------------------------------------------------------------------------------------


def test_missing_values_go_where_they_help() -> None:
    X = np.concatenate([np.arange(100.0), np.full(50, np.nan)])[:, None]
    y = np.where(np.isnan(X[:, 0]), 5.0, np.where(X[:, 0] < 50, 5.0, 0.0))
    model = tenfold.HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict([[10.0], [90.0], [np.nan]]), [5, 0, 5], atol=1e-12)
    only = tenfold.HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0).fit(X, np.isnan(X[:, 0]).astype(float))
    np.testing.assert_allclose(only.predict([[1e99], [-1e99], [np.nan]]), [0, 0, 1], atol=1e-12)


def test_categories_are_split_as_a_set() -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 30, 3000)
    good = np.isin(code, [1, 4, 9, 16, 25])
    frame = pandas.DataFrame({"c": np.array([f"k{i}" for i in range(30)])[code], "x": rng.normal(size=3000)})
    model = tenfold.HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0, max_leaf_nodes=2).fit(
        frame, 3.0 * good
    )
    np.testing.assert_allclose(model.predict(frame), 3.0 * good, atol=1e-9)
    tree = model._trees[0]
    sets = {frozenset(tree.categories_left(0).tolist()), frozenset(range(30)) - set(tree.categories_left(0).tolist())}
    names = sorted(f"k{i}" for i in range(30))
    assert frozenset(names.index(f"k{i}") for i in (1, 4, 9, 16, 25)) in sets
    unseen = pandas.DataFrame({"c": ["never", None], "x": [0.0, 0.0]})
    np.testing.assert_allclose(model.predict(unseen), 0.0, atol=1e-9)  # with most rows


def test_very_many_categories() -> None:
    rng = np.random.default_rng(1)
    code = np.concatenate([np.arange(5000), rng.integers(0, 5, 5000)])
    y = np.where(code < 5, 2.0 * code, 1.0)
    marked = tenfold.HistGradientBoostingRegressor(max_iter=20, categorical_features=[0]).fit(
        code[:, None].astype(float), y
    )
    found = marked.predict(np.array([[0.0], [4.0], [4999.0], [77777.0]]))
    np.testing.assert_allclose(found[:2], [0, 8], atol=1.0)
    assert found[2] == found[3], "a rare category goes where an unseen one goes"


def test_monotone_columns() -> None:
    X, y, _ = table(1000)
    model = tenfold.HistGradientBoostingRegressor(max_iter=30, monotonic_cst=[0, 1, -1, 0]).fit(X, y)
    line = np.linspace(0, 1, 50)
    for row in X[:20]:
        for j, sign in ((1, 1), (2, -1)):
            rows = np.repeat(row[None], 50, axis=0)
            rows[:, j] = line
            assert (np.diff(model.predict(rows)) * sign >= -1e-12).all()
    assert model.score(X, y) > 0.5
    with pytest.raises(BadParameter, match="monotonic_cst"):
        tenfold.HistGradientBoostingRegressor(monotonic_cst=[2, 0, 0, 0]).fit(X, y)


def test_columns_that_may_not_meet() -> None:
    X, y, _ = table(800)
    model = tenfold.HistGradientBoostingRegressor(max_iter=10, interaction_cst=[(0, 1), (2,)]).fit(X, y)
    allowed = [{0, 1}, {2}, {3}]
    for t in range(10):
        assert all(any(way <= group for group in allowed) for way in _ways(model._trees[t]))
    free = tenfold.HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    assert any({1, 2} <= way for t in range(10) for way in _ways(free._trees[t]))


def _ways(tree: Any) -> list[set[int]]:
    """The columns asked for on the way to each leaf."""
    found, open_ = [], [(0, set[int]())]
    while open_:
        node, way = open_.pop()
        if tree.children_left[node] < 0:
            found.append(way)
            continue
        way = way | {int(tree.feature[node])}
        open_ += [(int(tree.children_left[node]), way), (int(tree.children_right[node]), way)]
    return found


def test_limits_of_trees_hold() -> None:
    X, y, _ = table(2000, values=500)
    settings = dict(max_iter=5, max_leaf_nodes=None, max_depth=4, min_samples_leaf=30, max_features=0.5, random_state=0)
    trees = tenfold.HistGradientBoostingRegressor(**settings).fit(X, y)._trees
    assert trees.depths().max() == 4 and trees.n_node_samples.min() >= 30
    leaf = trees.leaves()
    np.testing.assert_array_equal(np.add.reduceat(trees.n_node_samples * leaf, trees.first[:-1]), 2000)
    strict = tenfold.HistGradientBoostingRegressor(max_iter=1, l1_regularization=1e9).fit(X, y)
    assert len(strict._trees.feature) == 1, "no gain is left"
    big = tenfold.GradientBoostingRegressor(n_estimators=1, max_depth=None).fit(X, y)
    assert big._trees.leaves().sum() > 1500


# --- when to stop -----------------------------------------------------------------------------------------------------


def test_early_stopping_by_rows_held_out() -> None:
    X, y, label = table(600)
    model = tenfold.HistGradientBoostingClassifier(max_iter=500, early_stopping=True, random_state=0).fit(X, label)
    assert model.n_iter_ < 200 and model.do_early_stopping_
    assert len(model.validation_score_) == len(model.train_score_) == model.n_iter_ + 1
    assert model.validation_score_[-11:].argmax() == 0  # nothing was won in the last ten rounds
    by_accuracy = tenfold.HistGradientBoostingClassifier(
        max_iter=200, early_stopping=True, random_state=0, scoring=None, validation_fraction=0.3
    ).fit(X, label)
    assert 0.5 < by_accuracy.validation_score_[-1] <= 1
    gradual = tenfold.GradientBoostingRegressor(n_estimators=500, n_iter_no_change=4, random_state=0).fit(X, y)
    assert gradual.n_estimators_ < 300


def test_an_interrupt_keeps_the_trees_so_far() -> None:
    X, y, _ = table()

    def stop(record: Any) -> None:
        if record.n_pass == 3:  # one pass reads the rows; rounds are counted by themselves
            raise KeyboardInterrupt

    model = tenfold.HistGradientBoostingRegressor()
    with tenfold.monitor(stop), pytest.raises(KeyboardInterrupt, match="3 of 100 rounds"):
        model.fit(X, y)
    expected = tenfold.HistGradientBoostingRegressor(max_iter=3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("whole", [False, True], ids=["boosting", "pipeline"])
def test_an_interrupt_ends_a_cross_validation(whole: bool) -> None:
    """Not only the fit of one fold, whose shorter model would be compared with whole ones."""
    X, y, _ = table()
    heard = []

    def stop(record: Any) -> None:
        if record.learner == "HistGradientBoostingRegressor" and record.n_pass == 3:
            heard.append(record)
            raise KeyboardInterrupt

    model: Any = tenfold.HistGradientBoostingRegressor(max_iter=5)
    model = tenfold.make_pipeline(tenfold.StandardScaler(), model) if whole else model
    with tenfold.threads(1), tenfold.monitor(stop), pytest.raises(KeyboardInterrupt, match="3 of 5 rounds"):
        tenfold.cross_validate(model, X, y, folds=3)
    assert len(heard) == 1
    if whole:
        with tenfold.monitor(stop), pytest.raises(KeyboardInterrupt, match="3 of 5 rounds"):
            model.fit(X, y)
        assert np.isfinite(model.predict(X)).all()
    tenfold.HistGradientBoostingRegressor(max_iter=2).fit(X, y)  # nothing is left behind


# --- bad input --------------------------------------------------------------------------------------------------------


def test_targets_that_a_loss_cannot_take() -> None:
    X, y, _ = table()
    for loss in ("poisson", "gamma"):
        with pytest.raises(BadInput, match=loss):
            tenfold.HistGradientBoostingRegressor(loss=loss).fit(X, y - 100)
    with pytest.raises(BadParameter, match="quantile"):
        tenfold.HistGradientBoostingRegressor(loss="quantile").fit(X, y)


@pytest.mark.parametrize("X", [np.full((30, 2), np.nan), np.ones((30, 2)), np.arange(60.0).reshape(30, 2)[:1]], ids=str)
def test_nothing_to_split(X: Array) -> None:
    y = np.arange(float(len(X)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tenfold.HistGradientBoostingRegressor().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)


# --- what is watched ---------------------------------------------------------------------------------------------------

CLASS_SCORES = [
    "accuracy",
    "balanced_accuracy",
    "f1_macro",
    "roc_auc_ovr",
    "roc_auc_ovr_weighted",
    "neg_log_loss",
    "neg_brier_score",
]
TWO_CLASS_SCORES = [*CLASS_SCORES, "f1", "precision", "recall", "roc_auc", "average_precision"]
VALUE_SCORES = ["r2", "neg_mean_squared_error", "neg_median_absolute_error", "neg_mean_poisson_deviance"]


@pytest.mark.parametrize(
    ("classes", "name"),
    [(0, one) for one in VALUE_SCORES] + [(2, one) for one in TWO_CLASS_SCORES] + [(3, one) for one in CLASS_SCORES],
)
def test_scores_that_are_watched_are_those_of_scikit_learn(classes: int, name: str) -> None:
    X, y, label = table(200)
    target = np.array(["a", "b", "c"])[np.minimum(label, classes - 1)] if classes else np.exp(y)
    w = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    settings = dict(max_iter=6, early_stopping=True, validation_fraction=None, n_iter_no_change=20)
    loss = {} if classes else dict(loss="poisson")
    if name in ("f1", "precision", "recall", "average_precision") or (
        classes == 2 and "brier" in name
    ):  # there the positive class is 1
        target = (target == "b").astype(int)
    model = HIST["label" if classes else "real"](scoring=name, **settings, **loss).fit(X, target, w)
    expected = get_scorer(name)(model, X, target, sample_weight=w)
    np.testing.assert_allclose(model.train_score_[-1], expected, rtol=1e-9)
    by_function = HIST["label" if classes else "real"](scoring=get_scorer(name), **settings, **loss).fit(X, target, w)
    np.testing.assert_allclose(by_function.train_score_, model.train_score_, rtol=1e-9, atol=1e-12)


def test_a_score_by_name_stops_the_rounds() -> None:
    X, _, label = table(600)
    model = tenfold.HistGradientBoostingClassifier(
        max_iter=300, early_stopping=True, scoring="roc_auc_ovr", random_state=0, n_iter_no_change=5
    ).fit(X, label)
    assert model.n_iter_ < 300
    assert model.validation_score_[-6:].argmax() == 0
    assert len(model.validation_score_) == model.n_iter_ + 1


@pytest.mark.parametrize("wrong", ["r2", "accuracies", 3, "f1", "precision", "recall"])
def test_what_is_no_score_of_these_classes(wrong: Any) -> None:
    X, _, label = table(100)
    with pytest.raises(BadParameter, match="scoring"):
        tenfold.HistGradientBoostingClassifier(scoring=wrong, max_iter=2).fit(X, label)


def test_a_scorer_that_fails_is_named() -> None:
    X, y, _ = table(100)
    model = tenfold.HistGradientBoostingRegressor(scoring=lambda model, X, y: 1 / 0, early_stopping=True)
    with pytest.raises(BadParameter, match=r"ZeroDivisionError"):
        model.fit(X, y)


@pytest.mark.parametrize("learner", [tenfold.HistGradientBoostingRegressor, tenfold.DecisionTreeRegressor])
def test_categories_have_no_direction(learner: Any) -> None:
    words, numbers = np.array(["low", "mid", "high"] * 20, dtype=object), np.arange(60.0)
    rows = np.column_stack([numbers, words])
    learner(monotonic_cst=[1, 0]).fit(rows, numbers)
    with pytest.raises(BadParameter, match="Categorical features cannot have monotonic constraints: give column 1 0"):
        learner(monotonic_cst=[0, 1]).fit(rows, numbers)
