"""Figures of a forest from rows that its trees have not seen: which columns it needs, how alike its trees are,
and how right it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadInput
from tenfold.tree.forest.binned_table import BinnedTable, values_of
from tenfold.tree.settings import refuse
from tenfold.tree.structure.arrays import Trees


@dataclass(frozen=True)
class TreeCorrelation:
    """How alike the errors of the trees are, and how many trees are worth growing."""

    correlation: float
    n_worth_growing: float  # from here on the variance that more trees remove is a tenth of what stays


@dataclass(frozen=True)
class OutOfBagImportance:
    """How much worse each tree becomes on rows that it has not seen, when a column is shuffled among them."""

    losses: Array = field(repr=False)  # (trees, columns): of accuracy, or the rise of the squared error
    columns: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        width = max(map(len, self.columns), default=0)
        found = sorted(zip(self.importances_mean, self.standard_error, self.columns, strict=True), reverse=True)
        lines = [f"what {len(self.losses)} trees lose on rows they have not seen when a column is shuffled"]
        lines += [f"{name:>{width}}  {mean:>10.4g} ± {error:.2g}" for mean, error, name in found]
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def importances_mean(self) -> Array:
        """(columns,): the mean over the trees; about 0 for a column without information."""
        return np.asarray(self.losses.mean(axis=0))

    @property
    def standard_error(self) -> Array:
        """(columns,): of the means, over the trees; NaN for one tree."""
        n = len(self.losses)
        return (
            np.asarray(self.losses.std(axis=0, ddof=1) / np.sqrt(n)) if n > 1 else np.full(self.losses.shape[1], np.nan)
        )


def tree_correlation(error: Array) -> TreeCorrelation:
    """From the errors (trees, rows)."""
    error = error - error.mean(axis=1, keepdims=True)
    spread = np.sqrt((error**2).mean(axis=1))
    pairs = spread.sum() ** 2 - (spread**2).sum()
    together = (error.sum(axis=0) ** 2).mean() - (spread**2).sum()
    rho = float(together / pairs) if pairs > 0 else 1.0
    return TreeCorrelation(rho, float("inf") if rho <= 0 else max(1.0, float(np.ceil(10 * (1 - rho) / rho))))


def out_of_bag(table: BinnedTable, seed: int) -> Array:
    """The rows that the tree of this seed has not seen: a tree without splits draws the same rows."""
    _, leaf = table.forest.tree(
        seed, random=False, max_depth=0, min_split=2, min_leaf=1, min_weight_share=0.0, max_features=1, max_leaves=-1,
        min_decrease=0.0, monotonic=np.empty(0, dtype=np.int64),
    )  # fmt: skip
    return np.flatnonzero(leaf >= 0)


def oob_importance(
    table: BinnedTable,
    trees: Trees,
    seeds: list[int],
    times: Array,
    wrong: Callable[[Array, Array], Array],
    seed: int,
    owner: str,
) -> OutOfBagImportance:
    """`wrong` (outputs of a tree, targets) is the loss by row; `times` how often each row was out of bag in the fit."""
    again = np.zeros(len(table.y), dtype=np.int64)
    for rows in each(lambda one: out_of_bag(table, one), seeds):
        again[rows] += 1
    if not np.array_equal(again, times):
        raise BadInput(
            f"{owner}.oob_importance: these are not the rows on which the forest has grown: "
            "give the same rows, targets and weights in the same order"
        )

    def losses(t: int) -> Array | None:
        rows = out_of_bag(table, seeds[t])
        if not len(rows):
            return None
        X, y, w = values_of(table.codes[rows], table.bins), table.y[rows], table.w[rows]
        rng = np.random.default_rng([seed, t])
        lost = np.zeros(X.shape[1])
        before = np.average(wrong(trees.sums(X, t, t + 1), y), weights=w)
        asked: Any = trees.feature[trees.first[t] : trees.first[t + 1]]
        for j in np.unique(asked[asked >= 0]):
            kept = X[:, j].copy()
            X[:, j] = kept[rng.permutation(len(rows))]
            lost[j] = np.average(wrong(trees.sums(X, t, t + 1), y), weights=w) - before
            X[:, j] = kept
        return lost

    return OutOfBagImportance(np.stack([one for one in each(losses, list(range(len(trees)))) if one is not None]))


def joint_accuracy(model: Any, mean: Array, y: Array, w: Array) -> float:
    """The share of rows with every target right, or what a function of (truth, prediction) says of labels (rows, targets)."""
    if isinstance(model.oob_score, str):
        raise refuse(model, "oob_score", f"names are for one target, and y has {y.shape[1]} columns: give a function")
    codes = np.column_stack([shares.argmax(axis=1) for shares in model._by_target(mean)])
    if not callable(model.oob_score):
        return float(np.average((codes == y).all(axis=1), weights=w))
    truth, predicted = (
        np.column_stack([own[column.astype(np.int64)] for own, column in zip(model.classes_, part.T, strict=True)])
        for part in (y, codes)
    )
    return float(model.oob_score(truth, predicted))


def determination(y: Array, mean: Array, w: Array) -> float:
    """R² of one target."""
    rest = float(w @ (y - mean) ** 2)
    spread = float(w @ (y - np.average(y, weights=w)) ** 2)
    return 1 - rest / spread if spread > 0 else float(rest == 0)
