"""Words for trees: numbers, intervals, sets of categories, and the prediction of a node."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array

NO_VALUE = "(missing)"  # among categories: no value, or one that fit has not seen
MOST_NAMED = 8  # categories of a set
AT_ONCE = 1 << 14  # rows


def number(value: float, decimals: int | None) -> str:
    """With so many decimals, small numbers with more so that as many digits count; None: short, for pictures."""
    if decimals is None and 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    if decimals is None or not 1e-9 < abs(value) < 1e15:
        return f"{value:.3g}" if decimals is None or value else f"{value:.{decimals}f}"
    more = decimals - 1 - math.floor(math.log10(abs(value))) if decimals else 0
    return f"{value:.{max(decimals, more)}f}"


def interval(name: str, low: float, high: float, decimals: int | None) -> str:
    """low < name <= high, without an end that is infinite."""
    if low == -np.inf:
        return f"{name} <= {number(high, decimals)}"
    after = "" if high == np.inf else f" <= {number(high, decimals)}"
    return f"{number(low, decimals)} < {name}{after}" if after else f"{name} > {number(low, decimals)}"


def word(value: Any) -> str:
    """A category, a class or a name: quoted where it could be mistaken for something else, or would break a line."""
    if isinstance(value, (float, np.floating)):
        return f"{value:g}"
    text = str(value)
    plain = text.isprintable() and text == text.strip() and not re.search(r"[,{}]", text) and text not in ("", NO_VALUE)
    return text if plain else repr(text)


def among(name: str, words: Sequence[str], most: int | None, inside: bool = True) -> str:
    """`colour in {red, green, and 5 more}`, `colour = red`; or not. Of a set so many are named."""
    if list(words) == [NO_VALUE]:
        return f"{name} is {'missing' if inside else 'known'}"
    if len(words) == 1:
        return f"{name} {'=' if inside else 'is not'} {words[0]}"
    shown = list(words)
    if most is not None and len(words) > most:
        left = max(most - 1, 1)
        shown = [*words[:left], f"and {len(words) - left} more"]
    return f"{name} {'in' if inside else 'not in'} {{{', '.join(shown)}}}"


def name_of(model: Estimator, column: int) -> str:
    names = vars(model).get("feature_names_in_")
    text = f"x{column}" if names is None else str(names[column])
    return text if text.isprintable() and text else repr(text)


def categories_of(model: Estimator, column: int) -> Array:
    """The categories of a column that holds some."""
    known: Array = model.categories_[column]
    return known


def had_missing(model: Estimator, column: int) -> bool:
    """Whether fit saw missing values in a column; models of older files do not know, and show where a missing value would go."""
    missing = vars(model).get("blank_")
    return True if missing is None else bool(missing[column])


def missing_columns(X: Array) -> Array:
    """(p,) which columns hold missing values."""
    some = np.zeros(X.shape[1], dtype=bool)
    for start in range(0, len(X), AT_ONCE):
        some |= np.isnan(X[start : start + AT_ONCE]).any(axis=0)
    return some


def amount(weight: float) -> str:
    """A weight of rows: whole if it is, else with four digits that count."""
    if not math.isfinite(weight):
        return f"{weight:g}"
    if abs(weight - round(weight)) <= 1e-9 * abs(weight) or weight >= 1e4:
        return f"{weight:.0f}"
    return f"{weight:.4g}"


def class_verdict(model: Estimator, counts: Array) -> str:
    """The most frequent class of a node and how many of its rows have it: `ripe (12 of 13)`, `ripe (13)`."""
    best, total = int(counts.argmax()), float(counts.sum())
    some, whole = amount(float(counts[best])), amount(total)
    return f"{word(model.classes_[best])} ({whole if some == whole else f'{some} of {whole}'})"


def purity(counts: Array) -> tuple[int, float]:
    """The most frequent class, and how much of a node it is: 0 where all classes are alike, 1 where there is no other."""
    share, chance = float(counts.max() / counts.sum()), 1 / len(counts)
    return int(counts.argmax()), (share - chance) / (1 - chance) if chance < 1 else 1.0
