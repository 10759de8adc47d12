"""ID3: a tree that splits on the column of largest information gain."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.tree.structure.multiway import MISSING, ManyWayClassifier, Split, between, bits, grow, value_counts
from tenfold.tree.structure.rules import Wording

SAME = 1e-9  # gains closer than this (relative) are equal: the first column is taken


@estimator
class ID3Classifier(ManyWayClassifier, Wording, Estimator):
    """ID3Classifier: a decision tree with a branch for every value of the column it splits on.

    Model       P(class k | x) = the share of class k among the training rows of the same leaf
    Objective   at each node the column with the largest gain  H(y) − Σᵥ p(x = v) H(y | x = v)  in bits
    Algorithm   greedy, from the root down; a column is split on once on a path; numbers are first cut into n_bins
                intervals of equal weight; a missing value is a value of its own; a value that a node has never
                seen gets the prediction of that node; ties go to the first column
    Cost        O(n p) time a level; the rows are kept while the tree grows
    Fails when  columns have very many values (they gain most, and predict nothing of new rows): use C45Classifier
    Reference   Quinlan 1986

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> model = tenfold.ID3Classifier(categorical_features=[0, 1]).fit(X, ["no", "no", "no", "yes"])
    >>> print(model.export_text())
    x0 = 0: no (2)
    x0 = 1
    |   x1 = 0: no (1)
    |   x1 = 1: yes (1)
    """

    edges_: list[Array] = learned("[float(*)](p)", "where the numbers of each column are cut")

    exempt: ClassVar[dict[str, str]] = {}

    n_bins: int = param(default=8, at_least=2, at_most=100_000, doc="intervals into which a column of numbers is cut")
    _: KW_ONLY
    max_depth: int | None = param(
        default=None, at_least=1, doc="largest depth; None: as many as there are columns"
    )
    min_samples_split: float = param(default=2, at_least=0, doc="weight of rows that a node needs to be split")
    min_gain: float = param(default=0.0, at_least=0, doc="gain in bits below which a node is not split")
    categorical_features: str | list[Any] | None = param(
        default="from_dtype", doc="columns of categories: 'from_dtype', a mask, numbers or names of columns, or None"
    )

    def _grown(self, X: Array, y: Array, w: Array, category: Array) -> dict[str, Any]:
        edges = [np.empty(0) if category[j] else quantile_edges(X[:, j], w, self.n_bins) for j in range(X.shape[1])]
        codes = coded(X, edges, category)
        n_classes = len(self.classes_)
        least = max(self.min_samples_split, 2e-300)

        def choose(rows: Array, weight: Array, counts: Array) -> Split | None:
            total = counts.sum()
            if total < least:
                return None
            gains = [_gain(codes[rows, j], y[rows], weight, counts) / total for j in range(codes.shape[1])]
            best = max(gains)
            if best < self.min_gain:  # a column of one value gains -1
                return None
            return Split(next(j for j, gain in enumerate(gains) if gain >= best - SAME * abs(best)), np.nan, best)

        tree = grow(codes, y, w, n_classes, choose, self.max_depth)
        return dict(tree_=tree, edges_=edges, category_=category)

    def _asked(self, X: Array) -> Array:
        return coded(X.astype(np.float64, copy=False), self.edges_, self.category_)

    def _edges_of(self, column: int) -> Array | None:
        return None if self.category_[column] else self.edges_[column]


def _gain(x: Array, y: Array, w: Array, counts: Array) -> float:
    """Information gain of the values of a column, in bits times the weight of the rows; -1 where there is only one value."""
    table = value_counts(x, y, w, len(counts))
    return max(float(bits(counts) - bits(table).sum()), 0.0) if len(table) > 1 else -1.0


def quantile_edges(x: Array, w: Array, n_bins: int) -> Array:
    """Midpoints between distinct values that cut a column into intervals of about equal weight."""
    known = ~np.isnan(x)
    values, code = np.unique(x[known], return_inverse=True)
    if len(values) < 2:
        return np.empty(0)
    last = np.arange(len(values) - 1)
    if len(values) > n_bins:
        cumulated = np.cumsum(np.bincount(code, w[known]))
        aims = np.arange(1, n_bins) / n_bins * cumulated[-1] * (1 - 1e-12)
        last = np.unique(np.searchsorted(cumulated[:-1], aims))
        last = last[last < len(values) - 1]
    return between(values[last], values[last + 1])


def coded(X: Array, edges: list[Array], category: Array) -> Array:
    """The number of its interval for each number; categories as they are; MISSING where nothing is known."""
    codes = np.empty(X.shape)
    for j, cuts in enumerate(edges):
        codes[:, j] = X[:, j] if category[j] else np.searchsorted(cuts, X[:, j])
    codes[np.isnan(X)] = MISSING
    return codes
