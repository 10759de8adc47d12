"""The kind of a column: what its values measure, with the evidence for it in words.

    nominal    names without an order           ordinal    an order without distances
    count      how many: 0, 1, 2, ...           interval   distances, but no zero that means nothing: years, degrees Celsius
    ratio      distances and a zero: lengths    date       days, with or without a time of day
    text       free text                        id         names the row, or the one it belongs to
    constant   one value in every row           empty      no values, or none that can be used: free of information

Numbers alone do not say what they measure. The rules below go from what is certain to what is likely, and the first that holds is
taken; names of columns count as evidence, as they do for a reader. Whoever knows better says so: read(path, kinds={"zip": "nominal"}).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array
from tenfold.table.cells import present
from tenfold.table.columns import Column
from tenfold.table.names import CYCLES, MEASURED, SCALED, says, says_count, says_year
from tenfold.table.orders import order_of
from tenfold.table.reading import pl

KINDS = ("nominal", "ordinal", "count", "interval", "ratio", "date", "text", "id", "constant", "empty")
NUMERIC = ("count", "interval", "ratio")
FEW = 10  # different whole numbers: may be the steps of a scale
MOST_CODES = 20  # different whole numbers with gaps between them: may be names
LARGEST_COUNT = 1000
SOME, MANY = 1000, 100_000  # values
MOST_STEPS = 31  # of a cycle: days of a month
SENTINELS = {-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0, -1e30, 1e30}
LEFT_OUT = {"row number": "id", "id": "id", "text": "text", "constant": "constant", "empty": "empty", "nested": "empty"}


@dataclass(frozen=True)
class Kind:
    """A kind, why, and for an ordinal column of texts its levels in their order."""

    name: str
    evidence: str
    order: tuple[str, ...] = ()
    doubt: str | None = None


def kind_of(look: Column, values: pl.Series) -> Kind:
    """The kind of a column that was looked at; `values` as the look has read them."""
    if look.kind in LEFT_OUT:
        return Kind(LEFT_OUT[look.kind], (look.note or "").removesuffix(", left out") or look.kind)
    if look.kind == "date":
        return Kind("date", _span(values))
    if look.kind == "category":
        return _of_texts(values)
    return _of_numbers(look.name, values)


def _of_texts(texts: pl.Series) -> Kind:
    levels = texts.drop_nulls().unique().sort().to_list()
    order = order_of(levels)
    if order:
        return Kind("ordinal", f"levels with an order: {_listed(order)}", order)
    return Kind("nominal", f"{len(levels):,} level{'s' if len(levels) != 1 else ''}: {_listed(levels)}")


def _of_numbers(name: str, values: pl.Series) -> Kind:
    x = present(values)
    sentinel = sentinel_of(x)
    doubt = None
    if sentinel is not None:
        rows = int((x == sentinel).sum())
        doubt = f"{sentinel:g} in {rows:,} rows stands apart, as if for a missing value: in Python missing=[{sentinel:g}] reads it so"
        x = x[x != sentinel]
    whole = bool((x[:SOME] == np.round(x[:SOME])).all()) and bool((x == np.round(x)).all())
    # Of measurements that differ only the ends matter.
    few = whole or len(np.unique(x[:SOME])) < min(len(x), SOME) / 2
    distinct = np.unique if len(x) < MANY else lambda x: pl.Series(x).unique().sort().to_numpy()  # hashed: not all are sorted
    different = distinct(x) if few else np.array([x.min(), np.median(x[:SOME]), x.max()])
    for rule in (_two, _named, _signed, _few, _counted):
        found = rule(name, x, different, whole)
        if found is not None:
            return Kind(found[0], found[1], doubt=doubt)
    return Kind("ratio", f"{'whole ' if whole else ''}numbers from {_range(different)}", doubt=doubt)


Found = tuple[str, str] | None


def _two(name: str, x: Array, different: Array, whole: bool) -> Found:
    return ("nominal", f"two different values: {_listed([f'{one:g}' for one in different])}") if len(different) <= 2 else None


def _named(name: str, x: Array, different: Array, whole: bool) -> Found:
    if says_year(name, different):
        return "interval", f"years from {_range(different)}"
    if whole and len(different) <= MOST_STEPS and (word := says(name, CYCLES)):
        return "ordinal", f"whole numbers from {_range(different)}, and the name says {word!r}"
    if whole and different[0] >= 0 and (word := says_count(name)):
        return "count", f"whole numbers from {_range(different)}, and the name says {word!r}"
    if word := says(name, SCALED):
        return "interval", f"the name says {word!r}, whose zero does not mean nothing"
    return None


def _signed(name: str, x: Array, different: Array, whole: bool) -> Found:
    return ("interval", f"numbers from {_range(different)}, also below zero") if different[0] < 0 else None


def _few(name: str, x: Array, different: Array, whole: bool) -> Found:
    """Few whole numbers: steps of a scale, small counts, or codes."""
    if not whole or len(different) > MOST_CODES or len(x) < 3 * len(different):
        return None
    reach = different[-1] - different[0] + 1
    frequency = np.array([(x == one).sum() for one in different])
    if reach > 3 * len(different) and np.median(frequency) >= 10 and says(name, MEASURED) is None:
        shown = _listed([f"{one:g}" for one in different])
        return "nominal", f"{len(different)} different whole numbers with gaps between, as codes have: {shown}"
    if len(different) > FEW or len(different) < reach / 2:
        return None
    if different[0] == 0 and frequency[0] == frequency.max() and (np.diff(frequency) <= 0).mean() >= 0.6:
        return "count", f"whole numbers from 0 to {different[-1]:g}, small ones most often"
    return "ordinal", f"few whole numbers, {_range(different)}"


def _counted(name: str, x: Array, different: Array, whole: bool) -> Found:
    reach = different[-1] - different[0] + 1
    dense = len(different) >= reach / 2 and different[-1] <= LARGEST_COUNT and says(name, MEASURED) is None
    return ("count", f"whole numbers from {_range(different)}") if whole and different[0] <= 1 and dense else None


def sentinel_of(x: Array) -> float | None:
    """A value that stands for a missing one: far outside of the others, more than once, and one that people take for it."""
    if len(x) < 10:
        return None
    for value in {float(x.min()), float(x.max())} & SENTINELS:
        rest = x[x != value]
        count = len(x) - len(rest)
        if count < 2 or len(rest) < len(x) / 4 or len(rest) < 5:
            continue
        low, high = float(rest.min()), float(rest.max())
        outside = value < low - max(high - low, 1e-300) if value < 0 else value > high + max(high - low, 1e-300)
        if value in (-1.0, -9.0):  # near ordinary values: the others are above zero, all of them, and not few steps of a scale
            outside = low >= 0 and high >= 10 and count >= 0.01 * len(x)
        if outside:
            return value
    return None


def _span(values: pl.Series) -> str:
    days = values.drop_nulls()
    if len(days) == 0:
        return "dates"
    first, last = np.floor([days.min(), days.max()]).astype("datetime64[D]")  # type: ignore[arg-type]
    return f"dates from {first} to {last}"


def _range(different: Array) -> str:
    return f"{different[0]:.6g} to {different[-1]:.6g}"


def _listed(levels: list[str] | tuple[str, ...], most: int = 5) -> str:
    shown = [re.sub(r"\s+", " ", one if len(one) <= 20 else one[:19] + "…") for one in levels[:most]]
    return ", ".join(shown) + (", ..." if len(levels) > most else "")
