"""Distances of all pairs of rows, where a table of them is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold._pairs import sums
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadInput
from tenfold.near.measures import Measure

AT_ONCE = 1 << 17  # distances: they stay in the cache while they are made
SIDES = 1e-6  # of a distance: more than the two ways may differ by


def distances(measure: Measure, Q: Array, R: Array) -> Array:
    """(queries, rows): how far each query is from each row."""
    if measure.block is not None:
        return measure.block(Q, R)
    assert measure.apart is not None
    changed = [np.ascontiguousarray(measure.rows(rows, queried), dtype=np.float64) for rows, queried in ((Q, True), (R, False))]
    return measure.to_distances(sums(changed[0], changed[1], measure.apart, measure.power))


def table_of_distances(measure: Measure, X: Array) -> Array:
    """(n, n) float32: how far rows are from one another, as shares of about the largest distance, so that no row is too far for
    float32; zero on the diagonal."""
    n = len(X)
    D = np.empty((n, n), dtype=np.float32)
    scale = _scale(distances(measure, X[:1], X))
    if measure.block is not None:
        step = max(1, AT_ONCE // n)
        for start in range(0, n, step):
            D[start : start + step] = _not_negative(measure.block(X[start : start + step], X), measure.name) * scale
        check_symmetric(D, f"metric {measure.name}")
    else:
        Q, R = (np.ascontiguousarray(measure.rows(X, queried), dtype=np.float64) for queried in (True, False))

        def fill(rows: slice) -> None:
            assert measure.apart is not None
            np.multiply(measure.to_distances(sums(Q[rows], R, measure.apart, measure.power)), scale, out=D[rows], casting="same_kind")

        step = max(1, AT_ONCE // n)
        each(fill, [slice(start, start + step) for start in range(0, n, step)])
    np.fill_diagonal(D, 0)
    return D


def check_symmetric(D: Array, what: str) -> None:
    """Refuses distances that depend on the side they are looked at from."""
    step = max(1, AT_ONCE // len(D))
    for start in range(0, len(D), step):
        there, back = D[start : start + step], D[:, start : start + step].T
        bad = np.abs(there - back) > SIDES * np.maximum(np.abs(there), np.abs(back))
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise BadInput(
                f"{what}: row {start + i} is {there[i, j]:.6g} from row {j}, but row {j} is {back[i, j]:.6g} from row {start + i}: "
                "distances must be the same both ways, such as their mean"
            )


def _not_negative(D: Array, name: str) -> Array:
    if (D < 0).any():
        i, j = np.argwhere(D < 0)[0]
        raise BadInput(f"metric {name}: the distance of row {i} of the block to row {j} is {D[i, j]:.6g}: no distance is below 0")
    return D


def _scale(away: Any) -> float:
    """A power of two that brings distances to about one."""
    largest = float(np.max(away, initial=0.0))
    return float(np.ldexp(1.0, -int(np.frexp(largest)[1]))) if 0 < largest < np.inf else 1.0
