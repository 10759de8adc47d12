"""Power transforms: against scikit-learn and SciPy, by their likelihood, and at their edges."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.preprocessing as theirs
from scipy import stats

import tenfold
from tenfold.core.errors import BadInput, DataWarning

rng = np.random.default_rng(0)
MIXED = np.column_stack(
    [
        rng.normal(size=800),
        rng.gamma(2.0, size=800),
        rng.gamma(2.0, size=800) * 1e3 + 5,
        -rng.gamma(1.0, size=800),
        rng.normal(size=800) ** 3,
        rng.integers(0, 2, 800),
    ]
)
POSITIVE = np.abs(MIXED) + 0.1
METHODS = {"yeo-johnson": MIXED, "box-cox": POSITIVE}


def likelihood(x: Any, power: float, method: str) -> float:
    """The log-likelihood of a row in 80 bits, less what does not depend on the power."""
    x = np.asarray(x, dtype=np.longdouble)
    x = x / np.exp(np.log(x).mean()) if method == "box-cox" else x
    u, sign = (x, np.ones(len(x))) if method == "box-cox" else (np.abs(x) + 1, np.where(x < 0, -1, 1))
    k = np.where(sign < 0, 2 - power, power).astype(np.longdouble)
    T = sign * np.where(np.abs(k) < 1e-12, np.log(u), (u**k - 1) / np.where(k == 0, 1, k))
    return float(-np.log(T.var()) / 2 + (power - 1) * (sign * np.log(u)).mean())


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_powers_are_theirs(method: str, holes: bool, standardize: bool) -> None:
    """Theirs are found to seven digits, by Brent's method."""
    X = METHODS[method]
    X = np.where(rng.random(X.shape) < 0.2, np.nan, X) if holes else X
    ours, other = (one.PowerTransformer(method, standardize=standardize).fit(X) for one in (tenfold, theirs))
    np.testing.assert_allclose(ours.lambdas_, other.lambdas_, rtol=1e-6, atol=1e-6)
    Z, expected = ours.transform(X), other.transform(X)
    np.testing.assert_allclose(Z, expected, rtol=1e-5, atol=1e-5 * np.nanmax(np.abs(expected)))
    np.testing.assert_allclose(ours.inverse_transform(Z), X, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_with_the_same_powers_rows_are_theirs(method: str) -> None:
    """Rows on the other side of zero than all of the fit, too."""
    X = METHODS[method]
    ours = tenfold.PowerTransformer(method, standardize=False).fit(X)
    for rows in (X, 0.3 * X) if method == "box-cox" else (X, -X, 0.5 - X):
        scipys = stats.boxcox if method == "box-cox" else stats.yeojohnson
        expected = np.column_stack([scipys(x, lmbda=k) for x, k in zip(rows.T, ours.lambdas_, strict=True)])
        np.testing.assert_allclose(ours.transform(rows), expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(ours.inverse_transform(expected), rows, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_no_other_power_is_more_likely(method: str) -> None:
    X = METHODS[method]
    for x, k in zip(X.T, tenfold.PowerTransformer(method).fit(X).lambdas_, strict=True):
        best = likelihood(x, k, method)
        assert all(best >= likelihood(x, k + d, method) for d in (-1e-5, 1e-5, -0.1, 0.1))


def test_large_offsets_cost_no_digits() -> None:
    """(x + 1e8)ᵏ loses what x − 1e8 still has; the power of scikit-learn is less likely, and its rows are rounded."""
    x = rng.gamma(4.0, size=1000)
    far = tenfold.PowerTransformer("box-cox").fit(x[:, None] + 1e6)
    z = far.transform(x[:, None] + 1e6)[:, 0]
    assert abs(stats.skew(z)) < 0.1 < stats.skew(x)
    assert abs(z.mean()) < 1e-9 and abs(z.var() - 1) < 1e-9
    np.testing.assert_allclose(far.inverse_transform(z[:, None])[:, 0], x + 1e6, rtol=1e-13, atol=0)
    shifted = tenfold.PowerTransformer().fit(x[:, None] + 1e6 - 1).transform(x[:, None] + 1e6 - 1)[:, 0]
    np.testing.assert_allclose(shifted, z, rtol=0, atol=1e-6)  # x + 1 is all that tells the two families apart
    with warnings.catch_warnings(action="ignore"):
        other = theirs.PowerTransformer("box-cox").fit(x[:, None] + 1e4).lambdas_[0]
    found = tenfold.PowerTransformer("box-cox").fit(x[:, None] + 1e4).lambdas_[0]
    assert likelihood(x + 1e4, found, "box-cox") >= likelihood(x + 1e4, other, "box-cox")


def test_weights_are_copies_and_blocks_do_not_matter() -> None:
    w = rng.integers(0, 3, 800)
    one = tenfold.PowerTransformer().fit(MIXED, sample_weight=w)
    two = tenfold.PowerTransformer().fit(np.repeat(MIXED, w, axis=0))
    np.testing.assert_allclose(one.lambdas_, two.lambdas_, rtol=1e-9, atol=1e-9)
    long = np.concatenate([MIXED] * 20)  # its first steps are on some of the rows
    np.testing.assert_allclose(
        tenfold.PowerTransformer().fit(long).lambdas_, tenfold.PowerTransformer().fit(MIXED).lambdas_, rtol=1e-9, atol=1e-9
    )


def test_constants_and_columns_without_values() -> None:
    X = np.column_stack([np.full(9, 3.0), np.full(9, np.nan), np.arange(9.0)])
    model = tenfold.PowerTransformer().fit(X)
    assert model.lambdas_[0] == 1
    assert (model.transform(X)[:, 0] == 0).all() and np.isnan(model.transform(X)[:, 1]).all()
    with pytest.raises(BadInput, match="all nan: column 1"):
        tenfold.PowerTransformer("box-cox").fit(X + 1)
    with pytest.raises(BadInput, match=r"strictly positive data: 0 in column 2 of X; use method='yeo-johnson'"):
        tenfold.PowerTransformer("box-cox").fit(X[:, [0, 2, 2]][:, [0, 0, 1]])
    with pytest.warns(DataWarning, match="inverse-transformed data are NaN"):
        tenfold.PowerTransformer("box-cox").fit([[1.0], [2.0], [50.0]]).inverse_transform([[1e9]])


def test_no_warnings_of_numpy() -> None:
    X = np.array([[2003.0, 1950.0, 1997.0, 2000.0, 2009.0, 2009.0, 1980.0, 1999.0, 2007.0, 1991.0]]).T
    with warnings.catch_warnings(action="error"):
        for table in (X, -X, X * 1e90, X * 1e-90, X.astype(np.float32)):
            Z = tenfold.PowerTransformer().fit_transform(table)
            assert np.isfinite(Z).all() and Z.dtype == table.dtype
