"""Filling missing values from the nearest rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts
from tenfold.prepare.filling import Filling, where_missing

BLOCK_CELLS = 1 << 21  # distances at a time: they stay in cache, and the table of all of them is never made
SPARE = 48  # candidates beyond the neighbours that are asked for: some of them have the same gap


@estimator
class KNNImputer(Filling):
    """KNNImputer: missing values replaced by means of the nearest rows that have a value there.

    Model       x_j = Σ ω_i x_ij / Σ ω_i over the k nearest rows of the fit that have a value in column j
    Objective   distance² = p / |common| Σ_(common) (a − b)², over the columns where both rows have values; ω is 1, 1 / distance,
                or a function of the distances
    Algorithm   distances by products of blocks; of the nearest rows they are computed again from differences
    Cost        O(m n p) time for m rows with gaps and n rows of the fit, memory for one block of distances
    Fails when  a row has no column in common with any row that could give: the mean of the column is filled in
    Reference   Troyanskaya et al. 2001; distance: Dixon 1979

    Example
    -------
    >>> import numpy as np, tenfold
    >>> imputer = tenfold.KNNImputer(n_neighbors=2).fit([[1.0, 2.0], [2.0, 4.0], [8.0, 8.0]])
    >>> imputer.transform([[1.5, np.nan]]).tolist()
    [[1.5, 3.0]]
    """

    _rows: Array = learned("real(n,p)", "the rows of the fit, NaN for what is missing", rows=True)
    _row_weights: Array = learned("float(n)>0", "the weights of these rows, where they are not one", optional=True)
    means_: Array = learned("float(p)", "mean of each column, 0 for one without values")

    _: KW_ONLY
    n_neighbors: int = param(default=5, at_least=1, doc="rows that fill a gap")
    weights: str | Callable[..., Any] | None = param(
        default="uniform", one_of=("uniform", "distance", None), doc="all count the same, by 1 / distance, or a function of distances"
    )
    metric: str | Callable[..., Any] = param(
        default="nan_euclidean", one_of=("nan_euclidean",), doc="the distance; or a function of two rows and missing_values="
    )
    copy: bool = param(default=True, doc="no effect: X is never changed")

    kind: ClassVar[str] = "keeps rows"

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_neighbors": 3}, {"n_neighbors": 2, "weights": "distance", "add_indicator": True}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        for name in ("weights", "metric"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str) and not callable(value):
                raise BadParameter(f"KNNImputer({name}={check.short(value)}): must be a word or a function")
        X, _, w = yield Keep()
        rows = np.array(self._with_nan(X))
        there = ~np.isnan(rows)
        weight = w @ there
        means = (w @ np.where(there, rows, 0.0)) / np.where(weight > 0, weight, 1.0)
        more = {} if (w == 1).all() else dict(_row_weights=np.array(w))
        return dict(_rows=rows, means_=means, **more, **where_missing(Counts(np.append(w.sum(), w @ ~there))))

    def _fill(self, X: Array) -> Array:
        out, blank = X.copy(), np.isnan(X)
        blank[:, self.empty_] = False
        receivers = np.flatnonzero(blank.any(axis=1))
        donors = Donors(self._rows, self.means_)
        step = max(1, BLOCK_CELLS // max(1, len(self._rows)))
        for start in range(0, len(receivers), step):
            rows = receivers[start : start + step]
            self._fill_some(out, rows, blank[rows], donors)
        return out

    def _fill_some(self, out: Array, rows: Array, blank: Array, donors: Donors) -> None:
        """Fill the gaps of some rows in place."""
        X = np.where(blank, np.nan, out[rows])
        rough = donors.rough(X) if isinstance(self.metric, str) else self._by_metric(X)
        n, k = rough.shape[1], self.n_neighbors
        whole = "_row_weights" in vars(self)
        few = n if whole else min(n, k + SPARE)
        near = np.argpartition(rough, few - 1, axis=1)[:, :few] if few < n else np.tile(np.arange(n), (len(rows), 1))
        exact = donors.exact(X, near) if isinstance(self.metric, str) else np.take_along_axis(rough, near, axis=1)
        order = np.lexsort((near, exact), axis=1)
        near, exact = np.take_along_axis(near, order, axis=1), np.take_along_axis(exact, order, axis=1)
        for j in np.flatnonzero(blank.any(axis=0)):
            mine = np.flatnonzero(blank[:, j])
            give = donors.there[near[mine], j] & np.isfinite(exact[mine])
            short = give.sum(axis=1) < k
            if short.any() and few < n:  # nearly all candidates have the same gap: look at all rows
                self._look_at_all(out, rows[mine[short]], X[mine[short]], rough[mine[short]], int(j), donors)
                mine, give = mine[~short], give[~short]
            out[rows[mine], j] = self._means(near[mine], exact[mine], give, int(j))

    def _look_at_all(self, out: Array, rows: Array, X: Array, rough: Array, j: int, donors: Donors) -> None:
        some = np.flatnonzero(donors.there[:, j])
        near = np.broadcast_to(some, (len(rows), len(some)))
        exact = donors.exact(X, near) if isinstance(self.metric, str) else rough[:, some]
        order = np.argsort(exact, axis=1, kind="stable")[:, : self.n_neighbors]
        exact = np.take_along_axis(exact, order, axis=1)
        out[rows, j] = self._means(some[order], exact, np.isfinite(exact), j)

    def _means(self, near: Array, distance: Array, give: Array, j: int) -> Array:
        """The weighted means of column j over the first rows in order of distance that give; of none, the mean of the column."""
        copies = give * (self._row_weights[near] if "_row_weights" in vars(self) else 1.0)
        before = np.cumsum(copies, axis=1) - copies
        count = np.clip(self.n_neighbors - before, 0.0, copies)  # a row of weight 2 is two neighbours
        if self.weights == "distance":
            with np.errstate(divide="ignore"):
                share = np.where(give, 1 / distance, 0.0)
            same = np.isinf(share) & (count > 0)
            share = np.where(same.any(axis=1, keepdims=True), same, np.where(np.isinf(share), 0.0, share))
        elif callable(self.weights):
            share = self._asked(self.weights, distance, count > 0)
        else:
            share = np.ones(distance.shape)
        share = share * count
        total = share.sum(axis=1)
        values = np.where(count > 0, self._rows[near, j], 0.0).astype(np.float64)
        return np.asarray(np.where(total > 0, (share * values).sum(axis=1) / np.where(total > 0, total, 1.0), self.means_[j]))

    @staticmethod
    def _asked(weights: Callable[..., Any], distance: Array, used: Array) -> Array:
        """The user's function of the distances of the neighbours, nearest first; rows of as many neighbours are asked together."""
        share, sizes = np.zeros(distance.shape), used.sum(axis=1)
        for size in np.unique(sizes[sizes > 0]):
            rows = np.flatnonzero(sizes == size)
            place = np.argsort(~used[rows], axis=1, kind="stable")[:, :size]
            said = weights(np.take_along_axis(distance[rows], place, axis=1))
            numbers = np.ones(place.shape) if said is None else np.asarray(said, dtype=np.float64)  # None: all alike
            share[rows[:, None], place] = np.where(np.isnan(numbers), 0.0, numbers)
        return share

    def _by_metric(self, X: Array) -> Array:
        assert callable(self.metric)
        found = np.array([[self.metric(a, b, missing_values=np.nan) for b in self._rows] for a in X], dtype=np.float64)
        return np.where(np.isnan(found), np.inf, found)


