"""Looks at a table before the race: copies of rows, and columns that give the target away."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.table.reading import pl
from tenfold.table.task import LEAST_CLASS_ROWS, Task

ALMOST_PERFECT = 0.998  # AUC or |rank correlation| of one column alone
LEAK_ROWS = 20_000  # rows looked at for leaks


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
    by_chance = n * (n - 1) / 2 * np.prod([_agreement(column) for column in once.iter_columns()])
    what = f"{copies:,} duplicate row{'s' if copies > 1 else ''}"
    if by_chance >= 1:
        return None, f"{what} (columns are coarse, copies are to be expected)"
    if len(sizes) < 2 * folds or sizes.max() > n / (2 * folds) or _loses_a_class(groups, task):
        return None, f"{what} that cannot be kept in the same fold: scores may flatter"
    return groups, f"{what} kept in the same fold"


def _agreement(column: pl.Series) -> float:
    """The share of pairs of rows that agree in this column."""
    counts = column.unique_counts().to_numpy().astype(float)
    return float(counts @ (counts - 1)) / max(len(column) * (len(column) - 1), 1)


def _loses_a_class(groups: Array, task: Task) -> bool:
    """Whether some class has too few groups to be in enough folds."""
    if task.kind != "classes":
        return False
    first = np.unique(groups, return_index=True)[1]
    counts = np.bincount(task.codes[first], minlength=len(task.classes))
    return bool(counts.min() < LEAST_CLASS_ROWS)


def leak_suspects(frame: pl.DataFrame, task: Task) -> list[tuple[str, str]]:
    """Columns that alone predict the target almost perfectly, with the figure."""
    rows = np.linspace(0, frame.height - 1, min(frame.height, LEAK_ROWS)).astype(int)
    sample, y = frame[rows], task.codes[rows]
    found = []
    for column in sample.iter_columns():
        x = column.to_numpy() if column.dtype != pl.String else _level_means(column, y, task)
        if x is None:
            continue
        figure = _one_column(x, y, task)
        if figure is not None and figure >= ALMOST_PERFECT:
            found.append((column.name, f"{'AUC' if task.kind == 'classes' else 'rank correlation'} {figure:.3f}"))
    return found


def _level_means(column: pl.Series, y: Array, task: Task) -> Array | None:
    """A category as a number: the mean code of its level. Only for few levels: many remember single rows."""
    codes = column.fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
    sizes = np.bincount(codes)
    if len(sizes) > len(y) / 10:
        return None
    means: Array = (np.bincount(codes, weights=y.astype(float)) / sizes)[codes]
    return means


def _one_column(x: Array, y: Array, task: Task) -> float | None:
    """How well a column orders the target: least one-against-rest AUC, or |Spearman's correlation|."""
    there = np.isfinite(x)
    if there.sum() < 20 or there.mean() < 0.5:
        return None
    x, y = x[there], y[there]
    rank = _ranks(x)
    if task.kind == "number":
        a, b = rank - rank.mean(), _ranks(y) - (len(y) + 1) / 2
        spread = np.sqrt((a @ a) * (b @ b))
        return float(abs(a @ b) / spread) if spread > 0 else None
    figures = []
    for code in np.unique(y):
        mine = y == code
        m, rest = mine.sum(), (~mine).sum()
        if rest == 0:
            return None
        area = (rank[mine].sum() - m * (m + 1) / 2) / (m * rest)
        figures.append(max(area, 1 - area))
    return float(min(figures))


def _ranks(values: Array) -> Array:
    """Ranks from 1, ties shared."""
    return pl.Series(values).rank("average").to_numpy()
