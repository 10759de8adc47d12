"""Rows that pass through a function on their way to a learner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tenfold.core.data import Block, Source, as_floats


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
