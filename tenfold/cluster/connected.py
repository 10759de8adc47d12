"""Rows of which only neighbours may be merged: the edges of a graph, connected where it is in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from tenfold import _linkage
from tenfold.cluster.linkage import LINKAGES, LONG, Distances
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.threads import while_listening


def grown_connected(distances: Distances, X: Array, graph: Any, method: str, w: Array) -> tuple[Array, int]:
    """The tree of clusters in the order of merges, and how many pieces the graph was in."""
    n = distances.n
    graph = _graph(graph(X) if callable(graph) and not isinstance(graph, type) else graph, n)
    pieces, label = connected_components(graph, directed=False)
    edges = scipy.sparse.triu(graph, k=1).tocoo()
    first, second = edges.row.astype(np.int64), edges.col.astype(np.int64)
    if pieces > 1:
        warn(
            f"the number of connected components of the connectivity matrix is {pieces} > 1. Completing it to avoid stopping the tree "
            "early: the nearest rows of each two are connected",
            DataWarning,
            stacklevel=3,
        )
        more = np.array([_nearest(distances, label, a, b) for b in range(pieces) for a in range(b)])
        first, second = np.append(first, more[:, 0]), np.append(second, more[:, 1])
    rows = np.ascontiguousarray(X, dtype=np.float64) if method == "ward" else np.empty((0, 1))
    length = np.zeros(len(first)) if method == "ward" else _lengths(distances, first, second)
    number, weights = LINKAGES.index(method), np.ascontiguousarray(w, dtype=np.float64)
    tree = while_listening(len(first) > 100 * LONG, lambda: _linkage.tree_of_graph(first, second, length, number, weights, rows))
    return tree, int(pieces)


def check_connected(method: str) -> None:
    if method in ("centroid", "median"):
        raise BadParameter(f"connectivity=...: linkage={method!r} has no order of merges for it; use 'ward', 'average' or 'complete'")


def _graph(given: Any, n: int) -> Any:
    try:
        graph = scipy.sparse.csr_array(given if scipy.sparse.issparse(given) else np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise BadInput("connectivity: must be a table (n, n), sparse or not, or a function of X that gives one") from None
    if graph.shape != (n, n):
        raise BadInput(f"Wrong shape for connectivity matrix: {graph.shape} when X has {n} rows: it must be {(n, n)}")
    graph = (graph != 0).astype(np.int8)
    return ((graph + graph.T) != 0).astype(np.int8)


def _nearest(distances: Distances, label: Array, a: int, b: int) -> tuple[int, int]:
    """The nearest rows of two pieces."""
    one, other = np.flatnonzero(label == a), np.flatnonzero(label == b)
    best, found = np.inf, (int(one[0]), int(other[0]))
    for start in range(0, len(one), 1024):
        some = one[start : start + 1024]
        away = distances.square[np.ix_(some, other)] if distances.square is not None else _of_rows(distances, some, other)
        if away.min() < best:
            i, j = np.unravel_index(away.argmin(), away.shape)
            best, found = float(away[i, j]), (int(some[i]), int(other[j]))
    return found


def _of_rows(distances: Distances, some: Array, other: Array) -> Array:
    assert distances.rows is not None
    return distances.between(distances.rows[some], distances.rows[other])


def _lengths(distances: Distances, first: Array, second: Array) -> Array:
    if distances.square is not None:
        return np.ascontiguousarray(distances.square[first, second])
    assert distances.rows is not None
    order = np.argsort(first, kind="stable")
    found = np.empty(len(first))
    for edges in np.split(order, np.flatnonzero(np.diff(first[order])) + 1) if len(order) else []:
        found[edges] = distances.between(distances.rows[first[edges[:1]]], distances.rows[second[edges]])[0]
    return found
