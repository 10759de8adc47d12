"""Selectors of columns by a score of each: so many of the best, a share of them, or all that pass a test."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.foreign import takes
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter, BadType, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
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


def best(scores: Array, k: int) -> Array:
    """The k columns of the highest scores; of equal ones the later, and those without a score last, as in scikit-learn."""
    mask = np.zeros(len(scores), dtype=bool)
    mask[np.argsort(np.where(np.isnan(scores), -np.inf, scores), kind="stable")[len(scores) - min(k, len(scores)) :]] = True
    return mask


def best_share(scores: Array, percentile: float) -> Array:
    """The columns above a percentile of the scores; of those that lie on it, the first that fit."""
    if percentile in (0, 100):
        return np.full(len(scores), percentile == 100)
    scores = np.where(np.isnan(scores), np.finfo(np.float64).min, scores)
    with np.errstate(invalid="ignore"):  # between two infinite scores
        bound = np.percentile(scores, 100 - percentile)
    mask: Array = scores > bound
    on_it = np.flatnonzero(scores == bound)
    mask[on_it[: max(0, int(len(scores) * percentile / 100) - int(mask.sum()))]] = True
    return mask


def few_false(p: Any, alpha: float) -> Any:
    """Benjamini & Hochberg: all p-values up to the largest p₍ᵢ₎ ≤ α i / m."""
    ordered = np.sort(p)
    passed = ordered[ordered <= alpha / len(p) * np.arange(1, len(p) + 1)]
    return p <= (passed.max() if len(passed) else -np.inf)


@estimator
class SelectKBest(Univariate):
    """SelectKBest: the k columns of the highest scores.

    Model       x ↦ (x_j : j among the k largest s_j)
    Objective   s_j = score of column j alone against y, such as F of classes
    Algorithm   one pass of sums for f_classif, chi2, f_regression and r_regression; any other function sees all rows
    Cost        O(n p) time, O(K p) memory, one pass; merging O(K p)
    Fails when  columns matter only together (each alone is noise), or repeat one another: all copies are kept
    Reference   Guyon & Elisseeff 2003

    Example
    -------
    >>> import tenfold
    >>> X, y = [[0.0, 5.0, 1.0], [1.0, 5.0, 0.0], [9.0, 5.5, 1.0], [8.0, 5.0, 0.0]], ["a", "a", "b", "b"]
    >>> tenfold.SelectKBest(k=1).fit(X, y).get_support().tolist()
    [True, False, False]
    """

    _: KW_ONLY
    k: int | str = param(default=10, at_least=0, one_of=("all",), doc="number of columns to keep, or 'all'")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"k": 2}, {"score_func": "f_regression", "k": 2}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"k": 1}

    def _check_scores(self, scores: Array, p: Array | None) -> None:
        if self.k != "all" and int(self.k) > len(scores):
            warn(f"k={self.k} is greater than n_features={len(scores)}. All the features will be returned.", DataWarning)

    def _mask(self) -> Array:
        return best(self.scores_, len(self.scores_) if self.k == "all" else int(self.k))


@estimator
class SelectPercentile(Univariate):
    """SelectPercentile: the best so many per cent of the columns.

    Model       x ↦ (x_j : s_j above the (100 − percentile)-th percentile of the scores)
    Objective   s_j = score of column j alone against y
    Algorithm   as SelectKBest
    Cost        O(n p) time, O(K p) memory, one pass
    Fails when  as SelectKBest
    Reference   Guyon & Elisseeff 2003

    Example
    -------
    >>> import tenfold
    >>> X, y = [[0.0, 5.0], [1.0, 5.0], [9.0, 5.5], [8.0, 5.0]], ["a", "a", "b", "b"]
    >>> tenfold.SelectPercentile(percentile=50).fit(X, y).get_support().tolist()
    [True, False]
    """

    _: KW_ONLY
    percentile: float = param(default=10, at_least=0, at_most=100, doc="share of the columns to keep, in per cent")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"percentile": 50}]

    def _mask(self) -> Array:
        return best_share(self.scores_, self.percentile)


@group
class Tested(Univariate):
    """Abstract: keeps the columns whose p-values pass a test."""

    _: KW_ONLY
    alpha: float = param(default=0.05, at_least=0, at_most=1, doc="the rate of errors that is allowed")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"alpha": 0.01}]

    def _check_scores(self, scores: Array, p: Array | None) -> None:
        if p is None:
            raise BadParameter(f"{type(self).__name__}: score_func gives no p-values: take SelectKBest, or f_classif, f_regression or chi2")


@estimator
class SelectFpr(Tested):
    """SelectFpr: the columns whose p-values are below alpha.

    Model       x ↦ (x_j : p_j < α)
    Objective   of the columns that have nothing to do with y a share α is kept (false positive rate)
    Algorithm   as SelectKBest
    Cost        O(n p) time, O(K p) memory, one pass
    Fails when  there are many columns: α of those that are noise are kept; take SelectFdr
    Reference   Guyon & Elisseeff 2003

    Example
    -------
    >>> import tenfold
    >>> X, y = [[0.0, 5.0], [1.0, 5.0], [9.0, 5.5], [8.0, 5.0]], ["a", "a", "b", "b"]
    >>> tenfold.SelectFpr().fit(X, y).get_support().tolist()
    [True, False]
    """

    def _mask(self) -> Array:
        return np.asarray(self.pvalues_ < self.alpha)


@estimator
class SelectFdr(Tested):
    """SelectFdr: columns such that at most a share alpha of those kept is expected to be noise.

    Model       x ↦ (x_j : p_j ≤ the largest p₍ᵢ₎ ≤ α i / p)
    Objective   false discovery rate ≤ α
    Algorithm   Benjamini & Hochberg on the p-values; these as in SelectKBest
    Cost        O(n p) time, O(K p) memory, one pass
    Fails when  p-values of columns depend on one another negatively: the rate is then not bounded
    Reference   Benjamini & Hochberg 1995

    Example
    -------
    >>> import tenfold
    >>> X, y = [[0.0, 5.0], [1.0, 5.0], [9.0, 5.5], [8.0, 5.0]], ["a", "a", "b", "b"]
    >>> tenfold.SelectFdr().fit(X, y).get_support().tolist()
    [True, False]
    """

    def _mask(self) -> Array:
        return np.asarray(few_false(self.pvalues_, self.alpha))


@estimator
class SelectFwe(Tested):
    """SelectFwe: columns such that the chance to keep any noise at all is at most alpha.

    Model       x ↦ (x_j : p_j < α / p)
    Objective   family-wise error ≤ α (Bonferroni)
    Algorithm   as SelectKBest
    Cost        O(n p) time, O(K p) memory, one pass
    Fails when  there are many columns: weak ones are lost; take SelectFdr
    Reference   Dunn 1961

    Example
    -------
    >>> import tenfold
    >>> X, y = [[0.0, 5.0], [1.0, 5.0], [9.0, 5.5], [8.0, 5.0]], ["a", "a", "b", "b"]
    >>> tenfold.SelectFwe().fit(X, y).get_support().tolist()
    [True, False]
    """

    def _mask(self) -> Array:
        return np.asarray(self.pvalues_ < self.alpha / len(self.pvalues_))


@estimator
class GenericUnivariateSelect(Univariate):
    """GenericUnivariateSelect: any of the selectors by a score of one column, chosen by a parameter.

    Model       that of SelectPercentile, SelectKBest, SelectFpr, SelectFdr or SelectFwe, as `mode` says
    Objective   of the selector that is chosen
    Algorithm   as SelectKBest
    Cost        O(n p) time, O(K p) memory, one pass
    Fails when  as the selector that is chosen
    Reference   Guyon & Elisseeff 2003

    Example
    -------
    >>> import tenfold
    >>> X, y = [[0.0, 5.0], [1.0, 5.0], [9.0, 5.5], [8.0, 5.0]], ["a", "a", "b", "b"]
    >>> tenfold.GenericUnivariateSelect(mode="k_best", param=1).fit(X, y).get_support().tolist()
    [True, False]
    """

    _: KW_ONLY
    mode: str = param(default="percentile", one_of=("percentile", "k_best", "fpr", "fdr", "fwe"), doc="how columns are chosen")
    param: float | int | str = param(default=1e-5, at_least=0, one_of=("all",), doc="the percentile, k or alpha of that selector")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"mode": "k_best", "param": 2}, {"mode": "fdr", "param": 0.01}]

    def _selector(self) -> Univariate:
        """The selector of that mode, with the same function."""
        classes: dict[str, tuple[Any, str]] = {
            "percentile": (SelectPercentile, "percentile"), "k_best": (SelectKBest, "k"),
            "fpr": (SelectFpr, "alpha"), "fdr": (SelectFdr, "alpha"), "fwe": (SelectFwe, "alpha"),
        }  # fmt: skip
        kind, name = classes[self.mode]
        made: Univariate = kind(self.score_func, **{name: self.param})
        try:
            check.check_params(made)
        except BadParameter as objection:
            raise BadParameter(f"GenericUnivariateSelect(mode={self.mode!r}, param={check.short(self.param)}): {objection}") from None
        return made

    def _check_scores(self, scores: Array, p: Array | None) -> None:
        self._selector()._check_scores(scores, p)

    def _mask(self) -> Array:
        made = self._selector()
        vars(made).update(scores_=self.scores_, pvalues_=self.pvalues_)
        return made._mask()
