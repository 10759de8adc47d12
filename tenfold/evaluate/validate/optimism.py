"""Optimism: by how much the error on the training rows flatters, without held-out rows.

All functions estimate the in-sample error: new targets at the same rows X.  Err_in = err + (2/n) Σᵢ cov(yᵢ, ŷᵢ)  for squared error
(Efron 2004). For a linear smoother ŷ = H y with noise of variance σ²,  Σ cov = σ² tr H.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays, Block
from tenfold.core.engine import current_engine, each
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.core.stats import Moments
from tenfold.core.threads import patiently
from tenfold.evaluate.validate.memory import read
from tenfold.linear.least_squares import LinearRegression
from tenfold.linear.leave_one_out import LinearSmoother


@dataclass(frozen=True)
class Optimism:
    """Training error, what must be added to it, and their sum: the estimate of the in-sample error."""

    training_error: float
    optimism: float
    degrees: float  # effective number of parameters
    noise: float  # variance of the noise that was used
    method: str

    @property
    def estimate(self) -> float:
        return self.training_error + self.optimism


def degrees_of_freedom(model: Any, X: Any, sample_weight: Any = None) -> float:
    """tr H of a linear smoother: the rank for least squares (+1 for the intercept), Σ eⱼ/(eⱼ + alpha) + 1 for ridge.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import degrees_of_freedom
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> degrees_of_freedom(tenfold.LinearRegression(), X)
    4.0
    """
    if not isinstance(model, LinearSmoother) or model.positive:
        raise BadParameter(
            f"{type(model).__name__} is not a linear smoother with a known hat matrix: use optimism_by_sampling"
        )
    n = len(X) if hasattr(X, "__len__") else 0
    source = check.in_memory(model, X, np.zeros(n), sample_weight)
    stats: Moments = current_engine().run(_moments, source)
    p = source.n_features
    S = stats.scatter[:p, :p] + (0 if model.fit_intercept else stats.weight * np.outer(stats.mean[:p], stats.mean[:p]))
    values = patiently(np.linalg.eigvalsh, S)
    real = values[values > values.max(initial=0.0) * p * np.finfo(float).eps]
    alpha = getattr(model, "alpha", 0.0)
    return float((real / (real + alpha)).sum() + bool(model.fit_intercept))


def _moments(block: Block) -> Moments:
    return Moments.of(block.X, block.y, block.w)


def noise_variance(X: Any, y: Any) -> float:
    """σ² from the residuals of least squares on all columns:  ‖y − ŷ‖² / (n − rank − 1)."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    model = LinearRegression(solver="svd").fit(X, y)
    free = len(y) - model.rank_ - 1
    if free < 1:
        raise BadInput(
            f"{len(y)} rows and {model.rank_} independent columns leave no residuals to estimate the noise from: give noise="
        )
    return float(((y - model.predict(X)) ** 2).sum() / free)


def mallows_cp(model: Any, X: Any, y: Any, noise: float | None = None) -> Optimism:
    """Mallows' Cp as an error:  err + 2 σ² tr H / n.

    noise: the variance σ² of the noise; None estimates it from least squares on all columns.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    sigma2 = noise_variance(X, y) if noise is None else float(noise)
    degrees = degrees_of_freedom(model, X)
    error = float(((y - fresh(model).fit(X, y).predict(X)) ** 2).mean())
    return Optimism(error, 2 * sigma2 * degrees / len(y), degrees, sigma2, "Mallows Cp")


def optimism_by_sampling(
    model: Any,
    X: Any,
    y: Any,
    noise: float | None = None,
    method: str = "parametric",
    replicates: int = 100,
    random_state: Any = 0,
) -> Optimism:
    """The covariance penalty of any regressor, by simulation.

    "parametric": y* = ŷ + σ ε with Gaussian ε, refitted; Σ cov(y*, ŷ*) is averaged over replicates.
    "rademacher": y ± δ s with random signs s and δ = σ/2;  Σᵢ sᵢ (ŷᵢ(y + δs) − ŷᵢ(y − δs)) / 2δ estimates tr H: exact in expectation
    for linear smoothers, and the divergence of ŷ for smooth ones.
    """
    if method not in ("parametric", "rademacher"):
        raise BadParameter(f"method={method!r}: must be 'parametric' or 'rademacher'")
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    sigma2 = noise_variance(X, y) if noise is None else float(noise)
    sigma, rng = sigma2**0.5, generator(random_state)
    source = read(model, X, y)

    def predicted(targets: Array) -> Array:
        rows = Arrays(source.X, targets[:, None], None, source.target, source.facts, trusted=True)
        return np.asarray(fresh(model)._fit(rows).predict(X))

    fit = predicted(y)
    error = float(((y - fit) ** 2).mean())
    if method == "parametric":
        targets = [fit + sigma * rng.standard_normal(len(y)) for _ in range(replicates)]
        predictions = np.array(each(predicted, targets))
        centred = np.array(targets) - fit
        covariance = float((centred * (predictions - predictions.mean(axis=0))).sum() / (replicates - 1))
    else:
        signs = [rng.choice([-1.0, 1.0], size=len(y)) for _ in range(replicates)]
        step = sigma / 2 or 1.0
        slopes = each(lambda s: float(s @ (predicted(y + step * s) - predicted(y - step * s)) / (2 * step)), signs)
        covariance = sigma2 * float(np.mean(slopes))
    return Optimism(error, 2 * covariance / len(y), covariance / sigma2 if sigma2 else 0.0, sigma2, method)


def vc_bound(n: int, dimension: float, confidence: float = 0.95) -> float:
    """Vapnik's bound: with this confidence the test error of every classifier of VC dimension h exceeds its training error by at most

    √((h (ln(2n/h) + 1) + ln(4/δ)) / n),  δ = 1 − confidence.  A linear classifier in d dimensions has h = d + 1.

    >>> from tenfold.evaluate import vc_bound
    >>> round(vc_bound(10_000, 11), 3)
    0.099
    """
    if not (n >= 1 and dimension > 0 and 0 < confidence < 1):
        raise BadParameter(
            f"n={n!r}, dimension={dimension!r}, confidence={confidence!r}: must be positive, the confidence below 1"
        )
    h = min(float(dimension), float(n))
    return float(np.sqrt((h * (np.log(2 * n / h) + 1) + np.log(4 / (1 - confidence))) / n))
