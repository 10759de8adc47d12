"""Trees of clusters: rows that are merged two by two, the nearest first, by any linkage and any metric."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import squareform

from tenfold import _linkage
from tenfold._density import reach_tree
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.memory import check_memory
from tenfold.core.threads import while_listening
from tenfold.gate.containers import as_table
from tenfold.gate.targets import as_weights
from tenfold.near.measures import Measure, measure_of
from tenfold.score.kinds import check_finite

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")  # as the kernels number them
OF_CENTRES = ("ward", "centroid", "median")
AS_SUMMED = ("sqeuclidean", "manhattan", "chebyshev")  # metrics that tell the sum as it is
ROWS_AT_ONCE = 256
LONG = 2000  # rows; with more than these Ctrl-C is listened to while they are merged
FEW = 1024  # rows that are merged by chains alone, from their distances as SciPy computes them
INSTEAD = "use linkage='single' or 'ward', which keep no table of distances, KMeans, or a sample of the rows"


def linkage(X: Any, method: str = "single", metric: Any = "euclidean", *, sample_weight: Any = None) -> Array:
    """The tree of clusters as the table (n − 1, 4) that SciPy's dendrogram and fcluster read.

    Row k merges the clusters of its first two columns (rows are 0 .. n − 1, merge k is n + k) at the distance of the third; the fourth
    counts the rows of both. The linkages, for clusters A and B with centres a and b:

        single      min d(x, y)             ward        √(2 |A| |B| / (|A| + |B|)) ‖a − b‖
        complete    max d(x, y)             centroid    ‖a − b‖
        average     mean of all d(x, y)     median      ‖a − b‖, the centre of a union half-way between those of its parts
        weighted    mean of the distances of both parts of a union

    metric: a name, a function of two rows, a function of the table that gives all distances, or "precomputed": X has the distances, as a
    square or as SciPy's condensed vector. Ward, centroid and median are of Euclidean distances. sample_weight: how much each row counts
    in means; rows of weight 0 are left out.

    Example
    -------
    >>> import tenfold
    >>> tenfold.linkage([[0.0], [1.0], [5.0]], "average")
    array([[0. , 1. , 1. , 2. ],
           [2. , 3. , 4.5, 3. ]])
    """
    if method not in LINKAGES:
        raise BadParameter(f"method={method!r}: choose one of {', '.join(map(repr, LINKAGES))}")
    if is_precomputed(metric) and np.ndim(X) == 1:
        X = _square(X)
    table, _ = as_table(_Rows(), X)
    table = np.ascontiguousarray(table, dtype=np.float64)
    check_finite(table, "X", "values")
    if table.shape[0] == 0:
        raise BadInput("X has no rows: a tree needs at least one")
    w = as_weights(sample_weight, len(table))
    used = np.arange(len(table)) if w is None else np.flatnonzero(w > 0)
    if w is not None and len(used) < len(table):
        table = table[np.ix_(used, used)] if is_precomputed(metric) else table[used]
    return grown(Distances.of(table, method, metric), method, np.ones(len(table)) if w is None else w[used])


class _Rows:
    """What the gate is told of the rows."""

    sparse: ClassVar[bool] = False


def _square(condensed: Any) -> Array:
    try:
        return np.asarray(squareform(np.asarray(condensed, dtype=np.float64), checks=False))
    except ValueError:
        raise BadInput(f"X has {len(condensed)} distances: that is not the number of pairs, n (n − 1) / 2, of any n rows") from None


def is_precomputed(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


@dataclass(frozen=True)
class Distances:
    """The rows of a table, or the distances of all pairs of them; exactly one is there."""

    n: int
    measure: Measure | None = None  # of rows; None where all distances are given
    rows: Array | None = None  # as the measure compares them
    square: Array | None = None

    @classmethod
    def of(cls, X: Array, method: str, metric: Any) -> Distances:
        check_metric(method, metric)
        if is_precomputed(metric):
            return cls(len(X), square=_checked(X))
        if callable(metric) and of_table(metric):
            return cls(len(X), square=_checked(np.asarray(metric(X), dtype=np.float64), len(X)))
        measure = measure_of(metric, X)
        if measure.name in ("cosine", "correlation"):
            _check_directions(X if measure.name == "cosine" else X - X.mean(axis=1, keepdims=True), measure.name)
        return cls(len(X), measure, np.ascontiguousarray(measure.rows(X, False), dtype=np.float64))

    def pairs(self, threads: int) -> Array:
        """Of all pairs: row i has those to rows 0, ..., i − 1."""
        if self.square is not None:
            return np.asarray(self.square[np.tri(self.n, k=-1, dtype=bool)])
        assert self.measure is not None and self.rows is not None
        if self.measure.apart is not None:
            root = self.measure.to_distances is np.sqrt
            rows, apart, power = self.rows, self.measure.apart, self.measure.power
            found = while_listening(self.n > LONG, lambda: _linkage.pairs(rows, apart, power, root, threads))
            if not root and self.measure.name not in AS_SUMMED:
                for start in range(0, len(found), 1 << 20):
                    found[start : start + (1 << 20)] = self.measure.to_distances(found[start : start + (1 << 20)])
            return found
        found = np.empty(self.n * (self.n - 1) // 2)
        for start in range(0, self.n, ROWS_AT_ONCE):
            end = min(start + ROWS_AT_ONCE, self.n)
            block = self.between(self.rows[start:end], self.rows[:end])
            if start == 0:
                _check_symmetric(block[:, :end], f"metric {self.measure.name}")
            for i in range(max(start, 1), end):
                found[i * (i - 1) // 2 : i * (i + 1) // 2] = block[i - start, :i]
        if len(found) and found.min() < 0:
            raise BadInput(f"metric {self.measure.name} gives negative distances, as {found.min():g}: distances must be at least 0")
        return found

    def between(self, Q: Array, R: Array) -> Array:
        """(queries, rows): distances of rows that are already as the measure compares them."""
        assert self.measure is not None
        if self.measure.apart is None:
            assert self.measure.block is not None
            return self.measure.block(Q, R)
        root = self.measure.to_distances is np.sqrt
        found = _linkage.between(np.ascontiguousarray(Q), np.ascontiguousarray(R), self.measure.apart, self.measure.power, root)
        return found if root else self.measure.to_distances(found)


def grown(distances: Distances, method: str, w: Array) -> Array:
    """The tree of clusters, (n − 1, 4)."""
    number, n, measure = LINKAGES.index(method), distances.n, distances.measure
    in_rows = measure is not None and measure.apart is not None
    if n > FEW and distances.rows is not None and method not in ("centroid", "median"):
        place, own = distinct(distances.rows)
        if len(own) < n:
            weight = np.bincount(place, weights=w)
            return _with_copies(grown(Distances(len(own), measure, distances.rows[own]), method, weight), place, own)
    if not (in_rows and method in ("single", "ward")):
        check_memory(f"the distances of {n:,} rows", 4.0 * n * n, INSTEAD)
    w = np.ascontiguousarray(w, dtype=np.float64)
    with lent_threads() as threads:
        try:
            if measure is not None and measure.apart is not None and distances.rows is not None:
                if method == "single":
                    Z = while_listening(n > LONG, partial(_spanning, distances.rows, measure, threads))
                    Z[:, 2] = measure.to_distances(Z[:, 2])
                    return Z
                rows, root = distances.rows, measure.to_distances is np.sqrt
                if method == "ward" and n > FEW:  # what is left of large means would be lost in the centres
                    rows = np.ascontiguousarray(rows - rows.mean(axis=0))
                if root or measure.name in AS_SUMMED:
                    work = partial(_linkage.tree_of_rows, rows, number, w, measure.apart, measure.power, root, threads)
                    return while_listening(n > LONG, work)
            pairs = distances.pairs(threads)
            if method == "ward" and (w != 1).any():
                raise BadInput("linkage='ward' with weights needs rows, not distances")
            return while_listening(n > LONG, partial(_linkage.tree_of_pairs, pairs, number, w, threads))
        except OverflowError:
            raise BadInput("a distance is not finite: scale the columns of X down, as StandardScaler does") from None


def _spanning(rows: Array, measure: Measure, threads: int) -> Array:
    """The tree of single linkage, with sums for distances: by the shortest tree that connects all rows, found on a k-d tree where many rows
    have few columns, else row by row."""
    n, p = rows.shape
    assert measure.apart is not None
    if measure.boxed and n >= 2 ** (11 + p / 2):
        _, first, second, length = reach_tree(rows, np.empty(0), 1.0, 1.0, measure.apart, measure.power, True, threads)
        return _linkage.tree_of_edges(first, second, length)
    return _linkage.tree_of_rows(rows, LINKAGES.index("single"), np.ones(n), measure.apart, measure.power, False, threads)


def distinct(rows: Array) -> tuple[Array, Array]:
    """Which of the different rows each one is, and where each of those is: its last copy."""
    n = len(rows)
    _, back, place = np.unique(ops.hash_rows(rows[::-1].copy(), 0), return_index=True, return_inverse=True)
    own, place = n - 1 - back, place[::-1]
    if (rows[own[place]] != rows).any():  # two rows of one hash
        return np.arange(n), np.arange(n)
    order = np.argsort(own)
    rank = np.empty(len(own), dtype=np.int64)
    rank[order] = np.arange(len(own))
    return rank[place], own[order]


def _with_copies(tree: Array, place: Array, own: Array) -> Array:
    """The tree of all rows from that of the different ones: copies are merged first."""
    m, children = len(own), tree[:, :2].astype(np.int64)
    row = np.append(own, np.empty(m - 1, dtype=np.int64))  # one of each cluster
    for k in range(m - 1):
        row[m + k] = row[children[k, 0]]
    copies = np.flatnonzero(np.arange(len(place)) != own[place])
    first, second = np.append(own[place[copies]], row[children[:, 0]]), np.append(copies, row[children[:, 1]])
    return _linkage.tree_of_edges(first, second, np.append(np.zeros(len(copies)), tree[:, 2]))


def check_metric(method: str, metric: Any) -> None:
    """Ward, centroid and median compare centres, which only Euclidean distances know."""
    if isinstance(metric, type):
        raise BadParameter(f"metric={metric!r}: must be the name of a metric, or a function of two rows")
    euclidean = isinstance(metric, str) and metric in ("euclidean", "l2")
    if method == "ward" and not euclidean:
        raise BadParameter(f"{metric} was provided as metric. Ward can only work with euclidean distances.")
    if method in OF_CENTRES and not euclidean and not is_precomputed(metric):
        raise BadParameter(f"metric={metric!r}: linkage={method!r} compares centres by euclidean distances alone: choose another linkage")


def of_table(metric: Callable[..., Any]) -> bool:
    """Whether a function wants the whole table, as scikit-learn's do, and not two rows: it can be called with one argument."""
    try:
        takes = inspect.signature(metric).parameters.values()
    except (TypeError, ValueError):
        return False
    by_place = [one for one in takes if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return sum(one.default is one.empty for one in by_place) == 1


def _checked(D: Array, n: int | None = None) -> Array:
    """A square table of distances."""
    if D.ndim != 2 or D.shape[0] != D.shape[1] or (n is not None and len(D) != n):
        raise BadInput(f"Distance matrix should be square, got matrix of shape {D.shape}")
    if not np.isfinite(D).all():
        i, j = np.argwhere(~np.isfinite(D))[0]
        raise BadInput(f"the distance of rows {i} and {j} is {D[i, j]}: distances must be finite")
    if D.size and D.min() < 0:
        i, j = np.unravel_index(D.argmin(), D.shape)
        raise BadInput(f"the distance of rows {i} and {j} is {D[i, j]:g}: distances must be at least 0")
    _check_symmetric(D, "the table of distances")
    return D


def _check_symmetric(D: Array, name: str) -> None:
    D = D[:, : len(D)]
    off = np.abs(D - D.T) > 1e-8 * max(float(np.abs(D).max(initial=0.0)), 1e-300)
    if off.any():
        i, j = np.argwhere(off)[0]
        raise BadInput(
            f"{name} is not symmetric: from row {i} to row {j} it is {D[i, j]:g}, back {D[j, i]:g}; the mean of both, (D + D.T) / 2, is"
        )


def _check_directions(X: Array, name: str) -> None:
    none = np.flatnonzero(~X.any(axis=1))
    if len(none):
        what = "zero vectors" if name == "cosine" else "rows of one value"
        raise BadInput(
            f"Cosine affinity cannot be used when X contains zero vectors: metric={name!r} is of directions, and row {none[0]} has none "
            f"({len(none)} {what}): leave them out, or choose another metric"
        )
