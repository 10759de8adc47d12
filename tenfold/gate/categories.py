"""The gate for categories: columns of text, of categories and of truth values as numbers 0, ..., k − 1.

A learner with `categorical = True` takes them. The categories of a column are its different values, sorted; a missing value is NaN,
and so is a value that fit has not seen, unless the learner's `unseen` is "mark" (it becomes UNSEEN) or "refuse". What was found
is the fact `categories_`: for each column an array, or None for numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold import _codes
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, BadType
from tenfold.core.numbers import column_name

Categories = list[Array | None]
TRUTH = np.array([False, True])
UNSEEN = -1.0
FEW_NUMBERS, SAFE = 1 << 16, 2.0**52  # whole numbers so near one another, and so small, are looked up in a table,
MANY_ROWS = 512  # where there are so many that making it pays
WORDS = {"O": "text", "b": "true and false", "f": "numbers", "i": "numbers"}  # what the kinds of categories are called


@dataclass(slots=True)
class Placed:
    """A column that is `numbers[places]`; −1 is the last of them. It is written into a table with others (`containers.fill_columns`)."""

    places: Array
    numbers: Array

    @classmethod
    def of(cls, places: Array, numbers: list[float]) -> Placed:
        """By the numbers of its different values, NaN where it is missing."""
        return cls(places, np.array([*numbers, np.nan]))

    def is_small(self) -> bool:
        """Whether all its values are codes that 16 bits hold: none is missing, none unknown."""
        known = self.numbers if self.places.min(initial=0) < 0 else self.numbers[: self.places.max(initial=-1) + 1]
        return bool((known >= 0).all() and known.max(initial=0) < 1 << 16)  # NaN is not above anything

    def spread(self) -> Array:
        """The column by itself."""
        return np.take(self.numbers, self.places, mode="wrap")  # without a look at each


class Coder:
    """Codes the columns of tables: by `known` categories, else by those it finds; `found` has them then."""

    def __init__(self, learner: Any, known: Categories | None = None) -> None:
        self.learner, self.known = learner, known
        self.unseen = learner.unseen
        self.unseen_code = UNSEEN if self.unseen == "mark" else np.nan  # the code of what fit has not seen
        self.found: Categories = [] if known is None else known
        self.marked: list[bool] | None = None  # None: the type of a column decides
        self.names: Array | None = None
        self.places: dict[int, dict[Any, int]] = {}

    def begin(self, names: Array | None, width: int) -> Coder:
        """A table with these columns comes."""
        self.names = names
        if self.known is None:
            self.found, self.marked = [None] * width, marked_columns(self.learner, names, width)
        return self

    def wants(self, j: int, native: bool = False) -> bool:
        """Whether column j is one of categories; `native`: its type is one."""
        if self.known is not None:
            return j < len(self.known) and self.known[j] is not None
        return native if self.marked is None else self.marked[j]

    def numbers(self, j: int, values: Array, whole: bool = False) -> Array | Placed:
        """Column j, which holds numbers: they stay what they are, unless the column was marked. Categories are whole numbers where the
        type of the column is, or all its values are (`whole`)."""
        if not self.wants(j):
            return values
        whole = whole or values.dtype.kind in "iu"
        if (codes := self._few_whole(j, values, whole)) is not None:
            return codes
        values = np.asarray(values, dtype=np.float64)
        categories = self.found[j]
        if self.known is None or categories is None:
            different = np.unique(values)
            categories = different[np.isfinite(different)]
            self.found[j] = categories = whole_numbers(categories) if whole else categories
        if np.isnan(values).all():
            return np.full(len(values), np.nan)
        if len(categories) and categories.dtype.kind not in "fi":
            raise self._changed(j, "numbers")
        place = np.searchsorted(categories, values)
        known = np.append(categories, np.nan)[place] == values
        unseen = ~known & np.isfinite(values)  # an infinity stays one, for the gate to name
        if self.unseen == "refuse" and unseen.any():
            row = int(np.argmax(unseen))
            raise self._strange(j, f"{values[row]:g}", row)
        return np.where(known, place, np.where(unseen, self.unseen_code, values))

    def _few_whole(self, j: int, values: Array, whole: bool) -> Placed | None:
        """`numbers` of whole numbers that lie close together: looked up in a table, not searched for. None for any others."""
        if len(values) < MANY_ROWS or values.dtype.kind not in "fiu" or values.dtype == np.uint64:
            return None
        values = np.ascontiguousarray(values)
        low, high = float(values.min()), float(values.max())
        if not -SAFE < low <= high < SAFE or high - low >= FEW_NUMBERS:  # NaN is not below anything
            return None
        place = values.astype(np.int64, copy=False)
        if values.dtype.kind == "f" and not np.array_equal(place, values):
            return None
        first = 0 if low >= 0 and high < FEW_NUMBERS else int(low)
        place = place - first if first else place
        met = np.bincount(place, minlength=int(high) - first + 1) > 0
        if self.known is None or self.found[j] is None:
            categories = np.flatnonzero(met) + first
            self.found[j] = categories if whole else categories.astype(np.float64)
        known = np.asarray(self.found[j])
        if known.dtype.kind not in "fi" or self.unseen == "refuse":
            inside = met.sum() == len(np.intersect1d(np.flatnonzero(met) + first, known)) if known.dtype.kind in "fi" else False
            if not inside:
                return None  # there is something to refuse, which is named elsewhere
        table = np.where(met, self.unseen_code, 0.0)
        there = np.flatnonzero((known >= low) & (known <= high) & (known == np.floor(known)))
        table[known[there].astype(np.int64) - first] = there
        return Placed(place, table)

    def values(self, j: int, codes: Array, different: list[Any], native: bool = True) -> Array | Placed:
        """Column j, given by the numbers of its different values (−1: missing); `native`: its type is one of categories."""
        different = [one.decode("utf-8", "surrogateescape") if isinstance(one, bytes) else one for one in different]
        there = [not is_missing(one) for one in different]
        occurring = [one for one, known in zip(different, there, strict=True) if known]
        kind, first = self._kind(j, codes, different, there)
        floats = kind == "f" and not native
        if floats or not self.wants(j, native=True):
            if kind == "O":
                raise self._changed(j, "text", codes, different, first)
            values = Placed.of(codes, [float(one) if known else np.nan for one, known in zip(different, there, strict=True)])
            whole = all(isinstance(one, (int, np.integer)) for one in occurring)
            return self.numbers(j, values.spread(), whole) if floats else values
        if self.known is None:
            different_ones = np.array(sorted(occurring), dtype=np.float64 if kind == "f" else object)
            if kind == "f" and all(isinstance(one, (int, np.integer)) for one in occurring):
                different_ones = whole_numbers(different_ones)
            self.found[j] = TRUTH if kind == "b" else different_ones
        categories = self.found[j]
        assert categories is not None
        if kind is not None and len(categories) and WORDS[categories.dtype.kind] != WORDS[kind]:
            raise self._changed(j, WORDS[kind], codes, different, first)
        if j not in self.places:
            self.places[j] = {value: i for i, value in enumerate(categories.tolist())}
        number = self.places[j]
        if self.unseen == "refuse" and not all(one in number for one in occurring):
            for i in np.unique(codes[codes >= 0]).tolist():
                if there[i] and different[i] not in number:
                    raise self._strange(j, short(different[i]), int(np.argmax(codes == i)))
        unseen = self.unseen_code
        return Placed.of(codes, [number.get(one, unseen) if known else np.nan for one, known in zip(different, there, strict=True)])

    def _strange(self, j: int, value: str, row: int) -> BadInput:
        return BadInput(
            f"Found unknown categories [{value}] in {column_name(self.names, j)} (row {row}), which were not there in fit: "
            "set handle_unknown to take them"
        )

    def _kind(self, j: int, codes: Array, different: list[Any], there: list[bool]) -> tuple[str | None, int]:
        """The kind of the values of a column, None if all are missing, and the number of the first value."""
        first: dict[str, int] = {}
        for i, value in enumerate(different):
            if there[i]:
                first.setdefault(kind_of(value), i)
        if "O" in first and len(first) > 1:
            examples = " and ".join(_place(codes, different, i) for i in list(first.values())[:2])
            raise BadInput(
                f"{column_name(self.names, j)} holds values of mixed type ({examples}): make them all text or all numbers"
            )
        return "f" if "f" in first else next(iter(first), None), min(first.values(), default=-1)

    def _changed(self, j: int, now: str, *column: Any) -> BadInput:
        """Why column j cannot be taken as it is."""
        where, categories = column_name(self.names, j), self.found[j]
        now += f" ({_place(*column)})" if column else ""
        if self.known is None:
            return BadInput(f"{where} holds {now}: name it in categorical_features, or code it as numbers first")
        then = "numbers" if categories is None else WORDS[categories.dtype.kind]
        return BadInput(
            f"{where} holds {now}, but held {then} before: give {type(self.learner).__name__} the same kind in every block, "
            "and in predict as in fit"
        )

    def without_unseen(self, X: Any, rows: Array) -> Any:
        """X as if the rows of weight zero (those not in `rows`) had not been there when the categories were found."""
        X = X if ops.is_sparse(X) or X.dtype.kind == "f" else X.astype(np.float64)
        for j, categories in enumerate(self.found):
            if categories is None or categories is TRUTH or self.known is not None:
                continue
            coded = np.flatnonzero(np.isfinite(X[:, j]))
            codes = X[coded, j].astype(np.int64)
            place = np.full(len(categories), np.nan)
            present = np.unique(codes[np.isin(coded, rows)])
            place[present] = np.arange(len(present))
            X[coded, j] = place[codes]
            self.found[j] = categories[present]
        return X


def whole_numbers(values: Array) -> Array:
    """Categories that are numbers, as whole ones where all of them are and floats hold them exactly."""
    whole = (values == np.floor(values)).all() and (np.abs(values) <= 2.0**53).all()
    return values.astype(np.int64) if whole else values


def _place(codes: Array, different: list[Any], i: int) -> str:
    """Different value number i, and the first row that has it."""
    return f"{short(different[i])}, row {int(np.argmax(codes == i))}"


def coder_of(learner: Any, known: Categories | None = None) -> Coder | None:
    """The coder of a learner that takes categories, else None."""
    if not learner.categorical or learner.categorical_features is None:
        return None
    return Coder(learner, known)


def marked_columns(learner: Any, names: Array | None, width: int) -> list[bool] | None:
    """The columns that the parameter `categorical_features` marks, or None where their types decide."""
    chosen = learner.categorical_features
    if isinstance(chosen, str) and chosen in ("from_dtype", "all"):
        return None if chosen == "from_dtype" else [True] * width
    here, given = f"{type(learner).__name__}(categorical_features={short(chosen)})", np.asarray(chosen)
    odd = [] if given.dtype.kind in "biuU" else sorted({type(one).__name__ for one in given.ravel() if not isinstance(one, str)})
    if given.ndim != 1 or (odd and len(given)):
        kinds = str(given.dtype) if given.dtype.kind != "O" else ", ".join(odd)
        raise BadParameter(f"{here}: categorical_features must be an array-like of bool, int or str, got: {kinds}.")
    if given.dtype.kind == "b":
        if len(given) != width:
            raise BadParameter(
                f"{here}: categorical_features set as a boolean mask must have shape (n_features,), here ({width},)"
            )
        return [bool(one) for one in given]
    numbers = given.dtype.kind in "iu"
    if not numbers and names is None and len(given):
        raise BadParameter(
            f"{here}: categorical_features should be passed as an array of integers or as a boolean mask when the model is "
            "fitted on data without feature names."
        )
    known: list[Any] = list(range(width)) if numbers else [] if names is None else names.tolist()
    for one in given.tolist():
        if one not in known:
            raise BadParameter(
                f"{here}: categorical_features set as integer indices must be in [0, n_features - 1], and {one} is not"
                if numbers
                else f"{here}: categorical_features has an item value {one!r} which is not a valid feature name of the training data."
            )
    marked = set(given.tolist())
    return [one in marked for one in known] or [False] * width


def union(parts: Iterable[Categories], names: Array | None) -> Categories:
    """The categories of several tables with the same columns, as if they were one."""
    held: list[Categories] = []
    for part in parts:
        held.append(part)
        if len(held) == 16:  # few at a time, so that they take the memory of a few
            held = [_union(held, names)]
    return _union(held, names)


def _union(parts: list[Categories], names: Array | None) -> Categories:
    return [_joined(list(found), column_name(names, j)) for j, found in enumerate(zip(*parts, strict=True))]


def _joined(found: list[Array | None], where: str) -> Array | None:
    arrays = [one for one in found if one is not None and len(one)]  # without those that held missing values alone
    kinds = sorted({WORDS[one.dtype.kind] for one in arrays} | {"numbers" for one in found if one is None})
    if len(kinds) > 1:
        raise BadInput(f"{where} holds {kinds[0]} in one block and {kinds[1]} in another: make them all alike")
    if not arrays:
        return found[0] if not kinds else None
    if arrays[0].dtype.kind in "fi":
        return np.unique(np.concatenate(arrays))
    return np.array(sorted({value for one in arrays for value in one.tolist()}), dtype=arrays[0].dtype)


def numbered(values: Any) -> tuple[Array, list[Any]]:
    """Values as numbers of their different values, and those in order of appearance: equal are those that a dict takes for one."""
    kind = values.dtype.kind if isinstance(values, np.ndarray) else ""
    if kind == "U" and values.dtype.itemsize:  # texts of one length, as bytes
        rows = np.ascontiguousarray(values)
        places, firsts = _codes.numbered_bytes(rows.view(np.uint8).reshape(len(rows), -1))
        return places, rows[firsts].tolist()
    objects = values if kind == "O" else np.fromiter(values.tolist() if kind else values, object, len(values))
    codes, different = _codes.numbered(objects)
    return codes, different


def is_missing(value: Any) -> bool:
    """Nothing, an empty text, NaN."""
    return (isinstance(value, str) and value == "") or is_gap(value)


def is_gap(value: Any) -> bool:
    """None, NaN, or what pandas has for them: NaT, and NA, which is equal to nothing, not even in a way that could be asked."""
    return value is None or (isinstance(value, (float, np.floating)) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def kind_of(value: Any) -> str:
    """O for text, b for truth, f for numbers; anything else is no category."""
    if isinstance(value, str):
        return "O"
    if isinstance(value, (bool, np.bool_)):
        return "b"
    if isinstance(value, (int, float, np.integer, np.floating)):
        return "f"
    raise BadType(f"{type(value).__name__} is neither text nor a number")


def short(value: Any) -> str:
    """A value in a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
