"""LassoCV and ElasticNetCV: scikit-learn's choice, both forms, folds of every kind."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from laws import made
from scipy.sparse import random_array
from sklearn import linear_model as theirs
from sklearn.model_selection import KFold
from test_lasso import table, violation

import tenfold
from tenfold.linear import lasso_cv, lasso_folds

TIGHT: dict[str, Any] = {"tol": 1e-11, "max_iter": 50_000}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("setting", [{}, {"positive": True}, {"fit_intercept": False}, {"cv": 3}], ids=str)
def test_lasso_equals_scikit_learn(setting: dict[str, Any], weighted: bool) -> None:
    X, y, w = table()
    weight = w + 1.0 if weighted else None
    ours = tenfold.LassoCV(**TIGHT, **setting).fit(X, y, weight)
    peer = theirs.LassoCV(tol=1e-9, max_iter=200_000, **setting).fit(X, y, weight)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_, rtol=1e-10)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-5)
    assert ours.alpha_ == pytest.approx(peer.alpha_, rel=1e-10)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=0, atol=1e-5)
    assert violation(ours, X, y, np.ones(len(y)) if weight is None else weight) < 1e-11


def test_elastic_net_equals_scikit_learn() -> None:
    X, y, _ = table()
    ours = tenfold.ElasticNetCV(l1_ratio=[0.3, 0.9], **TIGHT).fit(X, y)
    peer = theirs.ElasticNetCV(l1_ratio=[0.3, 0.9], tol=1e-9, max_iter=200_000).fit(X, y)
    assert ours.l1_ratio_ == peer.l1_ratio_ and ours.alpha_ == pytest.approx(peer.alpha_, rel=1e-10)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-5)
    assert violation(ours, X, y, np.ones(len(y))) < 1e-11


@pytest.mark.parametrize("setting", [{}, {"positive": True}, {"fit_intercept": False}], ids=str)
def test_rows_and_moments_agree(monkeypatch: pytest.MonkeyPatch, setting: dict[str, Any]) -> None:
    X, y, w = table()
    expected = tenfold.ElasticNetCV(l1_ratio=0.8, **TIGHT, **setting).fit(X, y, w)
    monkeypatch.setattr(lasso_cv, "ByMoments", lasso_cv.ByRows)
    found = tenfold.ElasticNetCV(l1_ratio=0.8, **TIGHT, **setting).fit(X, y, w)
    assert found.alpha_ == pytest.approx(expected.alpha_, rel=1e-10)
    np.testing.assert_allclose(found.mse_path_, expected.mse_path_, rtol=1e-7)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-8)


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 1000)) + 3
    y = X[:, :3].sum(axis=1) + rng.normal(size=60)
    ours = tenfold.LassoCV(cv=4, alphas=30, eps=0.05, tol=1e-9, max_iter=5000).fit(X, y)
    peer = theirs.LassoCV(cv=4, alphas=30, eps=0.05, tol=1e-8, max_iter=50_000).fit(X, y)
    assert ours.alpha_ == pytest.approx(peer.alpha_, rel=1e-10)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-4)
    assert violation(ours, X, y, np.ones(60)) < 1e-11


def test_folds_of_every_kind() -> None:
    X, y, w = table()
    numbers = tenfold.LassoCV(cv=4).fit(X, y)
    splitter = tenfold.LassoCV(cv=KFold(4)).fit(X, y)
    pairs = tenfold.LassoCV(cv=list(KFold(4).split(X))).fit(X, y)
    np.testing.assert_array_equal(numbers.mse_path_, splitter.mse_path_)
    np.testing.assert_array_equal(numbers.mse_path_, pairs.mse_path_)
    # Pairs number the rows of the table, of which those of weight zero take no part.
    kept = w > 0
    place = np.cumsum(kept) - 1
    left = [tuple(place[part[kept[part]]] for part in pair) for pair in KFold(4).split(X)]
    some = tenfold.LassoCV(cv=list(KFold(4).split(X))).fit(X, y, w)
    same = tenfold.LassoCV(cv=left).fit(X[kept], y[kept], w[kept])
    np.testing.assert_allclose(some.mse_path_, same.mse_path_, rtol=1e-12)


def test_given_penalties_and_a_column_of_one_fold() -> None:
    """A column that varies in one fold alone: its training moments are summed anew, not by subtraction."""
    X, y, _ = table()
    X = X.copy()
    X[:, 7] = 0.0
    X[:40, 7] = np.arange(40.0) * 1e6
    ours = tenfold.LassoCV(alphas=[0.5, 5.0, 1.0]).fit(X, y)
    np.testing.assert_array_equal(ours.alphas_, [5.0, 1.0, 0.5])
    peer = theirs.LassoCV(alphas=[0.5, 5.0, 1.0], tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=2e-3)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"cv": 1}, "at least 2 folds"),
        ({"cv": "five"}, "a number of folds, a splitter, or pairs"),
        ({"cv": [(np.arange(3), 2.5)]}, "split 0 is not a pair"),
        ({"cv": 1000}, "use fewer folds"),
        ({"alphas": 0}, "must be a number of penalties"),
        ({"alphas": [1.0, -2.0]}, r"alphas\[1\] == -2.0, must be >= 0.0"),
        ({"alphas": "many"}, "must be an instance of float, not str"),
        ({"eps": 0.0}, "must be >= 1e-12"),
    ],
    ids=str,
)
def test_wrong_parameters(wrong: dict[str, Any], said: str) -> None:
    X, y, _ = table()
    with pytest.raises(tenfold.TenfoldError, match=said):
        tenfold.LassoCV(**wrong).fit(X, y)


@pytest.mark.parametrize("ratio", [0.0, 1.5, [0.5, 2.0], "half"])
def test_wrong_mixture(ratio: Any) -> None:
    X, y, _ = table()
    with pytest.raises(tenfold.BadParameter, match="l1_ratio"):
        tenfold.ElasticNetCV(l1_ratio=ratio).fit(X, y)


def test_many_folds_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The moments of 60 folds would take 60 times p²; answers are those of keeping them all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 150))
    y = X[:, 0] + rng.normal(size=240)
    expected = tenfold.LassoCV(cv=60, alphas=5).fit(X, y)
    monkeypatch.setattr(lasso_folds, "KEPT", 0)
    tracemalloc.start()
    found = tenfold.LassoCV(cv=60, alphas=5).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found.mse_path_, expected.mse_path_, rtol=1e-8)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
    assert peak < 40 * 151**2 * 8, "more than 40 sets of moments at a time"


@pytest.mark.parametrize("name", ["LassoCV", "ElasticNetCV"])
@pytest.mark.parametrize("shape", [(200, 30), (60, 700)], ids=["long", "wide"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows(name: str, shape: tuple[int, int], fit_intercept: bool) -> None:
    rng = np.random.default_rng(4)
    X = random_array(shape, density=0.1, rng=rng, format="csr")
    y = 3 * X[:, :3].sum(axis=1) + 0.1 * rng.normal(size=shape[0]) + fit_intercept
    w = rng.integers(0, 3, shape[0])
    model = getattr(tenfold, name)(cv=3, alphas=20, fit_intercept=fit_intercept)
    sparse, dense = (made(model).fit(rows, y, w) for rows in (X, X.toarray()))
    np.testing.assert_allclose(sparse.mse_path_, dense.mse_path_, rtol=1e-3)
    assert sparse.alpha_ == pytest.approx(dense.alpha_, rel=1e-9)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, rtol=0, atol=1e-8)
