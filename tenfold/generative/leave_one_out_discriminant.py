"""Leave-one-out for discriminant analysis: covariances change by rank one (notation: `leave_one_out`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tenfold import _evaluate
from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.threads import patiently
from tenfold.generative.classes import log_priors
from tenfold.generative.leave_one_out import FLAT, LEAST, Form, weights_of
from tenfold.solve.linalg import eigh, invert_triangle, singular_values, whitened_squares

SINGULAR = 1e-6  # smallest eigenvalue of a correlation matrix that leaves enough digits
DIGITS = 2e-7  # over that eigenvalue: the least 1 − γ dᵀA⁻¹d that leaves nine digits
GRADED = 1e-7  # the same of a covariance in the units of its columns, as a share of the largest


def linear_discriminant(full: Estimator) -> Form | None:
    """LinearDiscriminantAnalysis: a rank-one change of the covariance within classes, seen by all classes."""
    weight, mean, scatter = full.stats_.weight, full.stats_.mean, full.stats_.scatter
    if full.priors is not None and (full.solver != "svd" or full.shrinkage):
        return None  # each class enters the covariance by its prior: not of rank one
    within, share = scatter.sum(axis=0), float(full.shrinkage or 0.0)
    scale = np.ones(len(within)) if share else np.sqrt(np.diagonal(within))
    if not (scale > FLAT * np.abs(mean).max(axis=0)).all():
        return None
    values, vectors = eigh(within / scale / scale[:, None])
    total, center = float(weight.sum()), full.priors_ @ mean
    if share:
        if not _graded_little((1 - share) * values + share * values.mean()):
            return None
    elif values[0] < max(SINGULAR, 4 * full.tol**2 if full.solver == "svd" else 0.0):
        return None
    else:  # any factor of the inverse will do: a triangular one is half the work
        vectors = invert_triangle(patiently(np.linalg.cholesky, within / scale / scale[:, None] / total)).T
    A = np.ascontiguousarray(vectors / scale[:, None])
    apart = (mean - center) @ A
    if full.solver == "svd" and not _all_axes(apart, full, values, total, share):
        return None
    if share:
        return _shrunk(full, share, values, A, apart, center)
    classes, coef, inner = weights_of(full, full.priors_, weight), apart @ A.T, apart @ apart.T
    least = max(LEAST, DIGITS / values[0])

    def outputs(block: Block) -> Array:
        X = ops.dense(block.X)
        squares = whitened_squares(X, center[None], A[None])[:, 0]
        return _evaluate.linear_discriminant_left(X, block.y, block.w, *classes, squares, center, coef, inner, least)

    return outputs


def _shrunk(full: Estimator, share: float, values: Array, A: Array, apart: Array, center: Array) -> Form:
    """The same for (1 − s) (S − γ d dᵀ)/n + s tr(S − γ d dᵀ)/(n p) I, whose second part changes with every row."""
    weight, p = full.stats_.weight, len(values)
    K, trace, floor = len(weight), float(values.sum()), (1 - share) * np.maximum(values, 0.0)

    def outputs(block: Block) -> Array:
        gone, rows = removal(weight, block), np.arange(len(block))
        Z = (rows_of(block) - center) @ A
        d = Z - apart[block.y]
        spare = share * (trace - gone.gamma * (d * d).sum(axis=1)) / p
        inverse = 1 / (floor + spare[:, None])
        gamma, q = (1 - share) * gone.gamma, (d * d * inverse).sum(axis=1)
        rest = 1 - gamma * q
        rest[~(rest > LEAST)] = np.nan
        distance = np.empty((len(block), K))
        for k in range(K):
            delta = Z - apart[k]
            along = (d * delta * inverse).sum(axis=1)
            distance[:, k] = (delta * delta * inverse).sum(axis=1) + gamma / rest * along * along
        distance[rows, block.y] = (1 + gone.beta) ** 2 * q / rest
        return (-0.5 * gone.total)[:, None] * distance + priors_left(full, full.priors_, weight, block, gone)

    return outputs


def _all_axes(apart: Array, full: Estimator, values: Array, total: float, share: float) -> bool:
    """Whether every direction between the class means counts, with some room: then it counts without any row
    too.
    """
    spread = np.ones_like(values) if share == 0 else np.sqrt(((1 - share) * values + share * values.mean()) / total)
    S = singular_values(apart / spread * np.sqrt(full.priors_)[:, None])
    most = min(len(apart) - 1, apart.shape[1])
    return bool(most == 0 or S[most - 1] > 4 * full.tol * S[0])


def quadratic_discriminant(full: Estimator) -> Form | None:
    """QuadraticDiscriminantAnalysis: only the row's own class changes."""
    weight, mean, scatter = full.stats_.weight, full.stats_.mean, full.stats_.scatter
    K, p = mean.shape
    prior = log_priors(full.priors_, weight)
    level = np.where(np.isfinite(full.constant_), full.constant_ - np.where(weight > 0, prior, 0.0), 0.0)
    if full.shrinkage or full.reg_param:
        return _regularised(full, level)
    smallest = np.array([_least_eigenvalue(scatter[k] / (weight[k] or 1.0), mean[k]) for k in range(K)])
    least = np.where(smallest > SINGULAR, np.maximum(LEAST, DIGITS / np.maximum(smallest, SINGULAR)), np.inf)
    classes = weights_of(full, full.priors_, weight)

    def outputs(block: Block) -> Array:
        squares = whitened_squares(ops.dense(block.X), mean, full.whitening_)
        return _evaluate.quadratic_discriminant_left(squares, p, block.y, block.w, *classes, level, least)

    return outputs


