"""Trees of cells: a box that is cut in two by one column at a time, with the share of the rows in each part.

Nodes are numbered in preorder, left children first. A node says which column it is cut by and where (rows at or below the threshold are
on its left), which nodes its two parts are (−1: it is a leaf), its share of all rows and the logarithm of its share of the support.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold import _cells
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.core.threads import while_listening

FOLDS = 5  # of the rows, to choose the price of a leaf by
LONG = 1_000_000  # values of a table; with more than these Ctrl-C is listened to while trees grow


@dataclass(frozen=True, slots=True)
class Cells:
    """One tree."""

    feature: Array
    threshold: Array
    children: Array
    mass: Array
    log_volume: Array

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def is_leaf(self) -> Array:
        return np.asarray(self.children[:, 0] < 0)

    @property
    def log_density(self) -> Array:
        """Of each node, in units of that of one cell, the support."""
        return np.asarray(np.log(self.mass) - self.log_volume)

    def leaves(self, X: Array) -> Array:
        """The leaf of each row."""
        return _cells.leaves(np.ascontiguousarray(X), self.feature, self.threshold, self.children)

    def weights(self, X: Array, w: Array) -> Array:
        """The weight of these rows in each node."""
        return _cells.sums(self.children, np.bincount(self.leaves(X), w, len(self)).astype(np.float64))

    def weighed(self, X: Array, w: Array) -> Cells:
        """The same cells with the shares of other rows."""
        weight = self.weights(X, w)
        return Cells(self.feature, self.threshold, self.children, weight / weight[0], self.log_volume)

    def cut(self, nodes: Array) -> Cells:
        """The tree with these nodes as leaves."""
        cut = np.ascontiguousarray(nodes | self.is_leaf)
        kept = _cells.left(self.children, cut.view(np.uint8)).astype(bool)
        place = np.cumsum(kept, dtype=np.int32) - np.int32(1)
        ends = cut[kept]
        return Cells(
            np.where(ends, np.int32(-1), self.feature[kept]),
            np.where(ends, 0.0, self.threshold[kept]),
            np.where(ends[:, None], np.int32(-1), place[self.children[kept]]).astype(np.int32),
            self.mass[kept],
            self.log_volume[kept],
        )

    def prices(self) -> Array:
        """At which price of a leaf each node becomes one, where leaves must raise the mean log-likelihood by it (weakest links)."""
        prices = _cells.links(self.children, self.mass * self.log_density, np.zeros(len(self)))[0]
        return np.maximum(prices, np.where(self.is_leaf, -np.inf, 0.0))

    def depths(self) -> Array:
        """How many cuts lead to each node."""
        found, level = np.zeros(len(self), dtype=np.int64), np.zeros(1, dtype=np.int64)
        while len(level):
            parents = level[~self.is_leaf[level]]
            level = self.children[parents].ravel()
            found[level] = np.repeat(found[parents] + 1, 2)
        return found

    def boxes(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Least and largest values (leaves, p) of all leaves of a tree with this support, in the order of their numbers."""
        low, high = np.tile(lower, (len(self), 1)), np.tile(upper, (len(self), 1))
        for i in np.flatnonzero(~self.is_leaf):  # children come after their node
            left, right = self.children[i]
            low[[left, right]], high[[left, right]] = low[i], high[i]
            high[left, self.feature[i]] = low[right, self.feature[i]] = self.threshold[i]
        return low[self.is_leaf], high[self.is_leaf]

    def draw(self, lower: Array, upper: Array, n: int, rng: np.random.Generator) -> Array:
        """Rows: down the tree, left or right by the shares of the two parts, and evenly within the leaf."""
        low, high = np.tile(lower, (n, 1)), np.tile(upper, (n, 1))
        node, rows = np.zeros(n, dtype=np.int64), np.arange(n)
        while len(rows := rows[~self.is_leaf[node[rows]]]):
            at = node[rows]
            left, column, cut = self.children[at, 0], self.feature[at], self.threshold[at]
            goes_left = rng.random(len(rows)) * self.mass[at] < self.mass[left]
            high[rows[goes_left], column[goes_left]] = cut[goes_left]
            low[rows[~goes_left], column[~goes_left]] = cut[~goes_left]
            node[rows] = np.where(goes_left, left, self.children[at, 1])
        share = rng.random(low.shape)
        return np.asarray(np.clip(low + share * (high - low), low, high))

    def edges(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Of a tree of one column: where its cells end, and the share of the rows below each end."""
        ends = np.concatenate([lower, np.sort(self.threshold[~self.is_leaf]), upper])
        shares = np.concatenate([[0.0], np.cumsum(self.mass[self.is_leaf])])  # leaves in preorder go from left to right
        return ends, shares / shares[-1]

    def objection(self, n_columns: int) -> str | None:
        """Why these arrays are no tree."""
        number, inner = np.arange(len(self)), ~self.is_leaf
        children = self.children[inner]
        if (self.children[~inner] != -1).any() or (children <= number[inner, None]).any():
            return "the children of a node do not come after it"
        if not np.array_equal(np.sort(children.ravel()), number[1:]):
            return "a node is not the child of one other"
        if ((self.feature[inner] < 0) | (self.feature[inner] >= n_columns)).any():
            return "a node is cut by a column that is not there"
        if not np.allclose(self.mass[children].sum(axis=1), self.mass[inner], rtol=1e-6, atol=0) or not np.isclose(self.mass[0], 1.0):
            return "the shares of the cells do not add up"
        return None


class Grower:
    """A table, sorted by each of its columns once, on which any number of trees grow."""

    def __init__(self, X: Array, lower: Array, upper: Array, limits: dict[str, Any]) -> None:
        self.X, self.lower, self.upper, self.limits = X, lower, upper, limits
        self._keys: Array | None = None
        with lent_threads() as n:
            self._sorted = while_listening(X.size >= LONG, lambda: _cells.SortedColumns(X, n))

    def grow(self, W: Array, seeds: Array | None = None) -> list[Cells]:
        """One tree for each row of weights (trees, n)."""
        seeds = np.zeros(len(W), dtype=np.uint64) if seeds is None else seeds
        with lent_threads(len(W)) as n:
            grown = while_listening(
                self.X.size >= LONG, lambda: self._sorted.grow(W, seeds, self.lower, self.upper, **self.limits, n_threads=n)
            )
        return [Cells(feature, threshold, children, weight / weight[0], volume) for feature, threshold, children, weight, volume in grown]

    # --- pruning ---

    def keys(self) -> Array:
        """A number from 0 to 2⁶⁴ − 1 for each row, by what is in it; neither the order of the columns nor their units matter."""
        if self._keys is None:
            places = (self.X - self.lower) / (self.upper - self.lower)
            with np.errstate(over="ignore"):
                self._keys = np.asarray(sum(ops.hash_rows(np.ascontiguousarray(column[:, None]), 0) for column in places.T))
        return self._keys

    def spread(self, w: Array, ends: Array) -> Array:
        """The weight of each row in parts of the table (n, parts), part k from the share ends[k] to ends[k + 1] of all rows.

        A row is in one part, by its key; its copies, or what its weight stands for, are spread over the parts as evenly as can be.
        """
        keys, group = np.unique(self.keys(), return_inverse=True)
        weight, start = np.bincount(group, w), (keys >> np.uint64(11)) * 2.0**-53
        counts = np.diff(np.floor((weight / np.minimum(weight, 1.0))[:, None] * ends + start[:, None]), axis=1)
        return np.asarray((counts / counts.sum(axis=1, keepdims=True))[group] * w[:, None])

    def held_out(self, w: Array, share: float) -> Cells:
        """A tree of some rows, pruned by what the others, this share of them, say; then all rows are shared out among its cells."""
        held = self.spread(w, np.array([0.0, share, 1.0]))[:, 0]
        if not held.any() or not (w - held).any():
            return self._one_cell(w)
        (tree,) = self.grow(np.maximum(w - held, 0.0)[None])
        return tree.cut(tree.prices() <= self._best_price(tree, [tree], [held])).weighed(self.X, w)

    def by_folds(self, w: Array) -> Cells:
        """The tree of all rows, pruned by what rows say that trees have not seen."""
        parts = [one for one in self.spread(w, np.arange(FOLDS + 1) / FOLDS).T if one.any() and (w - one).any()]
        if not parts:
            return self._one_cell(w)
        *grown, whole = self.grow(np.maximum(np.array([*(w - one for one in parts), w]), 0.0))
        return whole.cut(whole.prices() <= self._best_price(whole, grown, parts))

    def _best_price(self, whole: Cells, trees: list[Cells], held: list[Array]) -> float:
        """The price of a leaf at which rows with these weights, that each tree has not seen, are most likely: their likelihood is a step
        function of it, and prices are tried between those at which `whole` changes. Of equal ones the dearest."""
        steps = np.unique(whole.prices()[~whole.is_leaf])
        asked = np.concatenate([[0.0], np.sqrt(steps[:-1] * steps[1:]), [np.inf]])
        likely = np.zeros(len(asked))
        for tree, weight in zip(trees, held, strict=True):
            rows = weight > 0
            worth = tree.weights(self.X[rows], weight[rows]) * tree.log_density
            price, change, happens = _cells.links(tree.children, tree.mass * tree.log_density, worth)
            events = np.flatnonzero(happens)
            events = events[np.argsort(price[events], kind="stable")]
            sums = np.concatenate([[0.0], np.cumsum(change[events])])
            likely += worth[tree.is_leaf].sum() + sums[np.searchsorted(price[events], asked, side="right")]
        return float(asked[len(asked) - 1 - int(np.argmax(likely[::-1]))])

    def _one_cell(self, w: Array) -> Cells:
        """Where there are too few different rows to hold any out."""
        (tree,) = self.grow(w[None])
        return tree.cut(np.ones(len(tree), dtype=bool))


def log_mean_exp(values: Array) -> Array:
    """log of the mean of exp, by rows; values may be −inf."""
    top = values.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(values - safe[:, None]).mean(axis=1)))
