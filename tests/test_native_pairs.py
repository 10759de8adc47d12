"""Distances of all pairs and swaps of medoids: the kernels against plain twins, at every instruction set, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tenfold import _pairs

LEVELS = ("baseline", "avx2", "avx512")


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _pairs.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _pairs.use_level(name)  # the best comes last


@pytest.mark.parametrize(("n", "p", "q"), [(1, 1, 1), (17, 3, 5), (70, 10, 33), (33, 41, 2)])
def test_sums_are_those_of_scipy(level: str, n: int, p: int, q: int) -> None:
    rng = np.random.default_rng(n)
    Q, R = rng.integers(0, 4, (q, p)) / 2, rng.integers(0, 4, (n, p)) / 2
    wanted = [
        cdist(Q, R, "sqeuclidean"), cdist(Q, R, "cityblock"), cdist(Q, R, "chebyshev"), cdist(Q, R, "minkowski", p=3) ** 3,
        cdist(Q, R, "hamming") * p,
    ]  # fmt: skip
    for apart, sums in enumerate(wanted):
        np.testing.assert_allclose(_pairs.sums(Q, R, apart, 3.0), sums, rtol=1e-12, atol=1e-12)


def twin(D: Any, w: Any, medoids: list[int], most: int) -> tuple[list[int], float, int, bool]:
    """One swap after the other, each loss from scratch."""
    n, k, medoids = len(D), len(medoids), list(medoids)

    def loss(chosen: list[int]) -> float:
        return float(w @ D[:, chosen].min(axis=1))

    next_one = in_vain = offered = 0
    while in_vain < n:
        if offered >= most * n:
            return medoids, loss(medoids), most, True
        trials = [[*medoids[:i], next_one, *medoids[i + 1 :]] for i in range(k)]
        losses = [loss(trial) for trial in trials]
        best = int(np.argmin(losses))
        if next_one not in medoids and losses[best] < loss(medoids) * (1 - 1e-9):
            medoids, in_vain = trials[best], 0
        else:
            in_vain += 1
        offered, next_one = offered + 1, (next_one + 1) % n
    return medoids, loss(medoids), -(-offered // n), False


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (9, 1), (40, 2), (61, 7), (30, 30), (100, 13)])
def test_swaps_are_those_of_the_twin(level: str, kind: Any, n: int, k: int) -> None:
    rng = np.random.default_rng(n + k)
    X, w = rng.normal(size=(n, 3)), rng.uniform(0, 2, n)
    D = np.ascontiguousarray(cdist(X, X).astype(kind))
    start = rng.permutation(n)[:k].astype(np.int64)
    medoids, loss, rounds, unfinished = _pairs.improve(D, w, start, 50)
    if k > 1:
        expected = twin(D.astype(float), w, start.tolist(), 50)
        assert (medoids.tolist(), rounds, unfinished) == (expected[0], expected[2], expected[3])
    else:
        assert medoids[0] == (D.astype(float) @ w).argmin()
    assert loss == pytest.approx(w @ D[:, medoids].min(axis=1), rel=1e-5)
    assert set(start) != set(medoids) or n == k or loss == pytest.approx(w @ D[:, start].min(axis=1), rel=1e-5)


def test_one_round_may_not_be_enough(level: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    D = cdist(X, X)
    for most in (1, 2):
        medoids, _, rounds, unfinished = _pairs.improve(D, np.ones(60), np.arange(5), most)
        expected = twin(D, np.ones(60), list(range(5)), most)
        assert (medoids.tolist(), rounds, unfinished) == (expected[0], expected[2], expected[3])


@pytest.mark.parametrize(
    "change",
    [
        {"D": np.zeros((3, 4))}, {"D": np.zeros((0, 0))}, {"w": np.ones(4)}, {"medoids": np.array([0, 3])},
        {"medoids": np.array([-1])}, {"medoids": np.array([1, 1])}, {"medoids": np.zeros(0, np.int64)}, {"most": 0},
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(change: dict[str, Any]) -> None:
    given: dict[str, Any] = dict(D=np.zeros((3, 3)), w=np.ones(3), medoids=np.array([0, 1]), most=5)
    with pytest.raises((ValueError, TypeError)):
        _pairs.improve(**{**given, **change})


def test_rows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="columns"):
        _pairs.sums(np.zeros((2, 3)), np.zeros((2, 2)), 0, 2.0)
    with pytest.raises(ValueError, match="measure"):
        _pairs.sums(np.zeros((2, 3)), np.zeros((2, 3)), 5, 2.0)
