"""The shortest tree that connects rows by mutual reachability, however far apart is measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from tenfold._density import reach_tree
from tenfold.cluster.near_core import two_sided
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.core.errors import BadInput
from tenfold.core.memory import check_memory
from tenfold.core.threads import while_listening
from tenfold.near.index import NeighborIndex
from tenfold.near.measures import HAMMING, Measure
from tenfold.near.pairs import check_symmetric, distances

MANY = 1 << 12  # rows that take a while
BY_GROUPS = 16  # columns up to which parts of a tree can be left out

Spanned = tuple[Array, Array, Array, Array]  # cores; the ends of each edge, and its length, in no order


def span_rows(index: NeighborIndex, weights: Array, least: int, alpha: float) -> Spanned:
    """Of rows: natively, where the measure is one of sums over columns."""
    measure, X = index.measure, index.X
    by_tree = measure.boxed and not two_sided(index)
    straight = alpha == 1 or measure.name != "haversine"
    if not (by_tree and straight):
        return _row_by_row(lambda row: _away(measure, index, row) / alpha, *_cores(index, weights, least))
    assert measure.apart is not None and measure.apart != HAMMING
    scale = measure.summed(1 / alpha) / measure.summed(1.0)
    try:
        with lent_threads() as threads:
            args = (X, weights, float(least), scale, measure.apart, measure.power, X.shape[1] <= BY_GROUPS, threads)
            cores, first, second, length = while_listening(len(X) > MANY, lambda: reach_tree(*args))
    except OverflowError as error:
        raise BadInput(f"distances between rows, divided by alpha={alpha!r}, are too large: scale the columns") from error
    return measure.to_distances(cores), first, second, measure.to_distances(length)


def with_gaps(table: Any) -> Array:
    """Distances as a dense table; what a sparse one does not store is infinitely far."""
    if not ops.is_sparse(table):
        return np.asarray(table, dtype=np.float64)
    check_memory(f"the distances of {table.shape[0]:,} rows", 8.0 * table.shape[0] * table.shape[1])
    stored, found = table.tocoo(), np.full(table.shape, np.inf)
    found[stored.row, stored.col] = stored.data
    return found


def given_distances(given: Any, least: int) -> Array:
    """A table of distances between rows, which are the same both ways and connect all of them."""
    table = with_gaps(given)
    there, back = np.isfinite(table), np.isfinite(table.T)
    try:
        check_symmetric(np.where(there & back, table, 0.0), "X")
        if (there != back).any():
            raise BadInput("some are stored one way only")
    except BadInput as error:
        raise BadInput(
            "The precomputed distance matrix is expected to be symmetric, however its values appear to be asymmetric. Please verify that "
            f"the distance matrix was constructed correctly: {error}"
        ) from None
    if ops.is_sparse(given):
        few = there.sum(axis=1) < least
        if few.any():
            raise BadInput(
                f"There exists points with fewer than {least} neighbors. Ensure your distance matrix has non-zero values for at least "
                f"`min_sample`={least} neighbors for each points (i.e. K-nn graph): row {int(few.argmax())} has fewer"
            )
        parts = connected_components(there, directed=False)[0]
        if parts > 1:
            raise BadInput(
                f"Sparse mutual reachability matrix has {parts} connected components. HDBSCAN cannot be performed on a disconnected graph. "
                "Ensure that the sparse distance matrix has only one connected component."
            )
    return table


def span_distances(table: Array, weights: Array, least: int) -> Spanned:
    """Of a table of distances."""
    cores = np.array([_core(row.copy(), place, weights, least) for place, row in enumerate(table)])
    return _row_by_row(lambda row: table[row], cores)


def _away(measure: Measure, index: NeighborIndex, row: int) -> Array:
    """How far all rows are from one."""
    return np.asarray(distances(measure, index._given[row : row + 1], index._given)[0])


def _cores(index: NeighborIndex, weights: Array, least: int) -> tuple[Array]:
    return (np.array([_core(_away(index.measure, index, row), row, weights, least) for row in range(len(index))]),)


def _core(away: Array, row: int, weights: Array, least: int) -> Any:
    """How far around a row, itself included, rows weigh `least`."""
    away[row] = 0.0
    if not len(weights):
        return np.partition(away, min(least, len(away)) - 1)[min(least, len(away)) - 1]
    order = np.argsort(away, kind="stable")
    enough = np.flatnonzero(np.cumsum(weights[order]) >= least * (1 - 1e-12))
    return away[order[enough[0] if len(enough) else -1]]


def _row_by_row(away: Any, cores: Array) -> Spanned:
    """Prim's algorithm: always the row that is nearest to those before."""
    n = len(cores)
    nearest, source, left = np.full(n, np.inf), np.zeros(n, dtype=np.int64), np.ones(n, dtype=bool)
    first, second, length = np.zeros(n - 1, dtype=np.int64), np.zeros(n - 1, dtype=np.int64), np.zeros(n - 1)
    here = 0
    for step in range(n - 1):
        left[here] = False
        reach = np.maximum(np.maximum(away(here), cores), cores[here])
        nearer = left & (reach < nearest)
        nearest[nearer], source[nearer] = reach[nearer], here
        here = int(np.where(left, nearest, np.inf).argmin())
        first[step], second[step], length[step] = source[here], here, nearest[here]
    return cores, first, second, length


def from_row_zero(first: Array, second: Array, length: Array) -> tuple[Array, Array, Array]:
    """The edges by rising length, each from the end that is nearer to row 0 along the tree."""
    n = len(length) + 1
    ends, other = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.argsort(ends, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))])
    depth, now, level = np.full(n, -1), np.array([0]), 0
    while len(now):
        depth[now] = level
        spans = start[now + 1] - start[now]
        places = np.repeat(start[now] - np.concatenate([[0], np.cumsum(spans)[:-1]]), spans) + np.arange(spans.sum())
        near = other[order[places]]
        now, level = near[depth[near] < 0], level + 1
    turn = depth[first] > depth[second]
    first, second = np.where(turn, second, first), np.where(turn, first, second)
    rise = np.lexsort((second, first, length))
    return np.ascontiguousarray(first[rise]), np.ascontiguousarray(second[rise]), np.ascontiguousarray(length[rise])
