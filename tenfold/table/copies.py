"""Copies of rows, and whether they are to stay in one fold."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.table.reading import pl
from tenfold.table.task import LEAST_CLASS_ROWS, Task

MANY = 0.05  # of the rows: then the estimate differs from one for rows that are copies as often as these


def duplicate_groups(frame: pl.DataFrame, task: Task, folds: int) -> tuple[Array | None, str]:
    """A number for each row, the same for copies, where copies are to stay in one fold; and a note.

    Copies are rows with equal columns, whatever their target. Where the columns are so coarse that copies
    arise by chance, they are ordinary rows: together they would hide whole kinds of rows from training.
    """
    groups = frame.hash_rows(seed=0).rank("dense").to_numpy().astype(np.int64) - 1
    n, sizes = len(groups), np.bincount(groups)
    copies = n - len(sizes)
    if copies == 0:
        return None, "no duplicate rows"
    once = frame[np.unique(groups, return_index=True)[1]]  # copies must not count as evidence for themselves
    what = f"{copies:,} duplicate row{'s' if copies > 1 else ''}"
    if copies_by_chance(once, n) >= 1:
        return None, f"{what} (columns are coarse, copies are to be expected)"
    if len(sizes) < 2 * folds or sizes.max() > n / (2 * folds) or _loses_a_class(groups, task):
        return None, f"{what} that cannot be kept in the same fold: scores may flatter"
    told = ": the estimate is for rows that are no copies" if copies > MANY * n else ""
    return groups, f"{what} kept in the same fold{told}"


def copies_by_chance(once: pl.DataFrame, n: int) -> float:
    """The pairs of equal rows to be expected among n, were the columns independent; `once` without the copies."""
    return float(n * (n - 1) / 2 * np.prod([_agreement(column) for column in once.iter_columns()]))


def _agreement(column: pl.Series) -> float:
    """The share of pairs of rows that agree in this column."""
    counts = column.unique_counts().to_numpy().astype(float)
    return float(counts @ (counts - 1)) / max(len(column) * (len(column) - 1), 1)


def _loses_a_class(groups: Array, task: Task) -> bool:
    """Whether some class has rows enough to be in every training set, and too few groups."""
    if task.kind != "classes":
        return False
    first = np.unique(groups, return_index=True)[1]
    rows, counts = np.bincount(task.codes), np.bincount(task.codes[first], minlength=len(task.classes))
    return bool((counts[rows >= LEAST_CLASS_ROWS] < LEAST_CLASS_ROWS).any())
