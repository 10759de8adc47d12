"""Linear support vector regression: scikit-learn's objective, its duality gap, exact small cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import svm

import tenfold

LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")


def table(n: int = 200, p: int = 4, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) + 2 + rng.standard_t(2, size=n), rng.integers(1, 4, n).astype(float)


def objective(model: Any, X: Any, y: Any, w: Any) -> float:
    """As documented; `model` may be scikit-learn's."""
    b = float(np.ravel(model.intercept_)[0])
    over = np.maximum(np.abs(y - X @ model.coef_ - b) - model.epsilon, 0)
    loss = float(w @ (over if model.loss == LOSSES[0] else over**2))
    return 0.5 * float(model.coef_ @ model.coef_) + 0.5 * (b / model.intercept_scaling) ** 2 + model.C * loss


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("C", [0.01, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_not_above_scikit_learn(loss: str, epsilon: float, C: float, intercept: bool) -> None:
    X, y, w = table()
    settings: dict[str, Any] = dict(loss=loss, epsilon=epsilon, C=C, fit_intercept=intercept, intercept_scaling=2.0)
    ours = tenfold.LinearSVR(**settings, tol=1e-11).fit(X, y, w)
    theirs = svm.LinearSVR(**settings, tol=1e-9, max_iter=200_000, random_state=0).fit(X, y, w)
    assert objective(ours, X, y, w) <= objective(theirs, X, y, w) * (1 + 1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert ours.dual_gap_ <= 1e-11
    assert (ours.intercept_ == 0) == (not intercept)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_bounds_what_is_missing(loss: str) -> None:
    """More rows than are kept near the margin; the loose fit is as far above the minimum as it says, or less."""
    X, y, w = table(4000)
    exact = tenfold.LinearSVR(loss=loss, epsilon=0.3, tol=1e-10).fit(X, y, w)
    loose = tenfold.LinearSVR(loss=loss, epsilon=0.3, tol=0.05).fit(X, y, w)
    least, found = objective(exact, X, y, w), objective(loose, X, y, w)
    assert exact.dual_gap_ <= 1e-10 and loose.dual_gap_ <= 0.05
    assert least <= found * (1 + 1e-10) and found - least <= loose.dual_gap_ * found + 1e-9 * least
    rng, best = np.random.default_rng(0), exact.coef_
    for _ in range(50):  # no neighbour is better
        exact.coef_ = best + 1e-4 * rng.normal(size=4)
        assert objective(exact, X, y, w) > least


def test_one_row_by_hand() -> None:
    """min ½ w² + C |2 w − 4| (no intercept, epsilon 0): w = 2 C as long as that is below 2, then 2."""
    for C, expected in ((0.1, 0.2), (0.5, 1.0), (3.0, 2.0)):
        model = tenfold.LinearSVR(C=C, fit_intercept=False, tol=1e-12).fit([[2.0]], [4.0])
        np.testing.assert_allclose(model.coef_, [expected], rtol=1e-9)
    squared = tenfold.LinearSVR(C=0.5, fit_intercept=False, loss=LOSSES[1], tol=1e-12).fit([[2.0]], [4.0])
    np.testing.assert_allclose(squared.coef_, [8 / 5], rtol=1e-9)  # w + 2 (2 w − 4) = 0


def test_a_wide_margin_asks_for_nothing() -> None:
    X, y, _ = table()
    model = tenfold.LinearSVR(epsilon=float(np.abs(y).max())).fit(X, y)
    np.testing.assert_allclose([*model.coef_, model.intercept_], 0, atol=1e-9)


def test_too_few_passes_are_told() -> None:
    X, y, _ = table(4000)
    with pytest.warns(tenfold.NotConverged, match="duality gap"):
        tenfold.LinearSVR(max_iter=2, tol=1e-9).fit(X, y)
