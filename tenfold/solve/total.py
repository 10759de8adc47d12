"""Total least squares: the smallest change of X and Y together after which X W = Y holds exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from tenfold.core.data import Array
from tenfold.core.threads import patiently
from tenfold.solve.linalg import cholesky, eigh, singular_values, upper_triangle

ABSENT = 1e-9  # size of the target's part in a direction of least spread below which it counts as none
EQUAL = 1e-12  # singular values closer than this share of the largest are the same: rounding
DEPENDENT = 1e-13


@dataclass(frozen=True)
class Total:
    """Coefficients (p, q), singular values of the noisy columns, Σ of squared distances, and what was met on the way."""

    coef: Array
    singular: Array
    squares: float
    generic: bool  # the solution exists
    unique: bool


def factor_of(S: Array) -> Array:
    """Some F with FᵀF = S ⪰ 0."""
    L = cholesky(S)
    if L is not None:
        return L.T
    values, vectors = eigh(S)
    found: Array = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return found


def total_least_squares(F: Array, p: int, scale: Array) -> Total:
    """From F with FᵀF = [X Y]ᵀ[X Y]; `scale` (p + q,) are the deviations of the errors, zero for columns without error.

    Columns without error are eliminated first, by QR. Of the rest, each in units of its error, the directions V of least spread give
    W = −V₁ V₂⁺, with V₁ the part of X and V₂ that of Y (Golub & Van Loan 1980; Van Huffel & Vandewalle 1991).
    """
    q = F.shape[1] - p
    exact, noisy = np.flatnonzero(scale[:p] == 0), np.flatnonzero(scale[:p] > 0)
    e, k = len(exact), len(noisy)
    order = np.concatenate([exact, noisy, np.arange(p, p + q)])
    F, unit = F[:, order], scale[order]
    size = np.sqrt((F * F).sum(axis=0))
    R = upper_triangle(F)
    _, seen, Vt = patiently(np.linalg.svd, R[e:, e:] / unit[e:], full_matrices=False)
    singular = np.pad(seen, (0, k + q - len(seen)))
    m, generic = q, True
    top = float(singular.max(initial=0.0))
    while m < k + q and singular[k + q - m - 1] <= singular[k] + EQUAL * top:
        m += 1  # as small as the last: part of the same directions
    unique = m == q
    planes = _by_complement if len(seen) < k + q else _by_directions
    while (scaled := planes(Vt, k, q, m)) is None:
        generic, m = False, m + 1
    coef = np.zeros((p, q))
    coef[noisy] = scaled * unit[e + k :] / unit[e : e + k, None]
    if e:
        first, rest = R[:e, :e], R[:e, e + k :] - R[:e, e : e + k] @ coef[noisy]
        own = np.abs(np.diagonal(first)) > DEPENDENT * np.where(size[:e] > 0, size[:e], 1.0)[: len(first)]
        coef[exact] = (
            solve_triangular(first, rest)
            if len(first) == e and own.all()
            else patiently(np.linalg.lstsq, first, rest, rcond=None)[0]
        )
    return Total(coef, singular, float((singular[k:] ** 2).sum()), generic, unique)


def _by_directions(Vt: Array, k: int, q: int, m: int) -> Array | None:
    """W from the m directions of least spread; None where they do not involve every target and there are more."""
    V1, V2 = Vt[k + q - m :, :k].T, Vt[k + q - m :, k:].T
    seen = singular_values(V2)
    if m < k + q and (len(seen) < q or seen[q - 1] <= ABSENT):
        return None
    return np.asarray(-V1 @ patiently(np.linalg.pinv, V2, rcond=ABSENT))


def _by_complement(Vt: Array, k: int, q: int, m: int) -> Array | None:
    """The same where rows are fewer than columns, from the other directions U alone: V Vᵀ = I − U Uᵀ, so that W = U₁U₂ᵀ (I − U₂U₂ᵀ)⁺."""
    U1, U2 = Vt[: k + q - m, :k].T, Vt[: k + q - m, k:].T
    left, vectors = patiently(np.linalg.eigh, np.eye(q) - U2 @ U2.T)
    if m < k + q and left[0] <= ABSENT:
        return None
    kept = left > ABSENT
    return np.asarray(U1 @ (U2.T @ (vectors[:, kept] / left[kept]) @ vectors[:, kept].T))
