"""The way back: rows of components, sources or parts in the original columns again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core import ops
from tenfold.core.data import Array, as_floats
from tenfold.core.numbers import check_finite


def brought_back(learner: Any, X: Any, width: Callable[[], int], back: Callable[[Array], Array]) -> Array:
    """`back` of rows that have passed the gate: `width` finite columns, as `transform` of the fitted learner gives; as precise as X."""
    check.check_fitted(learner)
    Z, _ = check.as_table(learner, X)
    check.check_width(learner, Z.shape[1], width())
    Z = as_floats(ops.dense(Z))
    check_finite(Z, slice(0, None), None, False)
    return map_rows(lambda Z: back(Z).astype(Z.dtype, copy=False), Z)
