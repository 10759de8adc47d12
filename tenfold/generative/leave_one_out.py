"""Leave-one-out for Gaussian classes: taking one row out of the moments of its class is a change of rank one.

With d = x − m the distance of a row of weight w from the mean of its class of weight n, what is left of the
class is

    weight n − w,   mean m − β d,   scatter S − γ d dᵀ      with β = w / (n − w),  γ = w n / (n − w),

and the row itself lies (1 + β) d from the new mean. The loops over rows are native (`src/kernels/evaluate/leave_out.hpp`):
no table larger than a block is made. A row for which a spread hardly has anything left gets NaN: it must be
refitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold import _evaluate
from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.generative.classes import log_priors

Form = Callable[[Block], Array]

LEAST = 1e-3  # what is left of a spread, as a share of it, below which digits are lost
FLAT = 1e-12  # a column whose standard deviation is below this share of its mean holds rounding errors only
LOG_2PI = float(np.log(2 * np.pi))


def weights_of(full: Any, prior: Array, weight: Array) -> tuple[Array, Array, bool]:
    """Weights of the classes, log priors, and whether these are given: else they are shares of the weight that
    is left, and the logarithms are those of the weights.
    """
    given = full.priors is not None and not (isinstance(full.priors, str) and full.priors == "empirical")
    with np.errstate(divide="ignore"):
        return weight, log_priors(prior, weight) if given else np.log(weight), given


def naive_bayes(full: Estimator) -> Form | None:
    """GaussianNB: variances of the row's own class, and the smoothing, which depends on all rows.

    With v the variances of the full fit and g = d² / v, what is left of them is  v (n/(n − w) + b/v − γ/(n −
    w) g), b being what the smoothing ε changes to minus ε n/(n − w).
    """
    weight, mean, squares = full.stats_.weight, full.stats_.mean, full.stats_.scatter
    total = weight.sum()
    overall = (weight / total) @ mean
    whole = squares.sum(axis=0) + weight @ (mean - overall) ** 2  # of all classes together
    safe = np.where(weight > 0, weight, 1.0)[:, None]
    size = np.maximum(np.abs(mean).max(axis=0), np.sqrt(whole / total))
    if (squares / safe + full.epsilon_ <= (FLAT * size) ** 2)[weight > 0].any():
        return None  # nothing but rounding errors in a column of a class
    level = -0.5 * (LOG_2PI + np.log(full.var_)).sum(axis=1)
    classes = weights_of(full, full.class_prior_, weight)
    order: Array = np.argsort(-whole, kind="stable")
    model = (mean, 1 / full.var_, level, whole, overall, order)
    smoothing = (float(full.var_smoothing), float(full.epsilon_), 1e-13 * float(full.var_[weight > 0].min()))
    return lambda block: _evaluate.naive_bayes_left(ops.dense(block.X), block.y, block.w, *classes, *model, *smoothing)


def nearest_centroid(full: Estimator) -> Form | None:
    """NearestCentroid with means: the scale of every column changes with every row; the choice does not use
    it.
    """
    weight, squares = full.class_weight_, full.stats_.scatter.sum(axis=0)
    if full.metric != "euclidean" or full.shrink_threshold or not squares.all():
        return None  # a column without spread counts in its own unit
    classes = weights_of(full, full.class_prior_, weight)
    mean, unit = full.stats_.mean, 1 / squares
    count = len(full.class_prior_)
    nearest = bool(np.abs(full.class_prior_ - 1 / count).max() <= 1e-8 + 1e-5 / count)
    return lambda block: _evaluate.centroids_left(ops.dense(block.X), block.y, block.w, *classes, mean, unit, nearest)
