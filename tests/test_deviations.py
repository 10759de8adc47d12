"""Least absolute deviations: the optimum of the linear program, the tie-break, gross errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import tenfold


def table(n: int, p: int = 3, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3, p) + 1
    return X, X @ rng.normal(size=p) + 2 + rng.laplace(size=n), rng.integers(1, 4, n).astype(float)


def optimum(X: Any, y: Any, w: Any, intercept: bool) -> float:
    """Σ w |r| / Σ w of the whole linear program, by HiGHS: θ = u − v, r = a − b."""
    Z = np.column_stack([X, np.ones(len(X))])[:, : X.shape[1] + intercept]
    n, q = Z.shape
    cost = np.concatenate([np.zeros(2 * q), w, w])
    found = linprog(cost, A_eq=np.hstack([Z, -Z, np.eye(n), -np.eye(n)]), b_eq=y)
    return float(found.fun / w.sum())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n", [30, 900])
def test_optimum_of_the_linear_program(n: int, intercept: bool) -> None:
    X, y, w = table(n)
    model = tenfold.LeastAbsoluteDeviations(fit_intercept=intercept).fit(X, y, w)
    value = float(w @ np.abs(y - X @ model.coef_ - model.intercept_) / w.sum())
    np.testing.assert_allclose(value, optimum(X, y, w, intercept), rtol=1e-9)
    np.testing.assert_allclose(model.mean_deviation_, value, rtol=1e-12)
    rough = tenfold.LeastAbsoluteDeviations(fit_intercept=intercept, method="irls").fit(X, y, w)
    assert value * (1 - 1e-12) <= rough.mean_deviation_ < value * (1 + (1e-4 if n > 100 else 0.02))


def test_the_optimum_of_least_squares_is_taken() -> None:
    """Two rows at each of two places: any line through both gaps will do; least squares takes the middles."""
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = tenfold.LeastAbsoluteDeviations().fit(X, [0.0, 1.0, 4.0, 8.0])
    np.testing.assert_allclose([model.intercept_, *model.coef_], [0.5, 5.5], atol=1e-9)


def test_gross_errors_do_not_move_it() -> None:
    rng = np.random.default_rng(4)
    X, true = rng.normal(size=(3000, 3)), np.array([3.0, -2.0, 1.0])
    y = X @ true + 0.1 * rng.normal(size=3000)
    y[rng.random(3000) < 0.3] = 1e6
    model = tenfold.LeastAbsoluteDeviations().fit(X, y)
    assert np.linalg.norm(model.coef_ - true) < 0.02 * np.linalg.norm(true)


def test_more_parameters_than_rows_are_told() -> None:
    """And the solution is the one of least norm."""
    X, y = np.random.default_rng(0).normal(size=(4, 7)), np.arange(4.0)
    with pytest.warns(tenfold.Degenerate, match="4 rows do not determine 8"):
        model = tenfold.LeastAbsoluteDeviations().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-8)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(centred) @ (y - y.mean()), atol=1e-9)
