"""Silhouettes: how much nearer a row is to its own cluster than to the next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.core.threads import single_blas
from tenfold.score.kinds import as_labels, check_finite, same_rows

DISTANCES_AT_ONCE = 2**22
MANY_COLUMNS = 12  # of dense rows: from here products of matrices are quicker than differences
CANCELLED = 1e-4
FEW_COLUMNS = 1024  # of sparse rows: up to here distances are those of dense rows
SCIPY_NAMES = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean", "p": "minkowski", "infinity": "chebyshev"}


def silhouette_samples(
    X: Any, labels: Any, *, metric: Any = "euclidean", sample_weight: Any = None, **more: Any
) -> Array:
    """(b − a) / max(a, b) of each row: a is its mean distance to the rest of its group, b to the nearest
    other group.

    A row alone in its group has 0. Takes O(n²) time, and memory for a part of the distances at a time.
    metric: any name or function that SciPy's `cdist` takes, with its parameters `more`; "l1" and "manhattan" are
    "cityblock", "l2" is "euclidean"; "haversine" for latitudes and longitudes in radians; "precomputed" for X that holds the
    distances. X may be sparse. Weights count copies of a row.

    >>> from tenfold.evaluate import silhouette_samples
    >>> silhouette_samples([[0.0], [1.0], [10.0]], [0, 0, 1]).round(3)
    array([0.9  , 0.889, 0.   ])
    """
    X = as_rows(X)
    if isinstance(metric, str) and metric == "precomputed":
        X = _distance_table(X)
    code, k = groups_of(X, labels, "a silhouette")
    n = X.shape[0]
    w = check.as_weights(sample_weight, n)
    member = np.zeros((n, k))
    member[np.arange(n), code] = 1.0 if w is None else w
    rows = np.array_split(np.arange(n), max(1, n**2 // DISTANCES_AT_ONCE))
    more = _spread_of(X, metric) | more
    distances = Distances.of(X) if _plain(X, metric, more) else partial(_distances, X, metric=metric, more=more)
    with single_blas:
        sums = np.concatenate(each(lambda part: distances(part) @ member, rows))
    return silhouettes(sums, code, member.sum(axis=0)).astype(X.dtype if X.dtype == np.float32 else np.float64, copy=False)


def as_rows(X: Any) -> Any:
    """Finite numbers (n, p), dense or CSR."""
    if ops.is_sparse(X):
        X = X.tocsr()
        check_finite(X.data.astype(np.float64, copy=False), "X", "values")
        return X
    table = np.asarray(X)
    if table.dtype not in (np.float32, np.float64):
        table = table.astype(np.float64) if table.dtype.kind != "i" else table
    if table.ndim != 2:
        raise BadInput(f"X has shape {table.shape}: give a table with a row for each label")
    if table.dtype.kind == "f":
        check_finite(table, "X", "values")
    return table


def groups_of(X: Any, labels: Any, score: str) -> tuple[Array, int]:
    """The group of each row as a code, and how many groups there are: at least two, and fewer than rows."""
    given = as_labels(labels, "labels")
    same_rows(X=np.empty(X.shape[0]), labels=given)
    if given.ndim != 1:
        raise BadInput(f"labels must be 1D: shape is {given.shape}")
    groups, code = check.encode(given)
    n = X.shape[0]
    if not 2 <= len(groups) < n:
        raise BadInput(
            f"Number of labels is {len(groups)}. Valid values are 2 to n_samples - 1 (inclusive): {score} of {n} rows "
            f"needs 2 to {n - 1} groups"
        )
    return code, len(groups)


def _distance_table(X: Any) -> Any:
    """Distances of all pairs; those from a row to itself are taken for zero where they are rounding."""
    words = "The precomputed distance matrix contains non-zero elements on the diagonal. Use np.fill_diagonal(X, 0)."
    if X.shape[0] != X.shape[1]:
        raise BadInput(f"metric='precomputed': X must be a square table of distances, not {X.shape}")
    diagonal = X.diagonal()
    if X.dtype.kind == "f":
        if (np.abs(diagonal) > 100 * np.finfo(X.dtype).eps).any():
            raise BadInput(words)
    elif diagonal.any():
        raise BadInput(words)
    if not diagonal.any():
        return X
    X = X.copy()
    X.setdiag(0) if ops.is_sparse(X) else np.fill_diagonal(X, 0)
    return X


def _plain(X: Any, metric: Any, more: dict[str, Any]) -> bool:
    """Whether distances are Euclidean ones of dense rows of many columns."""
    return isinstance(metric, str) and metric in ("euclidean", "l2") and not more and not ops.is_sparse(X) and X.shape[1] >= MANY_COLUMNS


@dataclass(frozen=True)
class Distances:
    """Euclidean distances of some rows to all, by products of matrices: ‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z, of centred rows.

    What cancels to less than a ten-thousandth of its parts is computed again from the differences, so that twelve digits are right.
    """

    X: Array  # centred
    squares: Array

    @classmethod
    def of(cls, X: Array) -> Distances:
        centred = X - X.mean(axis=0, dtype=np.float64)
        return cls(centred, np.einsum("ij,ij->i", centred, centred))

    def __call__(self, rows: Array) -> Array:
        some = self.X[rows]
        gaps = some @ self.X.T
        gaps *= -2
        gaps += self.squares
        gaps += self.squares[rows, None]
        near = np.flatnonzero(gaps < CANCELLED * (self.squares[rows, None] + self.squares.max()))
        if len(near) * some.shape[1] > DISTANCES_AT_ONCE:
            return np.asarray(cdist(some, self.X))
        i, j = np.divmod(near, len(self.X))
        gaps.reshape(-1)[near] = ((some[i] - self.X[j]) ** 2).sum(axis=1)
        return np.asarray(np.sqrt(gaps, out=gaps))


def _distances(X: Any, rows: Array, metric: Any, more: dict[str, Any]) -> Array:
    if isinstance(metric, str) and metric == "precomputed":
        return np.asarray(ops.dense(X[rows]))
    name = SCIPY_NAMES.get(metric, metric) if isinstance(metric, str) else metric
    if ops.is_sparse(X) and X.shape[1] > FEW_COLUMNS and name == "euclidean":
        return _sparse_distances(X, rows)
    at_once = max(1, DISTANCES_AT_ONCE // X.shape[1]) if ops.is_sparse(X) else X.shape[0]
    parts = [slice(start, start + at_once) for start in range(0, X.shape[0], at_once)]
    one = ops.dense(X[rows])
    away: Any = _on_sphere if isinstance(name, str) and name == "haversine" else partial(cdist, metric=name, **more)
    try:
        found = np.concatenate([away(one, ops.dense(X[part])) for part in parts], axis=1)
    except ValueError as reason:
        raise BadParameter(f"metric={metric!r}: {reason}") from reason
    found[np.arange(len(rows)), rows] = 0.0  # a row is not of the rest of its group, whatever a metric says of two equal ones
    return np.asarray(found)


def _spread_of(X: Any, metric: Any) -> dict[str, Any]:
    """What a metric needs to know of all rows, and not of the part that is at hand."""
    if not isinstance(metric, str) or metric not in ("seuclidean", "mahalanobis"):
        return {}
    rows = ops.dense(X).astype(np.float64)
    if metric == "seuclidean":
        return dict(V=rows.var(axis=0, ddof=1))
    return dict(VI=np.linalg.pinv(np.atleast_2d(np.cov(rows, rowvar=False)), hermitian=True))


def _on_sphere(A: Array, B: Array) -> Array:
    """Angles between points of latitude and longitude in radians."""
    if A.shape[1] != 2:
        raise BadInput(f"points have a latitude and a longitude, and X has {A.shape[1]} columns: give these two, or another metric")
    squares = np.sin((A[:, :1] - B[:, 0]) / 2) ** 2 + np.cos(A[:, :1]) * np.cos(B[:, 0]) * np.sin((A[:, 1:] - B[:, 1]) / 2) ** 2
    return np.asarray(2 * np.arcsin(np.sqrt(np.minimum(squares, 1))))


def _sparse_distances(X: Any, rows: Array) -> Array:
    """‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z, which touches only what is not zero but is off by √ε for near rows."""
    squares = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)
    gaps = squares[rows][:, None] + squares - 2 * (X[rows] @ X.T).toarray()
    gaps[np.arange(len(rows)), rows] = 0.0
    return np.asarray(np.sqrt(np.maximum(gaps, 0.0)))


def silhouettes(sums: Array, code: Array, weight: Array) -> Array:
    """From the sum of distances of each row to each group."""
    rows, own = np.arange(len(code)), weight[code] - 1
    alone = own <= 0
    within = np.divide(sums[rows, code], own, out=np.zeros(len(code)), where=~alone)
    means = np.divide(sums, weight, out=np.full(sums.shape, np.inf), where=weight > 0)
    means[rows, code] = np.inf
    between = means.min(axis=1)
    largest = np.maximum(within, between)
    score = np.divide(between - within, largest, out=np.zeros(len(code)), where=largest > 0)
    return np.where(alone, 0.0, score)


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
    sample_weight: Any = None,
    **more: Any,
) -> float:
    """The mean of `silhouette_samples`, over all rows or over a random sample of `sample_size`.

    >>> from tenfold.evaluate import silhouette_score
    >>> round(silhouette_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 3)
    0.9
    """
    X, labels, w = as_rows(X), np.asarray(labels), None if sample_weight is None else np.asarray(sample_weight)
    if sample_size is not None:
        if not isinstance(sample_size, (int, np.integer)) or not 1 <= sample_size <= X.shape[0]:
            raise BadParameter(
                f"sample_size={sample_size!r}: must be a whole number from 1 to {X.shape[0]}, the number of rows"
            )
        rows = generator(random_state).permutation(X.shape[0])[:sample_size]
        distances = isinstance(metric, str) and metric == "precomputed"
        X = X[rows][:, rows] if distances else X[rows]
        labels, w = labels[rows], None if w is None else w[rows]
    return float(np.average(silhouette_samples(X, labels, metric=metric, sample_weight=w, **more), weights=w))
