"""Pipelines inside scikit-learn's tools: their verbs are methods as others are."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.linear_model
import sklearn.model_selection
import sklearn.preprocessing
from sklearn.calibration import CalibratedClassifierCV
from sklearn.inspection import partial_dependence

import tenfold
from tenfold.base.check import check_fit
from tenfold.compose.last_step import passed_once

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
y = (X[:, 0] + rng.normal(size=120) / 2 > 0).astype(int)


def pipe() -> tenfold.Pipeline:
    return tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression())


def test_verbs_are_bound_methods() -> None:
    model = pipe()
    for verb in ("predict", "predict_proba", "decision_function", "score"):
        assert inspect.ismethod(getattr(model, verb)) and getattr(model, verb).__name__ == verb
    assert "X" in inspect.signature(model.predict).parameters
    assert not hasattr(model, "transform") and not hasattr(model, "fit_predict")
    with pytest.raises(AttributeError, match="its last step, LogisticRegression, has none"):
        model.transform  # noqa: B018
    assert tenfold.Pipeline.predict.__doc__


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy", "average_precision"])
def test_scored_by_name(scoring: str) -> None:
    scores = sklearn.model_selection.cross_val_score(pipe(), X, y, scoring=scoring, cv=3)
    alone = sklearn.model_selection.cross_val_score(tenfold.LogisticRegression(), X, y, scoring=scoring, cv=3)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, alone, atol=0.05)


def test_searched() -> None:
    grid = {"logisticregression__C": [1e-6, 1.0]}
    search = sklearn.model_selection.GridSearchCV(pipe(), grid, scoring="neg_log_loss", cv=3).fit(X, y)
    assert search.best_params_ == {"logisticregression__C": 1.0}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_stacked_and_calibrated_by_scikit_learn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stack = sklearn.ensemble.StackingClassifier([("a", pipe()), ("b", tenfold.GaussianNB())], cv=3).fit(X, y)
        assert stack.stack_method_ == ["predict_proba", "predict_proba"] and stack.score(X, y) > 0.8
        assert CalibratedClassifierCV(pipe(), cv=2).fit(X, y).score(X, y) > 0.8
        assert partial_dependence(pipe().fit(X, y), X, [0])["average"].shape[0] == 1


class Alike:
    """Equal to any other of its kind, whatever it does."""

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike)

    __hash__ = None  # type: ignore[assignment]

    def fit(self, X: Any, y: Any = None) -> Alike:
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X) * self.factor


def test_what_is_known_of_the_steps_follows_every_change_of_them() -> None:
    """Steps are looked at once; other steps in their place, by whatever route, are looked at again."""
    model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge()).fit(X, X[:, 0])
    scaled = model.predict(X[:1])
    model.steps[0] = ("standardscaler", "passthrough")  # in place
    assert model._active() == [model.steps[1]] and model.predict(X[:1]) != scaled
    model.set_params(ridge=sklearn.linear_model.Ridge())  # now a step is anybody's
    assert model.accepts == "anything"
    np.testing.assert_allclose(model.fit(X, X[:, 0]).predict(X), sklearn.linear_model.Ridge().fit(X, X[:, 0]).predict(X), rtol=1e-9)
    model.set_params(ridge=tenfold.Ridge(), standardscaler=tenfold.StandardScaler())
    assert model.accepts == "rows" and np.isclose(model.fit(X, X[:, 0]).predict(X[:1]), scaled, rtol=1e-9).all()
    model.steps.append(("more", tenfold.Ridge()))
    with pytest.raises(TypeError, match=r"step 'ridge'.* cannot transform"):
        model.fit(X, X[:, 0])
    wrong: list[Any] = [None, 5, [("a", tenfold.StandardScaler(), 3)]]
    for model.steps in wrong:  # refused as in a pipeline that was never fitted
        with pytest.raises(ValueError, match=r"Pipeline\(steps\)"):
            model.fit(X, X[:, 0])
    inner = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.MissingIndicator())
    outer = tenfold.Pipeline([("inner", inner), ("last", tenfold.Ridge())])
    assert outer.accepts == "rows"
    inner.steps[0] = ("standardscaler", sklearn.preprocessing.StandardScaler())  # a change two floors below
    assert outer.accepts == "anything"


def test_a_step_that_is_equal_to_the_one_before_is_not_taken_for_it() -> None:
    model = tenfold.Pipeline([("a", Alike(1.0)), ("b", "passthrough")]).fit(X, y)
    np.testing.assert_array_equal(model.transform(X), X)
    model.steps[0] = ("a", Alike(2.0))
    np.testing.assert_array_equal(model.transform(X), 2 * X)


def test_rows_pass_once_through_what_pipelines_of_a_path_share(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tenfold.make_pipeline(tenfold.SplineTransformer(), tenfold.Ridge())
    models = model._fit_path(check_fit(model, X, X[:, 0]), "ridge__alpha", [0.1, 1.0, 10.0])
    alone = [one._outputs(X) for one in models]
    work, passed = tenfold.SplineTransformer._transform, []
    monkeypatch.setattr(tenfold.SplineTransformer, "_transform", lambda self, Z: passed.append(len(Z)) or work(self, Z))
    with passed_once():
        together = [one._outputs(X) for one in models]
        assert passed == [120]
        models[0]._outputs(X[:7])  # other rows, and another pipeline
        model.fit(X[:60], y[:60])
        passed.clear()
        assert not np.array_equal(model._outputs(X), alone[0]) and passed == [120]
    assert all(np.array_equal(one, two) for one, two in zip(together, alone, strict=True))
    passed.clear()
    assert [len(one._outputs(X)) for one in models] == [120] * 3 and passed == [120] * 3


@pytest.mark.parametrize("named", [False, True])
def test_a_search_at_the_end_scores_as_it_has_chosen(named: bool) -> None:
    """`score` of a pipeline asked the search as if the pipeline were one."""
    import polars

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=90) > 0
    table = polars.DataFrame(X, schema=["a", "b", "c"]) if named else X
    grid = tenfold.GridSearchCV(tenfold.LogisticRegression(), {"C": [0.1, 10.0]}, cv=3, scoring="neg_log_loss")
    path = tenfold.LogisticRegressionCV(Cs=[0.1, 10.0], cv=3, scoring="neg_log_loss")
    for search in (grid, path):
        model = tenfold.make_pipeline(tenfold.StandardScaler(), search).fit(table, y)
        chance = model.predict_proba(table)[np.arange(90), y.astype(int)]
        assert model.score(table, y) == pytest.approx(np.log(chance).mean(), rel=1e-9)
        w = np.arange(90.0)
        assert model.score(table, y, w) == pytest.approx(np.average(np.log(chance), weights=w), rel=1e-9)
