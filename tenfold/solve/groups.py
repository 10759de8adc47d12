"""The group lasso on cross-products:  min over w of ½ wᵀG w − qᵀw + Σ over groups of l_g ‖w_g‖.

Groups that violate optimality enter a working set, whose groups are minimised exactly one after the other (a scalar equation each);
on the groups that are not zero the objective is smooth, so that Newton steps take over and reach full accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array
from tenfold.solve.coordinate import Products, Solution
from tenfold.solve.few_rows import RowProducts
from tenfold.solve.irls import spd_solve

SOLVED = 1e-13  # violation of optimality, relative to the largest correlation, that is rounding
SWEEPS, NEWTON = 5, 30  # of descent, then Newton steps, before optimality is looked at again
SETTLED = 1e-2  # change of a sweep, relative to the coefficients, at which the support may be right
TINY = 1e-12  # share of the largest group below which Newton steps leave a group to the sweeps
SHORTEST = 1e-6  # part of a Newton step that is still tried


@dataclass(frozen=True)
class Group:
    """The columns of one group, and the eigenvalues and -vectors of their cross-products."""

    columns: Array
    values: Array
    vectors: Array

    def best(self, c: Array, l1: float) -> Array:
        """The minimum over this group, where c are its correlations with what the others leave over.

        (G + l/t) w = c with t = ‖w‖ is one equation in t: 1/√φ(t) = 1, φ(t) = Σ c̃²/(e t + l)², by Newton steps from below.
        """
        size = float(np.sqrt(c @ c))
        if size <= l1:
            return np.zeros(len(c))
        if len(c) == 1:
            return c * (1 - l1 / size) / self.values[0] if self.values[0] > 0 else np.zeros(1)
        turned = self.vectors.T @ c
        squares = np.where(self.values > 0, turned * turned, 0.0)
        t = 0.0
        for _ in range(60):
            below = self.values * t + l1
            phi = float((squares / below**2).sum())
            slope = float((squares * self.values / below**3).sum())
            if phi <= 0.0 or slope <= 0.0:
                return np.zeros(len(c))
            step = (1 - phi**-0.5) * phi**1.5 / slope
            t += step
            if step <= 1e-15 * t:
                break
        found: Array = self.vectors @ np.where(self.values > 0, turned * t / (self.values * t + l1), 0.0)
        return found


class GroupDescent:
    """Solutions for falling penalties, each started from the one before."""

    def __init__(self, problem: Products | RowProducts, codes: Array) -> None:
        self.problem, self.codes = problem, codes
        self.count = int(codes.max(initial=-1)) + 1
        self.groups: dict[int, Group] = {}  # those that were in the working set
        self.w, self.rest = np.zeros(len(problem.q)), problem.q.copy()
        self.work: list[int] = []

    def group(self, g: int) -> Group:
        """A group by its number; directions without spread count as none."""
        if g not in self.groups:
            columns = np.flatnonzero(self.codes == g)
            values, vectors = self.problem.axes(columns)
            self.groups[g] = Group(columns, np.where(values > 1e-14 * values.max(initial=0.0), values, 0.0), vectors)
        return self.groups[g]

    def norms(self, v: Array) -> Array:
        """‖v_g‖ of every group."""
        return np.sqrt(np.bincount(self.codes, weights=v * v, minlength=self.count))

    def solve(self, l1: Array, most: int) -> Solution:
        """For penalties l1 (one for each group): exact, or as good as `most` sweeps make it."""
        slack = SOLVED * float(self.norms(self.problem.q).max(initial=0.0))
        sweeps = 0
        while True:
            wrong = self.violations(l1)
            new = [g for g in np.flatnonzero(wrong > slack).tolist() if g not in self.work]
            if wrong.max(initial=0.0) <= slack or sweeps >= most:
                break
            self.work += sorted(new, key=lambda g: -wrong[g])[: max(10, len(self.work))]
            sweeps += self.descend(l1, min(SWEEPS, most - sweeps))
            if not new:  # else the working set is not yet known, and an exact solution on it would be wasted
                self.newton(l1)
        return Solution(self.w.copy(), self.gap(l1), sweeps)

    def violations(self, l1: Array) -> Array:
        """How far each group is from its condition of optimality: ‖rest‖ ≤ l where it is zero, rest = l w/‖w‖ elsewhere."""
        size = self.norms(self.w)
        here = size > 0
        share = np.where(here, l1 / np.where(here, size, 1.0), 0.0)
        return np.where(
            here, self.norms(self.rest - share[self.codes] * self.w), np.maximum(self.norms(self.rest) - l1, 0.0)
        )

    def descend(self, l1: Array, most: int) -> int:
        """Sweeps over the working set until they change little."""
        for sweep in range(1, most + 1):
            moved, largest = 0.0, 0.0
            for g in self.work:
                group = self.group(g)
                columns = group.columns
                old = self.w[columns]
                new = group.best(self.rest[columns] + self.problem.inner(columns, old), float(l1[g]))
                change = new - old
                if change.any():
                    self.w[columns] = new
                    self.rest -= self.problem.times(columns, change)
                    moved = max(moved, float(change @ change))
                largest = max(largest, float(new @ new))
            if moved <= SETTLED**2 * largest:
                return sweep
        return most

    def newton(self, l1: Array) -> None:
        """Newton steps on the groups that are not zero, shortened until the objective falls; sweeps bring groups to zero."""
        inside = np.flatnonzero(self.norms(self.w)[self.codes] > 0)
        if not len(inside):
            return
        G, q, codes = self.problem.among(inside, inside), self.problem.q[inside], self.codes[inside]
        places = [np.flatnonzero(codes == g) for g in np.unique(codes)]

        def at(w: Array) -> tuple[float, Array]:
            size = np.sqrt(np.bincount(codes, weights=w * w, minlength=self.count))
            return float(w @ (G @ w) / 2 - q @ w + l1 @ size), size

        w = self.w[inside]
        value, size = at(w)
        for _ in range(NEWTON):
            if not (size[codes] > TINY * size.max()).all():
                break
            unit, H = w / size[codes], G.copy()
            gradient = G @ w - q + l1[codes] * unit
            for i in places:
                share = float(l1[codes[i[0]]] / size[codes[i[0]]])
                H[np.ix_(i, i)] += share * (np.eye(len(i)) - np.outer(unit[i], unit[i]))
            step = spd_solve(H, gradient)
            slope, part = float(step @ gradient), 1.0
            new, there = at(w - step)
            while new > value - 1e-4 * part * slope + 1e-14 * abs(value) and part > SHORTEST:
                part /= 4
                new, there = at(w - part * step)
            if part <= SHORTEST:
                break
            w, value, size = w - part * step, new, there
            if np.abs(step).max() <= 1e-15 * np.abs(w).max() or part < 0.1:
                break
        self.w[inside] = w
        self.rest = self.problem.rest(self.w)

    def gap(self, l1: Array) -> float:
        """The duality gap, with the residual scaled until no group exceeds its penalty."""
        yy, qw = self.problem.yy, float(self.problem.q @ self.w)
        squares = max(0.0, yy - qw - float(self.w @ self.rest))
        size = self.norms(self.rest)
        over = size > l1
        scale = float((l1[over] / size[over]).min(initial=1.0))
        primal = squares / 2 + float(l1 @ self.norms(self.w))
        return float(max(0.0, primal - scale * (yy - qw) + scale**2 * squares / 2))
