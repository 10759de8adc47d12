"""The group lasso: columns that come and go together."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.linear.lasso import SparseRegressor
from tenfold.solve.coordinate import Products, Solution, without_l1
from tenfold.solve.few_rows import FewRows, RowProducts, rows_or_moments
from tenfold.solve.groups import GroupDescent


@estimator
class GroupLasso(SparseRegressor, OnePass):
    """GroupLasso: least squares with a penalty that sets whole groups of coefficients to zero.

    Model       y ≈ X w + b
    Objective   min over w, b of  1/(2 Σ s) Σᵢ sᵢ (yᵢ − xᵢ·w − b)² + alpha Σ over groups of weight_g ‖w_g‖,
                weight_g the root of the number of columns of the group, unless given
    Algorithm   one pass of centred moments; groups that violate optimality enter a working set, in which each is minimised exactly in
                turn (a scalar equation); then Newton steps on the groups that are not zero, until all conditions hold
    Cost        O(n p²) time and O(p²) memory for the pass, O(p · columns in use) a sweep; rows fewer than half of the columns:
                they are kept, O(n p) memory, O(n p) for each group of a sweep
    Fails when  the columns of the groups in use are dependent: one of many solutions
                (warns NotConverged where max_iter sweeps do not bring the duality gap to tol)
    Reference   Yuan & Lin 2006; exact steps: Puig, Wiesel & Hero 2011

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> y = X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=200)
    >>> tenfold.GroupLasso(alpha=0.2, groups=["a", "a", "b", "b"]).fit(X, y).coef_.round(1)
    array([ 0.9, -1.7,  0. ,  0. ])
    """

    group_of_: Array = learned("int(p)", "the group of each column, by number")
    stats_: Any = learned("Moments(p+q)|FewRows(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    path: ClassVar[str | None] = "alpha"
    summary_reads: ClassVar[tuple[str, ...] | None] = ()

    alpha: float = param(default=1.0, at_least=0, doc="penalty strength")
    groups: Any = param(
        default=None, doc="a label for each column, or how many neighbours form a group; None: each alone (the lasso)"
    )
    _: KW_ONLY
    weights: Any = param(
        default=None, doc="one number > 0 for each group, in the order of sorted labels; None: √(its columns)"
    )
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    max_iter: int = param(default=1000, at_least=1, doc="sweeps over the working set")
    tol: float = param(
        default=1e-4, at_least=0, doc="a NotConverged warning where the duality gap is more than tol Σ s y²"
    )

    positive: ClassVar[bool] = False  # coefficients of a group point anywhere

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"alpha": 0.1}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._codes()
        return (yield from OnePass._learn(self, source))

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        return OnePass._fit_path(self, source, name, values)

    def _summarize(self, block: Block) -> FewRows | Moments:
        return rows_or_moments(block)

    def _solve_path(self, stats: Any, values: list[float]) -> list[dict[str, Any]]:
        codes, _ = self._codes()
        return [dict(fitted, group_of_=codes) for fitted in super()._solve_path(stats, values)]

    def _problems(self, stats: FewRows | Moments) -> tuple[Array, list[Any]]:
        return RowProducts.of(stats, self.fit_intercept) if isinstance(stats, FewRows) else super()._problems(stats)

    def _along(self, problem: Products | RowProducts, weight: float, alphas: Array, start: Array | None = None) -> list[Solution]:
        codes, strength = self._codes()
        descent = GroupDescent(problem, codes)
        found = []
        for alpha in alphas:
            if alpha == 0:
                found.append(self._unpenalised(problem))
                continue
            found.append(descent.solve(alpha * weight * strength, self.max_iter))
            self._warn(found[-1], problem.yy, float(alpha))
        return found

    def _unpenalised(self, problem: Products | RowProducts) -> Solution:
        if isinstance(problem, RowProducts):
            return Solution(problem.least_norm("GroupLasso(alpha=0)"), 0.0, 1)
        return without_l1(problem, 0.0, False, "GroupLasso(alpha=0)")

    def _codes(self) -> tuple[Array, Array]:
        """The number of the group of each column, and the weight of each group."""
        p = self.n_features_in_
        if self.groups is None:
            codes = np.arange(p)
        elif np.ndim(self.groups) == 0:
            codes = np.arange(p) // self._width()
        else:
            labels = np.asarray(self.groups)
            if labels.ndim != 1 or len(labels) != p or labels.dtype.kind not in "iufbUS":
                raise BadParameter(
                    f"GroupLasso(groups={check.short(self.groups)}): must be {p} labels, one for each column, or the number of "
                    "neighbouring columns in a group"
                )
            codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
        size = np.bincount(codes)
        return codes, np.sqrt(size) if self.weights is None else self._given(len(size))

    def _width(self) -> int:
        width = self.groups
        if isinstance(width, bool) or not isinstance(width, (int, np.integer)) or not 1 <= width < 2**31:
            raise BadParameter(
                f"GroupLasso(groups={check.short(width)}): must be a whole number >= 1, or a label for each column"
            )
        return int(width)

    def _given(self, count: int) -> Array:
        try:
            weights = np.asarray(self.weights, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if len(weights) != count or not ((weights > 0) & (weights <= 1e50)).all():
            raise BadParameter(
                f"GroupLasso(weights={check.short(self.weights)}): must be {count} numbers > 0, one for each group"
            )
        return weights
