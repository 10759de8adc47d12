"""Kernels of rows and steps on a working set: the native versions against plain ones at every instruction set, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tenfold import _svm
from tenfold.kernel_machines.kernel_rows import Packed

LEVELS = ("baseline", "avx2", "avx512")


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _svm.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _svm.use_level(name)  # the best comes last


def twin(X: Any, Y: Any, form: int, constant: float, degree: int) -> Any:
    X, Y = X.astype(float), Y.astype(float)
    t = X @ Y.T
    if form == 1:
        return (t + constant) ** degree
    if form == 2:
        return np.exp(-0.5 * ((X[:, None] - Y) ** 2).sum(axis=2))
    return np.tanh(t + constant) if form == 3 else t


@pytest.mark.parametrize("dtype, digits", [(np.float64, 1e-13), (np.float32, 2e-5)])
@pytest.mark.parametrize("form", [0, 1, 2, 3])
@pytest.mark.parametrize("n, m, p", [(1, 1, 1), (5, 3, 2), (32, 12, 8), (33, 13, 3), (100, 25, 17), (70, 6, 40)])
def test_kernels_are_their_twins(level: str, form: int, n: int, m: int, p: int, dtype: Any, digits: float) -> None:
    rng = np.random.default_rng(n + m + p)
    rows, columns = Packed(rng.normal(size=(n, p)), dtype), Packed(rng.normal(size=(m, p)), dtype)
    weights, how = rng.normal(size=(3, m)), (form, 0.7, 3)
    K = twin(columns.plain, rows.plain, *how)
    given = rows.rows, rows.halves, columns.plain, columns.halves[:m]
    size = np.abs(K).max()
    assert_allclose(_svm.kernel_block(*given, *how, False, 1)[:, :n], K, rtol=digits, atol=digits * size)
    sums = _svm.kernel_sums(*given, weights, *how, 1)
    assert_allclose(sums[:, :n], weights @ K, rtol=digits, atol=digits * size * np.abs(weights).sum())
    assert_array_equal(_svm.kernel_sums(*given, weights, *how, 7), sums)  # the same bits on many threads
    assert_array_equal(_svm.kernel_block(*given, *how, False, 5), _svm.kernel_block(*given, *how, False, 1))
    own = rows.rows, rows.halves, rows.plain, rows.halves[:n]
    whole = _svm.kernel_block(*own, *how, True, 3)[:, :n]
    assert_allclose(whole, _svm.kernel_block(*own, *how, False, 1)[:, :n], rtol=digits, atol=digits * np.abs(whole).max())
    assert_array_equal(whole, whole.T)


def test_far_rows_have_no_kernel_and_near_ones_all_of_it(level: str) -> None:
    for dtype in (np.float64, np.float32):
        rows = Packed(np.array([[0.0], [1e-3], [3.0], [14.0], [40.0], [1e6]]), dtype)
        K = _svm.kernel_block(rows.rows, rows.halves, rows.plain, rows.halves[:6], 2, 0.0, 0, False, 1)[0, :6]
        assert_allclose(K, np.exp(-0.5 * rows.plain[:, 0].astype(float) ** 2), rtol=1e-5 if dtype is np.float32 else 1e-13, atol=1e-38)


def steps(K: Any, g: Any, b: Any, low: Any, high: Any, group: Any, tol: float, most: int) -> tuple[Any, Any, int]:
    """Two variables at a time, as documented, without any vectors."""
    b, g, diagonal = b.copy(), g.copy(), np.diag(K)
    for step in range(most):
        best, gap = (-np.inf, 0, 0), -np.inf
        for k in np.unique(group):
            up, down = (group == k) & (b < high), (group == k) & (b > low)
            if not up.any() or not down.any():
                continue
            i = int(np.argmax(np.where(up, -g, -np.inf)))
            rise = np.where(down, g - g[i], -np.inf)
            curve = np.maximum(diagonal + diagonal[i] - 2 * K[i], 1e-12)
            gain = np.where(rise > 0, rise**2 / curve, -np.inf)
            gap, j = max(gap, rise.max()), int(np.argmax(gain))
            best = max(best, (gain[j], i, j), key=lambda one: one[0])
        if not gap > tol:
            return b, g, step
        _, i, j = best
        size = min((g[j] - g[i]) / max(diagonal[i] + diagonal[j] - 2 * K[i, j], 1e-12), high[i] - b[i], b[j] - low[j])
        b[i], b[j] = b[i] + size, b[j] - size
        g = g + size * (K[i] - K[j])
    return b, g, most


@pytest.mark.parametrize("q, groups", [(2, 1), (7, 1), (40, 1), (40, 2), (65, 2)])
def test_steps_are_their_twins(level: str, q: int, groups: int) -> None:
    rng = np.random.default_rng(q)
    X, signs = rng.normal(size=(q, 3)), np.where(np.arange(q) % 2 == 0, 1.0, -1.0)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    low, high = np.where(signs > 0, 0.0, -2.0), np.where(signs > 0, 2.0, 0.0)
    b, group = 0.5 * signs, (np.arange(q) * groups) // q
    for dtype in (np.float32, np.float64):
        rounded = K.astype(dtype).astype(float)
        given = rounded @ b - signs, b, low, high, group
        found, slope, n = _svm.solve_working_set(K.astype(dtype), *given, 1e-10, 100_000)
        assert_allclose(found, steps(rounded, *given, 1e-10, 100_000)[0], atol=1e-7)
        assert_allclose(slope, rounded @ found - signs, atol=1e-9)
        for k in range(groups):
            assert_allclose(found[group == k].sum(), b[group == k].sum(), atol=1e-9)
        assert (found >= low).all() and (found <= high).all() and n > 0
    assert _svm.solve_working_set(K, *given, 1e-10, 3)[2] == min(3, n)


def test_arguments_are_checked() -> None:
    rows = Packed(np.ones((3, 2)), np.float64)
    good = dict(rows=rows.rows, halves=rows.halves, columns=rows.plain, column_halves=rows.halves[:3], weights=np.ones((1, 3)), form=2)
    good |= dict(constant=0.0, degree=3, threads=1)
    for change, words in (
        (dict(halves=np.ones(3)), "packed row"), (dict(columns=np.ones((3, 1))), "number of values"), (dict(form=4), "no such kernel"),
        (dict(column_halves=np.ones(2)), "each column"), (dict(weights=np.ones((1, 2))), "a weight"), (dict(threads=0), "threads"),
        (dict(rows=np.ones((1, 2, 8))), "packed by 32"), (dict(degree=-1), "degree"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            _svm.kernel_sums(**{**good, **change})
    one, zero = np.ones(2), np.zeros(2, np.int64)
    for K, group, tol, words in (
        (np.ones((2, 1)), zero, 0.1, "square"), (np.ones((3, 3)), zero, 0.1, "each variable"), (np.ones((2, 2)), zero - 1, 0.1, "groups"),
        (np.ones((2, 2)), zero, -1.0, "tolerance"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            _svm.solve_working_set(K, one, one, one, one, group, tol, 5)
