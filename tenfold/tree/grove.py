"""Forests: many trees on binned columns, each on rows drawn for it; what they say of rows that they have not seen."""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.core import check
from tenfold.core.data import Array, Source
from tenfold.core.engine import Summarize, each, thread_budget
from tenfold.core.errors import BadInput, DataWarning, NotFitted
from tenfold.core.estimator import Estimator, map_rows
from tenfold.core.monitor import Passes
from tenfold.core.protocol import fresh
from tenfold.core.random import generator, seed_of
from tenfold.tree.bins import MOST_BINS, Bins, learn_bins
from tenfold.tree.coded import code_block, native_forest
from tenfold.tree.exact import one_tree
from tenfold.tree.packed import BY_NODE, Trees
from tenfold.tree.prune import cost_complexity_cut, cut, owners
from tenfold.tree.settings import columns_to_draw, refuse, rows_needed

STEP = 0x9E3779B97F4A7C15  # between the seeds of trees
CRITERIA = {"log_loss": "entropy", "friedman_mse": "squared_error"}


@dataclass(frozen=True)
class TreeCorrelation:
    """How alike the errors of the trees are, and how many trees are worth growing."""

    correlation: float
    n_worth_growing: float  # from here on the variance that more trees remove is a tenth of what stays


class Forest(Estimator):
    """Abstract: the mean of many trees."""

    kind: ClassVar[str] = "keeps rows"  # while it grows
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    least_classes: ClassVar[int] = 1
    path: ClassVar[str | None] = "n_estimators"
    random_thresholds: ClassVar[bool] = False
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "columns are drawn by their numbers, and of equal splits the one drawn first is taken",
    }
    _trees: Trees
    _sums: Array
    _times: Array
    _seed: int

    def _learn(self, source: Source) -> Generator[Summarize, Any, dict[str, Any]]:
        (fitted,) = yield from self._stages(source, [self.n_estimators])
        return fitted

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """All numbers of trees from the largest forest."""
        if name != "n_estimators" or self.warm_start:
            return super()._fit_path(source, name, values)
        largest: Self = fresh(self).set_params(n_estimators=max(values))
        sizes = sorted(set(values))
        stages: list[dict[str, Any]] = []

        def learn(source: Source) -> Generator[Summarize, Any, dict[str, Any]]:
            stages.extend((yield from type(largest)._stages(largest, source, sizes)))
            return stages[-1]

        largest._learn = learn  # type: ignore[method-assign]
        try:
            largest._fit(source)
        finally:
            del largest._learn
        facts = {key: value for key, value in vars(largest).items() if key not in stages[-1]}
        fits = []
        for value in values:
            other: Self = fresh(self).set_params(n_estimators=value)
            vars(other).update({**facts, "n_estimators": value}, **stages[min(sizes.index(value), len(stages) - 1)])
            fits.append(other)
        return fits

    def _stages(self, source: Source, sizes: list[int]) -> Generator[Summarize, Any, list[dict[str, Any]]]:
        """Fitted attributes with each number of trees."""
        earlier = self._earlier(sizes[0])
        category = check.categorical_columns(self, source)
        self._check()
        bins = yield from learn_bins(source, MOST_BINS, category)
        codes, y, w = (yield partial(code_block, bins=bins)).arrays()
        p = source.n_features
        rate = self._rate(len(y), w)
        factors, classes = self._factors(y, w)
        forest = native_forest(
            bins, category, codes, y, w, classes=classes, factors=factors, rate=rate,
            criterion=CRITERIA.get(self.criterion, self.criterion),
        )  # fmt: skip
        if earlier is None:
            width = max(classes, 1)
            earlier = ([], np.zeros((len(y), width)), np.zeros(len(y), dtype=np.int64), self._new_seed())
        elif len(earlier[2]) != len(y):
            raise BadInput(
                f"{type(self).__name__}(warm_start=True): the trees so far grew on {len(earlier[2])} rows, "
                f"and these are {len(y)}: give the same rows again, or set warm_start=False"
            )
        limits = dict(
            random=self.random_thresholds,
            max_depth=-1 if self.max_depth is None else min(int(self.max_depth), 2**40),
            min_split=rows_needed(self, "min_samples_split", len(y), 2),
            min_leaf=rows_needed(self, "min_samples_leaf", len(y), 1),
            min_weight_share=float(self.min_weight_fraction_leaf),
            max_features=columns_to_draw(self, p) or p,
            max_leaves=-1 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            min_decrease=float(self.min_impurity_decrease),
        )
        fits = self._grown(forest, limits, earlier, sizes, y, w, rate > 0)
        return [{**fitted, **self._kept(fitted["_trees"], codes, bins, y, w)} for fitted in fits]

    def _kept(self, trees: Trees, codes: Array, bins: Bins, y: Array, w: Array) -> dict[str, Any]:
        """What is kept of the training rows because it was asked for."""
        return {}

    def _check(self) -> None:
        if self.monotonic_cst is not None:
            raise refuse(self, "monotonic_cst", "forests have no monotone columns: use gradient boosting, or one tree")

    def _earlier(self, size: int) -> tuple[list[Trees], Array, Array, int] | None:
        """What a fit before this one left, where it is to be continued."""
        if not self.warm_start or "_trees" not in vars(self):
            return None
        if len(self._trees) > size:
            raise refuse(
                self, "n_estimators", f"there are {len(self._trees)} trees already, and warm_start only adds to them"
            )
        if len(self._trees) == size:
            warnings.warn(
                f"{type(self).__name__}(warm_start=True): there are {size} trees already, nothing was added: "
                "raise n_estimators",
                DataWarning,
                stacklevel=2,
            )
        return [self._trees], self._sums.copy(), self._times.copy(), self._seed

    def _new_seed(self) -> int:
        try:
            return seed_of(generator(self.random_state))
        except (TypeError, ValueError):
            raise refuse(self, "random_state", "must be a whole number >= 0, a generator, or None") from None

    def _rate(self, n: int, w: Array) -> float:
        """How often a row is drawn for a tree, on average; 0: every row once."""
        if not self.bootstrap:
            if self.max_samples is not None:
                raise refuse(self, "max_samples", "rows are drawn with bootstrap=True only")
            return 0.0
        if self.max_samples is None:
            return 1.0
        if isinstance(self.max_samples, (int, np.integer)):
            if self.max_samples > n:
                raise refuse(self, "max_samples", f"there are only {n} rows")
            return int(self.max_samples) / n
        if self.max_samples > 1:
            raise refuse(self, "max_samples", "a share of the rows must be at most 1")
        return float(self.max_samples)

    def _factors(self, y: Array, w: Array) -> tuple[Array | None, int]:
        """Factors of the weights of rows, and the number of classes (0: numbers)."""
        raise NotImplementedError

    def _grown(
        self, forest: Any, limits: dict[str, Any], earlier: Any, sizes: list[int], y: Array, w: Array, drawn: bool
    ) -> list[dict[str, Any]]:
        trees, sums, times, seed = earlier
        count, passes, done = sum(map(len, trees)), Passes(type(self).__name__), []

        def grow(t: int) -> tuple[Trees, Array, Array]:
            arrays, _, leaf = forest.tree((seed + STEP * (t + 1)) % 2**64, **limits)
            return self._pruned(one_tree(arrays), leaf)

        for size in sizes:
            while count < size:
                batch = list(range(count, min(size, count + 4 * thread_budget())))
                try:
                    grown = each(grow, batch)
                except KeyboardInterrupt:
                    if not count:
                        raise
                    warnings.warn(
                        f"{type(self).__name__} was interrupted: {count} of {size} trees have grown and are kept",
                        DataWarning,
                        stacklevel=2,
                    )
                    return [*done, self._attributes(trees, sums, times, seed, y, w, drawn)]
                for tree, rows, leaf in grown:
                    sums[rows] += tree.value[leaf]
                    times[rows] += 1
                    trees.append(tree)
                    passes.done(None)
                if not count:
                    self._tell_memory(trees, sizes[-1])
                count += len(batch)
            done.append(self._attributes(trees, sums, times, seed, y, w, drawn))
        return done

    def _pruned(self, tree: Trees, leaf: Array) -> tuple[Trees, Array, Array]:
        """A tree after pruning, the rows it has not seen, and their leaves."""
        rows = np.flatnonzero(leaf >= 0)
        leaf = leaf[rows]
        if self.ccp_alpha <= 0:
            return tree, rows, leaf
        at = cost_complexity_cut(tree, float(self.ccp_alpha))
        return cut(tree, at), rows, owners(tree, at)[leaf]

    def _tell_memory(self, first: list[Trees], n_trees: int) -> None:
        """Before the forest takes more memory than there is, say so."""
        each_tree = sum(getattr(one, name).nbytes for one in first for name in BY_NODE) / len(first)
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else np.inf
        if each_tree * n_trees > 0.7 * free:
            warnings.warn(
                f"{type(self).__name__}: {n_trees} trees will take about {each_tree * n_trees / 2**30:.1f} GiB, and "
                f"{free / 2**30:.1f} GiB are free: limit max_leaf_nodes, min_samples_leaf or n_estimators",
                DataWarning,
                stacklevel=2,
            )

    def _attributes(
        self, trees: list[Trees], sums: Array, times: Array, seed: int, y: Array, w: Array, drawn: bool
    ) -> dict[str, Any]:
        whole = trees[0] if len(trees) == 1 else Trees.joined(trees)
        trees[:] = [whole]
        fitted = dict(_trees=whole, _sums=sums.copy(), _times=times.copy(), _seed=seed)
        out = times > 0
        if not drawn or not out.any():
            why = "is absent: every tree has seen every row, use bootstrap=True and more trees"
            names = ("oob_score_", "oob_prediction_", "oob_decision_function_")
            return dict(fitted, _oob_score=None, absent_={name: f"{name} {why}" for name in names})
        return dict(fitted, _oob_score=self._oob(sums[out] / times[out, None], y[out], w[out]))

    def _oob(self, mean: Array, y: Array, w: Array) -> float:
        raise NotImplementedError

    # --- what was learned ---

    def _mean(self, X: Any) -> Array:
        """(rows, outputs): the mean of the trees."""
        return np.asarray(self._trees.sums(X) / len(self._trees))

    def _explained(self) -> tuple[list[Trees], float, Any, str]:
        """What attributions explain: scale * (sums over these trees, outputs side by side) + offset, and its unit."""
        check.check_fitted(self)
        return [self._trees], 1 / len(self._trees), 0.0, "probability" if self.target == "label" else "prediction"

    @property
    def oob_score_(self) -> float:
        """The score on rows that a tree has not seen: accuracy, or R²."""
        check.check_fitted(self)
        self._check_out_of_bag("oob_score_")
        return float(vars(self)["_oob_score"])

    def _check_out_of_bag(self, name: str) -> None:
        if vars(self).get("_oob_score") is None:
            raise NotFitted(vars(self)["absent_"][name])

    def _said_out_of_bag(self, name: str) -> Array:
        check.check_fitted(self)
        self._check_out_of_bag(name)
        with np.errstate(invalid="ignore"):
            return np.asarray(self._sums / np.where(self._times > 0, self._times, np.nan)[:, None])

    @property
    def feature_importances_(self) -> Array:
        """The share of each column in the loss of impurity, averaged over the trees."""
        check.check_fitted(self)
        return self._trees.importances(self.n_features_in_)

    @property
    def trees_(self) -> Trees:
        """All trees, node by node."""
        check.check_fitted(self)
        return self._trees

    @property
    def estimators_(self) -> list[Any]:
        """The trees as learners of their own."""
        check.check_fitted(self)
        facts = {key: value for key, value in vars(self).items() if key.endswith("_")}
        members = []
        for t in range(len(self._trees)):
            member = self._tree_class()()
            vars(member).update(facts, _trees=self._trees[t], max_features_=self.n_features_in_)
            if self.role == "regressor":
                vars(member)["_flat"] = True
            members.append(member)
        return members

    def _tree_class(self) -> Any:
        raise NotImplementedError

    def apply(self, X: Any) -> Array:
        """(rows, trees): the number of the leaf of each row in each tree."""
        X = check.check_predict(self, X)
        return map_rows(lambda block: self._trees._packed.leaves(block, 0, len(self._trees)), X)

    def tree_correlation(self, X: Any, y: Any) -> TreeCorrelation:
        """The mean correlation ρ of the trees' errors on rows they have not seen, and 10 (1 − ρ) / ρ.

        The variance of the mean of T trees is σ² (ρ + (1 − ρ) / T): beyond that number of trees the second part is less
        than a tenth of the first.
        """
        rows = check.check_predict(self, X)
        error = np.stack([self._errors(self._trees.sums(rows, t, t + 1), y) for t in range(len(self._trees))])
        error -= error.mean(axis=1, keepdims=True)
        spread = np.sqrt((error**2).mean(axis=1))
        pairs = spread.sum() ** 2 - (spread**2).sum()
        together = (error.sum(axis=0) ** 2).mean() - (spread**2).sum()
        rho = float(together / pairs) if pairs > 0 else 1.0
        return TreeCorrelation(rho, float("inf") if rho <= 0 else max(1.0, float(np.ceil(10 * (1 - rho) / rho))))

    def _errors(self, said: Array, y: Any) -> Array:
        """How wrong one tree is, row by row."""
        raise NotImplementedError
