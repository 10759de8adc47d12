"""What there is to count in the columns of a table, chunk by chunk: sums of numbers, levels of categories, words of texts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from tenfold import _columns
from tenfold.core.data import Array
from tenfold.prepare.table_dates import DateSums
from tenfold.prepare.words import lengths_of, words_of
from tenfold.table.cells import as_texts, class_texts, counted_levels, is_text
from tenfold.table.reading import pl

MOST_COUNTED = 1_000_000  # different words: beyond, those seen once so far are forgotten


@dataclass
class NumberSums:
    """Weight, mean and variance of the numbers that are there; their largest size; where they are missing."""

    center: float = 0.0  # sums are of x − center, which is near the mean
    weight: float = 0.0
    first: float = 0.0
    second: float = 0.0
    largest: float = 0.0
    missing: int = 0
    rows: int = 0
    pattern: bytes = b""  # hash of the rows without a number

    def add(self, values: Array, w: Array | None) -> None:
        self.rows += len(values)
        largest = _size(values)
        there = None if largest == largest else ~np.isnan(values)  # NaN is nearly nowhere, and then a look at the largest says so
        mark = b"whole" if there is None else np.packbits(there).tobytes()
        self.pattern = hashlib.blake2b(self.pattern + mark, digest_size=16).digest()
        if there is not None:
            values, w = values[there], None if w is None else w[there]
            self.missing += len(there) - len(values)
            largest = _size(values)
        if not len(values):
            return
        self.largest = max(self.largest, largest)
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.weight:
                center = float(np.average(values, weights=w)) if w is None or w.any() else 0.0
                self.center = center if np.isfinite(center) else 0.0
            if w is None:
                self.weight += len(values)
                first, second = _columns.sums_away(np.ascontiguousarray(values), self.center)
            else:
                away = values - self.center
                self.weight += float(w.sum())
                first, second = float((w * away).sum()), float((w * away**2).sum())
            self.first += first
            self.second += second

    @property
    def mean(self) -> float:
        mean = self.center + self.first / self.weight if self.weight else 0.0
        return mean if np.isfinite(mean) else 0.0  # of sums beyond floats

    @property
    def deviation(self) -> float:
        """The standard deviation; 1 where there is none."""
        if not self.weight:
            return 1.0
        mean = self.first / self.weight
        variance = self.second / self.weight - mean * mean
        if not np.isfinite(variance):  # the squares are beyond floats
            return self.largest
        return float(np.sqrt(variance)) if variance > 0 else 1.0


def _size(values: Array) -> float:
    """The largest size of some numbers; NaN where one is."""
    return max(float(values.max()), -float(values.min())) if len(values) else 0.0


@dataclass
class LevelSums:
    """How many rows, and of which weight, hold each level or word."""

    counts: pl.DataFrame | None = None  # columns level, rows, weight

    def add(self, levels: pl.Series, weights: Array | None, most: int | None = None) -> None:
        """Count cells as they are written; only the different ones are cleaned."""
        if weights is None:
            different, counts, _ = counted_levels(levels)
            rows = pl.Series(counts[counts > 0])
            new = pl.DataFrame({"level": different, "rows": rows, "weight": rows.cast(pl.Float64)})
        else:
            new = _counted(levels, pl.repeat(1, len(levels), dtype=pl.Int64, eager=True), pl.Series(weights))
        new = _counted(class_texts(as_texts(new["level"])).fill_null(""), new["rows"], new["weight"])
        both = new if self.counts is None else _counted(*pl.concat([self.counts, new]).get_columns())
        self.counts = both if most is None or both.height <= most else both.filter(pl.col("rows") > 1)

    def frequent(self, least_rows: int, most: int, below: int | None = None) -> tuple[list[str], bool]:
        """Levels of at least so many rows (and of fewer than `below`), the most frequent first; whether there are others."""
        if self.counts is None:
            return [], False
        counts = self.counts.sort(by=["rows", "level"], descending=[True, False])
        kept = counts.filter((pl.col("rows") >= least_rows) & (pl.lit(True) if below is None else pl.col("rows") < below))
        found: list[str] = kept["level"].to_list()[:most]
        return found, len(found) < counts.height

    def share(self, levels: list[str], weight: float) -> Array:
        """The share of the weight that each of these levels has."""
        if self.counts is None or not weight:
            return np.zeros(len(levels))
        known = dict(zip(self.counts["level"].to_list(), self.counts["weight"].to_list(), strict=True))
        return np.array([known.get(level, 0.0) for level in levels]) / weight


def _counted(levels: pl.Series, rows: pl.Series, weights: pl.Series | None) -> pl.DataFrame:
    """Sums by level; weights in the order of the rows, so that they have the same bits each time."""
    if weights is None:
        counts = pl.DataFrame({"level": levels, "rows": rows}).group_by("level").sum()
        return counts.with_columns(weight=pl.col("rows").cast(pl.Float64))
    return pl.DataFrame({"level": levels, "rows": rows, "weight": weights}).group_by("level", maintain_order=True).sum()


@dataclass
class TableSums:
    """All of a table that its coding follows from, for frames of Float64 and String columns with null for missing."""

    rows: int = 0
    weight: float = 0.0
    numbers: dict[str, NumberSums] = field(default_factory=dict)
    levels: dict[str, LevelSums] = field(default_factory=dict)
    lengths: dict[str, NumberSums] = field(default_factory=dict)  # of texts
    words: dict[str, LevelSums] = field(default_factory=dict)
    dates: dict[str, DateSums] = field(default_factory=dict)  # for the columns of days whose cycles are looked for

    def add(self, frame: pl.DataFrame, texts: list[pl.Series], weights: Array | None = None) -> TableSums:
        """Count a chunk: a frame of numbers and categories, and columns of texts."""
        height = frame.height if frame.width else len(texts[0])
        self.rows += height
        self.weight += height if weights is None else float(weights.sum())
        for column in frame.iter_columns():
            if is_text(column):
                self.levels.setdefault(column.name, LevelSums()).add(column, weights)
            else:
                values = column.cast(pl.Float64).to_numpy()  # NaN for missing
                self.numbers.setdefault(column.name, NumberSums()).add(values, weights)
                if column.name in self.dates:
                    self.dates[column.name].add(values)
        for text in texts:
            self.lengths.setdefault(text.name, NumberSums()).add(lengths_of(text), weights)
            held = words_of(text)
            part = None if weights is None else weights[held["row"].to_numpy()]
            self.words.setdefault(text.name, LevelSums()).add(held["word"], part, MOST_COUNTED)
        return self
