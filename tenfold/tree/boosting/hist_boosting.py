"""Gradient boosting on histograms, leaf by leaf, with the parameters of scikit-learn's HistGradientBoosting."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.tree.bins import MOST_WIDE_BINS
from tenfold.tree.boosting.boosting import BINS, Beside, Boosted, Watch
from tenfold.tree.boosting.losses import BoostedClassifier, BoostedRegressor, loss_of, score_of, utility
from tenfold.tree.boosting.rounds import Plan, Rounds
from tenfold.tree.settings import column_groups, directions, refuse

MANY_ROWS = 10_000  # above, early_stopping="auto" holds rows out
DAMPING = 1.0  # rows of curvature 1 added to each leaf of classes: pure leaves would be surer with every round
ROWS_ARE_COUNTED = {"weight_is_copies": "min_samples_leaf counts rows, whatever their weight"}


@group
class HistBoosted(Boosted):
    """Abstract: leaves are split best first; rows may be held out to know when to stop."""

    n_iter_: int = learned("int", "number of rounds")
    do_early_stopping_: bool = learned("bool", "whether rounds stop when the score no longer improves")
    validation_score_: Array = learned("float(*)", "score of the rows held out, first without trees")

    loss: str = param(default="log_loss", one_of=("log_loss",), doc="what is minimised")
    _: KW_ONLY
    learning_rate: float = param(default=0.1, above=0, at_most=1e6, doc="share of each tree that is added")
    max_iter: int = param(default=100, at_least=1, doc="rounds: a tree each, or one for each of several classes")
    max_leaf_nodes: int | None = param(
        default=31, at_least=2, doc="most leaves of a tree; the best leaf is split first"
    )
    max_depth: int | None = param(default=None, at_least=1, doc="largest depth of a tree; None: no limit")
    min_samples_leaf: int = param(default=20, at_least=1, doc="rows that a leaf needs")
    l2_regularization: float = param(
        default=0.0, at_least=0, doc="penalty on the squares of leaf values; also the curvature added"
    )
    max_features: float = param(default=1.0, above=0, at_most=1, doc="share of the columns drawn for each node")
    max_bins: int = param(default=255, at_least=2, at_most=MOST_WIDE_BINS, doc=BINS)
    categorical_features: str | list[Any] | None = param(
        default="from_dtype", doc="columns of categories: 'from_dtype', a mask, numbers or names of columns, or None"
    )
    monotonic_cst: list[int] | dict[str, int] | None = param(
        default=None, doc="−1, 0 or 1 for each column, or by its name: the prediction falls or rises with it"
    )
    interaction_cst: str | list[Any] | None = param(
        default=None, doc="columns that may meet on one way: 'pairwise', 'no_interactions', or groups of column numbers"
    )
    warm_start: bool = param(default=False, doc="fit again adds rounds to those that are there")
    early_stopping: str | bool = param(
        default="auto",
        one_of=("auto", True, False),
        doc="stop when held-out rows gain no more; 'auto': with more than 10,000 rows",
    )
    scoring: Any = param(default="loss", doc="what is watched")
    validation_fraction: int | float | None = param(
        default=0.1, above=0, doc="share (or number) of rows held out for early stopping; None: watch the training rows"
    )
    n_iter_no_change: int = param(default=10, at_least=1, doc="rounds without gain before it stops")
    tol: float = param(default=1e-7, at_least=0, doc="gain of the score that counts")
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()")
    random_state: int | RandomState | None = param(
        default=None, doc="seed of the rows held out and of the columns drawn"
    )
    subsample: float = param(default=1.0, above=0, at_most=1, doc="share of the rows drawn for each round")
    l1_regularization: float = param(default=0.0, at_least=0, doc="penalty on the sizes of leaf values")

    path: ClassVar[str | None] = "max_iter"
    fewer_rounds: ClassVar[str] = "max_iter={} must be larger than or equal to n_iter_={} when warm_start==True"
    exempt: ClassVar[dict[str, str]] = ROWS_ARE_COUNTED

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Learn from rows. `X_val`, `y_val` are rows to know when to stop, instead of a share of those of X; the rows are then here,
        also those of a cluster."""
        if X_val is None and y_val is None and sample_weight_val is None:
            return super().fit(X, y, sample_weight)
        owner, given = type(self).__name__, {"X_val": X_val, "y_val": y_val}
        missing = [name for name, value in given.items() if value is None]
        if missing:
            told = next((name for name in given if name not in missing), "sample_weight_val")
            raise BadInput(f"{told} is provided, but {missing[0]} was not provided: {owner}.fit needs both X_val and y_val")
        if self.early_stopping is False:
            raise BadInput(
                f"X_val and y_val are passed to fit while at the same time early_stopping is False: leave them out, or set "
                f"{owner}(early_stopping=True)"
            )
        source = check.check_fit(self, X, y, sample_weight)
        facts = source.facts
        held = check.check_fit(self, X_val, y_val, sample_weight_val, facts.get("classes_"), facts.get("categories_"))
        check.check_width(self, held.n_features, source.n_features)
        if not np.array_equal(facts.get("feature_names_in_", []), held.facts.get("feature_names_in_", [])):
            raise BadInput(f"{owner}.fit: X_val should have the columns of X, by the same names and in the same order")
        return self._fit(source, Beside(held=held))

    def _plan(self, n: int, p: int, weight: float) -> Plan:
        quantile = getattr(self, "quantile", None)
        if self.loss == "quantile" and quantile is None:
            raise refuse(self, "quantile", "loss='quantile' needs a share between 0 and 1")
        if not self._watches_loss():
            score_of(self)  # refuses what is no score, also where nothing is watched
        return Plan(
            loss=loss_of(self),
            rate=float(self.learning_rate),
            leaves=None if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            depth=None if self.max_depth is None else min(int(self.max_depth), 1 << 30),
            least_rows=min(int(self.min_samples_leaf), 1 << 40),
            columns=max(1, int(float(self.max_features) * p)),
            seed=0,
            parameter=0.0 if quantile is None else float(quantile),
            least_curvature=1e-3 * weight / n,
            l1=float(self.l1_regularization),
            l2=float(self.l2_regularization) + self._damping(n, weight),
            subsample=float(self.subsample),
        )

    def _damping(self, n: int, weight: float) -> float:
        """Of classes. Whole weights are copies of rows; small ones count by their mean, rounded: the order of a sum leaves no trace."""
        return DAMPING * min(1.0, float(np.float32(weight / n))) if self.target == "label" else 0.0

    def _holds_out(self, n: int | None) -> bool:
        if self.validation_fraction is None:
            return False
        return self._stops_early(n)

    def _stops_early(self, n: int | None) -> bool:
        return n is None or n > MANY_ROWS if self.early_stopping == "auto" else bool(self.early_stopping)

    def _boost(self, rounds: Rounds, done: int, watch: Watch | None = None) -> dict[str, Any]:
        early = rounds.table.n_held > 0 or self._stops_early(len(rounds.table))
        before = self._before
        train = list(before.get("train_score_", []))
        held = list(before.get("validation_score_", []))

        def take_scores() -> None:
            train.append(self._score(rounds, "train"))
            if rounds.table.n_held:
                held.append(self._score(rounds, "held"))

        def after(number: int) -> tuple[float | None, bool]:
            if not early:
                return None, False
            take_scores()
            return -train[-1], self._stalls(held if rounds.table.n_held else train)

        if early and not done:
            take_scores()
        self._grow_while(rounds, done, int(self.max_iter), after)
        return dict(
            n_iter_=done + rounds.n_done,
            n_trees_per_iteration_=rounds.outputs,
            do_early_stopping_=early,
            train_score_=np.array(train, dtype=np.float64),
            validation_score_=np.array(held, dtype=np.float64),
        )

    def _watches_loss(self) -> bool:
        return isinstance(self.scoring, str) and self.scoring == "loss"

    def _gathers(self) -> bool:
        return super()._gathers() or not self._watches_loss()

    def _score(self, rounds: Rounds, of: str) -> float:
        """Higher is better: the loss with its sign changed, or the score that `scoring` names."""
        return -rounds.loss(of) if self._watches_loss() else utility(self, *rounds.targets_and_sums(of))

    def _stalls(self, scores: list[float]) -> bool:
        """No score of the last n_iter_no_change rounds is better, by more than tol, than the one before them."""
        last = int(min(self.n_iter_no_change, 1 << 30))
        return len(scores) > last and max(scores[-last:]) <= scores[-last - 1] + self.tol

    def _scores_after(self, n: int) -> dict[str, Any]:
        taken = {name: vars(self)[name] for name in ("train_score_", "validation_score_")}
        return dict(n_iter_=n, **{name: scores[: n + 1] for name, scores in taken.items()})

    @property
    def is_categorical_(self) -> Array | None:
        """Which columns hold categories, (p,) truth values; None where none does."""
        check.check_fitted(self)
        found = np.array([one is not None for one in vars(self).get("categories_") or []], dtype=bool)
        return found if found.any() else None

    def _directions(self, p: int) -> Array:
        return directions(self, p)

    def _together(self, p: int) -> Array:
        return column_groups(self, p)


