"""Cascades: cheap classifiers reject most rows, expensive ones see only what is left, and few of the rows sought are lost."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Classifier, Estimator, map_rows
from tenfold.base.members import Composite, copy_of, fit_member, shares_of, unsuited
from tenfold.base.shares import SMALLEST
from tenfold.base.sklearn_api import same
from tenfold.compose.adaboost import AdaBoostClassifier
from tenfold.compose.cascade_stages import Part, Stages, both
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import seed_of
from tenfold.tree.settings import generator_of

ROUNDS = (2, 10, 50, 200)  # stumps of the stages where no estimators are given
EDGE = 1e-3  # scores of rows that pass and of rows that do not are at least twice this apart


@estimator
class CascadeClassifier(Classifier, Composite):
    """CascadeClassifier: stages of growing cost, each of which rejects rows that are surely not of the class sought.

    Model       a row is of the positive class if it passes every stage: pₜ(x) >= thresholdₜ for t = 1, ..., T; a row that fails is
                rejected there, and later stages never see it
    Objective   at most max_miss of the positive rows are rejected by all stages together; as many of the others as can be
    Algorithm   stage t learns from the rows that passed those before it, both sides with equal weight. Its threshold is the
                k-th smallest score of positive rows held out: k is such that the total miss rate, which then has a Beta distribution
                whatever the scores are, is below max_miss with probability `confidence`
    Cost        training: the sum of the stages on ever fewer rows, which are kept; prediction: cost_ splits a row on average
    Fails when  few positive rows are held out: 0.01 at confidence 0.95 takes 299 of them (warns Degenerate, and uses the
                lowest score it has)
    Reference   Viola & Jones 2001; order statistics: Wilks 1941

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(4000, 2))
    >>> y = np.where((X > 0.5).all(axis=1), "face", "background")
    >>> model = tenfold.CascadeClassifier(max_miss=0.1, positive="face", random_state=0).fit(X, y)
    >>> bool(np.mean(model.predict(X[y == "face"]) == "face") > 0.9), bool(model.cost_ < 100)
    (True, True)
    """

    estimators_: list[Any] = learned("[learner](t)", "the stages")
    thresholds_: Array = learned("float(t)", "the score below which each stage rejects a row")
    positive_: Any = learned("str|int|float|bool", "the class sought")
    miss_bound_: float = learned("float", "upper limit of the miss rate")
    held_out_miss_: float = learned("float", "miss rate of the rows held out")
    pass_rate_: Array = learned("float(t)", "share of the other held-out rows that passes up to each stage")
    stage_costs_: Array = learned("float(t)", "cost of each stage")
    cost_: float = learned("float", "mean cost of a held-out row")
    others_: Any = learned(
        "learner", "more than two classes: the last estimator, fitted to tell the other classes apart", optional=True
    )

    kind: ClassVar[str] = "keeps rows"
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "rows are held out by a hash of their content, which reads the columns in their order",
    }

    estimators: list[Any] | None = param(
        default=None, doc="classifiers from the cheapest to the most expensive; None: AdaBoost of 2, 10, 50 and 200 stumps"
    )
    _: KW_ONLY
    max_miss: float = param(
        default=0.01, at_least=1e-9, at_most=0.99, doc="most of the positive rows that may be rejected, as a share"
    )
    confidence: float = param(
        default=0.95, above=0, at_most=0.999999, doc="probability that the miss rate is within max_miss"
    )
    positive: Any = param(default=None, doc="the class that is sought; None: the last one")
    validation_fraction: float = param(
        default=0.3, above=0, at_most=0.9, doc="share of the rows held out to set thresholds"
    )
    random_state: int | RandomState | None = param(default=None, doc="seed of the choice of rows held out")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB

        return [{"estimators": [GaussianNB(), AdaBoostClassifier(n_estimators=4)], "max_miss": 0.5, "confidence": 0.5, "random_state": 0}]

    def _chosen(self) -> list[Any]:
        if self.estimators is None:
            return [AdaBoostClassifier(n_estimators=n) for n in ROUNDS]
        given = self.estimators if isinstance(self.estimators, (list, tuple)) else []
        if not given or any(not isinstance(one, Estimator) or one.role != "classifier" for one in given):
            raise BadParameter("CascadeClassifier(estimators): must be a list of classifiers of Tenfold, or None")
        return list(given)

    @property
    def _member(self) -> Any:
        """The stage that takes least: what it does not take, the cascade does not."""
        return min(self._chosen(), key=lambda one: (one.missing, one.categorical))

    @property
    def least_classes(self) -> int:
        return 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # few of the rows sought are missed, at the price of accuracy
        return tags

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        positive = self._positive()
        X, y, w = yield Keep()
        seed = seed_of(generator_of(self))
        rows = Part(X, (y == positive).astype(np.int64), w)
        held: Array = ops.hash_rows(X, seed) < np.uint64(self.validation_fraction * 2.0**64)
        if not all(both(rows.only(part)) for part in (held, ~held)):
            held = np.ones(len(y), dtype=bool)  # too few rows to hold any out
        learning = rows.only(~held) if not held.all() else rows
        category, fitted = check.categorical_columns(source), dict[str, Any](positive_=self.classes_[positive])
        if len(self.classes_) > 2:  # first: stages may be stopped
            rest, others = y != positive, copy_of(self._chosen()[-1])
            fitted["others_"] = fit_member(others, X[rest], y[rest], w[rest], category)
        return {**fitted, **Stages(self, category).fit(learning, rows.only(held), bool(held.all()))}

    def _positive(self) -> int:
        if self.positive is None:
            return len(self.classes_) - 1
        found = [k for k, label in enumerate(self.classes_.tolist()) if same(label, self.positive)]
        if not found:
            raise BadParameter(
                f"CascadeClassifier(positive={check.short(self.positive)}): must be one of the classes "
                f"{check.short(self.classes_.tolist())}"
            )
        return found[0]

    def _objection(self) -> str | None:
        K = len(self.classes_)
        if not any(same(label, self.positive_) for label in self.classes_.tolist()):
            return "positive_ is none of the classes"
        if K > 2 and "others_" not in vars(self):
            return "nothing tells the other classes apart"
        return unsuited(self.estimators_, "classifier", 2) or unsuited([self.others_] if K > 2 else [], "classifier", K)

    def _scores(self, X: Any) -> Array:
        """For the class sought: how far above the last threshold, or below the one where the row was rejected."""
        left, margin = _walk(self.estimators_, self.thresholds_, X)
        positive, K, S = (
            int(np.flatnonzero(self.classes_ == self.positive_)[0]),
            len(self.classes_),
            len(self.thresholds_),
        )
        scores = np.zeros((len(X), K))
        if K > 2:
            logs = np.log(np.maximum(shares_of(self.others_, X, K), SMALLEST))
            scores = logs - logs.max(axis=1, keepdims=True)
        scores[:, positive] = np.where(left == S, EDGE + margin, -EDGE + margin - (S - 1 - left))
        return scores

    def exits(self, X: Any) -> Array:
        """The stage (from 0) that rejects each row; T for rows that pass all T stages."""
        X = check.check_predict(self, X)
        return map_rows(lambda block: _walk(self.estimators_, self.thresholds_, block)[0], X)

    def costs(self, X: Any) -> Array:
        """What the decision about each row costs: the sum of `stage_costs_` of the stages that see it."""
        seen = np.minimum(self.exits(X), len(self.thresholds_) - 1)
        return np.asarray(np.cumsum(self.stage_costs_)[seen])


def _walk(stages: list[Any], thresholds: Array, X: Array) -> tuple[Array, Array]:
    """For each row the stage that rejects it (or their number), and its distance from the last threshold it met."""
    left = np.full(len(X), len(stages), dtype=np.int64)
    margin = np.zeros(len(X))
    going = np.arange(len(X))
    for t, (stage, threshold) in enumerate(zip(stages, thresholds, strict=True)):
        if not len(going):
            break
        margin[going] = shares_of(stage, X[going], 2)[:, 1] - threshold
        out = margin[going] < 0
        left[going[out]] = t
        going = going[~out]
    return left, margin
