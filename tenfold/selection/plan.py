"""What a run will do, fixed by the shape of the table and the effort before the first fit; the clock may only cut it short."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array
from tenfold.selection.candidates import Family, families_for
from tenfold.selection.folds import count_folds

SCREENED_ROWS = {"quick": 5_000, "normal": 20_000, "thorough": 50_000}  # longer tables: a first heat on so many rows
SCREENED = 10_000  # rows of that heat
AFTER_SCREEN = {"quick": 3, "normal": 5, "thorough": 8}  # families that go on
NESTED_ROWS = {"quick": 500, "normal": 2_000, "thorough": 10_000}  # up to so many rows the whole choice is repeated in each round
FAMILIES = {"quick": 8, "normal": 24, "thorough": 1000}  # of the portfolio, in its order


@dataclass(frozen=True)
class Plan:
    """Folds, families, and whether pairs of folds are left out."""

    folds: int
    families: list[Family]
    nested: bool
    screened: int | None  # rows of a first heat, None without one
    after: int  # families that go on after it

    @classmethod
    def of(cls, effort: str, folds: int | None, role: str, rows: int, columns: int, classes: int) -> Plan:
        """The plan for a table of this shape."""
        portfolio = families_for(role, rows, columns, classes)
        guess, others = portfolio[:1], portfolio[1:]
        return cls(
            count_folds(folds, rows, columns, classes),
            guess + others[: FAMILIES[effort]],
            rows <= NESTED_ROWS[effort],
            SCREENED if rows > SCREENED_ROWS[effort] else None,
            AFTER_SCREEN[effort],
        )

    def sample(self, fold: Array, seed: int) -> Array:
        """Rows of the first heat, the same share of every fold."""
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(fold))[: self.screened]
        return np.sort(order)
