"""Least squares where the variance of the noise is unknown, follows a model, and is estimated too."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.linear.affine import centred
from tenfold.linear.weighted import Weighed, WithInference, beside
from tenfold.solve.irls import frame_of, settled_scale, start_of
from tenfold.solve.row_space import in_row_space, is_wide
from tenfold.solve.variance import BOUND, NEAR_ZERO, Shape, Solution, alternate

EXACT = 1e-12  # residuals this small, relative to the spread of y, are rounding


@estimator
class ReweightedLeastSquares(WithInference, Estimator):
    """ReweightedLeastSquares: least squares whose row weights come from a model of the variance, fitted with it.

    Model       y = X w + b + noise, of which the variance is  columns: exp(g₀ + x·g);  power: σ² |x·w + b|^δ (δ free, or
                given as power=);  groups: its own in each group, `fit(X, y, groups=labels)`
    Objective   max over w, b and the variance of the likelihood of normal noise,  −½ Σᵢ sᵢ (log vᵢ + rᵢ² / vᵢ);
                power: for the variance given the predictions, and for w, b given the variances, in turn
    Algorithm   least squares from one pass of moments; then steps of scoring for both at once, one pass each, extrapolated
                (Anderson 1965); a step that lowers the likelihood is given up (not for power, which has no one objective)
    Cost        O(n p²) a pass, 10 to 50 passes; O(p²) memory
    Fails when  rows are few (a variance may tend to zero: it is held within 1e±8 of that of all rows, with a warning; with no more
                rows than parameters all variances are taken as equal, with a warning);
                the noise has gross errors, which look like variance (HuberRegressor); variances are known (WeightedLeastSquares)
    Reference   Harvey 1976; power: Carroll & Ruppert 1988

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 1))
    >>> y = 1 + 2 * X[:, 0] + np.exp(1.5 * X[:, 0]) * rng.normal(size=2000)
    >>> tenfold.ReweightedLeastSquares().fit(X, y).variance_coef_.round(1)
    array([3.1])
    """

    rank_: int = learned("int", "rank of the centred X")
    singular_: Array = learned("float(*)", "singular values of the centred X")
    condition_: float = learned("float|inf", "condition number of its scaled columns")
    solver_: str = learned("str", "the solver that was used")
    n_iter_: int = learned("int", "passes over the rows")
    variance_coef_: Array = learned(
        "float(*)", "coefficients of the logarithm of the variance; power: δ; groups: one for each"
    )
    variance_intercept_: float = learned("float", "its constant; power: log σ²")
    groups_: Array = learned("label(*)", "labels of the groups", optional=True)
    near_zero_: float = learned("float", "power: the variance is σ² (ŷ² + near_zero_²)^(δ/2)", optional=True)
    log_likelihood_: float = learned("float", "of the rows")
    certificate_: float = learned("float", "size of the last step")
    stats_: Any = learned("Weighed(p+1)", "moments over the variances", optional=True)

    sparse: ClassVar[bool] = True

    _: KW_ONLY
    variance_model: str = param(
        default="columns", one_of=("columns", "power", "groups"), doc="what the variance of the noise depends on"
    )
    power: float | None = param(default=None, doc="power: the exponent δ, where it is known; None: estimated")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    tol: float = param(default=1e-8, at_least=0, doc="bound on the last step, with columns and target of size 1")
    max_iter: int = param(default=100, at_least=1, doc="most passes over the rows")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from rows; `groups` labels them where variance_model="groups"."""
        source = check.check_fit(self, X, y, sample_weight)
        if (groups is None) != (self.variance_model != "groups"):
            need = "needs" if groups is None else "is not 'groups', and takes no"
            raise BadInput(f"ReweightedLeastSquares(variance_model={self.variance_model!r}) {need} groups= in fit")
        if groups is not None:
            column = check.as_column(groups)
            labels, codes = check.encode(check.flat_labels(column, len(column)))
            source = beside(self, source, "groups", codes)
            source.known = labels
        return self._fit(source)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        labels = np.empty(0) if source.known is None else source.known
        if not is_wide(source):
            return (yield from self._passes(source, labels))
        space, fitted = yield from in_row_space(self, source, self.fit_intercept, labels=labels)
        fitted.pop("stats_")  # of the coordinates; there is no inference about more coefficients than rows
        if self.variance_model == "columns":
            slope = space.V @ fitted["variance_coef_"]
            start = fitted["variance_intercept_"] - float(space.origin @ slope)
            fitted.update(variance_coef_=slope, variance_intercept_=start)
        return dict(space.affine(fitted), condition_=np.inf)

    def _passes(self, source: Source, labels: Array) -> Learner[dict[str, Any]]:
        stats: Moments = yield moments
        centred(stats, source.n_features, self.fit_intercept)
        frame = frame_of(stats, self.fit_intercept)
        theta, scale = start_of(stats, frame, self.fit_intercept)
        scale = yield from settled_scale(theta, scale, frame)
        root = float(np.sqrt(np.diagonal(stats.scatter)[-1] / stats.weight + stats.mean[-1] ** 2))
        level = 2 * float(np.log(max(scale, EXACT)))
        power = None if self.power is None else float(self.power)
        shape = Shape(self.variance_model, frame, level, root or 1.0, len(labels), power)
        gamma = np.zeros(shape.size())
        gamma[: len(labels) or 1] = level
        found = Solution(theta, gamma, 0.0, True, 0)
        few = stats.weight <= len(theta) - (not self.fit_intercept) + len(gamma)
        if few:
            self._warn_few(float(stats.weight))
        elif scale > EXACT:
            options: dict[str, Any] = dict(fit_intercept=self.fit_intercept, tol=self.tol, max_iter=self.max_iter)
            found = yield from alternate(shape, theta, gamma, **options)
        last = yield partial(weighed, shape=shape, theta=found.theta, gamma=found.gamma, free=self.fit_intercept)
        self._warn(found, shape)
        fitted = self._ordinary(solver="cholesky")._solve(last.moments)
        more = self._variance(found.gamma, shape, labels)
        squares = float(self._held_out_squares(last.moments, [fitted])[0][0])
        normal = -0.5 * (last.rows * np.log(2 * np.pi) + last.log_variance + squares)
        diagnostics = dict(log_likelihood_=float(normal), certificate_=found.certificate, n_iter_=found.n_pass + 2)
        return dict(fitted, **more, **diagnostics, stats_=last)

    def _variance(self, gamma: Array, shape: Shape, labels: Array) -> dict[str, Any]:
        """The model of the logarithm of the variance in the units of the table."""
        unit = 2 * float(np.log(shape.frame.y_size))
        if shape.kind == "groups":
            return dict(variance_coef_=gamma + unit, variance_intercept_=0.0, groups_=labels)
        if shape.kind == "columns":
            slope = gamma[1:] / shape.frame.size
            return dict(variance_coef_=slope, variance_intercept_=float(gamma[0] + unit - slope @ shape.frame.mean))
        power = float(gamma[1]) if shape.power is None else shape.power
        start = float(gamma[0]) + unit - power * float(np.log(shape.y_root))
        return dict(variance_coef_=np.array([power]), variance_intercept_=start, near_zero_=NEAR_ZERO * shape.y_root)

    def variance(self, X: Any, groups: Any = None) -> Array:
        """The variance of the noise that the model expects of new rows."""
        rows = ops.dense(check.check_predict(self, X))
        if self.variance_model == "columns":
            found = rows @ self.variance_coef_
        elif self.variance_model == "power":
            found = 0.5 * self.variance_coef_[0] * np.log(self._predict(rows) ** 2 + self.near_zero_**2)
        else:
            column = check.as_column([] if groups is None else groups)
            check.check_length("groups", len(column), len(rows))
            found = self.variance_coef_[check.encode(column, self.groups_)[1]]
        return np.asarray(np.exp(np.clip(found + self.variance_intercept_, -700.0, 700.0)))

    def _warn_few(self, rows: float) -> None:
        warn(
            f"ReweightedLeastSquares: {rows:g} rows are no more than the coefficients and the parameters of the variance, so "
            "that the likelihood has no maximum; returned least squares with equal variances: give more rows",
            Degenerate,
            stacklevel=2,
        )

    def _warn(self, found: Solution, shape: Shape) -> None:
        if not found.converged and found.certificate > self.tol:
            warn(
                f"ReweightedLeastSquares: the last step is {found.certificate:.2g} after {found.n_pass} passes, above "
                f"tol={self.tol:g}: raise max_iter, or use a simpler variance_model",
                NotConverged,
                stacklevel=2,
            )
        far = np.abs(found.gamma - shape.level) if shape.kind == "groups" else np.abs(found.gamma[1:])
        if far.max(initial=0.0) >= BOUND:
            warn(
                "ReweightedLeastSquares: a variance is at its bound, 1e8 times smaller or larger than that of all rows, because "
                "some rows are fitted exactly: give more rows, or a variance_model with fewer parameters",
                Degenerate,
                stacklevel=2,
            )


def moments(block: Block) -> Moments:
    return Moments.of_block(block)


def weighed(block: Block, shape: Shape, theta: Array, gamma: Array, free: bool) -> Weighed:
    """Moments over the variances that the model expects."""
    X, _ = shape.frame.rows(block)
    eta = X @ theta[:-1] + theta[-1] * free
    log_v, _ = shape.log_variance(X, eta, getattr(block, "extra", None), gamma)
    return Weighed.of(block, np.exp(log_v) * shape.frame.y_size**2)
