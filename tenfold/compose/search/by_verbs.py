"""Search by the ordinary route: of learners that are not Tenfold's, by scorers that ask the model itself, with more than weights for a fit.

Every setting is fitted to every split, one after the other, and asked by its own verbs (`evaluate.validate.ordinary`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.foreign import takes
from tenfold.base.routing import routing_enabled
from tenfold.compose.search.evaluation import Scores
from tenfold.compose.search.folds import rounds_of_search
from tenfold.compose.search.parameters import Setting
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput, BadParameter, DataWarning, TenfoldError, warn
from tenfold.evaluate.split.folds import n_rows
from tenfold.evaluate.split.splitting import Splitting
from tenfold.evaluate.split.strata import STRATA, target_kind
from tenfold.evaluate.validate.by_verbs import splits_by_verbs
from tenfold.evaluate.validate.judges import changed_by_user, judges_of, several_labels
from tenfold.evaluate.validate.ordinary import Job, Outcome, columns_of, fit_and_score, warn_of_failures
from tenfold.evaluate.validate.routing import RoutedScorers, routed
from tenfold.score.functions import METRIC, form_of
from tenfold.score.scorer import Scorers
from tenfold.score.scoring import check_scoring


def goes_by_verbs(learner: Any, scoring: Any, params: dict[str, Any], y: Any = None) -> bool:
    """Whether the ordinary route has to be taken: scores by name and functions of (truth, prediction) need no model to be asked."""
    if not isinstance(learner, Estimator) or learner.accepts == "anything" or changed_by_user(learner) or params:
        return True
    if learner.role not in ("classifier", "regressor") or several_labels(learner, y) or (scoring is None and learner.own_score):
        return True
    several = list(scoring.values()) if isinstance(scoring, dict) else [scoring]
    return any(callable(one) and form_of(one) != METRIC and judges_of(learner, one) is None for one in several)


class PairPlan(NamedTuple):
    """Splits as pairs of row numbers, in the order in which they were given."""

    pairs: list[tuple[Array, Array]]

    def __len__(self) -> int:
        return len(self.pairs)

    def train_rows(self, split: int) -> Array:
        return self.pairs[split][0]

    def test_rows(self, split: int) -> Array:
        return self.pairs[split][1]


class Rows(NamedTuple):
    """A table as the user gave it."""

    X: Any
    y: Any

    @property
    def n_rows(self) -> int:
        return n_rows(self.X) if hasattr(self.X, "shape") or hasattr(self.X, "__len__") else len(np.asarray(self.X))

    @property
    def codes(self) -> Array | None:
        """The class of each row as a number; None where y is no classes."""
        if self.y is None or target_kind(self.y) not in STRATA:
            return None
        return np.unique(np.asarray(self.y), return_inverse=True)[1].reshape(-1)


class ByVerbs:
    """What a search does by the ordinary route."""

    def __init__(self, search: Any, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> None:
        self.search, self.learner, self.rows = search, search.estimator, Rows(X, y)
        if not callable(getattr(self.learner, "fit", None)) or isinstance(self.learner, type):
            raise BadParameter(
                f"estimator should be an estimator implementing 'fit' method, {self.learner!r} was passed to {type(search).__name__}"
            )
        self.scorer = check_scoring(self.learner, search.scoring, raise_exc=search.error_score == "raise")
        splitting = Splitting(cv=search.cv, groups=groups)
        self.asked = routed(type(search).__name__, self.learner, self.scorer, splitting, params)
        self.rounds: list[Any] = self._own_rounds(groups) or [
            PairPlan(splits_by_verbs(self.learner, X, y, splitting, self.asked.split))
        ]
        self._check_pairs()
        if params.get("sample_weight") is not None and not routing_enabled() and self._takes_weights():
            self.asked = self.asked._replace(score={"sample_weight": params["sample_weight"]})
        self.names: list[str] = []

    def _own_rounds(self, groups: Any) -> list[Any]:
        """A learner of ours has the folds that it has by every route."""
        if not isinstance(self.learner, Estimator) or self.learner.accepts != "rows" or self.learner.target == "none":
            return []
        if several_labels(self.learner, self.rows.y):
            return []
        try:
            source = check.check_fit(self.learner, self.rows.X, self.rows.y)
            return list(rounds_of_search(self.search, self.learner, source, groups)[0]) if isinstance(source, Arrays) else []
        except TenfoldError:
            return []

    def _check_pairs(self) -> None:
        if not sum(map(len, self.rounds)):
            raise BadInput("No fits were performed. Was the CV iterator empty? Were there no candidates?")

    def _takes_weights(self) -> bool:
        """Whether a scorer takes the weights of the fit; tells of those that do not."""
        named = self.scorer.scorers if isinstance(self.scorer, Scorers) else {"": self.scorer}
        accepts = {name: takes_weights(one) for name, one in named.items()}
        for name, one in named.items():
            if not accepts[name]:
                warn_of_weights(self.search, f"{name}={one}" if name else str(one))
        return any(accepts.values())

    def run(self, settings: list[Setting], rounds: list[Any], done: Callable[[Any], None]) -> Scores:
        """Scores of all settings on all splits."""
        if not settings:
            raise BadInput("No fits were performed. Was the CV iterator empty? Were there no candidates?")
        search, scorer = self.search, self.scorer
        if self.asked.score and isinstance(scorer, Scorers) and routing_enabled():
            scorer = RoutedScorers(scorer)
        job = Job(
            self.rows.X, self.rows.y, scorer, self.asked.fit, self.asked.score, search.error_score, search.return_train_score
        )
        splits = [(one.train_rows(k), one.test_rows(k)) for one in rounds for k in range(len(one))]
        outcomes: list[Outcome] = []
        for setting in settings:
            for train, test in splits:
                found = fit_and_score(self.learner, job, train, test, setting)
                found.model = None
                outcomes.append(found)
            done(None)
        warn_of_failures(outcomes, search.error_score)
        shape = len(settings), len(splits)
        test = columns_of([one.test for one in outcomes], search.error_score)
        self.names = list(test)
        train_scores = columns_of([one.train for one in outcomes], search.error_score) if search.return_train_score else {}
        table = np.array([one.reshape(shape) for one in test.values()])
        for what, scores in (("test", table), ("train", np.array([one.reshape(shape) for one in train_scores.values()]))):
            if scores.size and not np.isfinite(means := scores.mean(axis=2)[0]).all():
                warn(f"One or more of the {what} scores are non-finite: {means}", DataWarning)
        return Scores(
            settings, table,
            np.array([one.reshape(shape) for one in train_scores.values()]) if train_scores else None,
            np.array([one.fit_time for one in outcomes]).reshape(shape),
            np.array([one.score_time for one in outcomes]).reshape(shape),
            np.ones(len(settings), dtype=bool),
        )  # fmt: skip


def warn_of_weights(search: Any, scorer: str) -> None:
    """Fits are weighted, and a score is not."""
    warn(
        f"The scoring {scorer} does not support sample_weight, which may lead to statistically incorrect results when fitting "
        f"{search!r} with sample_weight.",
        DataWarning,
    )


def takes_weights(scorer: Any) -> bool:
    """Whether a scorer has a parameter sample_weight."""
    said = getattr(scorer, "_accept_sample_weight", None)
    return bool(said()) if callable(said) else takes(scorer, "sample_weight")
