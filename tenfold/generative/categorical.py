"""Naive Bayes of categories."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.generative.class_sums import MOST_CATEGORIES, CategoryCounts, categories_of
from tenfold.generative.counts import Smoothed, log


@estimator
class CategoricalNB(Smoothed):
    """CategoricalNB: classes with columns of categories, independent within a class.

    Model       P(k | x) ∝ πₖ Πⱼ θₖⱼ(xⱼ), with θₖⱼ(c) the probability of category c of column j in class k
    Objective   θₖⱼ(c) = (Nₖⱼ(c) + α) / Σ_c (Nₖⱼ(c) + α): the mean under a Dirichlet prior
    Algorithm   one pass of counts; a category that is missing, or that fit has not met, is left out of the product
    Cost        O(n p) time, memory for the counts of every category in every class; one pass, merging of these
    Fails when  columns depend on one another: the probabilities are then too sure of themselves; numbers below 0 (refused)
    Reference   Hastie, Tibshirani & Friedman 2009, §6.6.3

    Example
    -------
    >>> import polars, tenfold
    >>> table = polars.DataFrame({"sky": ["clear", "grey", "grey", "clear"], "wind": ["weak", "weak", "strong", None]})
    >>> model = tenfold.CategoricalNB().fit(table, ["out", "in", "in", "out"])
    >>> model.predict(table).tolist()
    ['out', 'in', 'in', 'out']
    """

    category_count_: list[Array] = learned("[float(K,*)](p)", "weight of each category of each column in each class")
    feature_log_prob_: list[Array] = learned("[float(K,*)](p)", "logarithm of the smoothed probability of each, −1e200 for zero")
    n_categories_: Array = learned("int(p)", "number of categories of each column")
    stats_: Any = learned("CategoryCounts(K)", "the counts: for partial_fit, merge and forget", optional=True)

    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    _: KW_ONLY
    min_categories: Any = param(default=None, doc="least number of categories of the columns, or of each of them")

    def _summarize(self, block: Block) -> CategoryCounts:
        return CategoryCounts.of(block.X, block.y, block.w, len(self.classes_), vars(self).get("feature_names_in_"))

    def _solve(self, stats: CategoryCounts) -> dict[str, Any]:
        counts, alpha = stats.counts, np.broadcast_to(self._check_alpha(), len(stats.counts))
        met = counts @ np.ones(counts.shape[2]) > 0
        sizes = np.where(met.any(axis=1), met.shape[1] - np.argmax(met[:, ::-1], axis=1), 0)
        sizes = np.maximum(np.maximum(sizes, self._least(len(counts))), 1)
        most = max(int(sizes.max()), counts.shape[1])
        if most > counts.shape[1]:
            counts = np.pad(counts, ((0, 0), (0, most - counts.shape[1]), (0, 0)))
        found = [np.ascontiguousarray(one[:size].T) for one, size in zip(counts, sizes, strict=True)]
        logs = [_log_shares(one, a) for one, a in zip(found, alpha, strict=True)]
        return dict(
            category_count_=found, feature_log_prob_=logs, n_categories_=sizes.astype(np.int64), class_count_=stats.weight,
            class_log_prior_=self._log_prior(stats.weight),
        )  # fmt: skip

    def _least(self, p: int) -> Array:
        """The least number of categories of each column."""
        given = self.min_categories
        if given is None:
            return np.zeros(p, dtype=np.int64)
        least = np.asarray(given)
        if least.dtype.kind not in "iu" or (least < 0).any() or least.max(initial=0) > MOST_CATEGORIES:
            raise BadParameter(f"CategoricalNB(min_categories={check.short(given)}): must be whole numbers of at least 0")
        if least.ndim and least.shape != (p,):
            raise BadParameter(f"'min_categories' should have shape ({p},) when an array-like is provided. Got {least.shape} instead.")
        return np.broadcast_to(least, p)

    def _scores(self, X: Array) -> Array:
        codes, known = categories_of(X, vars(self).get("feature_names_in_"))
        known &= codes < self.n_categories_
        scores = np.tile(self.class_log_prior_, (len(codes), 1))
        for j, logs in enumerate(self.feature_log_prob_):
            here = known[:, j]
            scores[here] += logs.T[codes[here, j]]
        return scores

    def _objection(self) -> str | None:
        shapes = [one.shape for one in self.feature_log_prob_]
        if shapes != [one.shape for one in self.category_count_] or [one[1] for one in shapes] != self.n_categories_.tolist():
            return "the numbers of categories do not suit one another"
        return None


def _log_shares(counts: Array, alpha: float) -> Array:
    """log((N + α) / Σ (N + α)) of one column (classes, categories). Codes are often sparse: those that nobody has share one logarithm."""
    met = np.flatnonzero(counts.any(axis=0))
    seen = counts[:, met] + alpha
    total = seen.sum(axis=1, keepdims=True) + alpha * (counts.shape[1] - len(met))
    whole = log(np.where(total > 0, total, 1.0))
    found = np.repeat(log(np.array(alpha)) - whole, counts.shape[1], axis=1)
    found[:, met] = log(seen) - whole
    return found
