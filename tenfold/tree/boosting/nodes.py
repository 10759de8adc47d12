"""Nodes of a tree of boosting as the kernels give them: arrays in a fixed order, children after their parents.

They become trees with thresholds in the values, those of all rounds class by class; where leaves have a price, splits that win less than
that are undone first.
"""

from __future__ import annotations

import numpy as np

from tenfold import _boost
from tenfold.core.data import Array
from tenfold.tree.bins import Bins
from tenfold.tree.boosting.losses import Loss, weighted_quantile
from tenfold.tree.structure.arrays import Trees

LEFT, RIGHT, FEATURE, BIN, MISSING_LEFT, BY_SET, SETS, VALUE, GAIN, N_ROWS, WEIGHT = range(11)
WAY = slice(LEFT, SETS + 1)  # what leads a row to its leaf


def packed(grown: list[tuple[Array, ...]], bins: Bins) -> Trees:
    """Trees with thresholds in the bins, as trees with thresholds in the values."""
    node = [np.concatenate([tree[i] for tree in grown]) for i in range(11)]
    feature, leaf = node[FEATURE], node[LEFT] < 0
    threshold = np.minimum(bins.thresholds(np.maximum(feature, 0), node[BIN]), np.finfo(np.float64).max)
    subset, bits = np.full(len(feature), -1, dtype=np.int64), [np.empty(0, dtype=np.uint64)]
    length, masks = 0, dict[tuple[int, bytes, bool], Array]()  # trees often split a column into the same sets
    for i in np.flatnonzero(node[BY_SET]):
        key = int(feature[i]), node[SETS][i].tobytes(), bool(node[MISSING_LEFT][i])
        if key not in masks:
            bins_left = np.unpackbits(node[SETS][i].astype("<u8").view(np.uint8), bitorder="little") > 0
            masks[key] = bins.mask(key[0], bins_left, key[2])
        mask = masks[key]
        subset[i] = length
        length += len(mask)
        bits.append(mask)
    return Trees(
        first=np.concatenate([[0], np.cumsum([len(tree[0]) for tree in grown])]).astype(np.int64),
        children_left=node[LEFT],
        children_right=node[RIGHT],
        feature=feature,
        threshold=np.where(leaf | (node[BY_SET] > 0), -2.0, threshold),
        missing_go_to_left=node[MISSING_LEFT],
        subset=subset,
        bits=np.concatenate(bits),
        value=node[VALUE][:, None],
        impurity=np.zeros(len(feature)),
        gain=node[GAIN],
        n_node_samples=node[N_ROWS],
        weighted_n_node_samples=node[WEIGHT],
    )


def class_sums(trees: Trees, X: Array, outputs: int, start: int, stop: int) -> Array:
    """(rows, outputs): sums over rounds start, ..., stop − 1 of trees that are stored class by class."""
    rounds = len(trees) // outputs
    if outputs == 1:
        return trees.sums(X, start, stop)
    return np.hstack([trees.sums(X, k * rounds + start, k * rounds + stop) for k in range(outputs)])


def trimmed(nodes: list[Array], price: float) -> list[Array]:
    """The smallest subtree with the largest gain − price · splits (cost complexity, Breiman et al. 1984, chapter 3)."""
    left, right, gain = nodes[LEFT], nodes[RIGHT], nodes[GAIN]
    worth, leaf = np.zeros(len(left)), left < 0
    for i in np.flatnonzero(~leaf)[::-1]:
        worth[i] = max(gain[i] - price + worth[left[i]] + worth[right[i]], 0.0)
        leaf[i] = worth[i] == 0
    kept = np.zeros(len(left), dtype=bool)
    kept[0] = True
    for i in np.flatnonzero(~leaf):
        kept[[left[i], right[i]]] = kept[i]
    number, cut = np.cumsum(kept) - 1, leaf[kept]
    nodes = [array[kept].copy() for array in nodes]
    for side in (LEFT, RIGHT):
        nodes[side] = np.where(cut, -1, number[np.where(cut, 0, nodes[side])]).astype(np.int32)
    for i in (BIN, MISSING_LEFT, BY_SET, SETS, GAIN):
        nodes[i][cut] = 0
    nodes[FEATURE][cut] = -2
    return nodes


def leaves_of(nodes: list[Array], codes: Array, n_bins: Array) -> Array:
    """The leaf of each row, by its codes."""
    leaves: Array = _boost.leaves_of(codes, n_bins, *nodes[WAY])
    return leaves


def suited(
    loss: Loss, left: Array, w: Array | None, parameter: float, leaf: Array, values: Array, rate: float
) -> Array:
    """Values of leaves that suit what is `left` of the targets of their rows: quantiles, or Huber's means about medians."""
    values, share = values.copy(), parameter if loss.name == "quantile" else 0.5
    order = np.argsort(leaf, kind="stable")
    at = np.flatnonzero(np.diff(leaf[order], prepend=-1))
    for rows in np.split(order, at[1:]):
        here, weight = left[rows], None if w is None else w[rows]
        value = weighted_quantile(here, weight, share)
        if loss.name == "huber":
            value += float(np.average(np.clip(here - value, -parameter, parameter), weights=weight))
        values[leaf[rows[0]]] = rate * value
    return values


def node_weights(nodes: list[Array], w: Array, leaf: Array) -> Array:
    """Σ w of the rows of each node, from those of the leaves."""
    weight: Array = _boost.exact_values(_boost.exact_sums(w, leaf.astype(np.int32), len(nodes[LEFT])))
    return summed_up(nodes, weight)


def summed_up(nodes: list[Array], weight: Array) -> Array:
    """What leaves have, also for the nodes above them."""
    weight = weight.copy()
    for i in np.flatnonzero(nodes[LEFT] >= 0)[::-1]:
        weight[i] = weight[nodes[LEFT][i]] + weight[nodes[RIGHT][i]]
    return weight
