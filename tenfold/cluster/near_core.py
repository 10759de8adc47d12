"""New rows for clusters of dense rows: each is of the cluster of the nearest core row."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.near.index import NeighborIndex

BUILDING = threading.Lock()
SEARCHES: WeakKeyDictionary[Any, tuple[Array, NeighborIndex]] = WeakKeyDictionary()
PRECOMPUTED = "precomputed"


def is_precomputed(metric: Any) -> bool:
    return isinstance(metric, str) and metric == PRECOMPUTED


def index_of(rows: Array, metric: Any, p: float | None = None, params: dict[str, Any] | None = None) -> NeighborIndex:
    """Rows, ready to be searched by a metric in scikit-learn's words."""
    if isinstance(metric, type):
        raise BadParameter(f"metric={metric!r}: must be the name of a metric, or a function of two rows, not a class")
    if params and "p" in params and p is not None:
        warn("Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.", DataWarning)
    if isinstance(metric, str) and metric == "minkowski" and params and "p" in params:
        p, params = params["p"], {key: value for key, value in params.items() if key != "p"}
    return NeighborIndex(rows, metric, p=2.0 if p is None else p, metric_params=params or None)


def two_sided(index: NeighborIndex) -> bool:
    """Whether a row as a query is not where it is as a row: those without a direction are one unit away from all, themselves too."""
    return index.measure.name in ("cosine", "correlation") and bool((index.X[:, -2:] != 0).any())


def check_distances(table: Any) -> None:
    """Distances between rows are not negative."""
    values = table.data if hasattr(table, "tocsr") else table
    if values.size and values.min() < 0:
        raise BadInput(f"metric='precomputed': X must hold distances, and the least of them is {values.min():g}, below 0")


def search_of(model: Any, rows: Array, make: Callable[[], NeighborIndex]) -> NeighborIndex:
    """The index of rows that a fitted model holds. It follows from them, and is no part of the model: nothing of it is saved."""
    known = SEARCHES.get(model)
    if known is None or known[0] is not rows:
        with BUILDING:
            known = SEARCHES.get(model)
            if known is None or known[0] is not rows:
                known = SEARCHES[model] = (rows, make())
    return known[1]


def nearest_of(search: NeighborIndex, X: Array) -> tuple[Array, Array]:
    """(distance, number) of the nearest row to each row of a block."""
    distance, row = search.nearest(X.astype(np.float64, copy=False), 1)
    return distance[:, 0], row[:, 0]
