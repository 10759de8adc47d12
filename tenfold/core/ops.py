"""Operations on a block: the compiled kernel for NumPy arrays, its twin for every other array type.

Each kernel has one name in `src/kernels`, in the binding, in `core.twins` and here. The twin is its
specification, its test oracle, and what runs on arrays that live elsewhere (a GPU, say). A sparse block is
made dense first: a block is small by construction, so this never makes a large table dense.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold import _columns, _kernels
from tenfold.core import twins

Array = np.ndarray[Any, Any]

# Larger numbers are refused by the gate: up to these a square, and a weighted sum of squares, stay finite.
LARGEST = {np.dtype(np.float32): 1e18, np.dtype(np.float64): 1e100}


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array (without importing SciPy)."""
    kind = type(X)
    return kind is not np.ndarray and kind.__module__.startswith("scipy.sparse") and hasattr(X, "tocsr")  # its linear operators are not


def dense(X: Any) -> Any:
    """X as a C-contiguous array."""
    return np.ascontiguousarray(X.toarray()) if is_sparse(X) else X


def _dispatch(name: str) -> Callable[..., Any]:
    native, twin = getattr(_kernels, name), getattr(twins, name)

    def operation(X: Any, *rest: Any) -> Any:
        if type(X) is np.ndarray:
            return native(X, *rest)
        if is_sparse(X):
            return native(dense(X), *rest)
        return twin(X, *rest)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = twin.__doc__
    return operation


moments = _dispatch("moments")
moments_at = _dispatch("moments_at")
take_rows: Callable[..., Array] = _dispatch("take_rows")
merge_scatter: Callable[..., Array] = _dispatch("merge_scatter")
group_moments = _dispatch("group_moments")
group_spreads = _dispatch("group_spreads")
logistic_terms = _dispatch("logistic_terms")
logistic_curvature: Callable[..., Array] = _dispatch("logistic_curvature")
softmax_terms = _dispatch("softmax_terms")
weighted_gram: Callable[..., Array] = _dispatch("weighted_gram")
assign_sums = _dispatch("assign_sums")
nearest = _dispatch("nearest")
lloyd = _dispatch("lloyd")
hash_rows: Callable[..., Array] = _dispatch("hash_rows")
extended_gradient = _dispatch("extended_gradient")
extended_gram = _dispatch("extended_gram")
spread_scores: Callable[..., Array] = _dispatch("spread_scores")
quadratic_scores: Callable[..., Array] = _dispatch("quadratic_scores")
_dense_scores: Callable[..., Array] = _dispatch("linear_scores")
rank_pairs = _dispatch("rank_pairs")


def linear_scores(X: Any, B: Array, b: Array) -> Array:
    """X Bᵀ + b, of rows that stay sparse where they are."""
    return np.asarray(X @ B.T) + b if is_sparse(X) else _dense_scores(X, B, b)


def standardized(X: Any, shift: Array, scale: Array) -> Any:
    """(x − shift) / scale, column by column."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or not X.flags.c_contiguous or X.ndim != 2:
        return (X - shift) / scale
    Z = np.empty(X.shape)
    _columns.standardize(X, shift, scale, Z)  # the same bits, in one pass
    return Z


def all_finite(X: Any) -> bool:
    """Whether every value is finite: neither NaN nor infinite."""
    if type(X) is np.ndarray and X.dtype in LARGEST and X.ndim in (1, 2) and X.flags.c_contiguous:
        return bool(_kernels.all_finite(X))
    values = X.data if is_sparse(X) else X
    return bool(np.isfinite(values).all())


def all_usable(X: Any) -> bool:
    """Whether every value is finite, and small enough to be squared."""
    values = X.data if is_sparse(X) else X
    largest = LARGEST[values.dtype]
    total = float(np.vdot(values, values))
    if total < largest**2:  # one quick pass: no x² is above the sum of all of them
        return True
    if total != total:  # a NaN is among them, or made from two infinities
        return False
    return bool((np.abs(values) <= largest).all())
