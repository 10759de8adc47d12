"""Labels that do not lie upon one another. Knows no library for pictures: pages use it too."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array

ROUNDS = 300
GAP = 0.05  # between labels, of their height


def apart(x: Array, y: Array, width: Array, height: float, low: float = -np.inf, high: float = np.inf) -> Array:
    """Heights for labels whose middles are at (x, y): moved up and down, as little as need be, until none covers another.

    width: of each label; low, high: ends of the picture. Those that started above another stay above it.
    """
    y, order = np.array(y, dtype=np.float64), np.argsort(y, kind="stable")
    near = np.abs(np.subtract.outer(x, x)) < np.add.outer(width, width) / 2
    step = height * (1 + GAP)
    for _ in range(ROUNDS):
        moved = False
        for a, i in enumerate(order):
            for j in order[a + 1 :]:
                over = step - (y[j] - y[i])
                if near[i, j] and over > 1e-9 * step:
                    y[i], y[j], moved = y[i] - over / 2, y[j] + over / 2, True
        inside = np.clip(y, low + height / 2, high - height / 2)
        if not moved and (inside == y).all():
            break
        y = inside
    return y
