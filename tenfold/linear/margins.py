"""Planes with a margin: the problems of support vector machines, for numbers and for classes, by passes over the rows.

    min over θ = [w b] of  ½ Σ price θ² + C Σ s (|r| − ε)₊  or the squares of these,  r = y − x·w − b

With `sided` (classes, y = ±1 and ε = 0) a residual costs something only where it points to the side of y: (1 − y f)₊.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Moments, Stats
from tenfold.linear.affine import centred
from tenfold.solve.irls import Frame, Piece, frame_of, newton, start_of
from tenfold.solve.margin import CLOSED, near_margin, pushing, solve_near

KEPT, KEPT_EACH = 500, 20  # rows kept near the margin, at least; and this many for each parameter
ROUGH = 8  # passes to come near
ROUNDS = 20  # of more and more rows kept


class Cost(NamedTuple):
    """What a row costs, in the frame: C (|r| − ε)₊, the corner rounded over `band`, or C (|r| − ε)₊²."""

    epsilon: float
    C: float
    squared: bool
    sided: bool = False
    band: float = 0.0


class Plane(NamedTuple):
    """A solution, the bound on (objective − minimum) / objective, and whether that is small enough."""

    coef: Array
    intercept: float
    gap: float
    n_pass: int
    closed: bool


def plane(source: Source, cost: Cost, *, intercept_scaling: float, fit_intercept: bool, tol: float, max_iter: int) -> Learner[Plane]:
    """The plane of least cost, in the units of the table."""
    stats = yield _moments
    centred(stats, source.n_features, fit_intercept)
    frame = frame_of(stats, False)  # nothing is shifted: the intercept has its own penalty
    with np.errstate(over="ignore"):
        price = np.append(1 / frame.size**2, max(intercept_scaling, 1e-75) ** -2.0 if fit_intercept else 1.0)
        price = np.clip(price, 1e-150, 1e150)
    C = cost.C if cost.squared else cost.C / frame.y_size
    cost = cost._replace(epsilon=cost.epsilon / frame.y_size, C=min(max(C, 1e-100), 1e100))
    start, spread = start_of(stats, frame, False)
    search = Search(frame, cost, price, fit_intercept, tol, max_iter - 1)
    small = source.n_rows is not None and source.n_rows <= search.kept
    theta, gap, n_pass, closed = yield from (
        search.squares(start) if cost.squared else search.margins(start, 0.0 if small else max(0.3 * spread, 1e-8))
    )
    coef, intercept = frame.coefficients(theta)
    gap = min(gap, 1.0)  # α = 0 is a dual point too, of value 0
    return Plane(coef, float(intercept) if fit_intercept else 0.0, gap, n_pass + 1, closed)


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
        at = yield partial(pull_of, theta=found.theta, frame=self.frame, cost=self.cost)
        primal = 0.5 * float(self.price @ found.theta**2) + at.loss
        missing = (self.price * found.theta - self._free(at.pull)) ** 2 / self.price  # squares: P − D = ½ ‖∇P‖², α = 2 C s (|r| − ε)₊
        gap = 0.5 * float(missing.sum()) / primal if primal > 0 else 0.0
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
                fit_intercept=self.fit_intercept, sided=self.cost.sided,
            )  # fmt: skip
            dual = solve_near(near, self.price, theta, min(0.1 * self.enough, 1e-9) if near.dropped else self.enough)
            theta, used, value = dual.theta, used + 1, dual.gap
            if near.dropped:
                at = yield partial(pull_of, theta=theta, frame=self.frame, cost=self.cost)
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
        pull = self._free(pull)
        primal = 0.5 * float(self.price @ theta**2) + loss
        dual = linear - 0.5 * float((pull**2 / self.price).sum())
        return max(primal - dual, 0.0) / primal if primal > 0 else 0.0

    def _free(self, pull: Array) -> Array:
        """Σ α z; nothing pulls an intercept that is not fitted."""
        return pull if self.fit_intercept else np.append(pull[:-1], 0.0)


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
    """X, the r that cost something and (|r| − ε)₊, in the frame."""
    X, y = frame.rows(block)
    r = pushing(y - X @ theta[:-1] - theta[-1], y, cost.sided)
    return X, r, np.maximum(np.abs(r) - cost.epsilon, 0.0)


@dataclass(slots=True)
class Pull(Stats):
    """At one point: the loss, and of squares minus its gradient, Σ α z."""

    loss: float
    pull: Array


def pull_of(block: Block, theta: Array, frame: Frame, cost: Cost) -> Pull:
    X, r, over = _residuals(block, theta, frame, cost)
    if not cost.squared:
        return Pull(cost.C * float(block.w @ over), np.zeros(len(theta)))
    alpha = 2 * cost.C * block.w * over * np.sign(r)
    return Pull(cost.C * float(block.w @ over**2), np.append(alpha @ X, alpha.sum()))
