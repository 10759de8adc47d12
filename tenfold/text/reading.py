"""Documents as users give them: a list, an array, a column of a frame, or blocks of these one after the other.

Where documents are anything but texts (bytes, files, what a function of the user takes apart), they pass as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block, Source, Target
from tenfold.core.errors import BadInput, BadType
from tenfold.gate.check import as_weights, is_frame
from tenfold.gate.inputs import Items
from tenfold.sources.stream import is_dask

AT_ONCE = 1 << 14  # documents of an iterator that are taken at a time
FACTS = {"n_features_in_": 1}


def documents_of(learner: Any, X: Any, sample_weight: Any = None, may_be_none: bool = True) -> Source:
    """The documents as a source of blocks; `may_be_none`: there need not be one."""
    name, free = type(learner).__name__, learner._takes_anything()
    if isinstance(X, (str, bytes)):
        raise BadInput(f"Iterable over raw text documents expected, string object received. {name} takes a list of texts: write [text]")
    if is_dask(X):
        X = partial(_partitions, X)
    if callable(X) or hasattr(X, "__next__") or _are_blocks(X, free):
        if sample_weight is not None:
            raise BadType("with blocks of documents the weights come inside of them: give (texts, None, weights)")
        return TextBlocks(learner, X)
    entries = entries_of(name, X, free)
    w = as_weights(sample_weight, len(entries))
    if not len(entries) and not may_be_none:
        raise BadInput(f"empty vocabulary; there is no document: {name} learns from at least one")
    made = Items(entries, None, w, Target("none"), dict(FACTS), width=1)
    return made if w is None or w.all() else made.select(np.flatnonzero(w))


def _partitions(X: Any) -> Iterator[Any]:
    """The texts of a Dask collection, one partition after the other."""
    parts = X.partitions if hasattr(X, "divisions") else X.blocks
    return (part.compute() for part in parts)


def entries_of(name: str, X: Any, free: bool, first: int = 0) -> Array:
    """Documents in memory as an array of objects; those that are no texts are refused by their row, unless anything is taken."""
    if is_frame(X) or ops.is_sparse(X) or getattr(X, "ndim", 1) > 1:
        X = _only_column(name, X)
    if not isinstance(X, Iterable):
        raise BadType(f"{name} takes texts, one a row: give a list or an array of them, not {type(X).__name__}")
    values = X.to_list() if hasattr(X, "to_list") else X.to_pylist() if hasattr(X, "to_pylist") else list(X)
    if not free:
        for row, one in enumerate(values):
            if not isinstance(one, (str, bytes)):
                raise _no_text(name, first + row, one)
    entries = np.empty(len(values), dtype=object)
    entries[:] = values if not free else [*values]  # lists of one length would become columns
    return entries


def _no_text(name: str, row: int, one: Any) -> BadInput:
    if one is None or one != one:
        return BadInput(
            f"{name}: row {row} is missing: np.nan is an invalid document, expected byte or unicode string. Drop it, or replace it by ''"
        )
    return BadType(f"{name} takes texts, and row {row} is a {type(one).__name__}: write it as a text, with str() for example")


def _only_column(name: str, X: Any) -> Any:
    """The column of a table that has one."""
    width = X.shape[1] if len(getattr(X, "shape", ())) == 2 else 0
    if width != 1 or ops.is_sparse(X):
        raise BadInput(f"{name} takes one column of texts, and this has the shape {X.shape}: choose one, or use ColumnTransformer")
    if hasattr(X, "iloc"):
        return X.iloc[:, 0]
    return X[X.columns[0]] if is_frame(X) and hasattr(X, "columns") else np.asarray(X)[:, 0]


def _are_blocks(X: Any, free: bool) -> bool:
    """Whether a list holds blocks of documents, and not documents."""
    if free or not isinstance(X, (list, tuple)) or not X:
        return False
    return _is_block(X[0])


def _is_block(one: Any) -> bool:
    return isinstance(one, (list, tuple)) or hasattr(one, "to_list") or hasattr(one, "to_pylist") or getattr(one, "ndim", 0) > 0


class TextBlocks(Source):
    """Blocks of documents, one after the other: an iterator of texts or of blocks, a function that returns one, a list of blocks.

    A block is a list or an array of texts, or (texts, y) or (texts, y, weights) as other streams have them; y is not looked at.
    """

    n_features = 1

    def __init__(self, learner: Any, X: Any) -> None:
        self.name, self.free = type(learner).__name__, learner._takes_anything()
        self.rereadable = not hasattr(X, "__next__")
        self.open: Callable[[], Iterator[Any]] = (lambda: iter(X())) if callable(X) else lambda: iter(X)
        self.target, self.facts = Target("none"), dict(FACTS)

    def parts(self) -> Iterator[tuple[int, Any]]:
        given, row = self.open(), 0
        head = list(islice(given, 1))
        if not head:
            raise BadInput(f"{self.name}: there is no document: the iterator is empty (or was read before)")
        given = chain(head, given)
        single = self.free or not _is_block(head[0])
        while True:
            block = list(islice(given, AT_ONCE)) if single else next(given, None)
            if block is None or (single and not block):
                return
            yield row, (block, single)
            row += len(block[0] if not single and isinstance(block, tuple) and len(block) in (2, 3) else block)

    def load(self, part: Any) -> Block:
        row, (block, single) = part
        w = None
        if not single and isinstance(block, tuple) and len(block) in (2, 3) and not isinstance(block[0], (str, bytes)):
            w = block[2] if len(block) == 3 else None
            block = block[0]
        entries = entries_of(self.name, block, self.free, row)
        weights = as_weights(w, len(entries))
        if weights is None:
            return Block(entries, None, np.ones(len(entries)))
        present = np.flatnonzero(weights)
        return Block(entries[present], None, weights[present])

    def whole(self) -> Source:
        return self
