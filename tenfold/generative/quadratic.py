"""Quadratic discriminant analysis: Gaussian classes, each with its own covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Classifier
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.generative.class_rows import (
    Axes,
    ClassRows,
    Covariance,
    axes_of,
)
from tenfold.generative.classes import class_priors, log_priors
from tenfold.generative.discriminant import refuse_sums, variances_of
from tenfold.generative.estimated import ByMoments, Estimated
from tenfold.solve.columns import check_magnitude
from tenfold.solve.few_rows import principal
from tenfold.solve.linalg import eigh
from tenfold.solve.whitening import NEARLY_SINGULAR, ROUNDING, SINGULAR, shrunk, whiten


@estimator
class QuadraticDiscriminantAnalysis(Classifier, ByMoments):
    """QuadraticDiscriminantAnalysis: Gaussian classes, each with its own covariance.

    Model       log P(k | x) = const − ½ (x − mₖ)ᵀ Cₖ⁻¹ (x − mₖ) − ½ log det Cₖ + log πₖ
    Objective   maximum likelihood of mₖ and Cₖ; then Cₖ ← (1 − reg_param) Cₖ + reg_param I
    Algorithm   one pass of centred moments, class by class; Cholesky of each Cₖ scaled to correlations
    Cost        O(n p²) time, O(K p²) memory, one pass; merging O(K p²); O(K p²) a predicted row; of few rows O(n² p), O(n p) and
                O(n p) a predicted row
    Fails when  the covariance of a class is singular, as with p rows or fewer: directions without variance
                then count as impossible for the class (warns Degenerate); the remedy is reg_param or
                shrinkage
    Reference   Hastie, Tibshirani & Friedman 2009, §4.3; regularisation: Friedman 1989

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> model = tenfold.QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist()
    [1]
    """

    means_: Array = learned("float(K,p)", "class means")
    priors_: Array = learned("float(K)", "probability of each class")
    rotations_: list[Array] = learned("[float(p,*)](K)", "principal axes of each class; of few rows those that they have")
    scalings_: list[Array] = learned("[float(*)](K)", "variances along these axes")
    whitening_: Array = learned(
        "float(K,p,p)", "map of each class that makes its covariance the identity; not of few rows", optional=True
    )
    units_: Array = learned("float(K,p)", "few rows: unit of each column in each class", optional=True)
    axes_: list[Array] = learned("[float(p,*)](K)", "few rows: directions that the rows of a class have", optional=True)
    precisions_: list[Array] = learned("[float(*)](K)", "few rows: 1 / variance along these axes", optional=True)
    beside_: Array = learned("float(K)", "few rows: 1 / variance in all other directions", optional=True)
    constant_: Array = learned("real(K)", "what each score has that does not depend on the row")
    covariance_: list[Array] = learned("[float(p,p)](K)", "covariance of each class, where it is stored", optional=True)
    stats_: Any = learned("Moments(K,p)|ClassRows(K,p)", "the moments: for partial_fit, merge and forget", optional=True)

    _: KW_ONLY
    summary_reads: ClassVar[tuple[str, ...] | None] = ()

    solver: str = param(default="svd", one_of=("svd", "eigen"), doc="no effect: one method serves both")
    shrinkage: float | str | None = param(
        default=None,
        at_least=0,
        at_most=1,
        one_of=(None, "auto"),
        doc="share of each covariance replaced by its mean variance times the identity; 'auto': by the rule of Ledoit and Wolf, of the "
        "standardised columns of each class (the rows are kept)",
    )
    priors: Any = param(default=None, doc="prior probability of each class; None: its share of the rows")
    reg_param: float = param(
        default=0.0, at_least=0, at_most=1, doc="share of each covariance replaced by the identity"
    )
    store_covariance: bool = param(default=False, doc="keep covariance_")
    tol: float = param(
        default=1e-4,
        at_least=0,
        doc="no effect: whether a covariance is singular is judged free of the units of the columns",
    )
    covariance_estimator: Any = param(
        default=None, doc="an object with fit(X) and covariance_, asked class by class (the rows are kept); None: merged moments"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"reg_param": 0.2}]

    def _left_out(self, source: Source) -> Callable[[Any], Array] | None:
        from tenfold.generative.leave_one_out_discriminant import quadratic_discriminant

        return quadratic_discriminant(self) if isinstance(vars(self).get("stats_"), Moments) else None

    def _solve(self, stats: ClassRows | Moments | Estimated) -> dict[str, Any]:
        weight, means, squares = stats.weight, stats.mean, variances_of(stats)
        check_magnitude(means, squares, vars(self).get("feature_names_in_"))
        refuse_sums(self, stats)
        K, p = means.shape
        priors = class_priors(self, weight)
        unit = np.sqrt(squares.sum(axis=0) / weight.sum())  # for columns that are constant in one class
        unit = np.where(unit > 0, unit, 1.0)
        if isinstance(stats, ClassRows):
            return self._from_rows(stats, squares, priors, unit)
        scatter = stats.scatter
        rotations, scalings, covariances = [], [], []
        whitening, log_scale, singular = np.empty((K, p, p)), np.empty(K), []
        for k in range(K):
            C = shrunk(scatter[k] / (weight[k] or 1.0), self.shrinkage)
            if self.reg_param:
                C = (1 - self.reg_param) * C + self.reg_param * np.eye(p)
            whitening[k], log_scale[k], condition = whiten(C, means[k], unit)
            if condition < NEARLY_SINGULAR and weight[k] > 0:
                singular.append((k, condition))
            values, vectors = eigh(C)
            rotations.append(vectors[:, ::-1])
            scalings.append(values[::-1])
            covariances.append(C)
        if singular:
            self._warn(singular, squares, means, weight)
        fitted = dict(
            means_=means,
            priors_=priors,
            rotations_=rotations,
            scalings_=scalings,
            whitening_=whitening,
            constant_=log_priors(priors, weight) - log_scale,
        )
        return {**fitted, "covariance_": covariances} if self.store_covariance else fitted

    def _from_rows(self, stats: ClassRows, squares: Array, priors: Array, unit: Array) -> dict[str, Any]:
        """Each covariance (1 − reg_param) ((1 − shrinkage) RᵀR + shrinkage (trace / p) I) + reg_param I by its rows R."""
        weight, means, reg = stats.weight, stats.mean, float(self.reg_param)
        p, axes, rotations, scalings, covariances, singular = len(unit), [], [], [], [], []
        for k in range(len(weight)):
            one = stats.y == k
            rows = stats.apart[one] * np.sqrt(stats.w[one] / (weight[k] or 1.0))[:, None]
            C = Covariance(rows, float(self.shrinkage or 0.0))
            keep, level = (1 - reg) * (1 - C.share), (1 - reg) * C.level + reg
            axes.append(axes_of(rows, means[k], unit, keep, level, SINGULAR * p, ROUNDING))
            if axes[k].condition < NEARLY_SINGULAR and weight[k] > 0:
                singular.append((k, axes[k].condition))
            values, vectors = principal(rows)
            rotations.append(vectors)
            scalings.append(keep * values + level)
            if self.store_covariance:
                covariances.append((1 - reg) * C.dense() + reg * np.eye(p))
        if singular:
            self._warn(singular, squares, means, weight)
        fitted: dict[str, Any] = dict(
            means_=means,
            priors_=priors,
            rotations_=rotations,
            scalings_=scalings,
            constant_=log_priors(priors, weight) - np.array([one.log_det for one in axes]),
            units_=np.array([one.unit for one in axes]),
            axes_=[one.V for one in axes],
            precisions_=[one.inside for one in axes],
            beside_=np.array([one.beside for one in axes]),
        )
        return {**fitted, "covariance_": covariances} if self.store_covariance else fitted

    def _warn(self, singular: list[tuple[int, float]], squares: Array, means: Array, weight: Array) -> None:
        """One sentence about classes whose covariance is singular."""
        k, condition = min(singular, key=lambda found: found[1])
        flat = np.flatnonzero(np.sqrt(squares[k] / weight[k]) <= ROUNDING * np.abs(means[k]))
        if weight[k] <= 1:
            why = "it has only 1 sample"
        elif len(flat):
            why = f"{column_name(vars(self).get('feature_names_in_'), int(flat[0]))} of X is constant in it"
        else:
            why = "its columns are linearly dependent, or it has no more rows than columns"
        state = (
            "not full rank; directions without variance count as impossible"
            if condition <= SINGULAR
            else "nearly singular"
        )
        others = len(singular) - 1
        more = f" (and of {others} other class{'es' if others > 1 else ''})" if others else ""
        warn(
            f"QuadraticDiscriminantAnalysis: The covariance matrix of class {self.classes_[k]}{more} is "
            f"{state}, as {why}: raise reg_param, or drop columns",
            Degenerate,
            stacklevel=2,
        )

    def _scores(self, X: Any) -> Array:
        if "whitening_" in vars(self):
            return ops.quadratic_scores(X, self.means_, self.whitening_, self.constant_)
        parts = zip(self.units_, self.axes_, self.precisions_, self.beside_, strict=True)
        found = [Axes(*part, 0.0, 0.0).squares(X, mean) for part, mean in zip(parts, self.means_, strict=True)]
        return np.asarray(self.constant_ - 0.5 * np.column_stack(found))

    def _objection(self) -> str | None:
        few = {"units_", "axes_", "precisions_", "beside_"} <= vars(self).keys()
        if few == ("whitening_" in vars(self)):
            return "there must be whitening_, or units_, axes_, precisions_ and beside_"
        sizes = few and [(V.shape[1], len(one)) for V, one in zip(self.axes_, self.precisions_, strict=True)]
        return "axes_ and precisions_ differ" if sizes and any(a != b for a, b in sizes) else None
