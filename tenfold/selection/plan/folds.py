"""How a table is divided into folds: how many, by the shape of the table alone; which rows, by the seed, copies and groups together, or
by time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.evaluate.split.splitters import assign_folds
from tenfold.evaluate.validate.training_sets import Held
from tenfold.table.task import LEAST_CLASS_ROWS

FOLDS = ((200, 10), (500, 8))  # up to so many rows, so many folds
FEW_FOLDS = 5  # beyond
FIRST = 2  # folds by time: the first rows, as many as so many folds have, are only learned from
LATEST = 0.7  # share of the rows, up to which each class must have come up
SPANS = 60  # of rows in time order: what follows each other errs alike, and one span counts as one row


@dataclass(frozen=True)
class Division:
    """The fold of each row. In order of time, models that are judged on a fold have seen the rows before it, else all others."""

    fold: Array  # −1: a row that is never left out
    ordered: bool = False
    units: Array | None = None  # a number for each row, the same for rows that belong together

    @property
    def folds(self) -> int:
        return int(self.fold.max()) + 1

    @cached_property
    def parts(self) -> list[Array]:
        """The rows of each fold; in order of time, before them those that are never left out."""
        return [np.flatnonzero(self.fold == k) for k in range(-1 if self.ordered else 0, self.folds)]

    def rows(self, fold: int) -> Array:
        """The rows of a fold."""
        return self.parts[fold + 1 if self.ordered else fold]

    def training(self, held: Held) -> Array:
        """The rows of models that are judged on these folds."""
        return np.flatnonzero(self.fold < min(held) if self.ordered else ~np.isin(self.fold, held))

    def some(self, rows: Array) -> Division:
        """The same for some of the rows."""
        return Division(self.fold[rows], self.ordered, None if self.units is None else self.units[rows])


def count_folds(asked: int | None, rows: int) -> int:
    """The number of folds: as asked, else by the number of rows."""
    return min(asked or next((folds for most, folds in FOLDS if rows <= most), FEW_FOLDS), rows // 2)


def make_folds(y: Array, folds: int, seed: int, role: str, groups: Array | None) -> Division:
    """Folds by chance. Rows of one group stay together; classes are spread evenly."""
    rng = np.random.default_rng(seed)
    if groups is None:
        return Division(assign_folds(len(y), folds, rng, codes=y if role == "classifier" else None))
    first = np.unique(groups, return_index=True)[1]  # one row represents each group
    of_group = assign_folds(len(first), folds, rng, codes=y[first] if role == "classifier" else None)
    return Division(of_group[groups], units=groups)


def folds_in_time(time: Array, folds: int, name: str, labels: Array | None = None) -> Division:
    """Folds of equally many rows, one after the other in time, behind the rows that are only learned from; rows of one time together.

    labels: of the rows, where they are classes: those that are only learned from have LEAST_CLASS_ROWS of each.
    """
    n, order = len(time), np.argsort(time, kind="stable")
    first = FIRST * n // (folds + FIRST)
    in_order = np.empty(0) if labels is None else labels[order]
    for label in np.unique(in_order):
        there = int(np.flatnonzero(in_order == label)[LEAST_CLASS_ROWS - 1]) + 1
        if there > LATEST * n:
            late = f"the class {str(label)!r} has its third row after {100 * there // n} % of the rows by {name!r}"
            raise BadInput(f"{late}: there is too little after it to judge by")
        first = max(first, there)
    different, place = np.unique(time, return_inverse=True)
    before = np.searchsorted(time[order], different)  # rows that are earlier
    fold = np.where(before < first, -1, (before - first) * folds // (n - first))[place]
    if len(np.unique(fold)) < folds + 1:
        raise BadInput(f"the column {name!r} has {len(different)} different times: too few for {folds} spans of time with rows before them")
    return Division(fold, True, (before * SPANS // n)[place] if n > SPANS else None)
