"""Regression of a quantile: exact, by linear program over the rows that matter."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Terms
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.solve.irls import Frame, frame_of, spd_solve, start_of
from tenfold.solve.linear_program import Guess, bend_of_loss, near_rows, penalised_step, quantile_vertex

KEPT = 500  # rows in the first linear program, at least; and this many for each parameter:
KEPT_EACH = 15
MOST_KEPT = 16  # times as many, where the first program was too small: what is kept is bounded
ROUGH, FINE = 8, 60  # re-weighted passes before the linear program, or instead of it, if these settle
MOST = 20  # and this many more where they have not
NEARER = 30  # Newton steps, at most, between those passes and the linear program
WITHIN = 20  # times as many rows as are kept give the curvature
FARTHEST = 5.0  # lengths of a row, relative to the mean one
ROUNDS = 60  # passes for linear programs


@estimator
class QuantileRegressor(AffineRegressor, Estimator):
    """QuantileRegressor: a quantile of the target; the median (alpha=0) is least absolute deviations.

    Model       the `quantile` of y given x is x·w + b
    Objective   min over w, b of  Σᵢ sᵢ ρ(yᵢ − xᵢ·w − b) / Σᵢ sᵢ + alpha ‖w‖₁,  ρ(r) = max(q r, (q − 1) r);
                among many solutions the one of least squares
    Algorithm   re-weighted least squares and Newton steps to come near; then a linear program
                over the rows of small residual, the rest as one slope, until none left out has crossed: exact
    Cost        O(n p²) a pass, some 15 passes and one or two small linear programs; O(p²) memory, and some
                thousand rows (more only where so many have one and the same residual)
    Fails when  as many rows as parameters lie far out in X (leverage) with wrong targets;
                the linear program is not solved (warns NotConverged)
    Reference   Koenker & Bassett 1978; few rows suffice: Portnoy & Koenker 1997

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + 1
    >>> y[3] = 1000.0
    >>> model = tenfold.QuantileRegressor(alpha=0.0).fit(X, y)
    >>> model.coef_.round(9), model.intercept_.round(9)
    (array([2.]), np.float64(1.0))
    """

    n_iter_: int = learned("int", "passes over the rows")

    sparse: ClassVar[bool] = True

    _: KW_ONLY
    quantile: float = param(default=0.5, above=0, at_most=1, doc="which quantile, above 0 and below 1")
    alpha: float = param(default=1.0, at_least=0, doc="penalty strength")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    solver: str = param(
        default="highs",
        one_of=("highs", "highs-ds", "highs-ipm", "irls"),
        doc="the linear program, exact; or 'irls': re-weighted least squares alone, approximate",
    )
    solver_options: dict[Any, Any] | None = param(default=None, doc="no effect: the linear programs are small")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"alpha": 0.0}, {"alpha": 0.01, "quantile": 0.8}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if self.quantile >= 1:
            raise BadParameter(f"QuantileRegressor(quantile={self.quantile:g}): must be < 1")
        stats = yield _moments
        p = source.n_features
        centred(stats, p, self.fit_intercept)
        frame = frame_of(stats, self.fit_intercept)
        centre, rms = start_of(stats, frame, self.fit_intercept)
        with np.errstate(over="ignore"):
            penalty = np.minimum(stats.weight * self.alpha / frame.size, 1e150)
        q, approximate = p + self.fit_intercept, self.solver == "irls"
        kept = max(KEPT, KEPT_EACH * q)
        theta, n_pass = centre, 1
        if approximate or source.n_rows is None or source.n_rows > kept:
            passes = FINE if approximate else ROUGH
            theta, more = yield from self._reweighted(frame, theta, penalty, rms, passes)
            n_pass += more
        if not approximate:
            gram = _gram(stats, frame, self.fit_intercept)
            prices, theta = np.append(penalty, 0.0)[:q], theta[:q]
            if n_pass > 1:
                theta, more = yield from self._nearer(frame, theta, prices, 0.1 * max(rms, 1e-14), kept)
                n_pass += more
            theta, more = yield from self._exactly(frame, theta, kept, prices, gram, centre[:q])
            theta, n_pass = np.append(theta, 0.0)[: p + 1], n_pass + more
        coef, intercept = frame.coefficients(theta)
        return dict(coef_=coef, intercept_=intercept if self.fit_intercept else 0.0, n_iter_=n_pass)

    def _reweighted(
        self, frame: Frame, theta: Array, penalty: Array, rms: float, passes: int
    ) -> Learner[tuple[Array, int]]:
        """Least squares with weights |ρ′| / |r|; |r| is not taken below a floor that sinks pass by pass."""
        floors = np.geomspace(max(rms, 1e-14), max(rms, 1e-14) * (1e-2 if passes == ROUGH else 1e-9), passes)
        free = np.append(np.zeros(len(penalty)), 0.0 if self.fit_intercept else 1.0)
        moved = np.zeros_like(theta)
        for n_pass, floor in enumerate([*floors, *[floors[-1]] * MOST]):
            if n_pass >= passes and np.abs(moved).sum() <= 0.5 * floors[-1]:
                return theta, n_pass
            s = yield partial(_weighted, theta=theta, frame=frame, tau=self.quantile, floor=float(floor))
            ridge = np.append(penalty / np.maximum(np.abs(theta[:-1]), floor), 0.0)
            H = s.curvature + np.diag(ridge + 1e-14 * np.trace(s.curvature))
            if free[-1]:
                H[-1] = H[:, -1] = 0.0
                H[-1, -1] = 1.0
                s.gradient[-1] = 0.0
            size = np.sqrt(np.diagonal(H))
            moved = spd_solve(H / size / size[:, None], s.gradient / size) / size - theta
            theta = theta + moved
        return theta, passes + MOST

    def _nearer(
        self, frame: Frame, theta: Array, penalty: Array, width: float, kept: int
    ) -> Learner[tuple[Array, int]]:
        """Newton steps until the next one is short beside the reach of the `kept` rows with the least residuals.

        The curvature of the loss is estimated from the rows within ±width, a few times as many as are kept.
        """
        best, loss, step, share, n_pass = theta, np.inf, np.zeros_like(theta), 1.0, 0
        while n_pass < NEARER:
            n_pass += 1
            trial = best + share * step
            s = yield partial(
                bend_of_loss, theta=trial, frame=frame, tau=self.quantile, width=width, fit_intercept=self.fit_intercept
            )
            total = s.loss + float(penalty @ np.abs(trial))
            if total > loss:
                share /= 2
                if share < 0.01:
                    break
                continue
            best, loss, share = trial, total, 1.0
            if s.within < 2 * len(theta):  # too few for an estimate
                step, width = np.zeros_like(theta), 10 * width
                continue
            step = penalised_step(s.curvature, s.gradient, trial, penalty)
            if FARTHEST * float(np.sqrt(step @ step)) <= 0.5 * kept * width / max(s.within, 1):
                break
            width *= 0.3 if s.within > WITHIN * kept else 1.0 if s.within > kept else 3.0
        return best, n_pass

    def _exactly(
        self, frame: Frame, theta: Array, kept: int, penalty: Array, gram: Array, centre: Array
    ) -> Learner[tuple[Array, int]]:
        """Linear programs around better and better guesses."""
        guess, solution, best, most = Guess(theta), theta, np.inf, MOST_KEPT * kept
        for n_pass in range(1, ROUNDS + 1):
            near = yield partial(
                near_rows,
                guess=guess,
                frame=frame,
                tau=self.quantile,
                m=kept,
                fit_intercept=self.fit_intercept,
            )
            if guess.before is not None and near.crossed == 0:
                return solution, n_pass
            loss = near.loss + float(penalty @ np.abs(guess.theta))
            if loss > best and guess.before is not None:  # too few rows for a direction: back, and keep more; or half of the way
                back = Guess(guess.before) if kept < most else Guess(0.5 * (guess.before + guess.theta), guess.before)
                kept, guess = min(2 * kept, most), back
                best = np.inf if guess.before is None else best
                continue
            found, best = quantile_vertex(near, penalty, gram, centre), loss
            if found is None and not near.dropped:
                break
            kept = min(2 * kept, most) if found is None or guess.before is not None else kept
            if found is None:
                guess = Guess(guess.theta)
                continue
            solution = found
            if not near.dropped:
                return solution, n_pass
            guess = Guess(found, guess.theta, near.reach)
        warn(
            "QuantileRegressor: the linear program was not solved, and the result is approximate: "
            "scale the columns, or weights that differ less",
            NotConverged,
            stacklevel=2,
        )
        return solution, ROUNDS


def _moments(block: Block) -> Moments:
    return Moments.of_block(block)


def _gram(stats: Moments, frame: Frame, fit_intercept: bool) -> Array:
    """Cross-products of [X 1] (of X without an intercept) in the frame, for each unit of weight."""
    p = len(frame.size)
    S = stats.scatter[:p, :p] / stats.weight
    if fit_intercept:
        gram = np.eye(p + 1)
        gram[:p, :p] = S / frame.size / frame.size[:, None]
        return gram
    mean = stats.mean[:p]
    return np.asarray((S + np.outer(mean, mean)) / frame.size / frame.size[:, None])


def _weighted(block: Block, theta: Array, frame: Frame, tau: float, floor: float) -> Terms:
    """The normal equations Σ d z zᵀ and Σ d y z with weights d from the residuals at θ."""
    X, y = frame.rows(block)
    r = y - X @ theta[:-1] - theta[-1]
    d = block.w * np.abs(tau - (r < 0)) / np.maximum(np.abs(r), floor)
    right = d * y
    return Terms(0.0, np.append(right @ X, right.sum()), float(d.sum()), ops.weighted_gram(X, d))
