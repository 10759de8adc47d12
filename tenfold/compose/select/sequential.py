"""Columns one at a time: the one that helps the cross-validated score most joins, or the one that is missed least goes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.routing import router
from tenfold.compose.select.of_learner import OfLearner
from tenfold.compose.select.splits import Splits
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.monitor import Passes
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.evaluate.split.splitting import check_cv
from tenfold.evaluate.validate.ordinary import is_classifier
from tenfold.score.scoring import check_scoring
from tenfold.solve.subsets import Held


@estimator
class SequentialFeatureSelector(OfLearner):
    """SequentialFeatureSelector: columns join one by one, or go one by one, as the cross-validated score of a learner says.

    Model       x ↦ (x_j : j in S)
    Objective   at each step the column j that makes the mean score of the learner on held-out rows, on S ∪ {j} or S − {j}, the greatest
    Algorithm   a cross-validation for each candidate. For Ridge and LinearRegression with a score of squared errors (r2, mse, rmse) all
                candidates of a step follow from one Cholesky factor of the moments of each fold: the rows are read once
    Cost        O(p²) cross-validations; by moments one pass, and O(k² p) for a step with k columns
    Fails when  columns help only together: none of them joins first; the score of the choice is optimistic: judge it by an outer
                cross-validation
    Reference   Whitney 1971; Marill & Green 1963

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> chosen = tenfold.SequentialFeatureSelector(tenfold.Ridge(), n_features_to_select=2).fit(X, X[:, 1] + X[:, 4])
    >>> chosen.get_support(indices=True).tolist()
    [1, 4]
    """

    support_: Array = learned("bool(p)", "which columns are kept")
    n_features_to_select_: int = learned("int>=0", "number of columns that are kept")

    folds_by_content: ClassVar[bool] = False

    _: KW_ONLY
    n_features_to_select: Any = param(
        default="auto", doc="columns to keep: a number, a share, or 'auto': half of them, or with tol as many as help"
    )
    tol: float | None = param(default=None, doc="with 'auto': least gain of a column that joins, or, below zero, loss of one that goes")
    direction: str = param(default="forward", one_of=("forward", "backward"), doc="columns join, or go")
    scoring: Any = param(default=None, doc="the score, greater is better: a name (None: accuracy or r2), or a function")
    cv: Any = param(default=5, doc="a number of folds of neighbouring rows; None: 5 by what the rows hold; a splitter; pairs of rows")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.linear.ridge import Ridge

        return [{"estimator": Ridge(), "cv": None}, {"estimator": GaussianNB(), "direction": "backward", "cv": None}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return cls._examples()[0] | {"n_features_to_select": 1}

    @property
    def least_rows(self) -> int:
        return max(2, -(-5 * int(self._member.least_rows) // 4))

    def _number(self, p: int) -> int:
        """How many columns are kept at most."""
        given = self.n_features_to_select
        if isinstance(given, str) and given == "auto":
            return p - 1 if self.tol is not None else p // 2
        here = f"SequentialFeatureSelector(n_features_to_select={check.short(given)})"
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= 1:
            if given >= p:
                raise BadParameter(f"n_features_to_select must be < n_features. {here}: there are {p} columns")
            return int(given)
        if not isinstance(given, (float, np.floating)) or not 0 < given <= 1:
            raise BadParameter(f"{here}: must be 'auto', a number of columns of at least 1, or a share of at most 1.0")
        return max(1, int(p * given))

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._check_width(source)
        p = source.n_features
        most, forward = self._number(p), self.direction == "forward"
        auto = isinstance(self.n_features_to_select, str)
        if self.tol is not None and self.tol < 0 and forward:
            raise BadParameter(
                f"tol must be strictly positive when doing forward selection: SequentialFeatureSelector(tol={self.tol!r}) with "
                "direction='forward'"
            )
        splits = yield from Splits.of(self, source, self.scoring)
        held = splits.held()
        marked, old = np.zeros(p, dtype=bool), -np.inf
        passes = Passes(type(self).__name__)
        passes.of = most if auto or forward else p - most
        for _ in range(passes.of):
            candidates = np.flatnonzero(~marked)
            scores = self._scores_of(splits, held, marked, candidates, forward)
            best = int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))
            if auto and self.tol is not None and scores[best] - old < self.tol:
                break
            old = scores[best]
            marked[candidates[best]] = True
            passes.done(None)
        kept = marked if forward else ~marked
        return dict(support_=kept, n_features_to_select_=int(kept.sum()))

    def _scores_of(self, splits: Splits, held: list[Held] | None, marked: Array, candidates: Array, forward: bool) -> Array:
        """The mean score of the learner with each of the candidates marked too."""
        chosen = np.flatnonzero(marked if forward else ~marked)
        found = np.full(len(candidates), np.nan)
        if held is not None and splits.judge is not None and splits.judge.of_squares is not None and (forward or len(chosen) > 1):
            by_split = []
            for one in held:
                p = len(one.b)
                spread = float(one.tested.scatter[p, p] / one.tested.weight)
                errors = one.one_more(chosen, candidates) if forward else one.one_less(chosen)
                sound = spread > 0 or not splits.judge.greater_is_better
                by_split.append(splits.judge.sign * splits.judge.of_squares(errors, spread) if sound else errors * np.nan)
            found = np.mean(by_split, axis=0)
        for i in np.flatnonzero(np.isnan(found)):
            columns = np.sort(np.append(chosen, candidates[i])) if forward else chosen[chosen != candidates[i]]
            found[i] = splits.scores(columns).mean()
        return found

    def _mask(self) -> Array:
        return self.support_

    def get_metadata_routing(self) -> Any:
        """What is handed on to the learner, the splitter and the scorer (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        return router(
            self,
            [
                ("estimator", self.estimator, [("fit", "fit")]),
                ("splitter", check_cv(self.cv, classifier=is_classifier(self.estimator)), [("fit", "split")]),
                ("scorer", check_scoring(self.estimator, self.scoring), [("fit", "score")]),
            ],
        )
