"""Basis functions and Anscombe's transform, against scikit-learn, SciPy and closed forms."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.sparse
import scipy.stats
from sklearn import preprocessing

import tenfold

Array = np.ndarray[Any, Any]


@pytest.fixture
def X() -> Array:
    return np.random.default_rng(0).normal(size=(50, 4))


# --- polynomials ---


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 5, (2, 3), (0, 2), (1, 1), (3, 3)])
@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("include_bias", [False, True])
def test_polynomials_are_scikit_learns(X: Array, degree: Any, interaction_only: bool, include_bias: bool) -> None:
    settings = dict(degree=degree, interaction_only=interaction_only, include_bias=include_bias)
    ours = tenfold.PolynomialFeatures(**settings)
    if degree == 0 and not include_bias:
        with pytest.raises(tenfold.BadParameter, match="no columns"):
            ours.fit(X)
        return
    theirs = preprocessing.PolynomialFeatures(**settings).fit(X)
    found = ours.fit_transform(X)
    np.testing.assert_allclose(found, theirs.transform(X), rtol=1e-13)
    np.testing.assert_array_equal(ours.powers_, theirs.powers_)
    assert ours.n_output_features_ == theirs.n_output_features_
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert list(ours.get_feature_names_out(list("abcd"))) == list(theirs.get_feature_names_out(list("abcd")))
    rows = scipy.sparse.random(30, 4, density=0.4, format="csr", random_state=0)
    out = ours.transform(rows)
    assert scipy.sparse.issparse(out) and out.format == "csr"
    np.testing.assert_allclose(out.toarray(), ours.transform(rows.toarray()), rtol=1e-13)


def test_polynomials_by_definition(X: Array) -> None:
    basis = tenfold.PolynomialFeatures(4).fit(X)
    np.testing.assert_allclose(basis.transform(X), np.prod(X[:, None] ** basis.powers_, axis=2), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "degree", [-1, 1.5, "two", (2, 1), (1, 2, 3), [], None, True, 2**40, np.array([1, 2])], ids=str
)
def test_degrees_that_make_no_sense(X: Array, degree: Any) -> None:
    with pytest.raises(tenfold.BadParameter, match="degree"):
        tenfold.PolynomialFeatures(degree).fit(X)


def test_too_many_and_too_large(X: Array) -> None:
    with pytest.raises(tenfold.BadParameter, match="more than"):
        tenfold.PolynomialFeatures(200).fit(X)
    with pytest.raises(tenfold.BadInput, match="overflow for row 7"):
        wide = X.copy()
        wide[7, 2] = 1e90
        tenfold.PolynomialFeatures(5).fit_transform(wide)


# --- splines ---


DEGREES, BEYOND = [0, 1, 2, 3, 5], ["constant", "linear", "continue", "periodic"]
OF_SPLINES = [(d, how) for d in DEGREES for how in BEYOND if (d, how) != (0, "linear")]  # scikit-learn has no derivative of steps


@pytest.mark.parametrize("degree, extrapolation", OF_SPLINES)
@pytest.mark.parametrize("knots", ["uniform", "quantile"])
@pytest.mark.parametrize("include_bias", [False, True])
def test_splines_are_scikit_learns(X: Array, degree: int, knots: str, extrapolation: str, include_bias: bool) -> None:
    if extrapolation == "linear" and degree == 1:
        X = X[:, :1]  # scikit-learn spoils the second column
    settings = dict(n_knots=7, degree=degree, knots=knots, extrapolation=extrapolation, include_bias=include_bias)
    ours = tenfold.SplineTransformer(**settings).fit(X)
    theirs = preprocessing.SplineTransformer(**settings).fit(X)
    beyond = np.vstack([X, X.min(axis=0) - 0.3, X.max(axis=0) + 0.7])
    if extrapolation == "constant" and degree == 0:
        beyond = X  # scikit-learn stops at rows beyond
    np.testing.assert_allclose(ours.transform(beyond), theirs.transform(beyond), rtol=1e-9, atol=1e-11)
    assert ours.n_features_out_ == theirs.n_features_out_
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_splines_by_scipy() -> None:
    """Knots of our own, spaced at will; the values are those of SciPy's B-splines, and add up to one."""
    knots = np.array([[0.0], [0.1], [1.0], [3.0], [3.5]])
    x = np.linspace(0, 3.5, 100)[:, None]
    spline = tenfold.SplineTransformer(degree=3, knots=knots, extrapolation="error").fit(x)
    found = spline.transform(x)
    t = spline.knots_[0]
    expected = scipy.interpolate.BSpline(t, np.eye(len(t) - 4), 3)(x[:, 0])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-13)
    with pytest.raises(tenfold.BadInput, match=re.escape("contains 3.6 in column 0, row 0, beyond the knots")):
        spline.transform([[3.6]])
    sparse = tenfold.SplineTransformer(degree=3, knots=knots, sparse_output=True).fit(x).transform(x)
    assert scipy.sparse.issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), found)


