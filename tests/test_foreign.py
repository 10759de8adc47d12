"""Learners that are not Tenfold's inside those that are: scikit-learn's, and classes of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

import tenfold
from tenfold.base.foreign import ByVerbs, learner_of, own_of, role_of
from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadInput, BadParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
LABELS = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]


class Nearest:
    """A user's own classifier: nothing but fit and predict."""

    def fit(self, X: Any, y: Any) -> Nearest:
        self.X, self.y = np.asarray(X), np.asarray(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.y[((np.asarray(X)[:, None] - self.X[None]) ** 2).sum(axis=2).argmin(axis=1)]


class Short(Nearest):
    def predict(self, X: Any) -> Any:
        return super().predict(X)[1:]


def test_ours_stay_as_they_are_and_others_are_asked_by_their_verbs() -> None:
    ridge, svc = tenfold.Ridge(), SVC(C=3.0)
    assert learner_of(ridge) is ridge
    one = learner_of(svc)
    assert isinstance(one, ByVerbs) and own_of(one) is svc and own_of(ridge) is ridge
    assert (one.role, one.target, role_of(SVR())) == ("classifier", "label", "regressor")
    assert one.get_params()["C"] == 3.0 and one.set_params(C=5.0).learner.C == 5.0


def test_a_fresh_copy_is_unfitted_and_leaves_the_users_own_alone() -> None:
    mine = Nearest()
    copies = fresh(learner_of(mine)), fresh(learner_of(SVC(C=2.0).fit(X, LABELS)))
    assert copies[0].learner is not mine and not hasattr(copies[1].learner, "classes_") and copies[1].learner.C == 2.0


def test_cross_validation_refits_per_fold_and_gives_the_scores_of_the_learner() -> None:
    found = tenfold.evaluate.cross_validate(learner_of(SVC()), X, LABELS, random_state=0)
    assert found.method == "refitted"
    assert float(np.mean(found.scores)) > 0.7


def test_one_against_the_rest_around_another_librarys_classifier() -> None:
    from sklearn.multiclass import OneVsRestClassifier

    ours, theirs = tenfold.OneVsRestClassifier(SVC()).fit(X, LABELS), OneVsRestClassifier(SVC()).fit(X, LABELS)
    assert (ours.predict(X) == theirs.predict(X)).all()
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-10)


def test_bad_members_are_refused_in_one_sentence() -> None:
    with pytest.raises(BadParameter, match="has no fit"):
        tenfold.OneVsRestClassifier(object()).fit(X, LABELS)
    with pytest.raises(BadParameter, match="is the class SVC, and an instance is needed"):
        tenfold.OneVsRestClassifier(SVC).fit(X, LABELS)
    with pytest.raises(BadParameter, match="a regressor, and a classifier is needed"):
        tenfold.OneVsRestClassifier(SVR()).fit(X, LABELS)
    with pytest.raises(BadInput, match="Short: predict has returned 89 of 90 rows"):
        learner_of(Short())._fit(tenfold.base.check.check_fit(learner_of(Short()), X, X[:, 0]))._predict(X)
