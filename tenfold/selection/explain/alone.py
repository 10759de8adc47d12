"""What each column alone says about the target: cross-fitted, so that a column with many values does not flatter itself."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array

PARTS = 10  # of a number
SHRINK = 2.0  # rows of the overall mean that each part starts with
MOST_CLASSES = 10


def single_strengths(X: Array, categories: list[Array | None], y: Array, classes: bool, most: int) -> list[float | None]:
    """For each column the area under the ROC curve (the mean over classes against the rest), or R², of the means of its parts.

    The mean of a part, a tenth of a number or a level, comes from the other half of the rows. Of more than `most` columns only those
    that order the target most are looked at; the others have None.
    """
    Y = _indicators(y) if classes else np.asarray(y, dtype=np.float64)[:, None]
    columns = np.arange(X.shape[1])
    if len(columns) > most:
        columns = order_of(X, categories, y, classes)[:most]
    found: list[float | None] = [None] * X.shape[1]
    for j in columns:
        fitted = _fitted(_parts(X[:, j], categories[j] is not None), Y)
        found[j] = _area(Y, fitted) if classes else _explained(Y[:, 0], fitted[:, 0])
    return found


def order_of(X: Array, categories: list[Array | None], y: Array, classes: bool) -> Array:
    """The columns, those first that are most correlated with the target; levels of categories in the order of their mean target."""
    Y = _indicators(y) if classes else np.asarray(y, dtype=np.float64)[:, None]
    Y = Y - Y.mean(axis=0)
    Z = np.where(np.isnan(X), np.nanmean(np.where(np.isnan(X).all(axis=0), 0.0, X), axis=0), X)
    for j, levels in enumerate(categories):
        if levels is not None:
            Z[:, j] = _fitted(_parts(X[:, j], True), Y)[:, -1]
    Z -= Z.mean(axis=0)
    size = np.sqrt((Z**2).sum(axis=0))[:, None] * np.sqrt((Y**2).sum(axis=0))[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.nan_to_num(np.abs(Z.T @ Y) / size).max(axis=1)
    return np.argsort(-strength, kind="stable")


def _indicators(y: Array) -> Array:
    """A column for each class; of two classes the second is enough, of many the most frequent."""
    labels, counts = np.unique(y, return_counts=True)
    labels = labels[1:] if len(labels) == 2 else labels[np.argsort(-counts, kind="stable")[:MOST_CLASSES]]
    return np.asarray(np.asarray(y)[:, None] == labels, dtype=np.float64)


def _parts(column: Array, levels: bool) -> Array:
    """The part of each row: its level, or its tenth; missing values are a part of their own."""
    missing = np.isnan(column)
    if missing.all():
        return np.zeros(len(column), np.int64)
    if levels:
        parts = np.where(missing, 0, column).astype(np.int64)
    else:
        ends = np.unique(np.quantile(column[~missing], np.arange(1, PARTS) / PARTS))
        parts = np.searchsorted(ends, np.where(missing, 0.0, column), side="left")
    return np.where(missing, parts.max() + 1, parts)


def _fitted(parts: Array, Y: Array) -> Array:
    """(rows, targets): the mean target of each row's part among the rows of the other half."""
    n, size = len(parts), int(parts.max()) + 1
    half = np.random.default_rng(0).permutation(n) % 2
    found = np.empty(Y.shape)
    for side in (0, 1):
        rows, others = half == side, half != side
        if not others.any():
            return np.tile(Y.mean(axis=0), (n, 1))
        count = np.bincount(parts[others], minlength=size)
        mean = Y[others].mean(axis=0)
        for k in range(Y.shape[1]):
            sums = np.bincount(parts[others], Y[others, k], minlength=size)
            found[rows, k] = ((sums + SHRINK * mean[k]) / (count + SHRINK))[parts[rows]]
    return found


def _area(Y: Array, fitted: Array) -> float:
    """The mean area under the ROC curves."""
    areas = []
    for truth, value in zip(Y.T, fitted.T, strict=True):
        positive = truth > 0
        m, rest = int(positive.sum()), int((~positive).sum())
        if m and rest:
            _, place, counts = np.unique(value, return_inverse=True, return_counts=True)
            rank = (np.cumsum(counts) - (counts - 1) / 2)[place.reshape(-1)]
            areas.append((rank[positive].sum() - m * (m + 1) / 2) / (m * rest))
    return float(np.mean(areas)) if areas else 0.5


def _explained(y: Array, fitted: Array) -> float:
    spread = float(((y - y.mean()) ** 2).sum())
    return max(0.0, 1 - float(((y - fitted) ** 2).sum()) / spread) if spread > 0 else 0.0
