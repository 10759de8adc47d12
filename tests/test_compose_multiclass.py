"""One against the rest and one against one, held to scikit-learn's classes with the same members."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.multiclass as theirs
from sklearn.base import clone

import tenfold

rng = np.random.default_rng(0)
N, K = 200, 4
CODE = rng.integers(0, K, N)
X = rng.normal(size=(K, 3))[CODE] * 2 + rng.normal(size=(N, 3))
LABEL = np.array(["a", "b", "c", "d"])[CODE]
WEIGHT = rng.integers(1, 4, N).astype(float)
MEMBERS = {
    "nb": tenfold.GaussianNB(),
    "lda": tenfold.LinearDiscriminantAnalysis(),
    "lr": tenfold.LogisticRegression(tol=1e-12),
    "tree": tenfold.DecisionTreeClassifier(max_depth=3),
    "pipe": tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression(tol=1e-12)),
}


@pytest.mark.parametrize("two", [False, True], ids=["classes", "two"])
@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("name", ["OneVsRestClassifier", "OneVsOneClassifier"])
def test_as_theirs(name: str, member: str, two: bool) -> None:
    y = np.where(CODE > 1, "late", "early") if two else LABEL
    ours = getattr(tenfold, name)(clone(MEMBERS[member])).fit(X, y)
    other = getattr(theirs, name)(clone(MEMBERS[member])).fit(X, y)
    assert len(ours.estimators_) == len(other.estimators_) and ours.n_classes_ == other.n_classes_
    assert hasattr(ours, "decision_function") == hasattr(other, "decision_function")
    if hasattr(ours, "decision_function"):
        # of two classes by probabilities theirs chooses the second above 0.5; ours above 0, as everywhere
        shift = 0.5 if two and name == "OneVsOneClassifier" and not hasattr(MEMBERS[member], "decision_function") else 0.0
        np.testing.assert_allclose(ours.decision_function(X) + shift, other.decision_function(X), rtol=1e-6, atol=1e-6)
    assert (ours.predict(X) == other.predict(X)).all()
    assert hasattr(ours, "predict_proba") == hasattr(other, "predict_proba")
    if hasattr(ours, "predict_proba"):
        np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("name", ["OneVsRestClassifier", "OneVsOneClassifier"])
def test_one_pass_by_class_is_one_fit_for_each_member(name: str) -> None:
    """Statistics merged from those of the classes are those of the member's own rows."""
    model = getattr(tenfold, name)(tenfold.GaussianNB())
    fitted = model.fit([(X[:90], LABEL[:90], WEIGHT[:90]), (X[90:], LABEL[90:], WEIGHT[90:])])
    for key, one in zip(fitted._keys(), fitted.estimators_, strict=True):
        rows = np.isin(CODE, key) if len(key) == 2 else np.ones(N, dtype=bool)
        alone = tenfold.GaussianNB().fit(X[rows], CODE[rows] == key[-1], WEIGHT[rows])
        np.testing.assert_allclose(one.theta_, alone.theta_, rtol=1e-12)
        np.testing.assert_allclose(one.var_, alone.var_, rtol=1e-9)
        np.testing.assert_allclose(one.class_count_, alone.class_count_, rtol=1e-12)


def test_as_many_readings_as_the_longest_member_needs() -> None:
    """Members share each reading of the rows: those of all classes together need few more than one alone."""

    def readings(model: Any) -> int:
        count = 0

        def blocks() -> Any:
            nonlocal count
            count += 1
            yield X, LABEL

        model.fit(blocks)
        return count

    alone = readings(tenfold.LogisticRegression())
    assert readings(tenfold.OneVsOneClassifier(tenfold.LogisticRegression())) <= 2 * alone


def test_parameters_inside_and_refusals() -> None:
    model = tenfold.OneVsRestClassifier(tenfold.LogisticRegression())
    assert clone(model).set_params(estimator__C=3.0).estimator.C == 3.0
    with pytest.raises(tenfold.BadParameter, match="a clusterer, and a classifier is needed"):
        tenfold.OneVsRestClassifier(tenfold.KMeans()).fit(X, LABEL)
    with pytest.raises(TypeError, match="estimator"):
        tenfold.OneVsRestClassifier()
    with pytest.raises(tenfold.BadParameter, match="C=-1"):
        tenfold.OneVsOneClassifier(tenfold.LogisticRegression(C=-1)).fit(X, LABEL)


@pytest.mark.parametrize(
    "model",
    [
        tenfold.OneVsOneClassifier(tenfold.GaussianNB()),
        tenfold.VotingClassifier([("nb", tenfold.GaussianNB())]),
        tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.OneVsOneClassifier(tenfold.GaussianNB())),
    ],
    ids=["pairs", "votes", "pipeline"],
)
def test_votes_are_not_judged_as_probabilities(model: Any) -> None:
    assert tenfold.cross_validate(model, X, LABEL, folds=3).mean > 0.5
    with pytest.raises(tenfold.BadParameter, match="has no predict_proba"):
        tenfold.cross_validate(model, X, LABEL, folds=3, score="log_loss")
    with pytest.raises((tenfold.BadParameter, tenfold.BadInput), match="predict_proba"):
        tenfold.cross_val_predict(model, X, LABEL, folds=3, method="predict_proba")
