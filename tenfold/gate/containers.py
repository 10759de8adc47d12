"""The gate for tables: arrays, sparse matrices, frames and lists of rows as numbers, with their column names."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np

from tenfold import _codes
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadType
from tenfold.core.numbers import column_name
from tenfold.gate.categories import Coder, Placed, is_gap, numbered, short

Column = Array | Placed

DATED = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T]|$)|\d{1,2}[./]\d{1,2}[./](\d{2}|\d{4})( |$)")
NUMBERS_AS_TEXT = "these are numbers stored as text, make numbers of them first"
TOGETHER = 8  # columns that are coded side by side: a line of the cache holds as many
TILE = 2048  # rows that are written before others


def as_table(learner: Any, X: Any, coder: Coder | None = None) -> tuple[Any, Array | None]:
    """X as a 2-D array or CSR matrix of numbers, with its column names if it has any; a coder takes categories too."""
    names, given = None, X
    if type(X) is not np.ndarray and is_frame(X):
        X, names = _from_frame(X, coder)
    else:
        X = X if type(X) is np.ndarray else _unpacked(learner, X)
        if coder is not None and X.ndim == 2:
            X = _coded_array(X, coder.begin(None, X.shape[1]))
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
    arrays = [_column(column, j, coder) for j, column in enumerate(frame.iter_columns())]
    if not arrays:
        return np.empty((frame.shape[0], 0)), names
    kind = np.result_type(*(np.float64 if isinstance(one, Placed) else one for one in arrays))
    kind = kind if kind in (np.float32, np.float64) else np.dtype(np.float64)
    return _by_columns(frame.shape, kind, lambda first, last: arrays[first:last]), names


def _column(column: Any, j: int, coder: Coder | None) -> Column:
    """One column of a frame as numbers; a missing value is NaN."""
    import narwhals as nw

    kind, where = column.dtype, f"column {str(column.name)[:80]!r}"
    if kind.is_numeric():
        numbers: Array = column.to_numpy()
        numbers = numbers if numbers.dtype.kind in "fiu" else numbers.astype(np.float64)
        return numbers if coder is None else coder.numbers(j, numbers)
    objects = kind in (nw.Object, nw.Unknown)
    if coder is not None and (objects or kind in (nw.String, nw.Categorical, nw.Enum, nw.Boolean)):
        try:
            return coder.values(j, *numbered_column(column.to_native()), native=not objects)
        except (TypeError, OverflowError):  # things that are no categories
            return coder.numbers(j, _no_categories(column.to_list(), where))
    if objects or kind == nw.Boolean:
        return to_floats(column.to_list(), where)
    values = column.to_list()
    if column.null_count():
        values = [None if is_gap(one) else one for one in values]
    if kind == nw.String and coder is None:
        try:  # numbers that are stored as text
            return np.array([np.nan if one is None else float(one) for one in values])
        except (TypeError, ValueError):
            pass
    read = [one is not None and is_number(one) for one in values]
    wrong = next((i for i, one in enumerate(values) if one is not None and not read[i]), None)
    row = wrong if wrong is not None else read.index(True) if any(read) else 0
    way = NUMBERS_AS_TEXT if read[row] else way_to_numbers(values[row], any(read), kind.is_temporal())
    raise BadInput(f"could not convert string to float: {where} holds {kind} (row {row}: {short(values[row])}): {way}")


def is_number(value: Any) -> bool:
    """Whether a value can be read as a number."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def way_to_numbers(value: Any, beside_numbers: bool = False, dated: bool = False) -> str:
    """What makes numbers of a column with such a value. Of a date it is not known which part matters: it is not made a number untold."""
    dated = dated or isinstance(value, date) or (isinstance(value, str) and DATED.match(value.strip()) is not None)
    way = f"as numbers first, with {'Prepare or DateParts' if dated else 'OneHotEncoder'} for example"
    return f"make this cell a number or a missing value, or code the column {way}" if beside_numbers else f"code it {way}"


def numbered_column(column: Any) -> tuple[Array, list[Any]]:
    """A column of pandas, polars or Arrow by the numbers of its different values."""
    module = type(column).__module__.partition(".")[0]
    if module == "pandas":
        import pandas

        if column.dtype == object:
            codes, different = numbered(column.to_numpy())
            gone = pandas.isna(np.fromiter(different, object, len(different)))
            return codes, [None if missing else one for one, missing in zip(different, gone, strict=True)]
        codes, known = pandas.factorize(column)
        return codes, known.tolist()
    if module == "polars" and str(column.dtype) not in ("Boolean", "Object"):
        import polars

        texts = column.cast(polars.String)
        different = texts.drop_nulls().unique().sort()
        codes = texts.cast(polars.Enum(different)).to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
        return codes, different.to_list()
    if module == "pyarrow":
        whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        encoded = whole if hasattr(whole, "indices") else whole.dictionary_encode()
        return encoded.indices.cast("int64").fill_null(-1).to_numpy(), encoded.dictionary.to_pylist()
    return numbered(column.to_list())


