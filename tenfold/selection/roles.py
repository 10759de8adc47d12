"""Columns that say something of rows rather than of their target: how much they count, which belong together, and when they were."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.table.cells import group_numbers
from tenfold.table.columns import look_at
from tenfold.table.reading import Raw, pl
from tenfold.table.task import LEAST_CLASS_ROWS, Task, learnable


def weights_of(raw: Raw, name: str, comma: bool, task: Task, tiny: bool = False) -> tuple[Array, Task]:
    """The weights of rows, with mean 1, and the task of those that have one above zero. tiny: classes of a row or two may stay."""
    weight = _numbers(raw, name, comma, task, "weights are numbers")
    below = np.flatnonzero(~((weight >= 0) & np.isfinite(weight)))
    if below.size:
        where = raw.where(int(task.rows[below[0]]))
        raise BadInput(f"the weight of {where} in {name!r} is {weight[below[0]]:g}: weights are numbers of at least 0")
    some = weight > 0
    if not some.any():
        raise BadInput(f"all weights in {name!r} are 0: no row counts")
    left = replace(task, y=task.y[some], rows=task.rows[some])
    gone = [] if task.kind == "number" else np.setdiff1d(task.codes, task.codes[some]).tolist()
    gone = [code for code in gone if (task.codes == code).sum() >= LEAST_CLASS_ROWS]
    if gone:
        raise BadInput(f"all rows of the class {str(task.classes[gone[0]])!r} have weight 0 in {name!r}: leave the class out of the table")
    if not some.all():
        count = int((~some).sum())
        left.notes.append(f"{count:,} row{'s' if count > 1 else ''} of weight 0 left out")
        left = learnable(left, " of a weight above 0", tiny)
    weight = weight[np.isin(task.rows, left.rows)]
    return weight / weight.mean(), left


def groups_of(raw: Raw, name: str, task: Task) -> Array:
    """A number for each row, the same for rows of one group; a missing name is a group too."""
    return group_numbers(raw.frame[name][task.rows])


def times_of(raw: Raw, name: str, comma: bool, task: Task) -> Array:
    """When each row was: a number that grows."""
    return _numbers(raw, name, comma, task, "times are dates or numbers", dates=True)


def _numbers(raw: Raw, name: str, comma: bool, task: Task, wanted: str, dates: bool = False) -> Array:
    """The numbers of a column, whatever else it would be good for."""
    given = raw.frame[name][task.rows]
    column, values = look_at(given, raw.typed and given.dtype != pl.String, comma=comma, rows=task.rows)
    if values.dtype != pl.Float64 or (column.kind == "date" and not dates):
        raise BadInput(f"the column {name!r} is read as {column.kind}: {wanted}")
    missing = values.is_null() | values.is_nan()
    if missing.any():
        raise BadInput(f"{raw.where(int(task.rows[missing.arg_true()[0]]))} has nothing in {name!r}, or what cannot be read: {wanted}")
    return np.asarray(values.to_numpy(), dtype=np.float64)

