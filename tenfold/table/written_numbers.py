"""Numbers as people write them: with marks between the thousands, a comma before the decimals, a currency, a per cent sign.

A form is named by an example: "" is what computers write, COMMAS is "1,234.5" and DOTS is "1.234,5"; both take spaces between thousands
and a sign of currency or per cent before or after the digits. A column has one form: all its cells are written so.
"""

from __future__ import annotations

from tenfold.table.reading import pl

COMMAS, DOTS = "1,234.5", "1.234,5"
SIGNS = "$€£¥%"
GAPS = " '\u00a0\u202f"  # between thousands, besides the mark of the form


def _pattern(mark: str, point: str) -> str:
    whole = rf"([1-9]\d{{0,2}}([{mark}{GAPS}]\d{{3}})+|\d+)"
    return rf"^[+-]?[{SIGNS}]?\s?[+-]?{whole}({point}\d+)?\s?[{SIGNS}]?$"


PATTERNS = {COMMAS: _pattern(",", r"\."), DOTS: _pattern(r"\.", ",")}
# Cannot be thousands: a comma before decimals.
TYPICAL = rf"^[+-]?(0|\d+),(\d{{1,2}}|\d{{4,}})$|^[+-]?0,\d+$|^\d{{4,}},\d+$|^[+-]?[{SIGNS}]?\s?\d{{1,3}}(\.\d{{3}})+,\d+\s?[{SIGNS}]?$"


def read_number(texts: pl.Series, form: str) -> pl.Series:
    """Trimmed texts as floats, null where a cell is not written so."""
    if not form:
        return texts.cast(pl.Float64, strict=False)
    written = texts.set(~texts.str.contains(PATTERNS[form]).fill_null(False), None)
    digits = written.str.replace_all(rf"[{SIGNS}{GAPS}]", "")
    digits = digits.str.replace_all("," if form == COMMAS else ".", "", literal=True).str.replace(
        ",", ".", literal=True
    )
    return digits.cast(pl.Float64, strict=False)


def forms_of(texts: pl.Series, comma: bool) -> tuple[str, ...]:
    """The forms to be tried for a column, in this order; `comma` where the table writes commas before decimals."""
    some = texts.str.contains("%", literal=True).drop_nulls()
    if some.any() and not some.all():
        return ("",)  # per cent and not, in one column: the meaning is not known
    return (DOTS, "", COMMAS) if comma else ("", COMMAS)


def writes_commas(frame: pl.DataFrame) -> bool:
    """Whether a column of texts holds numbers with a comma before the decimals, which cannot be thousands."""
    frame = frame.select(pl.selectors.string())
    typical = frame.select(pl.all().str.strip_chars().str.contains(TYPICAL).any()).row(0) if frame.width else ()
    for column in (frame.to_series(j) for j, some in enumerate(typical) if some):
        texts = column.str.strip_chars().drop_nulls()
        present = texts.filter(texts != "")
        if 2 * int(present.str.contains(PATTERNS[DOTS]).sum()) > len(present):
            return True
    return False
