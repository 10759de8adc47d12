"""Trees with any number of branches at a node: the structure that ID3 and C4.5 grow, prune, walk and print.

A node splits on one column. With a threshold it has two branches (0: x <= threshold, 1: x > threshold), without one
it has a branch for each value of the column that its training rows had. `value` and `child` list the branches of
node i from `first[i]` to `first[i + 1]`, values in rising order; a child has a higher number than its parent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.shares import ShareClassifier
from tenfold.core.data import Array, Source
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.stats import Storable
from tenfold.tree.structure.describe import missing_columns

LEAF = -2  # the column of a leaf, as scikit-learn numbers it
MISSING = np.inf  # the value of a branch for rows whose value is missing; no other value is infinite
DEEPEST = 500  # levels; below it leaves are what they are


@dataclass(slots=True, eq=False)
class ManyWay(Storable):
    """A fitted tree as arrays."""

    feature: Array  # (nodes) int32, LEAF at a leaf
    threshold: Array  # (nodes) float64, NaN where there is none
    gain: Array  # (nodes) float64, information gain of the split in bits; 0 at a leaf
    counts: Array  # (nodes, classes) float64, weight of the training rows
    first: Array  # (nodes + 1) int64
    value: Array  # (branches) float64
    child: Array  # (branches) int32

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ManyWay) and all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name), equal_nan=True) for f in fields(self)
        )

    def __len__(self) -> int:
        return len(self.feature)

    def objection(self) -> str | None:
        """Why the arrays are no tree, or None if they are one."""
        n = len(self.feature)
        if n == 0 or len(self.child) != n - 1 or self.first[0] != 0 or self.first[-1] != n - 1:
            return "nodes and branches are no tree"
        if ((self.first < 0) | (self.first >= n)).any() or (np.diff(self.first) < 0).any():
            return "nodes and branches are no tree"
        node = np.repeat(np.arange(n), np.diff(self.first))
        sound = (
            (self.child > node).all()
            and np.array_equal(np.sort(self.child), np.arange(1, n))
            and ((self.feature == LEAF) == (np.diff(self.first) == 0)).all()
            and (self.feature[self.feature != LEAF] >= 0).all()
        )
        if not sound:
            return "nodes and branches are no tree"
        inner, by_threshold = np.diff(self.first) > 0, ~np.isnan(self.threshold[node])
        rising = (np.diff(self.value) > 0) | (np.diff(node) > 0)
        if np.isnan(self.value).any() or not rising.all() or not np.isin(self.value[by_threshold], (0.0, 1.0)).all():
            return "the branches of a node are not in order"
        whole = (self.value >= 0) & (self.value == np.floor(self.value))
        if not (by_threshold | whole).all() or np.isinf(self.threshold[inner]).any():
            return "the value of a branch is no code"
        return None if (self.counts >= 0).all() and (self.counts.sum(axis=1) > 0).all() else "a node has no rows"

    def misfit(self, width: int, categories: Sequence[Any]) -> str | None:
        """Why this tree cannot be asked about rows of `width` columns, or None if it can."""
        return f"a node splits on column {self.width - 1} of {width}" if self.width > width else None

    @property
    def width(self) -> int:
        """The least number of columns that rows must have."""
        return int(self.feature.max(initial=-1)) + 1

    @property
    def n_leaves(self) -> int:
        return int((self.feature == LEAF).sum())

    def depths(self) -> Array:
        """The depth of each node: 0 at the root."""
        depth = np.zeros(len(self), dtype=np.int64)
        for i in range(len(self)):
            depth[self.child[self.first[i] : self.first[i + 1]]] = depth[i] + 1
        return depth

    def branches(self, i: int) -> Iterator[tuple[float, int]]:
        """Value and child of each branch of node i."""
        here = slice(self.first[i], self.first[i + 1])
        return zip(self.value[here].tolist(), self.child[here].tolist(), strict=True)

    def probabilities(self, X: Array) -> Array:
        """The class probabilities of each row: those of its leaf.

        A missing value goes down every branch in proportion to the training rows there; a value that no branch has
        stays at the node.
        """
        totals = self.counts.sum(axis=1)
        probabilities = self.counts / totals[:, None]
        out = np.zeros((len(X), self.counts.shape[1]))
        todo = [(0, np.arange(len(X)), np.ones(len(X)))]
        while todo:
            i, rows, weight = todo.pop()
            if self.feature[i] == LEAF:
                out[rows] += weight[:, None] * probabilities[i]
                continue
            child = self._child_of(i, X[rows, self.feature[i]])
            stay = child == -1
            if stay.any():
                out[rows[stay]] += weight[stay, None] * probabilities[i]
            everywhere = child == -2
            if everywhere.any():
                below = self.child[self.first[i] : self.first[i + 1]]
                part = totals[below] / totals[below].sum()
                lost, theirs = rows[everywhere], weight[everywhere]
                todo += [(int(c), lost, theirs * s) for c, s in zip(below, part, strict=True)]
            todo += [(c, rows[index], weight[index]) for c, index in grouped(child) if c >= 0]
        return out

    def _child_of(self, i: int, x: Array) -> Array:
        """The child that each value leads to, -1 for none, -2 for all of them."""
        here = slice(self.first[i], self.first[i + 1])
        values, children = self.value[here], self.child[here]
        missing = np.isnan(x)
        code = x if np.isnan(self.threshold[i]) else np.where(x > self.threshold[i], 1.0, 0.0)
        place = np.minimum(np.searchsorted(values, code), len(values) - 1)
        return np.where(missing, -2, np.where(values[place] == code, children[place], -1))

    def pruned(self, cut: Array) -> ManyWay:
        """The tree without what is below the nodes marked in `cut`."""
        keep = np.zeros(len(self), dtype=bool)
        keep[0] = True
        for i in range(len(self)):
            if keep[i] and not cut[i]:
                keep[self.child[self.first[i] : self.first[i + 1]]] = True
        number = np.cumsum(keep) - 1
        split = keep & ~cut
        branch = np.repeat(split, np.diff(self.first))
        sizes = np.where(split, np.diff(self.first), 0)[keep]
        return ManyWay(
            feature=np.where(split, self.feature, LEAF)[keep].astype(np.int32),
            threshold=np.where(split, self.threshold, np.nan)[keep],
            gain=np.where(split, self.gain, 0.0)[keep],
            counts=self.counts[keep],
            first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            value=self.value[branch],
            child=number[self.child[branch]].astype(np.int32),
        )


@dataclass(slots=True)
class Split:
    """The split of a node: a column, perhaps a threshold, and the information gain in bits."""

    feature: int
    threshold: float
    gain: float


Choose = Callable[[Array, Array, Array], Split | None]  # of the rows of a node, their weights and class weights


def grow(X: Array, y: Array, w: Array, n_classes: int, choose: Choose, max_depth: int | None) -> ManyWay:
    """Split from the root down by `choose`. Rows with a missing value go down every branch, with part of their weight."""
    nodes: list[tuple[int, float, float, Array]] = []
    branches: list[dict[float, int]] = []
    todo: list[tuple[Array, Array, int, int, float]] = [(np.arange(len(y)), w, 0, -1, 0.0)]
    deepest = DEEPEST if max_depth is None else max_depth
    while todo:
        rows, weight, depth, parent, value = todo.pop()
        counts = np.bincount(y[rows], weight, n_classes)
        if parent >= 0:
            branches[parent][value] = len(nodes)
        split = choose(rows, weight, counts) if depth < deepest and np.count_nonzero(counts) > 1 else None
        branches.append({})
        if split is None:
            nodes.append((LEAF, np.nan, 0.0, counts))
            continue
        node = len(nodes)
        nodes.append((split.feature, split.threshold, split.gain, counts))
        for value, index, part in _parts(X[rows, split.feature], weight, split.threshold):
            todo.append((rows[index], part, depth + 1, node, value))
    feature, threshold, gain, counts_of = zip(*nodes, strict=True)
    ordered = [sorted(one.items()) for one in branches]
    return ManyWay(
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold),
        gain=np.array(gain),
        counts=np.array(counts_of),
        first=np.concatenate([[0], np.cumsum([len(one) for one in ordered])]).astype(np.int64),
        value=np.array([value for one in ordered for value, _ in one], dtype=np.float64),
        child=np.array([child for one in ordered for _, child in one], dtype=np.int32),
    )


def _parts(x: Array, weight: Array, threshold: float) -> list[tuple[float, Array, Array]]:
    """The value, rows and weights of each branch, last branch first."""
    missing = np.flatnonzero(np.isnan(x))
    known = np.flatnonzero(~np.isnan(x)) if len(missing) else np.arange(len(x))
    code = x[known] if np.isnan(threshold) else (x[known] > threshold).astype(np.float64)
    total = weight[known].sum() if len(missing) else 1.0
    parts = []
    for value, index in reversed(grouped(code)):
        rows = known[index]
        if len(missing):
            share = weight[rows].sum() / total
            parts.append((value, np.append(rows, missing), np.append(weight[rows], weight[missing] * share)))
        else:
            parts.append((value, rows, weight[rows]))
    return parts


def grouped(values: Array) -> list[tuple[Any, Array]]:
    """Each distinct value, in rising order, with the places where it stands."""
    order = np.argsort(values, kind="stable")
    sorted_values = values[order]
    cuts = np.flatnonzero(sorted_values[1:] != sorted_values[:-1]) + 1
    return [(values[part[0]].item(), part) for part in np.split(order, cuts) if len(part)]


def bits(counts: Array) -> Array:
    """n H in bits of the counts along the last axis: n log n − Σ nₖ log nₖ."""
    return np.asarray(xlog2(counts.sum(axis=-1)) - xlog2(counts).sum(axis=-1))


def xlog2(x: Array) -> Array:
    """x log₂ x, with 0 log 0 = 0; what rounding made negative counts as 0."""
    return x * np.log2(np.where(x > 0, x, 1.0))


def between(low: Array, high: Array) -> Array:
    """A threshold in the middle: low <= threshold < high, also where the two are neighbours."""
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)


def value_counts(x: Array, y: Array, w: Array, n_classes: int) -> Array:
    """The weight of each class for each distinct value, (values, classes)."""
    values, code = np.unique(x, return_inverse=True)
    return np.bincount(code * n_classes + y, w, len(values) * n_classes).reshape(-1, n_classes)


class ManyWayClassifier(ShareClassifier):
    """Mixin: a tree of any number of branches in `tree_`, learned from rows that are kept while it grows."""

    tree_: ManyWay = learned("ManyWay(n,K)", "arrays: feature, threshold, gain, counts, first, value, child")
    category_: Array = learned("bool(p)", "which columns hold categories")
    blank_: Array = learned("bool(p)", "columns that held missing values in fit", optional=True)

    kind: ClassVar[str] = "keeps rows"
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    least_classes: ClassVar[int] = 1

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        category = check.categorical_columns(source)
        X, y, w = yield Keep()
        return self._grown(X.astype(np.float64, copy=False), y, w, category) | dict(blank_=missing_columns(X))

    def _grown(self, X: Array, y: Array, w: Array, category: Array) -> dict[str, Any]:
        raise NotImplementedError

    def _asked(self, X: Array) -> Array:
        """The values that the nodes split on."""
        return X

    def _class_shares(self, X: Any) -> Array:
        return self.tree_.probabilities(self._asked(X))

    def _edges_of(self, column: int) -> Array | None:
        """Where the numbers of a column are cut into intervals; None where they are not."""
        return None

    def _objection(self) -> str | None:
        """Branches without a threshold are of categories, or of intervals, that the columns have."""
        tree: ManyWay = self.tree_
        known = vars(self).get("categories_") or [None] * self.n_features_in_
        for i in np.flatnonzero((tree.feature != LEAF) & np.isnan(tree.threshold)).tolist():
            j = int(tree.feature[i])
            edges = known[j] if self.category_[j] else self._edges_of(j)
            size = -1 if edges is None else len(edges) - bool(self.category_[j])
            codes = tree.value[tree.first[i] : tree.first[i + 1]]
            if codes[codes != MISSING].max(initial=-1) > size:
                return f"node {i} has a branch for a value that column {j} cannot have"
        return None

    def get_depth(self) -> int:
        """The depth: splits on the longest path from the root."""
        check.check_fitted(self)
        return int(self.tree_.depths().max())

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check.check_fitted(self)
        return int(self.tree_.n_leaves)
