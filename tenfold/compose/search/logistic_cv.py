"""Logistic regression with penalties chosen by cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.routing import refuse_unrouted
from tenfold.compose.search.correction import Expected, FoldScores, HeldOut, units_of
from tenfold.compose.search.logistic_folds import Grid, Paths, outputs_of, paths_of
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput, BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner, drive
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.evaluate.split.plan import SplitPlan, plan, target_of
from tenfold.evaluate.split.splitting import Splitting
from tenfold.evaluate.validate.judges import score_of
from tenfold.evaluate.validate.memory import table_of
from tenfold.linear.class_scores import LinearScores
from tenfold.linear.logistic import LogisticRegression, setting_of, survey_of
from tenfold.score.record import Score
from tenfold.score.registry import find_score
from tenfold.score.scoring import get_scorer

CORRECTED = ("best_score_corrected_", "best_score_range_")


@estimator
class LogisticRegressionCV(LinearScores, Estimator):
    """LogisticRegressionCV: logistic regression with the penalties of best cross-validated score.

    Model       P(class k | x) ∝ exp(wₖ·x + bₖ), as LogisticRegression
    Objective   that of LogisticRegression, at the C and l1_ratio of largest mean score on held-out rows
    Algorithm   on each training set from the strongest penalty to the weakest, each fit begun at the one before; all training sets
                side by side, so that one reading of the rows serves them all; then the fit to all rows
    Cost        that of LogisticRegression for each C, l1_ratio and fold, O(n p) memory for the rows, which are kept
    Fails when  the best C is the first or the last (widen Cs); settings are many and rows few: best_score_ flatters then,
                best_score_corrected_ says by how much
    Reference   Friedman, Hastie & Tibshirani 2010; the corrected score: Tsamardinos, Greasidou & Borboudakis 2018

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = X[:, 0] + rng.logistic(size=200) > 0
    >>> model = tenfold.LogisticRegressionCV(scoring="neg_log_loss", use_legacy_attributes=False).fit(X, y)
    >>> round(model.C_, 4), model.scores_.shape
    (0.3594, (5, 1, 10))
    """

    Cs_: Array = learned("real(c)", "the inverse penalties tried")
    C_: Any = learned("real(M)|float|inf", "the one chosen; repeated for each class with use_legacy_attributes")
    l1_ratio_: Any = learned("float(M)|float", "the share of the L1 penalty chosen, likewise")
    best_score_: float = learned("float", "mean score of the choice on the folds it was made by")
    best_score_corrected_: float = learned("float", "score to expect of it on new rows: the choice is accounted for", optional=True)
    best_score_range_: Array = learned("float(2)", "95 % range of best_score_corrected_", optional=True)
    solver_: str = learned("str", "the method of the fit to all rows", optional=True)
    _ratios: Array = learned("float(r)", "the shares of the L1 penalty tried")
    _paths: Array = learned("float(f,r,c,M,*)", "coefficients and constants of each fold, share and C")
    _fold_scores: Array = learned("real(f,r,c)", "their scores on held-out rows")
    _steps: Array = learned("int(f,r,c)", "their steps")

    _: KW_ONLY
    Cs: Any = param(default=10, doc="inverses of the penalty strength; a number of them: from 1e-4 to 1e4, evenly in the logarithm")
    l1_ratios: Any = param(default="warn", doc="shares of the L1 penalty to choose from, 0 to 1; 'warn' and None: 0, or as penalty says")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    cv: Any = param(default=None, doc="number of folds (None: 5) with the classes spread evenly, a splitter, or pairs of row numbers")
    dual: bool = param(default=False, doc="no effect: both problems have the same optimum")
    penalty: str = param(
        default="deprecated",
        one_of=("deprecated", "l1", "l2", "elasticnet"),
        doc="'l1' or 'l2' for l1_ratios=(1,) or (0,); as in scikit-learn, set l1_ratios instead",
    )
    scoring: Any = param(
        default="warn", doc="the score, greater is better: a name ('warn' and None: accuracy), or a function of (model, X, y)"
    )
    solver: str = param(default="lbfgs", doc="no effect: the method is chosen by the shape of the table")
    tol: float = param(default=1e-4, above=0, doc="bound on max |gradient| / Σ s")
    max_iter: int = param(default=100, at_least=0, doc="most steps of a fit, each a pass over all rows")
    class_weight: dict[Any, Any] | str | None = param(
        default=None, one_of=("balanced", None), doc="weight of each class; 'balanced': Σ s / (K Σ s of the class), of all rows"
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")
    refit: bool = param(default=True, doc="fit the choice to all rows; False: the mean of the best fits of the folds")
    intercept_scaling: float = param(default=1.0, doc="no effect: the intercept is never penalised")
    random_state: int | RandomState | None = param(default=None, doc="no effect: nothing is drawn")
    use_legacy_attributes: bool | str = param(
        default="warn", one_of=(True, False, "warn"), doc="fitted attributes in scikit-learn's older form, by class ('warn' too)"
    )

    kind: ClassVar[str] = "keeps rows"
    least_rows: ClassVar[int] = 2
    exempt: ClassVar[dict[str, str]] = {
        "row_order": "folds are cut by row number, as in scikit-learn",
        "weight_is_copies": "folds are cut by row number, and copies of a row count as rows",
    }

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"Cs": 4, "cv": 3, "tol": 1e-12}, {"Cs": [0.1, 1.0], "cv": 2, "l1_ratios": [0.0, 0.5], "scoring": "neg_log_loss"}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"Cs": 2, "cv": 2}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Learn from rows; `sample_weight` counts in fits and scores."""
        refuse_unrouted(self, "fit", params)
        return self._fit(check.check_fit(self, X, y, sample_weight))

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        Cs, ratios = self._given_Cs(), self._given_ratios()
        judge = self._judge(len(self.classes_))
        rows = source if isinstance(source, Arrays) else table_of((yield Keep(sparse=True)), source, False)
        member = self._member()
        vars(member).update(rows.facts)
        survey = current_engine(rows).run(survey_of(len(self.classes_)), rows)  # what is not finite is refused here, before folds are cut
        rounds = self._rounds(rows)
        setting = setting_of(member, survey)
        M = 1 if len(self.classes_) == 2 else len(self.classes_)
        grid = Grid(Cs, ratios, setting, (M, rows.n_features + 1), self.tol, self.max_iter)
        paths = paths_of(rows, rounds, grid, type(self).__name__)
        self._warn(paths)
        tests = [one.test_rows(k) for one in rounds for k in range(len(one))]
        scores, held = self._judged(judge, rows, tests, paths)
        return self._chosen(rows, grid, paths, scores, held)

    def _member(self) -> LogisticRegression:
        shared = ("fit_intercept", "tol", "max_iter", "class_weight")
        return LogisticRegression(**{name: getattr(self, name) for name in shared})

    def _rounds(self, rows: Arrays) -> list[SplitPlan]:
        cv, here = self.cv, f"LogisticRegressionCV(cv={check.short(self.cv)})"
        number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
        if (number and cv < 2) or isinstance(cv, (bool, float)):
            raise BadParameter(f"{here}: must be at least 2 folds, a splitter, or pairs of row numbers")
        if cv is None:  # there may be fewer rows than five of each class
            cv = min(5, max(2, int(np.bincount(target_of(rows)).max())))
        try:
            return plan(self, rows, Splitting(cv=cv))
        except (BadInput, BadParameter) as failure:
            raise type(failure)(f"{here}: {failure}") from None

    def _judged(self, judge: Score, rows: Arrays, tests: list[Array], paths: Paths) -> tuple[Array, HeldOut | FoldScores]:
        """Scores (splits, ratios, Cs), greater is better, and what the score to expect of the best follows from."""
        shape = paths.steps.shape
        scores = np.empty((shape[0], shape[1] * shape[2]))
        held = HeldOut(judge, rows, tests, units_of(rows, None))
        parts: list[list[Array]] = [[] for _ in range(scores.shape[1])]
        for s, test in enumerate(tests):
            for i, output in enumerate(outputs_of(rows, test, paths.theta[s].reshape(-1, *paths.theta.shape[3:]))):
                scores[s, i] = judge.sign * score_of(judge, rows, test, output)
                if judge.merges:
                    parts[i].append(held.part(s, output))
        if not judge.merges:  # a function of the user is asked once for each test set
            return scores.reshape(shape), FoldScores(scores.T, tests)
        for i, given in enumerate(parts):
            held.add(i, given)
        return scores.reshape(shape), held

    def _chosen(self, rows: Arrays, grid: Grid, paths: Paths, scores: Array, held: HeldOut | FoldScores) -> dict[str, Any]:
        """The best setting, and what there is to know of it."""
        means = scores.mean(axis=0).T  # (Cs, ratios): of equal scores the first C, as in scikit-learn
        c, r = (int(i) for i in np.unravel_index(means.argmax(), means.shape))
        M = paths.theta.shape[3]
        if self.refit:
            C, ratio = float(grid.Cs[c]), float(grid.ratios[r])
            member = self._member().set_params(C=C, l1_ratio=ratio)
            vars(member).update(rows.facts)
            start = paths.theta[:, r, c].mean(axis=0)
            fitted = drive(member._learn_from(rows, start), rows, current_engine(rows), type(self).__name__)
            found = {name: fitted[name] for name in ("coef_", "intercept_", "solver_")}
        else:
            flat = scores.transpose(0, 2, 1).reshape(len(scores), -1)
            at = np.unravel_index(flat.argmax(axis=1), means.shape)
            theta = np.mean([paths.theta[s, at[1][s], at[0][s]] for s in range(len(scores))], axis=0)
            C, ratio = float(grid.Cs[at[0]].mean()), float(grid.ratios[at[1]].mean())
            found = dict(coef_=np.ascontiguousarray(theta[:, :-1]), intercept_=np.ascontiguousarray(theta[:, -1]))
        if not np.isfinite(means).any():
            raise BadInput("LogisticRegressionCV: no setting has a score on all test sets: take fewer folds, or another score")
        expected = held.expected(list(range(means.size)))
        return dict(
            found,
            Cs_=grid.Cs,
            C_=np.full(M, C) if self.use_legacy_attributes else C,
            l1_ratio_=np.full(M, ratio) if self.use_legacy_attributes else ratio,
            best_score_=float(means[c, r]),
            _ratios=grid.ratios,
            _paths=paths.theta if self.fit_intercept else np.ascontiguousarray(paths.theta[..., :-1]),
            _fold_scores=scores,
            _steps=paths.steps,
            **_corrected(expected),
        )

    def _warn(self, paths: Paths) -> None:
        if not paths.converged.all():
            warn(
                f"LogisticRegressionCV: {int((~paths.converged).sum())} of {paths.converged.size} fits failed to converge within "
                f"max_iter={self.max_iter} steps: Increase the number of iterations (max_iter) or scale the columns",
                NotConverged,
                stacklevel=2,
            )

    # --- parameters as they are meant ---

    def _given_Cs(self) -> Array:
        Cs = self.Cs
        if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
            if not 1 <= Cs <= 1_000_000:
                raise BadParameter(f"LogisticRegressionCV(Cs={Cs!r}): must be a number of penalties >= 1, or the penalties")
            return np.logspace(-4, 4, int(Cs))
        return _numbers("Cs", Cs, 0.0, np.inf, "above 0")

    def _given_ratios(self) -> Array:
        known = {"l1": 1.0, "l2": 0.0}.get(self.penalty)
        if known is not None:
            return np.array([known])
        if self._plain_l2:
            if self.penalty == "elasticnet":
                raise BadParameter(
                    "LogisticRegressionCV(penalty='elasticnet'): l1_ratios must be an array-like of numbers between 0 and 1; "
                    f"got (l1_ratios={self.l1_ratios!r})"
                )
            return np.zeros(1)
        return _numbers("l1_ratios", self.l1_ratios, -1.0, 1.0, "between 0 and 1")

    @property
    def _plain_l2(self) -> bool:
        return self.l1_ratios is None or (isinstance(self.l1_ratios, str) and self.l1_ratios == "warn")

    def _scoring(self) -> Any:
        return None if isinstance(self.scoring, str) and self.scoring == "warn" else self.scoring

    def _judge(self, n_classes: int | None) -> Score:
        return find_score(self._scoring(), "classifier", n_classes, parameter="scoring", owner="LogisticRegressionCV")

    # --- fitted attributes in scikit-learn's words ---

    @property
    def l1_ratios_(self) -> Array:
        """The shares of the L1 penalty tried; [None] where none were given."""
        check.check_fitted(self)
        return np.array([None]) if self._plain_l2 else self._ratios

    @property
    def scores_(self) -> Any:
        """Scores (folds, l1_ratios, Cs); with use_legacy_attributes by class, (folds, Cs) or (folds, Cs, l1_ratios)."""
        check.check_fitted(self)
        if not self.use_legacy_attributes:
            return self._fold_scores
        scores = self._older(self._fold_scores)
        return {label: scores for label in self._labels()}

    @property
    def coefs_paths_(self) -> Any:
        """Coefficients, the constant last (folds, l1_ratios, Cs, classes, p + 1); with use_legacy_attributes by class, as `scores_`."""
        check.check_fitted(self)
        if not self.use_legacy_attributes:
            return self._paths
        return {label: self._older(self._paths[:, :, :, k]) for k, label in enumerate(self._labels())}

    @property
    def n_iter_(self) -> Array:
        """Steps (folds, l1_ratios, Cs); with use_legacy_attributes (1, folds, Cs) or (1, folds, Cs, l1_ratios)."""
        check.check_fitted(self)
        return self._older(self._steps)[None] if self.use_legacy_attributes else self._steps

    def _labels(self) -> list[Any]:
        labels: list[Any] = list(self.classes_)
        return labels[1:] if len(labels) == 2 else labels

    def _older(self, table: Array) -> Array:
        """(folds, Cs, l1_ratios, ...), without the axis of l1_ratios where none were given."""
        return table[:, 0] if self._plain_l2 else table.swapaxes(1, 2)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> float:
        """The score that has chosen, on these rows; greater is better."""
        refuse_unrouted(self, "score", params)
        scorer = get_scorer(self._scoring() or "accuracy")
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(scorer(self, X, y, **weights))

    def _at_choice(self) -> LogisticRegression:
        C, ratio = (float(np.ravel(value)[0]) for value in (self.C_, self.l1_ratio_))
        return self._member().set_params(C=C, l1_ratio=ratio)


def _numbers(name: str, given: Any, low: float, high: float, words: str) -> Array:
    """A list of numbers above `low`, or from 0 where that is negative, up to `high`."""
    try:
        found = np.asarray(given, dtype=np.float64)
        good = found.ndim == 1 and len(found) > 0 and not isinstance(given, str) and bool(((found > low) & (found <= high)).all())
        good = good and (low >= 0 or bool((found >= 0).all()))
    except (TypeError, ValueError):
        good = False
    if not good:
        raise BadParameter(f"LogisticRegressionCV: {name} must be an array-like of numbers {words}; got ({name}={check.short(given)})")
    return found


def _corrected(expected: Expected | None) -> dict[str, Any]:
    if expected is not None:
        return dict(best_score_corrected_=expected.estimate, best_score_range_=np.array(expected[1:]))
    why = "there are too few held-out rows, or some lack a class, or test sets of a function share rows"
    return dict(absent_=dict.fromkeys(CORRECTED, f"the corrected score is absent: {why}"))
