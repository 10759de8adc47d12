"""Outliers by how dense it is around them, beside their neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.base.available import available
from tenfold.base.estimator import Detector
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.neighbors.kept import AsksNearest
from tenfold.neighbors.search import Near, among_themselves

AUTOMATIC = -1.5  # where outliers begin, as the authors advise
SPECK = 1e-10  # added to a mean distance, so that copies of a row have a density
ENDLESS = -1e7  # a factor that only copies give


def _verb(name: str, novelty: bool) -> Callable[[Any], bool]:
    """Whether a learner with this `novelty` has the verb; the reason where it has not."""

    def condition(model: Any) -> bool:
        if bool(model.novelty) != novelty:
            other = "fit_predict tells of the rows of the fit" if novelty else "predict tells of new rows"
            raise AttributeError(f"{name} is not available when novelty={not novelty}: {other}; use novelty={novelty} for it")
        return True

    return condition


@estimator
class LocalOutlierFactor(Detector, AsksNearest):
    """LocalOutlierFactor: how much denser it is around the neighbours of a row than around the row.

    Model       LOF(x) = mean over the k nearest o of  density(o) / density(x): about 1 inside, above 1 for outliers
    Objective   none: rows are kept. 1 / density(x) = mean over the k nearest o of  max(d(x, o), distance of o to its k-th neighbour)
    Algorithm   the search of NeighborIndex, twice the k nearest; a row is an outlier where −LOF < offset_: −1.5 ("auto"), or the
                share `contamination` of the rows of the fit; a row of weight w is w rows
    Cost        that of NearestNeighbors for all rows, and O(n k)
    Fails when  more than k rows are equal: their density is endless, and their neighbours' factors are huge (warns DataWarning)
    Reference   Breunig, Kriegel, Ng & Sander 2000

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.LocalOutlierFactor(n_neighbors=2)
    >>> model.fit_predict([[-1.1], [0.2], [101.1], [0.3]]).tolist()
    [1, 1, -1, 1]
    """

    negative_outlier_factor_: Array = learned("float(n)", "−LOF of the rows of the fit", like_x=True)
    offset_: float = learned("float", "below it rows are outliers")
    n_neighbors_: int = learned("int", "neighbours that were asked: at most all others")
    _density: Array = learned("float(n)>0", "densities around the rows of the fit", rows=True)
    _reach: Array = learned("float(n)>=0", "how far their last neighbours are", rows=True)

    n_neighbors: int = param(default=20, at_least=1, doc="neighbours that are asked")
    _: KW_ONLY
    contamination: float | str = param(
        default="auto",
        above=0,
        at_most=0.5,
        one_of=("auto",),
        doc="share of outliers among the rows of the fit; 'auto': those with LOF above 1.5",
        before="n_jobs",
    )
    novelty: bool = param(default=False, doc="whether new rows are judged (predict), or those of the fit (fit_predict)", before="n_jobs")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_neighbors": 5, "novelty": True}, {"n_neighbors": 8, "contamination": 0.2, "novelty": True, "p": 1}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_neighbors": 2, "novelty": True}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        fitted = yield from super()._learn(source)
        rows, w = fitted["_fit_X"], fitted.get("_row_weights")
        n, whole = len(rows), float(len(rows) if w is None else w.sum())
        if self.n_neighbors > whole:
            warn(
                f"n_neighbors ({self.n_neighbors}) is greater than the total number of samples ({whole:g}). n_neighbors will be set to "
                "(n_samples - 1) for estimation.",
                DataWarning,
            )
        k = max(1, min(self.n_neighbors, int(whole * (1 + 1e-12)) - 1))
        if k > whole - 1 + 1e-9:
            self._refuse(k, n)
        near = among_themselves(self._search[1], rows, w, k)
        share, last = _counts(near, k)
        reach = near.distances[np.arange(n), last]
        density = _density(near, share, reach, k)
        factors = -(share * density[near.rows]).sum(axis=1) / k / density
        offset = AUTOMATIC if self.contamination == "auto" else _percentile(factors, w, float(self.contamination))
        if factors.min() < ENDLESS and not self.novelty:
            warn(
                "Duplicate values are leading to incorrect results. Increase the number of neighbors for more accurate results.",
                DataWarning,
            )
        return fitted | dict(negative_outlier_factor_=factors, offset_=offset, n_neighbors_=k, _density=density, _reach=reach)

    def _normality(self, X: Any) -> Array:
        k = self.n_neighbors_
        near = self._near(X, k)
        share, _ = _counts(near, k)
        density = _density(near, share, self._reach, k)
        found = -(share * self._density[near.rows]).sum(axis=1) / k / density
        return np.asarray(found, dtype=X.dtype if self.accepts == "rows" else np.float64)

    def _objection(self) -> str | None:
        n = len(self._fit_X)
        odd = [name for name in ("negative_outlier_factor_", "_density", "_reach") if len(getattr(self, name)) != n]
        return super()._objection() or (f"{odd[0]} is not of {n} rows" if odd else None)

    # --- verbs of new rows, or of those of the fit ---

    @available(_verb("score_samples", True))
    def score_samples(self, X: Any) -> Array:
        """−LOF of each new row: the lower, the more of an outlier."""
        return super().score_samples(X)

    @available(_verb("decision_function", True))
    def decision_function(self, X: Any) -> Array:
        """`score_samples` − `offset_`: below zero for outliers."""
        scores = self.score_samples(X)
        return np.asarray(scores - scores.dtype.type(self.offset_))

    @available(_verb("predict", True))
    def predict(self, X: Any) -> Array:
        """−1 for outliers among new rows, 1 for inliers."""
        return super().predict(X)

    @available(_verb("fit_predict", False))
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and tell which of these rows are outliers (−1); 1 for all others."""
        self.fit(X, y, sample_weight)
        return np.where(self.negative_outlier_factor_ < self.offset_, -1, 1)


def _counts(near: Near, k: int) -> tuple[Array, Array]:
    """(queries, j): how often each of the rows is one of k neighbours; and the column of the last of these."""
    if near.copies is None:
        return np.ones((len(near.rows), k)), np.full(len(near.rows), k - 1)
    counts = np.clip(k - (np.cumsum(near.copies, axis=1) - near.copies), 0.0, near.copies)
    return counts, near.rows.shape[1] - 1 - (counts[:, ::-1] > 0).argmax(axis=1)


def _density(near: Near, share: Array, reach: Array, k: int) -> Array:
    """1 / the mean over k neighbours of how far they are, and at least as far as their own last one."""
    if not np.isfinite(near.distances).all():
        raise BadInput("LocalOutlierFactor: a row is infinitely far from one of its neighbours, and has no density: ask for fewer of them")
    return np.asarray(1 / ((share * np.maximum(near.distances, reach[near.rows])).sum(axis=1) / k + SPECK))


def _percentile(values: Array, w: Array | None, share: float) -> float:
    """np.percentile of values that are there as often as their weights say."""
    order = np.argsort(values)
    ends = np.cumsum(np.ones(len(values)) if w is None else w[order])
    place = (ends[-1] - 1) * share
    at = np.searchsorted(ends, np.array([np.floor(place), np.ceil(place)]) * (1 + 1e-12), "right")
    low, high = values[order][np.minimum(at, len(values) - 1)]
    return float(low + (high - low) * (place - np.floor(place)))
