"""What stands for a missing value, and where it stands in tables of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput

NUMBERS = (int, float, np.integer, np.floating, np.bool_)


def is_nan(mark: Any) -> bool:
    """Whether a mark means that missing values are NaN or pandas' NA."""
    return (isinstance(mark, (float, np.floating)) and bool(mark != mark)) or type(mark).__name__ == "NAType"


def is_number(mark: Any) -> bool:
    """Whether a mark is a number like any other."""
    return isinstance(mark, NUMBERS) and not is_nan(mark)


def as_objects(X: Any) -> Array | None:
    """The values of a table in memory that holds other things than numbers, as they are; None for a table of numbers."""
    if check.elsewhere(X) or ops.is_sparse(X):
        return None
    if check.is_frame(X):
        import narwhals as nw

        check.frame_names(X)  # refuses names that occur twice
        frame = nw.from_native(X, eager_only=True)
        if all(kind.is_numeric() for kind in frame.schema.dtypes()):
            return None
        table = np.empty(frame.shape, dtype=object)
        for j, column in enumerate(frame.iter_columns()):
            table[:, j] = column.to_list()
        return table
    try:
        table = X if type(X) is np.ndarray else np.asarray(X)
    except ValueError:
        return None  # no table at all: the gate says why
    if table.dtype.kind in "US" and type(X) is not np.ndarray:
        table = np.asarray(X, dtype=object)
    return table if table.dtype == object and table.ndim == 2 else None


def gaps(X: Array, mark: Any) -> Array:
    """Where the mark stands in an array (n, p) of objects; NaN, None and NA mean the same."""
    if is_nan(mark) or mark is None:
        return np.array([[one is None or is_nan(one) for one in row] for row in X.tolist()], dtype=bool).reshape(X.shape)
    kind = NUMBERS if is_number(mark) else type(mark)
    return np.array([[isinstance(one, kind) and one == mark for one in row] for row in X.tolist()], dtype=bool).reshape(X.shape)


def check_kinds(X: Any, mark: Any) -> None:
    """Refuse a mark that cannot stand in a table of numbers, and zeros as gaps of a sparse one."""
    kind = getattr(X, "dtype", None)
    if kind is not None and kind.kind in "fiu" and not isinstance(mark, NUMBERS) and not is_nan(mark):
        if kind.kind == "f" and not ops.is_sparse(X) and np.isnan(X).any():
            raise BadInput(f"Input X contains NaN, but missing_values={mark!r} stands for a missing value: set missing_values=np.nan")
        raise BadInput(
            f"'X' and 'missing_values' types are expected to be both numerical. Got X.dtype={kind} and "
            f"type(missing_values)={type(mark)}."
        )
    if ops.is_sparse(X) and is_number(mark) and mark == 0:
        raise BadInput(
            "Sparse input with missing_values=0 is not supported. Provide a dense array instead: use X.toarray(). Imputation not possible "
            "when missing_values == 0 and input is sparse."
        )
