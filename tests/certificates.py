"""What the docstring of a learner promises, computed from its Objective alone with plain NumPy.

`CERTIFICATES[name](model, X, y, w)` gives numbers that are zero at the solution, relative to their size.
`OBJECTIVES[name]` gives the objective itself, for learners that lower it pass by pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def least_squares(model: Any, X: Array, y: Array, w: Array) -> Array:
    """Gradient of Σ w (y − X b − b₀)² + alpha ‖b‖², over its largest terms; if b ≥ 0, its inward part."""
    rest = y - X @ model.coef_ - model.intercept_
    gradient = X.T @ (w * rest) - getattr(model, "alpha", 0.0) * model.coef_
    size = np.abs(X).T @ (w * np.abs(y))
    if model.positive:
        assert (model.coef_ >= 0).all()
        gradient = np.where(model.coef_ > 0, gradient, np.maximum(gradient, 0.0))
    free = [w @ rest / (w @ np.abs(y))] if model.fit_intercept else []
    return np.append(gradient / size, free)


def logistic(model: Any, X: Array, y: Array, w: Array) -> Array:
    """Gradient of C Σ w loss + ½ (1 − ρ) ‖coef‖² + ρ ‖coef‖₁ (the least where one is zero), over C Σ w, as `tol` bounds it."""
    P = model.predict_proba(X)
    Y = y[:, None] == model.classes_
    error = (P - Y) * w[:, None]
    if len(model.classes_) == 2:
        error = error[:, 1:]
    l1, coef = model.l1_ratio / model.C, model.coef_
    gradient = error.T @ X + (1 - model.l1_ratio) / model.C * coef + l1 * np.sign(coef)
    gradient = np.where(coef != 0, gradient, np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0))
    free = error.sum(axis=0) if model.fit_intercept else np.zeros(1)
    return np.concatenate([gradient.ravel(), free]) / w.sum()


def margins(model: Any, X: Array, y: Array, w: Array) -> Array:
    """The least of ½ ‖w‖² + ½ b² + C Σ s (1 − t f)₊ or its squares, or with the sizes of w and b, lies no further below than `dual_gap_`
    says; no small step leads lower."""
    rng, worse = np.random.default_rng(0), []
    for k, (coef, constant, gap) in enumerate(zip(model.coef_, model.intercept_, model.dual_gap_, strict=True)):
        t = np.where(y == model.classes_[k if len(model.coef_) > 1 else 1], 1.0, -1.0)

        def value(theta: Array, t: Array = t) -> float:
            over = np.maximum(1 - t * (X @ theta[:-1] + theta[-1]), 0.0)
            loss = model.C * float(w @ (over if model.loss == "hinge" else over**2))
            return loss + float(0.5 * (theta**2).sum() if model.penalty == "l2" else np.abs(theta).sum())

        theta = np.append(coef, constant)
        here = value(theta)
        steps = rng.normal(size=(200, len(theta))) * 10.0 ** rng.uniform(-6, 0, (200, 1))
        worse += [min((value(theta + step) - here) / here, 0.0) for step in steps]
        worse.append(gap)
    return np.array(worse)


def logistic_objective(model: Any, X: Array, y: Array, w: Array) -> float:
    chosen = model.predict_log_proba(X)[y[:, None] == model.classes_]
    penalty = (1 - model.l1_ratio) * (model.coef_**2).sum() / 2 + model.l1_ratio * np.abs(model.coef_).sum()
    return float(-model.C * (w @ chosen) + penalty)


def generalized(model: Any, X: Array, y: Array, w: Array) -> Array:
    """Gradient of Σ w ½ d(y, μ) / Σ w + ½ alpha ‖coef‖² for V(μ) = μ^power and log μ or (power 0) μ linear, as `tol` bounds it."""
    power = {"PoissonRegressor": 1, "GammaRegressor": 2}.get(type(model).__name__) or model.power
    eta = X @ model.coef_ + model.intercept_
    mu = np.exp(eta) if power else eta
    pull = w * (mu - y) * (mu ** (1 - power) if power else 1.0) / w.sum()
    return np.append(X.T @ pull + model.alpha * model.coef_, pull.sum() if model.fit_intercept else 0.0)


def generalized_objective(model: Any, X: Array, y: Array, w: Array) -> float:
    eta = X @ model.coef_ + model.intercept_
    return float(w @ (np.exp(eta) - y * eta) / w.sum() + model.alpha / 2 * (model.coef_**2).sum())


def distances(model: Any, X: Array) -> Array:
    return ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)


def kmeans(model: Any, X: Array, y: Array, w: Array) -> Array:
    """Each centre is the mean of its rows; `inertia_` is Σ w ‖x − c‖²."""
    d = distances(model, X)
    mine = (d.argmin(axis=1)[:, None] == np.arange(d.shape[1])) * w[:, None]
    means = (mine.T @ X) / mine.sum(axis=0)[:, None]
    return np.append((means - model.cluster_centers_).ravel() / X.std(), model.inertia_ / (w @ d.min(axis=1)) - 1)


def kmeans_objective(model: Any, X: Array, y: Array, w: Array) -> float:
    return float(w @ distances(model, X).min(axis=1))


def pca(model: Any, X: Array, y: Array, w: Array) -> Array:
    """Orthonormal components that the covariance only stretches: S v = λ v, the largest λ first."""
    S = np.cov(X, rowvar=False, fweights=w)
    V, variance = model.components_, model.explained_variance_
    assert (np.diff(variance) <= 0).all()
    largest = np.linalg.eigvalsh(S)[::-1][: len(variance)]
    return np.concatenate(
        [
            (V @ V.T - np.eye(len(V))).ravel(),
            ((V @ S).T - V.T * variance).ravel() / variance[0],
            variance / largest - 1,
        ]
    )


def scaled(model: Any, X: Array, y: Array, w: Array) -> Array:
    """Columns of mean zero and variance one."""
    Z = model.transform(X)
    mean = np.average(Z, axis=0, weights=w)
    variance = np.average((Z - mean) ** 2, axis=0, weights=w)
    return np.append(mean if model.with_mean else 0.0, variance - 1)


def naive_bayes(model: Any, X: Array, y: Array, w: Array) -> Array:
    """Means and variances of the classes are those of their rows, and so are the shares."""
    gaps = []
    for k, label in enumerate(model.classes_):
        of = y == label
        mean = np.average(X[of], axis=0, weights=w[of])
        variance = np.average((X[of] - mean) ** 2, axis=0, weights=w[of]) + model.epsilon_
        gaps += [
            model.theta_[k] - mean,
            model.var_[k] / variance - 1,
            [model.class_prior_[k] - w[of].sum() / w.sum()],
        ]
    return np.concatenate(gaps)


def linear_discriminant(model: Any, X: Array, y: Array, w: Array) -> Array:
    """Bayes' rule with Gaussians of one covariance: differences of scores are those of the log densities."""
    means = np.array([np.average(X[y == c], axis=0, weights=w[y == c]) for c in model.classes_])
    share = np.array([w[y == c].sum() for c in model.classes_]) / w.sum()
    rest = X - means[np.searchsorted(model.classes_, y)]
    S = (rest.T * w) @ rest / w.sum()
    apart = X[:, None] - means
    density = -0.5 * np.einsum("nkp,pq,nkq->nk", apart, np.linalg.inv(S), apart) + np.log(share)
    exact = np.exp(density - density.max(axis=1, keepdims=True))
    return (model.predict_proba(X) - exact / exact.sum(axis=1, keepdims=True)).ravel()


