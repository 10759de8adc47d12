"""Generalised linear models: scikit-learn's and statsmodels' answers, certificates, and targets that a family does not have."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.model_selection
import statsmodels.api as sm
from scipy.sparse import csr_matrix

import tenfold
from tenfold.core.errors import BadInput, Degenerate, NotConverged

Array = np.ndarray[Any, Any]


def amounts(power: float, n: int = 400, p: int = 5, seed: int = 0) -> tuple[Array, Array, Array]:
    """Rows, targets whose variance is such a power of their mean, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    eta = X @ rng.normal(size=p) * 0.7 / p**0.5 + 0.2
    mu = np.exp(eta)
    y = {
        0: lambda: rng.normal(eta),
        1: lambda: rng.poisson(mu).astype(float),
        1.5: lambda: rng.poisson(mu) * rng.gamma(1.5, 0.5, n),
        2: lambda: rng.gamma(2, mu / 2),
        3: lambda: rng.wald(mu, 3 * mu),
    }[power]()
    return X, y, rng.integers(0, 4, n).astype(float)


SAME = [
    ("PoissonRegressor", 1, {}),
    ("GammaRegressor", 2, {}),
    ("TweedieRegressor", 0, {}),
    ("TweedieRegressor", 1.5, {"power": 1.5}),
    ("TweedieRegressor", 3, {"power": 3}),
    ("TweedieRegressor", 2, {"power": 2, "link": "log"}),
]


@pytest.mark.parametrize("name, power, setting", SAME)
@pytest.mark.parametrize("alpha, fit_intercept", [(0.0, True), (1.0, True), (0.01, False)])
def test_as_scikit_learn(name: str, power: float, setting: dict[str, Any], alpha: float, fit_intercept: bool) -> None:
    X, y, w = amounts(power)
    given = dict(setting, alpha=alpha, fit_intercept=fit_intercept)
    newton = "newton-cholesky" if power < 3 else "lbfgs"  # that of scikit-learn leaves losses that are not convex to the other
    rtol = 1e-8 if power < 3 else 1e-5
    theirs = getattr(sklearn.linear_model, name)(**given, solver=newton, tol=1e-12, max_iter=10_000).fit(X, y, w)
    for rows in (X, csr_matrix(X)):
        ours = getattr(tenfold, name)(**given).fit(rows, y, w)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=rtol, atol=rtol / 10)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=rtol, atol=rtol / 10)
        np.testing.assert_allclose(ours.predict(rows), theirs.predict(X), rtol=rtol)
        assert ours.score(rows, y, w) == pytest.approx(theirs.score(X, y, w), rel=rtol / 100)


def test_a_large_table_begins_with_some_of_its_rows_and_ends_at_the_same_place() -> None:
    X, y, _ = amounts(1, n=40_000, p=8)
    large = tenfold.PoissonRegressor(alpha=1e-3).fit(X, y)
    blocks = tenfold.PoissonRegressor(alpha=1e-3).fit([(X[i : i + 999], y[i : i + 999]) for i in range(0, len(X), 999)])
    np.testing.assert_allclose(large.coef_, blocks.coef_, rtol=1e-10)
    pull = (np.exp(X @ large.coef_ + large.intercept_) - y) / len(X)
    assert np.abs(X.T @ pull + 1e-3 * large.coef_).max() < 1e-12 and abs(pull.sum()) < 1e-12


def test_inference_as_statsmodels() -> None:
    X, y, w = amounts(1)
    X, y, w = X[w > 0], y[w > 0], w[w > 0]
    model = tenfold.PoissonRegressor(alpha=0.0).fit(X, y, w)
    theirs = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson(), freq_weights=w).fit(tol=1e-14)
    found = model.inference()
    for mine, other in (
        (found.coef[0], theirs.params),
        (found.standard_errors[0], theirs.bse),
        (found.z[0], theirs.tvalues),
        (found.p_values[0], theirs.pvalues),
        (found.intervals(0.9)[0], theirs.conf_int(0.1)),
        (found.null_log_likelihood, theirs.llnull),
        (found.covariance, theirs.cov_params()),
        (model.deviance_, theirs.deviance),
        (model.null_deviance_, theirs.null_deviance),
        (model.dispersion_, theirs.pearson_chi2 / theirs.df_resid),
        (found.log_likelihood, theirs.llf),
        (found.aic, theirs.aic),
        (found.bic, theirs.bic_llf),
        (model.standard_errors(X), theirs.get_prediction(sm.add_constant(X)).summary_frame()["mean_se"]),
        (model.residuals(X, y), theirs.resid_deviance),
        (model.residuals(X, y, "pearson"), theirs.resid_pearson),
        (model.residuals(X, y, "working"), theirs.resid_working),
        (model.residuals(X, y, "response"), theirs.resid_response),
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-12)
    wide = model.inference("pearson").standard_errors / found.standard_errors
    np.testing.assert_allclose(wide, model.dispersion_**0.5, rtol=1e-12)
    assert "AIC" in model.summary() and "x4" in model.summary()


