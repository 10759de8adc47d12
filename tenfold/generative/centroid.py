"""Nearest centroid, with or without shrinking of the centroids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Classifier, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Spread
from tenfold.generative.classes import class_priors, log_priors
from tenfold.solve.columns import SMALLEST_VALUE, Distinct, check_magnitude


@estimator
class NearestCentroid(Classifier, OnePass):
    """NearestCentroid: each row goes to the class whose centre is nearest.

    Model       class of x = argminₖ ‖x − cₖ‖ for equal priors, else argmaxₖ −Σⱼ (xⱼ − cₖⱼ)² / sⱼ² + 2 log πₖ
    Objective   cₖ minimises Σ w ‖x − cₖ‖² (Euclidean) or Σ w ‖x − cₖ‖₁ (manhattan) in its class; with
                shrink_threshold, cₖ moves towards the overall mean and columns that do not reach the
                threshold drop out
    Algorithm   one pass of means and centred sums of squares, class by class; medians (manhattan) from
                distinct values
    Cost        O(n p) time, O(K p) memory, one pass; manhattan keeps every distinct value of every column
    Fails when  a column is constant within classes but not between them: it has no scale, and counts in its
                own unit in decision_function and predict_proba (warns Degenerate)
    Reference   Tibshirani, Hastie, Narasimhan & Chu 2002; Hastie, Tibshirani & Friedman 2009, §18.2

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> model = tenfold.NearestCentroid().fit(X, [0, 0, 1, 1])
    >>> model.predict([[-0.5, 3.0]]).tolist()
    [0]
    """

    centroids_: Array = learned("float(K,p)", "mean or median of each class, shrunken where that was asked for")
    deviations_: Array = learned("real(K,p)", "distance of the centroids from the overall one, in standard deviations")
    within_class_std_dev_: Array = learned("float(p)", "standard deviation of each column within classes")
    class_prior_: Array = learned("float(K)", "probability of each class")
    class_weight_: Array = learned("float(K)", "weight of the rows of each class")
    stats_: Any = learned(
        "Spread(K,p)|Distinct(*)", "the spreads, or all values: for partial_fit, merge and forget", optional=True
    )

    summary_reads: ClassVar[tuple[str, ...] | None] = ("metric",)
    sparse: ClassVar[bool] = True

    metric: str = param(
        default="euclidean",
        one_of=("euclidean", "manhattan"),
        doc="distance: means for euclidean, medians for manhattan",
    )
    _: KW_ONLY
    shrink_threshold: float | None = param(
        default=None, above=0, doc="standardised distance by which centroids shrink to the overall mean"
    )
    priors: Any = param(
        default="uniform", doc="'uniform', 'empirical' (share of the rows), or one probability for each class"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"shrink_threshold": 0.3}, {"metric": "manhattan"}]

    @property
    def kind(self) -> str:
        """Medians need every distinct value."""
        return "keeps rows" if self.metric == "manhattan" else "one pass"

    def _left_out(self, source: Source) -> Callable[[Any], Array] | None:
        from tenfold.generative.leave_one_out import nearest_centroid

        return nearest_centroid(self) if "stats_" in vars(self) else None

    def _summarize(self, block: Block) -> Spread | Distinct:
        if self.metric == "manhattan":
            return Distinct.by_group(ops.dense(block.X), block.y, block.w, len(self.classes_))
        return Spread.by_group(block.X, block.y, block.w, len(self.classes_))

    def _from_moments(self, moments: Moments) -> Spread | None:
        return moments.spread() if self.metric == "euclidean" else None

    def _solve(self, stats: Spread | Distinct) -> dict[str, Any]:
        weight, mean, centroids, squares = self._centres(stats)
        names = vars(self).get("feature_names_in_")
        check_magnitude(mean, squares, names)
        n, freedom = weight.sum(), max(weight.sum() - np.count_nonzero(weight), 0.0)
        overall = (weight / n) @ mean
        deviation = np.sqrt(squares.sum(axis=0) / (freedom or 1.0))
        if not deviation.min() > 0:
            differs = (deviation <= 0) & (np.ptp(mean[weight > 0], axis=0) > 0)
            if differs.any():
                column = column_name(names, int(np.flatnonzero(differs)[0]))
                warn(
                    f"NearestCentroid: {column} of X is constant within each class, so its scale is unknown "
                    "and probabilities use its own unit: look at it",
                    Degenerate,
                    stacklevel=2,
                )
        spare = np.sqrt(np.maximum(1 / np.where(weight > 0, weight, 1.0) - 1 / n, 0.0))
        unit = spare[:, None] * (deviation + np.median(deviation))
        apart = centroids - overall
        scored = np.divide(apart, unit, out=np.where(apart == 0, 0.0, np.copysign(np.inf, apart)), where=unit > 0)
        if self.shrink_threshold:
            scored = np.copysign(np.maximum(np.abs(scored) - self.shrink_threshold, 0.0), scored)
            centroids = np.where(
                np.isfinite(scored), overall + unit * np.where(np.isfinite(scored), scored, 0.0), centroids
            )
        return dict(
            centroids_=centroids,
            deviations_=scored,
            within_class_std_dev_=deviation,
            class_prior_=self._prior(weight),
            class_weight_=weight,
        )

    def _centres(self, stats: Spread | Distinct) -> tuple[Array, Array, Array, Array]:
        """Weight, mean and centre of each class, and its sums of squares about the centre."""
        if isinstance(stats, Spread):
            return stats.weight, stats.mean, stats.mean, stats.scatter
        shape = len(self.classes_), self.n_features_in_
        totals = stats.totals().reshape(shape)
        columns = list(zip(stats.values, stats.weights, strict=True))
        medians = np.nan_to_num(stats.medians())  # an empty class has none
        mean = np.array([w @ v / (w.sum() or 1.0) for v, w in columns])
        squares = np.array([w @ (v - m) ** 2 for (v, w), m in zip(columns, medians, strict=True)])
        return totals[:, 0], mean.reshape(shape), medians.reshape(shape), squares.reshape(shape)

    def _prior(self, weight: Array) -> Array:
        if isinstance(self.priors, str):
            if self.priors not in ("uniform", "empirical"):
                raise BadParameter(
                    f"NearestCentroid(priors={self.priors!r}): must be 'uniform', 'empirical' or one "
                    "probability for each class"
                )
            return np.full(len(weight), 1 / len(weight)) if self.priors == "uniform" else weight / weight.sum()
        return class_priors(self, weight)

    def _scores(self, X: Any) -> Array:
        deviation = self.within_class_std_dev_
        scale = np.where(deviation > SMALLEST_VALUE, deviation, 1.0)
        constant = 2 * log_priors(self.class_prior_, self.class_weight_)
        if self.metric == "manhattan":
            return np.asarray(constant - manhattan(X, self.centroids_, 1 / scale) ** 2)
        return ops.spread_scores(X, self.centroids_, np.tile(2 / scale**2, (len(constant), 1)), constant)

    def predict(self, X: Any) -> Array:
        """The class of each row: the nearest centroid for equal priors, else the best score."""
        return self.classes_[map_rows(self._choice, check.check_predict(self, X))]

    def _choice(self, X: Any) -> Array:
        """The number of the class, which is that of the best score only where priors differ."""
        prior, K = self.class_prior_, len(self.classes_)
        equal = np.abs(prior - 1 / K).max() <= 1e-8 + 1e-5 / K
        return self._nearest(X) if equal else self._scores(X).argmax(axis=1)

    def _nearest(self, X: Any) -> Array:
        known = np.flatnonzero(self.class_weight_)
        centres = self.centroids_[known]
        if self.metric == "manhattan":
            return np.asarray(known[manhattan(X, centres, np.ones(X.shape[1])).argmin(axis=1)])
        return np.asarray(known[ops.nearest(X, centres)[0]])


def manhattan(X: Any, centres: Array, unit: Array) -> Array:
    """Σⱼ |xⱼ − cₖⱼ| unitⱼ of each row and centre."""
    X = ops.dense(X)
    return np.stack([np.abs(X - centre) @ unit for centre in centres], axis=1)
