"""Why logistic regression without a penalty has no single optimum: classes that are separated, or columns that depend on one another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tenfold.base.estimator import softmax
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner
from tenfold.core.stats import Moments, Stats
from tenfold.linear.logistic_terms import Setting

CERTAIN = 3e-3  # Σ |[y = k] − P(k)|, for each row of class k, below which it is taken to be told apart: it falls further with every step
WIDEST = 1000  # columns up to which the rank is looked at
DEPENDENT = 1e-12  # an eigenvalue of the correlations below which columns depend on one another


@dataclass(slots=True)
class Certainty(Stats):
    """How far the classes are from being told apart, Σ w |[y = k] − P(k)|, and the moments of the columns."""

    doubt: Array
    weight: Array  # of the classes
    moments: Moments


def certainty(block: Block, theta: Array, setting: Setting) -> Certainty:
    """`Certainty` of one block at θ, (1 or K, p + 1)."""
    X = block.X if setting.shift is None else block.X - setting.shift
    scores = np.asarray(X @ theta[:, :-1].T) + theta[:, -1]
    scores = scores if scores.shape[1] > 1 else np.hstack([np.zeros_like(scores), scores])
    P = softmax(scores)
    P[np.arange(len(P)), block.y] -= 1.0
    X = ops.dense(X) if X.shape[1] <= WIDEST else np.empty((len(P), 0))
    return Certainty(block.w @ np.abs(P), np.bincount(block.y, block.w, P.shape[1]), Moments.of(X, np.empty((len(P), 0)), block.w))


def explain(theta: Array, setting: Setting, classes: Array, names: Any) -> Learner[str]:
    """One more pass: which class is separated, or by which column; and what helps."""
    found: Certainty = yield partial(certainty, theta=theta, setting=setting)
    moments = found.moments
    scatter = moments.scatter
    if not setting.fit_intercept:
        scatter = scatter + moments.weight * np.outer(moments.mean, moments.mean)
    rank, p = _rank(scatter), len(scatter)
    if rank < p:
        return (
            f"the {p} columns have rank {rank} only (constant, repeated or dependent columns, or too few rows), so that the optimum is not "
            "unique: drop columns, or lower C"
        )
    apart = np.flatnonzero(found.doubt <= CERTAIN * found.weight)
    if len(apart) == len(classes):
        return "the classes are separated perfectly, so that the optimum lies at infinity: lower C, to 1 for example"
    if len(apart):
        which = ", ".join(repr(one) for one in classes[apart[:3]].tolist())
        several = len(apart) > 1
        return (
            f"class{'es' * several} {which} {'are' if several else 'is'} separated from all others perfectly, so that the optimum lies at "
            "infinity: lower C, to 1 for example"
        )
    by = ""
    if p:
        size = np.abs(theta[:, :-1] - theta[:, :-1].mean(axis=0) * (len(theta) > 1)).max(axis=0) * np.sqrt(np.diagonal(scatter))
        at = int(size.argmax())
        by = f", chiefly by column {at if names is None else repr(str(names[at]))}"
    return f"the classes are separated in part{by}, so that the optimum lies at infinity: lower C, to 1 for example"


def _rank(scatter: Array) -> int:
    """Of columns with these products; a column of zeros adds nothing."""
    size = np.sqrt(np.diagonal(scatter))
    varied = size > 0
    if not varied.any():
        return 0
    correlations = scatter[np.ix_(varied, varied)] / size[varied] / size[varied, None]
    values = np.linalg.eigvalsh(correlations)
    return int((values > DEPENDENT * len(values)).sum())
