"""What should be known about a table before anything is learned from it."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenfold.core.errors import BadInput
from tenfold.table.cells import CENSORED, as_texts, counted_cells
from tenfold.table.copies import copies_by_chance
from tenfold.table.leaks import leak_suspects
from tenfold.table.reading import pl
from tenfold.table.task import Task, find_task

if TYPE_CHECKING:
    from tenfold.table.table import Table, TableColumn

MOSTLY_MISSING = 0.5
MIXED = 0.05  # of the cells of a column of texts are numbers
LEAST_SERIES = 20  # rows in the order of a date from which this may be meant
FORMULA = r"^[=@+-][A-Z]+[(\d]"  # =SUM(A1:A3): what a spreadsheet has not computed
MOST_SHOWN = 3


@dataclass(frozen=True)
class Flag:
    """One thing to know: what it is about, a sentence, and whether it is a warning or only worth knowing."""

    what: str  # file, name, odd cells, sentinel, missing, constant, empty, mixed, formulas, dates, id, groups, copies, time, leak, target
    text: str
    columns: tuple[str, ...] = ()
    warning: bool = True


def flags_of(table: Table) -> list[Flag]:
    """All flags of a table, warnings first."""
    found = [Flag("file", note) for note in table.raw.notes]
    for column in table.columns:
        found += _of_column(table, column)
    found += _equal_columns(table)
    found += _equal_rows(table)
    found += _time_order(table)
    found += _leaks(table)
    return sorted(found, key=lambda flag: not flag.warning)


def _of_column(table: Table, column: TableColumn) -> Iterator[Flag]:
    name, shown = column.name, _short(column.name)
    if any(unicodedata.category(c)[0] == "C" for c in name):
        yield Flag("name", f"the name {ascii(name)[:60]} holds characters that cannot be seen: rename it", (name,))
    if column.n_odd:
        yield Flag("odd cells", f"{shown}: {_odd(column)}", (name,))
    for note in column.notes:
        if "stands apart" in note:
            yield Flag("sentinel", f"{shown}: {note}", (name,))
        elif "could be" in note:
            yield Flag("dates", f"{shown}: {note}", (name,))
    if column.kind == "constant":
        yield Flag("constant", f"{shown}: the same in every row", (name,))
    elif column.kind == "empty":
        yield Flag("empty", f"{shown}: {column.evidence}", (name,))
    elif column.missing > MOSTLY_MISSING * table.height:
        yield Flag("missing", f"{shown}: missing in {column.missing:,} of {table.height:,} rows", (name,))
    if column.kind in ("text", "nominal", "id") and not table.raw.typed:
        yield from _mixed(table, column)
    if column.kind == "id":
        values = table.raw.frame[name]
        different = values.n_unique()
        if different < table.height - column.missing:
            yield Flag("groups", f"{shown}: rows with the same one belong together, keep them in one fold (groups)", (name,), False)
        else:
            yield Flag("id", f"{shown}: {column.evidence}", (name,), False)


def _odd(column: TableColumn) -> str:
    """Cells that were read as missing, the censored ones told apart."""
    parts = []
    for kind, what in ((CENSORED, "known up to a bound"), ("odd", "of other text")):
        cells = [cell for cell in column.odd if cell.kind == kind]
        if cells:
            more = len(cells) == len(column.odd) and column.n_odd > len(cells)
            count = column.n_odd if more else len(cells)
            shown = ", ".join(f"{cell.text[:30]!r} in {cell.place}" for cell in cells[:MOST_SHOWN])
            parts.append(f"{counted_cells(count)} {what} ({shown}{', ...' if count > MOST_SHOWN else ''})")
    return " and ".join(parts) + " read as missing"


def _mixed(table: Table, column: TableColumn) -> Iterator[Flag]:
    texts = as_texts(table.raw.frame[column.name]).drop_nulls()
    if len(texts) == 0 or (column.kind == "nominal" and texts.n_unique() <= 2):
        return
    formulas = texts.str.contains(FORMULA)
    if formulas.any():
        example = texts.filter(formulas)[0]
        what = f"{counted_cells(int(formulas.sum()))} hold formulas such as {example[:30]!r}"
        yield Flag("formulas", f"{_short(column.name)}: {what}", (column.name,))
    numbers = texts.cast(pl.Float64, strict=False).is_not_null()
    share = float(numbers.mean() or 0)  # type: ignore[arg-type]
    if MIXED <= share <= 1 - MIXED:
        row = int((~numbers).arg_max() or 0)
        what = f"{100 * share:.0f}% of the cells are numbers, the others texts such as {texts[row][:30]!r}"
        yield Flag("mixed", f"{_short(column.name)}: {what}", (column.name,))


def _equal_columns(table: Table) -> Iterator[Flag]:
    first: dict[bytes, str] = {}
    for column in table.values.iter_columns():
        if column.null_count() == len(column):
            continue
        cells = column.to_numpy() if column.dtype == pl.Float64 else column.hash(0).to_numpy()
        key = hashlib.blake2b(cells.tobytes(), digest_size=16).digest()
        if key in first:
            yield Flag("copies", f"{_short(column.name)} is a copy of {_short(first[key])}", (first[key], column.name))
        first.setdefault(key, column.name)


def _equal_rows(table: Table) -> Iterator[Flag]:
    values = pl.DataFrame([values for column, values in table._read if column.kind not in ("id", "constant", "empty")])
    if values.width < 2 or table.height < 2:  # of one column copies are to be expected
        return
    hashes = values.hash_rows(seed=0)
    copies = len(hashes) - hashes.n_unique()
    if copies == 0:
        return
    once = values.filter(hashes.is_first_distinct())
    chance = copies_by_chance(once, table.height) >= 1
    rows = f"{copies:,} row{'s' if copies > 1 else ''}"
    if chance:
        yield Flag("copies", f"{rows} equal to others: the columns are coarse, this is to be expected", (), False)
        return
    again = (~hashes.is_first_distinct()).arg_true()[0]
    where = f"the first in {table.raw.where(int(again))}"
    yield Flag("copies", f"{rows} equal to others ({where}): copies in training and test flatter a score")


def _time_order(table: Table) -> Iterator[Flag]:
    for column in table.columns:
        years = column.kind == "interval" and column.evidence.startswith("years")
        if column.kind != "date" and not years:
            continue
        days = next(values for one, values in table._read if one is column).drop_nulls()
        if len(days) >= LEAST_SERIES and days.n_unique() >= 10 and (days.is_sorted() or days.is_sorted(descending=True)):
            what = "the rows are in its order: if the future is to be predicted, test on the latest rows"
            yield Flag("time", f"{_short(column.name)}: {what}", (column.name,), False)


def _leaks(table: Table) -> Iterator[Flag]:
    if table.target is None:
        return
    target = table.column(table.target)
    if target.missing:
        yield Flag("target", f"the target {_short(target.name)} is missing in {target.missing:,} rows", (target.name,))
    try:
        task = task_of(table)
    except BadInput as reason:
        yield Flag("target", str(reason), (target.name,))
        return
    frame = pl.DataFrame([values for column, values in table._read if column.name != target.name and _may_leak(column)])
    if frame.width == 0:
        return
    for name, how in leak_suspects(frame[task.rows], task):
        text = f"{_short(name)} alone predicts {_short(target.name)} almost perfectly ({how}): leave it out if it is known only afterwards"
        yield Flag("leak", text, (name, target.name))


def _may_leak(column: TableColumn) -> bool:
    """An id may, and texts that repeat (their rows may share their target); not one that says nothing."""
    return column.kind not in ("constant", "empty")


def task_of(table: Table) -> Task:
    """Classes or a number, by the kind of the target where it was given."""
    assert table.target is not None
    asked = {"nominal": "classes", "ordinal": "classes"}.get(table.given.get(table.target, ""))
    return find_task(table.raw.frame[table.target], asked, comma=table.comma)


def _short(name: str) -> str:
    return repr(name if len(name) <= 40 else name[:39] + "…")


