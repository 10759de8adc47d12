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
    objective = _log_loss(data, model) + 0.5 * np.sum(coef**2) / len(data["y"])
    return accuracy(data, model, predicted) | {"objective": float(objective), "iterations": float(np.max(model.n_iter_))}


def logistic_l1(data: Data, model: Any, predicted: np.ndarray) -> Quality:
    """Accuracy, the training loss with an L1 penalty over n C, and how many coefficients are left."""
    coef = np.asarray(model.coef_)
    objective = _log_loss(data, model) + np.abs(coef).sum() / (model.C * len(data["y"]))
    return accuracy(data, model, predicted) | {"objective": float(objective), "columns": float((coef != 0).sum())}


def logistic_cv(data: Data, model: Any, predicted: np.ndarray) -> Quality:
    """Accuracy, the log loss of the penalty chosen on held-out folds, and that penalty."""
    loss = -float(np.mean(model.scores_, axis=0).max())
    return accuracy(data, model, predicted) | {"log loss": loss, "C": float(model.C_)}


def _log_loss(data: Data, model: Any) -> float:
    """Of the training rows."""
    coef = np.asarray(model.coef_)
    scores = data["X"] @ coef.T + np.asarray(model.intercept_)
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    top = scores.max(1)
    return float((top + np.log(np.exp(scores - top[:, None]).sum(1)) - scores[np.arange(len(scores)), data["y"]]).mean())


def inertia(data: Data, centers: np.ndarray) -> Quality:
    """Mean squared distance to the nearest centre, over the first rows (enough to tell results apart)."""
    X, C = data["X"][:INERTIA_ROWS], np.asarray(centers, dtype=np.float64)
    distance = (X**2).sum(1)[:, None] + (C**2).sum(1) - 2 * X @ C.T
    return {"inertia": float(distance.min(1).mean())}


def clusters(data: Data, model: Any, labels: np.ndarray) -> Quality:
    return inertia(data, model.cluster_centers_) | {"iterations": float(model.n_iter_)}


def explained(data: Data, model: Any, transformed: np.ndarray) -> Quality:
    return {"explained by 20": float(np.sum(model.explained_variance_ratio_[:20]))}
