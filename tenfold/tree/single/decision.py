"""Decision trees with exact thresholds. What a presorted table offers to other learners is in tenfold/tree/single/exact.py."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Regressor
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.solve.class_weights import row_factors
from tenfold.tree.options import GAINS
from tenfold.tree.settings import refuse
from tenfold.tree.single.exact import Growth, Presorted
from tenfold.tree.single.tree import OneTree
from tenfold.tree.structure.arrays import Trees
from tenfold.tree.structure.shares import TreeClassifier


@estimator
class DecisionTreeClassifier(TreeClassifier, OneTree):
    """DecisionTreeClassifier: a tree of splits on single columns, with class shares at its leaves.

    Model       P(class k | x) = the share of class k among the training rows in the leaf of x
    Objective   at each node the split with the largest loss of impurity (Gini: 1 − Σ pₖ²; entropy: −Σ pₖ log₂ pₖ),
                weights included; gain_ratio: of the columns whose best loss of entropy is at least their mean, the one with
                the largest loss / entropy of the two sides; then fewest leaves at the price ccp_alpha each
    Algorithm   every column is sorted once; a split parts the sorted lists, so that no node sorts again; thresholds half
                way between neighbours; missing values go to the side where they help more; categories are ordered by the
                share of the second class (of more classes: of the most frequent in the node) and cut as numbers are;
                of equal splits the first column and the lowest threshold win
    Cost        O(n p log n) time to sort and O(n p) for each level, O(n p) memory; the rows are kept while the tree grows
    Fails when  it is grown to the end on noisy rows (limit its leaves, or prune); many categories are mistaken for few
    Reference   Breiman, Friedman, Olshen & Stone 1984; gain ratio: Quinlan 1993

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> model = tenfold.DecisionTreeClassifier().fit(X, ["low", "low", "high", "high"])
    >>> print(model.export_text())
    x0 <= 2.50: low (2)
    x0 > 2.50: high (2)
    """

    _trees: Trees = learned("Trees(1,K)", "the tree")

    _: KW_ONLY
    criterion: str = param(
        default="gini",
        one_of=(*GAINS, "gain_ratio"),
        doc="what a split lowers; log_loss is entropy; gain_ratio divides by the entropy of the split itself",
        before="splitter",
    )
    class_weight: dict[Any, Any] | list[Any] | str | None = param(
        default=None,
        one_of=("balanced",),
        doc="factors of the classes' weights; of several targets a list of dicts",
        before="ccp_alpha",
    )
    monotonic_cst: list[Any] | None = param(
        default=None, doc="−1, 0 or 1 for each column: the second class falls or rises with it"
    )

    def _grow(self, rows: Presorted, growth: Growth, y: Array, w: Array) -> Trees:
        factors = row_factors(self, y, w)
        growth, weight = self._weighed(growth, w if factors is None else w * factors)
        if y.ndim == 1:
            return rows.grow(growth, y, weight, len(self.classes_))
        if self.criterion == "gain_ratio":
            raise refuse(self, "criterion", "gain_ratio is for one target, use entropy")
        return rows.grow_several(growth, y, weight, self._widths())

    def _class_shares(self, X: Any) -> Array:
        return self._trees.sums(ops.dense(X))

    def _errors(self, y: Any) -> Array:
        columns = np.asarray(y).reshape(len(y), -1).T
        codes = [
            check.encode(check.flat_labels(column, len(y)), classes)[1]
            for column, classes in zip(columns, self._classes_by_target(), strict=True)
        ]
        return np.hstack([np.eye(width)[own] for own, width in zip(codes, self._widths(), strict=True)])

    def _as_leaves(self, sums: Array) -> Array:
        parts = zip(self._by_target(self._trees.value), self._by_target(sums), strict=True)
        wrong = [own.sum(axis=1) - own[np.arange(len(own)), value.argmax(axis=1)] for value, own in parts]
        return np.asarray(np.sum(wrong, axis=0))

    def _objection(self) -> str | None:
        found, expected = self._trees.value.shape[1], sum(self._widths())
        return None if found == expected else f"the leaves have {found} values for {expected} classes"


@estimator
class DecisionTreeRegressor(Regressor, OneTree):
    """DecisionTreeRegressor: a tree of splits on single columns, with a number at each leaf.

    Model       ŷ(x) = the mean (absolute_error: the median) of the training targets in the leaf of x
    Objective   at each node the split with the largest loss of squared error (or of absolute error, or of Poisson
                deviance), weights included; then fewest leaves at the price ccp_alpha each
    Algorithm   every column is sorted once; a split parts the sorted lists, so that no node sorts again; thresholds half
                way between neighbours; missing values go to the side where they help more; categories are ordered by the
                mean of their targets and cut as numbers are; of equal splits the first column and the lowest threshold win
    Cost        O(n p log n) time to sort and O(n p) for each level (absolute_error: O(n p log n)), O(n p) memory; the rows
                are kept while the tree grows
    Fails when  it is grown to the end on noisy rows (limit its leaves, or prune); outside the range of the training rows
    Reference   Breiman, Friedman, Olshen & Stone 1984

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> model = tenfold.DecisionTreeRegressor(max_depth=1).fit(X, [1.0, 1.0, 5.0, 7.0])
    >>> model.rules()
    ['if x0 <= 2.50 then 1.00 (2)', 'if x0 > 2.50 then 6.00 (2)']
    """

    _trees: Trees = learned("Trees(1,*)", "the tree")

    multi_output: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "of columns that split a node equally well the first is taken",
        "several_targets": "one tree for all targets: its splits are those that suit them together",
    }

    _: KW_ONLY
    criterion: str = param(
        default="squared_error",
        one_of=("squared_error", "friedman_mse", "absolute_error", "poisson"),
        doc="the error of a node; friedman_mse is squared_error",
        before="splitter",
    )

    def _grow(self, rows: Presorted, growth: Growth, y: Array, w: Array) -> Trees:
        least, most = y.min(axis=0), y.max(axis=0)
        if self.criterion == "poisson" and ((least < 0) | (most <= 0)).any():
            bad = int(((least < 0) | (most <= 0)).argmax())
            what = "Some value(s) of y are negative which is not allowed" if least[bad] < 0 else "The sum of y is not positive. Necessary"
            raise BadInput(f"{what} for Poisson regression: y goes from {least[bad]:g} to {most[bad]:g}, so use squared_error")
        growth, weight = self._weighed(growth, w)
        return rows.grow(growth, y[:, 0], weight) if y.shape[1] == 1 else rows.grow_several(growth, y, weight)

    def _widths(self) -> list[int]:
        return [1] * self._trees.value.shape[1]

    @property
    def n_outputs_(self) -> int:
        """The number of target columns."""
        check.check_fitted(self)
        return len(self._widths())

    def _predict(self, X: Any) -> Array:
        found = self._trees.sums(ops.dense(X)).astype(X.dtype, copy=False)
        return found[:, 0] if found.shape[1] == 1 else found

    def _errors(self, y: Any) -> Array:
        y = check.real_target(check.as_column(y), len(y))
        return np.hstack([np.ones((len(y), 1)), y, y * y])

    def _as_leaves(self, sums: Array) -> Array:
        value, q = self._trees.value, self.n_outputs_
        one, y, squares = sums[:, :1], sums[:, 1 : 1 + q], sums[:, 1 + q :]
        return np.asarray(np.maximum(squares - 2 * value * y + value * value * one, 0.0).sum(axis=1))
