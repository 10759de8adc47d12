"""What gradient boosting begins with: the best constant, zero, or a learner that is fitted first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.dummy
import sklearn.ensemble as theirs
import sklearn.linear_model

import tenfold
from tenfold.core.errors import BadInput, BadParameter, BadType


def table(n: int = 300) -> tuple[Any, Any]:
    """Columns of few different values, so that bins are exact; a plane and a step."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, size=(n, 3)) / 40
    return X, 3 * X[:, 0] + (X[:, 1] > 0.5) + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("weighted", [False, True])
def test_trees_add_what_a_linear_model_leaves_over(weighted: bool) -> None:
    X, y = table()
    w = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float) if weighted else None
    settings: dict[str, Any] = dict(n_estimators=10, min_samples_leaf=5)
    other = theirs.GradientBoostingRegressor(init=sklearn.linear_model.LinearRegression(), **settings).fit(X, y, w)
    for init in (tenfold.LinearRegression(), sklearn.linear_model.LinearRegression()):
        ours = tenfold.GradientBoostingRegressor(init=init, **settings).fit(X, y, w)
        np.testing.assert_allclose(ours.train_score_, other.train_score_, rtol=1e-6)
        np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-6, atol=1e-5)  # theirs see float32
        np.testing.assert_allclose(
            list(ours.staged_predict(X))[3], list(other.staged_predict(X))[3], rtol=1e-6, atol=1e-5
        )
        assert "coef_" not in vars(init)  # the user's own learner is left alone
    assert ours.train_score_[-1] < tenfold.GradientBoostingRegressor(**settings).fit(X, y, w).train_score_[-1]


@pytest.mark.parametrize(("classes", "loss"), [(2, "log_loss"), (3, "log_loss"), (2, "exponential")])
def test_shares_of_classes_become_raw_sums(classes: int, loss: str) -> None:
    X, y = table()
    label = np.array(["a", "b", "c"])[np.digitize(y, [1.5, 2.5][: classes - 1])]
    begun = tenfold.GradientBoostingClassifier(init=tenfold.GaussianNB(), loss=loss, n_estimators=1, learning_rate=0.0)
    first = tenfold.GaussianNB().fit(X, label)
    np.testing.assert_allclose(begun.fit(X, label).predict_proba(X), first.predict_proba(X), rtol=1e-4, atol=1e-6)
    prior = tenfold.GradientBoostingClassifier(init=sklearn.dummy.DummyClassifier(strategy="prior"), loss=loss)
    plain = tenfold.GradientBoostingClassifier(loss=loss)
    np.testing.assert_allclose(
        prior.fit(X, label).predict_proba(X), plain.fit(X, label).predict_proba(X), rtol=1e-6, atol=1e-9
    )


def test_more_rounds_keep_the_first_learner_and_held_out_rows_are_not_shown_to_it() -> None:
    X, y = table()
    whole = tenfold.GradientBoostingRegressor(n_estimators=12, init=tenfold.Ridge()).fit(X, y)
    grown = tenfold.GradientBoostingRegressor(n_estimators=5, init=tenfold.Ridge(), warm_start=True).fit(X, y)
    first = grown.init_
    grown.set_params(n_estimators=12).fit(X, y)
    assert grown.init_ is first
    np.testing.assert_allclose(grown.predict(X), whole.predict(X), rtol=1e-12)
    stopped = tenfold.GradientBoostingRegressor(init=tenfold.Ridge(), n_iter_no_change=3, random_state=0).fit(X, y)
    assert np.abs(stopped.init_.coef_ - whole.init_.coef_).max() > 1e-6


def test_a_saved_model_says_the_same(tmp_path: Path) -> None:
    X, y = table()
    model = tenfold.GradientBoostingRegressor(n_estimators=4, init=tenfold.Ridge()).fit(X, y)
    tenfold.save(model, tmp_path / "model")
    loaded = tenfold.load(tmp_path / "model")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert repr(loaded) == repr(model)


def test_categories_go_to_a_learner_that_takes_them() -> None:
    X, y = table()
    frame = pandas.DataFrame({"a": X[:, 0], "b": pandas.Categorical(np.where(X[:, 1] > 0.5, "high", "low"))})
    tree = tenfold.DecisionTreeRegressor(max_leaf_nodes=4)
    model = tenfold.GradientBoostingRegressor(n_estimators=3, init=tree).fit(frame, y)
    assert model.score(frame, y) > 0.5
    with pytest.raises(BadParameter, match="categories"):
        tenfold.GradientBoostingRegressor(init=tenfold.Ridge()).fit(frame, y)


@pytest.mark.parametrize("init", ["one", tenfold.GaussianNB(), tenfold.Ridge, 3.0], ids=str)
def test_what_is_no_regressor(init: Any) -> None:
    X, y = table(50)
    with pytest.raises(BadParameter, match="init"):
        tenfold.GradientBoostingRegressor(init=init, n_estimators=2).fit(X, y)


def test_what_a_learner_cannot_take_or_tell() -> None:
    X, y = table(50)
    model = tenfold.GradientBoostingRegressor(init=tenfold.Ridge(), n_estimators=2).fit(X, y)
    with pytest.raises(BadType, match="init"):
        tenfold.evaluate.attributions(model, X[:2])
    X[3, 1] = np.nan
    with pytest.raises(BadInput, match="NaN"):
        model.fit(X, y)


def test_directions_by_the_names_of_columns() -> None:
    X, y = table()
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    settings: dict[str, Any] = dict(max_iter=10)
    by_name = tenfold.HistGradientBoostingRegressor(monotonic_cst={"a": -1}, **settings).fit(frame, y)
    by_place = tenfold.HistGradientBoostingRegressor(monotonic_cst=[-1, 0, 0], **settings).fit(frame, y)
    assert np.array_equal(by_name.predict(frame), by_place.predict(frame))
    with pytest.raises(BadParameter, match="'z'"):
        tenfold.HistGradientBoostingRegressor(monotonic_cst={"z": 1}).fit(frame, y)
