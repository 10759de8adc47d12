"""Kinds of input other than rows of fixed width. A learner declares on its class which one it takes (`accepts`):

    documents    texts, one a row
    images       an array (n, height, width) or (n, height, width, channels) of numbers
    sequences    arrays (length, p) of numbers, one a row, of different lengths
    pairs        a square table of kernels or distances: entry i, j is of rows i and j; later rows come against the rows of the fit
    objects      anything, with a metric of the learner's own
    table        a file or frame, which the learner reads itself (`_coded_rows`, `_source`)
    anything     whatever the user gave, as it is: for learners that are not Tenfold's, which look at it themselves (`base.foreign`)

All but pairs and tables are kept as they are, one entry a row: a block has some of them. Files and streams hold rows of fixed width
only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Target
from tenfold.core.engine import Local
from tenfold.core.errors import BadInput, BadType
from tenfold.gate.containers import sound_rows


class Items(Arrays):
    """A table with one entry a row, which nothing is known of but how many there are."""

    def load(self, part: int) -> Block:
        key, index = self.where(part)
        return Block(self.X[index], *self.beside(part, index), key)

    def lazy(self, part: int) -> Block:
        return self.load(part)


class Pairs(Arrays):
    """A square table: rows that do not take part have no column either."""

    def select(self, rows: Array) -> Pairs:
        y, w = (None if one is None else one[rows] for one in (self.y, self.w))
        facts = {**self.facts, "n_features_in_": len(rows)}
        return Pairs(self.between(rows, rows), y, w, self.target, facts, missing=self.missing)

    def between(self, rows: Array, columns: Array) -> Any:
        """Rows as a model sees them that was fitted on the rows `columns`."""
        return self.X[rows][:, columns] if ops.is_sparse(self.X) else self.X[np.ix_(rows, columns)]


class Given:
    """A table as the user gave it: an array, a frame, a sparse matrix, a list of anything. `given[rows]` are some of its rows, in the
    same kind of container; all of them are the user's own object.
    """

    def __init__(self, table: Any) -> None:
        self.table = table
        n = int(table.shape[0]) if hasattr(table, "shape") else len(table)
        self.shape = n, _width_of(table, n)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        table = self.table
        if isinstance(index, slice) and index.indices(self.shape[0]) == (0, self.shape[0], 1):
            return table
        if hasattr(table, "iloc"):
            return table.iloc[index]
        if ops.is_sparse(table) and table.format in ("coo", "dia", "bsr"):
            return table.tocsr()[index]
        if hasattr(table, "take") and hasattr(table, "schema") and not hasattr(table, "to_dict"):  # Arrow
            return table.slice(index.start or 0, index.stop) if isinstance(index, slice) else table.take(index)
        if hasattr(table, "shape") or isinstance(index, slice):
            return table[index]
        return [table[i] for i in index]


def _width_of(table: Any, n: int) -> int:
    """The number of columns; 1 for what has none."""
    shape = getattr(table, "shape", None)
    if shape is not None:
        return int(shape[1]) if len(shape) > 1 else 1
    first = table[0] if n else None
    return len(first) if isinstance(first, (list, tuple, np.ndarray)) else 1


class AsGiven(Items):
    """Rows as the user gave them, in one block: those who look at them may be anybody's, so that they are asked once, in the calling
    thread."""

    home = Local()

    def __init__(self, X: Any, *rest: Any, size: int | None = None, **more: Any) -> None:
        super().__init__(X, *rest, size=max(1, X.shape[0]), **more)
        self.fit_params: dict[str, Any] = {}  # what the user gave to `fit` beside X, y and weights

    def given(self) -> tuple[Any, Array | None, Array | None]:
        """X, y and weights as the `fit` of any learner takes them: labels, not codes; None where there are none."""
        index = slice(None) if self.rows is None else self.rows
        y = None if self.y is None else self.y[index]
        if y is not None and self.target.classes is not None:
            y = self.target.labels(y)
        elif y is not None and self.target.kind == "real" and self.target.flat:
            y = y[:, 0]
        return self.X[index], y, None if self.w is None else self.w[index]

    def params(self) -> dict[str, Any]:
        """What the user gave beside; of what has an entry for each row of the table, those of these rows."""
        return self.fit_params if self.rows is None else of_rows(self.fit_params, self.rows, self.X.shape[0])

    def _again(self, *given: Any, **more: Any) -> AsGiven:
        made = super()._again(*given, **more)
        made.fit_params = self.fit_params
        return made


def of_rows(given: dict[str, Any], rows: Any, n: int) -> dict[str, Any]:
    """Of what has an entry for each of n rows, those of some rows; all else as it is."""
    return {name: Given(one)[rows] if np.ndim(one) and len(one) == n else one for name, one in given.items()}


def source_of(learner: Any, X: Any, y: Array | None, w: Array | None, target: Target, facts: dict[str, Any]) -> Arrays:
    """The entries that have passed `entries_of`, as a source."""
    kind = {"pairs": Pairs, "anything": AsGiven}.get(learner.accepts, Items)
    made: Arrays = kind(X, y, w, target, facts, missing=learner.missing, width=facts["n_features_in_"])
    return made if w is None or w.all() else made.select(np.flatnonzero(w))


def entries_of(learner: Any, X: Any, width: int | None = None) -> tuple[Any, int]:
    """X as its kind wants it, and its width: that of the entries of sequences, of an image laid out flat, 1 for what has none.

    `width` is that of the fit, where there was one.
    """
    name, kind = type(learner).__name__, learner.accepts
    if isinstance(X, (str, bytes)) or not (hasattr(X, "__len__") or ops.is_sparse(X)):
        raise BadType(f"{name} takes {kind}, one a row: give a list or an array of them, not {type(X).__name__}")
    found, entry_width = READERS[kind](name, X)
    if kind == "pairs" and width is None and found.shape[0] != found.shape[1]:
        raise BadInput(f"{name} takes a square table, rows against rows, and this one has the shape {found.shape}")
    if width is not None and entry_width != width and kind != "anything":
        raise BadInput(f"X has {entry_width} features, but {name} is expecting {width} features as input")
    return found, entry_width


def _documents(name: str, X: Any) -> tuple[Array, int]:
    entries = _objects(name, X)[0]
    for row, one in enumerate(entries):
        if not isinstance(one, str):
            what = "missing" if one is None or one != one else f"a {type(one).__name__}"
            raise BadType(f"{name} takes texts, and row {row} is {what}: drop it, or replace it by ''")
    return entries, 1


def _images(name: str, X: Any) -> tuple[Array, int]:
    try:
        images = np.ascontiguousarray(X)
    except ValueError:
        raise BadInput(f"{name} takes images of one size, and these differ: resize them first") from None
    if images.ndim not in (3, 4) or images.dtype.kind not in "biuf":
        raise BadInput(
            f"{name} takes images as numbers (n, height, width) or (n, height, width, channels), not {images.dtype} of shape {images.shape}"
        )
    images = images if images.dtype in (np.float32, np.float64) else images.astype(np.float64)
    bad = ~np.isfinite(images).reshape(len(images), -1).all(axis=1)
    if bad.any():
        raise BadInput(f"image {int(bad.argmax())} holds NaN or infinity: fill or drop it first")
    return images, int(np.prod(images.shape[1:]))


def _sequences(name: str, X: Any) -> tuple[Array, int]:
    entries, width = np.empty(len(X), dtype=object), None
    for row, one in enumerate(X):
        try:
            sequence = np.ascontiguousarray(one, dtype=np.float64)
        except (TypeError, ValueError):
            raise BadType(f"sequence {row} is not made of numbers: give arrays (length, p)") from None
        sequence = sequence[:, None] if sequence.ndim == 1 else sequence
        if sequence.ndim != 2 or not len(sequence):
            raise BadInput(f"sequence {row} has the shape {sequence.shape}: give arrays (length, p) of at least one step")
        width = sequence.shape[1] if width is None else width
        if sequence.shape[1] != width:
            raise BadInput(f"sequence {row} has {sequence.shape[1]} columns, those before it {width}: all must have the same")
        if not np.isfinite(sequence).all():
            raise BadInput(f"sequence {row} holds NaN or infinity: fill or drop it first")
        entries[row] = sequence
    if width is None:
        raise BadInput(f"{name}: there are no sequences")
    return entries, width


def _pairs(name: str, X: Any) -> tuple[Any, int]:
    table: Any = sound_rows(X) if ops.is_sparse(X) else np.ascontiguousarray(X)
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise BadInput(f"{name} takes a table of numbers, rows against rows, not {table.dtype} of shape {table.shape}")
    table = table if table.dtype in (np.float32, np.float64) else table.astype(np.float64)
    return table, int(table.shape[1])


def _objects(name: str, X: Any) -> tuple[Array, int]:
    values = X.to_list() if hasattr(X, "to_list") else list(X)
    if not values:
        raise BadInput(f"{name}: there are no rows")
    entries = np.empty(len(values), dtype=object)
    for row, one in enumerate(values):
        entries[row] = one
    return entries, 1


def _anything(name: str, X: Any) -> tuple[Any, int]:
    given = Given(X)
    return given, given.shape[1]


READERS = {
    "documents": _documents, "images": _images, "sequences": _sequences, "pairs": _pairs, "objects": _objects,
    "anything": _anything,
}  # fmt: skip
