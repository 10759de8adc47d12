"""Sums of rows around points: the kernel against a plain twin, at every instruction set, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tenfold import _local

LEVELS = ("baseline", "avx2", "avx512")
NONE = np.empty(0, dtype=np.int64)


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _local.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _local.use_level(name)  # the best comes last


def twin(x: Any, X: Any, Y: Any, w: Any, inverse: Any, kernel: int, lines: bool, skip: Any) -> Any:
    """One point after the other."""
    out = []
    for q, point in enumerate(x):
        weight = w.copy()
        if len(skip):
            weight[skip[q]] = max(weight[skip[q]] - 1, 0)
        d = (((X - point) * inverse) ** 2).sum(axis=1)
        nearest = np.where(weight > 0, d, np.inf).argmin()
        near = d[nearest]
        if kernel == 0:
            K = np.exp(np.minimum(-0.5 * (d - near), 0))
        elif near >= 1:
            K = (d <= near * (1 + 1e-12)).astype(float)
        else:
            K = np.maximum(1 - d, 0) if kernel == 1 else np.maximum(1 - d**1.5, 0) ** 3
        K = K * weight
        Z = (X - X[nearest]) * inverse
        p = X.shape[1]
        sums = [K.sum()]
        if lines:
            sums += [*(K @ Z), *((Z * K[:, None]).T @ Z)[np.tril_indices(p)]]
        sums += [*(K @ Y)]
        if lines:
            sums += [*((Z * K[:, None]).T @ Y).reshape(-1), *((point - X[nearest]) * inverse)]
        out.append(sums)
    return np.array(out)


@pytest.mark.parametrize("kernel", [0, 1, 2])
@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("n, p, t", [(8, 1, 1), (40, 2, 1), (64, 5, 3)])
def test_the_kernel_is_its_twin(level: str, kernel: int, lines: bool, n: int, p: int, t: int) -> None:
    rng = np.random.default_rng(n + p)
    X, Y, w = rng.normal(size=(n, p)), rng.normal(size=(n, t)), rng.integers(0, 3, n).astype(float)
    w[0] = 2.0
    inverse = rng.uniform(0.3, 3, p)
    x = np.vstack([rng.normal(size=(6, p)), X[:3], np.full((1, p), 50.0), np.full((1, p), 1e200)])
    for skip in (NONE, rng.integers(0, n, len(x))):
        rows = np.ascontiguousarray(X.T), np.ascontiguousarray(Y.T)
        found = _local.local_sums(x[:-1], *rows, w, inverse, kernel, lines, skip[:-1])
        np.testing.assert_allclose(
            found, twin(x[:-1], X, Y, w, inverse, kernel, lines, skip[:-1]), rtol=1e-12, atol=1e-12
        )
        assert np.isfinite(_local.local_sums(x, *rows, w, inverse, kernel, False, skip)).all()


def test_no_points() -> None:
    assert _local.local_sums(
        np.empty((0, 2)), np.zeros((2, 8)), np.zeros((1, 8)), np.ones(8), np.ones(2), 0, True, NONE
    ).shape == (0, 11)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"columns": np.zeros((2, 9))}, "multiple of 8"),
        ({"columns": np.zeros((2, 0))}, "multiple of 8"),
        ({"targets": np.zeros((1, 16))}, "number of rows"),
        ({"w": np.zeros(7)}, "number of rows"),
        ({"inverse": np.zeros(3)}, "number of columns"),
        ({"points": np.zeros((2, 3))}, "number of columns"),
        ({"kernel": 3}, "no such kernel"),
        ({"kernel": -1}, "no such kernel"),
        ({"skip": np.array([0])}, "for each point"),
        ({"skip": np.array([0, 8])}, "not there"),
        ({"skip": np.array([0, -1])}, "not there"),
    ],
    ids=str,
)
def test_refused(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = dict(
        points=np.zeros((2, 2)), columns=np.zeros((2, 8)), targets=np.zeros((1, 8)), w=np.ones(8), inverse=np.ones(2),
        kernel=0, lines=True, skip=NONE,
    )  # fmt: skip
    with pytest.raises(ValueError, match=words):
        _local.local_sums(**{**given, **change})
