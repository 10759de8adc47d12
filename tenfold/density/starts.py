"""What a mixture starts from: a first look at the rows, and the moments of groups of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput
from tenfold.core.stats import Centred, Moments, Spread, Stats
from tenfold.density.components import Frame
from tenfold.solve.sketch import Sample


@dataclass(slots=True)
class Survey(Stats):
    """What is looked at before the first step: rows to start from, the observed cells of each column, and the covariance of the columns
    if a prior needs it."""

    sample: Sample
    columns: Spread  # a group for each column
    moments: Moments | None
    gaps: int  # missing cells

    @property
    def weight(self) -> float:
        return float(self.sample.total if self.gaps else self.columns.weight[0])

    @property
    def means(self) -> Array:
        return np.asarray(self.columns.mean[:, 0])

    @property
    def variances(self) -> Array:
        return np.asarray(self.columns.scatter[:, 0] / self.columns.weight)

    def frame(self, names: Array | None) -> Frame:
        """Columns about their means, in their standard deviations."""
        if not self.columns.weight.all():
            column = int(np.flatnonzero(self.columns.weight == 0)[0])
            raise BadInput(f"column {column if names is None else repr(str(names[column]))} holds no values: drop it")
        deviation = np.sqrt(self.variances)
        return Frame(self.means, np.where(deviation > 0, deviation, 1.0), self.gaps > 0)


def surveyed(block: Block, rows: int, seed: int, full: bool) -> Survey:
    """`Survey` of a block; `full`: with the covariance of the columns."""
    X, w = ops.dense(block.X), block.w
    sample, gaps = Sample.of(X, w, rows, seed), 0 if ops.all_finite(X) else int(np.isnan(X).sum())
    if gaps:
        row, column = np.nonzero(~np.isnan(X))
        columns = Spread.by_group(np.ascontiguousarray(X[row, column][:, None]), np.ascontiguousarray(column), w[row], X.shape[1])
    else:
        whole = Spread.of(X, w)
        columns = Spread(np.repeat(whole.weight, X.shape[1]), whole.center.T, whole.offset.T, whole.scatter.T)
    return Survey(sample, columns, Moments.of(np.ascontiguousarray(X), np.empty((len(X), 0)), w) if full else None, gaps)


def filled(X: Any, frame: Frame) -> Array:
    """Rows to start from: means of columns in the gaps."""
    X = np.ascontiguousarray(ops.dense(X), dtype=np.float64)
    return np.where(np.isnan(X), frame.center, X) if frame.gaps else X


def filled_moments(block: Block, frame: Frame) -> Moments:
    """Of the columns, each cell that is missing spread about the mean as its column is."""
    X = filled(block.X, frame)
    found = Moments.of(X, np.empty((len(X), 0)), block.w)
    found.scatter[np.diag_indices(X.shape[1])] += (block.w @ np.isnan(block.X)) * frame.unit**2
    return found


def nearest_groups(block: Block, centers: Array, full: bool, frame: Frame) -> Centred:
    """Moments of the rows nearest to each centre."""
    X = filled(block.X, frame)
    group = ops.nearest(X, centers)[0].astype(np.int64)
    return (Moments if full else Spread).by_group(X, group, block.w, len(centers))


def random_groups(block: Block, k: int, seed: int, full: bool, frame: Frame) -> Centred:
    """Moments by random responsibilities, which are drawn by a hash of the row: wherever it is, it has the same."""
    X = filled(block.X, frame)
    drawn = np.array([ops.hash_rows(X, seed + one) for one in range(k)], dtype=np.float64)
    drawn /= drawn.sum(axis=0)
    parts = [(Moments.of(X, np.empty((len(X), 0)), block.w * one) if full else Spread.of(X, block.w * one)) for one in drawn]
    if not full:
        return Spread(*(np.concatenate([getattr(one, name) for one in parts]) for name in ("weight", "center", "offset", "scatter")))
    return Moments(*(np.array([getattr(one, name) for one in parts]) for name in ("weight", "center", "offset", "scatter")))
