"""Optimism: closed forms, and the promise itself in simulation."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.evaluate.validate.optimism import (
    degrees_of_freedom,
    mallows_cp,
    noise_variance,
    optimism_by_sampling,
    vc_bound,
)


def test_degrees_are_the_trace_of_the_hat_matrix() -> None:
    X = np.random.default_rng(0).normal(size=(40, 5)) + 3
    Z = X - X.mean(axis=0)
    for alpha in (0.1, 20.0):
        hat = Z @ np.linalg.solve(Z.T @ Z + alpha * np.eye(5), Z.T)
        np.testing.assert_allclose(degrees_of_freedom(tenfold.Ridge(alpha), X), np.trace(hat) + 1, rtol=1e-10)
    raw = X @ np.linalg.solve(X.T @ X + np.eye(5), X.T)
    np.testing.assert_allclose(
        degrees_of_freedom(tenfold.Ridge(1.0, fit_intercept=False), X), np.trace(raw), rtol=1e-10
    )
    assert degrees_of_freedom(tenfold.LinearRegression(), np.column_stack([X, X[:, 0]])) == 6.0


@pytest.mark.parametrize("alpha", [0.0, 30.0])
def test_cp_and_sampling_estimate_the_in_sample_error(alpha: float) -> None:
    """On 200 simulated data sets the mean estimate is within 2 standard errors of the true in-sample error."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 8))
    signal = X @ rng.normal(size=8)
    model = tenfold.Ridge(alpha) if alpha else tenfold.LinearRegression()
    gaps = []
    for _ in range(200):
        y = signal + 1.5 * rng.normal(size=50)
        truth = float(((signal - model.fit(X, y).predict(X)) ** 2).mean() + 1.5**2)
        gaps.append(mallows_cp(model, X, y).estimate - truth)
    gaps = np.array(gaps)
    assert abs(gaps.mean()) < 2 * gaps.std(ddof=1) / np.sqrt(len(gaps))


@pytest.mark.parametrize("method", ["parametric", "rademacher"])
def test_sampling_finds_the_degrees_of_a_linear_smoother(method: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 6))
    y = X @ np.ones(6) + rng.normal(size=60)
    model = tenfold.Ridge(10.0)
    found = optimism_by_sampling(model, X, y, method=method, replicates=300)
    np.testing.assert_allclose(found.degrees, degrees_of_freedom(model, X), rtol=0.12)
    np.testing.assert_allclose(found.noise, noise_variance(X, y), rtol=1e-12)


def test_vc_bound_shrinks_with_rows_and_grows_with_dimension() -> None:
    assert vc_bound(100_000, 11) < vc_bound(10_000, 11) < vc_bound(10_000, 101)
    expected = np.sqrt((11 * (np.log(2e4 / 11) + 1) + np.log(4 / 0.05)) / 1e4)
    np.testing.assert_allclose(vc_bound(10_000, 11), expected, rtol=1e-14)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, y: degrees_of_freedom(tenfold.KMeans(), X),
        lambda X, y: mallows_cp(tenfold.Ridge(positive=True), X, y),
        lambda X, y: optimism_by_sampling(tenfold.Ridge(), X, y, method="guess"),
        lambda X, y: noise_variance(X[:4], y[:4]),
        lambda X, y: vc_bound(0, 3),
        lambda X, y: vc_bound(10, 3, confidence=1.0),
    ],
)
@pytest.mark.filterwarnings("ignore::tenfold.Degenerate")
def test_bad_requests_are_told(call) -> None:
    X = np.random.default_rng(0).normal(size=(20, 5))
    with pytest.raises(tenfold.TenfoldError):
        call(X, X[:, 0])
