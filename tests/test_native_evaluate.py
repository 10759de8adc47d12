"""The native kernels of evaluation equal plain NumPy, whatever the shapes, types and instruction sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import together
from numpy.testing import assert_allclose, assert_array_equal

from tenfold import _evaluate

SHAPES = [(1, 1, 1), (3, 2, 1), (9, 1, 2), (16, 8, 2), (33, 20, 3), (50, 37, 4), (70, 65, 2)]
LOG_2PI = np.log(2 * np.pi)


@pytest.fixture(params=["baseline", "avx2", "avx512"], autouse=True)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    if not _evaluate.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in ("baseline", "avx2", "avx512"):  # back to the best there is
        _evaluate.use_level(name)


def rows(n: int, p: int, k: int, dtype: Any, equal: bool) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(n + p)
    X = (rng.normal(size=(n, p)) + 3).astype(dtype)
    y = np.arange(n) % k
    return X, y, np.ones(n) if equal else rng.uniform(0.5, 2.0, size=n)


def classes_of(X: np.ndarray, y: np.ndarray, w: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
    """Weight, mean and sums of squares of each class, of all other rows and more: nothing is alone in a class."""
    rng = np.random.default_rng(0)
    more = np.concatenate([X, X + rng.normal(size=X.shape), X - 1]).astype(np.float64)
    label, weights = np.tile(y, 3), np.tile(w, 3)
    parts = [(more[label == c], weights[label == c]) for c in range(k)]
    mean = np.array([np.average(Z, axis=0, weights=v) if len(Z) else np.zeros(X.shape[1]) for Z, v in parts])
    squares = np.array([v @ (Z - m) ** 2 for (Z, v), m in zip(parts, mean, strict=True)])
    return np.array([v.sum() for _, v in parts]), mean, squares


def without(
    k: int, w: float, x: np.ndarray, weight: np.ndarray, mean: np.ndarray, squares: np.ndarray
) -> tuple[Any, ...]:
    """The statistics after a row has gone from class k, by definition."""
    n, left = weight[k], weight[k] - w
    weight, mean, squares = weight.copy(), mean.copy(), squares.copy()
    d = x - mean[k]
    weight[k], mean[k], squares[k] = left, mean[k] - w / left * d, squares[k] - w * n / left * d * d
    return weight, mean, squares


@together("equal", [True, False])
@together("dtype", [np.float64, np.float32])
@together("smoothing", [1e-9, 0.3])
@pytest.mark.parametrize("shape", SHAPES)
def test_naive_bayes_left(shape: tuple[int, int, int], smoothing: float, dtype: Any, equal: bool) -> None:
    n, p, k = shape
    X, y, w = rows(n, p, k, dtype, equal)
    weight, mean, squares = classes_of(X, y, w, k)

    def model(weight: np.ndarray, mean: np.ndarray, squares: np.ndarray) -> tuple[np.ndarray, ...]:
        total = weight.sum()
        overall = weight @ mean / total
        whole = squares.sum(axis=0) + weight @ (mean - overall) ** 2
        epsilon = smoothing * whole.max() / total
        return squares / weight[:, None] + epsilon, whole, overall, epsilon

    var, whole, overall, epsilon = model(weight, mean, squares)
    level = -0.5 * (LOG_2PI + np.log(var)).sum(axis=1)
    found = _evaluate.naive_bayes_left(
        X,
        y,
        w,
        weight,
        np.log(weight),
        False,
        mean,
        1 / var,
        level,
        whole,
        overall,
        np.argsort(-whole),
        smoothing,
        epsilon,
        0.0,
    )
    for i in range(n):
        x = X[i].astype(np.float64)
        left = without(y[i], w[i], x, weight, mean, squares)
        v = model(*left)[0]
        expected = np.log(left[0] / left[0].sum()) - 0.5 * (LOG_2PI + np.log(v) + (x - left[1]) ** 2 / v).sum(axis=1)
        assert_allclose(found[i], expected, rtol=1e-9, atol=1e-9)


@together("nearest", [True, False])
@together("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[0] > 2])
def test_centroids_left(shape: tuple[int, int, int], dtype: Any, nearest: bool) -> None:
    n, p, k = shape
    X, y, w = rows(n, p, k, dtype, nearest)
    weight, mean, squares = classes_of(X, y, w, k)
    prior = np.log(np.arange(1, k + 1) / k)
    found = _evaluate.centroids_left(X, y, w, weight, prior, True, mean, 1 / squares.sum(axis=0), nearest)
    for i in range(n):
        x = X[i].astype(np.float64)
        left = without(y[i], w[i], x, weight, mean, squares)
        variance = left[2].sum(axis=0) / (left[0].sum() - k)
        expected = 2 * prior - ((x - left[1]) ** 2 / variance).sum(axis=1)
        assert_allclose(found[i, :k], expected, rtol=1e-9, atol=1e-9)
        chosen = ((x - left[1]) ** 2).sum(axis=1).argmin() if nearest else expected.argmax()
        assert found[i, k] == chosen


@together("equal", [True, False])
@together("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_discriminants_left(shape: tuple[int, int, int], dtype: Any, equal: bool) -> None:
    n, p, k = shape
    X, y, w = rows(n, p, k, dtype, equal)
    weight, mean, _ = classes_of(X, y, w, k)
    rng = np.random.default_rng(1)
    roots = rng.normal(size=(k, p, p + 3)) * 10
    scatter = roots @ roots.transpose(0, 2, 1) + 300 * weight.max() * np.eye(p)
    total, pooled, center = weight.sum(), scatter.sum(axis=0), mean[0]
    A = np.linalg.inv(np.linalg.cholesky(pooled / total)).T.copy()
    apart = (mean - center) @ A
    squares = _evaluate.whitened_squares(X, center[None].copy(), A[None])[:, 0]
    linear = _evaluate.linear_discriminant_left(
        X, y, w, weight, np.log(weight), False, squares, center, apart @ A.T, apart @ apart.T, 1e-3
    )
    W = np.array([np.linalg.inv(np.linalg.cholesky(S / m)).T for S, m in zip(scatter, weight, strict=True)])
    level = np.array([-0.5 * np.linalg.slogdet(S / m)[1] for S, m in zip(scatter, weight, strict=True)])
    distances = _evaluate.whitened_squares(X, mean, W)
    quadratic = _evaluate.quadratic_discriminant_left(
        distances, p, y, w, weight, np.log(weight), False, level, np.full(k, 1e-3)
    )
    for i in range(n):
        c, x = y[i], X[i].astype(np.float64)
        assert_allclose(distances[i], [np.sum(((x - m) @ F) ** 2) for m, F in zip(mean, W, strict=True)], rtol=1e-9)
        fall = w[i] * weight[c] / (weight[c] - w[i]) * np.outer(x - mean[c], x - mean[c])
        left, means, _ = without(c, w[i], x, weight, mean, np.zeros((k, p)))
        prior, d = np.log(left / left.sum()), x - means
        far = (d @ np.linalg.inv((pooled - fall) / left.sum()) * d).sum(axis=1)
        assert_allclose(linear[i], prior - 0.5 * far, rtol=1e-8, atol=1e-8)
        own = (scatter[c] - fall) / left[c]
        score = level - 0.5 * distances[i] + prior
        score[c] = prior[c] - 0.5 * (np.linalg.slogdet(own)[1] + d[c] @ np.linalg.inv(own) @ d[c])
        assert_allclose(quadratic[i], score, rtol=1e-8, atol=1e-8)


@together("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_residuals_left(shape: tuple[int, int, int], dtype: Any) -> None:
    n, p, targets = shape
    X, _, w = rows(n, p, 1, dtype, False)
    rng = np.random.default_rng(0)
    Y, squares, coef, intercept = (
        rng.normal(size=(n, targets)),
        rng.random(n) / 3,
        rng.normal(size=(targets, p)),
        np.arange(targets) + 0.5,
    )
    squares[0] = 1 / w[0]  # leverage one: nothing is left
    found = _evaluate.residuals_left(X, Y, w, squares, coef, intercept, 0.01, 0.0)
    expected = (Y - X.astype(np.float64) @ coef.T - intercept) / (1 - w * (squares + 0.01))[:, None]
    assert np.isnan(found[0]).all()
    assert_allclose(found[1:], expected[1:], rtol=1e-9, atol=1e-9)


def test_a_row_alone_in_its_class_is_told_by_nan() -> None:
    X, y, w, weight = np.ones((2, 1)), np.array([0, 1]), np.ones(2), np.array([1.0, 5.0])
    mean, one = np.ones((2, 1)), np.ones((2, 1))
    found = _evaluate.naive_bayes_left(
        X,
        y,
        w,
        weight,
        np.log(weight),
        False,
        mean,
        one,
        np.zeros(2),
        np.full(1, 100.0),
        np.zeros(1),
        np.array([0]),
        0.0,
        0.0,
        0.0,
    )
    assert np.isnan(found[0, 0]) and np.isfinite(found[1]).all()


def test_shapes_and_labels_are_checked() -> None:
    X, w, weight = np.ones((2, 1)), np.ones(2), np.array([1.0, 5.0])
    mean = np.ones((2, 1))
    with pytest.raises(ValueError, match="label"):
        _evaluate.centroids_left(X, np.array([0, 2]), w, weight, weight, False, mean, np.ones(1), True)
    with pytest.raises(ValueError, match="shape"):
        _evaluate.centroids_left(X, np.array([0, 1]), w, weight, weight, False, mean[:1], np.ones(1), True)
    with pytest.raises(ValueError, match="length"):
        _evaluate.centroids_left(X, np.array([0, 1]), w, weight, weight[:1], False, mean, np.ones(1), True)
    with pytest.raises(ValueError, match="rows"):
        _evaluate.centroids_left(X, np.array([0]), w, weight, weight, False, mean, np.ones(1), True)
    with pytest.raises(ValueError, match="same length"):
        _evaluate.pool_neighbours(np.ones(2), np.ones(3))
    assert _evaluate.whitened_squares(np.ones((0, 3)), np.ones((1, 3)), np.ones((1, 3, 3))).shape == (0, 1)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 50])
def test_pool_neighbours(n: int) -> None:
    rng = np.random.default_rng(n)
    y, w = np.round(rng.normal(size=n) + 0.02 * np.arange(n), 1), rng.uniform(0.1, 3, size=n)
    found = _evaluate.pool_neighbours(y, w)
    # the largest over starts of the smallest over ends of means of stretches that hold i (Barlow & Brunk 1972)
    means = np.array(
        [[np.average(y[a : b + 1], weights=w[a : b + 1]) if a <= b else np.nan for b in range(n)] for a in range(n)]
    )
    expected = [max(means[a, i:].min() for a in range(i + 1)) for i in range(n)]
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert_array_equal(np.sort(found), found)


def test_pool_neighbours_without_weights() -> None:
    y = np.random.default_rng(0).normal(size=300) + np.linspace(0, 3, 300)
    assert_allclose(_evaluate.pool_neighbours(y, np.empty(0)), _evaluate.pool_neighbours(y, np.ones(300)), rtol=1e-12)


@pytest.mark.parametrize("n_edges", [0, 3, 40])
def test_bin_sums(n_edges: int) -> None:
    rng = np.random.default_rng(0)
    x, truth, w, edges = np.round(rng.random(200), 2), rng.integers(0, 2, 200), rng.random(200), np.arange(n_edges) / 40
    place = np.searchsorted(edges, x)
    expected = [np.bincount(place, v, n_edges + 1) for v in (w, w * truth, w * x, w * w)]
    assert_allclose(_evaluate.bin_sums(x, truth, w, edges), np.transpose(expected), rtol=1e-12, atol=1e-12)
    count = np.bincount(place, minlength=n_edges + 1)
    assert_array_equal(_evaluate.bin_sums(x, truth, np.empty(0), edges)[:, [0, 3]], np.column_stack([count, count]))


def test_largest_columns() -> None:
    rows = np.random.default_rng(0).integers(0, 3, size=(500, 4)).astype(float)
    assert_array_equal(_evaluate.largest_columns(rows), rows.argmax(axis=1))
    assert _evaluate.largest_columns(np.empty((0, 2))).shape == (0,)
    with pytest.raises(ValueError, match="column"):
        _evaluate.largest_columns(np.empty((3, 0)))
