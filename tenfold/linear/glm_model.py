"""What generalised linear models have in common: parameters, predictions, deviances, residuals, inference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Regressor
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.mapped import Mapped
from tenfold.core.params import KW_ONLY, group, param
from tenfold.linear.families import Family
from tenfold.linear.glm_outcome import Problem
from tenfold.linear.glm_solve import outside_words, solve
from tenfold.linear.links import Link
from tenfold.linear.warm import WarmStart
from tenfold.solve.row_space import in_row_space, is_wide

if TYPE_CHECKING:
    from tenfold.linear.glm_inference import GlmInference

DENSE = 5_000_000  # values that sparse rows may have when they are made dense
KINDS = ("deviance", "pearson", "working", "response")


@group
class GlmOptions:
    """The parameters that scikit-learn's models have in common."""

    _: KW_ONLY
    alpha: float = param(default=1.0, at_least=0, doc="strength of the penalty")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    solver: str = param(
        default="lbfgs", one_of=("lbfgs", "newton-cholesky"), doc="no effect: the method is chosen by the shape of the table"
    )
    max_iter: int = param(default=100, at_least=1, doc="most steps, each a pass over the rows")
    tol: float = param(default=1e-4, above=0, doc="bound on max |gradient|; steps go on while they are cheap and help")
    warm_start: bool = param(default=False, doc="begin at the solution of the fit before; it ends at the same place")
    verbose: int = param(default=0, at_least=0, doc="no effect: use tenfold.progress()")

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {}


