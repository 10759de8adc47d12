"""Scales of pictures: round marks, an axis of values on pixels, and how wide a text is."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.table.show import shown

TICKS = 5
LETTER = 6.4  # pixels of a letter
BROAD = "<>=+%&@mw"


def ends(values: Array) -> tuple[float, float]:
    """The range of an axis that shows all of the values."""
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 1, high + 1)


def ticks(low: float, high: float, wanted: int = TICKS) -> list[float]:
    """Round numbers within a range: multiples of 1, 2 or 5 times a power of ten."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    raw = span / wanted
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 1e-300 else raw
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    found: list[float] = []
    while len(found) < 4 * wanted and (first + len(found)) * step <= high + 1e-9 * span:
        found.append((first + len(found)) * step)
    return [0.0 if abs(one) < 1e-9 * step else one for one in found]


def decades(low: float, high: float) -> list[float]:
    """Powers of ten within a range of logarithms; all of 1, 2, 5 where there are few, and round numbers where there are few of these."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 1:
        return [float(k) for k in range(first, last + 1, max(1, (last - first) // TICKS + 1))]
    found = [k + math.log10(m) for k in range(math.floor(low), math.ceil(high) + 1) for m in (1, 2, 5) if low <= k + math.log10(m) <= high]
    return found if len(found) > 2 else [math.log10(one) for one in ticks(10.0**low, 10.0**high) if one > 0]


def tick_text(value: float) -> str:
    """A number of an axis, short."""
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    for limit, end in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= limit:
            unit = 1e3 if end == "k" else limit
            return f"{value / unit:.4g}{end}"
    return f"{value:.6g}".replace("-", "−")


def places(count: int) -> tuple[float, float]:
    """The range of an axis of 1, ..., `count` that leaves room behind them for the label of a level."""
    return 0.5, 0.5 + 1.15 * count


def wide(text: str) -> float:
    """About how many pixels a text of a picture takes; Chinese, Japanese and Korean letters are twice as wide."""
    return sum(LETTER * (2 if unicodedata.east_asian_width(c) in "WF" else 1.4 if c.isupper() or c in BROAD else 1) for c in text)


def cut(text: Any, room: float) -> str:
    """A text that fits into so many pixels."""
    whole = shown(text, 200)
    if wide(whole) <= room:
        return whole
    ends = [k for k in range(len(whole)) if wide(whole[:k]) <= room - LETTER]
    return whole[: max(ends[-1:] or [0])] + "…"


class Axis:
    """A range of values on a range of pixels, linear or logarithmic."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool = False, pad: float = 0.0) -> None:
        self.log = log
        if log:
            low, high = math.log10(max(low, 1e-300)), math.log10(max(high, 1e-300))
        if not (math.isfinite(low) and math.isfinite(high)):
            low, high = 0.0, 1.0
        if high <= low:
            reach = 0.5 if log else 0.5 * abs(low) or 0.5
            low, high = low - reach, high + reach
        self.ends = low, high
        self.low, self.high, self.start, self.end = low - pad * (high - low), high + pad * (high - low), start, end

    def __call__(self, values: Any) -> Array:
        x = np.asarray(values, dtype=np.float64)
        if self.log:
            x = np.log10(np.maximum(x, 1e-300))
        return self.start + (x - self.low) / (self.high - self.low) * (self.end - self.start)

    def at(self, value: float) -> float:
        return float(self(value))

    def ticks(self) -> list[tuple[float, str]]:
        if self.log:
            return [(10.0**one, tick_text(10.0**one)) for one in decades(self.low, self.high)]
        found = ticks(self.low, self.high)
        texts = [tick_text(one) for one in found]
        return list(zip(found, texts if len(set(texts)) == len(texts) else [f"{one:,.12g}" for one in found], strict=True))
