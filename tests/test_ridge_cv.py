"""RidgeCV: leave-one-out in closed form against refitting, scikit-learn's choice, folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV as SklearnRidgeCV

import tenfold

ALPHAS = np.logspace(-2, 4, 13)


def table(targets: int = 1) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12)) @ rng.normal(size=(12, 12)) + 5
    Y = X @ rng.normal(size=(12, targets)) + 4 * rng.normal(size=(40, targets)) + 100
    return X, Y[:, 0] if targets == 1 else Y, rng.integers(0, 3, 40)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", [1, 3])
def test_equal_to_scikit_learn(targets: int, fit_intercept: bool) -> None:
    X, Y, _ = table(targets)
    ours = tenfold.RidgeCV(ALPHAS, fit_intercept=fit_intercept).fit(X, Y)
    peer = SklearnRidgeCV(ALPHAS, fit_intercept=fit_intercept).fit(X, Y)
    assert ours.alpha_ == peer.alpha_
    assert ours.best_score_ == pytest.approx(peer.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-8)


def test_leave_one_out_is_refitting() -> None:
    """A row of weight s is s rows, of which one is left out."""
    X, y, w = table()
    Xc, yc = np.repeat(X, w, axis=0), np.repeat(y, w)
    found = tenfold.RidgeCV([3.0]).fit(X, y, w)
    errors = []
    for i in range(len(yc)):
        rest = np.arange(len(yc)) != i
        model = tenfold.Ridge(3.0).fit(Xc[rest], yc[rest])
        errors.append(float(yc[i] - model.predict(Xc[i : i + 1])[0]) ** 2)
    assert found.best_score_ == pytest.approx(-np.mean(errors), rel=1e-9)


@pytest.mark.parametrize("targets", [1, 3])
def test_folds_equal_scikit_learn(targets: int) -> None:
    X, Y, _ = table(targets)
    ours, peer = tenfold.RidgeCV(ALPHAS, cv=4).fit(X, Y), SklearnRidgeCV(ALPHAS, cv=4).fit(X, Y)
    assert ours.alpha_ == peer.alpha_
    assert ours.best_score_ == pytest.approx(peer.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-7)


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 60))
    y = X[:, 0] + rng.normal(size=20)
    ours, peer = tenfold.RidgeCV(ALPHAS).fit(X, y), SklearnRidgeCV(ALPHAS).fit(X, y)
    assert ours.alpha_ == peer.alpha_
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-6)


@pytest.mark.parametrize("wrong", [{"alphas": [0.0]}, {"alphas": "all"}, {"scoring": "r2"}, {"cv": 1}], ids=str)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    X, y, _ = table()
    with pytest.raises(tenfold.BadParameter, match=next(iter(wrong))):
        tenfold.RidgeCV(**wrong).fit(X, y)


def test_a_stream_that_can_be_read_once() -> None:
    X, y, _ = table()
    with pytest.raises(tenfold.ReadOnce, match="several passes"):
        tenfold.RidgeCV().fit(iter([(X, y)]))
