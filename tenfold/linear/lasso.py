"""The lasso and the elastic net."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base.estimator import Estimator
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.core.stats import Moments, Stats
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.linear.warm import WarmStart
from tenfold.solve.coordinate import Products, Solution, Wide, descend, finish, wide_exact, without_l1

# With more columns than this the rows are kept instead of p x p cross-products.
WIDE = 4000


@group
class SweepOptions:
    """What coordinate descent takes."""

    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    precompute: Any = param(default=False, doc="no effect: cross-products are formed where they are cheaper")
    max_iter: int = param(default=1000, at_least=1, doc="sweeps of coordinate descent for each penalty")
    tol: float = param(default=1e-4, at_least=0, doc="descent ends when the duality gap is at most tol Σ s y²")
    positive: bool = param(default=False, doc="require w >= 0")
    random_state: int | RandomState | None = param(default=None, doc="no effect: nothing is drawn")
    selection: str = param(default="cyclic", one_of=("cyclic", "random"), doc="no effect: columns are swept in order")


@group
class PenaltyOptions(SweepOptions, WarmStart):
    """One penalty, given."""

    alpha: float = param(default=1.0, at_least=0, doc="penalty strength", before="fit_intercept")
    _: KW_ONLY
    warm_start: bool = param(
        default=False, doc="begin at the coefficients of the fit before; they end at the same place", before="positive"
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Learn from rows; check_input has no effect: looking at the rows costs less than reading them."""
        found: Self = super().fit(X, y, sample_weight)
        return found


class SparseRegressor(AffineRegressor):
    """Mixin: least squares with an L1 penalty, from moments or, for very many columns, from the rows."""

    dual_gap_: Any = learned("float(q)", "bound on how far the objective is above its minimum")
    n_iter_: Any = learned("int(q)", "sweeps over the columns; 0 where a warm start was good to tol")

    @property
    def sparse_coef_(self) -> Any:
        """`coef_` as a sparse matrix, one row for each target."""
        from scipy.sparse import csr_matrix

        return csr_matrix(self.coef_)

    def _ratio(self) -> float:
        return 1.0

    def _penalties(self, weight: float, alphas: Array) -> tuple[Array, Array]:
        """l1 and l2 of the objective in sums, which is the one in means times Σ s."""
        return alphas * self._ratio() * weight, alphas * (1 - self._ratio()) * weight

    def _summarize(self, block: Block) -> Stats:
        return Moments.of(block.X, block.y, block.w)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if source.n_features > WIDE and self.alpha * self._ratio() > 0:
            return self._from_rows(*as_float64((yield Keep(sparse=True))))
        return (yield from super()._learn(source))

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        if source.n_features > WIDE:
            return Estimator._fit_path(self, source, name, values)
        return super()._fit_path(source, name, values)

    def _solve(self, stats: Moments) -> dict[str, Any]:
        return self._solve_path(stats, [self.alpha])[0]

    def _solve_path(self, stats: Moments, values: list[float]) -> list[dict[str, Any]]:
        """From the largest penalty to the smallest, each started from the one before."""
        mean, problems = self._problems(stats)
        order = np.argsort(-np.asarray(values), kind="stable")
        found = []
        for j, problem in enumerate(problems):
            found.append(self._along(problem, stats.weight, np.asarray(values, dtype=np.float64)[order], self._begin(j)))
        fits: list[dict[str, Any]] = [{} for _ in values]
        for i, place in enumerate(order):
            fits[place] = self._attributes(mean, [one[i] for one in found], stats.weight)
        return fits

    def _problems(self, stats: Moments) -> tuple[Array, list[Any]]:
        """The mean of (X, y), and the problem of each target."""
        mean, Sxx, Sxy = centred(stats, self.n_features_in_, self.fit_intercept)
        yy = np.diagonal(stats.scatter)[len(Sxx) :]
        yy = yy if self.fit_intercept else yy + stats.weight * stats.mean[len(Sxx) :] ** 2
        G = np.ascontiguousarray(Sxx)
        return mean, [Products(G, np.ascontiguousarray(q), float(s)) for q, s in zip(Sxy.T, yy, strict=True)]

    def _begin(self, j: int) -> Array | None:
        """The coefficients of target j that a warm start begins with."""
        coef = self._before.get("coef_")
        return None if coef is None else np.ascontiguousarray(np.atleast_2d(coef)[j], dtype=np.float64)

    def _along(self, problem: Products, weight: float, alphas: Array, start: Array | None = None) -> list[Solution]:
        l1, l2 = self._penalties(weight, alphas)
        some = int((l1 > 0).sum())
        options = dict(positive=self.positive, tol=self.tol, most=self.max_iter)
        rough = descend(problem, l1[:some], l2[:some], **options, start=start)
        exact = [finish(problem, l1[i], l2[i], rough[i], self.positive) for i in range(some)]
        for i, one in enumerate(exact):
            self._warn(one, problem.yy, float(alphas[i]))
        name = f"{type(self).__name__}(alpha=0)"
        return exact + [without_l1(problem, l2[i], self.positive, name) for i in range(some, len(alphas))]

    def _warn(self, found: Solution, yy: float, alpha: float) -> None:
        if found.gap > max(self.tol, 1e-12) * yy:
            warn(
                f"{type(self).__name__}(alpha={alpha:g}): Objective did not converge. You might want to increase the number of "
                f"iterations. The duality gap is {found.gap:.3g} after "
                f"{found.sweeps} sweeps, more than tol · Σ y² = {self.tol * yy:.3g}: "
                "increase max_iter, scale the columns, or increase alpha",
                NotConverged,
                stacklevel=2,
            )

    def _attributes(self, mean: Array, found: list[Solution], weight: float) -> dict[str, Any]:
        fitted = self._fitted(mean, np.column_stack([one.w for one in found]))
        gaps, sweeps = [one.gap / weight for one in found], [one.sweeps for one in found]
        flat = self._flat
        return dict(
            fitted,
            dual_gap_=gaps[0] if flat else np.array(gaps),
            n_iter_=sweeps[0] if flat else np.array(sweeps, dtype=np.int64),
        )

    def _from_rows(self, X: Any, y: Array, w: Array) -> dict[str, Any]:
        weight = float(w.sum())
        columns, center = columns_of(X, w, self.fit_intercept)
        l1, l2 = (float(part[0]) for part in self._penalties(weight, np.array([self.alpha])))
        found, levels = [], []
        for j, target in enumerate(np.ascontiguousarray(y.T)):
            problem = Wide(columns, target, w, self.fit_intercept, self.positive)
            if (start := self._begin(j)) is not None and len(support := np.flatnonzero(start)):
                problem.enter(support, start[support])
            found.append(wide_exact(problem, l1, l2, self.tol, self.max_iter))
            levels.append(problem.level)
            self._warn(found[-1], problem.yy, float(self.alpha))
        return self._attributes(np.concatenate([center + problem.mean, levels]), found, weight)


