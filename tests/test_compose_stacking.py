"""Stacking, held to scikit-learn's classes with the same members and the same folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
import sklearn.ensemble as theirs
from sklearn.model_selection import KFold, ShuffleSplit

import tenfold
from tenfold.evaluate.validate import held_out

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
LABEL = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=150) / 2, [-0.5, 0.5])]
REAL = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=150)
WEIGHT = rng.uniform(0.5, 2, 150)
CLASSIFIERS = [
    ("nb", tenfold.GaussianNB()),
    ("tree", tenfold.DecisionTreeClassifier(max_depth=3)),
    ("lda", tenfold.LinearDiscriminantAnalysis()),
]
REGRESSORS = [("ridge", tenfold.Ridge()), ("tree", tenfold.DecisionTreeRegressor(max_depth=3)), ("line", tenfold.LinearRegression())]
FOLDS = KFold(4, shuffle=True, random_state=0)


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("method", ["auto", "predict_proba", "predict"])
@pytest.mark.parametrize("two", [False, True], ids=["classes", "two"])
def test_classifier_as_theirs(two: bool, method: str, passthrough: bool) -> None:
    y = np.where(LABEL == "a", "yes", "no") if two else LABEL
    given: dict[str, Any] = dict(stack_method=method, passthrough=passthrough, cv=FOLDS)
    final = tenfold.LogisticRegression(tol=1e-12)
    ours, other = (
        kind(CLASSIFIERS, final, **given).fit(X, y) for kind in (tenfold.StackingClassifier, theirs.StackingClassifier)
    )
    np.testing.assert_allclose(ours.transform(X), other.transform(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), other.decision_function(X), atol=1e-5)
    assert (ours.predict(X) == other.predict(X)).all()
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    assert ours.stack_method_ == list(other.stack_method_)


@pytest.mark.parametrize("passthrough", [False, True])
def test_regressor_as_theirs(passthrough: bool) -> None:
    ours, other = (
        kind(REGRESSORS, tenfold.Ridge(0.1), cv=FOLDS, passthrough=passthrough).fit(X, REAL, sample_weight=WEIGHT)
        for kind in (tenfold.StackingRegressor, theirs.StackingRegressor)
    )
    np.testing.assert_allclose(ours.transform(X), other.transform(X), rtol=1e-8)
    np.testing.assert_allclose(ours.final_estimator_.coef_, other.final_estimator_.coef_, rtol=1e-7)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-8)


def test_fitted_before() -> None:
    fitted = [(name, type(one)(**one.get_params()).fit(X, REAL)) for name, one in REGRESSORS]
    ours, other = (
        kind(fitted, tenfold.Ridge(0.1), cv="prefit").fit(X, REAL) for kind in (tenfold.StackingRegressor, theirs.StackingRegressor)
    )
    np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=1e-8)
    assert ours.estimators_[0] is fitted[0][1]
    with pytest.raises(tenfold.BadParameter, match="'ridge' was fitted to other columns"):
        ours.fit(X[:, :2], REAL)


def test_one_pass_members_are_not_fitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their models of the folds come from merged statistics."""
    made = []

    def watched(*given: Any) -> Any:
        found = held_out.split_models(*given)
        made.append(found[1])
        return found

    monkeypatch.setattr("tenfold.compose.stack.split_models", watched)
    tenfold.StackingRegressor(REGRESSORS, tenfold.Ridge()).fit(X, REAL)
    assert made == [held_out.MERGED, held_out.REFITTED, held_out.MERGED]


def test_categories_and_missing_values_pass_through(tmp_path: Path) -> None:
    frame = polars.DataFrame({"c": LABEL, "x": np.where(X[:, 1] > 1, np.nan, X[:, 1])})
    tree = tenfold.DecisionTreeClassifier
    model = tenfold.StackingClassifier([("one", tree(max_depth=1))], tree(max_depth=4), passthrough=True, cv=3)
    assert model.fit(frame, LABEL).score(frame, LABEL) == 1.0
    assert list(model.get_feature_names_out()[-2:]) == ["c", "x"]
    tenfold.save(model, tmp_path / "m")
    assert (tenfold.load(tmp_path / "m").predict(frame) == model.predict(frame)).all()


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(cv=1), "must be at least 2"),
        (dict(cv=ShuffleSplit(2)), "test sets must make up all rows once"),
        (dict(final_estimator=tenfold.GaussianNB()), "final_estimator. parameter is a GaussianNB, a classifier"),
        (dict(final_estimator=tenfold.Ridge(alpha=-1)), "alpha=-1"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(tenfold.BadParameter, match=message):
        tenfold.StackingRegressor(REGRESSORS, **given).fit(X, REAL)
