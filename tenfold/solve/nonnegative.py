"""Least squares with coefficients that are not negative:  min over w ≥ 0 of ½ wᵀG w − qᵀw.

The conditions of the minimum (Karush, Kuhn, Tucker) are w ≥ 0, pull = q − G w ≤ 0, and pull = 0 wherever w > 0. `certificate`
measures how far they are from holding. `nonnegative_exact` exchanges all columns that violate them at once, which takes a
few steps where G is well conditioned, and else goes on one column at a time, which always ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import solve_triangular

from tenfold.core.data import Array
from tenfold.solve.linalg import cholesky, cholesky_solve, reciprocal_condition

# Columns outside the support may pull by this share of the largest correlation: rounding.
SLACK = 1e-13
DEPENDENT = 1e-13  # reciprocal condition of the support beyond which its columns count as dependent
TRIES = 3  # exchanges of all violators that may fail to lower their number, before going one by one


class Problem(Protocol):
    """What the methods here need to know of G and q."""

    @property
    def size(self) -> Array:
        """(p,), lengths of the columns, 1 for a zero column."""
        ...

    @property
    def scale(self) -> float:
        """Length of the target."""
        ...

    @property
    def present(self) -> Array:
        """(p,), whether a column is not zero."""
        ...

    def on(self, support: Array) -> Array | None:
        """The unconstrained minimum on these columns; None where they are dependent."""
        ...

    def pull(self, w: Array) -> Array:
        """q − G w."""
        ...


@dataclass(frozen=True)
class Crossed:
    """A problem known by its cross-products."""

    G: Array
    q: Array
    size: Array
    scale: float

    @classmethod
    def of(cls, G: Array, q: Array, yy: float) -> Crossed:
        return cls(G, q, lengths(np.diagonal(G)), max(yy, 0.0) ** 0.5)

    @property
    def present(self) -> Array:
        return np.diagonal(self.G) > 0

    def on(self, support: Array) -> Array | None:
        size = self.size[support]
        A = self.G[np.ix_(support, support)] / size[:, None] / size
        L = cholesky(A) if len(A) and np.diagonal(A).all() else None
        if L is None or reciprocal_condition(A, L) < DEPENDENT:
            return None
        right = self.q[support] / size
        w = cholesky_solve(L, right)
        return (w + cholesky_solve(L, right - A @ w)) / size  # one step of refinement

    def pull(self, w: Array) -> Array:
        used = np.flatnonzero(w)
        found: Array = self.q - self.G[:, used] @ w[used]
        return found


@dataclass(frozen=True)
class Factored:
    """A problem known by the triangle R of [X y], or by rows fewer than columns: G = RᵀR is never formed, so that no digits are lost."""

    R: Array  # (r, p)
    y: Array  # (r,)
    size: Array
    scale: float

    @classmethod
    def of(cls, R: Array, y: Array) -> Factored:
        return cls(R, y, lengths((R * R).sum(axis=0)), float(np.linalg.norm(y)))

    @property
    def present(self) -> Array:
        return np.asarray(self.R.any(axis=0))

    def on(self, support: Array) -> Array | None:
        Q, T = np.linalg.qr(self.R[:, support] / self.size[support])
        diagonal = np.abs(np.diagonal(T))
        if len(diagonal) < len(support) or not (diagonal > DEPENDENT).all():
            return None
        found: Array = solve_triangular(T, Q.T @ self.y) / self.size[support]
        return found

    def pull(self, w: Array) -> Array:
        found: Array = self.R.T @ (self.y - self.R @ w)
        return found


def lengths(squares: Array) -> Array:
    """Lengths of columns from their squares, 1 for a zero column."""
    found = np.sqrt(np.maximum(squares, 0.0))
    return np.where(found > 0, found, 1.0)


def scaled_condition(S: Array) -> float:
    """The condition of the columns behind cross-products, each scaled to length 1."""
    size = lengths(np.diagonal(S))
    scaled = S / size[:, None] / size
    L = cholesky(scaled)
    rcond = 0.0 if L is None else reciprocal_condition(scaled, L)
    return float("inf") if rcond <= 0 else rcond**-0.5


def certificate(problem: Problem, w: Array) -> float:
    """The largest violation of the conditions of the minimum, with every column and the target of length 1."""
    pull = problem.pull(w) / problem.size
    wrong = np.where(w > 0, np.abs(pull), np.maximum(pull, 0.0))
    return float(wrong.max(initial=0.0)) / (problem.scale or 1.0)


def nonnegative_exact(problem: Problem, p: int) -> tuple[Array, int]:
    """The minimum, and the systems that were solved for it."""
    found = _all_at_once(problem, p)
    return found if found is not None else _one_by_one(problem, p)


def _all_at_once(problem: Problem, p: int) -> tuple[Array, int] | None:
    """Exchange every column with the wrong sign (block principal pivoting); None where it does not settle."""
    free = np.zeros(p, dtype=bool)
    w, pull = np.zeros(p), problem.pull(np.zeros(p))
    slack = SLACK * problem.size * problem.scale
    fewest, tries, steps = p + 1, TRIES, 0
    while True:
        wrong = np.where(free, w < 0, pull > slack)
        count = int(wrong.sum())
        if count == 0:
            return w, steps
        if count < fewest:
            fewest, tries = count, TRIES
        else:
            tries -= 1
        if tries < 0:
            return None
        free ^= wrong
        steps += 1
        w = np.zeros(p)
        if free.any():
            solved = problem.on(np.flatnonzero(free))
            if solved is None:
                return None
            w[free] = solved
        pull = problem.pull(w)


def _one_by_one(problem: Problem, p: int) -> tuple[Array, int]:
    """Take in the column that pulls most; columns that would become negative leave (Lawson & Hanson 1974)."""
    w = np.zeros(p)
    support: list[int] = []
    barred = np.zeros(p, dtype=bool)
    for steps in range(1, 10 * p + 20):
        reach = problem.pull(w) / problem.size
        reach[support] = 0.0
        reach[barred] = 0.0
        new = int(reach.argmax())
        if reach[new] <= SLACK * problem.scale:
            return w, steps
        entered = enter(problem, w, support, new)
        if entered is None:
            barred[new] = True  # a combination of columns that are in: it could change the sum no more
            continue
        support = entered
        barred[:] = False
    return w, steps


def enter(problem: Problem, w: Array, support: list[int], new: int) -> list[int] | None:
    """Add a column to the support and go to the minimum there, changing w; None where that cannot be.

    On the way to the unconstrained minimum the first coefficient that reaches zero stops the walk and leaves.
    """
    trial = [*support, new]
    at = w.copy()
    while trial:
        target = problem.on(np.array(trial))
        if target is None:
            return None
        here = at[trial]
        if trial[-1] == new and here[-1] == 0.0 and target[-1] <= 0.0:
            return None  # it pulled by rounding only
        falls = np.flatnonzero(target <= 0.0)
        if not len(falls):
            w[:] = 0.0
            w[trial] = target
            return trial
        share = here[falls] / (here[falls] - target[falls])
        first = int(falls[share.argmin()])
        at[trial] = here + share.min() * (target - here)
        at[trial[first]] = 0.0
        trial.pop(first)
    return None
