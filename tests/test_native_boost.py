"""The kernels of boosting against plain NumPy, in odd shapes."""

from __future__ import annotations

import numpy as np
import pytest

from tenfold import _boost

LEVELS = [name for name in ("baseline", "avx2", "avx512") if _boost.use_level(name)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n, p", [(0, 1), (1, 1), (17, 3), (130, 9)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_code_rows(level: str, n: int, p: int, dtype: type) -> None:
    _boost.use_level(level)
    rng = np.random.default_rng(n + p)
    X = np.round(rng.normal(size=(n, p)), 2).astype(dtype)
    X[rng.random((n, p)) < 0.1] = np.nan
    edges = np.full((p, 256), np.inf)
    counts = rng.integers(0, 255, p)
    expected = np.zeros((n, p + 2), dtype=np.uint8)
    for j in range(p):
        edges[j, : counts[j]] = np.sort(rng.normal(size=counts[j]).round(2))
        code = np.searchsorted(edges[j, : counts[j]], X[:, j].astype(np.float64))
        expected[:, j] = np.where(np.isnan(X[:, j]), counts[j] + 1, code)
    halvings = np.array([int(c).bit_length() for c in counts], dtype=np.int32)
    np.testing.assert_array_equal(_boost.code_rows(X, edges, halvings, counts + 1, p + 2), expected)
    _boost.use_level(LEVELS[-1])


def test_code_rows_refuses_wrong_shapes() -> None:
    X, edges = np.zeros((2, 3)), np.full((3, 256), np.inf)
    ok = np.zeros(3, dtype=np.int32), np.ones(3, dtype=np.int64)
    with pytest.raises(ValueError, match="hold all columns"):
        _boost.code_rows(X, edges, *ok, 2)
    with pytest.raises(ValueError, match="must be"):
        _boost.code_rows(X, edges[:2], *ok, 3)
    with pytest.raises(ValueError, match="255 edges"):
        _boost.code_rows(X, edges, ok[0] + 9, ok[1], 3)


def test_edges_of_nothing_and_of_one_value() -> None:
    nothing = np.empty(0)
    assert len(_boost.bin_edges(nothing, nothing, 255)) == 0
    assert len(_boost.bin_edges(np.ones(4), nothing, 255)) == 0
    with pytest.raises(ValueError, match="as many"):
        _boost.bin_edges(np.ones(4), np.ones(3), 255)
