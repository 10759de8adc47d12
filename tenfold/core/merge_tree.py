"""The fixed reduction: what is merged with what follows from the numbers of the blocks alone, so the same blocks give the same bits."""

from __future__ import annotations

import threading
from typing import Any

from tenfold.core.stats import Stats


class MergeTree:
    """The fixed reduction: node i of a level merges nodes 8i to 8i + 7 of the level below, from left to right, as they come.

    Eight and not two, because then few partial results are alive: one for each level, and what came before its turn.
    """

    FAN = 8

    def __init__(self) -> None:
        self.waiting: dict[tuple[int, int], Any] = {}  # came before their turn
        self.sums: dict[tuple[int, int], Any] = {}  # of the first nodes below; absent while somebody adds to it
        self.counts: dict[tuple[int, int], int] = {}
        self.lock = threading.Lock()

    def put(self, i: int, stats: Any) -> None:
        """Add the statistics of block i; blocks may come in any order."""
        level = 0
        while stats is not None:
            with self.lock:
                self.waiting[level, i] = stats
            level, i = level + 1, i // self.FAN
            stats = self._grown(level, i)

    def _grown(self, level: int, i: int) -> Any:
        """Merge into a node what can be merged; the node if it is complete, else None."""
        node = level, i
        while True:
            with self.lock:
                count, total = self.counts.get(node, 0), self.sums.pop(node, None)
                if count and total is None:  # somebody else adds to it, and will look again
                    return None
                if count == self.FAN:
                    del self.counts[node]
                    return total
                child = self.waiting.pop((level - 1, self.FAN * i + count), None)
                if child is None:
                    if count:
                        self.sums[node] = total
                    return None
                self.counts[node] = count + 1
            if count:
                total = _merged(total, child)  # outside the lock: it may be long
            with self.lock:
                self.sums[node] = total if count else child
            child = None

    def result(self) -> Any:
        """What is left are the nodes that are not complete: merge them from the right, small to large."""
        nodes = sorted(self.sums, key=lambda node: node[1] * self.FAN ** node[0])
        total = self.sums.pop(nodes.pop())
        while nodes:
            total = _merged(self.sums.pop(nodes.pop()), total)
        return total

    def alive(self) -> list[Any]:
        """All partial results."""
        return [*self.waiting.values(), *self.sums.values()]


def _merged(left: Any, right: Any) -> Any:
    """Both, in the memory of the left one where it knows how. Nobody else has the right one: its memory may be used again."""
    left += right
    if isinstance(right, Stats):
        right.drop()
    return left
