"""Columns of a table as users name them: by name, place, slice, mask, a function of the table, or their type."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter

NUMBER, TEXT, TRUTH = "number", "text", "truth"
# What types are called, and the kinds of columns that they are.
KINDS: dict[str, tuple[str, ...]] = {
    "number": (NUMBER,), "int": ("int",), "float": ("float",), "integer": ("int",), "floating": ("float",), "int64": ("int",),
    "float64": ("float",), "float32": ("float",), "int32": ("int",), "object": (TEXT,), "str": (TEXT,), "string": (TEXT,),
    "category": (TEXT,), "categorical": (TEXT,), "bool": (TRUTH,), "boolean": (TRUTH,), "bool_": (TRUTH,),
}  # fmt: skip


class make_column_selector:
    """Columns by a pattern of their names, and by the types that they hold.

    pattern         a regular expression that is searched in the names
    dtype_include   types of columns that are taken: "number", int, float, object or "category" for text, bool; one or a list
    dtype_exclude   types of columns that are not

    Frames in memory have types; of files, streams and collections it is known which columns hold numbers, text or truth values.

    >>> import polars, tenfold
    >>> frame = polars.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]})
    >>> tenfold.make_column_selector(dtype_include="number")(frame)
    ['size']
    """

    def __init__(self, pattern: str | None = None, *, dtype_include: Any = None, dtype_exclude: Any = None) -> None:
        self.pattern, self.dtype_include, self.dtype_exclude = pattern, dtype_include, dtype_exclude

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in vars(self).items() if value is not None]
        return f"make_column_selector({', '.join(given)})"

    def __call__(self, table: Any) -> list[str]:
        """The names of the columns of a frame that are chosen."""
        if not check.is_frame(table):
            raise BadInput(
                "make_column_selector can only be applied to pandas dataframes, or other frames, whose columns have names and types"
            )
        import narwhals as nw

        frame = nw.from_native(table, eager_only=True)
        return self.chosen([str(name) for name in frame.columns], [_kind(one) for one in frame.schema.values()])

    def chosen(self, names: list[str], kinds: list[str]) -> list[str]:
        """Those of these columns, of these kinds."""
        found = [name for name, kind in zip(names, kinds, strict=True) if self._takes(kind)]
        return found if self.pattern is None else [name for name in found if re.search(self.pattern, name)]

    def _takes(self, kind: str) -> bool:
        wanted, unwanted = _kinds(self.dtype_include), _kinds(self.dtype_exclude)
        return (wanted is None or _is_one(kind, wanted)) and (unwanted is None or not _is_one(kind, unwanted))


def _kind(dtype: Any) -> str:
    """What a column of a frame holds."""
    if dtype.is_numeric():
        return "int" if dtype.is_integer() else "float"
    name = type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__
    return TRUTH if name == "Boolean" else TEXT if name in ("String", "Categorical", "Enum", "Object", "Unknown") else name


def _kinds(given: Any) -> set[str] | None:
    if given is None:
        return None
    found: set[str] = set()
    for one in given if isinstance(given, (list, tuple)) else [given]:
        name = one if isinstance(one, str) else one.__name__ if isinstance(one, type) else str(one)
        if name not in KINDS:
            raise BadParameter(f"make_column_selector: {one!r} is no type of columns: use 'number', int, float, object or bool")
        found.update(KINDS[name])
    return found


def _is_one(kind: str, of: set[str]) -> bool:
    if kind in of or (NUMBER in of and kind in ("int", "float")):
        return True
    return kind == NUMBER and bool(of & {"int", "float"})  # it is only known that they are numbers


def kinds_of(source: Source) -> list[str]:
    """What the columns of a source hold, as the gate knows it."""
    known = source.facts.get("categories_") or [None] * source.n_features
    return [NUMBER if one is None else TRUTH if one.dtype.kind == "b" else TEXT for one in known]


def places_of(columns: Any, source: Source, where: str) -> Array:
    """The places of columns in the rows of a source; `where` stands before what is wrong."""
    names, width = source.facts.get("feature_names_in_"), source.n_features
    listed = None if names is None else [str(name) for name in names]
    if callable(columns):
        columns = _of_function(columns, source, listed, where)
    if isinstance(columns, slice):
        return _of_slice(columns, listed, width, where)
    given: Any = [columns] if isinstance(columns, (str, int, np.integer)) and not isinstance(columns, bool) else columns
    try:
        given = list(given)
    except TypeError:
        raise BadParameter(
            f"{where}: No valid specification of the columns: names, places, a slice, a mask or a function, not {check.short(columns)}"
        ) from None
    if given and all(isinstance(one, (bool, np.bool_)) for one in given):
        if len(given) != width:
            raise BadParameter(f"{where}: the mask has {len(given)} entries, and X has {width} columns")
        return np.flatnonzero(given)
    if len({isinstance(one, str) for one in given}) > 1:
        raise BadParameter(f"{where}: No valid specification of the columns: names or places, not both: {check.short(columns)}")
    return np.array([_place(one, listed, width, where) for one in given], dtype=np.int64)


def _of_function(columns: Any, source: Source, listed: list[str] | None, where: str) -> Any:
    if columns in source.looked:
        return source.looked[columns]
    if isinstance(columns, make_column_selector) and listed is not None:
        return columns.chosen(listed, kinds_of(source))
    raise BadInput(
        f"{where}: a function of the table needs a table in memory, with names where it asks for them: give names or places of columns"
    )


def _of_slice(columns: slice, listed: list[str] | None, width: int, where: str) -> Array:
    """Of places as in Python; of names both ends belong to it."""
    start, stop = columns.start, columns.stop
    if len({isinstance(one, str) for one in (start, stop) if one is not None}) > 1:
        raise BadParameter(f"{where}: No valid specification of the columns: a slice from a name to a place or back, {columns}")
    if isinstance(start, str) or isinstance(stop, str):
        first = 0 if start is None else _place(start, listed, width, where)
        last = width - 1 if stop is None else _place(stop, listed, width, where)
        return np.arange(width)[slice(first, last + 1, columns.step)]
    return np.arange(width)[columns]


def _place(one: Any, listed: list[str] | None, width: int, where: str) -> int:
    if isinstance(one, str):
        if listed is None:
            raise BadInput(
                f"{where}: Specifying the columns using strings is only supported for dataframes: {one!r} names a column, but X has no "
                "names; give its place, or a frame"
            )
        if one not in listed:
            raise BadInput(f"{where}: there is no column {one!r} in X: its columns are {check.listed(listed)}")
        return listed.index(one)
    if isinstance(one, (bool, np.bool_)) or not isinstance(one, (int, np.integer)):
        raise BadParameter(f"{where}: No valid specification of the columns: names or places, not {check.short(one)}")
    if not -width <= one < width:
        raise BadInput(f"{where}: there is no column {one} in X, which has {width} columns")
    return int(one) % width
