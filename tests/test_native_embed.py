"""Sums over pairs of places: the kernels against plain twins, at every instruction set and number of threads, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tenfold import _embed

Array = np.ndarray[Any, Any]
LEVELS = ("baseline", "avx2", "avx512")


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _embed.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _embed.use_level(name)  # the best comes last


def pairs(n: int, seed: int = 0) -> tuple[Array, Array, Array, Array]:
    """(start, to, p, as a table): joint probabilities of some pairs."""
    rng = np.random.default_rng(seed)
    table = np.triu(np.where(rng.random((n, n)) < 0.4, rng.random((n, n)), 0.0), 1)
    table = table + table.T
    table /= table.sum() or 1.0
    rows, to = np.nonzero(table)
    return np.searchsorted(rows, np.arange(n + 1)).astype(np.int64), to.astype(np.int32), table[rows, to], table


def twin(x: Array, table: Array, w: Array, freedom: int) -> tuple[Array, Array, float]:
    t = 1 / (1 + cdist(x, x, "sqeuclidean") / freedom)
    q = t ** ((freedom + 1) / 2) * np.outer(w, w)
    np.fill_diagonal(q, 0)
    apart = x[:, None] - x
    pull = np.einsum("ij,ijk->ik", table * t, apart) / w[:, None]
    return pull, np.einsum("ij,ijk->ik", q * t, apart) / w[:, None], float(q.sum())


@pytest.mark.parametrize("n, k", [(1, 2), (2, 1), (17, 2), (33, 3), (40, 5)])
def test_guttman(level: str, n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    X, x, w = rng.normal(size=(n, k + 1)), rng.normal(size=(n, k)), rng.uniform(0.5, 2, n)
    x[n // 2] = x[0]  # places that coincide
    D, d = cdist(X, X), cdist(x, x)
    ratio = w * np.divide(D, d, out=np.zeros_like(d), where=d > 0)
    next_, stress, size = _embed.guttman(D, x, w, 2)
    np.testing.assert_allclose(next_, (x * ratio.sum(axis=1)[:, None] - ratio @ x) / w.sum(), rtol=0, atol=1e-12)
    assert stress == pytest.approx(float((np.outer(w, w) * (D - d) ** 2).sum() / 2), rel=1e-12, abs=1e-14)
    assert size == pytest.approx(float((np.outer(w, w) * d**2).sum() / 2), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("n, k", [(2, 1), (40, 2), (300, 3)])
def test_pairs_in_any_order(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    x, pairs_of = rng.normal(size=(n, k)), rng.permutation(np.stack(np.triu_indices(n, 1), axis=1)).astype(np.int32)
    first, second = (np.ascontiguousarray(side) for side in pairs_of.T)
    away = _embed.pair_distances(x, first, second, 3)
    np.testing.assert_allclose(away, cdist(x, x)[first, second], rtol=1e-12)
    np.testing.assert_allclose(_embed.table_of_pairs(away, first, second, n), cdist(x, x), rtol=1e-12)
    with pytest.raises(ValueError, match="not there"):
        _embed.pair_distances(x, first, second - np.int32(n), 1)
    with pytest.raises(ValueError, match="not there"):
        _embed.table_of_pairs(away, first, second, n - 1)


@pytest.mark.parametrize("n, k", [(2, 1), (17, 2), (33, 3), (40, 5)])
def test_forces_of_all_pairs(level: str, n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    x, w = rng.normal(size=(n, k)), rng.uniform(0.5, 2, n)
    start, to, p, table = pairs(n)
    freedom = max(k - 1, 1)
    found = _embed.forces(x, start, to, p, w, freedom, 0.0, 2)
    for one, expected in zip(found, twin(x, table, w, freedom), strict=True):
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("shape", ["cloud", "equal", "far", "tiny"])
def test_forces_by_cells(level: str, k: int, shape: str) -> None:
    """Near those of all pairs, nearer for smaller angles, and the same for any number of threads."""
    rng = np.random.default_rng(k)
    x = rng.normal(size=(700, k)) * 10
    x = {"cloud": x, "equal": np.round(x / 5), "far": np.vstack([x[:-1], np.full((1, k), 1e5)]), "tiny": x * 1e-6}[shape]
    w = rng.uniform(0.5, 2, len(x))
    start, to, p, table = pairs(len(x), seed=1)
    freedom = max(k - 1, 1)
    pull, push, total = twin(x, table, w, freedom)
    size = float(np.abs(push).max()) or 1.0
    for angle, most in ((0.5, 0.1), (0.2, 0.01), (1e-6, 3e-5)):
        one = _embed.forces(x, start, to, p, w, freedom, angle, 1)
        np.testing.assert_allclose(one[1] / size, push / size, rtol=0, atol=most)
        assert one[2] == pytest.approx(total, rel=most)
        np.testing.assert_allclose(one[0], pull, rtol=0, atol=1e-5 * np.abs(pull).max())
        for threads in (2, 5):
            other = _embed.forces(x, start, to, p, w, freedom, angle, threads)
            assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_affinities_have_the_perplexity() -> None:
    rng = np.random.default_rng(0)
    away, w = np.sort(rng.uniform(0.1, 3, (30, 20)), axis=1), rng.uniform(0.5, 2, (30, 20))
    for scale in (1.0, 1e-150, 1e150):
        p = _embed.affinities(away * scale, w, 6.0, 2)
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(np.exp(-(p * np.log(p / w)).sum(axis=1)), 6.0, rtol=1e-8)
        beta = np.diff(np.log(p / w), axis=1) / np.diff((away) ** 2, axis=1)  # one width for all neighbours
        np.testing.assert_allclose(beta, np.broadcast_to(beta[:, :1], beta.shape), rtol=1e-6)


def test_affinities_where_no_width_is_right() -> None:
    equal = np.append(np.zeros(8), [1.0, 2.0])[None]  # eight neighbours are equally near
    np.testing.assert_allclose(_embed.affinities(equal, np.ones((1, 10)), 3.0, 1)[0, :8], 1 / 8, rtol=1e-9)
    few = _embed.affinities(np.array([[1.0, 2.0]]), np.ones((1, 2)), 5.0, 1)  # there are fewer neighbours
    np.testing.assert_allclose(few, 0.5, rtol=1e-4)
    np.testing.assert_allclose(_embed.affinities(np.zeros((1, 4)), np.ones((1, 4)), 2.0, 1), 0.25, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_new_places_are_where_the_slope_vanishes(level: str, k: int) -> None:
    rng = np.random.default_rng(k)
    x, w, freedom = rng.normal(size=(50, k)), rng.uniform(0.5, 2, 50), max(k - 1, 1)
    near, shares = np.arange(50)[None, :9].astype(np.int64), rng.dirichlet(np.ones(9))[None]

    def f(y: Array) -> float:
        q = (1 + ((y - x) ** 2).sum(axis=1) / freedom) ** (-(freedom + 1) / 2)
        return float(-shares[0] @ np.log(q[:9]) + 0.01 * w @ q)

    start = shares @ x[:9]
    y, value = _embed.placed(start, x, w, near, shares, 0.01, freedom, 500, 1e-12, 2)
    assert value[0] == pytest.approx(f(y[0]), rel=1e-10) and value[0] <= f(start[0])
    slope = [(f(y[0] + e) - f(y[0] - e)) / 2e-5 for e in 1e-5 * np.eye(k)]
    np.testing.assert_allclose(slope, 0, rtol=0, atol=1e-5)


def test_bad_arguments_are_refused() -> None:
    x, w = np.zeros((4, 2)), np.ones(4)
    start, to, p, _ = pairs(4)
    with pytest.raises(ValueError, match="number of rows"):
        _embed.guttman(np.zeros((3, 3)), x, w, 1)
    with pytest.raises(ValueError, match="sum above 0"):
        _embed.guttman(np.zeros((4, 4)), x, np.zeros(4), 1)
    with pytest.raises(ValueError, match="not there"):
        _embed.forces(x, start, to + np.int32(9), p, w, 1, 0.5, 1)
    with pytest.raises(ValueError, match="not there"):
        _embed.forces(x, start, to - np.int32(9), p, w, 1, 0.5, 1)
    with pytest.raises(ValueError, match="cover"):
        _embed.forces(x, start + 1, to, p, w, 1, 0.5, 1)
    with pytest.raises(ValueError, match="above 0"):
        _embed.forces(x, start, to, p, np.zeros(4), 1, 0.5, 1)
    with pytest.raises(ValueError, match="three axes"):
        _embed.forces(np.zeros((4, 4)), start, to, p, w, 1, 0.5, 1)
    with pytest.raises(ValueError, match="neighbour is not there"):
        _embed.placed(x[:1], x, w, np.array([[7]]), np.ones((1, 1)), 1.0, 1, 5, 0.0, 1)
    with pytest.raises(ValueError, match="perplexity"):
        _embed.affinities(np.ones((1, 3)), np.ones((1, 3)), 0.0, 1)
