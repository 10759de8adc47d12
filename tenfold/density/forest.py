"""A density forest: the mean of density trees, each of other rows and other columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from scipy.special import ndtri
from scipy.stats import poisson

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator_of
from tenfold.density.cells import Cells, Grower
from tenfold.density.partition import Partition

AT_ONCE = 16  # trees that grow side by side
FEW = 50  # different weights of rows for which a table of draws is made
TINY = 2.0**-54  # share of a draw, in place of 0
MANY = 1e6  # draws of a row, from which on their number is as good as Gaussian, and a table of it would not fit


@estimator
class DensityForest(Partition):
    """DensityForest: the mean of density trees that differ by the rows they see and the columns they look at.

    Model       p̂(x) = 1/T Σₜ p̂ₜ(x), each p̂ₜ a density tree: constant in boxes; 0 outside of the support, which they share
    Objective   that of DensityTree for each tree, at each node over `max_features` columns drawn anew; trees are not pruned: the mean
                of many that fit too closely is smooth
    Algorithm   every row is drawn Poisson(w) times for each tree (bootstrap), by a hash of the row and the number of the tree, and columns
                by the place of the node: neither threads nor the order of rows matter; columns are sorted once for all trees
    Out of bag  `oob_score_` is the mean log-likelihood of rows by the trees that have not seen them
    Cost        T times that of DensityTree without pruning, trees side by side; the rows are kept while it grows
    Fails when  there is one column (a DensityTree, pruned, is closer); rows lie outside of the support (their density is 0)
    Reference   Criminisi, Shotton & Konukoglu 2012; Ram & Gray 2011

    Example
    -------
    >>> import numpy as np, tenfold
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 500)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = tenfold.DensityForest(50, random_state=0).fit(ring)
    >>> density = np.exp(model.score_samples([[1.0, 0.0], [0.0, 0.0]]))
    >>> bool(density[0] > 5 * density[1])
    True
    """

    exempt: ClassVar[dict[str, str]] = {"column_order": "columns are drawn by their numbers"}

    first_: Array = learned("int(f)", "the first node of each tree, and the end of the last")
    oob_score_: float = learned("float", "mean log-likelihood of rows by the trees that have not seen them", optional=True)

    n_estimators: int = param(default=100, at_least=1, at_most=100_000, before="max_depth", doc="number of trees")
    _: KW_ONLY
    bootstrap: bool = param(default=True, doc="each tree sees rows drawn at random, with replacement; else all of them")
    max_features: int | float | str | None = param(
        default="sqrt",
        one_of=("sqrt", "log2", None),
        above=0,
        doc="columns that a node looks at: a number, a share of them, their root or logarithm; None: all",
    )
    oob_score: bool = param(default=False, doc="whether rows are scored by the trees that have not seen them")
    random_state: int | RandomState | None = param(default=None, doc="seed of the rows and columns that are drawn")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_estimators": 3, "random_state": 0, "min_samples_leaf": 4}]

    def _at_once(self) -> int:
        return min(AT_ONCE, self.n_estimators)

    def _firsts(self) -> Array:
        return self.first_

    def _columns_per_split(self, p: int) -> int:
        asked = self.max_features
        if asked is None or isinstance(asked, str):
            return p if asked is None else max(1, int(np.sqrt(p) if asked == "sqrt" else np.log2(p)))
        if isinstance(asked, (int, np.integer)):
            if asked > p:
                raise BadParameter(f"DensityForest(max_features={asked}): there are {p} columns only")
            return int(asked)
        if asked > 1:
            raise BadParameter(f"DensityForest(max_features={asked}): a share of the columns must be at most 1")
        return max(1, int(asked * p))

    def _grown(self, grower: Grower, w: Array) -> tuple[list[Cells], dict[str, Any]]:
        seeds = generator_of(self).integers(0, 2**64, self.n_estimators, dtype=np.uint64)
        trees, bag = list[Cells](), Bag(grower.keys(), w)
        seen, density = np.zeros(len(w)), np.full(len(w), -np.inf)
        for start in range(0, len(seeds), AT_ONCE):
            some = seeds[start : start + AT_ONCE]
            W = np.array([bag.draw(seed) if self.bootstrap else w for seed in some])
            grown = grower.grow(W, some)
            trees += grown
            for tree, weight in zip(grown, W, strict=True) if self.oob_score else ():
                out = weight == 0
                density[out] = np.logaddexp(density[out], tree.log_density[tree.leaves(grower.X[out])])
                seen[out] += 1
        first = np.concatenate([[0], np.cumsum([len(tree) for tree in trees])])
        more: dict[str, Any] = dict(first_=first)
        if self.oob_score:
            told = seen > 0
            if not told.any():
                raise BadParameter("DensityForest(oob_score=True): no tree has left out a row: use bootstrap=True, and more trees")
            if not told.all():
                warn(
                    f"DensityForest(n_estimators={self.n_estimators}): {(~told).sum():,} of {len(w):,} rows were seen by all trees, and do "
                    "not count in oob_score_: use more trees",
                    DataWarning,
                    stacklevel=2,
                )
            span = np.log(grower.upper - grower.lower).sum()
            more["oob_score_"] = float(np.average(density[told] - np.log(seen[told]), weights=w[told]) - span)
        return trees, more

    def _objection(self) -> str | None:
        first = self.first_
        if len(first) < 2 or first[0] != 0 or first[-1] != len(self.feature_) or (np.diff(first) < 1).any():
            return "first_ does not say where the trees begin"
        return super()._objection()


class Bag:
    """How often rows are drawn for a tree: Poisson(w) times, by a key of what is in them. What a row of weight w is, w copies of it are."""

    def __init__(self, keys: Array, w: Array) -> None:
        self.w = w
        self.keys, self.group = np.unique(keys, return_inverse=True)
        self.weight = np.bincount(self.group, w)
        self.values, self.place = np.unique(self.weight, return_inverse=True)

    def draw(self, seed: np.uint64) -> Array:
        share = (mixed(self.keys ^ seed) >> np.uint64(11)) * 2.0**-53
        often = self.weight > MANY
        counts = np.rint(self.weight + np.sqrt(self.weight) * ndtri(np.maximum(share, TINY)), where=often, out=np.empty(len(share)))
        if len(self.values) > FEW:
            counts[~often] = poisson.ppf(share[~often], self.weight[~often])
        else:
            for i, value in enumerate(self.values[self.values <= MANY]):
                table = poisson.cdf(np.arange(int(value + 10 * np.sqrt(value) + 20)), value)
                counts[self.place == i] = np.searchsorted(table, share[self.place == i])
        return np.asarray((counts / self.weight)[self.group] * self.w) if counts.any() else self.w


def mixed(x: Array) -> Array:
    """Bits of which each depends on all of those of x (splitmix64)."""
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ (x >> np.uint64(31)))
