"""Tables much wider than long, for learners to which no direction of the columns is special: fitted in the space of the rows.

Where a learner knows rows by their products with a vector w and by ‖w‖ alone, its w is a sum of rows: w = V u, with V (p, r) an orthonormal
basis of the r ≤ n dimensions that the rows span. The u of the rows X V is found as of any table, in O(n² p) and without a matrix of p x p.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.learning import Keep, Learner, through
from tenfold.core.mapped import Mapped
from tenfold.core.threads import patiently
from tenfold.solve.few_rows import EPS, are_few


class RowSpace(NamedTuple):
    """The space of some rows: x ↦ (x − origin) V."""

    origin: Array  # (p,)
    V: Array  # (p, r), orthonormal columns

    def coordinates(self, X: Any) -> Array:
        return (np.asarray(ops.dense(X), dtype=np.float64) - self.origin) @ self.V

    def affine(self, fitted: dict[str, Any]) -> dict[str, Any]:
        """The fitted attributes of y ≈ x·w + b where those of its coordinates are given."""
        w = self.V @ fitted["coef_"]
        return dict(fitted, coef_=w, intercept_=fitted["intercept_"] - float(self.origin @ w))


def is_wide(source: Source) -> bool:
    """Whether it is known before reading that rows are much fewer than columns."""
    return source.n_rows is not None and are_few(source.n_rows, source.n_features)


def row_space(X: Array, centre: bool) -> RowSpace:
    """That of the rows of X, about their mean if `centre`."""
    origin = X.mean(axis=0) if centre else np.zeros(X.shape[1])
    origin = origin + (X - origin).mean(axis=0) if centre else origin
    _, singular, Vt = patiently(np.linalg.svd, X - origin, full_matrices=False)
    rank = int((singular > singular.max(initial=0.0) * EPS * max(X.shape)).sum())
    return RowSpace(origin, np.ascontiguousarray(Vt[: max(rank, 1)].T))


def in_row_space(learner: Any, source: Source, centre: bool, **given: Any) -> Learner[tuple[RowSpace, dict[str, Any]]]:
    """Fit a learner of the same parameters on the coordinates of the rows; the space, and what is fitted there."""
    X, _, _ = yield Keep()
    space, small = row_space(X.astype(np.float64, copy=False), centre), fresh(learner)
    narrow = Mapped(source, space.coordinates, space.V.shape[1])
    vars(small).update(n_features_in_=narrow.n_features, _flat=source.target.flat)
    fitted = yield from through(partial(_turned, space), small._passes(narrow, **given))
    return space, fitted


def _turned(space: RowSpace, block: Block) -> Block:
    return replace(block, X=space.coordinates(block.X), unread=None)
