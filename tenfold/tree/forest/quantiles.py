"""Training targets by the leaves they fall into, and quantiles of those that share leaves with a row (Meinshausen 2006).

A forest predicts for a row x: target yᵢ has the weight (1/T) Σₜ wᵢ [i shares the leaf of x in tree t] / Σⱼ wⱼ [j shares it], over all
training rows, drawn for tree t or not. The quantile at level q is the least target at which these weights add up to q.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.engine import each
from tenfold.core.errors import BadParameter, NotFitted
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import group
from tenfold.tree.forest.binned_table import BinnedTable, values_of
from tenfold.tree.forest.growing import Forest
from tenfold.tree.structure.arrays import Trees

KEPT = ("_targets", "_target_weights", "_by_leaf", "_leaf_rows")
ROWS_AT_ONCE, ENTRIES_AT_ONCE = 256, 2**22
ROUNDING = 1e-9  # levels that are closer than this are equal
PLACES_AT_ONCE = 2**15  # of searches in leaves, one for each row, level and tree
LARGE_LEAF = 64  # rows of a leaf, times levels, from which on searching beats gathering


@group
class KeepsTargets(Forest):
    """Abstract: a forest that may keep its training targets by leaf (`keep_targets`), for quantiles."""

    _targets: Array = learned(
        "float(n)", "training targets in rising order, with keep_targets", optional=True, rows=True
    )
    _target_weights: Array = learned("float(n)", "their weights", optional=True)
    _by_leaf: Array = learned("int(t,n)<n", "by tree the rows in the order of their leaves", optional=True)
    _leaf_rows: Array = learned("int(*)", "by node how many rows end there", optional=True)

    def _stages(self, source: Source, sizes: list[int]) -> Learner[list[dict[str, Any]]]:
        for name in KEPT:  # of an earlier fit
            vars(self).pop(name, None)
        return (yield from super()._stages(source, sizes))

    def _kept(self, trees: Trees, table: BinnedTable) -> dict[str, Any]:
        return targets_by_leaf(trees, table) if self.keep_targets else {}

    def _objection(self) -> str | None:
        kept = [vars(self)[name] for name in KEPT if name in vars(self)]
        return targets_objection(self._trees, *kept) if len(kept) == len(KEPT) else None

    def predict_quantiles(self, X: Any, quantiles: Any = (0.1, 0.5, 0.9)) -> Array:
        """(rows, quantiles): quantiles of the training targets that share leaves with a row; (rows,) for one number.

        All training rows count by their weights, and every tree counts alike (Meinshausen 2006). Needs keep_targets=True.
        O(trees · rows of a leaf) time for each row that is asked for; where leaves are large O(trees · log² n) for each quantile,
        and weights that differ take 8 n bytes for each tree.
        """
        X = check.check_predict(self, X)
        levels = as_levels(quantiles, type(self).__name__)
        if not set(KEPT) <= set(vars(self)):
            raise NotFitted(
                f"{type(self).__name__}.predict_quantiles needs the training targets: fit with keep_targets=True"
            )
        kept = vars(self).get("_leaf_targets")
        if kept is None or kept.trees is not self._trees:  # made once: forests may have millions of nodes
            kept = vars(self)["_leaf_targets"] = LeafTargets(self._trees, *(vars(self)[name] for name in KEPT))
        flat = levels.ndim == 0

        def block(X: Any) -> Array:
            found = kept.quantiles(ops.dense(X), np.atleast_1d(levels)).astype(X.dtype, copy=False)
            return found[:, 0] if flat else found

        return map_rows(block, X)


def targets_by_leaf(trees: Trees, table: BinnedTable) -> dict[str, Array]:
    """Targets in ascending order with their weights; by tree the rows in the order of their leaves; by node how many rows end there."""
    y = table.y
    order = np.argsort(y, kind="stable")
    by_leaf = np.empty((len(trees), len(y)), dtype=np.int32)
    counts = np.zeros(len(trees.feature), dtype=np.int64)

    def walk(start: int) -> None:
        rows = order[start : start + 2**14]
        by_leaf[:, start : start + 2**14] = trees._packed.leaves(
            values_of(table.codes[rows], table.bins), 0, len(trees)
        ).T

    def sort(t: int) -> None:
        nodes = slice(trees.first[t], trees.first[t + 1])
        counts[nodes] = np.bincount(by_leaf[t], minlength=nodes.stop - nodes.start)
        by_leaf[t] = np.argsort(by_leaf[t], kind="stable")

    each(walk, list(range(0, len(y), 2**14)))
    each(sort, list(range(len(trees))))
    return dict(_targets=y[order], _target_weights=table.w[order], _by_leaf=by_leaf, _leaf_rows=counts)


def as_levels(quantiles: Any, owner: str) -> Array:
    """Levels of quantiles as an array."""
    try:
        levels = np.asarray(quantiles, dtype=np.float64)
    except (TypeError, ValueError):
        levels = np.empty((0, 0))
    if levels.ndim > 1 or not levels.size or not ((levels >= 0) & (levels <= 1)).all():
        raise BadParameter(
            f"{owner}.predict_quantiles(quantiles={quantiles!r}): must be one or more numbers from 0 to 1"
        )
    return levels


def targets_objection(trees: Trees, targets: Array, weights: Array, by_leaf: Array, rows: Array) -> str | None:
    """Why what a forest kept of its targets does not belong to its trees; None if it does. For forests that come from a file."""
    n = len(targets)
    sound = len(rows) == len(trees.feature) and bool((rows >= 0).all() and (rows <= n).all())
    sound = sound and bool(rows[trees.leaves()].all() and (weights > 0).all() and (np.diff(targets) >= 0).all())
    sound = sound and all(np.bincount(order, minlength=n).max(initial=0) == 1 for order in by_leaf)
    ends = np.cumsum(rows)[trees.first[1:] - 1] if sound else np.empty(0)
    if sound and np.array_equal(ends, n * np.arange(1, len(trees) + 1)):
        return None
    return "the targets that the forest keeps do not belong to its trees"


class LeafTargets:
    """What a forest kept of its training targets, for quantiles."""

    def __init__(self, trees: Trees, targets: Array, weights: Array, by_leaf: Array, rows: Array) -> None:
        ends = np.cumsum(rows)
        self.trees, self.targets, self.weights, self.rows = trees, targets, weights, rows
        self.by_leaf, self.starts = by_leaf.ravel(), ends - rows
        self.alike = bool((weights == weights[0]).all())
        self.sums: Array | None = None  # by tree, of the weights before each place
        if not self.alike and len(trees) * len(targets) > LARGE_LEAF * trees.leaves().sum():
            sums = self.sums = np.zeros((len(trees), len(targets) + 1))
            each(lambda t: np.cumsum(weights[by_leaf[t]], out=sums[t, 1:]), list(range(len(trees))))

    def quantiles(self, X: Array, levels: Array) -> Array:
        """(rows, levels) for a block of rows."""
        node = self.trees._packed.leaves(X, 0, len(self.trees)) + self.trees.first[:-1]
        quantiles = np.empty((len(X), len(levels)))
        each_row = self.rows[node].sum(axis=1)
        if (self.alike or self.sums is not None) and each_row.mean() > LARGE_LEAF * len(levels) * len(self.trees):
            at_once = max(1, PLACES_AT_ONCE // (len(levels) * len(self.trees)))
            for start in range(0, len(X), at_once):
                quantiles[start : start + at_once] = self._searched(node[start : start + at_once], levels)
            return quantiles
        at_once = int(np.clip(ENTRIES_AT_ONCE // max(int(each_row.max(initial=1)), 1), 1, ROWS_AT_ONCE))
        for start in range(0, len(X), at_once):
            part = slice(start, start + at_once)
            quantiles[part] = self._some(node[part], each_row[part], levels)
        return quantiles

    def _some(self, node: Array, each_row: Array, levels: Array) -> Array:
        """Rows with these leaves: the targets of all of them side by side, summed up once."""
        n, (m, n_trees) = len(self.targets), node.shape
        size, start = self.rows[node].ravel(), self.starts[node].ravel()
        before = np.cumsum(size) - size
        row = self.by_leaf[np.repeat(start - before, size) + np.arange(size.sum())]
        weight = self.weights[row]
        weight /= np.repeat(np.add.reduceat(weight, before), size)
        place = np.repeat(n * np.arange(m), each_row) + row
        if n < 12 * each_row.mean():  # many of the targets: a sum for each is quicker than sorting
            total = np.bincount(place, weight, minlength=m * n)
            place = np.arange(m * n)
        else:
            order = np.argsort(place)
            place, total = place[order], weight[order]
        reached = n_trees * (np.arange(m)[:, None] + np.maximum(levels - ROUNDING, ROUNDING))
        at = np.minimum(np.searchsorted(np.cumsum(total), reached), len(total) - 1)
        return np.asarray(self.targets[place[at] % n])

    def _searched(self, node: Array, levels: Array) -> Array:
        """The same where leaves are large: the place of each quantile among all targets is halved in on, and the weight up to it
        looked up in each leaf, whose rows are in the order of their targets."""
        size, start = self.rows[node][:, None, :], self.starts[node][:, None, :]
        wanted = len(self.trees) * np.maximum(levels - ROUNDING, ROUNDING)
        shape = (len(node), len(levels))
        low, high = np.full(shape, -1), np.full(shape, len(self.targets) - 1)
        begin = np.broadcast_to(start, (*shape, node.shape[1]))  # of each leaf, the rows after `low` ...
        end = begin + size  # ... and up to `high`
        whole = self._weight(start, start + size)
        while (high - low > 1).any():
            middle = (low + high) // 2
            after = self._after(begin, end, middle[..., None])
            reached = (self._weight(start, after) / whole).sum(axis=2) >= wanted
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
            begin, end = np.where(reached[..., None], begin, after), np.where(reached[..., None], after, end)
        return np.asarray(self.targets[high])

    def _weight(self, start: Array, stop: Array) -> Array:
        """The weight of the rows at these places of the trees, in units of their own where all weigh the same."""
        if self.sums is None:
            return stop - start
        sums, tree = self.sums.ravel(), np.arange(len(self.trees))
        return np.asarray(sums[stop + tree] - sums[start + tree])

    def _after(self, begin: Array, end: Array, row: Array) -> Array:
        """The first places from `begin` to `end` with rows beyond `row`."""
        for _ in range(int((end - begin).max()).bit_length()):
            middle = (begin + end) >> 1
            up = (begin < end) & (self.by_leaf.take(middle, mode="clip") <= row)
            begin, end = np.where(up, middle + 1, begin), np.where(up, end, np.maximum(middle, begin))
        return begin
