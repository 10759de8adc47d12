"""k-means by mini-batches: each moves the centres that its rows are nearest to, to the mean of all rows that ever came to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block


@dataclass(frozen=True)
class Rule:
    """How batches are cut, and when there have been enough."""

    size: int  # rows of a batch
    window: int  # rows that are put into another order at a time
    most: int  # batches
    tol: float  # of the squared shift of the centres by one batch
    patience: int | None  # batches without a better inertia
    share: float  # of the largest weight: centres of less are moved to rows of the batch
    alpha: float  # of a batch in the moving mean of inertias
    first: int  # batches of the first pass: nothing ends and no centre is given up before, as rows may come cluster by cluster
    seed: int


@dataclass(slots=True)
class Course:
    """Centres on their way, and the rows that wait for the next batch."""

    centers: Array
    weight: Array  # of the rows that came to each centre so far
    steps: int = 0
    since: int = 0  # rows since centres were last moved to rows
    mean: float = np.nan  # moving mean of the inertia of a row
    least: float = np.inf
    in_vain: int = 0
    done: bool = False
    waiting: list[tuple[Array, Array]] = field(default_factory=list)


def take_batches(course: Course, block: Block, rule: Rule, seed: int) -> Course:
    """The steps of a block: rows are kept until a window is full, whose order is drawn by their content, so that it does not depend on
    the blocks; then they are learned batch by batch."""
    if course.done:
        return course
    some = block.w > 0
    X, w = (ops.dense(block.X), block.w) if some.all() else (ops.dense(block.X)[some], block.w[some])
    course = replace(course, waiting=[*course.waiting, (X, w)])
    while not course.done and sum(len(w) for _, w in course.waiting) >= rule.window:
        X, w = _joined(course)
        course.waiting = [(X[rule.window :].copy(), w[rule.window :].copy())]
        _take(course, X[: rule.window], w[: rule.window], rule, seed)
    return course


def take_the_rest(course: Course, rule: Rule, seed: int) -> Course:
    """The steps of the last window of a pass; rows that do not fill a batch wait for the next pass."""
    if course.done or not course.waiting:
        return course
    course = replace(course)
    X, w = _joined(course)
    course.waiting = []
    _take(course, X, w, rule, seed)
    return course


def _joined(course: Course) -> tuple[Array, Array]:
    return np.concatenate([X for X, _ in course.waiting]), np.concatenate([w for _, w in course.waiting])


def _take(course: Course, X: Array, w: Array, rule: Rule, seed: int) -> None:
    order = np.lexsort((w, ops.hash_rows(np.ascontiguousarray(X), seed)))
    for start in range(0, len(order), rule.size):
        batch = order[start : start + rule.size]
        if len(batch) < rule.size:
            course.waiting.append((X[batch], w[batch]))
        elif not course.done:
            one_batch(course, np.ascontiguousarray(X[batch]), w[batch], rule)


def one_batch(course: Course, X: Array, w: Array, rule: Rule) -> None:
    """c ← (W c + Σ w x) / (W + Σ w) over the rows of the batch nearest to c; W is the weight it has had so far."""
    weight, total, inertia = ops.assign_sums(X, w, course.centers)
    before, met = course.centers, weight > 0
    course.weight = course.weight + weight
    course.centers = before.copy()
    # The step from the centre keeps its digits where the weight is large.
    course.centers[met] += (total[met] - weight[met, None] * before[met]) / course.weight[met, None]
    course.since += len(X)
    waits = course.steps < rule.first  # others may come to them yet
    if not waits and rule.share > 0 and (course.since >= 10 * len(before) or not course.weight.all()):
        course.since = 0
        _reassign(course, X, w, rule)
    course.steps += 1
    _judge(course, float(inertia) / w.sum(), float(((course.centers - before) ** 2).sum()), rule)


def _reassign(course: Course, X: Array, w: Array, rule: Rule) -> None:
    """Centres that few rows came to are moved to rows of the batch, at most half as many as those."""
    poor = np.flatnonzero(course.weight < rule.share * course.weight.max())
    rows = np.flatnonzero(w > 0)
    most = len(rows) // 2
    if len(poor) > most:
        poor = poor[np.argsort(course.weight[poor], kind="stable")[:most]]
    if not len(poor):
        return
    rng = np.random.default_rng([rule.seed, course.steps])
    course.centers[poor] = X[rng.choice(rows, len(poor), replace=False)]
    rest = np.delete(course.weight, poor)
    course.weight[poor] = rest.min() if len(rest) else 0.0


def _judge(course: Course, inertia: float, shift: float, rule: Rule) -> None:
    """Whether the course has ended. The first batch only tells where the centres have begun."""
    if course.steps >= rule.most:
        course.done = True
    if course.steps == 1:
        return
    course.mean = inertia if np.isnan(course.mean) else (1 - rule.alpha) * course.mean + rule.alpha * inertia
    if course.steps <= rule.first:
        return
    if rule.tol > 0 and shift <= rule.tol:
        course.done = True
    course.in_vain = 0 if course.mean < course.least else course.in_vain + 1
    course.least = min(course.least, course.mean)
    if rule.patience is not None and course.in_vain >= rule.patience:
        course.done = True


def as_one_batch(course: Course, block: Block, rule: Rule) -> Course:
    """All rows of a block as one batch."""
    some = replace(course)
    one_batch(some, np.ascontiguousarray(ops.dense(block.X)), block.w, rule)
    return some
