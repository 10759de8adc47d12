"""Recursive elimination: the columns of least importance go first, and the rest is fitted again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import map_rows
from tenfold.base.foreign import as_ours
from tenfold.base.members import takes_numbers
from tenfold.base.routing import router
from tenfold.compose.select.of_learner import OfLearner, Table, has_columns, importances_of, solved_on, table_in_memory
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.gate.inputs import AsGiven

Fit = Callable[[Array], Any]  # columns -> a model fitted to them


class Step(NamedTuple):
    """What was known of the columns before some of them went."""

    kept: Array
    ranking: Array
    score: float


class NotExact(Exception):
    """The sums of one pass have too few digits for some of the columns: the rows are read again."""


def eliminate(
    fit: Fit, p: int, least: int, step: int, importance: Callable[[Any], Array], judge: Callable[[Any, Array], float] | None = None
) -> tuple[Any, Array, Array, list[Step]]:
    """The model of the last columns, which they are, the ranking of all, and what was found on the way."""
    kept, ranking, steps = np.ones(p, dtype=bool), np.ones(p, dtype=np.int64), list[Step]()
    while True:
        columns = np.flatnonzero(kept)
        model = fit(columns)
        if judge is not None:
            steps.append(Step(kept.copy(), ranking.copy(), judge(model, columns)))
        if len(columns) <= least:
            return model, kept, ranking, steps
        order = np.argsort(importance(model), kind="stable")
        kept[columns[order[: min(step, len(columns) - least)]]] = False
        ranking[~kept] += 1


def _has(verb: str) -> Callable[[Any], bool]:
    return lambda selector: hasattr(vars(selector).get("estimator_", selector.estimator), verb)


@group
class Elimination(OfLearner):
    """Abstract: a model of the columns that are left, which predicts too."""

    estimator_: Any = learned("part", "the learner, fitted to the columns that are kept")
    n_features_: int = learned("int>=0", "number of columns that are kept")
    support_: Array = learned("bool(p)", "which columns are kept")
    ranking_: Array = learned("int(p)", "1 for the columns that are kept; the later a column went, the lower")

    _: KW_ONLY
    step: float = param(default=1, above=0, doc="columns that go at a time: a number, or below 1 a share of all")
    verbose: int | bool = param(default=0, doc="say how many columns are left before each fit")
    importance_getter: Any = param(default="auto", doc="'auto', the name of an attribute, or a function of the fitted learner")

    @property
    def role(self) -> str:  # type: ignore[override]
        said = str(self._member.role)
        return said if said in ("classifier", "regressor") else "transformer"

    def _step(self, p: int) -> int:
        if self.step >= 1 and self.step != int(self.step):
            raise BadParameter(f"{type(self).__name__}(step={self.step!r}): must be a whole number, or a share below 1")
        return int(max(1, self.step * p)) if self.step < 1 else int(self.step)

    def _importance(self, model: Any) -> Array:
        found = importances_of(model, self.importance_getter)
        return np.asarray(found**2 if found.ndim == 1 else (found**2).sum(axis=0))

    def _verbose(self, fit: Fit) -> Fit:
        def announced(columns: Array) -> Any:
            if self.verbose:
                print(f"Fitting estimator with {len(columns)} features.")
            return fit(columns)

        return announced

    def _by_sums(self, source: Source) -> bool:
        """Whether every fit follows from the sums of one pass over all columns."""
        plain = not isinstance(source, AsGiven) and not vars(self).get("_more")
        return plain and has_columns(self._member) and source.facts.get("categories_") is None

    def _fit_to(self, member: Any, facts: dict[str, Any], stats: Any, columns: Array) -> Any:
        model = solved_on(member, facts, stats, columns)
        if model is None:
            raise NotExact
        return model

    def _fit_rows(self, table: Table, columns: Array) -> Any:
        return self._fitted_member(*table, columns)

    def _mask(self) -> Array:
        return self.support_

    # --- what the model of the columns that are kept says ---

    def _inner(self) -> Any:
        coded = self.accepts == "anything" or not takes_numbers(self.estimator_)
        known: dict[str, Any] = {key: vars(self)[key] for key in ("classes_", "_flat") if key in vars(self)}
        return as_ours([self.estimator_], coded, known)[0]

    def _ask(self, verb: str, X: Any) -> Any:
        function = getattr(self.estimator_, verb)
        return map_rows(lambda block: function(self._transform(block)), check.check_predict(self, X))

    @available(_has("predict"))
    def predict(self, X: Any) -> Any:
        """What the model of the columns that are kept predicts for each row."""
        check.check_fitted(self)
        return self._ask("predict", X)

    @available(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`."""
        return self._ask("predict_proba", X)

    @available(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of `predict_proba`."""
        return self._ask("predict_log_proba", X)

    @available(_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Scores of the classes; for two classes, how much the second one leads."""
        return self._ask("decision_function", X)

    @available(_has("score"))
    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """The score of the model of the columns that are kept, as its own `score`."""
        check.check_fitted(self)
        return float(self.estimator_.score(map_rows(self._transform, check.check_predict(self, X)), y, **params))

    def _predict(self, X: Any) -> Any:
        return self._inner()._predict(self._transform(X))

    def _scores(self, X: Any) -> Any:
        return self._inner()._scores(self._transform(X))

    def _choice(self, X: Any) -> Any:
        return self._inner()._choice(self._transform(X))

    def _outputs(self, X: Any) -> Any:
        return self._inner()._outputs(self._transform(X))

    def _probabilities(self, X: Any) -> Any:
        return self._inner()._probabilities(self._transform(X))

    def _objection(self) -> str | None:
        kept = int(self.support_.sum())
        if kept != self.n_features_ or self.estimator_.n_features_in_ != kept or ((self.ranking_ == 1) != self.support_).any():
            return "the columns that are kept are not those of its model"
        return None


@estimator
class RFE(Elimination):
    """RFE: recursive feature elimination, down to a number of columns.

    Model       the learner on the columns that are left
    Objective   that of the learner; at each step the columns of the least coef² or importance go
    Algorithm   fit, drop the least important, fit again; the sums of one pass over all columns give every fit of Ridge and
                LinearRegression, so that the rows are read once
    Cost        (p − n_features_to_select) / step fits; for learners of one pass one pass and a solution each
    Fails when  columns are in different units and the learner is linear: scale them first
    Reference   Guyon et al. 2002

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> chosen = tenfold.RFE(tenfold.Ridge(), n_features_to_select=2).fit(X, X[:, 0] - 2 * X[:, 2] + 0.1 * X[:, 1])
    >>> chosen.get_support().tolist(), chosen.ranking_.tolist()
    ([True, False, True, False], [1, 2, 1, 3])
    """

    _: KW_ONLY
    n_features_to_select: Any = param(default=None, doc="columns to keep: a number, a share of all, None: half of them", before="step")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.discriminant import LinearDiscriminantAnalysis
        from tenfold.linear.ridge import Ridge

        return [{"estimator": Ridge()}, {"estimator": LinearDiscriminantAnalysis(), "n_features_to_select": 3}]

    @property
    def kind(self) -> str:
        return "one pass" if has_columns(self._member) else "keeps rows"

    def _least(self, p: int) -> int:
        given = self.n_features_to_select
        if given is None:
            return p // 2
        whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
        share = isinstance(given, (float, np.floating)) and 0 < given <= 1
        if not share and (not whole or given < 1):
            raise BadParameter(
                f"RFE(n_features_to_select={check.short(given)}): must be a number of columns of at least 1, a share up to 1.0, or None"
            )
        if whole and given > p:
            warn(
                f"Found n_features_to_select={given} > n_features={p}. There will be no feature selection and all features will be kept.",
                DataWarning,
            )
        return int(given) if whole else max(1, int(p * given))

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._check_width(source)
        p = source.n_features
        least, step = self._least(p), self._step(p)
        found = None
        if self._by_sums(source):
            member = self._member
            summing = member._fitted_copy({})
            vars(summing).update(source.facts)
            stats = yield summing._summarize
            try:
                fit = self._verbose(partial(self._fit_to, member, source.facts, stats))
                found = eliminate(fit, p, least, step, self._importance)
            except NotExact:
                found = None
        if found is None:
            table = yield from table_in_memory(source)
            found = eliminate(self._verbose(partial(self._fit_rows, table)), p, least, step, self._importance)
        model, kept, ranking, _ = found
        return dict(estimator_=model, n_features_=int(kept.sum()), support_=kept, ranking_=ranking)

    def get_metadata_routing(self) -> Any:
        """What is handed on to the learner (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        calls = [("fit", "fit"), ("predict", "predict"), ("score", "score")]
        return router(self, [("estimator", self.estimator, calls)])
