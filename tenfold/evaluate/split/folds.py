"""Folds as an array: the number of the fold of each row; and parts of given sizes, for holding out."""

from __future__ import annotations

from math import ceil, floor
from typing import Any, ClassVar

import numpy as np

from tenfold import _folds
from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array, as_floats, block_rows
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator, seed_of

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
    if groups is not None:
        return grouped(n, folds, rng, groups) if codes is None else stratified_groups(n, folds, rng, groups, codes)
    check_folds(folds, n)
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
    return int(X.shape[0] if hasattr(X, "shape") else len(X))


def check_repeats(repeats: Any) -> None:
    if not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise BadParameter(f"repeats={repeats!r}: must be a whole number of at least 1")


def check_folds(folds: Any, n: int) -> None:
    if not isinstance(folds, (int, np.integer)) or folds < 2:
        raise BadParameter(f"folds={folds!r}: must be a whole number of at least 2")
    if folds > n:
        raise BadInput(f"cannot make {folds} folds of {n} rows: ask for at most {n} folds")


def codes_of(values: Any, n: int, what: str) -> Array:
    """Labels or group names as numbers 0, 1, ..."""
    if values is None:
        raise BadInput(f"{what} is missing: these folds are made by it")
    codes = np.unique(np.asarray(values), return_inverse=True)[1].reshape(-1)
    if len(codes) != n:
        raise BadInput(f"{what} has {len(codes)} entries, but X has {n} rows")
    return codes


def _group_codes(n: int, folds: int, groups: Any) -> tuple[Array, Array]:
    """The group of each row as a number, and the sizes of the groups."""
    check_folds(folds, n)
    code = codes_of(groups, n, "groups")
    sizes = np.bincount(code)
    if len(sizes) < folds:
        raise BadInput(f"cannot make {folds} folds of {len(sizes)} groups: ask for at most {len(sizes)} folds")
    return code, sizes


def grouped(n: int, folds: int, rng: np.random.Generator | None, groups: Any) -> Array:
    """Largest group first, into the smallest fold; ties in random order, or in that of their names."""
    code, sizes = _group_codes(n, folds, groups)
    order = np.arange(len(sizes)) if rng is None else rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    load, place = [0] * folds, np.empty(len(sizes), dtype=np.int64)
    n_large = int((sizes > 1).sum())
    for group, size in zip(order[:n_large].tolist(), sizes[order[:n_large]].tolist(), strict=True):
        place[group] = fold = load.index(min(load))
        load[fold] += size
    place[order[n_large:]] = _fill(np.array(load), len(order) - n_large)
    return place[code]


