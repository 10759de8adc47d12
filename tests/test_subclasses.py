"""Classes of users that inherit a learner: their own constructor, fit and fitted attributes, as users of scikit-learn write them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import tenfold


class Logged(tenfold.Ridge):
    """Another default, a parameter of its own, and something noted before and after the fit."""

    def __init__(self, alpha=3.0, note="none"):
        super().__init__(alpha=alpha)
        self.note = note

    def fit(self, X, y, sample_weight=None):
        self.seen_ = np.shape(X)
        super().fit(X, y, sample_weight)
        self.largest_ = float(np.abs(self.coef_).max())
        return self


class Renamed(tenfold.LogisticRegression):
    """Nothing but another name."""


class Trusting(tenfold.Lasso):
    """Takes what its parent takes."""

    def __init__(self, alpha=0.5, **more):
        super().__init__(alpha=alpha, **more)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=60)


def test_parameters_are_those_of_the_constructor():
    made = Logged(note="here")
    assert made.get_params() == {"alpha": 3.0, "note": "here"}
    assert repr(made) == "Logged(note='here')"
    assert clone(made).note == "here"
    assert made.set_params(alpha=2.0).alpha == 2.0
    with pytest.raises(tenfold.BadParameter, match="fit_intercept"):
        made.set_params(fit_intercept=False)


def test_what_fit_notes_stays(table):
    X, y = table
    made = Logged().fit(X, y)
    assert made.seen_ == (60, 4)
    assert made.largest_ == np.abs(made.coef_).max()
    made.fit(X[:50], y[:50])
    assert made.seen_ == (50, 4)
    np.testing.assert_array_equal(made.coef_, tenfold.Ridge(alpha=3.0).fit(X[:50], y[:50]).coef_)
    assert pickle.loads(pickle.dumps(made)).seen_ == (50, 4)


def test_a_failed_fit_leaves_no_model(table):
    X, y = table
    made = Logged().fit(X, y)
    with pytest.raises(ValueError):
        made.fit(X * np.nan, y)
    with pytest.raises(tenfold.NotFitted):
        made.predict(X)


def test_checks_of_inherited_parameters_hold(table):
    with pytest.raises(tenfold.BadParameter, match=r"Logged\(alpha=-1\): must be >= 0"):
        Logged(alpha=-1).fit(*table)


@pytest.mark.parametrize("made", [Logged(), Trusting()])
def test_in_tools_around_it(made, table):
    X, y = table
    search = GridSearchCV(made, {"alpha": [0.01, 1.0]}, cv=3).fit(X, y)
    assert type(search.best_estimator_) is type(made)
    assert tenfold.cross_validate(made, X, y, folds=3).scores.shape == (1, 3)
    assert cross_val_score(made, X, y, cv=3).shape == (3,)


def test_a_plain_subclass_is_its_parent_under_another_name(table):
    X, y = table
    ours = Renamed(C=0.5).fit(X, y > 0)
    np.testing.assert_array_equal(ours.coef_, tenfold.LogisticRegression(C=0.5).fit(X, y > 0).coef_)
    assert repr(clone(ours)) == "Renamed(C=0.5)"
