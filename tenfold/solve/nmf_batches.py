"""Non-negative factorisation by batches of rows: numerators and denominators of H are sums over rows that fade with time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.threads import stopping
from tenfold.solve.factors import Penalty, Table, exponent
from tenfold.solve.nmf import Problem, cleared, rows_of


@dataclass(frozen=True, slots=True)
class Rule:
    """How batches are taken, and when they end."""

    beta: float
    of_W: Penalty
    of_H: Penalty  # of a row
    rows: int  # of a batch
    total: int  # rows of a pass
    forget: float  # what is left of the sums after a pass
    tol: float
    patience: int | None
    fresh: bool  # rows of W are found anew in each batch
    fresh_steps: int
    most: int  # batches

    def problem(self, weight: float) -> Problem:
        return Problem(self.beta, self.of_W, Penalty(weight * self.of_H.l1, weight * self.of_H.l2))


@dataclass(slots=True)
class Course:
    """Where the batches have come to."""

    H: Array
    above: Array  # H ≈ (above / below)^power
    below: Array
    steps: int = 0
    cost: float = np.nan  # moving mean of the objective of a row
    best: float = np.inf
    waited: int = 0
    done: bool = False
    pending: list[tuple[Any, Array]] = field(default_factory=list)  # rows that do not fill a batch yet

    @classmethod
    def begin(cls, H: Array) -> Course:
        return cls(H, H.copy(), np.ones(H.shape))


def take(course: Course, table: Table, W: Array | None, rule: Rule) -> Array:
    """One batch, and its rows of W: those given make a step, or they are found for H. The course is changed."""
    problem, H, power = rule.problem(table.weight), course.H, exponent(rule.beta)
    floor = table.floor()
    W = rows_of(table, H, problem, rule.tol, rule.fresh_steps) if W is None else W
    W, above, below = table.step(W, H, rule.beta, problem.of_W, floor, True)
    if rule.patience is not None:
        _judge(course, problem.value(table, W, H) / table.weight, len(W), rule)
    below = below + problem.of_H.l1 + problem.of_H.l2 * H
    keeps = rule.forget ** (min(rule.rows, rule.total) / rule.total)
    course.above = keeps * course.above + above * (H if power == 1.0 else H ** (1.0 / power))
    course.below = keeps * course.below + below
    ratio = np.divide(course.above, course.below, out=np.zeros(H.shape), where=course.below > 0)
    course.H = cleared(ratio if power == 1.0 else ratio**power, rule.beta)
    size = float(np.linalg.norm(course.H))
    moved = float(np.linalg.norm(course.H - H))
    course.done |= course.steps > 0 and rule.tol > 0 and moved <= rule.tol * size and bool(above.any())  # rows of zeros move nothing
    course.steps += 1
    course.done |= course.steps >= rule.most
    return W


def _judge(course: Course, cost: float, rows: int, rule: Rule) -> None:
    """Ends where the moving mean of the objective has not fallen for long; the first batch is that of the start."""
    if course.steps == 0:
        return
    share = min(rows / (rule.total + 1), 1.0)
    course.cost = cost if np.isnan(course.cost) else (1 - share) * course.cost + share * cost
    course.waited = 0 if course.cost < course.best else course.waited + 1
    course.best = min(course.best, course.cost)
    course.done |= rule.patience is not None and course.waited >= rule.patience


def batches_in_memory(course: Course, table: Table, W: Array, rule: Rule) -> Array:
    """Batches in the order of the rows, pass after pass, with W kept unless it is found anew."""
    W = W.copy()
    while True:
        for start in range(0, table.n, rule.rows):
            if stopping():
                raise KeyboardInterrupt
            rows = slice(start, min(start + rule.rows, table.n))
            W[rows] = take(course, table.take(rows), None if rule.fresh else W[rows], rule)
            if course.done:
                return W


def take_batches(course: Course, block: Block, rule: Rule) -> Course:
    """The batches that a block fills; those of a pass are the same however rows are cut into blocks."""
    if course.done:
        return course
    course = replace(course, pending=[*course.pending, (block.X, block.w)])
    if sum(len(w) for _, w in course.pending) >= rule.rows:
        X, w = joined(course.pending)
        start = 0
        while not course.done and start + rule.rows <= len(w):
            rows = slice(start, start + rule.rows)
            take(course, Table.of(X[rows], w[rows]), None, rule)
            start += rule.rows
        course.pending = [(X[start:].copy(), w[start:].copy())] if start < len(w) and not course.done else []
    return course


def take_the_rest(course: Course, rule: Rule) -> Course:
    """The last batch of a pass, which may be short."""
    if course.pending and not course.done:
        X, w = joined(course.pending)
        take(course, Table.of(X, w), None, rule)
    return replace(course, pending=[])


def joined(pending: list[tuple[Any, Array]]) -> tuple[Any, Array]:
    """Pieces of rows as one."""
    if len(pending) == 1:
        return pending[0]
    w = np.concatenate([w for _, w in pending])
    if not any(ops.is_sparse(X) for X, _ in pending):
        return np.concatenate([X for X, _ in pending]), w
    from scipy.sparse import csr_matrix, vstack

    return csr_matrix(vstack([csr_matrix(X) for X, _ in pending])), w
