"""GeneralizedLinearRegressor: statsmodels' answers for every family and link, offsets, elastic nets, and what is refused."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas
import pytest
import statsmodels.api as sm
from scipy.sparse import csr_matrix
from test_glm import Array

import tenfold
from tenfold.core.errors import BadInput, BadParameter, Degenerate

families, links = sm.families, sm.families.links
OURS = {
    "identity": links.Identity, "log": links.Log, "logit": links.Logit, "probit": links.Probit, "cloglog": links.CLogLog,
    "inverse": links.InversePower, "inverse_squared": links.InverseSquared, "sqrt": links.Sqrt,
}  # fmt: skip
POSITIVE = ("identity", "log", "inverse", "inverse_squared", "sqrt")
THEIRS: dict[str, Any] = {
    "normal": families.Gaussian, "poisson": families.Poisson, "gamma": families.Gamma, "inverse_gaussian": families.InverseGaussian,
    "tweedie": partial(families.Tweedie, var_power=1.5), "binomial": families.Binomial,
    "negative_binomial": partial(families.NegativeBinomial, alpha=0.5),
}  # fmt: skip
PAIRS = [(family, link) for family in THEIRS if family != "binomial" for link in POSITIVE]
LOST = [(family, "inverse_squared") for family in ("poisson", "tweedie", "negative_binomial")]  # statsmodels leaves the domain
PAIRS += [("binomial", link) for link in ("logit", "probit", "cloglog", "log", "identity")]


def rows(family: str, link: str, n: int = 300) -> tuple[Array, Array, Array]:
    """Rows in a small box, so that means keep away from their bounds whatever the link; targets of the family; weights."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(n, 3))
    g = OURS[link]()
    low, high = (0.15, 0.75) if family == "binomial" else (0.6, 2.5)
    ends = sorted((float(g(low)), float(g(high))))
    eta = np.mean(ends) + 0.45 * (ends[1] - ends[0]) * X @ np.array([0.5, -0.4, 0.0])
    mu = g.inverse(eta)
    y = {
        "normal": lambda: mu + 0.1 * rng.normal(size=n),
        "poisson": lambda: rng.poisson(mu).astype(float),
        "gamma": lambda: rng.gamma(4, mu / 4),
        "inverse_gaussian": lambda: rng.wald(mu, 8),
        "tweedie": lambda: rng.poisson(2 * mu) * rng.gamma(2, 0.25, n),
        "binomial": lambda: rng.binomial(1, mu).astype(float),
        "negative_binomial": lambda: rng.negative_binomial(2, 2 / (2 + mu)).astype(float),
    }[family]()
    return X, y, rng.integers(1, 4, n).astype(float)


