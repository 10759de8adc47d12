"""Sums and descent of planes with a margin over sparse rows equal plain NumPy versions, and can be stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from tenfold import _margin
from tenfold.core.threads import cancellable

Array = np.ndarray[Any, Any]


def problem(n: int, p: int, sided: bool, seed: int = 0) -> tuple[Any, Array, Array]:
    rng = np.random.default_rng(seed)
    X = scipy.sparse.csr_array(np.where(rng.random((n, p)) < 0.3, rng.normal(size=(n, p)), 0.0))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0) if sided else rng.normal(size=n)
    return X, y, rng.uniform(0.1, 2, n)


def parts(X: Any) -> tuple[Array, Array, Array]:
    return X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data


def beyond(X: Any, y: Array, theta: Array, epsilon: float, sided: bool) -> Array:
    r = y - X @ theta[:-1] - theta[-1]
    r = np.where(r * y > 0, r, 0.0) if sided else r
    return np.sign(r) * np.maximum(np.abs(r) - epsilon, 0.0)


@pytest.mark.parametrize("n,p", [(1, 1), (3, 50), (40, 3), (9000, 20)])
@pytest.mark.parametrize("sided", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_sums_of_squares(n: int, p: int, sided: bool, intercept: bool) -> None:
    X, y, cost = problem(n, p, sided)
    rng, epsilon = np.random.default_rng(1), 0.0 if sided else 0.3
    theta, v = rng.normal(size=p + 1) / 3, rng.normal(size=p + 1)
    Z = np.column_stack([X.toarray(), np.full(n, float(intercept))])
    over = beyond(X, y, theta, epsilon, sided)
    bend = 2 * cost * (over != 0)
    given = (*parts(X), y, cost, epsilon, sided, theta)
    expected = np.concatenate([(bend * over) @ Z, bend @ Z**2, [cost @ over**2]])
    found = [_margin.squares(*given, intercept, threads) for threads in (1, 3)]
    assert_allclose(found[0], expected, rtol=1e-11, atol=1e-11)
    assert_array_equal(found[0], found[1])
    found = [_margin.product(*given, v, intercept, threads) for threads in (1, 3)]
    assert_allclose(found[0], (bend * (X @ v[:-1] + v[-1])) @ Z, rtol=1e-11, atol=1e-11)
    assert_array_equal(found[0], found[1])


def plain_descent(X: Array, y: Array, cost: Array, epsilon: float, sided: bool, bias: float, sweeps: int) -> Array:
    """θ of the dual, a row at a time, in order."""
    Z, price = np.column_stack([X, np.ones(len(X))]), np.append(np.ones(X.shape[1]), bias)
    least, most = np.where((y > 0) & sided, 0.0, -cost), np.where((y <= 0) & sided, 0.0, cost)
    alpha, theta = np.zeros(len(y)), np.zeros(Z.shape[1])
    for _ in range(sweeps):
        for i, z in enumerate(Z):
            square = z @ (price * z)
            to = alpha[i] - (theta @ z - y[i]) / square
            new = np.clip(np.sign(to) * max(abs(to) - epsilon / square, 0.0), least[i], most[i])
            theta, alpha[i] = theta + (new - alpha[i]) * price * z, new
    return theta


@pytest.mark.parametrize("sided", [True, False])
def test_descent_in_the_dual(sided: bool) -> None:
    X, y, cost = problem(30, 4, sided)
    epsilon = 0.0 if sided else 0.2
    theta, gap, sweeps = _margin.descend(*parts(X), y, cost, epsilon, sided, 4, 2.0, 1e-12, 100_000)
    assert gap <= 1e-12 and sweeps > 1
    assert_allclose(theta, plain_descent(X.toarray(), y, cost, epsilon, sided, 2.0, 3000), atol=1e-5)


def test_rows_without_a_value() -> None:
    """They pull nothing but the intercept; without one they cost what they cost."""
    X = scipy.sparse.csr_array((3, 2))
    y, cost = np.array([1.0, -1.0, 1.0]), np.array([1.0, 1.0, 2.0])
    theta, gap, _ = _margin.descend(*parts(X), y, cost, 0.0, True, 2, 0.0, 1e-12, 10)
    assert_array_equal(theta, np.zeros(3))
    assert gap == 0
    theta, gap, _ = _margin.descend(*parts(X), y, cost, 0.0, True, 2, 1.0, 1e-12, 1000)
    assert gap <= 1e-12
    assert_allclose(theta, [0, 0, 1], atol=1e-9)  # ½ b² + 3 (1 − b) + (1 + b) falls up to b = 1


def test_arguments_are_looked_at() -> None:
    X, y, cost = problem(5, 3, True)
    begin, columns, values = parts(X)
    theta = np.zeros(4)
    for bad in (
        (begin[:-1], columns, values, y, cost),
        (begin[::-1].copy(), columns, values, y, cost),
        (begin, columns + 3, values, y, cost),
        (begin, columns - 5, values, y, cost),
        (begin, columns, values[:-1], y, cost),
        (begin, columns, values, y, cost[:-1]),
    ):
        with pytest.raises(ValueError, match="must"):
            _margin.squares(*bad, 0.0, True, theta, True, 1)
        with pytest.raises(ValueError, match="must"):
            _margin.descend(*bad, 0.0, True, 3, 1.0, 1e-3, 5)
    with pytest.raises(ValueError, match="must"):
        _margin.product(begin, columns, values, y, cost, 0.0, True, theta, theta[:-1], True, 1)


def test_it_can_be_stopped() -> None:
    X, y, cost = problem(9000, 5, True)
    with cancellable() as run:
        run.cancel()
        with pytest.raises(KeyboardInterrupt):
            _margin.descend(*parts(X), y, 1e6 * cost, 0.0, True, 5, 1.0, 0.0, 1 << 40)
        with pytest.raises(KeyboardInterrupt):
            _margin.squares(*parts(X), y, cost, 0.0, True, np.zeros(6), True, 2)
