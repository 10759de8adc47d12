"""Indicator columns, folded and unfolded: a coded matrix as one number for each cell of the table, and back.

The coder's matrix has several columns for one column of the table: an indicator (0/1) for each level of a category but the
reference, one more for "is missing". Tools that alter one column of the table (importance, dependence, attributions) need one
number for each cell: of a category the number of its level, 0 for the reference; of a number itself, NaN where it is missing.
"""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.prepare.coder import OTHER, TableCoder
from tenfold.prepare.cycles import cycle_columns, cycle_names

MISSING = "(missing)"


def widths(coder: TableCoder) -> list[int]:
    """The columns of the matrix that belong to each column of the table."""
    return [
        len(levels) + int(pooled) if category else 1 + int(missing) + len(cycle_names("", coder.cycles_of(i)))
        for i, (category, levels, pooled, missing) in enumerate(
            zip(coder.category_, coder.levels_, coder.pooled_, coder.blank_, strict=True)
        )
    ]


def folded(coder: TableCoder, matrix: Array) -> Array:
    """(n, columns of the matrix) as (n, columns of the table)."""
    rows = np.empty((len(matrix), len(coder.category_)))
    start = 0
    for i, width in enumerate(widths(coder)):
        part = matrix[:, start : start + width]
        rows[:, i] = part @ np.arange(1, width + 1) if coder.category_[i] else part[:, 0]
        start += width
    return rows


def unfolded(coder: TableCoder, rows: Array) -> Array:
    """The matrix of folded rows."""
    parts = []
    for i, width in enumerate(widths(coder)):
        column = rows[:, i : i + 1]
        if coder.category_[i]:
            parts.append((column == np.arange(1, width + 1)).astype(np.float64))
        else:
            parts.append(column)
            if coder.blank_[i]:
                parts.append(np.isnan(column).astype(np.float64))
            if cycles := coder.cycles_of(i):
                parts.append(cycle_columns(column[:, 0] / coder.scale_[i], cycles))
    return np.concatenate(parts, axis=1)


def levels_of(coder: TableCoder) -> list[Array | None]:
    """What the numbers of each folded column stand for; None for numbers that are themselves."""
    return [
        np.array([name or MISSING for name in [reference, *levels, *([OTHER] if pooled else [])]], dtype=object)
        if category
        else None
        for category, reference, levels, pooled in zip(
            coder.category_, coder.reference_, coder.levels_, coder.pooled_, strict=True
        )
    ]


def kept_levels(coder: TableCoder) -> list[Array | None]:
    """The categories of each column of the coder's frame, sorted, as learners that take categories find them."""
    return [
        None if levels is None else np.array(sorted({str(name) for name in levels} - {MISSING}), dtype=object)
        for levels in levels_of(coder)
    ]