def _regularised(full: Estimator, level: Array) -> Form:
    """The same where the covariances have a multiple of the identity in them."""
    weight, mean = full.stats_.weight, full.stats_.mean
    p, s, r = mean.shape[1], float(full.shrinkage or 0.0), float(full.reg_param)
    turned = [eigh(one) for one in full.stats_.scatter]
    spread = [values / (n or 1.0) for (values, _), n in zip(turned, weight, strict=True)]
    usable = np.array([_graded_little((1 - r) * ((1 - s) * e + s * e.mean()) + r) for e in spread])

    def outputs(block: Block) -> Array:
        X, gone = rows_of(block), removal(weight, block)
        scores = ops.quadratic_scores(block.X, mean, full.whitening_, level)
        for k in np.unique(block.y):
            here = np.flatnonzero(block.y == k)
            values, vectors = turned[k]
            D2 = ((X[here] - mean[k]) @ vectors) ** 2
            left, gamma = gone.left[here], gone.gamma[here]
            factor = (1 - r) * (1 - s) / left
            trace = values.sum() - gamma * D2.sum(axis=1)
            e = factor[:, None] * np.maximum(values, 0.0) + ((1 - r) * s * trace / (p * left) + r)[:, None]
            q = (D2 / e).sum(axis=1)
            rest = 1 - factor * gamma * q
            rest[~(rest > LEAST)] = np.nan
            own = (1 + gone.beta[here]) ** 2 * q / rest
            scores[here, k] = -0.5 * (np.log(e).sum(axis=1) + np.log(rest) + own)
        scores[~usable[block.y]] = np.nan
        return np.asarray(scores + priors_left(full, full.priors_, weight, block, gone))

    return outputs


# --- row by row, where the change is not of rank one ---------------------------------------------------------


class Removal(NamedTuple):
    """What happens to the classes when a row goes, row by row."""

    left: Array  # weight of its class without it; NaN where nothing is left
    total: Array  # weight of all rows without it
    beta: Array
    gamma: Array


def removal(weight: Array, block: Block) -> Removal:
    n = weight[block.y]
    left = np.where(n - block.w > 1e-9 * n, n - block.w, np.nan)
    return Removal(left, weight.sum() - block.w, block.w / left, block.w * n / left)


def priors_left(full: Estimator, prior: Array, weight: Array, block: Block, gone: Removal) -> Array:
    """log πₖ of each row and class, after the row has gone."""
    _, logs, given = weights_of(full, prior, weight)
    if given:
        return np.tile(logs, (len(block), 1))
    logs = logs - np.log(gone.total)[:, None]
    logs[np.arange(len(block)), block.y] = np.log(gone.left / gone.total)
    return logs


def rows_of(block: Block) -> Array:
    return np.asarray(ops.dense(block.X), dtype=np.float64)


def _least_eigenvalue(C: Array, mean: Array) -> float:
    """Of a covariance scaled to correlations; zero where a column holds nothing but rounding errors."""
    scale = np.sqrt(np.maximum(np.diagonal(C), 0.0))
    if not (scale > FLAT * np.abs(mean)).all():
        return 0.0
    return float(eigh(C / scale / scale[:, None])[0][0])


def _graded_little(eigenvalues: Array) -> bool:
    """Whether the smallest have enough digits, which are rounded to the largest."""
    return bool(eigenvalues.min() > GRADED * eigenvalues.max())
