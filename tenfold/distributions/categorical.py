"""One of several categories, and what is believed of their shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, entr, gammaln, rel_entr, xlogy

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.numbers import check_finite
from tenfold.distributions.bernoulli import Beta
from tenfold.distributions.shares import concentration_of
from tenfold.distributions.value import Distribution, as_text, places, points, rng_of, vector
from tenfold.score.kinds import as_labels, encoded


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Categorical(Distribution):
    """Categorical: one of k categories.

    Model       P(x = k) = θₖ,  Σ θₖ = 1;  a label that is no category has probability 0

    categories: their labels, all different; None: 0, ..., k − 1.

    >>> from tenfold.distributions import Categorical
    >>> Categorical.from_rows(["red", "red", "blue"])
    Categorical(x; 'blue': 0.3333, 'red': 0.6667)
    """

    probabilities: Array
    categories: Array

    def __init__(self, probabilities: Any, categories: Any = None) -> None:
        probabilities = vector("Categorical(probabilities)", probabilities, least=0)
        if abs(probabilities.sum() - 1) > 1e-9:
            raise BadParameter(f"Categorical(probabilities): their sum is {probabilities.sum():.9g}, and must be 1")
        self._set(probabilities=probabilities, categories=labels_of("Categorical", categories, len(probabilities)))

    @classmethod
    def from_rows(cls, labels: Any, sample_weight: Any = None) -> Categorical:
        """That of most likelihood: the share of each label,  θₖ = Σ w [x = k] / Σ w."""
        found, codes = encoded(column(labels), "labels")
        counts = _counted(codes, sample_weight, len(found))
        return cls(counts / counts.sum(), found)

    def __repr__(self) -> str:
        return f"Categorical(x; {_named(self.categories, self.probabilities)})"

    def log_density(self, x: Any) -> Any:
        """log P(x) of each label."""
        plain = np.ndim(x) == 0
        found, codes = encoded(column([x] if plain else x), "labels")
        place = _placed(found, self.categories)
        with np.errstate(divide="ignore"):
            answers = np.where(place < 0, -np.inf, np.log(self.probabilities[place]))[codes]
        return answers[0] if plain else answers

    @property
    def mode(self) -> Any:
        """The category of largest probability, the first of several."""
        return self.categories[self.probabilities.argmax()]

    def entropy(self) -> float:
        """−Σ θₖ log θₖ, in nats."""
        return float(entr(self.probabilities).sum())

    def _kl(self, other: Categorical) -> float:
        theirs = _matched(self, other, other.probabilities)
        return float(rel_entr(self.probabilities, theirs).sum())

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """n categories."""
        edges = np.cumsum(self.probabilities)
        draws = rng_of("Categorical", random_state, n).random(n) * edges[-1]
        return np.asarray(self.categories[np.searchsorted(edges, draws, side="right")])


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Dirichlet(Distribution):
    """Dirichlet: a distribution of the shares of k categories, of the same kind before and after labels are seen.

    Model       p(θ) = Γ(Σ aₖ) / Π Γ(aₖ) · Π θₖ^(aₖ − 1),  Σ θₖ = 1;  counts n lead to Dirichlet(a + n)

    >>> from tenfold.distributions import Dirichlet
    >>> after = Dirichlet([1, 1, 1], ["low", "middle", "high"]).posterior(["low", "low", "high"])
    >>> after
    Dirichlet(θ; 'low': 3, 'middle': 1, 'high': 2)
    >>> after.predictive()
    Categorical(x; 'low': 0.5, 'middle': 0.1667, 'high': 0.3333)
    """

    concentration: Array
    categories: Array

    def __init__(self, concentration: Any, categories: Any = None) -> None:
        concentration = vector("Dirichlet(concentration)", concentration, above=0)
        if len(concentration) < 2:
            raise BadParameter("Dirichlet(concentration): give a number for each of at least two categories")
        self._set(concentration=concentration, categories=labels_of("Dirichlet", categories, len(concentration)))

    @classmethod
    def from_rows(cls, X: Any, sample_weight: Any = None, categories: Any = None) -> Dirichlet:
        """That of most likelihood for rows of shares, all above 0 and with sum 1, by Newton's steps."""
        theta, names = check.as_table(cls([1.0, 1.0]), X)
        theta = np.asarray(ops.dense(theta), dtype=np.float64)
        check_finite(theta, slice(0, len(theta)), names, missing=False)
        bad = (theta <= 0).any(axis=1) | (np.abs(theta.sum(axis=1) - 1) > 1e-9)
        if bad.any() or theta.shape[1] < 2:
            row = int(bad.argmax())
            raise BadInput(f"Dirichlet.from_rows: row {row} is {as_text(theta[row])}: give at least two shares, all above 0, with sum 1")
        found = concentration_of("Dirichlet.from_rows", theta, check.as_weights(sample_weight, len(theta)))
        return cls(found, names if categories is None else categories)

    def __repr__(self) -> str:
        return f"Dirichlet(θ; {_named(self.categories, self.concentration)})"

    # --- what was seen ---

    def posterior(self, labels: Any, sample_weight: Any = None) -> Dirichlet:
        """What is believed after these labels."""
        return self.posterior_of_counts(self._counts(labels, sample_weight))

    def posterior_of_counts(self, counts: Any) -> Dirichlet:
        """What is believed after so many of each category."""
        found = vector("Dirichlet: counts", counts, least=0)
        if len(found) != len(self.concentration):
            raise BadInput(f"{len(found)} counts for {len(self.concentration)} categories: give one for each")
        return Dirichlet(self.concentration + found, self.categories)

    def log_evidence(self, labels: Any, sample_weight: Any = None) -> float:
        """log ∫ Π p(x | θ) p(θ) dθ, of these labels in their order."""
        a, after = self.concentration, self.concentration + self._counts(labels, sample_weight)
        return float(gammaln(a.sum()) - gammaln(after.sum()) + (gammaln(after) - gammaln(a)).sum())

    def _counts(self, labels: Any, sample_weight: Any) -> Array:
        found, codes = encoded(column(labels), "labels")
        place = _placed(found, self.categories)
        if (place < 0).any():
            code = int((place < 0).argmax())
            row, label = int((codes == code).argmax()), np.asarray(found[code]).item()
            raise BadInput(f"label {label!r} in row {row} is none of the categories {check.short(self.categories.tolist())}")
        return _counted(place[codes], sample_weight, len(self.concentration))

    # --- what follows ---

    @property
    def mean(self) -> Array:
        return np.asarray(self.concentration / self.concentration.sum())

    def map(self) -> Categorical:
        """The shares of largest density:  θₖ = (aₖ − 1) / (Σ a − k)."""
        more = self.concentration - 1
        if (more < 0).any() or not more.any():
            raise BadInput(f"{self!r} has no single largest density: give concentrations of at least 1, not all 1, or take predictive()")
        return Categorical(more / more.sum(), self.categories)

    def predictive(self) -> Categorical:
        """The distribution of the next label:  θₖ = aₖ / Σ a."""
        return Categorical(self.mean, self.categories)

    def marginal(self, category: int) -> Beta:
        """The distribution of the share of one category, by its place: Beta(aₖ, Σ a − aₖ)."""
        (k,) = places([category], len(self.concentration))
        return Beta(self.concentration[k], np.delete(self.concentration, k).sum())

    def log_density(self, x: Any) -> Any:
        """The logarithm of the density at each row of shares, which have sum 1."""
        theta, shape = points(self, x, len(self.concentration))
        bad = (theta < 0).any(axis=1) | (np.abs(theta.sum(axis=1) - 1) > 1e-9)
        if bad.any():
            row = int(bad.argmax())
            raise BadInput(f"row {row} of the shares is {as_text(theta[row])}: shares are not negative and have sum 1")
        a = self.concentration
        with np.errstate(divide="ignore"):
            found = gammaln(a.sum()) - gammaln(a).sum() + xlogy(a - 1, theta).sum(axis=1)
        return found.reshape(shape)[()]

    def entropy(self) -> float:
        """−∫ p log p dθ, in nats."""
        a, total = self.concentration, self.concentration.sum()
        log_b = gammaln(a).sum() - gammaln(total)
        return float(log_b + (total - len(a)) * digamma(total) - ((a - 1) * digamma(a)).sum())

    def _kl(self, other: Dirichlet) -> float:
        a = self.concentration
        b = _matched(self, other, other.concentration)
        if len(a) != len(other.concentration) or (b == 0).any():
            raise BadInput("the divergence of Dirichlet distributions is of the same categories")
        size = gammaln(a.sum()) - gammaln(b.sum()) + (gammaln(b) - gammaln(a)).sum()
        return float(max(0.0, size + ((a - b) * (digamma(a) - digamma(a.sum()))).sum()))

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """n rows of shares."""
        return rng_of("Dirichlet", random_state, n).dirichlet(self.concentration, n)


