"""Packed trees: the walk of rows against a plain one, at every instruction set, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tenfold import _trees
from tenfold.tree.structure.arrays import Trees

LEVELS = ("baseline", "avx2", "avx512")


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _trees.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _trees.use_level(name)  # the best comes last


def random_trees(rng: Any, n_trees: int, nodes: int, p: int, outputs: int, n_categories: int = 0) -> Trees:
    """Trees grown by splitting random leaves at random places; column 0 holds categories where there are some."""
    parts = []
    for _ in range(n_trees):
        left, right = np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32)
        feature, threshold = np.full(nodes, -2, np.int32), np.zeros(nodes)
        subset, bits = np.full(nodes, -1, np.int64), []
        leaves, made = [0], 1
        while made + 2 <= nodes:
            at = leaves.pop(rng.integers(len(leaves)))
            left[at], right[at] = made, made + 1
            leaves += [made, made + 1]
            made += 2
            feature[at], threshold[at] = rng.integers(p), rng.normal()
            if n_categories and feature[at] == 0:
                words = rng.integers(0, 2**63, 1 + rng.integers(n_categories // 64 + 1), dtype=np.uint64)
                subset[at] = len(bits)
                bits += [len(words), *words.tolist()]
        kept = slice(0, made)
        parts.append(
            Trees(
                first=np.array([0, made]),
                children_left=left[kept],
                children_right=right[kept],
                feature=feature[kept],
                threshold=threshold[kept],
                missing_go_to_left=rng.integers(0, 2, made).astype(np.uint8),
                subset=subset[kept],
                bits=np.array(bits, dtype=np.uint64),
                value=rng.normal(size=(made, outputs)),
                impurity=np.zeros(made),
                gain=np.where(left[kept] >= 0, 1.0, 0.0),
                n_node_samples=np.ones(made, dtype=np.int64),
                weighted_n_node_samples=np.ones(made),
            )
        )
    return Trees.joined(parts)


def changed(trees: Trees, name: str, place: int, value: Any) -> Trees:
    array = getattr(trees, name).copy()
    array[place] = value
    return replace(trees, **{name: array})


def plain_leaf(trees: Trees, t: int, row: Any) -> int:
    root, at = int(trees.first[t]), 0
    while trees.children_left[root + at] >= 0:
        node = root + at
        x = float(row[trees.feature[node]])
        if np.isnan(x):
            left = bool(trees.missing_go_to_left[node])
        elif trees.subset[node] >= 0:
            left = x in trees.categories_left(node)
        else:
            left = x <= trees.threshold[node]
        at = int((trees.children_left if left else trees.children_right)[node])
    return at


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n", "n_trees", "nodes", "p", "outputs"),
    [
        *[
            (0, 2, 7, 3, 1),
            (1, 1, 1, 1, 1),
            (5, 3, 31, 4, 1),
            (64, 2, 63, 2, 3),
            (200, 4, 401, 5, 1),
            (131, 3, 1, 2, 2),
        ],
        *[(700, 2, 13_001, 200, 1), (321, 2, 13_001, 200, 3)],  # larger than the cache: several groups go down a tree
    ],
)
def test_rows_end_where_a_plain_walk_ends(
    level: str, dtype: Any, n: int, n_trees: int, nodes: int, p: int, outputs: int
) -> None:
    rng = np.random.default_rng(nodes + n)
    trees = random_trees(rng, n_trees, nodes, p, outputs, n_categories=130 if p > 2 else 0)
    X = rng.normal(size=(n, p)).astype(dtype)
    if p > 2:
        X[:, 0] = rng.integers(-1, 300, n)  # codes beyond every mask, and below zero, too
    X[rng.random((n, p)) < 0.1] = np.nan
    leaves = np.array([[plain_leaf(trees, t, row) for t in range(n_trees)] for row in X], dtype=int).reshape(n, n_trees)
    np.testing.assert_array_equal(trees.apply(X), leaves)
    sums = np.zeros((n, outputs))
    for t in range(n_trees):
        sums += trees.value[trees.first[t] + leaves[:, t]]
    np.testing.assert_array_equal(trees.predict(X), sums)
    *_, last = trees.stages(X)
    np.testing.assert_array_equal(last, sums)


def test_a_float_is_compared_with_the_threshold_itself(level: str) -> None:
    """The double nearest to 0.1 lies below the float nearest to 0.1."""
    trees = changed(random_trees(np.random.default_rng(0), 1, 3, 1, 1), "threshold", 0, 0.1)
    X = np.array([[0.1], [np.nextafter(np.float32(0.1), np.float32(0))]] * 40, dtype=np.float32)
    np.testing.assert_array_equal(trees.apply(X).ravel() == trees.children_left[0], X.ravel().astype(float) <= 0.1)


def test_slices_joins_and_pickles_keep_the_trees() -> None:
    rng = np.random.default_rng(3)
    trees, X = random_trees(rng, 5, 21, 3, 2, n_categories=40), rng.normal(size=(30, 3))
    parts = [trees[:2], trees[2], trees[3:]]
    assert [len(part) for part in parts] == [2, 1, 2]
    np.testing.assert_allclose(sum(part.predict(X) for part in parts), trees.predict(X), rtol=1e-12)
    again = pickle.loads(pickle.dumps(Trees.joined(parts)))
    np.testing.assert_array_equal(again.predict(X), trees.predict(X))
    assert len(trees[1:1]) == 0 and np.all(trees[1:1].predict(X) == 0)
    assert trees[::2].apply(X).tolist() == trees.apply(X)[:, ::2].tolist()


def test_importances_are_shares() -> None:
    trees = random_trees(np.random.default_rng(4), 6, 9, 3, 1)
    expected = np.bincount(trees.feature[trees.feature >= 0], minlength=3) / np.sum(trees.feature >= 0)
    np.testing.assert_allclose(trees.importances(3), expected, rtol=1e-12)
    assert random_trees(np.random.default_rng(4), 2, 1, 3, 1).importances(3).tolist() == [0, 0, 0]


BAD = [
    ("children_left", 0, 0, "later nodes"),
    ("children_right", 0, 99, "later nodes"),
    ("children_left", 0, 2**31 - 1, "later nodes"),
    ("feature", 0, -5, "not a column"),
    ("threshold", 0, np.nan, "NaN"),
    ("subset", 0, 10**6, "not in bits"),
    ("first", 1, 10**9, "from 0 to the number of nodes"),
    ("first", 0, 3, "from 0 to the number of nodes"),
]


@pytest.mark.parametrize(("name", "place", "value", "what"), BAD)
def test_trees_that_lead_nowhere_are_refused(name: str, place: int, value: Any, what: str) -> None:
    trees = changed(random_trees(np.random.default_rng(5), 1, 15, 3, 1), name, place, value)
    assert what in str(trees.objection())
    with pytest.raises(ValueError, match=what):
        trees.predict(np.zeros((2, 3)))


def test_a_mask_longer_than_bits_and_a_table_too_narrow_are_refused() -> None:
    trees = random_trees(np.random.default_rng(6), 1, 15, 3, 1)
    with pytest.raises(ValueError, match="fewer columns"):
        trees.predict(np.zeros((2, trees.width - 1)))
    trees = random_trees(np.random.default_rng(6), 1, 41, 2, 1, n_categories=20)
    trees.bits[trees.subset[trees.subset >= 0][0]] = 2**63
    assert "longer than bits" in str(trees.objection())


def test_arrays_of_another_type_or_length_are_refused() -> None:
    trees = random_trees(np.random.default_rng(7), 1, 15, 3, 1)
    for name, array in (
        ("children_left", trees.children_left.astype(np.int64)),
        ("threshold", trees.threshold.astype(np.float32)),
        ("feature", trees.feature[:1]),
        ("value", trees.value[:-1]),
        ("value", trees.value.astype(np.float32)),
        ("subset", np.full(3, -1)),
    ):
        assert replace(trees, **{name: array}).objection(), name


def test_bytes_that_are_no_nodes_are_refused() -> None:
    trees = random_trees(np.random.default_rng(8), 1, 15, 3, 1)
    nodes, none = trees._nodes.copy(), np.empty(0, dtype=np.int64)
    with pytest.raises(ValueError, match="no such size"):
        _trees.PackedTrees(trees.first, nodes.view(np.uint8)[:-1], none, trees.bits, trees.value)
    with pytest.raises(TypeError, match="must be bytes"):
        _trees.PackedTrees(trees.first, nodes, none, trees.bits, trees.value)
    nodes["by_set"][0] = 1
    with pytest.raises(ValueError, match="node 0: it has no subset"):
        _trees.PackedTrees(trees.first, nodes.view(np.uint8), none, trees.bits, trees.value)


def test_nodes_are_kept_once_and_cannot_be_changed() -> None:
    """Rows walk down the arrays themselves: what was checked must stay as it is."""
    rng = np.random.default_rng(9)
    trees, X = random_trees(rng, 3, 15, 3, 1), rng.normal(size=(9, 3))
    apart = replace(trees, **{name: getattr(trees, name).copy() for name in ("threshold", "feature", "children_left")})
    np.testing.assert_array_equal(apart.predict(X), trees.predict(X))
    for one in (trees, trees[1:], apart):
        one.predict(X)
        for name in ("children_left", "children_right", "feature", "threshold", "missing_go_to_left"):
            assert np.shares_memory(getattr(one, name), one._nodes)
            with pytest.raises(ValueError, match="read-only"):
                getattr(one, name)[0] = 0
            with pytest.raises(ValueError, match="WRITEABLE"):
                getattr(one, name).setflags(write=True)
        assert one.subset.strides == (0,) and (one.subset == -1).all()
