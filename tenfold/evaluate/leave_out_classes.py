"""Leave-one-out for Gaussian classes: taking one row out of the moments of its class is a change of rank one.

With d = x − m the distance of a row of weight w from the mean of its class of weight n, what is left of the class is

    weight n − w,   mean m − β d,   scatter S − γ d dᵀ      with β = w / (n − w),  γ = w n / (n − w),

and the row itself lies (1 + β) d from the new mean. Inverses follow by Sherman & Morrison's formula, determinants by
det(A − γ d dᵀ) = det A (1 − γ dᵀA⁻¹d). A row for which 1 − γ dᵀA⁻¹d is near zero gets NaN: it must be refitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Block
from tenfold.generative.classes import log_priors
from tenfold.solve.linalg import eigh

Array = np.ndarray[Any, Any]
Form = Callable[[Block], Array]

LEAST = 1e-6  # what is left of a spread, as a share of it, below which digits are lost
LOG_2PI = float(np.log(2 * np.pi))
SINGULAR = 1e-10  # smallest eigenvalue of a correlation matrix that leaves enough digits


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


def priors_left(full: Any, prior: Array, weight: Array, block: Block, gone: Removal) -> Array:
    """log πₖ of each row and class, after the row has gone: given, or shares of the weight that is left."""
    given = full.priors is not None and not (isinstance(full.priors, str) and full.priors == "empirical")
    if given:
        return np.tile(log_priors(prior, weight), (len(block), 1))
    with np.errstate(divide="ignore"):
        logs = np.log(weight) - np.log(gone.total)[:, None]
    logs[np.arange(len(block)), block.y] = np.log(gone.left / gone.total)
    return logs


def rows_of(block: Block) -> Array:
    return np.asarray(ops.dense(block.X), dtype=np.float64)


# --- naive Bayes --------------------------------------------------------------------------------------------


def naive_bayes(full: Any) -> Form | None:
    """GaussianNB: variances of the row's own class, and the smoothing, which depends on all rows."""
    weight, mean, squares = full.stats_.weight, full.stats_.mean, full.stats_.scatter
    total = weight.sum()
    overall = (weight / total) @ mean
    whole = squares.sum(axis=0) + weight @ (mean - overall) ** 2  # of all classes together
    widest = int(whole.argmax())
    constant = -0.5 * (LOG_2PI + np.log(full.var_)).sum(axis=1)
    safe = np.where(weight > 0, weight, 1.0)[:, None]

    def smoothing(X: Array, block: Block, gone: Removal) -> Array:
        """var_smoothing times the largest variance of a column among the rows left."""
        if full.var_smoothing == 0:
            return np.zeros(len(block))
        fall = block.w * total / gone.total
        largest = whole[widest] - fall * (X[:, widest] - overall[widest]) ** 2
        rivals = np.flatnonzero(whole >= largest.min())  # no other column can become the widest
        if len(rivals) > 1:
            largest = (whole[rivals] - fall[:, None] * (X[:, rivals] - overall[rivals]) ** 2).max(axis=1)
        largest[largest < 1e-4 * whole[widest]] = np.nan
        return full.var_smoothing * largest / gone.total

    def outputs(block: Block) -> Array:
        X, gone = rows_of(block), removal(weight, block)
        epsilon = smoothing(X, block, gone)
        change = np.abs(epsilon - full.epsilon_)
        if np.nanmax(change, initial=0.0) <= 1e-12 * full.var_[weight > 0].min():
            scores = ops.spread_scores(block.X, full.theta_, 1 / full.var_, constant)
        else:
            scores = np.empty((len(block), len(weight)))
            for k in range(len(weight)):
                var = squares[k] / safe[k] + epsilon[:, None]
                var[var <= 0] = np.nan
                scores[:, k] = -0.5 * (LOG_2PI + np.log(var) + (X - mean[k]) ** 2 / var).sum(axis=1)
        D2 = X - mean[block.y]
        D2 *= D2
        was = squares[block.y]
        var = was - gone.gamma[:, None] * D2
        var += (epsilon * gone.left)[:, None]
        lost = ((var < LEAST * was) | (var <= 0)).any(axis=1)
        var[lost] = np.nan
        D2 /= var
        ratio = var
        ratio /= gone.left[:, None]
        own = log_sums(ratio) + (1 + gone.beta) ** 2 * gone.left * D2.sum(axis=1)
        scores[np.arange(len(block)), block.y] = -0.5 * (X.shape[1] * LOG_2PI + own)
        return scores + priors_left(full, full.class_prior_, weight, block, gone)

    return outputs


