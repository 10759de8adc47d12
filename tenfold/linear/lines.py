"""Several regressions of the same target: how likely each made a row, and the sums that each is fitted to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput
from tenfold.core.stats import Moments, Stats
from tenfold.solve.linalg import cholesky, cholesky_solve, least_norm_spd, lengths, reciprocal_condition

DEPENDENT = 1e-12  # 1 / condition of scaled columns, below which the solution of least norm is taken
NO_ROWS = 1e-200  # the least probability: a component without rows keeps numbers for its moments
TINY = np.finfo(np.float64).tiny


@dataclass(slots=True)
class Shared(Stats):
    """Σ w log p(y | x), and the moments of [x y] for each component, a row counting by its probability of coming from it."""

    log_likelihood: float
    moments: Moments


@dataclass(frozen=True, slots=True)
class Lines:
    """k linear regressions with their shares and variances."""

    shares: Array
    coef: Array  # (k, p)
    intercept: Array
    variances: Array

    def values(self, X: Any) -> Array:
        """(rows, k): what each says of a row."""
        return np.asarray(np.asarray(ops.dense(X), dtype=np.float64) @ self.coef.T + self.intercept)

    def log_joint(self, values: Array, y: Array) -> Array:
        """(rows, k): log πₖ + log N(y; fₖ(x), σₖ²), from the values of the regressions."""
        constants = np.log(np.maximum(self.shares, TINY)) - 0.5 * np.log(2 * math.pi * self.variances)
        return np.asarray(constants - 0.5 * (y[:, None] - values) ** 2 / self.variances)

    def expect(self, block: Block) -> Shared:
        y = block.y[:, 0]
        joint = self.log_joint(self.values(block.X), y)
        top = joint.max(axis=1)
        if not np.isfinite(top).all():
            raise BadInput("a target is so far from every regression that its density is zero: scale y, or drop the row")
        shares = np.exp(joint - top[:, None])
        total = shares.sum(axis=1)
        shares = np.maximum(shares / total[:, None], NO_ROWS) * block.w[:, None]
        X = np.ascontiguousarray(ops.dense(block.X))
        parts = [Moments.of(X, block.y, np.ascontiguousarray(own)) for own in shares.T]
        moments = Moments(*(np.array([getattr(one, name) for one in parts]) for name in ("weight", "center", "offset", "scatter")))
        return Shared(float(block.w @ (top + np.log(total))), moments)


def fitted_lines(moments: Moments, fit_intercept: bool, least: float, equal: bool) -> Lines:
    """The most likely regressions given the moments of the rows of each, with equal variances or not; none is below `least`."""
    k, p = moments.center.shape[0], moments.center.shape[1] - 1
    coef, variances = np.empty((k, p)), np.empty(k)
    mean, scatter = moments.mean, moments.scatter
    if not fit_intercept:  # about zero
        scatter = scatter + moments.weight[:, None, None] * mean[:, :, None] * mean[:, None, :]
    for one, S in enumerate(scatter):
        coef[one] = _solved(S[:p, :p], S[:p, p])
        away = np.append(-coef[one], 1.0)
        variances[one] = away @ S @ away  # the sum of squares, so far
    variances = np.full(k, variances.sum() / moments.weight.sum()) if equal else variances / np.maximum(moments.weight, TINY)
    intercept = mean[:, p] - (coef * mean[:, :p]).sum(axis=1) if fit_intercept else np.zeros(k)
    return Lines(moments.weight / moments.weight.sum(), coef, intercept, np.maximum(variances, least))


def _solved(A: Array, b: Array) -> Array:
    scale = lengths(A)
    L = cholesky(A / scale[:, None] / scale)
    if L is not None and reciprocal_condition(A / scale[:, None] / scale, L) > DEPENDENT:
        return np.asarray(cholesky_solve(L, b / scale) / scale)
    return least_norm_spd(A, b)[0]
