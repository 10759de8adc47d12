"""Blocks that can be read only once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenfold.core.errors import ReadOnce


class Once:
    """An iterator whose error explains why it cannot be read again."""

    def __init__(self, items: Iterator[Any]) -> None:
        self.items: Iterator[Any] | None = items

    def __call__(self) -> Iterator[Any]:
        if self.items is None:
            raise ReadOnce(
                "this learner makes several passes and these blocks can be read only once: "
                "give a list of blocks, or a function that returns a new iterator"
            )
        items, self.items = self.items, None
        return items
