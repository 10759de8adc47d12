"""The fit of a generalised linear model: where it begins, Newton steps on sums, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import Threads
from tenfold.core.errors import BadInput, Degenerate, warn
from tenfold.core.learning import Learner, Scan, drive, through
from tenfold.core.mapped import Mapped
from tenfold.linear.families import Binomial, Family
from tenfold.linear.far import far_shift, shifted
from tenfold.linear.glm_outcome import LARGEST, SEPARATED, Problem, attributes, endless_column, of_least_norm, warn_of
from tenfold.linear.glm_terms import Ends, Setting, Targets, ends, on_columns, working
from tenfold.linear.links import LOG
from tenfold.solve.irls import Piece, spd_solve
from tenfold.solve.newton import Metric, Solution, minimise
from tenfold.solve.proximal import Penalised, minimise_l1
from tenfold.solve.sample import SAMPLE_SHARE, Some, is_large

EDGE = 1e-12  # how near to its bound a mean is taken that would be at it
CONSTANT = 50  # steps to a constant score


def solve(problem: Problem, source: Source, start: Array | None) -> Learner[dict[str, Any]]:
    """The fitted attributes."""
    family, q = problem.family, source.n_features + 1
    survey: Targets = yield Targets.of
    yield from refuse_outside(problem, source, survey)
    shift = far_shift(survey.spread, problem.fit_intercept)
    setting = Setting(family, problem.link, shift, problem.fit_intercept, survey.weight)
    null = yield from constant_score(problem, setting, survey)
    bound = problem.fit_intercept and np.isfinite(family.least) and not family.lowest < survey.mean < family.highest
    if bound:
        found = at_the_bound(problem, survey, null, q)
    else:
        theta, metric = yield from beginning(problem, source, setting, survey, null, start)
        found = yield from feasibly(descent(problem, setting, theta, metric), problem)
    informed = problem.free and q * q <= LARGEST
    told: Ends = yield partial(
        ends, theta=found.theta, null=null, informed=informed, sized=not found.settled, setting=setting
    )
    if not bound:
        warn_of(problem, found, told, endless_column(problem, found, told, setting))
    if problem.free and found.singular and told.information is not None:
        found = found._replace(theta=of_least_norm(found.theta, told.information, problem.fit_intercept))
    return attributes(problem, found, told, setting)


def descent(problem: Problem, setting: Setting, theta: Array, metric: Metric | None) -> Learner[Solution]:
    if problem.l1 > 0:
        penalised = Penalised(partial(on_columns, setting=setting), problem.l1, problem.l2)
        return minimise_l1(penalised, theta, tol=problem.tol, max_iter=problem.max_iter)
    floor = SEPARATED if problem.free and isinstance(problem.family, Binomial) else 0.0
    loss = problem.loss(setting, theta.shape[1])
    return minimise(loss, theta, tol=problem.tol, max_iter=problem.max_iter, metric=metric, floor=floor)


# --- where it begins --------------------------------------------------------------------------------------------------


def constant_score(problem: Problem, setting: Setting, survey: Targets) -> Learner[float]:
    """b of the model without columns."""
    family, link = problem.family, problem.link
    inside = family.lowest < survey.mean < family.highest  # then it is a mean however near a bound: gammas of 1e-100 are told apart
    mean = survey.mean if inside else np.clip(survey.mean, family.lowest + EDGE, family.highest - EDGE)
    with np.errstate(all="ignore"):
        b = float(link.score(np.asarray(mean)))
    if not problem.offset:
        return b
    b -= survey.log_raised if link is LOG else survey.moved / survey.weight
    if family.name == "poisson" and link is LOG:
        return b
    alone = problem._replace(l1=0.0, l2=0.0, fit_intercept=True, max_iter=CONSTANT)
    loss = alone.loss(setting._replace(shift=None, fit_intercept=True), 1)
    steps = minimise(loss, np.full((1, 1), b), tol=1e-12, max_iter=CONSTANT)
    found = yield from feasibly(through(_without_columns, steps), problem)
    return float(found.theta[0, 0])


def _without_columns(block: Block) -> Block:
    return replace(block, X=np.zeros((len(block), 0)), unread=None)


def beginning(
    problem: Problem, source: Source, setting: Setting, survey: Targets, null: float, start: Array | None
) -> Learner[tuple[Array, Metric | None]]:
    """At the solution given, at that for a sample, or at a constant mean; by least squares where that is not to be had."""
    q = source.n_features + 1
    if start is not None and not problem.bounded and np.isfinite(start).all():
        theta = shifted(start, setting.shift, 1)
        theta[:, -1] *= problem.fit_intercept
        return theta, None
    theta = np.zeros((1, q))
    theta[:, -1] = null * problem.fit_intercept
    if problem.bounded and not problem.fit_intercept:
        s: Piece = yield partial(working, mean=survey.mean, setting=setting)
        if np.isfinite(s.curvature).all() and np.isfinite(s.gradient).all():
            theta = spd_solve(s.curvature + np.diag(np.append(np.full(q - 1, problem.l2), 0.0)), s.gradient)[None]
            theta[:, -1] = 0.0
    if problem.offset or not is_large(source, q):
        return theta, None
    return on_sample(problem, Some(source), setting, theta)


def on_sample(problem: Problem, sample: Some, setting: Setting, theta: Array) -> tuple[Array, Metric | None]:
    """The solution for some rows to within a tenth of its sampling error, and the curvature there."""
    on, rows = Threads(), sample.inner.n_rows
    assert rows is not None  # the table is in memory
    survey: Targets = on.run(Targets.of, sample)
    if survey.least == survey.most:
        return theta, None
    setting = setting._replace(weight=survey.weight)
    if problem.l1 > 0:
        near = drive(descent(problem, setting, theta, None), sample, on, f"{problem.name} on a sample").theta
        return (near if np.isfinite(near).all() else theta), None
    loss = problem.loss(setting, theta.shape[1])
    settled = 0.01 * theta.size * SAMPLE_SHARE / rows
    steps = minimise(loss, theta, tol=np.inf, max_iter=problem.max_iter, fine=settled, floor=SEPARATED)
    found: Solution = drive(steps, sample, on, f"{problem.name} on a sample")
    at = on.run(partial(loss.terms, theta=found.theta, curvature=loss.first), sample)
    usable = np.isfinite(at.loss) and np.isfinite(at.curvature).all()
    return (found.theta, Metric(at.curvature, loss.l2)) if usable else (theta, None)


def at_the_bound(problem: Problem, survey: Targets, null: float, q: int) -> Solution:
    """All counts are zero, or all shares zero or one: the best constant lies at infinity, and nothing else is learned."""
    warn(
        f"{problem.name}: all values of y are {survey.mean:g}, and the optimum lies at infinity: returned an intercept on the way "
        "there and coefficients of zero",
        Degenerate,
        stacklevel=2,
    )
    theta = np.zeros((1, q))
    theta[:, -1] = null
    return Solution(theta, 0.0, 1.0, 0.0, True, True, 1, False)


# --- what is refused --------------------------------------------------------------------------------------------------


def refuse_outside(problem: Problem, source: Source, survey: Targets) -> Learner[None]:
    """Targets that the family does not have, and offsets that are not finite: the first of them is named."""
    if not survey.finite:
        row, _ = yield from first_row(source, _without_offset)
        raise BadInput(f"{problem.name}: the exposure is not above 0 in row {row}: drop such rows, or give them their exposure")
    if problem.family.outside(np.array([survey.least, survey.most])).any():
        row, value = yield from first_row(source, partial(_outside, family=problem.family))
        raise BadInput(outside_words(problem.name, problem.family, value, row))


def outside_words(name: str, family: Family, value: float, row: int) -> str:
    return (
        f"{name}: Some value(s) of y are out of the valid range of the loss {family.name!r}: y is {value:g} in row {row}, "
        f"but {family.rule}"
    )


def _outside(block: Block, family: Family) -> Array:
    return np.asarray(family.outside(block.y[:, 0]))


def _without_offset(block: Block) -> Array:
    return np.asarray(~np.isfinite(block.y[:, 1]))


def first_row(source: Source, wrong: Any) -> Learner[tuple[int, float]]:
    """The number of the first row of which it is true, and its target; rows of weight zero are counted where the table is in memory."""
    seen, row, value = yield Scan(partial(_look, wrong=wrong), (0, None, 0.0))
    inner = source
    while isinstance(inner, Mapped):
        inner = inner.inner
    rows = inner.rows if isinstance(inner, Arrays) and inner.keys is None else None
    return int(row if rows is None or len(rows) != seen else rows[row]), value


def _look(state: tuple[int, int | None, float], block: Block, wrong: Any) -> tuple[int, int | None, float]:
    seen, row, value = state
    found = np.flatnonzero(wrong(block))
    if row is None and len(found):
        row, value = seen + int(found[0]), float(block.y[found[0], 0])
    return seen + len(block), row, value


def feasibly(algorithm: Learner[Solution], problem: Problem) -> Learner[Solution]:
    """The same steps, from a start that is looked at: every row must have a mean, and sums must be finite."""
    s = yield next(algorithm)
    if not (np.isfinite(s.loss) and np.isfinite(s.gradient).all()):
        raise BadInput(
            f"{problem.name}: with the link {problem.link.name!r} no start was found at which every row has a mean of the family "
            f"{problem.family.name!r}: use another link{'' if problem.link is LOG else ', as log,'} or fit_intercept=True"
            if problem.bounded
            else f"{problem.name}: the numbers of X and y are too far apart for sums of their products: rescale them first"
        )
    try:
        while True:
            s = yield algorithm.send(s)
    except StopIteration as done:
        found: Solution = done.value
        return found
    finally:
        algorithm.close()
