"""Consensus of rows on planes y ≈ x·w + b, which are fitted without a learner for each."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenfold.compose.consensus import FINALISTS, ROUNDS, Agreement, Draws
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learning import Learner
from tenfold.core.stats import Keyed, Moments
from tenfold.solve.linalg import solve_spd


def candidates(
    Z: Array, y: Array, w: Array, threshold: float, draws: Draws, total: float, rng: np.random.Generator
) -> tuple[Array, int]:
    """The planes of the best subsets on the sampled rows, and how many subsets were drawn."""
    models, scores, needed, drawn = [], [], float(draws.most), 0
    A = np.column_stack([Z, np.ones(len(Z))])
    weight = float(w.sum())
    chance = w / weight
    while drawn < needed:
        subset = rng.choice(len(A), draws.size, replace=False, p=chance)
        model = np.linalg.lstsq(A[subset], y[subset], rcond=None)[0]
        near = np.abs(y - A @ model) <= threshold
        inside = float(w[near].sum())
        models.append(model)
        scores.append(inside)
        drawn += 1
        if draws.skips_by_reason is not None:
            draws.skips_by_reason[0] += not near.any()
        if inside >= max(scores):
            needed = min(needed, draws.needed(inside / weight))
            if inside / weight * total >= draws.enough:
                break
    best = np.argsort(-np.array(scores), kind="stable")[:FINALISTS]
    return np.array(models)[best], drawn


def settle(model: Array, threshold: float, found: list[Array]) -> Learner[tuple[Array, float]]:
    """Least squares of the inliers, of the inliers of that, and so on while more rows agree."""
    best, most = model, 0.0
    for _ in range(ROUNDS):
        stats = yield partial(_inliers, model=model, threshold=threshold, found=found)
        if not stats or stats["inliers"].weight <= most:
            break
        best, most = _least_squares(stats["inliers"]), float(stats["inliers"].weight)
        model = best
    return best, most


def unexplained(Z: Any, y: Array, found: list[Array], threshold: float) -> Array:
    """Rows that no model found so far explains."""
    free = np.ones(len(y), dtype=bool)
    for model in found:
        free &= np.abs(y - Z @ model[:-1] - model[-1]) > threshold
    return free


def agreement(block: Block, models: Array, threshold: float, found: list[Array]) -> Agreement:
    y = block.y[:, 0]
    coef, intercept = np.ascontiguousarray(models[:, :-1]), np.ascontiguousarray(models[:, -1])
    far = np.abs(ops.linear_scores(block.X, coef, intercept) - y[:, None])
    w = block.w * unexplained(block.X, y, found, threshold)
    near = (far <= threshold) * w[:, None]
    return Agreement(near.sum(axis=0), (near * far).sum(axis=0), (near > 0).sum(axis=0))


def _inliers(block: Block, model: Array, threshold: float, found: list[Array]) -> Keyed:
    y = block.y[:, 0]
    near = np.abs(y - block.X @ model[:-1] - model[-1]) <= threshold
    near &= unexplained(block.X, y, found, threshold)
    if not near.any():
        return Keyed()
    return Keyed(inliers=Moments.of(ops.dense(block.X[near]), block.y[near], block.w[near]))


def _least_squares(stats: Moments) -> Array:
    p = len(stats.center) - 1
    S, mean = stats.scatter, stats.mean
    w = solve_spd(S[:p, :p], S[:p, p:], "RANSACRegressor")[:, 0]
    return np.append(w, mean[p] - mean[:p] @ w)
