"""Recursive elimination, with the number of columns found by cross-validation."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.routing import router
from tenfold.compose.select.elimination import Elimination, NotExact, Step, eliminate
from tenfold.compose.select.of_learner import has_columns
from tenfold.compose.select.splits import Splits
from tenfold.core.data import Array, Source
from tenfold.core.engine import each
from tenfold.core.errors import DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.evaluate.split.splitting import check_cv
from tenfold.evaluate.validate.held_out import score_from_moments
from tenfold.evaluate.validate.ordinary import is_classifier
from tenfold.score.scoring import check_scoring


@estimator
class RFECV(Elimination):
    """RFECV: recursive feature elimination; how many columns are left is decided by cross-validation.

    Model       the learner on the columns that are left
    Objective   the number of columns with the greatest mean score on held-out rows, the smaller of equals
    Algorithm   an elimination for each training set, judged on its test rows after every step, then one on all rows. Ridge,
                LinearRegression and others of the moments of one pass are summed once for each fold: every fit, and every squared
                error on test rows, follows from the sums
    Cost        a fold and one eliminations; for learners of one pass one reading of the rows, and p solutions for each fold
    Fails when  columns are in different units and the learner is linear: scale them first; the score of the choice is optimistic
    Reference   Guyon et al. 2002

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> chosen = tenfold.RFECV(tenfold.Ridge()).fit(X, X[:, 1] + X[:, 4] + 0.1 * rng.normal(size=200))
    >>> bool(chosen.get_support()[[1, 4]].all()), len(chosen.cv_results_["mean_test_score"])
    (True, 6)
    """

    _step_scores: Array = learned("real(f,s)", "scores of each split and step, the fewest columns first")
    _step_rankings: Array = learned("int(f,s,p)", "rankings before them")
    _step_sizes: Array = learned("int(s)", "numbers of columns")

    folds_by_content: ClassVar[bool] = False
    exempt: ClassVar[dict[str, str]] = {
        "several_targets": "the same columns are kept for all targets",
    }

    _: KW_ONLY
    min_features_to_select: int = param(default=1, at_least=1, doc="least number of columns", before="verbose")
    cv: Any = param(
        default=None,
        doc="None: 5 folds by what the rows hold, copies together; a number of folds of neighbouring rows; a splitter; pairs of rows",
        before="verbose",
    )
    scoring: Any = param(default=None, doc="the score, greater is better: a name (None: accuracy or r2), or a function", before="verbose")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)", before="importance_getter")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge

        return [{"estimator": Ridge()}]

    @property
    def least_rows(self) -> int:
        return max(2, -(-5 * int(self._member.least_rows) // 4))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Find the number of columns and keep the best; rows of one of the `groups` are never split."""
        vars(self)["_groups"] = groups
        try:
            return super().fit(X, y, sample_weight, **params)
        finally:
            vars(self).pop("_groups", None)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._check_width(source)
        p = source.n_features
        least, step = self.min_features_to_select, self._step(p)
        if least > p:
            warn(
                f"Found min_features_to_select={least} > n_features={p}. There will be no feature selection and all features will be "
                "kept.",
                DataWarning,
            )
        scoring = self.scoring if self.scoring is not None else ("accuracy" if is_classifier(self.estimator) else "r2")
        splits = yield from Splits.of(self, source, scoring)
        try:
            found = self._from_sums_of(splits, p, min(least, p), step)
        except NotExact:
            found = None
        if found is None:
            found = [self._split(splits, one, p, min(least, p), step) for one in splits.pairs]
        scores = np.array([[one.score for one in reversed(steps)] for steps in found])
        sizes = np.array([int(one.kept.sum()) for one in reversed(found[0])])
        chosen = int(sizes[np.argmax(scores.sum(axis=0))])
        last = self._on_all(splits, p, chosen, step)
        model, kept, ranking, _ = last
        rankings = np.array([[one.ranking for one in reversed(steps)] for steps in found])
        return dict(
            estimator_=model, n_features_=int(kept.sum()), support_=kept, ranking_=ranking,
            _step_scores=scores, _step_rankings=rankings, _step_sizes=sizes,
        )  # fmt: skip

    def _from_sums_of(self, splits: Splits, p: int, least: int, step: int) -> list[list[Step]] | None:
        """The steps of every split by merged statistics; None where they do not give the fits, or the scores."""
        judge, facts, member = splits.judge, splits.rows.facts, splits.member
        if judge is None or judge.of_squares is None or not has_columns(member):
            return None
        statistics = splits.statistics()
        if statistics is None:
            return None

        def one(pair: tuple[Any, Any]) -> list[Step]:
            training, tested = pair

            def judged(model: Any, columns: Array) -> float:
                whole = vars(model)["n_features_in_"]
                vars(model)["n_features_in_"] = p
                some = model._of_columns(tested, columns)
                vars(model)["n_features_in_"] = whole
                fit = {name: vars(model)[name] for name in ("coef_", "intercept_")}
                score = None if some is None else score_from_moments(model, some, [fit], judge)
                if score is None:
                    raise NotExact
                return float(judge.sign * score[0])

            fit = partial(self._fit_to, member, facts, training)
            return eliminate(fit, p, least, step, self._importance, judged)[3]

        return each(one, statistics)

    def _split(self, splits: Splits, pair: tuple[Array, Array], p: int, least: int, step: int) -> list[Step]:
        """The steps of one split by fits to its rows."""
        X, y, w = splits.table
        train, test = pair
        part = X[train], None if y is None else y[train], None if w is None else w[train]
        fit = self._verbose(partial(self._fit_rows, part))
        return eliminate(fit, p, least, step, self._importance, lambda model, columns: splits.asked(model, test, columns))[3]

    def _on_all(self, splits: Splits, p: int, chosen: int, step: int) -> Any:
        return eliminate(self._verbose(partial(self._fit_rows, splits.table)), p, chosen, step, self._importance)

    @property
    def cv_results_(self) -> dict[str, Array]:
        """Scores of each split and number of columns, the fewest first (mean_test_score, std_test_score, split0_test_score, ...,
        n_features), and which columns were left."""
        check.check_fitted(self)
        scores, rankings = self._step_scores, self._step_rankings
        found = {"mean_test_score": scores.mean(axis=0), "std_test_score": scores.std(axis=0)}
        found |= {f"split{k}_test_score": one for k, one in enumerate(scores)}
        found |= {f"split{k}_ranking": one for k, one in enumerate(rankings)}
        found |= {f"split{k}_support": one == 1 for k, one in enumerate(rankings)}
        return found | {"n_features": self._step_sizes}

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """The score that has decided, of the model of the columns that are kept."""
        check.check_fitted(self)
        scoring = self.scoring if self.scoring is not None else ("accuracy" if is_classifier(self.estimator) else "r2")
        return float(check_scoring(self.estimator, scoring)(self, X, y, **params))

    def plot(self, ax: Any = None) -> Any:
        """The score against the number of columns, with its uncertainty. Returns the axes."""
        from tenfold.draw.features import draw_elimination

        return draw_elimination(self, ax)

    def get_metadata_routing(self) -> Any:
        """What is handed on to the learner, the splitter and the scorer (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        scoring = self.scoring if self.scoring is not None else ("accuracy" if is_classifier(self.estimator) else "r2")
        return router(
            self,
            [
                ("estimator", self.estimator, [("fit", "fit"), ("predict", "predict")]),
                ("splitter", check_cv(self.cv, classifier=is_classifier(self.estimator)), [("fit", "split")]),
                ("scorer", check_scoring(self.estimator, scoring), [("fit", "score"), ("score", "score")]),
            ],
        )
