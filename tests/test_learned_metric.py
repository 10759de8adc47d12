"""Metric learning: gradients, objectives against plain loops and scikit-learn's, and what neighbours gain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn import neighbors as theirs
from sklearn.datasets import load_iris, load_wine

import tenfold
from tenfold.neighbors import learned_metric
from tenfold.neighbors.components import Neighborhoods
from tenfold.neighbors.large_margin import Margins

RNG = np.random.default_rng(0)
BOTH = (tenfold.NeighborhoodComponentsAnalysis, tenfold.LargeMarginNearestNeighbor)


def wine() -> Any:
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def risks(X: Any, y: Any, w: Any) -> list[Any]:
    return [Neighborhoods(X, y, w), Margins(X, y, w, 2, 0.3)]


@pytest.mark.parametrize("which", [0, 1])
def test_the_gradient_is_that_of_the_risk_in_blocks_of_any_size(which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, w = RNG.normal(size=(23, 4)), RNG.integers(0, 3, 23), RNG.uniform(0.5, 3, 23)
    risk, A = risks(X, y, w)[which], RNG.normal(size=(2, 4))
    value, gradient = risk.value(A)
    found = approx_fprime(A.ravel(), lambda a: risk.value(a.reshape(2, 4))[0], 1e-7)
    np.testing.assert_allclose(gradient.ravel(), found, rtol=1e-4, atol=1e-4 * np.abs(found).max())
    monkeypatch.setattr(learned_metric, "PAIRS", 23 * 5)
    again, in_blocks = risk.value(A)
    np.testing.assert_allclose(again, value, rtol=1e-12)
    np.testing.assert_allclose(in_blocks, gradient, rtol=1e-9, atol=1e-9)


def test_large_margins_are_their_formula() -> None:
    X, y, k, push = RNG.normal(size=(15, 3)), np.arange(15) % 3, 2, 0.3
    A = RNG.normal(size=(2, 3))
    before = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    D = (((X[:, None] - X[None]) @ A.T) ** 2).sum(axis=2)
    expected = 0.0
    for i in range(15):
        mine = [j for j in np.argsort(before[i]) if j != i and y[j] == y[i]][:k]
        for j in mine:
            expected += (1 - push) * D[i, j] + push * sum(max(0, 1 + D[i, j] - D[i, m]) for m in range(15) if y[m] != y[i])
    np.testing.assert_allclose(Margins(X, y, np.ones(15), k, push).value(A)[0], expected, rtol=1e-12)


def test_neighbourhoods_are_those_of_scikit_learn() -> None:
    X, y = wine()
    for components in (2, 5, None):
        model = theirs.NeighborhoodComponentsAnalysis(components, random_state=0).fit(X, y)
        model.n_iter_ = 1
        same = y[:, None] == y[None]
        A = RNG.normal(size=(3, X.shape[1])) / 5
        loss, gradient = model._loss_grad_lbfgs(A.ravel(), X, same, -1.0)
        value, ours = Neighborhoods(X, y, np.ones(len(y))).value(A)
        np.testing.assert_allclose(value, loss, rtol=1e-9)
        np.testing.assert_allclose(ours.ravel(), gradient, rtol=1e-6, atol=1e-8)
        reached = model._loss_grad_lbfgs(model.components_.ravel(), X, same)[0]
        mine = tenfold.NeighborhoodComponentsAnalysis(components, random_state=0).fit(X, y)
        assert mine.objective_ > reached * (1 - 1e-5)


@pytest.mark.parametrize("init", ["pca", "lda", "identity"])
def test_fits_begin_where_those_of_scikit_learn_do(init: str) -> None:
    X, y = load_iris(return_X_y=True)
    kept = theirs.NeighborhoodComponentsAnalysis(2, init=init, random_state=0)
    kept.random_state_ = np.random.RandomState(0)
    start = kept._initialize(X, y, init)
    from tenfold.neighbors.metric_start import start_of

    ours = start_of(init, 2, X, y, np.ones(len(y)), np.random.RandomState(0))
    np.testing.assert_allclose(np.abs(ours), np.abs(start), rtol=1e-6, atol=1e-8)  # signs are nobody's


@pytest.mark.parametrize("make", BOTH)
def test_a_weight_of_two_is_a_row_twice(make: Any) -> None:
    X, y = wine()
    w = RNG.integers(0, 3, len(y)).astype(float)
    twice = np.repeat(np.arange(len(y)), w.astype(int))
    one, other = make(2, max_iter=5).fit(X, y, w), make(2, max_iter=5).fit(X[twice], y[twice])
    np.testing.assert_allclose(one.objective_, other.objective_, rtol=1e-9)
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("make", BOTH)
def test_neighbours_gain_where_columns_say_nothing(make: Any) -> None:
    X = np.hstack([RNG.normal(size=(300, 2)), 3 * RNG.normal(size=(300, 6))])
    y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
    before = tenfold.KNeighborsClassifier(5).fit(X[:150], y[:150]).score(X[150:], y[150:])
    model = make(2, random_state=0).fit(X[:150], y[:150])
    Z = model.transform(X)
    after = tenfold.KNeighborsClassifier(5).fit(Z[:150], y[:150]).score(Z[150:], y[150:])
    assert after > before + 0.15


@pytest.mark.parametrize("make", BOTH)
def test_callbacks_and_warm_starts(make: Any) -> None:
    X, y = wine()
    seen: list[int] = []
    model = make(2, warm_start=True, callback=lambda A, i: seen.append(i)).fit(X, y)
    assert seen == list(range(1, model.n_iter_ + 1))
    better = model.objective_ * (1 if make is BOTH[0] else -1)
    again = model.fit(X, y)
    assert again.objective_ * (1 if make is BOTH[0] else -1) >= better - 1e-9


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("kind", ["one class", "singletons", "equal rows", "constant column", "huge", "wide"])
def test_odd_tables_are_borne(make: Any, kind: str) -> None:
    X, y = RNG.normal(size=(12, 3)), np.arange(12) % 3
    if kind == "one class":
        y = y * 0
    elif kind == "singletons":
        y = np.arange(12)
    elif kind == "equal rows":
        X[:] = X[0]
    elif kind == "constant column":
        X[:, 1] = 7.0
    elif kind == "huge":
        X *= 1e40
    elif kind == "wide":
        X = RNG.normal(size=(12, 400))
    model = make(init="identity", max_iter=3).fit(X, y)
    assert np.isfinite(model.components_).all() and np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(n_components=9), "cannot be greater"),
        (dict(init=np.ones((2, 2))), "must match"),
        (dict(init=np.full((2, 3), np.nan)), "finite"),
        (dict(init=np.ones((4, 3))), "cannot be greater"),
        (dict(init=np.ones((2, 3)), n_components=3), "does not match"),
        (dict(callback=3), "a function"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(make: Any, options: Any, words: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=words) as caught:
        make(**options).fit(RNG.normal(size=(8, 3)), np.arange(8) % 2)
    assert "\n" not in str(caught.value)
