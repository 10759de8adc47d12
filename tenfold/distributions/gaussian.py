"""The Gaussian distribution of rows as a value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.stats import Moments
from tenfold.distributions.factor import Factor
from tenfold.distributions.value import (
    Distribution,
    as_text,
    moments_of,
    places,
    points,
    rng_of,
    square,
    values,
    vector,
)
from tenfold.solve.whitening import ROUNDING

LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class MultivariateGaussian(Distribution):
    """MultivariateGaussian: the normal distribution of rows with this mean and covariance.

    Model       p(x) = exp(−½ (x − m)ᵀ C⁻¹ (x − m)) / √det(2π C)
    Algorithm   Cholesky of C with columns scaled to variance 1; conditionals by that of the columns given and then the others,
                so that no difference of covariances cancels. A column that is a combination of others, or constant, leaves no density
                in p dimensions: it is refused, unless allow_singular=True takes the density on the plane that the rows lie on
    Cost        O(p³) to make, O(n p²) for n points
    Fails when  the covariance is singular (refused with its columns), or rows are far from normal
    Reference   Mardia, Kent & Bibby 1979

    covariance: (p, p); a vector is a diagonal, a number a multiple of the identity. Points are rows of p numbers, or one such vector;
    with p = 1 also numbers. Logarithms are natural: entropy and divergence are in nats.

    >>> from tenfold.distributions import MultivariateGaussian
    >>> both = MultivariateGaussian([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]])
    >>> both.conditional([0], [2.0])
    N(x; 2, 1.75)
    >>> float(both.log_density([0.0, 1.0]).round(6))
    -2.117685
    """

    mean: Array
    covariance: Array
    allow_singular: bool
    factor: Factor = field(init=False)

    def __init__(self, mean: Any, covariance: Any, allow_singular: bool = False) -> None:
        if not isinstance(allow_singular, (bool, np.bool_)):
            raise BadParameter(f"MultivariateGaussian(allow_singular={allow_singular!r}): must be True or False")
        mean = vector("MultivariateGaussian(mean)", mean)
        place = "MultivariateGaussian(covariance)"
        covariance = square(place, covariance, len(mean))
        factor = Factor.of(place, covariance, allow_singular)
        self._set(mean=mean, covariance=covariance, allow_singular=bool(allow_singular), factor=factor)

    @classmethod
    def from_rows(cls, X: Any, sample_weight: Any = None, *, allow_singular: bool = False) -> MultivariateGaussian:
        """The distribution of most likelihood:  m = Σ w x / Σ w,  C = Σ w (x − m)(x − m)ᵀ / Σ w.  Rows may be in arrays, frames, sparse
        matrices, files, streams or Dask collections; they are read once.

        >>> from tenfold.distributions import MultivariateGaussian
        >>> MultivariateGaussian.from_rows([[1.0], [3.0]])
        N(x; 2, 1)
        """
        return cls.from_moments(moments_of("MultivariateGaussian", X, sample_weight), allow_singular=allow_singular)

    @classmethod
    def from_moments(cls, moments: Moments, *, allow_singular: bool = False) -> MultivariateGaussian:
        """That of most likelihood, from the merged moments of rows. What rounding leaves of the variance of a constant is none."""
        mean, covariance = moments.mean, moments.scatter / moments.weight
        flat = np.sqrt(np.diagonal(covariance)) <= ROUNDING * np.abs(mean)
        return cls(mean, np.where(flat | flat[:, None], 0.0, covariance), allow_singular)

    def __repr__(self) -> str:
        return f"N(x; {as_text(self.mean)}, {as_text(self.covariance)})"

    # --- densities ---

    def log_density(self, x: Any) -> Any:
        """−½ (x − m)ᵀ C⁻¹ (x − m) − ½ log det(2π C) of each point."""
        X, shape = points(self, x, len(self.mean))
        constant = 0.5 * self.factor.rank * LOG_2PI + self.factor.log_volume
        return (-0.5 * self.factor.squares(X, self.mean) - constant).reshape(shape)[()]

    def mahalanobis(self, x: Any) -> Any:
        """√((x − m)ᵀ C⁻¹ (x − m)) of each point: how many standard deviations it is away."""
        X, shape = points(self, x, len(self.mean))
        return np.sqrt(self.factor.squares(X, self.mean)).reshape(shape)[()]

    def cdf(self, x: Any) -> Any:
        """P(X ≤ x), of one column."""
        from scipy.special import ndtr

        return ndtr((values(self, x, "x") - self.mean[0]) / self._deviation("cdf"))[()]

    def quantile(self, share: Any) -> Any:
        """The x with P(X ≤ x) = share, of one column."""
        from scipy.special import ndtri

        deviation = self._deviation("quantile")
        return (self.mean[0] + deviation * ndtri(shares(self, share)))[()]

    def _deviation(self, verb: str) -> float:
        return deviation_of(self, verb, self.covariance)

    # --- parts ---

    def marginal(self, columns: Any) -> MultivariateGaussian:
        """The distribution of some columns, in their order."""
        j = places(columns, len(self.mean))
        return MultivariateGaussian(self.mean[j], self.covariance[np.ix_(j, j)], self.allow_singular)

    def conditional(self, columns: Any, values: Any) -> MultivariateGaussian:
        """The distribution of the other columns, in their order, where these have the values:

        m_a + C_ab C_bb⁻¹ (x_b − m_b),   C_aa − C_ab C_bb⁻¹ C_ba
        """
        rest, shift, left, _ = conditioned(self.mean, self.covariance, self.factor, columns, values)
        return MultivariateGaussian(self.mean[rest] + shift, left @ left.T, self.allow_singular)

    # --- information, draws ---

    def entropy(self) -> float:
        """½ log det(2π e C), in nats."""
        return 0.5 * self.factor.rank * (1 + LOG_2PI) + self.factor.log_volume

    def _kl(self, other: MultivariateGaussian) -> float:
        """½ [tr C₂⁻¹C₁ + (m₂ − m₁)ᵀ C₂⁻¹ (m₂ − m₁) − p + log det C₂ / det C₁]."""
        if len(other.mean) != len(self.mean):
            raise BadInput(f"Gaussians of {len(self.mean)} and {len(other.mean)} columns have no divergence: give two of the same columns")
        mine, theirs = self.factor, other.factor
        apart = np.vstack([mine.spread.T, other.mean - self.mean])
        z = theirs.whitened(apart)
        if mine.rank != theirs.rank or (theirs.rank < len(self.mean) and theirs.off(apart, z, np.zeros(len(self.mean))).any()):
            return math.inf
        return float(0.5 * ((z * z).sum() - mine.rank) + theirs.log_volume - mine.log_volume)

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """n rows: m + A g with C = A Aᵀ and g standard normal."""
        draws = rng_of("MultivariateGaussian", random_state, n).standard_normal((n, self.factor.rank))
        return np.asarray(self.mean + draws @ self.factor.spread.T)


def conditioned(mean: Array, C: Array, factor: Factor, columns: Any, given: Any) -> tuple[list[int], Array, Array, float]:
    """The other columns; of them the shift of the mean and the factor that is left; the squared distance of what is given."""
    p = len(mean)
    there = places(columns, p)
    x = vector("values", given)
    if len(x) != len(there) or len(there) == p:
        raise BadInput(f"{len(x)} values for {len(there)} of {p} columns: give one for each, and leave at least one column")
    rest = np.delete(np.arange(p), there).tolist()
    apart = x - mean[there]
    shift, left, square = factor.given(C, there, rest, apart)
    if factor.rank < p:
        own = Factor.of("covariance", factor.spread[there] @ factor.spread[there].T, True)
        if own.rank < len(there) and own.off(apart[None], own.whitened(apart[None]), mean[there])[0]:
            raise BadInput(f"columns {there} never have the values {as_text(x)} together: their covariance is singular")
    return rest, shift, left, square


def shares(distribution: Distribution, share: Any) -> Array:
    """Numbers from 0 to 1."""
    found = values(distribution, share, "share")
    if ((found < 0) | (found > 1)).any():
        worst = found.ravel()[int(((found < 0) | (found > 1)).ravel().argmax())]
        raise BadInput(f"{type(distribution).__name__}.quantile({worst:g}): a share lies between 0 and 1")
    return found


def deviation_of(distribution: Distribution, verb: str, spread: Array) -> float:
    """The square root of a (1, 1) matrix."""
    name = type(distribution).__name__
    if len(spread) > 1:
        raise BadInput(f"{name}.{verb} is of one column, and there are {len(spread)}: take .marginal([j]).{verb}")
    if not spread[0, 0] > 0:
        raise BadInput(f"{name}.{verb} needs a variance above 0")
    return math.sqrt(spread[0, 0])
