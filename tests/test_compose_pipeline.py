"""Pipelines inside scikit-learn's tools: their verbs are methods as others are."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.model_selection
from sklearn.calibration import CalibratedClassifierCV
from sklearn.inspection import partial_dependence

import tenfold

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
