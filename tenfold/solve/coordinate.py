"""The lasso and the elastic net: coordinate descent, an exact finish, and a certificate.

    min over w of  ½ ‖y − X w‖² + l1 ‖w‖₁ + ½ l2 ‖w‖²        (w ≥ 0 where asked for)

`descend` works on cross-products (G = XᵀX, q = Xᵀy, yy = yᵀy) along a list of penalties, each started from
the one before. `finish` turns an approximate solution into the exact one by an active-set method, so that
results do not depend on where descent stopped. `Wide` is for many more
columns than rows: only columns that matter get cross-products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold import _coordinate
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.solve.linalg import cholesky, cholesky_solve, eigh, nonnegative, reciprocal_condition, solve_spd

# Columns outside the support may exceed the penalty by this share of the largest correlation: rounding.
SLACK = 1e-13


@dataclass(frozen=True)
class Products:
    """A least-squares problem known by its cross-products."""

    G: Array  # (p, p)
    q: Array  # (p,)
    yy: float

    def among(self, some: Any, others: Any) -> Array:
        """G of some columns and others."""
        return self.G[np.ix_(some, others)]

    def times(self, some: Any, v: Array) -> Array:
        """G v, of a v that is zero but at some columns."""
        return np.asarray(v @ self.G[some])

    def inner(self, some: Any, v: Array) -> Array:
        """The part of G v that belongs to the same columns."""
        return np.asarray(self.G[np.ix_(some, some)] @ v)

    def axes(self, some: Any) -> tuple[Array, Array]:
        """Eigenvalues and -vectors of G of some columns."""
        return eigh(np.ascontiguousarray(self.G[np.ix_(some, some)]))

    def rest(self, w: Array) -> Array:
        """q − G w: what is left of the correlations with the target."""
        support = np.flatnonzero(w)
        left: Array = self.q - (w[support] @ self.G[support] if len(support) < len(w) else self.G @ w)
        return left


@dataclass(frozen=True)
class Solution:
    """Coefficients, how far the objective may be above its minimum, and the sweeps it took."""

    w: Array
    gap: float
    sweeps: int


def largest_correlation(q: Array, positive: bool) -> float:
    """The smallest l1 at which all coefficients are zero."""
    return float((q if positive else np.abs(q)).max(initial=0.0))


def gap_of(problem: Products, w: Array, l1: float, l2: float, positive: bool) -> float:
    """The duality gap: an upper bound of what the objective is above its minimum."""
    rest = problem.rest(w)
    return gap_from(problem.yy, float(problem.q @ w), float(w @ rest), w, rest - l2 * w, l1, l2, positive)


def gap_from(yy: float, qw: float, wr: float, w: Array, c: Array, l1: float, l2: float, positive: bool) -> float:
    """The gap from scalars and the correlations c of all columns with the residual (less l2 w)."""
    largest = largest_correlation(c, positive)
    squares = max(0.0, yy - qw - wr) + l2 * float(w @ w)
    scale = l1 / largest if largest > l1 else 1.0
    return float(max(0.0, squares / 2 + l1 * np.abs(w).sum() - scale * (yy - qw) + scale**2 * squares / 2))


def descend(
    problem: Products,
    l1: Array,
    l2: Array,
    *,
    positive: bool,
    tol: float,
    most: int,
    start: Array | None = None,
) -> list[Solution]:
    """One solution for each pair of penalties, its gap at most tol · yy where `most` sweeps suffice."""
    first = np.zeros(len(problem.q)) if start is None else start
    W, gaps, sweeps = _coordinate.gram_path(
        problem.G, problem.q, problem.yy, l1, l2, first, positive, tol * problem.yy, most
    )
    return [Solution(w, float(gap), int(n)) for w, gap, n in zip(W, gaps, sweeps, strict=True)]


def finish(problem: Products, l1: float, l2: float, found: Solution, positive: bool) -> Solution:
    """The exact solution near an approximate one; the approximate one where the support is not independent.

    On a support with known signs the solution is linear. Go there; where a coefficient would change its sign,
    stop at zero and drop it; when all is well on the support, take in the worst violating column
    (Osborne, Presnell & Turlach 2000).
    """
    G, q = problem.G, problem.q
    if not len(q):
        return Solution(found.w, 0.0, found.sweeps)
    w = found.w.copy()
    support: list[int] = np.flatnonzero(w).tolist()
    sign = np.sign(w)
    slack = SLACK * max(l1, float(np.abs(q).max(initial=0.0)))
    for _ in range(2 * len(q) + 20):
        target = _on_support(G, q - l1 * sign, l2, support)
        if target is None:
            return found
        here = w[support]
        wrong = np.flatnonzero(target * sign[support] <= 0)
        if len(wrong):
            share = here[wrong] / (here[wrong] - target[wrong])
            first = int(wrong[share.argmin()])
            w[support] = here + share.min() * (target - here)
            w[support[first]] = sign[support[first]] = 0.0
            support.pop(first)
            continue
        w[support] = target
        rest = problem.rest(w)
        excess = rest if positive else np.abs(rest)
        excess[support] = 0.0
        worst = int(excess.argmax())
        if excess[worst] <= l1 + slack:
            return Solution(w, gap_of(problem, w, l1, l2, positive), found.sweeps)
        support.append(worst)
        sign[worst] = np.sign(rest[worst])
    return found


def _on_support(G: Array, right: Array, l2: float, support: list[int]) -> Array | None:
    if not support:
        return np.empty(0)
    A = G[np.ix_(support, support)]
    A[np.diag_indices_from(A)] += l2
    scale = np.sqrt(np.diagonal(A))
    if not (scale > 0).all():
        return None
    A = A / scale[:, None] / scale
    L = cholesky(A)
    if L is None or reciprocal_condition(A, L) < 1e-13:
        return None
    solution: Array = cholesky_solve(L, right[support] / scale) / scale
    return solution


def without_l1(problem: Products, l2: float, positive: bool, name: str) -> Solution:
    """The limit l1 = 0: ridge regression, or least squares."""
    A, q = problem.G + l2 * np.eye(len(problem.q)), problem.q[:, None]
    w = (nonnegative(A, q) if positive else solve_spd(A, q, name))[:, 0]
    return Solution(w, 0.0, 1)


class Wide:
    """The same problem by its rows, for p much larger than n: columns (p, n, an array or CSR), target (n,) and row weights.

    A row of weight zero is held out. Cross-products exist only for columns that have entered the working set.
    """

    def __init__(self, columns: Any, y: Array, weight: Array, fit_intercept: bool, positive: bool) -> None:
        self.columns, self.positive = columns, positive
        self.root = np.sqrt(weight)
        total = weight.sum()
        self.mean = columns @ (weight / total) if fit_intercept else np.zeros(columns.shape[0])
        self.level = float(weight @ y / total) if fit_intercept else 0.0
        self.target = self.root * (y - self.level)
        self.yy = float(self.target @ self.target)
        self.q = columns @ (self.root * self.target)  # Σ √s target = 0, so that centring would change nothing
        self.work = np.empty(0, dtype=np.int64)
        self.rows = np.empty((0, len(y)))  # the working columns, centred and weighted
        self.G = np.empty((0, 0))
        self.w = np.empty(0)
        self.rest = self.target
        self.sweeps = 0
        self.gap = np.inf

    def enter(self, new: Array, w: Array | None = None) -> None:
        """Take columns into the working set, with coefficients zero or w."""
        rows = (ops.dense(self.columns[new]) - self.mean[new, None]) * self.root
        across, within = self.rows @ rows.T, rows @ rows.T
        self.G = np.block([[self.G, across], [across.T, within]])
        self.rows = np.concatenate([self.rows, rows])
        self.work = np.concatenate([self.work, new])
        self.w = np.concatenate([self.w, np.zeros(len(new)) if w is None else w])

    def products(self) -> Products:
        return Products(self.G, self.q[self.work], self.yy)

    def solve(self, l1: float, l2: float, tol: float, most: int) -> None:
        """Descent on the working set."""
        if len(self.work):
            pair = np.array([l1]), np.array([l2])
            wanted: dict[str, Any] = dict(positive=self.positive, tol=0.3 * tol, most=most)
            self._take(descend(self.products(), *pair, **wanted, start=self.w)[0])

    def finish(self, l1: float, l2: float) -> None:
        """The exact solution on the working set."""
        self._take(finish(self.products(), l1, l2, Solution(self.w, self.gap, 0), self.positive))

    def _take(self, found: Solution) -> None:
        self.w, self.sweeps = found.w, self.sweeps + found.sweeps
        self.rest = self.target - self.w @ self.rows

    def admit(self, c: Array, l1: float, l2: float, tol: float) -> bool:
        """Whether the solution is good to `tol`, given c = Xᵀ√s rest; if not, violating columns enter."""
        c[self.work] -= l2 * self.w
        qw = float(self.q[self.work] @ self.w)
        wr = float(self.w @ (c[self.work] + l2 * self.w))
        self.gap = gap_from(self.yy, qw, wr, self.w, c, l1, l2, self.positive)
        if self.gap <= tol * self.yy:
            return True
        excess = c if self.positive else np.abs(c)
        excess[self.work] = 0.0
        new = np.flatnonzero(excess > l1 * (1 + 1e-12))
        most = max(20, int(np.count_nonzero(self.w)))
        if len(new) > most:
            new = new[np.argpartition(-excess[new], most)[:most]]
        self.enter(np.sort(new))
        return len(new) == 0

    def coefficients(self) -> Array:
        whole = np.zeros(self.columns.shape[0])
        whole[self.work] = self.w
        return whole


def wide_path(
    problems: list[Wide], penalties: list[tuple[Array, Array]], tol: float, most: int
) -> list[list[tuple[Array, Array, float]]]:
    """Problems on the same columns, in step along their penalties, so that one product serves them all.

    Returns (columns, coefficients, gap) for each problem and penalty.
    """
    found: list[list[tuple[Array, Array, float]]] = [[] for _ in problems]
    for i in range(len(penalties[0][0])):
        pending = list(range(len(problems)))
        while pending:
            for f in pending:
                problems[f].solve(penalties[f][0][i], penalties[f][1][i], tol, most)
            residuals = np.stack([problems[f].root * problems[f].rest for f in pending])
            C = residuals @ problems[0].columns.T
            pending = [
                f
                for f, c in zip(pending, C, strict=True)
                if not problems[f].admit(c, penalties[f][0][i], penalties[f][1][i], tol)
            ]
        for one, problem in zip(found, problems, strict=True):
            support = np.flatnonzero(problem.w)
            one.append((problem.work[support], problem.w[support], problem.gap))
    return found


def wide_exact(problem: Wide, l1: float, l2: float, tol: float, most: int) -> Solution:
    """One exact solution: descent first, then the active set, until no column violates optimality."""
    wide_path([problem], [(np.array([l1]), np.array([l2]))], tol, most)
    for _ in range(50):
        problem.finish(l1, l2)
        c = problem.columns @ (problem.root * problem.rest)
        if problem.admit(c, l1, l2, 1e-14):
            break
    return Solution(problem.coefficients(), problem.gap, problem.sweeps)
