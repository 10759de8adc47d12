"""Naive Bayes of counts: columns say how often something occurs, or whether it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Classifier, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.generative.class_sums import ClassSums, refuse_negative

LEAST_ALPHA = 1e-10
IMPOSSIBLE = -1e200  # stands for the logarithm of a probability of zero, so that counts of zero times it are zero


@group
class Smoothed(Classifier, OnePass):
    """Abstract: probabilities of what columns hold in each class, smoothed by counts that are added to all."""

    class_count_: Array = learned("float(K)", "weight of the rows of each class")
    class_log_prior_: Array = learned("float(K)", "logarithm of the probability of each class, −1e200 for zero")

    least_classes: ClassVar[int] = 1
    has_decisions: ClassVar[bool] = False
    path: ClassVar[str | None] = "alpha"
    summary_reads: ClassVar[tuple[str, ...] | None] = ()

    _: KW_ONLY
    alpha: float | Sequence[float] | Array = param(
        default=1.0, at_least=0, doc="what is added to every count; an array: to those of each column"
    )
    force_alpha: bool = param(default=True, doc="keep an alpha below 1e-10; False raises it to that")
    fit_prior: bool = param(default=True, doc="classes are as probable as their share of the rows; False: all alike")
    class_prior: Any = param(default=None, doc="probability of each class, in place of its share")

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; equal to a fit on all rows so far. The first call names all `classes`."""
        found: Self = super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)
        return found

    def _check_alpha(self) -> Any:
        """What is added to counts: a number, or one for each column."""
        try:
            alpha = np.asarray(self.alpha, dtype=np.float64)
        except (TypeError, ValueError):
            raise BadParameter(f"{type(self).__name__}(alpha={check.short(self.alpha)}): must be numbers of at least 0") from None
        if alpha.ndim and alpha.shape != (self.n_features_in_,):
            raise BadParameter(
                f"When alpha is an array, it should contains `n_features`, {self.n_features_in_}, and its shape is {alpha.shape}"
            )
        if not (alpha >= 0).all():
            raise BadParameter(f"All values in alpha must be greater than 0. {type(self).__name__}(alpha={check.short(self.alpha)})")
        if not np.isfinite(alpha).all():
            raise BadParameter(f"{type(self).__name__}(alpha={check.short(self.alpha)}): must be finite")
        if alpha.min() < LEAST_ALPHA and not self.force_alpha:
            warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha "
                "unchanged.",
                DataWarning,
                stacklevel=4,
            )
            alpha = np.maximum(alpha, LEAST_ALPHA)
        return alpha if alpha.ndim else float(alpha)

    def _log_prior(self, weight: Array) -> Array:
        if self.class_prior is None:
            share = weight / weight.sum() if self.fit_prior else np.full(len(weight), 1 / len(weight))
        else:
            try:
                share = np.array(self.class_prior, dtype=np.float64)
            except (TypeError, ValueError):
                share = np.empty(0)
            if share.shape != weight.shape:
                raise BadParameter(f"{type(self).__name__}(class_prior): Number of priors must match number of classes: {len(weight)}")
            if not (np.isfinite(share) & (share >= 0)).all() or not share.any():
                raise BadParameter(f"{type(self).__name__}(class_prior={check.short(self.class_prior)}): must be probabilities")
        return log(share)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on rows that are no counts
        return tags

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(k, x) of each row and class, up to what is the same for all classes."""
        return map_rows(self._scores, check.check_predict(self, X))


def log(p: Array) -> Array:
    """log p, and IMPOSSIBLE for zero."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(p), IMPOSSIBLE)


