"""What a prediction costs and the slope of that, of many rows at once: the losses of `solve.online`, with corners that can be rounded.

Rounding a corner over a band δ turns (m)₊ into m² / 2δ below δ and m − δ / 2 above: nowhere more than δ / 2 below the loss itself.
"""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array

CORNERS = {"perceptron", "hinge", "absolute_error", "epsilon_insensitive"}  # others have slopes without jumps


def loss_terms(loss: str, y: Array, p: Array, epsilon: float, band: float = 0.0) -> tuple[Array, Array]:
    """Values and slopes in p; classes are y = ±1."""
    if loss == "log_loss":
        z = y * p
        e = np.exp(-np.abs(z))
        return np.log1p(e) + np.maximum(-z, 0.0), -y * np.where(z > 0, e, 1.0) / (1.0 + e)
    if loss in ("perceptron", "hinge"):
        value, slope = rounded(float(loss == "hinge") - y * p, band)
        return value, -y * slope
    if loss == "squared_hinge":
        over = np.maximum(1.0 - y * p, 0.0)
        return over * over, -2.0 * y * over
    if loss == "modified_huber":
        z = y * p
        over = np.clip(1.0 - z, 0.0, 2.0)
        return np.where(z < -1, -4.0 * z, over * over), -2.0 * y * over
    r = p - y
    size, sign = np.abs(r), np.sign(r)
    if loss == "squared_error":
        return 0.5 * r * r, r
    if loss == "huber":
        inner = np.minimum(size, epsilon)
        return inner * (size - 0.5 * inner), sign * inner
    if loss == "squared_epsilon_insensitive":
        over = np.maximum(size - epsilon, 0.0)
        return over * over, 2.0 * sign * over
    value, slope = rounded(size - (epsilon if loss == "epsilon_insensitive" else 0.0), band)
    return value, sign * slope


def rounded(m: Array, band: float) -> tuple[Array, Array]:
    """(m)₊ and its slope, the corner rounded."""
    if band <= 0:
        return np.maximum(m, 0.0), (m > 0).astype(np.float64)
    share = np.clip(m / band, 0.0, 1.0)
    return share * (np.maximum(m, 0.0) - 0.5 * band * share), share
