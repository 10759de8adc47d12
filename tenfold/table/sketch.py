"""A compact sketch of a table: what the columns of training rows held, without the rows.

    number, date   cuts between values, how many rows lie between two of them, the range, missing rows
    category       the rows of each level, those of rare levels together, missing rows
    text           that of numbers, of how many characters it has

Cuts are the shortest decimals between two neighbouring values, at least 5 rows apart, and levels of fewer than 5 rows are not named: no
cell of a single row can be read off. New rows are held against it (`seen`, `unlike`, and `tenfold watch`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.table.cells import as_known, as_texts, class_texts, unread_cells
from tenfold.table.columns import LEAST_LEVEL_ROWS, Column, read_as
from tenfold.table.dates import FORMS, as_dates
from tenfold.table.reading import pl
from tenfold.table.written_numbers import PATTERNS

MOST_CUTS = 63
MOST_LEVELS = 200
VERSION = 1
LARGEST, MOST_ROWS = sys.float_info.max, 2**53  # what a float, and a count that becomes one, can be
Facts = dict[str, Any]


def sketch(frame: pl.DataFrame, columns: Iterable[Column]) -> Facts:
    """The sketch of a table, plain values that JSON has.

    frame, columns: what `look_at_columns` returns, that is columns of Float64 (days, of dates) and of texts, and what they are; those
    that are not in the frame are passed over.
    """
    known = set(frame.columns)
    held = [column for column in columns if (column.used or column.kind == "text") and column.name in known]
    return dict(version=VERSION, rows=frame.height, columns=[_sketched(frame[one.name], one) for one in held])


def is_sketch(found: Any) -> bool:
    """Whether what a file holds is a sketch, field by field: anybody may have written into it."""
    columns = found.get("columns") if isinstance(found, dict) else None
    return isinstance(columns, list) and all(_is_column(one) for one in columns) and len({one["name"] for one in columns}) == len(columns)


def _is_column(one: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not _are_counts([one.get("rows"), one.get("missing")]):
        return False
    forms = [None, *(FORMS if one.get("kind") == "date" else PATTERNS)]
    if "form" not in one or one["form"] not in forms or one["missing"] > one["rows"] or not one["rows"]:
        return False
    if one.get("kind") == "category":
        levels = one.get("levels")
        return isinstance(levels, dict) and _are_counts([*levels.values(), one.get("rare"), one.get("rare_levels")])
    cuts, counts = one.get("cuts"), one.get("counts")
    if one.get("kind") not in ("number", "date", "text") or not isinstance(cuts, list) or not isinstance(counts, list):
        return False
    numbers = [one.get("low"), *cuts, one.get("high")]
    if not all(type(x) in (int, float) and abs(x) <= LARGEST for x in numbers) or not _are_counts(counts):
        return False
    return len(counts) == len(cuts) + 1 and all(low < high for low, high in pairwise(cuts)) and numbers[0] <= numbers[-1]


def _are_counts(values: list[Any]) -> bool:
    return all(type(one) is int and 0 <= one <= MOST_ROWS for one in values)


def seen(sketched: Facts, frame: pl.DataFrame) -> pl.DataFrame:
    """New rows as the columns of a sketch: numbers and days, levels as texts, null for what is missing or cannot be read."""
    columns = [Column(one["name"], one["kind"], form=one["form"]) for one in sketched["columns"]]
    found = read_as(columns, frame)
    texts = [_length(frame[one.name]) for one in columns if one.kind == "text"]
    found = pl.DataFrame([*found.get_columns(), *texts]).select([one.name for one in columns])
    levels = {one["name"]: one for one in sketched["columns"] if one["kind"] == "category"}
    return found.with_columns([_levels(found[name], one) for name, one in levels.items()])


def unread(sketched: Facts, frame: pl.DataFrame, rows: pl.DataFrame) -> dict[str, Array]:
    """By column of numbers or dates in which some cells cannot be read, which rows hold them (bool). rows: from `seen`."""
    columns = [one["name"] for one in sketched["columns"] if one["kind"] in ("number", "date") and frame[one["name"]].dtype == pl.String]
    found = {name: unread_cells(as_texts(frame[name]), rows[name]).to_numpy() for name in columns if rows[name].null_count()}
    return {name: where for name, where in found.items() if where.any()}


def unlike(sketched: Facts, rows: pl.DataFrame, but: Mapping[str, Array] = MappingProxyType({})) -> list[tuple[Facts, Array, str]]:
    """What single rows hold that no training row did, one entry for a column and kind: the column, which rows (bool), and how in words.

    Numbers below and above the range seen, missing values in columns that had none, and levels that are new. A level that is not
    named may be a rare one: it is new only where no rare ones were taken together. rows: from `seen`; but: from `unread`, cells that are
    not there, and not missing either.
    """
    found = []
    for one in sketched["columns"]:
        values = rows[one["name"]]
        gaps = values.is_null().to_numpy()
        if one["kind"] == "category":
            new = ~gaps & ~values.is_in(list(one["levels"])).fill_null(False).to_numpy()
            if one["rare"] == 0 and new.any():
                levels = values.filter(pl.Series(new)).unique(maintain_order=True)
                first = f"{str(levels[0])[:40]!r}"
                found.append((one, new, f"{first} is new" if len(levels) == 1 else f"a new level such as {first}"))
        else:
            x = values.to_numpy()
            with np.errstate(invalid="ignore"):
                below, above = x < one["low"], x > one["high"]
            if below.any():
                found.append((one, below, f"below {written(one, one['low'])}"))
            if above.any():
                found.append((one, above, f"above {written(one, one['high'])}"))
        gaps = gaps & ~but[one["name"]] if one["name"] in but else gaps
        if one["missing"] == 0 and gaps.any():
            found.append((one, gaps, "missing, which it never was"))
    return found


def written(one: Facts, value: float) -> str:
    """A number of a sketch in words: of dates the day."""
    if one["kind"] != "date":
        return f"{value:,.6g}" + (" characters" if one["kind"] == "text" else "")
    try:
        return str(as_dates(pl.Series([float(value)]))[0])[:10]
    except (pl.exceptions.PolarsError, OverflowError, ValueError):
        return f"day {value:,.6g}"


def _sketched(series: pl.Series, column: Column) -> Facts:
    name, missing = column.name, series.null_count()
    facts = dict(name=name, kind=column.kind, form=column.form, rows=len(series), missing=missing)
    if column.kind == "category":
        return facts | _counted(as_texts(series))
    series = _length(series) if column.kind == "text" else series
    return facts | _cut(np.sort(series.drop_nulls().to_numpy()))


def _length(series: pl.Series) -> pl.Series:
    return as_texts(series).str.len_chars().cast(pl.Float64)


def _counted(series: pl.Series) -> Facts:
    counts = series.drop_nulls().value_counts(sort=True).sort(["count", series.name], descending=[True, False])
    levels = dict(zip(counts[series.name].to_list(), counts["count"].to_list(), strict=True))
    named = {level: rows for level, rows in list(levels.items())[:MOST_LEVELS] if rows >= LEAST_LEVEL_ROWS}
    return dict(levels=named, rare=sum(levels.values()) - sum(named.values()), rare_levels=len(levels) - len(named))


def _cut(x: Array) -> Facts:
    """Cuts c₁ < c₂ < ... and the rows with c₍ₖ₋₁₎ < x ≤ cₖ, the last those above all cuts; the range, rounded outward."""
    if not len(x):
        return dict(cuts=[], counts=[0], low=0.0, high=0.0)
    last = np.flatnonzero(np.diff(x) > 0)  # of each run of equal values but the highest
    wanted = min(MOST_CUTS, len(x) // LEAST_LEVEL_ROWS - 1)
    places = np.arange(1, wanted + 1) * len(x) / (wanted + 1) if wanted > 0 else np.empty(0)
    chosen: list[int] = []
    for place in places.tolist() if len(last) else []:
        i = int(last[min(np.searchsorted(last + 1, place), len(last) - 1)])
        before = chosen[-1] + 1 if chosen else 0
        if i + 1 - before >= LEAST_LEVEL_ROWS and len(x) - i - 1 >= LEAST_LEVEL_ROWS:
            chosen.append(i)
    cuts = [between(float(x[i]), float(x[i + 1])) for i in chosen]
    counts = np.diff([0, *(i + 1 for i in chosen), len(x)]).tolist()
    low, high = _outward(float(x[0]), float(x[-1]))
    return dict(cuts=cuts, counts=counts, low=low, high=high)


def between(low: float, high: float) -> float:
    """The number of fewest decimals c with low ≤ c < high."""
    if not math.isfinite(high - low):
        return low
    start = math.floor(-math.log10(high - low)) if high > low else 0
    for digits in range(start - 1, start + 4):
        if not -300 < digits < 300:
            break
        unit = 10.0**-digits
        c = round(math.ceil(low / unit) * unit, max(digits, 0))
        if low <= c < high:
            return c
    return low


def _outward(low: float, high: float) -> tuple[float, float]:
    """The ends of a range, rounded outward by less than a hundredth of its width."""
    width = high - low
    if not 1e-290 < width < 1e290:
        return low, high
    digits = 2 - math.floor(math.log10(width))
    unit = 10.0**-digits
    down, up = (round(one * unit, max(digits, 0)) for one in (math.floor(low / unit), math.ceil(high / unit)))
    return min(down, low), max(up, high)


def _levels(series: pl.Series, one: Facts) -> pl.Series:
    """Texts as the levels that they were in training: words for a missing value are missing, and 5 is 5.0."""
    known = set(one["levels"])
    return as_known(class_texts(as_texts(series), known), known).alias(series.name)
