"""Exact trees: every distinct threshold, on columns that are sorted once.

    sorted_once = Presorted(X)                                         (n, p) float32 or float64, C-contiguous; NaN is missing
    trees = sorted_once.grow(Growth("gini", max_depth=1), y, w, classes=3)     codes of classes 0, ..., 2
    trees = sorted_once.grow(Growth("squared_error"), y, w)                    numbers

The same `Presorted` serves any number of trees with other targets, weights and settings: boosting with stumps sorts once. `w` is
None where every row counts 1. The result is a `Trees` of one tree; its values are shares of classes, or means.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold import _grow
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.core.threads import while_listening
from tenfold.tree.structure.arrays import NODE, Trees

LONG = 1_000_000  # values of a table; with more than these Ctrl-C is listened to while a tree grows


@dataclass(frozen=True)
class Growth:
    """How a tree grows; limits are absolute numbers, −1 where there is none."""

    criterion: str  # gini, entropy, gain_ratio; squared_error, absolute_error, poisson
    random: bool = False  # one threshold at random for each column, instead of the best
    max_depth: int = -1
    min_split: int = 2
    min_leaf: int = 1
    min_weight_leaf: float = 0.0
    max_features: int = 0  # columns looked at in a node; 0: all
    max_leaves: int = -1
    min_gain: float = 0.0  # loss of impurity times weight
    monotonic: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    categorical: Array = field(default_factory=lambda: np.empty(0, dtype=np.uint8))
    seed: int = 0


class Presorted:
    """A table and the order of its rows by each column. With `once` the first tree takes this order, and no other can grow."""

    def __init__(self, X: Array, once: bool = False) -> None:
        self.X, self.once = X, once
        with lent_threads() as n:
            self._lists = while_listening(X.size >= LONG, lambda: _grow.Presorted(X, n))

    def grow(self, by: Growth, y: Array, w: Array | None = None, classes: int = 0) -> Trees:
        """One tree for these targets and weights."""
        target = np.ascontiguousarray(y, dtype=np.int64 if classes and y.dtype == np.int64 else np.float64)
        weight = np.empty(0) if w is None else np.ascontiguousarray(w, dtype=np.float64)
        return self._grown(self._lists.grow, target, weight, classes, by)

    def grow_several(self, by: Growth, Y: Array, w: Array | None = None, classes: list[int] | None = None) -> Trees:
        """One tree for the columns of Y: numbers, or codes of so many classes each. The criterion is the mean of theirs, and their
        values stand side by side."""
        targets, each = np.ascontiguousarray(Y, dtype=np.float64), np.array(classes or [], dtype=np.int64)
        weight = np.ones(len(targets)) if w is None else np.ascontiguousarray(w, dtype=np.float64)
        return self._grown(self._lists.grow_several, targets, weight, each, by)

    def _grown(self, grow: Any, target: Array, weight: Array, classes: Any, by: Growth) -> Trees:
        limits = _grow.TreeLimits(**vars(by))
        with lent_threads() as n:
            arrays = while_listening(self.X.size >= LONG, lambda: grow(self.X, target, weight, classes, limits, self.once, n))
        return one_tree(arrays)


def one_tree(arrays: tuple[Array, ...]) -> Trees:
    """The arrays of a grower as trees."""
    nodes, subset, bits, value, impurity, gain, samples, weight = arrays
    return Trees.of_nodes(
        np.array([0, len(value)], dtype=np.int64), nodes.view(NODE), subset, bits=bits, value=value, impurity=impurity,
        gain=gain, n_node_samples=samples, weighted_n_node_samples=weight,
    )  # fmt: skip
