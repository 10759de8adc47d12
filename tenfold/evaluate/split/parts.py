"""Parts of given sizes, for holding out: `train_test_split`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.evaluate.split.folds import check_same_lengths, codes_of, duplicate_groups, n_rows, two_sizes
from tenfold.evaluate.split.random_splitters import ShuffleSplit, StratifiedShuffleSplit


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
    second, ... With the same whole-number or RandomState `random_state`, rows are those of scikit-learn's function,
    unless parts or groups are given.

    >>> from tenfold.evaluate import train_test_split
    >>> [len(part) for part in train_test_split(list(range(10)), parts=(0.5, 0.3, 0.2), random_state=0)]
    [5, 3, 2]
    """
    if not arrays:
        raise BadInput("At least one array required as input")
    check_same_lengths(*arrays)
    n = n_rows(arrays[0])
    if parts is None and groups is None:
        where = list(_two_parts(n, test_size, train_size, random_state, shuffle, stratify))
    else:
        where = _any_parts(arrays[0], n, test_size, train_size, parts, random_state, shuffle, stratify, groups)
    return [_take(a, rows) for a in arrays for rows in where]


def _two_parts(n: int, test_size: Any, train_size: Any, random_state: Any, shuffle: bool, stratify: Any) -> tuple[Array, Array]:
    """Training and test rows: with the same seed, those of scikit-learn."""
    train, test = two_sizes(n, test_size, train_size, 0.25)
    if not shuffle:
        if stratify is not None:
            raise BadParameter("Stratified train/test split is not implemented for shuffle=False: set shuffle=True")
        return np.arange(train), np.arange(train, train + test)
    kind = ShuffleSplit if stratify is None else StratifiedShuffleSplit
    return next(kind(1, test_size=test, train_size=train, random_state=random_state).split(range(n), stratify))


def _any_parts(
    first: Any, n: int, test_size: Any, train_size: Any, parts: Any, random_state: Any, shuffle: bool, stratify: Any, groups: Any
) -> list[Array]:
    """The rows of any number of parts; rows of one group stay together."""
    if parts is not None and (test_size is not None or train_size is not None):
        raise BadParameter("parts= holds all sizes: leave out test_size and train_size")
    sizes = np.array(two_sizes(n, test_size, train_size, 0.25)) if parts is None else sizes_of(parts, n)
    spare = n - int(sizes.sum())  # rows of no part, where both sizes are given and do not sum to n
    all_sizes = np.append(sizes, spare) if spare else sizes
    if not shuffle:
        if stratify is not None or groups is not None:
            raise BadParameter("shuffle=False keeps the order of the rows: stratify and groups need shuffle=True")
        return [np.arange(stop - size, stop) for size, stop in zip(sizes, np.cumsum(sizes), strict=True)]
    if isinstance(groups, str) and groups == "duplicates":
        groups = duplicate_groups(first)
    codes = None if stratify is None else codes_of(stratify, n, "stratify")
    rng = generator(random_state)
    part = assign_parts(all_sizes, rng, codes=codes, groups=groups)
    mixed = rng.permutation(n)
    where = [mixed[part[mixed] == j] for j in range(len(sizes))]
    if any(not len(rows) for rows in where):
        raise BadInput("the groups are too few or too large for these parts: one part would have no row")
    return where


def _take(array: Any, rows: Array) -> Any:
    """These rows, in the container they came in; sparse matrices as CSR."""
    if ops.is_sparse(array):
        return array.tocsr()[rows]
    if hasattr(array, "iloc"):
        return array.iloc[rows]
    if isinstance(array, (list, tuple, range)) or not hasattr(array, "shape"):
        return [array[i] for i in rows]
    return array[rows]
