"""Rows for non-negative factorisation X ≈ W H, dense or sparse, and what is asked of them: products, divergences, steps of W.

Every step of W is a step of each row by itself; what the next H needs are sums over rows. Rows in memory are shared among threads in
pieces that do not depend on how many threads there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tenfold import _nmf
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import each, lent_threads

CHUNK = 1 << 19  # values of dense rows that are looked at together
FLOOR = 1e-12  # of the mean of X: W H counts as no less where it is divided by
SMALL_WORK = 1 << 22  # products, below which threads cost more than they save


@dataclass(frozen=True, slots=True)
class Penalty:
    """l1 Σ a + ½ l2 Σ a² of the entries of W or of H."""

    l1: float = 0.0
    l2: float = 0.0

    def of(self, A: Array, w: Array | None = None) -> float:
        """Of a matrix, whose rows may have weights."""
        if not self.l1 and not self.l2:
            return 0.0
        rows = (self.l1 * A + 0.5 * self.l2 * A * A).sum(axis=1)
        return float(rows.sum() if w is None else w @ rows)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with weights: an array, or CSR with its parts as the kernels want them."""

    X: Any
    w: Array
    begin: Array | None = None
    columns: Array | None = None
    values: Array | None = None

    @classmethod
    def of(cls, X: Any, w: Array | None = None) -> Self:
        w = np.ones(X.shape[0]) if w is None else np.ascontiguousarray(w, dtype=np.float64)
        if not ops.is_sparse(X):
            return cls(X, w)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        parts = (np.ascontiguousarray(part, dtype) for part, dtype in ((X.indptr, np.int64), (X.indices, np.int32), (X.data, np.float64)))
        return cls(X, w, *parts)

    @property
    def sparse(self) -> bool:
        return self.begin is not None

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def p(self) -> int:
        return int(self.X.shape[1])

    @property
    def weight(self) -> float:
        return float(self.w.sum())

    def take(self, rows: Any) -> Table:
        """Some of the rows."""
        return Table.of(self.X[rows], self.w[rows])

    def mean(self) -> float:
        """Of all values."""
        return float(self.w @ self.row_sums()) / (self.weight * self.p)

    def row_sums(self) -> Array:
        return np.asarray(self.X.sum(axis=1, dtype=np.float64)).ravel()

    def floor(self) -> float:
        return max(FLOOR * self.mean(), 1e-290)

    # --- products, chunk by chunk ---

    def chunks(self) -> list[slice]:
        size = max(1, min(1 << 14, CHUNK // self.p))
        return [slice(start, min(start + size, self.n)) for start in range(0, self.n, size)]

    def dense(self, rows: slice) -> Array:
        return np.asarray(ops.dense(self.X[rows]), dtype=np.float64)

    def times(self, M: Array) -> Array:
        """X M"""
        if self.sparse:
            return np.asarray(self.X @ M, dtype=np.float64)
        return np.concatenate(each(lambda rows: self.dense(rows) @ M, self.chunks()))

    def turned_times(self, U: Array) -> Array:
        """Xᵀ U"""
        if self.sparse:
            return np.asarray(self.X.T @ U, dtype=np.float64)
        return summed(each(lambda rows: self.dense(rows).T @ U[rows], self.chunks()))

    def _threads(self, k: int) -> int:
        """How many threads are worth it at most."""
        stored = self.n * self.p if self.values is None else len(self.values)
        return 1 if stored * k < SMALL_WORK else 1 << 30

    # --- the Kullback-Leibler divergence ---

    def kl_step(self, W: Array, H: Array, penalty: Penalty, floor: float, with_sums: bool) -> tuple[Array, Array]:
        """W after a multiplicative step, and Wᵀ diag(w) (X / W H) of the new W."""
        l1, l2 = penalty.l1, penalty.l2
        with lent_threads(self._threads(len(H))) as threads:
            if self.begin is None or self.columns is None or self.values is None:
                return _nmf.kl_step(self.X, self.w, W, H, l1, l2, floor, with_sums, threads)
            Ht = np.ascontiguousarray(H.T)
            W, G = _nmf.kl_step_sparse(self.begin, self.columns, self.values, self.w, W, Ht, l1, l2, floor, with_sums, threads)
        return W, np.ascontiguousarray(G.T)

    def kl_divergence(self, W: Array, H: Array, floor: float) -> float:
        """Σ w (x log(x / y) − x + y), y = W H"""
        with lent_threads(self._threads(len(H))) as threads:
            if self.begin is None or self.columns is None or self.values is None:
                logs = _nmf.kl_log(self.X, self.w, W, H, floor, threads)
            else:
                logs = _nmf.kl_log_sparse(self.begin, self.columns, self.values, self.w, W, np.ascontiguousarray(H.T), floor, threads)
        return float(logs + (self.w @ W) @ H.sum(axis=1) - self.w @ self.row_sums())

    # --- squares ---

    def descent(self, W: Array, H: Array, penalty: Penalty, order: Array, sweeps: int) -> tuple[Array, Array, float]:
        """W after sweeps of coordinate descent, Wᵀ diag(w) X of the new W, and Σ w |projected gradient| of the first sweep."""
        C = H @ H.T
        C.flat[:: len(C) + 1] += penalty.l2
        with lent_threads(self._threads(len(H))) as threads:
            if self.begin is None or self.columns is None or self.values is None:
                return _nmf.descent(self.X, self.w, W, H, penalty.l1, C, order, sweeps, threads)
            rows = (self.begin, self.columns, self.values)
            W, G, violation = _nmf.descent_sparse(*rows, self.w, W, np.ascontiguousarray(H.T), penalty.l1, C, order, sweeps, threads)
        return W, np.ascontiguousarray(G.T), violation

    def nonnegative(self, H: Array, penalty: Penalty) -> Array:
        """W ≥ 0 of least ½ ‖X − W H‖² and its penalty: each row to the optimum."""
        C = H @ H.T
        C.flat[:: len(C) + 1] += penalty.l2
        B = np.ascontiguousarray(self.times(np.ascontiguousarray(H.T)) - penalty.l1)
        with lent_threads(self._threads(len(H))) as threads:
            return _nmf.nonnegative_rows(C, B, threads)

    def half_squares(self, W: Array, H: Array) -> float:
        """½ Σ w ‖x − y‖²; of sparse rows from sums of products, which keep half of the digits where W H is nearly X."""
        if not self.sparse:
            return 0.5 * float(sum(each(lambda rows: self._squares(rows, W, H), self.chunks())))
        squares = float(self.w @ np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel())
        cross = float(self.w @ np.einsum("ij,ij->i", self.times(np.ascontiguousarray(H.T)), W))
        return max(0.5 * (squares + float(np.vdot((W.T * self.w) @ W, H @ H.T))) - cross, 0.0)

    def _squares(self, rows: slice, W: Array, H: Array) -> float:
        away = self.dense(rows) - W[rows] @ H
        return float(self.w[rows] @ np.einsum("ij,ij->i", away, away))

    # --- any other divergence ---

    def divergence(self, W: Array, H: Array, beta: float, floor: float) -> float:
        """The beta-divergence of X from W H; ½ Σ (x − y)² for beta = 2."""
        if beta == 2:
            return self.half_squares(W, H)
        if beta == 1:
            return self.kl_divergence(W, H, floor)
        return float(sum(each(lambda rows: self.w[rows] @ _beta_rows(self.dense(rows), W[rows] @ H, beta, floor), self.chunks())))

    def step(self, W: Array, H: Array, beta: float, penalty: Penalty, floor: float, with_sums: bool) -> tuple[Array, Array, Array]:
        """W after a multiplicative step; numerators and denominators of H for the new W, without the penalty of H."""
        if beta == 1:
            W, above = self.kl_step(W, H, penalty, floor, with_sums)
            return W, above, (self.w @ W)[:, None]
        if beta == 2:
            W = multiplied(W, self.times(np.ascontiguousarray(H.T)), W @ (H @ H.T), penalty, 1.0)
            weighted = W * self.w[:, None]
            return (W, self.turned_times(weighted).T, (W.T @ weighted) @ H) if with_sums else (W, np.empty(0), np.empty(0))
        found = each(lambda rows: self._beta_step(rows, W[rows], H, beta, penalty, floor, with_sums), self.chunks())
        W = np.concatenate([one[0] for one in found])
        return W, summed([one[1] for one in found]), summed([one[2] for one in found])

    def _beta_step(
        self, rows: slice, W: Array, H: Array, beta: float, penalty: Penalty, floor: float, with_sums: bool
    ) -> tuple[Array, Array, Array]:
        with np.errstate(over="ignore", invalid="ignore"):  # looked at in the end
            return self._powers(self.dense(rows), self.w[rows], W, H, beta, penalty, floor, with_sums)

    def _powers(
        self, X: Array, w: Array, W: Array, H: Array, beta: float, penalty: Penalty, floor: float, with_sums: bool
    ) -> tuple[Array, Array, Array]:
        Y = np.maximum(W @ H, floor)
        W = multiplied(W, (X * Y ** (beta - 2)) @ H.T, Y ** (beta - 1) @ H.T, penalty, exponent(beta))
        if beta < 1:
            W[np.finfo(float).eps > W] = 0.0  # as scikit-learn: else their negative powers overflow
        if not with_sums:
            return W, np.empty(0), np.empty(0)
        Y, weighted = np.maximum(W @ H, floor), (W * w[:, None]).T
        return W, weighted @ (X * Y ** (beta - 2)), weighted @ Y ** (beta - 1)


def exponent(beta: float) -> float:
    """Of multiplicative steps, so that no step raises the divergence (Févotte & Idier 2011)."""
    return 1.0 / (2.0 - beta) if beta < 1 else 1.0 / (beta - 1.0) if beta > 2 else 1.0


def multiplied(A: Array, above: Array, below: Array, penalty: Penalty, power: float) -> Array:
    """A (above / (below + penalty))^power; an entry whose denominator is zero has no effect, and becomes zero."""
    below = below + penalty.l1 + penalty.l2 * A if penalty.l1 or penalty.l2 else np.broadcast_to(below, A.shape)
    ratio = np.divide(above, below, out=np.zeros(A.shape), where=below > 0)
    return np.asarray(A * (ratio if power == 1.0 else ratio**power))


def summed(parts: list[Array]) -> Array:
    """In their order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _beta_rows(X: Array, Y: Array, beta: float, floor: float) -> Array:
    """Of each row."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _beta_terms(X, np.maximum(Y, floor), beta)


def _beta_terms(X: Array, Y: Array, beta: float) -> Array:
    if beta == 0:
        ratio = X / Y
        return np.asarray((ratio - np.log(np.where(ratio > 0, ratio, 1.0)) - 1.0).sum(axis=1))
    powers = np.where(X > 0, X, 1.0) ** beta * (X > 0) if beta < 0 else X**beta
    rows = powers - beta * X * Y ** (beta - 1) + (beta - 1) * Y**beta
    return np.asarray(rows.sum(axis=1) / (beta * (beta - 1)))
