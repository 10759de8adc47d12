"""Axes in words: the columns that go with each, those that go the other way, and the rows at its ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.table.show import shown

LEAST = 0.4  # correlation of a column that is behind an axis
NEAR = 0.5  # of the largest: a column that is named beside it
MOST_TIES, LONGEST = 6, 40
ALONE, OTHERS = 0.8, 0.35  # correlation of one column that is an axis by itself, and of all others then
FIRM, MOSTLY = 0.9, 0.7  # cosines between axes of halves
ENDS = 3  # rows told at each end
COPIES = 0.995  # correlation of columns that say the same
HEAVY = 0.5  # share of all variance of one column that decides
MOST_COMPARED, MOST_WARNINGS = 1000, 4


@dataclass(frozen=True)
class Tie:
    """How a column of the table goes with an axis: its correlation; of a category, that of the level that goes with it most."""

    column: str
    name: str  # `age`, `species = Gentoo`, `age is missing`
    r: float

    def __str__(self) -> str:
        return f"{shown(self.name, LONGEST)} ({'−' if self.r < 0 else '+'}{abs(self.r):.2f})"


@dataclass(frozen=True)
class End:
    """A row at the end of an axis: its number from 1, what it is called, and its score."""

    number: int
    label: str | None
    score: float

    def __str__(self) -> str:
        return f"{self.number:,}" + ("" if self.label is None else f" ({shown(self.label, 24)})")


@dataclass(frozen=True)
class Axis:
    """One axis: the share of all variance that goes with it, with its range, and what it is made of."""

    number: int
    share: float
    low: float | None
    high: float | None
    again: float | None  # cosine between what halves of the rows give
    ties: list[Tie]  # of all columns, the largest first
    lowest: list[End]
    highest: list[End]

    @property
    def behind(self) -> list[Tie]:
        """The columns that go with it clearly, or else the one that does most."""
        most = abs(self.ties[0].r) if self.ties else 0.0
        return [one for one in self.ties if abs(one.r) >= max(LEAST, NEAR * most)] or self.ties[:1]

    @property
    def alone(self) -> str | None:
        """The one column that this axis is."""
        first, rest = self.ties[0], self.ties[1:]
        return first.column if rest and abs(first.r) >= ALONE and all(abs(one.r) < OTHERS for one in rest) else None

    @property
    def words(self) -> str:
        """Which columns go up together, and which go the other way."""
        if self.alone is not None:
            return f"{self.behind[0]} almost alone: no other column goes with it"
        parts = list[str]()
        for way in (True, False):
            some = [one for one in self.behind if (one.r > 0) is way]
            named = [one for one in self.behind[:MOST_TIES] if one in some]
            rest = [f"{len(some) - len(named)} more"] if len(some) > len(named) else []
            if not named:
                continue
            together = "goes" if len(some) == 1 else "go"
            how = "the other way" if parts else f"{'up' if way else 'down'}{' together' if len(some) > 1 else ''}"
            parts.append(f"{listed([*named, *rest])} {together} {how}")
        return "; ".join(parts)

    @property
    def firm(self) -> str | None:
        """Whether other rows would give the same axis."""
        if self.again is None or self.again >= FIRM:
            return None
        return "other rows would turn it somewhat" if self.again >= MOSTLY else "other rows would give another axis"


def listed(some: Sequence[Any]) -> str:
    """`a, b and c`."""
    texts = [str(one) for one in some]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}" if texts else ""


def correlations(Z: Array, scores: Array) -> Array:
    """(columns, axes) of prepared columns with scores; 0 where one of both is constant."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        a, b = Z - Z.mean(axis=0), scores - scores.mean(axis=0)
        size = np.sqrt((a * a).sum(axis=0))[:, None] * np.sqrt((b * b).sum(axis=0))
        return np.asarray(np.nan_to_num((a.T @ b) / np.where(size > 0, size, np.inf), nan=0.0, posinf=0.0, neginf=0.0))


def ties_of(r: Array, names: Sequence[str], places: Mapping[str, Sequence[int]]) -> list[Tie]:
    """Of each column of the table the prepared column that goes with an axis most; r: the correlations of all of these."""
    found = list[Tie]()
    for column, some in places.items():
        best = max(some, key=lambda j: abs(float(r[j])))
        found.append(Tie(column, _named(column, names[best]), float(r[best])))
    return sorted(found, key=lambda one: -abs(one.r))


def loadings_of(r: Array, names: Sequence[str], places: Mapping[str, Sequence[int]]) -> Array:
    """(columns of the table, axes): the correlation of each with each axis."""
    found = [{one.column: one.r for one in ties_of(column, names, places)} for column in r.T]
    return np.array([[one[column] for one in found] for column in places])


def _named(column: str, name: str) -> str:
    """The name of a prepared column as people say it."""
    if name == column or not name.startswith(column):
        return column
    rest = name[len(column) :]
    return f"{column} = {rest[1:]}" if rest.startswith("=") else column + rest


def ends_of(scores: Array, numbers: Array, labels: Sequence[Any]) -> tuple[list[End], list[End]]:
    """The rows with the lowest and with the highest scores."""
    order = np.argsort(scores, kind="stable")
    low, high = order[:ENDS], order[::-1][:ENDS]
    made = [
        [End(int(numbers[i]) + 1, None if labels[i] is None else str(labels[i]), float(scores[i])) for i in some] for some in (low, high)
    ]
    return made[0], made[1]


def warnings_of(Z: Array, names: Sequence[str], places: Mapping[str, Sequence[int]]) -> list[str]:
    """What distorts axes: a column that decides alone, and columns that are there twice."""
    told = list[str]()
    variance = Z.var(axis=0)
    total = float(variance.sum()) or 1.0
    for column, some in places.items():
        share = float(variance[list(some)].sum()) / total
        if share > HEAVY and len(places) > 2:
            told.append(f"{shown(column, LONGEST)} makes {100 * share:.0f} % of all variance by itself, and so the axes: try --without it")
    plain = [some[0] for column, some in places.items() if names[some[0]] == column]
    if len(plain) > MOST_COMPARED:
        return told
    same, left = np.abs(correlations(Z[:, plain], Z[:, plain])) > COPIES, set(range(len(plain)))
    for i in range(len(plain)):
        group = [j for j in sorted(left) if same[i, j] or i == j]
        if i in left and len(group) > 1 and len(told) < MOST_WARNINGS:
            few = [shown(names[plain[j]], LONGEST) for j in group[:2]]
            more = f" and {len(group) - 2} more say the same" if len(group) > 2 else " say the same"
            joined = ", ".join(few) if len(group) > 2 else " and ".join(few)
            told.append(f"{joined}{more} (correlations over {COPIES}), and count {len(group)} times: --without leaves columns out")
        left -= set(group) if i in left else set()
    return told
