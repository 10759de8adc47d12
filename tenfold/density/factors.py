"""Factors of the covariances of a mixture, as scikit-learn holds them by `covariance_type`, and as they are used."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.density.components import WIDE
from tenfold.solve.linalg import invert_triangle


def held(roots: Array, covariance_type: str) -> Array:
    """Roots of all components, (k, p, p) or (k, p), as covariance_type holds them."""
    if covariance_type == "tied":
        return np.asarray(roots[0])
    if covariance_type == "spherical":
        return np.asarray(roots[:, 0])
    return roots[:, :, None] * np.eye(roots.shape[1]) if roots.ndim == 2 and covariance_type != "diag" else roots


def spread_roots(factors: Array, covariance_type: str, k: int, p: int) -> Array:
    """What `held` has made, as it was."""
    if covariance_type == "tied":
        return np.tile(factors, (k, 1, 1))
    return np.repeat(factors[:, None], p, axis=1) if covariance_type == "spherical" else factors


def inverse(factors: Array, covariance_type: str) -> Array:
    """Covariances from the factors of their inverses."""
    if covariance_type in ("diag", "spherical"):
        return np.asarray(1.0 / factors**2)
    if factors.shape[-1] > WIDE and not np.tril(factors, -1).any():  # half the work, and half again for the products
        low = (invert_triangle(np.ascontiguousarray(one.T)) for one in factors.reshape(-1, *factors.shape[-2:]))
        return np.array([one @ one.T for one in low]).reshape(factors.shape)
    every = np.linalg.inv(factors)
    return np.asarray(np.swapaxes(every, -1, -2) @ every)