# --- labels ---------------------------------------------------------------------------------------------------------


def column(labels: Any) -> Array:
    """One label for each row, none missing."""
    found = as_labels(labels, "labels")
    if found.ndim != 1:
        raise BadInput(f"labels are of shape {found.shape}: give one for each row")
    return found


def labels_of(name: str, given: Any, k: int) -> Array:
    """The labels of k categories."""
    if given is None:
        return np.arange(k)
    found = column(given)
    if len(found) != k or len(set(found.tolist())) != k:
        raise BadParameter(f"{name}(categories={check.short(given)}): must be {k} different labels, one for each number")
    return found


def _placed(found: Array, categories: Array) -> Array:
    """The place of each label among categories; −1 where it is none."""
    place = {label: k for k, label in enumerate(categories.tolist())}
    return np.array([place.get(label, -1) for label in found.tolist()])


def _matched(one: Any, other: Any, numbers: Array) -> Array:
    """The numbers of another distribution in the order of the categories of one; 0 where it has none."""
    place = _placed(one.categories, other.categories)
    return np.where(place < 0, 0.0, numbers[place])


def _counted(codes: Array, sample_weight: Any, k: int) -> Array:
    w = check.as_weights(sample_weight, len(codes))
    return np.bincount(codes, weights=w, minlength=k).astype(np.float64)


def _named(categories: Array, numbers: Array) -> str:
    if len(numbers) > 8:
        return f"{len(numbers)} categories"
    return ", ".join(f"{name!r}: {value:.4g}" for name, value in zip(categories.tolist(), numbers, strict=True))
