"""Families of distributions with a mean μ and a variance φ V(μ), as generalised linear models use them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from tenfold.core.data import Array
from tenfold.linear.links import IDENTITY, INVERSE, INVERSE_SQUARED, LOG, LOGIT, Link


class Rows(NamedTuple):
    """Of each row at its score η: half the deviance up to a constant of y, and its first two derivatives."""

    loss: Array
    slope: Array
    bend: Array  # ≥ 0: the observed second derivative, or its expectation where that is negative


class Family:
    """Abstract: what a generalised linear model asks of a family."""

    name: str
    canonical: Link
    least: float = 0.0  # of y
    most: float = np.inf
    open: bool = False  # whether y may not be `least`
    lowest: float = 0.0  # bounds that a mean does not reach
    highest: float = np.inf
    known: bool = True  # the dispersion φ is 1

    def variance(self, mu: Array) -> Array:
        """V(μ)."""
        raise NotImplementedError

    def variance_slope(self, mu: Array) -> Array:
        """dV / dμ."""
        raise NotImplementedError

    def loss(self, y: Array, mu: Array, log_mu: Array) -> Array:
        """Half the deviance, up to a constant of y."""
        raise NotImplementedError

    def deviance(self, y: Array, mu: Array) -> Array:
        """d(y, μ) = 2 (log-likelihood of μ = y less that of μ), at φ = 1."""
        raise NotImplementedError

    def saturated(self, y: Array) -> Array | None:
        """What of the log-likelihood depends on y alone: ℓ = −d / 2φ + saturated(y) + normaliser(φ); None where it has no closed form."""
        return None

    def normaliser(self, dispersion: float) -> float:
        """What of the log-likelihood of a row depends on φ alone."""
        return 0.0

    @property
    def rule(self) -> str:
        """Which values y may have."""
        if np.isfinite(self.most):
            return f"must lie from {self.least:g} to {self.most:g}"
        return f"must be {'above' if self.open else 'at least'} {self.least:g}"

    def outside(self, y: Array) -> Array:
        """Which values y may not have."""
        below = y <= self.least if self.open else y < self.least
        return below | (y > self.most)

    def feasible(self, link: Link, eta: Array, mu: Array) -> Array:
        """Which scores have a mean of this family."""
        return (eta > link.above) & (mu > self.lowest) & (mu < self.highest)

    def rows(self, y: Array, eta: Array, link: Link) -> Rows:
        """Loss and derivatives of each row; an infinite loss where the score has no mean."""
        with np.errstate(all="ignore"):
            mu, slope = link.mean(eta), link.slope(eta)
            V = self.variance(mu)
            rest, each = mu - y, slope / V
            loss = self.loss(y, mu, link.log_mean(eta))
            expected = each * slope
            bend = expected + each * rest * (link.bend(eta) - self.variance_slope(mu) * each)
            return self._bounded(link, eta, mu, loss, each * rest, np.where(bend > 0, bend, expected))

    def _bounded(self, link: Link, eta: Array, mu: Array, loss: Array, slope: Array, bend: Array) -> Rows:
        if np.isfinite(link.above) or (link is IDENTITY and np.isfinite(self.lowest)):
            loss = np.where(self.feasible(link, eta, mu), loss, np.inf)
        return Rows(loss, slope, bend)

    def expected(self, eta: Array, link: Link) -> Array:
        """The expected second derivative of the loss, μ'² / V: what Fisher's information weighs rows with."""
        with np.errstate(all="ignore"):
            return link.slope(eta) ** 2 / self.variance(link.mean(eta))


class Power(Family):
    """V(μ) = μ^power: normal (0), Poisson (1), compound Poisson-gamma (between), gamma (2), inverse Gaussian (3)."""

    def __init__(self, power: float, name: str = "") -> None:
        self.power = float(power)
        self.name = name or f"tweedie of power {power:g}"
        self.canonical = {0.0: IDENTITY, 2.0: INVERSE, 3.0: INVERSE_SQUARED}.get(self.power, IDENTITY if power <= 0 else LOG)
        self.least = -np.inf if power <= 0 else 0.0
        self.open = power >= 2
        self.lowest = -np.inf if power == 0 else 0.0
        self.known = power == 1

    def variance(self, mu: Array) -> Array:
        return np.ones_like(mu) if self.power == 0 else mu if self.power == 1 else mu**self.power

    def variance_slope(self, mu: Array) -> Array:
        if self.power in (0, 1):
            return np.full_like(mu, self.power)
        return self.power * mu ** (self.power - 1)

    def rows(self, y: Array, eta: Array, link: Link) -> Rows:
        if self.power == 1 and link is LOG:
            mu = link.mean(eta)
            return Rows(mu - y * eta, mu - y, mu)
        if self.power == 0 and link is IDENTITY:
            rest = eta - y
            return Rows(0.5 * rest * rest, rest, np.ones_like(rest))
        return super().rows(y, eta, link)

    def loss(self, y: Array, mu: Array, log_mu: Array) -> Array:
        p = self.power
        if p == 0:
            return 0.5 * (y - mu) ** 2
        if p == 1:
            return np.where(y > 0, mu - y * log_mu, mu)
        if p == 2:
            return y / mu + log_mu
        return mu ** (2 - p) / (2 - p) - y * mu ** (1 - p) / (1 - p)

    def deviance(self, y: Array, mu: Array) -> Array:
        p = self.power
        if p == 0:
            return (y - mu) ** 2
        if p == 1:
            return np.asarray(2 * (xlogy(y, y / mu) - y + mu))
        if p == 2:
            return 2 * (np.log(mu / y) + y / mu - 1)
        if p == 3:
            return ((y - mu) / mu) ** 2 / y
        return 2 * (np.maximum(y, 0) ** (2 - p) / ((1 - p) * (2 - p)) + self.loss(y, mu, mu))

    def saturated(self, y: Array) -> Array | None:
        if self.power == 1:
            return np.asarray(xlogy(y, y) - y - gammaln(y + 1))
        if self.power in (0, 2, 3):
            return -self.power / 2 * np.log(y) if self.power else np.zeros_like(y)
        return None

    def normaliser(self, dispersion: float) -> float:
        if self.power == 1:
            return 0.0
        if self.power == 2:
            k = 1 / dispersion
            return float(k * np.log(k) - k - gammaln(k))
        return float(-0.5 * np.log(2 * np.pi * dispersion))


class Binomial(Family):
    """V(μ) = μ (1 − μ), of shares y of trials; the weight of a row is its number of trials."""

    name, canonical, most, highest = "binomial", LOGIT, 1.0, 1.0

    def variance(self, mu: Array) -> Array:
        return np.asarray(mu * (1 - mu))

    def variance_slope(self, mu: Array) -> Array:
        return 1 - 2 * mu

    def rows(self, y: Array, eta: Array, link: Link) -> Rows:
        """Of the logarithms of both probabilities, which tell tiny ones from zero."""
        with np.errstate(all="ignore"):
            up, down, kappa = link.growth(eta), link.decay(eta), link.bend(eta)
            loss = -_times(y, link.log_mean(eta)) - _times(1 - y, link.log_rest(eta))
            slope = _times(1 - y, down) - _times(y, up)
            bend = _times(y, up * (up - kappa)) + _times(1 - y, down * (down + kappa))
            bend = np.where(bend > 0, bend, up * down)
            if link in (LOG, IDENTITY) or np.isfinite(link.above):
                loss = np.where(self.feasible(link, eta, link.mean(eta)), loss, np.inf)
            return Rows(loss, slope, bend)

    def expected(self, eta: Array, link: Link) -> Array:
        with np.errstate(all="ignore"):
            return link.growth(eta) * link.decay(eta)

    def deviance(self, y: Array, mu: Array) -> Array:
        return np.asarray(2 * (xlogy(y, y) - xlogy(y, mu) + xlog1py(1 - y, -y) - xlog1py(1 - y, -mu)))

    def saturated(self, y: Array) -> Array:
        return np.asarray(xlogy(y, y) + xlog1py(1 - y, -y))


class NegativeBinomial(Family):
    """V(μ) = μ + a μ²: counts that vary more than Poisson's; a is given."""

    name, canonical = "negative binomial", LOG

    def __init__(self, excess: float) -> None:
        self.excess = float(excess)

    def variance(self, mu: Array) -> Array:
        return mu * (1 + self.excess * mu)

    def variance_slope(self, mu: Array) -> Array:
        return 1 + 2 * self.excess * mu

    def loss(self, y: Array, mu: Array, log_mu: Array) -> Array:
        return (y + 1 / self.excess) * np.log1p(self.excess * mu) - np.where(y > 0, y * log_mu, 0.0)

    def deviance(self, y: Array, mu: Array) -> Array:
        a = self.excess
        return np.asarray(2 * (xlogy(y, y / mu) - (y + 1 / a) * np.log1p(a * (y - mu) / (1 + a * mu))))

    def saturated(self, y: Array) -> Array:
        k = 1 / self.excess
        return np.asarray(gammaln(y + k) - gammaln(k) - gammaln(y + 1) + xlogy(y, y / (y + k)) - k * np.log1p(y / k))


def _times(share: Array, value: Array) -> Array:
    """share * value, 0 where the share is 0 whatever the value is."""
    return np.where(share > 0, share * value, 0.0)
