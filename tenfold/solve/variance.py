"""A line and the variance of its noise together:  y = X w + b + noise,  log variance = z·γ, by maximum likelihood.

The information about (w, b) and about γ does not mix, so that both go by scoring at once: a step of least squares over the
variances, and a regression of r²/v − 1 on z. One pass gives what both steps need.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Stats
from tenfold.solve.irls import Frame, spd_solve

BOUND = float(np.log(1e8))  # a variance may be this far, in its logarithm, from that of all rows
NEAR_ZERO = 1e-2  # added, squared, to the square of a prediction as a share of the size of y
LONGEST = 2.0  # step of γ, in a frame where z has size 1
HALVINGS = 25
DEPTH, FARTHEST = 6, 100.0  # points to extrapolate from, and how much longer than the plain step that may be


@dataclass(frozen=True)
class Shape:
    """What the variance depends on: "columns", "power" (of the prediction, its exponent free or given), or "groups"."""

    kind: str
    frame: Frame
    level: float  # log variance of all rows, in the frame
    y_root: float  # root mean square of y
    n_groups: int = 0
    power: float | None = None

    def size(self) -> int:
        if self.kind == "groups":
            return self.n_groups
        return 1 + (len(self.frame.mean) if self.kind == "columns" else self.power is None)

    def features(self, X: Array, eta: Array, code: Array | None) -> tuple[Array, Array]:
        """z (n, m), and the part of the log variance that is given; X and eta are in the frame."""
        given = np.zeros(len(X))
        if self.kind == "groups":
            return np.asarray(code)[:, None] == np.arange(self.n_groups), given
        one = np.ones((len(X), 1))
        if self.kind == "columns":
            return np.concatenate([one, X], axis=1), given
        predicted = (eta * self.frame.y_size + self.frame.y_mean) / self.y_root
        z = 0.5 * np.log(predicted**2 + NEAR_ZERO**2)
        if self.power is not None:
            return one, self.power * z
        return np.column_stack([one, z]), given

    def log_variance(self, X: Array, eta: Array, code: Array | None, gamma: Array) -> tuple[Array, Array]:
        """(n,) in the frame, held within bounds; and z, zero where a bound holds."""
        z, given = self.features(X, eta, code)
        free = z @ gamma + given
        bounded = np.clip(free, self.level - BOUND, self.level + BOUND)
        return bounded, z * (free == bounded)[:, None]


@dataclass(slots=True)
class Likelihood(Stats):
    """At one (θ, γ): half the deviance, and the normal equations of the two steps."""

    loss: float
    gram: Array
    right: Array
    score: Array
    information: Array
    rows: float


def likelihood(block: Block, shape: Shape, theta: Array, gamma: Array, fit_intercept: bool) -> Likelihood:
    X, y = shape.frame.rows(block)
    Z = np.concatenate([X, np.full((len(X), 1), float(fit_intercept))], axis=1)
    eta = Z @ theta
    log_v, z = shape.log_variance(X, eta, getattr(block, "extra", None), gamma)
    precision = block.w * np.exp(-log_v)
    rest = y - eta
    pull = precision * rest * rest - block.w
    loss = 0.5 * float(block.w @ log_v + precision @ (rest * rest))
    gram = ops.weighted_gram(X, precision)
    if not fit_intercept:
        gram[-1] = gram[:, -1] = 0.0
    return Likelihood(
        loss,
        gram,
        Z.T @ (precision * y),
        z.T @ pull,
        (z * block.w[:, None]).T @ z,
        float(block.w.sum()),
    )


class Solution(NamedTuple):
    theta: Array
    gamma: Array
    certificate: float
    converged: bool
    n_pass: int


def alternate(
    shape: Shape, theta: Array, gamma: Array, *, fit_intercept: bool, tol: float, max_iter: int
) -> Learner[Solution]:
    """Steps of both until neither moves anything, extrapolated from those before (Anderson 1965).

    Where the variance does not depend on w, a point of lower likelihood is given up for the plain step from the best one, and
    that is halved; else there is no one objective, and only steps that grow are given up.
    """
    p, falls = len(theta), shape.kind != "power"
    here = trial = np.concatenate([theta, gamma])
    best, plain, halved, certificate = np.inf, np.zeros_like(here), 0, np.inf
    memory = Memory()
    for n_pass in range(1, max_iter + 1):
        s: Likelihood = yield partial(likelihood, shape=shape, theta=trial[:p], gamma=trial[p:], fit_intercept=fit_intercept)
        if falls and s.loss > best + 1e-12 * s.rows and halved < HALVINGS:
            memory = Memory()
            trial = here + plain * 0.5**halved
            halved += 1
            continue
        turn = spd_solve(s.information, s.score)
        turn *= min(1.0, LONGEST / max(float(np.abs(turn).max()), 1e-300))
        step = np.concatenate([spd_solve(s.gram, s.right) - trial[:p], turn])
        size = float(np.abs(step).max())
        note(size)
        if size <= tol:
            return Solution((trial + step)[:p], (trial + step)[p:], size, True, n_pass)
        if size > 4 * certificate:
            memory = Memory()
        here, plain, best, halved, certificate = trial, step, s.loss, 0, size
        trial = here + memory.extrapolated(here, step)
    return Solution(here[:p], here[p:], certificate, False, max_iter)


class Memory:
    """The last few points and their steps: the combination whose step is shortest is where to go from."""

    def __init__(self) -> None:
        self.points: list[Array] = []
        self.steps: list[Array] = []

    def extrapolated(self, point: Array, step: Array) -> Array:
        """How to go on from `point`, whose plain step is `step`."""
        self.points, self.steps = [*self.points, point][-DEPTH:], [*self.steps, step][-DEPTH:]
        if len(self.points) < 2:
            return step
        moved, changed = np.diff(self.points, axis=0).T, np.diff(self.steps, axis=0).T
        share = np.linalg.lstsq(changed, step, rcond=1e-10)[0]
        found: Array = step - (moved + changed) @ share
        return found if np.abs(found).max() <= FARTHEST * max(np.abs(step).max(), 1e-6) else step
