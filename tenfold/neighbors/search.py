"""The nearest rows of those that are kept: by an index, or in a table of distances that the user gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.core.memory import check_memory
from tenfold.near.given import PRECOMPUTED, Distances
from tenfold.near.index import NeighborIndex
from tenfold.near.measures import OTHER_NAMES

LEAST_POWER, LARGEST_POWER = 0.01, 100.0
OF_TREES = (
    "euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "cosine", "correlation", "seuclidean", "mahalanobis", "haversine",
)  # fmt: skip
ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")
METHODS = {"auto": "auto", "ball_tree": "auto", "kd_tree": "tree", "brute": "all rows"}  # of the index


@dataclass(frozen=True, slots=True)
class Near:
    """The nearest rows of some others, the nearest first."""

    distances: Array  # (queries, j)
    rows: Array  # (queries, j)
    copies: Array | None = None  # (queries, j): their weights, where these are not one


def check_algorithm(algorithm: str, metric: Any, params: dict[str, Any]) -> None:
    """Refuse a tree for a measure that has none; tell of one that is no distance."""
    if isinstance(metric, type):
        raise BadParameter(f"metric={metric!r} is a class: give a name, or a function of two rows")
    if isinstance(metric, str) and metric == "minkowski" and not LEAST_POWER <= params["p"] <= LARGEST_POWER:
        among = f"from {LEAST_POWER:g} to {LARGEST_POWER:g}, or inf, the largest difference"
        raise BadParameter(f"p={params['p']!r}: powers must be {among}; beyond, sums leave the range of numbers")
    if algorithm in ("auto", "brute") and isinstance(metric, str) and metric == "minkowski" and params["p"] < 1:
        warn(
            "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing the execution with `algorithm='brute'`.",
            DataWarning,
        )
    if algorithm == "kd_tree" and callable(metric):
        raise BadParameter(f"algorithm='kd_tree': kd_tree does not support callable metric {metric!r}, use 'auto'")
    if algorithm in ("kd_tree", "ball_tree") and isinstance(metric, str) and metric == "minkowski" and params["p"] < 1:
        raise BadParameter(
            f'algorithm="{algorithm}" does not support 0 < p < 1 for the Minkowski metric. To resolve this problem either set p >= 1 or '
            'algorithm="brute".'
        )
    if algorithm == "kd_tree" and isinstance(metric, str) and (name := OTHER_NAMES.get(metric, metric)) not in OF_TREES:
        raise BadParameter(f"algorithm='kd_tree': Metric '{name}' not valid, there is no tree for it: use algorithm='auto'")


def search_of(rows: Array, algorithm: str, metric: Any, params: dict[str, Any]) -> Any:
    """What finds the nearest of these rows."""
    if isinstance(metric, str) and metric == PRECOMPUTED:
        return Distances(rows)
    own = dict(params)
    p = own.pop("p", 2.0) if isinstance(metric, str) and metric == "minkowski" else 2.0
    return NeighborIndex(rows, metric, p=p, metric_params=own or None, method=METHODS[algorithm])


def nearest(search: Any, weights: Array | None, X: Array | None, k: int, *, further: bool = False) -> Near:
    """The rows that make up k neighbours of each row of X (without X: of the kept rows themselves), where a row of weight 2 is two
    neighbours; `further`: with the next one beyond."""
    most = len(search) - (X is None)
    if weights is None:
        return Near(*search.nearest(X, min(k + further, most)))
    ask = min(max(int(np.ceil((k + further) / weights.mean())), 1), most)
    while True:
        distances, rows = search.nearest(X, ask)
        copies = weights[rows]
        if ask == most or not (copies.sum(axis=1) < k + further).any():
            return Near(distances, rows, copies)
        ask = min(2 * ask, most)


def among_themselves(search: Any, rows: Array, weights: Array | None, k: int) -> Near:
    """The neighbours of each kept row: all others, and its own copies but for one, where it has a weight above one."""
    if weights is None:
        return Near(*search.nearest(None, k))
    near = nearest(search, weights, rows, k + 1)
    assert near.copies is not None
    own = near.rows == np.arange(len(rows))[:, None]
    return Near(near.distances, near.rows, np.where(own, np.maximum(near.copies - 1, 0.0), near.copies))


def check_room(queries: int, k: int) -> None:
    """Whether a table of so many neighbours fits into memory."""
    check_memory(f"the {k} nearest of {queries:,} rows", 16.0 * queries * k, "ask for fewer neighbours, or of fewer rows at a time")
