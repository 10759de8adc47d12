"""The task: classes or a number, from the target column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.errors import BadInput, BadParameter
from tenfold.selection.columns import as_numbers, as_texts, finite
from tenfold.selection.reading import pl

Array = np.ndarray[Any, Any]

TASKS = ("classes", "number")
FEW_INTEGERS = 10  # a target of whole numbers with at most so many different values is taken for classes
LEAST_ROWS = 10
SMALLEST, LARGEST = 1e-100, 1e100
LEAST_CLASS_ROWS = 3  # with two folds left out at a time, three rows leave one to learn from


@dataclass(frozen=True)
class Task:
    """What is to be predicted, for the rows that can be used."""

    kind: str  # "classes" or "number"
    target: str
    y: Array  # labels or numbers of the rows kept
    rows: Array  # numbers of the rows kept
    why: str | None
    notes: list[str]

    @property
    def role(self) -> str:
        return "classifier" if self.kind == "classes" else "regressor"

    @property
    def classes(self) -> Array:
        return np.unique(self.y)

    @property
    def codes(self) -> Array:
        """For classes their numbers, for numbers the numbers."""
        return np.unique(self.y, return_inverse=True)[1].reshape(-1) if self.kind == "classes" else self.y

    @property
    def n_classes(self) -> int:
        """The number of classes, 1 for a number."""
        return len(self.classes) if self.kind == "classes" else 1

    def counts(self) -> list[tuple[str, int]]:
        values, counts = np.unique(self.y, return_counts=True)
        return [(str(value), int(count)) for value, count in zip(values, counts, strict=True)]


def find_task(series: pl.Series, typed: bool, asked: str | None = None, comma: bool = False) -> Task:
    """Classes or a number, and the rows that have a target. `comma`: the table writes commas before decimals."""
    if asked is not None and asked not in TASKS:
        raise BadParameter(f"task={asked!r}: must be 'classes' or 'number'")
    name = series.name
    numbers, texts, written = _numbers_and_texts(series, comma)
    kind, why = _kind(name, numbers, texts, asked)
    present = texts if numbers is None else numbers
    rows = np.flatnonzero(present.is_not_null().to_numpy())
    notes = [f"{name!r}: {written}"] if written and kind == "number" else []
    if len(rows) < len(series):
        gone = len(series) - len(rows)
        notes.append(f"{gone:,} row{'s' if gone > 1 else ''} without a value of {name!r} left out")
    if len(rows) == 0:
        raise BadInput(f"the target column {name!r} holds no values")
    if len(rows) < LEAST_ROWS:
        raise BadInput(f"only {len(rows)} rows have a value of {name!r}: at least {LEAST_ROWS} are needed")
    y = _labels(None if written else numbers, texts)[rows] if kind == "classes" else numbers.to_numpy()[rows]  # type: ignore[union-attr]
    if kind == "classes":
        y, rows = _without_tiny_classes(name, y, rows, notes)
    elif y.min() == y.max():
        raise BadInput(f"the target column {name!r} is {y[0]:g} in every row: there is nothing to predict")
    elif not SMALLEST < np.abs(y).max() < LARGEST:
        raise BadInput(
            f"the target column {name!r} has values of size {np.abs(y).max():.0e}, whose squares leave the "
            "range of floats: give it in another unit"
        )
    return Task(kind, name, np.ascontiguousarray(y), rows, why, notes)


def _numbers_and_texts(series: pl.Series, comma: bool) -> tuple[pl.Series | None, pl.Series, str | None]:
    """The cells as numbers if they are, as texts, and how the numbers are written if not as computers do."""
    kind = series.dtype
    if kind.is_temporal() or kind.is_nested() or kind in (pl.Binary, pl.Object):
        raise BadInput(f"the target column {series.name!r} holds {kind}: give a column of numbers or classes")
    texts = as_texts(series)
    if kind.is_numeric() or kind.is_decimal():
        return finite(series)[0], texts, None
    if kind == pl.Boolean or not len(texts.drop_nulls()):
        return None, texts, None
    numbers, told, form = as_numbers(texts, comma)
    return numbers, texts, told if form else None


def _kind(name: str, numbers: pl.Series | None, texts: pl.Series, asked: str | None) -> tuple[str, str | None]:
    if numbers is None:
        if asked == "number":
            bad = texts.filter(texts.cast(pl.Float64, strict=False).is_null() & texts.is_not_null())
            raise BadInput(f"the target column {name!r} cannot be read as a number: it holds {str(bad[0])[:40]!r}")
        return "classes", None
    if asked is not None:
        return asked, None
    values = numbers.drop_nulls()
    different = values.n_unique()
    if different == 2:
        return "classes", None
    if different <= FEW_INTEGERS and bool((values == values.round()).all()):
        return (
            "classes",
            f"{different} different whole numbers, taken for classes; --task number predicts the number",
        )
    return "number", None


def _labels(numbers: pl.Series | None, texts: pl.Series) -> Array:
    """Labels as whole numbers where they are, else as texts."""
    if numbers is None:
        return texts.fill_null("").to_numpy().astype(str)
    values = numbers.fill_null(0.0).to_numpy()
    if np.array_equal(values, np.round(values)) and np.abs(values).max() < 2**53:
        return values.astype(np.int64)
    return values


def _without_tiny_classes(name: str, y: Array, rows: Array, notes: list[str]) -> tuple[Array, Array]:
    values, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    tiny = counts < LEAST_CLASS_ROWS
    if len(values) == 1:
        raise BadInput(
            f"the target column {name!r} is {str(values[0])[:40]!r} in every row: there is nothing to predict"
        )
    if (~tiny).sum() < 2:
        raise BadInput(
            f"the target column {name!r} has {len(values):,} different values in {len(y):,} rows, and fewer "
            f"than two of them occur in at least {LEAST_CLASS_ROWS} rows: too few rows to learn classes from"
        )
    if not tiny.any():
        return y, rows
    shown = ", ".join(f"{str(value)[:40]!r}" for value in values[tiny][:3]) + (" and others" if tiny.sum() > 3 else "")
    kept = ~tiny[codes.reshape(-1)]
    notes.append(
        f"{tiny.sum()} class{'es' if tiny.sum() > 1 else ''} with fewer than {LEAST_CLASS_ROWS} rows "
        f"left out ({shown}): {(~kept).sum():,} row{'s' if (~kept).sum() > 1 else ''}"
    )
    return y[kept], rows[kept]
