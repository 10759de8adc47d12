"""Least squares with a known variance of the noise of each row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput
from tenfold.core.learned import is_single, learned
from tenfold.core.learning import Learner, through
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Stats
from tenfold.core.threads import single_blas
from tenfold.linear.affine import AffineRegressor
from tenfold.linear.least_squares import LinearRegression
from tenfold.solve.few_rows import FewRows, rows_or_moments

if TYPE_CHECKING:
    from tenfold.linear.inference import Inference

SMALLEST, LARGEST = 1e-100, 1e100  # variances that can be divided by


@dataclass(slots=True)
class Weighed(Stats):
    """Moments of (X, y) over known variances (the rows where they are few), Σ s, and Σ s log(variance)."""

    moments: FewRows | Moments
    rows: float
    log_variance: float

    @classmethod
    def of(cls, block: Block, variance: Array | None) -> Weighed:
        rows = float(block.w.sum())
        if variance is None:
            return cls(rows_or_moments(block), rows, 0.0)
        weighed = replace(block, w=block.w / variance)
        return cls(rows_or_moments(weighed), rows, float(block.w @ np.log(variance)))

    @property
    def weight(self) -> float:
        """Σ s / variance; with `mean` and `scatter`, what cross-validation asks of moments."""
        return float(self.moments.weight)

    @property
    def mean(self) -> Array:
        return self.moments.mean

    @property
    def scatter(self) -> Array:
        return self.moments.scatter

    def __sub__(self, other: Self) -> Self:
        whole: Any = self.moments  # few rows may be taken from moments, as their own moments
        return type(self)(whole - other.moments, self.rows - other.rows, self.log_variance - other.log_variance)


@dataclass(slots=True)
class WideBlock(Block):
    """A block with one more number for each row."""

    extra: Array | None = None


class Beside(Source):
    """A table in memory with one more number for each row, which its blocks carry."""

    def __init__(self, inner: Arrays, extra: Array) -> None:
        assert inner.y is not None
        y = np.column_stack([inner.y, extra])
        self.inner = Arrays(inner.X, y, inner.w, inner.target, inner.facts, rows=inner.rows)
        self.n_features, self.target, self.facts = inner.n_features, inner.target, inner.facts
        self.n_parts, self.n_rows = inner.n_parts, inner.n_rows

    def parts(self) -> Any:
        return self.inner.parts()

    def load(self, part: Any) -> WideBlock:
        block = self.inner.load(part)
        y, extra = np.ascontiguousarray(block.y[:, :-1]), block.y[:, -1].copy()
        return WideBlock(block.X, y, block.w, block.key, extra=extra)


def beside(learner: Estimator, source: Source, what: str, numbers: Any) -> Source:
    """The source, with a number for each row beside it; the same source where none were given."""
    if numbers is None:
        return source
    if type(source) is not Arrays:
        raise BadInput(
            f"{type(learner).__name__}: {what}= goes with rows in memory: give blocks of a stream to partial_fit, "
            f"each with its own {what}"
        )
    values = check.real_target(check.as_column(numbers), source.X.shape[0])
    if values.shape[1] != 1:
        raise BadInput(f"{what} must be one number for each row, not an array of shape {values.shape}")
    return Beside(source, values[:, 0])


def known_variances(learner: Estimator, source: Source, variance: Any) -> Source:
    """The source with the variance of each row, which must be above zero."""
    found = beside(learner, source, "variance", variance)
    if isinstance(found, Beside):
        assert found.inner.y is not None
        values = found.inner.y[:, -1]
        wrong = ~((values >= SMALLEST) & (values <= LARGEST))
        if found.inner.rows is not None:
            wrong &= np.isin(np.arange(len(values)), found.inner.rows)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise BadInput(
                f"variance is {values[row]:g} in row {row}: variances must be from {SMALLEST:g} to {LARGEST:g}; for a row "
                "that is known exactly give a small one"
            )
    return found


def variance_of(block: Block) -> Array | None:
    return getattr(block, "extra", None)


class WithInference(AffineRegressor):
    """Mixin: standard errors, tests and information criteria of a least-squares fit."""

    def inference(self) -> Inference:
        """Standard errors, intervals, t, p, R², F, AIC, BIC."""
        from tenfold.linear.inference import infer  # imports the special functions, which a fit does not need

        check.check_fitted(self)
        return infer(self)

    def summary(self, level: float = 0.95) -> str:
        """`inference()` as a table to read, with confidence intervals of the given level."""
        return self.inference().table(level)

    def _ordinary(self, **options: Any) -> LinearRegression:
        """Ordinary least squares on the same columns, which solves what is left when the noise has been evened out."""
        model = LinearRegression(fit_intercept=self.fit_intercept, **options)
        vars(model).update(n_features_in_=self.n_features_in_, _flat=self._flat, _called=type(self).__name__)
        return model


@estimator
class WeightedLeastSquares(WithInference, OnePass):
    """WeightedLeastSquares: least squares where the variance of the noise of each row is known.

    Model       y = X w + b + noise,  Var(noiseᵢ) = σ² vᵢ with known vᵢ (σ² = 1 with absolute=True)
    Objective   min over w, b of  Σᵢ sᵢ (yᵢ − xᵢ·w − b)² / vᵢ
    Algorithm   that of LinearRegression, on rows divided by √vᵢ. sample_weight counts rows (s = 2 is the row twice);
                `fit(X, y, variance=v)` gives the variances: they change the weight of a row, not the number of rows
    Cost        O(n p²) time, O(p²) memory, one pass; 2 to 12 further passes where columns are nearly dependent
    Fails when  columns are dependent: the least-norm solution, with a warning (Degenerate); variances are guessed badly
                (the fit is still unbiased, its standard errors are not right: see ReweightedLeastSquares)
    Reference   Aitken 1935; Björck 1996, ch. 4

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 8.0])
    >>> model = tenfold.WeightedLeastSquares().fit(X, y, variance=[0.01, 0.01, 100.0])
    >>> model.coef_.round(2), model.inference().standard_errors.round(2)
    (array([1.]), array([[0.06, 0.08]]))
    """

    rank_: int = learned("int", "rank of the centred X")
    singular_: Array = learned("float(*)", "singular values of the centred X")
    condition_: float = learned("float|inf", "condition number of its scaled columns")
    solver_: str = learned("str", "the solver that was used")
    n_iter_: int = learned("int", "1, or the passes of lsqr")
    stats_: Any = learned("Weighed(p+q)", "moments over the variances, rows, sum of log variances", optional=True)

    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True

    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    absolute: bool = param(default=False, doc="the variances are true ones, not only known up to a common factor")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, variance: Any = None) -> Self:
        """Learn from rows; `variance` is that of the noise of each row, None if it is the same for all."""
        return self._fit(known_variances(self, check.check_fit(self, X, y, sample_weight), variance))

    def partial_fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, classes: Any = None, variance: Any = None
    ) -> Self:
        """Learn more rows, each with its variance; equal to a fit on all rows so far."""
        source = known_variances(self, self._more(X, y, sample_weight, classes), variance)
        with single_blas:
            stats = current_engine(source).run(self._summarize, source)
            self._resolve(self.stats_ + stats if "stats_" in vars(self) else stats, source.facts, source.single)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None, variance: Any = None) -> Self:
        """Un-learn rows that were learned before, with the variances they had."""
        self._check_stats(self)
        source = known_variances(self, self._more(X, y, sample_weight, None), variance)
        with single_blas:
            gone = current_engine(source).run(self._summarize, source)
        self._resolve(self.stats_ - gone, {}, is_single(type(self), vars(self)))
        return self

    def leverage(self, X: Any, variance: Any = None) -> Array:
        """How much the target of each row fitted decides its own prediction, from 0 to 1; they sum to the parameters."""
        found, rows = self.inference(), ops.dense(check.check_predict(self, X))
        precision = None if variance is None else 1 / check.real_target(check.as_column(variance), len(rows))[:, 0]
        return found.leverage(rows, precision)

    def _summarize(self, block: Block) -> Weighed:
        return Weighed.of(block, variance_of(block))

    def _exact(self, stats: Weighed) -> bool:
        return self._ordinary()._exact(stats.moments)

    def _solve(self, stats: Weighed) -> dict[str, Any]:
        return self._ordinary()._solve(stats.moments)

    def _refine(self, source: Source, stats: Weighed) -> Learner[dict[str, Any]]:
        """Passes of ordinary least squares, each on blocks whose weights are divided by the variances."""
        return (yield from through(precisely, self._ordinary()._refine(source, stats.moments)))


def precisely(block: Block) -> Block:
    """A block in which every row weighs as much as it is precise."""
    variance = variance_of(block)
    return block if variance is None else replace(block, w=block.w / variance)
