"""Columns that lie far from zero: products of [x 1] would lose digits, so that they are centred block by block."""

from __future__ import annotations

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.stats import Spread

GLANCE = 64  # rows of a block from which the size of the columns is taken
FAR = 1e3  # columns whose mean is so many times their spread are centred


def glance(block: Block) -> Spread | None:
    """The size of the columns, from some rows of a block; None where rows are sparse, and so are not shifted."""
    return None if ops.is_sparse(block.X) else Spread.of(block.X[:GLANCE], block.w[:GLANCE])


def far_shift(spread: Spread | None, fit_intercept: bool) -> Array | None:
    """Column means, if some are so far from zero that products with [x 1] would lose digits."""
    if spread is None or not fit_intercept:
        return None
    mean, deviation = spread.mean[0], np.sqrt(spread.scatter[0] / spread.weight[0])
    far = np.abs(mean) > FAR * np.where(deviation > 0, deviation, 1.0)
    return mean if far.any() and np.isfinite(mean).all() else None


def shifted(theta: Array, shift: Array | None, sign: int) -> Array:
    """Intercepts for columns from which `shift` was subtracted (sign 1), or back (sign −1)."""
    if shift is None:
        return theta
    return np.column_stack([theta[:, :-1], theta[:, -1] + sign * (theta[:, :-1] @ shift)])