@group
class Counting(Smoothed):
    """Abstract: from sums of the columns, class by class."""

    feature_count_: Array = learned("float(K,p)", "sum of each column in each class")
    feature_log_prob_: Array = learned("float(K,p)", "logarithm of the smoothed probability of each column in each class, −1e200 for zero")
    stats_: Any = learned("ClassSums(K,p)", "the sums: for partial_fit, merge and forget", optional=True)

    sparse: ClassVar[bool] = True
    lean: ClassVar[bool] = True
    lean_fit: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    def _summarize(self, block: Block) -> ClassSums:
        refuse_negative(block.X, type(self).__name__, vars(self).get("feature_names_in_"))
        return ClassSums.of(block.X, block.y, block.w, len(self.classes_))

    def _solve(self, stats: ClassSums) -> dict[str, Any]:
        counts, weight = stats.dense(), stats.weight
        found = dict(feature_count_=counts, class_count_=weight, class_log_prior_=self._log_prior(weight))
        return found | self._smoothed(counts, weight, self._check_alpha())

    def _smoothed(self, counts: Array, weight: Array, alpha: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _scores(self, X: Any) -> Array:
        return np.asarray(X @ self.feature_log_prob_.T) + self.class_log_prior_


@estimator
class MultinomialNB(Counting):
    """MultinomialNB: classes with different shares of what is counted, such as words.

    Model       P(k | x) ∝ πₖ Πⱼ θₖⱼ^xⱼ, with xⱼ how often column j was counted
    Objective   θₖⱼ = (Nₖⱼ + α) / Σⱼ (Nₖⱼ + α), with Nₖⱼ the sum of column j in class k: the mean under a Dirichlet prior
    Algorithm   one pass of sums, class by class; sparse rows stay sparse
    Cost        O(values that are not zero) time, O(K p) memory, one pass; merging O(K p)
    Fails when  counts depend on one another: the probabilities are then too sure of themselves; values below 0 (refused)
    Reference   Manning, Raghavan & Schütze 2008, §13.2; McCallum & Nigam 1998

    Example
    -------
    >>> import tenfold
    >>> texts = tenfold.make_pipeline(tenfold.CountVectorizer(), tenfold.MultinomialNB())
    >>> model = texts.fit(["free prize now", "win a prize", "see you at home", "home soon"], ["spam", "spam", "ham", "ham"])
    >>> model.predict(["a free prize", "at home"]).tolist()
    ['spam', 'ham']
    """

    def _smoothed(self, counts: Array, weight: Array, alpha: Any) -> dict[str, Any]:
        smoothed = counts + alpha
        total = smoothed.sum(axis=1, keepdims=True)
        return dict(feature_log_prob_=log(smoothed) - log(np.where(total > 0, total, 1.0)))


@estimator
class ComplementNB(Counting):
    """ComplementNB: each class by what is counted outside of it, for classes of very different sizes.

    Model       k = argmax Σⱼ xⱼ wₖⱼ, with wₖⱼ = −log θₖⱼ and θₖⱼ the share of column j in all other classes
    Objective   θₖⱼ = (N₋ₖⱼ + α) / Σⱼ (N₋ₖⱼ + α); with norm=True wₖ is divided by Σⱼ |wₖⱼ|
    Algorithm   one pass of sums, class by class; sparse rows stay sparse
    Cost        O(values that are not zero) time, O(K p) memory, one pass; merging O(K p)
    Fails when  probabilities are asked of it: they are softmax of scores, no posteriors; values below 0 (refused)
    Reference   Rennie, Shih, Teevan & Karger 2003

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.ComplementNB().fit([[2, 0], [1, 0], [0, 3]], ["a", "a", "b"])
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    ['a', 'b']
    """

    feature_all_: Array = learned("float(p)", "sum of each column")

    _: KW_ONLY
    norm: bool = param(default=False, doc="weights of a class sum to 1")

    def _smoothed(self, counts: Array, weight: Array, alpha: Any) -> dict[str, Any]:
        whole = counts.sum(axis=0)
        others = np.maximum(whole - counts, 0.0) + alpha
        total = others.sum(axis=1, keepdims=True)
        logs = log(others) - log(np.where(total > 0, total, 1.0))
        if self.norm:
            size = logs.sum(axis=1, keepdims=True)
            return dict(feature_all_=whole, feature_log_prob_=logs / np.where(size != 0, size, 1.0))
        return dict(feature_all_=whole, feature_log_prob_=-logs)

    def _scores(self, X: Any) -> Array:
        scores = np.asarray(X @ self.feature_log_prob_.T)
        return scores + self.class_log_prior_ if len(self.classes_) == 1 else scores


@estimator
class BernoulliNB(Counting):
    """BernoulliNB: classes with columns that are there or not, independent within a class.

    Model       P(k | x) ∝ πₖ Πⱼ θₖⱼ^xⱼ (1 − θₖⱼ)^(1 − xⱼ), with xⱼ = 1 where column j is above `binarize`, else 0
    Objective   θₖⱼ = (Nₖⱼ + α) / (nₖ + 2α), with Nₖⱼ of the nₖ rows of class k having column j: the mean under a Beta(α, α) prior
    Algorithm   one pass of sums, class by class; sparse rows stay sparse
    Cost        O(values that are not zero) time, O(K p) memory, one pass; merging O(K p)
    Fails when  columns depend on one another: the probabilities are then too sure of themselves
    Reference   Manning, Raghavan & Schütze 2008, §13.3; McCallum & Nigam 1998

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.BernoulliNB().fit([[1, 0], [1, 0], [0, 1]], ["a", "a", "b"])
    >>> model.predict_proba([[1, 0]]).round(2).tolist()
    [[0.91, 0.09]]
    """

    nonnegative: ClassVar[bool] = False
    summary_reads: ClassVar[tuple[str, ...] | None] = ("binarize",)

    _: KW_ONLY
    binarize: float | None = param(default=0.0, doc="values above it are 1, others 0; None: all values are 0 or 1 already")

    @property
    def lean(self) -> bool:  # type: ignore[override]
        return self.binarize is None or self.binarize >= 0  # else zeros that are not stored are ones

    @property
    def lean_fit(self) -> bool:  # type: ignore[override]
        return self.lean

    def _summarize(self, block: Block) -> ClassSums:
        return ClassSums.of(self._above(block.X), block.y, block.w, len(self.classes_))

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"binarize": 5.0}]

    def _above(self, X: Any) -> Any:
        """The rows as zeros and ones."""
        if self.binarize is None:
            values = X.data if ops.is_sparse(X) else X
            other = values[(values != 0) & (values != 1)]
            if other.size:
                raise BadInput(f"BernoulliNB(binarize=None) takes values of 0 and 1, and X holds {other[0]:g}: set binarize, as 0.0")
            return X
        if not ops.is_sparse(X) or self.binarize < 0:  # below it, zeros that are not stored are ones
            return (ops.dense(X) > self.binarize).astype(np.float64)
        made = X.copy()
        made.data = (X.data > self.binarize).astype(np.float64)
        return made

    def _smoothed(self, counts: Array, weight: Array, alpha: Any) -> dict[str, Any]:
        total = weight[:, None] + 2 * alpha
        return dict(feature_log_prob_=log(counts + alpha) - log(np.where(total > 0, total, 1.0)))

    def _scores(self, X: Any) -> Array:
        there = self.feature_log_prob_
        with np.errstate(divide="ignore"):
            away = np.maximum(np.log1p(-np.exp(there)), IMPOSSIBLE)
        found: Array = np.asarray(self._above(X) @ (there - away).T) + self.class_log_prior_ + away.sum(axis=1)
        return found
