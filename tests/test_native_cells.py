"""Density trees, native, beside plain versions: every cut tried, and every pruning."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tenfold import _cells
from tenfold.core.data import Array

LIMITS: dict[str, Any] = dict(
    likelihood=False, max_depth=-1, min_leaf=1.0, log_max_density=np.inf, min_gain=0.0, gap=0.5, max_features=0, n_threads=1
)
NO_SEED = np.zeros(1, dtype=np.uint64)


def grown(X: Array, w: Array, low: Array, high: Array, **limits: Any) -> tuple[Array, ...]:
    return _cells.SortedColumns(X, 1).grow(w[None], NO_SEED, low, high, **LIMITS | limits)[0]


def brute(X: Array, w: Array, low: Array, high: Array, by: dict[str, Any], whole: tuple[float, float], depth: int = 0) -> list[Any]:
    """The nodes of the tree in preorder: column, cut, weight and volume as shares; the best of all cuts by Σ p² V of the two parts."""
    total, span = whole
    weight, volume = w.sum() / total, np.prod(high - low) / span
    here = [(-1, 0.0, weight, volume)]
    if by["max_depth"] in range(depth + 1) or w.sum() < 2 * by["min_leaf"] or np.log(weight / volume) >= by["log_max_density"]:
        return here
    best: Any = (0.0, None)
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for a, b in pairwise(values):
            for cut in (a + by["gap"] * (b - a), b - by["gap"] * (b - a)):
                left = X[:, j] <= cut
                shares = np.array([w[left].sum(), w[~left].sum()]) / total
                parts = np.array([cut - low[j], high[j] - cut]) / (high[j] - low[j]) * volume
                if shares.min() * total < by["min_leaf"]:
                    continue
                if by["likelihood"]:
                    gain = (shares * np.log(shares / parts)).sum() - weight * np.log(weight / volume)
                else:
                    gain = (shares**2 / parts).sum() - weight**2 / volume
                if gain > best[0] * (1 + 1e-10):
                    best = (gain, (j, cut, left))
    if best[1] is None or best[0] <= by["min_gain"]:
        return here
    j, cut, left = best[1]
    inner_high, inner_low = high.copy(), low.copy()
    inner_high[j] = inner_low[j] = cut
    return [
        (j, cut, weight, volume),
        *brute(X[left], w[left], low, inner_high, by, whole, depth + 1),
        *brute(X[~left], w[~left], inner_low, high, by, whole, depth + 1),
    ]


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"gap": 0.01, "min_leaf": 2.0},
        {"likelihood": True, "gap": 0.1},
        {"max_depth": 2},
        {"min_leaf": 5.0},
        {"log_max_density": 1.5},
        {"min_gain": 0.3},
        {"likelihood": True, "min_gain": 0.02},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["plain", "ties", "weights"])
def test_the_cuts_are_those_of_a_search_of_all(limits: dict[str, Any], kind: str) -> None:
    rng = np.random.default_rng(len(str(limits)))
    X = rng.normal(size=(25, 3)) ** 3
    X = np.ascontiguousarray(np.round(X)) if kind == "ties" else X
    w = rng.integers(0, 4, len(X)).astype(np.float64) if kind == "weights" else np.ones(len(X))
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.3
    feature, threshold, children, weight, volume = grown(X, w, low, high, **limits)
    rows = w > 0
    expected = brute(X[rows], w[rows], low, high, LIMITS | limits, (w.sum(), float(np.prod(high - low))))
    assert feature.tolist() == [one[0] for one in expected]
    np.testing.assert_allclose(threshold, [one[1] for one in expected], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(weight / w.sum(), [one[2] for one in expected], rtol=1e-12)
    np.testing.assert_allclose(np.exp(volume), [one[3] for one in expected], rtol=1e-9)
    assert (children[feature < 0] == -1).all() and (children[feature >= 0, 0] == np.flatnonzero(feature >= 0) + 1).all()
    leaf = _cells.leaves(X, feature, threshold, children)
    np.testing.assert_array_equal(leaf, _cells.leaves(X.astype(np.float32).astype(np.float64), feature, threshold, children))
    np.testing.assert_allclose(_cells.sums(children, np.bincount(leaf, w, len(feature)).astype(np.float64)), weight, rtol=1e-9, atol=1e-12)


def test_columns_drawn_are_keyed_by_the_place_of_a_node() -> None:
    X = np.random.default_rng(0).normal(size=(200, 6))
    W, low, high = np.ones((5, 200)), X.min(axis=0) - 1, X.max(axis=0) + 1
    table, limits = _cells.SortedColumns(X, 1), LIMITS | {"max_features": 2}
    one = table.grow(W, np.arange(5, dtype=np.uint64), low, high, **limits)
    two = table.grow(W, np.arange(5, dtype=np.uint64), low, high, **limits | {"n_threads": 3})
    for a, b in zip(one, two, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)
    assert len({tree[0].tobytes() for tree in one}) == 5


def random_tree(rng: np.random.Generator, n: int) -> Array:
    """Children of a tree with n inner nodes, in preorder."""
    children: list[list[int]] = []

    def add(inner: int) -> int:
        number = len(children)
        children.append([-1, -1])
        if inner:
            left = int(rng.integers(0, inner))
            children[number] = [add(left), add(inner - 1 - left)]
        return number

    add(n)
    return np.array(children, dtype=np.int32)


def best_pruning(children: Array, worth: Array, price: float, i: int = 0) -> tuple[float, list[int]]:
    """The largest Σ (worth of leaves − price), and the leaves: a node rather than what is below it where both are worth the same."""
    own = (worth[i] - price, [i])
    if children[i, 0] < 0:
        return own
    left, right = (best_pruning(children, worth, price, int(child)) for child in children[i])
    return own if own[0] >= left[0] + right[0] - 1e-12 else (left[0] + right[0], left[1] + right[1])


def test_weakest_links_are_the_best_prunings_at_every_price() -> None:
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 5, 30):
        children = random_tree(rng, n)
        worth = np.zeros(len(children))
        for i in range(len(children)):  # parts are worth more than what they are parts of
            if children[i, 0] >= 0:
                worth[children[i]] = worth[i] / 2 + rng.exponential(size=2)
        held = rng.normal(size=len(children))
        price, change, happens = _cells.links(children, worth, held)
        for asked in [0.0, *rng.uniform(0, 3, 20), 100.0]:
            _, leaves = best_pruning(children, worth, asked)
            cut = ((price <= asked) | (children[:, 0] < 0)).view(np.uint8)
            kept = _cells.left(children, cut).astype(bool)
            assert np.flatnonzero(kept & cut.astype(bool)).tolist() == sorted(leaves)
            found = held[children[:, 0] < 0].sum() + change[happens.astype(bool) & (price <= asked)].sum()
            np.testing.assert_allclose(found, held[leaves].sum(), atol=1e-12)


def test_arguments_are_checked() -> None:
    X, one = np.ones((3, 2)), np.ones(2)
    table = _cells.SortedColumns(X, 1)
    with pytest.raises(ValueError, match="must have a width"):
        table.grow(np.ones((1, 3)), NO_SEED, one, one, **LIMITS)
    with pytest.raises(ValueError, match="a weight of each row"):
        table.grow(np.ones((1, 4)), NO_SEED, 0 * one, 2 * one, **LIMITS)
    with pytest.raises(ValueError, match="finite"):
        table.grow(np.full((1, 3), np.nan), NO_SEED, 0 * one, 2 * one, **LIMITS)
    for children in ([[0, 0]], [[1, 5], [-1, -1]], [[1, -1], [-1, -1]]):
        with pytest.raises(ValueError, match="come after it"):
            _cells.sums(np.array(children, dtype=np.int32), np.ones(len(children)))
    with pytest.raises(ValueError, match="a column that is not there"):
        nodes = np.array([[1, 2], [-1, -1], [-1, -1]], dtype=np.int32)
        _cells.leaves(X, np.array([2, -1, -1], dtype=np.int32), np.zeros(3), nodes)
