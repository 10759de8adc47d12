"""The whole path of the lasso, exactly: between knots the coefficients are linear in the penalty.

On the active set A with signs s,  w(l) = G⁻¹(q − l s),  and the correlations of all other columns are linear
in l too. The next knot is where one of them reaches ±l (its column enters) or a coefficient reaches zero (its
column leaves). Every knot is solved from the cross-products anew, so that no error is carried along.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tenfold.core.data import Array
from tenfold.solve.linalg import cholesky, cholesky_solve, reciprocal_condition

SAME = 1e-11  # knots closer than this share are one: rounding
SHORTEST = 1e-145  # length of a column whose square keeps its digits
DEPENDENT = 1e-12  # reciprocal condition below which a column adds nothing to the active ones


class Gram(Protocol):
    """Cross-products G of columns, as far as they are asked for."""

    def among(self, some: Any, others: Any) -> Array:
        """G of some columns and others."""
        ...

    def times(self, some: Any, v: Array) -> Array:
        """G v, of a v that is zero but at some columns."""
        ...


@dataclass(frozen=True)
class Whole:
    """All cross-products."""

    G: Array  # (p, p)

    def among(self, some: Any, others: Any) -> Array:
        return self.G[np.ix_(some, others)]

    def times(self, some: Any, v: Array) -> Array:
        return np.asarray(self.G[:, some] @ v)


@dataclass(frozen=True)
class Knots:
    """Penalties from the largest down, the coefficients there, and who came (j + 1) or went (−j − 1)."""

    penalty: Array  # (k,)
    w: Array  # (k, p)
    event: Array  # (k,); 0 at the end
    active: Array
    barred: Array  # columns left out because they depend on active ones


def lars_path(G: Gram, q: Array, *, last: float, most: int, lasso: bool, positive: bool) -> Knots:
    """Down to the penalty `last` or until `most` columns are active; without `lasso` no column leaves."""
    p = len(q)
    reach = q if positive else np.abs(q)
    here = float(reach.max(initial=0.0))
    penalties, found, events = [here], [np.zeros(p)], [0]
    active: list[int] = []
    sign = np.zeros(p)
    barred = np.zeros(p, dtype=bool)
    new, gone = int(reach.argmax()) if p else -1, 0.0  # gone: sign and number (from 1) of who has just left
    steps = 8 * p + 100 if lasso else p + 1
    while here > max(last, SAME * float(reach.max(initial=0.0))) and steps > 0:
        steps -= 1
        if new >= 0:
            rest = q[new] - G.among([new], active)[0] @ found[-1][active]
            active.append(new)
            sign[new] = 1.0 if rest >= 0 or positive else -1.0
            events[-1] = new + 1
        at = _linear(G, q, sign, active)
        if at is None:
            active.pop()
            barred[new], sign[new], events[-1], new = True, 0.0, 0, -1
            at = _linear(G, q, sign, active)
            if at is None:
                break
        level, slope = at
        knot, entering, leaving = _next(G, q, active, level, slope, here, barred, (new, gone), lasso, positive)
        if len(active) >= most or knot <= last:
            entering = leaving = -1
            knot = last if len(active) < most or lasso else max(knot, last)
        w = np.zeros(p)
        w[active] = level - knot * slope
        here, new, gone = knot, entering, 0.0
        penalties.append(here)
        events.append(0)
        if leaving >= 0:
            gone, events[-1] = sign[leaving] * (leaving + 1), -leaving - 1
            w[leaving] = sign[leaving] = 0.0
            active.remove(leaving)
        found.append(w)
        if entering < 0 and leaving < 0:
            break
    return Knots(
        np.array(penalties),
        np.array(found),
        np.array(events),
        np.array(active, dtype=np.int64),
        np.flatnonzero(barred),
    )


def _linear(G: Gram, q: Array, sign: Array, active: list[int]) -> tuple[Array, Array] | None:
    """u and d of w(l) = u − l d on the active set; None where its columns are dependent."""
    if not active:
        return np.empty(0), np.empty(0)
    A = G.among(active, active)
    scale = np.sqrt(np.diagonal(A))
    if not (scale > SHORTEST).all():
        return None
    A = A / scale[:, None] / scale
    L = cholesky(A)
    if L is None or reciprocal_condition(A, L) < DEPENDENT:
        return None
    both = cholesky_solve(L, np.column_stack([q[active], sign[active]]) / scale[:, None]) / scale[:, None]
    return both[:, 0], both[:, 1]


def _next(
    G: Gram,
    q: Array,
    active: list[int],
    level: Array,
    slope: Array,
    here: float,
    barred: Array,
    just: tuple[int, float],
    lasso: bool,
    positive: bool,
) -> tuple[float, int, int]:
    """The next smaller penalty at which a column enters or leaves (−1: none), 0 if there is none."""
    fixed, moving = q - G.times(active, level), G.times(active, slope)  # the correlation at l is fixed + l · moving
    with np.errstate(divide="ignore", invalid="ignore"):
        up, down = fixed / (1 - moving), -fixed / (1 + moving)
    ways = [up] if positive else [up, down]
    entering, leaving, knot = -1, -1, 0.0
    for side, way in zip((1.0, -1.0), ways, strict=False):
        way = np.where(np.isfinite(way) & (way <= here * (1 + SAME)) & ~barred, way, 0.0)
        way[active] = 0.0
        if just[1] * side > 0:  # it has just left this side: two lines meet but once
            way[int(abs(just[1])) - 1] = 0.0
        j = int(way.argmax())
        if way[j] > knot:
            knot, entering = float(way[j]), j
    if lasso:
        for j, u, d in zip(active, level, slope, strict=True):
            if j != just[0] and d != 0.0 and knot < u / d < here * (1 - SAME):
                knot, entering, leaving = float(u / d), -1, j
    return min(knot, here), entering, leaving
