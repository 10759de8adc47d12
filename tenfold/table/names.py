"""What the name of a column says about its values: words that stand for keys, counts, years, times and scales."""

from __future__ import annotations

import re

import numpy as np

from tenfold.core.data import Array

WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
KEYS = frozenset(("id", "ids", "uid", "uuid", "guid", "nr", "key", "pk", "index", "idx", "serial", "identifier", "rowid", "rownum"))
TIMES = frozenset((
    "t", "time", "timestamp", "date", "day", "days", "year", "yr", "month", "week", "hour", "minute", "second", "age", "step", "epoch",
    "period", "quarter", "dose", "distance", "depth", "position",
))  # fmt: skip
COUNTED = frozenset((
    "count", "counts", "visits", "children", "siblings", "rooms", "bedrooms", "bathrooms", "bath", "households",
    "population", "persons", "people", "clicks", "views", "orders", "purchases", "calls", "dependents", "cars", "bedroom",
    "kitchen", "fireplaces", "credits", "cylinders",
))  # fmt: skip
SCALED = frozenset((
    "temp", "temperature", "celsius", "fahrenheit", "latitude", "longitude", "lat", "lon", "lng", "ph", "iq", "zscore",
))  # fmt: skip
NUMBER_OF = frozenset(("number", "num", "nb", "n", "no"))  # at the beginning of a name
CYCLES = frozenset(("month", "mo", "weekday", "dow", "quarter", "hour"))
MEASURED = frozenset((
    "age", "hours", "minutes", "seconds", "days", "weeks", "months", "years", "duration", "tenure", "time", "waiting", "weight", "height",
    "width", "length", "depth", "area", "price", "income", "amount", "salary", "wage", "cost", "fare", "mass", "kg", "g", "cm", "mm", "m",
    "distance", "dist", "size", "rate", "speed", "power", "horsepower", "pressure", "bp", "balance",
))  # fmt: skip
YEARS = frozenset(("year", "yr", "jahr", "annee", "ano"))


def words_of(name: str) -> list[str]:
    """The words of a name in lower case: passengerId, passenger_id and "Passenger ID" are passenger, id."""
    return [word.lower() for word in WORDS.findall(name)]


def says(name: str, words: frozenset[str]) -> str | None:
    """The word of the name that is among these."""
    return next((word for word in (*words_of(name), name.strip().lower()) if word in words), None)


def says_count(name: str) -> str | None:
    """The word of a name that says how many: n_visits, number of rooms, population."""
    first = words_of(name)[:1]
    return first[0] if first and len(words_of(name)) > 1 and first[0] in NUMBER_OF else says(name, COUNTED)


def says_key(name: str) -> str | None:
    """The word of a key at the beginning or end of a name."""
    words = words_of(name)
    return next((word for word in words[-1:] + words[:1] if word in KEYS), None)


def says_year(name: str, different: Array) -> bool:
    """Whether whole numbers are years: by name, with four digits or two."""
    whole = bool((different == np.round(different)).all())
    if not whole or says(name, YEARS) is None:
        return False
    low, high = different[0], different[-1]
    return bool((low >= 1000 and high <= 2999) or (low >= 0 and high <= 99 and high - low > 2))
