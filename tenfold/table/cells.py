"""The cells of a column: which are missing, and the others as texts or numbers.

A cell is missing if it is empty or holds one of the words of `missing_words`. In a column whose other cells are numbers (or dates) more
words stand for a missing value than in a column of texts, where "none" or "-" may well be a class; and a few cells of any
other text (a remark, a value below the limit of detection) are read as missing too, so that they do not cost the column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tenfold import _columns
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.table.missing_words import MISSING, MISSING_IN_NUMBERS, WORDS_OF_STREAMS
from tenfold.table.reading import pl
from tenfold.table.written_numbers import forms_of, read_number

OVERFLOW = r"^[+-]?\d+(\.\d*)?[eE]\+?\d+$"  # 1e400 is a number, but no float
BOUND = r"^[<>≤≥~≈]=?\s*[+-]?\d"  # "<0.01": a number that is known up to a bound
CENSOR = re.compile(BOUND)
WHOLE = re.compile(r"-?\d+(\.0)?")
LONG_KEY = r"^[+-]?\d{16,}$"
MOST_WORDS = 0.5  # of the cells: with more missing values than numbers a column is not one of numbers
MOST_ODD = 0.1  # of the cells may be texts of any other kind
FEW_INTEGERS = (
    10  # whole numbers with at most so many different values may be codes, and a text beside them one of the codes
)
FLOAT_WHOLE = 2.0**53
AT_ONCE = 256  # columns
LONG, SAMPLE = 50_000, 1000  # rows
MANY_CELLS = 1000  # from which on the different ones among them are found first
MOST_LISTED = 100  # odd cells of a column
CENSORED, ODD = "censored", "odd"  # known up to a bound; anything else


@dataclass(frozen=True)
class Odd:
    """Cells that were read as missing although something is written in them."""

    count: int
    example: str
    row: int  # of the example, from 0

    def __str__(self) -> str:
        shown = self.example if len(self.example) <= 40 else self.example[:39] + "…"
        return f"{counted_cells(self.count)} such as {shown!r} in row {self.row + 1:,} read as missing"


@dataclass(frozen=True)
class OddCell:
    """One cell that was read as missing although something is written in it."""

    row: int  # from 0
    place: str  # "line 17" of a CSV file, else "row 16"
    text: str
    kind: str  # "censored" (<0.01) or "odd" (anything else)


@dataclass(frozen=True)
class Numbers:
    """A column read as numbers: null where a cell is missing or odd; `form` is how they are written."""

    values: pl.Series
    form: str = ""
    odd: Odd | None = None
    as_written: str | None = None  # an example, where people write numbers so and computers do not


def as_texts(series: pl.Series) -> pl.Series:
    """Trimmed texts; an empty one is missing. A whole number is written without decimals, whatever its type is."""
    if series.dtype.is_float():
        whole = (series == series.round()) & (series.abs() < FLOAT_WHOLE)
        written = series.set(~whole.fill_null(False), None).cast(pl.Int64).cast(pl.String)
        return written.fill_null(series.set(~series.is_finite().fill_null(False), None).cast(pl.String))
    texts = series.cast(pl.String).str.strip_chars()
    return texts.set(texts == "", None)


def is_text(series: pl.Series) -> bool:
    """Whether a column holds texts, as such or as codes of them."""
    return series.dtype == pl.String or isinstance(series.dtype, pl.Categorical)


def by_level(cells: pl.Series, made_of: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """What is made of the cells of a category, cell by cell, asked of the different ones only."""
    if not is_text(cells) or len(cells) < MANY_CELLS:
        return made_of(cells)
    levels, counts, codes = counted_levels(cells)
    places = np.cumsum(counts > 0) - 1
    return made_of(levels).gather(pl.Series(places[codes]))


def counted_levels(cells: pl.Series) -> tuple[pl.Series, Array, Array]:
    """The different cells of a category as texts, a gap as the last; how many rows hold each code; and the code of each cell."""
    coded = cells if cells.dtype != pl.String else cells.cast(pl.Categorical(pl.Categories.random()))
    physical = coded.to_physical().cast(pl.UInt32)
    gap = -1 if physical.null_count() == len(cells) else int(physical.max())  # type: ignore[arg-type]
    codes: Array = physical.fill_null(gap + 1).to_numpy()
    counts, row = _columns.counted(codes, gap + 2)
    return coded.gather(pl.Series(row[counts > 0])).cast(pl.String), counts, codes


def without_missing_words(texts: pl.Series) -> tuple[pl.Series, Odd | None]:
    """Texts with null for the words that no class is called, and what they were."""
    missing = texts.str.to_lowercase().is_in(list(MISSING)).fill_null(False)
    return texts.set(missing, None), _odd(texts, missing)


def group_numbers(column: pl.Series) -> Array:
    """A number for each row, the same for rows of one value; a missing one is a value too."""
    return np.unique(as_texts(column).fill_null("").to_numpy().astype(str), return_inverse=True)[1].reshape(-1)


def class_texts(texts: pl.Series, known: Collection[str] = ()) -> pl.Series:
    """Texts of a category: null for the words that no class is called, unless one of those is known as a class."""
    classes = {one.lower() for one in known}
    words = [word for word in MISSING if word not in classes]
    return texts.set(texts.str.to_lowercase().is_in(words).fill_null(False), None)


def other_spellings(known: Collection[str]) -> dict[str, str]:
    """What else stands for a known level, by who has written it: 5 is 5.0, and true is True and TRUE."""
    found = dict[str, str]()
    for level in sorted(known):
        others = [level.removesuffix(".0") if level.endswith(".0") else f"{level}.0"] if WHOLE.fullmatch(level) else []
        if level.lower() in ("true", "false"):
            others = [level.lower(), level.capitalize(), level.upper()]
        found |= {other: level for other in others if other not in known}
    return found


def as_known(texts: pl.Series, known: Collection[str]) -> pl.Series:
    """Texts in the spelling in which they are known."""
    other = other_spellings(known)
    return texts.replace(list(other), list(other.values())) if other else texts


def label_of(value: Any, labels: list[str]) -> str:
    """A class as it is written: 1.0 and 1.00 are 1 where that is a class, and True is true."""
    text = str(value)
    if text in labels:
        return text
    return other_spellings(labels).get(text) or next((label for label in labels if _same_number(text, label)), text)


def _same_number(one: str, other: str) -> bool:
    try:
        return float(one) == float(other) and abs(float(one)) < 2**53  # larger ones are not told apart
    except ValueError:
        return False


def as_numbers(texts: pl.Series, comma: bool = False) -> Numbers | None:
    """The cells as numbers, in the form that most of them have; None where the column holds other texts.

    `comma`: the table writes commas before decimals.
    """
    best: Numbers | None = None
    some = sample_of(texts)
    if some is not None and all(read_number(some, form).null_count() > 0.9 * len(some) for form in forms_of(some, comma)):
        return None
    for form in forms_of(texts, comma):
        values, _ = finite(read_number(texts, form))
        if (best is None or values.null_count() < best.values.null_count()) and mostly_values(texts, values):
            best = Numbers(values, form, odd_cells(texts, values))
            if best.odd is None:
                break
    if best is None or not best.form:
        return best
    plain = texts.cast(pl.Float64, strict=False)
    unusual = (best.values.is_not_null() & plain.ne_missing(best.values)).fill_null(False)  # 20.000 may be twenty thousand
    if not unusual.any():
        return best
    first = int(unusual.arg_max() or 0)
    return replace(best, as_written=f"numbers such as {texts[first]!r}, read as {best.values[first]:.12g}")


def read_cells(texts: pl.Series, form: str) -> tuple[pl.Series, int | None]:
    """Texts as numbers of a form, null for words that stand for a missing value; and the first row that holds something else."""
    trimmed = texts.str.strip_chars()
    values = read_number(trimmed, form)
    wrong = values.is_null() & trimmed.is_not_null() & ~trimmed.str.to_lowercase().is_in(WORDS_OF_STREAMS)
    return values, int(wrong.arg_max() or 0) if wrong.any() else None


def plain_numbers(frame: pl.DataFrame, comma: bool = False) -> dict[str, pl.Series]:
    """Of a frame the columns of texts whose every cell is empty or a finite number as computers write it, as numbers.

    Many columns at once, since an operation on one takes as long as on many short ones. Where a table writes decimal commas, a
    number that could be thousands is not plain.
    """
    found: dict[str, pl.Series] = {}
    names = [] if comma else [name for name, kind in frame.schema.items() if kind == pl.String]
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        values = frame.select(pl.col(some).cast(pl.Float64, strict=False))
        if values.null_count().row(0) != frame.select(some).null_count().row(0):  # blanks around numbers, or cells that are none
            texts = frame.select(pl.col(some).str.strip_chars())
            values = texts.select(pl.col(some).cast(pl.Float64, strict=False))
        else:
            texts = frame.select(some)
        plain = [(pl.col(name).is_null() | pl.col(name).is_finite()).all() for name in some]
        unread = texts.select((pl.col(some).is_null() | (pl.col(some) == "")).sum()).row(0)
        for name, gone, finite, empty in zip(some, values.null_count().row(0), values.select(plain).row(0), unread, strict=True):
            if finite and gone == empty < frame.height:
                found[name] = values[name]
    return found


def sample_of(texts: pl.Series) -> pl.Series | None:
    """Of a long column some texts from everywhere in it, by which it is seen at once that it holds no numbers or dates at all."""
    if len(texts) < LONG:
        return None
    some = texts.gather_every(len(texts) // SAMPLE).drop_nulls()
    return some if len(some) >= SAMPLE / 2 else None


def too_long(series: pl.Series, values: pl.Series) -> bool:
    """Whether whole numbers have more digits than a float holds: names of something, which as floats would run together."""
    x = present(values)
    if len(x) == 0 or max(-x.min(), x.max()) < FLOAT_WHOLE:
        return False
    return series.dtype != pl.String or bool(series.str.strip_chars().str.contains(LONG_KEY).any())


def odd_cells(texts: pl.Series, values: pl.Series) -> Odd | None:
    """The cells with a text that was not read as a value."""
    return _odd(texts, (values.is_null() & texts.is_not_null()).fill_null(False))


def odd_list(texts: pl.Series, values: pl.Series, where: Callable[[int], str]) -> tuple[tuple[OddCell, ...], int]:
    """The first cells with a text that was read as missing, words that only say so not among them; and how many there are."""
    rows = unread_cells(texts, values).arg_true()
    cells = tuple(
        OddCell(row, where(row), str(texts[row]), CENSORED if CENSOR.match(str(texts[row])) else ODD)
        for row in rows.head(MOST_LISTED).to_list()
    )
    return cells, len(rows)


def unread_cells(texts: pl.Series, values: pl.Series) -> pl.Series:
    """Of the cells of a column of numbers or dates, which hold something that is not read; words for a missing value are none of them.

    texts: from `as_texts`; values: what is read in them."""
    return texts.is_not_null() & values.is_null() & ~texts.str.to_lowercase().is_in(list(MISSING_IN_NUMBERS)).fill_null(False)


def _odd(texts: pl.Series, which: pl.Series) -> Odd | None:
    count = int(which.sum())
    if count == 0:
        return None
    first = int(which.arg_max() or 0)
    return Odd(count, str(texts[first]), first)


def mostly_values(texts: pl.Series, values: pl.Series, codes: bool = True) -> bool:
    """Whether a column holds numbers (or dates) in spite of its odd cells; `codes`: whole numbers may be the names of classes."""
    present = len(texts) - texts.null_count()
    odd = texts.filter(values.is_null() & texts.is_not_null())
    if len(odd) == 0 or len(odd) > MOST_WORDS * present:
        return len(odd) == 0
    known = odd.str.to_lowercase().is_in(list(MISSING_IN_NUMBERS)) | odd.str.contains(OVERFLOW)
    strange = int((~known).sum())
    bounds = int(odd.str.contains(BOUND).sum())
    if strange - bounds > MOST_ODD * present:
        return False
    return strange == 0 or not (codes and _are_codes(values.drop_nulls()))


def _are_codes(numbers: pl.Series) -> bool:
    return numbers.n_unique() <= FEW_INTEGERS and bool((numbers == numbers.round()).all())


def present(values: pl.Series) -> Array:
    """The values that are there."""
    there: Array = values.to_numpy() if values.null_count() == 0 else values.drop_nulls().to_numpy()
    return there


def finite(numbers: pl.Series) -> tuple[pl.Series, Odd | None]:
    """Float64 with infinities and NaN as missing; what was infinite."""
    values = numbers if numbers.dtype == pl.Float64 else numbers.cast(pl.Float64, strict=False)
    whole = values.null_count() == 0 and ops.all_finite(values.to_numpy())
    if whole or values.is_finite().all():  # of the values that are there
        return values, None
    bad = ~values.is_finite().fill_null(True)
    infinite = values.is_infinite().fill_null(False)
    return values.set(bad, None), _odd(values.cast(pl.String), infinite) if infinite.any() else None


def counted_cells(count: int) -> str:
    return f"{count:,} cell{'s' if count != 1 else ''}"
