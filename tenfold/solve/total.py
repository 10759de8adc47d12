"""Total least squares: the smallest change of X and Y together after which X W = Y holds exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from tenfold.core.threads import patiently
from tenfold.solve.linalg import cholesky, eigh

Array = np.ndarray[Any, Any]

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
    R = patiently(
        np.linalg.qr, np.vstack([F, np.zeros((max(p + q - len(F), 0), p + q))]) if len(F) < p + q else F, mode="r"
    )
    _, singular, Vt = patiently(np.linalg.svd, R[e:, e:] / unit[e:])
    m, generic = q, True
    top = float(singular.max(initial=0.0))
    while m < k + q and singular[k + q - m - 1] <= singular[k] + EQUAL * top:
        m += 1  # as small as the last: part of the same directions
    unique = m == q
    while True:
        V1, V2 = Vt[k + q - m :, :k].T, Vt[k + q - m :, k:].T
        seen = patiently(np.linalg.svd, V2, compute_uv=False)
        if m == k + q or (len(seen) >= q and seen[q - 1] > ABSENT):
            break
        generic, m = False, m + 1
    coef = np.zeros((p, q))
    scaled = -V1 @ patiently(np.linalg.pinv, V2, rcond=ABSENT)
    coef[noisy] = scaled * unit[e + k :] / unit[e : e + k, None]
    if e:
        own = np.abs(np.diagonal(R)[:e]) > DEPENDENT * np.where(size[:e] > 0, size[:e], 1.0)
        rest = R[:e, e + k :] - R[:e, e : e + k] @ coef[noisy]
        coef[exact] = (
            solve_triangular(R[:e, :e], rest)
            if own.all()
            else patiently(np.linalg.lstsq, R[:e, :e], rest, rcond=None)[0]
        )
    return Total(coef, singular, float((singular[k:] ** 2).sum()), generic, unique)
