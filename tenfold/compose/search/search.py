"""A search: settings are tried on the same splits, and the best one is fitted to all rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.routing import router, routing_enabled
from tenfold.compose.search.by_verbs import ByVerbs, goes_by_verbs, warn_of_weights
from tenfold.compose.search.chosen import Chosen
from tenfold.compose.search.correction import FoldScores, HeldOut, units_of
from tenfold.compose.search.evaluation import Evaluation, Judges, Scores
from tenfold.compose.search.fits import Splits
from tenfold.compose.search.folds import rounds_of_search
from tenfold.compose.search.parameters import Setting
from tenfold.compose.search.results import check_means, index_by_function, ranks
from tenfold.compose.search.sharing import with_setting
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learning import Keep, Learner
from tenfold.core.monitor import Passes, keep_on_interrupt
from tenfold.core.params import KW_ONLY, group, param
from tenfold.evaluate.split.folds import RareClass
from tenfold.evaluate.split.plan import SplitPlan
from tenfold.evaluate.split.splitting import check_cv
from tenfold.evaluate.validate.memory import table_of
from tenfold.evaluate.validate.ordinary import is_classifier
from tenfold.evaluate.validate.routing import asked_of
from tenfold.gate.inputs import Given
from tenfold.score.functions import FunctionScore
from tenfold.score.record import Score
from tenfold.score.registry import find_score
from tenfold.score.scorer import Scorers
from tenfold.score.scoring import check_scoring

CORRECTED = ("best_score_corrected_", "best_score_range_")
Evaluate = Callable[[list[Setting], list[Any]], Scores]


@group
class Search(Chosen):
    """Abstract: tries settings of `estimator` on the same splits, and is the best of them, fitted to all rows."""

    _: KW_ONLY
    scoring: Any = param(
        default=None,
        doc="the score, greater is better: a name (None: accuracy or r2), a function, or several as a list or dict by name",
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    refit: bool | str | Callable[..., Any] = param(
        default=True,
        doc="fit the best setting to all rows; of several scores the name of the one that chooses; or a function of cv_results_",
    )
    cv: Any = param(
        default=None,
        doc="None: 5 folds by what the rows hold, copies together; a number of folds of neighbouring rows; a splitter; pairs (train, test)",
    )
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()")
    error_score: float | str = param(
        default=np.nan, one_of=("raise", np.nan), doc="score of a setting that fails to fit; 'raise' ends the search"
    )
    return_train_score: bool = param(default=False, doc="scores on the training rows in cv_results_ too")

    # --- the fit ---

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Try all settings, and fit the best one to all rows; rows of one of the `groups` are never split. `params` are handed to
        every fit, as scikit-learn does.
        """
        if goes_by_verbs(self.estimator, self.scoring, params, y):
            return self._fit_by_verbs(X, y, groups, params if sample_weight is None else {**params, "sample_weight": sample_weight})
        source = check.check_fit(self, X, y, sample_weight)
        if sample_weight is not None:
            for judge in self._judges(None).values():
                if isinstance(judge, FunctionScore) and not judge.weighted:
                    warn_of_weights(self, judge.name)
        vars(self)["_groups"] = groups
        try:
            return self._fit(source)
        except RareClass:  # a splitter of the user's may hold it out all the same
            if not hasattr(self.cv, "split"):
                raise
        finally:
            vars(self).pop("_groups", None)
        return self._fit_by_verbs(X, y, groups, {} if sample_weight is None else {"sample_weight": sample_weight})

    def _fit_by_verbs(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> Self:
        """The ordinary route: every setting is fitted to every split, and asked by its own verbs."""
        check.check_params(self)
        self._forget_fit()
        if groups is not None and routing_enabled():
            params, groups = {**params, "groups": groups}, None
        way, tables, passes = ByVerbs(self, X, y, groups, params), list[Scores](), Passes(type(self).__name__)
        tests = list[Array]()
        self._chosen_by(dict.fromkeys(way.scorer.scorers if isinstance(way.scorer, Scorers) else ("score",)))

        def evaluate(settings: list[Setting], on: list[Any]) -> Scores:
            passes.of = (passes.of or 0) + len(settings)
            tables.append(way.run(settings, on, passes.done))
            tests[:] = [one.test_rows(k) for one in on for k in range(len(one))]
            return tables[-1]

        more = self._run(evaluate, way.rows, way.rounds)
        fitted = self._table_of(tables, way.names, more)
        several = way.names != ["score"] or self._several
        fitted.update(n_splits_=tables[-1].test.shape[2], multimetric_=several, _by_verbs=True)
        vars(self).update(fitted, n_features_in_=Given(X).shape[1] if hasattr(X, "shape") or hasattr(X, "__len__") else 1)
        chosen_by = self._chosen_by(dict.fromkeys(way.names), several)
        if chosen_by is not None:
            place = way.names.index(chosen_by)
            held = FoldScores(tables[-1].test[place], tests)
            vars(self).update(self._choice_of(tables, place, held, list(range(len(tables[-1].settings)))))
        if self.refit:
            self._refit_by_verbs(way)
        return self

    def _refit_by_verbs(self, way: ByVerbs) -> None:
        began = time.perf_counter()
        best = with_setting(self.estimator, self._settings[vars(self)["best_index_"]])
        given = (way.rows.X,) if way.rows.y is None else (way.rows.X, way.rows.y)
        best.fit(*given, **way.asked.fit)
        vars(self).update(best_estimator_=best, _refit_time=time.perf_counter() - began)
        for fact in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(best, fact):
                vars(self)[fact] = getattr(best, fact)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        member = self._member
        judges = self._judges(None if source.target.classes is None else len(source.target.classes))
        chosen_by = self._chosen_by(judges)
        rows = source if isinstance(source, Arrays) else table_of((yield Keep(sparse=True)), source, member.missing)
        return self._searched(member, rows, judges, chosen_by)

    def _searched(self, member: Estimator, rows: Arrays, judges: Judges, chosen_by: str | None) -> dict[str, Any]:
        rounds, groups = rounds_of_search(self, member, rows, vars(self).get("_groups"))
        evaluation = Evaluation(member, rows, judges, self.error_score, self.return_train_score)
        evaluation.check_splits(Splits(rows, rounds))
        units = units_of(rows, groups)
        judge = judges[chosen_by or next(iter(judges))]
        tables: list[Scores] = []
        last: list[HeldOut] = []
        passes = Passes(type(self).__name__)

        def evaluate(settings: list[Setting], on: list[SplitPlan]) -> Scores:
            splits = Splits(rows, on)
            last[:] = [HeldOut(judge, rows, [splits.test(k) for k in range(len(splits))], units)]
            passes.of = (passes.of or 0) + len(settings)
            found = evaluation.run(settings, on, last[0], passes.done)
            tables.append(found)
            if not found.done.all():
                raise KeyboardInterrupt
            return found

        more, stopped = {}, False
        try:
            more = self._run(evaluate, rows, rounds)
        except KeyboardInterrupt:
            if not tables:
                raise
            stopped = True
        wanted = sum(len(one.settings) for one in tables)
        tried = [one.only_done() for one in tables]
        fitted = self._table_of(tried, list(judges), more)
        fitted.update(n_splits_=tried[-1].test.shape[2], multimetric_=self._several)
        vars(self).update(fitted)
        if chosen_by is not None:
            done = np.flatnonzero(tables[-1].done)
            fitted.update(self._choice_of(tried, list(judges).index(chosen_by), last[0], done.tolist()))
            vars(self).update(fitted)
        if self.refit:
            fitted.update(self._refitted(member, rows))
        if stopped:
            keep_on_interrupt(f"{sum(len(one.settings) for one in tried)} of {wanted} settings are compared")
        return fitted

    def _run(self, evaluate: Evaluate, rows: Any, rounds: list[Any]) -> dict[str, Any]:
        """Try the settings; returns further fitted attributes."""
        evaluate(self._candidates(), rounds)
        return {}

    def _candidates(self) -> list[Setting]:
        raise NotImplementedError

    def _table_of(self, tried: list[Scores], names: list[str], more: dict[str, Any]) -> dict[str, Any]:
        """What `cv_results_` is made of."""
        train = None if tried[0].train is None else np.concatenate([one.train for one in tried if one.train is not None], axis=1)
        times = np.stack([np.concatenate([getattr(one, what) for one in tried]) for what in ("fit_time", "score_time")])
        return dict(
            _settings=[setting for one in tried for setting in one.settings],
            _score_names=np.array(names, dtype=object),
            _test_scores=np.concatenate([one.test for one in tried], axis=1),
            _train_scores=train,
            _times=times,
            _refit_time=0.0,
            **more,
        )

    def _choice_of(self, tried: list[Scores], place: int, held: HeldOut | FoldScores, done: list[int]) -> dict[str, Any]:
        """The best setting, its score, and the score to expect of it."""
        means = tried[-1].test[place].mean(axis=1)
        before = sum(len(one.settings) for one in tried[:-1])
        if callable(self.refit):
            index = index_by_function(self)
            why = "refit is a function, and what it would have chosen on other rows is not known"
            return dict(best_index_=index, absent_=dict.fromkeys(CORRECTED, f"the corrected score is absent: {why}"))
        check_means(self, means)
        index = int(ranks(means).argmin())
        found = dict(best_index_=before + index, best_score_=float(means[index]))
        expected = held.expected(done)
        if expected is None:
            why = "there are too few held-out rows, or some lack a class, or test sets of a learner that is not Tenfold's share rows"
            return found | dict(absent_=dict.fromkeys(CORRECTED, f"the corrected score is absent: {why}"))
        return found | dict(best_score_corrected_=expected.estimate, best_score_range_=np.array(expected[1:]))

    def _refitted(self, member: Estimator, rows: Arrays) -> dict[str, Any]:
        began = time.perf_counter()
        best = with_setting(member, self._settings[vars(self)["best_index_"]])._fit(rows)
        return dict(best_estimator_=best, _refit_time=time.perf_counter() - began)

    # --- scores ---

    @property
    def _several(self) -> bool:
        return isinstance(self.scoring, (list, tuple, set, dict))

    def _judges(self, n_classes: int | None) -> Judges:
        """The scores by the names that they have in `cv_results_`."""
        find = partial(
            find_score, role=self._member.role, n_classes=n_classes, parameter="scoring", owner=type(self).__name__
        )
        if not self._several:
            return {"score": find(self.scoring)}
        named = self.scoring if isinstance(self.scoring, dict) else {name: name for name in self.scoring}
        if not named or not all(isinstance(name, str) for name in named):
            raise BadParameter(
                f"{type(self).__name__}(scoring={check.short(self.scoring)}): several scores are a list of names, or a dict of "
                "scores by name"
            )
        return {name: find(one) for name, one in named.items()}

    def _chosen_by(self, judges: Mapping[str, Any], several: bool | None = None) -> str | None:
        """The name of the score that chooses; None where none does."""
        several = self._several if several is None else several
        if not (isinstance(self.refit, (bool, np.bool_, str)) or callable(self.refit)):
            raise BadParameter(
                f"{type(self).__name__}(refit={check.short(self.refit)}): must be True, False, the name of a score, "
                "or a function of cv_results_"
            )
        if not several:
            return "score"
        if not self.refit:
            return None
        if callable(self.refit):
            return next(iter(judges))
        if not isinstance(self.refit, str) or self.refit not in judges:
            raise BadParameter(
                "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit an estimator with the "
                "best parameter setting on the whole data and make the best_* attributes available for that metric. If this is not "
                f"needed, refit should be set to False explicitly. {self.refit!r} was passed: give the name of the one that chooses "
                f"({', '.join(judges)})"
            )
        return self.refit

    def get_metadata_routing(self) -> Any:
        """What is handed on to the learner, the scorer and the splitter (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        scorer = asked_of(self.estimator, check_scoring(self.estimator, self.scoring))
        inside = [
            ("estimator", self.estimator, [("fit", "fit")]),
            ("scorer", scorer, [("score", "score"), ("fit", "score")]),
            ("splitter", check_cv(self.cv, classifier=is_classifier(self.estimator)), [("fit", "split")]),
        ]
        return router(self, inside)

    @property
    def scorer_(self) -> Any:
        """The scorer, of (model, X, y); several by name."""
        check.check_fitted(self)
        found = check_scoring(self.estimator, self.scoring)
        return found.scorers if isinstance(found, Scorers) else found

    def _judge(self) -> Score:
        return self._judges(None)[self._deciding()]

    def _deciding(self) -> str:
        if "_by_verbs" in vars(self):
            return self._chosen_by(dict.fromkeys(self._score_names), self.multimetric_) or str(self._score_names[0])
        judges = self._judges(None)
        return self._chosen_by(judges) or next(iter(judges))
