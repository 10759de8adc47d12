"""Dates as numbers: days since 1970-01-01, with the time of day as a fraction."""

from __future__ import annotations

from tenfold.table.cells import mostly_values
from tenfold.table.reading import pl

DATE = r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?$|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([ T].*)?$"
CLOCK = r"[ T](\d{1,2}):(\d{2})(?::(\d{2}))?"
ISO = "%Y-%m-%d"
# Where day and month cannot be distinguished, the first form that reads every cell is taken: a slash is American.
FORMS = (
    ISO, "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y", "%m.%d.%Y",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d-%m-%y", "%m-%d-%y",
)  # fmt: skip
DAY = 86_400


def looks_like_dates(texts: pl.Series) -> bool:
    """Whether the cells are dates, up to a few that are missing or odd."""
    return mostly_values(texts, texts.set(~texts.str.contains(DATE).fill_null(False), None), codes=False) and bool(
        texts.str.contains(DATE).any()
    )


def form_of(texts: pl.Series) -> str | None:
    """How the dates of a column are written; None where they are no dates, or of mixed form."""
    written = texts.filter(texts.str.contains(DATE))
    return next((form for form in FORMS if len(written) and days(written, form).null_count() == 0), None)


def other_form(texts: pl.Series, form: str) -> str | None:
    """Another form with day and month changed places that reads every date too."""
    swapped = form.translate(str.maketrans("dm", "md"))
    written = texts.filter(texts.str.contains(DATE))
    there = swapped != form and swapped in FORMS and days(written, swapped).null_count() == 0
    return swapped if there else None


def days(column: pl.Series, form: str) -> pl.Series:
    """Days since 1970-01-01, missing where a cell is no date. Texts are read by `form`."""
    kind = column.dtype
    if kind == pl.Date:
        return column.cast(pl.Int32).cast(pl.Float64)
    if kind == pl.Time:
        return column.cast(pl.Int64) / (DAY * 1e9)
    if kind == pl.Duration:
        return column.dt.total_microseconds() / (DAY * 1e6)
    if kind.is_temporal():
        return column.dt.epoch("us") / (DAY * 1e6)
    if kind != pl.String:
        return column.cast(pl.Float64, strict=False)
    date = column.str.extract(r"^([^ T]*)").str.strptime(pl.Date, form, strict=False)
    clock = [column.str.extract(CLOCK, part).cast(pl.Float64).fill_null(0.0) for part in (1, 2, 3)]
    return date.cast(pl.Int32).cast(pl.Float64) + (clock[0] * 3600 + clock[1] * 60 + clock[2]) / DAY
