"""Least squares where the columns have errors too."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.solve.few_rows import FewRows, rows_or_moments
from tenfold.solve.least_squares import triangle_of
from tenfold.solve.nonnegative import scaled_condition
from tenfold.solve.total import Total, factor_of, total_least_squares

EASY = 1e3  # condition of [X y] up to which its cross-products keep ten digits


@estimator
class TotalLeastSquares(AffineRegressor, OnePass):
    """TotalLeastSquares: least squares with errors in the columns as well as in the target.

    Model       y + errors = (X + errors) w + b, all errors independent, of deviations known up to a common factor
    Objective   min over w, b of  Σᵢ sᵢ dᵢ²,  dᵢ the distance of the point (xᵢ, yᵢ) from the plane y = x·w + b, each
                coordinate in units of its error (`scale`)
    Algorithm   one pass of centred moments, the singular vectors of least spread; a second pass of triangular factors where
                [X y] has a condition above 1e3. Columns of scale 0 are without error, and eliminated first
    Cost        O(n p²) time, O(p²) memory, one or two passes; of few rows O(n² p) and O(n p)
    Fails when  the direction of least spread does not involve y, because columns depend on one another: no solution exists; the
                best plane that does involve y is returned (nongeneric), with a warning (Degenerate); so also where several are as near
    Reference   Golub & Van Loan 1980; Van Huffel & Vandewalle 1991

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0.0, 0.0, 2.0, 2.0])
    >>> model = tenfold.TotalLeastSquares().fit(X, y)
    >>> model.coef_.round(3), tenfold.LinearRegression().fit(X, y).coef_.round(3)
    (array([1.618]), array([1.]))
    """

    n_iter_: int = learned("int", "always 1")
    singular_: Array = learned("float(*)", "singular values of the noisy columns of [X y], scaled")
    squares_: float = learned("float", "the objective: Σ s d²")
    noise_: float = learned("float", "common factor of the deviations")
    generic_: bool = learned("bool", "whether the solution exists")
    stats_: Any = learned("Moments(p+q)|FewRows(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ()
    multi_output: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {
        "several_targets": "errors of the columns are shared by all targets, so that the fit of one depends on the others",
    }

    _: KW_ONLY
    scale: Any = param(
        default=None, doc="deviations of the errors of the p columns (or of columns and targets); None: all equal"
    )
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")

    def _summarize(self, block: Block) -> FewRows | Moments:
        return rows_or_moments(block)

    def _products(self, stats: Moments) -> Array:
        """Cross-products of [X y], about the means where there is an intercept."""
        p = self.n_features_in_
        centred(stats, p, self.fit_intercept)
        S = stats.scatter if self.fit_intercept else stats.scatter + stats.weight * np.outer(stats.mean, stats.mean)
        flat = np.diagonal(S) <= stats.weight * (16 * np.finfo(float).eps * np.abs(stats.mean)) ** 2
        return np.where(flat[:, None] | flat, 0.0, S)

    def _exact(self, stats: FewRows | Moments) -> bool:
        return isinstance(stats, FewRows) or scaled_condition(self._products(stats)) <= EASY

    def _solve(self, stats: FewRows | Moments) -> dict[str, Any]:
        if isinstance(stats, FewRows):
            return self._found(stats, np.hstack(stats.centred(self.fit_intercept)[1:]))
        return self._found(stats, factor_of(self._products(stats)))

    def _refine(self, source: Source, stats: Moments) -> Learner[dict[str, Any]]:
        first = int(self.fit_intercept)
        R = (yield partial(triangle_of, fit_intercept=self.fit_intercept)).R
        present = np.diagonal(self._products(stats)) > 0
        return self._found(stats, np.where(present, R[first:, first:], 0.0))

    def _found(self, stats: FewRows | Moments, F: Array) -> dict[str, Any]:
        p = self.n_features_in_
        found = total_least_squares(F, p, self._scale(F.shape[1] - p))
        self._warn(found)
        free = max(float(stats.weight) - self.fit_intercept, 1.0) * (F.shape[1] - p)
        return dict(
            self._fitted(stats.mean, found.coef),
            singular_=found.singular,
            squares_=found.squares,
            noise_=float(np.sqrt(found.squares / free)),
            generic_=found.generic,
        )

    def _scale(self, q: int) -> Array:
        """(p + q,) deviations of the errors."""
        p = self.n_features_in_
        if self.scale is None:
            return np.ones(p + q)
        try:
            scale = np.asarray(self.scale, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            scale = np.empty(0)
        if len(scale) == p:
            scale = np.concatenate([scale, np.ones(q)])
        good = len(scale) == p + q and ((scale == 0) | ((scale >= 1e-50) & (scale <= 1e50))).all()
        if not good or not scale[p:].all():
            raise BadParameter(
                f"TotalLeastSquares(scale={check.short(self.scale)}): must be {p} deviations of the columns, or {p + q} of columns "
                "and targets, from 1e-50 to 1e50; a column without error has 0, a target must have an error"
            )
        return scale

    def _warn(self, found: Total) -> None:
        if not found.generic:
            warn(
                "TotalLeastSquares: no solution exists, because the columns depend on one another as nearly as the target depends on "
                "them; returned the best plane that involves the target: drop columns, or use Ridge",
                Degenerate,
                stacklevel=2,
            )
        elif not found.unique:
            warn(
                "TotalLeastSquares: several planes are equally near to the rows; returned the one with coefficients of least norm: "
                "give more rows or drop columns",
                Degenerate,
                stacklevel=2,
            )

    def distances(self, X: Any, y: Any) -> Array:
        """(n,) how far points are from the plane, each coordinate in units of its error."""
        rest, inverse, _ = self._residuals(X, y)
        return np.asarray(np.sqrt(np.einsum("nq,qr,nr->n", rest, inverse, rest)))

    def project(self, X: Any, y: Any) -> tuple[Array, Array]:
        """The nearest points on the plane: the columns and the target without the errors that are estimated."""
        rest, inverse, scale = self._residuals(X, y)
        rows, p = ops.dense(check.check_predict(self, X)), self.n_features_in_
        pull = rest @ inverse
        W = np.atleast_2d(self.coef_).T
        near = rows + pull @ (W * scale[:p, None] ** 2).T
        target = check.real_target(check.as_column(y), len(rows)) - pull * scale[p:] ** 2
        return near, target[:, 0] if self._flat else target

    def _residuals(self, X: Any, y: Any) -> tuple[Array, Array, Array]:
        """y − ŷ, the inverse of its covariance in units of the common factor, and the scale."""
        predicted = self.predict(X).reshape(-1, len(np.atleast_2d(self.coef_)))
        rest = check.real_target(check.as_column(y), len(predicted)) - predicted
        scale, p = self._scale(rest.shape[1]), self.n_features_in_
        W = np.atleast_2d(self.coef_).T * scale[:p, None]
        return rest, np.linalg.inv(W.T @ W + np.diag(scale[p:] ** 2)), scale
