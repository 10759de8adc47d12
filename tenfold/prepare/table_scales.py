"""Means and standard deviations of the columns that a table is coded into, from what was counted in its columns."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.prepare.coder import TableCoder
from tenfold.prepare.table_sums import LevelSums, NumberSums, TableSums

Scales = tuple[Array, Array]  # means, and what is divided by


def scales_of(coder: TableCoder, texts: list[str], words: list[list[str]], sums: TableSums, neighbors: bool) -> Scales:
    """Of all new columns. For neighbours, columns 0/1 are left where they are and divided by √2, so that two levels lie 1 apart."""
    parts: list[Scales] = []
    for i, name in enumerate(coder.feature_names_in_):
        if coder.category_[i]:
            parts.append(_levels(coder, i, sums.levels[name], sums.weight, neighbors))
        else:
            number = sums.numbers[name]
            parts.append(_number(number, float(coder.scale_[i])))
            if coder.blank_[i]:
                parts.append(_shares(np.array([1.0 - number.weight / sums.weight]), neighbors))
    for name, some in zip(texts, words, strict=True):
        parts += [_number(sums.lengths[name]), _shares(sums.words[name].share(some, sums.weight), neighbors)]
    mean, scale = (np.concatenate(some) for some in zip(*parts, strict=True))
    return mean, scale


def _number(sums: NumberSums, unit: float = 1.0) -> Scales:
    return np.array([sums.mean * unit]), np.array([sums.deviation * unit if sums.deviation * unit > 0 else 1.0])


def _levels(coder: TableCoder, i: int, sums: LevelSums, weight: float, neighbors: bool) -> Scales:
    levels = [str(level) for level in coder.levels_[i]]
    share = sums.share([str(coder.reference_[i]), *levels], weight)
    others = [max(0.0, 1.0 - float(share.sum()))] if coder.pooled_[i] else []
    return _shares(np.array([*(share if neighbors else share[1:]), *others]), neighbors)


def _shares(share: Array, neighbors: bool) -> Scales:
    """Columns 0/1 that are 1 in these shares of the rows."""
    if neighbors:
        return np.zeros(len(share)), np.full(len(share), np.sqrt(2.0))
    deviation = np.sqrt(share * (1.0 - share))
    return share, np.where(deviation > 0, deviation, 1.0)
