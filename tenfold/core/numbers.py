"""Numbers that may not be there: which, where, and what to do about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold import _columns
from tenfold.core import ops
from tenfold.core.errors import BadInput

DOUBLE = np.dtype(np.float64)


def check_finite(X: Any, index: Any, names: Any, missing: bool, double: bool = False) -> None:
    """Name the first value of X that may not be there. `index` holds the row numbers of X in the whole table; `double`: squares will
    be those of float64."""
    values = ops.dense(X)
    largest = ops.LARGEST[DOUBLE if double else values.dtype]
    if missing and values.flags.c_contiguous and values.ndim == 2 and _columns.within(values, largest):
        return
    bad = ~(np.abs(values) <= ops.LARGEST[values.dtype]) if not double else ~(np.abs(values, dtype=np.float64) <= ops.LARGEST[DOUBLE])
    if missing:
        bad &= ~np.isnan(values)
    if not bad.any():
        return
    row, column = (int(i) for i in np.argwhere(bad)[0])
    where = f"in {column_name(names, column)}, row {row_number(index, row)}"
    raise BadInput(f"Input X contains {objection(values[row, column], where, 'values')}")


def row_number(index: Any, row: int) -> Any:
    """What a message calls row `row` of a block whose rows are `index` (a slice or a list) of the whole table."""
    return index.start + row if isinstance(index, slice) else index[row]


def objection(value: np.floating[Any], where: str, what: str) -> str:
    """What is wrong with a number that is missing, infinite or too large, and what to do."""
    if np.isnan(value):
        return f"NaN {where}: fill or drop missing {what} first"
    if np.isinf(value):
        sign = "-inf" if value < 0 else "inf"
        return f"infinity or a value too large for {value.dtype!r}: {sign} {where}; replace or drop infinite {what} first"
    single = " as float32" if value.dtype == np.float32 else ""
    return f"{value:g} {where}, which is too large to be squared{single}: rescale the {what} first"


def column_name(names: Any, column: int) -> str:
    """How a message calls a column."""
    return f"column {column}" if names is None else f"column {str(names[column])[:80]!r}"
