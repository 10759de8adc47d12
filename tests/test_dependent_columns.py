"""Least squares of dependent columns: a full set of dummies, repeated and constant columns, in any units and by any solver."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tenfold
from tenfold.core.errors import Degenerate

LEVELS = [2, 2, 2, 3, 5, 12]


def dummies(seed):
    """A full set of dummy columns of one or two categories, of 30 to 2,000 rows, which are dependent with an intercept."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 2000))
    tables = [np.eye(k)[np.r_[np.arange(k), rng.integers(0, k, n - k)]] for k in rng.choice(LEVELS, 1 + seed % 2)]
    return rng, np.hstack(tables), rng.normal(size=n)


def least_norm(X, y, w=None, fit_intercept=True):
    """NumPy's solution of least norm for centred columns, and their rank."""
    w = np.ones(len(X)) if w is None else w
    X, y, w = (part.astype(np.longdouble) for part in (X, y, w))
    mean, level = (w @ X / w.sum(), w @ y / w.sum()) if fit_intercept else (0.0, 0.0)
    root = np.sqrt(w)
    Z, t = (root[:, None] * (X - mean)).astype(float), (root * (y - level).T).T.astype(float)
    coef = np.linalg.lstsq(Z, t, rcond=1e-10)[0]
    return coef.T, int(np.linalg.matrix_rank(Z, tol=1e-10 * np.linalg.norm(Z)))


def fitted(model, *args, **options):
    with pytest.warns(Degenerate, match="rank|dependent"):
        return model.fit(*args, **options)


@pytest.mark.parametrize("start", range(0, 200, 25))
def test_full_sets_of_dummies(start):
    for seed in range(start, start + 25):
        _, X, y = dummies(seed)
        model = fitted(tenfold.LinearRegression(), X, y)
        coef, rank = least_norm(X, y)
        np.testing.assert_allclose(model.coef_, coef, atol=1e-11)
        assert model.rank_ == rank < X.shape[1]
        assert model.condition_ == np.inf


@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr", "svd"])
@pytest.mark.parametrize("seed", range(6))
def test_every_solver_weights_and_targets(solver, seed):
    rng, X, _ = dummies(seed)
    Y, w = rng.normal(size=(len(X), 3)), rng.uniform(0.01, 10, len(X))
    model = fitted(tenfold.LinearRegression(solver=solver), X, Y, sample_weight=w)
    coef, rank = least_norm(X, Y, w)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-9)
    assert model.rank_ == rank


@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr"])
@pytest.mark.parametrize("seed", range(4))
def test_repeated_constant_and_zero_columns(solver, seed):
    rng, X, y = dummies(seed)
    A = rng.normal(size=(len(X), 3))
    X = np.column_stack([X, A, A[:, 1], np.full(len(X), 7.3), np.zeros(len(X)), A @ [1.0, 0.1, -2.0], X[:, 0]])
    model = fitted(tenfold.LinearRegression(solver=solver), X, y)
    coef, rank = least_norm(X, y)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-9)
    assert model.rank_ == rank
    alone = fitted(tenfold.LinearRegression(solver=solver, fit_intercept=False), X, y)
    coef, rank = least_norm(X, y, fit_intercept=False)
    np.testing.assert_allclose(alone.coef_, coef, atol=1e-9)
    assert alone.rank_ == rank


@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr"])
@pytest.mark.parametrize("unit", [1e-100, 1e-9, 1e9, 1e100])
def test_units_of_the_table(solver, unit):
    _, X, y = dummies(1)
    model = fitted(tenfold.LinearRegression(solver=solver), X * unit, y)
    coef, rank = least_norm(X, y)
    np.testing.assert_allclose(model.coef_ * unit, coef, atol=1e-9)
    assert model.rank_ == rank


@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr"])
def test_units_of_the_columns(solver):
    rng, X, y = dummies(5)
    X = X * 10.0 ** rng.uniform(-2, 2, X.shape[1])
    model = fitted(tenfold.LinearRegression(solver=solver), X, y)
    coef, rank = least_norm(X, y)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-7, atol=1e-9 * np.abs(coef).max())
    assert model.rank_ == rank


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_columns_far_from_zero(offset):
    """What centring leaves of a dependence is as large as the rounding of the values before it."""
    rng = np.random.default_rng(0)
    A = np.round(rng.normal(size=(500, 4)) * 1024) / 1024 + offset
    X, y = np.column_stack([A, A[:, 0] + A[:, 1] - 2 * A[:, 2]]), rng.normal(size=500)
    model = fitted(tenfold.LinearRegression(), X, y)
    coef, _ = least_norm(X, y)
    assert model.rank_ == 4
    np.testing.assert_allclose(model.coef_, coef, atol=1e-7)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_few_rows_far_from_zero(offset):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 600)) + offset, rng.normal(size=20)
    model = fitted(tenfold.LinearRegression(), X, y, sample_weight=np.linspace(0.1, 3, 20))
    coef, _ = least_norm(X, y, np.linspace(0.1, 3, 20))
    assert model.rank_ == 19
    np.testing.assert_allclose(model.coef_, coef, atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_ridge_without_a_penalty(seed):
    _, X, y = dummies(seed)
    model = fitted(tenfold.Ridge(alpha=0.0), X, y)
    np.testing.assert_allclose(model.coef_, least_norm(X, y)[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_known_variances(seed):
    rng, X, y = dummies(seed)
    variance = rng.uniform(0.1, 10, len(X))
    coef, rank = least_norm(X, y, 1 / variance)
    for model in (tenfold.WeightedLeastSquares(), tenfold.GeneralizedLeastSquares()):
        given = {"variance" if isinstance(model, tenfold.WeightedLeastSquares) else "covariance": variance}
        fitted(model, X, y, **given)
        np.testing.assert_allclose(model.coef_, coef, atol=1e-9)
        assert model.rank_ == rank


def test_after_one_hot_encoding_and_in_cross_validation():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, size=(400, 2)).astype(str)
    y = (X[:, 0] == "2") * 3.0 + rng.normal(size=400)
    pipe = fitted(tenfold.make_pipeline(tenfold.OneHotEncoder(), tenfold.LinearRegression()), X, y)
    table = np.hstack([X[:, [j]] == np.unique(X[:, j]) for j in range(2)]).astype(float)
    means = np.linalg.lstsq(np.column_stack([np.ones(400), table]), y, rcond=1e-10)[0]
    np.testing.assert_allclose(pipe.predict(X), means[0] + table @ means[1:], atol=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Degenerate)
        for learner in (tenfold.LinearRegression(), tenfold.WeightedLeastSquares()):
            outcome = tenfold.cross_validate(learner, table, y, folds=5, score="rmse")
            assert 0.9 < outcome.mean < 1.1


@pytest.mark.parametrize("seed", range(4))
def test_a_condition_at_the_end_of_double_precision_is_no_dependence(seed):
    """Columns that differ in the 10th digit are no repeated columns."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(300, 3))
    X = np.column_stack([A, A[:, 0] + 1e-10 * rng.normal(size=300)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tenfold.LinearRegression().fit(X, A @ [1.0, 2.0, 3.0])
    assert model.rank_ == 4
