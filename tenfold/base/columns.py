"""What is known of columns without another look at their rows: for transformers that are fitted `by_column`."""

from __future__ import annotations

from dataclasses import dataclass

from tenfold.core.data import Array
from tenfold.core.stats import Counts, Moments, Spread


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """Sums over some rows, of p columns."""

    present: Spread  # (p, 1) of the values that are not missing
    missing: Counts  # (p,) weight of those that are
    low: Array | None  # (p,) the least and the largest values, inf and −inf of a column without any; None: not looked for
    high: Array | None
    moments: Moments  # of the columns class by class, or of columns and target together; what is missing counted as some number
    groups: int  # classes, or 0 where the target is a number and stands behind the columns
