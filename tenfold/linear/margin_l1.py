"""Planes with a margin and an L1 penalty: ‖w‖₁ + |b| / scaling + Σ C s (1 − t (w·x + b))₊², by proximal Newton steps.

The intercept is penalised as every coefficient: it is that of one more column, the constant `scaling`, so that θ = [w v 0] with
b = scaling v; the free constant of `solve.proximal` stays at zero.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner
from tenfold.core.stats import Terms
from tenfold.linear.margin_rows import Setting, squares_of
from tenfold.linear.margins import Cost, Plane
from tenfold.solve.irls import spd_solve
from tenfold.solve.margin import CLOSED, pushing
from tenfold.solve.proximal import Penalised, minimise_l1
from tenfold.solve.truncated import Slopes

AGAIN = 4  # steps after the last


def l1_plane(p: int, setting: Setting) -> Learner[Plane]:
    """The plane, and the gap between its objective and that of a dual point."""
    scaling, cost = setting.intercept_scaling, setting.cost
    terms = partial(on_columns, cost=cost._replace(C=1.0), scaling=scaling)
    problem = Penalised(terms, 1 / cost.C, 0.0)
    found = yield from minimise_l1(problem, np.zeros((1, p + 2)), tol=0.0, max_iter=setting.max_iter)
    theta, n_pass, enough = found.theta, found.n_pass + 1, max(setting.tol, CLOSED)
    gap = yield from _gap(theta, setting)
    for _ in range(AGAIN):
        if gap <= enough:
            break
        polished = yield from _polished(problem, theta)
        better = yield from _gap(polished, setting)
        n_pass += 2
        if not better < gap:
            break
        theta, gap = polished, better
    return Plane(theta[0, :p], scaling * float(theta[0, p]), gap, n_pass, gap <= enough)


def _polished(problem: Penalised, theta: Array) -> Learner[Array]:
    """One more step on the columns that are in, each on its side of zero: an objective to its last digit leaves half of them to the gap."""
    columns = np.flatnonzero(theta[0, :-1])
    at: Terms = yield partial(problem.terms, theta=theta, columns=columns)
    assert at.curvature is not None
    slope = at.gradient[0, columns] + problem.l1 * np.sign(theta[0, columns])
    moved = theta.copy()
    moved[0, columns] -= spd_solve(at.curvature[0, :-1, 0, :-1], slope)
    return moved


def _gap(theta: Array, setting: Setting) -> Learner[float]:
    """(P − D) / P with the dual point α = 2 C s (1 − t f)₊, scaled until no |Σ α t z| is above 1:  D = Σ α − Σ α² / 4 C s."""
    scaling = setting.intercept_scaling
    plain = np.append(theta[0, :-2], scaling * theta[0, -2])
    at: Slopes = yield partial(squares_of, theta=plain, cost=setting.cost, intercept=setting.intercept)
    largest = max(float(np.abs(at.pull[:-1]).max(initial=0.0)), scaling * abs(float(at.pull[-1])))
    share = 1 / largest if largest > 1 else 1.0
    linear = float(at.pull @ plain) + 2 * at.loss  # Σ α = Σ α t f + Σ α (1 − t f)
    primal = float(np.abs(theta).sum()) + at.loss
    dual = share * linear - share**2 * at.loss
    return max(primal - dual, 0.0) / primal if primal > 0 else 0.0


def on_columns(block: Block, theta: Array, columns: Array, cost: Cost, scaling: float) -> Terms:
    """Loss and gradient at θ = [w v 0], and the curvature of these columns and the constant; column p is the intercept's."""
    p = theta.shape[1] - 2
    plain = np.append(theta[0, :p], scaling * theta[0, p])
    at = squares_of(block, plain, cost, scaling > 0)
    gradient = -np.concatenate([at.pull[:-1], [scaling * at.pull[-1], 0.0]])[None]
    inner = columns[columns < p]
    X: Any = block.X[:, inner]
    y = block.y[:, 0]
    r = pushing(y - _product(X, plain[inner]) - plain[-1], y, cost.sided)
    inside = np.flatnonzero(r)
    X = ops.dense(X[inside])
    H = ops.weighted_gram(np.ascontiguousarray(X, dtype=np.float64), 2 * cost.C * block.w[inside])
    H[-1] *= scaling
    H[:, -1] *= scaling
    c = len(columns)
    curvature = np.zeros((1, c + 1, 1, c + 1))
    curvature[0, :c, 0, :c] = H[:c, :c]
    return Terms(at.loss, gradient, float(block.w.sum()), curvature)


def _product(X: Any, w: Array) -> Array:
    """X w, also of no columns."""
    return np.asarray(X @ w) if X.shape[1] else np.zeros(X.shape[0])
