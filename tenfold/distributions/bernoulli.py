"""What happens or does not, and what is believed of how often."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, entr, rel_entr, xlog1py, xlogy

from tenfold.base import check
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.distributions.gaussian import shares
from tenfold.distributions.shares import concentration_of
from tenfold.distributions.value import Distribution, number, numbers, rng_of, values


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Bernoulli(Distribution):
    """Bernoulli: 1 with a probability, else 0.

    Model       p(x) = θˣ (1 − θ)¹⁻ˣ

    >>> from tenfold.distributions import Bernoulli
    >>> Bernoulli.from_rows([1, 0, 1, 1])
    Bernoulli(x; 0.75)
    """

    probability: float

    def __init__(self, probability: float) -> None:
        self._set(probability=number("Bernoulli(probability)", probability, least=0, most=1))

    @classmethod
    def from_rows(cls, x: Any, sample_weight: Any = None) -> Bernoulli:
        """That of most likelihood:  θ = Σ w x / Σ w."""
        ones, zeros = counts_of(cls.__name__, x, sample_weight)
        return cls(ones / (ones + zeros))

    def __repr__(self) -> str:
        return f"Bernoulli(x; {self.probability:.4g})"

    def log_density(self, x: Any) -> Any:
        """log P(x), of zeros and ones."""
        found = zeros_and_ones(type(self).__name__, x)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(found == 1, np.log(self.probability), np.log1p(-self.probability)))[()]

    def entropy(self) -> float:
        """−θ log θ − (1 − θ) log(1 − θ), in nats."""
        return float(entr(self.probability) + entr(1 - self.probability))

    def _kl(self, other: Bernoulli) -> float:
        a, b = self.probability, other.probability
        return float(rel_entr(a, b) + rel_entr(1 - a, 1 - b))

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """n zeros and ones."""
        return (rng_of("Bernoulli", random_state, n).random(n) < self.probability).astype(np.int64)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Beta(Distribution):
    """Beta: a distribution of a probability θ, of the same kind before and after it is seen at work.

    Model       p(θ) = θᵃ⁻¹ (1 − θ)ᵇ⁻¹ / B(a, b);  s ones and f zeros lead to Beta(a + s, b + f)

    a − 1 and b − 1 are as many ones and zeros as the prior is worth: Beta(1, 1) knows nothing, Beta(½, ½) is Jeffreys' prior.

    >>> from tenfold.distributions import Beta
    >>> after = Beta(1, 1).posterior([1, 1, 1, 0])
    >>> after, after.map(), after.predictive()
    (Beta(θ; 4, 2), Bernoulli(x; 0.75), Bernoulli(x; 0.6667))
    """

    a: float
    b: float

    def __init__(self, a: float, b: float) -> None:
        self._set(a=number("Beta(a)", a, above=0), b=number("Beta(b)", b, above=0))

    @classmethod
    def from_rows(cls, x: Any, sample_weight: Any = None) -> Beta:
        """That of most likelihood for numbers between 0 and 1, by Newton's steps.

        >>> from tenfold.distributions import Beta
        >>> Beta.from_rows([0.2, 0.3, 0.5])
        Beta(θ; 4.823, 9.617)
        """
        theta = numbers("Beta.from_rows(x)", x).ravel()
        inside = (theta > 0) & (theta < 1)
        if not inside.all() or not len(theta):
            odd = f"{theta[~inside][0]:g} at place {int((~inside).argmax())}" if len(theta) else "no numbers"
            raise BadInput(f"Beta.from_rows takes numbers above 0 and below 1, and there is {odd}")
        w = check.as_weights(sample_weight, len(theta))
        return cls(*concentration_of("Beta.from_rows", np.column_stack([theta, 1 - theta]), w))

    def __repr__(self) -> str:
        return f"Beta(θ; {self.a:.4g}, {self.b:.4g})"

    # --- what was seen ---

    def posterior(self, x: Any, sample_weight: Any = None) -> Beta:
        """What is believed after these zeros and ones."""
        return self.posterior_of_counts(*counts_of("Beta", x, sample_weight))

    def posterior_of_counts(self, ones: float, zeros: float) -> Beta:
        """What is believed after so many ones and zeros: Beta(a + ones, b + zeros)."""
        return Beta(self.a + number("Beta: ones", ones, least=0), self.b + number("Beta: zeros", zeros, least=0))

    def log_evidence(self, x: Any, sample_weight: Any = None) -> float:
        """log ∫ Π p(x | θ) p(θ) dθ = log B(a + s, b + f) / B(a, b), of these zeros and ones in their order."""
        after = self.posterior(x, sample_weight)
        return float(betaln(after.a, after.b) - betaln(self.a, self.b))

    # --- what follows ---

    @property
    def mean(self) -> float:
        return self.a / (self.a + self.b)

    def map(self) -> Bernoulli:
        """The Bernoulli distribution of largest density:  θ = (a − 1) / (a + b − 2)."""
        if self.a <= 1 and self.b <= 1:
            raise BadInput(f"{self!r} has no single largest density: give a or b above 1, or take predictive()")
        ones, zeros = max(self.a - 1, 0.0), max(self.b - 1, 0.0)
        return Bernoulli(ones / (ones + zeros))

    def predictive(self) -> Bernoulli:
        """The distribution of the next one:  θ = a / (a + b)."""
        return Bernoulli(self.mean)

    def log_density(self, x: Any) -> Any:
        """The logarithm of the density at each probability; none outside 0 to 1."""
        theta = values(self, x, "x")
        inside = (theta >= 0) & (theta <= 1)
        theta = np.where(inside, theta, 0.5)
        with np.errstate(divide="ignore"):
            found = xlogy(self.a - 1, theta) + xlog1py(self.b - 1, -theta) - betaln(self.a, self.b)
        return np.where(inside, found, -np.inf)[()]

    def cdf(self, x: Any) -> Any:
        """P(θ ≤ x)."""
        from scipy.special import betainc

        return betainc(self.a, self.b, np.clip(values(self, x, "x"), 0, 1))[()]

    def quantile(self, share: Any) -> Any:
        """The x with P(θ ≤ x) = share: 0.025 and 0.975 hold the middle 95 %."""
        from scipy.special import betaincinv

        return betaincinv(self.a, self.b, shares(self, share))[()]

    def entropy(self) -> float:
        """−∫ p log p dθ, in nats."""
        a, b = self.a, self.b
        return float(betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b))

    def _kl(self, other: Beta) -> float:
        a, b, c, d = self.a, self.b, other.a, other.b
        shift = (a - c) * digamma(a) + (b - d) * digamma(b) + (c - a + d - b) * digamma(a + b)
        return float(max(0.0, betaln(c, d) - betaln(a, b) + shift))

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """n probabilities."""
        return rng_of("Beta", random_state, n).beta(self.a, self.b, n)


def zeros_and_ones(name: str, x: Any) -> Array:
    """Zeros and ones, or truth values, of any shape."""
    found = np.asarray(x)
    if found.dtype.kind not in "fiub" or not ((found == 0) | (found == 1)).all():
        odd = next((one for one in found.ravel().tolist() if one not in (0, 1)), x)
        raise BadInput(f"{name} is of zeros and ones (or truth values), not of {check.short(odd)}: compare first, as in x > 0")
    return found.astype(np.int64)


def counts_of(name: str, x: Any, sample_weight: Any) -> tuple[float, float]:
    """Weight of the ones, and of the zeros."""
    found = zeros_and_ones(name, x).ravel()
    if not len(found):
        raise BadInput(f"{name}: there are no values")
    w = check.as_weights(sample_weight, len(found))
    ones = float(found.sum() if w is None else w @ found)
    return ones, max(0.0, (len(found) if w is None else math.fsum(w)) - ones)
