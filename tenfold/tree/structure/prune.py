"""Pruning: which nodes of a grown tree should be leaves.

Cost complexity: the weakest link first, Breiman, Friedman, Olshen & Stone 1984, chapter 3. Reduced error: on rows that the tree has not
seen, Quinlan 1987. Pessimistic: an upper limit of the error of a leaf from its own rows, Quinlan 1993, section 4.2.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tenfold.core.data import Array
from tenfold.tree.structure.arrays import BY_NODE, LEAF, NO_FEATURE, NUMERIC, Trees


@dataclass(frozen=True)
class PruningPath:
    """Subtrees of a tree: with each penalty for a leaf from which on it is the best, its impurity."""

    ccp_alphas: Array
    impurities: Array


def cost_complexity_path(trees: Trees) -> PruningPath:
    """All subtrees of one tree that are the best for some penalty for a leaf, from the whole to the root alone."""
    alphas, impurities = [0.0], [float(_risk(trees)[trees.leaves()].sum())]
    for alpha, _, impurity in _weakest_links(trees):
        alphas.append(alpha)
        impurities.append(impurity)
    return PruningPath(np.array(alphas), np.array(impurities))


def cost_complexity_pruned(trees: Trees, alphas: list[float]) -> list[Trees]:
    """For each penalty the subtree with the least impurity + alpha · leaves."""
    cut_at = _cut_at(trees)
    return [cut(trees, cut_at <= alpha) if alpha > 0 else trees for alpha in alphas]


def cost_complexity_cut(trees: Trees, alpha: float) -> Array:
    """Which nodes are leaves of the subtree with the least impurity + alpha · leaves."""
    return np.asarray(_cut_at(trees) <= alpha)


def _cut_at(trees: Trees) -> Array:
    """The penalty from which on a node is a leaf, where it is one before those above it are."""
    at = np.full(len(trees.feature), np.inf)
    for alpha, node, _ in _weakest_links(trees):
        at[node] = alpha
    return at


def _risk(trees: Trees) -> Array:
    """Impurity of each node, weighted by its share of the rows."""
    weight = trees.weighted_n_node_samples.astype(np.float64)
    return np.asarray(trees.impurity * (weight / weight[0]))


def _weakest_links(trees: Trees) -> Iterator[tuple[float, int, float]]:
    """(alpha, node, impurity left) for each node that becomes a leaf, in the order in which that pays off."""
    risk, inner = _risk(trees), ~trees.leaves()
    parent = np.full(len(risk), -1)
    parent[trees.children_left[inner]] = parent[trees.children_right[inner]] = np.flatnonzero(inner)
    branch, leaves = np.where(inner, 0.0, risk), np.where(inner, 0, 1)
    for i in range(len(risk) - 1, 0, -1):  # children come after their parents
        branch[parent[i]] += branch[i]
        leaves[parent[i]] += leaves[i]
    size = subtree_sizes(trees)
    gone, version = np.zeros(len(risk), dtype=bool), np.zeros(len(risk), dtype=np.int64)

    def entry(i: int) -> tuple[float, int, int]:
        return (float(risk[i] - branch[i]) / (int(leaves[i]) - 1), i, int(version[i]))

    queue = [entry(int(i)) for i in np.flatnonzero(inner)]
    heapq.heapify(queue)
    while queue:
        alpha, node, seen = heapq.heappop(queue)
        if gone[node] or seen != version[node]:
            continue
        gone[node : node + size[node]] = True
        more, fewer = risk[node] - branch[node], leaves[node] - 1
        above = node
        while above >= 0:
            branch[above] += more
            leaves[above] -= fewer
            version[above] += 1
            if above != node:
                heapq.heappush(queue, entry(int(above)))
            above = parent[above]
        yield max(alpha, 0.0), node, float(branch[0])


def subtree_sizes(trees: Trees) -> Array:
    """How many nodes the subtree of each node has; nodes are numbered left before right, so these follow it."""
    size = np.ones(len(trees.feature), dtype=np.int64)
    for i in np.flatnonzero(~trees.leaves())[::-1]:
        size[i] += size[trees.children_left[i]] + size[trees.children_right[i]]
    return size


def cut(trees: Trees, at: Array) -> Trees:
    """The tree whose nodes marked by `at` are leaves."""
    size, inner = subtree_sizes(trees), ~trees.leaves()
    kept = np.ones(len(size), dtype=bool)
    for i in np.flatnonzero(at & inner):
        kept[i + 1 : i + size[i]] = False
    number = np.cumsum(kept) - 1
    leaf = (at | ~inner)[kept]
    nodes = {name: getattr(trees, name)[kept].copy() for name in BY_NODE}
    for side in ("children_left", "children_right"):
        nodes[side] = np.where(leaf, LEAF, number[np.where(leaf, 0, nodes[side])]).astype(np.int32)
    nodes["feature"][leaf], nodes["subset"][leaf] = NO_FEATURE, NUMERIC
    for name in ("threshold", "gain", "missing_go_to_left"):
        nodes[name][leaf] = 0
    return replace(trees, first=np.array([0, int(kept.sum())], dtype=np.int64), **nodes)


def owners(trees: Trees, at: Array) -> Array:
    """For each node its number in `cut(trees, at)`, or that of the leaf it has become part of."""
    size = subtree_sizes(trees)
    kept = np.ones(len(size), dtype=bool)
    for i in np.flatnonzero(at & ~trees.leaves()):
        kept[i + 1 : i + size[i]] = False
    number = np.cumsum(kept) - 1
    for i in np.flatnonzero(at & ~trees.leaves())[::-1]:  # the highest one last
        number[i : i + size[i]] = number[i]
    return np.asarray(number)


def bottom_up(trees: Trees, as_leaf: Array) -> Array:
    """Which nodes are better leaves, where `as_leaf` is the error of each node as a leaf."""
    below, at = as_leaf.astype(np.float64).copy(), np.zeros(len(as_leaf), dtype=bool)
    for i in np.flatnonzero(~trees.leaves())[::-1]:
        branch = below[trees.children_left[i]] + below[trees.children_right[i]]
        at[i] = as_leaf[i] <= branch * (1 + 1e-12)
        below[i] = as_leaf[i] if at[i] else branch
    return at


def sums_over_nodes(trees: Trees, leaf: Array, error: Array) -> Array:
    """(nodes, columns): what rows that end in these leaves sum to in every node they pass."""
    sums = np.zeros((len(trees.feature), error.shape[1]))
    np.add.at(sums, leaf, error)
    for i in np.flatnonzero(~trees.leaves())[::-1]:
        sums[i] = sums[trees.children_left[i]] + sums[trees.children_right[i]]
    return sums


def upper_error(wrong: Array, weight: Array, confidence: float) -> Array:
    """Errors among `weight` rows that are exceeded with probability `confidence` where the true rate gives `wrong`."""
    from scipy.special import betaincinv

    weight = np.maximum(weight, 1e-300)
    wrong = np.minimum(wrong, weight)
    rate = betaincinv(wrong + 1, np.maximum(weight - wrong, 1e-12), 1 - confidence)
    return weight * np.where(weight - wrong < 1e-9 * weight, 1.0, rate)
