"""How good a result is. Each function is (data, fitted model, its output on Xt) -> named figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from .plan import Data, Quality

INERTIA_ROWS = 20_000


def r2(data: Data, model: Any, predicted: np.ndarray) -> Quality:
    error = data["yt"] - np.asarray(predicted).ravel()
    return {"R2": float(1 - np.mean(error**2) / np.var(data["yt"]))}


def accuracy(data: Data, model: Any, predicted: np.ndarray) -> Quality:
    return {"accuracy": float(np.mean(np.asarray(predicted).ravel() == data["yt"]))}


def logistic(data: Data, model: Any, predicted: np.ndarray) -> Quality:
    """Accuracy, and the penalised training loss over n at C = 1: lower is better converged."""
    coef = np.asarray(model.coef_)
    scores = data["X"] @ coef.T + np.asarray(model.intercept_)
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    top = scores.max(1)
    loss = top + np.log(np.exp(scores - top[:, None]).sum(1)) - scores[np.arange(len(scores)), data["y"]]
    objective = loss.mean() + 0.5 * np.sum(coef**2) / len(scores)
    passes = float(np.max(model.n_iter_))
    return accuracy(data, model, predicted) | {"objective": float(objective), "iterations": passes}


def inertia(data: Data, centers: np.ndarray) -> Quality:
    """Mean squared distance to the nearest centre, over the first rows (enough to tell results apart)."""
    X, C = data["X"][:INERTIA_ROWS], np.asarray(centers, dtype=np.float64)
    distance = (X**2).sum(1)[:, None] + (C**2).sum(1) - 2 * X @ C.T
    return {"inertia": float(distance.min(1).mean())}


def clusters(data: Data, model: Any, labels: np.ndarray) -> Quality:
    return inertia(data, model.cluster_centers_) | {"iterations": float(model.n_iter_)}


def explained(data: Data, model: Any, transformed: np.ndarray) -> Quality:
    return {"explained by 20": float(np.sum(model.explained_variance_ratio_[:20]))}