def ours(family: str, link: str = "canonical", **more: Any) -> tenfold.GeneralizedLinearRegressor:
    return tenfold.GeneralizedLinearRegressor(family, link, power=1.5, overdispersion=0.5, **more)


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.DomainWarning")
@pytest.mark.parametrize("family, link", [pair for pair in PAIRS if pair not in LOST])
def test_as_statsmodels(family: str, link: str) -> None:
    X, y, w = rows(family, link)
    Z, kind = sm.add_constant(X), THEIRS[family](OURS[link](), check_link=False)
    theirs = sm.GLM(y, Z, family=kind, freq_weights=w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of steps outside the domain, on their way
        theirs = theirs.fit(tol=1e-15, maxiter=300, tol_criterion="params")
    model = ours(family, link).fit(X, y, w)
    found, left = model.inference(), w.sum() - 4
    for what, mine, other in (
        ("coef", found.coef[0], theirs.params),
        ("errors", found.standard_errors[0], theirs.bse),
        ("p", found.p_values[0], theirs.pvalues),
        ("intervals", found.intervals()[0], theirs.conf_int()),
        ("deviance", model.deviance_, theirs.deviance),
        ("null", model.null_deviance_, theirs.null_deviance),
        ("dispersion", model.dispersion_, theirs.pearson_chi2 / left),
        ("predictions", model.predict(X), theirs.predict(Z)),
        ("residuals", model.residuals(X, y), theirs.resid_deviance),
        ("working", model.residuals(X, y, "working"), theirs.resid_working),
    ):
        np.testing.assert_allclose(mine, other, rtol=2e-8, atol=1e-9, err_msg=what)
    if family not in ("tweedie", "normal"):  # of the normal family ours is at its own best dispersion
        assert found.log_likelihood == pytest.approx(theirs.llf, rel=1e-9)
        assert found.aic == pytest.approx(theirs.aic, rel=1e-9)
    if family == "tweedie":
        assert np.isnan(found.aic) and "AIC" not in model.summary()


@pytest.mark.parametrize("family, link", PAIRS)
def test_the_gradient_vanishes(family: str, link: str) -> None:
    """Of the objective with its penalties, by differences of what statsmodels says of a mean."""
    X, y, w = rows(family, link)
    kind, alpha = THEIRS[family](OURS[link](), check_link=False), 0.05
    for share in (0.0, 0.7):
        model = ours(family, link, alpha=alpha, l1_ratio=share, tol=1e-11).fit(X, y, w)
        mu = model.predict(X)
        pull = -w * (y - mu) / (kind.variance(mu) * kind.link.deriv(mu)) / w.sum()
        gradient = X.T @ pull + alpha * (1 - share) * model.coef_
        inside = np.maximum(np.abs(gradient) - alpha * share, 0)
        missed = np.where(model.coef_ != 0, gradient + alpha * share * np.sign(model.coef_), inside)
        assert max(np.abs(missed).max(), abs(pull.sum())) < 1e-9


def test_normal_is_least_squares_ridge_and_the_elastic_net() -> None:
    X, y, w = rows("normal", "identity")
    plain, expected = ours("normal").fit(X, y, w), tenfold.LinearRegression().fit(X, y, w)
    np.testing.assert_allclose(plain.coef_, expected.coef_, rtol=1e-10)
    np.testing.assert_allclose(plain.inference().standard_errors, expected.inference().standard_errors, rtol=1e-10)
    assert plain.inference().log_likelihood == pytest.approx(expected.inference().log_likelihood[0])
    net = ours("normal", alpha=0.05, l1_ratio=0.5).fit(X, y, w)
    np.testing.assert_allclose(net.coef_, tenfold.ElasticNet(alpha=0.05, l1_ratio=0.5).fit(X, y, w).coef_, atol=1e-8)
    assert (net.coef_ == 0).any()


def test_binomial_is_logistic_regression_and_shares_are_rows_counted() -> None:
    X, y, w = rows("binomial", "logit")
    labels = tenfold.LogisticRegression(C=1 / (0.1 * w.sum()), tol=1e-10).fit(X, y.astype(int), w)
    model = ours("binomial", alpha=0.1).fit(X, y, w)
    np.testing.assert_allclose(model.coef_, labels.coef_[0], rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), labels.predict_proba(X)[:, 1], rtol=1e-9)
    rng = np.random.default_rng(0)
    trials = rng.integers(1, 20, len(X))
    hits = rng.binomial(trials, 1 / (1 + np.exp(-X[:, 0])))
    shares = ours("binomial").fit(X, hits / trials, trials)
    theirs = sm.GLM(np.column_stack([hits, trials - hits]), sm.add_constant(X), family=families.Binomial()).fit(tol=1e-14)
    np.testing.assert_allclose(shares.inference().coef[0], theirs.params, rtol=1e-9)
    np.testing.assert_allclose(shares.inference().standard_errors[0], theirs.bse, rtol=1e-9)
    assert shares.deviance_ == pytest.approx(theirs.deviance)


@pytest.mark.parametrize("family, link", [("poisson", "log"), ("gamma", "log"), ("normal", "identity"), ("binomial", "cloglog")])
def test_an_offset_is_a_column_of_coefficient_one(family: str, link: str) -> None:
    X, y, w = rows(family, link)
    offset = np.random.default_rng(1).normal(size=len(X))
    kind = THEIRS[family](OURS[link](), check_link=False)
    theirs = sm.GLM(y, sm.add_constant(X), family=kind, offset=offset, freq_weights=w).fit(tol=1e-14)
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    table.insert(1, "moved", offset)
    by_name = ours(family, link, offset="moved").fit(table, y, w)
    by_number = ours(family, link, offset=1).fit(csr_matrix(table.to_numpy()), y, w)
    for model in (by_name, by_number):
        np.testing.assert_allclose(model.coef_[[0, 2, 3]], theirs.params[1:], rtol=1e-7, atol=1e-8)
        assert model.coef_[1] == 1 and model.null_deviance_ == pytest.approx(theirs.null_deviance, rel=1e-9)
    np.testing.assert_allclose(by_name.predict(table), theirs.fittedvalues, rtol=1e-7)
    np.testing.assert_allclose(by_name.inference().standard_errors[0], theirs.bse, rtol=1e-7)
    assert by_name.inference().names == ["intercept", "a", "b", "c"]


