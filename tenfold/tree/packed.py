"""Packed trees: the nodes of any number of trees as plain arrays, and the walk of rows down to the leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from tenfold import _trees
from tenfold.core.data import Array
from tenfold.core.estimator import map_rows

LEAF, NO_FEATURE, NUMERIC = -1, -2, -1


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees, node by node; the names are those of scikit-learn's `tree_`.

    Tree t has the nodes first[t], ..., first[t + 1] − 1; children are numbered from the first node of their tree and come
    after their parent. A row goes left where x[feature] <= threshold, or, at a node with a subset, where its category is in it:
    bits[subset] is the number m of words, and bit c of the m words after it stands for category c. NaN goes left where
    `missing_go_to_left`. The sum of `value` over the leaves that a row ends in is what the trees say of it.
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
    impurity: Array  # (nodes) float64
    gain: Array  # (nodes) float64: what the split won, 0 at a leaf
    n_node_samples: Array  # (nodes) int64
    weighted_n_node_samples: Array  # (nodes) float64

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, which: int | slice) -> Trees:
        """One tree, or some of them in their order."""
        start, stop, step = (
            which.indices(len(self)) if isinstance(which, slice) else (range(len(self))[which], None, None)
        )
        if stop is None:
            stop, step = start + 1, 1
        if step != 1:
            return Trees.joined([self[i] for i in range(start, stop, step)])
        stop = max(start, stop)
        nodes = slice(int(self.first[start]), int(self.first[stop]))
        by_node = {name: getattr(self, name)[nodes] for name in BY_NODE}
        return replace(self, first=self.first[start : stop + 1] - self.first[start], **by_node)

    @classmethod
    def joined(cls, parts: Sequence[Trees], empty_from: int | None = None) -> Trees:
        """All trees of the parts, one after the other. Parts from `empty_from` on lose their arrays: memory is not needed twice."""
        nodes = np.cumsum([0] + [len(part.feature) for part in parts])
        words = np.cumsum([0] + [len(part.bits) for part in parts])
        first = [part.first[:-1] + shift for part, shift in zip(parts, nodes[:-1], strict=True)]
        subset = [np.where(p.subset < 0, NUMERIC, p.subset + shift) for p, shift in zip(parts, words[:-1], strict=True)]
        together = {}
        for name in (*BY_NODE, "bits"):
            together[name] = np.concatenate([getattr(part, name) for part in parts] if name != "subset" else subset)
            for part in () if empty_from is None else parts[empty_from:]:
                object.__delattr__(part, name)
        return cls(first=np.concatenate([*first, nodes[-1:]]).astype(np.int64), **together)

    @cached_property
    def _packed(self) -> Any:
        return _trees.PackedTrees(*(np.ascontiguousarray(getattr(self, name)) for name in WALKED))

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
        return None

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def predict(self, X: Array) -> Array:
        """(rows, outputs): the sum over all trees of the leaves' values."""
        return map_rows(self.sums, X)

    def sums(self, X: Array, start: int = 0, stop: int | None = None, onto: Array | None = None) -> Array:
        """Sums over trees start, ..., stop − 1 for a block of rows, added to `onto`."""
        if onto is None:
            onto = np.zeros((len(X), self.value.shape[1]))
        return self._packed.sums(X, start, len(self) if stop is None else stop, onto)

    def stages(self, X: Array, step: int = 1) -> Iterator[Array]:
        """The sums over the first `step`, 2 `step`, ... trees."""
        sums = np.zeros((len(X), self.value.shape[1]))
        for start in range(0, len(self), step):
            sums = self.sums(X, start, min(start + step, len(self)), sums)
            yield sums

    def apply(self, X: Array) -> Array:
        """(rows, trees): the number of the leaf that each row ends in, within its tree."""
        return map_rows(lambda block: self._packed.leaves(block, 0, len(self)), X)

    def attributions(self, X: Array, background: Array | None = None) -> Array:
        """(rows, columns, outputs): the Shapley value of each column for the sums of a block of rows (`predict`).

        An unknown column takes the ways of the training rows, in proportion to their weights at the nodes; with `background`
        it has the values of those rows, on average. The values of a row add up to its sum less `expectation(background)`.
        """
        rows = np.empty((0, X.shape[1]), X.dtype) if background is None else background.astype(X.dtype, copy=False)
        return self._packed.attributions(X, np.ascontiguousarray(rows), self.weighted_n_node_samples)

    def expectation(self, background: Array | None = None) -> Array:
        """(outputs): what the trees say when no column is known."""
        if background is not None:
            return self.predict(background).mean(axis=0)
        share = np.ones(len(self.feature))
        root = np.repeat(self.first[:-1], np.diff(self.first))
        for i in np.flatnonzero(~self.leaves()):
            for child in (root[i] + self.children_left[i], root[i] + self.children_right[i]):
                cover = self.weighted_n_node_samples
                share[child] = share[i] * (cover[child] / cover[i] if cover[i] > 0 else 0.5)
        leaves = self.leaves()
        return share[leaves] @ self.value[leaves]

    def leaves(self) -> Array:
        """Which nodes are leaves."""
        return self.children_left < 0

    def depths(self) -> Array:
        """How many nodes are above each node."""
        depth = np.zeros(len(self.feature), dtype=np.int64)
        root = np.repeat(self.first[:-1], np.diff(self.first))
        for i in np.flatnonzero(~self.leaves()):  # parents come before their children
            depth[root[i] + self.children_left[i]] = depth[root[i] + self.children_right[i]] = depth[i] + 1
        return depth

    def categories_left(self, node: int) -> Array:
        """The categories that go left at a node with a subset."""
        at = int(self.subset[node])
        words = self.bits[at + 1 : at + 1 + int(self.bits[at])]
        return np.flatnonzero(np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little"))

    def importances(self, n_features: int) -> Array:
        """The share of each column in what the splits won, averaged over the trees; zeros where nothing was split."""
        split = ~self.leaves()
        tree = np.repeat(np.arange(len(self)), np.diff(self.first))[split]
        won = np.zeros((len(self), n_features))
        np.add.at(won, (tree, self.feature[split]), self.gain[split])
        total = won.sum(axis=1, keepdims=True)
        shares = np.divide(won, total, out=np.zeros_like(won), where=total > 0).mean(axis=0)
        whole = shares.sum()
        return shares / whole if whole > 0 else shares


BY_NODE = tuple(f.name for f in fields(Trees) if f.name not in ("first", "bits"))
WALKED = (
    "first", "children_left", "children_right", "feature", "threshold", "missing_go_to_left", "subset", "bits", "value",
)  # fmt: skip
