"""LassoLars and Lars: optimal at every knot, equal to coordinate descent and to scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model as theirs
from test_lasso import table

import tenfold

SETTINGS: list[dict[str, Any]] = [{}, {"positive": True}, {"fit_intercept": False}]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_optimal_at_every_knot(setting: dict[str, Any], weighted: bool) -> None:
    X, y, w = table()
    w = w if weighted else np.ones(len(y))
    model = tenfold.LassoLars(alpha=0.01, **setting).fit(X, y, w)
    if model.fit_intercept:
        X, y = X - np.average(X, axis=0, weights=w), y - np.average(y, weights=w)
    top = np.abs(X.T @ (w * y)).max() / w.sum()
    assert len(model.alphas_) > 10 and (np.diff(model.alphas_) < 0).all() and model.alphas_[-1] == 0.01
    for alpha, coef in zip(model.alphas_, model.coef_path_.T, strict=True):
        pull = X.T @ (w * (y - X @ coef)) / w.sum()
        inside = np.maximum((pull if model.positive else np.abs(pull)) - alpha, 0.0)
        wrong = np.where(coef != 0, np.abs(pull - alpha * np.sign(coef)), inside)
        assert wrong.max() < 1e-11 * top
        assert not model.positive or (coef >= 0).all()


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_equal_to_coordinate_descent_between_knots(setting: dict[str, Any]) -> None:
    X, y, w = table()
    path = tenfold.LassoLars(alpha=0.01, **setting).fit(X, y, w)
    for alpha in (0.02, 0.3, 4.0):
        coef = [np.interp(alpha, path.alphas_[::-1], row[::-1]) for row in path.coef_path_]
        descent = tenfold.Lasso(alpha=alpha, **setting).fit(X, y, w)
        np.testing.assert_allclose(coef, descent.coef_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("setting", [{}, {"fit_intercept": False}], ids=str)
def test_equal_to_scikit_learn(setting: dict[str, Any]) -> None:
    X, y, _ = table()
    ours = tenfold.LassoLars(alpha=0.05, **setting).fit(X, y)
    peer = theirs.LassoLars(alpha=0.05, **setting).fit(X, y)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_, rtol=1e-7)
    np.testing.assert_allclose(ours.coef_path_, peer.coef_path_, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(np.sort(ours.active_), np.flatnonzero(ours.coef_))
    assert (ours.events_ < 0).any(), "no column ever left: the table is too easy to test that"


def test_events_tell_the_support() -> None:
    X, y, _ = table()
    model = tenfold.LassoLars(alpha=0.05).fit(X, y)
    support: set[int] = set()
    for event, coef in zip(model.events_, model.coef_path_.T, strict=True):
        before = set(np.flatnonzero(coef))
        if event < 0:
            support.remove(-event - 1)
        assert before == support
        if event > 0:
            support.add(event - 1)


@pytest.mark.parametrize("count", [1, 7, 15])
def test_least_angles(count: int) -> None:
    """The active columns share the largest correlation at every knot (scikit-learn's: in the first eight)."""
    X, y, _ = table()
    ours, peer = (library.Lars(n_nonzero_coefs=count).fit(X, y) for library in (tenfold, theirs))
    assert np.count_nonzero(ours.coef_) == count
    np.testing.assert_allclose(ours.alphas_[:8], peer.alphas_[:8], rtol=1e-8)
    np.testing.assert_allclose(ours.coef_path_[:, :8], peer.coef_path_[:, :8], rtol=0, atol=1e-8)
    X = X - X.mean(axis=0)
    for alpha, coef in zip(ours.alphas_, ours.coef_path_.T, strict=True):
        pull = np.abs(X.T @ (y - y.mean() - X @ coef)) / len(y)
        assert pull.max() < alpha + 1e-10 * ours.alphas_[0]
        np.testing.assert_allclose(pull[coef != 0], alpha, rtol=0, atol=1e-10 * ours.alphas_[0])


def test_all_columns_is_least_squares() -> None:
    X, y, _ = table()
    least = tenfold.LinearRegression().fit(X, y).coef_
    np.testing.assert_allclose(tenfold.Lars().fit(X, y).coef_, least, rtol=1e-8)
    np.testing.assert_allclose(tenfold.LassoLars(alpha=0.0).fit(X, y).coef_, least, rtol=1e-8)


@pytest.mark.parametrize("name", ["Lars", "LassoLars"])
def test_nearly_repeated_columns_are_told(name: str) -> None:
    X, y, _ = table()
    noise = 1e-9 * np.random.default_rng(0).normal(size=(len(X), 4))
    twice = np.column_stack([X[:, :4], X[:, :4] + noise])
    with pytest.warns(tenfold.Degenerate, match="combination of columns"):
        found = getattr(tenfold, name)(**({"alpha": 0.1} if name == "LassoLars" else {})).fit(twice, y)
    once = getattr(tenfold, name)(**({"alpha": 0.1} if name == "LassoLars" else {})).fit(X[:, :4], y)
    np.testing.assert_allclose(found.predict(twice), once.predict(X[:, :4]), rtol=1e-6)


def test_a_penalty_above_all_correlations() -> None:
    X, y, _ = table()
    model = tenfold.LassoLars(alpha=1e6).fit(X, y)
    assert not model.coef_.any() and model.n_iter_ == 0


@pytest.mark.parametrize("name", ["Lars", "LassoLars"])
def test_several_targets_one_by_one(name: str) -> None:
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(50, 6)), rng.normal(size=(50, 3)) + 1
    setting = {} if name == "Lars" else {"alpha": 0.05}
    model = getattr(tenfold, name)(**setting).fit(X, Y)
    for j in range(3):
        alone = getattr(tenfold, name)(**setting).fit(X, Y[:, j])
        np.testing.assert_allclose(model.coef_[j], alone.coef_, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(model.alphas_[j], alone.alphas_, rtol=1e-10)
        np.testing.assert_allclose(model.predict(X)[:, j], alone.predict(X), rtol=1e-10)
        assert model.active_[j].tolist() == alone.active_.tolist() and model.n_iter_[j] == alone.n_iter_
