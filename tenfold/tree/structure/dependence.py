"""Partial dependence by the trees alone (Friedman 2001, section 8.2): what they say where only some columns are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tenfold.core.data import Array

if TYPE_CHECKING:
    from tenfold.tree.structure.arrays import Trees

AT_ONCE = 1 << 20  # points times nodes


def dependence(trees: Trees, columns: Array, points: Array) -> Array:
    """(points, outputs): sums over the trees of the values of leaves, where these columns have the values `points` (points, columns).

    At a split on any other column a point goes both ways, by the weights of the training rows there.
    """
    total = np.zeros((len(points), trees.value.shape[1]))
    for t in range(len(trees)):
        tree = trees[t]
        step = max(1, AT_ONCE // len(tree.feature))
        for start in range(0, len(points), step):
            some = slice(start, start + step)
            total[some] += _of_one(tree, columns, points[some].astype(np.float64))
    return total


def _of_one(tree: Trees, columns: Array, points: Array) -> Array:
    leaf, weight = tree.leaves(), tree.weighted_n_node_samples.astype(np.float64)
    place = np.full(max(int(tree.feature.max(initial=0)), int(columns.max(initial=0))) + 1, -1)
    place[columns] = np.arange(len(columns))
    share = np.zeros((len(points), len(weight)))
    share[:, 0] = 1.0
    for above, below in tree.levels():
        nodes, first = above[: len(above) // 2], below[: len(below) // 2]  # left children come first
        left = np.tile(np.divide(weight[first], weight[nodes], out=np.full(len(nodes), 0.5), where=weight[nodes] > 0), (len(points), 1))
        asked = np.flatnonzero(place[tree.feature[nodes]] >= 0)
        left[:, asked] = _goes_left(tree, nodes[asked], points[:, place[tree.feature[nodes[asked]]]])
        share[:, below] = share[:, above] * np.hstack([left, 1 - left])
    return np.asarray(share[:, leaf] @ tree.value[leaf])


def _goes_left(tree: Trees, nodes: Array, x: Array) -> Array:
    """(points, nodes): whether values of the columns of some nodes go left there."""
    goes = x <= tree.threshold[nodes]
    for i in np.flatnonzero(tree.subset[nodes] >= 0):
        goes[:, i] = np.isin(x[:, i], tree.categories_left(int(nodes[i])))
    return np.where(np.isnan(x), tree.missing_go_to_left[nodes] != 0, goes)
