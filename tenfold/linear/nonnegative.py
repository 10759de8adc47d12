"""Least squares with coefficients that are not negative."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.solve.few_rows import FewRows, rows_or_moments
from tenfold.solve.least_squares import triangle_of
from tenfold.solve.nonnegative import Crossed, Factored, Problem, certificate, nonnegative_exact, scaled_condition

EASY = 1e3  # condition of the columns up to which their cross-products keep ten digits
IDLE = 1e-12  # a column outside the support that pulls no more than this, all lengths being 1, could be inside


@estimator
class NonNegativeLeastSquares(AffineRegressor, OnePass):
    """NonNegativeLeastSquares: least squares with w ≥ 0, and the proof that it is the minimum.

    Model       y ≈ X w + b,  w ≥ 0
    Objective   min over w ≥ 0, b of  Σᵢ sᵢ (yᵢ − xᵢ·w − b)²      (b is free; none with fit_intercept=False)
    Algorithm   one pass of centred moments; all columns of the wrong sign change sides at once, and if that does not settle
                one at a time. Columns of condition above 1e3: a second pass of triangular factors, so that no digits are lost
    Cost        O(n p²) time, O(p²) memory, one pass (two for badly conditioned columns);
                rows fewer than half of the columns: they are kept, O(n p) time for each column that enters, O(n p) memory
    Fails when  columns are dependent and several solutions are equally good: one is returned, with a warning (Degenerate)
    Reference   Lawson & Hanson 1974; exchanges: Portugal, Júdice & Vicente 1994

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> model = tenfold.NonNegativeLeastSquares(fit_intercept=False).fit(X, [2.0, 1.0, -1.0])
    >>> model.coef_.round(6), model.multipliers_.round(6)
    (array([1.5, 0. ]), array([0. , 1.5]))
    """

    certificate_: Any = learned(
        "float(q)", "largest violation of the conditions of the minimum, with columns and target of length 1"
    )
    multipliers_: Array = learned("float(q,p)", "how steeply half the objective rises at a coefficient that is zero")
    n_iter_: Any = learned("int(q)", "systems solved")
    solver_: str = learned("str", "the solver that was used")
    stats_: Any = learned("Moments(p+q)|FewRows(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True

    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    tol: float = param(default=1e-9, at_least=0, doc="bound on certificate_, beyond which there is a NotConverged warning")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"fit_intercept": False}]

    def _summarize(self, block: Block) -> FewRows | Moments:
        return rows_or_moments(block)

    def _exact(self, stats: FewRows | Moments) -> bool:
        return isinstance(stats, FewRows) or scaled_condition(centred(stats, self.n_features_in_, self.fit_intercept)[1]) <= EASY

    def _solve(self, stats: FewRows | Moments) -> dict[str, Any]:
        if isinstance(stats, FewRows):
            mean, Z, t = stats.centred(self.fit_intercept)
            return self._found(mean, [Factored.of(Z, np.ascontiguousarray(one)) for one in t.T], "rows")
        p = self.n_features_in_
        mean, Sxx, Sxy = centred(stats, p, self.fit_intercept)
        yy = np.diagonal(stats.scatter)[p:]
        yy = yy if self.fit_intercept else yy + stats.weight * mean[p:] ** 2
        problems = [Crossed.of(Sxx, np.ascontiguousarray(q), float(s)) for q, s in zip(Sxy.T, yy, strict=True)]
        return self._found(mean, problems, "moments")

    def _refine(self, source: Source, stats: Moments) -> Learner[dict[str, Any]]:
        """The columns are nearly dependent: a triangle instead of cross-products."""
        first, p = int(self.fit_intercept), source.n_features
        R = (yield partial(triangle_of, fit_intercept=self.fit_intercept)).R
        mean, spread = stats.mean, np.diagonal(centred(stats, p, self.fit_intercept)[1])
        Z = np.where(spread > 0, R[first:, first : first + p], 0.0)  # what is left of a constant column is rounding
        problems = [Factored.of(Z, y) for y in R[first:, first + p :].T]
        return self._found(mean, problems, "triangle")

    def _found(self, mean: Array, problems: list[Any], solver: str) -> dict[str, Any]:
        """One solution for each target, with its proof."""
        found = [nonnegative_exact(one, self.n_features_in_) for one in problems]
        proof = [certificate(one, w) for one, (w, _) in zip(problems, found, strict=True)]
        rise = np.array([np.where(w > 0, 0.0, -one.pull(w)) for one, (w, _) in zip(problems, found, strict=True)])
        for one, (w, _), wrong in zip(problems, found, proof, strict=True):
            self._warn(one, w, wrong)
        steps = [n for _, n in found]
        flat = self._flat
        return dict(
            self._fitted(mean, np.column_stack([w for w, _ in found])),
            certificate_=proof[0] if flat else np.array(proof),
            multipliers_=rise[0] if flat else rise,
            n_iter_=steps[0] if flat else np.array(steps, dtype=np.int64),
            solver_=solver,
        )

    def _warn(self, problem: Problem, w: Array, wrong: float) -> None:
        if wrong > self.tol:
            warn(
                f"NonNegativeLeastSquares: the conditions of the minimum are violated by {wrong:.2g}, more than tol={self.tol:g}: "
                "scale the columns, or drop those that nearly repeat others",
                NotConverged,
                stacklevel=2,
            )
        idle = (w == 0) & (np.abs(problem.pull(w)) <= IDLE * problem.size * (problem.scale or 1.0))
        idle &= problem.present
        if idle.any() and problem.on(np.flatnonzero(idle | (w > 0))) is None:
            warn(
                f"NonNegativeLeastSquares: column {int(np.flatnonzero(idle)[0])} depends on others, so that several solutions are "
                "equally good, of which one was returned: drop such columns",
                Degenerate,
                stacklevel=2,
            )
