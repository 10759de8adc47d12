"""What selectors of columns by a score of each share: the score, from sums of one pass or from all rows. They are in `selectors`."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.columns import ColumnSums
from tenfold.base.foreign import takes
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter, BadType
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import group, param
from tenfold.features.information import gain_ratio, information_gain
from tenfold.features.mutual_info import mutual_info_classif, mutual_info_regression
from tenfold.features.scores import BY_SUMS, ColumnScore
from tenfold.features.selector import Selector

BY_ROWS = (mutual_info_classif, mutual_info_regression, information_gain, gain_ratio)
FUNCTIONS: dict[str, Any] = {function.__name__: function for function in (*BY_SUMS, *BY_ROWS)}
OF_ROWS = {function.__name__: "real" if function is mutual_info_regression else "label" for function in BY_ROWS}


@group
class Univariate(Selector, OnePass):
    """Abstract: keeps columns by the scores and p-values that a function gives them."""

    scores_: Array = learned("real(p)", "score of each column")
    pvalues_: Any = learned("real(p)|none", "p-value of each column; None where the function gives scores alone")
    stats_: Any = learned("Spread(K,p)|Joint(p+1)", "what the score is made of: for partial_fit, merge and forget", optional=True)

    sparse: ClassVar[bool] = True
    summary_reads: ClassVar[tuple[str, ...] | None] = ("score_func",)

    score_func: Any = param(
        default="f_classif", doc="name of one of Tenfold's, or a function of (X, y) that gives scores, or scores and p-values"
    )

    @property
    def _function(self) -> Any:
        given = self.score_func
        if isinstance(given, str) and given in FUNCTIONS:
            return FUNCTIONS[given]
        if not callable(given):
            known = ", ".join(FUNCTIONS)
            raise BadParameter(f"{type(self).__name__}(score_func={check.short(given)}): must be a function of (X, y), or one of {known}")
        return given

    @property
    def _score(self) -> ColumnScore | None:
        """The score as sums of one pass; None for a function that needs all rows."""
        name = self._name()
        return None if name is None else BY_SUMS.get(self._function)

    @property
    def kind(self) -> str:
        return "keeps rows" if self._score is None else "one pass"

    @property
    def by_column(self) -> bool:
        """Scores from sums are: the chosen columns then stay as they are."""
        return self._score is not None

    @property
    def by_ends(self) -> bool:
        """Some scores are of numbers that are not negative."""
        return self._score is not None and self._score.positive

    def _from_columns(self, columns: ColumnSums) -> Any:
        return None if self._score is None else self._score.from_columns(columns)

    @property
    def multi_output(self) -> bool:
        return self._name() is None  # a function of the user's may make anything of y

    @property
    def target(self) -> str:
        if self._score is not None:
            return self._score.target
        return OF_ROWS.get(self._name() or "") or str(vars(self).get("_given", "real"))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Score every column; rows as everywhere, weights where the function takes them."""
        kind = np.asarray(y).dtype.kind if isinstance(y, (list, tuple)) else getattr(getattr(y, "dtype", None), "kind", "O")
        here = "real" if kind in "biuf" or check.elsewhere(X) else "none" if y is None else "label"
        vars(self)["_given"] = here  # what a function of the user's receives: numbers, labels, nothing
        try:
            return super().fit(X, y, sample_weight)
        finally:
            vars(self).pop("_given", None)

    def _summarize(self, block: Block) -> Any:
        assert self._score is not None
        return self._score.summarize(block, len(vars(self).get("classes_", ())))

    def _solve(self, stats: Any) -> dict[str, Any]:
        assert self._score is not None
        return self._chosen(*self._score.finish(stats))

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if self._score is not None and self._score.target == source.target.kind:
            return (yield from super()._learn(source))
        X, y, w = yield Keep(sparse=True)
        if source.target.kind == "none":
            y = None
        elif source.target.classes is not None:
            y = source.target.classes[y]
        elif source.target.flat or y.shape[1] == 1:
            y = y[:, 0]
        more = {} if (w == w[0]).all() else {"sample_weight": w}
        if more and not takes(self._function, "sample_weight"):
            raise BadType(f"{type(self).__name__}: score_func {self._function.__name__} has no sample_weight: fit without weights")
        found = self._function(X, y, **more)
        scores, p = found if isinstance(found, (list, tuple)) and len(found) == 2 else (found, None)
        scores, p = np.asarray(scores, dtype=np.float64), None if p is None else np.asarray(p, dtype=np.float64)
        if scores.shape != (source.n_features,):
            raise BadInput(
                f"{type(self).__name__}: score_func has returned scores of shape {scores.shape} for {source.n_features} columns: "
                "it must return one for each"
            )
        return self._chosen(scores, p)

    def _chosen(self, scores: Array, p: Array | None) -> dict[str, Any]:
        self._check_scores(scores, p)
        return dict(scores_=scores, pvalues_=p)

    def _check_scores(self, scores: Array, p: Array | None) -> None:
        """Refuse, or warn of, scores that the selector has no use for."""

    def _from_sums(self, source: Source) -> Any:
        return None if self._score is None else super()._from_sums(source)

    @available(lambda model: model._score is not None)
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn more rows; equal to a fit on all rows so far. `classes`: all that will ever come, else those of the first rows."""
        if classes is None and self.target == "label" and "stats_" not in vars(self) and not check.elsewhere(X) and not isinstance(y, str):
            classes = None if y is None else np.unique(y)
        learned_on: Self = super().partial_fit(X, y, sample_weight=sample_weight, classes=classes)
        return learned_on

    @available(lambda model: model._score is not None)
    def merge(self, other: Self) -> Self:
        """Take over what another fitted selector of this kind has learned; equal to a fit on the rows of both."""
        merged: Self = super().merge(other)
        return merged

    @available(lambda model: model._score is not None)
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Un-learn rows that were learned before; refused where the result would not be exact."""
        left: Self = super().forget(X, y, sample_weight)
        return left

    def _name(self) -> str | None:
        """The name of one of Tenfold's functions; None for any other."""
        given = self.score_func
        return given if isinstance(given, str) else next((name for name, one in FUNCTIONS.items() if one is given), None)

    def _named(self) -> Self:
        """The same with one of Tenfold's functions by its name: in files, and wherever two are compared."""
        made, name = copy(self), self._name()
        if name is not None:
            vars(made)["score_func"] = name
        return made

    def __repr__(self) -> str:
        return super(Univariate, self._named()).__repr__()

    def _learns_like(self, other: Self) -> bool:
        return super(Univariate, self._named())._learns_like(other._named())

    def _saved_params(self) -> dict[str, Any]:
        params, name = super()._saved_params(), self._name()
        return params if name is None else params | {"score_func": name}

    def plot(self, ax: Any = None, n: int = 20) -> Any:
        """The scores of the `n` best columns as bars. Returns the axes."""
        from tenfold.draw.features import draw_feature_scores

        return draw_feature_scores(self, ax=ax, n=n)