@estimator
class HistGradientBoostingRegressor(BoostedRegressor, HistBoosted):
    """HistGradientBoostingRegressor: a sum of trees on binned columns, each a Newton step on the loss.

    Model       ŷ(x) = c + Σₜ fₜ(x), fₜ a tree with max_leaf_nodes leaves; e to that for "poisson" and "gamma"
    Objective   min of Σᵢ sᵢ loss(yᵢ, ŷᵢ) + l1 Σ |leaf values| + l2/2 Σ (leaf values)², tree by tree, to second order
    Algorithm   columns in at most max_bins bins; a histogram of gradients for the smaller child, the larger one is the difference;
                the leaf with the largest gain is split first; sums are whole numbers, so that threads, blocks and the order
                of the rows do not change a bit; missing values go where they help; categories are ordered by their mean
                gradient; "absolute_error" and "quantile" leaves hold medians and quantiles of what is left
    Cost        O(n p) time a level of a tree, n p bytes twice (four times above 255 bins), 50 n bytes, and 16 bytes a bin for each
                open leaf (up to 256 MB) of memory; all numbers of rounds from one fit;
                on Dask rows stay on their workers and histograms travel, unless leaves are quantiles or `scoring` is not the loss
    Fails when  the signal lies outside the range of the training rows; n is so small that bins and leaves are noise
    Reference   Friedman 2001; Ke et al. 2017 (LightGBM)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(100.0)[:, None]
    >>> model = tenfold.HistGradientBoostingRegressor().fit(X, np.where(X[:, 0] < 50, 1.0, 3.0))
    >>> model.predict([[10.0], [90.0]]).round(2)
    array([1., 3.])
    """

    loss: str = param(
        default="squared_error",
        one_of=("squared_error", "absolute_error", "gamma", "poisson", "quantile"),
        doc="what is minimised",
    )
    _: KW_ONLY
    quantile: float | None = param(
        default=None, at_least=0, at_most=1, doc="the share below, for loss='quantile'", before="learning_rate"
    )
    scoring: Any = param(
        default="loss", doc="what is watched: 'loss', a score by name, a function of (model, X, y) or (truth, prediction), or None for R²"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"max_iter": 20}, {"max_iter": 5, "loss": "absolute_error", "max_leaf_nodes": 4}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"max_iter": 2}


