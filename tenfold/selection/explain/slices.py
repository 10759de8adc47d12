"""Where a model fails: groups of rows whose held-out loss is larger than that of the others, beyond chance.

Each level of a category, each fifth of a number and each gap is a group. One is named if its mean loss exceeds that of the
other rows in Welch's test, one-sided, after the control of the false discovery rate over all groups (Benjamini & Hochberg 1995).
By one column that is named all groups are told: their losses, and how far what is said of them is from what came true.

Rows count by their weights, where they have some; those that belong together (a group, copies) err alike, and are one each in errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from tenfold.core.data import Array
from tenfold.evaluate.validate.spread import Spread, by_unit, mean_of
from tenfold.selection.honest.unseen import Unseen
from tenfold.table.sketch import written

LEAST_ROWS = 15  # of a group
LEAST_SHARE = 0.01
MOST_LEVELS = 30  # of a category, the most frequent
PARTS = 5  # of a number
RATE = 0.05  # of the groups that are named, the share expected to be no worse than the others
MOST_SLICES = 20
LARGE = 1e4  # numbers that are written out
LEVEL = 0.95  # of ranges
MOST_GROUPS = 12  # of a column that is named, the largest


def slices_of(
    X: Array,
    names: list[str],
    categories: list[Array | None],
    losses: Array,
    kinds: Mapping[str, str] = MappingProxyType({}),
    weight: Array | None = None,
    unit: Array | None = None,
) -> dict[str, Any]:
    """Groups with larger losses, worst first; X has codes where there are categories, NaN for missing. kinds: of columns by name, "date"
    where numbers are days since 1970-01-01, "text" where they are what words score."""
    w = np.ones(len(losses)) if weight is None else weight
    least = max(LEAST_ROWS, int(LEAST_SHARE * len(losses)))
    groups = [
        (names[j], label, where)
        for j in range(X.shape[1])
        for label, where in groups_of(X[:, j], categories[j], kinds.get(names[j], "number"))
        if least <= where.sum() <= len(losses) - LEAST_ROWS
    ]
    p = np.array([_chance(*(_mean(losses, some, w, unit) for some in (where, ~where))) for _, _, where in groups])
    worse: list[dict[str, Any]] = [
        dict(
            column=groups[i][0],
            group=groups[i][1],
            rows=int(groups[i][2].sum()),
            loss=float(np.average(losses[groups[i][2]], weights=w[groups[i][2]])),
            p=float(p[i]),
        )
        for i in _discovered(p, RATE)
    ]
    worse.sort(key=lambda one: -one["loss"])
    return dict(groups=len(groups), least=least, mean=float(np.average(losses, weights=w)), worse=worse[:MOST_SLICES], found=len(worse))


def by_column(
    column: Array, levels: Array | None, held: Unseen, losses: Array, positive: str | None = None, kind: str = "number"
) -> dict[str, Any]:
    """The groups of one column, largest first: mean loss, what is said and what came true, each mean with its range.

    Of two classes the chance of the positive one is held against how often it came true, and what is decided against the truth; of
    several the chance of the class that is said against how often it is right. Groups of too few rows are counted, not told.
    """
    two = len(held.classes) == 2
    label = held.classes.index(positive) if positive in held.classes else len(held.classes) - 1
    if two:
        said, true = held.outputs[:, label], (held.truth == label).astype(np.float64)
    elif held.classes:
        said, true = held.outputs[np.arange(len(held)), held.predicted], (held.truth == held.predicted).astype(np.float64)
    else:
        said, true = held.predicted, held.truth
    groups = sorted(groups_of(column, levels, kind), key=lambda pair: -int(pair[1].sum()))
    large = [pair for pair in groups if pair[1].sum() >= LEAST_ROWS]
    w, unit = np.ones(len(held)) if held.weight is None else held.weight, held.unit
    p = [_different(*(_mean(losses, some, w, unit) for some in (where, ~where))) for _, where in large]
    other = set(_discovered(np.array(p), RATE))
    found: list[dict[str, Any]] = []
    for i, (name, where) in enumerate(large[:MOST_GROUPS]):
        facts: dict[str, Any] = dict(group=name, rows=int(where.sum()), loss=_ranged(_mean(losses, where, w, unit)))
        facts |= dict(said=float(np.average(said[where], weights=w[where])), true=float(np.average(true[where], weights=w[where])))
        facts |= dict(gap=_ranged(_mean(said - true, where, w, unit)), differs=i in other)
        found.append(facts | (_decided(held.truth[where] == label, held.predicted[where] == label, w[where]) if two else {}))
    few = [(name, int(where.sum())) for name, where in groups if where.sum() < LEAST_ROWS]
    small = dict(groups=len(few), rows=sum(rows for _, rows in few), least=LEAST_ROWS)
    told = dict(groups=found, small=small, more=max(0, len(large) - MOST_GROUPS), mean=float(np.average(losses, weights=w)))
    return told | ({"class": held.classes[label]} if two else {})


def _mean(values: Array, where: Array, w: Array, unit: Array | None) -> Spread:
    """The mean of some rows, with its error."""
    if not where.any():
        return Spread(0.0, np.empty(0), False, 0.0)
    return by_unit(*mean_of(values[where], w[where]), w[where], None if unit is None else unit[where])


def _different(some: Spread, others: Spread) -> float:
    """The p-value of two means being the same; of too few others nothing is known."""
    if others.units < LEAST_ROWS:
        return 1.0
    return min(1.0, 2 * min(_chance(some, others), _chance(others, some)))


def _ranged(mean: Spread) -> dict[str, float]:
    """A mean with its range by Student's t; without one where all rows are one."""
    value, half_width = mean.value, float(stdtrit(mean.units - 1, 0.5 + LEVEL / 2) * mean.error)
    return dict(value=value, low=value - half_width, high=value + half_width)


