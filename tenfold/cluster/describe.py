"""Groups in words: which columns of a table set each of them apart, in the units of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array
from tenfold.table.reading import pl
from tenfold.table.sketch import written

LEAST_EFFECT = 0.4  # standard deviations by which a column sets a group apart
LEAST_LEVEL_ROWS = 5  # of a level that is named
LONGEST_NAME, LONGEST_LEVEL = 60, 30


@dataclass(frozen=True)
class Trait:
    """How a group differs from the other rows in one column.

    effect: the difference of the means over the standard deviation of all rows; of a level, and of missing cells, that of its share
    """

    column: str
    effect: float
    inside: float  # mean of the group, or share of its rows
    outside: float  # of the others
    level: str | None = None  # of a category
    missing: bool = False
    kind: str = "number"

    def __str__(self) -> str:
        name = _short(self.column, LONGEST_NAME)
        if self.level is not None or self.missing:
            what = f"{name} is missing" if self.missing else f"{name} = {_short(str(self.level), LONGEST_LEVEL)}"
            return f"{what}: {_percent(self.inside)}, others {_percent(self.outside)}"
        way = "higher" if self.effect > 0 else "lower"
        how = ("later" if self.effect > 0 else "earlier") if self.kind == "date" else way
        means = [_date(value) if self.kind == "date" else _number(value) for value in (self.inside, self.outside)]
        return f"{name} {how}: {means[0]} on average, others {means[1]} ({abs(self.effect):.1f} standard deviations)"


def traits(values: pl.DataFrame, kinds: Mapping[str, str], groups: Array, k: int) -> list[list[Trait]]:
    """For each group 0, ..., k − 1 what sets it apart from all other rows, the largest first, one for a column.

    values: columns of numbers (days, of dates) and of texts, null where missing; kinds: "number", "date" or "category" by column.
    """
    found: list[list[Trait]] = [[] for _ in range(k)]
    size = np.bincount(groups, minlength=k).astype(np.float64)
    for name in values.columns:
        series, gaps = values[name], values[name].is_null().to_numpy()
        options = [_of_shares(name, gaps[:, None], groups, size, missing=True)] if gaps.any() else []
        if series.dtype == pl.String:
            levels, member = _levels(series)
            options.append(_of_shares(name, member, groups, size, levels))
        else:
            options.append(_of_numbers(name, series, gaps, groups, k, kinds.get(name, "number")))
        for group in range(k):
            known = [one for some in options if (one := some[group]) is not None]
            found[group] += sorted(known, key=lambda one: -abs(one.effect))[:1]
    return [sorted(some, key=lambda one: -abs(one.effect)) for some in found]


def telling(some: Sequence[Trait], most: int) -> list[Trait]:
    """Those worth telling: large ones, and the largest in any case."""
    large = [one for one in some if abs(one.effect) >= LEAST_EFFECT]
    return (large or list(some[:1]))[:most]


def _of_numbers(name: str, series: pl.Series, gaps: Array, groups: Array, k: int, kind: str) -> list[Trait | None]:
    x, mine = series.to_numpy()[~gaps].astype(np.float64), groups[~gaps]
    if not len(x):
        return [None] * k
    middle, spread = float(np.median(x)), float(np.ptp(x))
    if not 0 < spread < np.inf:
        return [None] * k
    scaled = (x - middle) / spread  # sums of huge numbers stay finite
    count, total = np.bincount(mine, minlength=k), np.bincount(mine, scaled, k)
    deviation = float(scaled.std())
    made: list[Trait | None] = []
    for group in range(k):
        others = count.sum() - count[group]
        if not count[group] or not others:
            made.append(None)
            continue
        inside, outside = total[group] / count[group], (total.sum() - total[group]) / others
        made.append(Trait(name, float((inside - outside) / deviation), inside * spread + middle, outside * spread + middle, kind=kind))
    return made


def _levels(series: pl.Series) -> tuple[list[str], Array]:
    """The frequent levels of a category, and which rows have each."""
    counts = series.drop_nulls().value_counts(sort=True)
    kept = counts.filter(counts["count"] >= LEAST_LEVEL_ROWS).head(50)
    levels = sorted(kept[series.name].to_list())
    columns = [(series == level).fill_null(False).to_numpy() for level in levels]
    return levels, np.column_stack(columns or [np.zeros(len(series), dtype=bool)])


def _of_shares(
    name: str, member: Array, groups: Array, size: Array, levels: Sequence[str] = (), missing: bool = False
) -> list[Trait | None]:
    """Of each group the level whose share differs most, on the scale of standard deviations of its 0/1 column."""
    k, n = len(size), float(size.sum())
    counts = np.stack([np.bincount(groups, column, k) for column in member.T.astype(np.float64)])  # (levels, groups)
    share = counts.sum(axis=1) / n
    deviation = np.sqrt(share * (1 - share))
    made: list[Trait | None] = []
    for group in range(k):
        if not 0 < size[group] < n or not deviation.any():
            made.append(None)
            continue
        inside, outside = counts[:, group] / size[group], (counts.sum(axis=1) - counts[:, group]) / (n - size[group])
        effect = np.divide(inside - outside, deviation, out=np.zeros(len(share)), where=deviation > 0)
        best = int(np.argmax(np.abs(effect)))
        level = None if missing else levels[best]
        made.append(Trait(name, float(effect[best]), float(inside[best]), float(outside[best]), level, missing, "category"))
    return made


def _percent(share: float) -> str:
    text = f"{100 * share:.0f} %"
    return "under 1 %" if text == "0 %" and share > 0 else "over 99 %" if text == "100 %" and share < 1 else text


def _number(value: float) -> str:
    """Four digits, or a whole number: a mean of more says nothing more. Years have no comma."""
    return f"{value:.4g}" if not 1e4 <= abs(value) < 1e15 else f"{value:,.0f}"


def _date(value: float) -> str:
    return written(dict(kind="date"), value)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
