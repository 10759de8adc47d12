"""The graph of neighbours: its edges, its pieces joined, and the shortest ways through it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import DataWarning, warn
from tenfold.core.memory import check_memory
from tenfold.core.threads import stopping
from tenfold.near.given import Distances
from tenfold.near.pairs import distances

AT_ONCE = 1 << 21  # distances between pieces at a time
SOURCES = 64  # rows from which ways are found at a time

Edges = tuple[Array, Array, Array]  # from, to, and how long


def edges_of(search: Any, k: int | None, radius: float | None) -> Edges:
    """From each row to its nearest ones, or to all within a radius."""
    if k is not None:
        away, near = search.nearest(None, k)
        return np.repeat(np.arange(len(near)), k), near.ravel(), away.ravel()
    start, near, away = search.within(None, radius)
    return np.repeat(np.arange(len(start) - 1), np.diff(start)), near, away


def pieces_of(edges: Edges, n: int) -> tuple[int, Array]:
    first, second, _ = edges
    graph = sparse.coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(n, n))
    pieces, label = connected_components(graph.tocsr(), directed=False)
    return int(pieces), label


def joined(edges: Edges, search: Any, name: str) -> Edges:
    """With the nearest rows of each two pieces connected, where the graph is in several; which is told."""
    pieces, label = pieces_of(edges, len(search))
    if pieces == 1:
        return edges
    warn(
        f"{name}: the number of connected components of the neighbors graph is {pieces} > 1: the nearest rows of each two of them are "
        "connected, and ways between pieces lead through these. Increase the number of neighbors, or embed each piece alone",
        DataWarning,
        stacklevel=3,
    )
    more = np.array(
        [
            _bridge(search, np.flatnonzero(label == a), np.flatnonzero(label == b))
            for b in range(pieces)
            for a in range(b)
        ]
    )
    first, second, away = edges
    return (
        np.append(first, more[:, 0].astype(np.int64)),
        np.append(second, more[:, 1].astype(np.int64)),
        np.append(away, more[:, 2]),
    )


def _bridge(search: Any, one: Array, other: Array) -> tuple[int, int, float]:
    """The nearest rows of two pieces, and how far they are."""
    best: tuple[int, int, float] = (int(one[0]), int(other[0]), np.inf)
    step = max(1, AT_ONCE // len(other))
    for start in range(0, len(one), step):
        some = one[start : start + step]
        if isinstance(search, Distances):
            away = search.X[np.ix_(some, other)]
        else:
            away = distances(search.measure, search._given[some], search._given[other])
        i, j = np.unravel_index(int(away.argmin()), away.shape)
        if away[i, j] < best[2]:
            best = int(some[i]), int(other[j]), float(away[i, j])
    return best


def shortest_ways(edges: Edges, n: int) -> Array:
    """(n, n): how long the shortest way between two rows is, along the edges in either direction."""
    check_memory(f"the ways between {n:,} rows", 16.0 * n * n, "give fewer rows")
    first, second, away = edges
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((away, high, low))
    low, high, away = low[order], high[order], away[order]
    new = np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))[: len(low)]  # of two edges the shorter one
    low, high, away = low[new], high[new], away[new]
    both = sparse.coo_array((np.tile(away, 2), (np.append(low, high), np.append(high, low))), shape=(n, n)).tocsr()
    found = np.empty((n, n))

    def ways(rows: slice) -> None:
        if stopping():
            raise KeyboardInterrupt
        found[rows] = dijkstra(both, directed=True, indices=np.arange(rows.start, rows.stop))

    each(ways, [slice(start, min(start + SOURCES, n)) for start in range(0, n, SOURCES)])
    return np.minimum(found, found.T)  # the same sum, added up from either end