def test_no_standard_errors_where_theory_gives_none() -> None:
    X, y, _ = amounts(1)
    with pytest.raises(BadInput, match="penalty biases"):
        tenfold.PoissonRegressor().fit(X, y).inference()
    with pytest.warns(Degenerate, match="dependent"):
        twins = tenfold.PoissonRegressor(alpha=0.0).fit(np.column_stack([X, X]), y)
    np.testing.assert_allclose(twins.coef_[:5], twins.coef_[5:], rtol=1e-9)
    np.testing.assert_allclose(twins.deviance_, tenfold.PoissonRegressor(alpha=0.0).fit(X, y).deviance_, rtol=1e-10)
    with pytest.raises(BadInput, match="dependent"):
        twins.inference()


@pytest.mark.parametrize(
    "model, value, rule",
    [
        (tenfold.PoissonRegressor(), -1.0, "at least 0"),
        (tenfold.GammaRegressor(), 0.0, "above 0"),
        (tenfold.TweedieRegressor(power=1.5), -2.5, "at least 0"),
        (tenfold.TweedieRegressor(power=3), 0.0, "above 0"),
    ],
)
def test_a_target_that_the_family_does_not_have_is_named(model: Any, value: float, rule: str) -> None:
    X, y, _ = amounts(2)
    y[137], y[300], w = value, value - 1, np.ones(len(y))
    w[:100] = 0
    words = f"y is {value:g} in row 137, but must be {rule}"
    for arguments in ((X, y), (X, y, w), ([(X[:150], y[:150]), (X[150:], y[150:])],)):
        with pytest.raises(BadInput, match=words):
            model.fit(*arguments)
    y[[137, 300]] = 1
    fitted = model.fit(X, y)
    y[137] = value
    with pytest.raises(BadInput, match=words):
        fitted.score(X, y)
    with pytest.raises(BadInput, match=words):
        fitted.residuals(X, y)


def test_counts_that_are_all_zero() -> None:
    X = amounts(1)[0]
    with pytest.warns(Degenerate, match="all values of y are 0"):
        model = tenfold.PoissonRegressor().fit(X, np.zeros(len(X)))
    assert not model.coef_.any() and (model.predict(X) < 1e-9).all() and model.score(X, np.zeros(len(X))) == 0.0


@pytest.mark.parametrize("scale", [1e-8, 1e8, 1e15, 1e60])
def test_tiny_and_huge_amounts_are_the_same_amounts_in_another_unit(scale: float) -> None:
    """Only the intercept knows the unit, without a penalty."""
    for name, power in (("PoissonRegressor", 1), ("GammaRegressor", 2)):
        X, y, _ = amounts(power)
        one, other = (getattr(tenfold, name)(alpha=0.0).fit(X, unit * y) for unit in (1.0, scale))
        np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-7)
        assert other.intercept_ - one.intercept_ == pytest.approx(np.log(scale), rel=1e-8)


def test_many_columns_of_few_rows() -> None:
    """In the space that the rows span; the gradient vanishes in all directions."""
    X, y, _ = amounts(1, n=30, p=2000, seed=2)
    model = tenfold.PoissonRegressor(alpha=0.5).fit(X, y)
    pull = (model.predict(X) - y) / len(X)
    assert np.abs(X.T @ pull + 0.5 * model.coef_).max() < 1e-9
    alike = tenfold.PoissonRegressor(alpha=0.5, tol=1e-10).fit(csr_matrix(X), y)
    np.testing.assert_allclose(alike.coef_, model.coef_, atol=1e-8)


def test_more_columns_than_a_curvature_may_have() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 1100)) * (rng.random((2500, 1100)) < 0.05)
    y = rng.poisson(np.exp(0.5 * X[:, 0] - 0.5 * X[:, 1])).astype(float)
    model = tenfold.PoissonRegressor(alpha=0.1, tol=1e-9).fit(csr_matrix(X), y)
    pull = (model.predict(X) - y) / len(X)
    assert np.abs(X.T @ pull + 0.1 * model.coef_).max() < 1e-8


