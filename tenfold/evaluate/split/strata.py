"""Classes that are spread evenly: what of y stratified splits take, and their numbers of rows by class."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, DataWarning
from tenfold.evaluate.split.folds import codes_of

STRATA = ("binary", "multiclass")


def target_kind(y: Any) -> str:
    """What y is, in scikit-learn's words: "binary", "multiclass", "continuous", "multilabel-indicator", ..."""
    if ops.is_sparse(y):
        return "multilabel-indicator"
    y = np.asarray(y)
    if y.ndim > 2 or y.ndim == 0:
        return "unknown"
    wide = y.ndim == 2 and y.shape[1] > 1
    found = np.unique(y.astype(str) if y.dtype.kind == "O" else y)
    if wide and y.dtype.kind in "biuf" and len(found) <= 2 and (y == y.astype(int)).all():
        return "multilabel-indicator"
    suffix = "-multioutput" if wide else ""
    if y.dtype.kind == "f" and np.isfinite(y).all() and (y != y.astype(int)).any():
        return f"continuous{suffix}"
    return f"multiclass{suffix}" if wide or len(found) > 2 else "binary"


def classes_of(y: Any, n: int) -> Array:
    """The class of each row as a number 0, 1, ..., in the order of the labels."""
    if y is not None and (kind := target_kind(y)) not in STRATA:
        raise BadInput(f"Supported target types are: {STRATA}. Got {kind!r} instead: classes are spread evenly, numbers cannot be")
    return codes_of(y, n, "y")


def appearance_codes(codes: Array) -> Array:
    """The same with classes numbered in the order in which they first occur."""
    first = np.unique(codes, return_index=True)[1]
    return np.argsort(np.argsort(first))[codes]


def check_strata(codes: Array, n_splits: int) -> None:
    """The largest class must reach every fold; smaller ones need not, and are told of."""
    counts = np.bincount(codes)
    if counts.max() < n_splits:
        raise BadInput(f"n_splits={n_splits} cannot be greater than the number of members in each class")
    if counts.min() < n_splits:
        warnings.warn(
            f"The least populated class in y has only {counts.min()} members, which is less than n_splits={n_splits}",
            DataWarning,
            stacklevel=2,
        )


def apportioned(counts: Array, size: int, rng: np.random.RandomState) -> Array:
    """How many of `size` rows are of each class, in proportion to `counts`: rounded down, and what is left goes to the largest
    remainders, drawn among equal ones (the mode of the multivariate hypergeometric distribution).
    """
    exact = counts / counts.sum() * size
    share = np.floor(exact)
    left, remainder = int(size - share.sum()), exact - share
    for value in np.unique(remainder)[::-1] if left > 0 else ():
        tied = np.flatnonzero(remainder == value)
        number = min(len(tied), left)
        share[rng.choice(tied, size=number, replace=False)] += 1
        left -= number
        if left == 0:
            break
    return np.asarray(share, dtype=np.int64)


def stratified_draw(codes: Array, n_train: int, n_test: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Training and test rows drawn at random with every class in proportion, in random order."""
    counts = np.bincount(codes)
    of_train = apportioned(counts, n_train, rng)
    of_test = apportioned(counts - of_train, n_test, rng)
    train, test = [], []
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    for rows, first, second in zip(members, of_train, of_test, strict=True):
        drawn = rows[rng.permutation(len(rows))]
        train.append(drawn[:first])
        test.append(drawn[first : first + second])
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))


def check_drawn_classes(codes: Array, labels: Array, n_train: int, n_test: int) -> None:
    """Every class must have a row on either side."""
    counts = np.bincount(codes)
    if counts.min() < 2:
        rare = labels[counts < 2].tolist()
        raise BadInput(
            "The least populated classes in y have only 1 member, which is too few. The minimum number of groups for any class "
            f"cannot be less than 2. Classes with too few members are: {rare}"
        )
    for name, size in (("train_size", n_train), ("test_size", n_test)):
        if size < len(counts):
            raise BadInput(f"The {name} = {size} should be greater or equal to the number of classes = {len(counts)}")