def columns_of(X: Any, w: Array, fit_intercept: bool) -> tuple[Any, Array]:
    """X transposed, and what was taken off its columns: sparse ones are centred as they are needed, dense ones once and for all."""
    if ops.is_sparse(X):
        return X.T.tocsr(), np.zeros(X.shape[1])
    center = (w / w.sum()) @ X if fit_intercept else np.zeros(X.shape[1])
    return np.ascontiguousarray((X - center).T), center


def as_float64(rows: tuple[Any, Array, Array]) -> tuple[Any, Array, Array]:
    """X (an array or CSR), y and w in double precision."""
    X, y, w = rows
    return X.astype(np.float64, copy=False), y, w


@estimator
class Lasso(PenaltyOptions, SparseRegressor, OnePass):
    """Lasso: least squares with an L1 penalty, which sets coefficients to zero.

    Model       y ≈ X w + b
    Objective   min over w, b of  1/(2 Σ s) Σᵢ sᵢ (yᵢ − xᵢ·w − b)² + alpha ‖w‖₁    (w ≥ 0 with positive=True)
    Algorithm   one pass of centred moments; coordinate descent over a growing working set until the gap
                is at most tol Σ s y²; then the exact solution on the support by an active-set method.
                More than 4,000 columns: the rows are kept, and only violating columns get products
    Cost        O(n p²) time and O(p²) memory for the pass, O(p · support) a sweep; by rows O(n p) a check
    Fails when  columns of the support are dependent: then one of many solutions is returned, good to tol
                (warns NotConverged where max_iter sweeps do not reach tol)
    Reference   Tibshirani 1996; Friedman, Hastie & Tibshirani 2010; finish: Osborne, Presnell & Turlach 2000

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> y = np.array([-3.0, 3.0, -3.1, 3.1])
    >>> tenfold.Lasso(alpha=0.5).fit(X, y).coef_.round(3)
    array([2.55, 0.  ])
    """

    stats_: Any = learned("Moments(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    flattens: ClassVar[bool] = True
    path: ClassVar[str | None] = "alpha"

    _: KW_ONLY
    copy_X: bool = param(default=True, doc="no effect: X is never changed", before="max_iter")


@estimator
class ElasticNet(PenaltyOptions, SparseRegressor, OnePass):
    """ElasticNet: least squares with a mixed L1 and L2 penalty.

    Model       y ≈ X w + b
    Objective   min over w, b of  1/(2 Σ s) Σᵢ sᵢ (yᵢ − xᵢ·w − b)²
                + alpha l1_ratio ‖w‖₁ + ½ alpha (1 − l1_ratio) ‖w‖²      (w ≥ 0 with positive=True)
    Algorithm   as Lasso, with l2 added to the curvature of each coordinate
    Cost        as Lasso
    Fails when  as Lasso; with l1_ratio < 1 dependent columns share, and the solution is unique
    Reference   Zou & Hastie 2005; Friedman, Hastie & Tibshirani 2010

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> y = np.array([-3.0, 3.0, -3.1, 3.1])
    >>> tenfold.ElasticNet(alpha=0.5, l1_ratio=0.5).fit(X, y).coef_.round(3)
    array([2.24, 0.  ])
    """

    stats_: Any = learned("Moments(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    flattens: ClassVar[bool] = True
    path: ClassVar[str | None] = "alpha"

    _: KW_ONLY
    l1_ratio: float = param(
        default=0.5,
        at_least=0,
        at_most=1,
        doc="share of the L1 penalty: 1 is the lasso, 0 ridge",
        before="fit_intercept",
    )
    copy_X: bool = param(default=True, doc="no effect: X is never changed", before="tol")

    def _ratio(self) -> float:
        return float(self.l1_ratio)
