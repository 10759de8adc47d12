"""Functions of rows: by blocks on all threads (`map_rows`), and what roles say of the scores of each row."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source, Target, block_rows, sparse_rows
from tenfold.core.engine import Threads, current_engine, each
from tenfold.core.stats import Rows
from tenfold.core.threads import single_blas

FEW_ROWS = 64  # fewer rows than this never wake the threads of BLAS, and are predicted at once


def map_rows(function: Callable[[Any], Array], X: Any, *, lean: bool = False) -> Array:
    """function(X) by blocks, on all threads; X is an array or a source. A Dask collection gives a Dask array, not yet computed.

    A function that makes no sparse rows dense (`lean`) gets as many of them at once as their values fill a block with.
    """
    if isinstance(X, Source):
        source = X
        lazy: Array | None = source.lazily(function)
        if lazy is not None:
            return lazy
    elif X.shape[0] < FEW_ROWS:
        return function(X)
    elif X.shape[0] <= (sparse_rows(X, lean) if ops.is_sparse(X) else block_rows(X.shape[1])):
        with single_blas:
            return function(X)
    else:
        source = Arrays(X, None, None, Target("none"), {}, trusted=True, lean=lean)
    with single_blas:
        if isinstance(source, Arrays):
            return _in_place(function, source)
        whole: Array = current_engine(source).run(lambda block: Rows.of(function(block.X)), source).whole()
    return whole


def _in_place(function: Callable[[Any], Array], source: Arrays) -> Array:
    """function(X) of every block of a table in memory. Rows of numbers are written where they belong in one array: appending them in
    the end would cost as much again, and twice the memory."""
    whole: Array | None = None
    begun = threading.Lock()

    def place(part: int) -> Any:
        nonlocal whole
        rows, (_, start, stop) = function(source.load(part).X), source.cuts[part]
        if type(rows) is not np.ndarray or rows.dtype.kind != "f":
            return rows
        with begun:
            whole = np.empty((source.n_rows, *rows.shape[1:]), rows.dtype) if whole is None else whole
        if rows.dtype != whole.dtype or rows.shape != (stop - start, *whole.shape[1:]):
            return rows
        whole[start:stop] = rows
        return None

    left = each(place, list(source.parts()), on=Threads())
    if whole is not None:
        if all(rows is None for rows in left):
            return whole
        left = [whole[start:stop] if rows is None else rows for rows, (_, start, stop) in zip(left, source.cuts, strict=True)]
    found: Array = Rows(left).whole()
    return found


def first_largest(scores: Array) -> Array:
    """The number of the largest score of each row, the first of equal ones."""
    return (scores[:, 1] > scores[:, 0]).view(np.int8) if scores.shape[1] == 2 else scores.argmax(axis=1)


def softmax(scores: Array, dtype: Any = np.float64) -> Array:
    """exp(s) / Σ exp(s) by rows; only differences of scores are rounded to `dtype`."""
    p = np.exp((scores - scores.max(axis=1, keepdims=True)).astype(dtype, copy=False))
    p /= p.sum(axis=1, keepdims=True)
    return np.asarray(p)


def log_softmax(scores: Array, dtype: Any = np.float64) -> Array:
    """s − log Σ exp(s) by rows."""
    shifted = (scores - scores.max(axis=1, keepdims=True)).astype(dtype, copy=False)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
