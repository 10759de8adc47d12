"""Gradient boosting with scikit-learn's older parameters: trees of limited depth, on the same histograms."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadType
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.tree.bins import MOST_WIDE_BINS
from tenfold.tree.boosting.boosting import BINS, Beside, Boosted, Watch
from tenfold.tree.boosting.losses import (
    BoostedClassifier,
    BoostedRegressor,
    fitted_init,
    given_learner,
    loss_of,
    raw_of,
)
from tenfold.tree.boosting.rounds import Plan, Rounds
from tenfold.tree.boosting.training import Training
from tenfold.tree.options import SHARE, drawn_columns
from tenfold.tree.settings import columns_to_draw, refuse, rows_needed
from tenfold.tree.single.tree import as_learners


@group
class DepthBoosted(Boosted):
    """Abstract: every tree is grown to its depth; rows may be drawn for each tree."""

    n_estimators_: int = learned("int", "number of rounds")
    max_features_: int = learned("int", "columns looked at for each split")
    oob_improvement_: Array = learned(
        "float(*)", "fall of the loss of rows not drawn, with subsample < 1", optional=True
    )
    oob_scores_: Array = learned("float(*)", "loss of rows not drawn after each round", optional=True)
    oob_score_: float = learned("float", "the last of them", optional=True)
    init_: Any = learned("learner", "the learner that makes the first predictions, where there is one", optional=True)

    _: KW_ONLY
    loss: str = param(default="log_loss", one_of=("log_loss", "exponential"), doc="what is minimised")
    learning_rate: float = param(default=0.1, at_least=0, at_most=1e6, doc="share of each tree that is added")
    n_estimators: int = param(default=100, at_least=1, doc="rounds: a tree each, or one for each of several classes")
    subsample: float = param(default=1.0, above=0, at_most=1, doc="share of the rows drawn for each round")
    criterion: str = param(
        default="deprecated",
        one_of=("deprecated", "squared_error", "friedman_mse"),
        doc="no effect: splits are judged by the loss itself",
    )
    min_samples_split: int | float = param(default=2, above=0, doc=f"rows that a node needs to be split, {SHARE}")
    min_samples_leaf: int | float = param(default=1, above=0, doc=f"rows that a leaf needs, {SHARE}")
    min_weight_fraction_leaf: float = param(
        default=0.0, at_least=0, at_most=0.5, doc="share of the rows that a leaf needs"
    )
    max_depth: int | None = param(default=3, at_least=1, doc="largest depth of a tree; None: no limit")
    min_impurity_decrease: float = param(default=0.0, at_least=0, doc="gain that a split needs, by share of weight")
    init: Any = param(
        default=None,
        one_of=("zero", None),
        doc="what to begin with: the best constant (None), 'zero', or a learner to be fitted",
    )
    random_state: int | RandomState | None = param(default=None, doc="seed of the rows and columns drawn")
    max_features: int | float | str | None = drawn_columns(None)
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()")
    max_leaf_nodes: int | None = param(
        default=None, at_least=2, doc="most leaves of a tree; the best leaf is split first"
    )
    warm_start: bool = param(default=False, doc="fit again adds rounds to those that are there")
    validation_fraction: float = param(
        default=0.1, above=0, at_most=0.999, doc="share of rows held out with n_iter_no_change"
    )
    n_iter_no_change: int | None = param(
        default=None, at_least=1, doc="rounds without gain on held-out rows before it stops; None: none are held out"
    )
    tol: float = param(default=1e-4, at_least=0, doc="gain of the held-out loss that counts")
    ccp_alpha: float = param(
        default=0.0, at_least=0, doc="price of a leaf, in gain by share of weight, when a tree is pruned"
    )
    max_bins: int = param(default=255, at_least=2, at_most=MOST_WIDE_BINS, doc=BINS)

    path: ClassVar[str | None] = "n_estimators"
    fewer_rounds: ClassVar[str] = (
        "n_estimators={} must be larger or equal to estimators_.shape[0]={} when warm_start==True"
    )

    def _plan(self, n: int, p: int, weight: float) -> Plan:
        least = max(rows_needed(self, "min_samples_leaf", n, 1), math.ceil(self.min_weight_fraction_leaf * n))
        return Plan(
            loss=self._loss(),
            rate=float(self.learning_rate),
            leaves=None if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            depth=None if self.max_depth is None else min(int(self.max_depth), 1 << 30),
            least_rows=min(least, 1 << 40),
            split_rows=min(rows_needed(self, "min_samples_split", n, 2), 1 << 40),
            columns=columns_to_draw(self, p) or p,
            seed=0,
            parameter=float(getattr(self, "alpha", 0.0)),
            least_curvature=1e-8 * weight,  # far above the unit of the sums
            least_gain=min(float(self.min_impurity_decrease), 1e200) * weight,
            subsample=float(self.subsample),
            price=min(float(self.ccp_alpha), 1e200),
        )

    def _loss(self) -> Any:
        if self.loss == "exponential" and self._n_outputs() > 1:
            raise refuse(
                self, "loss", "loss='exponential' is only suitable for a binary classification, of two classes"
            )
        return loss_of(self)

    def _start(self, table: Training, plan: Plan, outputs: int) -> Array:
        return super()._start(table, plan, outputs) if self.init is None else np.zeros(outputs)

    def _gathers(self) -> bool:
        return super()._gathers() or given_learner(self) is not None

    def _begin(self, source: Source, table: Training, seed: int) -> Learner[dict[str, Any]]:
        if given_learner(self) is None:
            return {}
        X, _, _ = yield Keep()
        first = self._before.get("init_")
        if first is None:
            train, y, w = table.gathered()
            first = fitted_init(self, X[train], y, w, check.categorical_columns(source), seed % 2**31)
        table.add(raw_of(self, first, X).T)
        return dict(init_=first)

    def _base(self, X: Any) -> Array:
        first = vars(self).get("init_")
        return np.asarray(self.baseline_ if first is None else self.baseline_ + raw_of(self, first, X))

    def _holds_out(self, n: int | None) -> bool:
        return self.n_iter_no_change is not None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, monitor: Any = None) -> Self:
        """Learn from rows. `monitor(i, model, scores)` is called after each round with its number from 0, the learner as it is by then
        (made anew each time) and its scores by name: the rounds stop where it returns True."""
        if monitor is None:
            return super().fit(X, y, sample_weight)
        if not callable(monitor):
            raise BadType(f"{type(self).__name__}.fit(monitor={monitor!r}): must be a function of (round, model, scores)")
        return self._fit(check.check_fit(self, X, y, sample_weight), Beside(monitor=monitor))

    def _boost(self, rounds: Rounds, done: int, watch: Watch | None = None) -> dict[str, Any]:
        factor, before = rounds.plan.loss.factor, self._before
        train = list(before.get("train_score_", []))
        better, outside = list(before.get("oob_improvement_", [])), list(before.get("oob_scores_", []))
        best = [math.inf] * int(min(self.n_iter_no_change or 1, 1 << 20))

        def after(number: int) -> tuple[float | None, bool]:
            train.append(factor * rounds.loss("drawn"))
            if rounds.draws:
                some = rounds.weight("outside") > 0
                now = factor * rounds.loss("outside") if some else train[-1]
                then = factor * rounds.loss("outside before") if some else now
                outside.append(now)
                better.append(then - now)
            if rounds.table.n_held:
                held = factor * rounds.loss("held")
                if not any(held + self.tol < one for one in best):
                    return train[-1], True
                best[number % len(best)] = held
            return train[-1], watch is not None and watch(number, scores())

        def scores() -> dict[str, Any]:
            found = dict(
                n_estimators_=done + rounds.n_done,
                n_trees_per_iteration_=rounds.outputs,
                max_features_=rounds.plan.columns,
                train_score_=np.array(train, dtype=np.float64),
            )
            if rounds.draws:
                found.update(oob_improvement_=np.array(better), oob_scores_=np.array(outside), oob_score_=outside[-1])
            return found

        self._grow_while(rounds, done, int(self.n_estimators), after)
        return scores()

    def _scores_after(self, n: int) -> dict[str, Any]:
        names = [name for name in ("train_score_", "oob_improvement_", "oob_scores_") if name in vars(self)]
        found: dict[str, Any] = {name: vars(self)[name][:n] for name in names}
        if "oob_scores_" in found:
            found["oob_score_"] = float(found["oob_scores_"][-1])
        return dict(n_estimators_=n, **found)

    @property
    def estimators_(self) -> Array:
        """(rounds, trees of a round): the trees as learners of their own, whose predictions are shrunk already."""
        from tenfold.tree.single.decision import DecisionTreeRegressor

        shared = ("max_depth", "max_leaf_nodes", "min_samples_split", "min_samples_leaf", "min_impurity_decrease", "ccp_alpha")
        limits = {name: getattr(self, name) for name in (*shared, "min_weight_fraction_leaf", "max_features")}
        trees = as_learners(self, partial(DecisionTreeRegressor, **limits))
        found = np.empty(len(trees), dtype=object)
        found[:] = trees
        return found.reshape(len(self.baseline_), -1).T

    def apply(self, X: Any) -> Array:
        """The number of the leaf of each row in each tree: (rows, rounds), or (rows, rounds, classes)."""
        X, outputs = check.check_predict(self, X), len(self.baseline_)
        leaves = self._trees.apply(X)
        if self.target == "real":
            return leaves
        return leaves.reshape(len(leaves), outputs, -1).transpose(0, 2, 1)


@estimator
class GradientBoostingRegressor(BoostedRegressor, DepthBoosted):
    """GradientBoostingRegressor: a sum of shallow trees, each on the gradients of what the ones before it leave over.

    Model       ŷ(x) = c + Σₜ fₜ(x), fₜ a tree of depth max_depth, its leaves shrunk by learning_rate
    Objective   min of Σᵢ sᵢ loss(yᵢ, ŷᵢ), tree by tree; leaves of "absolute_error", "huber" and "quantile" hold medians,
                Huber means and quantiles of what is left
    Algorithm   columns in at most max_bins bins, fewer values exactly; histograms of gradients in whole numbers, the larger
                child by subtraction: threads, blocks and the order of the rows do not change a bit; missing values go
                where they help; categories are ordered by their mean gradient; rows are drawn by a hash of their content
    Cost        O(n p) time a level of a tree, n p bytes twice (four times above 255 bins), 50 n bytes, and 16 bytes a bin for each
                open leaf (up to 256 MB) of memory; all numbers of rounds from one fit;
                on Dask rows stay on their workers and histograms travel, unless leaves are quantiles or `init` is a learner
    Fails when  the signal lies outside the range of the training rows; more than max_bins thresholds of a column matter
    Reference   Friedman 2001; Friedman 2002 (drawn rows)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(20.0)[:, None]
    >>> model = tenfold.GradientBoostingRegressor().fit(X, np.where(X[:, 0] < 10, 1.0, 3.0))
    >>> model.predict([[2.0], [18.0]]).round(2)
    array([1., 3.])
    """

    _: KW_ONLY
    loss: str = param(
        default="squared_error",
        one_of=("squared_error", "absolute_error", "huber", "quantile"),
        doc="what is minimised",
    )
    alpha: float = param(
        default=0.9,
        above=0,
        at_most=1,
        doc="the share below (quantile), or the share of residuals that count squared (huber)",
        before="verbose",
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_estimators": 20}, {"n_estimators": 4, "loss": "huber"}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_estimators": 2}


@estimator
class GradientBoostingClassifier(BoostedClassifier, DepthBoosted):
    """GradientBoostingClassifier: sums of shallow trees as logits of the classes.

    Model       P(class 1 | x) = 1 / (1 + e^−r),  r = c + Σₜ fₜ(x); several classes: softmax of one sum each;
                "exponential" (AdaBoost's loss): 1 / (1 + e^−2r)
    Objective   min of −Σᵢ sᵢ log P(yᵢ | xᵢ), or of Σᵢ sᵢ e^∓rᵢ, tree by tree, to second order
    Algorithm   columns in at most max_bins bins, fewer values exactly; histograms of gradients in whole numbers, the larger
                child by subtraction: threads, blocks and the order of the rows do not change a bit; missing values go
                where they help; categories are ordered by their mean gradient; rows are drawn by a hash of their content;
                a leaf steps at most 10 (times learning_rate), and with K classes (K − 1) / K of Newton's step
    Cost        O(n p) time a level of a tree, n p bytes twice (four times above 255 bins), 50 n bytes, and 16 bytes a bin for each
                open leaf (up to 256 MB) of memory; all numbers of rounds from one fit;
                on Dask rows stay on their workers and histograms travel, unless `init` is a learner
    Fails when  probabilities near 0 and 1 grow too sure with many rounds; more than max_bins thresholds of a column matter
    Reference   Friedman 2001; Friedman 2002 (drawn rows)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(20.0)[:, None]
    >>> model = tenfold.GradientBoostingClassifier().fit(X, np.where(X[:, 0] < 10, "low", "high"))
    >>> model.predict([[2.0], [18.0]])
    array(['low', 'high'], dtype='<U4')
    """

    exempt: ClassVar[dict[str, str]] = {
        "column_order": "of columns that split a node equally well the first is taken",
    }

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_estimators": 5}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_estimators": 2}
