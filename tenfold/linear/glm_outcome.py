"""The problem of a generalised linear model, and what is said of its solution: warnings, deviances, dispersion, likelihood, covariance."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import Degenerate, NotConverged, warn
from tenfold.linear.families import Binomial, Family
from tenfold.linear.far import shifted
from tenfold.linear.glm_terms import Ends, Setting, terms
from tenfold.linear.links import IDENTITY, LOG, Link
from tenfold.linear.wald import covariance_of
from tenfold.solve.linalg import eigh
from tenfold.solve.newton import Loss, Solution

LARGEST = 1 << 20  # values of a curvature
SEPARATED = 1e-7  # mean loss below which shares are taken to be predicted exactly
PARTLY = 1e-3  # and below which they will be, where steps go on for ever
ROUNDING = 1e-13  # a gradient below this share of what it is a difference of is zero
DEPENDENT = 1e-10  # an eigenvalue of scaled information, over the largest, of columns that depend on one another
ENDLESS = 1e-10  # information of a column, for each row and square of it, that is none
ENDING = 1e-3  # and that will be none, where steps go on for ever


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
