"""Sums of logistic regression over sparse rows equal plain NumPy versions, the same bits for any threads, and can be stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp, softmax

from tenfold import _sparse
from tenfold.core.threads import cancellable

Array = np.ndarray[Any, Any]


def problem(n: int, p: int, K: int) -> tuple[Array, tuple[Array, ...]]:
    """[x 1], and the rows as they are given; a row of weight 0, and one without values."""
    rng = np.random.default_rng(n + p + K)
    X = np.where(rng.random((n, p)) < 0.4, rng.normal(size=(n, p)), 0.0)
    X[-1] = 0.0
    made, w = scipy.sparse.csr_array(X), rng.uniform(0.1, 2, n)
    w[0] = 0.0
    given = made.indptr.astype(np.int64), made.indices.astype(np.int32), made.data, rng.integers(0, max(K, 2), n), w
    return np.column_stack([X, np.ones(n)]), given


@pytest.mark.parametrize("n,p", [(1, 1), (3, 50), (40, 3), (20000, 40)])
@pytest.mark.parametrize("K", [1, 2, 5])
def test_slopes_and_products(n: int, p: int, K: int) -> None:
    Z, given = problem(n, p, K)
    y, w = given[3:]
    rng = np.random.default_rng(1)
    theta, v = rng.normal(size=(p + 1, K)), rng.normal(size=(p + 1, K))
    scores = Z @ np.hstack([np.zeros((p + 1, 1)), theta] if K == 1 else [theta])
    P = softmax(scores, axis=1)
    loss = w @ (logsumexp(scores, axis=1) - scores[np.arange(n), y])
    R = ((P - (np.arange(P.shape[1]) == y[:, None])) * w[:, None])[:, -K:]
    bend = (w[:, None] * P * (1 - P))[:, -K:]
    along = Z @ v
    turned = bend * along if K == 1 else w[:, None] * P * (along - (P * along).sum(axis=1, keepdims=True))
    found = [_sparse.logistic_slopes(*given, theta, threads) for threads in (1, 3)]
    sums, kept = found[0]
    assert_allclose(sums, np.concatenate([(Z.T @ R).ravel(), ((Z * Z).T @ bend).ravel(), [loss]]), rtol=1e-9, atol=1e-10)
    products = [_sparse.logistic_product(*given, kept, v, threads) for threads in (1, 3)]
    assert_allclose(products[0], Z.T @ turned, rtol=1e-9, atol=1e-10)
    for one, other in zip(found[0] + (products[0],), found[1] + (products[1],), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("K", [1, 3])
def test_a_row_of_no_weight_does_not_count_however_far_it_lies(K: int) -> None:
    _, (begin, columns, values, y, w) = problem(5, 3, K)
    for sums in _sparse.logistic_slopes(begin, columns, values, y, 0 * w, np.full((4, K), 1e308), 1):
        assert_array_equal(sums, 0.0)


def test_arguments_that_do_not_fit_are_refused() -> None:
    _, (begin, columns, values, y, w) = problem(6, 4, 3)
    theta, kept = np.zeros((5, 3)), np.zeros((6, 3))
    for bad in (
        (begin[:-1], columns, values, y, w),
        (begin[::-1].copy(), columns, values, y, w),
        (begin, columns + 4, values, y, w),
        (begin, columns - 5, values, y, w),
        (begin, columns, values[:-1], y, w),
        (begin, columns, values, y + 3, w),
        (begin, columns, values, y - 3, w),
        (begin, columns, values, y, w[:-1]),
    ):
        with pytest.raises(ValueError, match="must"):
            _sparse.logistic_slopes(*bad, theta, 1)
        with pytest.raises(ValueError, match="must"):
            _sparse.logistic_product(*bad, kept, theta, 1)
    given = (begin, columns, values, y, w)
    with pytest.raises(ValueError, match="must"):
        _sparse.logistic_slopes(*given, np.zeros((0, 3)), 1)
    for short in (kept[:-1], kept[:, :-1].copy()):
        with pytest.raises(ValueError, match="must"):
            _sparse.logistic_product(*given, short, theta, 1)


def test_it_can_be_stopped() -> None:
    _, given = problem(9000, 5, 3)
    with cancellable() as run:
        run.cancel()
        with pytest.raises(KeyboardInterrupt):
            _sparse.logistic_slopes(*given, np.zeros((6, 3)), 2)
        with pytest.raises(KeyboardInterrupt):
            _sparse.logistic_product(*given, np.zeros((9000, 3)), np.zeros((6, 3)), 2)
