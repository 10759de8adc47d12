"""Histograms of any number of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Density, Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner, NoRows, through
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Keyed, Stats
from tenfold.solve.bins import MOST_BINS, RULES, column_bins, cost, edges_of, ends, most_bins
from tenfold.solve.columns import Ranges, check_magnitude

MOST_CELLS = 1 << 30  # of a grid: with more, nearly all of them would be empty, however many rows there are
SCALES = 2.0 ** np.arange(-1.5, 1.75, 0.5)  # of scott's widths: grids of several columns among which shimazaki and cv choose
FEW_CELLS = 1 << 16  # have a table of all of them


@estimator
class Histogram(Density, Estimator):
    """Histogram: a density that is constant in every cell of a grid.

    Model       p(x) = (N(cell of x) + smoothing) / ((Σ N + smoothing · cells) · volume of the cell), and 0 outside of the grid; a cell
                holds its lower edges, the last ones of a column also the upper edge
    Objective   bins="scott": of equal width h = 2 · 3^(1/(2+d)) π^(d/(4+2d)) σ n^(−1/(2+d)), for one column 3.49 σ n^(−1/3); "fd":
                h = 2 IQR n^(−1/(2+d)); "shimazaki": least (2 k̄ − v) / V² with k̄ and v the mean and variance of the counts; "cv": least
                2 / ((n − 1) V) − (n + 1) / ((n − 1) V) Σ p², the integrated squared error by leaving one row out, without bias. Of one
                column every number of bins up to 2 √n (50 to 500) is tried; of several, grids of scott's shape, finer and coarser
    Algorithm   a pass for the ranges, one or two more for a rule, and one that counts; only cells with rows are kept
    Cost        O(n d) time a pass, memory for the cells with rows; edges that are given, or numbers with a range, need one pass
    Fails when  there are many columns: a grid of more than 2³⁰ cells is refused; an empty cell has the log density −inf (see smoothing);
                values are rounded coarsely: "shimazaki" and "cv" then take very narrow bins
    Reference   Scott 1992, §3; Freedman & Diaconis 1981; Shimazaki & Shinomoto 2007; Rudemo 1982

    Example
    -------
    >>> import numpy as np, tenfold
    >>> model = tenfold.Histogram(bins=[0, 1, 2, 4]).fit([[0.5], [1.5], [1.2], [3.0]])
    >>> np.exp(model.score_samples([[0.5], [1.5], [3.9]])).round(3).tolist()
    [0.25, 0.5, 0.125]
    >>> model.quantile(0.5)
    1.5
    """

    edges_: list[Array] = learned("[float(*)](p)", "the edges of the bins of each column, rising")
    n_bins_: Array = learned("int(p)", "how many bins each column has")
    cells_: Array = learned("int(c,p)", "the cells with rows, in rising order: the number of the bin in each column")
    counts_: Array = learned("float(c)", "the weight of the rows in each of them")

    double: ClassVar[bool] = True

    bins: Any = param(
        default="scott",
        doc="a rule: 'scott', 'fd', 'shimazaki' or 'cv'; a number of bins, or one for each column; edges, or those of each column",
    )
    _: KW_ONLY
    range: Any = param(
        default=None, doc="(low, high) between which rows are counted, or one such pair for each column; None: all rows"
    )
    smoothing: float = param(default=0.0, at_least=0, doc="what is added to the count of every cell of the grid")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"bins": 3, "smoothing": 0.5}]

    # --- fit ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        p = source.n_features
        edges, bounds = self._given_edges(p), self._given_range(p)
        if edges is not None:
            bounds = np.array([[one[0], one[-1]] for one in edges])
        learner = self._count(edges, bounds, p)
        if bounds is None:
            return (yield from learner)
        try:
            return (yield from through(partial(_inside, bounds), learner, drops=True))
        except NoRows:
            raise BadInput(f"Histogram: no row of X lies between {_listed(bounds)}: give edges or a range that hold the rows") from None

    def _count(self, edges: list[Array] | None, bounds: Array | None, p: int) -> Learner[dict[str, Any]]:
        if edges is None:
            numbers = self._given_numbers(p)
            if bounds is None or numbers is None:
                ranges: Ranges = yield _ranges
                if bounds is not None:
                    ranges = Ranges(ranges.spread, bounds[:, 0], bounds[:, 1])
                low, high = ends(ranges.low, ranges.high)
            else:
                low, high = bounds.T
            if numbers is None:
                numbers = yield from self._ruled(ranges, p)
            numbers = np.minimum(numbers, most_bins(low, high)).astype(np.int64)
            _check_cells(numbers)
            edges = [edges_of(a, b, int(m)) for a, b, m in zip(low, high, numbers, strict=True)]
        found: GridCells = yield partial(GridCells.of, edges=edges)
        n_bins = np.array([len(one) - 1 for one in edges])
        cells = np.stack(np.unravel_index(found.code, n_bins), axis=1).astype(np.int64)
        return dict(edges_=edges, n_bins_=n_bins, cells_=cells, counts_=found.weight)

    def _ruled(self, ranges: Ranges, p: int) -> Learner[Array]:
        """Numbers of bins by a rule."""
        names = vars(self).get("feature_names_in_")
        check_magnitude(ranges.spread.mean.T, ranges.spread.scatter.T, names)
        if p == 1 or self.bins in ("scott", "fd"):
            return (yield from column_bins(self.bins, ranges, p, names))
        shape = (yield from column_bins("scott", ranges, p, names)).astype(np.float64)
        _check_cells(shape)
        low, high = ends(ranges.low, ranges.high)
        grids = np.unique(np.minimum(np.maximum(1, np.ceil(shape * SCALES[:, None])), np.minimum(most_bins(low, high), MOST_BINS)), axis=0)
        grids = grids[np.prod(grids, axis=1) <= MOST_CELLS].astype(np.int64)
        found = yield partial(_count_grids, low=low, high=high, grids=grids)
        squares = np.array([float((found[one].weight ** 2).sum()) for one in map(tuple, grids.tolist())])
        cells = np.prod(grids, axis=1)
        return np.asarray(grids[cost(self.bins, ranges.spread.weight[0], squares, cells).argmin()])

    # --- parameters ---

    def _given_edges(self, p: int) -> list[Array] | None:
        """Edges of each column, where they are given."""
        bins = self.bins
        if not isinstance(bins, (list, tuple, np.ndarray)) or (isinstance(bins, np.ndarray) and not bins.ndim) or not len(bins):
            return None
        single = np.ndim(bins[0]) == 0
        if single and p > 1:
            return None  # numbers of bins
        listed = [bins] if single else list(bins)
        if len(listed) != p:
            raise BadParameter(f"Histogram(bins=...): there are edges of {len(listed)} columns, and X has {p}")
        found = []
        for j, one in enumerate(listed):
            try:
                edges = np.array(one, dtype=np.float64)
            except (TypeError, ValueError):
                edges = np.empty(0)
            if edges.ndim != 1 or len(edges) < 2 or not np.isfinite(edges).all() or not (np.diff(edges) > 0).all():
                raise BadParameter(f"Histogram(bins={check.short(one)}): edges of column {j} must be at least two finite numbers that rise")
            found.append(edges)
        _check_cells(np.array([len(one) - 1 for one in found]))
        return found

    def _given_numbers(self, p: int) -> Array | None:
        """Numbers of bins, where they are given; None: by a rule."""
        if isinstance(self.bins, str):
            if self.bins in RULES:
                return None
        elif isinstance(self.bins, (int, np.integer, list, tuple, np.ndarray)) and not isinstance(self.bins, bool):
            try:
                found = np.asarray(self.bins)
            except ValueError:
                found = np.empty(0)
            if found.dtype.kind in "iu" and found.shape in ((), (p,)) and (found >= 1).all() and (found <= MOST_BINS).all():
                return np.broadcast_to(found, p)
        raise BadParameter(
            f"Histogram(bins={check.short(self.bins)}): must be {', '.join(map(repr, RULES))}, a whole number from 1 to {MOST_BINS:,}, one "
            "such number for each column, or edges"
        )

    def _given_range(self, p: int) -> Array | None:
        if self.range is None:
            return None
        try:
            found = np.array(self.range, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.empty(0)
        found = found[None] if found.shape == (2,) and p == 1 else found
        if found.shape != (p, 2) or not np.isfinite(found).all() or not (found[:, 0] < found[:, 1]).all():
            raise BadParameter(
                f"Histogram(range={check.short(self.range)}): must be a pair (low, high) of numbers, the first below the second"
                f"{'' if p == 1 else f', for each of the {p} columns'}"
            )
        return found

    # --- what it says of rows ---

    @property
    def _total(self) -> float:
        return float(self.counts_.sum() + self.smoothing * math.prod(self.n_bins_.tolist()))

    def _log_density(self, X: Any) -> Array:
        X = ops.dense(X)
        low, high = self._support()
        inside = ((low <= X) & (high >= X)).all(axis=1)
        code, size = np.zeros(len(X), dtype=np.int64), np.zeros(len(X))
        for edges, column in zip(self.edges_, X.T, strict=True):
            place = _places(edges, column)
            code = code * (len(edges) - 1) + place
            size += np.log(np.diff(edges))[place]
        with np.errstate(divide="ignore"):
            found = np.log(self._weights(np.where(inside, code, 0)) + self.smoothing) - math.log(self._total) - size
        return np.where(inside, found, -np.inf)

    def _weights(self, code: Array) -> Array:
        """The counts of cells."""
        known, all_cells = np.ravel_multi_index(tuple(self.cells_.T), tuple(self.n_bins_)), math.prod(self.n_bins_.tolist())
        if all_cells <= FEW_CELLS:
            return np.asarray(np.bincount(known, self.counts_, minlength=all_cells)[code])
        place = np.minimum(np.searchsorted(known, code), len(known) - 1)
        return np.where(known[place] == code, self.counts_[place], 0.0)

    def _draw(self, n: int, rng: np.random.Generator) -> Array:
        share = self.counts_.sum() / self._total
        cells = self.cells_[rng.choice(len(self.counts_), size=n, p=self.counts_ / self.counts_.sum())]
        if share < 1:
            anywhere = rng.integers(0, self.n_bins_, size=cells.shape)
            cells = np.where((rng.random(n) < share)[:, None], cells, anywhere)
        u, rows = rng.random(cells.shape), np.empty(cells.shape)
        for j, edges in enumerate(self.edges_):
            low, high = edges[cells[:, j]], edges[cells[:, j] + 1]
            rows[:, j] = np.minimum(low + u[:, j] * (high - low), np.nextafter(high, low))
        return rows

    def _reached(self) -> Array:
        """The cdf at the edges of the one column."""
        counts = np.bincount(self.cells_[:, 0], self.counts_, minlength=int(self.n_bins_[0])) + self.smoothing
        reached = np.append(0.0, np.cumsum(counts))
        return np.asarray(reached / reached[-1])

    def _cdf(self, X: Array) -> Array:
        return np.interp(X[:, 0], self.edges_[0], self._reached())

    def _quantile(self, q: Array) -> Array:
        edges, reached = self.edges_[0], self._reached()
        place = np.maximum(np.searchsorted(reached, q), 1) - 1  # the first bin that reaches it
        part = (q - reached[place]) / (reached[place + 1] - reached[place])
        return np.asarray(edges[place] + part * (edges[place + 1] - edges[place]))

    def _support(self) -> tuple[Array, Array]:
        return np.array([one[0] for one in self.edges_]), np.array([one[-1] for one in self.edges_])

    def _kinks(self) -> list[Array]:
        return self.edges_

    def _objection(self) -> str | None:
        rise = all(len(one) >= 2 and (np.diff(one) > 0).all() for one in self.edges_)
        if not rise or [len(one) - 1 for one in self.edges_] != self.n_bins_.tolist():
            return "the edges are not those of so many bins"
        if math.prod(self.n_bins_.tolist()) > MOST_CELLS or (self.cells_ < 0).any() or (self.cells_ >= self.n_bins_).any():
            return "the cells are not those of the grid"
        code = np.ravel_multi_index(tuple(self.cells_.T), tuple(self.n_bins_))
        if not len(code) or (np.diff(code) <= 0).any() or not (self.counts_ > 0).all():
            return "the cells do not rise, or are empty"
        return None


@dataclass(slots=True)
class GridCells(Stats):
    """The cells of a grid with rows, by their number in it, and the weight in each."""

    code: Array
    weight: Array

    @classmethod
    def of(cls, block: Block, edges: list[Array]) -> GridCells:
        code, cells = np.zeros(len(block), dtype=np.int64), math.prod(len(one) - 1 for one in edges)
        for one, column in zip(edges, ops.dense(block.X).T, strict=True):
            code = code * (len(one) - 1) + _places(one, column)
        return cls._tallied(code, block.w, cells)

    @classmethod
    def _tallied(cls, code: Array, weight: Array, cells: int) -> GridCells:
        if cells <= FEW_CELLS:
            counts = np.bincount(code, weight, minlength=cells)
            there = np.flatnonzero(counts)
            return cls(there, counts[there])
        order = np.argsort(code, kind="stable")  # of two parts that are in order, each: they are merged
        code = code[order]
        first = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
        return cls(code[first], np.add.reduceat(weight[order], first))

    def __add__(self, other: GridCells) -> GridCells:
        return GridCells._tallied(np.concatenate([self.code, other.code]), np.concatenate([self.weight, other.weight]), MOST_CELLS)


def _ranges(block: Block) -> Ranges:
    return Ranges.of(block.with_X(np.asarray(ops.dense(block.X), dtype=np.float64)))


def _inside(bounds: Array, block: Block) -> Block | None:
    """The rows that lie between bounds."""
    X = ops.dense(block.X)
    inside = ((bounds[:, 0] <= X) & (bounds[:, 1] >= X)).all(axis=1)
    return block if inside.all() else block.take(np.flatnonzero(inside)) if inside.any() else None


def _count_grids(block: Block, low: Array, high: Array, grids: Array) -> Keyed:
    return Keyed({
        tuple(grid): GridCells.of(block, [edges_of(a, b, m) for a, b, m in zip(low, high, grid, strict=True)]) for grid in grids.tolist()
    })  # fmt: skip


def _places(edges: Array, column: Array) -> Array:
    """The number of the bin of each value; of values beyond the edges that of the nearest."""
    return np.searchsorted(edges[1:-1], np.ascontiguousarray(column, dtype=np.float64), side="right")


def _check_cells(numbers: Array) -> None:
    cells = math.prod(int(one) for one in numbers)
    if cells > MOST_CELLS:
        columns = len(numbers)
        shown = " x ".join(str(int(one)) for one in numbers[:4]) + (" x ..." if columns > 4 else "")
        raise BadInput(
            f"Histogram: a grid of {shown} = 10^{math.log10(cells):.1f} cells in {columns} columns would be empty nearly everywhere: give "
            "fewer columns or bins, or take a density without a grid, as GaussianMixture"
        )


def _listed(bounds: Array) -> str:
    few = ", ".join(f"{low:g} and {high:g}" for low, high in bounds[:3])
    return few + (", ..." if len(bounds) > 3 else "")
