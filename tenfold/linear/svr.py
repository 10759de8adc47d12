"""Support vector regression with a plane: residuals below a margin cost nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Stats
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.solve.irls import Frame, Piece, frame_of, newton, start_of
from tenfold.solve.margin import CLOSED, near_margin, solve_near
from tenfold.solve.row_space import in_row_space, is_wide

KEPT, KEPT_EACH = 500, 20  # rows kept near the margin, at least; and this many for each parameter
ROUGH = 8  # passes to come near
ROUNDS = 20  # of more and more rows kept


class Cost(NamedTuple):
    """What a row costs, in the frame: C (|r| − ε)₊, the corner rounded over `band`, or C (|r| − ε)₊²."""

    epsilon: float
    C: float
    squared: bool
    band: float = 0.0


@estimator
class LinearSVR(AffineRegressor, Estimator):
    """LinearSVR: the flattest plane within a margin of the rows, as far as C pays for it.

    Model       y ≈ X w + b
    Objective   min over w, b of  ½ ‖w‖² + ½ (b / intercept_scaling)² + C Σᵢ sᵢ max(0, |yᵢ − xᵢ·w − b| − epsilon),
                or the squares of these; as in LIBLINEAR the intercept is penalised too
    Algorithm   Newton steps, a pass each, the corner of the loss rounded; then the rows near the margin alone, with
                the corner narrower and narrower, and those on it solved for exactly; more rows until the gap closes
    Cost        O(n p²) a pass, about a dozen passes; O(p²) memory, and some rows; of few rows O(n² p) and O(n p), in the space
                that they span
    Fails when  columns of very different sizes: the penalty is not the same for all (scale them first)
    Reference   Vapnik 1995; Ho & Lin 2012; smoothing: Lee, Hsieh & Huang 2005

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + 1
    >>> y[3] = 100.0
    >>> tenfold.LinearSVR(C=10.0, epsilon=0.1).fit(X, y).coef_.round(2)
    array([2.])
    """

    dual_gap_: float = learned("float", "bound on how far the objective is above its minimum")
    n_iter_: int = learned("int", "passes over the rows")

    sparse: ClassVar[bool] = True

    _: KW_ONLY
    epsilon: float = param(default=0.0, at_least=0, doc="residuals up to this cost nothing")
    tol: float = param(default=0.0001, at_least=0, doc="bound on the duality gap over the objective")
    C: float = param(default=1.0, above=0, doc="what residuals beyond the margin cost")
    loss: str = param(
        default="epsilon_insensitive",
        one_of=("epsilon_insensitive", "squared_epsilon_insensitive"),
        doc="residuals beyond the margin, or their squares",
    )
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    intercept_scaling: float = param(default=1.0, above=0, doc="the larger, the less is the intercept penalised")
    dual: bool | str = param(default="auto", one_of=("auto", True, False), doc="no effect: there is one algorithm")
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")
    random_state: object = param(default=None, doc="no effect: nothing is random")
    max_iter: int = param(default=1000, at_least=1, doc="most passes over the rows")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12}, {"tol": 1e-12, "loss": "squared_epsilon_insensitive", "epsilon": 0.1}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if not is_wide(source):
            return (yield from self._passes(source))
        space, fitted = yield from in_row_space(self, source, centre=False)  # the intercept has its own penalty
        return space.affine(fitted)

    def _passes(self, source: Source) -> Learner[dict[str, Any]]:
        stats = yield _moments
        centred(stats, source.n_features, self.fit_intercept)
        frame = frame_of(stats, False)  # nothing is shifted: the intercept has its own penalty
        squared = self.loss != "epsilon_insensitive"
        with np.errstate(over="ignore"):
            scaling = max(float(self.intercept_scaling), 1e-75)
            price = np.append(1 / frame.size**2, scaling**-2.0 if self.fit_intercept else 1.0)
            price = np.clip(price, 1e-150, 1e150)
        C = float(self.C) if squared else float(self.C) / frame.y_size
        cost = Cost(float(self.epsilon) / frame.y_size, min(max(C, 1e-100), 1e100), squared)
        start, spread = start_of(stats, frame, False)
        search = Search(frame, cost, price, self.fit_intercept, self.tol, self.max_iter - 1)
        small = source.n_rows is not None and source.n_rows <= search.kept
        theta, gap, n_pass, closed = yield from (
            search.squares(start) if squared else search.margins(start, 0.0 if small else max(0.3 * spread, 1e-8))
        )
        gap = min(gap, 1.0)  # α = 0 is a dual point too, of value 0
        if not closed:
            warn(
                f"LinearSVR: the duality gap is {gap:.2g} of the objective after {n_pass + 1} passes, "
                f"above tol={self.tol:g}: scale the columns, or raise max_iter",
                NotConverged,
                stacklevel=2,
            )
        coef, intercept = frame.coefficients(theta)
        return dict(
            coef_=coef,
            intercept_=intercept if self.fit_intercept else 0.0,
            dual_gap_=gap,
            n_iter_=n_pass + 1,
        )


class Search(NamedTuple):
    """The problem: ½ Σ price θ² + Σ s cost, and when to stop."""

    frame: Frame
    cost: Cost
    price: Array
    fit_intercept: bool
    tol: float
    max_iter: int

    @property
    def kept(self) -> int:
        return max(KEPT, KEPT_EACH * len(self.price))

    @property
    def enough(self) -> float:
        return max(self.tol, CLOSED)

    def squares(self, start: Array) -> Learner[tuple[Array, float, int, bool]]:
        """The loss has a continuous slope: Newton steps are all that is needed."""
        found = yield from self._newton(start, self.cost, self.max_iter - 1)
        at = yield partial(dual_terms, theta=found.theta, frame=self.frame, cost=self.cost)
        gap = self._gap(found.theta, at.loss, at.pull, at.linear)
        return found.theta, gap, found.n_pass + 1, gap <= self.enough

    def margins(self, start: Array, band: float) -> Learner[tuple[Array, float, int, bool]]:
        """Near by a rounded loss; then the rows near the margin, more of them until the gap is closed."""
        best, gap, used, kept = start, np.inf, 0, self.kept
        for width in (band, 0.1 * band) if band > 0 else ():
            found = yield from self._newton(best, self.cost._replace(band=width), min(ROUGH, self.max_iter))
            best, used = found.theta, used + found.n_pass
        theta = best
        for _ in range(ROUNDS):
            if used >= self.max_iter:
                break
            near = yield partial(
                near_margin, theta=theta, frame=self.frame, epsilon=self.cost.epsilon, C=self.cost.C, m=kept,
                fit_intercept=self.fit_intercept,
            )  # fmt: skip
            dual = solve_near(near, self.price, theta, min(0.1 * self.enough, 1e-9) if near.dropped else self.enough)
            theta, used, value = dual.theta, used + 1, dual.gap
            if near.dropped:
                at = yield partial(dual_terms, theta=theta, frame=self.frame, cost=self.cost)
                used, value = used + 1, self._gap(theta, at.loss, dual.pull, dual.linear)
            kept *= 1 if value < 0.1 * gap else 2  # a better place first, then more rows
            if value < gap:
                best, gap = theta, value
            note(gap)
            if gap <= self.enough or not near.dropped:
                break
        return best, gap, used, gap <= self.enough

    def _newton(self, start: Array, cost: Cost, most: int) -> Any:
        terms = partial(cost_terms, frame=self.frame, cost=cost, fit_intercept=self.fit_intercept)
        return newton(terms, start, self.price, tol=0.0, max_iter=max(most, 1) - 1, floor=0.0)

    def _gap(self, theta: Array, loss: float, pull: Array, linear: float) -> float:
        """(P − D) / P, with D = Σ α y − ε Σ |α| − ... − ½ ‖Σ α z‖² in the metric of the prices."""
        pull = pull if self.fit_intercept else np.append(pull[:-1], 0.0)
        primal = 0.5 * float(self.price @ theta**2) + loss
        dual = linear - 0.5 * float((pull**2 / self.price).sum())
        return max(primal - dual, 0.0) / primal if primal > 0 else 0.0


def _moments(block: Block) -> Moments:
    return Moments.of(block.X, block.y, block.w)


def cost_terms(block: Block, theta: Array, frame: Frame, cost: Cost, fit_intercept: bool) -> Piece:
    """Σ s cost with its gradient and curvature in θ = [w b]."""
    X, r, over = _residuals(block, theta, frame, cost)
    if cost.squared:
        pull, bend, loss = 2 * over, 2.0 * (over > 0), over**2
    else:
        share = np.minimum(over / cost.band, 1.0)
        pull, bend, loss = share, ((over > 0) & (share < 1)) / cost.band, share * (over - cost.band * share / 2)
    slope = -cost.C * block.w * pull * np.sign(r)
    gradient = np.append(slope @ X, slope.sum())
    curved = np.flatnonzero(bend)
    H = np.zeros((len(theta), len(theta)))
    if 4 * len(curved) > len(r):
        H = ops.weighted_gram(X, cost.C * block.w * bend)
    elif len(curved):
        H = ops.weighted_gram(np.ascontiguousarray(X[curved]), cost.C * block.w[curved] * bend[curved])
    if not fit_intercept:
        gradient[-1] = 0.0
        H[-1] = H[:, -1] = 0.0
    return Piece(cost.C * float(block.w @ loss), gradient, H, float(block.w.sum()))


def _residuals(block: Block, theta: Array, frame: Frame, cost: Cost) -> tuple[Array, Array, Array]:
    """X, r and (|r| − ε)₊ in the frame."""
    X, y = frame.rows(block)
    r = y - X @ theta[:-1] - theta[-1]
    return X, r, np.maximum(np.abs(r) - cost.epsilon, 0.0)


@dataclass(slots=True)
class DualTerms(Stats):
    """At one point: the loss, and the dual point of squares: Σ α z, and Σ α y − ε |α| − α² / 4C."""

    loss: float
    pull: Array
    linear: float


def dual_terms(block: Block, theta: Array, frame: Frame, cost: Cost) -> DualTerms:
    X, r, over = _residuals(block, theta, frame, cost)
    if not cost.squared:
        return DualTerms(cost.C * float(block.w @ over), np.zeros(len(theta)), 0.0)
    alpha, loss = 2 * cost.C * block.w * over * np.sign(r), cost.C * float(block.w @ over**2)
    y = r + X @ theta[:-1] + theta[-1]
    linear = float(alpha @ y) - cost.epsilon * float(np.abs(alpha).sum()) - loss
    return DualTerms(loss, np.append(alpha @ X, alpha.sum()), linear)
