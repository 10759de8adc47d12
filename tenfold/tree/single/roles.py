"""Abstract: single trees for classes and for numbers, whatever their defaults. The learners are in `decision` and `extra`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Regressor
from tenfold.base.shares import TargetsClassifier
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, group, param
from tenfold.solve.class_weights import row_factors
from tenfold.tree.options import GAINS
from tenfold.tree.settings import refuse
from tenfold.tree.single.exact import Growth, Presorted
from tenfold.tree.single.tree import OneTree
from tenfold.tree.structure.arrays import Trees


@group
class ClassifierTree(TargetsClassifier, OneTree):
    """Abstract: one tree for classes."""

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


@group
class RegressorTree(Regressor, OneTree):
    """Abstract: one tree for numbers."""

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
