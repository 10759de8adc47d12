"""WeightedLeastSquares: statsmodels' answers and standard errors, variances that are not weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

import tenfold

Array = np.ndarray[Any, Any]
Model = tenfold.WeightedLeastSquares


def rows(n: int = 90, seed: int = 0) -> tuple[Array, Array, Array]:
    """A line whose noise differs from row to row, with known variances."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 4
    v = rng.uniform(0.1, 9, n)
    return X, X @ [1.0, 2.0, -1.0] + 3 + rng.normal(size=n) * np.sqrt(v), v


def assert_as_statsmodels(found: Any, peer: Any) -> None:
    """Coefficients, errors, tests and criteria, to eleven digits."""
    pairs = {
        "coef": peer.params, "standard_errors": peer.bse, "t": peer.tvalues, "p_values": peer.pvalues,
        "covariance": peer.cov_params(), "r2": peer.rsquared, "adjusted_r2": peer.rsquared_adj, "f": peer.fvalue,
        "f_p_value": peer.f_pvalue, "log_likelihood": peer.llf, "aic": peer.aic, "bic": peer.bic,
    }  # fmt: skip
    for name, expected in pairs.items():
        np.testing.assert_allclose(getattr(found, name)[0], expected, rtol=1e-9, atol=1e-14, err_msg=name)
    np.testing.assert_allclose(found.intervals(0.9)[0], peer.conf_int(0.1), rtol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_as_statsmodels(fit_intercept: bool) -> None:
    X, y, v = rows()
    Z = sm.add_constant(X) if fit_intercept else X
    model = Model(fit_intercept=fit_intercept).fit(X, y, variance=v)
    peer = sm.WLS(y, Z, weights=1 / v).fit()
    assert_as_statsmodels(model.inference(), peer)
    Q = np.linalg.qr(Z / np.sqrt(v)[:, None])[0]
    np.testing.assert_allclose(model.leverage(X, v), (Q * Q).sum(axis=1), rtol=1e-9)
    assert "std error" in model.summary()


def test_without_variances_it_is_least_squares() -> None:
    X, y, _ = rows()
    ours, plain = Model().fit(X, y), tenfold.LinearRegression().fit(X, y)
    np.testing.assert_array_equal(ours.coef_, plain.coef_)
    np.testing.assert_array_equal(ours.inference().standard_errors, plain.inference().standard_errors)
    same = Model().fit(X, y, variance=np.full(len(y), 4.0)).inference()
    np.testing.assert_allclose(same.standard_errors, ours.inference().standard_errors, rtol=1e-10)
    np.testing.assert_allclose(same.log_likelihood, ours.inference().log_likelihood, rtol=1e-10)


def test_true_variances_fix_the_scale() -> None:
    """Standard errors that do not look at the residuals, and cover the truth as often as they say."""
    X, y, v = rows()
    peer = sm.WLS(y, sm.add_constant(X), weights=1 / v).fit(cov_type="fixed scale", use_t=False)
    found = Model(absolute=True).fit(X, y, variance=v).inference()
    np.testing.assert_allclose(found.standard_errors[0], peer.bse, rtol=1e-10)
    np.testing.assert_allclose(found.p_values[0], peer.pvalues, rtol=1e-9, atol=1e-15)
    noise = (y - X @ found.coef[0, 1:] - found.coef[0, 0]) / np.sqrt(v)
    direct = -0.5 * (noise @ noise + np.log(2 * np.pi * v).sum())
    np.testing.assert_allclose(found.log_likelihood, direct, rtol=1e-12)
    rng, inside = np.random.default_rng(1), []
    for _ in range(300):
        again = X @ [1.0, 2.0, -1.0] + 3 + rng.normal(size=len(y)) * np.sqrt(v)
        ends = Model(absolute=True).fit(X, again, variance=v).inference().intervals(0.9)[0]
        inside.append((ends[:, 0] < [3, 1, 2, -1]) & (ends[:, 1] > [3, 1, 2, -1]))
    assert 0.87 < np.mean(inside) < 0.93


def test_weights_count_rows_and_variances_do_not() -> None:
    X, y, v = rows()
    s = np.random.default_rng(2).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), s)
    weighted = Model().fit(X, y, s, variance=v).inference()
    repeated = Model().fit(X[copies], y[copies], variance=v[copies]).inference()
    assert weighted.n == s.sum()
    for name in ("coef", "standard_errors", "log_likelihood", "r2"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9, err_msg=name)


