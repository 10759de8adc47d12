"""Leave-one-out for Gaussian classes: taking one row out of the moments of its class is a change of rank one.

With d = x − m the distance of a row of weight w from the mean of its class of weight n, what is left of the
class is

    weight n − w,   mean m − β d,   scatter S − γ d dᵀ      with β = w / (n − w),  γ = w n / (n − w),

and the row itself lies (1 + β) d from the new mean. Inverses follow by Sherman & Morrison's formula,
determinants by det(A − γ d dᵀ) = det A (1 − γ dᵀA⁻¹d). A row for which 1 − γ dᵀA⁻¹d is near zero gets NaN: it
must be refitted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Block
from tenfold.generative.classes import log_priors

Array = np.ndarray[Any, Any]
Form = Callable[[Block], Array]

LEAST = 1e-3  # what is left of a spread, as a share of it, below which digits are lost
FLAT = 1e-12  # a column whose standard deviation is below this share of its mean holds rounding errors only
LOG_2PI = float(np.log(2 * np.pi))


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
    """GaussianNB: variances of the row's own class, and the smoothing, which depends on all rows.

    With v the variances of the full fit and g = d² / v, what is left of them is  v (n/(n − w) + b/v − γ/(n −
    w) g), b being what the smoothing ε changes to minus ε n/(n − w).
    """
    weight, mean, squares = full.stats_.weight, full.stats_.mean, full.stats_.scatter
    total = weight.sum()
    overall = (weight / total) @ mean
    whole = squares.sum(axis=0) + weight @ (mean - overall) ** 2  # of all classes together
    widest = int(whole.argmax())
    safe = np.where(weight > 0, weight, 1.0)[:, None]
    size = np.maximum(np.abs(mean).max(axis=0), np.sqrt(whole / total))
    if (squares / safe + full.epsilon_ <= (FLAT * size) ** 2)[weight > 0].any():
        return None  # nothing but rounding errors in a column of a class
    level = -0.5 * (LOG_2PI + np.log(full.var_)).sum(axis=1)
    inverse, least = 1 / full.var_, full.var_[weight > 0].min()

    def smoothing(X: Array, block: Block, gone: Removal) -> Array:
        """var_smoothing times the largest variance of a column among the rows left."""
        fall = block.w * total / gone.total
        largest = whole[widest] - fall * (X[:, widest] - overall[widest]) ** 2
        rivals = np.flatnonzero(whole >= largest.min())  # no other column can become the widest
        if len(rivals) > 1:
            largest = (whole[rivals] - fall[:, None] * (X[:, rivals] - overall[rivals]) ** 2).max(axis=1)
        largest[largest < 1e-4 * whole[widest]] = np.nan
        return full.var_smoothing * largest / gone.total

    def other_classes(X: Array, block: Block, epsilon: Array) -> Array:
        if np.fmax.reduce(np.abs(epsilon - full.epsilon_), initial=0.0) <= 1e-12 * least:  # NaN aside
            return ops.spread_scores(block.X, full.theta_, inverse, level)
        scores = np.empty((len(block), len(weight)))
        for k in range(len(weight)):
            var = squares[k] / safe[k] + epsilon[:, None]
            var[~(var > 0)] = np.nan
            scores[:, k] = -0.5 * (LOG_2PI + np.log(var) + (X - mean[k]) ** 2 / var).sum(axis=1)
        return scores

    def own_class(space: Space, X: Array, k: int, here: Array, gone: Removal, epsilon: Array) -> Array:
        """The score of class k for rows of class k."""
        beta, left, gamma = gone.beta[here], gone.left[here], gone.gamma[here]
        b = epsilon[here] - full.epsilon_ * weight[k] / left
        D = distances(space, X, here, mean[k])
        D *= D
        D *= inverse[k][:, None]
        kept = np.multiply(D, -gamma / left, out=space.like(D))
        kept += weight[k] / left
        if not np.abs(b).max(initial=0.0) <= 1e-13 * least:
            kept += inverse[k][:, None] * b
        with np.errstate(divide="ignore", invalid="ignore"):
            D /= kept
            distance = (1 + beta) ** 2 * D.sum(axis=0)
            score = level[k] - 0.5 * (log_products(kept) + distance)
        score[~(np.abs(distance) * gamma < weight[k] / LEAST)] = np.nan  # a column has hardly any spread left
        return score

    space = Space()

    def outputs(block: Block) -> Array:
        X, gone = rows_of(block), removal(weight, block)
        epsilon = smoothing(X, block, gone)
        scores = other_classes(X, block, epsilon)
        for k, here in by_class(block):
            scores[here, k] = own_class(space, X, k, here, gone, epsilon)
        return scores + priors_left(full, full.class_prior_, weight, block, gone)

    return outputs


class Space(threading.local):
    """Room for the tables of a class, kept from block to block: fresh memory costs as much as the sums."""

    def __init__(self) -> None:
        self.room = [np.empty(0), np.empty(0), np.empty(0)]

    def table(self, which: int, rows: int, columns: int) -> Array:
        size = rows * columns
        if self.room[which].size < size:
            self.room[which] = np.empty(size)
        return self.room[which][:size].reshape(rows, columns)

    def like(self, D: Array) -> Array:
        """A second table of the same shape."""
        return self.table(1, *D.shape)


def by_class(block: Block) -> list[tuple[int, Array]]:
    """The classes in a block, each with its rows."""
    order = np.argsort(block.y.astype(np.uint16), kind="stable")  # short integers are sorted by counting
    ends = np.cumsum(np.bincount(block.y))
    return [(k, here) for k, here in enumerate(np.split(order, ends[:-1])) if len(here)]


def distances(space: Space, X: Array, here: Array, mean: Array) -> Array:
    """x − mean of some rows, column by column: (p, rows), so that numbers of a row meet in long loops."""
    p = X.shape[1]
    rows = X.take(here, axis=0, out=space.table(2, len(here), p), mode="clip")
    D = space.table(0, p, len(here))
    np.copyto(D, rows.T)
    D -= mean[:, None]
    return D


def log_products(values: Array) -> Array:
    """Σ log over the columns (the first axis), for values between 1e-6 and 1e6: thirty-two of them stay in
    range.
    """
    starts = range(0, len(values), 32)
    return sum(np.log(np.multiply.reduce(values[i : i + 32], axis=0)) for i in starts)


# --- nearest centroid ---------------------------------------------------------------------------------------


def nearest_centroid(full: Any) -> Form | None:
    """NearestCentroid with means: the scale of every column changes with every row; the choice does not use
    it.
    """
    weight = full.class_weight_
    if full.metric != "euclidean" or full.shrink_threshold or not full.stats_.scatter.sum(axis=0).all():
        return None  # a column without spread counts in its own unit
    mean, squares = full.stats_.mean, full.stats_.scatter.sum(axis=0)
    n_classes, prior = int(np.count_nonzero(weight)), full.class_prior_
    unit = 1 / np.sqrt(squares)
    scaled = mean * unit
    equal = np.abs(prior - 1 / len(prior)).max() <= 1e-8 + 1e-5 / len(prior)

    def one_class(space: Space, X: Array, k: int, here: Array, gone: Removal) -> Array:
        """−Σⱼ (x − c)² / sⱼ² to every centre for rows of class k, the row taken out of k and s.

        With r the share of a column's spread that is left, and x − cᵢ = d + (cₖ − cᵢ), it is
        Σ d²/r + 2 (cₖ − cᵢ)·(d/r) + (cₖ − cᵢ)²·(1/r).
        """
        gamma, apart = gone.gamma[here], scaled[k] - scaled
        D = distances(space, X, here, mean[k])
        D *= unit[:, None]
        inverse = np.multiply(D, D, out=space.like(D))
        inverse *= -gamma
        inverse += 1.0
        with np.errstate(divide="ignore"):
            np.reciprocal(inverse, out=inverse)
        inverse[~np.isfinite(inverse)] = np.nan
        both = apart * apart @ inverse
        inverse *= D
        both += 2 * apart @ inverse
        inverse *= D
        own = inverse.sum(axis=0)
        scores = -both - own
        scores[k] = -((1 + gone.beta[here]) ** 2) * own
        scores *= gone.total[here] - n_classes
        scores[:, ~(np.abs(own) * gamma < 1 / LEAST) | ~(gone.total[here] > n_classes)] = np.nan
        return scores.T

    space = Space()

    def outputs(block: Block) -> Array:
        X, gone, rows = rows_of(block), removal(weight, block), np.arange(len(block))
        scores = np.empty((len(block), len(weight)))
        for k, here in by_class(block):
            scores[here] = one_class(space, X, k, here, gone)
        scores += 2 * priors_left(full, prior, weight, block, gone)
        near = scores
        if equal:
            near = ops.spread_scores(block.X, mean, np.full_like(mean, 2.0), np.where(weight > 0, 0.0, -np.inf))
            near[rows, block.y] *= (1 + gone.beta) ** 2
        return np.column_stack([scores, near.argmax(axis=1)])

    return outputs
