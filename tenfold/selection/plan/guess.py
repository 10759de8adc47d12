"""The guesses that every model has to beat: class frequencies, or the mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.estimator import Classifier, Regressor
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block
from tenfold.core.learned import learned
from tenfold.core.params import estimator
from tenfold.core.stats import Counts, Moments, Spread


@estimator
class FrequencyGuess(Classifier, OnePass):
    """FrequencyGuess: the same class probabilities for every row.

    Model       P(class k) = share of class k in the training rows
    Objective   min of Σᵢ sᵢ log(1 / P(yᵢ))
    Algorithm   counts
    Cost        one pass
    Fails when  never
    Reference   none
    """

    log_share_: Array = learned("float(K)", "logarithm of the share of each class")
    stats_: Any = learned("Counts(K)", "weight of each class", optional=True)

    def _summarize(self, block: Block) -> Counts:
        return Counts.of(block.y, block.w, len(self.classes_))

    def _from_moments(self, moments: Moments) -> Counts:
        return Counts(moments.weight)

    def _solve(self, stats: Counts) -> dict[str, Any]:
        # Half a row more for a class that has none: no class is impossible because it was not seen.
        share = np.maximum(stats.weight, 0.5)
        return dict(log_share_=np.log(share / share.sum()))

    def _scores(self, X: Any) -> Array:
        return np.tile(self.log_share_, (X.shape[0], 1))


@estimator
class MeanGuess(Regressor, OnePass):
    """MeanGuess: the same number for every row.

    Model       y ≈ mean of the training rows
    Objective   min of Σᵢ sᵢ (yᵢ − b)²
    Algorithm   one pass of the mean
    Cost        one pass
    Fails when  never
    Reference   none
    """

    mean_: float = learned("float", "mean of the targets")
    stats_: Any = learned("Spread(1,1)", "spread of the targets", optional=True)

    def _summarize(self, block: Block) -> Spread:
        return Spread.of(np.ascontiguousarray(block.y), block.w)

    def _from_moments(self, moments: Moments) -> Spread:
        both = moments.spread()  # of the columns, then the target
        return Spread(both.weight, both.center[:, -1:], both.offset[:, -1:], both.scatter[:, -1:])

    def _solve(self, stats: Spread) -> dict[str, Any]:
        return dict(mean_=float(np.ravel(stats.mean)[0]))

    def _predict(self, X: Any) -> Array:
        return np.full(X.shape[0], self.mean_)
