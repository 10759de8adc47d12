"""Linear discriminant analysis: Gaussian classes with one covariance; `generative.quadratic` shares some of its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Classifier, Estimator, Transformer
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import estimator, param
from tenfold.core.stats import Moments
from tenfold.core.threads import patiently
from tenfold.generative.class_rows import (
    ClassRows,
    Covariance,
    basis_of,
    whitening_of,
)
from tenfold.generative.classes import class_priors, log_priors, not_yet, refuse_if_not_yet
from tenfold.generative.estimated import ByMoments, Estimated, needs_rows
from tenfold.solve.columns import check_magnitude
from tenfold.solve.linalg import eigh
from tenfold.solve.whitening import NEARLY_SINGULAR, ROUNDING, SINGULAR, shrunk

FAR = 1e3  # means so many times the spread of their column are far from zero


@estimator
class LinearDiscriminantAnalysis(Classifier, Transformer, ByMoments):
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

    coef_: Array = learned("float(M,p)", "coefficients; one row for two classes", like_x=True)
    intercept_: Array = learned("real(M)", "constants", like_x=True)
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
        doc="share of the covariance replaced by its mean variance times the identity; 'auto': by the rule of Ledoit and Wolf, of the "
        "standardised columns of each class (the rows are kept)",
    )
    priors: Any = param(default=None, doc="prior probability of each class; None: its share of the rows")
    n_components: int | None = param(default=None, at_least=1, doc="columns of transform; None: min(K - 1, p)")
    store_covariance: bool = param(default=False, doc="keep covariance_ with solver='svd' too")
    tol: float = param(
        default=1e-4, at_least=0, doc="smallest scaled singular value within classes that counts (solver='svd')"
    )
    covariance_estimator: Any = param(
        default=None, doc="an object with fit(X) and covariance_, asked class by class (the rows are kept); None: merged moments"
    )

    def _left_out(self, source: Source) -> Callable[[Any], Array] | None:
        from tenfold.generative.leave_one_out_discriminant import linear_discriminant

        return linear_discriminant(self) if isinstance(vars(self).get("stats_"), Moments) else None

    def _solve(self, stats: ClassRows | Moments | Estimated) -> dict[str, Any]:
        weight, means = stats.weight, stats.mean
        variances = variances_of(stats)
        check_magnitude(means, variances, vars(self).get("feature_names_in_"))
        refuse_sums(self, stats)
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
        within, by_priors = self._covariances(stats, priors)
        white = (self._whitening_of_rows if few else self._whitening)(within, means[weight > 0])
        center = priors @ means
        apart = (means - center) @ white  # class means in coordinates where the covariance within classes is I
        if self.solver == "eigen":
            total = self._total_covariance(stats)
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

    def _covariances(self, stats: ClassRows | Moments | Estimated, priors: Array) -> tuple[Any, Any]:
        """Within classes as the solver takes it, and within classes by priors; each with its shrinkage."""
        weight, n = stats.weight, stats.weight.sum()
        by_prior = weight / n if self.priors is None else priors
        plain = self.solver == "svd" and not self.shrinkage  # then priors do not weigh the covariances
        if isinstance(stats, ClassRows):
            rows = stats.apart * np.sqrt(stats.w)[:, None]
            shares = by_prior / np.maximum(weight, 1e-300)
            by_priors = Covariance(rows * np.sqrt(shares)[stats.y][:, None], float(self.shrinkage or 0.0))
            return Covariance(rows / np.sqrt(n)) if plain else by_priors, by_priors
        if isinstance(stats, Estimated):
            mixed = np.tensordot(by_prior / np.maximum(weight, 1e-300), stats.scatter, axes=1)
            return mixed, mixed
        mixed = pooled = stats.scatter.sum(axis=0) / float(n)
        if self.priors is not None:
            mixed = np.tensordot(priors / np.maximum(weight, 1e-300), stats.scatter, axes=1)
        mixed = shrunk(mixed, self.shrinkage)
        return pooled if plain else mixed, mixed

    def _total_covariance(self, stats: ClassRows | Moments | Estimated) -> Any:
        """Of all rows, with its shrinkage."""
        if isinstance(stats, Estimated):
            return stats.total
        n = stats.weight.sum()
        share = stats.weight / n
        apart = (stats.mean - share @ stats.mean) * np.sqrt(share)[:, None]
        if isinstance(stats, ClassRows):
            pooled = stats.apart * np.sqrt(stats.w)[:, None] / np.sqrt(n)
            return Covariance(np.vstack([pooled, apart]), float(self.shrinkage or 0.0))
        return shrunk(stats.scatter.sum(axis=0) / float(n) + apart.T @ apart, self.shrinkage)

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
        warn(message, Degenerate, stacklevel=2)

    def _scores(self, X: Any) -> Array:
        scores = ops.linear_scores(X, *(np.asarray(part, dtype=np.float64) for part in (self.coef_, self.intercept_)))
        return np.hstack([np.zeros_like(scores), scores]) if len(self.classes_) == 2 else scores

    def _transform(self, X: Any) -> Array:
        axes = np.ascontiguousarray(self.scalings_[:, : self._most_components()].T)
        shift = np.zeros(len(axes)) if self.solver == "eigen" else -(axes @ self.xbar_)
        return ops.linear_scores(X, axes, shift).astype(X.dtype, copy=False)

    def _names_out(self) -> list[str]:
        count = min(self._most_components(), self.scalings_.shape[1])
        return [f"lineardiscriminantanalysis{i}" for i in range(count)]


def variances_of(stats: ClassRows | Moments | Estimated) -> Array:
    """(K, p): Σ w (x − m)² of each class."""
    return stats.squares if isinstance(stats, ClassRows) else np.diagonal(stats.scatter, axis1=-2, axis2=-1)


def along(C: Covariance | Array, A: Array) -> Array:
    """AᵀC A."""
    return C.along(A) if isinstance(C, Covariance) else A.T @ C @ A


def _axes_between(apart: Array, tol: float) -> tuple[Array, Array]:
    """Directions in which weighted class means lie apart, most first, and their sums of squares."""
    _, S, Vt = patiently(np.linalg.svd, apart, full_matrices=False)
    return Vt[tol * S[:1] < S].T, S * S


def refuse_sums(learner: Estimator, stats: Any) -> None:
    """Refuse sums over rows (`partial_fit`, `merge`) where the covariances asked for need the rows."""
    if needs_rows(learner) and not isinstance(stats, Estimated):
        asked = "shrinkage='auto'" if learner.shrinkage == "auto" else "covariance_estimator=..."
        raise BadParameter(
            f"{type(learner).__name__}({asked}): needs all rows at once, not sums: use fit, or a number as shrinkage"
        )
