"""The gate for tables: arrays, sparse matrices, frames and lists of rows as one table of numbers, with their column names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadType
from tenfold.core.numbers import column_name
from tenfold.gate.categories import Coder, Placed
from tenfold.gate.columns import by_columns, coded_array, column_of_frame, to_floats


def as_table(learner: Any, X: Any, coder: Coder | None = None) -> tuple[Any, Array | None]:
    """X as a 2-D array or CSR matrix of numbers, with its column names if it has any; a coder takes categories too."""
    names, given = None, X
    if type(X) is not np.ndarray and is_frame(X):
        X, names = _from_frame(X, coder)
    else:
        X = X if type(X) is np.ndarray else _unpacked(learner, X)
        if coder is not None and X.ndim == 2:
            X = coded_array(X, coder.begin(None, X.shape[1]))
    if X.dtype.kind not in "fiub" and not ops.is_sparse(X):
        X = _numbers(X)
    if X.ndim != 2:
        shape = "scalar" if X.ndim == 0 else f"{X.ndim}D"
        if hasattr(given, "to_frame"):
            raise BadInput(f"Expected a 2-dimensional container but got {type(given)} instead. Use X.to_frame() for one column")
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


def sound_rows(X: Any) -> Any:
    """Sparse X by rows, each place named once and within the table: SciPy does not look, and would read and write beyond it."""
    try:
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
    except ValueError as why:
        raise BadInput(
            f"the sparse X is no table of {X.shape[0]} rows and {X.shape[1]} columns ({why}): give the right shape where it is made"
        ) from None
    rows = X.tocsr()
    if not rows.has_canonical_format:  # values of one place are one value, their sum
        rows = rows.copy() if rows is X else rows
        rows.sum_duplicates()
    return rows


def _unpacked(learner: Any, X: Any) -> Any:
    """The array inside a sparse matrix or a list of rows."""
    if ops.is_sparse(X):
        if not learner.sparse:
            raise BadType(
                f"Sparse data was passed, but dense data is required by {type(learner).__name__}: use X.toarray()"
            )
        if X.ndim != 2:
            raise BadInput(f"Expected 2D array, got {X.ndim}D sparse array instead. Reshape your data")
        if X.dtype.kind == "c":
            raise BadInput("Complex data not supported: give real numbers")
        return sound_rows(X)
    try:
        table = None if X is None or isinstance(X, (str, bytes, dict, set)) else as_objects(X)
    except ValueError:
        raise BadInput(
            "X is not a table: its rows have different lengths, or hold things of different shapes"
        ) from None
    if table is None or (table.ndim == 0 and table.dtype.kind == "O"):
        raise BadType(
            f"X must be a table of numbers, not {type(X).__name__}: give an array, a data frame, "
            "a sparse matrix, a path to a CSV or Parquet file, or blocks of rows"
        )
    return table


def unmasked(values: Any) -> Array:
    """As an array; what a masked array masks is missing: NaN among numbers, None among other things."""
    if not (isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values)):
        return np.asarray(values)
    numbers = values.dtype.kind in "fiub"
    kind = object if not numbers else values.dtype if values.dtype.kind == "f" else np.float64
    plain = np.array(values.data, dtype=kind)
    plain[np.ma.getmaskarray(values)] = np.nan if numbers else None
    return plain


def as_objects(X: Any) -> Array:
    """A list of rows as an array; one of text beside other things as objects, so that numbers stay numbers and None stays None."""
    table = unmasked(X)
    if table.dtype.kind not in "US" or not isinstance(X, (list, tuple)):
        return table
    objects = np.asarray(X, dtype=object)
    return table if all(isinstance(one, str) for one in objects.flat) else objects


def is_frame(X: Any) -> bool:
    """pandas, polars, Arrow tables, and whatever narwhals knows."""
    module = type(X).__module__.partition(".")[0]
    if module in ("numpy", "builtins", "scipy"):
        return False
    if module in ("pandas", "polars", "pyarrow", "modin", "cudf"):
        return hasattr(X, "columns")
    return hasattr(X, "__narwhals_dataframe__")


def frame_names(X: Any) -> Array | None:
    """The column names of a frame; None for any other table."""
    if type(X) is np.ndarray or not is_frame(X):
        return None
    return column_names(list(X.column_names if hasattr(X, "column_names") else X.columns))


def _from_frame(X: Any, coder: Coder | None) -> tuple[Array, Array | None]:
    import narwhals as nw

    names = frame_names(X)
    frame = nw.from_native(X, eager_only=True)
    if coder is not None:
        coder.begin(names, frame.shape[1])
    if not frame.shape[0]:  # no value to name in a refusal; a table without rows is refused elsewhere
        return np.empty(frame.shape), names
    arrays = [column_of_frame(column, j, coder) for j, column in enumerate(frame.iter_columns())]
    if not arrays:
        return np.empty((frame.shape[0], 0)), names
    kind = np.result_type(*(np.float64 if isinstance(one, Placed) else one for one in arrays))
    kind = kind if kind in (np.float32, np.float64) else np.dtype(np.float64)
    return by_columns(frame.shape, kind, lambda first, last: arrays[first:last]), names


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
