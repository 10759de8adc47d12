"""What is believed of a Gaussian before and after rows are seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import multigammaln

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.stats import Moments
from tenfold.distributions.factor import Factor
from tenfold.distributions.gaussian import LOG_2PI, MultivariateGaussian
from tenfold.distributions.student import MultivariateT
from tenfold.distributions.value import Distribution, as_text, moments_of, number, rng_of, square, vector


@dataclass(frozen=True, init=False, eq=False, repr=False)
class NormalInverseWishart(Distribution):
    """NormalInverseWishart: a distribution of the mean m and the covariance C of a Gaussian, of the same kind before and after rows.

    Model       C ~ inverse Wishart(Ψ, ν),  m | C ~ N(m₀, C / κ):
                p(m, C) ∝ det(C)^(−(ν + p + 2)/2) exp(−½ tr ΨC⁻¹ − ½ κ (m − m₀)ᵀ C⁻¹ (m − m₀))
    Algorithm   n rows of mean x̄ and scatter S lead to  κ + n,  ν + n,  (κ m₀ + n x̄) / (κ + n),
                Ψ + S + κ n / (κ + n) (x̄ − m₀)(x̄ − m₀)ᵀ:  one pass, and parts of the rows in any order come to the same
    Cost        O(n p²) for n rows, O(p³) for what follows
    Fails when  ν ≤ p − 1 or Ψ is singular (refused)
    Reference   Gelman, Carlin, Stern, Dunson, Vehtari & Rubin 2013, §3.6; Murphy 2007

    mean: m₀. mean_precision: κ, how many rows the mean is worth. scale: Ψ, a matrix, variances or one. degrees_of_freedom: ν, how many
    rows the covariance is worth; it must be above p − 1.

    >>> from tenfold.distributions import NormalInverseWishart
    >>> after = NormalInverseWishart(0.0, 1.0, 1.0, 1.0).posterior([[2.0], [4.0]])
    >>> after
    normal-inverse-Wishart(m, C; 2, 3, 9, 3 degrees of freedom)
    >>> after.map()
    N(x; 2, 1.5)
    >>> after.predictive()
    t(x; 2, 4, 3 degrees of freedom)
    """

    mean: Array
    mean_precision: float
    scale: Array
    degrees_of_freedom: float
    factor: Factor = field(init=False)

    def __init__(self, mean: Any, mean_precision: float, scale: Any, degrees_of_freedom: float) -> None:
        mean, name = vector("NormalInverseWishart(mean)", mean), "NormalInverseWishart"
        scale = square(f"{name}(scale)", scale, len(mean))
        self._set(
            mean=mean,
            mean_precision=number(f"{name}(mean_precision)", mean_precision, above=0),
            scale=scale,
            degrees_of_freedom=number(f"{name}(degrees_of_freedom)", degrees_of_freedom, above=len(mean) - 1),
            factor=Factor.of(f"{name}(scale)", scale, False),
        )

    def __repr__(self) -> str:
        parts = f"{as_text(self.mean)}, {self.mean_precision:.4g}, {as_text(self.scale)}, {self.degrees_of_freedom:.4g} degrees of freedom"
        return f"normal-inverse-Wishart(m, C; {parts})"

    # --- rows ---

    def posterior(self, X: Any, sample_weight: Any = None) -> NormalInverseWishart:
        """What is believed after these rows, which are read once: arrays, frames, sparse matrices, files, streams, Dask collections. A row
        of weight 2 is two rows.
        """
        return self.posterior_of_moments(moments_of("NormalInverseWishart", X, sample_weight))

    def posterior_of_moments(self, moments: Moments) -> NormalInverseWishart:
        """What is believed after the rows that have these merged moments."""
        n, kappa = float(moments.weight), self.mean_precision
        if len(moments.center) != len(self.mean):
            raise BadInput(f"the rows have {len(moments.center)} columns, but the prior is of {len(self.mean)}")
        apart = moments.mean - self.mean
        scale = self.scale + moments.scatter + (kappa * n / (kappa + n)) * np.outer(apart, apart)
        return NormalInverseWishart(self.mean + n / (kappa + n) * apart, kappa + n, scale, self.degrees_of_freedom + n)

    def log_evidence(self, X: Any, sample_weight: Any = None) -> float:
        """log ∫ Π p(x | m, C) p(m, C) dm dC, of all rows together: what priors and models are compared by."""
        moments = moments_of("NormalInverseWishart", X, sample_weight)
        after, p = self.posterior_of_moments(moments), len(self.mean)
        mean = 0.5 * p * math.log(self.mean_precision / after.mean_precision)
        return after._log_constant() - self._log_constant() + mean - 0.5 * float(moments.weight) * p * LOG_2PI

    def _log_constant(self) -> float:
        """log ∫ det(C)^(−(ν + p + 1)/2) exp(−½ tr ΨC⁻¹) dC."""
        nu, p = self.degrees_of_freedom, len(self.mean)
        return float(multigammaln(nu / 2, p)) + 0.5 * nu * p * math.log(2) - nu * self.factor.log_volume

    # --- what follows ---

    def map(self) -> MultivariateGaussian:
        """The Gaussian of largest density:  N(m₀, Ψ / (ν + p + 2))."""
        return MultivariateGaussian(self.mean, self.scale / (self.degrees_of_freedom + len(self.mean) + 2))

    def expected(self) -> MultivariateGaussian:
        """The Gaussian of the expected mean and covariance:  N(m₀, Ψ / (ν − p − 1)),  for ν > p + 1."""
        degrees = self.degrees_of_freedom - len(self.mean) - 1
        if degrees <= 0:
            raise BadInput(
                f"{self.degrees_of_freedom:g} degrees of freedom of {len(self.mean)} columns give no expected covariance: take more than "
                f"{len(self.mean) + 1}, or map()"
            )
        return MultivariateGaussian(self.mean, self.scale / degrees)

    def predictive(self) -> MultivariateT:
        """The distribution of the next row:  t with ν − p + 1 degrees of freedom, m₀ and Ψ (κ + 1) / (κ (ν − p + 1))."""
        degrees, kappa = self.degrees_of_freedom - len(self.mean) + 1, self.mean_precision
        return MultivariateT(self.mean, self.scale * ((kappa + 1) / (kappa * degrees)), degrees)

    def log_density(self, x: Any) -> Any:
        """log p(m, C) of a Gaussian."""
        if not isinstance(x, MultivariateGaussian) or len(x.mean) != len(self.mean):
            raise BadInput(f"NormalInverseWishart.log_density is of a MultivariateGaussian of {len(self.mean)} columns")
        C, p = x.factor, len(self.mean)
        apart = C.whitened(np.vstack([self.factor.spread.T, math.sqrt(self.mean_precision) * (x.mean - self.mean)]))
        exponent = (self.degrees_of_freedom + p + 2) * C.log_volume + 0.5 * float((apart * apart).sum())
        return 0.5 * p * (math.log(self.mean_precision) - LOG_2PI) - self._log_constant() - exponent

    def sample(self, n: int = 1, random_state: Any = None) -> list[MultivariateGaussian]:
        """n Gaussians. C = A (B Bᵀ)⁻¹ Aᵀ with Ψ = A Aᵀ, and B lower triangular: normal below, √chi-square on the diagonal (Bartlett)."""
        rng, p = rng_of("NormalInverseWishart", random_state, n), len(self.mean)
        found = []
        for _ in range(n):
            B = np.tril(rng.standard_normal((p, p)), -1)
            B[np.diag_indices(p)] = np.sqrt(rng.chisquare(self.degrees_of_freedom - np.arange(p)))
            A = self.factor.spread @ np.linalg.inv(B).T
            mean = self.mean + A @ rng.standard_normal(p) / math.sqrt(self.mean_precision)
            found.append(MultivariateGaussian(mean, A @ A.T))
        return found
