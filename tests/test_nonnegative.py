"""NonNegativeLeastSquares: the conditions of the minimum hold, scipy's answers, also for badly conditioned columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls
from test_lasso import table

import tenfold
from tenfold.solve import nonnegative

Array = np.ndarray[Any, Any]
Model = tenfold.NonNegativeLeastSquares


def reference(X: Array, y: Array, w: Array, fit_intercept: bool) -> tuple[Array, float]:
    """scipy's solution of the centred and weighted problem."""
    m, t = (
        (np.average(X, axis=0, weights=w), np.average(y, weights=w)) if fit_intercept else (np.zeros(X.shape[1]), 0.0)
    )
    coef = nnls((X - m) * np.sqrt(w)[:, None], (y - t) * np.sqrt(w))[0]
    return coef, float(t - m @ coef)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("p", [1, 12, 60])
def test_equal_to_scipy_and_optimal(p: int, fit_intercept: bool, weighted: bool) -> None:
    X, y, w = table(n=300, p=max(p, 5))
    X, y = X[:, :p], y - 3 * X[:, min(1, p - 1)]
    w = w if weighted else np.ones(len(y), dtype=np.int64)
    model = Model(fit_intercept=fit_intercept).fit(X, y, w)
    coef, intercept = reference(X, y, w, fit_intercept)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-10 * max(np.abs(coef).max(), 1e-3))
    np.testing.assert_allclose(model.intercept_, intercept, rtol=0, atol=1e-8 * (1 + abs(intercept)))
    assert model.certificate_ < 1e-12
    rest = w * (y - model.predict(X))
    pull = X.T @ rest
    size = np.abs(X).T @ (w * np.abs(y))
    assert (model.coef_ >= 0).all() and (pull <= 1e-12 * size).all()
    assert np.abs(pull[model.coef_ > 0]).max(initial=0.0) <= 1e-11 * size.max()
    np.testing.assert_allclose(
        model.multipliers_, np.where(model.coef_ > 0, 0.0, -pull), rtol=0, atol=1e-11 * size.max()
    )


def test_several_targets() -> None:
    X, y, w = table()
    Y = np.column_stack([y, -y, X[:, 4] - y])
    model = Model().fit(X, Y, w)
    assert model.coef_.shape == (3, 30) == model.multipliers_.shape and model.certificate_.shape == (3,)
    for k in range(3):
        alone = Model().fit(X, Y[:, k], w)
        np.testing.assert_allclose(model.coef_[k], alone.coef_, rtol=0, atol=1e-10)


def test_badly_conditioned_columns_keep_their_digits() -> None:
    """Cross-products would square the condition; the truth is known, and on the boundary."""
    t = np.linspace(0, 1, 400)
    X = t[:, None] ** np.arange(1, 9)  # condition about 1e6
    truth = np.array([1.0, 0, 2, 0, 0, 3, 0, 0])
    model = Model().fit(X, X @ truth + 0.5)
    assert model.solver_ == "triangle" and model.certificate_ < 1e-14
    np.testing.assert_allclose(model.coef_, truth, rtol=0, atol=1e-8)
    assert Model().fit(X[:, :1], t).solver_ == "moments"


def test_one_at_a_time_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = table()
    expected = Model().fit(X, y)
    assert expected.n_iter_ < 12, "all at once takes few systems"
    monkeypatch.setattr(nonnegative, "_all_at_once", lambda problem, p: None)
    found = Model().fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
    assert found.n_iter_ > expected.n_iter_


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(3)
    X, y = np.abs(rng.normal(size=(20, 50))), rng.normal(size=20)
    model = Model(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(X @ model.coef_, X @ nnls(X, y)[0], rtol=0, atol=1e-9)
    assert model.certificate_ < 1e-12


def test_repeated_columns_are_told() -> None:
    X, y, _ = table(p=5)
    with pytest.warns(tenfold.Degenerate, match="depends on others"):
        twice = Model().fit(np.column_stack([X, X]), y)
    once = Model().fit(X, y)
    np.testing.assert_allclose(twice.predict(np.column_stack([X, X])), once.predict(X), rtol=1e-9)


def test_a_certificate_above_the_bound_is_told() -> None:
    X, y, _ = table()
    with pytest.warns(tenfold.NotConverged, match="more than tol=0"):
        Model(tol=0.0).fit(X, y)
