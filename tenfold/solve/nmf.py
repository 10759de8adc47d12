"""Non-negative factorisation X ≈ W H: alternating steps of W and H until they settle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold import _nmf
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.core.threads import stopping
from tenfold.solve.factors import FLOOR, SMALL_WORK, Penalty, Table, exponent, multiplied
from tenfold.solve.nmf_start import level

EPS = float(np.finfo(float).eps)
SWEEPS = 2  # of coordinate descent to a product with X: a second one costs little, and saves nearly half of the steps
LOOK = 10  # multiplicative steps between looks at the divergence


@dataclass(slots=True)
class Factors:
    """Where a factorisation has come to."""

    W: Array
    H: Array
    n_iter: int
    settled: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """The objective: the beta-divergence and the penalties."""

    beta: float
    of_W: Penalty
    of_H: Penalty

    def value(self, table: Table, W: Array, H: Array) -> float:
        """What no step raises."""
        return table.divergence(W, H, self.beta, table.floor()) + self.of_W.of(W, table.w) + self.of_H.of(H)

    def error(self, table: Table, W: Array, H: Array) -> float:
        """√(2 divergence): the Frobenius norm of X − W H for beta = 2."""
        return float(np.sqrt(2.0 * max(table.divergence(W, H, self.beta, table.floor()), 0.0)))


def descend(
    table: Table, problem: Problem, W: Array, H: Array, tol: float, max_iter: int, rng: Any = None, sweeps: int = SWEEPS
) -> Factors:
    """Coordinate descent (hierarchical alternating least squares) until Σ |projected gradient| has fallen to tol of the first.

    One pass over X a step: rows of W are swept as soon as x Hᵀ is known, and Wᵀ X summed. `rng` draws the order of the components.
    """
    k, first, n_iter = len(H), 0.0, 0
    sums = table.turned_times(table.w[:, None])[:, 0]
    for n_iter in range(1, max_iter + 1):
        if stopping():
            raise KeyboardInterrupt
        W, above, violation = table.descent(W, H, problem.of_W, _order(k, rng), sweeps)
        C = (W.T * table.w) @ W
        C.flat[:: k + 1] += problem.of_H.l2
        with lent_threads(1 if H.size * k * sweeps < SMALL_WORK else 1 << 30) as threads:
            H, more = _nmf.columns_descent(H, above - problem.of_H.l1, C, _order(k, rng), sweeps, threads)
        violation += more
        first = violation if n_iter == 1 else first
        rounding = EPS * k * (float(above.sum()) + float(sums @ H.sum(axis=0)))  # of the slopes, which are differences of such sums
        if violation <= max(tol * first if n_iter > 1 else 0.0, rounding if tol > 0 else 0.0):
            return Factors(W, H, n_iter, True)
    return Factors(W, H, n_iter, False)


def _order(k: int, rng: Any) -> Array:
    return np.arange(k) if rng is None else np.asarray(rng.permutation(k), dtype=np.int64)


def multiply(table: Table, problem: Problem, W: Array, H: Array, tol: float, max_iter: int) -> Factors:
    """Multiplicative steps until ten of them lower √(2 divergence) by at most tol of the first."""
    floor, beta = table.floor(), problem.beta
    first = before = problem.error(table, W, H) if tol > 0 else 0.0
    n_iter = 0
    for n_iter in range(1, max_iter + 1):
        if stopping():
            raise KeyboardInterrupt
        W, above, below = table.step(W, H, beta, problem.of_W, floor, True)
        H = cleared(multiplied(H, above, below, problem.of_H, exponent(beta)), beta)
        if tol > 0 and n_iter % LOOK == 0:
            now = problem.error(table, W, H)
            if before - now <= tol * first:
                return Factors(W, H, n_iter, True)
            before = now
    return Factors(W, H, n_iter, False)


def cleared(H: Array, beta: float) -> Array:
    """Entries on their way to zero become zero, where divergences would still look at them."""
    if beta <= 1:
        H[EPS * H.max(initial=0.0) > H] = 0.0
    return H


def rows_of(table: Table, H: Array, problem: Problem, tol: float, max_iter: int) -> Array:
    """W for given H. Squares: the optimum; else multiplicative steps, each row until its mass moves by at most tol of itself in a step."""
    if problem.beta == 2:
        return table.nonnegative(H, problem.of_W)
    sums, heights = table.row_sums(), H.sum(axis=1)
    W = level(table, H)
    left = np.flatnonzero(sums > 0)
    now, V, going = table.take(left), W[left], np.ones(len(left), dtype=bool)
    floor = FLOOR * float(sums[left].min(initial=1.0)) / table.p
    for _ in range(max_iter):
        if stopping():
            raise KeyboardInterrupt
        if going.sum() < 0.7 * len(left):  # the rest by themselves
            W[left] = V
            left, V = left[going], V[going]
            now, going = table.take(left), np.ones(len(left), dtype=bool)
        if not len(left):
            break
        after = np.where(going[:, None], now.step(V, H, problem.beta, problem.of_W, floor, False)[0], V)
        going &= np.abs(after - V) @ heights > tol * sums[left]
        V = after
    W[left] = V
    return W
