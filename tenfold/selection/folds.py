"""How a table is divided into folds: how many, by the shape of the table alone; which rows, by the seed, copies and groups together."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.evaluate.split.splitters import assign_folds

FOLDS = ((200, 10), (500, 8))  # up to so many rows, so many folds
FEW_FOLDS = 5  # beyond


def count_folds(asked: int | None, rows: int, columns: int, classes: int) -> int:
    """The number of folds: as asked, else fixed by the shape of the table."""
    if asked is not None and asked < 3:
        raise BadParameter(f"folds={asked}: at least 3 are needed, as two are left out at a time")
    return min(asked or next((folds for most, folds in FOLDS if rows <= most), FEW_FOLDS), rows // 2)


def make_folds(y: Array, folds: int, seed: int, role: str, groups: Array | None) -> Array:
    """The fold of each row. Rows of one group stay together; classes are spread evenly."""
    n = len(y)
    rng = np.random.default_rng(seed)
    if groups is None:
        return assign_folds(n, folds, rng, codes=y if role == "classifier" else None)
    first = np.unique(groups, return_index=True)[1]  # one row represents each group
    of_group = assign_folds(len(first), folds, rng, codes=y[first] if role == "classifier" else None)
    return of_group[groups]
