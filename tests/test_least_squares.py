"""LinearRegression and Ridge: certified values, optimality conditions, every route to the same answer."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression as SklearnLinearRegression
from sklearn.linear_model import Ridge as SklearnRidge

import tenfold

NIST = Path(__file__).resolve().parents[2] / "shared" / "data" / "nist" / "linear"
PROBLEMS = [
    "Norris",
    "Pontius",
    "NoInt1",
    "NoInt2",
    "Filip",
    "Longley",
    "Wampler1",
    "Wampler2",
    "Wampler3",
    "Wampler4",
    "Wampler5",
]
POWERS = {
    "Norris": 1,
    "Pontius": 2,
    "Filip": 10,
    "Wampler1": 5,
    "Wampler2": 5,
    "Wampler3": 5,
    "Wampler4": 5,
    "Wampler5": 5,
}


def read_problem(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """X, y, certified coefficients (intercept first) and whether there is an intercept."""
    file = NIST / f"{name}.dat"
    if not file.exists():
        pytest.skip(f"the NIST file {name}.dat is not beside this checkout")
    lines = file.read_text().splitlines()
    head = "\n".join(lines[:60])
    spans = {
        key: tuple(int(v) - 1 for v in re.search(rf"{key}\s*\(lines\s*(\d+)\s*to\s*(\d+)\)", head).groups())
        for key in ("Certified Values", "Data")
    }
    first, last = spans["Certified Values"]
    certified = [float(line.split()[1]) for line in lines[first : last + 1] if re.match(r"\s*B\d+\s", line)]
    first, last = spans["Data"]
    table = np.array([[float(v) for v in line.split()] for line in lines[first : last + 1] if line.split()])
    y, x = table[:, 0], table[:, 1:]
    if name in POWERS:
        x = np.column_stack([x[:, 0] ** k for k in range(1, POWERS[name] + 1)])
    return x, y, np.array(certified), not name.startswith("NoInt")


def digits(found: np.ndarray, certified: np.ndarray) -> float:
    """The least number of correct digits: −log10 of the relative error, at most 15."""
    error = np.abs(found - certified) / np.where(certified == 0, 1.0, np.abs(certified))
    return float(min(15.0, -np.log10(np.maximum(error.max(), 1e-15))))


def coefficients(model: tenfold.LinearRegression) -> np.ndarray:
    return np.append(model.intercept_, model.coef_) if model.fit_intercept else model.coef_


@pytest.mark.parametrize("blocks", [None, 3])
@pytest.mark.parametrize("name", PROBLEMS)
def test_nist_certified_coefficients(name: str, blocks: int | None) -> None:
    X, y, certified, intercept = read_problem(name)
    model = tenfold.LinearRegression(fit_intercept=intercept)
    if blocks is None:
        model.fit(X, y)
    else:
        model.fit([(X[i : i + blocks], y[i : i + blocks]) for i in range(0, len(y), blocks)])
    assert digits(coefficients(model), certified) >= (7 if name == "Filip" else 9)


def simulated(n: int, p: int, seed: int = 0, q: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p) * 3
    y = X @ rng.normal(size=(p, q or 1)) + rng.normal(size=(n, q or 1)) + 2
    return X, (y if q else y[:, 0]), rng.uniform(0.2, 3, size=n)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr", "svd", "lsqr"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("q", [None, 1, 3])
def test_every_route_gives_the_least_squares_solution(solver: str, fit_intercept: bool, q: int | None) -> None:
    X, y, w = simulated(200, 6, q=q)
    model = tenfold.LinearRegression(solver=solver, fit_intercept=fit_intercept, tol=1e-13).fit(X, y, w)
    peer = SklearnLinearRegression(fit_intercept=fit_intercept).fit(X, y, w)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-9, atol=1e-9)
    assert model.coef_.shape == peer.coef_.shape


def test_auto_records_its_choice() -> None:
    X, y, _ = simulated(100, 4)
    assert tenfold.LinearRegression().fit(X, y).solver_ == "cholesky"
    near = np.column_stack([X, X[:, 0] + 1e-6 * X[:, 1] + 1e-9 * np.arange(100)])
    assert tenfold.LinearRegression().fit(near, y).solver_ == "qr, refined"


@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr", "svd"])
def test_rank_deficiency_is_told_and_the_least_norm_solution_returned(solver: str) -> None:
    X, y, _ = simulated(60, 3)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(60, 7.0)])
    with pytest.warns(tenfold.Degenerate, match="rank 3"):
        model = tenfold.LinearRegression(solver=solver).fit(X, y)
    exact = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(model.coef_, exact, rtol=1e-8, atol=1e-10)
    assert model.rank_ == 3


def test_more_columns_than_rows() -> None:
    X, y, _ = simulated(8, 30)
    with pytest.warns(tenfold.Degenerate):
        model = tenfold.LinearRegression().fit(X, y)
    np.testing.assert_allclose(
        model.coef_, np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0], rtol=1e-8, atol=1e-12
    )
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-8)


def test_units_of_the_columns_do_not_look_like_dependence() -> None:
    X, y, _ = simulated(80, 3)
    units = np.array([1e-12, 1.0, 1e12])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tenfold.LinearRegression().fit(X * units, y)
    np.testing.assert_allclose(model.coef_ * units, tenfold.LinearRegression().fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("cls", [tenfold.LinearRegression, tenfold.Ridge])
def test_positive_coefficients_satisfy_their_optimality_conditions(cls: type) -> None:
    X, y, w = simulated(150, 8, seed=3)
    model = cls(positive=True).fit(X, y, w)
    alpha = getattr(model, "alpha", 0.0)
    gradient = X.T @ (w * (y - model.predict(X))) - alpha * model.coef_
    assert (model.coef_ >= 0).all() and (model.coef_ == 0).any() and (model.coef_ > 0).any()
    np.testing.assert_allclose(gradient[model.coef_ > 0], 0, atol=1e-8)
    assert (gradient[model.coef_ == 0] <= 1e-8).all()


@pytest.mark.parametrize("alpha", [0.0, 0.5, 40.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("q", [None, 2])
def test_ridge_equals_its_peer_and_its_objective(alpha: float, fit_intercept: bool, q: int | None) -> None:
    X, y, w = simulated(120, 5, q=q)
    model = tenfold.Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(X, y, w)
    peer = SklearnRidge(alpha=alpha, fit_intercept=fit_intercept, solver="cholesky").fit(X, y, w)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-9, atol=1e-12)
    residual = y - model.predict(X)
    gradient = X.T @ (w * residual if q is None else w[:, None] * residual) - alpha * model.coef_.T
    np.testing.assert_allclose(gradient, 0, atol=1e-8)


def test_ridge_path_equals_single_fits() -> None:
    X, y, w = simulated(300, 7)
    alphas = [1e-3, 0.1, 3.0, 1e4]
    model = tenfold.Ridge().fit(X, y, w)
    for alpha, fitted in zip(alphas, model._solve_path(model.stats_, alphas), strict=True):
        one = tenfold.Ridge(alpha=alpha).fit(X, y, w)
        np.testing.assert_allclose(fitted["coef_"], one.coef_, rtol=1e-10)
        np.testing.assert_allclose(fitted["intercept_"], one.intercept_, rtol=1e-10)


def test_sparse_equals_dense() -> None:
    from scipy.sparse import random_array

    X = random_array((300, 12), density=0.2, rng=np.random.default_rng(0), format="csr")
    y = X @ np.arange(12.0) + np.random.default_rng(1).normal(size=300)
    for model in (
        tenfold.LinearRegression(),
        tenfold.LinearRegression(solver="lsqr", tol=1e-13),
        tenfold.Ridge(alpha=2.0),
    ):
        np.testing.assert_allclose(model.fit(X, y).coef_, model.fit(X.toarray(), y).coef_, rtol=1e-10, atol=1e-11)


def test_large_means_cost_no_digits() -> None:
    X, y, _ = simulated(500, 4)
    shifted = X + 1e8
    base = tenfold.LinearRegression().fit(shifted - 1e8, y)
    np.testing.assert_allclose(tenfold.LinearRegression().fit(shifted, y).coef_, base.coef_, rtol=1e-10)


@pytest.mark.parametrize("model", [tenfold.LinearRegression(), tenfold.Ridge(alpha=0.0)], ids=repr)
def test_a_constant_column_with_weights_is_no_column(model: tenfold.Ridge) -> None:
    X, y, w = simulated(70, 3)
    constant = np.column_stack([X, np.full(70, 0.1)])
    with pytest.warns(tenfold.Degenerate):
        model.fit(constant, y, w)
    np.testing.assert_allclose(model.coef_[:3], tenfold.LinearRegression().fit(X, y, w).coef_, rtol=1e-9)
    assert model.coef_[3] == 0


@pytest.mark.parametrize("name", ["Ridge", "RidgeCV", "Lasso", "ElasticNet", "Lars", "LassoLars", "OrthogonalMatchingPursuit"])
def test_a_target_of_one_column_as_in_scikit_learn(name: str) -> None:
    """(n, 1) is (n,) to all but ordinary least squares, which keeps the shape."""
    from sklearn import linear_model

    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X @ [1.0, 2.0, 0.0, -1.0] + 0.1 * rng.normal(size=30)
    ours, theirs = (getattr(space, name)().fit(X, y[:, None]) for space in (tenfold, linear_model))
    assert ours.coef_.shape == theirs.coef_.shape == (4,) and ours.predict(X).shape == theirs.predict(X).shape
    np.testing.assert_array_equal(ours.coef_, getattr(tenfold, name)().fit(X, y).coef_)
    assert tenfold.LinearRegression().fit(X, y[:, None]).coef_.shape == (1, 4)
