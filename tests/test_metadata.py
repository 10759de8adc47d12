"""Metadata routing: requests of our learners are read by scikit-learn's composites, and kept by copies and fits."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import get_routing_for_object

import tenfold


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=60), rng.integers(1, 5, 60).astype(float)


def test_requests_are_kept_by_clone_fit_and_nested_copies(table):
    X, y, w = table
    asked = tenfold.Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight="score_weight")
    for one in (asked, clone(asked), tenfold.Ridge.fit(clone(asked), X, y, w)):
        found = get_routing_for_object(one)
        assert found.fit.requests == {"sample_weight": True}
        assert found.score.requests == {"sample_weight": "score_weight"}
    assert get_routing_for_object(tenfold.Ridge()).fit.requests == {"sample_weight": None}


def test_weights_reach_the_learner_in_a_pipeline_and_in_cross_validation(table):
    X, y, w = table
    asked = tenfold.Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    through = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked).fit(X, y, sample_weight=w)
    Z = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(through[-1].coef_, tenfold.Ridge().fit(Z, y, w).coef_)
    scores = cross_validate(asked, X, y, cv=3, params={"sample_weight": w}, return_estimator=True)
    train = np.r_[20:60]
    np.testing.assert_array_equal(scores["estimator"][0].coef_, tenfold.Ridge().fit(X[train], y[train], w[train]).coef_)


def test_what_is_not_requested_is_refused(table):
    X, y, w = table
    with pytest.raises(ValueError, match="sample_weight"):
        cross_validate(tenfold.Ridge(), X, y, cv=3, params={"sample_weight": w})


def test_bad_requests():
    with pytest.raises(TypeError, match=r"Unexpected args: \{'groups'\} in fit"):
        tenfold.Ridge().set_fit_request(groups=True)
    assert not hasattr(tenfold.Ridge(), "set_predict_request")
    with sklearn.config_context(enable_metadata_routing=False), pytest.raises(RuntimeError, match="metadata routing"):
        tenfold.Ridge().set_fit_request(sample_weight=True)