def log_sums(values: Array) -> Array:
    """Σⱼ log vⱼ of each row, by the logarithms of products of a few columns, each scaled to mantissa and exponent."""
    mantissa, exponent = np.frexp(values)  # in [½, 1): sixty-four of them do not underflow
    pieces = [
        np.log(np.multiply.reduce(mantissa[:, i : i + 64], axis=1)) for i in range(0, values.shape[1], 64)
    ]
    return sum(pieces) + np.log(2.0) * exponent.sum(axis=1)


# --- nearest centroid ---------------------------------------------------------------------------------------


def nearest_centroid(full: Any) -> Form | None:
    """NearestCentroid with means: the scale of every column changes with every row; the choice does not use it."""
    if full.metric != "euclidean" or full.shrink_threshold:
        return None
    weight, mean, squares = full.stats_.weight, full.stats_.mean, full.stats_.scatter.sum(axis=0)
    n_classes, prior = int(np.count_nonzero(weight)), full.class_prior_
    center = (weight / weight.sum()) @ mean
    apart = mean - center
    equal = np.abs(prior - 1 / len(prior)).max() <= 1e-8 + 1e-5 / len(prior)

    def outputs(block: Block) -> Array:
        X, gone, rows = rows_of(block) - center, removal(weight, block), np.arange(len(block))
        D2 = (X - apart[block.y]) ** 2
        spread = squares - gone.gamma[:, None] * D2
        lost = ((spread < LEAST * squares) | (spread < 0)).any(axis=1)
        flat = spread <= 0  # a column without spread counts in its own unit
        inverse = np.where(flat, 1.0, (gone.total - n_classes)[:, None] / np.where(flat, 1.0, spread))
        scaled = inverse * X
        scores = 2 * (scaled @ apart.T) - inverse @ (apart * apart).T - (scaled * X).sum(axis=1)[:, None]
        grown = (1 + gone.beta) ** 2
        scores[rows, block.y] = -grown * (D2 * inverse).sum(axis=1)
        scores += 2 * priors_left(full, prior, weight, block, gone)
        scores[lost | ~(gone.total > n_classes)] = np.nan
        if equal:
            near = 2 * (X @ apart.T) - (apart * apart).sum(axis=1) - (X * X).sum(axis=1)[:, None]
            near[rows, block.y] = -grown * D2.sum(axis=1)
            near[:, weight == 0] = -np.inf
        else:
            near = np.where(np.isnan(scores), -np.inf, scores)
        return np.column_stack([scores, near.argmax(axis=1)])

    return outputs


# --- discriminant analysis ----------------------------------------------------------------------------------


