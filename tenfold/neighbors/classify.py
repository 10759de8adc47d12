"""Classes by the votes of neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.shares import TargetsClassifier, log_shares
from tenfold.core.data import Array
from tenfold.core.learned import learned
from tenfold.core.params import estimator, group
from tenfold.neighbors.all_k import AlongNeighbors
from tenfold.neighbors.kept import WeighsNeighbors
from tenfold.neighbors.search import Near
from tenfold.neighbors.weights import check_some, same_for_all_k, weigh


@group
class NeighborsClassifier(TargetsClassifier, WeighsNeighbors):
    """Abstract: keeps the classes of its rows."""

    _y: Array = learned("int(n)<K|int(n,*)", "the numbers of their classes; of several targets (n, q)", rows=True)

    least_classes: ClassVar[int] = 1

    def _kept_target(self, y: Array) -> dict[str, Any]:
        return super()._kept_target(y) | dict(_y=np.array(y))

    @property
    def outputs_2d_(self) -> bool:
        """Whether y had several columns."""
        return isinstance(self.classes_, list)

    def _codes(self) -> list[Array]:
        """The numbers of the classes of each target."""
        return [self._y] if self._y.ndim == 1 else list(self._y.T)

    def _objection(self) -> str | None:
        wrong = super()._objection()
        if wrong is None and isinstance(self.classes_, list) != (self._y.ndim == 2):
            return "the classes of the rows are not those of the targets"
        for codes, width in zip(self._codes(), self._widths(), strict=True) if wrong is None else ():
            if codes.min(initial=0) < 0 or codes.max(initial=0) >= width:
                return f"a row has class {int(codes.max(initial=0))} of {width}"
        return wrong

    # --- without X: each row of the fit, by all others ---

    def predict(self, X: Any = None) -> Array:
        """The class with most votes of each row, the first of equal ones; without X of the rows of the fit, each by all others."""
        check.check_fitted(self)
        if X is not None:
            return super().predict(X)
        labels = self._labels(None)
        return labels if isinstance(self.classes_, list) else labels[:, 0]

    def predict_proba(self, X: Any = None) -> Any:
        """The share of votes of each class, in the order of `classes_`; of several targets a list of these. Without X: see `predict`."""
        check.check_fitted(self)
        if X is not None:
            return super().predict_proba(X)
        found = self._class_shares(None)
        return self._by_target(found) if isinstance(self.classes_, list) else found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right; without X (None): of the rows of the fit, each by all others."""
        if X is not None:
            return super().score(X, y, sample_weight)
        check.check_length("y", len(y), self.n_samples_fit_)
        right = (self.predict() == np.asarray(y)).reshape(self.n_samples_fit_, -1).all(axis=1)
        return float(np.average(right, weights=check.as_weights(sample_weight, len(right))))


def votes(share: Array, codes: Array, classes: int) -> Array:
    """(queries, classes): sums of the neighbours' shares by their classes, in the order of the neighbours."""
    queries = len(share)
    place = np.arange(queries)[:, None] * classes + codes
    return np.bincount(place.ravel(), weights=share.ravel(), minlength=queries * classes).reshape(queries, classes)


@estimator
class KNeighborsClassifier(NeighborsClassifier, AlongNeighbors):
    """KNeighborsClassifier: the class that most of the nearest rows have.

    Model       P(class c | x) = Σᵢ ωᵢ [yᵢ = c] / Σᵢ ωᵢ over the k rows nearest to x, of equal distance those that come first
    Objective   none: rows are kept. ω is 1, 1 / d (rows at no distance alone, where there are some), a kernel K(d / d₍k+1₎) as wide as
                the next row is far (gaussian: exp(−u²/2), epanechnikov: 1 − u², triangular: 1 − u, tricube: (1 − u³)³), or a function
    Algorithm   the search of NeighborIndex; a row of weight w counts as w neighbours; equal votes: the first class
    Cost        that of NearestNeighbors; all k at once cost about as much as the largest, also by cross-validation and leave-one-out
    Fails when  there are many columns that say nothing, or columns have different units (scale them first); k > n (refused)
    Reference   Cover & Hart 1967; kernels: Hechenbichler & Schliep 2004

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.KNeighborsClassifier(n_neighbors=3).fit([[0.0], [1.0], [2.0], [8.0], [9.0]], ["low", "low", "low", "high", "high"])
    >>> model.predict([[1.5], [8.2]]).tolist()
    ['low', 'high']
    """

    def _class_shares(self, X: Any) -> Array:
        return self._shares(self._near(X, self.n_neighbors, further=self._further()), self.n_neighbors)

    def _shares(self, near: Near, k: int) -> Array:
        share, rows = weigh(self.weights, near, k)
        total = share.sum(axis=1, keepdims=True)
        check_some(total)
        return np.hstack([votes(share, codes[rows], width) / total for codes, width in zip(self._codes(), self._widths(), strict=True)])

    def _outputs_of(self, near: Near, wanted: list[int]) -> Iterator[Array]:
        if near.copies is not None or not same_for_all_k(self.weights) or isinstance(self.classes_, list):
            yield from (log_shares(self._shares(near, k)) for k in wanted)
            return
        yield from self._running(near, wanted)

    def _running(self, near: Near, wanted: list[int]) -> Iterator[Array]:
        """Votes for one neighbour after the other: each k adds one to those before."""
        share, rows = weigh(self.weights, near, wanted[-1])
        queries, alike = np.arange(len(rows)), self.weights != "distance"
        codes, counts, done = self._y[rows], np.zeros((len(rows), len(self.classes_))), 0
        for k in wanted:
            for j in range(done, k):
                counts[queries, codes[:, j]] += share[:, j]
            done = k
            if alike:
                yield log_shares(np.arange(k + 1) / k)[counts.astype(np.intp)]
            else:
                yield log_shares(counts / share[:, :k].sum(axis=1, keepdims=True))
