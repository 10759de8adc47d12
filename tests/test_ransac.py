"""Random sample consensus: the lecture's table, gross errors, several lines, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model

import tenfold
from tenfold.linear.ransac import n_draws


def spoiled(share: float, n: int = 1000, seed: int = 0) -> tuple[Any, Any, Any]:
    """Rows near y = x·w + 1, of which a share has a target of its own; and w."""
    rng = np.random.default_rng(seed)
    X, true = rng.normal(size=(n, 3)), np.array([3.0, -2.0, 1.0])
    y = X @ true + 1 + 0.1 * rng.normal(size=n)
    far = rng.random(n) < share
    y[far] = 100 * rng.normal(size=far.sum()) + 50
    return X, y, true


@pytest.mark.parametrize(
    "size, expected", [(2, [3, 17, 49]), (3, [4, 35, 169]), (8, [9, 1172, 70128])], ids=["line", "plane", "8"]
)
def test_draws_of_the_lecture(size: int, expected: list[int]) -> None:
    """For 90, 50 and 30 % of inliers and success of 99 %; the two largest of the lecture are off by 0.5 %."""
    found = [n_draws(0.99, share, size) for share in (0.9, 0.5, 0.3)]
    np.testing.assert_allclose(found, expected, rtol=0.005 if size == 8 else 0)


def test_draws_succeed_as_often_as_they_say() -> None:
    rng, size, share = np.random.default_rng(1), 3, 0.5
    clean = (rng.random((4000, int(n_draws(0.9, share, size)), size)) < share).all(axis=2).any(axis=1)
    assert abs(clean.mean() - 0.9) < 0.02
    assert n_draws(0.99, 0.0, 2) == np.inf and n_draws(0.99, 1.0, 2) == 1 and n_draws(1.0, 0.5, 2) == np.inf


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5])
def test_gross_errors_do_not_move_it(share: float) -> None:
    X, y, true = spoiled(share)
    model = tenfold.RANSACRegressor(residual_threshold=0.5, random_state=0, max_trials=300).fit(X, y)
    assert np.linalg.norm(model.coef_ - true) < 0.02 * np.linalg.norm(true)
    assert abs(model.inlier_share_ - (1 - share)) < 0.05
    theirs = linear_model.RANSACRegressor(residual_threshold=0.5, random_state=0, max_trials=300).fit(X, y)
    near = np.abs(y - model.predict(X)) <= 0.5
    assert near.sum() >= theirs.inlier_mask_.sum()


def test_result_is_least_squares_of_its_inliers() -> None:
    X, y, _ = spoiled(0.3)
    model = tenfold.RANSACRegressor(residual_threshold=0.5, random_state=0).fit(X, y)
    near = np.abs(y - model.predict(X)) <= model.residual_threshold_
    expected = tenfold.LinearRegression().fit(X[near], y[near])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    with pytest.raises(AttributeError, match="residual_threshold_"):
        model.inlier_mask_  # noqa: B018


def test_several_lines() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(900, 1))
    lines = np.array([[3.0, 0.0], [-3.0, 5.0], [0.0, -8.0]])
    which = np.repeat([0, 1, 2], [400, 300, 200])
    y = X[:, 0] * lines[which, 0] + lines[which, 1] + 0.05 * rng.normal(size=900)
    model = tenfold.RANSACRegressor(residual_threshold=0.2, random_state=0, n_models=3).fit(X, y)
    np.testing.assert_allclose(model.models_, lines, atol=0.05)


def test_median_deviation_is_the_default_threshold() -> None:
    X, y, _ = spoiled(0.3)
    model = tenfold.RANSACRegressor(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.residual_threshold_, np.median(np.abs(y - np.median(y))), rtol=1e-12)


@pytest.mark.parametrize(
    "more, error, words",
    [
        ({"min_samples": 5000}, tenfold.BadInput, "n_samples"),
        ({"min_samples": 4.5}, tenfold.BadParameter, "whole number"),
        ({"residual_threshold": 0.0, "min_samples": 100}, tenfold.BadInput, "consensus"),
        ({"estimator": "tree"}, tenfold.BadParameter, "estimator"),
    ],
    ids=str,
)
def test_refused(more: dict[str, Any], error: type[Exception], words: str) -> None:
    X, y, _ = spoiled(0.3)
    with pytest.raises(error, match=words):
        tenfold.RANSACRegressor(random_state=0, **more).fit(X, y)
