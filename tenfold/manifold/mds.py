"""Metric and ordinal multidimensional scaling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.manifold.classical import scaled
from tenfold.manifold.dissimilarities import from_fit, table_given, table_of_rows
from tenfold.manifold.embedding import Embedding, as_rows
from tenfold.manifold.smacof import (
    Ranks,
    Scaling,
    best_of,
    given_start,
    majorized,
    random_start,
    settled,
    warn_of_one_start,
)
from tenfold.near.given import PRECOMPUTED

AT_ONCE = 1 << 20  # distances of new rows at a time
NEW_STEPS = 1000  # of new rows: each is found to this many steps, or to rest


@estimator
class MDS(Embedding):
    """MDS: places whose distances come nearest to given dissimilarities, or to their order.

    Model       dissimilarities δᵢⱼ of rows ≈ distances dᵢⱼ = ‖zᵢ − zⱼ‖ of places; ordinal (metric_mds=False): f(δᵢⱼ) ≈ dᵢⱼ, f rising
    Objective   stress: min Σ wᵢ wⱼ (δᵢⱼ − dᵢⱼ)² over pairs; ordinal: over f too, with Σ wᵢ wⱼ f(δᵢⱼ)² kept
    Algorithm   SMACOF: Guttman transforms, each of which lowers the stress or leaves it, until it falls by less than eps Σ d²; f by
                pooling neighbours that violate the order, equal δ have equal f, δ = 0 has f = 0. From classical scaling, or n_init times
                from drawn places. New rows: the same stress against those of the fit, which stay; rows of the fit have their places
    Cost        O(n² k) a step, 24 n² bytes (ordinal: 70 n²); a new row O(n (p + k)) a step; keeps all rows and their dissimilarities
    Fails when  the stress has other minima than the least, which drawn starts may find; n² numbers do not fit in memory (refused)
    Reference   de Leeuw 1977; Borg & Groenen 2005, chapters 8 and 9; Kruskal 1964 (stress-1)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> corners = np.array([[0.0, 0, 0], [0, 4, 0], [3, 0, 0], [3, 4, 0]])
    >>> model = tenfold.MDS(eps=1e-12).fit(corners)
    >>> round(model.stress_, 6)  # the rows lie in a plane
    0.0
    >>> place = model.transform([[3.0, 4, 0]])[0]
    >>> round(float(np.linalg.norm(place - model.embedding_[3])), 3)
    0.0
    """

    stress_: float = learned("float>=0", "the stress, or stress-1 (normalized_stress), of `embedding_`")
    dissimilarity_matrix_: Array = learned("float(n,n)>=0", "dissimilarities of the rows of the fit", like_x=True)
    n_iter_: int = learned("int", "steps of the best run")
    _fit_X: Array = learned("float(n,p)", "the rows of the fit, where X was none of dissimilarities", rows=True, optional=True)
    _row_weights: Array = learned("float(n)>0", "the weights of the rows, where they are not one", optional=True)
    _levels: Array = learned("float(t)", "ordinal: dissimilarities, each once", optional=True)
    _disparities: Array = learned("float(t)", "ordinal: what distances they stand for", optional=True)

    least_rows: ClassVar[int] = 2

    n_components: int = param(default=2, at_least=1, doc="dimensions of the embedding")
    _: KW_ONLY
    metric_mds: bool = param(default=True, doc="whether dissimilarities count as they are, or their order alone")
    n_init: int = param(default=1, at_least=1, doc="runs from drawn places, of which the best is kept")
    init: str = param(
        default="warn", one_of=("warn", "classical_mds", "random"), doc="where it starts: classical scaling ('warn' too), or drawn places"
    )
    max_iter: int = param(default=300, at_least=1, doc="most steps of a run")
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()")
    eps: float = param(default=1e-6, at_least=0, doc="it ends where a step lowers the stress by less than this share of Σ d²")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    random_state: int | RandomState | None = param(default=None, doc="seed of the drawn places")
    dissimilarity: str = param(
        default="deprecated", one_of=("deprecated", "euclidean", "precomputed"), doc="an older name of metric; 'deprecated': not given"
    )
    metric: str | bool | Callable[..., Any] = param(
        default="euclidean",
        doc="a metric of NeighborIndex by name, a function of two rows, or 'precomputed': X is a table of dissimilarities. A truth "
        "value: an older name of metric_mds",
    )
    metric_params: dict[str, Any] | None = param(default=None, doc="what the metric takes besides: p, w, V, VI")
    normalized_stress: bool | str = param(default="auto", doc="whether stress_ is stress-1; 'auto': of ordinal scaling")

    @property
    def accepts(self) -> str:
        """Rows, or a table of dissimilarities."""
        metric = self._metric()
        return "pairs" if isinstance(metric, str) and metric == PRECOMPUTED else "rows"

    def _metric(self) -> Any:
        if self.dissimilarity != "deprecated":
            return self.dissimilarity
        return "euclidean" if isinstance(self.metric, bool) else self.metric

    def _by_size(self) -> bool:
        """Whether dissimilarities count as they are."""
        return self.metric if isinstance(self.metric, bool) else self.metric_mds

    def _normalized(self) -> bool:
        return not self._by_size() if self.normalized_stress == "auto" else bool(self.normalized_stress)

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"eps": 1e-9}, {"metric_mds": False, "n_components": 1}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_components": 1}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, init: Any = None) -> Self:
        """Learn from rows, or from their dissimilarities. `init`: places (n, n_components) of the rows to start from, one run alone."""
        return self._fit(check.check_fit(self, X, y, sample_weight), init)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, init: Any = None) -> Any:
        """Fit, and return `embedding_`: the places of these rows; those of weight 0 are placed as new ones."""
        self.fit(X, y, sample_weight, init)
        return self._places_of(X, sample_weight)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        return self._learn_from(source, None)

    def _learn_from(self, source: Source, start: Any) -> Learner[dict[str, Any]]:
        self._check_words()
        X, _, w = yield Keep(sparse=self.accepts == "pairs")
        if self.accepts == "pairs":
            D, rows = table_given(X, "MDS"), None
        else:
            rows = as_rows(X)
            D = table_of_rows(rows, self._metric(), self.metric_params, "MDS", X.dtype)
        w = np.ascontiguousarray(w, dtype=np.float64)
        unit = float(D.max(initial=0.0)) or 1.0  # squares of dissimilarities are then neither too large nor too small
        found = self._best(D / unit, w, None if start is None else given_start(start, len(D), self.n_components) / unit)
        if not found.converged and self.eps > 0 and self.max_iter > 1:
            self._warn_unfinished(found)
        size = 1.0 if not self._by_size() else unit  # of an order there is none
        fitted = dict(
            embedding_=found.places * size,
            stress_=found.normalized if self._normalized() else found.stress * size * size,
            dissimilarity_matrix_=D,
            n_iter_=found.n_iter,
        )
        if not self._by_size():
            ranks = Ranks.of(D, w)
            fitted |= dict(_levels=ranks.levels, _disparities=ranks.pooled(found.places))
        return fitted | ({} if rows is None else {"_fit_X": rows}) | ({"_row_weights": w} if (w != 1).any() else {})

    def _check_words(self) -> None:
        if self.normalized_stress not in (True, False, "auto"):
            raise BadParameter(f"MDS(normalized_stress={self.normalized_stress!r}): must be True, False or 'auto'")
        if self.dissimilarity != "deprecated" and not isinstance(self.metric, bool) and self.metric != "euclidean":
            raise BadParameter(
                f"MDS(dissimilarity={self.dissimilarity!r}, metric={self.metric!r}): You provided both `dissimilarity` and `metric`. "
                "Please use only `metric`."
            )

    def _best(self, D: Array, w: Array, start: Array | None) -> Scaling:
        def run(places: Array) -> Scaling:
            return majorized(D, w, places, metric=self._by_size(), max_iter=self.max_iter, eps=self.eps)

        if start is not None:
            warn_of_one_start(self.n_init)
            return run(start)
        if self.init != "random":
            return run(scaled(D, w, self.n_components, "MDS")["embedding_"])
        return best_of(random_start(len(D), self.n_components, self.random_state), self.n_init, self._normalized(), run)

    def _warn_unfinished(self, found: Scaling) -> None:
        warn(
            f"MDS(max_iter={self.max_iter}): the stress still falls, by {found.history[-2] - found.history[-1]:.3g} of {found.stress:.3g} "
            "in the last step: increase max_iter or eps",
            NotConverged,
            stacklevel=2,
        )

    def _transform(self, X: Any) -> Array:
        n = len(self.embedding_)
        places = np.ascontiguousarray(self.embedding_, dtype=np.float64)
        w = np.asarray(vars(self).get("_row_weights", np.ones(n)))
        step, found = max(1, AT_ONCE // n), [np.empty((0, places.shape[1]))]
        for start in range(0, X.shape[0], step):
            D = from_fit(self, X[start : start + step], self._metric(), self.metric_params)
            at = D.argmin(axis=1)
            own = D[np.arange(len(D)), at] == 0  # rows of the fit have their places
            if not self._by_size():
                D = np.where(D > 0, np.interp(D, self._levels, self._disparities), 0.0)
            unit = float(max(D.max(initial=0.0), np.abs(places).max())) or 1.0
            new = unit * settled(D / unit, places / unit, w, _starts(places[at], places, w) / unit, eps=1e-12, max_iter=NEW_STEPS)
            found.append(np.where(own[:, None], places[at], new))
        return np.asarray(np.concatenate(found).astype(X.dtype, copy=False))

    def _objection(self) -> str | None:
        if self.accepts == "rows" and "_fit_X" not in vars(self):
            return "_fit_X is missing"
        if not self._by_size() and not (vars(self).keys() >= {"_levels", "_disparities"}):
            return "_levels and _disparities are missing"
        return None


def _starts(nearest: Array, places: Array, w: Array) -> Array:
    """Slightly aside of the nearest row, towards the mean of all: on a row itself distances have no direction."""
    return np.asarray(nearest + 1e-3 * (w @ places / w.sum() - nearest))
