"""GeneralizedLeastSquares: statsmodels' answers and inference, every form of the covariance, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from test_weighted import assert_as_statsmodels, rows

import tenfold

Array = np.ndarray[Any, Any]
Model = tenfold.GeneralizedLeastSquares


def correlated(n: int = 90) -> Array:
    """Noise that fades over five rows, with variances of its own."""
    place = np.arange(n)
    size = 1 + (place % 4)
    return 0.8 ** np.abs(np.subtract.outer(place, place)) * np.outer(size, size) + 0.1 * np.eye(n)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_as_statsmodels(fit_intercept: bool) -> None:
    X, y, _ = rows()
    C = correlated()
    model = Model(fit_intercept=fit_intercept).fit(X, y, covariance=C)
    assert_as_statsmodels(model.inference(), sm.GLS(y, sm.add_constant(X) if fit_intercept else X, sigma=C).fit())
    assert "std error" in model.summary()


def test_every_form_of_the_covariance() -> None:
    X, y, v = rows()
    C = correlated()
    L = np.linalg.cholesky(C)
    whole = Model().fit(X, y, covariance=C)
    for form in ({"factor": L}, {"covariance": lambda A: np.linalg.solve(L, A)}):
        found = Model().fit(X, y, **form)
        np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-10)
        np.testing.assert_allclose(found.inference().standard_errors, whole.inference().standard_errors, rtol=1e-10)
    by_rows, weighted = Model().fit(X, y, covariance=v), tenfold.WeightedLeastSquares().fit(X, y, variance=v)
    np.testing.assert_allclose(by_rows.coef_, weighted.coef_, rtol=1e-10)
    np.testing.assert_allclose(by_rows.inference().aic, weighted.inference().aic, rtol=1e-10)
    true = Model(absolute=True).fit(X, y, covariance=C).inference()
    scale = np.sqrt(whole.inference().sigma2[0])
    np.testing.assert_allclose(true.standard_errors, whole.inference().standard_errors / scale, rtol=1e-10)


def test_without_a_covariance_it_is_least_squares() -> None:
    X, y, _ = rows()
    s = np.random.default_rng(0).integers(0, 3, len(y))
    ours, plain = Model().fit(X, y, s), tenfold.LinearRegression().fit(X, y, s)
    np.testing.assert_allclose(ours.coef_, plain.coef_, rtol=1e-10)
    np.testing.assert_allclose(ours.inference().standard_errors, plain.inference().standard_errors, rtol=1e-9)


def test_it_beats_least_squares_where_noise_is_correlated() -> None:
    """The variance of the estimate is that of the theorem of Gauss, Markov and Aitken, and least squares' is larger."""
    X, _, _ = rows()
    C = correlated()
    L, Z = np.linalg.cholesky(C), np.column_stack([np.ones(len(X)), X])
    rng = np.random.default_rng(0)
    best, plain = [], []
    for _ in range(400):
        y = X @ [1.0, 2.0, -1.0] + L @ rng.normal(size=len(X))
        best.append(Model().fit(X, y, factor=L).coef_)
        plain.append(tenfold.LinearRegression().fit(X, y).coef_)
    promised = np.diagonal(np.linalg.inv(Z.T @ np.linalg.solve(C, Z)))[1:]
    np.testing.assert_allclose(np.var(best, axis=0), promised, rtol=0.2)
    assert (np.var(plain, axis=0) > 1.3 * promised).all()


def test_several_targets() -> None:
    X, y, _ = rows()
    model = Model().fit(X, np.column_stack([y, 3 * y]), covariance=correlated())
    np.testing.assert_allclose(model.coef_[1], 3 * model.coef_[0], rtol=1e-10)
    assert model.inference().standard_errors.shape == (2, 4)


def test_what_is_refused() -> None:
    X, y, v = rows()
    C, L = correlated(), np.linalg.cholesky(correlated())
    lopsided = C.copy()
    lopsided[2, 5] += 1
    hole = C.copy()
    hole[4, 4] = np.nan
    for given, words in (
        ({"covariance": C[:5, :5]}, r"shape \(5, 5\)"),
        ({"covariance": lopsided}, "not symmetric"),
        ({"covariance": hole}, "row 4, column 4"),
        ({"covariance": C - 2 * np.eye(90)}, "not positive definite"),
        ({"covariance": -v}, "above zero"),
        ({"factor": L.T}, "lower triangular"),
        ({"covariance": C, "factor": L}, "one of the two"),
        ({"covariance": C, "sample_weight": v}, "one of the two"),
        ({"covariance": lambda A: A[:3]}, "must return finite numbers"),
        ({"covariance": lambda A: A * np.nan}, "must return finite numbers"),
    ):
        with pytest.raises(tenfold.BadInput, match=words):
            Model().fit(X, y, **given)


def test_nearly_singular_covariances_and_dependent_columns_are_told() -> None:
    X, y, _ = rows()
    with pytest.warns(tenfold.Degenerate, match="nearly singular"):
        Model().fit(X, y, covariance=np.diag(np.logspace(-16, 0, 90)))
    with pytest.warns(tenfold.Degenerate, match="have rank 3 only"):
        both = Model().fit(np.column_stack([X, X[:, 0]]), y, covariance=correlated())
    with pytest.raises(tenfold.BadInput, match="not determined"):
        both.inference()


@pytest.mark.parametrize("size", [1e-8, 1e-13, 1e-20])
def test_gammas_of_any_size(size: float) -> None:
    """The model of size times y has the same coefficients, and an intercept that is moved by log(size)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.exp(X @ [0.5, -0.2]) * rng.gamma(3, size=80)
    one, other = (tenfold.GammaRegressor(alpha=0, tol=1e-10).fit(X, target) for target in (y, size * y))
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-7)
    np.testing.assert_allclose(other.intercept_, one.intercept_ + np.log(size), rtol=1e-9)


@pytest.mark.parametrize("size", [1e-20, 1e-100, 1e-160])
def test_a_mean_near_nothing_is_where_the_search_begins(size: float) -> None:
    y = size * np.array([1.0, 3.0, 2.0])
    assert tenfold.GammaRegressor().fit(np.zeros((3, 1)), y).intercept_ == pytest.approx(np.log(2 * size), rel=1e-12)
