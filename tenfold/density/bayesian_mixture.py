"""Gaussian mixtures with priors, by variational inference: components that are not needed lose their share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import betaln, digamma, gammaln

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Centred, Moments
from tenfold.density.components import Components, Responsibilities
from tenfold.density.factors import held, inverse, spread_roots
from tenfold.density.mixture import NO_ROWS
from tenfold.density.mixtures import Mixture
from tenfold.density.starts import Survey


@dataclass(frozen=True, slots=True)
class Prior:
    """What is believed before the rows are seen."""

    concentration: float
    mean_precision: float
    mean: Array
    degrees: float
    covariance: Array  # (p, p), (p,), or a number, as covariance_type needs it


@dataclass(frozen=True, slots=True)
class Posterior:
    """q(π) q(m, C): Dirichlet or stick-breaking shares, and a normal-inverse-Wishart distribution of each component."""

    prior: Prior
    concentration: Array  # (k,), or the pair of (k,) of stick-breaking
    mean_precision: Array
    means: Array
    degrees: Array  # (k,), or one number where the covariance is tied
    covariances: Array  # (k, p, p), or (k, p)

    @property
    def components(self) -> Components:
        """E log πₖ + E log N(x; mₖ, Cₖ): what rows are shared out by."""
        k, p = self.means.shape
        plain = Components.of(np.exp(expected_log_shares(self.concentration)), self.means, self.covariances)
        degrees = np.broadcast_to(self.degrees, k)
        spread = p * np.log(2.0) + digamma(0.5 * (degrees - np.arange(p)[:, None])).sum(axis=0)
        return plain.raised(0.5 * (spread - p * np.log(degrees) - p / self.mean_precision))


@estimator
class BayesianGaussianMixture(Mixture):
    """BayesianGaussianMixture: a mixture of Gaussians with a distribution of its parameters; spare components fade.

    Model       p(x) = Σₖ πₖ N(x; mₖ, Cₖ) with priors: π a Dirichlet distribution or a Dirichlet process (broken sticks), (mₖ, Cₖ)
                normal-inverse-Wishart
    Objective   max ELBO = E log p(X, Z, π, m, C) − E log q(Z) q(π, m, C)  ≤  log p(X), here without its constants
    Algorithm   variational EM: responsibilities from expected log densities, then the posterior from the moments of the rows weighted
                by them; one pass a step. Missing cells have a distribution too: the conditional one given what is observed of the row
    Cost        O(n k p²) time a pass, O(k p²) memory, and a sample for the start
    Fails when  groups are not elliptic; priors matter where rows are few
    Reference   Bishop 2006, §10.2; Blei & Jordan 2006; Attias 2000

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (100, 2)), rng.normal(8, 1, (100, 2))])
    >>> model = tenfold.BayesianGaussianMixture(n_components=5, weight_concentration_prior=1e-3, random_state=0, max_iter=500).fit(X)
    >>> int((model.weights_ > 0.01).sum())
    2
    """

    unnormalised: ClassVar[str] = (
        "as in scikit-learn, score_samples sums exp(E log πₖ + E log N(x; mₖ, Cₖ)), which is at most the density; sample, cdf and quantile "
        "are those of the mixture with weights_, means_ and covariances_"
    )

    weight_concentration_: Any = learned("float(k)|float(2,k)", "parameters of the posterior of the shares")
    mean_precision_: Array = learned("float(k)", "how many rows each mean is worth")
    degrees_of_freedom_: Any = learned("float(k)|float", "how many rows each covariance is worth")
    weight_concentration_prior_: float = learned("float", "the prior of the shares that was used")
    mean_precision_prior_: float = learned("float", "rows that the prior mean is worth")
    mean_prior_: Array = learned("float(p)", "the prior mean")
    degrees_of_freedom_prior_: float = learned("float", "rows that the prior covariance is worth")
    covariance_prior_: Any = learned("float(p,p)|float(p)|float", "the prior covariance, times its degrees of freedom")

    _: KW_ONLY
    weight_concentration_prior_type: str = param(
        default="dirichlet_process",
        one_of=("dirichlet_process", "dirichlet_distribution"),
        before="random_state",
        doc="prior of the shares",
    )
    weight_concentration_prior: float | None = param(
        default=None, above=0, before="random_state", doc="the smaller, the fewer components keep a share; None: 1 / n_components"
    )
    mean_precision_prior: float | None = param(default=None, above=0, before="random_state", doc="rows the prior mean is worth; None: 1")
    mean_prior: Any = param(default=None, before="random_state", doc="prior mean; None: the mean of the rows")
    degrees_of_freedom_prior: float | None = param(
        default=None, above=0, before="random_state", doc="rows the prior covariance is worth; None: as many as columns"
    )
    covariance_prior: Any = param(default=None, before="random_state", doc="prior covariance; None: the covariance of the rows")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        plain = {"n_components": 2, "random_state": 0, "tol": 0.5}
        return [plain, plain | {"covariance_type": "diag", "weight_concentration_prior_type": "dirichlet_distribution"}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_components": 2, "random_state": 0, "reg_covar": 1e-2}

    def _looks_at_covariance(self) -> bool:
        return self.covariance_type in ("full", "tied")

    def _prior(self, survey: Survey) -> Prior:
        k, p, weight = self.n_components, len(survey.means), survey.weight
        degrees = float(p if self.degrees_of_freedom_prior is None else self.degrees_of_freedom_prior)
        if degrees <= p - 1:
            raise BadParameter(
                f"BayesianGaussianMixture: The parameter 'degrees_of_freedom_prior' should be greater than {p - 1}, but got {degrees:.3f}."
            )
        mean = survey.means if self.mean_prior is None else self._numbers("mean_prior", (p,), "means")
        if survey.moments is not None:
            default = survey.moments.scatter / max(weight - 1, 1.0)
        else:
            default = survey.columns.scatter[:, 0] / np.maximum(survey.columns.weight - 1, 1.0)
            default = np.asarray(default.mean()) if self.covariance_type == "spherical" else default
        given = self.covariance_prior is not None
        covariance = self._numbers("covariance_prior", default.shape, f"{self.covariance_type} covariance_prior") if given else default
        if given and not positive(covariance):
            what = "symmetric, positive-definite" if covariance.ndim == 2 else "greater than 0"
            raise BadParameter(f"BayesianGaussianMixture(covariance_prior=...): must be {what}")
        concentration = 1.0 / k if self.weight_concentration_prior is None else max(float(self.weight_concentration_prior), 1e-100)
        worth = 1.0 if self.mean_precision_prior is None else float(self.mean_precision_prior)
        return Prior(concentration, worth, mean, degrees, covariance)

    def _maximised(self, moments: Centred, prior: Prior) -> Posterior:
        n, mean = moments.weight + NO_ROWS, moments.mean
        k, p = mean.shape
        worth = prior.mean_precision + n
        means = (prior.mean_precision * prior.mean + n[:, None] * mean) / worth[:, None]
        pull, apart = n * prior.mean_precision / worth, mean - prior.mean
        regular = self.reg_covar
        degrees: Any = prior.degrees + n
        if isinstance(moments, Moments):
            scatter = moments.scatter + n[:, None, None] * regular * np.eye(p) + pull[:, None, None] * apart[:, :, None] * apart[:, None, :]
            if self.covariance_type == "tied":
                degrees = prior.degrees + n.sum() / k
                covariances = np.tile((prior.covariance + scatter.sum(axis=0) / k) / degrees, (k, 1, 1))
            else:
                covariances = (prior.covariance + scatter) / degrees[:, None, None]
        else:
            squares = moments.scatter + n[:, None] * regular + pull[:, None] * apart**2
            if self.covariance_type == "spherical":
                squares = np.repeat(squares.mean(axis=1, keepdims=True), p, axis=1)
            covariances = (prior.covariance + squares) / degrees[:, None]
        return Posterior(prior, self._concentration(n, prior), worth, means, degrees, covariances)

    def _concentration(self, n: Array, prior: Prior) -> Any:
        if self.weight_concentration_prior_type == "dirichlet_distribution":
            return prior.concentration + n
        later = np.concatenate([n[::-1].cumsum()[-2::-1], [0.0]])
        return np.array([1.0 + n, prior.concentration + later])

    def _bound(self, found: Responsibilities, model: Posterior, weight: float) -> float:
        """The ELBO without what depends on the prior alone, for the posterior that these responsibilities lead to; so the entropy of the
        responsibilities, and the normalising constants of the posterior."""
        after = self._maximised(found.moments, model.prior)
        k, p = after.means.shape
        entropy = found.log_likelihood - model.components.expected(found.moments)
        log_det = np.log(Components.of(np.ones(k), after.means, after.covariances).diagonals).sum(axis=1)
        degrees = np.broadcast_to(after.degrees, k)
        wishart = -(degrees * (log_det - 0.5 * p * np.log(degrees)) + degrees * p * 0.5 * np.log(2.0))
        wishart = wishart - gammaln(0.5 * (degrees - np.arange(p)[:, None])).sum(axis=0)
        shares = after.concentration
        norm = -betaln(*shares).sum() if shares.ndim == 2 else gammaln(shares.sum()) - gammaln(shares).sum()
        return float(entropy - wishart.sum() - norm - 0.5 * p * np.log(after.mean_precision).sum())

    def _components(self) -> Components:
        return self._resumed().components

    def _resumed(self) -> Posterior:
        roots = spread_roots(self.precisions_cholesky_, self.covariance_type, *self.means_.shape)
        kind = "diag" if roots.ndim == 2 else "full"
        prior = Prior(
            self.weight_concentration_prior_,
            self.mean_precision_prior_,
            self.mean_prior_,
            self.degrees_of_freedom_prior_,
            np.asarray(self.covariance_prior_),
        )
        degrees = np.asarray(self.degrees_of_freedom_)
        return Posterior(prior, self.weight_concentration_, self.mean_precision_, self.means_, degrees, inverse(roots, kind))

    def _fitted_attributes(self, model: Posterior) -> dict[str, Any]:
        factors = held(Components.of(np.ones(len(model.means)), model.means, model.covariances).roots, self.covariance_type)
        prior = model.prior
        return dict(
            weights_=shares_of(model.concentration),
            means_=model.means,
            covariances_=inverse(factors, self.covariance_type),
            precisions_cholesky_=factors,
            weight_concentration_=model.concentration,
            mean_precision_=model.mean_precision,
            degrees_of_freedom_=model.degrees,
            weight_concentration_prior_=prior.concentration,
            mean_precision_prior_=prior.mean_precision,
            mean_prior_=prior.mean,
            degrees_of_freedom_prior_=prior.degrees,
            covariance_prior_=prior.covariance,
        )


def expected_log_shares(concentration: Array) -> Array:
    """E log π."""
    if concentration.ndim == 1:
        return np.asarray(digamma(concentration) - digamma(concentration.sum()))
    taken, left = digamma(concentration) - digamma(concentration.sum(axis=0))
    return np.asarray(taken + np.concatenate([[0.0], left.cumsum()[:-1]]))


def shares_of(concentration: Array) -> Array:
    """The expected shares, with sum 1."""
    if concentration.ndim == 1:
        return np.asarray(concentration / concentration.sum())
    taken, left = concentration / concentration.sum(axis=0)
    found = taken * np.concatenate([[1.0], left.cumprod()[:-1]])
    return np.asarray(found / found.sum())


def positive(covariance: Array) -> bool:
    """Whether a covariance, variances, or a variance are such."""
    if covariance.ndim < 2:
        return bool((covariance > 0).all())
    return bool(np.allclose(covariance, covariance.T) and np.linalg.eigvalsh(covariance)[0] > 0)
