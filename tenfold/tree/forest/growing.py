"""Forests: many trees grow on binned columns, each on rows drawn for it."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, DataWarning, warn
from tenfold.core.learning import Keep, Learner
from tenfold.core.memory import memory
from tenfold.core.monitor import Passes, keep_on_interrupt, pass_on_interrupt
from tenfold.core.random import seed_of
from tenfold.core.threads import thread_budget
from tenfold.tree.bins import learn_bins
from tenfold.tree.forest.binned_table import BinnedTable, code_block, native_forest, row_draws, with_rare
from tenfold.tree.forest.fitted import Grown, seed_of_tree
from tenfold.tree.options import CRITERIA
from tenfold.tree.settings import columns_to_draw, directions, generator_of, refuse, rows_needed
from tenfold.tree.single.exact import one_tree
from tenfold.tree.structure.arrays import Trees
from tenfold.tree.structure.prune import cost_complexity_cut, cut, owners
from tenfold.tree.structure.store import TreeStore
from tenfold.tree.warm_start import check_goes_on

SPLITS_ARE_SHARED = {"several_targets": "the trees have the same splits for all targets"}
MOST_DRAWS = 4  # of a row for a tree, on average: sums of whole numbers have room for as many
ROWS_ARE_DRAWN = {"weight_is_copies": "rows are drawn for each tree, and every row counts as one there, whatever it weighs"}


class Forest(Grown):
    """Abstract: the growth of many trees."""

    kind: ClassVar[str] = "keeps rows"  # while it grows
    sparse: ClassVar[bool] = True
    missing: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    least_classes: ClassVar[int] = 1
    path: ClassVar[str | None] = "n_estimators"
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "columns are drawn by their numbers, and of equal splits the one drawn first is taken",
    }

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_estimators": 10, "random_state": 0}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_estimators": 1, "random_state": 0}

    def _warm(self, source: Source) -> dict[str, Any]:
        if self.warm_start and "n_features_in_" in vars(self):
            check_goes_on(self, source)
        return {}  # the trees so far outlast the forgetting of a fit

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        (fitted,) = yield from self._stages(source, [self.n_estimators])
        return fitted

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """All numbers of trees from the largest forest."""
        if name != "n_estimators" or self.warm_start:
            return super()._fit_path(source, name, values)
        largest: Self = fresh(self).set_params(n_estimators=max(values))
        sizes = sorted(set(values))
        stages = largest._driven(partial(largest._stages, sizes=sizes), source)
        pass_on_interrupt()
        last = len(stages) - 1
        return [largest._fitted_copy(stages[min(sizes.index(n), last)], n_estimators=n) for n in values]

    def _stages(self, source: Source, sizes: list[int]) -> Learner[list[dict[str, Any]]]:
        """Fitted attributes with each number of trees."""
        earlier = self._earlier(sizes[0])
        order = directions(self, source.n_features, source.target.width)
        table = yield from self._table(source)
        y, p = table.y, source.n_features
        if earlier is None:
            earlier = (
                None,
                np.zeros((len(y), sum(table.widths))),
                np.zeros(len(y), dtype=np.int64),
                seed_of(generator_of(self)),
            )
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
            monotonic=order,
        )
        fits = self._grown(table, limits, earlier, sizes)
        return [{**fitted, **self._kept(fitted["_trees"], table)} for fitted in fits]

    def _table(self, source: Source) -> Learner[BinnedTable]:
        category = check.categorical_columns(source)
        bins = yield from learn_bins(source, int(self.max_bins), category, weighted=False)
        codes, y, w = yield Keep(change=partial(code_block, bins=bins), value_bytes=1)
        rate = self._rate(len(y))
        factors, classes = self._factors(y, w)
        draws = row_draws(codes[:, : source.n_features], y, w)
        forest = native_forest(
            bins, category, codes, y, w, classes=classes, factors=factors, rate=rate,
            criterion=CRITERIA.get(self.criterion, self.criterion), balanced=self._balances_trees(classes), draws=draws,
        )  # fmt: skip
        return BinnedTable(forest, bins, codes, y, w, [max(k, 1) for k in classes], rate > 0, draws)

    def _kept(self, trees: Trees, table: BinnedTable) -> dict[str, Any]:
        """What is kept of the training rows because it was asked for."""
        return {}

    def _earlier(self, size: int) -> tuple[Trees | None, Array, Array, int] | None:
        """What a fit before this one left, where it is to be continued."""
        if not self.warm_start or "_trees" not in vars(self):
            return None
        if len(self._trees) > size:
            raise refuse(
                self, "n_estimators", f"there are {len(self._trees)} trees already, and warm_start only adds to them"
            )
        if len(self._trees) == size:
            warn(
                f"{type(self).__name__}: Warm-start fitting without increasing n_estimators does not fit new trees. There are {size} "
                "already: raise n_estimators",
                DataWarning,
                stacklevel=2,
            )
        return self._trees, self._sums.copy(), self._times.copy(), self._seed

    def _rate(self, n: int) -> float:
        """How often a row is drawn for a tree, on average; 0: every row once."""
        if not self.bootstrap:
            if self.max_samples is not None:
                raise refuse(
                    self, "max_samples",
                    "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set `max_sample=None`.",
                )  # fmt: skip
            if self._asked_out_of_bag():
                raise refuse(self, "oob_score", "Out of bag estimation only available if bootstrap=True: every tree has seen every row")
            return 0.0
        if self.max_samples is None:
            return 1.0
        rate = float(self.max_samples) / (n if isinstance(self.max_samples, (int, np.integer)) else 1)
        if rate > MOST_DRAWS:
            raise refuse(self, "max_samples", f"a row would be drawn {rate:g} times on average, and {MOST_DRAWS} is the most")
        return rate

    def _asked_out_of_bag(self) -> bool:
        """Whether the user asks for the out-of-bag score, or chooses another one: it is there anyhow, but some rows may have none."""
        return not isinstance(self.oob_score, (bool, np.bool_)) or bool(self.oob_score)

    def _balances_trees(self, classes: list[int]) -> bool:
        """Whether the classes are balanced anew for each tree: of several targets they are balanced over all rows."""
        return False

    def _factors(self, y: Array, w: Array) -> tuple[Array | None, list[int]]:
        """Factors of the weights of rows, and the number of classes of each target (0: numbers)."""
        raise NotImplementedError

    def _grown(self, table: BinnedTable, limits: dict[str, Any], earlier: Any, sizes: list[int]) -> list[dict[str, Any]]:
        before, sums, times, seed = earlier
        store, there = TreeStore(sizes[-1]), 0 if before is None else len(before)
        passes = Passes(type(self).__name__, sizes[-1] - there)
        if before is not None:
            store.add(before)
        waiting, lock = dict[int, tuple[Trees, Array, Array]](), threading.Lock()

        def grow(t: int) -> None:
            arrays, leaf = table.forest.tree(seed_of_tree(seed, t), **limits)
            grown = self._pruned(with_rare(one_tree(arrays), table.bins), leaf)
            with lock:  # in the order of their numbers, so that sums have the same bits
                waiting[t] = grown
                while (next_one := waiting.pop(len(store), None)) is not None:
                    tree, rows, leaf = next_one
                    sums[rows] += tree.value[leaf]
                    times[rows] += 1
                    store.add(tree)

        stages: list[tuple[int, Array, Array]] = []
        for size in sizes:
            while (count := len(store)) < size:
                batch = list(range(count, min(size, count + 4 * thread_budget())))
                safe = sums.copy(), times.copy()
                try:
                    each(grow, batch)
                except KeyboardInterrupt:
                    if not count:
                        raise
                    keep_on_interrupt(f"{count} of {size} trees of {type(self).__name__} have grown")
                    store.drop(count)
                    sums, times = safe
                    break
                for _ in batch:
                    passes.done(None)
                if not count:
                    self._warn_memory(store, len(times))
            stages.append((len(store), sums.copy(), times.copy()))
            if len(store) < size:
                break
        whole = store.whole()
        return [
            self._attributes(whole if n == len(whole) else whole[:n], sums, times, seed, table)
            for n, sums, times in stages
        ]

    def _pruned(self, tree: Trees, leaf: Array) -> tuple[Trees, Array, Array]:
        """A tree after pruning, the rows it has not seen, and their leaves."""
        rows = np.flatnonzero(leaf >= 0)
        leaf = leaf[rows]
        if self.ccp_alpha <= 0:
            return tree, rows, leaf
        at = cost_complexity_cut(tree, float(self.ccp_alpha))
        return cut(tree, at), rows, owners(tree, at)[leaf]

    def _warn_memory(self, store: TreeStore, n_rows: int) -> None:
        """Warn of a forest that would take more memory than there is."""
        each_tree = store.bytes_by_tree
        if getattr(self, "keep_targets", False):
            each_tree += 4 * n_rows
        free, _ = memory()
        if each_tree * store.expected > 0.7 * free:
            warn(
                f"{type(self).__name__}: {store.expected} trees will take about {each_tree * store.expected / 2**30:.1f} GiB, and "
                f"{free / 2**30:.1f} GiB are free: limit max_leaf_nodes, min_samples_leaf or n_estimators",
                DataWarning,
                stacklevel=2,
            )

    def _attributes(self, trees: Trees, sums: Array, times: Array, seed: int, table: BinnedTable) -> dict[str, Any]:
        fitted = dict(_trees=trees, _sums=sums, _times=times, _seed=seed)
        if table.drawn:
            fitted["_draws"] = table.draws
        out = times > 0
        if not table.drawn or not out.any():
            why = "is absent: every tree has seen every row, use bootstrap=True and more trees"
            names = ("oob_score_", "oob_prediction_", "oob_decision_function_")
            return dict(fitted, _oob_score=None, absent_={name: f"{name} {why}" for name in names})
        if self._asked_out_of_bag() and not out.all():
            warn(
                f"{type(self).__name__}: Some inputs do not have OOB scores: every tree has seen them. Use more trees (n_estimators)",
                DataWarning,
            )
        return dict(fitted, _oob_score=self._oob(sums[out] / times[out, None], table.y[out], table.w[out]))

    def _oob(self, mean: Array, y: Array, w: Array) -> float:
        raise NotImplementedError
