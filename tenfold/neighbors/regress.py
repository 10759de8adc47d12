"""Numbers by the means of neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Regressor
from tenfold.core.data import Array
from tenfold.core.learned import learned
from tenfold.core.params import estimator, group
from tenfold.neighbors.all_k import AlongNeighbors
from tenfold.neighbors.kept import WeighsNeighbors
from tenfold.neighbors.search import Near
from tenfold.neighbors.weights import check_some, same_for_all_k, weigh


@group
class NeighborsRegressor(Regressor, WeighsNeighbors):
    """Abstract: keeps the numbers of its rows."""

    _y: Array = learned("float(n,q)", "their targets", rows=True)

    multi_output: ClassVar[bool] = True

    def _kept_target(self, y: Array) -> dict[str, Any]:
        return super()._kept_target(y) | dict(_y=np.array(y[:, 0] if self._flat else y))

    def _targets(self) -> Array:
        return self._y if self._y.ndim == 2 else self._y[:, None]

    def _means(self, X: Any) -> Array:
        """(rows, targets) float64; without X of each row of the fit, by all others."""
        raise NotImplementedError

    def _predict(self, X: Any) -> Array:
        found = self._means(X).astype(X.dtype if self.accepts == "rows" else np.float64, copy=False)
        return found[:, 0] if self._y.ndim == 1 else found

    def predict(self, X: Any = None) -> Array:
        """The mean of the neighbours' targets for each row; without X for the rows of the fit, each by all others."""
        check.check_fitted(self)
        if X is not None:
            return super().predict(X)
        found = self._means(None)
        return found[:, 0] if self._y.ndim == 1 else found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², averaged over several targets; without X (None): of the rows of the fit, each by all others."""
        if X is not None:
            return super().score(X, y, sample_weight)
        check.check_fitted(self)
        truth = check.real_target(check.as_column(y), self.n_samples_fit_)
        w = check.as_weights(sample_weight, len(truth))
        return self._quality(truth, self._means(None), np.ones(len(truth)) if w is None else w)


@estimator
class KNeighborsRegressor(NeighborsRegressor, AlongNeighbors):
    """KNeighborsRegressor: the mean of the nearest rows.

    Model       ŷ(x) = Σᵢ ωᵢ yᵢ / Σᵢ ωᵢ over the k rows nearest to x, of equal distance those that come first
    Objective   none: rows are kept. ω is 1, 1 / d (rows at no distance alone, where there are some), a kernel K(d / d₍k+1₎) as wide as
                the next row is far (gaussian: exp(−u²/2), epanechnikov: 1 − u², triangular: 1 − u, tricube: (1 − u³)³), or a function
    Algorithm   the search of NeighborIndex; a row of weight w counts as w neighbours
    Cost        that of NearestNeighbors; all k at once cost about as much as the largest, also by cross-validation and leave-one-out
    Fails when  there are many columns that say nothing, or columns have different units (scale them first); k > n (refused)
    Reference   Cover 1968; kernels: Hechenbichler & Schliep 2004

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.KNeighborsRegressor(n_neighbors=2).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0])
    >>> model.predict([[1.5]]).tolist()
    [0.5]
    """

    def _means(self, X: Any) -> Array:
        return self._mean_of(self._near(X, self.n_neighbors, further=self._further()), self.n_neighbors)

    def _mean_of(self, near: Near, k: int) -> Array:
        share, rows = weigh(self.weights, near, k)
        total = share.sum(axis=1)
        check_some(total)
        return np.column_stack([(share * y[rows]).sum(axis=1) / total for y in self._targets().T])

    def _outputs_of(self, near: Near, wanted: list[int]) -> Iterator[Array]:
        if near.copies is not None or not same_for_all_k(self.weights):
            yield from (self._mean_of(near, k) for k in wanted)
            return
        share, rows = weigh(self.weights, near, wanted[-1])
        totals = np.cumsum(share, axis=1)
        sums = [np.cumsum(share * y[rows], axis=1) for y in self._targets().T]
        yield from (np.column_stack([one[:, k - 1] / totals[:, k - 1] for one in sums]) for k in wanted)
