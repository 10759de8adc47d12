"""What fits of trees take and tell beside the rows: rows to stop by, a monitor, the rows of each tree, classes balanced by tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

import tenfold

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 4))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=1500)
LABELS = np.where(Y > 0.3, "yes", "no")
TRAIN, HELD = slice(0, 1000), slice(1000, None)


@pytest.mark.parametrize("settings", [{}, {"subsample": 0.5}, {"loss": "absolute_error"}, {"scoring": "neg_mean_absolute_error"}])
def test_given_rows_only_tell_when_to_stop(settings: dict[str, Any]) -> None:
    model = tenfold.HistGradientBoostingRegressor(max_iter=200, n_iter_no_change=5, random_state=0, **settings)
    model.fit(X[TRAIN], Y[TRAIN], X_val=X[HELD], y_val=Y[HELD])
    errors = Y[HELD] - np.stack(list(model.staged_predict(X[HELD])))
    absolute = "scoring" in settings or settings.get("loss") == "absolute_error"
    scores = -np.abs(errors).mean(axis=1) if absolute else -(errors**2).mean(axis=1) / 2
    np.testing.assert_allclose(model.validation_score_[1:], scores, rtol=1e-10)
    assert model.n_iter_ < 200 and max(scores[-5:]) <= scores[-6] + 1e-7  # it has stopped where nothing was gained
    settings.pop("scoring", None)
    plain = tenfold.HistGradientBoostingRegressor(max_iter=model.n_iter_, early_stopping=False, random_state=0, **settings)
    np.testing.assert_allclose(plain.fit(X[TRAIN], Y[TRAIN]).predict(X), model.predict(X), rtol=1e-10, atol=1e-12)


def test_given_rows_have_weights_and_labels() -> None:
    weight = rng.random(500) + 0.5
    model = tenfold.HistGradientBoostingClassifier(class_weight="balanced", max_iter=20, random_state=0)
    model.fit(X[TRAIN], LABELS[TRAIN], X_val=X[HELD], y_val=LABELS[HELD], sample_weight_val=weight)
    loss = log_loss(LABELS[HELD], model.predict_proba(X[HELD]), sample_weight=weight)
    np.testing.assert_allclose(model.validation_score_[-1], -loss, rtol=1e-10)
    model.set_params(warm_start=True, max_iter=25).fit(X[TRAIN], LABELS[TRAIN], X_val=X[HELD], y_val=LABELS[HELD])
    assert len(model.validation_score_) == model.n_iter_ + 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"X_val": X}, "X_val is provided, but y_val was not"),
        ({"y_val": Y}, "y_val is provided, but X_val was not"),
        ({"sample_weight_val": Y}, "sample_weight_val is provided, but X_val was not"),
        ({"X_val": X[:, :2], "y_val": Y}, "X has 2 features"),
        ({"X_val": X, "y_val": Y[:5]}, "inconsistent numbers of samples"),
    ],
)
def test_given_rows_are_checked(given: dict[str, Any], words: str) -> None:
    with pytest.raises(tenfold.BadInput, match=words):
        tenfold.HistGradientBoostingRegressor(max_iter=2).fit(X, Y, **given)
    with pytest.raises(tenfold.BadInput, match="early_stopping is False"):
        tenfold.HistGradientBoostingRegressor(early_stopping=False).fit(X, Y, X_val=X, y_val=Y)
    with pytest.raises(tenfold.BadInput, match="requires non-negative y"):
        tenfold.HistGradientBoostingRegressor(loss="poisson").fit(X, np.abs(Y), X_val=X, y_val=Y)
    with pytest.raises(tenfold.BadInput, match="'maybe' in y do not exist"):
        tenfold.HistGradientBoostingClassifier().fit(X, LABELS, X_val=X[:2], y_val=["yes", "maybe"])


def test_given_rows_have_the_names_of_the_columns() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["e"] = pandas.Categorical(np.where(X[:, 0] > 0, "u", "v"))
    model = tenfold.HistGradientBoostingRegressor(max_iter=5)
    model.fit(frame[TRAIN], Y[TRAIN], X_val=frame[HELD], y_val=Y[HELD])
    errors = Y[HELD] - model.predict(frame[HELD])
    np.testing.assert_allclose(model.validation_score_[-1], -(errors**2).mean() / 2, rtol=1e-10)
    with pytest.raises(tenfold.BadInput, match="by the same names"):
        model.fit(frame[TRAIN], Y[TRAIN], X_val=frame[HELD].rename(columns={"a": "z"}), y_val=Y[HELD])


@pytest.mark.parametrize("settings", [{}, {"subsample": 0.6}])
def test_a_monitor_sees_the_learner_after_each_round_and_stops_it(settings: dict[str, Any]) -> None:
    seen: list[float] = []

    def monitor(i: int, model: Any, scores: dict[str, Any]) -> bool:
        assert len(model.estimators_) == i + 1 == len(scores["train_score_"])
        seen.append(float(model.predict(X[:1])[0]))
        return i == 6

    model = tenfold.GradientBoostingRegressor(random_state=0, **settings).fit(X, Y, monitor=monitor)
    assert model.n_estimators_ == 7
    np.testing.assert_allclose(seen, [float(staged[0]) for staged in model.staged_predict(X[:1])], rtol=1e-12)
    with pytest.raises(TypeError, match="must be a function"):
        model.fit(X, Y, monitor=3)


@pytest.mark.parametrize("kind", [tenfold.RandomForestRegressor, tenfold.ExtraTreesRegressor])
def test_the_rows_of_each_tree(kind: Any, tmp_path: Path) -> None:
    """Out-of-bag predictions, from the trees that have not drawn a row; a root's mean, from the rows that its tree has drawn."""
    forest = kind(8, bootstrap=True, max_samples=0.7, random_state=3).fit(X, Y)
    tenfold.save(forest, tmp_path / "forest.tenfold")
    drawn = tenfold.load(tmp_path / "forest.tenfold").estimators_samples_
    assert all(np.array_equal(one, two) for one, two in zip(drawn, forest.estimators_samples_, strict=True))
    total, times = np.zeros(len(X)), np.zeros(len(X))
    for rows, tree in zip(drawn, forest.estimators_, strict=True):
        np.testing.assert_allclose(tree.tree_.value[0].ravel(), Y[rows].mean(), rtol=1e-9)
        out = np.setdiff1d(np.arange(len(X)), rows)
        total[out] += tree.predict(X[out])
        times[out] += 1
    np.testing.assert_allclose(forest.oob_prediction_[times > 0], (total / np.maximum(times, 1))[times > 0], rtol=1e-10)
    with pytest.raises(tenfold.BadInput, match="were not drawn with these parameters"):
        _ = forest.set_params(max_samples=None).estimators_samples_
    whole = kind(2, bootstrap=False).fit(X, Y).estimators_samples_
    assert np.array_equal(whole[1], np.arange(len(X)))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_balanced_anew_for_each_tree(criterion: str, classes: int, weighted: bool) -> None:
    labels = np.digitize(Y, [1.0, 2.0][: classes - 1])
    weight = rng.random(len(X)) if weighted else None
    settings: dict[str, Any] = {"criterion": criterion, "min_samples_leaf": 20, "random_state": 0}
    forest = tenfold.RandomForestClassifier(5, class_weight="balanced_subsample", **settings).fit(X, labels, weight)
    for tree in forest.estimators_:
        np.testing.assert_allclose(tree.tree_.value[0].ravel(), 1 / classes, rtol=1e-9)
    rows, tree = forest.estimators_samples_[0], forest.estimators_[0]
    own = np.ones(len(rows)) if weight is None else weight[rows]
    share = own / np.bincount(labels[rows], own)[labels[rows]]
    leaf = tree.apply(X[rows])
    for node in np.unique(leaf):
        here = np.bincount(labels[rows][leaf == node], share[leaf == node], classes)
        np.testing.assert_allclose(tree.tree_.value[node].ravel(), here / here.sum(), rtol=1e-9, atol=1e-12)


def test_a_class_that_a_tree_has_not_drawn() -> None:
    labels = (np.arange(40) == 7).astype(int)
    forest = tenfold.RandomForestClassifier(20, class_weight="balanced_subsample", random_state=0).fit(X[:40], labels)
    without = [t for t, rows in enumerate(forest.estimators_samples_) if 7 not in rows]
    assert without and all(forest.estimators_[t].predict_proba(X[:40])[:, 1].max() == 0 for t in without)
