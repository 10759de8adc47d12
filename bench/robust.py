"""Robust regression: Huber's loss, least absolute deviations, consensus of random samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Run, Workload, build

EPSILON = 1.35
MARGIN = 0.5


def heavy_tails(n: int, p: int, seed: int, laplace: bool) -> Data:
    """Gaussian columns that share weak factors, and noise with heavy tails."""
    rng = np.random.default_rng(seed)
    X = make.correlated(rng, n, p)
    noise = 2 * rng.laplace(size=n) if laplace else 3 * rng.standard_t(2, size=n)
    return {"X": X, "y": 1.0 + X @ rng.standard_normal(p) + noise}


def spoiled(n: int, p: int, seed: int) -> Data:
    """A plane under small noise; 30 % of the targets are moved by up to 20."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, p)), rng.standard_normal(p)
    y, bad = X @ w + 0.1 * rng.standard_normal(n), rng.random(n) < 0.3
    y[bad] += rng.uniform(-20, 20, bad.sum())
    return {"X": X, "y": y, "w": w}


def huber_loss(data: Data, coef: Any, intercept: float) -> Quality:
    """Σ (σ + σ H(r / σ)) / n at the best scale for these coefficients: the objective, lower is better converged."""
    size = np.abs(data["y"] - data["X"] @ np.ravel(coef) - intercept)
    scale = float(np.median(size))
    for _ in range(100):  # the scale is a root: Σ min(u, ε)² = n
        scale = float(np.sqrt((np.minimum(size, EPSILON * scale) ** 2).mean()))
    u = size / scale
    each = np.where(u <= EPSILON, u**2, 2 * EPSILON * u - EPSILON**2)
    return {"objective": float(scale * (1 + each.mean()))}


def mean_deviation(data: Data, coef: Any, intercept: float) -> Quality:
    return {"mean deviation": float(np.abs(data["y"] - data["X"] @ np.ravel(coef) - intercept).mean())}


def inliers(data: Data, coef: Any, intercept: float) -> Quality:
    near = np.abs(data["y"] - data["X"] @ np.ravel(coef) - intercept) <= 0.4
    error = np.linalg.norm(np.ravel(coef) - data["w"]) / np.linalg.norm(data["w"])
    return {"inliers": float(near.mean()), "error": float(error)}


def support_vectors(data: Data, coef: Any, intercept: float) -> Quality:
    """The objective over n, at C = 1."""
    over = np.maximum(np.abs(data["y"] - data["X"] @ np.ravel(coef) - intercept) - MARGIN, 0)
    return {"objective": float((0.5 * (np.ravel(coef) @ np.ravel(coef) + intercept**2) + over.sum()) / len(over))}


def _fit(path: str, score: Any, inside: bool = False, **parameters: Any) -> Run:
    def run(data: Data, meter: Meter) -> Quality:
        model = build(path, **parameters)
        meter.fit(model.fit, data["X"], data["y"])
        found = model.estimator_ if inside else model
        return score(data, found.coef_, float(np.ravel(found.intercept_)[0]))  # type: ignore[no-any-return]

    return run


def _statsmodels(fit: Any, score: Any) -> Run:
    def run(data: Data, meter: Meter) -> Quality:
        import statsmodels.api as sm

        found = meter.fit(fit, sm, data["y"], sm.add_constant(data["X"]))
        return score(data, found.params[1:], float(found.params[0]))  # type: ignore[no-any-return]

    return run


HUBER = Workload(
    name="huber",
    about="Huber's loss with its scale, 100k x 50, Student noise with 2 degrees of freedom",
    make=lambda shrink: heavy_tails(make.shrunk(100_000, shrink), 50, seed=81, laplace=False),
    contenders=(
        Contender(
            "tenfold HuberRegressor", "tenfold", _fit("tenfold.HuberRegressor", huber_loss, alpha=0.0), "tenfold"
        ),
        Contender(
            "sklearn HuberRegressor",
            "sklearn",
            _fit("sklearn.linear_model.HuberRegressor", huber_loss, alpha=0.0, max_iter=1000),
        ),
        Contender(
            "statsmodels RLM HuberT",
            "statsmodels",
            _statsmodels(lambda sm, y, Z: sm.RLM(y, Z, M=sm.robust.norms.HuberT()).fit(), huber_loss),
            slow=True,
        ),
    ),
    judgement=Judgement("objective", higher=False, tolerance=1e-7),
)

LAD = Workload(
    name="lad",
    about="least absolute deviations, 10k x 20, Laplace noise, no penalty",
    make=lambda shrink: heavy_tails(make.shrunk(10_000, shrink), 20, seed=83, laplace=True),
    contenders=(
        Contender(
            "tenfold LeastAbsoluteDeviations",
            "tenfold",
            _fit("tenfold.LeastAbsoluteDeviations", mean_deviation),
            "tenfold",
        ),
        Contender(
            "statsmodels QuantReg",
            "statsmodels",
            _statsmodels(lambda sm, y, Z: sm.QuantReg(y, Z).fit(q=0.5), mean_deviation),
        ),
        Contender(
            "sklearn QuantileRegressor highs-ipm",
            "sklearn",
            _fit("sklearn.linear_model.QuantileRegressor", mean_deviation, alpha=0.0, solver="highs-ipm"),
        ),
    ),
    judgement=Judgement("mean deviation", higher=False, tolerance=1e-9),
)

RANSAC = Workload(
    name="ransac",
    about="random sample consensus, 10k x 5, noise 0.1, 30 % gross errors; threshold 0.4, at most 100 trials",
    make=lambda shrink: spoiled(make.shrunk(10_000, shrink), 5, seed=86),
    contenders=(
        Contender(
            "tenfold RANSACRegressor",
            "tenfold",
            _fit("tenfold.RANSACRegressor", inliers, residual_threshold=0.4, random_state=0),
            "tenfold",
        ),
        Contender(
            "sklearn RANSACRegressor",
            "sklearn",
            _fit("sklearn.linear_model.RANSACRegressor", inliers, True, residual_threshold=0.4, random_state=0),
        ),
    ),
    judgement=Judgement("inliers", higher=True, tolerance=1e-3),
)

SVR = Workload(
    name="svr",
    about="linear support vector regression, 20k x 20, Laplace noise, margin 0.5",
    make=lambda shrink: heavy_tails(make.shrunk(20_000, shrink), 20, seed=88, laplace=True),
    contenders=(
        Contender(
            "tenfold LinearSVR", "tenfold", _fit("tenfold.LinearSVR", support_vectors, epsilon=MARGIN), "tenfold"
        ),
        Contender(
            "sklearn LinearSVR",
            "sklearn",
            _fit("sklearn.svm.LinearSVR", support_vectors, epsilon=MARGIN, max_iter=10_000),
        ),
    ),
    judgement=Judgement("objective", higher=False, tolerance=1e-6),
)

WORKLOADS = (HUBER, LAD, RANSAC, SVR)
