"""Outliers of any density, at a stated rate of false alarms."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Density, Detector, Estimator, map_rows
from tenfold.base.foreign import ByVerbs, learner_of, objection_to, own_of
from tenfold.base.member import OfMember
from tenfold.base.sklearn_api import fresh
from tenfold.compose.folds import splits_of
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.evaluate.calibrate.null import NullLaw, Tail, tail_of
from tenfold.evaluate.explain.surprises import Surprises, of_any, of_gaussians
from tenfold.evaluate.validate.held_out import outputs_of, split_models
from tenfold.evaluate.validate.memory import in_memory, table_of
from tenfold.features.selectors import few_false
from tenfold.prepare.cuts import weighted_quantiles

ROWS, TAIL = "rows", "tail"
VALUES = 33  # of a column that are tried in a cell


@estimator
class OutlierDetector(OfMember, Detector, Estimator):
    """OutlierDetector: rows that a density finds unusual, so that usual ones are flagged at a stated rate.

    Model       x is an outlier where its p-value is at most the rate: p(x) = (1 + #{i: s₋ᵢ(xᵢ) ≤ s(x)}) / (1 + n), where s is the log
                density, or any score that is high for usual rows, and s₋ᵢ that of a fit without the fold of row i
    Objective   the density's own
    Algorithm   a cross-validation of the density; its held-out scores are the law of the score among usual rows. calibration="tail":
                the rows of the fit may hold outliers themselves; then p is at most what a generalised Pareto tail says, fitted to the
                lowest quarter of the held-out scores without looking at the lowest 3 %
    Cost        a cross-validation of the density; the rows are kept while it is fitted
    Fails when  rows are fewer than 1 / rate − 1 ("rows": told, nothing is flagged; "tail" goes on beyond them); usual rows to come
                are of another law than those of the fit
    Reference   Laxhammar & Falkman 2010; Bates, Candès, Lei, Romano & Sesia 2023; Coles 2001, chapter 4 (tail)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(500, 2)) @ [[1, 1], [0, 0.2]]
    >>> model = tenfold.OutlierDetector(tenfold.GaussianMixture()).fit(X)
    >>> model.predict([[1, 1], [1, -1]]).tolist(), model.pvalues([[1, 1], [1, -1]]).round(3).tolist()
    ([1, -1], [0.543, 0.002])
    """

    density_: Any = learned("learner", "the density of all rows")
    held_out_scores_: Array = learned("real(n)", "scores of the rows of the fit, each by a density that has not seen it")
    column_values_: Array = learned("real(m,p)", "quantiles of each column: what may stand in a cell", optional=True)
    tail_: Array = learned("float(5)", "start, share, scale, shape and limit of the tail", optional=True)
    _row_weights: Array = learned("float(n)>0", "weights of the rows of the fit", optional=True)

    kind: ClassVar[str] = "keeps rows"
    accepts: ClassVar[str] = "rows"
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "folds are made by a hash of the rows, which reads the columns in their order",
    }

    density: Any = param(default=None, doc="a density, or any learner with score_samples; None: GaussianMixture()")
    _: KW_ONLY
    false_alarm_rate: float = param(default=0.01, above=0, at_most=0.5, doc="share of new usual rows that are flagged, at most")
    calibration: str = param(
        default=ROWS,
        one_of=(ROWS, TAIL),
        doc="rows: those of the fit are all usual, and the rate holds for any law; tail: they may hold outliers",
    )
    cv: Any = param(
        default=None, doc="None: 5 folds by what the rows hold, copies together; a number of folds of neighbouring rows; or a splitter"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.density.mixture import GaussianMixture

        plain = {"density": GaussianMixture(reg_covar=1e-2), "false_alarm_rate": 0.1}
        return [plain, plain | {"calibration": TAIL}]

    @property
    def _member(self) -> Any:
        if self.density is None:
            from tenfold.density.mixture import GaussianMixture

            return GaussianMixture()
        reason = objection_to(self.density, "score_samples")
        if reason is not None:
            raise BadParameter(f"OutlierDetector(density): {reason}")
        return learner_of(self.density)

    @property
    def sparse(self) -> bool:
        return bool(self._member.sparse)

    @property
    def least_rows(self) -> int:
        return max(2, int(self._member.least_rows))

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        member = self._member
        if not isinstance(member, ByVerbs):
            check.check_params(member)
        rows = source if isinstance(source, Arrays) else table_of((yield Keep(sparse=True)), source, member.missing)
        one = splits_of(self, rows, whole=True)
        models = split_models(member, rows, one)[0]
        tests = [one.test_rows(k) for k in range(len(one))]
        scores = np.concatenate(outputs_of(models, rows, tests, usual))[np.argsort(np.concatenate(tests))]
        given = rows.w if rows.w is None or rows.rows is None else rows.w[rows.rows]
        w = None if given is None or (given == 1).all() else np.asarray(given, dtype=np.float64)
        law = NullLaw.of(scores, w)
        tail = tail_of(law) if self.calibration == TAIL else None
        if tail is None and self.false_alarm_rate * (1 + law.weight) < 1:
            warn(
                f"OutlierDetector(false_alarm_rate={self.false_alarm_rate:g}): {law.weight:g} rows cannot tell so low a rate, and nothing "
                f"is flagged. Give at least {1 / self.false_alarm_rate - 1:.0f}, a higher rate, or calibration='tail'",
                DataWarning,
            )
        fitted = dict(density_=own_of(fresh(member)._fit(rows)), held_out_scores_=scores)
        if not ops.is_sparse(rows.X):
            fitted["column_values_"] = _quantiles(rows.X if rows.rows is None else rows.X[rows.rows], w)
        if w is not None:
            fitted["_row_weights"] = w
        if tail is not None:
            fitted["tail_"] = np.array([tail.start, tail.share, tail.scale, tail.shape, tail.limit])
        return fitted

    def _fit_without(self, X: Any, left_out: Array) -> Self:
        """Fit to rows of numbers, the density without some of them (truth values), which may be outliers that would widen it; they count
        among the held-out scores all the same, by the density of all others."""
        rows = np.asarray(X)
        self.fit(rows[~left_out])
        scores = np.empty(len(rows))
        scores[~left_out] = self.held_out_scores_
        if left_out.any():
            scores[left_out] = self.score_samples(rows[left_out])
        fitted = dict(held_out_scores_=scores)
        tail = tail_of(NullLaw.of(scores, None)) if self.calibration == TAIL else None
        if tail is not None:
            fitted["tail_"] = np.array([tail.start, tail.share, tail.scale, tail.shape, tail.limit])
        vars(self).pop("tail_", None)
        vars(self).update(fitted)
        return self

    @property
    def _law(self) -> NullLaw:
        found = vars(self).get("tail_")
        return NullLaw.of(self.held_out_scores_, vars(self).get("_row_weights"), None if found is None else Tail(*map(float, found)))

    @property
    def offset_(self) -> float:  # type: ignore[override]
        """Rows that score less are outliers; −inf where the rows of the fit are too few to tell."""
        check.check_fitted(self)
        return self._law.threshold(self.false_alarm_rate)

    def decision_function(self, X: Any) -> Array:
        """`score_samples` − `offset_`: below zero for outliers."""
        scores, offset = self.score_samples(X), self.offset_
        return np.subtract(scores, offset, out=np.zeros(scores.shape), where=scores != offset)  # both may be infinite

    def _normality(self, X: Any) -> Array:
        return usual(learner_of(self.density_), X)

    def pvalues(self, X: Any) -> Array:
        """Of new rows: the share of usual rows that are as unusual as this one. Uniform for usual rows, or larger."""
        scores = map_rows(self._normality, check.check_predict(self, X))
        return map_rows(self._law.pvalues, scores) if hasattr(scores, "dask") else self._law.pvalues(scores)

    @property
    def pvalues_(self) -> Array:
        """Of the rows of the fit, each by a density that has not seen it, and among all others."""
        check.check_fitted(self)
        return self._law.own_pvalues(self.held_out_scores_, vars(self).get("_row_weights"))

    def flagged(self, X: Any, fdr: float = 0.1) -> Array:
        """Whether each of these new rows is an outlier, so that at most a share `fdr` of those flagged is expected to be usual (Benjamini &
        Hochberg; p-values that share their usual rows are positively dependent, and it holds for them)."""
        if isinstance(fdr, bool) or not isinstance(fdr, (int, float, np.integer, np.floating)) or not 0 < fdr < 1:
            raise BadParameter(f"flagged(fdr={fdr!r}): must be a number above 0 and below 1")
        return np.asarray(few_false(np.asarray(self.pvalues(X)), float(fdr)))

    def surprises(self, X: Any) -> Surprises:
        """What makes rows unusual, cell by cell: how much log density the row gains where the cell has the value that fits the others best,
        and the range that the others lead to expect. Exact for sums of Gaussians, log max p(· | others) − log p(x_j | others); for other
        densities and scores by trying the values of the column in the rows of the fit. `surprises(X).words(0)` says it of the first row.

        >>> import numpy as np, tenfold
        >>> X = np.random.default_rng(0).normal(size=(500, 2)) @ [[1, 1], [0, 0.2]]
        >>> tenfold.OutlierDetector(tenfold.GaussianMixture()).fit(X).surprises([[1.0, 1.0], [0.1, -2.0]]).words(1)[0]
        'column 1 -2 where -0.1494 to 0.3466 were expected given the others'
        """
        given = check.check_predict(self, X)
        rows = np.ascontiguousarray(ops.dense(in_memory(given, self.missing).X if isinstance(given, Source) else given), dtype=np.float64)
        named = vars(self).get("feature_names_in_")
        names = [f"column {j}" for j in range(rows.shape[1])] if named is None else [str(name) for name in named]
        density = learner_of(self.density_)
        gaussians = density._gaussians() if isinstance(density, Density) and not np.isnan(rows).any() else None
        if gaussians is not None:
            shares, means, precisions = gaussians
            return of_gaussians(shares, means, precisions, rows, names)
        if "column_values_" not in vars(self):
            raise BadInput("surprises: the rows of the fit were sparse, and what stands in their cells was not kept: fit to dense rows")
        return of_any(self._normality, rows, self.column_values_, names, isinstance(density, Density))

    def _objection(self) -> str | None:
        if not isinstance(self.density_, (Density, Detector)) or self.density_.n_features_in_ != self.n_features_in_:
            return "density_ is no density of the same columns"
        if not len(self.held_out_scores_) or len(vars(self).get("_row_weights", self.held_out_scores_)) != len(self.held_out_scores_):
            return "there is not a weight for each score"
        tail = vars(self).get("tail_")
        if tail is not None and not (0 < tail[1] < 1 and tail[2] > 0 and tail[3] >= 0):
            return "tail_ is no tail"
        return None


def _quantiles(X: Array, w: Array | None) -> Array:
    """(m, p) of each column, those of its values that are not missing."""
    levels = np.linspace(0, 1, VALUES)
    found = np.full((VALUES, X.shape[1]), np.nan)
    for j, column in enumerate(np.asarray(X, dtype=np.float64).T):
        order = np.argsort(column, kind="stable")[: np.count_nonzero(~np.isnan(column))]  # what is missing is last
        if len(order):
            found[:, j] = weighted_quantiles(column[order], np.ones(len(order)) if w is None else w[order], levels, average=False)
    return found


def usual(model: Any, X: Any) -> Array:
    """How usual rows are: their log density, or the score of a detector."""
    if isinstance(model, ByVerbs):
        return np.asarray(model._ask("score_samples", X), dtype=np.float64)
    return np.asarray(model._log_density(X) if isinstance(model, Density) else model._normality(X), dtype=np.float64)
