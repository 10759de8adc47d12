"""Rows of unit length, and columns as zeros and ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold import _columns
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.scaler import Stateless


@estimator
class Normalizer(Stateless):
    """Normalizer: each row divided by its length.

    Model       z = x / ‖x‖, with ‖x‖ = Σ |xⱼ| (l1), √Σ xⱼ² (l2) or max |xⱼ| (max)
    Objective   rows that are compared by their direction alone
    Algorithm   closed form, row by row: nothing is learned
    Cost        O(n p); one pass over X when fitted, to check it
    Fails when  a row is zero: it stays zero
    Reference   Salton, Wong & Yang 1975

    Example
    -------
    >>> import tenfold
    >>> rows = [[3.0, 4.0], [0.0, 0.0]]
    >>> tenfold.Normalizer().fit_transform(rows).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """

    stats_: Any = learned("Counts(1)", "weight of the rows", optional=True)

    double = True

    norm: str = param(default="l2", one_of=("l1", "l2", "max"), doc="how the length of a row is measured")
    _: KW_ONLY
    copy: bool = param(default=True, doc="False lets transform write over X")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"norm": "l1"}, {"norm": "max"}]

    def _in_format(self, rows: Any, X: Any) -> Any:
        return rows  # CSR, whatever X is

    def _transform(self, X: Any) -> Any:
        if not ops.is_sparse(X):
            Z = np.empty(X.shape, dtype=X.dtype)
            self._write(X, Z)
            return Z
        norms = row_norms(X, self.norm)
        norms[norms == 0.0] = 1.0
        Z = X.copy()
        Z.data = (X.data / np.repeat(norms, np.diff(X.indptr))).astype(X.dtype)
        return Z


    def _write(self, X: Array, out: Array) -> None:
        _columns.unit_rows(np.ascontiguousarray(X), self.norm, out)


def row_norms(X: Any, norm: str) -> Array:
    """The length of each row, in float64."""
    if not ops.is_sparse(X):
        if norm == "l2":
            return np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64)))
        sizes = np.abs(X)
        return np.asarray(sizes.sum(axis=1, dtype=np.float64) if norm == "l1" else sizes.max(axis=1).astype(np.float64))
    sizes, out = np.abs(X.data).astype(np.float64), np.zeros(X.shape[0])
    filled = np.diff(X.indptr) > 0
    start = X.indptr[:-1][filled]
    if len(start):
        if norm == "max":
            out[filled] = np.maximum.reduceat(sizes, start)
        else:
            out[filled] = np.add.reduceat(sizes if norm == "l1" else sizes**2, start)
    return np.sqrt(out) if norm == "l2" else out


@estimator
class Binarizer(Stateless):
    """Binarizer: 1 where a value is above a threshold, 0 elsewhere.

    Model       z = 1 if x > threshold, else 0
    Objective   none: nothing is learned
    Algorithm   closed form
    Cost        O(n p); one pass over X when fitted, to check it
    Fails when  X is sparse and the threshold below 0: zeros that are not stored would become ones (refused)
    Reference   Han, Kamber & Pei 2011, section 3.5

    Example
    -------
    >>> import tenfold
    >>> rows = [[0.5, 1.0, 3.0]]
    >>> tenfold.Binarizer(threshold=1.0).fit_transform(rows).tolist()
    [[0.0, 0.0, 1.0]]
    """

    stats_: Any = learned("Counts(1)", "weight of the rows", optional=True)

    double = True

    _: KW_ONLY
    threshold: float = param(default=0.0, doc="values above it become 1")
    copy: bool = param(default=True, doc="False lets transform write over X")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"threshold": 5.0}]

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """The rows as zeros and ones; whole numbers stay whole."""
        rows = super().transform(X, copy)
        whole = getattr(getattr(X, "dtype", None), "kind", "") in ("i", "u")
        if not whole or not (ops.is_sparse(X) or type(X) is np.ndarray) or type(rows) is not type(X):
            return rows
        rows = rows.astype(X.dtype)
        if self._copies() if copy is None else copy:
            return rows
        if ops.is_sparse(X):
            X.data, X.indices, X.indptr = rows.data, rows.indices, rows.indptr
        else:
            X[...] = rows
        return X

    def _transform(self, X: Any) -> Any:
        if not ops.is_sparse(X):
            Z = np.empty(X.shape, dtype=X.dtype)
            self._write(X, Z)
            return Z
        if self.threshold < 0:
            raise BadInput(
                f"Cannot binarize a sparse matrix with threshold < 0 (threshold={self.threshold:g}): zeros that are not stored would "
                "become ones; use X.toarray()"
            )
        Z = X.copy()
        Z.data = (X.data > self.threshold).astype(X.dtype)
        Z.eliminate_zeros()
        return Z

    def _write(self, X: Array, out: Array) -> None:
        np.greater(X, self.threshold, out=out, casting="unsafe")
