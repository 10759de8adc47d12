"""Sparse least squares, greedily: orthogonal matching pursuit."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block, Source, block_rows
from tenfold.core.errors import Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.solve.pursuit import FromMoments, FromRows, Pursuit, Supplier, pursue

# Rows are kept, and products made column by column, where there are more columns than this, or more than FEW and rows that
# take little more memory than all cross-products would.
WIDE, FEW, ROWS_FOR_A_COLUMN = 4000, 500, 4


@estimator
class OrthogonalMatchingPursuit(AffineRegressor, OnePass):
    """OrthogonalMatchingPursuit: least squares on few columns, found one after the other.

    Model       y ≈ X w + b with few w that are not zero
    Objective   none over all choices of columns (that is NP-hard): each step takes the column with the largest
                |Σ s x̃ r| (Σ s x̃ r with positive=True), r what is left of y, and solves least squares on those taken so far
    Algorithm   a Cholesky factor that grows by a row a step, on the moments of one pass. For many columns the rows are
                kept and products made for columns that may be taken, sixteen at a time. With positive=True columns may leave
    Cost        moments: O(n p²) time, O(p²) memory, one pass; rows: O(n p) a step; both O(p k) for the k-th step
    Fails when  columns correlate (greed may take a wrong one first: see Lasso); columns have different units, as the
                choice is by covariance: scale them first. Dependent columns are left out, with a warning (Degenerate)
    Reference   Pati, Rezaiifar & Krishnaprasad 1993; Rubinstein, Zibulevsky & Elad 2008; w ≥ 0: Bruckstein et al. 2008

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> y = np.array([-2.0, 4.0, -4.0, 2.0])
    >>> tenfold.OrthogonalMatchingPursuit(n_nonzero_coefs=1).fit(X, y).coef_.round(6)
    array([3., 0.])
    """

    n_iter_: Any = learned("int(q)", "steps")
    n_nonzero_coefs_: Any = learned("int|none", "the most columns with a coefficient")
    coef_path_: Array = learned("float(q,p,k)", "coefficients with 0, 1, ..., k − 1 columns; (p, k) for one target")
    active_: Array = learned("int(*)<p", "one target: the columns, in the order in which they entered", optional=True)
    stats_: Any = learned("Moments(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    flattens: ClassVar[bool] = True
    path: ClassVar[str | None] = "n_nonzero_coefs"

    _: KW_ONLY
    n_nonzero_coefs: int | None = param(default=None, at_least=1, doc="columns at most; None: a tenth of them")
    tol: float | None = param(
        default=None, at_least=0, doc="end when Σ s r² is at most this, whatever n_nonzero_coefs is"
    )
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    precompute: bool | str = param(
        default="auto",
        one_of=("auto", True, False),
        doc="True: from moments; False: keep the rows; auto: by the shape of X",
    )
    positive: bool = param(default=False, doc="require w >= 0")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_nonzero_coefs": 4}, {"n_nonzero_coefs": 4, "positive": True}]

    def _summarize(self, block: Block) -> Moments:
        return Moments.of_block(block)

    def _by_rows(self, source: Source) -> bool:
        if self.precompute != "auto":
            return not self.precompute
        p, n = source.n_features, source.n_rows
        return p > WIDE or (p > FEW and n is not None and n <= ROWS_FOR_A_COLUMN * p)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if not self._by_rows(source):
            return (yield from super()._learn(source))
        X, y, w = yield Keep(sparse=True)
        step = block_rows(source.n_features)
        cuts = [slice(start, start + step) for start in range(0, len(w), step)]
        rows = FromRows([(X[cut], y[cut], w[cut]) for cut in cuts], self.fit_intercept)
        found = self._pursuits(rows, rows.q, rows.yy, self.n_nonzero_coefs)
        return self._attributes(np.concatenate([rows.center, rows.level]), found, self.n_nonzero_coefs)

    def _solve(self, stats: Moments) -> dict[str, Any]:
        return self._solve_path(stats, [self.n_nonzero_coefs])[0]

    def _solve_path(self, stats: Moments, values: list[int | None]) -> list[dict[str, Any]]:
        """A longer pursuit begins as a shorter one does: one for all."""
        p = self.n_features_in_
        mean, Sxx, Sxy = centred(stats, p, self.fit_intercept)
        yy = np.diagonal(stats.scatter)[p:]
        yy = yy if self.fit_intercept else yy + stats.weight * mean[p:] ** 2
        found = self._pursuits(FromMoments(np.ascontiguousarray(Sxx)), Sxy, yy, max(values, key=self._most))
        return [self._attributes(mean, found, value) for value in values]

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        if self._by_rows(source):
            return Estimator._fit_path(self, source, name, values)
        return super()._fit_path(source, name, values)

    def _most(self, asked: int | None) -> int:
        """How many columns at most; by `tol` alone, all of them."""
        p = int(self.n_features_in_)
        if self.tol is not None:
            return p
        return max(p // 10, 1) if asked is None else min(int(asked), p)

    def _pursuits(self, products: Supplier, q: Array, yy: Array, asked: int | None) -> list[Pursuit]:
        """One for each target."""
        most = self._most(asked)
        found = []
        for j in range(q.shape[1]):
            target = np.ascontiguousarray(q[:, j])
            found.append(pursue(products, target, float(yy[j]), most=most, rest=self.tol, positive=self.positive))
            self._warn(found[-1], most)
        return found

    def _attributes(self, mean: Array, found: list[Pursuit], asked: int | None) -> dict[str, Any]:
        """The fitted attributes, the pursuits cut off where the number of columns asked for is reached."""
        most = self._most(asked)
        paths = [one.path[: most + 1].T for one in found]
        longest = max(path.shape[1] for path in paths)
        whole = np.stack([np.pad(path, ((0, 0), (0, longest - path.shape[1])), mode="edge") for path in paths])
        fitted = self._fitted(mean, whole[:, :, -1].T)
        fitted["n_nonzero_coefs_"] = None if self.tol is not None else most
        steps = [min(one.steps, most) if not self.positive else one.steps for one in found]
        if not self._flat:
            return dict(fitted, coef_path_=whole, n_iter_=np.array(steps, dtype=np.int64))
        active = np.flatnonzero(fitted["coef_"]) if self.positive else found[0].active[:most]
        return dict(fitted, coef_path_=np.ascontiguousarray(whole[0]), active_=active, n_iter_=steps[0])

    def _warn(self, found: Pursuit, most: int) -> None:
        if len(found.dependent) and len(found.active) < most:
            warn(
                f"OrthogonalMatchingPursuit: column {found.dependent[0]} is a combination of columns taken before it, and "
                f"was left out (in all {len(found.dependent)}): drop such columns",
                Degenerate,
                stacklevel=2,
            )
