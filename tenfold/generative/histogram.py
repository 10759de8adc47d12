"""Naive Bayes with histograms of the columns."""

from __future__ import annotations

from typing import Any

from tenfold.core.params import estimator, param
from tenfold.generative.column_kinds import MixedColumns


@estimator
class HistogramNB(MixedColumns):
    """HistogramNB: classes with columns that are histograms, independent within a class.

    Model       P(k | x) ∝ πₖ Πⱼ θₖⱼ(bin of xⱼ) / width of the bins; the first and the last bin of a column also hold what lies beyond
    Objective   θₖⱼ(b) = (Nₖⱼ(b) + α) / Σ_b (Nₖⱼ(b) + α): the mean under a Dirichlet prior; bins are the same in all classes
    Algorithm   a pass for the ranges of the columns, one or two more for a rule (those of `Histogram`, column by column, at most 1,000
                bins), one that counts; a missing value is left out of the product
    Cost        O(n p) time a pass, O(K p bins) memory
    Fails when  columns depend on one another: the probabilities are then too sure of themselves; a few values lie far from all others:
                nearly all rows are then in one bin
    Reference   Hastie, Tibshirani & Friedman 2009, §6.6.3; Hand & Yu 2001

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.HistogramNB(bins=2).fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])
    >>> model.predict_proba([[0.2], [0.8]]).round(2).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """

    bins: int | str = param(
        default="scott", before="alpha", doc="bins of each column: 'scott', 'fd', 'shimazaki', 'cv', or a number"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"bins": 4}]

    def _kinds(self, p: int) -> list[str]:
        return ["histogram"] * p

    def _bins(self) -> Any:
        return self.bins

    def _goes_on(self) -> bool:
        return False
