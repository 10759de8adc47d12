"""Mixtures of regressions: the truth of simulated rows, the gradient of the likelihood, SciPy's density, and least squares for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.linear_model import LinearRegression

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, Degenerate, NotConverged

TRUE = dict(weights=np.array([0.5, 0.3, 0.2]), coef=np.array([[1.0, 2.0], [-2.0, 0.0], [0.0, 3.0]]), intercept=np.array([0.0, 3.0, -4.0]))
DEVIATION = np.array([0.3, 0.5, 0.2])


def simulated(n: int = 1500, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    X, part = rng.normal(size=(n, 2)), rng.choice(3, n, p=TRUE["weights"])
    y = (X * TRUE["coef"][part]).sum(axis=1) + TRUE["intercept"][part] + DEVIATION[part] * rng.normal(size=n)
    return X, y, part


X, Y, PART = simulated()
FITTED = tenfold.MixtureOfRegressions(3, random_state=0, tol=1e-13).fit(X, Y)
ORDER = np.argsort(-FITTED.weights_)


def test_the_truth_is_found() -> None:
    for name, atol in (("weights", 0.03), ("coef", 0.07), ("intercept", 0.07)):
        np.testing.assert_allclose(getattr(FITTED, f"{name}_")[ORDER], TRUE[name], atol=atol)
    np.testing.assert_allclose(np.sqrt(FITTED.variances_[ORDER]), DEVIATION, atol=0.04)
    assert np.mean(FITTED.responsibilities(X, Y)[:, ORDER].argmax(axis=1) == PART) > 0.93
    for seed in range(1, 4):  # whatever the seed
        other = tenfold.MixtureOfRegressions(3, random_state=seed, tol=1e-10).fit(X, Y)
        np.testing.assert_allclose(other.lower_bound_, FITTED.lower_bound_, rtol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_gradient_is_zero_and_no_step_lowers_the_likelihood(intercept: bool) -> None:
    weight = np.random.default_rng(1).uniform(0.2, 2, len(X))
    model = tenfold.MixtureOfRegressions(3, fit_intercept=intercept, random_state=0, tol=1e-13).fit(X, Y, weight)
    assert (np.diff(model.lower_bounds_) > -1e-12).all() and model.converged_
    values = X @ model.coef_.T + model.intercept_
    joint = np.log(model.weights_) + norm(values, np.sqrt(model.variances_)).logpdf(Y[:, None])
    density = logsumexp(joint, axis=1)
    r, away = weight[:, None] * np.exp(joint - density[:, None]), Y[:, None] - values
    total = weight.sum()
    np.testing.assert_allclose((r * away).T @ X / total, 0, atol=1e-6)
    np.testing.assert_allclose((r * (away**2 / model.variances_ - 1)).sum(axis=0) / total, 0, atol=1e-5)
    np.testing.assert_allclose(r.sum(axis=0) / total, model.weights_, atol=1e-6)
    np.testing.assert_allclose(model.lower_bound_, weight @ density / total, rtol=1e-9)
    if intercept:
        np.testing.assert_allclose((r * away).sum(axis=0) / total, 0, atol=1e-6)
    np.testing.assert_allclose(model.responsibilities(X, Y), r / weight[:, None], atol=1e-9)
    np.testing.assert_allclose(model.log_likelihood(X, Y), density.sum(), rtol=1e-10)


def test_one_regression_is_least_squares() -> None:
    model, theirs = tenfold.MixtureOfRegressions(1).fit(X, Y), LinearRegression().fit(X, Y)
    np.testing.assert_allclose(model.coef_[0], theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-9)
    np.testing.assert_allclose(model.variances_[0], np.mean((Y - theirs.predict(X)) ** 2), rtol=1e-9)


def test_predictions_are_means_and_the_number_is_found_by_bic() -> None:
    np.testing.assert_allclose(FITTED.predict(X), FITTED.predict_components(X) @ FITTED.weights_, rtol=1e-12)
    np.testing.assert_allclose(FITTED.predict_components(X), X @ FITTED.coef_.T + FITTED.intercept_, rtol=1e-12)
    bic = [tenfold.MixtureOfRegressions(k, random_state=0).fit(X, Y).bic(X, Y) for k in range(1, 5)]
    assert np.argmin(bic) == 2 and FITTED.n_parameters_ == 14


def test_dependent_columns_have_the_solution_of_least_norm() -> None:
    twice = np.column_stack([X[:, 0], X[:, 0], X[:, 1], np.ones(len(X))])
    model = tenfold.MixtureOfRegressions(3, random_state=0).fit(twice, Y)
    np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 1], atol=1e-6)
    np.testing.assert_allclose(model.lower_bound_, FITTED.lower_bound_, rtol=1e-4)


def test_equal_variances_are_the_mean_of_the_squares() -> None:
    model = tenfold.MixtureOfRegressions(3, equal_variance=True, random_state=0, tol=1e-12).fit(X, Y)
    squares = model.responsibilities(X, Y) * (Y[:, None] - model.predict_components(X)) ** 2
    np.testing.assert_allclose(model.variances_, squares.sum() / len(Y), rtol=1e-5)
    assert (np.diff(model.lower_bounds_) > -1e-12).all() and model.n_parameters_ == 12 and model.lower_bound_ < FITTED.lower_bound_


def test_what_is_told() -> None:
    line = np.arange(30.0)
    with pytest.warns(Degenerate, match="collapsed"):
        tenfold.MixtureOfRegressions(2, random_state=0).fit(line[:, None], np.where(line % 2, line, -line))
    with pytest.warns(NotConverged, match="max_iter=1"):
        tenfold.MixtureOfRegressions(3, random_state=0, max_iter=1).fit(X, Y)
    with pytest.raises(BadInput, match="fewer components"):
        tenfold.MixtureOfRegressions(8).fit(X[:5], Y[:5])
    with pytest.raises(BadInput, match=r"need at least 302 different rows, and there are 150: .* drop columns"):
        tenfold.MixtureOfRegressions(2).fit(np.random.default_rng(0).normal(size=(150, 150)), Y[:150])
    wrong: Any = {"least_variance": 0}
    with pytest.raises(ValueError, match="least_variance"):
        tenfold.MixtureOfRegressions(**wrong).fit(X, Y)
