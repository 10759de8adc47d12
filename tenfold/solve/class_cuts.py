"""Where a column of numbers is cut so that the bins tell classes apart, as long as a cut pays for its own description."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array


def class_cuts(values: Array, codes: Array, w: Array, k: int) -> Array:
    """The cuts of the recursive minimal-entropy splitting of Fayyad & Irani (1993); `values` are sorted.

    A set S of weight N is cut into S₁, S₂ where Σ N_i H(S_i) is least, if that pays for its description:
    N gain > log₂(N − 1) + log₂(3^c − 2) − [c H(S) − c₁ H(S₁) − c₂ H(S₂)], where c counts the classes that a set has.
    """
    first = np.flatnonzero(np.append(True, values[1:] > values[:-1]))
    counts = np.zeros((len(first), k))
    np.add.at(counts, (np.searchsorted(first, np.arange(len(values)), side="right") - 1, codes), w)
    distinct = values[first].astype(np.float64)
    found, open_ = list[float](), [(0, len(distinct))]
    while open_:
        start, stop = open_.pop()
        cut = _best_cut(counts[start:stop])
        if cut is None:
            continue
        cut += start
        found.append(distinct[cut - 1] + (distinct[cut] - distinct[cut - 1]) / 2)
        open_ += [(start, cut), (cut, stop)]
    return np.array(sorted(found))


def _best_cut(counts: Array) -> int | None:
    """How many of the values, in order, go left in the best cut; None where no cut pays."""
    if len(counts) < 2:
        return None
    left = np.cumsum(counts, axis=0)
    total, left = left[-1], left[:-1]
    right = total - left
    weight = total.sum()
    inside = _bits(left) + _bits(right)  # N₁ H₁ + N₂ H₂
    cut = int(np.argmin(inside))
    one, two = left[cut], counts[cut + 1 :].sum(axis=0)
    c, c1, c2 = (int((part > 0).sum()) for part in (total, one, two))
    whole = _bits(total)
    entropies = c * whole / weight - c1 * _bits(one) / one.sum() - c2 * _bits(two) / two.sum()
    price = np.log2(max(weight - 1, 1.0)) + c * np.log2(3.0) + np.log2(1 - 2 * 3.0**-c) - entropies
    return cut + 1 if whole - inside[cut] > price else None


def _bits(counts: Array) -> Array:
    """N H = N log₂ N − Σ n log₂ n of counts of classes."""
    total = counts.sum(axis=-1)
    return np.asarray(_n_log_n(total) - _n_log_n(counts).sum(axis=-1))


def _n_log_n(n: Array) -> Array:
    return np.asarray(n * np.log2(np.where(n > 0, n, 1.0)))
