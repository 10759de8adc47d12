"""How many axes a table has: what each explains, what chance would make of it, and whether other rows would give the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from tenfold.core.data import Array
from tenfold.reduce.parallel import beyond_chance

PARTS, SPLITS = 20, 10  # parts of the rows that are left out in turn, and times that they are cut into halves
LEAST_PART, WIDEST = 2, 300  # rows of a part, and columns up to which ranges are cheap


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
    found = beyond_chance(Z, groups, rng)
    low, high, again = _ranges(Z, found.axes, found.shares, rng)
    return Spectrum(found.shares, found.chance, found.beyond, low, high, again)


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
    half_width = float(stdtrit(PARTS - 1, 0.975)) * error
    cosines = np.zeros((SPLITS, m))
    for split in range(SPLITS):
        half = rng.permutation(PARTS) < PARTS // 2
        first, second = (found[np.abs(axes @ found.T).argmax(axis=1)] for found in (of(half)[1], of(~half)[1]))
        cosines[split] = np.abs((first * second).sum(axis=1))
    return np.maximum(shares - half_width, 0.0), np.minimum(shares + half_width, 1.0), cosines.mean(axis=0)
