"""Linear and quadratic discriminant analysis: classes with Gaussian rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Classifier, Estimator, Transformer
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter, Degenerate
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.core.threads import patiently
from tenfold.generative.class_rows import (
    Axes,
    ClassRows,
    Covariance,
    axes_of,
    basis_of,
    rows_or_moments,
    whitening_of,
)
from tenfold.generative.classes import class_priors, log_priors, not_yet, refuse_if_not_yet
from tenfold.solve.columns import check_magnitude
from tenfold.solve.few_rows import principal
from tenfold.solve.linalg import cholesky, eigh, invert_triangle, reciprocal_condition

# Eigenvalues of a correlation matrix below these: singular to working precision; about six digits left.
SINGULAR, NEARLY_SINGULAR = 1e-14, 1e-10
# A column whose standard deviation is below this share of its mean holds nothing but rounding errors.
FAR = 1e3  # means so many times the spread of their column are far from zero
ROUNDING = 4 * float(np.finfo(float).eps)


@estimator
class LinearDiscriminantAnalysis(Classifier, Transformer, OnePass):
    """LinearDiscriminantAnalysis: Gaussian classes with one covariance; a projection that separates them.

    Model       log P(k | x) = const + xᵀ W⁻¹ mₖ − ½ mₖᵀ W⁻¹ mₖ + log πₖ,  W the covariance within classes
    Objective   maximum likelihood of mₖ and W; transform: directions v that maximise vᵀ B v / vᵀ W v, B
                between classes
    Algorithm   one pass of centred moments, class by class; eigenvalues of W scaled to correlations, then an
                SVD of the class means in whitened coordinates
    Cost        O(n p²) time, O(K p²) memory, one pass; merging O(K p²); of few rows O(n² p) and O(n p)
    Fails when  columns are dependent within the classes: those directions are left out (warns Degenerate);
                rows are not enough for any spread within the classes (refused)
    Reference   Fisher 1936; Hastie, Tibshirani & Friedman 2009, §4.3; shrinkage: Friedman 1989

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> model = tenfold.LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist()
    [1]
    """

    coef_: Array = learned("float(M,p)", "coefficients; one row for two classes")
    intercept_: Array = learned("real(M)", "constants")
    means_: Array = learned("float(K,p)", "class means")
    priors_: Array = learned("float(K)", "probability of each class")
    scalings_: Array = learned("float(p,r)", "directions of Fisher's projection")
    xbar_: Array = learned("float(p)", "mean of all rows")
    explained_variance_ratio_: Array = learned("float(*)", "share of the variance between classes along each direction")
    covariance_: Array = learned("float(p,p)", "covariance within classes, where it is stored", optional=True)
    stats_: Any = learned("Moments(K,p)|ClassRows(K,p)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ()

    solver: str = param(
        default="svd",
        one_of=("svd", "lsqr", "eigen"),
        doc="one method serves all; priors weigh the covariances of the classes, but not with svd",
    )
    shrinkage: float | str | None = param(
        default=None,
        at_least=0,
        at_most=1,
        one_of=(None, "auto"),
        doc="share of the covariance replaced by its mean variance times the identity",
    )
    priors: Any = param(default=None, doc="prior probability of each class; None: its share of the rows")
    n_components: int | None = param(default=None, at_least=1, doc="columns of transform; None: min(K - 1, p)")
    store_covariance: bool = param(default=False, doc="keep covariance_ with solver='svd' too")
    tol: float = param(
        default=1e-4, at_least=0, doc="smallest scaled singular value within classes that counts (solver='svd')"
    )
    covariance_estimator: None = param(default=None, doc="only None: the covariance is made from merged moments")

    def _left_out(self, source: Source) -> Callable[[Any], Array] | None:
        from tenfold.generative.leave_one_out_discriminant import linear_discriminant

        return linear_discriminant(self) if isinstance(vars(self).get("stats_"), Moments) else None

    def _summarize(self, block: Block) -> ClassRows | Moments:
        return rows_or_moments(block, len(self.classes_))

    def _from_moments(self, moments: Moments) -> Moments:
        return moments

    def _solve(self, stats: ClassRows | Moments) -> dict[str, Any]:
        weight, means = stats.weight, stats.mean
        variances = variances_of(stats)
        check_magnitude(means, variances, vars(self).get("feature_names_in_"))
        refuse_automatic(self)
        priors, most = class_priors(self, weight), self._most_components()
        if not variances.any():
            return not_yet(
                "LinearDiscriminantAnalysis: no column varies within any class: The number of samples must "
                "be more than the number of classes",
                "means_",
                "coef_",
                "scalings_",
                "intercept_",
            )
        few = isinstance(stats, ClassRows)
        within, by_priors, total = self._covariances(stats, priors)
        white = (self._whitening_of_rows if few else self._whitening)(within, means[weight > 0])
        center = priors @ means
        apart = (means - center) @ white  # class means in coordinates where the covariance within classes is I
        if self.solver == "eigen":
            gains, axes = eigh(along(total, white) - along(within, white))
            axes, gains = axes[:, ::-1], gains[::-1]
            if few and within.level:  # and in each direction beside the rows
                gains = np.append(gains, (within.rows.shape[1] - len(gains)) * (total.level / within.level - 1))
        else:
            axes, gains = _axes_between(apart * np.sqrt(priors)[:, None], self.tol)
        scalings = white @ axes
        projector = scalings if self.solver == "svd" else white
        # As in scikit-learn the scores are about zero with the other solvers, unless that would cost digits. For
        # two classes, whose scores are subtracted, it makes no difference where they begin.
        far = (np.abs(center) > FAR * np.sqrt(within.diagonal())).any()
        origin = center if self.solver == "svd" or len(weight) == 2 or far else np.zeros_like(center)
        near = (means - origin) @ projector
        coef = near @ projector.T
        intercept = log_priors(priors, weight) - 0.5 * (near * near).sum(axis=1) - coef @ origin
        if len(weight) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        fitted = dict(
            coef_=coef,
            intercept_=intercept,
            means_=means,
            priors_=priors,
            scalings_=scalings,
            xbar_=center,
            explained_variance_ratio_=(gains / (gains.sum() or 1.0))[:most],
        )
        if self.store_covariance or (self.solver != "svd" and not few):
            fitted["covariance_"] = by_priors.dense() if isinstance(by_priors, Covariance) else by_priors
        return fitted

    def _covariances(self, stats: ClassRows | Moments, priors: Array) -> tuple[Any, Any, Any]:
        """Within classes as the solver takes it, within classes by priors, and of all rows; each with its shrinkage."""
        weight, share = stats.weight, stats.weight / stats.weight.sum()
        by_prior = share if self.priors is None else priors
        apart = (stats.mean - share @ stats.mean) * np.sqrt(share)[:, None]
        plain = self.solver == "svd" and not self.shrinkage  # then priors do not weigh the covariances
        if isinstance(stats, ClassRows):
            rows, s = stats.apart * np.sqrt(stats.w)[:, None], float(self.shrinkage or 0.0)
            pooled = rows / np.sqrt(weight.sum())
            by_priors = Covariance(rows * np.sqrt(by_prior / np.maximum(weight, 1e-300))[stats.y][:, None], s)
            return Covariance(pooled) if plain else by_priors, by_priors, Covariance(np.vstack([pooled, apart]), s)
        pooled = stats.scatter.sum(axis=0) / float(weight.sum())
        mixed = pooled
        if self.priors is not None:
            mixed = np.tensordot(priors / np.maximum(weight, 1e-300), stats.scatter, axes=1)
        mixed = shrunk(mixed, self.shrinkage)
        return pooled if plain else mixed, mixed, shrunk(pooled + apart.T @ apart, self.shrinkage)

    def _finish(self, source: Source) -> None:
        refuse_if_not_yet(self)

    def _most_components(self) -> int:
        most = min(len(self.classes_) - 1, self.n_features_in_)
        if self.n_components is not None and self.n_components > most:
            raise BadParameter(
                f"LinearDiscriminantAnalysis(n_components={self.n_components}): n_components cannot be "
                f"larger than min(n_features, n_classes - 1) = {most}"
            )
        return self.n_components or most

    def _whitening(self, within: Array, means: Array) -> Array:
        """A (p, r) with Aᵀ W A = I, from W scaled to correlations; r < p where W is singular (with a warning)."""
        scale = np.sqrt(np.diagonal(within))
        size = np.abs(means).max(axis=0)
        flat = scale <= ROUNDING * size  # nothing but rounding errors
        scale[flat] = 1.0
        correlation = within / scale / scale[:, None]
        correlation[flat], correlation[:, flat] = 0.0, 0.0
        values, vectors = eigh(correlation)
        least = max(self.tol**2 if self.solver == "svd" else 0.0, SINGULAR * len(scale))
        keep = values > least
        if not keep.all() or values[0] < NEARLY_SINGULAR:
            self._warn(values, keep, flat, np.ptp(means, axis=0) > 1e-8 * size)
        return np.asarray(vectors[:, keep] / np.sqrt(values[keep]) / scale[:, None])

    def _whitening_of_rows(self, within: Covariance, means: Array) -> Array:
        """The same of few rows. With a level beside the rows, of those directions alone that rows and means have."""
        if within.level:
            Q = basis_of(np.vstack([within.rows, means]))
            values, vectors = eigh(within.along(Q))
            return Q @ (vectors / np.sqrt(values))
        scale, size = np.sqrt(within.diagonal()), np.abs(means).max(axis=0)
        flat = scale <= ROUNDING * size
        rows, scale = np.where(flat, 0.0, within.rows), np.where(flat, 1.0, scale)
        least = max(self.tol**2 if self.solver == "svd" else 0.0, SINGULAR * len(scale))
        white, values = whitening_of(rows, scale, least)
        values = np.concatenate([np.zeros(len(scale) - len(values)), values])
        self._warn(values, values > least, flat, np.ptp(means, axis=0) > 1e-8 * size)
        return white

    def _warn(self, values: Array, keep: Array, flat: Array, differs: Array) -> None:
        """One sentence about a singular covariance. Columns that are constant altogether do no harm."""
        dropped = int((~keep).sum() - flat.sum())
        if (flat & differs).any():
            column = column_name(vars(self).get("feature_names_in_"), int(np.flatnonzero(flat & differs)[0]))
            message = f"{column} of X is constant within each class and was left out, though it separates them"
        elif dropped > 0:
            message = f"columns are linearly dependent within the classes; {dropped} direction(s) were left out"
        elif keep.any() and values[keep][0] < NEARLY_SINGULAR:
            message = "columns are nearly dependent within the classes and digits were lost"
        else:
            return
        message = f"LinearDiscriminantAnalysis: {message}: drop columns, or set shrinkage"
        warnings.warn(message, Degenerate, stacklevel=2)

    def _scores(self, X: Any) -> Array:
        scores = ops.linear_scores(X, self.coef_, self.intercept_)
        return np.hstack([np.zeros_like(scores), scores]) if len(self.classes_) == 2 else scores

    def _transform(self, X: Any) -> Array:
        axes = np.ascontiguousarray(self.scalings_[:, : self._most_components()].T)
        shift = np.zeros(len(axes)) if self.solver == "eigen" else -(axes @ self.xbar_)
        return ops.linear_scores(X, axes, shift).astype(X.dtype, copy=False)

    def _names_out(self) -> list[str]:
        count = min(self._most_components(), self.scalings_.shape[1])
        return [f"lineardiscriminantanalysis{i}" for i in range(count)]


@estimator
class QuadraticDiscriminantAnalysis(Classifier, OnePass):
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
        doc="share of each covariance replaced by its mean variance times the identity",
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
    covariance_estimator: None = param(default=None, doc="only None: the covariances are made from merged moments")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"reg_param": 0.2}]

    def _left_out(self, source: Source) -> Callable[[Any], Array] | None:
        from tenfold.generative.leave_one_out_discriminant import quadratic_discriminant

        return quadratic_discriminant(self) if isinstance(vars(self).get("stats_"), Moments) else None

    def _summarize(self, block: Block) -> ClassRows | Moments:
        return rows_or_moments(block, len(self.classes_))

    def _from_moments(self, moments: Moments) -> Moments:
        return moments

    def _solve(self, stats: ClassRows | Moments) -> dict[str, Any]:
        weight, means, squares = stats.weight, stats.mean, variances_of(stats)
        check_magnitude(means, squares, vars(self).get("feature_names_in_"))
        refuse_automatic(self)
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
        warnings.warn(
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


def whiten(C: Array, mean: Array, unit: Array) -> tuple[Array, float, float]:
    """A with Aᵀ C A = I, log det A⁻¹, and an estimate of 1 / condition of C scaled to correlations.

    Directions without variance get the smallest that rounding can separate from zero, in the unit of a column.
    """
    scale = np.sqrt(np.diagonal(C))
    flat = scale <= ROUNDING * np.abs(mean)
    if not flat.any():
        correlation = C / scale / scale[:, None]
        L = cholesky(correlation)
        condition = 0.0 if L is None else reciprocal_condition(correlation, L)
        if L is not None and condition > SINGULAR * len(C):
            log_det = float(np.log(np.diagonal(L)).sum() + np.log(scale).sum())
            return invert_triangle(L).T / scale[:, None], log_det, condition
    scale = np.where(flat, unit, scale)
    correlation = C / scale / scale[:, None]
    correlation[flat], correlation[:, flat] = 0.0, 0.0
    values, vectors = eigh(correlation)
    values = np.maximum(values, SINGULAR * len(C))
    return (
        vectors / np.sqrt(values) / scale[:, None],
        float(0.5 * np.log(values).sum() + np.log(scale).sum()),
        0.0,
    )


def variances_of(stats: ClassRows | Moments) -> Array:
    """(K, p): Σ w (x − m)² of each class."""
    return stats.squares if isinstance(stats, ClassRows) else np.diagonal(stats.scatter, axis1=-2, axis2=-1)


def along(C: Covariance | Array, A: Array) -> Array:
    """AᵀC A."""
    return C.along(A) if isinstance(C, Covariance) else A.T @ C @ A


def _axes_between(apart: Array, tol: float) -> tuple[Array, Array]:
    """Directions in which weighted class means lie apart, most first, and their sums of squares."""
    _, S, Vt = patiently(np.linalg.svd, apart, full_matrices=False)
    return Vt[tol * S[:1] < S].T, S * S


def shrunk(C: Array, share: float | str | None) -> Array:
    """(1 − share) C + share (trace C / p) I."""
    if not share:
        return C
    assert not isinstance(share, str)  # "auto" is refused before
    mixed: Array = (1 - share) * C
    mixed[np.diag_indices(len(C))] += share * np.trace(C) / len(C)
    return mixed


def refuse_automatic(learner: Estimator) -> None:
    if learner.shrinkage == "auto":
        raise BadParameter(
            f"{type(learner).__name__}(shrinkage='auto'): the Ledoit-Wolf rule needs fourth moments of the "
            "rows, which are not kept: give a number from 0 to 1, chosen by cross-validation"
        )
