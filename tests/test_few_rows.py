"""Regressions of tables much wider than long: from rows, and equal to what products of columns would give."""

from __future__ import annotations

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_array_equal
from sklearn import linear_model
from sklearn.base import clone

import tenfold
from tenfold.core.stats import Moments
from tenfold.solve import few_rows
from tenfold.solve.few_rows import FewRows, are_few, ridge_from_rows

N, P = 40, 300
few = pytest.mark.filterwarnings("ignore::tenfold.Degenerate")


def table(q: int | None = None) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, P)) * rng.uniform(0.1, 10, P) + 5
    X[:, 7] = 2.5  # constant
    Y = X[:, :3] @ rng.normal(size=(3, q or 1)) + rng.normal(size=(N, q or 1))
    return X, Y if q else Y[:, 0], rng.integers(1, 4, N).astype(float)


@few
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("q", [None, 2])
@pytest.mark.parametrize("name", ["Ridge", "LinearRegression"])
def test_as_scikit_learn(name: str, q: int | None, fit_intercept: bool) -> None:
    X, y, w = table(q)
    ours = getattr(tenfold, name)(fit_intercept=fit_intercept).fit(X, y, sample_weight=w)
    theirs = getattr(linear_model, name)(fit_intercept=fit_intercept).fit(X, y, sample_weight=w)
    assert isinstance(ours.stats_, FewRows)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-10 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-10)
    if name == "LinearRegression":
        assert ours.rank_ == N - fit_intercept
        assert ours.solver_ == "svd"


def test_the_solution_from_rows_is_stationary() -> None:
    X, y, w = table()
    model = tenfold.Ridge(alpha=3.0).fit(X, y, sample_weight=w)
    rest = y - model.predict(X)
    gradient = X.T @ (w * rest) - 3.0 * model.coef_
    assert np.abs(gradient).max() <= 1e-9 * np.abs(X.T @ (w * y)).max()
    assert abs(w @ rest) <= 1e-9 * (w @ np.abs(y))


def test_too_few_rows_are_told() -> None:
    X, y, _ = table()
    with pytest.warns(tenfold.Degenerate, match="rank 39 only"):
        tenfold.LinearRegression().fit(X, y)
    with pytest.warns(tenfold.Degenerate, match="least norm"):
        tenfold.Ridge(alpha=0).fit(X, y)


def test_blocks_of_a_stream_stay_rows_until_there_are_many() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, P)), rng.normal(size=200)
    parts = [(X[i : i + 20], y[i : i + 20]) for i in range(0, 200, 20)]
    some, all_ = tenfold.Ridge().fit(iter(parts[:5])), tenfold.Ridge().fit(iter(parts))
    assert isinstance(some.stats_, FewRows)
    assert isinstance(all_.stats_, Moments)
    for streamed, n in ((some, 100), (all_, 200)):
        np.testing.assert_allclose(streamed.coef_, linear_model.Ridge().fit(X[:n], y[:n]).coef_, rtol=1e-8, atol=1e-11)
    more = some.partial_fit(X[100:], y[100:])  # rows and moments together
    np.testing.assert_allclose(more.coef_, all_.coef_, rtol=1e-8, atol=1e-11)
    with pytest.raises(tenfold.CannotForget, match="fewer rows than columns"):
        tenfold.Ridge().fit(X[:50], y[:50]).forget(X[:5], y[:5])


@few
def test_cross_validation_equals_refits() -> None:
    X, y, _ = table()
    alphas = [0.1, 10.0, 1000.0]
    path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", alphas, folds=5)
    for alpha, scores in zip(alphas, path.scores, strict=True):
        again = tenfold.cross_validate(tenfold.Ridge(alpha=alpha), X, y, folds=5)
        np.testing.assert_allclose(scores, again.scores[0], rtol=1e-8)
    left = tenfold.cross_val_predict(tenfold.Ridge(alpha=10.0), X, y, folds=N)
    for i in (0, 17, N - 1):
        others = np.arange(N) != i
        model = tenfold.Ridge(alpha=10.0).fit(X[others], y[others])
        np.testing.assert_allclose(left[i], model.predict(X[i : i + 1])[0], rtol=1e-8)


