"""Kernels of the rows of a fit: tables of some of them, and sums over some of them for all, however they are come by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tenfold import _svm
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.kernels.named import named_kernel

FORMS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}
PACKED = 32  # rows that the native kernel takes side by side
SINGLE_REACH = 32.0  # half a squared distance up to which exp(−·) has six digits in single precision
WORTH_THREADS = 1 << 18  # kernels; fewer are made before another thread is awake
SPARSE_SUMS = 1 << 24  # kernels of sparse rows that are there at once


@dataclass(frozen=True)
class Form:
    """A kernel by name as a function of the products z·z′ of rows in units of their own: x·y, (γ x·y + c)^d, exp(−γ ‖x − y‖²),
    tanh(γ x·y + c)."""

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3

    def scaled(self, X: Array, center: Array | None) -> Array:
        """z of each row; of 'rbf' about a centre, so that little cancels."""
        if self.name == "linear":
            return np.ascontiguousarray(X, dtype=np.float64)
        if self.name == "rbf":
            return np.asarray((X - center) * np.sqrt(2 * self.gamma), dtype=np.float64)
        return np.asarray(X * np.sqrt(self.gamma), dtype=np.float64)

    def between(self, X: Any, Y: Any) -> Array:
        """The kernels of rows, of which some are sparse."""
        more = dict(linear={}, rbf={"gamma": self.gamma})
        known = more.get(self.name, {"gamma": self.gamma, "coef0": self.coef0} | ({"degree": self.degree} if self.name == "poly" else {}))
        return named_kernel(self.name, X, Y, **known)

    @property
    def arguments(self) -> tuple[int, float, int]:
        """As the native kernels take it."""
        return FORMS[self.name], float(self.coef0), int(self.degree)


class Kernels:
    """Abstract: the kernels of n rows with one another."""

    n: int
    rounding: float | None = None  # error of a kernel in single precision, where that is offered

    def block(self, rows: Array, single: bool = False) -> Array:
        """The kernels of some rows with one another; there may be more columns, which mean nothing."""
        raise NotImplementedError

    def sums(self, rows: Array, weights: Array, single: bool = False) -> Array:
        """Σⱼ wⱼ k(x, xⱼ) over some rows j, for all rows x."""
        raise NotImplementedError

    def part(self, rows: Array) -> Kernels:
        """Those of some rows alone."""
        raise NotImplementedError


class Packed:
    """Rows side by side by 32, as the native kernels read them, in one precision; with half their squared norms."""

    def __init__(self, Z: Array, dtype: Any) -> None:
        n, p = Z.shape
        groups = -(-n // PACKED)
        plain, halves = np.zeros((groups * PACKED, p), dtype), np.zeros(groups * PACKED, dtype)
        plain[:n] = Z
        halves[:n] = 0.5 * np.einsum("ij,ij->i", Z, Z)
        self.n, self.plain, self.halves = n, plain[:n], halves
        self.rows = np.ascontiguousarray(plain.reshape(groups, PACKED, p).transpose(0, 2, 1))

    def taken(self, rows: Array) -> tuple[Array, Array]:
        """Some rows and half their squared norms."""
        return self.plain[rows], self.halves[rows]


class ProductKernels(Kernels):
    """Kernels by name of dense rows: made again whenever they are asked for, which is quicker than to read them where columns are few."""

    def __init__(self, Z: Array, form: Form) -> None:
        self.n, self.Z, self.form = len(Z), Z, form
        reach = 0.5 * float(np.einsum("ij,ij->i", Z, Z).max(initial=0.0))
        if form.name == "rbf" and reach < SINGLE_REACH:
            self.rounding = 1e-7 * max(1.0, reach)

    @cached_property
    def _doubles(self) -> Packed:
        return Packed(self.Z, np.float64)

    @cached_property
    def _singles(self) -> Packed:
        return Packed(self.Z, np.float32)

    def block(self, rows: Array, single: bool = False) -> Array:
        own = self._singles if single else self._doubles
        if len(rows) != self.n or (rows != np.arange(self.n)).any():
            own = Packed(own.plain[rows], np.float32 if single else np.float64)
        with lent_threads(1 + len(rows) ** 2 // WORTH_THREADS) as threads:
            found = _svm.kernel_block(own.rows, own.halves, own.plain, own.halves[: own.n], *self.form.arguments, True, threads)
        return found

    def sums(self, rows: Array, weights: Array, single: bool = False) -> Array:
        if self.form.name == "linear":
            return np.asarray(self.Z @ (weights @ self.Z[rows]))
        packed = self._singles if single else self._doubles
        columns, halves = packed.taken(rows)
        with lent_threads(1 + self.n * len(rows) // WORTH_THREADS) as threads:
            found = _svm.kernel_sums(packed.rows, packed.halves, columns, halves, weights[None], *self.form.arguments, threads)
        return found[0, : self.n]

    def part(self, rows: Array) -> ProductKernels:
        return ProductKernels(self.Z[rows], self.form)


class SparseKernels(Kernels):
    """Kernels by name of sparse rows, from their products."""

    def __init__(self, X: Any, form: Form) -> None:
        self.n, self.X, self.form = X.shape[0], X, form

    def block(self, rows: Array, single: bool = False) -> Array:
        some = self.X[rows]
        return np.ascontiguousarray(self.form.between(some, some))

    def sums(self, rows: Array, weights: Array, single: bool = False) -> Array:
        if self.form.name == "linear":
            return np.asarray(self.X @ (self.X[rows].T @ weights)).ravel()
        found, step = np.zeros(self.n), max(1, SPARSE_SUMS // max(self.n, 1))
        for start in range(0, len(rows), step):
            found += weights[start : start + step] @ self.form.between(self.X[rows[start : start + step]], self.X)
        return found

    def part(self, rows: Array) -> SparseKernels:
        return SparseKernels(self.X[rows], self.form)


class TableKernels(Kernels):
    """A table of kernels that is there."""

    def __init__(self, K: Array) -> None:
        self.n, self.K = len(K), K

    def block(self, rows: Array, single: bool = False) -> Array:
        every = len(rows) == self.n and (rows == np.arange(self.n)).all()
        return np.ascontiguousarray(self.K if every else self.K[np.ix_(rows, rows)])

    def sums(self, rows: Array, weights: Array, single: bool = False) -> Array:
        if 2 * len(rows) < self.n:
            return np.asarray(weights @ self.K[rows])
        whole = np.zeros(self.n)  # a table is read as it lies, not copied
        whole[rows] = weights
        return np.asarray(whole @ self.K)

    def part(self, rows: Array) -> TableKernels:
        return TableKernels(self.block(rows))


def sums_with(X: Any, vectors: Any, weights: Array, form: Form) -> Array:
    """(rows, outputs): Σⱼ weights (outputs, vectors) k(x, vⱼ) of new rows."""
    if form.name == "linear":
        return np.asarray(X @ (weights @ vectors).T)
    if ops.is_sparse(X) or ops.is_sparse(vectors):
        return np.asarray(form.between(X, vectors) @ weights.T)
    center = vectors.mean(axis=0) if len(vectors) else np.zeros(X.shape[1])
    rows, columns = Packed(form.scaled(X, center), np.float64), Packed(form.scaled(vectors, center), np.float64)
    found = _svm.kernel_sums(
        rows.rows, rows.halves, columns.plain, columns.halves[: columns.n], np.ascontiguousarray(weights), *form.arguments, 1
    )
    return found[:, : rows.n].T
