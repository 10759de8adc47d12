"""Least-squares classification: scikit-learn's numbers, leave-one-out by refitting, sums that learn on, its kinship with Fisher."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn import linear_model
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import tenfold
from tenfold.base.check import check_fit
from tenfold.core.data import Block


def table(n: int = 120, p: int = 5, classes: int = 3, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n, p=np.arange(1, classes + 1) / np.arange(1, classes + 1).sum())
    return rng.normal(size=(n, p)) + np.eye(classes, p)[y], y, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("shape", [(120, 5), (30, 300)])
@pytest.mark.parametrize("settings", [{}, {"alpha": 0.1, "fit_intercept": False}, {"class_weight": {0: 3.0, 1: 0.5}}])
def test_scikit_learns_coefficients(classes: int, shape: Any, settings: dict[str, Any]) -> None:
    X, y, w = table(*shape, classes)
    theirs = linear_model.RidgeClassifier(**settings).fit(X, y, w)
    for rows in (X, scipy.sparse.csr_array(X)):
        ours = tenfold.RidgeClassifier(**settings).fit(rows, y, w)
        assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), atol=1e-9)
        assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
        assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shape", [(120, 5), (30, 300)])
def test_balanced_classes_from_sums(classes: int, shape: Any) -> None:
    X, y, w = table(*shape, classes)
    ours = tenfold.RidgeClassifier(class_weight="balanced").fit(X, y)
    assert_allclose(ours.coef_, np.atleast_2d(linear_model.RidgeClassifier(class_weight="balanced").fit(X, y).coef_), atol=1e-9)
    parts = tenfold.RidgeClassifier(class_weight="balanced")
    for part in (slice(0, 20), slice(20, None)):
        parts.partial_fit(X[part], y[part], sample_weight=w[part], classes=np.arange(classes))
    whole = tenfold.RidgeClassifier(class_weight="balanced").fit(X, y, w)
    assert_allclose(parts.coef_, whole.coef_, atol=1e-10)
    weights = w * (w.sum() / classes / np.bincount(y, w))[y]  # a class counts as much as any other
    assert_allclose(whole.coef_, tenfold.RidgeClassifier().fit(X, y, weights).coef_, atol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weight", [None, {0: 2.0, 1: 0.3}])
def test_leave_one_out_is_that_of_refits(classes: int, weight: Any) -> None:
    X, y, _ = table(40, 4, classes)
    model = tenfold.RidgeClassifier(class_weight=weight)
    theirs = cross_val_predict(linear_model.RidgeClassifier(class_weight=weight), X, y, cv=LeaveOneOut(), method="decision_function")
    chosen = theirs > 0 if classes == 2 else theirs.argmax(axis=1)
    assert np.array_equal(tenfold.cross_validate(model, X, y, folds=len(y)).predictions, chosen)
    left_out = model.fit(X, y)._left_out(check_fit(model, X, y, None))
    assert left_out is not None
    scores = left_out(Block(X, y, np.ones(len(y))))
    assert_allclose(scores[:, 1] if classes == 2 else scores, theirs, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"cv": 4}, {"class_weight": "balanced"}, {"store_cv_results": True}])
def test_the_penalty_is_scikit_learns(classes: int, settings: dict[str, Any]) -> None:
    for shape in ((120, 5), (30, 300)):
        X, y, _ = table(*shape, classes)
        kinds = (tenfold.RidgeClassifierCV, linear_model.RidgeClassifierCV)
        ours, theirs = (kind(alphas=[0.01, 1.0, 30.0], **settings).fit(X, y) for kind in kinds)
        assert ours.alpha_ == theirs.alpha_
        assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-9)
        assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), atol=1e-9)
        if settings.get("store_cv_results"):
            assert_allclose(ours.cv_results_, theirs.cv_results_.reshape(ours.cv_results_.shape), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_of_rows_left_out(classes: int) -> None:
    """The accuracy of refits; scikit-learn's of two classes is 1.0, whatever the rows."""
    X, y, _ = table(40, 4, classes)
    model = tenfold.RidgeClassifierCV(alphas=[0.1, 1000.0], scoring="accuracy", store_cv_results=True).fit(X, y)
    refits = [
        cross_val_predict(linear_model.RidgeClassifier(alpha), X, y, cv=LeaveOneOut(), method="decision_function")
        for alpha in (0.1, 1000.0)
    ]
    assert_allclose(model.cv_results_, np.stack([one.reshape(40, -1) for one in refits], axis=-1), atol=1e-9)
    right = [((one > 0) == y).mean() if classes == 2 else (one.argmax(axis=1) == y).mean() for one in refits]
    assert model.best_score_ == pytest.approx(max(right))
    with pytest.raises(tenfold.BadParameter, match="store_cv_results"):
        tenfold.RidgeClassifierCV(cv=3, store_cv_results=True).fit(X, y)


def test_two_classes_are_fishers_direction() -> None:
    """Least squares on two classes and the linear discriminant have one direction; with targets n/n₁ and −n/n₂ the threshold of equal
    means too (Bishop 2006, §4.1.5)."""
    X, y, _ = table(200, 6, 2)
    fisher = tenfold.LinearDiscriminantAnalysis().fit(X, y).coef_[0]
    squares = tenfold.RidgeClassifier(alpha=0.0).fit(X, y).coef_[0]
    assert_allclose(squares / np.linalg.norm(squares), fisher / np.linalg.norm(fisher), atol=1e-10)
    share = np.bincount(y) / len(y)
    line = tenfold.LinearRegression().fit(X, np.where(y == 1, 1 / share[1], -1 / share[0]))
    assert_allclose(line.coef_ / np.linalg.norm(line.coef_), fisher / np.linalg.norm(fisher), atol=1e-10)
    assert_allclose(line.intercept_, -line.coef_ @ X.mean(axis=0), atol=1e-10)


def test_many_classes_span_fishers_plane() -> None:
    """The predictions of K targets by least squares span the K − 1 directions of the discriminant's projection."""
    X, y, _ = table(300, 6, 4)
    lda = tenfold.LinearDiscriminantAnalysis().fit(X, y)
    Z, coef = lda.transform(X), tenfold.RidgeClassifier(alpha=0.0).fit(X, y).coef_
    assert Z.shape == (300, 3) and np.linalg.matrix_rank(coef, tol=1e-9) == 3
    outside = coef.T - lda.scalings_ @ np.linalg.lstsq(lda.scalings_, coef.T, rcond=None)[0]
    assert_allclose(outside, 0, atol=1e-10)
    within = sum(np.cov(Z[y == k], rowvar=False) * (np.sum(y == k) - 1) for k in range(4)) / (len(y) - 4)
    assert_allclose(within, np.eye(3) * within[0, 0], atol=1e-10)
    between = np.cov(np.array([Z[y == k].mean(axis=0) for k in y]), rowvar=False)
    assert_allclose(between, np.diag(np.diag(between)), atol=1e-10)
    assert (np.diff(np.diag(between)) <= 0).all()


def test_no_probabilities() -> None:
    X, y, _ = table()
    for model in (tenfold.RidgeClassifier(), tenfold.RidgeClassifierCV()):
        assert not hasattr(model.fit(X, y), "predict_proba")
        with pytest.raises(tenfold.BadInput, match="1d"):
            model.fit(X, np.eye(3)[y])
