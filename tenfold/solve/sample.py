"""Some of the rows of a large table, on which to find where the passes over all of them begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenfold.core.data import Arrays, Block, Source
from tenfold.core.mapped import Mapped

SAMPLE_SHARE = 8  # one block in so many finds the start
SAMPLE_LEAST = 2048  # a table whose sample has fewer rows is done without one


class Some(Source):
    """Every eighth block of a table in memory, not copied. Blocks unlike the rest cost time, no accuracy."""

    def __init__(self, source: Source) -> None:
        self.inner = inner = _finer(source)
        self.n_features = inner.n_features
        self.chosen = list(inner.parts())[::SAMPLE_SHARE]
        self.n_parts = len(self.chosen)

    def parts(self) -> Iterator[Any]:
        return iter(self.chosen)

    def load(self, part: Any) -> Block:
        return self.inner.load(part)


def _finer(source: Source) -> Source:
    """The same rows in two blocks or more for each one of the sample."""
    if isinstance(source, Mapped):
        return Mapped(_finer(source.inner), source.change, source.n_features)
    assert isinstance(source, Arrays)
    return source.finer((source.n_rows or 0) // (2 * SAMPLE_SHARE))


def is_large(source: Source, n_parameters: int) -> bool:
    """Whether to find a start on a sample: only where a block can be read without the others."""
    inner = source
    while isinstance(inner, Mapped):
        inner = inner.inner
    if not isinstance(inner, Arrays):
        return False
    return inner.n_rows >= SAMPLE_SHARE * max(SAMPLE_LEAST, 5 * n_parameters)
