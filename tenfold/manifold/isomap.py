"""Isomap: classical scaling of the ways through a graph of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.manifold.classical import Scaled
from tenfold.manifold.embedding import as_rows
from tenfold.manifold.graph import edges_of, joined, pieces_of, shortest_ways
from tenfold.near.given import PRECOMPUTED, Distances, effective, known

AT_ONCE = 1 << 21  # distances at a time


@estimator
class Isomap(Scaled):
    """Isomap: distances along the surface that the rows lie on, unrolled into few dimensions.

    Model       d(i, j): the length of the shortest way between two rows through the graph that joins each row to its nearest ones
    Objective   min Σᵢⱼ wᵢ wⱼ (bᵢⱼ − zᵢ·zⱼ)², b the products about the mean that the squares of d stand for
    Algorithm   Dijkstra's from every row; then the leading eigenvectors of b by block Krylov spaces. The largest entry of each axis is
                positive. A graph in pieces is joined, which is told: the nearest rows of each two of them are connected. New rows: the
                shortest way to each row of the fit through the nearest ones (one that has none within the radius is connected to the
                nearest row, as pieces are), then as the others (Gower's interpolation)
    Cost        O(n² (k + log n)) time, 16 n² bytes; keeps all rows and their distances
    Fails when  n² numbers do not fit in memory; too many neighbours cut across folds of the surface, too few leave it in pieces
    Reference   Tenenbaum, de Silva & Langford 2000

    Example
    -------
    >>> import numpy as np, tenfold
    >>> t = np.linspace(0, np.pi, 50)
    >>> half = np.column_stack([np.cos(t), np.sin(t)])
    >>> along = tenfold.Isomap(n_neighbors=2, n_components=1).fit_transform(half)[:, 0]
    >>> round(float(abs(along[-1] - along[0])), 2)  # the half circle, made straight
    3.14
    """

    dist_matrix_: Array = learned(
        "float(n,n)>=0", "lengths of the shortest ways between the rows of the fit", like_x=True
    )
    _fit_X: Array = learned(
        "float(n,p)", "the rows of the fit, where X was none of distances", rows=True, optional=True
    )

    exempt: ClassVar[dict[str, str]] = {
        "weight_is_copies": "the nearest neighbour of a copy is the row itself, which leaves fewer others"
    }

    _: KW_ONLY
    n_neighbors: int | None = param(default=5, at_least=1, doc="neighbours of a row; None: all within the radius")
    radius: float | None = param(default=None, at_least=0, at_most=np.inf, doc="how far neighbours may be")
    n_components: int = param(default=2, at_least=1, doc="dimensions of the embedding")
    eigen_solver: str = param(
        default="auto", one_of=("auto", "arpack", "dense"), doc="no effect: exact eigenvectors are found"
    )
    tol: float = param(default=0, at_least=0, doc="no effect: they are found to working precision")
    max_iter: int | None = param(default=None, at_least=1, doc="no effect: it goes on until they are")
    path_method: str = param(
        default="auto", one_of=("auto", "FW", "D"), doc="no effect: all find the shortest ways, here Dijkstra's"
    )
    neighbors_algorithm: str = param(
        default="auto", one_of=("auto", "brute", "kd_tree", "ball_tree"), doc="no effect: all find the same"
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    metric: str | Callable[..., Any] = param(
        default="minkowski",
        doc="a metric of NeighborIndex by name, a function of two rows, or 'precomputed': X is a table of distances",
    )
    p: float = param(default=2, at_least=1, at_most=np.inf, doc="power of the Minkowski metric")
    metric_params: dict[str, Any] | None = param(default=None, doc="what the metric takes besides: w, V, VI")

    @property
    def accepts(self) -> str:
        """Rows, or a table of distances."""
        return "pairs" if isinstance(self.metric, str) and self.metric == PRECOMPUTED else "rows"

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_neighbors": 8}, {"n_neighbors": None, "radius": 6.0, "n_components": 3}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_neighbors": 2, "n_components": 1}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if (self.n_neighbors is None) == (self.radius is None):
            both = (
                "Both n_neighbors and radius are provided"
                if self.radius is not None
                else "Neither n_neighbors nor radius is provided"
            )
            raise BadParameter(
                f"Isomap(n_neighbors={self.n_neighbors}, radius={self.radius}): {both}. Use Isomap(radius=..., n_neighbors=None) if "
                "intended to use radius-based neighbors, or leave out the radius"
            )
        X, _, w = yield Keep(sparse=self.accepts == "pairs")
        n = X.shape[0]
        if self.n_neighbors is not None:
            self._check_neighbors(self.n_neighbors, n)
        whole = self.accepts == "rows" or not ops.is_sparse(X)
        rows = as_rows(X) if self.accepts == "rows" else np.asarray(known(X), dtype=np.float64)
        search = self._searched(rows) if self.accepts == "rows" else Distances(rows)
        edges = edges_of(search, self.n_neighbors, self.radius)
        if not whole and (pieces := pieces_of(edges, n)[0]) > 1:
            raise BadInput(
                f"The number of connected components of the neighbors graph is {pieces} > 1, and a graph of neighbours cannot be "
                "completed: increase the number of neighbors, or give the whole table of distances"
            )
        ways = shortest_ways(joined(edges, search, "Isomap"), n)
        if not (ways <= np.finfo(X.dtype).max).all():
            powers = f", or lower p={self.p:g}" if self.p > 2 else ""
            raise BadInput(f"Isomap: distances between some rows are beyond the largest {X.dtype} number: scale the columns{powers}")
        fitted = self._scaled(ways, w)
        return fitted | dict(dist_matrix_=ways) | ({"_fit_X": rows} if self.accepts == "rows" else {})

    def _searched(self, rows: Array) -> Any:
        metric, params = effective(self.metric, self.p, self.metric_params)
        p = params.pop("p", 2.0) if isinstance(metric, str) and metric == "minkowski" else 2.0
        return self._index(rows, metric=metric, p=p, metric_params=params or None)

    def _transform(self, X: Any) -> Array:
        rows = (
            np.asarray(known(X), np.float64) if self.accepts == "pairs" else ops.dense(X).astype(np.float64, copy=False)
        )
        n = len(self.embedding_)
        step = max(1, AT_ONCE // n)
        places = [self._placed(self._ways(rows[start : start + step])) for start in range(0, len(rows), step)]
        found = np.concatenate(places) if places else np.empty((0, self.embedding_.shape[1]))
        return np.asarray(found.astype(X.dtype, copy=False))

    def _ways(self, rows: Array) -> Array:
        """(rows, n): from new rows to those of the fit, through the nearest ones."""
        D = self.dist_matrix_
        start, near, away = self._around(rows)
        return np.array([(D[near[here]] + away[here, None]).min(axis=0) for here in map(slice, start[:-1], start[1:])])

    def _around(self, rows: Array) -> tuple[Array, Array, Array]:
        """(start, near, away) of the neighbours of new rows."""
        search = (
            self._searched(self._fit_X) if self.accepts == "rows" else Distances(np.zeros((self.n_features_in_,) * 2))
        )
        if self.radius is None:
            assert self.n_neighbors is not None
            away, near = search.nearest(rows, self.n_neighbors)
            return np.arange(0, near.size + 1, self.n_neighbors), near.ravel(), away.ravel()
        start, near, away = search.within(rows, self.radius)
        if (lone := np.flatnonzero(np.diff(start) == 0)).size:  # they are joined to the nearest, as pieces of the graph are
            how_far, which = search.nearest(rows[lone], 1)
            near, away = np.insert(near, start[lone], which.ravel()), np.insert(away, start[lone], how_far.ravel())
            start = start + np.concatenate([[0], np.cumsum(np.diff(start) == 0)])
        return start, near, away

    def reconstruction_error(self) -> float:
        """How far the products of places are from those of the distances: the root of their squares' sum, divided by the number of rows."""
        check.check_fitted(self)
        w = vars(self).get("_row_weights", np.ones(len(self.embedding_)))
        K = -0.5 * self.dist_matrix_.astype(np.float64) ** 2
        K -= np.average(K, axis=0, weights=w)
        K -= np.average(K, axis=1, weights=w)[:, None]
        squares = float(np.einsum("ij,ij,i,j->", K, K, w, w))
        return float(np.sqrt(max(squares - float(self.eigenvalues_ @ self.eigenvalues_), 0.0)) / w.sum())

    def _objection(self) -> str | None:
        if self.accepts == "rows" and "_fit_X" not in vars(self):
            return "_fit_X is missing"
        n = len(self.embedding_)
        return (
            f"{n} rows have no {self.n_neighbors} neighbours"
            if self.n_neighbors is not None and n <= self.n_neighbors
            else None
        )
