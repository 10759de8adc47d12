"""Voting, held to scikit-learn's classes with the same members."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble as theirs
from sklearn.base import clone

import tenfold

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
LABEL = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=150) / 2, [-0.5, 0.5])]
REAL = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=150)
CLASSIFIERS = [
    ("nb", tenfold.GaussianNB()),
    ("lr", tenfold.LogisticRegression(tol=1e-12)),
    ("tree", tenfold.DecisionTreeClassifier(max_depth=3)),
]
REGRESSORS = [("ridge", tenfold.Ridge()), ("tree", tenfold.DecisionTreeRegressor(max_depth=3)), ("line", tenfold.LinearRegression())]


@pytest.mark.parametrize("weights", [None, [2, 1, 0.5]])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_classifier_as_theirs(voting: str, weights: Any) -> None:
    ours, other = (
        kind(CLASSIFIERS, voting=voting, weights=weights).fit(X, LABEL)
        for kind in (tenfold.VotingClassifier, theirs.VotingClassifier)
    )
    assert (ours.predict(X) == other.predict(X)).all()
    np.testing.assert_allclose(ours.transform(X), other.transform(X), atol=1e-9)
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    assert hasattr(ours, "predict_proba") == hasattr(other, "predict_proba") == (voting == "soft")
    assert not hasattr(ours, "decision_function")
    if voting == "soft":
        np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-9)
        tall = [kind.set_params(flatten_transform=False).transform(X) for kind in (ours, other)]
        np.testing.assert_allclose(*tall, atol=1e-9)


@pytest.mark.parametrize("weights", [None, [2, 1, 0.5]])
def test_regressor_as_theirs(weights: Any) -> None:
    w = rng.uniform(0.5, 2, 150)
    ours, other = (
        kind(REGRESSORS, weights=weights).fit(X, REAL, sample_weight=w)
        for kind in (tenfold.VotingRegressor, theirs.VotingRegressor)
    )
    np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-9)
    np.testing.assert_allclose(ours.transform(X), other.transform(X), rtol=1e-9)
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    assert list(ours.named_estimators_) == list(other.named_estimators_)


def test_one_reading_serves_all() -> None:
    """Members of one pass are fitted in the same pass: a stream that is read once will do."""
    pair = [("ridge", tenfold.Ridge()), ("line", tenfold.LinearRegression())]
    once = tenfold.VotingRegressor(pair).fit(iter([(X[:70], REAL[:70]), (X[70:], REAL[70:])]))
    np.testing.assert_allclose(once.predict(X), tenfold.VotingRegressor(pair).fit(X, REAL).predict(X), rtol=1e-10)


def test_parameters_inside() -> None:
    model = tenfold.VotingRegressor(REGRESSORS)
    assert model.get_params()["ridge__alpha"] == 1.0 and model.get_params()["ridge"] is REGRESSORS[0][1]
    model = clone(model).set_params(ridge__alpha=7.0, tree="drop", weights=[1, 1, 3])
    assert dict(model.estimators)["ridge"].alpha == 7.0 and REGRESSORS[0][1].alpha == 1.0
    fitted = model.fit(X, REAL)
    assert list(fitted.get_feature_names_out()) == ["votingregressor_ridge", "votingregressor_line"]
    assert list(fitted.named_estimators_) == ["ridge", "tree", "line"] and fitted.named_estimators_["tree"] == "drop"
    assert len(fitted.estimators_) == 2 and fitted.transform(X).shape == (150, 2)
    expected = np.average(fitted.transform(X), axis=1, weights=[1, 3])
    np.testing.assert_allclose(fitted.predict(X), expected, rtol=1e-12)
    assert not hasattr(REGRESSORS[0][1], "coef_")


def test_categories_reach_members() -> None:
    import polars

    frame = polars.DataFrame({"c": LABEL, "x": np.where(X[:, 1] > 2, np.nan, X[:, 1])})
    trees = [("one", tenfold.DecisionTreeClassifier()), ("boost", tenfold.HistGradientBoostingClassifier(max_iter=3))]
    model = tenfold.VotingClassifier(trees, voting="soft").fit(frame, LABEL)
    assert model.score(frame, LABEL) == 1.0
    assert (model.predict(frame) == model.named_estimators_["one"].predict(frame)).all()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: tenfold.VotingRegressor([]), "must be a list of"),
        (lambda: tenfold.VotingRegressor([("a", "drop")]), "All estimators are dropped"),
        (lambda: tenfold.VotingRegressor([("a", tenfold.GaussianNB())]), "should be a regressor, and is a classifier"),
        (lambda: tenfold.VotingRegressor([("a", object())]), "'a' .object. is a object, which has no fit"),
        (lambda: tenfold.VotingRegressor([("a", tenfold.Ridge()), ("a", tenfold.Ridge())]), r"Names provided are not unique: \['a', 'a'\]"),
        (lambda: tenfold.VotingRegressor([("a__b", tenfold.Ridge())]), "must not contain __: got"),
        (lambda: tenfold.VotingRegressor([("weights", tenfold.Ridge())]), "conflict with constructor arguments"),
        (lambda: tenfold.VotingRegressor([("a", tenfold.Ridge(alpha=-1))]), "'a': Ridge.alpha=-1"),
        (lambda: tenfold.VotingRegressor(REGRESSORS, weights=[1, 2]), "must be 3 numbers"),
        (lambda: tenfold.VotingRegressor(REGRESSORS, weights=[0, 0, 0]), "above zero"),
    ],
)
def test_bad_lists(make: Any, message: str) -> None:
    with pytest.raises(tenfold.BadParameter, match=message):
        make().fit(X, REAL)