def test_learned_part_by_part_and_forgotten() -> None:
    X, y, v = rows()
    whole = Model().fit(X, y, variance=v)
    parts = Model()
    for start in range(0, len(y), 20):
        at = slice(start, start + 20)
        parts.partial_fit(X[at], y[at], variance=v[at])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_allclose(parts.inference().bic, whole.inference().bic, rtol=1e-10)
    parts.forget(X[:9], y[:9], variance=v[:9])
    np.testing.assert_allclose(parts.coef_, Model().fit(X[9:], y[9:], variance=v[9:]).coef_, rtol=1e-8)
    merged = Model().fit(X[:30], y[:30], variance=v[:30]).merge(Model().fit(X[30:], y[30:], variance=v[30:]))
    np.testing.assert_allclose(merged.inference().standard_errors, whole.inference().standard_errors, rtol=1e-9)


def test_nearly_dependent_columns_keep_their_digits() -> None:
    X, _, v = rows()
    Z = np.column_stack([X, X[:, 0] + 1e-7 * X[:, 1] ** 2])
    truth = np.array([1.0, 2.0, 3.0, 4.0])
    model = Model().fit(Z, Z @ truth + 5, variance=v)
    assert model.solver_ == "qr, refined"
    np.testing.assert_allclose(model.coef_, truth, rtol=1e-7)


def test_several_targets() -> None:
    X, y, v = rows()
    model = Model().fit(X, np.column_stack([y, -2 * y]), variance=v)
    np.testing.assert_allclose(model.coef_[1], -2 * model.coef_[0], rtol=1e-10)
    assert model.inference().standard_errors.shape == (2, 4)


def test_bad_variances() -> None:
    X, y, v = rows()
    for wrong, words in (
        (np.where(np.arange(90) == 7, 0.0, v), "variance is 0 in row 7"),
        (np.where(np.arange(90) == 3, -1.0, v), "variance is -1 in row 3"),
        (np.where(np.arange(90) == 3, np.nan, v), "NaN in row 3"),
        (v[:5], "has 5"),
        (np.ones((90, 2)), "one number for each row"),
    ):
        with pytest.raises(tenfold.BadInput, match=words):
            Model().fit(X, y, variance=wrong)
    with pytest.raises(tenfold.BadInput, match="goes with rows in memory"):
        Model().fit([(X, y)], variance=v)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Model().fit(X, y, np.arange(90) > 0, variance=np.where(np.arange(90) == 0, 0.0, v))  # row 0 is absent


def test_cross_validated_as_least_squares() -> None:
    """Without variances, every road through cross-validation gives what it gives for least squares."""
    X, y, _ = rows()
    ours, plain = Model(), tenfold.LinearRegression()
    for score in ("mse", "r2", "mae"):
        found, expected = (tenfold.cross_validate(one, X, y, score=score).mean for one in (ours, plain))
        assert found == pytest.approx(expected, rel=1e-9)
    found, expected = (tenfold.evaluate.learning_curve(one, X, y, sizes=[30, 60]) for one in (ours, plain))
    np.testing.assert_allclose(found.test_scores, expected.test_scores, rtol=1e-9)


def test_dependent_columns_are_told_by_name() -> None:
    X, y, v = rows()
    with pytest.warns(tenfold.Degenerate, match="WeightedLeastSquares: the 4 columns have rank 3"):
        Model().fit(np.column_stack([X, X[:, 0]]), y, variance=v)
