"""Tables of dissimilarities: of rows by a metric, or as the user gives them; and those of new rows to the rows of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadInput
from tenfold.core.memory import check_memory
from tenfold.near.given import PRECOMPUTED, known, usable
from tenfold.near.measures import Measure, measure_of
from tenfold.near.pairs import check_symmetric, distances

AT_ONCE = 1 << 17  # distances: they stay in the cache while they are made
OPENINGS = 1e-10  # of the largest dissimilarity: more than the two sides of a pair may differ by


def table_of_rows(rows: Array, metric: Any, params: dict[str, Any] | None, name: str, kind: Any = np.float64) -> Array:
    """(n, n): how far each two rows are apart, exactly the same both ways; `kind` of numbers can hold it."""
    n, measure = len(rows), measure_of(metric, rows, params=params)
    check_memory(f"{name}: the distances of {n:,} rows", 24.0 * n * n, "give fewer rows, or place the others with transform")
    D = np.empty((n, n))

    def fill(part: slice) -> None:
        D[part] = distances(measure, rows[part], rows)

    step = max(1, AT_ONCE // n)
    each(fill, [slice(start, min(start + step, n)) for start in range(0, n, step)])
    if measure.block is not None:
        usable(D)
        check_symmetric(D, f"metric {measure.name}")
    return _settled(D, f"{name}(metric={measure.name!r})", kind)


def table_given(X: Any, name: str) -> Array:
    """(n, n): the user's table, where it is one of dissimilarities."""
    if ops.is_sparse(X):
        raise BadInput(f"{name}: a sparse table leaves open how far most rows are apart: give the whole table, such as X.toarray()")
    D = np.array(known(X), dtype=np.float64)
    usable(D)
    largest = float(D.max(initial=0.0))
    bad = np.abs(D - D.T) > OPENINGS * largest if np.isfinite(largest) else np.zeros(D.shape, dtype=bool)
    if bad.any():
        i, j = (int(at) for at in np.argwhere(bad)[0])
        raise BadInput(
            f"{name}: Array must be symmetric: row {i} is {D[i, j]:.6g} from row {j}, but row {j} is {D[j, i]:.6g} from row {i}: give "
            "the mean of both, (X + X.T) / 2"
        )
    if (own := np.flatnonzero(np.diagonal(D) > OPENINGS * largest)).size:
        raise BadInput(f"{name}: row {own[0]} is {D[own[0], own[0]]:.6g} from itself: a dissimilarity to itself must be 0")
    return _settled(D, name, X.dtype)


def from_fit(learner: Any, X: Any, metric: Any, params: dict[str, Any] | None) -> Array:
    """(rows, n): how far new rows are from those of the fit."""
    if isinstance(metric, str) and metric == PRECOMPUTED:
        return np.asarray(usable(np.asarray(known(X), dtype=np.float64)))
    rows = np.ascontiguousarray(ops.dense(X), dtype=np.float64)
    measure: Measure = measure_of(metric, learner._fit_X, params=params)
    return np.asarray(distances(measure, rows, learner._fit_X))


def _settled(D: Array, name: str, kind: Any) -> Array:
    np.fill_diagonal(D, 0.0)
    D += D.T.copy()
    D *= 0.5
    if not (fits := np.finfo(kind).max >= D).all():
        i, j = (int(at) for at in np.argwhere(~fits)[0])
        what = f"numbers of {np.dtype(kind).name}" if np.isfinite(D[i, j]) else "finite"
        raise BadInput(f"{name}: rows {i} and {j} are {D[i, j]:.6g} apart: they must be {what}, divide the columns by a constant")
    return D
