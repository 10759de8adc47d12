"""Cells of files that are not what was asked for: how they are found, and the sentence that names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenfold.core.errors import BadFile, BadInput, TenfoldError
from tenfold.gate.categories import short
from tenfold.gate.columns import NUMBERS_AS_TEXT, is_number, way_to_numbers
from tenfold.table.lines import bad_line

if TYPE_CHECKING:
    from tenfold.sources.formats import Table

PLAIN_MISSING = "NA"  # the one word for a missing number that polars reads itself; the others are those of table/cells


def unread(text: Any, kind: Any) -> Any:
    """Whether a text is there but is no value of that type."""
    pl = polars()
    if kind == pl.Boolean:
        return text.is_not_null() & ~text.is_in(["true", "false", "True", "False", "TRUE", "FALSE"])
    from tenfold.table.missing_words import WORDS_OF_STREAMS

    unread = text.is_not_null() & text.str.strip_chars().cast(kind, strict=False).is_null()
    if kind != pl.Float64:  # labels, which are not read as cells of a table
        return unread
    return unread & ~text.str.strip_chars().str.to_lowercase().is_in(WORDS_OF_STREAMS)


def without_label(text: Any) -> Any:
    """Whether a cell of a CSV holds no label: it is empty, or a word that no class is called."""
    from tenfold.table.missing_words import MISSING

    return text.is_null() | text.str.strip_chars().str.to_lowercase().is_in(["", *MISSING])


def not_plain(text: Any) -> Any:
    """Whether a text is there that polars does not read as a number."""
    return text.is_not_null() & (text != PLAIN_MISSING) & text.cast(polars().Float64, strict=False).is_null()


def not_a_number(table: Table, name: str, kind: str, row: int, value: Any) -> BadInput:
    way = NUMBERS_AS_TEXT if table.typed and is_number(value) else way_to_numbers(value)
    return BadInput(f"could not convert string to float: column {name[:80]!r} of {table} holds {kind} (row {row}: {short(value)}): {way}")


def not_a_label(table: Table, name: str, row: int, value: str) -> BadInput:
    """Of a column whose classes are known: no label at all, or one of another type."""
    if without_label(polars().Series([value])).item():
        return missing_label(f"{row} of {table}")
    return BadInput(
        f"the labels in column {name!r} of {table} (row {row}: {short(value)}) are not of the same type as the classes: "
        "make both text or both numbers"
    )


def missing_label(place: str) -> BadInput:
    return BadInput(f"Input y contains NaN in row {place}: drop the rows without a label first")


class reported:
    """Errors of a reader become one sentence with the name of the file."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __enter__(self) -> None:
        polars()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, TenfoldError):
            return
        if not isinstance(error, (polars().exceptions.PolarsError, OSError)) and not kind.__module__.startswith(
            "pyarrow"
        ):
            return
        text = None if self.table.typed else self._text() or bad_line(self.table.path, self.table.layout)
        reason = str(error).strip().partition("\n")[0][:200]
        raise text or BadFile(
            f"{self.table.path!r} cannot be read ({reason}): check that it is whole and of the kind of its name"
        ) from None

    def _text(self) -> TenfoldError | None:
        try:
            return self.table.find_text() if self.table.asked else None
        except (polars().exceptions.PolarsError, OSError):
            return None


def polars() -> Any:
    """Polars, which is needed for files only."""
    try:
        import polars
    except ImportError:
        raise BadFile("reading files needs polars: pip install 'tenfold[app]'") from None
    return polars
