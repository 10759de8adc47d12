"""Logistic regression for many penalties on the training sets of folds, all of them side by side.

Each training set goes from the strongest penalty to the weakest, and each fit begins where the one before ended. They do so in
lockstep: one reading of a block serves them all. A row that a training set does not hold has weight 0 there, so that no rows
are copied.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.core.data import Array, Arrays, Block, Target
from tenfold.core.engine import Local, current_engine
from tenfold.core.learning import Learner, drive, lockstep
from tenfold.core.stats import Rows
from tenfold.evaluate.split.plan import SplitPlan
from tenfold.linear.class_scores import linear_scores
from tenfold.linear.far import shifted
from tenfold.linear.logistic import minimised, problem_of
from tenfold.linear.logistic_terms import Setting
from tenfold.solve.newton import Loss, Metric

FINE = 1e-13  # of solutions that only judge a penalty: what a last step would gain, as a share of Σ s
NEAR = 6  # steps to a solution up to which the curvature there serves for the next penalty too
MOST_TOGETHER = 64  # paths that go side by side
LARGEST_OUTPUTS = 1 << 25  # bytes of outputs of several models for the same rows that are made at a time


class Grid(NamedTuple):
    """What is tried on every training set, and how."""

    Cs: Array
    ratios: Array
    setting: Setting
    shape: tuple[int, int]  # of θ
    tol: float
    max_iter: int


class Paths(NamedTuple):
    """θ (splits, ratios, Cs, M, p + 1) in the units of the table; steps and whether they were enough (splits, ratios, Cs)."""

    theta: Array
    steps: Array
    converged: Array


def paths_of(rows: Arrays, rounds: list[SplitPlan], grid: Grid, name: str) -> Paths:
    """All solutions on all training sets."""
    splits = [(one, k) for one in rounds for k in range(len(one))]
    tasks = [(s, r) for s in range(len(splits)) for r in range(len(grid.ratios))]
    shape = (len(splits), len(grid.ratios), len(grid.Cs))
    found = Paths(np.empty((*shape, *grid.shape)), np.empty(shape, dtype=np.int32), np.empty(shape, dtype=bool))
    for start in range(0, len(tasks), MOST_TOGETHER):
        some = tasks[start : start + MOST_TOGETHER]
        first = some[0][0]
        held = np.array([_training(rows, *splits[s]) for s in range(first, some[-1][0] + 1)]).T
        learners = {task: path(grid, float(grid.ratios[task[1]])) for task in some}
        share = partial(_shared, tasks=some, first=first)
        for (s, r), solutions in drive(lockstep(learners, share), _beside(rows, held), current_engine(rows), name).items():
            for c, (theta, steps, converged) in enumerate(solutions):
                found.theta[s, r, c] = shifted(theta, grid.setting.shift, -1)
                found.steps[s, r, c], found.converged[s, r, c] = steps, converged
    return found


def path(grid: Grid, ratio: float) -> Learner[list[tuple[Array, int, bool]]]:
    """The solutions of one training set in the order of `Cs`, each begun at that of the next stronger penalty."""
    theta, found = np.zeros(grid.shape), dict[int, tuple[Array, int, bool]]()
    curvature: Array | None = None
    for c in np.argsort(grid.Cs, kind="stable").tolist():
        problem = problem_of(grid.setting, *grid.shape, float(grid.Cs[c]), ratio)
        metric = Metric(curvature, problem.l2) if isinstance(problem, Loss) and curvature is not None else None
        one = yield from minimised(problem, theta, grid.tol, grid.max_iter, metric, FINE)
        theta, curvature = one.theta, curvature if one.curvature is None else one.curvature
        curvature = curvature if one.n_pass <= NEAR else None
        found[c] = (theta, min(one.n_pass, grid.max_iter), one.converged)
    return [found[c] for c in range(len(grid.Cs))]


def _training(rows: Arrays, one: SplitPlan, k: int) -> Array:
    """Which rows a training set holds."""
    inside = np.zeros(rows.n_rows, dtype=np.int64)
    inside[one.train_rows(k)] = 1
    return inside


def _beside(rows: Arrays, held: Array) -> Arrays:
    """The same rows, whose target is the class and, for each training set, whether the row is in it."""
    n = rows.X.shape[0]
    assert rows.y is not None
    y = np.zeros((n, 1 + held.shape[1]), dtype=np.int64)
    y[:, 0] = rows.y
    y[slice(None) if rows.rows is None else rows.rows, 1:] = held
    return Arrays(rows.X, y, rows.w, Target("none"), rows.facts, rows=rows.rows, missing=rows.missing, double=rows.double)


def _shared(block: Block, tasks: list[tuple[int, int]], first: int) -> dict[tuple[int, int], Block]:
    codes = np.ascontiguousarray(block.y[:, 0])
    seen = {s: Block(block.X, codes, block.w * block.y[:, 1 + s - first]) for s in {s for s, _ in tasks}}
    return {task: seen[task[0]] for task in tasks}


def outputs_of(rows: Arrays, test: Array, theta: Array) -> list[Array]:
    """The class scores of some rows by each of several solutions (settings, M, p + 1)."""
    settings, M, q = theta.shape
    size = max(1, LARGEST_OUTPUTS // (8 * max(len(test), 1) * max(M, 2)))
    found: list[Array] = []
    for start in range(0, settings, size):
        some = theta[start : start + size].reshape(-1, q)
        stacked = Local().run(partial(_scored, theta=some), rows.select(test)).whole()
        for one in np.split(stacked, len(some) // M, axis=1):
            found.append(np.ascontiguousarray(one) if M > 1 else np.hstack([np.zeros_like(one), one]))
    return found


def _scored(block: Block, theta: Array) -> Rows:
    scores: Any = linear_scores(block.X, theta[:, :-1], theta[:, -1])
    return Rows.of(np.asarray(scores, dtype=np.float64))
