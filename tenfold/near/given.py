"""Distances that the user gives, searched as rows are; the search of a fitted learner, which is made once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, DataWarning, warn
from tenfold.core.memory import check_memory

PRECOMPUTED = "precomputed"
BUILDING = threading.Lock()


def effective(metric: Any, p: float | None, params: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
    """The metric by its plainest name, with what it takes besides: Minkowski's of p = 2 is Euclid's."""
    params = dict(params or {})
    if "p" in params and p is not None:
        warn(
            "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.", DataWarning
        )
    if not isinstance(metric, str) or metric != "minkowski":
        return metric, params
    p, w = params.pop("p", 2 if p is None else p), params.pop("w", None)
    if w is None and p in (1, 2, np.inf):
        return "manhattan" if p == 1 else "euclidean" if p == 2 else "chebyshev", params
    return metric, {**params, "p": p, **({} if w is None else {"w": w})}


class Distances:
    """A table of distances that the user gives, searched as `NeighborIndex` is."""

    method_ = "all rows"

    def __init__(self, table: Array) -> None:
        if table.shape[0] != table.shape[1]:
            raise BadInput(f"Precomputed matrix must be square. Input is a {table.shape[0]}x{table.shape[1]} matrix.")
        self.X = usable(table)

    def __len__(self) -> int:
        return len(self.X)

    def nearest(self, X: Array | None = None, k: int = 5) -> tuple[Array, Array]:
        away = self._away(X)
        rows = np.argsort(away, axis=1, kind="stable")[:, :k]
        found = np.take_along_axis(away, rows, axis=1)
        if np.isinf(found).any():
            fewest = int(np.isfinite(found).sum(axis=1).min())
            raise BadInput(
                f"{k} neighbors per samples are required, but some samples have only {fewest} neighbors in precomputed graph matrix. "
                "Decrease number of neighbors used or recompute the graph with more neighbors."
            )
        return found, rows

    def within(self, X: Array | None = None, radius: float = 1.0) -> tuple[Array, Array, Array]:
        away = self._away(X)
        near = away <= radius
        return np.concatenate([[0], np.cumsum(near.sum(axis=1))]), np.nonzero(near)[1], away[near]

    def _away(self, X: Array | None) -> Array:
        if X is not None:
            return usable(X)
        away = self.X.astype(np.float64)
        np.fill_diagonal(away, np.inf)  # none is its own neighbour
        return away


def known(table: Any) -> Array:
    """A table of distances; what a sparse one does not hold is out of reach."""
    if not ops.is_sparse(table):
        return np.asarray(table)
    check_memory(f"a table of {table.shape[0]:,} x {table.shape[1]:,} distances", 8.0 * table.shape[0] * table.shape[1])
    table = table.tocsr()
    away = np.full(table.shape, np.inf)
    away[np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)), table.indices] = table.data
    return away


def usable(table: Array) -> Array:
    """Distances: numbers of at least zero."""
    with np.errstate(invalid="ignore"):
        bad = ~(table >= 0)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        what = "NaN" if np.isnan(table[row, column]) else f"{table[row, column]:g}"
        raise BadInput(
            f"Negative values in data passed to precomputed distance matrix. The distance of row {row} to row {column} is {what}: it must "
            "be a number >= 0"
        )
    return table


def remembered(learner: Any, rows: Array, make: Callable[[], Any]) -> Any:
    """What searches these rows, in the slot `_search` of the learner; made anew where the model comes from a file or another process."""
    with BUILDING:
        of, search = getattr(learner, "_search", (None, None))
        if of is not rows:
            search = make()
            learner._search = rows, search
    return search
