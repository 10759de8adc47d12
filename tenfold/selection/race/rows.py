"""The rows of a race, as its learners take them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tenfold.core.data import Array
from tenfold.selection.plan.folds import Division
from tenfold.selection.race.text_folds import Texts
from tenfold.table.reading import pl


@dataclass(frozen=True)
class Rows:
    """A matrix for learners of numbers, and the same rows as a frame for those that take categories and missing values."""

    X: Array
    y: Array  # codes of classes, or numbers
    division: Division
    frame: pl.DataFrame | None = None
    names: list[str] | None = None  # of the columns of X
    weight: Array | None = None  # of each row, where they do not count alike
    labels: Array | None = None  # what the classes are called
    texts: Texts | None = None  # what fills some of the columns, for each training set anew

    def some(self, rows: Array) -> Rows:
        """Some of them."""
        parts: dict[str, Any] = dict(X=self.X[rows], y=self.y[rows])
        parts |= {name: part[rows] for name in ("frame", "weight") if (part := getattr(self, name)) is not None}
        texts = None if self.texts is None else self.texts.some(rows)
        return replace(self, **parts, division=self.division.some(rows), texts=texts)