def _coded_array(X: Any, coder: Coder) -> Any:
    """An array, the columns that hold categories as codes."""
    p = X.shape[1]
    if X.dtype.kind in "fiub" or ops.is_sparse(X):
        marked = [j for j in range(p) if coder.wants(j)]
        if not marked:
            return X
        if ops.is_sparse(X):
            raise BadType("sparse data hold no categories, but categorical_features marks some: use X.toarray()")
        kind = X.dtype if X.dtype.kind == "f" else np.dtype(np.float64)
        if len(marked) < p:
            table = X.astype(kind)
            for j in marked:
                fill_columns(table, [coder.numbers(j, X[:, j])], j)
            return table
        return _by_columns(X.shape, kind, lambda first, last: _number_columns(X[:, first:last], first, coder))
    if X.dtype.kind not in "OUTS" or p == 0:
        return X
    X = np.char.decode(X, "utf-8") if X.dtype.kind == "S" else X
    return _by_columns(X.shape, np.dtype(np.float64), lambda first, last: _object_columns(X[:, first:last], first, coder))


def _by_columns(shape: tuple[int, int], kind: np.dtype[Any], some: Callable[[int, int], list[Column]]) -> Array:
    """A table of columns, of which `some` makes those from one to before another. Codes of few categories take two bytes each as
    long as there is nothing else: a source makes floats of them block by block."""
    table = np.empty(shape, dtype=np.uint16 if kind == np.float64 else kind)
    for first in range(0, shape[1], TOGETHER):
        columns = some(first, first + TOGETHER)
        if table.dtype != kind and not all(isinstance(one, Placed) and one.is_small() for one in columns):
            before, table = table, np.empty(shape, dtype=kind)
            table[:, :first] = before[:, :first]
        fill_columns(table, columns, first)
    return table


def fill_columns(table: Array, columns: list[Column], first: int) -> None:
    """Write columns of a table from the first on: some rows at a time, which stay in cache until all of their columns are there."""
    placed = [(one.places, one.numbers) for one in columns if isinstance(one, Placed)]
    if len(placed) == len(columns):
        _codes.spread(placed, table, first)
        return
    arrays = [one.spread() if isinstance(one, Placed) else one for one in columns]
    for start in range(0, len(table), TILE):
        for j, column in enumerate(arrays, first):
            table[start : start + TILE, j] = column[start : start + TILE]


def columns_of(X: Array) -> Array:
    """The columns of a table, each in one piece."""
    columns = np.empty(X.shape[::-1], dtype=X.dtype)
    for start in range(0, len(X), TILE):
        columns[:, start : start + TILE] = X[start : start + TILE].T
    return columns


def _number_columns(X: Array, first: int, coder: Coder) -> list[Column]:
    """Columns of numbers, all of them categories."""
    return [coder.numbers(first + j, column) for j, column in enumerate(columns_of(X))]


def _object_columns(X: Array, first: int, coder: Coder) -> list[Column]:
    """Columns of objects or texts."""
    try:
        numbers, different = _codes.numbered_columns(X) if X.dtype == object else (None, [])
    except TypeError:  # one of them holds things that are no categories
        numbers = None
    if numbers is None:
        return [_object_column(X[:, j], first + j, coder) for j in range(X.shape[1])]
    return [_object_column(X[:, j], first + j, coder, (numbers[j], different[j])) for j in range(X.shape[1])]


def _object_column(values: Array, j: int, coder: Coder, by_number: tuple[Array, list[Any]] | None = None) -> Column:
    """A column of objects; one of an array of texts is text only where its values are not all numbers."""
    if values.dtype.kind != "O" and not coder.wants(j):
        try:
            return values.astype(np.float64)
        except ValueError:
            pass
    try:
        by_number = by_number or numbered(values)
        return coder.values(j, *by_number, native=values.dtype.kind != "O")
    except (TypeError, OverflowError):  # things that are no categories
        return coder.numbers(j, _no_categories(values, column_name(None, j)))


def _no_categories(values: Any, where: str) -> Array:
    """Numbers of other types, decimals for example; anything else is refused, before texts beside it are."""
    to_floats([None if isinstance(value, str) else value for value in values], where)
    return to_floats(values, where)


def to_floats(values: Any, where: str) -> Array:
    out = np.empty(len(values))
    try:
        found = np.array(values, dtype=np.float64)
        if found.shape == out.shape:  # cells may be lists
            return found
    except (TypeError, ValueError, OverflowError):  # one by one, to name the value
        pass
    for i, value in enumerate(values):
        try:
            out[i] = np.nan if value is None else float(str(value) if isinstance(value, str) else value)
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
