"""The problem of a support vector machine, and its solution by working sets of pairs.

    min over b of  ½ bᵀ K b + cᵀ b,   low ≤ b ≤ high,   the sum of b fixed within each group of variables

Several variables may belong to one row: those of regression, above and below the tube. With g = K b + c the solution is where no pair
of one group can gain: m = max −gᵢ over those that may rise is at most M = min −gⱼ over those that may fall. The gap m − M bounds what is
left to gain, and is the certificate: it is looked at with kernels in double precision, whatever the way there was.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tenfold import _svm
from tenfold.core.data import Array
from tenfold.kernel_machines.kernel_rows import Kernels

AT_ONCE = 2048  # variables up to which all are one working set
WORKING_SET = 1024
SHARE = 0.1  # of the gap, to which a working set is solved
PATIENCE = 50  # rounds in single precision that may pass without a smaller gap
LONG_PATIENCE = 1000  # in double precision
MOST_STEPS = 10_000_000
AT_A_TIME = 20_000  # steps between which Ctrl-C is heard


@dataclass
class Problem:
    """Linear costs, bounds and start of the variables, their groups and rows."""

    cost: Array
    low: Array
    high: Array
    start: Array
    rows: Array
    group: Array

    @classmethod
    def of(cls, cost: Array, low: Array, high: Array, rows: Array | None = None, group: Array | None = None) -> Problem:
        n = len(cost)
        rows, group = np.arange(n) if rows is None else rows, np.zeros(n, np.int64) if group is None else group
        return cls(cost, low, high, np.zeros(n), rows, group)

    def on_rows(self, b: Array, n: int) -> Array:
        """What the variables of each row add up to."""
        return np.bincount(self.rows, b, n)


@dataclass
class Solution:
    """Variables, their gradient, the gap m − M, and how it was come by."""

    b: Array
    gradient: Array
    gap: float
    steps: int
    converged: bool
    levels: list[tuple[float, float]] = field(default_factory=list)  # (m, M) of each group


def solve(problem: Problem, kernels: Kernels, tol: float, most: int) -> Solution:
    """The solution to a gap of `tol`, in at most so many steps of two variables."""
    way = _Way(problem, kernels, tol, most)
    if len(problem.cost) <= AT_ONCE:
        way.at_once()
    else:
        if kernels.rounding is not None:
            way.rounds(single=True)
            way.refresh()
        way.rounds(single=False)
    return way.end()


class _Way:
    """Where the solver is."""

    def __init__(self, problem: Problem, kernels: Kernels, tol: float, most: int) -> None:
        self.problem, self.kernels, self.tol, self.most = problem, kernels, tol, most
        self.b, self.steps = problem.start.astype(np.float64, copy=True), 0
        self.groups = int(problem.group.max(initial=0)) + 1
        self.refresh()

    def refresh(self) -> None:
        """The gradient anew, in double precision."""
        weights = self.problem.on_rows(self.b, self.kernels.n)
        rows = np.flatnonzero(weights)
        sums = self.kernels.sums(rows, weights[rows]) if len(rows) else np.zeros(self.kernels.n)
        self.gradient = sums[self.problem.rows] + self.problem.cost

    def at_once(self) -> None:
        """All variables are one working set."""
        problem = self.problem
        K = self.kernels.block(np.arange(self.kernels.n))
        if len(problem.rows) != len(K):  # several variables of a row
            K = np.ascontiguousarray(K[np.ix_(problem.rows, problem.rows)])
        every, before = np.arange(len(self.b)), np.inf
        while self.tol < (gap := self._gap()) < before and self.steps < self.most:  # a gap that does not fall is one of rounding
            before = gap
            self._inside(every, K, 0.999 * self.tol)
            self.gradient = K[:, : len(self.b)] @ self.b + problem.cost

    def rounds(self, single: bool) -> None:
        """Working sets, one after the other, until the gap is closed as far as the precision allows."""
        problem, last = self.problem, np.empty(0, np.int64)
        best, since = np.inf, 0
        while (gap := self._gap()) > self._aim(single) and self.steps < self.most:
            best, since = (gap, 0) if gap < best else (best, since + 1)
            if since > (PATIENCE if single else LONG_PATIENCE):
                return
            last = self._working_set(last)
            before = self.b[last]
            K = self.kernels.block(problem.rows[last], single)
            self._inside(last, K, max(0.5 * self.tol, SHARE * gap))
            change = self.b[last] - before
            if not change.any():
                return
            weights = np.bincount(problem.rows[last], change, self.kernels.n)
            rows = np.flatnonzero(weights)
            if len(rows):
                self.gradient += self.kernels.sums(rows, weights[rows], single)[problem.rows]

    def _aim(self, single: bool) -> float:
        if not single or self.kernels.rounding is None:
            return self.tol
        return max(0.8 * self.tol, 10 * self.kernels.rounding * float(np.sqrt(self.b @ self.b)))

    def _inside(self, some: Array, K: Array, tol: float) -> None:
        """Solve for some variables, with all others as they are."""
        problem = self.problem
        bounds = problem.low[some], problem.high[some], problem.group[some]
        slope, found, steps = self.gradient[some], self.b[some], AT_A_TIME
        while steps == AT_A_TIME:
            found, slope, steps = _svm.solve_working_set(K, slope, found, *bounds, tol, min(AT_A_TIME, self.most - self.steps))
            self.steps += steps
        self.b[some] = found

    def _open(self) -> tuple[Array, Array]:
        """−g where a variable may rise, g where it may fall, else −∞."""
        up = np.where(self.b < self.problem.high, -self.gradient, -np.inf)
        return up, np.where(self.b > self.problem.low, self.gradient, -np.inf)

    def _levels(self) -> list[tuple[float, float]]:
        up, down = self._open()
        if self.groups == 1:
            return [(float(up.max(initial=-np.inf)), -float(down.max(initial=-np.inf)))]
        parts = [self.problem.group == k for k in range(self.groups)]
        return [(float(up[part].max(initial=-np.inf)), -float(down[part].max(initial=-np.inf))) for part in parts]

    def _gap(self) -> float:
        return max(m - M for m, M in self._levels())

    def _working_set(self, last: Array) -> Array:
        """The variables that violate most, and those of the last set that are between their bounds."""
        up, down = self._open()
        low, high = self.problem.low[last], self.problem.high[last]
        kept = last[(self.b[last] > low) & (self.b[last] < high)][-(WORKING_SET // 2) :]
        up[kept] = down[kept] = -np.inf
        each = (WORKING_SET - len(kept)) // (2 * self.groups)
        found = [kept]
        for k in range(self.groups):
            for values in (up, down):
                some = values if self.groups == 1 else np.where(self.problem.group == k, values, -np.inf)
                most = _largest(some, each)
                up[most] = down[most] = -np.inf
                found.append(most)
        return np.concatenate(found)

    def end(self) -> Solution:
        levels = self._levels()
        gap = max(m - M for m, M in levels)
        return Solution(self.b, self.gradient, max(gap, 0.0), self.steps, gap <= self.tol, levels)


def _largest(values: Array, many: int) -> Array:
    """Places of the largest finite values."""
    if many >= len(values):
        return np.flatnonzero(values > -np.inf)
    found = np.argpartition(-values, many)[:many]
    return np.sort(found[values[found] > -np.inf])


def level(solution: Solution, problem: Problem, group: int = 0) -> float:
    """−g between the bounds: their mean where some variables are there, else the middle of m and M."""
    free = (solution.b > problem.low) & (solution.b < problem.high) & (problem.group == group)
    if free.any():
        return -float(solution.gradient[free].mean())
    m, M = solution.levels[group]
    return (m + M) / 2 if np.isfinite(m) and np.isfinite(M) else m if np.isfinite(m) else M
