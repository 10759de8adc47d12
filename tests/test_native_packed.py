"""Sums in packed triangles: those of full moments, at every instruction set, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tenfold import _kernels, _packed

LEVELS = ("baseline", "avx2", "avx512")
ALL = np.empty(0, dtype=np.int64)


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not (_packed.use_level(request.param) and _kernels.use_level(request.param)):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:  # the best comes last
        _packed.use_level(name)
        _kernels.use_level(name)


def summed(X: np.ndarray, rows: np.ndarray, w: np.ndarray) -> tuple[Any, ...]:
    p = X.shape[1]
    triangle = np.zeros(_packed.room(p))
    return *_packed.packed_moments(X, rows, w, triangle), triangle[: p * (p + 1) // 2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n, p", [(1, 1), (2, 3), (7, 8), (200, 9), (97, 24), (300, 25), (130, 101)])
def test_a_triangle_is_the_upper_half_of_the_moments(level: str, n: int, p: int, dtype: Any) -> None:
    rng = np.random.default_rng(n * p)
    X, w, d = (rng.normal(size=(n, p)) + 9).astype(dtype), rng.random(n) + 0.1, rng.normal(size=p)
    upper = np.triu_indices(p)
    for rows in (ALL, rng.integers(0, n, n)):
        taken = X[rows] if len(rows) else X
        weight, center, offset, S = _kernels.moments(taken, np.empty((n, 0)), w)
        found = summed(X, rows, w)
        assert found[0] == pytest.approx(weight, rel=1e-14)
        near = dict(rtol=1e-12, atol=1e-13 * (1 + np.abs(S).max()))  # a compiler may round the two in different ways
        for one, expected in zip(found[1:], (center, offset, S[upper]), strict=True):
            assert_allclose(one, expected, **near)
        triangle = found[3].copy()
        _packed.merge_packed(triangle, found[3], d)
        assert_allclose(triangle, _kernels.merge_scatter(S, S, d, False)[upper], **near)


def test_no_rows_and_no_weight_have_no_sums() -> None:
    for X, w in ((np.empty((0, 3)), np.empty(0)), (np.ones((2, 3)), np.zeros(2))):
        weight, center, offset, triangle = summed(X, ALL, w)
        assert weight == 0 and not center.any() and not offset.any() and not triangle.any()


def test_what_makes_no_sense_is_refused() -> None:
    X, w, room = np.ones((4, 3)), np.ones(4), np.zeros(_packed.room(3))
    for rows, weights, into, words in (
        (np.array([0, 4]), np.ones(2), room, "a row that is not there"),
        (np.array([-1]), np.ones(1), room, "a row that is not there"),
        (ALL, np.ones(3), room, "a weight for each row"),
        (np.array([0]), w, room, "a weight for each row"),
        (ALL, w, np.zeros(5), "too short"),
        (ALL, w, room.astype(np.float32), "float64"),
        (ALL, w, np.zeros(400)[::2], "contiguous"),
    ):
        with pytest.raises(ValueError, match=words):
            _packed.packed_moments(X, rows, weights, into)
    locked = room.copy()
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        _packed.packed_moments(X, ALL, w, locked)
    with pytest.raises(ValueError, match="columns"):
        _packed.packed_moments(np.ones((4, 0)), ALL, w, room)
    for A, B in ((np.zeros(5), np.zeros(6)), (np.zeros(6), np.zeros(5))):
        with pytest.raises(ValueError, match=r"too short|as many columns"):
            _packed.merge_packed(A, B, np.zeros(3))
