"""Parallel analysis: how many axes explain more than the same columns would if they had nothing to do with one another (Horn 1965)."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.threads import patiently, stopping

DRAWS, LEVEL = 40, 0.95  # shuffled tables, and the quantile of theirs that an axis must exceed
MOST_ROWS, MOST_WORK = 20_000, 1e9  # of one shuffled table: rows, and multiplications
MOST_AXES = 50  # that are looked at
TIES = 1e-9  # what rounding adds to an eigenvalue, of all


class BeyondChance(NamedTuple):
    """Shares of the variance along the principal axes, the largest first, and those of shuffled columns."""

    shares: Array  # (m)
    axes: Array  # (m, p)
    chance: Array  # (m) what the same columns reach with LEVEL chance, shuffled against one another
    beyond: int  # so many leading axes explain more than that


def beyond_chance(Z: Array, groups: Sequence[Sequence[int]] | None, rng: np.random.Generator) -> BeyondChance:
    """groups: columns of Z that belong to one another, and stay together when columns are shuffled; None: each is by itself."""
    groups = [[j] for j in range(Z.shape[1])] if groups is None else groups
    shares, axes = principal(Z)
    some = Z[np.sort(rng.permutation(len(Z))[: rows_for(Z.shape[1])])]
    seen = shares if len(some) == len(Z) else principal(some)[0]
    drawn = np.stack([principal(_shuffled(some, groups, rng))[0] for _ in range(DRAWS)])
    chance = np.quantile(drawn, LEVEL, axis=0)
    m = min(len(shares), len(chance))
    larger = seen[:m] > chance[:m] + TIES
    return BeyondChance(shares[:m], axes[:m], chance[:m], m if larger.all() else int(np.argmin(larger)))


def rows_for(p: int) -> int:
    """So many rows of p columns that a shuffled table costs no more than MOST_WORK."""
    affordable = int(MOST_WORK / p**2)
    return min(MOST_ROWS, affordable if affordable >= p else int(sqrt(MOST_WORK / p)))


def _shuffled(Z: Array, groups: Sequence[Sequence[int]], rng: np.random.Generator) -> Array:
    """Every column of the table in an order of its own: alone as it was, and independent of all others."""
    if stopping():
        raise KeyboardInterrupt
    new = np.empty_like(Z)
    for columns in groups:
        new[:, columns] = Z[:, columns][rng.permutation(len(Z))]
    return new


def principal(Z: Array) -> tuple[Array, Array]:
    """Shares of the variance, at most MOST_AXES of them, and their axes as rows."""
    X = Z - Z.mean(axis=0)
    if len(X) < X.shape[1]:
        values, left = patiently(np.linalg.eigh, X @ X.T)
        scale = np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))
        axes = (left / scale).T[::-1][:MOST_AXES] @ X
    else:
        values, vectors = patiently(np.linalg.eigh, X.T @ X)
        axes = vectors.T[::-1][:MOST_AXES]
    total = float(np.maximum(values, 0.0).sum())
    return np.maximum(values[::-1][: len(axes)], 0.0) / (total or 1.0), axes
