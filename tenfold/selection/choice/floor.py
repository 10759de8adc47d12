"""The least probability that is said of a class."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array


def floor_of(rows: int, classes: int) -> float:
    """No class is impossible because it was not seen where another was: the least probability that so many training rows allow.

    A model that is sure of a class errs on about one row in n that nobody has seen yet; to say p for each other class then costs
    (K − 1) p on the rows it is right about and log(1/p)/n for that one, which is least at p = 1/(n (K − 1)). Half of it is taken.
    """
    return 0.5 / (rows * max(classes - 1, 1))


def floored(shares: Array, floor: float) -> Array:
    """Probabilities p as (1 − K f) p + f: none is less than f, and they sum to one."""
    return np.asarray((1 - shares.shape[1] * floor) * shares + floor)
