"""One tree as users of scikit-learn know it: `tree_`.

    tree = model.tree_                      also of each of a forest's `estimators_`
    tree.children_left[0], tree.threshold   arrays by node, 0 is the root; −1 and −2 at leaves
    tree.value[node, target, class]         shares of the classes; for numbers the prediction, in class 0
    tree.predict(X), tree.apply(X)          as the model, without its checks: X is an array of numbers

A view: the arrays are those of the packed trees (`structure.arrays`), read-only, and nothing is kept twice.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, as_floats
from tenfold.tree.structure.arrays import Trees


class TreeView:
    """One tree, node by node; the names and their meaning are those of scikit-learn's `tree_`."""

    def __init__(self, packed: Trees, n_features: int, n_classes: Any) -> None:
        """`n_classes`: of each target how many classes it has, 1 for numbers; their values stand side by side in `packed.value`."""
        self.packed, self.n_features = packed, int(n_features)
        self.n_classes: Array = np.array(n_classes, dtype=np.int64)

    # --- sizes ---

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return len(self.packed.feature)

    @property
    def capacity(self) -> int:
        """The number of nodes that there is room for: as many as there are."""
        return self.node_count

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(self.packed.leaves().sum())

    @property
    def max_depth(self) -> int:
        """The depth of the deepest leaf: 0 for a single one."""
        return int(self.packed.depths().max())

    @property
    def n_outputs(self) -> int:
        """The number of target columns."""
        return len(self.n_classes)

    @property
    def max_n_classes(self) -> int:
        """The most classes of a target; 1 for numbers."""
        return int(self.n_classes.max())

    # --- the nodes ---

    @property
    def children_left(self) -> Array:
        """(nodes) the number of the left child, −1 at a leaf."""
        return self.packed.children_left

    @property
    def children_right(self) -> Array:
        """(nodes) the number of the right child, −1 at a leaf."""
        return self.packed.children_right

    @property
    def feature(self) -> Array:
        """(nodes) the column that a node splits on, −2 at a leaf."""
        return self.packed.feature

    @cached_property
    def threshold(self) -> Array:
        """(nodes) left where x <= threshold; −2 at a leaf, and 0 where categories are split."""
        return np.where(self.packed.leaves(), -2.0, self.packed.threshold)

    @property
    def missing_go_to_left(self) -> Array:
        """(nodes) 1 where a missing value goes left."""
        return self.packed.missing_go_to_left

    @property
    def impurity(self) -> Array:
        """(nodes) the impurity of the rows of a node, by the criterion of the fit."""
        return self.packed.impurity

    @property
    def n_node_samples(self) -> Array:
        """(nodes) the number of training rows."""
        return self.packed.n_node_samples

    @property
    def weighted_n_node_samples(self) -> Array:
        """(nodes) the weight of the training rows."""
        return self.packed.weighted_n_node_samples

    @property
    def value(self) -> Array:
        """(nodes, targets, classes): shares of the classes in a node, zeros beyond those of a target; of numbers their mean or median."""
        return self._by_target(self.packed.value)

    def categories_left(self, node: int) -> Array:
        """The codes of the categories that go left, at a node that splits categories; its threshold means nothing."""
        return self.packed.categories_left(node)

    # --- rows ---

    def predict(self, X: Any) -> Array:
        """(rows, classes) the value of the leaf of each row; of several targets (rows, targets, classes)."""
        found = self._by_target(self.packed.predict(numbers(X)))
        return found[:, 0] if self.n_outputs == 1 else found

    def apply(self, X: Any) -> Array:
        """(rows) the number of the leaf of each row."""
        return np.asarray(self.packed.apply(numbers(X))[:, 0])

    def decision_path(self, X: Any) -> Any:
        """(rows, nodes) CSR matrix of ones: the nodes that each row passes."""
        return self.packed.paths(self.apply(X)[:, None])

    def compute_feature_importances(self, normalize: bool = True) -> Array:
        """What the splits on each column take off the impurity, by share of weight; `normalize`: as shares of all of it."""
        shares, tree = self.packed.importances(self.n_features), self.packed
        if normalize:
            return shares
        leaf, weight = tree.leaves(), tree.weighted_n_node_samples.astype(np.float64)
        return shares * float(tree.impurity[0] - weight[leaf] @ tree.impurity[leaf] / weight[0])

    def compute_partial_dependence(self, X: Any, target_features: Any, out: Array) -> None:
        """Add to `out` (points) the first value of the leaves where the columns `target_features` have the values X (points,
        columns) and every other column is unknown: its splits send a row both ways, by the weight of the training rows."""
        out += self.packed.dependence(np.asarray(target_features), np.asarray(X))[:, 0]

    def _by_target(self, values: Array) -> Array:
        """(m, values side by side) as (m, targets, classes)."""
        widths = self.n_classes.tolist()
        if len(set(widths)) == 1:
            return values.reshape(len(values), len(widths), widths[0])
        found = np.zeros((len(values), len(widths), max(widths)))
        ends = np.cumsum(widths).tolist()
        for target, (width, end) in enumerate(zip(widths, ends, strict=True)):
            found[:, target, :width] = values[:, end - width : end]
        return found


def numbers(X: Any) -> Array:
    """Rows that kernels take: sparse ones are made dense."""
    return np.asarray(as_floats(ops.dense(X) if ops.is_sparse(X) else np.asarray(X)))
