"""The perceptron: its bound on mistakes, scikit-learn's weights, averages, and the pocket that is never worse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import tenfold
from tenfold import Perceptron

Array = np.ndarray[Any, Any]


def separable(n: int, p: int, gap: float, seed: int) -> tuple[Array, Array, float, float]:
    """Rows with a 1 for the constant, R and γ: the largest ‖x‖, and a margin of a plane that is known."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(3 * n, p)), rng.normal(size=p + 1)
    w /= np.linalg.norm(w)
    Z = np.column_stack([X, np.ones(len(X))])
    keep = np.flatnonzero(np.abs(Z @ w) > gap)[:n]
    Z = Z[keep]
    return X[keep], np.sign(Z @ w), float(np.linalg.norm(Z, axis=1).max()), float(np.abs(Z @ w).min())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gap", [0.5, 0.1])
def test_mistakes_are_bounded_on_separable_rows(gap: float, seed: int) -> None:
    """Novikoff's theorem: whatever the order of the rows, at most (R / γ)² of them move the plane."""
    X, y, R, margin = separable(60, 3, gap, seed)
    model, moved, before = Perceptron(), 0, None
    for epoch in range(1000):
        begun = moved
        for i in np.random.default_rng(epoch).permutation(len(X)):
            model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
            now = np.append(model.coef_, model.intercept_)
            moved += before is None or not np.array_equal(now, before)
            before = now
        if moved == begun:
            break
    assert moved <= (R / margin) ** 2
    assert model.score(X, y) == 1
    assert Perceptron(max_iter=1000, tol=None).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("setting", [{}, {"penalty": "l2"}, {"penalty": "l1"}, {"eta0": 0.1, "fit_intercept": False}], ids=str)
def test_without_shuffling_it_is_that_of_scikit_learn(setting: dict[str, Any], sparse: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * (rng.random((200, 5)) < 0.7)
    y = np.array(["a", "b", "c"])[np.digitize(X.sum(axis=1) + rng.normal(size=200), [-1, 1])]
    rows = csr_array(X) if sparse else X
    for labels in (y, y == "a"):
        still: dict[str, Any] = dict(shuffle=False, max_iter=3, tol=None, **setting)
        one, other = (home.Perceptron(**still).fit(rows, labels) for home in (tenfold, sklearn.linear_model))
        assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-12)
        assert_allclose(one.decision_function(rows), other.decision_function(rows), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_a_pocket_is_never_worse_on_the_training_rows(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=150), np.linspace(-1, 1, classes - 1))
    w = rng.integers(0, 3, 150)
    setting: dict[str, Any] = dict(max_iter=30, tol=None, random_state=seed)
    plain, kept = Perceptron(**setting).fit(X, y, w), Perceptron(pocket=True, **setting).fit(X, y, w)
    assert kept.score(X, y, w) >= plain.score(X, y, w)
    best = max(Perceptron(**(setting | {"max_iter": k})).fit(X, y, w).score(X, y, w) for k in range(1, 31))
    assert kept.score(X, y, w) == pytest.approx(best)


def test_averages_are_means_of_the_planes() -> None:
    rng = np.random.default_rng(3)
    X, planes = rng.normal(size=(80, 3)), []
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=80))
    plain = Perceptron()
    for i in range(80):
        plain.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        planes.append(np.append(plain.coef_, plain.intercept_))
    mean = Perceptron(average=True, shuffle=False, max_iter=1, tol=None).fit(X, y)
    assert_allclose(np.append(mean.coef_, mean.intercept_), np.mean(planes, axis=0), rtol=1e-12)
    assert_allclose(mean.last_coef_, plain.coef_, rtol=1e-12)


def test_settings_and_probabilities_that_are_not_there() -> None:
    X, y = np.eye(4), [0, 0, 1, 1]
    with pytest.raises(tenfold.BadParameter, match="choose one"):
        Perceptron(pocket=True, average=True).fit(X, y)
    model = Perceptron(pocket=True).fit(X, y)
    assert not hasattr(model, "predict_proba") and model.score(X, y) == 1
    assert_array_equal(model.partial_fit(X, y).predict(X), y)
    assert_array_equal(Perceptron().fit(X, y).coef_, Perceptron().fit(X, y).coef_)  # random_state is 0, as in scikit-learn
