"""Quantiles of a value along another one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenfold.core.data import Array

PARTS, LEAST = 12, 15  # parts at most, and rows of a part at least
QUANTILES = [0.1, 0.5, 0.9]


@dataclass(frozen=True)
class Along:
    """The 10 %, 50 % and 90 % quantiles of y in parts of x, and the median of x in each."""

    x: Array
    low: Array
    middle: Array
    high: Array


def along(x: Array, y: Array) -> Along:
    """By parts of about equally many rows with increasing x; rows of the same x are in one part."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    ends = np.append(np.flatnonzero(np.diff(x)) + 1, len(x))  # of rows of the same x
    size = len(x) / min(PARTS, max(1, len(x) // LEAST))
    cuts = [0]
    while cuts[-1] < len(x):
        end = int(ends[np.searchsorted(ends, min(cuts[-1] + size, len(x)) - 0.5)])
        cuts.append(end if len(x) - end >= size / 2 else len(x))
    parts = [slice(begin, end) for begin, end in pairwise(cuts)]
    found = np.array([np.quantile(y[part], QUANTILES) for part in parts])
    return Along(np.array([np.median(x[part]) for part in parts]), *found.T)