def linear_discriminant(full: Any) -> Form | None:
    """LinearDiscriminantAnalysis: a rank-one change of the covariance within classes, seen by all classes."""
    weight, mean, scatter = full.stats_.weight, full.stats_.mean, full.stats_.scatter
    if full.priors is not None and (full.solver != "svd" or full.shrinkage):
        return None  # each class enters the covariance by its prior: not of rank one
    K, p = mean.shape
    within, share = scatter.sum(axis=0), float(full.shrinkage or 0.0)
    scale = np.ones(p) if share else np.sqrt(np.diagonal(within))
    if not scale.all():
        return None
    values, vectors = eigh(within / scale / scale[:, None])
    total = weight.sum()
    center = full.priors_ @ mean
    whitened = share == 0
    if whitened:
        if values[0] / total < max(SINGULAR, 4 * full.tol**2 if full.solver == "svd" else 0.0):
            return None
        vectors = vectors * np.sqrt(total / values)
    A = vectors / scale[:, None]
    apart = (mean - center) @ A
    if full.solver == "svd" and not _all_axes(apart, full, values, total, share):
        return None
    trace, turn, shift = float(values.sum()), np.ascontiguousarray(A.T), -(center @ A)

    def mahalanobis(Z: Array, block: Block, gone: Removal) -> tuple[Array, Array]:
        """Squared distances of every row to every centre, and 1 − γ dᵀA⁻¹d, in rotated coordinates."""
        rows, d = np.arange(len(block)), Z - apart[block.y]
        if whitened:
            gamma, unit = gone.gamma / total, (gone.total / total)[:, None]
            cross = Z @ apart.T
            own = (Z * Z).sum(axis=1)[:, None]
            plain = own - 2 * cross + (apart * apart).sum(axis=1)
            with_d = own - cross - cross[rows, block.y][:, None] + (apart @ apart.T)[block.y]
            q = (d * d).sum(axis=1)
        else:  # (1 − s) (S − γ d dᵀ)/n + s tr(S − γ d dᵀ)/(n p) I: the second part changes with every row
            gamma, unit = (1 - share) * gone.gamma, gone.total[:, None]
            spare = share * (trace - gone.gamma * (d * d).sum(axis=1)) / p
            inverse = 1 / ((1 - share) * np.maximum(values, 0.0) + spare[:, None])
            plain, with_d = np.empty((len(block), K)), np.empty((len(block), K))
            for k in range(K):
                delta = Z - apart[k]
                plain[:, k] = (delta * delta * inverse).sum(axis=1)
                with_d[:, k] = (d * delta * inverse).sum(axis=1)
            q = (d * d * inverse).sum(axis=1)
        rest = 1 - gamma * q
        rest[~(rest > LEAST)] = np.nan
        distance = unit * (plain + (gamma / rest)[:, None] * with_d**2)
        distance[rows, block.y] = (1 + gone.beta) ** 2 * unit[:, 0] * q / rest
        return distance, rest

    def outputs(block: Block) -> Array:
        gone = removal(weight, block)
        Z = ops.linear_scores(block.X, turn, shift)
        distance, rest = mahalanobis(Z, block, gone)
        scores = priors_left(full, full.priors_, weight, block, gone) - 0.5 * distance
        scores[np.isnan(rest)] = np.nan
        return scores

    return outputs


def _all_axes(apart: Array, full: Any, values: Array, total: float, share: float) -> bool:
    """Whether every direction between the class means counts, with some room: then it counts without any row too."""
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
    usable = np.array([_well_conditioned(scatter[k] / (weight[k] or 1.0), s or r) for k in range(K)])
    turned = [eigh(scatter[k]) for k in range(K)] if s or r else []

    def regularised(X: Array, block: Block, gone: Removal) -> tuple[Array, Array]:
        """Distance and −½ log det of the row's own class, where the covariance has a multiple of the identity in it."""
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
            rest[~(rest > LEAST)] = np.nan
            own = (1 + gone.beta) ** 2 * (gone.left / n) * q / rest
            log_det = level[block.y] - 0.5 * (p * np.log(n / gone.left) + np.log(rest))
        scores[rows, block.y] = log_det - 0.5 * own
        scores[~usable[block.y]] = np.nan
        return scores + priors_left(full, full.priors_, weight, block, gone)

    return outputs


def _well_conditioned(C: Array, regularised: float) -> bool:
    if regularised:
        return True
    scale = np.sqrt(np.maximum(np.diagonal(C), 0.0))
    return bool(scale.all()) and bool(eigh(C / scale / scale[:, None])[0][0] > SINGULAR)


FORMS: dict[str, Callable[[Any], Form | None]] = {
    "GaussianNB": naive_bayes,
    "NearestCentroid": nearest_centroid,
    "LinearDiscriminantAnalysis": linear_discriminant,
    "QuadraticDiscriminantAnalysis": quadratic_discriminant,
}
