"""Columns of tables as numbers: numbers as they are, categories by their codes, and a refusal that names the cell of anything else."""

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


def column_of_frame(column: Any, j: int, coder: Coder | None) -> Column:
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


def coded_array(X: Any, coder: Coder) -> Any:
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
        return by_columns(X.shape, kind, lambda first, last: _number_columns(X[:, first:last], first, coder))
    if X.dtype.kind not in "OUTS" or p == 0:
        return X
    X = np.char.decode(X, "utf-8") if X.dtype.kind == "S" else X
    return by_columns(X.shape, np.dtype(np.float64), lambda first, last: _object_columns(X[:, first:last], first, coder))


def by_columns(shape: tuple[int, int], kind: np.dtype[Any], some: Callable[[int, int], list[Column]]) -> Array:
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
