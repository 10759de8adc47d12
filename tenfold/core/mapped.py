"""Rows that pass through a function on their way to a learner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Arrays, Block, Source, as_floats

MOST_KEPT = 2**28  # bytes of rows that are kept as they come out of the function


class Mapped(Source):
    """A source whose X passes through a function, block by block."""

    def __init__(self, inner: Source, change: Callable[[Any], Any], n_features: int) -> None:
        self.inner, self.change, self.n_features = inner, change, n_features
        self.target, self.n_parts, self.n_rows = inner.target, inner.n_parts, inner.n_rows
        self.rereadable, self.facts = inner.rereadable, {**inner.facts, "n_features_in_": n_features}
        self.facts.pop("feature_names_in_", None)
        self.home, self.single = inner.home, inner.single

    def whole(self) -> Source:
        return Mapped(self.inner.whole(), self.change, self.n_features)

    def parts(self) -> Iterator[Any]:
        return self.inner.parts()

    def load(self, part: Any) -> Block:
        block = self.inner.load(part)
        return block.with_X(as_floats(self.change(block.X)))


def kept(source: Source) -> Source:
    """The rows as they come out, in the same blocks, for learners that pass over them again and again; the source itself where they are
    sparse, not in memory, or many."""
    inner = source
    while isinstance(inner, Mapped):
        inner = inner.inner
    if inner is source or type(inner) is not Arrays or inner.keys is not None or 8 * inner.n_rows * source.n_features > MOST_KEPT:
        return source
    blocks = [source.load(part) for part in source.parts()]
    if not blocks or any(ops.is_sparse(block.X) for block in blocks):
        return source
    y = None if blocks[0].y is None else np.concatenate([block.y for block in blocks])
    w = None if inner.w is None else np.concatenate([block.w for block in blocks])
    X = np.concatenate([block.X for block in blocks])
    made = Arrays(X, y, w, source.target, source.facts, size=inner.size, trusted=not inner.missing, missing=inner.missing)
    made.single, made.home = source.single, source.home
    return made