def test_a_warm_start_ends_at_the_same_place() -> None:
    X, y, _ = amounts(1)
    model = tenfold.PoissonRegressor(alpha=0.1, warm_start=True, max_iter=1)
    with pytest.warns(NotConverged, match="max_iter"):
        model.fit(X, y)
    model.set_params(max_iter=100).fit(X, y)
    np.testing.assert_allclose(model.coef_, tenfold.PoissonRegressor(alpha=0.1).fit(X, y).coef_, rtol=1e-10)
    again = model.fit(X, y).n_iter_
    assert again <= 2


def test_columns_far_from_zero_lose_no_digits() -> None:
    X, y, _ = amounts(1)
    near = tenfold.PoissonRegressor(alpha=0.0).fit(X, y)
    far = tenfold.PoissonRegressor(alpha=0.0).fit(X + 1e6, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-7)
    for found, expected in zip(far.inference().standard_errors[0, 1:], near.inference().standard_errors[0, 1:], strict=True):
        assert found == pytest.approx(expected, rel=1e-6)
    spread = far.inference().covariance[0, 0] ** 0.5
    assert spread == pytest.approx(np.sqrt(_of_constant(near.inference().covariance, 1e6)), rel=1e-6)


def _of_constant(C: Array, shift: float) -> float:
    """The variance of the intercept when the columns are moved."""
    move = np.append(1.0, -np.full(len(C) - 1, shift))
    return float(move @ C @ move)


def test_steps_never_raise_the_deviance_whatever_the_start() -> None:
    """Of amounts of any size without an intercept, where means of 1 to begin with are far off."""
    for name, power in (("PoissonRegressor", 1), ("GammaRegressor", 2)):
        X, y, _ = amounts(power)
        Z = np.column_stack([np.ones(len(X)), X])
        for scale in (1e-6, 1e6):
            model = getattr(tenfold, name)(alpha=0.0, fit_intercept=False).fit(Z, scale * y)
            expected = getattr(tenfold, name)(alpha=0.0).fit(X, scale * y)
            np.testing.assert_allclose(model.coef_, np.append(expected.intercept_, expected.coef_), rtol=1e-6)


def test_one_row() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Degenerate)
        model = tenfold.PoissonRegressor().fit([[2.0]], [3.0])
    assert model.predict([[2.0]]) == pytest.approx([3.0])
    with pytest.raises(tenfold.TenfoldError, match="1 rows leave none"):
        model.dispersion_  # noqa: B018


def test_the_score_is_that_of_the_deviance_in_pipelines_cross_validation_and_searches() -> None:
    X, y, _ = amounts(1)
    alone = tenfold.PoissonRegressor(alpha=0.1)
    behind = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.PoissonRegressor(alpha=0.1))
    for model in (alone, behind):
        fitted = model.fit(X, y)
        mean, middle = (tenfold.score.mean_poisson_deviance(y, one) for one in (fitted.predict(X), np.full(len(y), y.mean())))
        assert fitted.score(X, y) == pytest.approx(1 - mean / middle)
        scores = tenfold.cross_val_score(model, X, y, cv=4)
        np.testing.assert_allclose(scores, sklearn.model_selection.cross_val_score(model, X, y, cv=4), rtol=1e-9)
    search = tenfold.GridSearchCV(alone, {"alpha": [0.01, 1.0]}, cv=4).fit(X, y)
    expected = tenfold.cross_val_score(tenfold.PoissonRegressor(alpha=0.01), X, y, cv=4).mean()
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(expected)


def test_a_column_that_only_rows_without_counts_have_is_named() -> None:
    X, y, _ = amounts(1)
    some = np.arange(len(X)) < 20
    y[some] = 0
    with pytest.warns(Degenerate, match="coefficient of column 5 runs to infinity"):
        tenfold.PoissonRegressor(alpha=0.0).fit(np.column_stack([X, some]), y)
    with pytest.warns(Degenerate, match="coefficient of column 5 runs to infinity"):
        tenfold.GeneralizedLinearRegressor("binomial", "probit").fit(np.column_stack([X, some]), np.minimum(y, 1))
    tenfold.PoissonRegressor(alpha=0.01).fit(np.column_stack([X, some]), y)


def test_a_mean_that_no_score_of_the_link_has_is_told() -> None:
    X, y, _ = amounts(0)
    with pytest.raises(BadInput, match="use another link or"):
        tenfold.GeneralizedLinearRegressor("normal", "log").fit(X, y - 10)
    counts = amounts(1)[1]
    with pytest.warns(NotConverged, match="use another link: the means of some rows may be at their bound"):
        tenfold.GeneralizedLinearRegressor("poisson", "identity").fit(10 * X, counts * (X[:, 0] > X[0, 0]))
