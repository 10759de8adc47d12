"""The task: classes or a number, from the target column."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.table.cells import FEW_INTEGERS, Odd, as_numbers, as_texts, finite, without_missing_words
from tenfold.table.dates import looks_like_dates
from tenfold.table.reading import pl

TASKS = ("classes", "number")
SYNONYMS = {
    **dict.fromkeys(("classification", "classifier", "class", "binary", "multiclass"), "classes"),
    **dict.fromkeys(("regression", "regressor", "numbers", "numeric"), "number"),
}
LEAST_ROWS = 10
SMALLEST, LARGEST = 1e-75, 1e75  # of a target: the error of a squared error has its fourth power
LEAST_CLASS_ROWS = 3  # with two folds left out at a time, three rows leave one to learn from
FEW_CLASS_ROWS = 10  # below, a class is told of


class NotANumber(BadInput):
    """A target that should be a number holds texts."""


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


def task_name(asked: str | None) -> str | None:
    """`classes` or `number`, also by the names that others use."""
    name = SYNONYMS.get(asked.lower(), asked.lower()) if isinstance(asked, str) else asked
    if name is not None and name not in TASKS:
        raise BadParameter(f"task={asked!r}: must be 'classes' or 'number' (also: classification, regression)")
    return name


def kind_of(series: pl.Series) -> str:
    """`classes` or `number`, by what a target holds."""
    return _kind(series.name, _read(series, False, False), None)[0]


def find_task(
    series: pl.Series, asked: str | None = None, comma: bool = False, as_written: bool = False, tiny: bool = False
) -> Task:
    """Classes or a number, and the rows that have a target.

    `comma`: the table writes commas before decimals. `as_written`: every text is a class, also a word for a missing value. `tiny`: as of
    `learnable`.
    """
    asked = "classes" if as_written and asked is None else task_name(asked)
    name = series.name
    target = _read(series, comma, as_written)
    numbers = target.numbers
    if asked is None and numbers is None and looks_like_dates(target.texts):
        example = str(target.texts.drop_nulls()[0])[:40]
        raise BadInput(
            f"the target column {name!r} holds dates such as {example!r}: give a number, such as days since one of them, or --category "
            f"{name} to take each for a class"
        )
    kind, why = _kind(name, target, asked)
    present = target.texts if numbers is None else numbers
    rows = np.flatnonzero(present.is_not_null().to_numpy())
    notes = [f"{name!r}: {target.form}"] if target.form and kind == "number" else []
    if len(rows) < len(series):
        notes.append(_without_value(name, len(series) - len(rows), target.odd, numbers is None))
    if len(rows) == 0:
        raise BadInput(f"the target column {name!r} holds no values")
    if kind == "classes":
        y = _labels(None if target.form else numbers, target.texts)[rows]
    else:
        assert numbers is not None
        y = numbers.to_numpy()[rows]
    return learnable(Task(kind, name, y, rows, why, notes), tiny=tiny)


def learnable(task: Task, those: str = "", tiny: bool = False) -> Task:
    """The task without classes of too few rows, which are noted; refused where too little is left to learn from.

    those: which rows it is about, where some that have a target are left out. tiny: classes of one or two rows stay among several others,
    unless they are more than those: new rows will be of such classes too, and whoever leaves them out flatters himself. Two classes
    stay two: a third one of a row or two is more likely a slip, and would make another task.
    """
    name, y, rows = task.target, task.y, task.rows
    if len(rows) < LEAST_ROWS:
        have = f"1 row{those} has" if len(rows) == 1 else f"{len(rows)} rows{those} have"
        raise BadInput(f"only {have} a value of {name!r}: at least {LEAST_ROWS} are needed")
    if task.kind == "classes":
        y, rows = _without_tiny_classes(name, y, rows, task.notes, those, tiny)
        if len(rows) < min(LEAST_ROWS, len(task.rows) / 2):
            raise BadInput(
                f"the target column {name!r} has {len(task.classes):,} classes in {len(task.rows):,} rows{those}, and only {len(rows)} "
                f"rows have one that occurs {LEAST_CLASS_ROWS} times: at least {LEAST_ROWS} are needed"
            )
        return replace(task, y=np.ascontiguousarray(y), rows=rows, notes=[*task.notes, *_small_classes(y, those)])
    if y.min() == y.max():
        raise BadInput(f"the target column {name!r} is {y[0]:g} in every row{those}: there is nothing to predict")
    if not SMALLEST < np.abs(y).max() < LARGEST:
        raise BadInput(
            f"the target column {name!r} has values of size {np.abs(y).max():.0e}, whose fourth powers leave the "
            "range of floats: give it in another unit"
        )
    return replace(task, y=np.ascontiguousarray(y))


@dataclass(frozen=True)
class _Target:
    """The cells of the target as texts, as numbers if they are, and what was read as missing."""

    texts: pl.Series
    numbers: pl.Series | None = None
    odd: Odd | None = None
    form: str | None = None  # how numbers are written, if not as computers do


def _read(series: pl.Series, comma: bool, as_written: bool) -> _Target:
    kind = series.dtype
    if kind.is_temporal() or kind.is_nested() or kind in (pl.Binary, pl.Object):
        raise BadInput(f"the target column {series.name!r} holds {kind}: give a column of numbers or classes")
    texts = as_texts(series)
    if as_written or kind == pl.Boolean or texts.null_count() == len(texts):
        return _Target(texts)
    if kind.is_numeric() or kind.is_decimal():
        return _Target(texts, *finite(series))
    found = as_numbers(texts, comma)
    if found is not None:
        return _Target(texts, found.values, found.odd, found.as_written)
    return _Target(*_classes(texts))


def _classes(texts: pl.Series) -> tuple[pl.Series, None, Odd | None]:
    """Texts as classes: of words for a missing value there are none, unless every cell is one."""
    present, odd = without_missing_words(texts)
    return (texts, None, None) if present.null_count() == len(texts) else (present, None, odd)


def _without_value(name: str, gone: int, odd: Odd | None, texts: bool) -> str:
    """Of the rows that are left out: how many, an example, and how to use them if they have a class after all."""
    note = f"{gone:,} row{'s' if gone > 1 else ''} without a value of {name!r} left out"
    if odd is None:
        return note
    example = f"{note} (such as {odd.example[:40]!r} in row {odd.row + 1:,}, read as missing"
    return example + (f"; --category {name} makes it a class)" if texts else ")")


def _kind(name: str, target: _Target, asked: str | None) -> tuple[str, str | None]:
    numbers, texts = target.numbers, target.texts
    if numbers is None:
        if asked == "number":
            bad = texts.filter(texts.cast(pl.Float64, strict=False).is_null() & texts.is_not_null())
            if texts.null_count() == len(texts):
                return "number", None  # that it holds nothing is told behind
            if not len(bad):
                raise BadParameter(f"the target column {name!r} is to be a number, and is named with --category: leave that out")
            raise NotANumber(f"the target column {name!r} cannot be read as a number: it holds {str(bad[0])[:40]!r}")
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
    if np.abs(values).max() >= 2**53:  # numbers of so many digits are no longer told apart
        return texts.fill_null("").to_numpy().astype(str)
    return np.array([f"{value:.0f}" if value == round(value) else repr(value) for value in values.tolist()])  # 0.5 and 1 are names


def _without_tiny_classes(
    name: str, y: Array, rows: Array, notes: list[str], those: str, stay: bool
) -> tuple[Array, Array]:
    """The rows whose class has enough of them. stay: few classes that have not, beside several that have, are left alone."""
    values, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    tiny = counts < LEAST_CLASS_ROWS
    if len(values) == 1:
        raise BadInput(
            f"the target column {name!r} is {str(values[0])[:40]!r} in every row{those}: there is nothing to predict"
        )
    if (~tiny).sum() < 2:
        raise BadInput(
            f"the target column {name!r} has {len(values):,} different values in {len(y):,} rows{those}, and fewer "
            f"than two of them occur in at least {LEAST_CLASS_ROWS} rows: too few rows to learn classes from"
        )
    others = int((~tiny).sum())
    if not tiny.any() or (stay and 2 < others >= tiny.sum()):
        return y, rows
    shown = ", ".join(f"{str(value)[:40]!r}" for value in values[tiny][:3]) + (" and others" if tiny.sum() > 3 else "")
    kept = ~tiny[codes.reshape(-1)]
    notes.append(
        f"{tiny.sum()} class{'es' if tiny.sum() > 1 else ''} with fewer than {LEAST_CLASS_ROWS} rows{those} "
        f"left out ({shown}): {(~kept).sum():,} row{'s' if (~kept).sum() > 1 else ''}, which the estimate does not count"
    )
    return y[kept], rows[kept]


def _small_classes(y: Array, those: str) -> list[str]:
    """A note of classes that are learned from few rows, and judged by fewer."""
    values, counts = np.unique(y, return_counts=True)
    small = np.flatnonzero(counts < FEW_CLASS_ROWS)
    if not len(small):
        return []
    if len(small) == 1:
        few = "1 row" if counts[small[0]] == 1 else f"{counts[small[0]]} rows"
        return [f"class {str(values[small[0]])[:40]!r} has only {few}{those}: what is said of it rests on few rows"]
    shown = ", ".join(f"{str(values[one])[:40]!r} {counts[one]}" for one in small[:3]) + (" and others" if len(small) > 3 else "")
    return [f"{len(small)} classes have fewer than {FEW_CLASS_ROWS} rows{those} ({shown}): what is said of them rests on few rows"]