def test_quantiles_with_weights() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(40, 1)), rng.integers(0, 4, 40)
    weighted = tenfold.SplineTransformer(knots="quantile", degree=1).fit(x, sample_weight=w)
    expected = np.quantile(np.repeat(x[:, 0], w), np.linspace(0, 1, 5))
    np.testing.assert_allclose(weighted.knots_[0][1:-1], expected, rtol=1e-12)


def test_constant_columns_are_told() -> None:
    with pytest.warns(tenfold.Degenerate, match="column 1 is constant"):
        spline = tenfold.SplineTransformer().fit([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]])
    np.testing.assert_allclose(spline.transform([[0.0, 5.0]])[0, 7:].sum(), 1, rtol=1e-12)


@pytest.mark.parametrize(
    "settings",
    [
        {"knots": "even"},
        {"knots": [[0.0], [0.0]]},
        {"knots": [[0.0]]},
        {"knots": 3},
        {"n_knots": 1},
        {"degree": -1},
        {"degree": 3, "n_knots": 3, "extrapolation": "periodic"},
        {"extrapolation": "guess"},
    ],
)
def test_splines_that_make_no_sense(settings: dict[str, Any]) -> None:
    with pytest.raises(tenfold.BadParameter, match="SplineTransformer"):
        tenfold.SplineTransformer(**settings).fit([[0.0], [1.0], [2.0]])


# --- any function ---


def test_any_function(X: Array) -> None:
    logs = tenfold.FunctionTransformer(np.exp, np.log).fit(X)
    np.testing.assert_array_equal(logs.transform(X), np.exp(X))
    np.testing.assert_allclose(logs.inverse_transform(np.exp(X)), X, rtol=1e-12, atol=1e-14)
    assert list(logs.get_feature_names_out()) == ["x0", "x1", "x2", "x3"]
    ratio = tenfold.FunctionTransformer(lambda X, power: X[:, :1] / X[:, 1:2] ** power, kw_args={"power": 2})
    np.testing.assert_array_equal(ratio.fit_transform(X), X[:, :1] / X[:, 1:2] ** 2)
    assert list(ratio.get_feature_names_out()) == ["function0"]
    named = tenfold.FunctionTransformer(np.exp, feature_names_out=lambda self, old: [f"e^{n}" for n in old])
    assert list(named.fit(X).get_feature_names_out()) == ["e^x0", "e^x1", "e^x2", "e^x3"]
    assert tenfold.FunctionTransformer().fit_transform(X).tolist() == X.tolist()


@pytest.mark.parametrize(
    "func, told",
    [
        (lambda X: X[1:], "gave shape (49, 4)"),
        (lambda X: X[:, 0], "gave shape (50,)"),
        (lambda X: np.log(X - 100), "not finite for row 0"),
        (lambda X: X.astype(str), "not numbers"),
        (lambda X: X.no_such_thing, "raised AttributeError"),
        (lambda X: X.__setitem__(0, 1.0), "raised ValueError"),
    ],
)
def test_functions_that_misbehave(X: Array, func: Any, told: str) -> None:
    before = X.copy()
    with pytest.raises(tenfold.BadInput, match=re.escape(told)):
        tenfold.make_pipeline(tenfold.FunctionTransformer(func, validate=True), tenfold.StandardScaler()).fit_transform(X)
    with pytest.raises(tenfold.BadInput, match=re.escape(told)):
        tenfold.FunctionTransformer(func, validate=True).fit_transform(X)
    np.testing.assert_array_equal(X, before)


# --- Anscombe ---


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.7, 3.0, 12.0, 63.0, 65.0, 400.0])
def test_anscombe_inverse_is_unbiased(rate: float) -> None:
    """The mean of the transform of Poisson counts goes back to their mean; plain algebra gives too little."""
    k = np.arange(2000)
    means = scipy.stats.poisson.pmf(k, rate) @ (2 * np.sqrt(k + 3 / 8))
    one = tenfold.AnscombeTransformer().fit(np.zeros((2, 1)))
    np.testing.assert_allclose(one.inverse_transform([[means]]), rate, rtol=0, atol=2e-5)
    plain = tenfold.AnscombeTransformer("algebraic").fit(np.zeros((2, 1)))
    if rate > 3:
        np.testing.assert_allclose(plain.inverse_transform([[means]]), rate - 0.25, rtol=0, atol=0.05)
    np.testing.assert_allclose(plain.inverse_transform(plain.transform([[rate]])), rate, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rate", [2.0, 4.0, 10.0, 50.0])
def test_anscombe_variance_is_one(rate: float) -> None:
    k = np.arange(400)
    pmf, z = scipy.stats.poisson.pmf(k, rate), tenfold.AnscombeTransformer().fit_transform(k[:, None])[:, 0]
    np.testing.assert_allclose(pmf @ z**2 - (pmf @ z) ** 2, 1, rtol=0, atol=0.08)
