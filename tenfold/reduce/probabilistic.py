"""Principal components as a density: N(m, Vᵀ (Λ − σ² I) V + σ² I)."""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import Degenerate, warn
from tenfold.reduce.gaps import Plane, fill

if TYPE_CHECKING:
    from tenfold.base.estimator import Estimator as _Beside
else:
    _Beside = object


class Probabilistic(_Beside):
    """Mixin: the log-likelihood of rows under the fitted axes, variances and noise."""

    components_: Array
    explained_variance_: Array
    noise_variance_: float
    mean_: Array

    def score_samples(self, X: Any) -> Array:
        """The log density of each row under the model N(mean_, get_covariance()); of its observed cells, where some are missing."""
        return map_rows(self._log_density, check.check_predict(self, X))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> Array:
        """Vᵀ (Λ − σ² I) V + σ² I."""
        axes, gain = double(self.components_), np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        covariance: Array = (axes.T * gain) @ axes
        covariance[np.diag_indices(len(covariance))] += self.noise_variance_
        return covariance

    def get_precision(self) -> Array:
        """The inverse of `get_covariance()`."""
        variances, noise = self._variances()
        axes = double(self.components_)
        inside: Array = (axes.T * (1 / variances - 1 / noise)) @ axes
        inside[np.diag_indices(len(inside))] += 1 / noise
        return inside

    def _variances(self) -> tuple[Array, float]:
        """Variances along the components and in all other directions, all above zero."""
        k, p = self.components_.shape
        variances = np.maximum(double(self.explained_variance_), self.noise_variance_)
        least = float(np.finfo(np.float64).eps * p * variances.max(initial=0.0)) or 1e-300
        if variances.min(initial=np.inf) < least or (k < p and self.noise_variance_ < least):
            warn(
                "PCA: the rows have no variance in some direction, where the density takes it to be at the "
                "limit of rounding: lower n_components",
                Degenerate,
                stacklevel=4,
            )
        return np.maximum(variances, least), max(self.noise_variance_, least) if k < p else 1.0

    def _log_density(self, X: Any) -> Array:
        X = ops.dense(X)
        if self.missing and np.isnan(X).any():
            return fill(double(X), self._plane())[1]
        variances, noise = self._variances()
        apart, axes = X - double(self.mean_), double(self.components_)
        Z = apart @ axes.T
        apart -= Z @ axes
        far = (Z * Z) @ (1 / variances) + (
            np.einsum("ij,ij->i", apart, apart) / noise if Z.shape[1] < X.shape[1] else 0.0
        )
        size = np.log(variances).sum() + (X.shape[1] - Z.shape[1]) * log(noise) + X.shape[1] * log(2 * pi)
        return np.asarray(-0.5 * (far + size))

    def _plane(self) -> Plane:
        """The model by which missing cells are told: with all p components the last variance is the noise."""
        variances, noise = self._variances()
        k, p = self.components_.shape
        if k == p:
            k, noise = p - 1, float(variances[-1])
        W = double(self.components_)[:k].T * np.sqrt(np.maximum(variances[:k] - noise, 0.0))
        return Plane(double(self.mean_), W, noise)


def double(values: Array) -> Array:
    """Fitted numbers to compute with: they are told in float32 where the table was."""
    return values.astype(np.float64, copy=False)
