"""Statistics of training sets: merges of those of the groups of rows that are not left out."""

from __future__ import annotations

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