def _decided(is_one: Array, said: Array, w: Array) -> dict[str, float | None]:
    """Of how many rows the class is said, how many of the class are found, and how many of the others are taken for it."""
    among = dict(flagged=np.ones(len(said), dtype=bool), found=is_one, alarms=~is_one)
    return {name: float(np.average(said[some], weights=w[some])) if some.any() else None for name, some in among.items()}


def groups_of(column: Array, levels: Array | None, kind: str = "number") -> Iterator[tuple[str, Array]]:
    """Groups of rows by one column, in words."""
    missing = np.isnan(column)
    if missing.any():
        yield "missing", missing
    if levels is not None:
        codes, counts = np.unique(column[~missing].astype(np.int64), return_counts=True)
        for code in codes[np.argsort(-counts, kind="stable")][:MOST_LEVELS]:
            yield level_name(levels, code), column == code
        return
    values = column[~missing]
    if not len(values):
        return
    ends = np.unique(np.quantile(values, np.arange(1, PARTS) / PARTS, method="inverted_cdf"))
    low = -np.inf
    for end in (*ends.tolist(), np.inf):
        where = (column > low) & (column <= end)
        if where.any():
            inside = column[where]
            yield span_of(float(inside.min()), float(inside.max()), kind), where
        low = end


def level_name(levels: Array, code: Any) -> str:
    return str(levels[int(code)]) if 0 <= int(code) < len(levels) else "other"


def span_of(low: float, high: float, kind: str = "number") -> str:
    """From a value to another: numbers with four digits where these tell the two apart, large ones written out, days of dates."""
    whole = [written(dict(kind="date" if kind == "date" else "number"), one) for one in (low, high)]
    ends = whole if kind == "date" else [f"{one:.4g}" if abs(one) < LARGE else text for one, text in zip((low, high), whole, strict=True)]
    ends = whole if ends[0] == ends[1] else ends
    span = ends[0] if ends[0] == ends[1] else " to ".join(ends)
    return f"of score {span}" if kind == "text" else span


def _chance(inside: Spread, outside: Spread) -> float:
    """How likely a mean as large is by chance: Welch's test, one-sided; of a single unit nothing is known."""
    v, u, gap = inside.error**2, outside.error**2, inside.value - outside.value
    if not np.isfinite(v + u):
        return 1.0
    if not v + u > 0:
        return 1.0 if gap <= 0 else 0.0
    free = (v + u) ** 2 / (v**2 / (inside.units - 1) + u**2 / (outside.units - 1))
    return float(stdtr(free, -gap / np.sqrt(v + u)))


def _discovered(p: Array, rate: float) -> list[int]:
    """The hypotheses that are rejected at this false discovery rate."""
    if not len(p):
        return []
    order = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / len(p))
    return [int(i) for i in order[: below[-1] + 1]] if len(below) else []
