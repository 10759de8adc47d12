"""Dates as numbers: days since 1970-01-01, with the time of day as a fraction."""

from __future__ import annotations

from tenfold.table.cells import mostly_values, sample_of
from tenfold.table.reading import pl

TIME = r"([ T]+\d{1,2}(:\d{2}|\s*[apAP]\.?[mM]).*)?$"
DATE = rf"^\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}{TIME}|^\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}{TIME}"
NAMED = rf"^\d{{1,2}}\.?[- /]?[A-Za-z]{{3,9}}\.?[-, /]+\d{{2,4}},?{TIME}|^[A-Za-z]{{3,9}}\.?[- ]\d{{1,2}}(,? |-)\d{{4}},?{TIME}"
LIKE_DATES = rf"{DATE}|{NAMED}"
CLOCK = r"[ T,]+(\d{1,2})(?::(\d{2}))?(?::(\d{2}(?:\.\d+)?))?\s*([apAP]\.?[mM])?\.?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$"
ISO, COMPACT = "%Y-%m-%d", "%Y%m%d"
# Where day and month cannot be distinguished, the first form that reads every cell is taken: a slash is American.
FORMS = (
    ISO, "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y", "%m.%d.%Y",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d-%m-%y", "%m-%d-%y",
    *(form.replace("%b", month) for month in ("%b", "%B") for form in (
        "%d %b %Y", "%d-%b-%Y", "%d/%b/%Y", "%d-%b-%y", "%d %b %y", "%d. %b %Y", "%d%b%Y", "%b %d, %Y", "%b %d %Y", "%b-%d-%Y",
    )),
    COMPACT,
)  # fmt: skip
DAY = 86_400
PLAIN_CLOCKS = {10: ("",), 16: (" %H:%M", "T%H:%M"), 19: (" %H:%M:%S", "T%H:%M:%S")}  # what follows a date, by the length of the text
YEAR_0 = -719_528  # its first day
HEAD = 100  # texts by which it is seen that a form is not theirs


def looks_like_dates(texts: pl.Series) -> bool:
    """Whether the cells are dates, up to a few that are missing or odd."""
    some = sample_of(texts)
    if some is not None and some.str.contains(LIKE_DATES).sum() < 0.1 * len(some):
        return False
    alike = texts.str.contains(LIKE_DATES).fill_null(False)
    return bool(alike.any()) and mostly_values(texts, texts.set(~alike, None), codes=False)


def form_of(texts: pl.Series) -> str | None:
    """How the dates of a column are written; None where they are no dates, or of mixed form."""
    written = texts.filter(texts.str.contains(LIKE_DATES))
    return next((form for form in FORMS if len(written) and days(written, form).null_count() == 0), None)


def other_form(texts: pl.Series, form: str) -> str | None:
    """Another form with day and month changed places that reads every date too."""
    swapped = form.translate(str.maketrans("dm", "md"))
    written = texts.filter(texts.str.contains(LIKE_DATES))
    there = swapped != form and swapped in FORMS and days(written, swapped).null_count() == 0
    return swapped if there else None


def are_compact(numbers: pl.Series) -> bool:
    """Whether whole numbers are dates such as 20240512, every one of them."""
    present = numbers.drop_nulls()
    if len(present) == 0 or not bool(((present >= 19000101) & (present <= 21001231)).all()):
        return False
    return days(present, COMPACT).null_count() == 0


def days(column: pl.Series, form: str) -> pl.Series:
    """Days since 1970-01-01 (of universal time where a zone is given), missing where a cell is no date. Texts are read by `form`."""
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
        if form != COMPACT:
            return column.cast(pl.Float64, strict=False)
        column = column.cast(pl.Int64, strict=False).cast(pl.String)
    plain = plain_days(column, form)
    if plain is not None:
        return plain
    date = column.str.replace(CLOCK, "") if _named(form) else column.str.extract(r"^([^ T]*)")
    date = date.str.strip_chars(" ,")
    date = date.set((date.str.contains(r"\d{4}") != ("%Y" in form)).fill_null(False), None)  # 24 is not the year 24
    day = date.str.strptime(pl.Date, form, strict=False).cast(pl.Int32).cast(pl.Float64)
    if not column.str.contains(":|[apAP]\\.?[mM]\\.?$").any():
        return day
    return day + _seconds(column) / DAY


def plain_days(texts: pl.Series, form: str) -> pl.Series | None:
    """The same of dates that are all written with all their digits, with or without hours, minutes and seconds; None where one is not."""
    length = texts.str.len_bytes()
    long = length.max()
    if "%Y" not in form or _named(form) or long != length.min() or long not in PLAIN_CLOCKS:
        return None
    clock = next((one for one in PLAIN_CLOCKS[int(long)] if _all_read(texts.head(HEAD), form + one)), None)  # type: ignore[arg-type]
    if clock is None:
        return None
    if not clock:
        found = texts.str.strptime(pl.Date, form, strict=False, cache=False).cast(pl.Int32).cast(pl.Float64)
    else:
        moments = texts.str.strptime(pl.Datetime("us"), form + clock, strict=False, cache=False).cast(pl.Int64)
        day = moments // (DAY * 1_000_000)
        found = day.cast(pl.Float64) + (moments - day * (DAY * 1_000_000)) / 1e6 / DAY
    earliest = found.min()
    right = found.null_count() == texts.null_count() and (earliest is None or earliest >= YEAR_0)  # type: ignore[operator]
    return found if right else None


def _all_read(texts: pl.Series, form: str) -> bool:
    kind = pl.Datetime("us") if "%H" in form else pl.Date
    return texts.str.strptime(kind, form, strict=False).null_count() == texts.null_count()


def _named(form: str) -> bool:
    return "%b" in form or "%B" in form


def _seconds(column: pl.Series) -> pl.Series:
    """The time of day in seconds, moved to universal time where a zone is given."""
    hour, minute, second = (column.str.extract(CLOCK, part).cast(pl.Float64).fill_null(0.0) for part in (1, 2, 3))
    half = column.str.extract(CLOCK, 4).str.to_lowercase().str.slice(0, 1)
    hour = (hour % 12.0 + (half == "p").cast(pl.Float64) * 12.0).set(half.is_null(), None).fill_null(hour)
    zone = column.str.extract(CLOCK, 5).str.replace(":", "", literal=True)
    sign = zone.str.slice(0, 1).replace_strict(["+", "-"], [1.0, -1.0], default=0.0, return_dtype=pl.Float64).fill_null(0.0)
    ahead = zone.str.slice(1, 2).cast(pl.Float64, strict=False) * 3600 + zone.str.slice(3, 2).cast(pl.Float64, strict=False) * 60
    return hour * 3600 + minute * 60 + second - (sign * ahead.fill_null(0.0)).fill_null(0.0)


def as_dates(values: pl.Series) -> pl.Series:
    """Days since 1970-01-01 as dates, or as moments where one of them has a time of day."""
    present = values.drop_nulls()
    if len(present) == 0 or bool((present == present.floor()).all()):
        return values.cast(pl.Int32).cast(pl.Date)
    return (values * (DAY * 1e6)).round().cast(pl.Int64).cast(pl.Datetime("us"))


def written_dates(values: pl.Series, form: str) -> pl.Series:
    """Days since 1970-01-01 as texts in their form, with the time of day where there is one."""
    seconds = (values * DAY).round()
    moments = (seconds * 1_000_000).cast(pl.Int64).cast(pl.Datetime("us"))
    clock = bool((seconds % DAY != 0).fill_null(False).any())
    return moments.dt.strftime(f"{form} %H:%M:%S" if clock else form)
