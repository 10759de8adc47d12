"""Exact minimisers of Σ s ρ(y − z·θ), ρ(r) = τ r for r ≥ 0 and (τ − 1) r for r < 0, without the whole table.

Near the minimum only rows with small residuals can change their sign. The m rows nearest to a guess are kept;
all others enter the linear program as one fixed slope, which bounds their loss from below. If none of them
has changed its sign at the solution, that bound is reached, and the solution is that of the whole table
(Portnoy & Koenker 1997). Otherwise more rows are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array, Block
from tenfold.core.stats import Stats
from tenfold.solve.irls import Frame
from tenfold.solve.linalg import cholesky

INTERIOR = 1e-8  # a multiplier this far from its bounds, relative to its range, belongs to a residual of zero
SLACK = 1e-12  # by which a residual may miss its sign
SWEEPS = 100


@dataclass(slots=True)
class Near(Stats):
    """The m rows with the smallest |r|, ties kept, and the slope −Σ s ρ′(r) z of all others."""

    m: int
    tau: float
    Z: Array  # (k, q)
    y: Array
    w: Array
    r: Array
    slope: Array  # (q,)
    dropped: int
    crossed: int  # rows whose residual changed its sign since the guess before, though it was not near
    loss: float

    def __add__(self, other: Near) -> Near:
        Z, y, w, r = (np.concatenate([getattr(self, f), getattr(other, f)]) for f in ("Z", "y", "w", "r"))
        slope, dropped = self.slope + other.slope, self.dropped + other.dropped
        crossed, loss = self.crossed + other.crossed, self.loss + other.loss
        return Near(self.m, self.tau, Z, y, w, r, slope, dropped, crossed, loss).cut()

    def cut(self) -> Near:
        """Let go of the rows beyond the m nearest. Where many are equally near, equal rows become one."""
        size = np.abs(self.r)
        if len(size) <= self.m:
            return self
        keep = size <= np.partition(size, self.m - 1)[self.m - 1]
        if keep.sum() > 2 * self.m and (merged := self._without_copies()) is not self:
            return merged.cut()
        gone = ~keep
        pull = self.w[gone] * (self.tau - (self.r[gone] < 0))
        return Near(
            self.m,
            self.tau,
            self.Z[keep],
            self.y[keep],
            self.w[keep],
            self.r[keep],
            self.slope - pull @ self.Z[gone],
            self.dropped + int(gone.sum()),
            self.crossed,
            self.loss,
        )

    def _without_copies(self) -> Near:
        """Rows that are equal as one, of their common weight."""
        rows = np.column_stack([self.Z, self.y])
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        if len(first) == len(rows):
            return self
        w = np.bincount(which.reshape(-1), weights=self.w)
        rest = self.slope, self.dropped, self.crossed, self.loss
        return Near(self.m, self.tau, self.Z[first], self.y[first], w, self.r[first], *rest)

    @property
    def reach(self) -> float:
        """Rows nearer than this were kept."""
        return float(np.abs(self.r).max(initial=0.0)) if self.dropped else np.inf


@dataclass(slots=True)
class Bend(Stats):
    """Σ s ρ(r), its gradient, and its curvature from the rows with |r| < width."""

    loss: float
    gradient: Array
    curvature: Array
    within: int  # rows there


def bend_of_loss(block: Block, theta: Array, frame: Frame, tau: float, width: float, fit_intercept: bool) -> Bend:
    """`Bend` of one block."""
    X, y = frame.rows(block)
    Z = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    r, w = y - Z @ theta, block.w
    pull, inside = w * (tau - (r < 0)), np.abs(r) < width
    some = Z[inside]
    curvature = (some * (w[inside] / (2 * width))[:, None]).T @ some
    return Bend(float(pull @ r), -pull @ Z, curvature, int(inside.sum()))


def penalised_step(curvature: Array, gradient: Array, theta: Array, penalty: Array) -> Array:
    """d that minimises gradient·d + ½ dᵀ curvature d + Σ penalty |θ + d|, by coordinate descent."""
    H = curvature + 1e-10 * max(float(np.trace(curvature)), 1e-300) / len(theta) * np.eye(len(theta))
    step, slope = np.zeros_like(theta), gradient.copy()
    for _ in range(SWEEPS):
        largest = 0.0
        for j in range(len(theta)):
            free = theta[j] + step[j] - slope[j] / H[j, j]
            change = np.sign(free) * max(abs(free) - penalty[j] / H[j, j], 0.0) - theta[j] - step[j]
            step[j] += change
            slope += change * H[j]
            largest = max(largest, abs(change))
        if largest <= 1e-4 * np.abs(step).max(initial=0.0):
            break
    return step


class Guess(NamedTuple):
    """A trial θ, the one before it, and the reach around that one."""

    theta: Array
    before: Array | None = None
    reach: float = np.inf


def near_rows(block: Block, guess: Guess, frame: Frame, tau: float, m: int, fit_intercept: bool) -> Near:
    """`Near` of one block."""
    X, y = frame.rows(block)
    Z = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    r, w = y - Z @ guess.theta, block.w
    crossed = 0
    if guess.before is not None and np.isfinite(guess.reach):
        r0 = y - Z @ guess.before
        crossed = int(((np.abs(r0) > guess.reach) & (np.where(r0 < 0, -r, r) < -SLACK)).sum())
    loss = float(w @ (r * (tau - (r < 0))))
    return Near(m, tau, Z, y, w, r, np.zeros(Z.shape[1]), 0, crossed, loss).cut()


def quantile_vertex(near: Near, penalty: Array, gram: Array, centre: Array) -> Array | None:
    """θ that minimises Σ s ρ(r) + Σ penalty |θ| over the rows kept and the slope of the others.

    Where many do, that one which minimises (θ − centre)ᵀ gram (θ − centre) too. None: no minimum is bounded.
    """
    from scipy.optimize import linprog

    priced = np.flatnonzero(penalty)
    A = np.concatenate([near.Z, np.eye(len(penalty))[priced]])  # |θⱼ| is the loss of one more row, at τ = ½
    y = np.concatenate([near.y, np.zeros(len(priced))])
    low = np.concatenate([near.w * (near.tau - 1), -penalty[priced]])
    high = np.concatenate([near.w * near.tau, penalty[priced]])
    unit = max(float((high - low).mean()), 1e-300)
    low, high = low / unit, high / unit
    found = linprog(
        -y, A_eq=A.T, b_eq=near.slope / unit, bounds=np.column_stack([low, high]), method="highs"
    )  # the dual: one multiplier a row
    if found.status != 0:
        return None
    edge = INTERIOR * (high - low)
    below, above = found.x <= low + edge, found.x >= high - edge
    zero = ~(below | above)
    theta = _least_squares_in_face(A, y, zero, np.where(above, 1.0, -1.0), gram, centre)
    theta[priced[zero[len(near.Z) :]]] = 0.0  # what the penalty holds there, up to rounding
    return theta


def _least_squares_in_face(A: Array, y: Array, zero: Array, sign: Array, gram: Array, centre: Array) -> Array:
    """θ nearest to `centre` in the metric `gram` with r = 0 where `zero`, and sign · r ≥ 0 elsewhere."""
    q = A.shape[1]
    U, singular, Vt = np.linalg.svd(A[zero], full_matrices=True)
    rank = int((singular > 1e-10 * singular.max(initial=0.0)).sum())
    theta = Vt[:rank].T @ ((U[:, :rank].T @ y[zero]) / singular[:rank])
    if rank == q:
        return np.asarray(theta)
    free = Vt[rank:].T  # (q, d): the directions in which the optimum is not unique
    size = float(np.trace(gram)) / q
    metric = cholesky(gram / size + 1e-12 * np.eye(q)) if size > 0 else None
    metric = np.eye(q) if metric is None else metric  # values whose squares are below the smallest number
    Q, T = np.linalg.qr(metric.T @ free)
    offset = Q.T @ (metric.T @ (theta - centre))
    G = -sign[~zero, None] * np.linalg.solve(T.T, (A[~zero] @ free).T).T
    h = -sign[~zero] * (y[~zero] - A[~zero] @ theta) - SLACK + G @ offset
    return np.asarray(theta + free @ np.linalg.solve(T, _least_distance(G, h) - offset))


def _least_distance(G: Array, h: Array) -> Array:
    """x of least norm with G x ≥ h (Lawson & Hanson 1974, ch. 23)."""
    from scipy.optimize import nnls

    d = G.shape[1]
    size = np.sqrt((G**2).sum(axis=1) + h**2)
    size[size == 0] = 1.0
    E = np.column_stack([G, h]) / size[:, None]
    target, x = np.append(np.zeros(d), 1.0), np.zeros(d)
    use = np.zeros(len(E), dtype=bool)
    for _ in range(len(E)):  # few of many constraints bind: those that are broken most join, until none is
        broken = E[:, d] - E[:, :d] @ x
        broken[use] = 0.0
        if not (broken > SLACK).any():
            break
        use[np.argsort(-broken, kind="stable")[: 2 * d + 2]] = True
        some = E[use].T
        rest = some @ nnls(some, target)[0] - target
        if abs(rest[d]) < 1e-14:
            break  # nothing satisfies all, to working precision
        x = -rest[:d] / rest[d]
    return x
