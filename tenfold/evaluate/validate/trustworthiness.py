"""How far the neighbours in a map are neighbours of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter
from tenfold.near.given import PRECOMPUTED, known, usable
from tenfold.near.index import NeighborIndex
from tenfold.near.measures import measure_of
from tenfold.near.pairs import distances
from tenfold.score.silhouette import as_rows

AT_ONCE = 1 << 20  # distances at a time


def trustworthiness(X: Any, X_embedded: Any, *, n_neighbors: int = 5, metric: Any = "euclidean") -> float:
    """1 − 2 / (n k (2 n − 3 k − 1)) Σᵢ Σⱼ max(0, r(i, j) − k)  over the k nearest places j of i, where row j is the r-th nearest to row i.

    1 where all neighbours in the map are neighbours of the rows too, about 1/2 of places at random (Venna & Kaski 2001). O(n²) time,
    memory for a part of the distances at a time. metric: of X, a name or a function of two rows; "precomputed": X holds distances.

    >>> from tenfold.evaluate import trustworthiness
    >>> trustworthiness([[0.0], [1.0], [2.0], [3.0], [4.0]], [[0.0], [1.0], [2.0], [3.0], [4.0]], n_neighbors=1)
    1.0
    >>> round(trustworthiness([[0.0], [1.0], [2.0], [3.0], [4.0]], [[0.0], [2.0], [4.0], [1.0], [3.0]], n_neighbors=1), 6)
    0.2
    """
    rows, places = as_rows(X), np.asarray(ops.dense(as_rows(X_embedded)), dtype=np.float64)
    n, k = rows.shape[0], n_neighbors
    if len(places) != n:
        raise BadInput(f"X has {n} rows and X_embedded {len(places)}: give a place for each row")
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise BadParameter(f"n_neighbors={k!r}: must be a whole number of at least 1")
    if k >= n / 2:
        raise BadInput(f"n_neighbors ({k}) should be less than n_samples / 2 ({n / 2:g}): decrease it, or give more rows")
    near = NeighborIndex(places).nearest(None, k)[1]
    far_of = _distances(rows, metric)
    step = max(1, AT_ONCE // n)

    def beyond(part: slice) -> float:
        """Σ max(0, r − k) of some rows."""
        away = far_of(part)
        own = np.arange(part.start, part.stop)
        away[np.arange(len(own)), own] = np.inf
        rank = np.empty(away.shape, dtype=np.int64)
        np.put_along_axis(rank, np.argsort(away, axis=1, kind="stable"), np.arange(1, n + 1)[None], axis=1)
        return float(np.maximum(np.take_along_axis(rank, near[part], axis=1) - k, 0).sum())

    total = sum(each(beyond, [slice(start, min(start + step, n)) for start in range(0, n, step)]))
    return float(1 - total * 2 / (n * k * (2 * n - 3 * k - 1)))


def _distances(rows: Any, metric: Any) -> Any:
    """Of a slice of the rows: how far they are from all, as an array of its own."""
    if isinstance(metric, str) and metric == PRECOMPUTED:
        table: Array = np.asarray(usable(known(rows)), dtype=np.float64)
        if table.shape[0] != table.shape[1]:
            raise BadInput(f"metric='precomputed': X must be a square table of distances, and it has the shape {table.shape}")
        return lambda part: table[part].copy()
    dense = np.ascontiguousarray(ops.dense(rows), dtype=np.float64)
    measure = measure_of(metric, dense)
    return lambda part: np.array(distances(measure, dense[part], dense))
