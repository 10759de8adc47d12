"""Bins of columns: how many of equal width between the least and the largest value, by a number or a rule.

    scott       h = 2 · 3^(1/(2+d)) π^(d/(4+2d)) σ n^(−1/(2+d)), best for Gaussian columns; for d = 1 numpy's 3.49 σ n^(−1/3)
    fd          h = 2 IQR n^(−1/(2+d)) (Freedman & Diaconis), which outliers do not widen; scott's where the quartiles are one value
    shimazaki   least (2 k̄ − v) / V² over grids, k̄ and v the mean and variance of the counts of the cells (Shimazaki & Shinomoto 2007)
    cv          least 2 / ((n − 1) V) − (n + 1) / ((n − 1) V) Σ p²: the integrated squared error, up to a constant, as leaving out one row
                after the other estimates it without bias (Rudemo 1982); p are the shares of the cells, V is the volume of each

n is the sum of the weights: a row of weight k is k rows. Missing values are not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput
from tenfold.core.learning import Learner
from tenfold.core.numbers import column_name
from tenfold.core.stats import Stats
from tenfold.solve.columns import Distinct, Ranges
from tenfold.solve.sketch import Quantiles

RULES = ("scott", "fd", "shimazaki", "cv")
MOST_BINS = 1 << 16  # of a column
LADDER = (50, 500)  # how many bins are tried at most: 2 √n, and never less than the one nor more than the other
MOST_COUNTS = 1 << 23  # of all columns: of very many fewer numbers are tried
SKETCH, MARGIN = 1024, 4.0  # of quartiles: where they are sought exactly, in bounds of the sketch's error
QUARTERS = np.array([0.25, 0.75])


def ends(low: Array, high: Array) -> tuple[Array, Array]:
    """Where the bins of columns begin and end: a constant has half a unit on both sides, as in NumPy; so has a column without values."""
    empty = low > high
    low, high = np.where(empty, 0.0, low), np.where(empty, 0.0, high)
    half = np.where(low < high, 0.0, np.maximum(0.5, np.abs(low) * 2.0**-40))
    return low - half, high + half


def edges_of(low: float, high: float, count: int) -> Array:
    """The edges of so many bins."""
    return np.linspace(low, high, count + 1)


def most_bins(low: Array, high: Array) -> Array:
    """How many bins have edges that floating-point numbers tell apart."""
    return np.asarray(np.maximum(1.0, np.floor((high - low) / (4 * np.spacing(np.maximum(np.abs(low), np.abs(high)))))))


def column_bins(rule: str, ranges: Ranges, d: int = 1, names: Any = None, cap: int | None = None) -> Learner[Array]:
    """The number of bins of each column by a rule; `d`: of how many columns a cell is made (shimazaki and cv take each by itself).
    More than `MOST_BINS` are refused, or with `cap` no more than that are made."""
    low, high = ends(ranges.low, ranges.high)
    if rule in ("shimazaki", "cv"):
        weight = ranges.spread.weight
        tried = int(min(np.clip(2 * np.sqrt(weight.max()), *LADDER), max(LADDER[0], np.sqrt(2 * MOST_COUNTS / len(low)))))
        ladder: Ladder = yield partial(Ladder.of, low=low, high=high, most=min(tried, cap or tried))
        found = ladder.best(rule, weight)
    else:
        width = yield from _widths(rule, ranges, d)
        with np.errstate(over="ignore"):
            found = np.where(ranges.low < ranges.high, np.ceil((high - low) / np.where(width > 0, width, np.inf)), 1.0)
    found = np.maximum(1.0, np.minimum(found, most_bins(low, high)))
    if cap is not None:
        found = np.minimum(found, cap)
    many = np.flatnonzero(found > MOST_BINS)
    if len(many):
        j = int(many[0])
        raise BadInput(
            f"{column_name(names, j)} of X would have {found[j]:.3g} bins by the rule {rule!r}, because a few values lie far from all "
            f"others ({ranges.low[j]:g} to {ranges.high[j]:g}): give the number of bins, or a range"
        )
    return found.astype(np.int64)


def _widths(rule: str, ranges: Ranges, d: int) -> Learner[Array]:
    """scott and fd: the width of the bins of each column, 0 of a constant."""
    n = np.maximum(ranges.spread.weight, np.finfo(np.float64).tiny)
    deviation = np.sqrt(ranges.spread.scatter[:, 0] / n)
    shrinks = n ** (-1 / (2 + d))
    scott: Array = 2 * 3 ** (1 / (2 + d)) * np.pi ** (d / (4 + 2 * d)) * deviation * shrinks
    if rule == "scott":
        return scott
    quarters = yield from quartiles(ranges)
    apart: Array = quarters[1] - quarters[0]
    return np.asarray(np.where(apart > 0, 2 * apart * shrinks, scott))


def cost(rule: str, n: float, squares: Array, cells: Array) -> Array:
    """What shimazaki and cv minimise, for grids of so many equal cells, `squares` the sum of the squared counts of each; the unit of
    volumes is the whole range, which changes no choice, and neither overflows nor vanishes."""
    if rule == "shimazaki":
        mean = n / cells
        return np.asarray((2 * mean - (squares / cells - mean**2)) * cells**2.0)
    if n <= 1:
        return np.asarray(cells, dtype=np.float64)  # nothing is left to estimate by: one bin
    return np.asarray((2 - (n + 1) * squares / n**2) / (n - 1) * cells)


@dataclass(slots=True)
class Ladder(Stats):
    """The counts of 1, 2, ..., m bins of each column, one grid after the other."""

    counts: Array  # (p, m (m + 1) / 2)
    most: int

    @classmethod
    def of(cls, block: Block, low: Array, high: Array, most: int) -> Ladder:
        X, counts = ops.dense(block.X), np.empty((len(low), most * (most + 1) // 2))
        last = np.cumsum(np.arange(2, most + 2)) - 1  # of the edges of all grids: the largest of each
        bins = np.repeat(np.arange(1, most + 1), np.arange(2, most + 2))
        place = np.arange(len(bins)) - np.repeat(last - np.arange(1, most + 1), np.arange(2, most + 2))
        for j, column in enumerate(np.ascontiguousarray(X.T, dtype=np.float64)):
            there = ~np.isnan(column)
            order = np.argsort(column[there], kind="stable")
            reached = np.append(0.0, np.cumsum(block.w[there][order]))
            edges = place * ((high[j] - low[j]) / bins) + low[j]  # those of `edges_of`, to the bit
            edges[last] = high[j]
            below = reached[np.searchsorted(column[there][order], edges)]
            below[last] = reached[-1]  # the last bin holds its right edge too
            counts[j] = np.delete(np.diff(below), last[:-1])
        return cls(counts, most)

    def __add__(self, other: Ladder) -> Ladder:
        return Ladder(self.counts + other.counts, self.most)

    def best(self, rule: str, weight: Array) -> Array:
        """The number of bins of least cost of each column; of equal ones the smallest."""
        cells = np.arange(1, self.most + 1)
        squares = np.add.reduceat(self.counts**2, np.cumsum(cells) - cells, axis=1)
        return np.array([cells[cost(rule, n, own, cells).argmin()] for n, own in zip(weight, squares, strict=True)])


# --- quartiles, exactly, from rows that are nowhere kept ---


@dataclass(slots=True)
class Between(Stats):
    """The weight below a lower bound, and the values from there to an upper one: of each column, for each of some pairs of bounds."""

    below: Array  # (bounds, p)
    inside: list[Distinct]
    least: float  # the least weight of a row

    @classmethod
    def of(cls, block: Block, low: Array, high: Array) -> Between:
        X = ops.dense(block.X)
        below = np.array([block.w @ (bound > X) for bound in low])
        inside = [Distinct.of(X, block.w, (a <= X) & (b >= X)) for a, b in zip(low, high, strict=True)]
        return cls(below, inside, float(block.w.min()))

    def __add__(self, other: Between) -> Between:
        inside = [a + b for a, b in zip(self.inside, other.inside, strict=True)]
        return Between(self.below + other.below, inside, min(self.least, other.least))


def quartiles(ranges: Ranges) -> Learner[Array]:
    """(2, p): by linear interpolation, as of a table in which a row of weight k stands k times; exact in two passes, rarely three: a
    sketch says between which values they are, which are then looked at. Where weights are below one, the least of them is the unit."""
    sketch: Quantiles = yield _sketched
    weight, margin = ranges.spread.weight, MARGIN * sketch.error + 2 / ranges.spread.weight.max()
    gone = 1 - weight / weight.max()  # the share of a column that is missing: it stands behind all others
    while True:
        shares = QUARTERS[:, None] * (1 - gone)
        low, high = (sketch.quantile(np.clip(shares + sign * margin, 0.0, 1.0)) for sign in (-1, 1))
        found: Between = yield partial(Between.of, low=low, high=high)
        unit = min(1.0, found.least)
        places = QUARTERS[:, None] * (weight / unit - 1)
        answer = np.array([
            [_placed(part.values[j], part.weights[j] / unit, found.below[i, j] / unit, places[i, j]) for j in range(len(weight))]
            for i, part in enumerate(found.inside)
        ])  # fmt: skip
        if not np.isnan(answer[:, weight > 0]).any() or margin >= 1:
            return answer
        margin = min(1.0, 8 * margin)


def _sketched(block: Block) -> Quantiles:
    X = ops.dense(block.X)
    return Quantiles.of(np.where(np.isnan(X), np.inf, X), block.w, SKETCH)


def _placed(values: Array, weights: Array, before: float, place: float) -> float:
    """The value at a place of the sorted column of which these values are a part; NaN where it lies outside of them."""
    reached = before + np.cumsum(weights)
    begin = np.concatenate([[before], reached[:-1]])
    places = np.column_stack([begin, np.maximum(reached - 1, begin)]).reshape(-1)
    slack = 1e-12 * place
    if not len(values) or not places[0] - slack <= place <= places[-1] + slack:
        return float("nan")
    return float(np.interp(place, places, np.repeat(values, 2)))