class Donors:
    """Rows of the fit, prepared for distances: centred, with zeros for gaps."""

    def __init__(self, rows: Array, center: Array) -> None:
        self.rows, self.center = rows, center
        self.there = ~np.isnan(rows)
        self.ones = self.there.astype(np.float64).T
        self.values = np.where(self.there, rows - center, 0.0).astype(np.float64).T
        self.squares = self.values**2

    def rough(self, X: Array) -> Array:
        """(rows, donors): squared distances by products of matrices, infinite where no column is common."""
        there = ~np.isnan(X)
        ones, values = there.astype(np.float64), np.where(there, X - self.center, 0.0)
        left = np.hstack([values**2, -2 * values, ones])
        found = left @ np.vstack([self.ones, self.values, self.squares])
        common = ones @ self.ones
        np.maximum(found, 0.0, out=found)
        with np.errstate(divide="ignore", invalid="ignore"):
            np.divide(found, common, out=found)
        if not common.all():
            found[common == 0] = np.inf
        return found

    def exact(self, X: Array, near: Array) -> Array:
        """Distances to chosen donors, from differences; infinite where no column is common."""
        gap = X[:, None, :] - self.rows[near]
        there = ~np.isnan(gap)
        common = there.sum(axis=2)
        squares = np.einsum("ijk,ijk->ij", *[np.where(there, gap, 0.0).astype(np.float64)] * 2)
        return np.where(common > 0, np.sqrt(squares * X.shape[1] / np.where(common > 0, common, 1)), np.inf)
