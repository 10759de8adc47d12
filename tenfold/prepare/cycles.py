"""Where in the week, the year and the day a date lies, as columns that linear models can use: functions of the days since 1970."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array

WAVES = {"dayofweek": 7.0, "dayofyear": 365.2425, "hour": 1.0}  # the length of a cycle in days
WEEKDAYS = ("Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # Monday is what they are compared with
IN_WORDS = {"dayofyear": "year", "hour": "day"}
MONDAY = 4  # days from 1970-01-01 to the first Monday


def cycle_columns(days: Array, cycles: list[str]) -> Array:
    """(dates, columns): 0/1 for each weekday but Monday; sine and cosine of the place in a year, or a day. A missing date has zeros."""
    made = [np.empty((len(days), 0))]
    for cycle in cycles:
        if cycle == "dayofweek":
            weekday = np.mod(np.floor(days) - MONDAY, 7.0)
            made.append((weekday[:, None] == np.arange(1.0, 7.0)).astype(np.float64))
        else:
            angle = 2 * np.pi * np.mod(days / WAVES[cycle], 1.0)
            made.append(np.nan_to_num(np.column_stack([np.sin(angle), np.cos(angle)])))
    return np.concatenate(made, axis=1)


def cycle_names(name: str, cycles: list[str]) -> list[str]:
    """The names of these columns."""
    names: list[str] = []
    for cycle in cycles:
        waves = [f"{name} in the {IN_WORDS.get(cycle)}, {wave}" for wave in ("sine", "cosine")]
        names += [f"{name} on {day}" for day in WEEKDAYS] if cycle == "dayofweek" else waves
    return names
