"""What densities that are constant within boxes share: a support, how trees of boxes grow, and what they say of rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Density, Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.memory import check_memory
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, group, param
from tenfold.density.cells import Cells, Grower, log_mean_exp

WIDE = 1.0  # a column without a width is given this one, as histograms give it


@group
class Partition(Density, Estimator):
    """Abstract: the mean of densities p(x) = (share of the rows in the cell of x) / (its volume), one for each tree of cells."""

    lower_: Array = learned("float(p)", "the support: least value of each column")
    upper_: Array = learned("float(p)", "its largest")
    feature_: Array = learned("int(m)", "the column by which each node is cut; −1: it is a leaf")
    threshold_: Array = learned("float(m)", "where it is cut: rows at or below are on the left")
    children_: Array = learned("int(m,2)", "numbers of the two parts of each node, within its tree; −1: none")
    mass_: Array = learned("float(m)>0", "share of the rows in each node")
    log_density_: Array = learned("float(m)", "logarithm of the density of each node")

    kind: ClassVar[str] = "keeps rows"  # while it grows
    sparse: ClassVar[bool] = True  # made dense, as it grows on sorted columns; rows to score are made dense by blocks

    max_depth: int | None = param(default=None, at_least=1, doc="most cuts that lead to a cell; None: no limit")
    _: KW_ONLY
    min_samples_leaf: float = param(default=1, above=0, doc="least weight of the rows of a cell; a row of weight 2 is two rows")
    max_density: float | None = param(default=None, above=0, doc="cells that are as dense are not cut; None: no limit")
    min_gain: float = param(
        default=0.0,
        at_least=0,
        doc="least gain by a cut: of ∫ p̂² in units of 1 / volume of the support, or of the log-likelihood of a row",
    )
    criterion: str = param(
        default="squared_error", one_of=("squared_error", "log_likelihood"), doc="what a cut improves most: ∫ (p − p̂)², or the likelihood"
    )
    gap: float = param(
        default=0.5, above=0, at_most=0.5, doc="how far a cut lies from a value, as a share of the gap to the next: 0.5 is half way"
    )
    margin: float = param(default=0.05, at_least=0, doc="how far the support reaches beyond the rows, as a share of the range of a column")
    support: Any = param(
        default=None, doc="(least, largest) value of the columns, numbers or arrays; None: those of the rows, and the margin beyond"
    )

    # --- fitting ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        X, _, w = yield Keep()
        X = np.ascontiguousarray(X, dtype=np.float64)
        if not w.all():
            X, w = X[w > 0], w[w > 0]
        lower, upper = self._box(X)
        if w.sum() < min(2 * self.min_samples_leaf, len(w)):
            warn(
                f"{type(self).__name__}: the weights sum to {w.sum():.3g}, and count as copies of rows: nothing can be cut; scale them so "
                f"that they sum to the {len(w):,} rows",
                Degenerate,
                stacklevel=2,
            )
        check_memory(f"{self._at_once() + 1} sorted copies of the table", 12.0 * X.size * (self._at_once() + 1))
        columns = self._columns_per_split(X.shape[1])
        with np.errstate(over="ignore"):
            span = np.log(upper - lower).sum()
        limits = dict(
            likelihood=self.criterion == "log_likelihood",
            max_depth=-1 if self.max_depth is None else min(int(self.max_depth), 2**40),
            min_leaf=float(self.min_samples_leaf),
            log_max_density=np.inf if self.max_density is None else float(np.log(self.max_density) + span),
            min_gain=float(self.min_gain),
            gap=float(self.gap),
            max_features=0 if columns == X.shape[1] else columns,
        )
        trees, more = self._grown(Grower(X, lower, upper, limits), w)
        joined = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in ("feature", "threshold", "children", "mass")}
        density = np.concatenate([tree.log_density for tree in trees]) - span
        return dict(lower_=lower, upper_=upper, log_density_=density) | {f"{name}_": value for name, value in joined.items()} | more

    def _at_once(self) -> int:
        """How many trees grow side by side."""
        raise NotImplementedError

    def _columns_per_split(self, p: int) -> int:
        """How many columns a node looks at."""
        return p

    def _grown(self, grower: Grower, w: Array) -> tuple[list[Cells], dict[str, Any]]:
        """The trees, and what else is learned."""
        raise NotImplementedError

    def _box(self, X: Array) -> tuple[Array, Array]:
        """The support: that of the user, or a box around the rows."""
        name, names = type(self).__name__, vars(self).get("feature_names_in_")
        least, largest = X.min(axis=0), X.max(axis=0)
        if self.support is not None:
            lower, upper = self._given_box(X.shape[1])
            outside = np.flatnonzero((least < lower) | (largest > upper))
            if len(outside):
                j = int(outside[0])
                value = least[j] if least[j] < lower[j] else largest[j]
                raise BadInput(
                    f"{name}: {value:g} in {column_name(names, j)} is outside of the support, {lower[j]:g} to {upper[j]:g}: "
                    "give a wider one"
                )
            return lower, upper
        width = largest - least
        flat = np.flatnonzero(width <= 0)
        if len(flat) == X.shape[1]:
            what = "there is one row only (one sample)" if len(X) == 1 else f"all {len(X):,} rows are equal"
            raise BadInput(f"{name}: {what}, and a density needs a width: give other rows, or support=(least, largest)")
        if len(flat):
            others = f" (and {len(flat) - 1} other{'s' * (len(flat) > 2)})" if len(flat) > 1 else ""
            warn(
                f"{name}: {column_name(names, int(flat[0]))}{others} is constant: the density is taken to be {WIDE:g} wide there; "
                "drop the column, or give support=(least, largest)",
                Degenerate,
                stacklevel=2,
            )
        beyond = np.where(width > 0, self.margin * width, np.maximum(WIDE / 2, 4 * np.spacing(np.abs(least))))
        return least - beyond, largest + beyond

    def _given_box(self, p: int) -> tuple[Array, Array]:
        try:
            low, high = self.support
            lower, upper = (np.array(np.broadcast_to(np.asarray(end, dtype=np.float64), p)) for end in (low, high))
        except (TypeError, ValueError):
            raise BadParameter(f"{type(self).__name__}(support=...): must be (least, largest), numbers or arrays of {p}") from None
        if not (np.isfinite(lower).all() and np.isfinite(upper).all() and (lower < upper).all()):
            raise BadParameter(f"{type(self).__name__}(support=...): must be finite, and the least value below the largest in every column")
        return lower, upper

    def _objection(self) -> str | None:
        if not (self.lower_ < self.upper_).all():
            return "the support has no width"
        return next((why for tree in self._trees() if (why := tree.objection(self.n_features_in_)) is not None), None)

    # --- what it says of rows ---

    def _firsts(self) -> Array:
        """The first node of each tree, and the end of the last."""
        return np.array([0, len(self.feature_)])

    def _trees(self) -> list[Cells]:
        span, first = np.log(self.upper_ - self.lower_).sum(), self._firsts()
        volume = np.log(self.mass_) - self.log_density_ - span
        arrays = (self.feature_, self.threshold_, self.children_, self.mass_, volume)
        return [Cells(*(one[a:b] for one in arrays)) for a, b in pairwise(first)]

    def _log_density(self, X: Any) -> Array:
        X = np.ascontiguousarray(ops.dense(X))
        found = [self.log_density_[first:][tree.leaves(X)] for first, tree in zip(self._firsts(), self._trees(), strict=False)]
        density = found[0] if len(found) == 1 else log_mean_exp(np.array(found).T)
        outside = ((self.lower_ > X) | (self.upper_ < X)).any(axis=1)
        return np.where(outside, -np.inf, density)

    def _draw(self, n: int, rng: np.random.Generator) -> Array:
        trees = self._trees()
        counts = rng.multinomial(n, np.full(len(trees), 1 / len(trees)))
        rows = [tree.draw(self.lower_, self.upper_, int(count), rng) for tree, count in zip(trees, counts, strict=True) if count]
        return rng.permutation(np.concatenate(rows)) if len(rows) > 1 else rows[0]

    def _edges(self) -> tuple[Array, Array]:
        """Of one column: where the density changes, and its cdf there; it is linear between."""
        each = [tree.edges(self.lower_, self.upper_) for tree in self._trees()]
        if len(each) == 1:
            return each[0]
        ends = np.unique(np.concatenate([one for one, _ in each]))
        return ends, np.mean([np.interp(ends, *one) for one in each], axis=0)

    def _cdf(self, X: Any) -> Array:
        return np.interp(np.asarray(X[:, 0], dtype=np.float64), *self._edges())

    def _quantile(self, q: Array) -> Array:
        ends, shares = self._edges()
        return np.interp(q, shares, ends)

    def _support(self) -> tuple[Array, Array]:
        return self.lower_, self.upper_

    def _kinks(self) -> list[Array]:
        return [
            np.unique(np.concatenate([self.threshold_[self.feature_ == j], [self.lower_[j], self.upper_[j]]]))
            for j in range(self.n_features_in_)
        ]
