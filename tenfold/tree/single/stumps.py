"""Stumps: trees of one split, for a table that is sorted once and weights that change from round to round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenfold import _stump
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.tree.structure.arrays import Trees
from tenfold.tree.structure.multiway import between

WHOLE = 2.0**50  # what the weights of all rows add up to as whole numbers: their sums are exact, in any order
HIGHEST = 1e308  # a threshold that every number is below: only what is missing goes right


def whole_weights(w: Array) -> Array:
    """Weights whose sum is 1 as whole numbers."""
    return np.rint(w * WHOLE).astype(np.int64)


def normalised(w: Array) -> Array:
    """Weights whose sum is 1; the sum is taken of whole numbers, so that it does not depend on the order of the rows."""
    scale = 2.0 ** np.floor(np.log2(WHOLE / w.sum()))
    return np.asarray(w / (np.rint(w * scale).astype(np.int64).sum() / scale))


@dataclass(slots=True)
class Stump:
    """One split and the weight of each class on both sides; a stump that asks nothing has all rows on its left."""

    feature: int  # -1: none
    threshold: float
    missing_left: bool
    counts: Array  # (2, classes), left and right
    rows: Array  # (2) rows on both sides, by the weights they came with

    @property
    def shares(self) -> Array:
        """The share of each class on both sides."""
        total = self.counts.sum(axis=1, keepdims=True)
        return np.asarray(self.counts / np.where(total > 0, total, 1.0))


class Stumps:
    """A table with its classes, and the best stump for any weights of its rows (Gini, exact thresholds)."""

    def __init__(self, X: Array, y: Array, w: Array, n_classes: int) -> None:
        self.X, self.given, self.total = X, w, float(w.sum())
        with lent_threads() as n:
            self._sorted = _stump.Stumps(X, y, n_classes, n)

    def best(self, weight: Array) -> tuple[Stump, Array]:
        """The stump with the purest sides, and the side of each row (0: left); `weight` are whole numbers."""
        with lent_threads() as n:
            feature, low, high, missing_left, side, counts = self._sorted.best(weight, n)
        threshold = HIGHEST
        if high >= 0:
            threshold = float(between(*self.X[[low, high], feature].astype(np.float64)))
        right = float(side @ self.given)
        return Stump(feature, threshold, missing_left, counts, np.array([self.total - right, right])), side


def packed(stumps: list[Stump], values: list[Array]) -> Trees:
    """The stumps as trees with these values (2, outputs) at their leaves."""
    sizes = [1 if one.feature < 0 else 3 for one in stumps]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n, root = int(first[-1]), first[:-1]
    split = np.array([one.feature >= 0 for one in stumps])
    where = root[split]
    trees = Trees(
        first=first,
        children_left=np.full(n, -1, dtype=np.int32),
        children_right=np.full(n, -1, dtype=np.int32),
        feature=np.full(n, -2, dtype=np.int32),
        threshold=np.zeros(n),
        missing_go_to_left=np.zeros(n, dtype=np.uint8),
        subset=np.full(n, -1, dtype=np.int64),
        bits=np.empty(0, dtype=np.uint64),
        value=np.zeros((n, values[0].shape[1])),
        impurity=np.zeros(n),
        gain=np.zeros(n),
        n_node_samples=np.zeros(n, dtype=np.int64),
        weighted_n_node_samples=np.zeros(n),
    )
    trees.children_left[where], trees.children_right[where] = 1, 2
    trees.feature[where] = [one.feature for one in stumps if one.feature >= 0]
    trees.threshold[where] = [one.threshold for one in stumps if one.feature >= 0]
    trees.missing_go_to_left[where] = [one.missing_left for one in stumps if one.feature >= 0]
    for at, one, value in zip(root.tolist(), stumps, values, strict=True):
        counts = np.vstack([one.counts.sum(axis=0), one.counts])
        weight = counts.sum(axis=1)
        impurity = 1 - (counts**2).sum(axis=1) / np.where(weight > 0, weight, 1.0) ** 2
        here = slice(at, at + (1 if one.feature < 0 else 3))
        size = here.stop - here.start
        share = one.rows / max(one.rows.sum(), 1e-300)
        means = np.vstack([share @ value, value])  # of an inner node: the mean of the rows below it
        trees.value[here] = means[:size] if size == 3 else value[:1]
        trees.impurity[here], trees.weighted_n_node_samples[here] = (
            impurity[:size],
            (np.r_[one.rows.sum(), one.rows])[:size],
        )
        trees.n_node_samples[here] = np.rint(np.r_[one.rows.sum(), one.rows])[:size].astype(np.int64)
        if size == 3:
            trees.gain[at] = (impurity[0] * weight[0] - impurity[1:] @ weight[1:]) / weight[0]
    return trees
