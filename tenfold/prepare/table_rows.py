"""Rows of a table in any container as a frame of columns, and the columns of new rows found by the names of the fit."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.foreign import float_of
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, BadType, DataWarning, warn
from tenfold.sources import stream
from tenfold.sources.tables import is_path
from tenfold.table.chunks import STILL, is_large, read_in_parts
from tenfold.table.columns import Asked, Column, check_name, look_at, look_at_columns, read_as
from tenfold.table.reading import pl, read_table
from tenfold.table.table import Table, read
from tenfold.table.written_numbers import writes_commas

CATEGORIES = ("category", "nominal", "ordinal")  # kinds that the user may ask for, each by more than one word
LEFT_OUT = ("drop", "dropped", "id", "text", "constant")
HEAD_CELLS = 1 << 20  # of files and blocks, that are looked at to find the kinds of columns


@dataclass(frozen=True)
class Rows:
    """A frame; whether its columns have types (those of a CSV file are texts); whether it writes commas before decimals."""

    frame: pl.DataFrame
    typed: bool
    comma: bool
    named: bool = True  # columns of arrays are called x0, x1, ... here
    dtype: Any = np.float64  # of what is made of the rows
    weights: Any = None
    kinds: Mapping[str, str] = field(default_factory=dict)  # as the user has said of a Table
    elsewhere: pl.DataFrame | None = None  # of a large file: some rows from further down

    def weighed(self) -> tuple[pl.DataFrame, Array | None]:
        """The rows of weight above zero, and their weights."""
        weights = check.as_weights(self.weights, self.frame.height)
        if weights is None or weights.all():
            return self.frame, weights
        return self.frame.filter(weights > 0), weights[weights > 0]


def asked_kinds(given: dict[Any, Any], names: list[str]) -> Asked:
    """The kinds that the user has named, in the words of `look_at_columns`."""
    kinds = {str(name): str(kind).lower() for name, kind in given.items()}
    numbers = ("number", "count", "interval", "ratio", "date", "keep")
    for name, kind in kinds.items():
        if kind not in (*CATEGORIES, *LEFT_OUT, *numbers):
            raise BadParameter(f"Prepare(kinds={{{name!r}: {kind!r}}}): must be one of {', '.join((*CATEGORIES, *numbers, 'drop'))}")
    asked = Asked(
        keep=[name for name, kind in kinds.items() if kind in numbers],
        drop=[name for name, kind in kinds.items() if kind in LEFT_OUT],
        category=[name for name, kind in kinds.items() if kind in CATEGORIES],
    )
    asked.check(names)
    return asked


def looked_at(head: Rows, frame: pl.DataFrame, asked: Asked) -> tuple[list[Column], pl.DataFrame]:
    """What the columns of the first rows are, and the values of those that are used. One that does not vary there may do so elsewhere."""
    columns, used = look_at_columns(frame, head.typed, asked, head.comma)
    if head.elsewhere is None:
        return columns, used
    for i, column in enumerate(columns):
        if column.kind in STILL:
            cells = pl.concat([frame.select(column.name), head.elsewhere.select(column.name)], how="vertical_relaxed").to_series()
            columns[i] = look_at(cells, head.typed, asked, head.comma)[0]
    known = set(used.columns)
    values = [used if one.name in known else read_as([one], frame) for one in columns if one.used]
    return columns, pl.DataFrame([some[one.name] for some, one in zip(values, [one for one in columns if one.used], strict=True)])


def chunks_of(X: Any, target: str | None = None, names: Collection[str] | None = None) -> Generator[Rows]:
    """The rows of a table, without the column of a target: first as many as kinds are found in, then the rest. `names`: those needed."""
    head: list[Rows] = []
    cells = 0
    parts = _parts(X, names)
    for part in parts:
        head.append(_without(part, target))
        cells += part.frame.height * part.frame.width
        if cells >= HEAD_CELLS:
            break
    yield _joined(head)
    for part in parts:
        yield _without(part, target)


def table_of(X: Any) -> Rows:
    """The rows of a table, all of them at once."""
    return _joined(list(_parts(X)))


def _parts(X: Any, names: Collection[str] | None = None) -> Iterator[Rows]:
    """A frame, a path, an array or list of rows, or blocks of any of these, one after the other."""
    if ops.is_sparse(X):
        raise BadType("a sparse matrix holds numbers only and needs no Prepare: scale it with MaxAbsScaler, or give X.toarray()")
    if not isinstance(X, (np.ndarray, Table)) and not is_path(X) and stream.is_stream(X):
        for block in stream.opened(X)[0]():
            rows, *rest = block if isinstance(block, tuple) else (block,)
            yield replace(_whole(rows), weights=rest[1] if len(rest) > 1 else None)
    elif isinstance(X, (str, os.PathLike)) and is_large(Path(X)):
        comma = None
        for chunk in read_in_parts(Path(X), names):
            comma = _has_commas(chunk.frame) if comma is None else comma
            yield Rows(chunk.frame, True, comma, elsewhere=chunk.elsewhere)
    elif stream.is_dask(X):
        for part in X.partitions if hasattr(X, "partitions") else X.rechunk({1: -1}).blocks:
            yield _whole(part.compute())
    else:
        yield _whole(X)


def _whole(X: Any) -> Rows:
    if isinstance(X, (np.ndarray, list, tuple)) or (hasattr(X, "__array__") and not check.is_frame(X)):
        rows = X if isinstance(X, (list, tuple)) else np.asarray(X)
        frame = _of_array(np.array(rows, dtype=object) if isinstance(rows, (list, tuple)) else rows)
        return Rows(frame, True, _has_commas(frame), named=False, dtype=float_of(X))
    if is_path(X) or isinstance(X, Table):
        table = read(X)
        return Rows(table.frame, True, False, kinds=table.given)
    frame = read_table(X).frame
    return Rows(frame, True, _has_commas(frame))


def split_by_name(X: Any, target: str) -> tuple[Any, Array]:
    """A table without the column of the target, and that column: of a frame, or of a file or Table, which is read."""
    if not is_path(X) and not isinstance(X, Table):
        rest, y = check.split_target(X, target)
        return rest, y
    table = read(X)
    check_name(target, list(table), " to be the target")
    y = table.frame[target]
    if y.null_count():
        row = int(y.is_null().arg_max() or 0)
        raise BadInput(f"the target {target!r} is missing in {table.raw.where(row)}: drop the rows without it first")
    nominal = [name for name, kind in table.given.items() if kind in ("nominal", "ordinal") and name != target]
    return table.frame.drop(target).with_columns(pl.col(name).cast(pl.String) for name in nominal), y.to_numpy()


def target_values(column: Column, frame: pl.DataFrame) -> Array:
    """The target of some rows: numbers, or the texts of classes."""
    found = read_as([replace(column, kind="category" if column.kind in ("text", "id") else column.kind)], frame)
    values = found.to_series() if found.width else frame[column.name]
    if values.null_count():
        shown = frame[column.name][int(values.is_null().arg_max() or 0)]
        raise BadInput(f"the target {column.name!r} has no usable value in some row ({shown!r}): drop such rows first")
    return values.to_numpy() if values.dtype != pl.String else values.to_numpy().astype(str)


def _without(rows: Rows, target: str | None) -> Rows:
    if target is None or target not in rows.frame.columns:
        return rows
    return replace(rows, frame=rows.frame.drop(target))


def _joined(parts: list[Rows]) -> Rows:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        raise BadInput("there is no block to read: the iterator is empty (or was read before)")
    frame = pl.concat([part.frame for part in parts], how="vertical_relaxed")
    weights = None if parts[0].weights is None else np.concatenate([np.asarray(part.weights) for part in parts])
    return replace(parts[0], frame=frame, comma=any(part.comma for part in parts), weights=weights)


def _has_commas(frame: pl.DataFrame) -> bool:
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return bool(texts) and writes_commas(frame.select(texts))


def _of_array(rows: Array) -> pl.DataFrame:
    if rows.dtype.kind == "c":
        raise BadInput("Complex data not supported: give real and imaginary parts as columns of their own")
    if rows.ndim != 2:
        raise BadType(f"Prepare takes a table of rows and columns, and got an array of shape {rows.shape}: Reshape your data")
    if rows.dtype.kind in "fiub":
        columns = [pl.Series(f"x{j}", np.ascontiguousarray(rows[:, j])) for j in range(rows.shape[1])]
    else:
        columns = [_of_objects(f"x{j}", rows[:, j].tolist()) for j in range(rows.shape[1])]
    return pl.DataFrame(columns)


def _of_objects(name: str, values: list[Any]) -> pl.Series:
    """A column of Python objects: numbers if all are, else texts; None, NaN and NaT are missing."""
    values = [None if value is None or value != value else value for value in values]
    if all(value is None or (isinstance(value, (int, float, np.number)) and not isinstance(value, bool)) for value in values):
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    return pl.Series(name, values, strict=False) if _of_one_type(values) else pl.Series(
        name, [None if value is None else str(value) for value in values], dtype=pl.String
    )


def _of_one_type(values: list[Any]) -> bool:
    return len({type(value) for value in values if value is not None}) == 1


def read_texts(frame: pl.DataFrame, dates: Mapping[str, bool]) -> pl.DataFrame:
    """These columns, where they hold texts, as the numbers, or dates, that a reader of tables sees in them."""
    texts = [name for name in dates if frame[name].dtype == pl.String]
    comma = bool(texts) and _has_commas(frame)
    found = {}
    for name in texts:
        column, values = look_at(frame[name], False, Asked() if dates[name] else Asked(keep=[name]), comma)
        if column.kind in ("number", "date"):
            found[name] = values
    return frame.with_columns(**found) if found else frame


def matched(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """The columns of these names; one that is written in other letters (`Age `, `AGE`) is taken, with a warning, where only one is."""
    found = in_other_letters(frame.columns, names, " in the new rows")
    if found:
        frame = frame.rename({column: name for name, column in found.items()})
        shown = ", ".join(f"{column!r} as {name!r}" for name, column in list(found.items())[:5])
        warn(f"columns are taken under the names of the fit: {shown}", DataWarning, stacklevel=4)
    return frame.select(names)


def in_other_letters(columns: Iterable[str], names: Collection[str], where: str) -> dict[str, str]:
    """By name the column that is meant by it, of names that no column has; one that is not there is refused. where: the table."""
    known = set(columns)
    absent = [name for name in names if name not in known]
    alike: dict[str, list[str]] = {}
    for column in known - set(names) if absent else ():
        alike.setdefault(column.strip().casefold(), []).append(column)
    found = {name: alike.get(name.strip().casefold(), []) for name in absent}
    for name, some in found.items():
        if len(some) != 1:
            check_name(name, list(columns), where)
    return {name: some[0] for name, some in found.items()}
