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


def test_sums_around_a_centre_have_the_bits_of_numpy() -> None:
    for n in (0, 1, 7, 8, 9, 127, 128, 129, 136, 1000, 12_345):
        x = table(n, 1, 0.0)[:, 0]
        away = x[np.isfinite(x)] - 1.25
        assert _columns.sums_away(x[np.isfinite(x)], 1.25) == (away.sum(), np.square(away).sum())


def test_waves_of_dates_have_the_bits_of_numpy() -> None:
    rng = np.random.default_rng(0)
    at, days = rng.integers(0, 366, 400).astype(float), 5000.0 + rng.integers(0, 400, 3000)
    days[::2] += rng.random(1500)
    days[7] = np.nan
    place = np.where(np.isnan(days), 0, np.floor(days) - 5000).astype(int)
    for turn, angle in ((0.0172, at[place] + days - np.floor(days)), (0.2618, (days - np.floor(days)) * 24)):
        sine, cosine = _columns.waves(days, at if turn < 0.1 else np.empty(0), 5000.0, turn)
        np.testing.assert_allclose(sine, np.nan_to_num(np.sin(angle * turn)), rtol=0, atol=1e-15)
        np.testing.assert_allclose(cosine, np.where(np.isnan(days), 0, np.cos(angle * turn)), rtol=0, atol=1e-15)
    for first in (5001.0, 4000.0):
        with pytest.raises(ValueError, match="calendar"):
            _columns.waves(days, at, first, 1.0)


def test_codes_are_counted() -> None:
    codes = np.random.default_rng(0).integers(0, 9, 1000).astype(np.uint32)
    counts, rows = _columns.counted(codes, 11)
    assert_array_equal(counts, np.bincount(codes, minlength=11))
    assert_array_equal(codes[rows[:9]], np.arange(9))
    with pytest.raises(ValueError, match="below"):
        _columns.counted(codes, 8)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 3000])
def test_coded_rows_are_those_of_numpy(n: int) -> None:
    rng = np.random.default_rng(n)
    numbers, gaps = rng.normal(size=(2, n))
    gaps[::3] = np.nan
    codes, places = rng.integers(0, 5, n).astype(np.uint32), np.array([-1, 2, 0, 1, -1])
    mean, scale = rng.normal(size=6), rng.random(6) + 0.5
    low, high = -mean / scale, (1 - mean) / scale
    expected = np.column_stack([numbers, gaps, np.isnan(gaps), places[codes][:, None] == np.arange(3)])
    expected = np.where(np.isnan(expected), mean, expected)
    out = np.empty((n, 6))
    columns = [(0, 1, numbers), (1, 2, gaps), (3, 3, codes, places)]
    assert _columns.code_rows(columns, mean, scale, low, high, out) is None
    assert_array_equal(out[:, [0, 1]], ((expected - mean) / scale)[:, [0, 1]])
    assert_allclose(out, (expected - mean) / scale, rtol=1e-14, atol=1e-15)
    if n > 256:
        gaps[256] = 1e308
        assert _columns.code_rows(columns, mean, scale / 1e9, low, high, out) == (1, 256)
    for wrong in ((6, 1, numbers), (0, 3, numbers), (0, 2, codes, places), (0, 1, numbers[:-1])):
        if n:
            with pytest.raises(ValueError, match=r"column|row|places"):
                _columns.code_rows([wrong], mean, scale, low, high, out)
