"""Shapley values of trees against their definition: the mean over all orders in which columns become known."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from test_native_trees import random_trees

from tenfold.tree.structure.arrays import Trees

Array = np.ndarray[Any, Any]


def covered(trees: Trees, rng: Any) -> Trees:
    """With weights of the nodes such as training rows give: those of the children make that of the parent."""
    cover = rng.uniform(0.1, 1, len(trees.feature))
    root = np.repeat(trees.first[:-1], np.diff(trees.first))
    for i in np.flatnonzero(~trees.leaves())[::-1]:
        cover[i] = cover[root[i] + trees.children_left[i]] + cover[root[i] + trees.children_right[i]]
    return replace(trees, weighted_n_node_samples=cover)


def expected(trees: Trees, row: Array, known: tuple[int, ...], background: Array | None) -> Array:
    """What the trees say on average if only some columns of a row are known."""
    if background is not None:
        rows = background.copy()
        rows[:, list(known)] = row[list(known)]
        return trees.predict(rows).mean(axis=0)

    def below(node: int, root: int) -> Array:
        if trees.children_left[node] < 0:
            return trees.value[node]
        children = [root + int(trees.children_left[node]), root + int(trees.children_right[node])]
        x = row[trees.feature[node]]
        if trees.feature[node] in known:
            left = trees.missing_go_to_left[node] if np.isnan(x) else x <= trees.threshold[node]
            return below(children[0 if left else 1], root)
        cover = trees.weighted_n_node_samples
        return sum(cover[child] * below(child, root) for child in children) / cover[node]

    return sum(below(int(root), int(root)) for root in trees.first[:-1])


@pytest.mark.parametrize("nodes", [1, 3, 41])
@pytest.mark.parametrize("with_background", [False, True])
def test_attributions_are_shapley_values(nodes: int, with_background: bool) -> None:
    rng = np.random.default_rng(nodes)
    p = 4
    trees = covered(random_trees(rng, 3, nodes, p, 2), rng)
    X = rng.normal(size=(4, p))
    X[0, 1] = np.nan
    background = rng.normal(size=(5, p)) if with_background else None
    found = trees.attributions(X, background)
    for row, values in zip(X, found, strict=True):
        for i in range(p):
            others = [j for j in range(p) if j != i]
            shapley = sum(
                (expected(trees, row, (*S, i), background) - expected(trees, row, S, background)) / comb(p - 1, k) / p
                for k in range(p)
                for S in combinations(others, k)
            )
            np.testing.assert_allclose(values[i], shapley, rtol=0, atol=1e-13)
    total = found.sum(axis=1) + trees.expectation(background)
    np.testing.assert_allclose(total, trees.predict(X), rtol=0, atol=1e-12)


def test_they_add_up_in_deep_trees_with_categories() -> None:
    rng = np.random.default_rng(9)
    trees = covered(random_trees(rng, 2, 601, 30, 1, n_categories=90), rng)
    X = rng.normal(size=(50, 30))
    X[:, 0] = rng.integers(0, 100, 50)
    for background in (None, X[:7]):
        total = trees.attributions(X, background).sum(axis=1) + trees.expectation(background)
        np.testing.assert_allclose(total, trees.predict(X), rtol=0, atol=1e-11)


def test_what_does_not_fit_is_refused() -> None:
    trees = random_trees(np.random.default_rng(1), 1, 9, 3, 1)
    with pytest.raises(ValueError, match="must fit"):
        trees.attributions(np.zeros((2, 3)), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="fewer columns"):
        trees.attributions(np.zeros((2, 0)))
