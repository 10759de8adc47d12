"""The gate for tables: arrays, sparse matrices, frames and lists of rows as numbers, with their column names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, column_name
from tenfold.core.errors import BadInput, BadType


def as_table(learner: Any, X: Any) -> tuple[Any, Array | None]:
    """X as a 2-D array or CSR matrix of numbers, with its column names if it has any."""
    names = None
    if type(X) is not np.ndarray:
        X, names = _unpacked(learner, X)
    if X.dtype.kind not in "fiub" and not ops.is_sparse(X):
        X = _numbers(X)
    if X.ndim != 2:
        shape = "scalar" if X.ndim == 0 else f"{X.ndim}D"
        raise BadInput(
            f"Expected 2D array, got {shape} array instead (shape={X.shape}). Reshape your data: "
            "X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        )
    n, p = X.shape
    if n < 1:
        raise BadInput(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    if p < 1:
        raise BadInput(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        X = X.astype(np.float32 if X.dtype.itemsize < 4 else np.float64)
    if names is None and type(X) is np.ndarray and not X.flags.aligned:
        X = X.copy()
    return X, names


def _unpacked(learner: Any, X: Any) -> tuple[Any, Array | None]:
    """The array inside a sparse matrix, a frame, or a list of rows."""
    if ops.is_sparse(X):
        if not learner.sparse:
            raise BadType(
                f"Sparse data was passed, but {type(learner).__name__} takes dense data only: use X.toarray()"
            )
        if X.ndim != 2:
            raise BadInput(f"Expected 2D array, got {X.ndim}D sparse array instead. Reshape your data")
        if X.dtype.kind == "c":
            raise BadInput("Complex data not supported: give real numbers")
        return X.tocsr(), None
    if is_frame(X):
        return _from_frame(X)
    try:
        table = None if X is None or isinstance(X, (str, bytes, dict, set)) else np.asarray(X)
    except ValueError:
        raise BadInput(
            "X is not a table: its rows have different lengths, or hold things of different shapes"
        ) from None
    if table is None or (table.ndim == 0 and table.dtype.kind == "O"):
        raise BadType(
            f"X must be a table of numbers, not {type(X).__name__}: give an array, a data frame, "
            "a sparse matrix, a path to a CSV or Parquet file, or blocks of rows"
        )
    return table, None


def is_frame(X: Any) -> bool:
    """pandas, polars, Arrow tables, and whatever narwhals knows."""
    module = type(X).__module__.partition(".")[0]
    if module in ("numpy", "builtins", "scipy"):
        return False
    if module in ("pandas", "polars", "pyarrow", "modin", "cudf"):
        return hasattr(X, "columns")
    return hasattr(X, "__narwhals_dataframe__")


def _from_frame(X: Any) -> tuple[Array, Array | None]:
    import narwhals as nw

    names = column_names(list(X.column_names if hasattr(X, "column_names") else X.columns))
    frame = nw.from_native(X, eager_only=True)
    arrays = [_numeric_column(column, column.name) for column in frame.iter_columns()]
    if not arrays:
        return np.empty((frame.shape[0], 0)), names
    kind = np.result_type(*arrays)
    table = np.empty((len(arrays[0]), len(arrays)), dtype=kind if kind in (np.float32, np.float64) else np.float64)
    for j, values in enumerate(arrays):
        table[:, j] = values
    return table, names


def _numeric_column(column: Any, name: Any) -> Array:
    """One column of a frame as numbers; a blank is NaN."""
    if column.dtype.is_numeric():
        numbers: Array = column.to_numpy()
        return numbers if numbers.dtype.kind in "fiu" else numbers.astype(np.float64)
    import narwhals as nw

    values = column.to_list() if column.dtype in (nw.Boolean, nw.Object, nw.Unknown) else None
    if values is None:
        first = next((i for i, v in enumerate(column.to_list()) if v is not None), 0)
        raise BadInput(
            f"could not convert string to float: column {str(name)[:80]!r} holds {column.dtype} "
            f"(row {first}: {short(column[first])}): code it as numbers first"
        )
    return to_floats(values, f"column {str(name)[:80]!r}")


def to_floats(values: Any, where: str) -> Array:
    out = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            out[i] = np.nan if value is None else float(value)
        except (TypeError, ValueError, OverflowError) as reason:
            kind = BadType if isinstance(reason, TypeError) else BadInput
            raise kind(f"{reason} ({where}, row {i}): code it as a number first") from None
    return out


def _numbers(X: Array) -> Array:
    """An array of another type (objects, text) as numbers."""
    if X.dtype.kind == "c":
        raise BadInput("Complex data not supported: give real numbers")
    if X.dtype.kind in "mM":
        raise BadType(f"X holds dates ({X.dtype}): turn them into numbers first, days since a day for example")
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        if X.ndim != 2:
            raise BadInput("X is not a table of numbers: its rows have different lengths or hold text") from None
    columns = [to_floats(X[:, j], column_name(None, j)) for j in range(X.shape[1])]
    return np.column_stack(columns)


def column_names(columns: Any) -> Array | None:
    """Names as an array of str; None where they are not text."""
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if list(columns).count(name) > 1)
        raise BadInput(f"the column name {str(twice)[:80]!r} occurs more than once: rename one of the columns")
    text = [isinstance(name, str) for name in columns]
    if any(text) and not all(text):
        raise BadType(
            "Feature names are only supported if all input features have string names, but your input has "
            "mixed types of names: convert them with X.columns = X.columns.astype(str)"
        )
    return np.array(columns, dtype=object) if all(text) and text else None


def split_target(X: Any, name: str) -> tuple[Any, Any]:
    """A frame without the named column, and that column."""
    if not is_frame(X):
        raise BadType(f"y={name!r} names a column, but X is {type(X).__name__} and has no names: give y as an array")
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    if name not in frame.columns:
        raise BadInput(f"there is no column {name!r} to be the target: the columns are {listed(frame.columns)}")
    return frame.drop(name).to_native(), frame[name].to_numpy()


def listed(columns: Any) -> str:
    shown = ", ".join(str(name)[:40] for name in columns[:8])
    return shown + (f" and {len(columns) - 8} more" if len(columns) > 8 else "")


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
