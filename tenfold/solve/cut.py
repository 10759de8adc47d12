"""What is made of a tree of clusters: its cut, and what a new row is measured by."""

from __future__ import annotations

from heapq import heapify, heappush, heappushpop

import numpy as np

from tenfold.core.data import Array


def cut(children: Array, n: int, k: int) -> Array:
    """The cluster of each row once the first n − k merges are done, numbered from the last merge on, as scikit-learn does."""
    top = np.arange(2 * n - 1)
    merged = n - k
    top[children[:merged].ravel()] = n + np.repeat(np.arange(merged), 2)
    while True:  # each step doubles how far up it looks
        above = top[top]
        if (above == top).all():
            break
        top = above
    number = np.zeros(2 * n - 1, dtype=np.int64)
    tops = [-(2 * n - 2)]
    heapify(tops)
    for _ in range(k - 1):
        first, second = children[-tops[0] - n]
        heappush(tops, -int(first))
        heappushpop(tops, -int(second))
    number[[-one for one in tops]] = np.arange(k)
    return number[top[:n]]


def numbered(labels: Array, k: int) -> bool:
    """Whether they are 0, ..., k − 1, each at least once."""
    found = np.unique(labels)
    return len(found) == k and (k == 0 or (int(found[0]), int(found[-1])) == (0, k - 1))


def largest_gap(heights: Array) -> int:
    """How many clusters there are in the middle of the largest gap between the heights of successive merges: two at least."""
    n = len(heights) + 1
    if n < 3:
        return n
    rising = np.maximum.accumulate(heights)
    gaps = np.diff(rising)
    return int(n - 1 - int(len(gaps) - 1 - np.argmax(gaps[::-1])))


def halves(children: Array, n: int, k: int) -> Array:
    """What each row is of its cluster where both parts of a union count the same: 1 / 2 for each merge that it has seen."""
    share = np.ones(2 * n - 1)
    for made in range(n - k - 1, -1, -1):
        share[children[made]] = share[n + made] / 2
    return share[:n]
