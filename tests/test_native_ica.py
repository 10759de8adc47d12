"""Sums of a nonlinear function of projected rows: the kernel against a plain twin, at every instruction set, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tenfold import _ica

LEVELS = ("baseline", "avx2", "avx512")


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _ica.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _ica.use_level(name)  # the best comes last


def twin(X: Any, w: Any, center: Any, axes: Any, contrast: int, a: float) -> tuple[Any, Any]:
    rows = X.astype(float) - center
    y = rows @ axes.T
    if contrast == 0:
        g, slope = np.tanh(a * y), a * (1 - np.tanh(a * y) ** 2)
    elif contrast == 1:
        g, slope = y * np.exp(-(y**2) / 2), (1 - y**2) * np.exp(-(y**2) / 2)
    else:
        g, slope = y**3, 3 * y**2
    return (g * w[:, None]).T @ rows, w @ slope


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("contrast", [0, 1, 2])
@pytest.mark.parametrize("n, p, k", [(1, 1, 1), (5, 3, 1), (64, 8, 8), (67, 9, 5), (130, 25, 17), (200, 40, 33), (3, 70, 2)])
def test_the_kernel_is_its_twin(level: str, contrast: int, n: int, p: int, k: int, dtype: Any) -> None:
    rng = np.random.default_rng(n + p + k)
    X, w = (rng.normal(size=(n, p)) + 3).astype(dtype), rng.random(n) + 0.1
    axes = rng.normal(size=(k, p)) / np.sqrt(p)
    for center in (rng.normal(size=p) + 3, np.zeros(p)):
        for found, expected in zip(_ica.ica_sums(X, w, center, axes, contrast, 1.5), twin(X, w, center, axes, contrast, 1.5), strict=True):
            assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_tanh_keeps_its_digits(level: str) -> None:
    """One row, one column, one direction: the product is w g(y) x. Tiny, moderate and huge arguments, both signs."""
    sizes = np.concatenate([np.logspace(-300, 2, 400), np.linspace(0.01, 25, 500), [1e300]])
    for y in np.concatenate([sizes, -sizes]):
        products, slopes = _ica.ica_sums(np.array([[y]]), np.ones(1), np.zeros(1), np.ones((1, 1)), 0, 1.0)
        if abs(y) > 1e-150:  # else the product is below the range of numbers
            assert_allclose(products[0, 0] / y, np.tanh(y), rtol=1.5e-15, atol=0)
        assert_allclose(slopes[0], 1 - np.tanh(y) ** 2, rtol=0, atol=1e-15)


def test_no_rows_have_no_sums() -> None:
    products, slopes = _ica.ica_sums(np.empty((0, 2)), np.empty(0), np.zeros(2), np.ones((3, 2)), 0, 1.0)
    assert products.shape == (3, 2) and not products.any() and not slopes.any()


@pytest.mark.parametrize(
    "change, words",
    [
        ({"w": np.ones(3)}, "weight for each row"),
        ({"center": np.ones(3)}, "number of columns"),
        ({"axes": np.ones((1, 3))}, "number of columns"),
        ({"axes": np.ones((0, 2))}, "columns and axes"),
        ({"contrast": 3}, "no such function"),
        ({"contrast": -1}, "no such function"),
    ],
    ids=str,
)
def test_refused(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = dict(X=np.ones((4, 2)), w=np.ones(4), center=np.zeros(2), axes=np.ones((1, 2)), contrast=0, a=1.0)
    with pytest.raises(ValueError, match=words):
        _ica.ica_sums(**{**given, **change})
