"""Selectors of columns by a score of each: so many of the best, a share of them, or all that pass a test."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.features.univariate import Univariate


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