def _fill(load: Array, count: int) -> Array:
    """Folds for `count` single rows, each into the smallest fold."""
    level = np.sort(load)
    room = np.cumsum(level[-1] - level)[-1]
    steps = np.arange(max(0, -(-(count - room) // len(load))) + level[-1] - level[0] + 1)
    height = (load[:, None] + steps).T.reshape(-1)  # every free place, by its height and then by fold
    return np.tile(np.arange(len(load)), len(steps))[np.argsort(height, kind="stable")[:count]]


def stratified_groups(n: int, folds: int, rng: np.random.Generator | None, groups: Any, codes: Array) -> Array:
    """Most uneven group first, into the fold that leaves the shares of the classes most even over folds."""
    code, sizes = _group_codes(n, folds, groups)
    counts = np.zeros((len(sizes), int(codes.max()) + 1))
    np.add.at(counts, (code, codes), 1.0)
    total = counts.sum(axis=0)
    order = np.arange(len(sizes)) if rng is None else rng.permutation(len(sizes))
    order = order[np.argsort(-counts[order].std(axis=1), kind="stable")]
    share, load = np.zeros((folds, len(total))), np.zeros(folds)
    place = np.empty(len(sizes), dtype=np.int64)
    for group in order:
        added = counts[group] / total
        # the variance over folds after adding to fold f:  Σ (s + a e_f)² / k − (mean + a / k)²
        square = (share * share).sum(axis=0) + 2 * share * added + added * added
        spread = square / folds - ((share.sum(axis=0) + added) / folds) ** 2
        uneven = np.sqrt(np.maximum(spread, 0.0)).mean(axis=1)
        tied = np.flatnonzero(uneven <= uneven.min() + 1e-12)
        best = tied[np.argmin(load[tied])]
        place[group] = best
        share[best] += added
        load[best] += sizes[group]
    return place[code]


def check_class_sizes(codes: Array, classes: Array) -> None:
    """A class of one row is absent from training whenever that row is held out."""
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < 2:
        rare = classes.tolist()[int(counts.argmin())]
        raise BadInput(
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


# --- parts --------------------------------------------------------------------------------------------------


def assign_parts(
    sizes: Array, rng: np.random.Generator, *, codes: Array | None = None, groups: Array | None = None
) -> Array:
    """The part of each row, part j with sizes[j] rows; with codes, every class in these proportions."""
    n, n_parts = int(sizes.sum()), len(sizes)
    if groups is not None:
        code = codes_of(groups, n, "groups")
        count = np.bincount(code)
        need, place = sizes.astype(np.float64), np.empty(len(count), dtype=np.int64)
        shuffled = rng.permutation(len(count))
        for group in shuffled[np.argsort(-count[shuffled], kind="stable")]:
            place[group] = np.argmax(need)
            need[place[group]] -= count[group]
        return place[code]
    order = rng.permutation(n)
    part = np.empty(n, dtype=np.int64)
    if codes is None:
        part[order] = np.repeat(np.arange(n_parts), sizes)
        return part
    order = order[np.argsort(codes[order], kind="stable")]
    # rows of part j fall due at (i + ½) / sizes[j]: any stretch of them has the parts in proportion
    due = np.concatenate([(np.arange(size) + 0.5) / size for size in sizes])
    part[order] = np.repeat(np.arange(n_parts), sizes)[np.argsort(due, kind="stable")]
    return part


def two_sizes(n: int, test_size: Any, train_size: Any, default: float) -> tuple[int, int]:
    """Numbers of training and test rows from shares or numbers."""
    counts = []
    for name, size, round_off in (("test_size", test_size, ceil), ("train_size", train_size, floor)):
        whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
        if size is not None and not (0 < size < n if whole else isinstance(size, float) and 0 < size < 1):
            raise BadParameter(f"{name}={size!r}: must be a share between 0 and 1, or a number of rows below {n}")
        counts.append(None if size is None else int(size) if whole else int(round_off(size * n)))
    test, train = counts
    if test is None:
        test = ceil(default * n) if train is None else n - train
    train = n - test if train is None else train
    if train < 1 or test < 1 or train + test > n:
        raise BadInput(f"{n} rows cannot be split into {train} to train and {test} to test: change the sizes")
    return train, test


def sizes_of(parts: Any, n: int) -> Array:
    """Numbers of rows from shares that sum to one: rounded, by largest remainder, to a sum of n."""
    shares = np.asarray(parts, dtype=np.float64).reshape(-1)
    if len(shares) < 2 or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise BadParameter(f"parts={parts!r}: must be at least two shares above 0 that sum to 1")
    exact = shares * n
    sizes = np.floor(exact + 1e-9).astype(np.int64)
    sizes[np.argsort(sizes - exact, kind="stable")[: n - sizes.sum()]] += 1
    if not sizes.all():
        raise BadInput(f"{n} rows are too few for parts of {list(parts)}: one of them would have no row")
    return sizes


def train_test_split(
    *arrays: Any,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    parts: Any = None,
    random_state: Any = None,
    shuffle: bool = True,
    stratify: Any = None,
    groups: Any = None,
) -> list[Any]:
    """Split arrays, frames, sparse matrices or lists into training and test rows, or into any number of
    parts.

    parts: shares such as (0.6, 0.2, 0.2), instead of test_size and train_size. stratify: labels that every
    part has in proportion. groups: rows of one group are never split ("duplicates": equal rows of the first
    array); sizes are then only near what was asked for. Returns the parts of the first array, then of the
    second, ...

    >>> from tenfold.evaluate import train_test_split
    >>> [len(part) for part in train_test_split(list(range(10)), parts=(0.5, 0.3, 0.2), random_state=0)]
    [5, 3, 2]
    """
    if not arrays:
        raise BadInput("train_test_split: give at least one array")
    lengths = [n_rows(a) for a in arrays]
    if len(set(lengths)) > 1:
        raise BadInput(f"Found input variables with inconsistent numbers of samples: {lengths}")
    n = lengths[0]
    if parts is not None and (test_size is not None or train_size is not None):
        raise BadParameter("parts= holds all sizes: leave out test_size and train_size")
    sizes = np.array(two_sizes(n, test_size, train_size, 0.25)) if parts is None else sizes_of(parts, n)
    spare = n - int(sizes.sum())  # rows of no part, where both sizes are given and do not sum to n
    all_sizes = np.append(sizes, spare) if spare else sizes
    if not shuffle:
        if stratify is not None or groups is not None:
            raise BadParameter("shuffle=False keeps the order of the rows: stratify and groups need shuffle=True")
        where = [np.arange(stop - size, stop) for size, stop in zip(sizes, np.cumsum(sizes), strict=True)]
        return [_take(a, rows) for a in arrays for rows in where]
    if isinstance(groups, str) and groups == "duplicates":
        groups = duplicate_groups(arrays[0])
    codes = None if stratify is None else codes_of(stratify, n, "stratify")
    rng = generator(random_state)
    part = assign_parts(all_sizes, rng, codes=codes, groups=groups)
    mixed = rng.permutation(n)
    where = [mixed[part[mixed] == j] for j in range(len(sizes))]
    if any(not len(rows) for rows in where):
        raise BadInput("the groups are too few or too large for these parts: one part would have no row")
    return [_take(a, rows) for a in arrays for rows in where]


def _take(array: Any, rows: Array) -> Any:
    """These rows, in the container they came in."""
    if hasattr(array, "iloc"):
        return array.iloc[rows]
    if isinstance(array, (list, tuple)):
        return [array[i] for i in rows]
    return array[rows]