def test_an_exposure_goes_through_pipelines_streams_and_folds_with_its_rows() -> None:
    X, y, _ = rows("poisson", "log")
    years = np.random.default_rng(1).uniform(0.1, 3, len(X))
    theirs = sm.GLM(y, sm.add_constant(X), family=families.Poisson(), exposure=years).fit(tol=1e-14)
    table = np.column_stack([X, years])
    model = ours("poisson", exposure=-1).fit(table, y)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), np.append(theirs.params, 0), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.predict(table), theirs.fittedvalues, rtol=1e-9)
    rates = ours("poisson").fit(X, y / years, years)
    np.testing.assert_allclose(rates.coef_, model.coef_[:3], rtol=1e-9)
    parts = ours("poisson", exposure=3).fit([(table[i : i + 50], y[i : i + 50]) for i in range(0, 300, 50)])
    np.testing.assert_allclose(parts.coef_, model.coef_, rtol=1e-9, atol=1e-12)
    scaled = tenfold.ColumnTransformer([("scale", tenfold.StandardScaler(), [0, 1, 2])], remainder="passthrough")
    behind = tenfold.make_pipeline(scaled, ours("poisson", exposure=3)).fit(table, y)
    np.testing.assert_allclose(behind.predict(table), model.predict(table), rtol=1e-9)
    assert len(tenfold.cross_val_score(ours("poisson", exposure=3), table, y, cv=3)) == 3
    table[7, 3] = 0
    with pytest.raises(BadInput, match="exposure is not above 0 in row 7"):
        ours("poisson", exposure=3).fit(table, y)
    with pytest.raises(BadInput, match="exposure of a row is 0"):
        model.predict(table)


def test_large_offsets() -> None:
    """The constant makes up for them."""
    X, y, _ = rows("poisson", "log")
    near, far = (
        ours("poisson", offset=3).fit(np.column_stack([X, move + np.arange(300) % 2]), y) for move in (0.0, 1000.0)
    )
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-8)
    assert far.intercept_ == pytest.approx(near.intercept_ - 1000)


@pytest.mark.parametrize(
    "setting, words",
    [
        ({"offset": "no"}, "no column of X has this name"),
        ({"offset": 9}, "from 0 to 2"),
        ({"offset": 1.5}, "offset"),
        ({"offset": 1, "exposure": 1, "link": "log"}, "the same column"),
        ({"exposure": 1}, "link='log'"),
        ({"family": "poisson", "link": "identity", "offset": 0}, "no start was found"),
        ({"family": "binomial"}, "must lie from 0 to 1"),
    ],
)
def test_what_is_refused(setting: dict[str, Any], words: str) -> None:
    X, y, _ = rows("poisson", "log")
    with pytest.raises((BadInput, BadParameter), match=words):
        tenfold.GeneralizedLinearRegressor(**setting).fit(100 * X, y + 2)


def test_shares_that_are_told_perfectly() -> None:
    X = np.arange(20.0)[:, None]
    with pytest.warns(Degenerate, match="predicted perfectly, and the optimum lies at infinity"):
        ours("binomial").fit(X, X[:, 0] > 9.5)
    with pytest.warns(Degenerate, match="all values of y are 1"):
        model = ours("binomial", "probit").fit(X, np.ones(20))
    assert (model.predict(X) > 0.999).all()


@pytest.mark.parametrize("family, link", [("poisson", "identity"), ("gamma", "inverse"), ("poisson", "sqrt"), ("gamma", "identity")])
def test_without_an_intercept_where_not_every_score_has_a_mean(family: str, link: str) -> None:
    """The start comes from least squares; a column of ones is as good as an intercept."""
    X, y, w = rows(family, link)
    model = ours(family, link, fit_intercept=False).fit(np.column_stack([np.ones(len(X)), X]), y, w)
    expected = ours(family, link).fit(X, y, w)
    np.testing.assert_allclose(model.coef_, np.append(expected.intercept_, expected.coef_), rtol=1e-8, atol=1e-9)


def test_the_l1_path_of_many_sparse_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 600)) * (rng.random((400, 600)) < 0.1)
    y = rng.poisson(np.exp(X[:, 0] - X[:, 1])).astype(float)
    dense, sparse = (ours("poisson", alpha=0.05, l1_ratio=1.0, tol=1e-10).fit(rows, y) for rows in (X, csr_matrix(X)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-9)
    pull = (dense.predict(X) - y) / len(X)
    slope = X.T @ pull
    used = dense.coef_ != 0
    assert 2 <= used.sum() < 60 and np.abs(slope[~used]).max() <= 0.05
    np.testing.assert_allclose(slope[used], -0.05 * np.sign(dense.coef_[used]), atol=1e-9)


def test_dependent_columns_have_the_solution_of_least_norm() -> None:
    """That of least squares, for the normal family; of others no shift that changes no score makes the coefficients smaller."""
    X, y, w = rows("normal", "identity")
    X = np.column_stack([X, X[:, 0] + 2 * X[:, 1] + 3, np.full(len(X), 7.0)])
    with pytest.warns(Degenerate, match="least norm"):
        model = ours("normal").fit(X, y, w)
    with pytest.warns(Degenerate, match="least norm"):
        expected = tenfold.LinearRegression().fit(X, y, w)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    with pytest.warns(Degenerate, match="least norm"):
        counts = ours("poisson", "log").fit(X, np.abs(y), w)
    assert abs(counts.coef_[[0, 1, 3]] @ [1, 2, -1]) < 1e-9 and abs(counts.coef_[4]) < 1e-9
