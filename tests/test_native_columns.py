"""Rows changed column by column: the kernels against the same formulas in NumPy, to the last bit, at every instruction set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tenfold import _columns
from tenfold.core import ops

LEVELS = ("baseline", "avx2", "avx512")
SHAPES = [(0, 3), (1, 1), (2, 3), (7, 16), (5, 17), (200, 33), (9000, 2), (3, 1000)]


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _columns.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    _columns.use_level("best")


def table(n: int, p: int, gaps: float = 0.2) -> np.ndarray:
    """Numbers of all sizes, some missing, some infinite, some zero."""
    rng = np.random.default_rng(n + 7 * p)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-12, 12, (n, p))
    X[rng.random((n, p)) < gaps] = np.nan
    X[rng.random((n, p)) < gaps / 4] = np.inf
    X[rng.random((n, p)) < 0.05] = -0.0
    return X


@pytest.mark.parametrize("n, p", SHAPES)
def test_scaling_and_filling_are_those_of_numpy(level: str, n: int, p: int) -> None:
    X, out = table(n, p), np.empty((n, p))
    rng = np.random.default_rng(p)
    shift, scale, plus = rng.normal(size=(3, p))
    _columns.standardize(X, shift, scale, out)
    assert_array_equal(out, (X - shift) / scale)
    _columns.spread_out(X, shift, scale, plus, out)
    assert_array_equal(out, (X - shift) * scale + plus)
    _columns.fill(X, plus, out)
    assert_array_equal(out, np.where(np.isnan(X), plus, X))


@pytest.mark.parametrize("change", [np.asarray, np.asfortranarray, lambda X: X.astype(np.float32), lambda X: X[::2, ::-1]])
def test_rows_in_a_frame_of_any_layout(change: Any) -> None:
    X = change(table(50, 6))
    shift, scale = np.random.default_rng(1).normal(size=(2, X.shape[1]))
    assert_array_equal(ops.standardized(X, shift, scale), (X - shift) / scale)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n, p", SHAPES)
def test_unit_rows_have_length_one(level: str, n: int, p: int, dtype: Any) -> None:
    X = np.nan_to_num(table(n, p, 0.0) if dtype == np.float64 else table(n, p, 0.0).clip(-1e9, 1e9)).astype(dtype)
    X[::3] = 0
    for norm, order in (("l1", 1), ("l2", 2), ("max", np.inf)):
        out = np.full((n, p), np.nan, dtype)
        _columns.unit_rows(X, norm, out)
        length = np.linalg.norm(X.astype(np.float64), ord=order, axis=1, keepdims=True) if n else np.ones((0, 1))
        assert_allclose(out, X / np.where(length == 0, 1, length), rtol=4e-15 if dtype == np.float64 else 2e-7)


def test_unit_rows_are_the_same_at_every_instruction_set() -> None:
    X, found = np.nan_to_num(table(300, 77, 0.0)), []
    for name in LEVELS:
        if _columns.use_level(name):
            found.append(np.empty_like(X))
            _columns.unit_rows(X, "l2", found[-1])
    _columns.use_level("best")
    for one in found[1:]:
        assert_array_equal(one, found[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n, p", SHAPES)
def test_values_within_a_bound(level: str, n: int, p: int, dtype: Any) -> None:
    X = np.full((n, p), np.nan, dtype)
    assert _columns.within(X, 1.0)
    for i in {0, n // 2, n - 1} if n else ():
        for bad in (2.0, -2.0, np.inf, -np.inf):
            X[i, p - 1] = bad
            assert not _columns.within(X, 1.0)
            X[i, p - 1] = np.sign(bad)
            assert _columns.within(X, 1.0)


def test_what_makes_no_sense_is_refused() -> None:
    X, row = np.ones((4, 3)), np.ones(3)
    for bad in (np.ones(2), np.ones(4)):
        for kernel, values in (
            (_columns.standardize, (bad, row)),
            (_columns.standardize, (row, bad)),
            (_columns.spread_out, (row, row, bad)),
            (_columns.fill, (bad,)),
        ):
            with pytest.raises(ValueError, match="a value for each column"):
                kernel(X, *values, np.empty((4, 3)))
    with pytest.raises(ValueError, match="shape of X"):
        _columns.fill(X, row, np.empty((3, 4)))
    with pytest.raises(ValueError, match="contiguous array"):
        _columns.fill(X, row, np.empty((3, 4)).T)
    with pytest.raises(ValueError, match="norm must be"):
        _columns.unit_rows(X, "l3", np.empty((4, 3)))
    with pytest.raises(TypeError):
        _columns.within(X[:, ::2], 1.0)
