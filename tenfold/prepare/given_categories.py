"""What encoders keep of a table as it was given: the categories that the user lists, types of columns, and marks of missing values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold import _codes
from tenfold.base import check
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.gate.categories import is_missing


def listed_categories(categories: Any, here: str, j: int) -> Array:
    """The categories of one column as the gate keeps them: without what stands for a missing value."""
    given = list(categories) if isinstance(categories, (list, tuple, np.ndarray)) else []
    values = [one.decode() if isinstance(one, bytes) else one for one in given if not is_missing(one)]
    kinds = {str if isinstance(one, str) else bool if isinstance(one, (bool, np.bool_)) else float for one in values}
    whole = all(isinstance(one, (int, np.integer)) for one in values)
    if len(set(values)) < len(values):
        raise BadParameter(f"{here}: In column {j}, the predefined categories contain duplicate elements.")
    if len(kinds) > 1 or not given:
        raise BadParameter(f"{here}: the categories of a column must be different, and all text or all numbers")
    kind = kinds.pop() if kinds else float
    array = np.array(values, dtype=object if kind is str else np.int64 if kind is float and whole and values else kind)
    if kind is not str and len(values) < len(given) and not is_missing(given[-1]):
        raise BadParameter(f"{here}: Nan should be the last element in user provided categories of numbers (column {j})")
    if kind is not str and (np.diff(array.astype(float)) <= 0).any():
        raise BadParameter(
            f"{here}: Unsorted categories are not supported for numerical categories (column {j}): give them in ascending order"
        )
    return array


def types_of(table: Any) -> Array | None:
    """The type of each column of a table in memory as it was given; None for tables elsewhere."""
    if check.is_frame(table):
        import narwhals as nw

        kinds = nw.from_native(table, eager_only=True).schema.dtypes()
        return np.array([str(one).lower() if one.is_numeric() and not one.is_decimal() else "object" for one in kinds], dtype=object)
    if isinstance(table, (list, tuple)):
        table = check.as_objects(table)
        table = table.astype(object) if table.dtype.kind == "U" else table
    if not isinstance(table, np.ndarray) or table.ndim != 2:
        return None
    kind = {"U": "str", "T": "str", "S": "bytes", "O": "object"}.get(table.dtype.kind, table.dtype.name)
    return np.full(table.shape[1], kind, dtype=object)


def marks_of(table: Any) -> Array:
    """What stands for a missing value in each column: "None" for a None among objects, else "nan"."""
    if isinstance(table, (list, tuple)):
        table = check.as_objects(table)
    empty = np.empty(0)
    columns: Any = [empty] * table.shape[1]
    if isinstance(table, np.ndarray) and table.dtype == object:
        whole = table.flags.c_contiguous and not _codes.holds_none(table.reshape(-1))  # in the order of the memory
        columns = columns if whole else table.T
    elif hasattr(table, "iloc"):  # of pandas; elsewhere a missing value is none of the values
        columns = [table.iloc[:, j].to_numpy() if str(kind) == "object" else empty for j, kind in enumerate(table.dtypes)]
    return np.array(["None" if _codes.holds_none(column.astype(object, copy=False)) else "nan" for column in columns], dtype=object)
