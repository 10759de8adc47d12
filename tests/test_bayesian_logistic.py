"""BayesianLogisticRegression: posterior, evidence and predictive against numerical integration; the bound never falls; odd tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris

import tenfold
from tenfold import BayesianLogisticRegression, LogisticRegression


def made(n: int, p: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X @ rng.standard_normal((p, k)) + rng.gumbel(size=(n, k))).argmax(1)


def log_posterior(W: np.ndarray, X: np.ndarray, y: np.ndarray, precision: float) -> np.ndarray:
    """log p(y, w) of two classes without a constant, for weights (..., p): likelihood times prior, with all constants."""
    z = (2 * y - 1) * (W @ X.T)
    prior = 0.5 * (W.shape[-1] * np.log(precision / (2 * np.pi)) - precision * (W**2).sum(axis=-1))
    return np.asarray(-np.logaddexp(0, -z).sum(axis=-1) + prior)


def integrated(X: np.ndarray, y: np.ndarray, precision: float, rows: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """On a fine grid of two weights: log evidence, mean of the posterior, and P(1 | row)."""
    peak = minimize(lambda w: -log_posterior(w, X, y, precision), np.zeros(2), tol=1e-10).x
    ticks = np.linspace(-8, 8, 321)
    W = peak + np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1)
    log_p = log_posterior(W, X, y, precision)
    mass = np.exp(log_p - log_p.max())
    evidence = np.log(mass.sum()) + log_p.max() + 2 * np.log(ticks[1] - ticks[0])
    mass /= mass.sum()
    chances = [float((mass / (1 + np.exp(-W @ row))).sum()) for row in rows]
    return float(evidence), np.einsum("ij,ijk->k", mass, W), np.array(chances)


@pytest.mark.parametrize("n", [25, 200])
def test_posterior_evidence_and_predictive_by_integration(n: int) -> None:
    X, y = made(n, 2, 2)
    rows = np.array([[0.5, 0.0], [3.0, -1.0], [-2.0, 2.0], [10.0, 10.0]])
    evidence, mean, chances = integrated(X, y, 0.7, rows)
    setting: dict[str, Any] = dict(prior_precision=0.7, fit_intercept=False)
    laplace = BayesianLogisticRegression(**setting).fit(X, y)
    bound = BayesianLogisticRegression(method="variational", **setting).fit(X, y)
    assert laplace.log_evidence_ == pytest.approx(evidence, abs=3.0 / n)
    assert evidence - 1.5 < bound.log_evidence_ < evidence, "a lower bound"
    np.testing.assert_allclose(bound.coef_[0], mean, rtol=0.1)
    for model, error in ((laplace, 0.01 + 0.75 / n), (bound, 0.05)):  # 25 rows leave a skewed posterior
        np.testing.assert_allclose(model.predict_proba(rows)[:, 1], chances, atol=error)
    draws = BayesianLogisticRegression(predictive="sampling", n_samples=20_000, random_state=0, **setting).fit(X, y)
    np.testing.assert_allclose(draws.predict_proba(rows), laplace.predict_proba(rows), atol=0.02)  # probit itself is near


def test_the_peak_is_ridge_logistic_regression_and_sigma_its_curvature() -> None:
    X, y = made(300, 3, 2)
    model = BayesianLogisticRegression(prior_precision=2.0, intercept_precision=1e-12).fit(X, y)
    same = LogisticRegression(C=0.5, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-8)
    Z, p = np.column_stack([X, np.ones(300)]), same.predict_proba(X)[:, 1]
    H = (Z * (p * (1 - p))[:, None]).T @ Z + np.diag([2.0, 2.0, 2.0, 1e-12])
    np.testing.assert_allclose(model.sigma_, np.linalg.inv(H), rtol=1e-7)
    fit = np.log(np.where(y == 1, p, 1 - p)).sum() - float((same.coef_**2).sum())
    expected = fit + 0.5 * (3 * np.log(2.0) + np.log(1e-12)) - 0.5 * np.linalg.slogdet(H)[1]
    assert model.log_evidence_ == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_precision_chosen_has_most_evidence(k: int, fit_intercept: bool) -> None:
    """The certificate: the evidence, computed by itself for nearby precisions, is level there, and lower further away."""
    X, y = made(250, 3, k)
    model = BayesianLogisticRegression(fit_intercept=fit_intercept).fit(X, y)

    def evidence(shift: float) -> float:
        near = BayesianLogisticRegression(fit_intercept=fit_intercept, prior_precision=model.prior_precision_ * np.exp(shift))
        return float(near.fit(X, y).log_evidence_)

    assert abs(evidence(1e-3) - evidence(-1e-3)) < 1e-7 and evidence(0.0) == pytest.approx(model.log_evidence_, abs=1e-9)
    assert max(evidence(1.0), evidence(-1.0)) < model.log_evidence_ - 0.05


def test_the_bound_never_falls_and_its_precision_is_the_best() -> None:
    for load in (load_breast_cancer, load_iris):
        X, y = load(return_X_y=True)
        X, y = (X - X.mean(0)) / X.std(0), y == 1
        model = BayesianLogisticRegression(method="variational").fit(X, y)
        assert len(model.bounds_) > 5 and np.diff(model.bounds_).min() > -1e-10 * abs(model.log_evidence_)
        fixed = [
            BayesianLogisticRegression(method="variational", prior_precision=model.prior_precision_ * f).fit(X, y).log_evidence_
            for f in (0.9, 1.0, 1.1)
        ]
        assert fixed[1] == pytest.approx(model.log_evidence_, abs=1e-5) and fixed[1] > max(fixed[0], fixed[2])


def test_where_no_column_tells_anything_the_bound_settles_too() -> None:
    rng = np.random.default_rng(0)
    for n, p in ((200, 5), (60, 30)):
        model = BayesianLogisticRegression(method="variational").fit(rng.normal(size=(n, p)), rng.integers(0, 2, n))
        assert model.n_iter_ < 20 and np.diff(model.bounds_).min() > -1e-9 and np.abs(model.coef_).max() < 0.2


def test_many_classes_by_pairs_is_near_sampling_and_two_classes_are_their_case() -> None:
    X, y = made(120, 3, 4)
    probit = BayesianLogisticRegression(prior_precision=0.2).fit(X, y)
    draws = BayesianLogisticRegression(prior_precision=0.2, predictive="sampling", n_samples=20_000, random_state=1).fit(X, y)
    plug = BayesianLogisticRegression(prior_precision=0.2, predictive="map").fit(X, y)
    far = 3 * X
    gap = np.abs(probit.predict_proba(far) - draws.predict_proba(far)).max()
    assert gap < 0.05 and gap < 0.7 * np.abs(plug.predict_proba(far) - draws.predict_proba(far)).max()
    np.testing.assert_allclose(probit.predict_proba(far).sum(axis=1), 1, rtol=1e-12)
    assert probit.predict_proba(far).max(axis=1).mean() < plug.predict_proba(far).max(axis=1).mean(), "less sure of itself"


def test_draws_are_those_of_the_posterior_and_of_the_seed() -> None:
    X, y = made(200, 2, 3)
    model = BayesianLogisticRegression(predictive="sampling", n_samples=50, random_state=3).fit(X, y)
    again = BayesianLogisticRegression(predictive="sampling", n_samples=50, random_state=3).fit(X, y)
    np.testing.assert_array_equal(model.samples_, again.samples_)
    with tenfold.threads(1):
        blocks = [(X[i : i + 40], y[i : i + 40]) for i in range(0, 200, 40)]
        streamed = BayesianLogisticRegression(predictive="sampling", n_samples=50, random_state=3).fit(blocks)
    np.testing.assert_allclose(streamed.predict_proba(X), model.predict_proba(X), rtol=1e-6)
    assert streamed.predict_proba(X[:1].astype(np.float32)).dtype == np.float32
    draws = model.sample(40_000, random_state=0)
    assert draws.shape == (40_000, 3, 3)
    flat = draws[:, :, :-1].reshape(len(draws), -1)
    inner = np.ix_([0, 1, 3, 4, 6, 7], [0, 1, 3, 4, 6, 7])
    np.testing.assert_allclose(np.cov(flat.T), model.sigma_[inner], atol=0.05 * np.abs(model.sigma_[inner]).max())
    np.testing.assert_allclose(draws[:, :, :-1].mean(axis=0), model.coef_, atol=0.02)
    with pytest.raises(tenfold.BadParameter, match="n_samples=0"):
        model.sample(0)


@pytest.mark.parametrize("method", ["laplace", "variational"])
def test_weights_far_columns_sparse_rows_and_streams(method: str) -> None:
    X, y = made(240, 3, 2)
    setting: dict[str, Any] = dict(method=method, prior_precision=0.5, tol=1e-10)
    model = BayesianLogisticRegression(**setting).fit(X, y)
    w = np.random.default_rng(1).integers(0, 3, 240)
    weighted, copies = BayesianLogisticRegression(**setting).fit(X, y, w), BayesianLogisticRegression(**setting)
    copies.fit(np.repeat(X, w, 0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.sigma_, copies.sigma_, rtol=1e-7, atol=1e-10)
    X0 = np.where(np.abs(X) < 0.7, 0.0, X)
    dense, sparse = BayesianLogisticRegression(**setting).fit(X0, y), BayesianLogisticRegression(**setting).fit(sp.csr_array(X0), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-7)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X0)), dense.predict_proba(X0), rtol=1e-7)
    blocks = [(X[i : i + 50], y[i : i + 50]) for i in range(0, 240, 50)]
    np.testing.assert_allclose(BayesianLogisticRegression(**setting).fit(blocks).sigma_, model.sigma_, rtol=1e-7, atol=1e-10)
    far = X + np.array([1e6, 0.0, -1e5])
    moved = BayesianLogisticRegression(**setting).fit(far, y)
    np.testing.assert_allclose(moved.coef_, model.coef_, rtol=1e-3)
    np.testing.assert_allclose(moved.predict_proba(far), model.predict_proba(X), atol=1e-3)
    draws = moved.sample(50, random_state=0)
    assert np.abs(draws[:, 0, :-1] @ far[0] + draws[:, 0, -1]).max() < 10, "the constant goes with the columns"


def test_odd_tables() -> None:
    rng = np.random.default_rng(0)
    X, y = made(60, 3, 2)
    apart = BayesianLogisticRegression().fit(X, X[:, 0] > 0)  # separated: the evidence keeps the weights finite
    assert 1 < np.abs(apart.coef_).max() < 1000
    nothing = BayesianLogisticRegression().fit(X, rng.integers(0, 2, 60))
    assert np.isfinite(nothing.log_evidence_) and np.abs(nothing.coef_).max() < 0.5
    with_zeros = BayesianLogisticRegression(prior_precision=1.0).fit(np.column_stack([X, np.zeros(60), np.ones(60)]), y)
    assert with_zeros.coef_[0, 3] == 0 and with_zeros.sigma_[3, 3] == pytest.approx(1.0)
    for units in (1e6, 1e-6):
        scaled, plain = BayesianLogisticRegression().fit(X * units, y), BayesianLogisticRegression().fit(X, y)
        assert scaled.prior_precision_ == pytest.approx(plain.prior_precision_ * units**2, rel=1e-6)
        np.testing.assert_allclose(scaled.predict_proba(X * units), plain.predict_proba(X), rtol=1e-6)
    wide = rng.normal(size=(40, 300))
    model = BayesianLogisticRegression().fit(wide, wide[:, :5].sum(axis=1) > 0)
    assert np.isfinite(model.log_evidence_) and 0.4 < model.predict_proba(wide).max(axis=1).mean() < 1
    all_zero = BayesianLogisticRegression().fit(np.zeros((6, 2)), [0, 1, 1, 1, 0, 1])
    np.testing.assert_allclose(all_zero.predict_proba(np.zeros((1, 2)))[0, 1], 2 / 3, atol=0.02)


def test_what_cannot_be_is_told() -> None:
    X, y = made(60, 2, 3)
    with pytest.raises(tenfold.BadInput, match="two classes and there are 3: use method='laplace'"):
        BayesianLogisticRegression(method="variational").fit(X, y)
    with pytest.raises(tenfold.BadParameter, match="prior_precision"):
        BayesianLogisticRegression(prior_precision=0.0).fit(X, y)
    with pytest.warns(tenfold.NotConverged, match="max_iter=2"):
        BayesianLogisticRegression(method="variational", max_iter=2).fit(X, y == 1)


def test_the_search_ends_where_evidence_grows_on() -> None:
    """A column that is another times a million: evidence grows beyond the precisions that are tried."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(6, 3)) + rng.integers(-3, 4, 3)
        X = np.hstack([X, 1e6 * X[:, :1], X.sum(axis=1, keepdims=True)])
        model = tenfold.BayesianLogisticRegression(tol=1e-12).fit(X, rng.permutation(np.arange(6) % 2))
        assert np.isfinite(model.log_evidence_)
