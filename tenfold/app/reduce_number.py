"""How many axes a table has: what each explains, what chance would make of it, and whether other rows would give the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import stdtrit

from tenfold.core.data import Array

DRAWS, LEVEL = 40, 0.95  # shuffled tables, and the quantile of theirs that an axis must exceed
MOST_ROWS, MOST_WORK = 20_000, 1e9  # of one shuffled table: rows, and multiplications
MOST_AXES = 50  # that are looked at
PARTS, SPLITS = 20, 10  # parts of the rows that are left out in turn, and times that they are cut into halves
LEAST_PART, WIDEST = 2, 300  # rows of a part, and columns up to which ranges are cheap
TIES = 1e-9  # what rounding adds to an eigenvalue, of all


@dataclass(frozen=True)
class Spectrum:
    """Shares of the variance along the principal axes, the largest first."""

    shares: Array  # (m)
    chance: Array  # (m) what the same columns reach with LEVEL chance, shuffled against one another
    beyond: int  # so many leading axes explain more than that
    low: Array | None = None  # (m) 95 % range of the shares
    high: Array | None = None
    again: Array | None = None  # (m) cosines between the axes that halves of the rows give


def spectrum_of(Z: Array, groups: Sequence[Sequence[int]], seed: int) -> Spectrum:
    """Z: prepared rows. groups: its columns that are one column of the table, and stay together when columns are shuffled."""
    rng = np.random.default_rng(seed)
    shares, axes = _principal(Z)
    some = Z[np.sort(rng.permutation(len(Z))[: _rows_for(Z)])]
    seen = shares if len(some) == len(Z) else _principal(some)[0]
    drawn = np.stack([_principal(_shuffled(some, groups, rng))[0] for _ in range(DRAWS)])
    chance = np.quantile(drawn, LEVEL, axis=0)
    m = min(len(shares), len(chance))
    larger = seen[:m] > chance[:m] + TIES
    beyond = m if larger.all() else int(np.argmin(larger))
    low, high, again = _ranges(Z, axes[:m], shares[:m], rng)
    return Spectrum(shares[:m], chance[:m], beyond, low, high, again)


def _rows_for(Z: Array) -> int:
    """So many rows that a shuffled table costs no more than MOST_WORK."""
    n, p = len(Z), int(Z.shape[1])
    affordable = int(MOST_WORK / p**2)
    return min(n, MOST_ROWS, affordable if affordable >= p else int(sqrt(MOST_WORK / p)))


def _shuffled(Z: Array, groups: Sequence[Sequence[int]], rng: np.random.Generator) -> Array:
    """Every column of the table in an order of its own: alone as it was, and independent of all others."""
    new = np.empty_like(Z)
    for columns in groups:
        new[:, columns] = Z[:, columns][rng.permutation(len(Z))]
    return new


def _principal(Z: Array) -> tuple[Array, Array]:
    """Shares of the variance, at most MOST_AXES of them, and their axes as rows."""
    X = Z - Z.mean(axis=0)
    if len(X) < X.shape[1]:
        values, left = np.linalg.eigh(X @ X.T)
        scale = np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))
        axes = (left / scale).T[::-1][:MOST_AXES] @ X
    else:
        values, vectors = np.linalg.eigh(X.T @ X)
        axes = vectors.T[::-1][:MOST_AXES]
    total = float(np.maximum(values, 0.0).sum())
    return np.maximum(values[::-1][: len(axes)], 0.0) / (total or 1.0), axes


def _ranges(Z: Array, axes: Array, shares: Array, rng: np.random.Generator) -> tuple[Array | None, Array | None, Array | None]:
    """The jackknife over parts of the rows, and halves made of these parts; from sums over each part, so that rows are read once."""
    n, p = Z.shape
    if n < PARTS * LEAST_PART or p > WIDEST:
        return None, None, None
    part, m = rng.permutation(n) % PARTS, len(shares)
    X = Z - Z.mean(axis=0)
    count = np.bincount(part, minlength=PARTS).astype(np.float64)
    sums = np.stack([X[part == i].sum(axis=0) for i in range(PARTS)])
    squares = np.stack([X[part == i].T @ X[part == i] for i in range(PARTS)])

    def of(kept: Array) -> tuple[Array, Array]:
        total = sums[kept].sum(axis=0)
        values, vectors = np.linalg.eigh(squares[kept].sum(axis=0) - np.outer(total, total) / count[kept].sum())
        values = np.maximum(values[::-1], 0.0)
        return values[:m] / (values.sum() or 1.0), vectors.T[::-1][:m]

    without = np.stack([of(np.arange(PARTS) != i)[0] for i in range(PARTS)])
    error = np.sqrt((PARTS - 1) / PARTS * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    reach = float(stdtrit(PARTS - 1, 0.975)) * error
    cosines = np.zeros((SPLITS, m))
    for split in range(SPLITS):
        half = rng.permutation(PARTS) < PARTS // 2
        first, second = (found[np.abs(axes @ found.T).argmax(axis=1)] for found in (of(half)[1], of(~half)[1]))
        cosines[split] = np.abs((first * second).sum(axis=1))
    return np.maximum(shares - reach, 0.0), np.minimum(shares + reach, 1.0), cosines.mean(axis=0)
