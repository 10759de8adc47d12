"""Classifiers by the nearest of a few rows: those that are needed, or those that their neighbours agree with."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base.shares import ShareClassifier
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.gate.inputs import Given
from tenfold.near.given import PRECOMPUTED
from tenfold.neighbors.classify import votes
from tenfold.neighbors.kept import AsksNearest, KeptRows
from tenfold.neighbors.search import among_themselves, search_of


@group
class SomeRows(ShareClassifier, KeptRows):
    """Abstract: the class of the nearest of some of the rows."""

    _y: Array = learned("int(n)<K", "the numbers of their classes", rows=True)
    sample_indices_: Array = learned("int(n)", "the rows of the fit that are kept, in their order")
    n_iter_: int = learned("int", "how often all rows were looked at")

    least_classes: ClassVar[int] = 1
    multi_output: ClassVar[bool] = False

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if isinstance(self.metric, str) and self.metric == PRECOMPUTED:
            name = type(self).__name__
            raise BadParameter(f"{name}(metric='precomputed'): some of the rows are kept, and distances to these are needed: give rows")
        fitted = yield from super()._learn(source)
        rows, codes = fitted["_fit_X"], fitted.pop("_y")
        metric, params = fitted["effective_metric_"], _spread(fitted["effective_metric_"], fitted["effective_metric_params_"], rows)
        weights, search = fitted.pop("_row_weights", None), partial(search_of, algorithm=self.algorithm, metric=metric, params=params)
        kept, rounds = self._chosen(rows, codes, weights, search)
        some = np.ascontiguousarray(rows[kept])
        self._search = some, search(some)
        numbers = source.rows[kept] if isinstance(source, Arrays) and source.rows is not None else kept
        return fitted | dict(_fit_X=some, _y=codes[kept], sample_indices_=numbers, n_iter_=rounds, effective_metric_params_=params)

    def _kept_target(self, y: Array) -> dict[str, Any]:
        return dict(_y=np.array(y))

    def _chosen(self, rows: Array, codes: Array, weights: Array | None, search: Any) -> tuple[Array, int]:
        """The numbers of the rows to keep, in their order, and how often all were looked at; search(some) finds the nearest of some."""
        raise NotImplementedError

    def _class_shares(self, X: Any) -> Array:
        nearest = self._searched().nearest(self._plain(X), 1)[1][:, 0]
        return np.asarray(np.eye(len(self.classes_))[self._y[nearest]])

    def fit_resample(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any]:
        """Fit, and return the rows that are kept with their labels, in the containers that were given."""
        kept = self.fit(X, y, sample_weight).sample_indices_
        return Given(X)[kept], Given(y)[kept]


def _spread(metric: Any, params: dict[str, Any], rows: Array) -> dict[str, Any]:
    """What a metric takes from the spread of all rows, for a search of some of them."""
    if not isinstance(metric, str) or len(rows) < 2 or {"V", "VI"} & params.keys():
        return params
    if metric == "seuclidean":
        return {**params, "V": rows.var(axis=0, ddof=1, dtype=np.float64)}
    return {**params, "V": np.atleast_2d(np.cov(rows, rowvar=False))} if metric == "mahalanobis" else params


@estimator
class CondensedNearestNeighbor(SomeRows):
    """CondensedNearestNeighbor: the class of the nearest of a few rows, which classify all others right.

    Model       class of x = that of the nearest row of S, of equal distance the first
    Objective   S classifies every row of the fit right, but for those that equal a row of another class
    Algorithm   S begins with the row of each class that is nearest to its mean; to every row of S the nearest of those rows that it
                classifies wrong is added, until there are none. The order of the rows does not matter, but for equal distances
    Cost        O(n |S| p) time; keeps S
    Fails when  classes overlap: nearly all rows there are kept (edit them first). S is consistent, not the smallest such set
    Reference   Hart 1968; Angiulli 2005

    Example
    -------
    >>> import tenfold
    >>> X = [[0.0], [1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = tenfold.CondensedNearestNeighbor().fit(X, ["low"] * 4 + ["high"] * 3)
    >>> model.sample_indices_.tolist(), model.predict([[4.0], [6.0]]).tolist()
    ([1, 5], ['low', 'high'])
    """

    def _chosen(self, rows: Array, codes: Array, weights: Array | None, search: Any) -> tuple[Array, int]:
        w = np.ones(len(rows)) if weights is None else weights
        new, n = np.array([_central(rows, w, np.flatnonzero(codes == c), search) for c in np.unique(codes)]), len(rows)
        away, whose = np.full(n, np.inf), np.full(n, n)
        kept, rounds = new, 0
        while len(new):
            rounds += 1
            new = np.sort(new)
            distance, place = search(rows[new]).nearest(rows, 1)
            row = new[place[:, 0]]
            nearer = (distance[:, 0] < away) | ((distance[:, 0] == away) & (row < whose))
            away, whose = np.where(nearer, distance[:, 0], away), np.where(nearer, row, whose)
            wrong = np.flatnonzero((codes[whose] != codes) & (away > 0))
            order = wrong[np.lexsort((wrong, away[wrong], whose[wrong]))]
            new = order[np.unique(whose[order], return_index=True)[1]]  # of each row of S the nearest that it classifies wrong
            kept = np.concatenate([kept, new])
        return np.sort(kept), rounds


def _central(rows: Array, w: Array, some: Array, search: Any) -> int:
    """Of some rows the one that is nearest to their mean."""
    mean = np.average(rows[some], axis=0, weights=w[some])
    return int(some[search(rows[some]).nearest(mean[None].astype(np.float64), 1)[1][0, 0]])


@estimator
class EditedNearestNeighbors(AsksNearest, SomeRows):
    """EditedNearestNeighbors: the class of the nearest of those rows that their neighbours do not outvote.

    Model       class of x = that of the nearest row of S, of equal distance the first
    Objective   S: the rows that are outvoted by none of the classes among their k nearest others, or with all of which these agree
    Algorithm   the search of NeighborIndex; again on what is left, `max_iter` times, until no row goes; a row of weight w is w rows
    Cost        that of NearestNeighbors for all rows, `max_iter` times; keeps S
    Fails when  a class is rare: all its rows may go. No row may be left (refused)
    Reference   Wilson 1972; again and again: Tomek 1976

    Example
    -------
    >>> import tenfold
    >>> X = [[0.0], [1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> model = tenfold.EditedNearestNeighbors().fit(X, ["low", "high", "low", "low", "high", "high", "high"])
    >>> model.sample_indices_.tolist(), model.predict([[1.1]]).tolist()
    ([0, 2, 3, 4, 5, 6], ['low'])
    """

    n_neighbors: int = param(default=3, at_least=1, doc="neighbours that vote on a row")
    _: KW_ONLY
    rule: str = param(
        default="majority",
        one_of=("majority", "all"),
        doc="a row stays unless it is outvoted, or only where all neighbours agree",
        before="algorithm",
    )
    max_iter: int = param(default=1, at_least=1, doc="how often rows are looked at, at most", before="algorithm")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"n_neighbors": 4, "max_iter": 5, "p": 1}]

    def _chosen(self, rows: Array, codes: Array, weights: Array | None, search: Any) -> tuple[Array, int]:
        kept, classes, rounds, stays = np.arange(len(rows)), int(codes.max()) + 1, 0, np.zeros(1, dtype=bool)
        while rounds < self.max_iter and not stays.all():
            rounds += 1
            stays = self._agreed(rows[kept], codes[kept], None if weights is None else weights[kept], classes, search)
            if not stays.any():
                raise BadInput(
                    f"EditedNearestNeighbors(n_neighbors={self.n_neighbors}): no row is left, as the neighbours of each are of other "
                    "classes: ask fewer of them, or use rule='majority'"
                )
            kept = kept[stays]
        return kept, rounds

    def _agreed(self, rows: Array, codes: Array, weights: Array | None, classes: int, search: Any) -> Array:
        """Which rows their neighbours agree with."""
        others = (len(rows) if weights is None else weights.sum()) - 1
        k = int(min(self.n_neighbors, others * (1 + 1e-12)))
        if k < 1:
            return np.ones(len(rows), dtype=bool)
        near = among_themselves(search(rows), rows, weights, k)
        share = np.ones(near.rows.shape)
        if near.copies is not None:
            share = np.clip(k - (np.cumsum(near.copies, axis=1) - near.copies), 0.0, near.copies)
        found = votes(share, codes[near.rows], classes)
        own, largest = found[np.arange(len(rows)), codes], found.max(axis=1)
        return np.asarray(own >= (largest if self.rule == "majority" else found.sum(axis=1)) * (1 - 1e-12))
