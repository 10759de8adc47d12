"""A matrix as low rank plus sparse: principal component pursuit (Candès, Li, Ma & Wright 2011).

    min ‖L‖∗ + Σ price |S|   subject to  L + S = D

by augmented Lagrangians: L by soft thresholds on singular values, S by soft thresholds on cells, then Y ← Y + μ (D − L − S).
First with μ growing (Lin, Chen & Ma 2010): where D is what it is taken for, some forty steps end at the optimum. Where the duality gap says
that they have not, steps with a μ that balances both residuals go on (Boyd et al. 2011). Cells of price 0 are free: missing ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.monitor import note
from tenfold.core.threads import patiently, stopping

GROWTH, BALANCE, APART = 1.5, 1.3, 3.0
MOST_GROWN = 1e7
FITTED = 1e-11  # of D: what L + S may miss of it, from which on the gap must fall by a share of it, or μ stops to grow
FALLS, STALLED = 0.95, 3
LOOK = 10  # steps after which the gap is looked at
BESIDE = 5  # vectors beyond the rank of the step before
PARTIAL = 5  # times as many rows and columns as vectors, from which a part of the singular values is sought
ROUNDING = 1e-9  # of the largest singular value: below, products have lost it


class Parts(NamedTuple):
    """L = U diag(s) Vᵀ, S, the relative duality gap, and the number of steps."""

    U: Array
    s: Array
    V: Array
    S: Array
    gap: float
    n_iter: int


class _Low(NamedTuple):
    U: Array
    s: Array
    V: Array
    near: Array  # right singular vectors, some beyond the threshold, to begin the next step with

    def whole(self) -> Array:
        return (self.U * self.s) @ self.V.T


def low_rank_plus_sparse(D: Array, price: Array, tol: float, max_iter: int) -> Parts:
    """price (n, p) or (n, 1): of each cell of S."""
    size = float(np.sqrt(_largest(D)))
    if size == 0.0:
        none = np.zeros((len(D), 0))
        return Parts(none, np.zeros(0), np.zeros((D.shape[1], 0)), D, 0.0, 0)
    begin = mu = 1.25 / size
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        dear = float(np.nanmax(np.where(price > 0, np.abs(D) / price, 0.0)))
    Y, S, low = np.where(price > 0, D / max(size, dear), 0.0), np.zeros_like(D), _Low(*(np.zeros((0, 0)),) * 4)
    length, growing, gap, steps, stalled = float(np.linalg.norm(D)), True, np.inf, 0, 0
    while steps < max_iter:
        if stopping():
            raise KeyboardInterrupt
        steps += 1
        low = _shrunk(D - S + Y / mu, 1 / mu, low.near)
        L, before = low.whole(), S
        rest = D - L + Y / mu
        S = np.sign(rest) * np.maximum(np.abs(rest) - price / mu, 0.0)
        Y = mu * (rest - S)
        missed = float(np.linalg.norm(D - L - S)) / length
        if missed < FITTED or steps % LOOK == 0 or steps == max_iter:
            last, gap = gap, _gap(D, L, low.s, Y, price)
            note(gap)
            if gap <= tol:
                break
            stalled += growing and missed < FITTED and gap > FALLS * last
        if growing and stalled < STALLED:
            mu = min(mu * GROWTH, begin * MOST_GROWN)
            continue
        if growing:
            growing, mu = False, begin * GROWTH**8
        turned = mu * float(np.linalg.norm(S - before)) / max(float(np.linalg.norm(Y)), 1e-300)
        mu *= BALANCE if missed > APART * turned else 1 / BALANCE if turned > APART * missed else 1.0
    return Parts(low.U, low.s, low.V, np.where(price > 0, D - low.whole(), 0.0) if growing else S, gap, steps)


def _gap(D: Array, L: Array, s: Array, Y: Array, price: Array) -> float:
    """(‖L‖∗ + Σ price |D − L| − ⟨Y, D⟩ / max(1, ‖Y‖₂)) over the first two: an upper bound on how far the objective is from its least."""
    value = float(s.sum()) + float((price * np.abs(D - L)).sum())
    return (value - float((Y * D).sum()) / max(1.0, float(np.sqrt(_largest(Y))))) / (value or 1.0)


def _largest(M: Array) -> float:
    """The square of the largest singular value."""
    return max(float(patiently(np.linalg.eigvalsh, M.T @ M if M.shape[0] >= M.shape[1] else M @ M.T)[-1]), 0.0)


def _shrunk(M: Array, by: float, near: Array) -> _Low:
    """Singular values less `by`, those that are left; from the vectors of the step before where they are few."""
    if len(near) == M.shape[1] and near.size:
        Q = near
        while PARTIAL * Q.shape[1] < min(M.shape):
            for _ in range(2):
                Q = np.linalg.qr(M.T @ (M @ Q))[0]
            U, s, Vt = np.linalg.svd(M @ Q, full_matrices=False)
            if s[-1] <= by:
                return _kept(U, s, Q @ Vt.T, by)
            more = np.random.default_rng(Q.shape[1]).normal(size=(M.shape[1], Q.shape[1]))
            Q = np.concatenate([Q, more], axis=1)
    if M.shape[0] < M.shape[1]:
        low = _shrunk(M.T, by, np.zeros((0, 0)))
        return _Low(low.V, low.s, low.U, _beside(low.U, M.shape[1]))
    values, V = patiently(np.linalg.eigh, M.T @ M)
    s, V = np.sqrt(np.maximum(values[::-1], 0.0)), V[:, ::-1]
    if by < ROUNDING * s[0]:
        U, s, Vt = patiently(np.linalg.svd, M, full_matrices=False)
        return _kept(U, s, Vt.T, by)
    rank = int((s > by).sum())
    low = _kept(M @ V[:, :rank] / s[:rank], s[:rank], V[:, :rank], by)
    return low._replace(near=V[:, : rank + BESIDE])


def _kept(U: Array, s: Array, V: Array, by: float) -> _Low:
    rank = int((s > by).sum())
    return _Low(U[:, :rank], s[:rank] - by, V[:, :rank], _beside(V[:, : rank + BESIDE], len(V), rank + BESIDE))


def _beside(V: Array, p: int, width: int | None = None) -> Array:
    """The vectors, filled up to a width by some that are drawn."""
    width = V.shape[1] + BESIDE if width is None else width
    return np.concatenate([V, np.random.default_rng(0).normal(size=(p, max(width - V.shape[1], 0)))], axis=1)
