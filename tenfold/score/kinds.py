"""What kind of targets a column or a table holds, in the field's usual words, and the columns themselves.

    binary, multiclass        one label for each row
    multilabel-indicator      a set of labels for each row: a table of zeros and ones, a column for each label
    continuous                numbers that are not whole; continuous-multioutput: several for each row
    multiclass-multioutput    several labels of more than two kinds for each row
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadType
from tenfold.core.numbers import objection
from tenfold.gate.categories import is_gap

LABELS = "labels"  # binary or multiclass, not yet counted
MULTILABEL = "multilabel-indicator"
NUMBERS = "biuf"
EMPTY = "Found empty input array (e.g., `y_true` or `y_pred`) while a minimum of 1 sample is required"
SEQUENCES = (
    "You appear to be using a legacy multi-label data representation: sequences of sequences are not supported; "
    "give a binary array or sparse matrix, a column for each label"
)


def as_labels(values: Any, name: str) -> Array:
    """A column of labels (n,), or a table (n, q) where each row has several; no number is missing or infinite."""
    if ops.is_sparse(values):
        return _from_sparse(values)
    try:
        labels = np.asarray(values)
    except ValueError:
        raise BadInput(f"{name}: {SEQUENCES}") from None
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim not in (1, 2):
        raise BadInput(f"{name} has shape {labels.shape}: unknown is not supported, give one label for each row")
    if not labels.size:
        raise BadInput(f"{EMPTY}: {name} has shape {labels.shape}")
    kind = labels.dtype.kind
    if kind == "f":
        check_finite(labels, name, "labels")
    elif kind == "c":
        raise BadInput(f"Complex data not supported: {name} must hold labels")
    elif kind == "S":
        raise BadType(f"Support for labels represented as bytes is not supported: make {name} text")
    elif kind == "O":
        return _from_objects(labels, name)
    elif kind == "U" and isinstance(values, (list, tuple)) and labels.ndim == 1:
        _check_texts(values, name)  # NumPy makes text of whatever stands beside a text
    return labels


def _check_texts(values: Any, name: str) -> None:
    for row, value in enumerate(values):
        if not isinstance(value, str):
            if is_gap(value):
                raise BadInput(f"Input {name} contains NaN in row {row}: fill or drop missing labels first")
            raise BadInput(f"{name} holds labels of mixed type, see {value!r} in row {row}: make them all text or all numbers")


def encoded(labels: Array, name: str) -> tuple[Array, Array]:
    """Sorted distinct labels, and a code for each row."""
    try:
        return check.encode(labels)
    except BadInput:
        missing = [row for row, label in enumerate(labels.tolist()) if is_gap(label)]
        if not missing:
            raise
        raise BadInput(f"Input {name} contains NaN in row {missing[0]}: fill or drop missing labels first") from None


def _from_sparse(values: Any) -> Array:
    table = values.toarray()
    if table.ndim != 2 or table.shape[1] < 2 or kind_of(table) != MULTILABEL:
        raise BadType("Sparse input is only supported when targets are of multilabel type: use toarray()")
    return np.asarray(table)


def _from_objects(labels: Array, name: str) -> Array:
    """Truth values and numbers among objects become arrays of such; texts stay."""
    first = labels.flat[0]
    if isinstance(first, (list, tuple, set, np.ndarray)):
        raise BadInput(f"{name}: {SEQUENCES}")
    if isinstance(first, bytes):
        raise BadType(f"Support for labels represented as bytes is not supported: make {name} text")
    if isinstance(first, str) or labels.ndim == 2:
        return labels
    plain = np.array(labels.tolist())
    if plain.dtype.kind == "f":
        check_finite(plain, name, "labels")
    return plain if plain.dtype.kind in NUMBERS and plain.ndim == 1 else labels


def check_finite(table: Array, name: str, what: str) -> None:
    """Refuse numbers that are missing or infinite."""
    if ops.all_finite(np.ascontiguousarray(table)):
        return
    first = np.argwhere(np.isnan(table) if np.isnan(table).any() else ~np.isfinite(table))[0]
    raise BadInput(f"Input {name} contains {objection(table[tuple(first)], f'in row {int(first[0])}', what)}")


def kind_of(labels: Array) -> str:
    """The kind, with LABELS for one label in each row: those are counted only where a message names them."""
    if labels.dtype.kind == "f" and (labels != np.trunc(labels)).any():
        return "continuous" if labels.ndim == 1 else "continuous-multioutput"
    if labels.ndim == 1:
        return LABELS
    few = labels.dtype.kind in NUMBERS and len(np.unique(labels)) < 3
    return MULTILABEL if few else "multiclass-multioutput"


def named_kind(labels: Array) -> str:
    """The kind in full."""
    kind = kind_of(labels)
    if kind != LABELS:
        return kind
    return "multiclass" if len(np.unique(labels)) > 2 else "binary"


def same_kind(truth: Array, predicted: Array) -> str:
    """LABELS or MULTILABEL of both; refuse all else."""
    kinds = kind_of(truth), kind_of(predicted)
    if kinds[0] == kinds[1] and kinds[0] in (LABELS, MULTILABEL):
        return kinds[0]
    if kinds[0] == kinds[1]:
        raise BadInput(f"{kinds[0]} is not supported: give labels, or a table of zeros and ones")
    raise BadInput(
        f"Classification metrics can't handle a mix of {named_kind(truth)} and {named_kind(predicted)} targets: "
        f"y_true has shape {truth.shape} of {truth.dtype}, y_pred {predicted.shape} of {predicted.dtype}"
    )


def as_text(classes: Array) -> str:
    """Classes in a message, on one line."""
    return np.array2string(classes, max_line_width=10**6, threshold=20)


def is_text(column: Array) -> bool:
    if column.dtype.kind == "O":
        return any(isinstance(value, str) for value in column)
    return column.dtype.kind in "UT"


def check_same_type(first: Array, second: Array, names: tuple[str, str]) -> None:
    """Refuse text here and numbers there."""
    text = is_text(first), is_text(second)
    if text[0] != text[1]:
        held = ["text" if one else "numbers" for one in text]
        raise BadInput(
            f"Mix of label input types (string and number): {names[0]} holds {held[0]} and {names[1]} {held[1]}; "
            "make both text or both numbers"
        )


def same_rows(**columns: Any) -> None:
    """Refuse columns of different lengths."""
    lengths = [len(column) for column in columns.values() if column is not None]
    if lengths[1:] != lengths[:-1]:
        sizes = ", ".join(f"{name} has {len(one)} rows" for name, one in columns.items() if one is not None)
        raise BadInput(f"Found input variables with inconsistent numbers of samples: {lengths}; {sizes}")
