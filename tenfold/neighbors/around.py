"""Classes and numbers by all rows at most a radius away."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.base.shares import log_shares
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.neighbors.classify import NeighborsClassifier
from tenfold.neighbors.kept import AsksAround, WeighsNeighbors
from tenfold.neighbors.regress import NeighborsRegressor
from tenfold.neighbors.weights import KERNELS, asked, check_some, inverse, kernel


class Voters(NamedTuple):
    """Neighbours of some rows, one after the other."""

    query: Array  # whose neighbour it is
    rows: Array
    share: Array  # how much it counts
    total: Array  # of each query; 0: it has no neighbour

    def sums(self, values: Array) -> Array:
        """Σ share · value of the neighbours of each query."""
        return np.bincount(self.query, weights=self.share * values[self.rows], minlength=len(self.total))

    def votes(self, codes: Array, classes: int) -> Array:
        """(queries, classes): the sums of shares by classes."""
        found = np.bincount(self.query * classes + codes[self.rows], weights=self.share, minlength=len(self.total) * classes)
        return found.reshape(-1, classes)


@group
class WeighsAround(WeighsNeighbors, AsksAround):
    """Abstract: sums over the rows around others."""

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"radius": 5.0, "weights": "distance"}, {"radius": 9.0}, {"radius": 9.0, "weights": "epanechnikov"}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"radius": 50.0}

    def _voters(self, X: Any) -> Voters:
        """The rows around each row of a block, and how much they count; without X around each kept row, which is none of its own."""
        start, rows, distances = self._around(X)
        query = np.repeat(np.arange(len(start) - 1), np.diff(start))
        share = self._shares(start, distances, query)
        if "_row_weights" in vars(self):
            share = share * self._row_weights[rows]
        total = np.bincount(query, weights=share, minlength=len(start) - 1)
        check_some(total[np.diff(start) > 0])
        return Voters(query, rows, share, total)

    def _shares(self, start: Array, distances: Array, query: Array) -> Array:
        """How much each neighbour counts."""
        queries = len(start) - 1
        if callable(self.weights):
            each = [asked(self.weights, distances[a:b][None])[0] for a, b in pairwise(start)]
            return np.concatenate([*each, np.empty(0)])
        if self.weights == "distance":
            share = inverse(distances)
            endless = np.isinf(share)
            return np.where(np.bincount(query[endless], minlength=queries)[query] > 0, endless, share)
        if self.weights in KERNELS:
            share = kernel(str(self.weights), distances, self.radius)
            return np.where(np.bincount(query, weights=share, minlength=queries)[query] > 0, share, 1.0)  # all at the rim
        return np.ones(len(distances))


@estimator
class RadiusNeighborsClassifier(NeighborsClassifier, WeighsAround):
    """RadiusNeighborsClassifier: the class that most of the rows around have.

    Model       P(class c | x) = Σᵢ ωᵢ [yᵢ = c] / Σᵢ ωᵢ over the rows at most `radius` away from x
    Objective   none: rows are kept. ω is the row's weight times 1, 1 / d, a kernel K(d / radius), or a function; see KNeighborsClassifier
    Algorithm   the search of NeighborIndex; equal votes: the first class
    Cost        that of NearestNeighbors
    Fails when  there is no row around x: refused, unless `outlier_label` says what such rows are
    Reference   Fix & Hodges 1951; Bentley 1975

    Example
    -------
    >>> import tenfold
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0]]
    >>> model = tenfold.RadiusNeighborsClassifier(radius=2.0, outlier_label="none").fit(X, ["low", "low", "low", "high", "high"])
    >>> model.predict([[1.5], [8.2], [99.0]]).tolist()
    ['low', 'high', 'none']
    """

    _: KW_ONLY
    outlier_label: Any = param(
        default=None,
        doc="label of rows without neighbours; of several targets a list; 'most_frequent': the most frequent; None: they are refused",
        before="metric_params",
    )

    def _kept_target(self, y: Array) -> dict[str, Any]:
        self._outlier_labels(y)  # refused now, not when they are needed
        return super()._kept_target(y)

    @property
    def outlier_label_(self) -> list[Any] | None:
        """The label of rows without neighbours, of each target; None: they are refused."""
        check.check_fitted(self)
        return self._outlier_labels(self._y)

    def _outlier_labels(self, y: Array) -> list[Any] | None:
        given, known = self.outlier_label, self._classes_by_target()
        if given is None:
            return None
        if isinstance(given, str) and given == "most_frequent":
            columns = [y] if y.ndim == 1 else list(y.T)
            return [classes[np.bincount(codes, minlength=len(classes)).argmax()] for codes, classes in zip(columns, known, strict=True)]
        several = isinstance(given, (list, tuple, np.ndarray)) and np.ndim(given) > 0
        if several and len(given) != len(known):
            raise BadParameter(f"The length of outlier_label: {list(given)!r} is inconsistent with the output length: {len(known)}")
        labels = list(given) if several else [given] * len(known)
        for label, classes in zip(labels, known, strict=True):
            if isinstance(label, (list, tuple, np.ndarray)):
                raise BadParameter(f"The outlier_label of classes {classes.tolist()!r} is supposed to be a scalar, got {label!r}")
            if (classes.dtype.kind in "OUS") != isinstance(label, str):
                raise BadParameter(f"The dtype of outlier_label {label!r} is inconsistent with classes {classes.tolist()!r} in y")
        return labels

    def _class_shares(self, X: Any) -> Array:
        """Where a row has no neighbour: one for the outlier label, or nothing where that is no class."""
        voters = self._voters(X)
        alone = voters.total == 0
        votes = np.hstack([voters.votes(codes, width) for codes, width in zip(self._codes(), self._widths(), strict=True)])
        shares = votes / np.where(alone, 1.0, voters.total)[:, None]
        if alone.any():
            parts = zip(self._classes_by_target(), self._labels_of(alone), strict=True)
            shares[alone] = np.concatenate([np.equal(classes, label).astype(np.float64) for classes, label in parts])
        return shares

    def _labels_of(self, alone: Array) -> list[Any]:
        labels = self.outlier_label_
        if labels is None:
            raise BadInput(
                f"No neighbors found for test samples {np.flatnonzero(alone)[:10]!r}, you can try using larger radius, giving a label for "
                "outliers, or considering removing them from your dataset: no row around them has a class."
            )
        return labels

    def _labels(self, X: Any) -> Array:
        """(rows, targets): the most frequent class, or the outlier label."""
        outside = self.outlier_label_ or [None] * self.n_outputs_
        parts = zip(self._classes_by_target(), self._by_target(self._class_shares(X)), outside, strict=True)
        return np.column_stack([_named(classes, shares, label) for classes, shares, label in parts])

    def predict(self, X: Any = None) -> Array:
        """The class with most votes of each row; without X of the rows of the fit, each by all others."""
        check.check_fitted(self)
        labels = self._labels(None) if X is None else map_rows(self._labels, check.check_predict(self, X))
        return labels if isinstance(self.classes_, list) else labels[:, 0]

    def _probabilities(self, X: Any) -> Array:
        found = super()._probabilities(X)
        for j, shares in enumerate(self._by_target(found)):
            if not shares.any(axis=1).all():
                label = (self.outlier_label_ or [])[j]
                warn(
                    f"Outlier label {label} is not in training classes. All class probabilities of outliers will be assigned with 0.",
                    DataWarning,
                    stacklevel=2,
                )
        return found

    def _scores(self, X: Any) -> Array:
        shares = self._class_shares(X)
        if not all(part.any(axis=1).all() for part in self._by_target(shares)):
            raise BadInput(
                f"RadiusNeighborsClassifier(outlier_label={self.outlier_label!r}): it is none of the classes, and rows without neighbours "
                "have no scores: choose a class, 'most_frequent', or a larger radius"
            )
        return log_shares(shares)


def _named(classes: Array, shares: Array, label: Any) -> Array:
    alone, found = ~shares.any(axis=1), np.asarray(classes[shares.argmax(axis=1)])
    if alone.any():
        found = found.astype(np.result_type(found.dtype, np.asarray(label).dtype)) if found.dtype.kind != "O" else found
        found[alone] = label
    return found


@estimator
class RadiusNeighborsRegressor(NeighborsRegressor, WeighsAround):
    """RadiusNeighborsRegressor: the mean of the rows around.

    Model       ŷ(x) = Σᵢ ωᵢ yᵢ / Σᵢ ωᵢ over the rows at most `radius` away from x
    Objective   none: rows are kept. ω is the row's weight times 1, 1 / d, a kernel K(d / radius), or a function; see KNeighborsRegressor
    Algorithm   the search of NeighborIndex
    Cost        that of NearestNeighbors
    Fails when  there is no row around x: NaN is predicted (warns DataWarning)
    Reference   Bentley 1975

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.RadiusNeighborsRegressor(radius=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0])
    >>> model.predict([[1.5]]).tolist()
    [0.5]
    """

    def _means(self, X: Any) -> Array:
        voters = self._voters(X)
        alone = voters.total == 0
        if alone.any():
            warn(
                "One or more samples have no neighbors within specified radius; predicting NaN. The first is row "
                f"{int(alone.argmax())}: use a larger radius",
                DataWarning,
                stacklevel=2,
            )
        total = np.where(alone, np.nan, voters.total)
        return np.column_stack([voters.sums(y) / total for y in self._targets().T])
