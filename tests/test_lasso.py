"""Lasso and ElasticNet: optimality conditions, scikit-learn's answers, every route to the same answer."""

from __future__ import annotations

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array
from sklearn import linear_model as theirs

import tenfold
from tenfold.linear import lasso

Array = np.ndarray[Any, Any]


def table(n: int = 200, p: int = 30, seed: int = 0) -> tuple[Array, Array, Array]:
    """Correlated columns far from zero, a sparse truth, whole-number weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 20
    y = X[:, :5] @ np.arange(1.0, 6.0) + rng.normal(size=n) * 5
    return X, y, rng.integers(0, 4, n)


def violation(model: Any, X: Array, y: Array, w: Array) -> float:
    """How far the optimality conditions are from holding, as a share of the largest correlation."""
    ratio = getattr(model, "l1_ratio", 1.0)
    alpha = getattr(model, "alpha_", getattr(model, "alpha", None))
    ratio = getattr(model, "l1_ratio_", ratio)
    rest = y - X @ model.coef_ - model.intercept_
    X = X - np.average(X, axis=0, weights=w) if model.fit_intercept else X
    pull = X.T @ (w * rest) / w.sum() - alpha * (1 - ratio) * model.coef_
    l1, on = alpha * ratio, model.coef_ != 0
    inside = np.maximum(pull if model.positive else np.abs(pull), l1) - l1
    wrong = np.where(on, np.abs(pull - l1 * np.sign(model.coef_)), inside)
    return float(wrong.max() / np.abs(X.T @ (w * y) / w.sum()).max())


SETTINGS = [
    {"alpha": 1.0},
    {"alpha": 0.01},
    {"alpha": 0.1, "positive": True},
    {"alpha": 0.3, "fit_intercept": False},
    {"alpha": 30.0},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("name, more", [("Lasso", {}), ("ElasticNet", {"l1_ratio": 0.3})])
def test_optimal_and_equal_to_scikit_learn(
    name: str, more: dict[str, Any], setting: dict[str, Any], weighted: bool
) -> None:
    X, y, w = table()
    w = w if weighted else np.ones(len(y))
    ours = getattr(tenfold, name)(**setting, **more).fit(X, y, w)
    assert violation(ours, X, y, w) < 1e-11
    if setting.get("positive"):
        assert (ours.coef_ >= 0).all()
    peer = getattr(theirs, name)(**setting, **more, tol=1e-13, max_iter=200_000).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=0, atol=2e-6)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-6)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("name", ["Lasso", "ElasticNet"])
def test_rows_and_moments_agree(monkeypatch: pytest.MonkeyPatch, name: str, setting: dict[str, Any]) -> None:
    """The form for very many columns gives what the moments give."""
    X, y, w = table()
    Y = np.column_stack([y, y**2])
    expected = getattr(tenfold, name)(**setting).fit(X, Y, w)
    monkeypatch.setattr(lasso, "WIDE", 5)
    found = getattr(tenfold, name)(**setting).fit(X, Y, w)
    assert "stats_" not in vars(found)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-9 * np.abs(expected.coef_).max())
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-8)


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 5000))
    y = X[:, :4].sum(axis=1) + 0.1 * rng.normal(size=50)
    model = tenfold.Lasso(alpha=0.1).fit(X, y)
    assert violation(model, X, y, np.ones(50)) < 1e-11
    assert np.count_nonzero(model.coef_) < 50
    peer = theirs.Lasso(alpha=0.1, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=0, atol=1e-6)
    with pytest.raises(tenfold.NotFitted, match="carries no statistics"):
        model.forget(X[:2], y[:2])


def test_no_penalty_is_least_squares_and_no_l1_is_ridge() -> None:
    X, y, w = table()
    plain = tenfold.Lasso(alpha=0.0).fit(X, y, w)
    least = tenfold.LinearRegression().fit(X, y, w)
    np.testing.assert_allclose(plain.coef_, least.coef_, rtol=1e-8)
    net = tenfold.ElasticNet(alpha=0.5, l1_ratio=0.0).fit(X, y, w)
    ridge = tenfold.Ridge(alpha=0.5 * w.sum()).fit(X, y, w)
    np.testing.assert_allclose(net.coef_, ridge.coef_, rtol=1e-8)


def test_all_zero_from_the_largest_correlation_on() -> None:
    X, y, _ = table()
    top = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    assert not tenfold.Lasso(alpha=top * 1.0001).fit(X, y).coef_.any()
    assert np.count_nonzero(tenfold.Lasso(alpha=top * 0.999).fit(X, y).coef_) == 1


def test_repeated_columns() -> None:
    """The lasso has many solutions, all with the same predictions; the elastic net shares."""
    X, y, _ = table()
    twice = np.column_stack([X, X])
    one, both = tenfold.Lasso(alpha=0.5).fit(X, y), tenfold.Lasso(alpha=0.5, tol=1e-12).fit(twice, y)
    np.testing.assert_allclose(both.predict(twice), one.predict(X), rtol=1e-4)
    shared = tenfold.ElasticNet(alpha=0.5).fit(twice, y).coef_
    np.testing.assert_allclose(shared[:30], shared[30:], rtol=0, atol=1e-8)


def test_sparse_rows() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 20)) * (rng.random((100, 20)) < 0.2)
    y = X @ rng.normal(size=20) + rng.normal(size=100)
    dense, sparse = tenfold.Lasso(alpha=0.05).fit(X, y), tenfold.Lasso(alpha=0.05).fit(csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-12)


@pytest.mark.parametrize("setting", [{}, {"positive": True}, {"fit_intercept": False}], ids=str)
def test_wide_sparse_rows_stay_sparse(setting: dict[str, Any]) -> None:
    """As dense: 2,000 rows of 20,000 columns would take 320 MB."""
    rng = np.random.default_rng(3)
    X = random_array((300, 5000), density=0.01, rng=rng, format="csr")
    y = X[:, :10] @ np.arange(1.0, 11.0) + 0.01 * rng.normal(size=300)
    weights = rng.integers(0, 3, 300)
    sparse = tenfold.Lasso(alpha=0.002, **setting).fit(X, y, weights)
    dense = tenfold.Lasso(alpha=0.002, **setting).fit(X.toarray(), y, weights)
    assert 5 < np.count_nonzero(sparse.coef_) < 300
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, rtol=0, atol=1e-9)
    big = random_array((2000, 20_000), density=0.001, rng=rng, format="csr")
    tracemalloc.start()
    found = tenfold.Lasso(alpha=1e-4, **setting).fit(big, big[:, :5].sum(axis=1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6 and found.coef_[:5].any()
    assert not tenfold.Lasso(alpha=1.0, **setting).fit(big, big[:, :5].sum(axis=1)).coef_.any()


def test_the_path_of_one_fit() -> None:
    """Cross-validated penalties come from merged moments, and equal refitting."""
    X, y, _ = table()
    alphas = [3.0, 0.1, 1.0]
    path = tenfold.validation_path(tenfold.Lasso(), X, y, "alpha", alphas, folds=4)
    assert path.best in alphas
    stats = tenfold.Lasso().fit(X, y).stats_
    fitted = tenfold.Lasso().fit(X, y)._solve_path(stats, alphas)
    for alpha, one in zip(alphas, fitted, strict=True):
        np.testing.assert_allclose(one["coef_"], tenfold.Lasso(alpha=alpha).fit(X, y).coef_, rtol=0, atol=1e-10)


def test_too_few_sweeps_are_told() -> None:
    """The exact finish makes up for them; repeated columns leave descent alone."""
    X, y, _ = table()
    twice = np.column_stack([X, X])
    with pytest.warns(tenfold.NotConverged, match="increase max_iter"):
        tenfold.Lasso(alpha=0.01, max_iter=1, tol=1e-10).fit(twice, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tenfold.Lasso(alpha=1.0, max_iter=1).fit(X, y)
