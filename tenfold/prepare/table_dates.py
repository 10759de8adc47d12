"""What a column of dates says besides how many days have passed: where in the year, the week and the day its dates lie."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tenfold import _columns
from tenfold.core.data import Array
from tenfold.prepare.dates import DAY, PERIODS, part_of

LOOKED_AT = 2_000  # dates of a chunk
LEAST_MONTHS, LEAST_WEEKDAYS, LEAST_HOURS = 6, 3, 3  # different ones, so that a cycle can be seen
LEAST_YEAR, LEAST_WEEK = 366.0, 14.0  # days from the first to the last, so that it comes round
PARTS = {"dayofyear": "month", "dayofweek": "dayofweek", "hour": "hour"}  # a cycle, and the part that trees get for it
FROM = {"dayofyear": 1.0, "dayofweek": 0.0}  # the number of the first day of a cycle
ALL_SEEN = {"month": 12, "dayofweek": 7, "day": 31, "hour": 24}  # there are no more
MOST_DAYS = 200_000  # from the first to the last date of a chunk: more are not looked up
WORDS = {"dayofyear": "the year", "dayofweek": "the week", "hour": "the day"}


@dataclass
class DateSums:
    """Which months, weekdays, days of the month and hours were seen, and the first and the last day."""

    first: float = np.inf
    last: float = -np.inf
    seen: dict[str, set[float]] = field(default_factory=lambda: {part: set() for part in ("month", "dayofweek", "day", "hour")})

    def add(self, days: Array) -> None:
        """Look at some dates, in days since 1970 with NaN for missing ones: of many, at those of rows at equal steps."""
        days = days[:: 1 + len(days) // LOOKED_AT]
        days = days[~np.isnan(days)]
        if not len(days):
            return
        self.first, self.last = min(self.first, float(days.min())), max(self.last, float(days.max()))
        for part, seen in self.seen.items():
            if len(seen) < ALL_SEEN[part]:
                seen.update(np.unique(part_of(days * DAY, part, False)).tolist())

    def cycles(self) -> list[str]:
        """The cycles that these dates can say something of. Dates of one day of the month are months: their weekdays mean nothing."""
        span, months, weekdays = self.last - self.first, len(self.seen["month"]), len(self.seen["dayofweek"])
        found = ["dayofyear"] if span >= LEAST_YEAR and months >= LEAST_MONTHS else []
        found += ["dayofweek"] if span >= LEAST_WEEK and weekdays >= LEAST_WEEKDAYS and len(self.seen["day"]) > 2 else []
        return found + (["hour"] if len(self.seen["hour"]) >= LEAST_HOURS else [])


def date_columns(days: Array, cycles: list[str], trees: bool) -> list[Array]:
    """The new columns of dates: sine and cosine of each cycle, 0 for a missing date; for trees the parts themselves, NaN for missing."""
    first, last = (float(np.floor(one.reduce(days, initial=np.nan))) for one in (np.fmin, np.fmax))  # of those that are there
    if not last - first <= MOST_DAYS:
        parts = [part_of(days * DAY, PARTS[cycle] if trees else cycle, not trees) for cycle in cycles]
        made = [np.ascontiguousarray(column) for part in parts for column in part.T]
        return made if trees else [np.nan_to_num(column) for column in made]
    calendar = np.arange(int(first), int(last) + 1) * DAY  # each day is looked up once, however many rows have it
    made = []
    for cycle in cycles:
        if trees:
            made.append(_parts(days, calendar, int(first), cycle))
        else:
            at = np.empty(0) if cycle == "hour" else part_of(calendar, cycle, False)[:, 0] - FROM[cycle]
            made += _columns.waves(np.ascontiguousarray(days), at, first, 2 * np.pi / PERIODS[cycle])
    return made


def _parts(days: Array, calendar: Array, first: int, cycle: str) -> Array:
    """The part that trees get for a cycle."""
    gone, day = np.isnan(days), np.floor(days)
    if cycle == "hour":
        found = np.floor((days - day) * 24 + 1e-9)
    else:
        found = part_of(calendar, PARTS[cycle], False)[:, 0][np.where(gone, 0, day - first).astype(np.int64)]
    found[gone] = np.nan
    return found


def date_names(name: str, cycles: list[str], trees: bool) -> list[str]:
    """Their names, as `DateParts` gives them."""
    if trees:
        return [f"{name}_{PARTS[cycle]}" for cycle in cycles]
    return [f"{name}_{cycle}_{wave}" for cycle in cycles for wave in ("sin", "cos")]


def date_scales(count: int, neighbors: bool) -> tuple[Array, Array]:
    """Means and scales of so many sines and cosines: of variance 1 if dates lie evenly; for neighbours, opposite dates are 1 apart."""
    return np.zeros(count), np.full(count, 2.0 if neighbors else np.sqrt(0.5))
