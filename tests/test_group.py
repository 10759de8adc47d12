"""GroupLasso: its own conditions of optimality, the lasso where groups are single columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_lasso import table

import tenfold

Array = np.ndarray[Any, Any]
Model = tenfold.GroupLasso
CODES = np.repeat(np.arange(9), [1, 2, 3, 4, 5, 6, 4, 3, 2])[np.random.default_rng(0).permutation(30)]


def violation(model: Any, X: Array, y: Array, s: Array, strength: Array) -> float:
    """The largest violation of the conditions of optimality, as a share of the largest correlation of a group."""
    rest = y - X @ model.coef_ - model.intercept_
    X = X - np.average(X, axis=0, weights=s) if model.fit_intercept else X
    pull, top = X.T @ (s * rest) / s.sum(), X.T @ (s * y) / s.sum()
    wrong, largest = 0.0, 0.0
    for g, weight in enumerate(strength):
        at = model.group_of_ == g
        w, limit = model.coef_[at], model.alpha * weight
        on = np.linalg.norm(w) > 0
        gap = (
            np.linalg.norm(pull[at] - limit * w / np.linalg.norm(w)) if on else max(np.linalg.norm(pull[at]) - limit, 0)
        )
        wrong, largest = max(wrong, float(gap)), max(largest, float(np.linalg.norm(top[at])))
    return wrong / largest


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "setting", [{}, {"fit_intercept": False}, {"weights": np.arange(1.0, 10)}], ids=["", "raw", "weights"]
)
@pytest.mark.parametrize("alpha", [20.0, 2.0, 0.2, 0.001])
def test_conditions_of_optimality(alpha: float, setting: dict[str, Any], weighted: bool) -> None:
    X, y, s = table()
    s = s if weighted else np.ones(len(y), dtype=np.int64)
    model = Model(alpha=alpha, groups=CODES, **setting).fit(X, y, s)
    strength = setting.get("weights", np.sqrt(np.bincount(CODES)))
    assert violation(model, X, y, s, strength) < 1e-10
    assert model.dual_gap_ < 1e-10 * np.var(y)
    off = [not model.coef_[g == CODES].any() for g in range(9)]
    assert all(model.coef_[g == CODES].all() for g in range(9) if not off[g]), "a group is zero or not, as a whole"
    assert (alpha < 1) <= (not all(off))


def test_some_groups_are_zero_along_the_path() -> None:
    X, y, _ = table()
    counts = []
    fitted = Model(groups=CODES).fit(X, y)
    alphas = [30.0, 0.5, 10.0, 3.0]
    for alpha, one in zip(alphas, fitted._solve_path(fitted.stats_, alphas), strict=True):
        alone = Model(alpha=alpha, groups=CODES).fit(X, y)
        np.testing.assert_allclose(one["coef_"], alone.coef_, rtol=0, atol=1e-9)
        counts.append(len({int(g) for g in CODES[alone.coef_ != 0]}))
    assert 0 < counts[0] < counts[2] < 9
    path = tenfold.validation_path(Model(groups=CODES), X, y, "alpha", alphas, folds=4)
    assert path.best in alphas


@pytest.mark.parametrize("groups", [None, 1, np.arange(30)], ids=str)
def test_single_columns_are_the_lasso(groups: Any) -> None:
    X, y, s = table()
    for alpha in (5.0, 0.3):
        ours, lasso = Model(alpha, groups).fit(X, y, s), tenfold.Lasso(alpha).fit(X, y, s)
        np.testing.assert_allclose(ours.coef_, lasso.coef_, rtol=0, atol=1e-9)
        np.testing.assert_allclose(ours.intercept_, lasso.intercept_, rtol=1e-9)


def test_rotations_inside_a_group_change_nothing() -> None:
    """The penalty sees only the length of a group's coefficients."""
    X, y, _ = table()
    X = X - X.mean(0)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    turned = np.hstack([X[:, i : i + 5] @ turn for i in range(0, 30, 5)])
    one, two = (Model(2.0, groups=5).fit(table, y) for table in (X, turned))
    np.testing.assert_allclose(one.predict(X), two.predict(turned), rtol=1e-8)


def test_several_targets_and_no_penalty() -> None:
    X, y, _ = table()
    both = Model(1.0, groups=CODES).fit(X, np.column_stack([y, -3 * y]))
    np.testing.assert_allclose(both.coef_[0], Model(1.0, groups=CODES).fit(X, y).coef_, rtol=0, atol=1e-9)
    assert both.dual_gap_.shape == (2,)
    free = Model(0.0, groups=CODES).fit(X, y)
    np.testing.assert_allclose(free.coef_, tenfold.LinearRegression().fit(X, y).coef_, rtol=1e-7)


def test_more_columns_than_rows_and_dependent_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 200))
    y = X[:, :5] @ np.arange(1.0, 6) + 0.1 * rng.normal(size=40)
    model = Model(0.3, groups=5).fit(X, y)
    assert violation(model, X, y, np.ones(40), np.full(40, 5**0.5)) < 1e-10
    assert set(model.group_of_[model.coef_ != 0]) == {0}
    twice = np.repeat(X[:, :20], 2, axis=1)  # every column twice, both in the same group: they share
    shared = Model(0.3, groups=4).fit(twice, y)
    np.testing.assert_allclose(shared.coef_[::2], shared.coef_[1::2], rtol=0, atol=1e-9)


def test_too_few_sweeps_are_told() -> None:
    X, y, _ = table()
    with pytest.warns(tenfold.NotConverged, match="increase max_iter"):
        Model(1e-4, groups=np.arange(60) % 30, max_iter=1, tol=1e-12).fit(np.column_stack([X, X + 1e-3 * X**2]), y)


@pytest.mark.parametrize("wrong", [{"groups": [1, 2]}, {"groups": 0}, {"groups": 2.5}, {"groups": [[1, 2]] * 15},
                                   {"weights": [1.0]}, {"weights": [0.0] * 30}, {"weights": "x"}], ids=str)  # fmt: skip
def test_bad_groups(wrong: dict[str, Any]) -> None:
    X, y, _ = table()
    with pytest.raises(tenfold.BadParameter, match=next(iter(wrong))):
        Model(**wrong).fit(X, y)
