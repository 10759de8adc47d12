"""Where numbers differ from scikit-learn's, docs/from_scikit_learn.md says why: here with an oracle for each."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import tenfold


def test_huber_with_weights_has_the_lower_objective_and_theirs_comes_near_when_it_goes_on() -> None:
    X, y = load_diabetes(return_X_y=True)
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)

    def objective(model: Any) -> float:
        z = np.abs(y - X @ model.coef_ - model.intercept_) / model.scale_
        loss = np.where(z < model.epsilon, z**2, 2 * model.epsilon * z - model.epsilon**2)
        return float(w @ (model.scale_ * (1 + loss)) + model.alpha * model.coef_ @ model.coef_)

    ours = tenfold.HuberRegressor().fit(X, y, w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        short = HuberRegressor().fit(X, y, w)
    long = HuberRegressor(max_iter=10_000, tol=1e-10).fit(X, y, w)
    assert objective(ours) < objective(long) < objective(short)
    assert np.abs(ours.predict(X) - short.predict(X)).max() > 1 > 20 * np.abs(ours.predict(X) - long.predict(X)).max()
    copies = tenfold.HuberRegressor().fit(np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int)))
    np.testing.assert_allclose(ours.predict(X), copies.predict(X), rtol=1e-10)


@pytest.mark.parametrize("weights", [{"bad": 3, "good": 1}, "balanced"], ids=str)
def test_weights_of_named_classes_are_those_of_a_fit_that_went_to_the_end(weights: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    named = np.array(["bad", "good"])[y]
    ours = tenfold.LogisticRegression(class_weight=weights).fit(X, named)
    theirs = LogisticRegression(class_weight=weights, solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(X, named)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_platt_scaling_of_naive_bayes_is_theirs_on_their_folds(load: Any) -> None:
    X, y = load(return_X_y=True)
    ours = tenfold.CalibratedClassifierCV(tenfold.GaussianNB(), cv=5).fit(X, y)
    theirs = CalibratedClassifierCV(GaussianNB(), cv=5).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-6)
    loss = log_loss(y, tenfold.CalibratedClassifierCV(tenfold.GaussianNB()).fit(X, y).predict_proba(X))
    assert loss == pytest.approx(log_loss(y, theirs.predict_proba(X)), abs=0.01)  # folds by content are as good


def test_log_loss_of_trees_differs_by_the_order_of_columns_as_theirs_by_the_seed() -> None:
    X, y = load_iris(return_X_y=True)

    def mean_loss(model: Any, columns: Any = slice(None)) -> float:
        parts = (train_test_split(X[:, columns], y, random_state=seed, test_size=0.3) for seed in range(30))
        return float(np.mean([log_loss(test, model.fit(rows, own).predict_proba(new)) for rows, new, own, test in parts]))

    ours = [mean_loss(tenfold.DecisionTreeClassifier(), order) for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1])]
    theirs = [mean_loss(DecisionTreeClassifier(random_state=seed)) for seed in range(3)]
    assert max(min(ours), min(theirs)) < min(max(ours), max(theirs))  # the ranges overlap


def test_adaboost_of_classes_is_theirs_and_pairs_by_probabilities_are_shifted_by_half() -> None:
    X, y = load_iris(return_X_y=True)
    ours, theirs = tenfold.AdaBoostClassifier(random_state=0).fit(X, y), AdaBoostClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-12)
    two = y[50:]
    tree = tenfold.DecisionTreeClassifier(max_depth=2)
    pairs = [kind(tree).fit(X[50:], two) for kind in (tenfold.OneVsOneClassifier, OneVsOneClassifier)]
    np.testing.assert_allclose(pairs[0].decision_function(X[50:]) + 0.5, pairs[1].decision_function(X[50:]), rtol=1e-12)
    assert np.array_equal(pairs[0].predict(X[50:]), pairs[1].predict(X[50:]))
