"""Link functions η = g(μ) between a mean and the linear score, as generalised linear models use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from tenfold.core.data import Array

FURTHEST = 700.0  # exp of more than this is beyond floats
ROOT = np.log(2 * np.pi) / 2

OfScore = Callable[[Array], Array]


class Link(NamedTuple):
    """A link by what models ask of it at a score η; μ' is dμ/dη."""

    name: str
    score: OfScore  # g(μ)
    mean: OfScore  # μ
    slope: OfScore  # μ'
    bend: OfScore  # μ'' / μ'
    log_mean: OfScore
    log_rest: OfScore  # log(1 − μ), of probabilities
    growth: OfScore  # μ' / μ
    decay: OfScore  # μ' / (1 − μ)
    above: float = -np.inf  # scores up to this have no mean

    def __reduce__(self) -> Any:
        return link_of, (self.name,)  # functions without a name stay where they are


def link_of(name: str) -> Link:
    """The link of this name."""
    return LINKS[name]


def _exp(eta: Array) -> Array:
    return np.asarray(np.exp(np.clip(eta, -FURTHEST, FURTHEST)))


def _log_one_less(u: Array) -> Array:
    """log(1 − exp(−u)) for u > 0."""
    return np.where(u < 0.7, np.log(-np.expm1(-u)), np.log1p(-np.exp(-u)))


def _hazard(eta: Array) -> Array:
    """φ(η) / Φ(η)."""
    return np.asarray(np.exp(-0.5 * eta * eta - ROOT - log_ndtr(eta)))


def _ones(eta: Array) -> Array:
    return np.ones_like(eta)


IDENTITY = Link(
    "identity", lambda mu: mu, lambda eta: eta, _ones, np.zeros_like,
    np.log, lambda eta: np.log1p(-eta), lambda eta: 1 / eta, lambda eta: 1 / (1 - eta),
)  # fmt: skip
LOG = Link(
    "log", np.log, _exp, _exp, _ones,
    lambda eta: eta, lambda eta: _log_one_less(-eta), _ones, lambda eta: 1 / np.expm1(-eta),
)  # fmt: skip
LOGIT = Link(
    "logit", logit, expit, lambda eta: expit(eta) * expit(-eta), lambda eta: -np.tanh(eta / 2),
    lambda eta: -np.logaddexp(0, -eta), lambda eta: -np.logaddexp(0, eta), lambda eta: expit(-eta), expit,
)  # fmt: skip
PROBIT = Link(
    "probit", ndtri, ndtr, lambda eta: np.exp(-0.5 * eta * eta - ROOT), np.negative,
    log_ndtr, lambda eta: log_ndtr(-eta), _hazard, lambda eta: _hazard(-eta),
)  # fmt: skip
CLOGLOG = Link(
    "cloglog", lambda mu: np.log(-np.log1p(-mu)), lambda eta: -np.expm1(-_exp(eta)), lambda eta: np.exp(eta - _exp(eta)),
    lambda eta: 1 - _exp(eta), lambda eta: _log_one_less(_exp(eta)), lambda eta: -_exp(eta),
    lambda eta: np.exp(np.minimum(eta, FURTHEST) - _exp(eta) - _log_one_less(_exp(eta))), _exp,
)  # fmt: skip
INVERSE = Link(
    "inverse", lambda mu: 1 / mu, lambda eta: 1 / eta, lambda eta: -1 / eta**2, lambda eta: -2 / eta,
    lambda eta: -np.log(eta), lambda eta: np.log1p(-1 / eta), lambda eta: -1 / eta, lambda eta: -1 / (eta * (eta - 1)),
    above=0.0,
)  # fmt: skip
INVERSE_SQUARED = Link(
    "inverse_squared", lambda mu: mu**-2.0, lambda eta: eta**-0.5, lambda eta: -0.5 * eta**-1.5, lambda eta: -1.5 / eta,
    lambda eta: -0.5 * np.log(eta), lambda eta: np.log1p(-(eta**-0.5)), lambda eta: -0.5 / eta,
    lambda eta: -0.5 * eta**-1.5 / (1 - eta**-0.5),
    above=0.0,
)  # fmt: skip
SQRT = Link(
    "sqrt", np.sqrt, lambda eta: eta**2, lambda eta: 2 * eta, lambda eta: 1 / eta,
    lambda eta: 2 * np.log(eta), lambda eta: np.log1p(-(eta**2)), lambda eta: 2 / eta, lambda eta: 2 * eta / (1 - eta**2),
    above=0.0,
)  # fmt: skip

LINKS = {one.name: one for one in (IDENTITY, LOG, LOGIT, PROBIT, CLOGLOG, INVERSE, INVERSE_SQUARED, SQRT)}
