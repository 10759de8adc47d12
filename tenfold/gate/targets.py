"""The gate for targets and weights: numbers, labels as codes of classes, weights that can be used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Target
from tenfold.core.errors import BadInput, BadType, DataConverted, warn
from tenfold.core.numbers import objection, row_number
from tenfold.gate.categories import is_gap, short
from tenfold.gate.columns import to_floats
from tenfold.gate.containers import listed, unmasked

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100  # so that weighted sums neither overflow nor vanish
ALL = slice(0, None)  # the rows of a block are those of the table: what messages count from


def as_target(learner: Any, y: Any, n: int, classes: Any = None, index: Any = ALL) -> tuple[Target, Array | None]:
    """y as the learner wants it: float64 (n, q) for "real", codes (n,) for "label", (n, q) of several columns; nothing for "none"."""
    kind = learner.target
    if kind == "none":
        return Target("none"), None
    if y is None:
        raise BadInput(f"{type(learner).__name__} requires y to be passed, but the target y is None")
    y = as_column(y)
    if kind == "label" and learner.multi_output and y.ndim == 2 and (y.shape[1] > 1 or isinstance(classes, list)):
        return several_labels(learner, y, n, classes, index)
    if kind == "label":
        values, codes = encode(flat_labels(y, n, index), classes, index)
        target = Target("label", values)
        check_classes(learner, target)
        return target, codes
    flat = y.ndim == 1
    values = real_target(y, n, index)
    if not flat and values.shape[1] == 1 and not learner.multi_output:
        warn_column_vector()
    if values.shape[1] > 1 and not learner.multi_output:
        raise BadInput(
            f"y should be a 1d array, got an array of shape {y.shape} instead: "
            f"{type(learner).__name__} predicts one column"
        )
    column = not flat and values.shape[1] == 1
    flat = flat or not learner.multi_output or (column and learner.flattens)
    return Target("real", flat=flat, width=values.shape[1], column=column), values


def several_labels(learner: Any, y: Array, n: int, classes: Any, index: Any) -> tuple[Target, Array]:
    """Columns of labels, each with classes of its own."""
    check_length("y", len(y), n)
    known = [None] * y.shape[1] if classes is None else classes
    columns = [encode(flat_labels(column, n, index), own, index) for column, own in zip(y.T, known, strict=True)]
    target = Target("label", [values for values, _ in columns], flat=False, width=y.shape[1])
    check_classes(learner, target)
    return target, np.column_stack([codes for _, codes in columns])


def check_classes(learner: Any, target: Target) -> None:
    if target.classes is None:
        return
    for classes in target.classes if isinstance(target.classes, list) else [target.classes]:
        if len(classes) < learner.least_classes:
            raise BadInput(
                f"{type(learner).__name__} needs samples of at least 2 classes in y, but there is only one "
                f"class: {classes.tolist()[0]!r}"
            )


def as_column(y: Any) -> Array:
    if ops.is_sparse(y):
        raise BadType("y is sparse: sparse multilabel-indicator for y is not supported. Use y.toarray()")
    if hasattr(y, "__array__") or isinstance(y, (list, tuple)):
        column = unmasked(y)
        if column.dtype.kind in "US" and isinstance(y, (list, tuple)):  # NumPy makes the text "nan" of a NaN beside texts
            objects = np.asarray(y, dtype=object)
            return objects if any(is_gap(one) for one in objects.flat) else column
        return column
    if np.ndim(y) == 0:
        raise BadInput(f"y should be a 1d array, got {short(y)} instead")
    return np.asarray(y)


def check_length(what: str, length: int, n: int) -> None:
    if length != n:
        raise BadInput(
            f"Found input variables with inconsistent numbers of samples: [{n}, {length}]: X has {n} rows, but {what} has {length}"
        )


def real_target(y: Array, n: int, index: Any = ALL) -> Array:
    """Numbers, finite, as a (n, q) array."""
    if y.ndim not in (1, 2) or (y.ndim == 2 and y.shape[1] == 0):
        raise BadInput(f"y should be a 1d array, or 2d for several targets, got an array of shape {y.shape} instead")
    check_length("y", y.shape[0], n)
    if y.dtype.kind == "c":
        raise BadInput("Complex data not supported: y must hold real numbers")
    check_dated(y, index)
    if y.dtype.kind not in "fiub":
        y = to_floats(y, "target y") if y.ndim == 1 else np.column_stack([to_floats(c, "target y") for c in y.T])
    values = np.ascontiguousarray(y.reshape(n, -1), dtype=np.float64)
    if not ops.all_usable(values):
        row, column = (int(i) for i in np.argwhere(~(np.abs(values) <= ops.LARGEST[values.dtype]))[0])
        where = f"in row {row_number(index, row)}"
        raise BadInput(f"Input y contains {objection(values[row, column], where, 'targets')}")
    return values


def flat_labels(y: Array, n: int, index: Any = ALL) -> Array:
    """Labels as a 1-D array."""
    if y.ndim == 2 and y.shape[1] == 1:
        warn_column_vector()
        y = y[:, 0]
    if y.ndim != 1:
        raise BadInput(f"y should be a 1d array, got an array of shape {y.shape} instead")
    check_length("y", y.shape[0], n)
    if y.dtype.kind == "c":
        raise BadInput("Complex data not supported: y must hold labels")
    check_dated(y, index)
    if y.dtype.kind == "f":
        if not ops.all_finite(np.ascontiguousarray(y)):
            row = int(np.flatnonzero(~np.isfinite(y))[0])
            where = f"in row {row_number(index, row)}"
            raise BadInput(f"Input y contains {objection(y[row], where, 'labels')}")
        if (y != np.trunc(y)).any():
            row = int(np.flatnonzero(y != np.trunc(y))[0])
            raise BadInput(
                f"Unknown label type: continuous. Row {row_number(index, row)} of y is {y[row]:g}: "
                "a classifier needs classes; use a regressor, or bin the target first"
            )
    return y


def check_dated(y: Array, index: Any = ALL) -> None:
    """Refuse a date that is none: as a number it is the least there is."""
    if y.dtype.kind in "mM" and np.isnat(y).any():
        row = int(np.argwhere(np.isnat(y))[0][0])
        raise BadInput(f"Input y contains NaN in row {row_number(index, row)} (NaT, no date): drop the rows without a target first")


def encode(y: Array, classes: Any = None, index: Any = ALL) -> tuple[Array, Array]:
    """Sorted classes, and each label as its number among them."""
    if classes is None:
        return _distinct(y, index)
    values = np.unique(np.asarray(classes))
    try:
        place = np.searchsorted(values, y)
        known = values[np.minimum(place, len(values) - 1)] == y
    except TypeError:
        check_labelled(y, index)
        raise BadInput(f"the labels ({y.dtype}) are not of the same type as the classes ({values.dtype})") from None
    if not np.all(known):
        check_labelled(y, index)
        row = int(np.flatnonzero(~known)[0])
        raise BadInput(
            f"The target label(s) {np.asarray(y[row]).item()!r} in y do not exist in the initial classes {listed(values)}, first in "
            f"row {row_number(index, row)}: give all of them in classes="
        )
    return values, place.astype(np.int64)


def _distinct(y: Array, index: Any) -> tuple[Array, Array]:
    if y.dtype.kind in "iub" and y.size and y.dtype != np.uint64:
        low, high = int(y.min()), int(y.max())
        if high - low < 1024:  # few whole numbers: counting beats sorting
            place = np.ascontiguousarray(y, dtype=np.int64)
            place = place - low if low else place
            present = np.bincount(place) > 0
            values = (present.nonzero()[0] + low).astype(y.dtype, copy=False)
            return values, place if len(values) == len(present) else (np.cumsum(present) - 1)[place]
    try:
        values, codes = np.unique(y, return_inverse=True)
    except TypeError:
        check_labelled(y, index)
        kinds = {type(v).__name__: i for i, v in reversed(list(enumerate(y)))}
        examples = " and ".join(f"{kind} (row {row})" for kind, row in sorted(kinds.items(), key=lambda item: item[1])[:2])
        raise BadInput(f"y holds labels of mixed type, {examples}: make them all text or all numbers") from None
    if y.dtype.kind == "O" and any(map(is_gap, values)):
        check_labelled(y, index)
    return values, codes.reshape(-1).astype(np.int64)


def check_labelled(y: Array, index: Any = ALL) -> None:
    """Refuse a row without a label as such, before it is called a label of another type or an unknown class."""
    row = next((i for i, one in enumerate(y) if is_gap(one)), None) if y.dtype.kind == "O" else None
    if row is not None:
        raise BadInput(f"Input y contains NaN in row {row_number(index, row)}: drop the rows without a label first")


def drop_unseen_classes(codes: Array | None, target: Target, rows: Array, classes: Any) -> tuple[Array | None, Target]:
    """A class all of whose rows have weight zero is absent, unless the user listed the classes."""
    if target.classes is None or codes is None or classes is not None:
        return codes, target
    if isinstance(target.classes, list):
        parts = [drop_unseen_classes(c, Target("label", v), rows, None) for c, v in zip(codes.T, target.classes, strict=True)]
        return np.array([c for c, _ in parts]).T, replace(target, classes=[one.classes for _, one in parts])
    present = np.unique(codes[rows])
    if len(present) == len(target.classes):
        return codes, target
    place = np.zeros(len(target.classes), dtype=np.int64)
    place[present] = np.arange(len(present))
    return place[codes], Target("label", target.classes[present])


def as_weights(weights: Any, n: int, index: Any = ALL) -> Array | None:
    """float64 (n,), none below zero, not all zero; None where every row counts the same."""
    if weights is None:
        return None
    w = unmasked(weights)
    if w.ndim == 0 and w.dtype.kind in "fiub":
        w = np.full(n, float(w))
    if w.dtype.kind == "c":
        raise BadInput("Complex data not supported: sample_weight must hold real numbers")
    if w.ndim != 1 or w.dtype.kind not in "fiub":
        raise BadInput(
            f"Sample weights must be 1D array or scalar: sample_weight must hold numbers, got shape {w.shape} of {w.dtype}"
        )
    if len(w) != n:
        raise BadInput(f"sample_weight.shape == {w.shape}, expected {(n,)}: X has {n} rows, but sample_weight has {len(w)}")
    w = np.ascontiguousarray(w, dtype=np.float64)
    if not w.min() >= SMALLEST_WEIGHT or not w.max() <= LARGEST_WEIGHT:  # written so that NaN is caught
        bad = ~((w == 0) | (w >= SMALLEST_WEIGHT) & (w <= LARGEST_WEIGHT))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            if not np.isfinite(w[row]):
                where = f"in row {row_number(index, row)}"
                raise BadInput(f"Input sample_weight contains {objection(w[row], where, 'weights')}")
            negative = "Negative values in data passed to `sample_weight`: " if w[row] < 0 else ""
            raise BadInput(
                f"{negative}sample_weight is {w[row]:g} in row {row_number(index, row)}: weights must be zero or from "
                f"{SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}, not negative and not missing"
            )
        if index is ALL and not w.any():
            raise BadInput("sample_weight is zero in every row: at least one weight must be above zero")
    return w


def warn_column_vector() -> None:
    warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), for example "
        "using ravel().",
        DataConverted,
        stacklevel=5,
    )
