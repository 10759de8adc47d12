"""Powers of columns, with their derivatives by the power: what the likelihood of a power transform is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array, Block
from tenfold.core.stats import Stats

FLAT = 1e-5  # powers below it: three terms of the series have all digits, and quotients would not
SOME = 256  # rows of a block that are enough for the first steps


@dataclass(frozen=True, slots=True)
class Frame:
    """How columns are seen. One of one sign is u / r, with u = ±x + unit and r a value in its middle: a change of units, which moves
    the likelihood by nothing that depends on the power once the logarithms are those of u / r."""

    unit: float  # 1: Yeo-Johnson, 0: Box-Cox
    side: Array
    reference: Array
    size: Array  # the largest |log| of a column

    def logs(self, X: Array) -> tuple[Array, Array]:
        """log(u / r) of the values on the side of a column, log(|x| + 1) of those of a column of both signs; and their signs."""
        if (self.side == 0).all():
            return np.log1p(np.abs(X)), np.where(X < 0, -1.0, 1.0)
        both = self.side == 0
        sign = np.where(both, np.where(X < 0, -1.0, 1.0), self.side)
        distance = sign * X + (self.unit - self.reference)
        return np.log1p(distance / self.reference), sign

    def transformed(self, X: Array, powers: Array, relative: bool) -> Array:
        """T(x); `relative`: in the units of a column of one sign, without what is the same for all its values."""
        logs, sign = self.logs(X)
        T = sign * powered(logs, np.where(sign < 0, 2 - powers, powers))[0]
        one = self.side != 0
        mine, shift = np.where(self.side < 0, 2 - powers, powers), np.log(self.reference)
        if self.unit and one.any():  # values on the other side of zero than all of the fit: T = e^(μ c) t + g(c)
            other = one & (X * self.side < 0)
            if other.any():
                far = -self.side * powered(np.log1p(np.abs(np.where(other, X, 0.0))), np.where(self.side < 0, powers, 2 - powers))[0]
                T = np.where(other, far * np.exp(-mine * shift) + self.side * powered(-shift, mine)[0], T)
        if relative or not one.any():
            return T
        return np.where(one, T * np.exp(mine * shift) + np.where(one, self.side, 1) * powered(shift, mine)[0], T)

    def inverted(self, T: Array, powers: Array, relative: bool) -> Array:
        """The x of each T; NaN where there is none."""
        one, both = self.side != 0, self.side == 0
        mine, shift = np.where(self.side < 0, 2 - powers, powers), np.log(self.reference)
        if relative:
            near = T
            whole = np.where(one, T * np.exp(mine * shift) + self.side * powered(shift, mine)[0], T)
        else:
            whole = T
            near = np.where(one, T * np.exp(-mine * shift) + self.side * powered(-shift, mine)[0], T)
        sign = np.where(both, np.where(whole < 0, -1.0, 1.0), self.side)
        logs = unpowered(sign * near, np.where(sign < 0, 2 - powers, powers))
        X = sign * (np.expm1(logs) * self.reference + (self.reference - self.unit))
        if self.unit and one.any():
            other = one & ((X * self.side < 0) | np.isnan(X)) & (whole * self.side < 0)
            if other.any():
                far = unpowered(np.abs(whole), np.where(self.side < 0, powers, 2 - powers))
                X = np.where(other, -self.side * np.expm1(far), X)
        return np.asarray(X)


def powered(logs: Array, power: Array, derivatives: bool = False) -> tuple[Array, ...]:
    """g = (e^(k l) − 1) / k, and its first and second derivative by k."""
    flat = np.abs(power) < FLAT
    k = np.where(flat, 1.0, power)
    e = np.expm1(k * logs)
    g = e / k
    some = flat.any()
    if some:
        u = power * logs
        g = np.where(flat, logs * (1 + u / 2 * (1 + u / 3 * (1 + u / 4))), g)
    if not derivatives:
        return (g,)
    e += 1
    e *= logs  # l e^(k l)
    first = (e - g) / k
    e *= logs
    second = (e - 2 * first) / k
    if some:
        first = np.where(flat, logs**2 * (1 / 2 + u * (1 / 3 + u * (1 / 8 + u / 30))), first)
        second = np.where(flat, logs**3 * (1 / 3 + u * (1 / 4 + u * (1 / 10 + u / 36))), second)
    return g, first, second


def unpowered(g: Array, power: Array) -> Array:
    """log(1 + k g) / k: the logarithm of which g is the power."""
    flat = np.abs(power) < FLAT
    k, u = np.where(flat, 1.0, power), power * g
    u = np.where(u < -1, np.nan, u)
    return np.where(flat, g * (1 - u / 2 * (1 - u * 2 / 3 * (1 - u * 3 / 4))), np.log1p(np.where(flat, 0.0, u)) / k)


@dataclass(slots=True)
class Curves(Stats):
    """Of each column: weight, means of T, T′, T″ and of the signed logarithm, and centred sums of T T, T T′, T′ T′, T T″.

    Primes are derivatives by the power; parts are merged pairwise (Chan, Golub & LeVeque 1983).
    """

    weight: Array  # (p,)
    mean: Array  # (4, p)
    scatter: Array  # (4, p)

    @classmethod
    def of(cls, block: Block, frame: Frame, powers: Array, thin: bool) -> Curves:
        X, w = block.X, block.w
        if thin and len(w) > SOME:
            stride = len(w) // SOME
            X, w = X[::stride], w[::stride]
        X = X.astype(np.float64, copy=False)
        logs, sign = frame.logs(X)
        g, first, second = powered(logs, np.where(sign < 0, 2 - powers, powers), derivatives=True)
        g *= sign
        second *= sign
        logs *= sign
        curves: tuple[Array, ...] = (g, first, second, logs)
        gone: Any = np.isnan(X)
        weight = np.full(X.shape[1], w.sum())
        if gone.any():
            weight = w @ ~gone
            for one in curves:
                one[gone] = 0.0
        safe = np.where(weight > 0, weight, 1.0)
        mean = np.array([w @ one for one in curves]) / safe
        for one, center in zip(curves[:3], mean, strict=False):
            one -= center
        if gone.any():
            for one in curves[:3]:
                one[gone] = 0.0
        pairs = ((g, g), (g, first), (first, first), (g, second))
        return cls(weight, mean, np.array([w @ (a * b) for a, b in pairs]))

    def __add__(self, other: Curves) -> Curves:
        weight = self.weight + other.weight
        share = other.weight / np.where(weight > 0, weight, 1.0)
        d = other.mean - self.mean
        products = np.array([d[0] * d[0], d[0] * d[1], d[1] * d[1], d[0] * d[2]])
        return Curves(weight, self.mean + d * share, self.scatter + other.scatter + products * (self.weight * share))

    def slopes(self) -> tuple[Array, Array]:
        """First and second derivative of the log-likelihood of a row, −½ log Var T + k mean(± log), by the power."""
        tt, t1, u1, t2 = self.scatter
        tt = np.where(tt > 0, tt, np.inf)
        ratio = t1 / tt
        return self.mean[3] - ratio, 2 * ratio**2 - (u1 + t2) / tt
