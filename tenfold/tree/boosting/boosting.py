"""Gradient boosting on histograms: what all boosted learners share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput, BadType
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.monitor import Passes, keep_on_interrupt
from tenfold.core.random import seed_of
from tenfold.solve.class_weights import class_factors
from tenfold.tree.bins import learn_bins
from tenfold.tree.boosting.cluster_rounds import ClusterRounds
from tenfold.tree.boosting.losses import loss_of
from tenfold.tree.boosting.nodes import class_sums
from tenfold.tree.boosting.rounds import LocalRounds, Plan, Rounds, record
from tenfold.tree.boosting.training import Training, given_rows, training_rows
from tenfold.tree.memory import check_memory_of_fit
from tenfold.tree.settings import generator_of, refuse
from tenfold.tree.structure.arrays import Trees
from tenfold.tree.warm_start import check_goes_on

BINS = (
    "most bins of a column, up to 65,535 (above 255 codes take two bytes; categories 255); missing values have one more"
)


@dataclass(frozen=True)
class Beside:
    """What a fit is given beside its rows."""

    held: Source | None = None  # rows to know when to stop
    monitor: Callable[[int, Any, dict[str, Any]], Any] | None = None  # (round, the learner so far, scores): whether to stop


NOTHING = Beside()
Watch = Callable[[int, dict[str, Any]], bool]


class Boosted(Estimator):
    """Abstract: a sum of trees, each grown on the gradients of what the ones before it leave over."""

    _trees: Trees = learned("Trees(*,1)", "the trees of all rounds")
    baseline_: Array = learned("float(M)", "the sums before the first round")
    _seed: int = learned("int", "seed of the draws")
    n_trees_per_iteration_: int = learned("int", "trees of a round: one for each score")
    train_score_: Array = learned("float(*)", "score of the training rows after each round")

    kind: ClassVar[str] = "keeps rows"  # while the trees grow, a byte or two a value; on a cluster where they are
    sparse: ClassVar[bool] = True  # coded and predicted by blocks, each made dense
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    fewer_rounds: ClassVar[str]  # the refusal of a warm start with fewer rounds than there are

    # --- what a learner says of itself ---

    def _plan(self, n: int, p: int, weight: float) -> Plan:
        """The limits of its trees, for a table of n rows with this weight."""
        raise NotImplementedError

    def _holds_out(self, n: int | None) -> bool:
        """Whether some rows are held out to know when to stop."""
        raise NotImplementedError

    def _boost(self, rounds: Rounds, done: int, watch: Watch | None = None) -> dict[str, Any]:
        """Run the rounds; returns the scores that were taken on the way. `watch` says after a round whether to stop."""
        raise NotImplementedError

    # --- fit ---

    def _warm(self, source: Source) -> dict[str, Any]:
        """With `warm_start` the trees of the fit before stay, and more are added."""
        if not self.warm_start or "n_features_in_" not in vars(self):
            return {}
        check_goes_on(self, source)
        return {key: value for key, value in vars(self).items() if key.endswith("_") or key in ("_trees", "_seed")}

    def _learn_from(self, source: Source, start: Beside) -> Learner[dict[str, Any]]:
        return (yield from self._learn(source, start))

    def _learn(self, source: Source, beside: Beside = NOTHING) -> Learner[dict[str, Any]]:
        before, held = self._before, beside.held
        trees, outputs = before.get("_trees"), self._n_outputs()
        self._check_rounds(outputs)
        rng = generator_of(self)
        seed = before.get("_seed", seed_of(rng))
        bins = yield from learn_bins(source, int(self.max_bins), check.categorical_columns(source))
        gathers = self._gathers() or held is not None
        rows_are_here = gathers or current_engine(source).local
        check_memory_of_fit(self, (source.n_rows or 0) if rows_are_here else 0, bins, outputs)
        draws = (held is None and self._holds_out(source.n_rows)) or getattr(self, "subsample", 1.0) < 1
        coding = (bins, seed if draws else None, trees, outputs)
        table = yield from training_rows(source, *coding, gathers)
        self._weigh(table)
        holds = held is None and self._holds_out(len(table))
        if holds or draws:
            classes = len(self.classes_) if self.target == "label" else 0
            table.mark(self._held_share(len(table)) if holds else None, classes)
        plan = replace(self._plan(len(table), source.n_features, table.weight()), seed=seed)
        start = before["baseline_"] if before else self._start(table, plan, outputs)
        first = yield from self._begin(source, table, seed)
        if held is not None:
            given = given_rows(held, *coding)
            loss_of(self).check_targets(float(given.y.min()), table.highest)
            table.hold(given)
        order = self._directions(source.n_features)
        kind = LocalRounds if table.here else ClusterRounds
        rounds = kind(table, bins, plan, outputs, start, order, self._together(source.n_features))
        done = 0 if trees is None else len(trees) // outputs

        def fitted(scores: dict[str, Any]) -> dict[str, Any]:
            return dict(_trees=rounds.trees(trees), baseline_=start, _seed=seed, **first, **scores)

        def watch(number: int, scores: dict[str, Any]) -> bool:
            assert beside.monitor is not None
            return bool(beside.monitor(number, self._fitted_copy(fitted(scores)), scores))

        return fitted(self._boost(rounds, done, None if beside.monitor is None else watch))

    def _check_rounds(self, outputs: int) -> None:
        """A warm start takes no rounds away."""
        if not self._before:
            return
        wanted, done = getattr(self, str(self.path)), len(self._before["_trees"]) // outputs
        if wanted < done:
            raise refuse(self, str(self.path), self.fewer_rounds.format(wanted, done))

    def _n_outputs(self) -> int:
        """How many sums of trees there are: one, or one for each of several classes."""
        return len(self.classes_) if self.target == "label" and len(self.classes_) > 2 else 1

    def _weigh(self, table: Training) -> None:
        """The weights of classes, and targets that the loss cannot take."""
        factors = None
        if self.target == "label" and getattr(self, "class_weight", None) is not None:
            factors = class_factors(self, table.class_weights(len(self.classes_)))
        loss_of(self).check_targets(table.lowest, table.highest)
        table.weigh(factors)

    def _gathers(self) -> bool:
        """Whether the rows must come here from a cluster: leaves may be quantiles of what is left in them."""
        return loss_of(self).renews

    def _start(self, table: Training, plan: Plan, outputs: int) -> Array:
        return table.start(plan.loss, plan.parameter, outputs)

    def _begin(self, source: Source, table: Training, seed: int) -> Learner[dict[str, Any]]:
        """Add another learner's predictions for the rows to their raw sums; returns it as a fitted attribute."""
        yield from ()
        return {}

    def _base(self, X: Any) -> Array:
        """(outputs,) or (rows, outputs): what the trees are added to."""
        return np.asarray(self.baseline_)

    def _directions(self, p: int) -> Array:
        """−1, 0 or 1 for each column, where predictions must fall or rise with it; empty where nothing is asked for."""
        return np.empty(0, dtype=np.int64)

    def _together(self, p: int) -> Array:
        """Groups of columns that may meet on one path of a tree, (groups, p)."""
        return np.empty((0, p), dtype=np.uint8)

    def _held_share(self, n: int) -> float:
        """The share of the rows that is held out; scikit-learn also takes a number of rows."""
        share = self.validation_fraction
        if not isinstance(share, (int, np.integer)) and share >= 1:
            raise refuse(self, "validation_fraction", "a share of the rows must be below 1")
        return float(share / n if isinstance(share, (int, np.integer)) else share)

    def _grow_while(self, rounds: Rounds, done: int, wanted: int, after: Any) -> None:
        """Rounds until there are as many as wanted, or `after(round)` stops them. Ctrl-C keeps the trees that are there."""
        passes = Passes(type(self).__name__, wanted - done)
        try:
            for number in range(done, wanted):
                rounds.step(number)
                loss, stop = after(number)
                passes.done(record(loss))
                if stop:
                    return
        except KeyboardInterrupt:
            if done + rounds.n_done == 0:
                raise
            rounds.grown = [trees[: rounds.n_done] for trees in rounds.grown]
            keep_on_interrupt(f"{done + rounds.n_done} of {wanted} rounds of {type(self).__name__} are done")

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """All numbers of rounds from one fit."""
        if name != self.path or min(values) < 1 or self.warm_start:
            return super()._fit_path(source, name, values)
        longest: Self = fresh(self).set_params(**{name: max(values)})._fit(source)
        return [longest._after(value) for value in values]

    def _after(self, n: int) -> Self:
        """This fitted learner as it was after n rounds."""
        outputs, rounds = len(self.baseline_), len(self._trees) // len(self.baseline_)
        first = min(n, rounds)
        parts = [self._trees[k * rounds : k * rounds + first] for k in range(outputs)]
        trees = parts[0] if outputs == 1 else Trees.joined(parts)
        return self._fitted_copy(self._fitted_state(**self._scores_after(first), _trees=trees), **{str(self.path): n})

    def _scores_after(self, n: int) -> dict[str, Any]:
        raise NotImplementedError

    # --- predictions ---

    def _explained(self) -> tuple[list[Trees], float, Any, str]:
        """What attributions explain: scale * (sums over these trees, outputs side by side) + offset, and its unit."""
        check.check_fitted(self)
        if "init_" in vars(self):
            raise BadType(f"{type(self).__name__}: attributions explain trees alone, not the learner of init besides")
        outputs = len(self.baseline_)
        rounds = len(self._trees) // outputs
        unit = "log-odds" if self.target == "label" else "prediction"
        if self.target == "real" and self.loss in ("poisson", "gamma"):
            unit = "logarithm of the prediction"
        return [self._trees[k * rounds : (k + 1) * rounds] for k in range(outputs)], 1.0, self.baseline_, unit

    def _raw(self, X: Any) -> Array:
        """(rows, outputs): the constant and the sums of the trees."""
        outputs = len(self.baseline_)
        return np.asarray(self._base(X) + class_sums(self._trees, X, outputs, 0, len(self._trees) // outputs))

    def _staged(self, X: Any, read: Any) -> Iterator[Array]:
        """read(raw, dtype) after each round."""
        X = check.check_predict(self, X)
        if isinstance(X, Source):
            raise BadInput("predictions round by round need a table in memory: use predict on files and streams")
        outputs = len(self.baseline_)
        raw = np.broadcast_to(self._base(X), (X.shape[0], outputs))
        for number in range(len(self._trees) // outputs):
            raw = raw + map_rows(partial(self._added, number=number), X)
            yield read(raw, X.dtype)

    def _added(self, X: Array, number: int) -> Array:
        """What one round adds to the sums."""
        return class_sums(self._trees, X, len(self.baseline_), number, number + 1)

    @property
    def feature_importances_(self) -> Array:
        """The share of each column in what the splits won."""
        check.check_fitted(self)
        return self._trees.importances(self.n_features_in_)