def test_no_matrix_of_all_columns_is_made() -> None:
    """40,000 columns would take 12 GiB."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 40_000)), rng.normal(size=10)
    model = tenfold.Ridge().fit(X, y)
    np.testing.assert_allclose(model.coef_, linear_model.Ridge().fit(X, y).coef_, rtol=1e-9, atol=1e-12)
    assert np.isfinite(tenfold.cross_validate(tenfold.Ridge(), X, y, folds=10, score="mse").scores).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tenfold.Degenerate)
        np.testing.assert_allclose(tenfold.LinearRegression().fit(X, y).predict(X), y, rtol=1e-9)


def test_the_formula() -> None:
    rng = np.random.default_rng(1)
    Z, t = rng.normal(size=(4, 9)), rng.normal(size=(4, 2))
    (w,) = ridge_from_rows(Z, t, np.array([2.0]))
    np.testing.assert_allclose(w.T, np.linalg.solve(Z.T @ Z + 2 * np.eye(9), Z.T @ t), rtol=1e-10)
    assert not are_few(3, 100)
    assert are_few(100, 300)


@few
def test_saved_with_its_rows(tmp_path: Any) -> None:
    X, y, _ = table()
    model = tenfold.Ridge().fit(X, y)
    tenfold.save(model, tmp_path / "m.tenfold", resumable=True)
    again = tenfold.load(tmp_path / "m.tenfold")
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)


# --- learners that choose columns -----------------------------------------------------------------------------------------

CHOOSERS = {
    "nonnegative": tenfold.NonNegativeLeastSquares(),
    "nonnegative, no intercept": tenfold.NonNegativeLeastSquares(fit_intercept=False),
    "Lars": tenfold.Lars(n_nonzero_coefs=30),
    "LassoLars": tenfold.LassoLars(0.1),
    "LassoLars, positive": tenfold.LassoLars(0.1, positive=True, fit_intercept=False),
    "groups": tenfold.GroupLasso(0.5, groups=3),
    "groups of more columns than rows": tenfold.GroupLasso(0.5, groups=60),
    "no penalty": tenfold.GroupLasso(0.0),
}


@few
@pytest.mark.parametrize("name", CHOOSERS)
def test_rows_choose_the_columns_that_their_products_choose(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, w = table(2)
    learner = CHOOSERS[name]
    by_rows = clone(learner).fit(X, Y, sample_weight=w)
    monkeypatch.setattr(few_rows, "WIDE_FROM", P)
    by_products = clone(learner).fit(X, Y, sample_weight=w)
    assert isinstance(by_rows.stats_, FewRows) and isinstance(by_products.stats_, Moments)
    assert_array_equal(by_rows.coef_ != 0, by_products.coef_ != 0)
    np.testing.assert_allclose(by_rows.coef_, by_products.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(by_rows.predict(X), by_products.predict(X), rtol=1e-8, atol=1e-8)


def test_choosers_of_few_rows_as_others_have_them() -> None:
    X, y, _ = table()
    mine = tenfold.NonNegativeLeastSquares(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(mine.coef_, scipy.optimize.nnls(X, y)[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        tenfold.LassoLars(0.2).fit(X, y).coef_, linear_model.LassoLars(0.2).fit(X, y).coef_, rtol=1e-7, atol=1e-9
    )


@few
@pytest.mark.parametrize("name", ["nonnegative", "Lars", "LassoLars", "groups"])
def test_no_matrix_of_all_columns_by_all_columns(name: str) -> None:
    """20 x 5,000: rows take 0.8 MB, products of columns 200."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 5000)), rng.normal(size=20)
    tracemalloc.start()
    try:
        clone(CHOOSERS[name]).fit(X, y)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20e6
