"""The uncertainty of least squares, against statsmodels, closed forms and simulation."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

import tenfold


def table(n: int = 80, p: int = 4, seed: int = 0, sizes: tuple[float, ...] = (1.0, 10.0, 0.1, 100.0)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * sizes[:p] + 3
    return X, X @ (rng.normal(size=p) / sizes[:p]) + 2 + rng.normal(size=n)


@pytest.mark.parametrize("solver", ["auto", "qr", "svd", "cholesky"])
@pytest.mark.parametrize("intercept", [True, False])
def test_equal_to_statsmodels(solver: str, intercept: bool) -> None:
    X, y = table()
    theirs = sm.OLS(y, sm.add_constant(X) if intercept else X).fit()
    model = tenfold.LinearRegression(solver=solver, fit_intercept=intercept).fit(X, y)
    ours = model.inference()
    pairs = {
        "coef": (ours.coef[0], theirs.params),
        "standard errors": (ours.standard_errors[0], theirs.bse),
        "t": (ours.t[0], theirs.tvalues),
        "p": (ours.p_values[0], theirs.pvalues),
        "intervals": (ours.intervals(0.9)[0], theirs.conf_int(0.1)),
        "covariance": (ours.covariance[0], theirs.cov_params()),
        "R2": (ours.r2, theirs.rsquared),
        "adjusted": (ours.adjusted_r2, theirs.rsquared_adj),
        "F": (ours.f, theirs.fvalue),
        "p of F": (ours.f_p_value, theirs.f_pvalue),
        "log-likelihood": (ours.log_likelihood, theirs.llf),
        "AIC": (ours.aic, theirs.aic),
        "BIC": (ours.bic, theirs.bic),
        "leverage": (model.leverage(X), theirs.get_influence().hat_matrix_diag),
        "Cook": (model.cooks_distance(X, y), theirs.get_influence().cooks_distance[0]),
    }
    for what, (found, expected) in pairs.items():
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-300, err_msg=what)
    assert ours.freedom == theirs.df_resid


def test_streams_parts_and_weights_give_the_same() -> None:
    X, y = table()
    expected = tenfold.LinearRegression().fit(X, y).inference()
    blocks = [(X[i : i + 9], y[i : i + 9]) for i in range(0, 80, 9)]
    parts = tenfold.LinearRegression()
    for block in blocks:
        parts.partial_fit(*block)
    streamed = tenfold.LinearRegression().fit(iter(blocks)).inference()
    for found in (parts.inference(), streamed):
        np.testing.assert_allclose(found.standard_errors, expected.standard_errors, rtol=1e-9)
        np.testing.assert_allclose(found.aic, expected.aic, rtol=1e-9)
    w = np.random.default_rng(1).integers(0, 4, 80)
    copies = np.repeat(np.arange(80), w)
    weighted = tenfold.LinearRegression().fit(X, y, w)
    whole = tenfold.LinearRegression().fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.inference().standard_errors, whole.inference().standard_errors, rtol=1e-9)
    sums = np.bincount(copies, whole.leverage(X[copies]), minlength=80)
    np.testing.assert_allclose(weighted.leverage(X, w), sums, rtol=1e-9, atol=1e-12)


def test_intervals_cover_as_often_as_they_say() -> None:
    rng, hits, trials = np.random.default_rng(2), 0, 400
    for _ in range(trials):
        X = rng.normal(size=(15, 1))
        y = 2 * X[:, 0] + rng.normal(size=15)
        low, high = tenfold.LinearRegression().fit(X, y).inference().intervals(0.8)[0, 1]
        hits += low <= 2 <= high
    assert abs(hits / trials - 0.8) < 4 * (0.16 / trials) ** 0.5


def test_hard_columns_need_the_triangle() -> None:
    """Condition 1e7: refused from cross-products, right to 6 digits from the triangle."""
    X, y = table(200, 3)
    X[:, 2] = X[:, 0] + 1e-6 * X[:, 2]
    with pytest.raises(tenfold.BadInput, match="solver='qr'"):
        tenfold.LinearRegression().fit(X, y).inference()
    found = tenfold.LinearRegression(solver="qr").fit(X, y).inference()
    R = np.linalg.qr(np.column_stack([np.ones(200), X]).astype(np.longdouble).astype(float), mode="r")
    expected = np.sqrt((np.linalg.inv(R) ** 2).sum(axis=1) * found.sigma2[0])
    np.testing.assert_allclose(found.standard_errors[0], expected, rtol=1e-6)


def test_several_targets_and_the_table() -> None:
    X, y = table()
    both = tenfold.LinearRegression().fit(X, np.column_stack([y, X[:, 0] ** 2]))
    one = tenfold.LinearRegression().fit(X, y)
    np.testing.assert_allclose(both.inference().p_values[0], one.inference().p_values[0], rtol=1e-9)
    text = one.summary(0.9)
    assert "5 %" in text and "95 %" in text and "intercept" in text and f"{one.coef_[1]:.6g}" in text
    assert both.summary().count("std error") == 2
    with pytest.raises(tenfold.BadInput, match="one target"):
        both.cooks_distance(X, y)


@pytest.mark.parametrize(
    "model, change, words",
    [
        (tenfold.Ridge(), None, "penalty"),
        (tenfold.LinearRegression(positive=True), None, "positive=False"),
        (tenfold.LinearRegression(solver="lsqr"), None, "kept no statistics"),
        (tenfold.LinearRegression(), "few", "degrees of freedom|rank"),
        (tenfold.LinearRegression(), "twice", "rank 3"),
    ],
    ids=str,
)
def test_refused_with_a_reason(model, change, words) -> None:
    from tenfold.linear.inference import infer

    X, y = table()
    if change == "few":
        X, y = X[:5], y[:5]
    if change == "twice":
        X = X[:, [0, 1, 2, 2]]
    with pytest.warns(tenfold.Degenerate) if change == "twice" else _quiet():
        model.fit(X, y)
    with pytest.raises(tenfold.BadInput, match=words):
        infer(model)
    with pytest.raises(tenfold.NotFitted):
        tenfold.LinearRegression().summary()
    with pytest.raises(tenfold.BadParameter, match="level"):
        tenfold.LinearRegression().fit(*table()).summary(95)


def _quiet():
    import contextlib

    return contextlib.nullcontext()
