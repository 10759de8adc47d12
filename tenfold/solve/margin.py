"""Exact minimisers of ½ Σ price θ² + C Σ s (|y − z·θ| − ε)₊ without the whole table.

Near the minimum only rows near the margin |r| = ε can change their side. The m rows nearest to it are kept;
all others enter as one fixed pull. Any dual point bounds the minimum of the whole table from below, so the gap
to it shows whether enough rows were kept. With `sided` only residuals on the side of y count, as those of classes y = ±1 do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array, Block
from tenfold.core.stats import Stats
from tenfold.core.threads import patiently
from tenfold.solve.irls import Frame, spd_solve

NARROWER, NARROWEST = 0.03, 1e-11  # the corner of the loss is rounded over a narrower and narrower band
STEPS = 60  # for each band
MET = 1e-6  # a median residual below this is none, of targets of about 1
CLOSED = 1e-13  # a gap this small, relative to the objective, is rounding


def pushing(r: Array, y: Array, sided: bool) -> Array:
    """The residuals that may cost something: all of them, or those on the side of y; zero for the others."""
    return np.where(r * y > 0, r, 0.0) if sided else r


@dataclass(slots=True)
class NearMargin(Stats):
    """The m rows nearest to the margin, and of the others what they pull: Σ α z and Σ α y − ε |α|."""

    m: int
    epsilon: float
    sided: bool
    Z: Array
    y: Array
    most: Array  # C s: the largest |α| of a row
    r: Array
    pull: Array
    linear: float
    dropped: int

    def __add__(self, other: NearMargin) -> NearMargin:
        Z, y, most, r = (np.concatenate([getattr(self, f), getattr(other, f)]) for f in ("Z", "y", "most", "r"))
        pull, linear, dropped = self.pull + other.pull, self.linear + other.linear, self.dropped + other.dropped
        return NearMargin(self.m, self.epsilon, self.sided, Z, y, most, r, pull, linear, dropped).cut()

    def cut(self) -> NearMargin:
        """Let go of the rows beyond the m nearest, ties kept."""
        away = np.abs(np.abs(self.r) - self.epsilon)
        if len(away) <= self.m:
            return self
        keep = away <= np.partition(away, self.m - 1)[self.m - 1]
        gone = ~keep
        r = pushing(self.r[gone], self.y[gone], self.sided)
        alpha = np.where(np.abs(r) > self.epsilon, np.sign(r), 0.0) * self.most[gone]
        return NearMargin(
            self.m,
            self.epsilon,
            self.sided,
            self.Z[keep],
            self.y[keep],
            self.most[keep],
            self.r[keep],
            self.pull + alpha @ self.Z[gone],
            self.linear + float(alpha @ self.y[gone]) - self.epsilon * float(np.abs(alpha).sum()),
            self.dropped + int(gone.sum()),
        )


def near_margin(
    block: Block, theta: Array, frame: Frame, epsilon: float, C: float, m: int, fit_intercept: bool, sided: bool = False
) -> NearMargin:
    """`NearMargin` of one block."""
    X, y = frame.rows(block)
    Z = np.column_stack([X, np.full(len(X), float(fit_intercept))])
    r = y - Z @ theta
    return NearMargin(m, epsilon, sided, Z, y, C * block.w, r, np.zeros(len(theta)), 0.0, 0).cut()


class Dual(NamedTuple):
    """A point θ, and a dual point: Σ α z and Σ α y − ε |α| over all rows; and how far apart their values are."""

    theta: Array
    pull: Array
    linear: float
    gap: float


def solve_near(near: NearMargin, price: Array, start: Array, enough: float) -> Dual:
    """θ for the rows kept and the pull of the others, to a gap of `enough` of the objective."""
    small = _Small(near, price)
    theta, best = start, Dual(start, near.pull, near.linear, np.inf)
    band = float(np.median(np.abs(near.r)))
    if band < MET:  # a start that meets the rows says nothing of where the minimum is
        band = max(0.1 * float(np.abs(near.y).max()), 1e-8)
    while band >= NARROWEST:
        theta = small.minimum(theta, band)
        for one in small.duals(theta, band):
            best = min(best, one, key=lambda dual: dual.gap)
        if best.gap <= enough:
            break
        band *= NARROWER
    return best


class _Small:
    """The problem of the rows kept, in memory."""

    def __init__(self, near: NearMargin, price: Array) -> None:
        self.near, self.price = near, price

    def _rest(self, theta: Array) -> Array:
        """y − Z θ, of what may cost something."""
        return pushing(self.near.y - self.near.Z @ theta, self.near.y, self.near.sided)

    def minimum(self, theta: Array, band: float) -> Array:
        """With the corner rounded over `band`: Newton steps, each as long as pays."""
        near = self.near
        r = self._rest(theta)
        for _ in range(STEPS):
            over = np.maximum(np.abs(r) - near.epsilon, 0.0)
            share = np.minimum(over / band, 1.0)
            gradient = self.price * theta - near.pull - (near.most * share * np.sign(r)) @ near.Z
            inside = (over > 0) & (over < band)
            root = near.Z[inside] * np.sqrt(near.most[inside] / band)[:, None]
            step = spd_solve(root.T @ root + np.diag(self.price), gradient)
            size = float(step @ gradient)
            if size <= 1e-30 or float(np.abs(step).max()) <= 1e-16 * float(np.abs(theta).max(initial=0.0)):
                break
            t = self._length(theta, step, near.y - near.Z @ theta, band)
            theta = theta - t * step
            r = self._rest(theta)
            if t == 1.0 and size <= 1e-20 * abs(self._primal(theta, r)):
                break
        return theta

    def _length(self, theta: Array, step: Array, r: Array, band: float) -> float:
        """Where along −step the slope of the objective is nearly zero; it grows along the way."""
        near, along = self.near, self.near.Z @ step

        def slope(t: float) -> float:
            there = pushing(r + t * along, near.y, near.sided)
            share = np.minimum(np.maximum(np.abs(there) - near.epsilon, 0.0) / band, 1.0)
            pull = float((near.most * share * np.sign(there)) @ along)
            return pull - float((self.price * (theta - t * step) - near.pull) @ step)

        return zero_of(slope)

    def _primal(self, theta: Array, r: Array) -> float:
        near = self.near
        over = np.maximum(np.abs(r) - near.epsilon, 0.0)
        return 0.5 * float(self.price @ theta**2) - float(near.pull @ theta) + float(near.most @ over)

    def duals(self, theta: Array, band: float) -> list[Dual]:
        """The dual point of the rounded problem; and that with the rows in the band put on the margin exactly."""
        near = self.near
        r = self._rest(theta)
        sign = np.sign(r)
        over = np.maximum(np.abs(r) - near.epsilon, 0.0)
        alpha = near.most * sign * np.minimum(over / band, 1.0)
        found = [self._judged(theta, alpha)]
        inside = (over > 0) & (over < band)
        Z, s = near.Z[inside], sign[inside]
        theta = (near.pull + alpha @ near.Z) / self.price
        short = near.y[inside] - s * near.epsilon - Z @ theta  # what is missing to the margin
        root = Z / np.sqrt(self.price)
        moved = patiently(np.linalg.lstsq, root, short, rcond=1e-13)[0]
        exact = alpha[inside] + patiently(np.linalg.lstsq, root.T, moved, rcond=1e-13)[0]  # the least change that puts them there
        alpha = alpha.copy()
        alpha[inside] = s * np.clip(exact * s, 0.0, near.most[inside])
        found.append(self._judged((near.pull + alpha @ near.Z) / self.price, alpha))
        return found

    def _judged(self, theta: Array, alpha: Array) -> Dual:
        near = self.near
        pull = near.pull + alpha @ near.Z
        linear = near.linear + float(alpha @ near.y) - near.epsilon * float(np.abs(alpha).sum())
        # the pulled rows count the same on both sides: θ·pull for them, and their linear part
        primal = self._primal(theta, self._rest(theta)) + near.linear
        dual = linear - 0.5 * float((pull**2 / self.price).sum())
        return Dual(theta, pull, linear, max(primal - dual, 0.0) / max(abs(primal), 1e-300))


def zero_of(slope: Callable[[float], float]) -> float:
    """t in (0, 1] or a little beyond at which a growing slope, negative at 0, is nearly zero."""
    low, high, at_low = 0.0, 1.0, slope(0.0)
    at_high = slope(high)
    if at_low >= 0 or at_high <= -at_low * 1e-3:
        return 1.0
    first = abs(at_low)
    for _ in range(30):
        t = low + (high - low) * min(max(at_low / (at_low - at_high), 0.05), 0.95)
        value = slope(t)
        if abs(value) <= 0.05 * first:
            return t
        if value < 0:
            low, at_low = t, value
        else:
            high, at_high = t, value
    return low or high
