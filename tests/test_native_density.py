"""Kernels of dense rows: against plain twins, at every instruction set, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from test_native_near import LEVELS, sums

from tenfold import _density

NO_WEIGHTS = np.empty(0)


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _density.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _density.use_level(name)  # the best comes last


def plain_groups(near: Any, weight: Any, least: float) -> tuple[Any, Any]:
    """By all pairs: whether rows are dense, and the first group that each is in or near."""
    dense = near @ weight >= least
    _, part = connected_components(near & dense[:, None] & dense[None, :], directed=False)
    order = {group: number for number, group in enumerate(dict.fromkeys(part[dense]))}
    label = np.full(len(near), -1)
    for row in range(len(near)):
        seen = [order[part[other]] for other in np.flatnonzero(near[row] & dense)]
        label[row] = order[part[row]] if dense[row] else min(seen, default=-1)
    return dense, label


@pytest.mark.parametrize("apart", range(4))
def test_dense_groups(level: str, apart: int) -> None:
    rng = np.random.default_rng(apart)
    for n, p, radius in ((1, 1, 1.0), (17, 2, 0.5), (300, 2, 0.02), (300, 3, 0.3), (200, 9, 4.0)):
        X, weight = np.round(rng.normal(size=(n, p)), 2), rng.uniform(0, 2, n)
        near = sums(X, X, apart) <= radius
        for w, least in ((NO_WEIGHTS, 3.0), (weight, 3.0)):
            dense, label = plain_groups(near, w if len(w) else np.ones(n), least)
            for threads in (1, 3):
                found = _density.dense_groups(X, w, radius, least, apart, 3.0, threads)
                np.testing.assert_array_equal(found[0].astype(bool), dense)
                np.testing.assert_array_equal(found[1], label)


def test_groups_from_lists() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    near = sums(X, X, 0) <= 0.09
    dense, label = plain_groups(near, np.ones(len(X)), 4)
    groups, flags = _density.RowGroups(len(X)), np.zeros(len(X), dtype=np.uint8)
    for first in range(0, len(X), 50):
        block = near[first : first + 50]
        known = first + len(block)
        flags[first:known] = dense[first:known]
        start = np.concatenate([[0], np.cumsum(block.sum(axis=1))])
        groups.add(first, start, np.ascontiguousarray(np.nonzero(block)[1]), flags, known)
    np.testing.assert_array_equal(groups.labels(flags), label)


def test_what_is_refused() -> None:
    X, flags = np.zeros((3, 2)), np.zeros(3, dtype=np.uint8)
    groups, one = _density.RowGroups(3), np.array([0, 1])
    for call in (
        lambda: _density.dense_groups(X[:0], NO_WEIGHTS, 1.0, 1.0, 0, 2.0, 1),
        lambda: _density.dense_groups(X, np.ones(2), 1.0, 1.0, 0, 2.0, 1),
        lambda: _density.dense_groups(X, NO_WEIGHTS, -1.0, 1.0, 0, 2.0, 1),
        lambda: _density.dense_groups(X, NO_WEIGHTS, 1.0, 1.0, 4, 2.0, 1),
        lambda: groups.add(3, one, np.array([0]), flags, 3),
        lambda: groups.add(0, one, np.array([3]), flags, 3),
        lambda: groups.add(0, one, np.array([-1]), flags, 3),
        lambda: groups.add(0, np.array([0, 2]), np.array([0]), flags, 3),
        lambda: groups.add(0, np.array([1, 0]), np.array([0]), flags, 3),
        lambda: groups.labels(flags[:2]),
        lambda: _density.RowGroups(-1),
    ):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("gaussian", [False, True])
def test_mean_shift(level: str, gaussian: bool) -> None:
    rng = np.random.default_rng(0)
    for n, p in ((1, 1), (40, 2), (300, 3), (150, 20)):
        X, weight, points = rng.normal(size=(n, p)), rng.uniform(0, 2, n), rng.normal(size=(7, p))
        radius, scale = (9.0, 0.7) if gaussian else (0.8 * np.sqrt(p), 0.0)
        for w in (NO_WEIGHTS, weight):
            away = sums(points, X, 0)
            share = (w if len(w) else np.ones(n)) * np.where(away <= radius**2, np.exp(-scale * away), 0.0)
            total = share.sum(axis=1)
            means = np.where(total[:, None] > 0, share @ X / np.where(total > 0, total, 1.0)[:, None], points)
            moved, around, steps = _density.mean_shift(X, w, points, radius, scale, 0.0, 0, 2)
            np.testing.assert_allclose(moved, means, rtol=1e-11, atol=1e-12)
            np.testing.assert_allclose(around, total, rtol=1e-11, atol=1e-14)
            assert not steps.any()
            rest, around, steps = _density.mean_shift(X, w, points, radius, scale, 1e-9, 1000, 3)
            again = _density.mean_shift(X, w, rest, radius, scale, 1e-9, 0, 1)[0]
            np.testing.assert_allclose(again, rest, rtol=0, atol=1e-8)
    with pytest.raises(ValueError):
        _density.mean_shift(X, NO_WEIGHTS, points[:, :1].copy(), 1.0, 0.0, 0.0, 1, 1)


@pytest.mark.parametrize("apart", range(4))
@pytest.mark.parametrize("by_groups", [False, True])
def test_trees_of_mutual_reachability(level: str, apart: int, by_groups: bool) -> None:
    rng = np.random.default_rng(apart)
    for n, p, least, scale in ((1, 1, 1, 1.0), (2, 1, 2, 1.0), (60, 2, 4, 1.0), (300, 2, 5, 1.7), (300, 3, 1, 0.4), (150, 12, 8, 1.0)):
        X = np.round(rng.normal(size=(n, p)), 2)
        for w in (NO_WEIGHTS, rng.uniform(0.2, 3, n)):
            away = sums(X, X, apart)
            order = np.argsort(away, axis=1, kind="stable")
            heavy = np.cumsum((w if len(w) else np.ones(n))[order], axis=1)
            last = np.minimum((heavy < least * (1 - 1e-12)).sum(axis=1), n - 1)
            core = away[np.arange(n), order[np.arange(n), last]]
            reach = np.maximum(np.maximum(away * scale, core[:, None]), core[None, :])
            lengths, found = [], {0}
            nearest = reach[0].copy()
            while len(found) < n:
                nearest[list(found)] = np.inf
                here = int(nearest.argmin())
                lengths.append(nearest[here])
                found.add(here)
                nearest = np.minimum(nearest, reach[here])
            for threads in (1, 3):
                cores, first, second, length = _density.reach_tree(X, w, float(least), scale, apart, 3.0, by_groups, threads)
                np.testing.assert_allclose(cores, core, rtol=1e-12, atol=1e-14)
                np.testing.assert_allclose(np.sort(length), np.sort(lengths), rtol=1e-12, atol=1e-14)
                np.testing.assert_allclose(length, reach[first, second], rtol=1e-12, atol=1e-14)
                parts = connected_components(np.bincount(first * n + second, minlength=n * n).reshape(n, n), directed=False)[0]
                assert parts == 1


def test_condensed_trees_by_hand() -> None:
    """Rows 0-2 and 3-5 are clusters of three, which merge at 4; row 6 joins at 8."""
    first, second = np.array([0, 1, 3, 4, 2, 5]), np.array([1, 2, 4, 5, 3, 6])
    height, core = np.array([1.0, 1.0, 2.0, 2.0, 4.0, 8.0]), np.zeros(7)
    parent, child, at, weight = _density.condense(first, second, height, NO_WEIGHTS, core, 3.0)
    found = {(int(a), int(b)): (c, d) for a, b, c, d in zip(parent, child, at, weight, strict=True)}
    assert found == {
        (7, 6): (1 / 8, 1), (7, 8): (1 / 4, 3), (7, 9): (1 / 4, 3),
        (8, 0): (1, 1), (8, 1): (1, 1), (8, 2): (1, 1), (9, 3): (1 / 2, 1), (9, 4): (1 / 2, 1), (9, 5): (1 / 2, 1),
    }  # fmt: skip
    for bad in ((first, second, height[:-1]), (first, second + 9, height), (first, first, height)):
        with pytest.raises(ValueError):
            _density.condense(*bad, NO_WEIGHTS, core, 3.0)
    X = np.zeros((3, 2))
    for least, scale, apart in ((-1.0, 1.0, 0), (1.0, 0.0, 0), (1.0, 1.0, 4)):
        with pytest.raises(ValueError):
            _density.reach_tree(X, NO_WEIGHTS, least, scale, apart, 2.0, True, 1)
