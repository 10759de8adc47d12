"""OrthogonalMatchingPursuit: greedy at every step, optimal on what it took, equal to scikit-learn, by moments and by rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.sparse import csr_matrix
from sklearn import linear_model as theirs
from test_lasso import table

import tenfold
from tenfold.linear import pursuit

Array = np.ndarray[Any, Any]
Model = tenfold.OrthogonalMatchingPursuit
ROUTES = [{"precompute": True}, {"precompute": False}]


def centred(X: Array, y: Array, w: Array, model: Any) -> tuple[Array, Array]:
    if not model.fit_intercept:
        return X, y
    return X - np.average(X, axis=0, weights=w), y - np.average(y, weights=w)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("setting", [{}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_greedy_and_orthogonal_at_every_step(route: dict[str, Any], setting: dict[str, Any], weighted: bool) -> None:
    X, y, w = table()
    w = w if weighted else np.ones(len(y), dtype=np.int64)
    model = Model(n_nonzero_coefs=8, **route, **setting).fit(X, y, w)
    Z, t = centred(X, y, w, model)
    assert len(model.active_) == 8 == model.n_iter_ and model.coef_path_.shape == (30, 9)
    top = np.abs(Z.T @ (w * t)).max()
    for k, coef in enumerate(model.coef_path_.T):
        pull = np.abs(Z.T @ (w * (t - Z @ coef)))
        taken = model.active_[:k]
        assert set(np.flatnonzero(coef)) == set(taken)
        assert pull[taken].max(initial=0.0) < 1e-10 * top
        if k < 8:
            assert pull.argmax() == model.active_[k]
    np.testing.assert_array_equal(model.coef_, model.coef_path_[:, -1])


@pytest.mark.parametrize("setting", [{}, {"n_nonzero_coefs": 6}, {"tol": 3e4}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_equal_to_scikit_learn(route: dict[str, Any], setting: dict[str, Any]) -> None:
    X, y, _ = table()
    Y = np.column_stack([y, y + 3 * X[:, 9], X[:, 11] - y])
    for target in (y, Y):
        ours = Model(**route, **setting).fit(X, target)
        peer = theirs.OrthogonalMatchingPursuit(**setting).fit(X, target)
        np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=0, atol=1e-9)
        np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(ours.n_iter_, peer.n_iter_)
        assert ours.n_nonzero_coefs_ == peer.n_nonzero_coefs_


@pytest.mark.parametrize("setting", [{"n_nonzero_coefs": 7}, {"n_nonzero_coefs": 30}, {"tol": 4e4}], ids=str)
@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_not_negative(route: dict[str, Any], setting: dict[str, Any]) -> None:
    """On the columns taken it is non-negative least squares; asked for all columns, it is that of all."""
    X, y, _ = table(seed=5)
    y = y - 4 * X[:, 7]
    model = Model(positive=True, **route, **setting).fit(X, y)
    Z, t = centred(X, y, np.ones(len(y)), model)
    assert (model.coef_ >= 0).all() and model.coef_.any()
    np.testing.assert_allclose(model.coef_[model.active_], nnls(Z[:, model.active_], t)[0], rtol=1e-8)
    if setting.get("n_nonzero_coefs") == 30:
        np.testing.assert_allclose(model.coef_, nnls(Z, t)[0], rtol=0, atol=1e-9)
        assert model.n_iter_ > len(model.active_), "no column ever left: the table is too easy to test that"
    if "tol" in setting:
        before = t - Z @ model.coef_path_[:, -2]
        assert ((t - Z @ model.coef_) ** 2).sum() <= 4e4 < before @ before


def test_the_right_columns_among_many() -> None:
    """As in the benchmark, smaller: more columns than rows, all true columns found, by rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1000))
    truth = np.zeros(1000)
    truth[rng.choice(1000, 10, replace=False)] = rng.choice([-1, 1], 10) * rng.uniform(1, 2, 10)
    y = X @ truth + 0.01 * rng.normal(size=200)
    model = Model(n_nonzero_coefs=10).fit(X, y)
    assert "stats_" not in vars(model)
    np.testing.assert_array_equal(np.flatnonzero(model.coef_), np.flatnonzero(truth))
    np.testing.assert_allclose(model.coef_, truth, rtol=0, atol=0.01)
    again = Model(n_nonzero_coefs=10).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=0, atol=1e-6)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_sparse_rows(route: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 40)) * (rng.random((100, 40)) < 0.2)
    y = X @ rng.normal(size=40) + rng.normal(size=100)
    dense, sparse = Model(**route).fit(X, y), Model(**route).fit(csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-12)


def test_columns_far_from_zero_keep_their_digits() -> None:
    """By rows, columns are centred implicitly while that costs no digits, and else explicitly."""
    X, y, _ = table()
    for far in (0.0, 1e3, 1e7):
        near = Model(n_nonzero_coefs=6, precompute=False).fit(X, y)
        moved = Model(n_nonzero_coefs=6, precompute=False).fit(X + far, y)
        np.testing.assert_allclose(moved.coef_, near.coef_, rtol=1e-7)


@pytest.mark.parametrize("positive", [False, True])
def test_the_path_of_one_fit(positive: bool) -> None:
    X, y, _ = table()
    fitted = Model(positive=positive).fit(X, y)
    for value, one in zip([2, 9, 5], fitted._solve_path(fitted.stats_, [2, 9, 5]), strict=True):
        alone = Model(n_nonzero_coefs=value, positive=positive).fit(X, y)
        np.testing.assert_allclose(one["coef_"], alone.coef_, rtol=1e-9)
        np.testing.assert_array_equal(one["active_"], alone.active_)
    path = tenfold.validation_path(Model(), X, y, "n_nonzero_coefs", [1, 2, 5, 10], folds=4)
    assert path.best in (5, 10)


def test_an_exact_target_ends_the_pursuit() -> None:
    X, _, _ = table()
    y = X[:, [3, 8]] @ [2.0, -5.0] + 1
    for route in ROUTES:
        model = Model(n_nonzero_coefs=30, **route).fit(X, y)
        np.testing.assert_allclose(model.coef_[[3, 8]], [2.0, -5.0], rtol=1e-8)
        np.testing.assert_allclose(np.delete(model.coef_, [3, 8]), 0, rtol=0, atol=1e-8)
    assert not Model(tol=1e9).fit(X, y).coef_.any()


@pytest.mark.parametrize("positive", [False, True])
def test_repeated_columns_are_told(positive: bool) -> None:
    X, y, _ = table()
    noise = 1e-9 * np.random.default_rng(0).normal(size=(len(X), 4))
    twice = np.column_stack([X[:, :4], X[:, :4] + noise])
    with pytest.warns(tenfold.Degenerate, match="combination of columns"):
        found = Model(n_nonzero_coefs=8, positive=positive).fit(twice, y)
    once = Model(n_nonzero_coefs=4, positive=positive).fit(X[:, :4], y)
    np.testing.assert_allclose(found.predict(twice), once.predict(X[:, :4]), rtol=1e-6)


def test_which_route(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = table()
    assert "stats_" in vars(Model().fit(X, y))
    monkeypatch.setattr(pursuit, "FEW", 5)
    assert "stats_" in vars(Model().fit(X, y))
    assert "stats_" not in vars(Model().fit(X[:100], y[:100]))
