"""Steps of non-negative factorisation: the kernels against plain twins, at every instruction set, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from scipy.sparse import csr_array

from tenfold import _nmf

Array = np.ndarray[Any, Any]
LEVELS = ("baseline", "avx2", "avx512")
SHAPES = [(1, 1, 1), (5, 3, 2), (16, 24, 4), (67, 49, 5), (40, 260, 9), (150, 7, 17)]


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _nmf.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _nmf.use_level(name)  # the best comes last


def world(n: int, p: int, k: int) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(n + p + k)
    X = rng.poisson(1.0, (n, p)) * rng.random((n, p))
    return X, rng.random(n) + 0.1, rng.random((n, k)) * (rng.random((n, k)) > 0.2), rng.random((k, p))


def parts(X: Array) -> tuple[Array, Array, Array]:
    rows = csr_array(X.astype(float))
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data


def kl_twin(X: Array, w: Array, W: Array, H: Array, l1: float, l2: float, floor: float) -> tuple[Array, Array]:
    W = W * ((X / np.maximum(W @ H, floor)) @ H.T) / (H.sum(axis=1) + l1 + l2 * W)
    return W, (W.T * w) @ (X / np.maximum(W @ H, floor))


@pytest.mark.parametrize("n, p, k", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_multiplicative_steps(level: str, n: int, p: int, k: int, dtype: Any) -> None:
    X, w, W, H = world(n, p, k)
    X = X.astype(dtype)
    for l1, l2 in ((0.0, 0.0), (0.3, 0.7)):
        expected = kl_twin(X.astype(float), w, W, H, l1, l2, 1e-9)
        found = _nmf.kl_step(X, w, W, H, l1, l2, 1e-9, True, 2)
        sparse = _nmf.kl_step_sparse(*parts(X), w, W, H.T.copy(), l1, l2, 1e-9, True, 2)
        for a, b, c in zip(expected, found, (sparse[0], sparse[1].T), strict=True):
            assert_allclose(b, a, rtol=1e-12, atol=1e-13 * np.abs(a).max())
            assert_allclose(c, a, rtol=1e-12, atol=1e-13 * np.abs(a).max())
        alone = _nmf.kl_step(X, w, W, H, l1, l2, 1e-9, False, 1)
        assert_array_equal(alone[0], found[0])
        assert alone[1].size == 0


@pytest.mark.parametrize("n, p, k", SHAPES)
def test_logarithms(level: str, n: int, p: int, k: int) -> None:
    X, w, W, H = world(n, p, k)
    X[0, 0] = 1e-30
    Y = np.maximum(W @ H, 1e-9)
    expected = w @ (X * np.log(np.where(X > 0, X, 1.0) / np.where(X > 0, Y, 1.0))).sum(axis=1)
    size = w @ (X * np.abs(np.log(np.where(X > 0, X, 1.0) / Y))).sum(axis=1)
    for dtype in (np.float64, np.float32):
        found = _nmf.kl_log(X.astype(dtype), w, W, H, 1e-9, 2)
        assert_allclose(found, expected, rtol=0, atol=(1e-13 if dtype == np.float64 else 1e-6) * size)
    assert_allclose(_nmf.kl_log_sparse(*parts(X), w, W, H.T.copy(), 1e-9, 2), expected, rtol=0, atol=1e-13 * size)


def sweep_twin(C: Array, b: Array, x: Array, order: Array, sweeps: int) -> tuple[Array, float]:
    x, violation = x.copy(), 0.0
    for i in range(sweeps):
        for t in order:
            slope = C[t] @ x - b[t]
            violation += 0.0 if i else abs(min(slope, 0.0) if x[t] == 0 else slope)
            x[t] = max(x[t] - slope / C[t, t], 0.0) if C[t, t] > 0 else x[t]
    return x, violation


@pytest.mark.parametrize("n, p, k", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sweeps(level: str, n: int, p: int, k: int, dtype: Any) -> None:
    X, w, W, H = world(n, p, k)
    X, order = X.astype(dtype), np.random.default_rng(0).permutation(k)
    C, l1 = H @ H.T + 0.2 * np.eye(k), 0.05
    twins = [sweep_twin(C, x @ H.T - l1, row, order, 2) for x, row in zip(X.astype(float), W, strict=True)]
    expected, violation = np.stack([x for x, _ in twins]), float(sum(a * b for a, (_, b) in zip(w, twins, strict=True)))
    dense = _nmf.descent(X, w, W, H, l1, C, order, 2, 2)
    sparse = _nmf.descent_sparse(*parts(X), w, W, H.T.copy(), l1, C, order, 2, 2)
    for found, G, told in (dense, (sparse[0], sparse[1].T, sparse[2])):
        assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
        assert_allclose(G, (expected.T * w) @ X.astype(float), rtol=1e-9, atol=1e-10)
        assert_allclose(told, violation, rtol=1e-9)
    B, A = np.random.default_rng(1).random((k, p)), W.T @ W + 0.1 * np.eye(k)
    twins = [sweep_twin(A, b, h, order, 3) for b, h in zip(B.T, H.T, strict=True)]
    found_H, told = _nmf.columns_descent(H, B, A, order, 3, 2)
    assert_allclose(found_H, np.stack([x for x, _ in twins]).T, rtol=1e-9, atol=1e-11)
    assert_allclose(told, sum(b for _, b in twins), rtol=1e-9)


def test_the_same_bits_on_any_number_of_threads() -> None:
    X, w, W, H = world(700, 90, 6)
    order = np.arange(6)
    for call in (
        lambda t: _nmf.kl_step(X, w, W, H, 0.0, 0.0, 1e-9, True, t),
        lambda t: _nmf.kl_step_sparse(*parts(X), w, W, H.T.copy(), 0.0, 0.0, 1e-9, True, t),
        lambda t: _nmf.descent(X, w, W, H, 0.0, H @ H.T, order, 2, t),
        lambda t: (np.array(_nmf.kl_log(X, w, W, H, 1e-9, t)), _nmf.nonnegative_rows(H @ H.T, X @ H.T, t)),
    ):
        for one, many in zip(call(1), call(3), strict=True):
            assert_array_equal(one, many)


@pytest.mark.parametrize("k, p", [(1, 3), (4, 6), (20, 25), (12, 5)])
def test_nonnegative_rows_are_optimal(k: int, p: int) -> None:
    """The conditions of the minimum hold; scipy's values, where H has full rank."""
    rng = np.random.default_rng(k)
    H, X = rng.random((k, p)), rng.normal(size=(60, p))
    H[-1] = H[0]  # two components alike
    C, B = H @ H.T, X @ H.T
    W = _nmf.nonnegative_rows(C, B, 2)
    slope = W @ C - B
    size = np.abs(B).max()
    assert W.min() >= 0 and slope.min() > -1e-10 * size and np.abs(W * slope).max() < 1e-10 * size * max(W.max(), 1.0)
    least = [nnls(H.T, x)[1] for x in X]
    assert_allclose(np.linalg.norm(X - W @ H, axis=1), least, rtol=1e-7, atol=1e-7)


