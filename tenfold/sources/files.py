"""The rows of tables in files, as a source.

Rows are cut anew, across batches and files, into blocks of exactly `block_rows` rows: a file gives the same
bits as the same table in memory. Reading hands out columns, one thread at a time; `load` makes rows of
them, on all threads.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block, Source, Target, block_rows
from tenfold.core.errors import BadInput
from tenfold.core.numbers import check_finite
from tenfold.gate import check
from tenfold.gate.categories import Placed
from tenfold.sources.bad_cells import missing_label, polars, without_label
from tenfold.sources.formats import Table

BATCH_BLOCKS = 8  # blocks in a batch: enough to amortise its cost, few enough to stay small beside a row group


class Files(Source):
    """Rows of tables in files, one after the other."""

    def __init__(
        self,
        learner: Any,
        tables: list[Table],
        names: list[str],
        targets: list[str],
        weight: str | None,
        coder: check.Coder | None = None,
    ) -> None:
        self.tables, self.names, self.targets, self.weight = tables, names, targets, weight
        self.missing, self.least_rows = learner.missing, learner.least_rows
        self.n_features, self.text_labels = len(names), False
        self.size = block_rows(self.n_features)
        self.target = Target(learner.target if targets else "none", flat=len(targets) == 1, width=len(targets) or 1)
        self.coder, self.coded = coder, self._coded_columns(coder)
        numbers = [name for name in names if name not in self.coded]
        numbers += ([] if self.target.kind == "label" else targets) + ([] if weight is None else [weight])
        for table in tables:
            table.want_numbers(numbers)
        kinds = {table.numpy_type(name) for table in tables for name in names}
        self.dtype = np.result_type(*kinds)
        if self.dtype not in (np.float32, np.float64):
            self.dtype = np.dtype(np.float64)

    def _coded_columns(self, coder: check.Coder | None) -> dict[str, int]:
        """The columns of categories, with their places; the tables are asked for them."""
        if coder is None:
            return {}
        pl, known = polars(), coder.known
        coder.begin(check.column_names(self.names), self.n_features)
        kinds = dict[str, Any]()
        if known is None:
            for table in self.tables:  # text in one file makes text of all
                found = table.category_kinds(self.names)
                kinds |= {name: kind for name, kind in found.items() if kinds.get(name) != pl.String}
        else:
            of = {"O": pl.String, "b": pl.Boolean, "f": pl.Float64, "i": pl.Float64}
            kinds = {self.names[j]: of[one.dtype.kind] for j, one in enumerate(known) if one is not None}
        coded = {name: j for j, name in enumerate(self.names) if coder.wants(j, native=name in kinds)}
        for name, j in coded.items():
            for table in self.tables:
                table.want_categories(name, None if known is None else known[j], kinds.get(name, pl.Float64))
        return coded

    def find_categories(self) -> Any:
        """The categories of all columns, by one pass over those that have some, unless they are known."""
        if self.coder is None or self.coder.known is not None:
            return None if self.coder is None else self.coder.known
        names, learner = self.coder.names, self.coder.learner
        found = check.union(self._surveys(), names) if self.coded else []
        self.coder = check.Coder(learner, found or [None] * self.n_features).begin(names, self.n_features)
        return self.coder.known

    def _surveys(self) -> Iterator[Any]:
        """The categories of each piece."""
        assert self.coder is not None
        for piece in self.pieces(list(self.coded)):
            one = check.Coder(self.coder.learner).begin(self.coder.names, self.n_features)
            for column in piece.columns[: len(self.coded)]:
                _coded(one, self.coded[column.name], column)
            yield one.found

    def whole(self) -> Files:
        """All rows, those of weight zero too."""
        rest = copy.copy(self)
        rest.targets, rest.weight, rest.target = [], None, Target("none")
        return rest

    def pieces(self, names: list[str]) -> Iterator[Piece]:
        """Those columns as polars hands them out, without the rows of weight zero."""
        wanted = names if self.weight is None else [*names, self.weight]
        for table in self.tables:
            first = 0
            for frame in table.batches(wanted, BATCH_BLOCKS * self.size):
                rows = slice(first, first + frame.height)
                first = rows.stop
                if self.weight is None:
                    yield Piece(frame.get_columns(), table, rows)
                    continue
                kept = np.flatnonzero(frame[self.weight].to_numpy() != 0)  # a missing weight is kept, and refused by `load`
                if len(kept):
                    yield Piece(frame[kept].get_columns(), table, kept + rows.start)

    def parts(self) -> Iterator[list[Piece]]:
        waiting, held, total = list[Piece](), 0, 0
        for piece in self.pieces([*self.names, *self.targets]):
            piece.columns = [self._array(column) for column in piece.columns]
            total += len(piece)
            start = 0
            while held + len(piece) - start >= self.size:
                stop = start + self.size - held
                yield [*waiting, piece.cut(start, stop)]
                waiting, held, start = [], 0, stop
            if start < len(piece):
                waiting.append(piece.cut(start, len(piece)))
                held += len(piece) - start
        if waiting:
            yield waiting
        if total < max(1, self.least_rows):
            weighed = "" if self.weight is None else f" with {self.weight!r} above zero"
            raise BadInput(
                f"Found {total} sample(s) in {check.listed(self.tables)}{weighed}, "
                f"while a minimum of {max(1, self.least_rows)} is required"
            )

    def _array(self, column: Any) -> Array:
        """A column as NumPy has it, missing values as NaN; text labels as their numbers, unseen ones as NaN."""
        if self.text_labels and self.target.classes is not None and column.name == self.targets[0]:
            column = (
                column.cast(polars().String).cast(polars().Enum(list(self.target.classes)), strict=False).to_physical()
            )
        if self.coder is not None and column.name in self.coded:
            return _coded(self.coder, self.coded[column.name], column)
        values: Array = column.to_numpy()
        return values if values.dtype != object else column.cast(polars().Float64).to_numpy()

    def load(self, part: list[Piece]) -> Block:
        n, p, index = sum(map(len, part)), self.n_features, Places(part)
        X = np.empty((n, p), dtype=self.dtype)
        row = 0
        for piece in part:
            into = X[row : row + len(piece)]
            for j in range(p):
                into[:, j] = piece.columns[j]
            row += len(piece)
        if not ops.all_usable(X):
            check_finite(X, index, self.names, self.missing)
        rest = [_joined(part, j) for j in range(p, len(part[0].columns))]
        w = np.ones(n) if self.weight is None else check.as_weights(rest.pop(), n, index)
        assert w is not None
        return Block(X, self._codes(rest, n, index), w)

    def _codes(self, columns: list[Array], n: int, index: Places) -> Array | None:
        """The target of a block as the learner wants it."""
        if not columns:
            return None
        if self.target.kind == "real":
            return check.real_target(columns[0] if len(columns) == 1 else np.column_stack(columns), n, index)
        if not self.text_labels:
            return check.encode(check.flat_labels(columns[0], n, index), self.target.classes, index)[1]
        codes = columns[0]
        if codes.dtype.kind == "f":
            place = index[int(np.flatnonzero(np.isnan(codes))[0])]
            raise BadInput(
                f"y is missing, or a label not among the classes {check.listed(self.target.classes)}, "
                f"in row {place}: "
                "give all of them in classes="
            )
        return codes.astype(np.int64)

    def find_classes(self, learner: Any, classes: Any) -> None:
        """One pass over the target alone, unless the classes are known."""
        name = self.targets[0]
        values = self._count(name) if classes is None else np.unique(np.asarray(classes))
        if len(values) < 2 and learner.least_classes > 1:
            raise BadInput(
                f"{type(learner).__name__} needs samples of at least 2 classes in {name!r}, "
                f"but there is only one class: {values.tolist()[0]!r}"
            )
        self.target, self.text_labels = Target("label", values), values.dtype.kind in "OUS"
        for table in self.tables:
            table.want_labels(name, values.dtype.kind)

    def _count(self, name: str) -> Array:
        """The distinct labels. A CSV is read as text: what it holds is decided when all was seen."""
        distinct: set[Any] = set()
        self.n_rows = 0  # known after this pass, so that a learner that looks at it does as it would in memory
        for table in self.tables:
            table.want_labels(name, "O")
        for piece in self.pieces([name]):
            column, index = piece.columns[0], Places([piece])
            self.n_rows += len(piece)
            missing = column.is_null() if piece.table.typed else without_label(column)
            if missing.any():
                raise missing_label(index[int(missing.arg_max())])
            numbers = column if piece.table.typed else column.cast(polars().Float64, strict=False)
            if numbers.dtype.is_float() and not numbers.null_count():
                check.flat_labels(numbers.to_numpy(), len(numbers), index)  # refuses a continuous target
            elif not (numbers.dtype.is_numeric() or numbers.dtype == polars().Boolean):
                column = column.cast(polars().String)
            distinct.update(column.unique().to_list())
        if not distinct:
            raise BadInput(f"Found 0 sample(s) in {check.listed(self.tables)} while a minimum of 1 is required")
        if all(isinstance(value, str) for value in distinct):
            return (
                as_labels(distinct)
                if not any(table.typed for table in self.tables)
                else np.array(sorted(distinct), dtype=object)
            )
        if any(isinstance(value, str) for value in distinct):
            raise BadInput(
                f"column {name!r} holds text in one file and numbers in another: make them all text or all numbers"
            )
        kinds = {table.numpy_type(name) for table in self.tables}
        boolean = all(isinstance(value, bool) for value in distinct)
        return np.array(sorted(distinct), dtype=bool if boolean else np.result_type(*kinds))


def as_labels(texts: set[str]) -> Array:
    """Labels of a CSV as what they look like: whole numbers, numbers, true and false, else text."""
    if all(re.fullmatch(r"[+-]?[0-9]{1,18}", text) for text in texts):
        return np.unique([int(text) for text in texts])
    if texts <= {"true", "false"}:
        return np.array(sorted(text == "true" for text in texts))
    try:
        return np.unique([float(text) for text in texts])
    except ValueError:
        return np.array(sorted(texts), dtype=object)


def _coded(coder: check.Coder, j: int, column: Any) -> Array:
    """A column of polars as codes of its categories."""
    if column.dtype.is_numeric():
        found = coder.numbers(j, column.cast(polars().Float64).to_numpy())
    else:
        found = coder.values(j, *check.numbered_column(column))
    return found.spread() if isinstance(found, Placed) else found


@dataclass(slots=True)
class Piece:
    """Some rows of one table, as columns."""

    columns: list[Any]
    table: Table
    rows: Any  # their numbers in the table: a slice or an array

    def __len__(self) -> int:
        return self.rows.stop - self.rows.start if isinstance(self.rows, slice) else len(self.rows)

    def cut(self, start: int, stop: int) -> Piece:
        rows = (
            slice(self.rows.start + start, self.rows.start + stop)
            if isinstance(self.rows, slice)
            else self.rows[start:stop]
        )
        return replace(self, columns=[column[start:stop] for column in self.columns], rows=rows)


class Places:
    """Names the rows of a part for messages: the number in the file, and the file."""

    def __init__(self, part: list[Piece]) -> None:
        self.part = part

    def __getitem__(self, row: int) -> str:
        for piece in self.part:
            if row < len(piece):
                break
            row -= len(piece)
        number = piece.rows.start + row if isinstance(piece.rows, slice) else piece.rows[row]
        return f"{number} of {piece.table}"


def _joined(part: list[Piece], j: int) -> Array:
    return part[0].columns[j] if len(part) == 1 else np.concatenate([piece.columns[j] for piece in part])
