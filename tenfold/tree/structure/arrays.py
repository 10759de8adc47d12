"""Packed trees: the nodes of any number of trees as plain arrays, and the walk of rows down to the leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from tenfold import _trees
from tenfold.base.estimator import map_rows
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadType
from tenfold.core.stats import Storable
from tenfold.tree.structure.dependence import dependence

LEAF, NO_FEATURE, NUMERIC = -1, -2, -1
# A node as rows walk down it: without gaps, because forests have millions of them.
NODE = np.dtype(
    [
        ("threshold", np.float64), ("children_left", np.int32), ("children_right", np.int32), ("feature", np.int32),
        ("missing_go_to_left", np.uint8), ("by_set", np.uint8),
    ]
)  # fmt: skip
SIDE_BY_SIDE = tuple(name for name in NODE.names or () if name != "by_set")


@dataclass(frozen=True, eq=False)
class Trees(Storable):
    """Trees, node by node; the names are those of scikit-learn's `tree_`.

    Tree t has the nodes first[t], ..., first[t + 1] − 1; children are numbered from the first node of their tree and come
    after their parent. A row goes left where x[feature] <= threshold, or, at a node with a subset, where its category is in it:
    bits[subset] is the number m of words, and bit c of the m words after it stands for category c. NaN goes left where
    `missing_go_to_left`. The sum of `value` over the leaves that a row ends in is their prediction.

    Rows walk down nodes that lie side by side (`NODE`). Trees that were grown or joined have them so from the start, others from
    the first walk on; the arrays are then read-only views of these nodes, and nothing is kept twice.
    """

    first: Array  # (trees + 1) int64
    children_left: Array  # (nodes) int32, −1 at a leaf
    children_right: Array
    feature: Array  # (nodes) int32, −2 at a leaf
    threshold: Array  # (nodes) float64
    missing_go_to_left: Array  # (nodes) uint8
    subset: Array  # (nodes) int64, −1 where the node has a threshold
    bits: Array  # uint64
    value: Array  # (nodes, outputs) float64, of inner nodes too
    impurity: Array  # (nodes) float64, float32 in forests
    gain: Array  # (nodes) the same: what the split won, 0 at a leaf
    n_node_samples: Array  # (nodes) int32 or int64
    weighted_n_node_samples: Array  # (nodes) float64, float32 in forests

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, which: int | slice) -> Trees:
        """One tree, or some of them in their order."""
        if isinstance(which, slice):
            start, stop, step = which.indices(len(self))
        else:
            start = range(len(self))[which]
            stop, step = start + 1, 1
        if step != 1:
            return Trees.joined([self[i] for i in range(start, stop, step)])
        stop = max(start, stop)
        nodes = slice(int(self.first[start]), int(self.first[stop]))
        by_node = {name: getattr(self, name)[nodes] for name in BY_NODE}
        some = replace(self, first=self.first[start : stop + 1] - self.first[start], **by_node)
        if "_nodes" in vars(self):
            vars(some)["_nodes"] = self._nodes[nodes]
        return some

    @classmethod
    def of_nodes(cls, first: Array, nodes: Array, subset: Array, **others: Array) -> Trees:
        """Trees whose nodes lie side by side already; `subset` is empty where no node has one."""
        nodes.flags.writeable = False
        if not len(subset):
            subset = no_subset(len(nodes))
        trees = cls(first=first, subset=subset, **{name: nodes[name] for name in SIDE_BY_SIDE}, **others)
        vars(trees)["_nodes"] = nodes
        return trees

    @classmethod
    def joined(cls, parts: Sequence[Trees]) -> Trees:
        """All trees of the parts, one after the other."""
        ends = np.cumsum([0] + [len(part.feature) for part in parts])
        words = np.cumsum([0] + [len(part.bits) for part in parts])
        nodes = np.empty(ends[-1], NODE)
        for part, start, stop in zip(parts, ends[:-1], ends[1:], strict=True):
            lay(part, nodes[start:stop])
        subset = [shifted(part.subset, shift) for part, shift in zip(parts, words[:-1], strict=True)]
        first = [part.first[:-1] + shift for part, shift in zip(parts, ends[:-1], strict=True)]
        return cls.of_nodes(
            np.concatenate([*first, ends[-1:]]).astype(np.int64),
            nodes,
            np.concatenate(subset) if words[-1] else NO_NUMBERS,
            bits=np.concatenate([part.bits for part in parts]),
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in DESCRIBED},
        )

    @cached_property
    def _nodes(self) -> Array:
        nodes = np.empty(len(self.feature), NODE)
        lay(self, nodes)
        nodes.flags.writeable = False
        vars(self).update({name: nodes[name] for name in SIDE_BY_SIDE})
        if not nodes["by_set"].any():
            vars(self)["subset"] = no_subset(len(nodes))
        return nodes

    @cached_property
    def _packed(self) -> Any:
        nodes = self._nodes
        subset = NO_NUMBERS if self.subset.strides == (0,) else np.ascontiguousarray(self.subset)
        value = np.ascontiguousarray(self.value)
        return _trees.PackedTrees(self.first, nodes.view(np.uint8), subset, self.bits, value)

    @property
    def width(self) -> int:
        """The least number of columns that rows must have."""
        return int(self._packed.width)

    def objection(self) -> str | None:
        """Why rows cannot walk down these trees, or None if they can: for trees that come from a file."""
        try:
            _ = self._packed
        except (TypeError, ValueError) as reason:
            return str(reason)
        leaf, root = self.leaves(), np.repeat(self.first[:-1], np.diff(self.first))
        children = [(root + child)[~leaf] for child in (self.children_left, self.children_right)]
        parents = np.bincount(np.concatenate(children), minlength=len(leaf))
        parents[self.first[:-1]] += 1
        if (parents != 1).any():
            return f"node {int(np.argmax(parents != 1))} has not one parent"
        if (self.feature[leaf] != NO_FEATURE).any() or (self.children_right[leaf] != LEAF).any():
            return "a leaf has a feature or a child"
        if (self.weighted_n_node_samples < 0).any() or (self.n_node_samples < 0).any():
            return "a node has less than no rows"
        return None

    def misfit(self, width: int, categories: Sequence[Any]) -> str | None:
        """Why these trees cannot be asked about rows of `width` columns with these categories, or None if they can."""
        if self.width > width:
            return f"a node splits on column {self.width - 1} of {width}"
        for j in np.unique(self.feature[self.subset >= 0]).tolist():
            if j >= 0 and (len(categories) <= j or categories[j] is None):
                return f"a node splits on categories of column {j}, which has none"
        return None

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def predict(self, X: Array) -> Array:
        """(rows, outputs): the sum over all trees of the leaves' values."""
        return map_rows(self.sums, X)

    def sums(self, X: Array, start: int = 0, stop: int | None = None, onto: Array | None = None) -> Array:
        """Sums over trees start, ..., stop − 1 for a block of rows (an array, or CSR), added to `onto`."""
        X = ops.dense(X)
        if onto is None:
            onto = np.zeros((len(X), self.value.shape[1]))
        return np.asarray(self._packed.sums(X, start, len(self) if stop is None else stop, onto))

    def stages(self, X: Array, step: int = 1) -> Iterator[Array]:
        """The sums over the first `step`, 2 `step`, ... trees."""
        sums = np.zeros((len(X), self.value.shape[1]))
        for start in range(0, len(self), step):
            sums = self.sums(X, start, min(start + step, len(self)), sums)
            yield sums

    def apply(self, X: Array) -> Array:
        """(rows, trees): the number of the leaf that each row ends in, within its tree."""
        return map_rows(lambda block: self._packed.leaves(ops.dense(block), 0, len(self)), X)

    def attributions(self, X: Array, background: Array | None = None) -> Array:
        """(rows, columns, outputs): the Shapley value of each column for the sums of a block of rows (`predict`).

        An unknown column takes the ways of the training rows, in proportion to their weights at the nodes; with `background`
        it has the values of those rows, on average. The values of a row add up to its sum less `expectation(background)`.
        """
        X = ops.dense(X)
        rows = np.empty((0, X.shape[1]), X.dtype) if background is None else background.astype(X.dtype, copy=False)
        cover = np.ascontiguousarray(self.weighted_n_node_samples, dtype=np.float64)
        return np.asarray(self._packed.attributions(X, np.ascontiguousarray(rows), cover))

    def expectation(self, background: Array | None = None) -> Array:
        """(outputs): the prediction of the trees when no column is known."""
        if background is not None:
            return np.asarray(self.predict(background).mean(axis=0))
        share, cover = np.ones(len(self.feature)), self.weighted_n_node_samples.astype(np.float64)
        for above, below in self.levels():
            part = np.divide(cover[below], cover[above], out=np.full(len(below), 0.5), where=cover[above] > 0)
            share[below] = share[above] * part
        leaves = self.leaves()
        return share[leaves] @ self.value[leaves]

    def dependence(self, columns: Array, points: Array) -> Array:
        """(points, outputs): the prediction of the trees where only these columns are known (`structure.dependence`)."""
        return dependence(self, columns, points)

    def leaves(self) -> Array:
        """Which nodes are leaves."""
        return self.children_left < 0

    def depths(self) -> Array:
        """How many nodes are above each node."""
        depth = np.zeros(len(self.feature), dtype=np.int64)
        for above, below in self.levels():
            depth[below] = depth[above] + 1
        return depth

    def levels(self) -> Iterator[tuple[Array, Array]]:
        """Level by level from the roots of all trees: parents (each twice) and their children, as numbers of nodes."""
        root = np.repeat(self.first[:-1], np.diff(self.first))
        at = self.first[:-1]
        while len(at := at[self.children_left[at] >= 0]):
            below = np.concatenate([root[at] + self.children_left[at], root[at] + self.children_right[at]])
            yield np.concatenate([at, at]), below
            at = below

    def paths(self, leaves: Array) -> Any:
        """(rows, nodes) CSR matrix of ones: the nodes above the leaves (rows, trees), and these themselves."""
        from scipy.sparse import csr_matrix

        parent = np.zeros(len(self.feature), dtype=np.int64)
        for above, below in self.levels():
            parent[below] = above
        at = leaves + self.first[:-1]
        length = self.depths()[at] + 1
        last = np.cumsum(length).reshape(length.shape) - 1
        nodes = np.empty(length.sum(), dtype=np.int64)
        for step in range(int(length.max(initial=0))):
            on = length > step
            nodes[last[on] - step] = at[on]
            at = parent[at]
        ends = np.concatenate([[0], np.cumsum(length.sum(axis=1))])
        ones = np.ones(len(nodes), dtype=np.int64)
        return csr_matrix((ones, nodes, ends), shape=(len(leaves), len(self.feature)))

    def categories_left(self, node: int) -> Array:
        """The categories that go left at a node with a subset."""
        at = int(self.subset[node])
        words = self.bits[at + 1 : at + 1 + int(self.bits[at])]
        return np.flatnonzero(np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little"))

    def importances(self, n_features: int) -> Array:
        """The share of each column in what the splits won, averaged over the trees; zeros where nothing was split."""
        split = ~self.leaves()
        tree = np.repeat(np.arange(len(self)), np.diff(self.first))[split]
        won = np.bincount(tree * n_features + self.feature[split], self.gain[split], len(self) * n_features)
        won = won.reshape(len(self), n_features)
        total = won.sum(axis=1, keepdims=True)
        shares = np.divide(won, total, out=np.zeros(won.shape), where=total > 0).mean(axis=0)
        whole = shares.sum()
        return np.asarray(shares / whole if whole > 0 else shares)


BY_NODE = tuple(f.name for f in fields(Trees) if f.name not in ("first", "bits"))
DESCRIBED = tuple(name for name in BY_NODE if name not in SIDE_BY_SIDE and name != "subset")
NO_NUMBERS = np.empty(0, dtype=np.int64)
_NUMERIC = np.array([NUMERIC], dtype=np.int64).tobytes()


def no_subset(n: int) -> Array:
    """The subsets of n nodes that have none: one number in memory."""
    return np.ndarray((n,), np.int64, _NUMERIC, strides=(0,))


def shifted(subset: Array, words: int) -> Array:
    """The subsets where their masks come after so many words."""
    return np.where(subset < 0, NUMERIC, subset + words)


def lay(trees: Trees, nodes: Array) -> None:
    """Write the nodes of the trees side by side."""
    for name in SIDE_BY_SIDE:
        array = getattr(trees, name)
        if array.dtype != NODE[name]:
            raise BadType(f"{name} must be an array of {NODE[name]}")
        if array.shape != nodes.shape:
            raise BadInput("the arrays of the nodes differ in length")
        nodes[name] = array
    nodes["by_set"] = trees.subset >= 0