def centroid(model: Any, X: Array, y: Array, w: Array) -> Array:
    """No step from a centroid lowers Σ w ‖x − c‖² (or Σ w |x − c|) of its class."""
    if model.shrink_threshold is not None:
        return np.zeros(1)
    power = 1 if model.metric == "manhattan" else 2
    worse = []
    for c, label in zip(model.centroids_, model.classes_, strict=True):
        own, weight = X[y == label], w[y == label]
        here = weight @ np.abs(own - c) ** power
        for step in (-1e-4, 1e-4):
            worse.append(np.minimum(weight @ np.abs(own - c - step) ** power - here, 0.0))
    return np.concatenate(worse)


Certificate = Callable[[Any, Array, Array, Array], Any]
CERTIFICATES: dict[str, Certificate] = {
    "LinearRegression": least_squares,
    "Ridge": least_squares,
    "LogisticRegression": logistic,
    "PoissonRegressor": generalized,
    "GammaRegressor": generalized,
    "TweedieRegressor": generalized,
    "LinearSVC": margins,
    "GaussianNB": naive_bayes,
    "LinearDiscriminantAnalysis": linear_discriminant,
    "NearestCentroid": centroid,
    "PCA": pca,
    "StandardScaler": scaled,
    "KMeans": kmeans,
}
OBJECTIVES: dict[str, Certificate] = {
    "LogisticRegression": logistic_objective,
    "PoissonRegressor": generalized_objective,
    "KMeans": kmeans_objective,
}
