"""Student's t distribution of rows as a value: what Gaussians with an unknown covariance predict."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, gammaln

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.distributions.factor import Factor
from tenfold.distributions.gaussian import conditioned, deviation_of, shares
from tenfold.distributions.value import Distribution, as_text, number, places, points, rng_of, square, values, vector


@dataclass(frozen=True, init=False, eq=False, repr=False)
class MultivariateT(Distribution):
    """MultivariateT: Student's t distribution of rows; heavier tails than a Gaussian, which it comes to with many degrees of freedom.

    Model       p(x) = Γ((ν + p)/2) / [Γ(ν/2) √det(π ν S)] · (1 + (x − m)ᵀ S⁻¹ (x − m) / ν)^(−(ν + p)/2)
    Algorithm   as MultivariateGaussian
    Cost        O(p³) to make, O(n p²) for n points
    Fails when  the shape S is singular (refused with its columns)
    Reference   Kotz & Nadarajah 2004

    >>> from tenfold.distributions import MultivariateT
    >>> float(MultivariateT(0.0, 1.0, 1.0).density(0.0).round(6))
    0.31831
    """

    mean: Array
    shape: Array
    degrees_of_freedom: float
    factor: Factor = field(init=False)

    def __init__(self, mean: Any, shape: Any, degrees_of_freedom: float) -> None:
        mean, place = vector("MultivariateT(mean)", mean), "MultivariateT(shape)"
        shape = square(place, shape, len(mean))
        degrees = number("MultivariateT(degrees_of_freedom)", degrees_of_freedom, above=0)
        self._set(mean=mean, shape=shape, degrees_of_freedom=degrees, factor=Factor.of(place, shape, False))

    def __repr__(self) -> str:
        return f"t(x; {as_text(self.mean)}, {as_text(self.shape)}, {self.degrees_of_freedom:.4g} degrees of freedom)"

    @property
    def covariance(self) -> Array:
        """S ν / (ν − 2), of more than two degrees of freedom."""
        nu = self.degrees_of_freedom
        if nu <= 2:
            raise BadInput(f"MultivariateT of {nu:g} degrees of freedom has no covariance: it needs more than 2")
        return np.asarray(self.shape * (nu / (nu - 2)))

    def log_density(self, x: Any) -> Any:
        """The logarithm of the density at each point."""
        X, shape = points(self, x, len(self.mean))
        nu, p = self.degrees_of_freedom, len(self.mean)
        found = self._log_constant() - 0.5 * (nu + p) * np.log1p(self.factor.squares(X, self.mean) / nu)
        return found.reshape(shape)[()]

    def _log_constant(self) -> float:
        nu, p = self.degrees_of_freedom, len(self.mean)
        return float(gammaln(p / 2) - betaln(nu / 2, p / 2) - 0.5 * p * math.log(math.pi * nu) - self.factor.log_volume)

    def entropy(self) -> float:
        """−E log p(x), in nats."""
        nu, p = self.degrees_of_freedom, len(self.mean)
        return float(0.5 * (nu + p) * (digamma((nu + p) / 2) - digamma(nu / 2)) - self._log_constant())

    def cdf(self, x: Any) -> Any:
        """P(X ≤ x), of one column."""
        from scipy.special import stdtr

        return stdtr(self.degrees_of_freedom, (values(self, x, "x") - self.mean[0]) / deviation_of(self, "cdf", self.shape))[()]

    def quantile(self, share: Any) -> Any:
        """The x with P(X ≤ x) = share, of one column."""
        from scipy.special import stdtrit

        deviation = deviation_of(self, "quantile", self.shape)
        return (self.mean[0] + deviation * stdtrit(self.degrees_of_freedom, shares(self, share)))[()]

    def marginal(self, columns: Any) -> MultivariateT:
        """The distribution of some columns, in their order."""
        j = places(columns, len(self.mean))
        return MultivariateT(self.mean[j], self.shape[np.ix_(j, j)], self.degrees_of_freedom)

    def conditional(self, columns: Any, values: Any) -> MultivariateT:
        """The distribution of the other columns where these q have the values: ν + q degrees of freedom, the mean as of Gaussians, and

        (S_aa − S_ab S_bb⁻¹ S_ba) (ν + d²) / (ν + q),   d² = (x_b − m_b)ᵀ S_bb⁻¹ (x_b − m_b)
        """
        rest, shift, left, far = conditioned(self.mean, self.shape, self.factor, columns, values)
        nu, q = self.degrees_of_freedom, len(self.mean) - len(rest)
        return MultivariateT(self.mean[rest] + shift, left @ left.T * ((nu + far) / (nu + q)), nu + q)

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """n rows: m + A g / √(u / ν), g standard normal and u chi-square with ν degrees of freedom."""
        rng = rng_of("MultivariateT", random_state, n)
        draws = rng.standard_normal((n, len(self.mean))) @ self.factor.spread.T
        return np.asarray(self.mean + draws / np.sqrt(rng.chisquare(self.degrees_of_freedom, (n, 1)) / self.degrees_of_freedom))
