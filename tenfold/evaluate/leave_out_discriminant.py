"""Leave-one-out for discriminant analysis: covariances change by rank one (notation: `leave_out_classes`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Block
from tenfold.evaluate.leave_out_classes import (
    FLAT,
    LEAST,
    Array,
    Form,
    Removal,
    priors_left,
    removal,
    rows_of,
)
from tenfold.generative.classes import log_priors
from tenfold.solve.linalg import eigh

SINGULAR = 1e-6  # smallest eigenvalue of a correlation matrix that leaves enough digits
DIGITS = 2e-7  # over that eigenvalue: the least 1 − γ dᵀA⁻¹d that leaves nine digits
GRADED = 1e-7  # the same of a covariance in the units of its columns, as a share of the largest


def linear_discriminant(full: Any) -> Form | None:
    """LinearDiscriminantAnalysis: a rank-one change of the covariance within classes, seen by all classes."""
    weight, mean, scatter = full.stats_.weight, full.stats_.mean, full.stats_.scatter
    if full.priors is not None and (full.solver != "svd" or full.shrinkage):
        return None  # each class enters the covariance by its prior: not of rank one
    K, p = mean.shape
    within, share = scatter.sum(axis=0), float(full.shrinkage or 0.0)
    scale = np.ones(p) if share else np.sqrt(np.diagonal(within))
    if not (scale > FLAT * np.abs(mean).max(axis=0)).all():
        return None
    values, vectors = eigh(within / scale / scale[:, None])
    total = weight.sum()
    center = full.priors_ @ mean
    whitened = share == 0
    if whitened:
        if values[0] < max(SINGULAR, 4 * full.tol**2 if full.solver == "svd" else 0.0):
            return None
        vectors = vectors * np.sqrt(total / values)
    elif not _graded_little((1 - share) * values + share * values.mean()):
        return None
    A = np.ascontiguousarray(vectors / scale[:, None])
    apart = (mean - center) @ A
    if full.solver == "svd" and not _all_axes(apart, full, values, total, share):
        return None
    trace = float(values.sum())

    least = max(LEAST, DIGITS / values[0]) if whitened else LEAST
    inner, coef = apart @ apart.T, np.ascontiguousarray(apart @ A.T)

    def whitened_terms(block: Block, gone: Removal) -> tuple[Array, Array, Array, Array, Array]:
        """γ, the unit, squared distances to the centres, products with d, and dᵀA⁻¹d: all from two products
        with X.
        """
        cross = (rows_of(block) - center) @ coef.T  # centred first: means may be far larger than spreads
        own = -2 * ops.quadratic_scores(block.X, center[None], A[None], np.zeros(1))
        mine = cross[np.arange(len(block)), block.y][:, None]
        plain = own - 2 * cross + np.diagonal(inner)
        with_d = own - mine - cross + inner[block.y]
        q = (own - 2 * mine)[:, 0] + np.diagonal(inner)[block.y]
        return gone.gamma / total, gone.total / total, plain, with_d, q

    def shrunk_terms(block: Block, gone: Removal) -> tuple[Array, Array, Array, Array, Array]:
        """The same for (1 − s) (S − γ d dᵀ)/n + s tr(S − γ d dᵀ)/(n p) I, whose second part changes with
        every row.
        """
        Z = (rows_of(block) - center) @ A
        d = Z - apart[block.y]
        spare = share * (trace - gone.gamma * (d * d).sum(axis=1)) / p
        inverse = 1 / ((1 - share) * np.maximum(values, 0.0) + spare[:, None])
        plain, with_d = np.empty((len(block), K)), np.empty((len(block), K))
        for k in range(K):
            delta = Z - apart[k]
            plain[:, k] = (delta * delta * inverse).sum(axis=1)
            with_d[:, k] = (d * delta * inverse).sum(axis=1)
        return (1 - share) * gone.gamma, gone.total, plain, with_d, (d * d * inverse).sum(axis=1)

    def outputs(block: Block) -> Array:
        gone = removal(weight, block)
        gamma, unit, distance, with_d, q = (whitened_terms if whitened else shrunk_terms)(block, gone)
        rest = 1 - gamma * q
        rest[~(rest > least)] = np.nan
        with_d *= with_d
        with_d *= (gamma / rest)[:, None]
        distance += with_d
        distance[np.arange(len(block)), block.y] = (1 + gone.beta) ** 2 * q / rest
        distance *= (-0.5 * unit)[:, None]
        return distance + priors_left(full, full.priors_, weight, block, gone)

    return outputs


def _all_axes(apart: Array, full: Any, values: Array, total: float, share: float) -> bool:
    """Whether every direction between the class means counts, with some room: then it counts without any row
    too.
    """
    spread = np.ones_like(values) if share == 0 else np.sqrt(((1 - share) * values + share * values.mean()) / total)
    S = np.linalg.svd(apart / spread * np.sqrt(full.priors_)[:, None], compute_uv=False)
    most = min(len(apart) - 1, apart.shape[1])
    return bool(most == 0 or S[most - 1] > 4 * full.tol * S[0])


def quadratic_discriminant(full: Any) -> Form | None:
    """QuadraticDiscriminantAnalysis: only the row's own class changes."""
    weight, mean, scatter = full.stats_.weight, full.stats_.mean, full.stats_.scatter
    K, p = mean.shape
    prior = log_priors(full.priors_, weight)
    level = np.where(np.isfinite(full.constant_), full.constant_ - np.where(weight > 0, prior, 0.0), 0.0)
    s, r = float(full.shrinkage or 0.0), float(full.reg_param)
    turned = [eigh(scatter[k]) for k in range(K)] if s or r else []
    if turned:
        spread = [values / (n or 1.0) for (values, _), n in zip(turned, weight, strict=True)]
        usable = np.array([_graded_little((1 - r) * ((1 - s) * e + s * e.mean()) + r) for e in spread])
    else:
        smallest = np.array([_least_eigenvalue(scatter[k] / (weight[k] or 1.0), mean[k]) for k in range(K)])
        usable, least = smallest > SINGULAR, np.maximum(LEAST, DIGITS / np.maximum(smallest, SINGULAR))

    def regularised(X: Array, block: Block, gone: Removal) -> tuple[Array, Array]:
        """Distance and −½ log det of the row's own class, where the covariance has a multiple of the identity
        in it.
        """
        own, log_det = np.full(len(block), np.nan), np.full(len(block), np.nan)
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
            own[here] = (1 + gone.beta[here]) ** 2 * q / rest
            log_det[here] = -0.5 * (np.log(e).sum(axis=1) + np.log(rest))
        return own, log_det

    def outputs(block: Block) -> Array:
        gone, rows = removal(weight, block), np.arange(len(block))
        scores = ops.quadratic_scores(block.X, mean, full.whitening_, level)
        if s or r:
            own, log_det = regularised(rows_of(block), block, gone)
        else:
            n = weight[block.y]
            q = 2 * (level[block.y] - scores[rows, block.y])
            rest = 1 - gone.gamma / n * q
            rest[~(rest > least[block.y])] = np.nan
            own = (1 + gone.beta) ** 2 * (gone.left / n) * q / rest
            log_det = level[block.y] - 0.5 * (p * np.log(n / gone.left) + np.log(rest))
        scores[rows, block.y] = log_det - 0.5 * own
        scores[~usable[block.y]] = np.nan
        return scores + priors_left(full, full.priors_, weight, block, gone)

    return outputs


def _least_eigenvalue(C: Array, mean: Array) -> float:
    """Of a covariance scaled to correlations; zero where a column holds nothing but rounding errors."""
    scale = np.sqrt(np.maximum(np.diagonal(C), 0.0))
    if not (scale > FLAT * np.abs(mean)).all():
        return 0.0
    return float(eigh(C / scale / scale[:, None])[0][0])


def _graded_little(eigenvalues: Array) -> bool:
    """Whether the smallest have enough digits, which are rounded to the largest."""
    return bool(eigenvalues.min() > GRADED * eigenvalues.max())
