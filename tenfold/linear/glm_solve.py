"""The fit of a generalised linear model: where it begins, Newton steps on sums, and what is said of the solution."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import Threads
from tenfold.core.errors import BadInput, Degenerate, NotConverged, warn
from tenfold.core.learning import Learner, Scan, drive, through
from tenfold.core.mapped import Mapped
from tenfold.linear.families import Binomial, Family
from tenfold.linear.far import far_shift, shifted
from tenfold.linear.glm_terms import Ends, Setting, Targets, ends, on_columns, terms, working
from tenfold.linear.links import IDENTITY, LOG, Link
from tenfold.linear.wald import covariance_of
from tenfold.solve.irls import Piece, spd_solve
from tenfold.solve.linalg import eigh
from tenfold.solve.newton import Loss, Metric, Solution, minimise
from tenfold.solve.proximal import Penalised, minimise_l1
from tenfold.solve.sample import SAMPLE_SHARE, Some, is_large

LARGEST = 1 << 20  # values of a curvature
SEPARATED = 1e-7  # mean loss below which shares are taken to be predicted exactly
PARTLY = 1e-3  # and below which they will be, where steps go on for ever
ROUNDING = 1e-13  # a gradient below this share of what it is a difference of is zero
EDGE = 1e-12  # how near to its bound a mean is taken that would be at it
DEPENDENT = 1e-10  # an eigenvalue of scaled information, over the largest, of columns that depend on one another
ENDLESS = 1e-10  # information of a column, for each row and square of it, that is none
ENDING = 1e-3  # and that will be none, where steps go on for ever
CONSTANT = 50  # steps to a constant score


class Problem(NamedTuple):
    """What is minimised: mean ½ d(y, μ) + l1 ‖w‖₁ + ½ l2 ‖w‖², and when to stop."""

    name: str  # of the learner
    family: Family
    link: Link
    l1: float
    l2: float
    fit_intercept: bool
    offset: bool  # the target is [y offset]
    tol: float
    max_iter: int

    @property
    def free(self) -> bool:
        return self.l1 == self.l2 == 0

    @property
    def bounded(self) -> bool:
        """Whether some scores have no mean of the family."""
        family, link = self.family, self.link
        if isinstance(family, Binomial):
            return link.name not in ("logit", "probit", "cloglog")
        return link is not (IDENTITY if np.isinf(family.lowest) else LOG)

    def loss(self, setting: Setting, q: int) -> Loss:
        l2 = np.full((1, q), self.l2)
        l2[:, -1] = 0.0
        shape, cost = ("blocks", q / 16) if q * q <= LARGEST else ("diagonal", np.inf)
        return Loss(partial(terms, setting=setting), l2, shape, shape, cost)


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
    edge = (family.lowest + EDGE, family.highest - EDGE)
    with np.errstate(all="ignore"):
        b = float(link.score(np.clip(survey.mean, *edge)))
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


# --- what is said of it -----------------------------------------------------------------------------------------------


def endless_column(problem: Problem, found: Solution, told: Ends, setting: Setting) -> int | None:
    """The column whose part of the score is known least, where that is not known at all: its coefficient runs to infinity."""
    if told.information is None or told.squares is None or problem.link.name not in ("log", "logit", "probit", "cloglog"):
        return None
    known, squares = np.diagonal(told.information)[:-1] / setting.weight, told.squares[:-1]
    lost = known < (ENDLESS if found.settled else ENDING) * squares
    return int(np.argmin(np.where(lost, known / np.where(lost, squares, 1.0), np.inf))) if lost.any() else None


def warn_of(problem: Problem, found: Solution, told: Ends, endless: int | None) -> None:
    """Where the result is not what was asked for."""
    exact = told.size is not None and found.certificate <= ROUNDING * float(told.size.max())  # what is left of the gradient is rounding
    steps = min(found.n_pass, problem.max_iter)
    shares = isinstance(problem.family, Binomial)
    if shares and found.loss <= (SEPARATED if found.settled or not problem.free else PARTLY):
        effect = (
            "the optimum lies at infinity: returned coefficients on the way there, raise alpha for others"
            if problem.free
            else "only the penalty (alpha) keeps the coefficients finite"
        )
        warn(f"{problem.name}: the shares are predicted perfectly, and {effect}", Degenerate, stacklevel=2)
    elif not (found.converged or exact):
        near = ", or use another link: the means of some rows may be at their bound" if problem.bounded else ""
        warn(
            f"{problem.name}: the solver failed to converge: max |gradient| is {found.certificate:.2g} after {steps} steps, above "
            f"tol={problem.tol:g}. Increase the number of iterations (max_iter) or scale the columns{near}",
            NotConverged,
            stacklevel=2,
        )
    elif endless is not None:
        warn(
            f"{problem.name}(alpha=0): the coefficient of column {endless} runs to infinity, as rows in which it is not zero have no "
            "counts, or shares of nothing or all: raise alpha or drop the column",
            Degenerate,
            stacklevel=2,
        )
    elif problem.free and (found.singular or not (found.settled or exact or found.n_pass > problem.max_iter)):
        lost = "some shares are predicted perfectly" if shares else "rows of some of them have no counts"
        warn(
            f"{problem.name}(alpha=0): columns are linearly dependent, or {lost}, so that the optimum is not unique (the "
            "one of least norm is taken) or lies at infinity: raise alpha or drop columns",
            Degenerate,
            stacklevel=2,
        )


def of_least_norm(theta: Array, information: Array, fit_intercept: bool) -> Array:
    """Among all θ = [w b] with the same scores, those of dependent columns, the one of least ‖w‖."""
    keep = theta.shape[1] if fit_intercept else theta.shape[1] - 1
    H = information[:keep, :keep]
    if not np.isfinite(H).all():
        return theta
    size = np.sqrt(np.diagonal(H))
    scale = 1 / np.where(size > 0, size, 1.0)
    values, vectors = eigh(H * scale * scale[:, None])
    idle = vectors[:, values <= DEPENDENT * values.max(initial=0.0)] * scale[:, None]  # they change no score
    idle, w = np.linalg.qr(idle)[0], theta[0, :-1]
    moved = np.zeros(theta.shape[1])
    moved[:keep] = idle @ np.linalg.lstsq(idle[: len(w)], w, rcond=None)[0]
    return theta - moved


def attributes(problem: Problem, found: Solution, told: Ends, setting: Setting) -> dict[str, Any]:
    """The fitted attributes, and why some are absent."""
    theta, n = shifted(found.theta, setting.shift, -1)[0], setting.weight
    fitted: dict[str, Any] = dict(
        coef_=np.ascontiguousarray(theta[:-1]),
        intercept_=float(theta[-1]),
        n_iter_=min(found.n_pass, problem.max_iter),
        deviance_=max(told.deviance, 0.0),
        null_deviance_=max(told.null, 0.0),
        n_rows_=n,
    )
    absent = {}
    left = n - (theta.size - 1) - problem.fit_intercept
    if left > 0 and np.isfinite(told.pearson):
        fitted["dispersion_"] = told.pearson / left
    else:
        absent["dispersion_"] = f"dispersion_ is absent: {n:g} rows leave none to estimate it from beside {theta.size} parameters"
    likelihood = log_likelihood(problem.family, told, n, fitted.get("dispersion_"))
    if likelihood is None or not np.isfinite(likelihood):
        absent["log_likelihood_"] = f"log_likelihood_ is absent: it has no closed form for the family {problem.family.name!r}"
    else:
        fitted["log_likelihood_"] = likelihood
    covariance = None
    if told.information is not None and np.isfinite(told.information).all():
        covariance = covariance_of(told.information[None, :, None], setting.shift, setting.fit_intercept)
    if covariance is not None:
        fitted["covariance_"] = covariance
    else:
        absent["covariance_"] = (
            "the columns are dependent, so that single coefficients are not determined: drop columns"
            if problem.free and told.information is not None
            else "a penalty biases the coefficients, so standard errors would mislead: use alpha=0"
            if not problem.free
            else f"{theta.size - 1} columns are too many for the covariance of their coefficients"
        )
    return {**fitted, "absent_": absent} if absent else fitted


def log_likelihood(family: Family, told: Ends, n: float, pearson: float | None) -> float | None:
    """ℓ = −deviance / 2φ + what depends on y alone + n normaliser(φ); φ is 1, its best value (normal), or Pearson's."""
    if family.saturated(np.ones(1)) is None:
        return None
    dispersion = 1.0 if family.known else told.deviance / n if family.lowest == -np.inf else pearson
    if dispersion is None or not dispersion > 0:
        return None
    return -told.deviance / (2 * dispersion) + told.saturated + n * family.normaliser(dispersion)
