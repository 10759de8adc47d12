"""Robust regression: against scikit-learn, its own optimality conditions, gross errors, the lecture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model

import tenfold


def table(n: int = 200, p: int = 4, seed: int = 0) -> tuple[Any, Any, Any]:
    """Columns of different sizes and a target with heavy tails; and the true coefficients."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.integers(-2, 3, p)
    X = rng.normal(size=(n, p)) * size + size
    true = rng.uniform(1, 3, p) * rng.choice([-1, 1], p) / size
    return X, X @ true + 5 + rng.standard_t(2, size=n), true


def huber_gradient(model: Any, X: Any, y: Any, w: Any) -> Any:
    """Of the documented objective in (w, b, σ), each entry over the sizes of its terms."""
    u = (y - X @ model.coef_ - model.intercept_) / model.scale_
    psi = np.clip(u, -model.epsilon, model.epsilon)
    slopes = (-2 * X.T @ (w * psi) + 2 * model.alpha * model.coef_) / (np.abs(X).T @ w)
    return np.append(slopes, [w @ psi / w.sum(), w @ (1 - psi**2) / w.sum()])


@pytest.mark.parametrize("epsilon", [1.1, 1.35, 4.0])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 10.0])
def test_huber_is_optimal(epsilon: float, alpha: float) -> None:
    X, y, _ = table()
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    model = tenfold.HuberRegressor(epsilon=epsilon, alpha=alpha).fit(X, y, w)
    np.testing.assert_allclose(huber_gradient(model, X, y, w), 0, atol=1e-10)


def test_huber_is_at_least_as_good_as_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3)) + 1
    y = X @ [1.0, -2.0, 3.0] + rng.standard_t(2, size=500)
    ours = tenfold.HuberRegressor().fit(X, y)
    theirs = linear_model.HuberRegressor(tol=1e-9, max_iter=2000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)
    np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-4)
    assert objective(ours, X, y) <= objective(theirs, X, y) * (1 + 1e-12)
    np.testing.assert_array_equal(ours.outliers(X, y), theirs.outliers_)


def objective(model: Any, X: Any, y: Any) -> float:
    r, s, e = np.abs(y - X @ model.coef_ - model.intercept_), model.scale_, model.epsilon
    each = s + np.where(r <= e * s, r**2 / s, 2 * e * r - s * e**2)
    return float(each.sum() + model.alpha * (model.coef_**2).sum())


@pytest.mark.parametrize("learner", [tenfold.HuberRegressor()], ids=repr)
def test_gross_errors_do_not_move_it(learner: Any) -> None:
    """30 % of the targets replaced by numbers a thousand times too large: coefficients stay within 2 %."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4000, 3))
    true = np.array([3.0, -2.0, 1.0])
    y = X @ true + 0.1 * rng.normal(size=4000)
    spoiled = rng.random(4000) < 0.3
    y[spoiled] = 1000 * rng.normal(size=spoiled.sum())
    model = learner.fit(X, y)
    assert np.linalg.norm(model.coef_ - true) < 0.02 * np.linalg.norm(true)
    least_squares = tenfold.LinearRegression().fit(X, y)
    assert np.linalg.norm(least_squares.coef_ - true) > np.linalg.norm(true)


def test_huber_weights_and_outliers() -> None:
    X, y, _ = table()
    y[:5] += 1e3
    model = tenfold.HuberRegressor().fit(X, y)
    weights, far = model.weights(X, y), model.outliers(X, y)
    assert (
        far[:5].all() and (weights[~far] == 1).all() and (weights[far] < 1).all() and weights[:5].max() < 0.05
    )
    with pytest.raises(AttributeError, match="call outliers"):
        model.outliers_  # noqa: B018


def test_huber_exact_fits_and_too_few_passes() -> None:
    X, _, true = table()
    exact = tenfold.HuberRegressor().fit(X, X @ true)
    np.testing.assert_allclose(exact.coef_, true, rtol=1e-8)
    X, y, _ = table()
    with pytest.warns(tenfold.NotConverged, match="raise max_iter"):
        tenfold.HuberRegressor(max_iter=2).fit(X, y)
