"""The cells of new rows that are not what their columns held in training: warned of, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tenfold.core.errors import BadInput, DataWarning, warn
from tenfold.table.cells import MOST_ODD, as_texts, counted_cells, is_text, unread_cells
from tenfold.table.columns import MOST_NAMES
from tenfold.table.dates import FORMS, days
from tenfold.table.reading import pl
from tenfold.table.written_numbers import PATTERNS, read_number

if TYPE_CHECKING:
    from tenfold.prepare.coder import TableCoder


def check_new_rows(frame: pl.DataFrame, coder: TableCoder, trees: bool) -> None:
    """Warn of cells that count as something else; refuse a table whose numbers cannot be read.

    `trees`: the model takes missing values as they are, so that a new level is a missing value.
    """
    unread: dict[str, pl.Series] = {}  # numbers and dates, of which not one cell can be read
    readable = False
    for i, name in enumerate(coder.feature_names_in_):
        column = frame[name]
        if coder.category_[i]:
            if is_text(column):
                _warn_new_levels(column, coder, i, trees)
            continue
        if column.dtype != pl.String:
            readable |= column.null_count() < len(column)
            continue
        texts = as_texts(column)
        values = coder.read(texts, i)
        bad = texts.filter(unread_cells(texts, values))
        readable |= values.null_count() < len(values)
        if _misread(texts.filter(values.is_not_null()), bad, coder, i):
            raise BadInput(
                f"column {name!r} is not written as in training{_like(coder.form_of(i))}: {bad[0][:40]!r} cannot be read so, and other "
                "cells would be taken for something else; write the values in that way"
            )
        if len(bad) and values.null_count() == len(values):
            unread[name] = bad
        else:
            _warn(bad, _what(coder.form_of(i)), "missing")
    hopeless = [name for name, bad in unread.items() if len(bad) > 1 or not readable]
    forms = {name: coder.form_of(i) for i, name in enumerate(coder.feature_names_in_) if name in unread}
    if hopeless:
        raise BadInput(in_no_row({name: unread[name] for name in hopeless}, forms))
    for name, bad in unread.items():
        _warn(bad, _what(forms[name]), "missing")


def _misread(read: pl.Series, bad: pl.Series, coder: TableCoder, i: int) -> bool:
    """Whether the cells that are not read, more than a few, show another way of writing, in which some that are read mean something
    else: 1.234 with a point before the decimals, 03/04 with the month first."""
    form = coder.form_of(i)
    if len(bad) <= MOST_ODD * (len(bad) + len(read)):
        return False
    swapped = form.translate(str.maketrans("dm", "md"))
    for other in ("", *PATTERNS) if form in PATTERNS else (swapped,) if swapped in FORMS and swapped != form else ():
        both = [read_number(one, other) if form in PATTERNS else days(one, other) for one in (bad, read)]
        if not any(one.null_count() for one in both) and bool((both[1] != coder.read(read, i)).any()):
            return True
    return False


def _warn_new_levels(column: pl.Series, coder: TableCoder, i: int, trees: bool) -> None:
    if coder.pooled_[i]:
        return  # it is "other", as rare levels were in training
    reference = coder.reference_[i]
    _warn(coder.new_levels(column, i), "new to the model", "missing" if trees or not reference else repr(reference))


def _what(form: str) -> str:
    return f"not a {'date' if '%' in form else 'number'}{' as in training' if form else ''}"


def _like(form: str) -> str:
    return f" ({form.replace('%', '')})" if "%" in form else f" (like {form})" if form else ""


def _warn(bad: pl.Series, what: str, instead: str) -> None:
    if len(bad):
        warn(_told(bad, what, instead), DataWarning, stacklevel=5)


def _told(bad: pl.Series, what: str, instead: str) -> str:
    be, count = ("is", "counts") if len(bad) == 1 else ("are", "count")
    return f"column {bad.name!r}: {counted_cells(len(bad))} such as {bad[0][:40]!r} {be} {what}, and {count} as {instead}"


def in_some_rows(bad: pl.Series, form: str) -> str:
    """That some cells of a column of numbers or dates cannot be read. form: how they were written in training."""
    return _told(bad, _what(form), "missing")


def in_no_row(unread: Mapping[str, pl.Series], forms: Mapping[str, str]) -> str:
    """Which columns cannot be read in any row, with an example and how they were written in training. unread: the cells by column."""
    names = list(unread)
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    first = names[0]
    like = "as in training" + _like(forms[first])
    many = "columns" if len(names) > 1 else "column"
    return (
        f"no row can be read in the {many} {shown}{more}: {str(unread[first][0])[:40]!r} in {first!r} is "
        f"{_what(forms[first]).removesuffix(' as in training')} {like}; write the values in that way"
    )
