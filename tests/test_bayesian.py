"""Bayesian linear regression: against scikit-learn, the evidence itself, the posterior, parts of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model

import tenfold


def table(n: int = 120, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 2.0, 5.0, 0.5] + 2
    return X, X @ [1.0, -0.5, 0.2, 2.0] + 3 + rng.normal(size=n)


@pytest.mark.parametrize("more", [{}, {"fit_intercept": False}, {"alpha_1": 2.0, "lambda_2": 3.0}], ids=str)
def test_equal_to_scikit_learn(more: dict[str, Any]) -> None:
    X, y = table()
    ours = tenfold.BayesianRidge(compute_score=True, **more).fit(X, y)
    theirs = linear_model.BayesianRidge(tol=1e-13, compute_score=True, **more).fit(X, y)
    for name in ("coef_", "intercept_", "alpha_", "lambda_", "sigma_", "X_offset_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, err_msg=name)
    np.testing.assert_allclose(ours.scores_[-1], theirs.scores_[-1], rtol=1e-9)
    for mine, other in zip(ours.predict(X, return_std=True), theirs.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9)


def log_evidence(X: Any, y: Any, alpha: float, weight: float) -> float:
    """log N(y; 0, I/alpha + X Xᵀ/lambda), from its definition."""
    covariance = np.eye(len(y)) / alpha + X @ X.T / weight
    _, logdet = np.linalg.slogdet(covariance)
    return float(-0.5 * (y @ np.linalg.solve(covariance, y) + logdet + len(y) * np.log(2 * np.pi)))


def test_evidence_is_at_its_maximum_and_right() -> None:
    X, y = table(60)
    flat = dict(alpha_1=0.0, alpha_2=0.0, lambda_1=0.0, lambda_2=0.0)
    model = tenfold.BayesianRidge(fit_intercept=False, compute_score=True, **flat).fit(X, y)
    best = log_evidence(X, y, model.alpha_, model.lambda_)
    np.testing.assert_allclose(model.scores_[-1], best, rtol=1e-10)
    for a, b in [(1.02, 1), (0.98, 1), (1, 1.1), (1, 0.9)]:
        assert log_evidence(X, y, a * model.alpha_, b * model.lambda_) < best
    assert (np.diff(model.scores_) > -1e-9).all()


def test_learning_part_by_part_is_learning_all() -> None:
    X, y = table()
    whole, parts = tenfold.BayesianRidge().fit(X, y), tenfold.BayesianRidge()
    for i in range(0, 120, 17):
        parts.partial_fit(X[i : i + 17], y[i : i + 17])
    np.testing.assert_allclose(parts.sigma_, whole.sigma_, rtol=1e-9)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)
    np.testing.assert_allclose(parts.alpha_, whole.alpha_, rtol=1e-9)


def test_predictive_intervals_cover_as_often_as_they_say() -> None:
    X, y = table(4000, seed=1)
    mean, deviation = tenfold.BayesianRidge().fit(X[:60], y[:60]).predict(X[60:], return_std=True)
    share = (np.abs(y[60:] - mean) < 1.6449 * deviation).mean()
    assert abs(share - 0.9) < 0.04
    assert deviation.max() > deviation.min(), "rows far from the others are less certain"


def test_exact_and_constant_targets_and_too_few_updates() -> None:
    X, y = table()
    exact = tenfold.BayesianRidge().fit(X, X @ [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(exact.coef_, [1.0, 2.0, 3.0, 4.0], rtol=1e-6)
    constant = tenfold.BayesianRidge().fit(X, np.full(len(y), 7.0))
    np.testing.assert_allclose(constant.predict(X), 7.0, rtol=1e-9)
    with pytest.warns(tenfold.NotConverged, match="raise max_iter"):
        tenfold.BayesianRidge(max_iter=1).fit(X, y)