@estimator
class HistGradientBoostingClassifier(BoostedClassifier, HistBoosted):
    """HistGradientBoostingClassifier: sums of trees on binned columns as logits of the classes.

    Model       P(class 1 | x) = 1 / (1 + e^−r),  r = c + Σₜ fₜ(x); several classes: softmax of one sum each
    Objective   min of −Σᵢ sᵢ log P(yᵢ | xᵢ) + l1 Σ |leaf values| + l2/2 Σ (leaf values)², tree by tree, to second order
    Algorithm   columns in at most max_bins bins; a histogram of gradients for the smaller child, the larger one is the difference;
                the leaf with the largest gain is split first; sums are whole numbers, so that threads, blocks and the order
                of the rows do not change a bit; missing values go where they help; categories are ordered by their mean
                gradient; a leaf steps at most 10 (times learning_rate), and with K classes (K − 1) / K of Newton's step;
                l2 is l2_regularization + 1 (or the mean weight, if smaller): else pure leaves grow surer with every round
    Cost        O(n p) time a level of a tree, n p bytes twice (four times above 255 bins), 50 n bytes, and 16 bytes a bin for each
                open leaf (up to 256 MB) of memory; all numbers of rounds from one fit;
                on Dask rows stay on their workers and histograms travel, unless `scoring` is not the loss
    Fails when  n is so small that bins and leaves are noise; probabilities near 0 and 1 grow too sure with many rounds
    Reference   Friedman 2001; Ke et al. 2017 (LightGBM)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(100.0)[:, None]
    >>> model = tenfold.HistGradientBoostingClassifier().fit(X, np.where(X[:, 0] < 50, "low", "high"))
    >>> model.predict([[10.0], [90.0]])
    array(['low', 'high'], dtype='<U4')
    """

    _: KW_ONLY
    scoring: Any = param(
        default="loss",
        doc="what is watched: 'loss', a score by name, a function of (model, X, y) or (truth, prediction), or None for accuracy",
    )
    class_weight: dict[Any, float] | str | None = param(
        default=None, one_of=("balanced",), doc="factors of the classes' weights", before="subsample"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"max_iter": 5}, {"max_iter": 4, "learning_rate": 0.3, "l2_regularization": 1.0}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"max_iter": 2}