def test_rows_without_an_answer() -> None:
    assert not _nmf.nonnegative_rows(np.zeros((2, 2)), np.ones((3, 2)), 1).any()
    assert_array_equal(_nmf.nonnegative_rows(np.eye(2), np.array([[-1.0, 2.0]]), 1), [[0.0, 2.0]])
    assert _nmf.nonnegative_rows(np.eye(2), np.empty((0, 2)), 1).shape == (0, 2)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"w": np.ones(3)}, "a weight and a row of W"),
        ({"W": np.ones((3, 2))}, "a weight and a row of W"),
        ({"W": np.ones((4, 3))}, "number of components"),
        ({"H": np.ones((2, 5))}, "number of columns"),
        ({"C": np.ones((3, 3))}, "curvature"),
        ({"order": np.array([0, 2])}, "no such component"),
        ({"order": np.array([-1])}, "no such component"),
        ({"sweeps": -1}, "sweeps"),
        ({"H": np.ones((0, 3)), "W": np.ones((4, 0))}, "columns and components"),
    ],
    ids=str,
)
def test_refused(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = dict(X=np.ones((4, 3)), w=np.ones(4), W=np.ones((4, 2)), H=np.ones((2, 3)), l1=0.0)
    more: dict[str, Any] = dict(C=np.eye(2), order=np.arange(2), sweeps=1, threads=1)
    with pytest.raises(ValueError, match=words):
        _nmf.descent(**{**given, **more, **change})


def test_other_refusals() -> None:
    H = np.ones((2, 3))
    with pytest.raises(ValueError, match="shape of H"):
        _nmf.columns_descent(H, np.ones((2, 4)), np.eye(2), np.arange(2), 1, 1)
    with pytest.raises(ValueError, match="curvature"):
        _nmf.nonnegative_rows(np.eye(3), np.ones((4, 2)), 1)
    with pytest.raises(ValueError, match="from 0 to p - 1"):
        begin, columns = np.array([0, 1]), np.array([3], dtype=np.int32)
        _nmf.kl_step_sparse(begin, columns, np.ones(1), np.ones(1), np.ones((1, 2)), H.T.copy(), 0.0, 0.0, 1e-9, True, 1)
