"""The exact path of the lasso, and least angle regression."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base.one_pass import OnePass
from tenfold.core.data import Block
from tenfold.core.errors import Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.core.stats import Moments
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.solve.few_rows import FewRows, RowProducts, rows_or_moments
from tenfold.solve.lars import Knots, Whole, lars_path

EPS = np.finfo(float).eps


@group
class PathRegressor(AffineRegressor):
    """Mixin: a path of solutions from moments, of which the last is used."""

    n_iter_: Any = learned("int|[int](q)", "steps; of several targets, as what follows, a list")
    alphas_: Any = learned("float(k)|[float(*)](q)", "penalties, or correlations, at the knots", like_x=True)
    coef_path_: Any = learned("float(p,k)|[float(p,*)](q)", "coefficients at the knots", like_x=True)
    active_: Any = learned("int(*)<p|[int(*)](q)", "columns with a coefficient, in the order in which they entered")
    events_: Any = learned("int(k)|[int(*)](q)", "the column that enters (j + 1) or leaves (−j − 1) at each knot")
    stats_: Any = learned("Moments(p+q)|FewRows(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    verbose: Any = param(default=False, doc="no effect: see tenfold.monitor")
    precompute: Any = param(default="auto", doc="no effect: cross-products are always formed")
    eps: float = param(default=EPS, at_least=0, doc="no effect: dependent columns are found by conditioning")
    copy_X: bool = param(default=True, doc="no effect: X is never changed")
    fit_path: bool = param(default=True, doc="no effect: the path is always kept")
    jitter: None = param(default=None, one_of=(None,), doc="only None: nothing is added to y")
    random_state: int | RandomState | None = param(default=None, doc="no effect: nothing is drawn")

    def _summarize(self, block: Block) -> FewRows | Moments:
        return rows_or_moments(block)

    def _walk(self, stats: FewRows | Moments, **options: Any) -> dict[str, Any]:
        if isinstance(stats, FewRows):
            mean, problems = RowProducts.of(stats, self.fit_intercept)
            paths = [lars_path(one, one.q, **options) for one in problems]
        else:
            mean, Sxx, Sxy = centred(stats, self.n_features_in_, self.fit_intercept)
            G = Whole(np.ascontiguousarray(Sxx))
            paths = [lars_path(G, np.ascontiguousarray(target), **options) for target in Sxy.T]
        for knots in paths:
            self._warn(knots)
        found = [
            dict(
                alphas_=knots.penalty / stats.weight,
                coef_path_=np.ascontiguousarray(knots.w.T),
                active_=knots.active,
                events_=knots.event,
                n_iter_=len(knots.penalty) - 1,
            )
            for knots in paths
        ]
        fitted = self._fitted(mean, np.column_stack([knots.w[-1] for knots in paths]))
        return fitted | (found[0] if self._flat else {name: [one[name] for one in found] for name in found[0]})

    def _warn(self, knots: Knots) -> None:
        if len(knots.barred):
            warn(
                f"{type(self).__name__}: column {knots.barred[0]} is a combination of columns that entered "
                f"before it, and was left out (in all {len(knots.barred)}): drop such columns",
                Degenerate,
                stacklevel=2,
            )


@estimator
class LassoLars(PathRegressor, OnePass):
    """LassoLars: the lasso by its exact, piecewise linear path.

    Model       y ≈ X w + b
    Objective   that of Lasso for every penalty from the largest down to alpha
    Algorithm   one pass of centred moments; from knot to knot, where a column enters or leaves;
                each knot is solved from the moments anew
    Cost        O(n p²) for the pass, O(p a + a³) a knot with a active columns, O(p²) memory;
                rows fewer than half of the columns: O(n p + a³) a knot, O(n p) memory
    Fails when  columns are dependent (those that add nothing are left out, with a warning)
    Reference   Osborne, Presnell & Turlach 2000; Efron, Hastie, Johnstone & Tibshirani 2004

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> y = np.array([-2.0, 4.0, -4.0, 2.0])
    >>> tenfold.LassoLars(alpha=0.5).fit(X, y).alphas_.round(6)
    array([3. , 1. , 0.5])
    """

    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    flattens: ClassVar[bool] = True

    alpha: float = param(default=1.0, at_least=0, doc="penalty strength at which the path ends", before="fit_intercept")
    _: KW_ONLY
    max_iter: int = param(default=500, at_least=1, doc="no effect: the path is finite and ends by itself", before="eps")
    positive: bool = param(default=False, doc="require w >= 0", before="jitter")

    def _solve(self, stats: FewRows | Moments) -> dict[str, Any]:
        last = float(self.alpha * stats.weight)
        return self._walk(stats, last=last, most=self.n_features_in_ + 1, lasso=True, positive=self.positive)


@estimator
class Lars(PathRegressor, OnePass):
    """Lars: least angle regression.

    Model       y ≈ X w + b
    Objective   none: all active columns keep the same, shrinking correlation with the residual
                (n_nonzero_coefs columns at most, or until the correlation is zero)
    Algorithm   as LassoLars, but no column leaves
    Cost        O(n p²) for the pass, O(p a + a³) for the a-th of at most p steps, O(p²) memory;
                rows fewer than half of the columns: O(n p + a³) a step, O(n p) memory
    Fails when  columns are dependent (those that add nothing are left out, with a warning)
    Reference   Efron, Hastie, Johnstone & Tibshirani 2004

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> y = np.array([-2.0, 4.0, -4.0, 2.0])
    >>> tenfold.Lars(n_nonzero_coefs=1).fit(X, y).coef_.round(6)
    array([2., 0.])
    """

    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    flattens: ClassVar[bool] = True

    _: KW_ONLY
    n_nonzero_coefs: int = param(default=500, at_least=1, doc="columns at most", before="eps")

    def _solve(self, stats: FewRows | Moments) -> dict[str, Any]:
        return self._walk(stats, last=0.0, most=int(self.n_nonzero_coefs), lasso=False, positive=False)
