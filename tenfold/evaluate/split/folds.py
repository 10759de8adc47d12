"""Folds as an array: the number of the fold of each row."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from typing import Any, ClassVar

import numpy as np

from tenfold import _folds
from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array, as_floats, block_rows
from tenfold.core.errors import BadInput, BadParameter, BadType
from tenfold.core.random import seed_of

NO_CODES = np.empty(0, dtype=np.int64)


def by_code(codes: Array) -> Array:
    """The stable order of small whole numbers, by counting."""
    return _folds.by_code(np.ascontiguousarray(codes, dtype=np.int64), int(codes.max(initial=0)) + 1)


def assign_folds(
    n: int,
    folds: Any,
    rng: np.random.Generator,
    *,
    codes: Array | None = None,
    groups: Array | None = None,
) -> Array:
    """The fold of each row, 0 to folds − 1, of sizes that differ by at most one row.

    With class `codes` every class is spread evenly over the folds (stratified). With `groups` all rows of a
    group are in one fold, and folds (with codes: classes over folds) are as even as groups allow.
    """
    check_folds(folds, n)
    if groups is not None:
        code, sizes = group_codes(n, groups, folds)
        order = rng.permutation(len(sizes))
        if codes is not None:
            return stratified_groups(code, order, codes, folds)
        return grouped(sizes, folds, order[np.argsort(-sizes[order], kind="stable")])[code]
    codes = NO_CODES if codes is None else np.ascontiguousarray(codes, dtype=np.int64)
    return _folds.deal(n, int(folds), codes, int(codes.max(initial=0)) + 1, seed_of(rng))


def row_hashes(X: Any, seed: int = 0) -> Array:
    """A hash of each row of a table, of its values as float32."""
    size = block_rows(X.shape[1])
    starts = range(0, max(X.shape[0], 1), size)
    return np.concatenate([ops.hash_rows(as_floats(X[i : i + size]), seed) for i in starts])


def hash_folds(X: Any, folds: int, seed: int) -> Array:
    """The fold of each row by a hash of what it holds: the same wherever the row is, and equal rows are together."""
    high = row_hashes(X, seed) >> np.uint64(32)
    return (high * np.uint64(folds) >> np.uint64(32)).astype(np.int64)


def n_rows(X: Any) -> int:
    """The number of rows of an array, frame, list or range."""
    if X is None:
        raise BadInput("The 'X' parameter should not be None: how many rows there are must be known")
    if hasattr(X, "fit") and callable(X.fit):
        raise BadType(f"Expected sequence or array-like, got estimator {X}")
    if hasattr(X, "shape") and len(X.shape):
        return int(X.shape[0])
    if not hasattr(X, "__len__") or isinstance(X, np.ndarray):
        raise BadType(f"Expected sequence or array-like, got {type(X)}")
    return len(X)


def check_same_lengths(*columns: Any) -> None:
    """What is given for the same rows must be for as many of them."""
    lengths = [n_rows(one) for one in columns if one is not None and not isinstance(one, str)]
    if len(set(lengths)) > 1:
        raise BadInput(f"Found input variables with inconsistent numbers of samples: {lengths}")


def check_repeats(repeats: Any) -> None:
    if not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise BadParameter(f"repeats={repeats!r}: must be a whole number of at least 1")


def check_folds(folds: Any, n: int) -> None:
    if not isinstance(folds, (int, np.integer)) or folds < 2:
        raise BadParameter(f"folds={folds!r}: must be a whole number of at least 2")
    if folds > n:
        raise BadInput(f"cannot make {folds} folds of {n} rows: ask for at most {n} folds")


def codes_of(values: Any, n: int | None, what: str) -> Array:
    """Labels or group names as numbers 0, 1, ..."""
    if values is None:
        raise BadInput(f"The {what!r} parameter should not be None: these splits are made by it")
    codes = np.unique(np.asarray(values), return_inverse=True)[1].reshape(-1)
    if n is not None and len(codes) != n:
        raise BadInput(f"Found input variables with inconsistent numbers of samples: {[n, len(codes)]} ({what} is the second)")
    return codes


def group_codes(n: int | None, groups: Any, folds: int | None = None, table: Any = None) -> tuple[Array, Array]:
    """The group of each row as a number, and the sizes of the groups, at least as many as folds; "duplicates" are equal rows of
    the table.
    """
    if isinstance(groups, str) and groups == "duplicates":
        groups = duplicate_groups(table)
    if groups is not None and not len(groups):
        raise BadInput("Found array with 0 sample(s): groups is empty")
    if isinstance(groups, (list, np.ndarray)) and (of := np.asarray(groups)).dtype.kind == "f" and not np.isfinite(of).all():
        raise BadInput(f"groups contains NaN or infinity (row {int(np.argmin(np.isfinite(of)))}): every row needs a group")
    code = codes_of(groups, n, "groups")
    sizes = np.bincount(code)
    if folds is not None and len(sizes) < folds:
        raise BadInput(f"Cannot have number of splits n_splits={folds} greater than the number of groups: {len(sizes)}")
    return code, sizes


def grouped(sizes: Array, folds: int, order: Array) -> Array:
    """The fold of each group: in this order, large ones first, each into the smallest fold."""
    load, place = [0] * folds, np.empty(len(sizes), dtype=np.int64)
    n_large = int((sizes > 1).sum())
    for group, size in zip(order[:n_large].tolist(), sizes[order[:n_large]].tolist(), strict=True):
        place[group] = fold = load.index(min(load))
        load[fold] += size
    place[order[n_large:]] = _fill(np.array(load), len(order) - n_large)
    return place


def _fill(load: Array, count: int) -> Array:
    """Folds for `count` single rows, each into the smallest fold."""
    level = np.sort(load)
    room = np.cumsum(level[-1] - level)[-1]
    steps = np.arange(max(0, -(-(count - room) // len(load))) + level[-1] - level[0] + 1)
    height = (load[:, None] + steps).T.reshape(-1)  # every free place, by its height and then by fold
    return np.tile(np.arange(len(load)), len(steps))[np.argsort(height, kind="stable")[:count]]


def stratified_groups(code: Array, order: Array, codes: Array, folds: int) -> Array:
    """The fold of each row: the group with the most uneven classes first, ties in the given order, into the fold that leaves the
    shares of the classes most even over folds; among folds as good, into that with the fewest rows.
    """
    counts = np.zeros((len(order), int(codes.max()) + 1))
    np.add.at(counts, (code, codes), 1.0)
    total, load = counts.sum(axis=0), np.zeros((folds, counts.shape[1]))
    place, alone = np.empty(len(order), dtype=np.int64), np.eye(folds)[:, :, None]
    for group in order[np.argsort(-counts[order].std(axis=1), kind="stable")]:
        uneven = ((load + alone * counts[group]) / total).std(axis=1).mean(axis=1)
        place[group] = best = _evenest(uneven.tolist(), load.sum(axis=1).tolist())
        load[best] += counts[group]
    return place[code]


def _evenest(uneven: list[float], load: list[float]) -> int:
    """The fold with the smallest value, in turn: one that is nearly as good and has fewer rows is better."""
    best = 0
    for k in range(1, len(load)):
        near = abs(uneven[k] - uneven[best]) <= 1e-8 + 1e-5 * abs(uneven[best])
        if uneven[k] < uneven[best] or (near and load[k] < load[best]):
            best = k
    return best


def refuse_several_labels(classes: Any) -> None:
    """Folds are stratified, and scores computed, by the classes of one target."""
    if isinstance(classes, list):
        raise BadInput(
            f"y has {len(classes)} columns of labels, and this is for one: give one column at a time, or use "
            "cross_validate(..., cv=...), which asks a model by its public verbs"
        )


class RareClass(BadInput):
    """A class of one row."""


def check_class_sizes(codes: Array, classes: Array) -> None:
    """A class of one row is absent from training whenever that row is held out."""
    refuse_several_labels(classes)
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < 2:
        rare = classes.tolist()[int(counts.argmin())]
        raise RareClass(
            f"class {rare!r} has {counts.min()} row(s): cross-validation needs at least 2 rows of each "
            "class; drop the class or join it with another"
        )


# --- equal rows ---------------------------------------------------------------------------------------------


class _AnyTable:
    """Stands for a learner at the gate: takes every table."""

    sparse: ClassVar[bool] = True


def any_table(X: Any) -> Any:
    """An array, frame or sparse matrix as a table of numbers."""
    return check.as_table(_AnyTable(), X)[0]


def duplicate_groups(X: Any) -> Array:
    """A number for each row of X, equal for rows that are equal in every column (0 is −0, and NaN is NaN).

    Hashes of the rows as float32 find candidates; their bytes decide.

    >>> from tenfold.evaluate import duplicate_groups
    >>> duplicate_groups([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]).tolist()
    [0, 1, 0]
    """
    table = any_table(X)
    found, group, count = np.unique(row_hashes(table), return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    candidates = np.flatnonzero(count[group] > 1)
    if len(candidates):
        rows = np.ascontiguousarray(ops.dense(as_floats(table[candidates]))) + 0.0  # −0 becomes 0
        rows[np.isnan(rows)] = np.nan
        same = np.unique(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))), return_inverse=True)[1]
        group[candidates] = len(found) + same.reshape(-1)
    first, group = np.unique(group, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[group.reshape(-1)]


# --- sizes ----------------------------------------------------------------------------------------------------------------------------


def two_sizes(n: int, test_size: Any, train_size: Any, default: float) -> tuple[int, int]:
    """Numbers of training and test rows from shares or numbers: a test share is rounded up, a training share down."""
    test, train = _size(n, "test_size", test_size, ceil), _size(n, "train_size", train_size, floor)
    if all(np.asarray(size).dtype.kind == "f" for size in (test_size, train_size)) and test_size + train_size > 1:
        raise BadInput(
            f"The sum of test_size and train_size = {test_size + train_size}, should be in the (0, 1) range. Reduce test_size "
            "and/or train_size."
        )
    if test is None:
        test = ceil(default * n) if train is None else n - train
    train = n - test if train is None else train
    if train + test > n:
        raise BadInput(
            f"The sum of train_size and test_size = {train + test}, should be smaller than the number of samples {n}. Reduce "
            "test_size and/or train_size."
        )
    if train < 1:
        raise BadInput(
            f"With n_samples={n}, test_size={test_size if (test_size, train_size) != (None, None) else default} and "
            f"train_size={train_size}, the resulting train set will be empty. Adjust any of the aforementioned parameters."
        )
    return train, test


def _size(n: int, name: str, size: Any, round_off: Callable[[float], int]) -> int | None:
    if size is None:
        return None
    kind = np.asarray(size).dtype.kind
    if kind not in "iuf" or np.ndim(size):
        raise BadParameter(f"Invalid value for {name}: {size!r}")
    if not 0 < size < (1 if kind == "f" else n):
        raise BadParameter(
            f"{name}={size} should be either positive and smaller than the number of samples {n} or a float in the (0, 1) range"
        )
    return int(round_off(float(size) * n) if kind == "f" else size)
