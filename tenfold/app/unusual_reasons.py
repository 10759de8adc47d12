"""Why a row of a table is unusual, in words: each column gets other values of it, and the scores tell what was expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.evaluate.explain.surprises import TELLING, along, expected_words, gains, number, replaced_scores
from tenfold.table.reading import pl
from tenfold.table.sketch import written

LEVELS_TRIED = np.unique([*np.linspace(0, 1, 33), 0.001, 0.005, 0.01, 0.99, 0.995, 0.999])  # of a column of numbers
LEVELS = 20  # of a category
LIKELY = 0.25  # of the probability of the best level: so likely levels are named too
MOST_NAMED = 2
LONGEST = 40
Facts = dict[str, Any]


@dataclass(frozen=True)
class Choices:
    """What may stand in a column of the table, and the cells of prepared rows that it becomes."""

    name: str
    kind: str  # number, date or category
    places: list[int]  # of the prepared columns
    values: list[Any]  # numbers in rising order, or levels
    cells: Array  # (values, places)

    def facts(self) -> Facts:
        return vars(self) | dict(cells=self.cells.tolist())

    @classmethod
    def of(cls, facts: Facts) -> Choices:
        """From what `facts` has made."""
        cells = np.array(facts["cells"], dtype=np.float64).reshape(len(facts["values"]), len(facts["places"]))
        return cls(str(facts["name"]), str(facts["kind"]), [int(j) for j in facts["places"]], list(facts["values"]), cells)


def choices_of(values: pl.DataFrame, kinds: dict[str, str], places: dict[str, list[int]], Z: Array) -> list[Choices]:
    """For each column that is used: quantiles of its numbers, or its frequent levels; values as the table has them, in the rows of Z."""
    found = list[Choices]()
    for name, columns in places.items():
        series = values[name]
        there = np.flatnonzero(~series.is_null().to_numpy())
        if not len(there):
            continue
        if series.dtype == pl.String:
            counts = series.drop_nulls().value_counts(sort=True).sort(["count", name], descending=[True, False]).head(LEVELS)
            levels = counts[name].to_list()
            first = {level: int(row) for row, level in reversed(list(enumerate(series.to_list()))) if level is not None}
            rows, shown = [first[level] for level in levels], levels
        else:
            x = series.to_numpy()[there].astype(np.float64)
            order = there[np.argsort(x, kind="stable")]
            picked = order[np.unique((LEVELS_TRIED * (len(order) - 1)).round().astype(np.int64))]
            sorted_values = series.to_numpy()[picked].astype(np.float64)
            new = np.append(True, np.diff(sorted_values) > 0)
            rows, shown = picked[new].tolist(), sorted_values[new].tolist()
        found.append(Choices(name, kinds.get(name, "number"), columns, shown, Z[np.ix_(rows, columns)]))
    return found


@dataclass(frozen=True)
class Reason:
    """A column that makes a row unusual: by how much, and what was expected."""

    column: str
    gain: float
    words: str


def reasons_of(
    score: Callable[[Array], Array], Z: Array, cells: pl.DataFrame, choices: Sequence[Choices], log_density: bool, usual: float, most: int
) -> list[list[Reason]]:
    """For each row the columns that make it unusual, the worst first; cells: the rows as the table has them.

    The worst cell gets the value that fits best, then the next one is sought, until the row scores no less than what is `usual`: a wrong
    cell makes the right ones beside it look wrong.
    """
    found: list[list[Reason]] = [[] for _ in range(len(Z))]
    mended, left = Z.copy(), np.arange(len(Z))
    for _ in range(min(most, len(choices))):
        rows = mended[left]
        tried = [_tried(score, rows, cells[left.tolist()], one, score(rows), log_density) for one in choices]
        for i, row in enumerate(left.tolist()):
            told = {reason.column for reason in found[row]}
            others = zip(choices, tried, strict=True)
            options = [(reasons[i], one.places, best[i]) for one, (reasons, best) in others if one.name not in told]
            worst, places, best = max(options, key=lambda one: one[0].gain)
            if worst.gain > 0 and (worst.gain >= TELLING or not told):
                found[row].append(worst)
                mended[row, places] = best
        left = left[score(mended[left]) < usual]
        if not len(left):
            break
    return found


def _tried(
    score: Callable[[Array], Array], Z: Array, cells: pl.DataFrame, one: Choices, base: Array, log_density: bool
) -> tuple[list[Reason], Array]:
    """What one column has to do with it, for each row, and the prepared cells that fit best."""
    if one.kind == "category":
        scores = replaced_scores(score, Z, one.places, np.broadcast_to(one.cells, (len(Z), *one.cells.shape)))
        gain, best = gains(base, np.maximum(base, scores.max(axis=1))), one.cells[scores.argmax(axis=1)]
        expected = [_levels(row, one.values) for row in scores]
    else:
        there = along(score, Z, one.places, np.array(one.values), one.cells, base, log_density)
        gain, best = there.gain, there.best
        expected = [(_number(one, a), _number(one, b)) for a, b in zip(there.low, there.high, strict=True)]
    known = cells[one.name].to_list()
    return [Reason(one.name, float(min(g, 1e6)), _words(one, c, *e)) for g, c, e in zip(gain, known, expected, strict=True)], best


def _words(one: Choices, cell: Any, low: str, high: str) -> str:
    name = _short(one.name)
    value = "is missing" if cell is None else _short(str(cell)) if one.kind == "category" else _number(one, float(cell))
    if value in (low, high) and one.kind == "category":
        return f"{name} {value} with these others"
    return expected_words(name, value, low, high, "or" if one.kind == "category" else "to")


def _levels(scores: Array, levels: Sequence[Any]) -> tuple[str, str]:
    """The level that fits best, and the next one where it is likely too."""
    order = np.argsort(-scores, kind="stable")[:MOST_NAMED]
    likely = [k for k in order if scores[k] >= scores[order[0]] + np.log(LIKELY)]
    names = [_short(str(levels[k])) for k in (likely or order[:1])]
    return names[0], names[-1]


def _number(one: Choices, value: float) -> str:
    return written(dict(kind="date"), value) if one.kind == "date" else number(value)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
