"""TotalLeastSquares: distances at their minimum, scipy.odr's answers, columns without error, solutions that do not exist."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tenfold

Array = np.ndarray[Any, Any]
Model = tenfold.TotalLeastSquares


def rows(n: int = 200, q: int = 1, seed: int = 0) -> tuple[Array, Array]:
    """Columns and targets, all seen with errors."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 3)) * [1.0, 3.0, 2.0] + 5
    Y = truth @ rng.normal(size=(3, q)) + 1
    X, Y = truth + 0.4 * rng.normal(size=truth.shape), Y + 0.4 * rng.normal(size=Y.shape)
    return X, Y[:, 0] if q == 1 else Y


def squares(w: Array, b: Any, X: Array, Y: Array, s: Array, scale: Array) -> float:
    """Σ s d² from the docstring: the nearest point of the plane, by a small least-squares problem for each row."""
    Y, W = Y.reshape(len(X), -1), np.reshape(w, (-1, X.shape[1])).T
    p = X.shape[1]
    free = scale[:p] > 0
    A = np.vstack([np.diag(1 / scale[:p][free]), (W[free] / scale[p:]).T])  # in the changes of the columns with errors
    rest = (Y - X @ W - b) / scale[p:]
    right = np.hstack([np.zeros((len(X), free.sum())), rest])
    change = np.linalg.lstsq(A, right.T, rcond=None)[0]
    return float(s @ ((A @ change - right.T) ** 2).sum(axis=0))


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale", [None, [0.5, 1.0, 2.0], [0.0, 1.0, 2.0], [0.0, 0.0, 0.0]], ids=str)
def test_distances_are_at_their_minimum(scale: Any, fit_intercept: bool, q: int) -> None:
    X, Y = rows(q=q)
    rng = np.random.default_rng(1)
    s = rng.integers(0, 3, len(X))
    model = Model(scale=scale, fit_intercept=fit_intercept).fit(X, Y, s)
    full = np.concatenate([np.ones(3) if scale is None else scale, np.ones(q)])
    here = squares(model.coef_, model.intercept_, X, Y, s, full)
    np.testing.assert_allclose(here, model.squares_, rtol=1e-9)
    np.testing.assert_allclose(s @ model.distances(X, Y) ** 2, here, rtol=1e-9)
    for step in 1e-3 * rng.normal(size=(30, model.coef_.size + q)):
        moved = model.coef_ + step[: model.coef_.size].reshape(model.coef_.shape)
        shift = step[model.coef_.size :] if q > 1 else step[-1]
        assert squares(moved, model.intercept_ + fit_intercept * shift, X, Y, s, full) >= here * (1 - 1e-12)


def test_as_scipy_odr() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        odr = pytest.importorskip("scipy.odr")
        X, y = rows()
        sx, sy = np.array([0.5, 1.0, 2.0]), 0.7
        data = odr.RealData(X.T, y, sx=np.broadcast_to(sx[:, None], X.T.shape), sy=sy)
        linear = odr.Model(lambda b, x: b[0] + b[1:] @ x)
        peer = odr.ODR(data, linear, beta0=np.ones(4), sstol=1e-15, partol=1e-15, maxit=1000).run()
    model = Model(scale=[*sx, sy]).fit(X, y)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), peer.beta, rtol=1e-5)
    np.testing.assert_allclose(model.squares_, peer.sum_square, rtol=1e-8)


def test_columns_without_error_are_least_squares() -> None:
    X, y = rows()
    exact = Model(scale=[0, 0, 0]).fit(X, y)
    np.testing.assert_allclose(exact.coef_, tenfold.LinearRegression().fit(X, y).coef_, rtol=1e-10)
    near = Model(scale=[1e-6] * 3).fit(X, y)
    np.testing.assert_allclose(near.coef_, exact.coef_, rtol=1e-6)


def test_it_is_not_drawn_to_zero() -> None:
    """Errors in the columns shrink the coefficients of least squares; here they go to the truth as rows grow many."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(50_000, 1))
    X, y = truth + 0.7 * rng.normal(size=truth.shape), 2 * truth[:, 0] + 0.7 * rng.normal(size=50_000)
    model = Model().fit(X, y)
    np.testing.assert_allclose(model.coef_, 2.0, rtol=0.01)
    np.testing.assert_allclose(model.noise_, 0.7, rtol=0.01)
    assert tenfold.LinearRegression().fit(X, y).coef_ < 1.4


def test_nearest_points() -> None:
    X, Y = rows(q=2)
    scale = np.array([0.5, 0.0, 2.0, 1.0, 3.0])
    model = Model(scale=scale).fit(X, Y)
    near, target = model.project(X, Y)
    np.testing.assert_allclose(model.predict(near), target, rtol=1e-9)
    np.testing.assert_array_equal(near[:, 1], X[:, 1])
    with np.errstate(invalid="ignore"):
        moved = np.hstack([near - X, target - Y]) / np.where(scale > 0, scale, 1.0)
    np.testing.assert_allclose((moved**2).sum(axis=1), model.distances(X, Y) ** 2, rtol=1e-8)
    flat, one = Model().fit(X, Y[:, 0]), Model().fit(X, Y[:, :1])
    np.testing.assert_allclose(flat.project(X, Y[:, 0])[1], one.project(X, Y[:, :1])[1][:, 0], rtol=1e-12)


def test_nearly_exact_relations_keep_their_digits() -> None:
    """Cross-products would drown an error of 1e-9; the triangle keeps it."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(300, 2))
    X, y = truth + 1e-9 * rng.normal(size=truth.shape), truth @ [1.0, 2.0] + 1e-9 * rng.normal(size=300)
    model = Model().fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, 2.0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.noise_, 1e-9, rtol=0.1)


def test_no_solution() -> None:
    """The textbook case: the columns depend on one another, and the target is orthogonal to that."""
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    y = np.array([1.0, 1.0, 0.0])
    with pytest.warns(tenfold.Degenerate, match="no solution exists"):
        model = Model(fit_intercept=False).fit(X, y)
    assert not model.generic_
    reduced = Model(fit_intercept=False).fit(X[:, :1], y)
    assert reduced.generic_
    np.testing.assert_allclose(model.coef_, [reduced.coef_[0], 0.0], rtol=0, atol=1e-9)


def test_several_solutions() -> None:
    square = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    with pytest.warns(tenfold.Degenerate, match="equally near"):
        model = Model().fit(square[:, :1], square[:, 1])
    np.testing.assert_allclose(model.coef_, 0.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "scale", [[1.0], [1.0] * 9, [-1.0, 1, 1], [np.nan, 1, 1], [1, 1, 1, 0], "x", [[1, 2], [3]]], ids=str
)
def test_bad_scales(scale: Any) -> None:
    X, y = rows()
    with pytest.raises(tenfold.BadParameter, match="scale="):
        Model(scale=scale).fit(X, y)
