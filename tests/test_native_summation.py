"""Sums of kernels over rows: against all pairs, at every instruction set, to their tolerance; and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tenfold import _summation
from tenfold.core.data import Array
from tenfold.density.kernel_shapes import KERNELS

LEVELS = ("baseline", "avx2", "avx512")
SHAPES = {shape.number: shape for shape in KERNELS.values()}
NO_ROWS, NO_WEIGHTS = np.empty(0, dtype=np.int64), np.empty(0)


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _summation.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _summation.use_level(name)  # the best comes last


def plain(points: Array, rows: Array, w: Array, kernel: int) -> Array:
    """log Σ w K, by all pairs; w: (points, rows)."""
    r = np.sqrt(((points[:, None] - rows) ** 2).sum(axis=-1))
    logs = SHAPES[kernel].log_at(r)
    top = np.where(w > 0, logs, -np.inf).max(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.isneginf(top[:, 0]), -np.inf, top[:, 0] + np.log((w * np.exp(logs - top)).sum(axis=1))))


@pytest.mark.parametrize("kernel", SHAPES)
@pytest.mark.parametrize("p", [1, 2, 5, 7, 17])
def test_sums_are_those_of_all_pairs(level: str, kernel: int, p: int) -> None:
    rng = np.random.default_rng(p)
    for n, scale in ((1, 1.0), (500, 0.2), (500, 3.0), (500, 30.0)):
        X, w = scale * rng.normal(size=(n, p)), rng.uniform(0.2, 2, n)
        X[: n // 9] = X[0]  # copies
        points = np.vstack([scale * 1.3 * rng.normal(size=(40, p)), X[:5], np.full((1, p), 1e4)])
        own, taken = np.arange(min(n, 30)), np.minimum(w, 1.0)[:30]
        left = np.tile(w, (len(own), 1))
        left[own, own] -= taken
        expected = plain(points, X, np.tile(w, (len(points), 1)), kernel), plain(X[own], X, left, kernel)
        for relative in (1e-3, 1e-9, 1e-12):
            sums = _summation.KernelSums(X, w, kernel, relative, 2)
            found = sums.log_sums(points, NO_ROWS, NO_WEIGHTS), sums.log_sums(X[own], own, taken)
            for one, exact in zip(found, expected, strict=True):
                # at the very edge of a kernel without tails rounding of distances is all there is
                edge = np.where(np.isfinite(exact) & (exact < np.log(1e-6)) & (kernel not in (0, 3)), 1e-6, 0.0)
                with np.errstate(invalid="ignore"):
                    off = np.abs(one - exact)
                assert np.array_equal(np.isneginf(one), np.isneginf(exact))
                assert (off[np.isfinite(exact)] <= (1.01 * relative + 1e-11 + edge + 1e-12 * np.abs(exact))[np.isfinite(exact)]).all()


def test_threads_parts_and_absolute_errors() -> None:
    rng = np.random.default_rng(0)
    X, points = rng.normal(size=(3000, 2)) * 4, rng.normal(size=(1000, 2)) * 4
    sums = _summation.KernelSums(X, np.ones(3000), 0, 1e-6, 3)
    found = sums.log_sums(points, NO_ROWS, NO_WEIGHTS)
    alone = _summation.KernelSums(X, np.ones(3000), 0, 1e-6, 1)
    np.testing.assert_array_equal(found, alone.log_sums(points, NO_ROWS, NO_WEIGHTS))
    order = sums.order(points)
    assert sorted(order) == list(range(1000))
    np.testing.assert_array_equal(found[order], sums.log_sums(points[order], NO_ROWS, NO_WEIGHTS))
    np.testing.assert_allclose(np.exp(sums.log_sums(points, NO_ROWS, NO_WEIGHTS, 0.5)), np.exp(found), rtol=1e-5, atol=0.5)
    assert sums.log_sums(np.empty((0, 2)), NO_ROWS, NO_WEIGHTS).shape == (0,)


def test_what_is_refused() -> None:
    X, w = np.zeros((3, 2)), np.ones(3)
    sums = _summation.KernelSums(X, w, 0, 1e-6)
    for call in (
        lambda: _summation.KernelSums(X[:0], w[:0], 0, 1e-6),
        lambda: _summation.KernelSums(X, w[:2], 0, 1e-6),
        lambda: _summation.KernelSums(X, np.zeros(3), 0, 1e-6),
        lambda: _summation.KernelSums(X, w, 7, 1e-6),
        lambda: _summation.KernelSums(X, w, -1, 1e-6),
        lambda: _summation.KernelSums(X, w, 0, 0.0),
        lambda: _summation.KernelSums(X, w, 0, 1e-6, 0),
        lambda: sums.log_sums(np.zeros((2, 3)), NO_ROWS, NO_WEIGHTS),
        lambda: sums.log_sums(X, np.array([0]), w[:1]),
        lambda: sums.log_sums(X, np.array([0, 1, 3]), w),
        lambda: sums.log_sums(X, np.array([0, 1, -1]), w),
        lambda: sums.log_sums(X, np.array([0, 1, 2]), w[:2]),
        lambda: sums.log_sums(X, NO_ROWS, NO_WEIGHTS, -1.0),
        lambda: sums.order(np.zeros((2, 3))),
    ):
        with pytest.raises(ValueError):
            call()
