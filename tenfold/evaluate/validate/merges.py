"""Statistics of training sets: merges of those of the groups of rows that are not left out."""

from __future__ import annotations

import threading
from typing import Any

from tenfold.core.stats import merge


def all_but_one(stats: list[Any]) -> list[Any]:
    """For each k, the merge of all but the k-th: prefixes with suffixes, about 3k merges and never a subtraction."""
    prefix, suffix = [None], [None]
    for one in stats[:-1]:
        prefix.append(one if prefix[-1] is None else prefix[-1] + one)
    for one in stats[:0:-1]:
        suffix.append(one if suffix[-1] is None else one + suffix[-1])
    return [merge(part for part in pair if part is not None) for pair in zip(prefix, reversed(suffix), strict=True)]


def all_but_some(stats: list[Any], p: int) -> list[Any]:
    """The merge of all but p of them, for every p in the order of `combinations`: about two merges each.

    What lies left of the last one that is left out grows step by step; what lies right of it is a suffix made
    before.
    """
    n = len(stats)
    suffix: list[Any] = [None] * (n + 1)
    for i in range(n - 1, 0, -1):
        suffix[i] = stats[i] if suffix[i + 1] is None else stats[i] + suffix[i + 1]
    made: list[Any] = []

    def leave(left: Any, start: int, p: int) -> None:
        for i in range(start, n - p + 1):
            if p > 1:
                leave(left, i + 1, p - 1)
            else:
                made.append(merge(part for part in (left, suffix[i + 1]) if part is not None))
            left = stats[i] if left is None else left + stats[i]

    leave(None, 0, p)
    return made


class FoldSums:
    """Sums of folds, and of all folds but one or two: merges of prefixes and suffixes, never a subtraction.

    About two merges for each training set if they are asked for in order, and 3k + 1 sums are alive at most, of k folds.
    """

    def __init__(self, stats: list[Any]) -> None:
        self.stats, n = stats, len(stats)
        self.prefix: list[Any] = [None, stats[0]]
        self.suffix: list[Any] = [None] * (n + 1)
        for one in stats[1:-1]:
            self.prefix.append(self.prefix[-1] + one)
        for i in range(n - 1, 0, -1):
            self.suffix[i] = stats[i] if self.suffix[i + 1] is None else stats[i] + self.suffix[i + 1]
        self.left: dict[int, list[Any]] = {}  # without one fold: all before it, with none, one, two, ... of those behind it
        self.lock = threading.Lock()

    def without(self, held: tuple[int, ...]) -> Any:
        """The sum of all folds but these one or two."""
        first, last = min(held), max(held)
        left = self.prefix[first] if first == last else self._up_to(first, last)
        return merge(part for part in (left, self.suffix[last + 1]) if part is not None)

    def before(self, k: int) -> Any:
        """The sum of all folds before this one."""
        return self.prefix[k]

    def _up_to(self, first: int, last: int) -> Any:
        """All folds before `last` but `first`."""
        with self.lock:
            if first not in self.left:
                self.left = {first: [self.prefix[first]]}
            grown = self.left[first]
            while len(grown) < last - first:
                one = self.stats[first + len(grown)]
                grown.append(one if grown[-1] is None else grown[-1] + one)
            return grown[last - first - 1]
