"""Covariances made the identity, and shrunk: what Gaussian densities and discriminants are solved by."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.solve.linalg import cholesky, eigh, invert_triangle, reciprocal_condition

# Eigenvalues of a correlation matrix below these: singular to working precision; about six digits left.
SINGULAR, NEARLY_SINGULAR = 1e-14, 1e-10
# A column whose standard deviation is below this share of its mean holds nothing but rounding errors.
ROUNDING = 4 * float(np.finfo(float).eps)


def whiten(C: Array, mean: Array, unit: Array) -> tuple[Array, float, float]:
    """A with Aᵀ C A = I, log det A⁻¹, and an estimate of 1 / condition of C scaled to correlations.

    Directions without variance get the smallest that rounding can separate from zero, in the unit of a column.
    """
    scale = np.sqrt(np.diagonal(C))
    flat = scale <= ROUNDING * np.abs(mean)
    if not flat.any():
        correlation = C / scale / scale[:, None]
        L = cholesky(correlation)
        condition = 0.0 if L is None else reciprocal_condition(correlation, L)
        if L is not None and condition > SINGULAR * len(C):
            log_det = float(np.log(np.diagonal(L)).sum() + np.log(scale).sum())
            return invert_triangle(L).T / scale[:, None], log_det, condition
    scale = np.where(flat, unit, scale)
    correlation = C / scale / scale[:, None]
    correlation[flat], correlation[:, flat] = 0.0, 0.0
    values, vectors = eigh(correlation)
    values = np.maximum(values, SINGULAR * len(C))
    return (
        vectors / np.sqrt(values) / scale[:, None],
        float(0.5 * np.log(values).sum() + np.log(scale).sum()),
        0.0,
    )


def shrunk(C: Array, share: float | str | None) -> Array:
    """(1 − share) C + share (trace C / p) I."""
    if not share or isinstance(share, str):  # "auto": so estimated
        return C
    mixed: Array = (1 - share) * C
    mixed[np.diag_indices(len(C))] += share * np.trace(C) / len(C)
    return mixed
