"""Folds: which rows are held out together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.errors import BadInput, BadParameter

Array = np.ndarray[Any, Any]


def assign_folds(
    n: int, folds: int, rng: np.random.Generator, *, codes: Array | None = None, groups: Array | None = None
) -> Array:
    """The fold of each row, 0 to folds − 1, of sizes that differ by at most one row.

    With class `codes` every class is spread evenly over the folds (stratified). With `groups` all rows of a group are in one
    fold, and folds are as even as groups allow.
    """
    if not isinstance(folds, (int, np.integer)) or folds < 2:
        raise BadParameter(f"folds={folds!r}: must be a whole number of at least 2")
    if groups is not None:
        return _grouped(n, folds, rng, groups)
    if folds > n:
        raise BadInput(f"cannot make {folds} folds of {n} rows: ask for at most {n} folds")
    order = rng.permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]  # class by class, shuffled within
    fold = np.empty(n, dtype=np.int64)
    fold[order] = np.arange(n) % folds
    return fold


def _grouped(n: int, folds: int, rng: np.random.Generator, groups: Array) -> Array:
    """Largest group first, into the smallest fold; ties in random order."""
    values, code = np.unique(np.asarray(groups), return_inverse=True)
    if len(code) != n:
        raise BadInput(f"groups has {len(code)} entries, but X has {n} rows")
    if len(values) < folds:
        raise BadInput(f"cannot make {folds} folds of {len(values)} groups: ask for at most {len(values)} folds")
    sizes = np.bincount(code)
    shuffled = rng.permutation(len(values))
    load, place = np.zeros(folds), np.empty(len(values), dtype=np.int64)
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        place[group] = np.argmin(load)
        load[place[group]] += sizes[group]
    return place[code.reshape(-1)]


def check_class_sizes(codes: Array, classes: Array) -> None:
    """A class of one row is absent from training whenever that row is held out."""
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < 2:
        rare = classes[int(counts.argmin())]
        raise BadInput(
            f"class {rare!r} has {counts.min()} row(s): cross-validation needs at least 2 rows of each class; "
            "drop the class or join it with another"
        )
