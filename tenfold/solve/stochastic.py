"""Mini-batches: a step for some rows at a time, with momentum or with rates of its own for each parameter (Adam).

`mini_batches` is the solver, a generator over blocks; θ is a list of arrays of any shapes, and `gradient(block, θ)` the mean gradient over
the rows of a block, a list like it. One pass more at the end gives the certificate: max |mean gradient| of all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner, Scan
from tenfold.core.stats import Stats

Gradient = Callable[[Block, list[Array]], list[Array]]


@dataclass
class Momentum:
    """v ← momentum v − rate g, θ ← θ + v; with nesterov θ ← θ + momentum v − rate g (Polyak 1964; Nesterov 1983).

    momentum=0 is plain stochastic gradient descent. The rate of step t is rate / (1 + decay t).
    """

    rate: float = 0.01
    momentum: float = 0.9
    nesterov: bool = False
    decay: float = 0.0
    t: int = 0
    v: list[Array] = field(default_factory=list)

    def step(self, theta: list[Array], gradient: list[Array]) -> list[Array]:
        rate = self.rate / (1 + self.decay * self.t)
        self.t += 1
        before = self.v or [np.zeros_like(one) for one in theta]
        self.v = [self.momentum * v - rate * g for v, g in zip(before, gradient, strict=True)]
        if self.nesterov:
            return [one + self.momentum * v - rate * g for one, v, g in zip(theta, self.v, gradient, strict=True)]
        return [one + v for one, v in zip(theta, self.v, strict=True)]


@dataclass
class Adam:
    """m ← β₁ m + (1 − β₁) g, s ← β₂ s + (1 − β₂) g², θ ← θ − rate m̂ / (√ŝ + ε), both divided by 1 − βᵗ (Kingma & Ba 2015).

    The rate of step t is rate / (1 + decay t).
    """

    rate: float = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.0
    t: int = 0
    m: list[Array] = field(default_factory=list)
    s: list[Array] = field(default_factory=list)

    def step(self, theta: list[Array], gradient: list[Array]) -> list[Array]:
        rate = self.rate / (1 + self.decay * self.t)
        self.t += 1
        m = self.m or [np.zeros_like(one) for one in theta]
        s = self.s or [np.zeros_like(one) for one in theta]
        self.m = [self.beta1 * one + (1 - self.beta1) * g for one, g in zip(m, gradient, strict=True)]
        self.s = [self.beta2 * one + (1 - self.beta2) * g * g for one, g in zip(s, gradient, strict=True)]
        a, b = 1 - self.beta1**self.t, 1 - self.beta2**self.t
        return [one - rate * (m / a) / (np.sqrt(s / b) + self.epsilon) for one, m, s in zip(theta, self.m, self.s, strict=True)]


class Trained(NamedTuple):
    """Where the steps ended."""

    theta: list[Array]
    certificate: float  # max |mean gradient| over all rows
    n_steps: int


@dataclass
class _State:
    theta: list[Array]
    rule: Momentum | Adam


@dataclass(slots=True)
class Slope(Stats):
    """Σ w and Σ w gradient, θ laid out flat."""

    weight: float
    total: Array


def mini_batches(
    gradient: Gradient, start: list[Array], rule: Momentum | Adam, *, batch: int = 32, epochs: int = 10, seed: int | None = None
) -> Learner[Trained]:
    """Steps for `batch` rows at a time over all rows, so many epochs; with a seed in another order in each."""
    state = _State([np.array(one, dtype=np.float64) for one in start], rule)
    for epoch in range(epochs):
        order = None if seed is None else (seed * 0x2545F4914F6CDD1D + epoch) & (2**63 - 1)
        state = yield Scan(partial(_steps, gradient=gradient, batch=batch), state, shuffle=order)
    found: Slope = yield partial(_slope, gradient=gradient, theta=state.theta)
    return Trained(state.theta, float(np.abs(found.total).max(initial=0.0)) / found.weight, state.rule.t)


def _steps(state: _State, block: Block, gradient: Gradient, batch: int) -> _State:
    theta = state.theta
    for first in range(0, len(block), batch):
        theta = state.rule.step(theta, gradient(block.take(np.arange(first, min(first + batch, len(block)))), theta))
    return _State(theta, state.rule)


def _slope(block: Block, gradient: Gradient, theta: list[Array]) -> Slope:
    weight = float(block.w.sum())
    return Slope(weight, weight * np.concatenate([np.ravel(one) for one in gradient(block, theta)]))
