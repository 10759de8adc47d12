"""Tables much wider than long: fitted from the rows, without a matrix of p x p, with the results of the usual way."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import tenfold
from tenfold.core.errors import Degenerate
from tenfold.solve import few_rows

N, P = 24, 300
SINGLE = ("HuberRegressor", "LinearSVR", "BayesianRidge", "ReweightedLeastSquares")


def table(seed=0, n=N, p=P, offset=3.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + offset
    X[:, 7] = 2.0
    y = X[:, :5].sum(axis=1) + rng.normal(size=n)
    return X, y, rng.uniform(0.5, 2.0, n)


def quiet(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Degenerate)
        return function(*args, **options)


def usual(monkeypatch, function, *args, **options):
    """The same from p x p matrices."""
    with monkeypatch.context() as patch:
        patch.setattr(few_rows, "WIDE_FROM", 10**9)
        return quiet(function, *args, **options)


def thin(n=60, rank=4):
    """Rows of few dimensions: more of them than the plane has parameters, so that residuals are left."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(n, rank))
    X = 1.0 + A @ rng.normal(size=(rank, P))
    return X, A.sum(axis=1) + np.exp(0.3 * A[:, 0]) * rng.standard_t(3, size=n), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-4, 1.0])
def test_huber(monkeypatch, fit_intercept, alpha):
    X, y, w = thin()
    model = tenfold.HuberRegressor(alpha=alpha, fit_intercept=fit_intercept, tol=1e-10)
    found = clone(model).fit(X, y, sample_weight=w)
    other = usual(monkeypatch, model.fit, X, y, sample_weight=w)
    np.testing.assert_allclose(found.coef_, other.coef_, atol=1e-7)
    np.testing.assert_allclose([found.intercept_, found.scale_], [other.intercept_, other.scale_], atol=1e-6)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_support_vectors(monkeypatch, loss, fit_intercept):
    X, y, w = table()
    model = tenfold.LinearSVR(loss=loss, epsilon=0.1, C=0.01, fit_intercept=fit_intercept, tol=1e-10)
    found = clone(model).fit(X, y, sample_weight=w)
    other = usual(monkeypatch, model.fit, X, y, sample_weight=w)
    np.testing.assert_allclose(found.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(found.intercept_, other.intercept_, atol=1e-6)
    assert found.dual_gap_ < 1e-6


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_bayesian_ridge(monkeypatch, fit_intercept):
    X, y, w = table()
    model = tenfold.BayesianRidge(fit_intercept=fit_intercept, compute_score=True)
    found = clone(model).fit(X, y, sample_weight=w)
    other = usual(monkeypatch, model.fit, X, y, sample_weight=w)
    for name in ("coef_", "intercept_", "alpha_", "lambda_", "sigma_", "scores_"):
        np.testing.assert_allclose(getattr(found, name), getattr(other, name), rtol=1e-5, atol=1e-9, err_msg=name)
    new = table(1)[0]
    for one, two in zip(found.predict(new, return_std=True), other.predict(new, return_std=True), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("cv", [None, 4])
def test_ridge_cv(monkeypatch, fit_intercept, cv):
    X, y, w = table()
    Y = np.column_stack([y, y**2])
    model = tenfold.RidgeCV(alphas=(0.1, 3.0, 100.0), fit_intercept=fit_intercept, cv=cv)
    found = clone(model).fit(X, Y, sample_weight=w)
    other = usual(monkeypatch, model.fit, X, Y, sample_weight=w)
    assert found.alpha_ == other.alpha_
    np.testing.assert_allclose(found.coef_, other.coef_, atol=1e-9)
    np.testing.assert_allclose(found.best_score_, other.best_score_, rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weighted_least_squares(monkeypatch, fit_intercept):
    X, y, w = table()
    model = tenfold.WeightedLeastSquares(fit_intercept=fit_intercept)
    found = quiet(clone(model).fit, X, y, sample_weight=w, variance=1 + w)
    other = usual(monkeypatch, model.fit, X, y, sample_weight=w, variance=1 + w)
    np.testing.assert_allclose(found.coef_, other.coef_, atol=1e-9)
    assert found.rank_ == other.rank_ == N - fit_intercept
    part = quiet(clone(model).partial_fit, X[:9], y[:9], sample_weight=w[:9], variance=1 + w[:9])
    quiet(part.partial_fit, X[9:], y[9:], sample_weight=w[9:], variance=1 + w[9:])
    np.testing.assert_allclose(part.coef_, found.coef_, atol=1e-10)


@pytest.mark.parametrize("variance_model", ["columns", "power", "groups"])
def test_reweighted_least_squares(monkeypatch, variance_model):
    X, y, w = thin()
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # so that both are of least norm in one unit
    groups = {"groups": np.arange(len(X)) % 2} if variance_model == "groups" else {}
    model = tenfold.ReweightedLeastSquares(variance_model=variance_model)
    found = quiet(clone(model).fit, X, y, sample_weight=40 * w, **groups)
    other = usual(monkeypatch, model.fit, X, y, sample_weight=40 * w, **groups)
    np.testing.assert_allclose(found.predict(X), other.predict(X), atol=1e-6)
    np.testing.assert_allclose(found.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(found.variance(X, **groups), other.variance(X, **groups), rtol=1e-4)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale", [None, "some", "exact", "many exact"])
@pytest.mark.parametrize("rows", [table, thin])
def test_total_least_squares(monkeypatch, fit_intercept, scale, rows):
    X, y, w = rows()
    Y = np.column_stack([y, np.cos(y)])
    scales = np.linspace(0.5, 2.0, P)
    scales[: {"exact": 3, "many exact": 100}.get(scale, 0)] = 0.0
    model = tenfold.TotalLeastSquares(scale=None if scale is None else scales, fit_intercept=fit_intercept)
    found = quiet(clone(model).fit, X, Y, sample_weight=w)
    other = usual(monkeypatch, model.fit, X, Y, sample_weight=w)
    np.testing.assert_allclose(found.coef_, other.coef_, atol=1e-7)
    np.testing.assert_allclose(found.squares_, other.squares_, rtol=1e-7, atol=1e-8)
    assert found.generic_ == other.generic_


@pytest.mark.parametrize("method", ["geometric", "algebraic"])
def test_circle(monkeypatch, method):
    rng = np.random.default_rng(0)
    plane = np.linalg.qr(rng.normal(size=(P, 3)))[0]
    along = rng.normal(size=(N, 3))
    X = 5.0 + 4.0 * (along / np.linalg.norm(along, axis=1)[:, None]) @ plane.T + 0.01 * rng.normal(size=(N, P))
    model = tenfold.CircleFit(method=method)
    found = quiet(clone(model).fit, X)
    other = usual(monkeypatch, model.fit, X)
    np.testing.assert_allclose(found.radius_, other.radius_, rtol=1e-8)
    np.testing.assert_allclose(found.center_, other.center_, atol=1e-6)
    np.testing.assert_allclose(found.rms_, other.rms_, atol=1e-8)


@pytest.mark.parametrize("name", ["HuberRegressor", "ReweightedLeastSquares"])
def test_interpolation_is_of_least_norm(name):
    """What passes through all rows is a sum of them."""
    X, y, _ = table()
    model = quiet(getattr(tenfold, name)().fit, X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    Z = X - X.mean(axis=0)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(Z, y - y.mean(), rcond=1e-12)[0], atol=1e-9)


@pytest.mark.parametrize("name", [*SINGLE, "WeightedLeastSquares", "TotalLeastSquares", "RidgeCV", "Ridge", "LinearRegression"])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_as_dense(name, form):
    X = sp.random(20, 400, density=0.1, random_state=0).toarray()
    y = np.arange(20.0) + X[:, 0]
    dense = quiet(getattr(tenfold, name)().fit, X, y)
    sparse = quiet(getattr(tenfold, name)().fit, getattr(sp, f"{form}_array")(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-9)


@pytest.mark.parametrize("name", ["BayesianRidge", "WeightedLeastSquares", "TotalLeastSquares"])
def test_saved(tmp_path, name):
    X, y, _ = table()
    model = quiet(getattr(tenfold, name)().fit, X, y)
    for resumable in (False, True):
        tenfold.save(model, tmp_path / "model", resumable=resumable)
        again = tenfold.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert type(again.stats_).__name__ in ("FewRows", "Weighed")


@pytest.mark.parametrize(
    "name",
    [*SINGLE, "WeightedLeastSquares", "RidgeCV", "CircleFit", "TotalLeastSquares"],
)
def test_memory_is_that_of_the_rows(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 3000)), rng.normal(size=6)
    tracemalloc.start()
    quiet(getattr(tenfold, name)().fit, X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 0.2 * 8 * 3000**2


# --- discriminant analysis ---


def classes(n=40, k=3):
    rng = np.random.default_rng(2)
    y = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    X = rng.normal(size=(n, P)) * np.linspace(0.5, 2.0, P) + 0.3 * y[:, None] + 5.0
    X[:, 7] = 2.0
    return X, np.array(["a", "b", "c"])[y], rng.uniform(0.5, 2.0, n)


def same_classifier(found, other, X, names):
    for name in names:
        np.testing.assert_allclose(getattr(found, name), getattr(other, name), rtol=1e-6, atol=1e-8, err_msg=name)
    for rows in (X, X[:9] + 0.1):
        # of log probabilities of thousands, the differences between classes are what rounding leaves
        one, two = found.predict_log_proba(rows), other.predict_log_proba(rows)
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [None, 0.3])
@pytest.mark.parametrize("priors", [False, True])
def test_linear_discriminant(monkeypatch, k, solver, shrinkage, priors):
    if solver == "svd" and shrinkage:
        shrinkage = 1.0
    X, y, w = classes(k=k)
    model = tenfold.LinearDiscriminantAnalysis(
        solver=solver, shrinkage=shrinkage, priors=[0.5, 0.3, 0.2][:k] if priors and k == 3 else None, store_covariance=True
    )
    found = quiet(clone(model).fit, X, y, sample_weight=w)
    other = usual(monkeypatch, model.fit, X, y, sample_weight=w)
    attributes = ["coef_", "intercept_", "means_", "priors_", "xbar_", "covariance_"]
    same_classifier(found, other, X, attributes)
    np.testing.assert_allclose(
        np.abs(found.transform(X)), np.abs(other.transform(X)), rtol=1e-5, atol=1e-6 * np.abs(other.transform(X)).max()
    )
    ratio = found.explained_variance_ratio_
    np.testing.assert_allclose(ratio, other.explained_variance_ratio_, atol=1e-9)


@pytest.mark.parametrize("reg_param", [0.0, 0.1])
@pytest.mark.parametrize("shrinkage", [None, 0.2])
def test_quadratic_discriminant(monkeypatch, reg_param, shrinkage):
    X, y, w = classes()
    model = tenfold.QuadraticDiscriminantAnalysis(reg_param=reg_param, shrinkage=shrinkage, store_covariance=True)
    found = quiet(clone(model).fit, X, y, sample_weight=w)
    other = usual(monkeypatch, model.fit, X, y, sample_weight=w)
    same_classifier(found, other, X, ["means_", "priors_", "constant_", "covariance_"])
    for one, two in zip(found.scalings_, other.scalings_, strict=True):
        np.testing.assert_allclose(one, two[: len(one)], rtol=1e-7)
    assert found.axes_[0].shape[1] < len(X)


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"])
def test_discriminants_learn_on_and_are_saved(tmp_path, name):
    X, y, w = classes()
    model, part = getattr(tenfold, name)(), getattr(tenfold, name)()
    quiet(model.fit, X, y, sample_weight=w)
    quiet(part.partial_fit, X[:15], y[:15], sample_weight=w[:15], classes=["a", "b", "c"])
    quiet(part.partial_fit, X[15:], y[15:], sample_weight=w[15:])
    np.testing.assert_allclose(part.predict_proba(X), model.predict_proba(X), atol=1e-9)
    for resumable in (False, True):
        tenfold.save(model, tmp_path / "model", resumable=resumable)
        np.testing.assert_array_equal(tenfold.load(tmp_path / "model").predict_proba(X), model.predict_proba(X))
    assert type(tenfold.load(tmp_path / "model").stats_).__name__ == "ClassRows"
    many = np.vstack([X] * 5)  # more rows than half of the columns: moments
    again = quiet(tenfold.load(tmp_path / "model").partial_fit, many, np.tile(y, 5))
    assert type(again.stats_).__name__ == "Moments"
    assert 0 <= quiet(tenfold.cross_validate, getattr(tenfold, name)(), X, y, folds=4).mean <= 1


@pytest.mark.parametrize(
    "model", [tenfold.LinearDiscriminantAnalysis("lsqr", shrinkage=0.5), tenfold.QuadraticDiscriminantAnalysis()]
)
def test_discriminants_of_forty_thousand_columns(model):
    """p x p would take 13 GB."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 40_000)), np.arange(20) % 2
    X[:, :2000] += y[:, None]
    assert (quiet(clone(model).fit, X, y).predict(X) == y).all()
