"""Loss, gradient and curvature of logistic regression over one block of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tenfold.base.estimator import softmax
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.stats import Terms


class Setting(NamedTuple):
    """How the rows enter the loss."""

    class_weight: Array | None  # one factor for each class
    shift: Array | None  # subtracted from the columns
    fit_intercept: bool


def two_classes(block: Block, theta: Array, curvature: str | None, setting: Setting) -> Terms:
    """Loss, gradient and, if asked, curvature at θ = [w b], of shape (1, p + 1)."""
    X, w = _entering(block, setting)
    beta = theta[0]
    if ops.is_sparse(X):
        eta = X @ beta[:-1] + beta[-1]
        e = np.exp(-np.abs(eta))
        loss = float(w @ (np.maximum(eta, 0.0) + np.log1p(e) - block.y * eta))
        residual = w * (np.where(eta >= 0, 1.0, e) / (1 + e) - block.y)
        gradient = np.append(X.T @ residual, residual.sum())
    else:
        loss, gradient = ops.logistic_terms(X, block.y, w, beta)
    second = None
    if curvature == "blocks":
        second = ops.logistic_curvature(X, w, beta)[None]
    elif curvature == "diagonal":
        mu = 1 / (1 + np.exp(-np.clip(X @ beta[:-1] + beta[-1], -700, 700)))
        second = _squares(X, (w * mu * (1 - mu))[:, None])
    return _terms(loss, gradient[None], w, second, setting)


def many_classes(block: Block, theta: Array, curvature: str | None, setting: Setting) -> Terms:
    """Loss, gradient and, if asked, curvature of each class at θ, one row [wₖ bₖ] for each class."""
    X, w = _entering(block, setting)
    P = None
    if curvature or ops.is_sparse(X):
        scores = X @ theta[:, :-1].T + theta[:, -1]
        P = softmax(scores)
    if ops.is_sparse(X):
        rows = np.arange(len(w))
        top = scores.max(axis=1)
        loss = float(w @ (np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - scores[rows, block.y]))
        R = P * w[:, None]
        R[rows, block.y] -= w
        gradient = np.column_stack([(X.T @ R).T, R.sum(axis=0)])
    else:
        loss, gradient = ops.softmax_terms(X, block.y, w, theta)
    second = None if curvature is None or P is None else _second(X, w, P, curvature)
    return _terms(loss, gradient, w, second, setting)


def on_columns(block: Block, theta: Array, columns: Array, setting: Setting) -> Terms:
    """Loss and gradient at θ, and the curvature (K, c + 1, K, c + 1) of the constants and these columns; no others have coefficients."""
    first = (two_classes if len(theta) == 1 else many_classes)(block, theta, None, setting)
    X, w = _entering(block, setting)
    if len(columns) < X.shape[1]:
        X = X[:, columns] if ops.is_sparse(X) else np.take(X, columns, axis=1)
    part = np.column_stack([theta[:, columns], theta[:, -1]])
    if len(theta) == 1:
        second = ops.logistic_curvature(X, w, part[0])[None, :, None]
    else:
        second = _second(X, w, softmax(X @ part[:, :-1].T + part[:, -1]), "full")
    return _terms(first.loss, first.gradient, w, second, setting)


def _entering(block: Block, setting: Setting) -> tuple[Any, Array]:
    X = block.X if setting.shift is None else block.X - setting.shift
    return X, block.w if setting.class_weight is None else block.w * setting.class_weight[block.y]


def _second(X: Any, w: Array, P: Array, shape: str) -> Array:
    """Curvature of the softmax loss, Σ w pₖ([k = j] − pⱼ) [x 1]ᵀ[x 1], of all pairs of classes or k = j."""
    K, q = P.shape[1], X.shape[1] + 1
    if shape == "diagonal":
        return _squares(X, w[:, None] * P * (1 - P))
    X, P = ops.dense(X), P.T
    if shape == "blocks":
        if (P[0, 0] == P).all():  # at θ = 0
            return np.repeat(ops.weighted_gram(X, w * P[0] * (1 - P[0]))[None], K, axis=0)
        return np.stack([ops.weighted_gram(X, w * p * (1 - p)) for p in P])
    full = np.empty((K, q, K, q))
    for k in range(K):
        full[k, :, k] = ops.weighted_gram(X, w * P[k] * (1 - P[k]))
        for j in range(k):
            full[k, :, j] = full[j, :, k] = -ops.weighted_gram(X, w * P[k] * P[j])
    return full


def _squares(X: Any, d: Array) -> Array:
    """The diagonals of Σ dₖ [x 1]ᵀ[x 1], one row for each class."""
    if not ops.is_sparse(X):
        squares = X * X
    elif X.has_canonical_format:
        squares = type(X)((X.data * X.data, X.indices, X.indptr), shape=X.shape)
    else:
        squares = X.multiply(X)  # adds up what stands twice first
    return np.column_stack([squares.T.dot(d).T, d.sum(axis=0)])


def _terms(loss: float, gradient: Array, w: Array, second: Array | None, setting: Setting) -> Terms:
    if not setting.fit_intercept:
        gradient[:, -1] = 0.0
        if second is not None:
            second[:, -1] = second[..., -1] = 0.0
    return Terms(loss, gradient, float(w.sum()), second)
