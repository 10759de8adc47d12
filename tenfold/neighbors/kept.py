"""Learners that keep their rows and search them: what the fit leaves, and the verbs that tell neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from scipy.sparse import csr_matrix

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, group, param
from tenfold.near.given import PRECOMPUTED, effective, known, remembered
from tenfold.neighbors.search import ALGORITHMS, Near, check_algorithm, check_room, nearest, search_of
from tenfold.neighbors.weights import WEIGHTS, check_weights


@group
class KeptRows(Estimator):
    """Abstract: keeps the rows, ready to be searched."""

    effective_metric_: Any = learned("str", "the metric by its plainest name: euclidean for minkowski of p = 2")
    effective_metric_params_: dict[str, Any] = learned("setting", "what the metric takes besides")
    _fit_X: Array = learned("float(n,*)", "the rows; of precomputed distances their table", rows=True)
    _row_weights: Array = learned("float(n)>0", "the weights of the rows, where they are not one", optional=True)

    _: KW_ONLY
    algorithm: str = param(
        default="auto",
        one_of=ALGORITHMS,
        doc="kd_tree, brute (all rows), or what suits the table; ball_tree: the same as auto, as there is no ball tree; all find the same",
    )
    leaf_size: int = param(default=30, at_least=1, doc="no effect: leaves of the tree have 16 rows")
    p: float | None = param(default=2, above=0, at_most=np.inf, doc="power of the Minkowski metric")
    metric: str | Callable[..., Any] = param(
        default="minkowski", doc="a metric of NeighborIndex by name, a function of two rows, or 'precomputed': X is a table of distances"
    )
    metric_params: dict[str, Any] | None = param(default=None, doc="what the metric takes besides: w, V, VI")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    __slots__ = ("_search",)  # (rows, what searches them): it follows from the rows, and is no part of what is saved, copied or compared

    kind: ClassVar[str] = "keeps rows"
    sparse: ClassVar[bool] = True  # made dense; of a table of distances, what it does not hold is out of reach

    @property
    def accepts(self) -> str:
        """Rows, or a table of distances."""
        return "pairs" if isinstance(self.metric, str) and self.metric == PRECOMPUTED else "rows"

    @property
    def n_samples_fit_(self) -> int:
        """The number of rows that are kept."""
        return len(self._fit_X)

    @property
    def _fit_method(self) -> str:
        """How rows are searched, in scikit-learn's words."""
        return "kd_tree" if self._searched().method_ == "tree" else "brute"

    # --- the fit ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        metric, params = effective(self.metric, self.p, self.metric_params)
        check_algorithm(self.algorithm, metric, params)
        X, y, w = yield Keep(sparse=self.accepts == "pairs")
        rows = np.array(self._plain(X))  # the user may change the array that was given
        fitted = dict(_fit_X=rows, effective_metric_=metric, effective_metric_params_=params)
        if (w != 1).any():
            fitted["_row_weights"] = np.array(w)
        self._search = rows, search_of(rows, self.algorithm, metric, params)
        return fitted | self._kept_target(y)

    def _plain(self, X: Any) -> Array:
        """Rows of a block as they are searched."""
        return known(X) if self.accepts == "pairs" else ops.dense(X)

    def _kept_target(self, y: Array) -> dict[str, Any]:
        """What is kept of the target."""
        return {}

    def _searched(self) -> Any:
        """What finds the nearest of the kept rows; made anew where the model comes from a file or another process."""
        rows, metric, params = self._fit_X, self.effective_metric_, self.effective_metric_params_
        return remembered(self, rows, lambda: search_of(rows, self.algorithm, metric, params))

    def _publish(self, apart: Self) -> None:
        super()._publish(apart)
        self._search = apart._search

    def _objection(self) -> str | None:
        columns = self._fit_X.shape[1]
        return None if columns == self.n_features_in_ else f"the rows have {columns} columns, not {self.n_features_in_}"

    # --- neighbours ---

    def _near(self, X: Any, k: int, *, further: bool = False) -> Near:
        """The rows that make up k neighbours of each row of a block; without X of each kept row, which is not one of its own."""
        X = None if X is None else self._plain(X)
        weights, few = vars(self).get("_row_weights"), self._fewest(X)
        if k > few:
            least = "n_samples_fit" if weights is None else "the weight of the rows of the fit"
            queries = self.n_samples_fit_ if X is None else len(X)
            own = "" if X is not None else ", of which none is its own neighbour"
            raise BadInput(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {self.n_samples_fit_}, "
                f"n_samples = {queries}: ask for at most {int(few)} neighbours, {least}{own}"
            )
        check_room(self.n_samples_fit_ if X is None else len(X), k)
        return nearest(self._searched(), weights, X, k, further=further)

    def _fewest(self, X: Any) -> float:
        """How many neighbours there are at least."""
        weights = vars(self).get("_row_weights")
        if weights is None:
            return self.n_samples_fit_ - (X is None)
        return float(weights.sum() - (weights.max() if X is None else 0.0)) * (1 + 1e-12)

    def _sparse_table(self, start: Array, rows: Array, data: Array) -> Any:
        return csr_matrix((data, rows, start), shape=(len(start) - 1, self.n_samples_fit_))


