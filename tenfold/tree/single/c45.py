"""C4.5: many-way splits on categories, thresholds on numbers, missing values by parts of rows, pessimistic pruning."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.tree.structure.multiway import ManyWay, ManyWayClassifier, Split, between, bits, grow, value_counts, xlog2
from tenfold.tree.structure.prune import upper_error
from tenfold.tree.structure.rules import Wording

SLACK = 1e-3  # bits by which a test may gain less than the average of all and still be chosen
SAME = 1e-9  # ratios closer than this (relative) are equal: the first column is taken
LARGEST = 1 << 22  # numbers sorted at a time
MANY = 0.3  # categories for each row: a column with as many identifies rows, not classes
FAVOUR = 0.1  # errors that a leaf may be expected to make more than the subtree it replaces


@estimator
class C45Classifier(ManyWayClassifier, Wording, Estimator):
    """C45Classifier: Quinlan's tree with the gain ratio, thresholds, missing values and pruning.

    Model       P(class k | x) = the share of class k among the training rows of the leaf of x
    Objective   at each node the test with the largest gain ratio, gain / entropy of the branches, among those whose
                gain is at least the average gain; gains count the rows whose value is known
    Algorithm   greedy; categories have a branch each, numbers a threshold between neighbouring values, whose gain is reduced by
                log₂(number of thresholds) / n; columns of 0.3 n categories or more are left out of the average; a row with a
                missing value goes down every branch with part of its weight, in training and in prediction; then, bottom up, a
                leaf replaces a subtree where the upper confidence limit of its errors (binomial) is no larger than that of the
                subtree plus 0.1
    Cost        O(n p log n) time a level; the rows are kept while the tree grows
    Fails when  missing values are so many that parts of rows multiply: fill them first
    Reference   Quinlan 1993; Quinlan 1996 (thresholds)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]])
    >>> model = tenfold.C45Classifier().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> print(model.export_text())
    x0 <= 5.00: low (3)
    x0 > 5.00: high (3)
    """

    exempt: ClassVar[dict[str, str]] = {}
    shares_missing: ClassVar[bool] = True

    confidence: float = param(
        default=0.25, above=0, at_most=0.5, doc="level of the limit on errors: smaller prunes more"
    )
    _: KW_ONLY
    min_samples_leaf: float = param(default=2, above=0, doc="weight of rows that at least two branches must have")
    max_depth: int | None = param(default=None, at_least=1, doc="largest depth of a tree; None: no limit")
    prune: bool = param(default=True, doc="replace subtrees that are not expected to err less than a leaf")
    categorical_features: str | list[Any] | None = param(
        default="from_dtype", doc="columns of categories: 'from_dtype', a mask, numbers or names of columns, or None"
    )

    def _grown(self, X: Array, y: Array, w: Array, category: Array) -> dict[str, Any]:
        columns = _Columns(X, y, w, len(self.classes_), category, float(self.min_samples_leaf))
        tree = grow(X, y, w, len(self.classes_), columns.choose, self.max_depth)
        if self.prune:
            tree = tree.pruned(pessimistic_cuts(tree, self.confidence))
        return dict(tree_=tree, category_=category)


class _Columns:
    """The table, and the best test of a node of it."""

    def __init__(self, X: Array, y: Array, w: Array, n_classes: int, category: Array, least: float) -> None:
        self.X, self.y, self.n_classes, self.least = X, y, n_classes, least
        self.category, self.numeric = np.flatnonzero(category), np.flatnonzero(~category)
        self.averaged = np.ones(X.shape[1], dtype=bool)
        self.averaged[self.category] = [_n_values(X[:, j]) < MANY * w.sum() for j in self.category]
        if not self.averaged.any():
            self.averaged[:] = True

    def choose(self, rows: Array, weight: Array, counts: Array) -> Split | None:
        total = counts.sum()
        if total < 2 * self.least:
            return None
        y, p = self.y[rows], self.X.shape[1]
        gain, ratio, threshold = np.full(p, -1.0), np.full(p, -1.0), np.full(p, np.nan)
        for j in self.category:
            gain[j], ratio[j] = self._many_way(self.X[rows, j], y, weight, total)
        for part in np.array_split(self.numeric, max(1, len(rows) * len(self.numeric) // LARGEST)):
            if len(part):
                gain[part], ratio[part], threshold[part] = self._thresholds(
                    self.X[np.ix_(rows, part)], y, weight, total
                )
        useful = gain > SAME
        if not useful.any():
            return None
        counted = useful & self.averaged
        good = useful & (gain >= (gain[counted].mean() if counted.any() else 0.0) - SLACK)
        best = ratio[good].max()
        first = int(np.flatnonzero(good & (ratio >= best - SAME * best))[0])
        return Split(first, float(threshold[first]), float(gain[first]))

    def _many_way(self, x: Array, y: Array, w: Array, total: float) -> tuple[float, float]:
        """Gain and gain ratio of a branch for each category."""
        known = ~np.isnan(x)
        if not known.any():
            return -1.0, -1.0
        table = value_counts(x[known], y[known], w[known], self.n_classes)
        size = table.sum(axis=1)
        if (size >= self.least).sum() < 2:
            return -1.0, -1.0
        gain = float(bits(table.sum(axis=0)) - bits(table).sum()) / total
        split_information = float(bits(np.append(size, max(total - size.sum(), 0.0)))) / total
        return gain, gain / split_information

    def _thresholds(self, X: Array, y: Array, w: Array, total: float) -> tuple[Array, Array, Array]:
        """For each column the best threshold, its gain and its gain ratio."""
        order = np.argsort(X, axis=0, kind="stable")  # missing values come last
        S = np.take_along_axis(X, order, axis=0)
        known = ~np.isnan(S)
        W = np.where(known, w[order], 0.0)
        size = W.sum(axis=0)
        L = np.cumsum(W, axis=0)
        R = size - L
        cut = np.zeros(S.shape, dtype=bool)
        cut[:-1] = (S[:-1] < S[1:]) & known[1:]
        n_cuts = cut.sum(axis=0)
        smallest = min(max(0.1 * total / self.n_classes, self.least), max(25.0, self.least))
        cut &= (smallest * (1 - SAME) <= L) & (smallest * (1 - SAME) <= R)
        some = np.asarray(cut.any(axis=0))
        won = xlog2(size) - xlog2(L) - xlog2(R)
        classes = y[order]
        for k in range(self.n_classes):
            left = np.cumsum(np.where(classes == k, W, 0.0), axis=0)
            won -= xlog2(left[-1]) - xlog2(left) - xlog2(left[-1] - left)
        won = np.where(cut, won, -np.inf)
        limit = won.max(axis=0)
        i = (won >= limit - SAME * np.abs(limit)).argmax(axis=0)
        column = np.arange(S.shape[1])
        after = np.minimum(i + 1, len(S) - 1)
        gain = np.where(some, (limit - np.log2(np.maximum(n_cuts, 1))) / total, -1.0)
        parts = np.stack([L[i, column], R[i, column], np.maximum(total - size, 0.0)], axis=1)
        split_information = np.where(some, bits(np.where(some[:, None], parts, 1.0)) / total, 1.0)
        return gain, gain / split_information, between(S[i, column], S[after, column])


def _n_values(x: Array) -> int:
    return len(np.unique(x[~np.isnan(x)]))


def pessimistic_cuts(tree: ManyWay, confidence: float) -> Array:
    """The nodes that are better leaves: the upper limit of their errors against that of the subtree below."""
    counts = tree.counts.sum(axis=1)
    as_leaf = upper_error(counts - tree.counts.max(axis=1), counts, confidence)
    cut, expected = tree.first[1:] == tree.first[:-1], as_leaf.copy()
    for i in range(len(tree) - 1, -1, -1):  # children have higher numbers
        if not cut[i]:
            below = expected[tree.child[tree.first[i] : tree.first[i + 1]]].sum()
            cut[i] = as_leaf[i] <= below + FAVOUR
            expected[i] = as_leaf[i] if cut[i] else below
    return np.asarray(cut)
