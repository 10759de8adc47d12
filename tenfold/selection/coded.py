"""A table as a matrix of numbers, for learners of numbers."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.prepare.coder import TableCoder
from tenfold.table.columns import Column, check_name, comma_of, look_at_columns
from tenfold.table.lines import refuse_repeated
from tenfold.table.reading import pl, read_table
from tenfold.table.task import find_task

LARGEST_TABLE = 100_000_000  # cells of coded categories


def coded_regression(table: Any, target: str) -> tuple[Array, Array, list[str]]:
    """The columns of a table as numbers, missing values filled with means; a target that is a number; notes of what was done."""
    raw = read_table(table)
    check_name(target, raw.frame.columns)
    refuse_repeated(raw.name, set(raw.repeated), [target])
    comma = comma_of(raw)
    task = find_task(raw.frame[target], "number", comma)
    columns, used = look_at_columns(raw.frame.drop(target)[task.rows], raw.typed, comma=comma, rows=task.rows)
    if not used.width:
        raise BadInput(why_no_columns(columns, target))
    X = coder_for(columns, used).transform(used)
    notes = (
        [*task.notes, f"{used.width} columns coded as {X.shape[1]} of numbers"]
        if X.shape[1] != used.width
        else task.notes
    )
    left_out = [column.name for column in columns if not column.used]
    if left_out:
        notes = [*notes, f"left out: {', '.join(left_out[:8])}"]
    return tenfold.SimpleImputer().fit_transform(X), task.y, list(notes)


def coder_for(columns: list[Column], used: pl.DataFrame) -> TableCoder:
    """The coder of a table, fitted to its used columns."""
    forms = {column.name: column.form for column in columns if column.form is not None}
    return TableCoder(most_levels=levels_for(used), cycles=True).fit(used, forms=forms)


def levels_for(frame: pl.DataFrame) -> int:
    """The most levels of a category that get a column, so that the coded table fits in memory."""
    categories = sum(kind == pl.String for kind in frame.dtypes)
    return int(min(max(LARGEST_TABLE // (frame.height * max(categories, 1)), 5), 50))


def why_no_columns(columns: list[Column], target: str) -> str:
    kinds = ", ".join(f"{column.name!r} ({column.kind})" for column in columns[:5])
    left_out = f"; left out: {kinds}" if kinds else ": it is the only column"
    return f"no column is left to predict {target!r} from{left_out}"