@group
class WeighsNeighbors(KeptRows):
    """Abstract: neighbours count by their distance."""

    _: KW_ONLY
    weights: str | Callable[..., Any] | None = param(
        default="uniform",
        one_of=WEIGHTS,
        doc="how much neighbours count: all the same, 1 / distance, a kernel by name, or a function of distances",
        before="algorithm",
    )

    def _kept_target(self, y: Array) -> dict[str, Any]:
        check_weights(type(self).__name__, self.weights)
        return {}


@group
class AsksNearest(KeptRows):
    """Abstract: tells the k nearest of the rows that it keeps."""

    n_neighbors: int = param(default=5, at_least=1, doc="neighbours that are asked", before="algorithm")

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_neighbors": 1}

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """(distances, rows), both (queries, k): the nearest rows of the fit, the nearest first, of equal distance in their order; without X
        of the rows of the fit, none of which is its own neighbour. Weights of rows have no part in it."""
        check.check_fitted(self)
        k = whole_number(self.n_neighbors if n_neighbors is None else n_neighbors)
        if X is None:
            distances, rows = self._nearest_rows(None, k)
        else:
            found = map_rows(lambda block: np.hstack(self._nearest_rows(block, k)), check.check_predict(self, X))
            distances, rows = found[:, :k], found[:, k:].astype(np.int64)
        return (distances, rows) if return_distance else rows

    def _nearest_rows(self, X: Any, k: int) -> tuple[Array, Array]:
        X = None if X is None else self._plain(X)
        most, queries = self.n_samples_fit_ - (X is None), self.n_samples_fit_ if X is None else len(X)
        if k > most:
            self._refuse(k, self.n_samples_fit_, None if X is None else queries)
        check_room(queries, k)
        distances, rows = self._searched().nearest(X, k)
        return distances, rows

    @staticmethod
    def _refuse(k: int, n: int, queries: int | None = None) -> NoReturn:
        """More neighbours than there are rows; without `queries` of the rows themselves."""
        most = f"n_neighbors {'<' if queries is None else '<='} n_samples_fit"
        raise BadInput(
            f"Expected {most}, but n_neighbors = {k}, n_samples_fit = {n}, n_samples = {n if queries is None else queries}: ask for at "
            f"most {n - (queries is None)} neighbours"
        )

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """(queries, rows of the fit) CSR: 1 for the k nearest rows (mode "connectivity"), or their distances ("distance")."""
        distances, rows = self.kneighbors(X, n_neighbors)
        data = np.ones(rows.size) if check_mode(mode) == "connectivity" else np.ravel(distances)
        return self._sparse_table(np.arange(0, rows.size + 1, rows.shape[1]), rows.ravel(), data)


@group
class AsksAround(KeptRows):
    """Abstract: tells all rows at most a radius away."""

    radius: float = param(default=1.0, at_least=0, at_most=np.inf, doc="how far neighbours may be", before="algorithm")

    def _around(self, X: Any, radius: float | None = None) -> tuple[Array, Array, Array]:
        """(start, rows, distances) of the neighbours of each row of a block; see `NeighborIndex.within`."""
        start, rows, distances = self._searched().within(None if X is None else self._plain(X), self.radius if radius is None else radius)
        return start, rows, distances

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """(distances, rows): of each query an array of all rows of the fit at most `radius` away, in their order, or (`sort_results`) the
        nearest first; without X of the rows of the fit, none of which is its own neighbour."""
        check.check_fitted(self)
        if sort_results and not return_distance:
            raise BadParameter("return_distance must be True if sort_results is True.")
        reach = real_number(self.radius if radius is None else radius)
        if X is None:
            found = self._listed(None, reach, sort_results)
        else:
            found = map_rows(lambda block: self._listed(block, reach, sort_results), check.check_predict(self, X))
        return (found[:, 0].copy(), found[:, 1].copy()) if return_distance else found[:, 1].copy()

    def _listed(self, X: Any, radius: float, by_distance: bool) -> Array:
        start, rows, distances = self._around(X, radius)
        found = np.empty((len(start) - 1, 2), dtype=object)
        for q in range(len(found)):
            here = slice(start[q], start[q + 1])
            order = np.argsort(distances[here], kind="stable") if by_distance else slice(None)
            found[q, 0], found[q, 1] = distances[here][order], rows[here][order]
        return found

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> Any:
        """(queries, rows of the fit) CSR: 1 for the rows at most `radius` away (mode "connectivity"), or their distances ("distance")."""
        distances, rows = self.radius_neighbors(X, radius, sort_results=sort_results)
        start = np.concatenate([[0], np.cumsum([len(one) for one in rows])])
        flat = np.concatenate([*rows, np.empty(0, np.int64)])
        data = np.ones(len(flat)) if check_mode(mode) == "connectivity" else np.concatenate([*distances, np.empty(0)])
        return self._sparse_table(start, flat, data)


def check_mode(mode: str) -> str:
    if mode not in ("connectivity", "distance"):
        raise BadParameter(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')
    return mode


def whole_number(k: Any) -> int:
    """A number of neighbours that was given to a verb."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise BadParameter(f"n_neighbors does not take {type(k)} value, enter integer value: {k!r} is none")
    if k < 1:
        raise BadInput(f"Expected n_neighbors > 0. Got {k}")
    return int(k)


def real_number(radius: Any) -> float:
    if isinstance(radius, bool) or not isinstance(radius, (int, float, np.number)) or not radius >= 0:
        raise BadParameter(f"radius={radius!r}: must be a number of at least 0")
    return float(radius)
