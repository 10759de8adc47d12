"""Searches for the nearest rows: both kernels against a plain twin, at every instruction set, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from tenfold import _near

LEVELS = ("baseline", "avx2", "avx512")
NONE = np.empty(0, dtype=np.int64)
EUCLIDEAN, MANHATTAN, CHEBYSHEV, MINKOWSKI, HAMMING = range(5)
POWER = 3.0


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _near.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _near.use_level(name)  # the best comes last


def sums(Q: Any, R: Any, apart: int) -> Any:
    """(queries, rows): parts of all pairs, added up."""
    away = np.abs(Q[:, None, :] - R[None, :, :])
    match apart:
        case 0:
            return (away**2).sum(axis=2)
        case 1:
            return away.sum(axis=2)
        case 2:
            return away.max(axis=2)
        case 3:
            return (away**POWER).sum(axis=2)
    return (away > 0).sum(axis=2).astype(float)


def tables() -> Iterator[tuple[str, Any, Any]]:
    """Name, rows, queries: some of the queries are rows."""
    rng = np.random.default_rng(0)
    for n, p, q in ((1, 1, 3), (17, 2, 9), (130, 3, 300), (200, 1, 40), (97, 17, 33), (60, 70, 20), (150, 5, 5)):
        for name in ("normal", "ties", "far from zero", "equal", "tiny", "outlier"):
            R = rng.normal(size=(n, p))
            if name == "ties":
                R = rng.integers(0, 3, size=(n, p)).astype(float)
            elif name == "far from zero":
                R = 1e6 + 1e-3 * R
            elif name == "equal":
                R = np.repeat(R[:1], n, axis=0)
            elif name == "tiny":
                R *= 1e-200
            elif name == "outlier":
                R[0] *= 1e12
            Q = R[rng.integers(0, n, q)].copy()
            Q[::2] += (1e-3 if name == "far from zero" else 1e-200 if name == "tiny" else 1.0) * rng.normal(size=Q[::2].shape)
            yield f"{name} {n}x{p}", R, Q


@pytest.mark.parametrize("apart", range(5))
def test_the_nearest_and_those_within_a_radius_are_those_of_all_pairs(level: str, apart: int) -> None:
    for name, R, Q in tables():
        away, n = sums(Q, R, apart), len(R)
        all_rows = _near.AllRows(R, apart)
        searches: list[Any] = [partial(all_rows.nearest, R)]
        withins: list[Any] = [partial(all_rows.within, R)]
        if apart != HAMMING:
            tree = _near.Tree(R, apart)
            searches.append(tree.nearest)
            withins.append(tree.within)
        for k in {1, min(5, n), n}:
            found = [search(Q, k, NONE, POWER) for search in searches]
            expected = np.sort(away, axis=1)[:, :k]
            for distance, row in found:
                np.testing.assert_allclose(distance, expected, rtol=1e-12, atol=0, err_msg=name)
                np.testing.assert_allclose(distance, np.take_along_axis(away, row, axis=1), rtol=1e-12, atol=0, err_msg=name)
                assert (np.diff(np.sort(row, axis=1), axis=1) > 0).all(), name  # no row twice
                tied = np.diff(distance, axis=1) == 0
                assert (np.diff(row, axis=1)[tied] > 0).all(), name  # ties in the order of rows
            for distance, row in found[1:]:  # both searches, bit for bit
                np.testing.assert_array_equal(row, found[0][1], err_msg=name)
                np.testing.assert_array_equal(distance, found[0][0], err_msg=name)
        radius = float(np.median(away))
        for within in withins:
            start, row, distance = within(Q, radius, NONE, POWER)
            assert start[0] == 0 and start[-1] == len(row) == len(distance)
            for q in range(len(Q)):
                mine = row[start[q] : start[q + 1]]
                assert (np.diff(mine) > 0).all()
                surely = np.flatnonzero(away[q] <= radius * (1 - 1e-12))
                perhaps = np.flatnonzero(away[q] <= radius * (1 + 1e-12))
                assert set(surely) <= set(mine.tolist()) <= set(perhaps), name
        if apart != HAMMING:
            radii = np.resize([radius, 0.0, np.inf], len(Q))
            counted = [len(tree.within(Q[[q]], float(one), NONE, POWER)[1]) for q, one in enumerate(radii)]
            assert tree.count(Q, radii, NONE, POWER).tolist() == counted, name


def test_a_row_that_is_skipped_is_not_found(level: str) -> None:
    rng = np.random.default_rng(1)
    for R in (rng.normal(size=(300, 4)), np.zeros((80, 2))):
        own = np.arange(len(R))
        away = sums(R, R, EUCLIDEAN)
        np.fill_diagonal(away, np.inf)
        for distance, row in (_near.AllRows(R, 0).nearest(R, R, 7, own, 2.0), _near.Tree(R, 0).nearest(R, 7, own, 2.0)):
            assert not (row == own[:, None]).any()
            np.testing.assert_allclose(distance, np.sort(away, axis=1)[:, :7], rtol=1e-12, atol=0)


def test_queries_that_are_far_too_far_for_float32_are_found(level: str) -> None:
    rng = np.random.default_rng(2)
    R = rng.normal(size=(500, 3))
    Q = np.array([[1e25, 0, 0], [0, -1e150, 0], [1e30, 1e30, 1e30]])
    for distance, row in (_near.AllRows(R, 0).nearest(R, Q, 3, NONE, 2.0), _near.Tree(R, 0).nearest(Q, 3, NONE, 2.0)):
        np.testing.assert_allclose(distance, np.sort(sums(Q, R, 0), axis=1)[:, :3], rtol=1e-12, atol=0)
        assert row.shape == (3, 3)


def test_many_ties_beyond_the_room_for_candidates(level: str) -> None:
    """Thousands of rows are as far as the nearest: all of them are candidates."""
    rng = np.random.default_rng(3)
    R = np.repeat(rng.normal(size=(3, 12)), 2000, axis=0)
    distance, row = _near.AllRows(R, 0).nearest(R, R[[0, 2500]], 5, NONE, 2.0)
    np.testing.assert_array_equal(row, [np.arange(5), 2000 + np.arange(5)])
    start, row, distance = _near.AllRows(R, 0).within(R, R[[0, 2500]], 0.0, NONE, 2.0)
    np.testing.assert_array_equal(start, [0, 2000, 4000])
    assert not distance.any()


def test_a_tree_is_the_same_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(7)
    R = np.round(rng.normal(size=(20_000, 3)), 2)  # with ties
    Q = rng.normal(size=(500, 3))
    trees = [_near.Tree(R, 0, threads) for threads in (1, 2, 5)]
    found = [tree.nearest(Q, 9, NONE, 2.0) for tree in trees]
    for tree, (distance, row) in zip(trees[1:], found[1:], strict=True):
        np.testing.assert_array_equal(distance, found[0][0])
        np.testing.assert_array_equal(row, found[0][1])
        np.testing.assert_array_equal(tree.order(Q), trees[0].order(Q))
    order = trees[0].order(Q)
    np.testing.assert_array_equal(np.sort(order), np.arange(500))
    apart = np.abs(np.diff(Q[order], axis=0)).sum(axis=1)
    assert np.median(apart) < np.median(np.abs(np.diff(Q, axis=0)).sum(axis=1)) / 2  # neighbours in the order are near


def test_a_walk_through_all_of_a_graph_finds_the_nearest(level: str) -> None:
    """As wide as there are rows, a walk misses none that links lead to, and links lead to all but a few that are equal."""
    for name, R, Q in tables():
        order = np.random.default_rng(4).permutation(len(R))
        away, k, n = sums(Q, R, EUCLIDEAN), min(5, len(R)), len(R)
        for threads in (1, 2):
            distance, row = _near.Graph(R, order, threads).nearest(R, Q, k, NONE, n, n)
            assert (row >= 0).all(), name
            np.testing.assert_allclose(distance, np.take_along_axis(away, row, axis=1), rtol=1e-12, atol=0, err_msg=name)
            if not name.startswith(("tiny", "outlier")):  # whose squares, or differences, float32 does not tell apart
                np.testing.assert_allclose(distance, np.sort(away, axis=1)[:, :k], rtol=1e-12, atol=0, err_msg=name)


def test_rows_beyond_the_limit_of_a_walk_are_not_found(level: str) -> None:
    rng = np.random.default_rng(5)
    R, order = rng.normal(size=(700, 6)), rng.permutation(700)
    graph, own = _near.Graph(R, order, 2), np.arange(700)
    row = graph.nearest(R, R, 4, NONE, 60, 600)[1]
    assert np.isin(row, order[:600]).all()
    row = graph.nearest(R, R, 4, own, 60, 700)[1]
    assert not (row == own[:, None]).any()
    assert (graph.nearest(R, R[:3], 4, NONE, 10, 2)[1][:, 2:] == -1).all()  # there are only two


def test_rows_whose_codes_differ_least_are_looked_at(level: str) -> None:
    rng = np.random.default_rng(6)
    for n, words, q in ((1, 1, 2), (90, 1, 7), (333, 3, 20)):
        R, Q = rng.normal(size=(n, 4)), rng.normal(size=(q, 4))
        codes, asked = (rng.integers(0, 1 << 63, (m, words), dtype=np.uint64) for m in (n, q))
        bits = np.bitwise_count(asked[:, None] ^ codes[None]).sum(axis=2)
        away, k = sums(Q, R, EUCLIDEAN), min(3, n)
        for width in (k, min(n, 40), n):
            some = np.argsort(bits, axis=1, kind="stable")[:, :width]
            distance, row = _near.codes_nearest(R, codes, Q, asked, k, NONE, width)
            np.testing.assert_allclose(distance, np.sort(np.take_along_axis(away, some, axis=1), axis=1)[:, :k], rtol=1e-12, atol=0)
            np.testing.assert_allclose(distance, np.take_along_axis(away, row, axis=1), rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda R: _near.AllRows(R, 9), "no such measure"),
        (lambda R: _near.Tree(R, HAMMING), "no boxes"),
        (lambda R: _near.Tree(R, 0, 0), "a thread"),
        (lambda R: _near.Tree(R, 0).order(R[:, :1].copy()), "number of columns"),
        (lambda R: _near.Tree(R[:0], 0), "rows and columns"),
        (lambda R: _near.Tree(R, 0).nearest(R[:, :1].copy(), 1, NONE, 2.0), "number of columns"),
        (lambda R: _near.Tree(R, 0).nearest(R, 21, NONE, 2.0), "k must be"),
        (lambda R: _near.Tree(R, 0).nearest(R, 20, np.arange(20), 2.0), "k must be"),
        (lambda R: _near.Tree(R, 0).nearest(R, 0, NONE, 2.0), "k must be"),
        (lambda R: _near.AllRows(R, 0).nearest(R[:5].copy(), R, 1, NONE, 2.0), "not the rows"),
        (lambda R: _near.AllRows(R, 0).nearest(R, R, 1, np.arange(3), 2.0), "skip"),
        (lambda R: _near.AllRows(R, 0).within(R, R, -1.0, NONE, 2.0), "negative"),
        (lambda R: _near.Tree(R, 0).count(R, np.zeros(3), NONE, 2.0), "a radius for each"),
        (lambda R: _near.Tree(R, 0).count(R[:, :1].copy(), np.zeros(20), NONE, 2.0), "number of columns"),
        (lambda R: _near.Graph(R, np.zeros(20, np.int64), 1), "every row once"),
        (lambda R: _near.Graph(R, np.arange(20) + 1, 1), "every row once"),
        (lambda R: _near.Graph(R, np.arange(20), 1).nearest(R[:5].copy(), R, 1, NONE, 9, 20), "not the rows"),
        (lambda R: _near.Graph(R, np.arange(20), 1).nearest(R, R, 1, NONE, 9, 21), "limit"),
        (lambda R: _near.codes_nearest(R, np.zeros((20, 1), np.uint64), R, np.zeros((20, 2), np.uint64), 1, NONE, 9), "words"),
        (lambda R: _near.codes_nearest(R, np.zeros((2, 1), np.uint64), R, np.zeros((20, 1), np.uint64), 1, NONE, 9), "a code"),
    ],
)
def test_arguments_are_checked(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(np.random.default_rng(0).normal(size=(20, 3)))