class GeneralizedLinear(WarmStart, Regressor):
    """Mixin: E(y) = μ with g(μ) = x·w + b, for a family and a link that the learner names."""

    coef_: Array = learned("float(p)", "coefficients", like_x=True)
    intercept_: float = learned("float", "constant, 0 with fit_intercept=False", like_x=True)
    n_iter_: int = learned("int", "steps, each a pass over the rows")
    deviance_: float = learned("float", "the deviance of the rows fitted")
    null_deviance_: float = learned("float", "that of a constant mean (a constant beside the offset, where there is one)")
    dispersion_: float = learned("float", "Pearson's estimate: Σ s (y − μ)² / V(μ) over the degrees of freedom", optional=True)
    log_likelihood_: float = learned("float", "of the rows fitted; absent where it has no closed form", optional=True)
    covariance_: Array = learned(
        "float(*,*)", "of intercept and coefficients at dispersion 1, where there is no penalty", optional=True
    )
    n_rows_: float = learned("float", "rows, counted by their weights")

    sparse: ClassVar[bool] = True
    lean: ClassVar[bool] = True
    own_score: ClassVar[bool] = True

    alpha: float
    fit_intercept: bool
    max_iter: int
    tol: float

    def _pair(self) -> tuple[Family, Link]:
        """The family and the link."""
        raise NotImplementedError

    def _problem(self, offset: bool = False) -> Problem:
        family, link = self._pair()
        return Problem(
            type(self).__name__, family, link, 0.0, float(self.alpha), self.fit_intercept, offset, self.tol, self.max_iter
        )

    def _solution(self) -> Any:
        return np.append(self.coef_, self.intercept_).astype(np.float64)[None]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        before = self._before
        return self._learn_from(source, np.append(before["coef_"], before["intercept_"]).astype(np.float64)[None] if before else None)

    def _learn_from(self, source: Source, start: Any) -> Learner[dict[str, Any]]:
        return self._shaped(source, start, False)

    def _shaped(self, source: Source, start: Any, offset: bool) -> Learner[dict[str, Any]]:
        """By the shape of the table: few rows of many columns in the space that they span, unless they are sparse, or the penalty L1."""
        if not is_wide(source) or _is_large_and_sparse(source) or self._problem(offset).l1 > 0:
            return (yield from self._passes(source, start, offset))
        space, fitted = yield from in_row_space(self, source, self.fit_intercept, offset=offset)
        if fitted.pop("covariance_", None) is not None:
            few = {"covariance_": "rows are too few to determine the coefficients of all columns"}
            fitted["absent_"] = {**fitted.get("absent_", {}), **few}
        return space.affine(fitted)

    def _passes(self, source: Source, start: Array | None = None, offset: bool = False) -> Learner[dict[str, Any]]:
        return solve(self._problem(offset), source, start)

    def _free_columns(self) -> Array:
        """The columns whose coefficients are fitted."""
        return np.arange(self.n_features_in_)

    # --- predictions and how good they are ---

    def _scores(self, X: Any) -> Array:
        """η of each row."""
        coef = np.ascontiguousarray(self.coef_, dtype=np.float64)[None]
        return np.asarray(ops.linear_scores(X, coef, np.array([float(self.intercept_)]))[:, 0])

    def _predict(self, X: Any) -> Array:
        with np.errstate(all="ignore"):
            mean = self._pair()[1].mean(self._scores(X))
            most = np.finfo(X.dtype).max
            return np.asarray(np.nan_to_num(np.clip(mean, -most, most), nan=0.0).astype(X.dtype, copy=False))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D²: 1 − deviance of the predictions / deviance of a constant mean; 1 is perfect, 0 is the mean."""
        return Regressor.score(self, X, y, sample_weight)

    def _quality(self, truth: Array, predicted: Array, w: Array) -> float:
        family, y = self._pair()[0], self._truth(truth, len(truth))
        middle = np.full_like(y, np.average(y, weights=w))
        with np.errstate(all="ignore"):
            rest, spread = (float(w @ family.deviance(y, one)) for one in (predicted[:, 0].astype(np.float64), middle))
        if not spread > 0:  # a constant target: perfect or not, nothing in between
            return float(rest <= 0)
        return 1 - rest / spread

    def residuals(self, X: Any, y: Any, kind: str = "deviance") -> Array:
        """How far each row is from its mean: y − μ ("response"), over √V(μ) ("pearson"), in the unit of scores ("working"), or the
        root of its deviance with the sign of y − μ ("deviance")."""
        if kind not in KINDS:
            raise BadParameter(f"residuals(kind={kind!r}): must be one of {', '.join(map(repr, KINDS))}")
        family, link = self._pair()
        mean = np.asarray(self.predict(X), dtype=np.float64)
        truth = self._truth(check.as_column(y), len(mean))
        rest = truth - mean
        with np.errstate(all="ignore"):
            if kind == "response":
                return rest
            if kind == "pearson":
                return rest / np.sqrt(family.variance(mean))
            if kind == "working":
                return rest / link.slope(link.score(mean))
            return np.sign(rest) * np.sqrt(np.maximum(family.deviance(truth, mean), 0.0))

    def _truth(self, y: Any, n: int) -> Array:
        """Targets that the family has."""
        family = self._pair()[0]
        truth: Array = check.real_target(y, n)[:, 0]
        wrong = family.outside(truth)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise BadInput(outside_words(type(self).__name__, family, truth[row], row))
        return truth

    # --- inference ---

    def inference(self, dispersion: float | str | None = None) -> GlmInference:
        """Standard errors, z, p, intervals, AIC, BIC: without a penalty. The dispersion is 1 for counts and shares, Pearson's
        estimate for others; or "pearson" (counts that vary more than Poisson's), or a number."""
        from tenfold.linear.glm_inference import infer  # imports the special functions, which a fit does not need

        check.check_fitted(self)
        return infer(self, dispersion)

    def standard_errors(self, X: Any) -> Array:
        """Of each predicted mean, without a penalty: that of its score times the slope of the link (delta method)."""
        found, link = self.inference(), self._pair()[1]
        rows = np.asarray(ops.dense(check.check_predict(self, X)), dtype=np.float64)
        Z = rows[:, self._free_columns()]
        Z = np.column_stack([np.ones(len(Z)), Z]) if self.fit_intercept else Z
        with np.errstate(all="ignore"):
            return np.asarray(np.abs(link.slope(self._scores(rows))) * np.sqrt(((Z @ found.covariance) * Z).sum(axis=1)))

    def summary(self, level: float = 0.95) -> str:
        """`inference()` as a table to read, with confidence intervals of the given level."""
        return self.inference().table(level)


def _is_large_and_sparse(source: Source) -> bool:
    """Whether rows in memory are sparse and would not be small if they were not: products with them are quick, their space is not."""
    inner = source
    while isinstance(inner, Mapped):
        inner = inner.inner
    return isinstance(inner, Arrays) and ops.is_sparse(inner.X) and inner.n_rows * source.n_features > DENSE
